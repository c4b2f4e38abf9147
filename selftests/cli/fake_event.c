// SPDX-License-Identifier: GPL-2.0
/* Events of the library with canned answers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_flow.h"

struct peerlane_events {
	size_t next;
	bool current;
};

int peerlane_event_open(bool current, struct peerlane_events **events)
{
	int error = common_failure();

	if (error)
		return error;
	*events = calloc(1, sizeof(**events));
	(*events)->current = current;
	return 0;
}

int peerlane_event_fd(const struct peerlane_events *events)
{
	return events ? -1 : -2;
}

static void make_event(struct peerlane_event *event, size_t i)
{
	static struct peerlane_flow_info flows[FAKE_FLOWS];
	bool lost = scene("lost") && i == 1;

	fake_flows(flows, 0);
	*event = (struct peerlane_event){
		.kind = i & 1 ? PEERLANE_EVENT_CONGESTION_OFF :
				PEERLANE_EVENT_CONGESTION_ON,
		.share = i & 1 ? 400 : 25000, .sequence = 41 + i,
		.time = 1000000000 * (i + 1), .flow = flows[0],
	};
	if (!lost)
		return;
	*event = (struct peerlane_event){
		.kind = PEERLANE_EVENT_LOST, .sequence = 99,
		.time = 2000000000, .lost = 57,
	};
}

int peerlane_event_next(struct peerlane_events *events, int timeout,
			struct peerlane_event *event)
{
	if (events->current) {
		events->current = false;
		make_event(event, 0);
		event->resync = true;
		event->share = 0;
		event->sequence = 0;
		return 0;
	}
	if (events->next < 3) {
		make_event(event, events->next++);
		return 0;
	}
	if (scene("unloaded"))
		return refuse(ENODEV, "events: the module was unloaded (ENODEV)");
	if (timeout < 0) {
		pause();
		return refuse(EINTR, "interrupted (EINTR)");
	}
	usleep((useconds_t)timeout * 1000);
	return refuse(EAGAIN, "no event (EAGAIN)");
}

void peerlane_event_close(struct peerlane_events *events)
{
	free(events);
}
