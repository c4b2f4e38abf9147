// SPDX-License-Identifier: GPL-2.0
/*
 * Metrics of RDMA ports: what they are, their hardware counters, PFC frames.
 *
 * Drivers have their own names for the same thing. A family has the name that
 * libpeerlane gives it, the label "counter" has the driver's. So nothing is
 * hidden behind a list of known names, and no two samples are the same.
 */
#include <stdlib.h>
#include <string.h>

#include "metrics.h"

struct row {
	char family[96];
	char device[64];
	char port[12];
	char counter[64];
	uint64_t value;
};

struct rows {
	struct row *list;
	size_t count;
	size_t room;
};

static struct row *add_row(struct rows *rows)
{
	if (rows->count == rows->room) {
		rows->room = rows->room ? 2 * rows->room : 64;
		rows->list = must(reallocarray(rows->list, rows->room,
					       sizeof(*rows->list)));
	}
	memset(&rows->list[rows->count], 0, sizeof(*rows->list));
	return &rows->list[rows->count++];
}

static int compare_rows(const void *one, const void *other)
{
	const struct row *a = one;
	const struct row *b = other;
	int order = strcmp(a->family, b->family);

	if (!order)
		order = strcmp(a->device, b->device);
	if (!order)
		order = strcmp(a->port, b->port);
	return order ? order : strcmp(a->counter, b->counter);
}

/* A family's name must not end as the samples of some types do. */
static void cut_suffix(char *name)
{
	static const char *const suffixes[] = {
		"_total", "_info", "_count", "_sum", "_bucket", "_created"
	};

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		size_t length = strlen(name);
		size_t end = strlen(suffixes[i]);

		if (length > end && !strcmp(name + length - end, suffixes[i]))
			name[length - end] = '\0';
	}
}

static void add_counter(struct rows *rows, const struct peerlane_port_info *port,
			const struct peerlane_port_counter *counter)
{
	char name[72];
	struct row *row;

	if (!counter->valid ||
	    !om_name(*counter->common ? counter->common : counter->name, name,
		     sizeof(name)))
		return;
	cut_suffix(name);
	row = add_row(rows);
	snprintf(row->family, sizeof(row->family), "peerlane_port_hw_%s", name);
	snprintf(row->device, sizeof(row->device), "%s", port->device);
	snprintf(row->port, sizeof(row->port), "%u", port->port);
	snprintf(row->counter, sizeof(row->counter), "%s", counter->name);
	row->value = counter->value;
}

/* One port that cannot be read does not hide the others. */
static int gather(struct rows *rows, const struct peerlane_port_info *ports,
		  size_t count)
{
	int result = 0;

	for (size_t i = 0; i < count; i++) {
		struct peerlane_port_counter *list = NULL;
		size_t found = 0;
		int error = 0;

		if (ports[i].port)
			error = peerlane_port_counters(ports[i].device,
						       ports[i].port, &list,
						       &found);
		for (size_t k = 0; !error && k < found; k++)
			add_counter(rows, &ports[i], &list[k]);
		if (!error)
			free(list);
		else
			result = error;
	}
	return result;
}

static void print_counters(struct om_writer *writer, struct rows *rows)
{
	const struct row *last = NULL;

	if (rows->count)
		qsort(rows->list, rows->count, sizeof(*rows->list),
		      compare_rows);
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->list[i];
		const struct om_label labels[] = {
			{ "device", row->device }, { "port", row->port },
			{ "counter", row->counter },
		};

		if (last && !compare_rows(last, row))
			continue;	/* of the port and of the device */
		if (!last || strcmp(last->family, row->family))
			om_family(writer, OM_COUNTER, row->family, NULL,
				  "Hardware counter of an RDMA port.");
		om_sample(writer, (struct om_labels){ labels, 3 }, row->value);
		last = row;
	}
}

/* ---- what a port is ------------------------------------------------------ */

static void print_info(struct om_writer *writer,
		       const struct peerlane_port_info *ports, size_t count)
{
	om_family(writer, OM_INFO, "peerlane_port", NULL,
		  "What an RDMA port is.");
	for (size_t i = 0; i < count; i++) {
		const struct peerlane_port_info *port = &ports[i];
		char number[12];
		const struct om_label labels[] = {
			{ "device", port->device }, { "port", number },
			{ "netdev", port->netdev }, { "driver", port->driver },
			{ "link_layer", port->link_layer },
			{ "transport", peerlane_transport_name(port->transport) },
			{ "firmware", port->firmware }, { "pci", port->pci },
		};

		snprintf(number, sizeof(number), "%u", port->port);
		om_sample(writer, (struct om_labels){ labels, ARRAY_SIZE(labels) },
			  1);
	}
}

typedef uint64_t (*port_value)(const struct peerlane_port_info *port);

static uint64_t is_active(const struct peerlane_port_info *port)
{
	return !strcmp(peerlane_port_state_name(port->state), "active");
}

static uint64_t rate_bytes(const struct peerlane_port_info *port)
{
	return port->rate / 8;
}

static void print_gauge(struct om_writer *writer, const char *name,
			const char *help, port_value value,
			const struct peerlane_port_info *ports, size_t count)
{
	om_family(writer, OM_GAUGE, name, NULL, help);
	for (size_t i = 0; i < count; i++) {
		char number[12];
		const struct om_label labels[] = {
			{ "device", ports[i].device }, { "port", number },
		};

		if (!ports[i].port)
			continue;
		snprintf(number, sizeof(number), "%u", ports[i].port);
		om_sample(writer, (struct om_labels){ labels, 2 },
			  value(&ports[i]));
	}
}

/* ---- PFC ---------------------------------------------------------------- */

struct pause {
	char netdev[16];
	struct peerlane_pause_info info;
};

struct pauses {
	struct pause list[64];
	size_t count;
};

static bool has_pause(const struct pauses *pauses, const char *netdev)
{
	for (size_t i = 0; i < pauses->count; i++)
		if (!strcmp(pauses->list[i].netdev, netdev))
			return true;
	return false;
}

/* The members of a bond pause, not the bond. */
static void gather_pause(struct pauses *pauses, const char *netdev)
{
	struct peerlane_netdev_info *members = NULL;
	size_t count = 0;

	if (!*netdev || peerlane_netdev_members(netdev, &members, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		struct pause *pause = &pauses->list[pauses->count];

		if (pauses->count == ARRAY_SIZE(pauses->list) ||
		    has_pause(pauses, members[i].name) ||
		    peerlane_pause_query(members[i].name, &pause->info))
			continue;
		snprintf(pause->netdev, sizeof(pause->netdev), "%s",
			 members[i].name);
		pauses->count++;
	}
	free(members);
}

static void print_frames(struct om_writer *writer, const struct pause *pause,
			 const char *direction, uint32_t have,
			 const uint64_t frames[PEERLANE_PRIORITIES])
{
	for (unsigned int i = 0; i < PEERLANE_PRIORITIES; i++) {
		char priority[12];
		const struct om_label labels[] = {
			{ "netdev", pause->netdev }, { "direction", direction },
			{ "priority", priority },
		};

		if (!(have >> i & 1))
			continue;
		snprintf(priority, sizeof(priority), "%u", i);
		om_sample(writer, (struct om_labels){ labels, 3 }, frames[i]);
	}
}

static void print_pause(struct om_writer *writer, const struct pauses *pauses)
{
	om_family(writer, OM_COUNTER, "peerlane_pfc_frames", NULL,
		  "PFC frames of an interface, by priority. Drivers may show a priority only while PFC is on for it.");
	for (size_t i = 0; i < pauses->count; i++) {
		const struct pause *pause = &pauses->list[i];

		print_frames(writer, pause, "rx", pause->info.rx_have,
			     pause->info.rx_frames);
		print_frames(writer, pause, "tx", pause->info.tx_have,
			     pause->info.tx_frames);
	}
}

int metrics_ports(struct om_writer *writer)
{
	struct peerlane_port_info *ports = NULL;
	struct pauses pauses = { .count = 0 };
	struct rows rows = { 0 };
	size_t count = 0;
	int error = peerlane_port_list(&ports, &count);

	if (error)
		return error;
	print_info(writer, ports, count);
	print_gauge(writer, "peerlane_port_up", "Whether the port is active.",
		    is_active, ports, count);
	print_gauge(writer, "peerlane_port_rate_bytes_per_second",
		    "Rate of the port's link.", rate_bytes, ports, count);
	for (size_t i = 0; i < count; i++)
		gather_pause(&pauses, ports[i].netdev);
	print_pause(writer, &pauses);
	error = gather(&rows, ports, count);
	print_counters(writer, &rows);
	free(rows.list);
	free(ports);
	return error;
}
