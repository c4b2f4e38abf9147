/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Events of flows.
 * The rules of <peerlane.h> hold, and the errors of flow.h.
 */
#ifndef LIBPEERLANE_EVENT_H
#define LIBPEERLANE_EVENT_H

#include <peerlane/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

struct peerlane_events;

enum peerlane_event_id {
	PEERLANE_EVENT_CONGESTION_ON = 1,
	PEERLANE_EVENT_CONGESTION_OFF = 2,
	PEERLANE_EVENT_LOST = 0x10000,	/* made by the library */
};

/** peerlane_event_name() - "congestion-on", "congestion-off", "lost", "unknown". */
PEERLANE_API const char *peerlane_event_name(uint32_t kind);

/**
 * struct peerlane_event - something happened
 * @kind: see peerlane_event_name(); kinds that this library does not know are
 *	handed on
 * @resync: not sent by the kernel: the flow is congested as events are opened
 *	with @current, or after PEERLANE_EVENT_LOST
 * @share: share of packets in the window that was judged, in millionths; 0 with
 *	@resync
 * @sequence: number of the event; 0 with @resync
 * @time: ns of CLOCK_BOOTTIME
 * @lost: PEERLANE_EVENT_LOST: how many events did not arrive
 * @flow: the flow; empty for PEERLANE_EVENT_LOST
 */
struct peerlane_event {
	uint32_t kind;
	bool resync;
	uint32_t share;
	uint64_t sequence;
	uint64_t time;
	uint64_t lost;
	struct peerlane_flow_info flow;
};

/**
 * peerlane_event_open() - receive events
 * @current: begin with a PEERLANE_EVENT_CONGESTION_ON, flagged @resync, for each
 *	flow that is congested already
 * @events: set; released with peerlane_event_close()
 */
PEERLANE_API int peerlane_event_open(bool current,
				     struct peerlane_events **events);

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
