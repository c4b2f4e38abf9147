/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Events of flows and groups.
 * The rules of <peerlane.h> hold, and the errors of flow.h.
 */
#ifndef LIBPEERLANE_EVENT_H
#define LIBPEERLANE_EVENT_H

#include <peerlane/flow.h>
#include <peerlane/group.h>

#ifdef __cplusplus
extern "C" {
#endif

struct peerlane_events;

enum peerlane_event_id {
	PEERLANE_EVENT_CONGESTION_ON = 1,
	PEERLANE_EVENT_CONGESTION_OFF = 2,
	PEERLANE_EVENT_GROUP_FORMED = 3,	/* all ranks have joined */
	PEERLANE_EVENT_GROUP_ENDED = 4,
	PEERLANE_EVENT_RANK_LATE = 5,	/* the others wait for it, second after second */
	PEERLANE_EVENT_RANK_IN_TIME = 6,	/* no longer */
	PEERLANE_EVENT_LANE_LEFT = 7,	/* a queue pair failed; others do its work */
	PEERLANE_EVENT_LOST = 0x10000,	/* made by the library */
};

/** peerlane_event_name() - "congestion-on", "group-ended", ..., "lost", "unknown". */
PEERLANE_API const char *peerlane_event_name(uint32_t kind);

/**
 * struct peerlane_event_group - what an event tells of a group
 * @group: its number, the same on all nodes; 0: the event is none of a group
 * @id: number of the rank's file, or of the aggregator's, on this node
 * @delay: RANK_LATE: ns behind the first rank, on average
 * @at_aggregator: an aggregator tells it; else a rank
 * @ranks: of the group
 * @rank: that is meant; FORMED and ENDED: that tells it, if a rank does
 * @cause: ENDED: enum peerlane_ending; LANE_LEFT: see peerlane_lane_cause_name()
 * @status: ENDED: negative errno that operations end with, or 0
 * @fault_rank: ENDED: whose fault, or PEERLANE_NOBODY
 * @aggregator: index of the aggregator in the group
 * @lane: LANE_LEFT: which one of those to that aggregator
 * @label: of its flows
 * @reason: ENDED: in words, or empty
 */
struct peerlane_event_group {
	uint64_t group;
	uint64_t id;
	uint64_t delay;
	bool at_aggregator;
	uint32_t ranks;
	uint32_t rank;
	uint32_t cause;
	int32_t status;
	uint32_t fault_rank;
	uint32_t aggregator;
	uint32_t lane;
	char label[32];
	char reason[192];
};

/**
 * struct peerlane_event - something happened
 * @kind: see peerlane_event_name(); kinds that this library does not know are
 *	handed on
 * @resync: not sent by the kernel: the flow is congested as events are opened
 *	with @current, or after PEERLANE_EVENT_LOST
 * @share: share of packets in the window that was judged, in millionths; 0 with
 *	@resync; RANK_LATE: of the time that it costs
 * @sequence: number of the event, those of flows and of groups each by
 *	themselves; 0 with @resync
 * @time: ns of CLOCK_BOOTTIME
 * @lost: PEERLANE_EVENT_LOST: how many events did not arrive
 * @flow: the flow; empty where there is none
 * @group: the group; empty where there is none
 */
struct peerlane_event {
	uint32_t kind;
	bool resync;
	uint32_t share;
	uint64_t sequence;
	uint64_t time;
	uint64_t lost;
	struct peerlane_flow_info flow;
	struct peerlane_event_group group;
};

/**
 * peerlane_event_open() - receive events
 * @current: begin with a PEERLANE_EVENT_CONGESTION_ON, flagged @resync, for each
 *	flow that is congested already
 * @events: set; released with peerlane_event_close()
 *
 * Events of groups are of all users, and for those only who have CAP_NET_ADMIN in
 * the user namespace of the network namespace: see peerlane_event_has_groups().
 */
PEERLANE_API int peerlane_event_open(bool current,
				     struct peerlane_events **events);

/** peerlane_event_has_groups() - those of groups are received, too. */
PEERLANE_API bool peerlane_event_has_groups(const struct peerlane_events *events);

/**
 * peerlane_event_fd() - to poll for POLLIN; stays owned by @events
 *
 * After it became readable, peerlane_event_next() is called with a timeout of 0
 * until it returns -EAGAIN.
 */
PEERLANE_API int peerlane_event_fd(const struct peerlane_events *events);

/**
 * peerlane_event_next() - the next event
 * @events: of peerlane_event_open()
 * @timeout: ms to wait; 0 do not, -1 for ever
 * @event: filled
 *
 * When events did not arrive, because the reader was too slow or the kernel
 * short of memory, PEERLANE_EVENT_LOST says how many. What was known of
 * congestion is void then: a PEERLANE_EVENT_CONGESTION_ON, flagged @resync,
 * follows for each flow that is congested now. Return: 0; -EAGAIN none came in
 * time; -EINTR a signal came; -ENODEV the module was unloaded: there will be no
 * more.
 */
PEERLANE_API int peerlane_event_next(struct peerlane_events *events,
				     int timeout, struct peerlane_event *event);

/** peerlane_event_close() - @events may be NULL. */
PEERLANE_API void peerlane_event_close(struct peerlane_events *events);

#ifdef __cplusplus
}
#endif

#endif /* LIBPEERLANE_EVENT_H */
