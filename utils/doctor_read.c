// SPDX-License-Identifier: GPL-2.0
/* Facts for peerlane doctor, all from the library. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "doctor.h"

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Monotonic, and not cut short by a signal. */
static void wait_seconds(double seconds)
{
	struct timespec time;
	double end = now() + seconds;

	time.tv_sec = (time_t)end;
	time.tv_nsec = (long)((end - (double)time.tv_sec) * 1e9);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) ==
	       EINTR)
		;
}

/* What cannot be read is empty, which the judges take for unknown. */
static void take_sample(const struct facts_port *port, struct sample *sample)
{
	sample->pause = must(calloc(port->netdev_count + 1,
				    sizeof(*sample->pause)));
	for (size_t i = 0; i < port->netdev_count; i++)
		peerlane_pause_query(port->netdevs[i].name, &sample->pause[i]);
	if (port->info.port &&
	    peerlane_port_counters(port->info.device, port->info.port,
				   &sample->counters, &sample->counter_count))
		sample->counter_count = 0;
	sample->seconds = now();
}

static void read_netdevs(struct facts_port *port)
{
	size_t count = 0;

	/* A name of another network namespace is none here. */
	if (!port->info.ifindex ||
	    peerlane_netdev_members(port->info.netdev, &port->netdevs, &count))
		return;
	port->netdev_count = count;
	port->dcb = must(calloc(count + 1, sizeof(*port->dcb)));
	port->dcb_error = must(calloc(count + 1, sizeof(*port->dcb_error)));
	port->dcb_reason = must(calloc(count + 1, sizeof(*port->dcb_reason)));
}

/* After a sample: some drivers refresh PFC's counters only with statistics. */
static void read_dcb(struct facts_port *port)
{
	for (size_t i = 0; i < port->netdev_count; i++) {
		int error = peerlane_dcb_query(port->netdevs[i].name,
					       &port->dcb[i]);

		port->dcb_error[i] = error;
		if (error)
			port->dcb_reason[i] = library_reason(error);
	}
}

static void read_port(struct facts_port *port)
{
	if (!port->info.port)
		return;
	if (peerlane_port_mtu(port->info.device, port->info.port,
			      &port->mtu_active, &port->mtu_max))
		port->mtu_active = port->mtu_max = 0;
	if (peerlane_gid_list(port->info.device, port->info.port, &port->gids,
			      &port->gid_count))
		port->gid_count = 0;
	read_netdevs(port);
	take_sample(port, &port->first);
	read_dcb(port);
}

static bool wanted(const struct request *request,
		   const struct peerlane_port_info *port)
{
	return !request->device ||
		(!strcmp(request->device, port->device) &&
		 (!request->port || request->port == port->port));
}

int facts_read(const struct request *request, struct facts *facts)
{
	struct peerlane_port_info *list = NULL;
	size_t count = 0;
	int error;

	*facts = (struct facts){ .request = *request };
	error = peerlane_node_query(&facts->node);
	if (!error)
		error = peerlane_port_list(&list, &count);
	if (error)
		return error;
	facts->ports = must(calloc(count + 1, sizeof(*facts->ports)));
	for (size_t i = 0; i < count; i++) {
		if (!wanted(request, &list[i]))
			continue;
		facts->ports[facts->port_count].info = list[i];
		read_port(&facts->ports[facts->port_count++]);
	}
	free(list);
	if (request->interval > 0 && facts->port_count) {
		wait_seconds(request->interval);
		for (size_t i = 0; i < facts->port_count; i++)
			take_sample(&facts->ports[i], &facts->ports[i].last);
	}
	return 0;
}

static void free_sample(struct sample *sample)
{
	free(sample->counters);
	free(sample->pause);
}

static void free_port(struct facts_port *port)
{
	for (size_t i = 0; i < port->netdev_count; i++)
		free(port->dcb_reason[i]);
	free(port->dcb_reason);
	free(port->dcb_error);
	free(port->dcb);
	free(port->netdevs);
	free(port->gids);
	free_sample(&port->first);
	free_sample(&port->last);
}

void facts_free(struct facts *facts)
{
	for (size_t i = 0; i < facts->port_count; i++)
		free_port(&facts->ports[i]);
	free(facts->ports);
	*facts = (struct facts){ 0 };
}
