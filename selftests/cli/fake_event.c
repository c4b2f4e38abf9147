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

bool peerlane_event_has_groups(const struct peerlane_events *events)
{
	(void)events;
	return !scene("denied-groups");
}

int peerlane_event_fd(const struct peerlane_events *events)
{
	return events ? -1 : -2;
}

static const struct peerlane_event of_groups[] = {
	{ .kind = PEERLANE_EVENT_GROUP_FORMED, .sequence = 7,
	  .group = { .group = 77, .id = 1, .ranks = 4, .rank = 0,
		     .fault_rank = PEERLANE_NOBODY, .label = "rank 0 group 1" } },
	{ .kind = PEERLANE_EVENT_RANK_LATE, .sequence = 8, .share = 310000,
	  .group = { .group = 77, .id = 5, .at_aggregator = true, .ranks = 4,
		     .rank = 3, .delay = 4100000, .aggregator = 1,
		     .fault_rank = PEERLANE_NOBODY, .label = "aggregator 5" } },
	{ .kind = PEERLANE_EVENT_LANE_LEFT, .sequence = 9,
	  .group = { .group = 77, .id = 1, .ranks = 4, .rank = 0, .lane = 2,
		     .cause = 2, .aggregator = 1, .label = "\033[2J" } },
	{ .kind = PEERLANE_EVENT_RANK_IN_TIME, .sequence = 10,
	  .group = { .group = 77, .id = 5, .at_aggregator = true, .ranks = 4,
		     .rank = 3, .fault_rank = PEERLANE_NOBODY } },
	{ .kind = PEERLANE_EVENT_GROUP_ENDED, .sequence = 11,
	  .group = { .group = 77, .id = 1, .ranks = 4, .rank = 0,
		     .cause = PEERLANE_ENDING_LATE, .status = -ETIMEDOUT,
		     .fault_rank = 3, .label = "rank 0 group 1",
		     .reason = "rank 3 is late in operation 7, 1 missing" } },
};

static void make_event(struct peerlane_event *event, size_t i)
{
	static struct peerlane_flow_info flows[FAKE_FLOWS];
	bool lost = scene("lost") && i == 1;

	if (scene("groups")) {
		*event = of_groups[i];
		event->time = 1000000000 * (i + 1);
		return;
	}
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
	if (events->next < (scene("groups") ? 5 : 3)) {
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
