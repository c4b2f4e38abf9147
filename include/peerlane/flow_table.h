/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The table of flows: limits, counts, and where packets are looked at.
 * The rules of <peerlane.h> hold, and the errors of flow.h.
 */
#ifndef LIBPEERLANE_FLOW_TABLE_H
#define LIBPEERLANE_FLOW_TABLE_H

#include <peerlane/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct peerlane_flow_stats - limits and counts of flow statistics
 * @flows: in the table of this network namespace
 * @flow_limit: most in all namespaces together; module parameter max_flows
 * @flow_size: bytes of a flow's record
 * @buckets: of this namespace's table, 8 bytes each
 * @histograms: in all namespaces together
 * @histogram_limit: most histograms; module parameter max_histograms
 * @histogram_size: bytes of one
 * @idle_timeout: seconds without a packet after which a flow is forgotten
 * @threshold_on: share of packets, in millionths, at which congestion begins
 * @threshold_off: share below which it can end
 * @calm_windows: windows of one second below @threshold_off that end it
 * @created: flows that were ever entered
 * @expired: flows forgotten because they were idle
 * @evicted: idle flows forgotten early because the table was full
 * @packets: of all flows, forgotten and reset ones too
 * @bytes: likewise
 * @missed_full: packets in no flow: the table was full of busy ones
 * @missed_memory: packets in no flow: memory was short
 * @missed_histogram: round trips not counted, at the limit or short of memory
 * @fragments: IP fragments, not parsed
 * @truncated: packets with headers cut off
 * @malformed: packets that contradict the specification
 * @aggregated: packets merged before they could be seen
 * @elsewhere: packets of a flow that is counted at another point
 * @events_lost: events that could not be sent for lack of memory
 * @event_sequence: number of the last event of a flow
 * @group_events: number of the last event of a group
 */
struct peerlane_flow_stats {
	uint32_t flows;
	uint32_t flow_limit;
	uint32_t flow_size;
	uint32_t buckets;
	uint32_t histograms;
	uint32_t histogram_limit;
	uint32_t histogram_size;
	uint32_t idle_timeout;
	uint32_t threshold_on;
	uint32_t threshold_off;
	uint32_t calm_windows;
	uint64_t created;
	uint64_t expired;
	uint64_t evicted;
	uint64_t packets;
	uint64_t bytes;
	uint64_t missed_full;
	uint64_t missed_memory;
	uint64_t missed_histogram;
	uint64_t fragments;
	uint64_t truncated;
	uint64_t malformed;
	uint64_t aggregated;
	uint64_t elsewhere;
	uint64_t events_lost;
	uint64_t event_sequence;
	uint64_t group_events;
};

/** peerlane_flow_stats() - limits and counts of this network namespace. */
PEERLANE_API int peerlane_flow_stats(struct peerlane_flow_stats *stats);

/**
 * struct peerlane_flow_limits - what can be set; 0 stays as it is
 * @idle_timeout: seconds, 1 to 86400
 * @threshold_on: millionths, 1 to 1000000
 * @threshold_off: millionths, not above @threshold_on
 * @calm_windows: 1 to 255
 */
struct peerlane_flow_limits {
	uint32_t idle_timeout;
	uint32_t threshold_on;
	uint32_t threshold_off;
	uint32_t calm_windows;
};

/** peerlane_flow_limits_set() - change limits of this network namespace. */
PEERLANE_API int
peerlane_flow_limits_set(const struct peerlane_flow_limits *limits);

/**
 * peerlane_flow_observe() - begin or end to look at packets
 * @device: packets that arrive at this network device, such as a mirror port;
 *	NULL those that software RDMA of this node sends and receives
 * @on: begin, else end
 *
 * Return: 0; -ENODEV no such device; -EEXIST @on and observed already; -ESRCH
 * not @on and not observed; -ENOSPC too many devices; -EOPNOTSUPP.
 */
PEERLANE_API int peerlane_flow_observe(const char *device, bool on);

/**
 * struct peerlane_flow_point - a place where packets are looked at
 * @point: see peerlane_flow_point_name()
 * @ifindex: the device, or 0
 * @device: its name, or empty
 */
struct peerlane_flow_point {
	uint32_t point;
	uint32_t ifindex;
	char device[16];
};

/**
 * peerlane_flow_points() - where packets are looked at
 * @list: set to an array, freed by the caller with free(); NULL when @count is 0
 * @count: set to its length
 */
PEERLANE_API int peerlane_flow_points(struct peerlane_flow_point **list,
				      size_t *count);

#ifdef __cplusplus
}
#endif

#endif /* LIBPEERLANE_FLOW_TABLE_H */
