/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* Flows: what was counted of each. The rules of <peerlane.h> hold. */
#ifndef LIBPEERLANE_FLOW_H
#define LIBPEERLANE_FLOW_H

#include <peerlane/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A flow is one direction of one RDMA conversation: packets from one address to
 * one queue pair of another. The module counts those of the caller's network
 * namespace. Bytes are those of IP packets, IP header included. All functions
 * of flows fail with
 *   -ENOENT  the module is not loaded
 *   -EPERM   a right is missing: CAP_NET_ADMIN for labels, pairs and resets, in
 *	      the first user namespace too for what costs the machine memory
 *   -EINVAL, -ERANGE  a value is not possible, see the text
 *   -ENOMEM
 * and with what each says for itself.
 */

enum peerlane_flow_transport_id {
	PEERLANE_FLOW_RC = 0,
	PEERLANE_FLOW_UC = 1,
	PEERLANE_FLOW_RD = 2,
	PEERLANE_FLOW_UD = 3,
	PEERLANE_FLOW_CNP = 4,	/* only congestion notifications were seen */
	PEERLANE_FLOW_XRC = 5,
};

enum peerlane_flow_point_id {
	PEERLANE_AT_NONE = 0,
	PEERLANE_AT_LOCAL_OUT = 1,	/* sent by software RDMA of this node */
	PEERLANE_AT_LOCAL_IN = 2,	/* received by it */
	PEERLANE_AT_DEVICE = 3,		/* arrives at a network device */
};

enum peerlane_flow_pairing_id {
	PEERLANE_PAIRED_NONE = 0,
	PEERLANE_PAIRED_PORT = 1,	/* a guess: same UDP port, fitting answers */
	PEERLANE_PAIRED_CM = 2,		/* connection management was seen */
	PEERLANE_PAIRED_USER = 3,	/* by peerlane_flow_pair() */
};

/* Those below PEERLANE_COUNTERS the kernel selects and orders by. */
enum peerlane_flow_counter_id {
	PEERLANE_COUNT_PACKETS = 0,
	PEERLANE_COUNT_BYTES = 1,
	PEERLANE_COUNT_ECT = 2,
	PEERLANE_COUNT_CE = 3,
	PEERLANE_COUNT_CNP = 4,
	PEERLANE_COUNT_FECN = 5,
	PEERLANE_COUNT_BECN = 6,
	PEERLANE_COUNT_NAK_SEQUENCE = 7,
	PEERLANE_COUNT_NAK_OTHER = 8,
	PEERLANE_COUNT_RNR = 9,
	PEERLANE_COUNT_RETRANSMITTED = 10,
	PEERLANE_COUNT_RETRANSMITTED_BYTES = 11,
	PEERLANE_COUNT_GAPS = 12,
	PEERLANE_COUNT_LOST = 13,
	PEERLANE_COUNT_REORDERED = 14,
	PEERLANE_COUNT_TIMEOUTS = 15,
	PEERLANE_COUNT_RATE_BYTES = 16,
	PEERLANE_COUNT_RATE_PACKETS = 17,
	PEERLANE_COUNT_RTT_MAX = 18,
	PEERLANE_COUNTERS = 19,

	PEERLANE_COUNT_MISSING = 64,
	PEERLANE_COUNT_AGE = 65,
	PEERLANE_COUNT_IDLE = 66,
	PEERLANE_COUNT_RTT_SAMPLES = 67,
	PEERLANE_COUNT_RTT_MIN = 68,
	PEERLANE_COUNT_RTT_MEAN = 69,
	PEERLANE_COUNT_RTT_P50 = 70,
	PEERLANE_COUNT_RTT_P99 = 71,
	PEERLANE_COUNT_REVERSE_PACKETS = 72,
	PEERLANE_COUNT_REVERSE_BYTES = 73,
	PEERLANE_COUNT_REVERSE_CNP = 74,
	PEERLANE_COUNT_REVERSE_BECN = 75,
	PEERLANE_COUNT_REVERSE_NAK_SEQUENCE = 76,
	PEERLANE_COUNT_REVERSE_NAK_OTHER = 77,
	PEERLANE_COUNT_REVERSE_RNR = 78,
	PEERLANE_COUNTERS_END = 79,
};

#define PEERLANE_FLOW_LABEL	32	/* bytes of a label, terminating zero too */
#define PEERLANE_FLOW_MINS	8
#define PEERLANE_FLOW_TOP	1024
#define PEERLANE_RTT_HISTOGRAM	384	/* buckets */

/** peerlane_flow_transport_name() - "rc", "uc", "rd", "ud", "cnp", "xrc", "vendor6", "vendor7", "unknown". */
PEERLANE_API const char *peerlane_flow_transport_name(uint32_t transport);
/** peerlane_flow_point_name() - "none", "local-out", "local-in", "device", "unknown". */
PEERLANE_API const char *peerlane_flow_point_name(uint32_t point);
/** peerlane_flow_pairing_name() - "none", "port", "cm", "user", "unknown". */
PEERLANE_API const char *peerlane_flow_pairing_name(uint32_t pairing);
/** peerlane_flow_counter_name() - "packets", "nak-sequence", "rtt-p99", "reverse-cnp", ..., "unknown". */
PEERLANE_API const char *peerlane_flow_counter_name(uint32_t counter);
/** peerlane_flow_counter_unit() - "packets", "bytes", "events", "samples", "bytes/s", "packets/s", "ns", "ms", or empty. */
PEERLANE_API const char *peerlane_flow_counter_unit(uint32_t counter);
/** peerlane_flow_counter_is_total() - it only grows until it is reset; others are values of the moment. */
PEERLANE_API bool peerlane_flow_counter_is_total(uint32_t counter);
/** peerlane_flow_transport_find() - the transport of a name, -EINVAL there is none. */
PEERLANE_API int peerlane_flow_transport_find(const char *name,
					    uint32_t *transport);
/** peerlane_flow_point_find() - the point of a name, -EINVAL there is none. */
PEERLANE_API int peerlane_flow_point_find(const char *name,
					    uint32_t *point);
/** peerlane_flow_counter_find() - the counter of a name, -EINVAL there is none. */
PEERLANE_API int peerlane_flow_counter_find(const char *name,
					    uint32_t *counter);

/**
 * peerlane_address_text() - "192.0.2.1" or "2001:db8::1"
 * @address: 16 bytes; IPv4 as ::ffff:a.b.c.d
 * @text: filled
 */
PEERLANE_API void peerlane_address_text(const uint8_t address[16],
					char text[46]);

/** peerlane_address_parse() - its reverse; -EINVAL @text is not an address. */
PEERLANE_API int peerlane_address_parse(const char *text, uint8_t address[16]);

/**
 * struct peerlane_flow_key - what names a flow
 * @saddr: source address; IPv4 as ::ffff:a.b.c.d
 * @daddr: destination address
 * @transport: see peerlane_flow_transport_name()
 * @qpn: queue pair that the packets go to
 */
struct peerlane_flow_key {
	uint8_t saddr[16];
	uint8_t daddr[16];
	uint32_t transport;
	uint32_t qpn;
};

/**
 * struct peerlane_flow_rtt - from a request to its answer
 * @samples: how many; without any all else is 0
 * @min: ns
 * @mean: ns
 * @p50: ns, within 1/32
 * @p99: ns, within 1/32
 * @max: ns
 *
 * Seen at local-out it is a round trip, at local-in the answering time of this
 * node, at a device that of the part of the way beyond.
 */
struct peerlane_flow_rtt {
	uint64_t samples;
	uint64_t min;
	uint64_t mean;
	uint64_t p50;
	uint64_t p99;
	uint64_t max;
};

/**
 * struct peerlane_flow_reverse - what the receiver answered
 *
 * Counters of the flow in the other direction; the members are as in struct
 * peerlane_flow_info.
 */
struct peerlane_flow_reverse {
	uint64_t packets;
	uint64_t bytes;
	uint64_t cnp;
	uint64_t becn;
	uint64_t nak_sequence;
	uint64_t nak_other;
	uint64_t rnr;
};

/**
 * struct peerlane_flow_info - one flow
 * @key: its name
 * @label: given by peerlane_flow_label(), or empty
 * @peer_qpn: queue pair that the packets come from, 0 not known
 * @pairing: how that became known, see peerlane_flow_pairing_name()
 * @point: where it is counted, see peerlane_flow_point_name()
 * @ifindex: the device, where @point is PEERLANE_AT_DEVICE, else 0
 * @pmtu: path MTU, bytes, 0 not known
 * @sport: UDP source port of the last packet
 * @dscp: of the last packet
 * @congested: between two events congestion-on and congestion-off
 * @has_reverse: the other direction is known and seen
 * @age: since the first packet, ms
 * @idle: since the last packet, ms
 * @packets: packets
 * @bytes: bytes
 * @ect: packets whose sender is ECN-capable
 * @ce: packets that a switch marked "congestion experienced"
 * @cnp: congestion notification packets
 * @fecn: packets with the forward congestion bit
 * @becn: packets with the backward congestion bit, without CNPs
 * @nak_sequence: negative acknowledgements for a PSN out of sequence
 * @nak_other: negative acknowledgements for other reasons
 * @rnr: receiver-not-ready answers
 * @retransmitted: packets whose PSN was seen, or left out and asked for, before
 * @retransmitted_bytes: bytes of those
 * @gaps: times that PSNs were left out
 * @lost: PSNs left out that came only by being sent again, or never
 * @reordered: PSNs left out that came late without being sent again
 * @missing: PSNs left out of which it is not known yet
 * @timeouts: times that packets were sent again without being asked for
 * @rate_bytes: bytes a second, moving average over about 8 s
 * @rate_packets: packets a second, likewise
 * @rtt: round trips
 * @reverse: the other direction; all 0 unless @has_reverse
 */
struct peerlane_flow_info {
	struct peerlane_flow_key key;
	char label[PEERLANE_FLOW_LABEL];
	uint32_t peer_qpn;
	uint32_t pairing;
	uint32_t point;
	uint32_t ifindex;
	uint32_t pmtu;
	uint16_t sport;
	uint8_t dscp;
	bool congested;
	bool has_reverse;
	uint64_t age;
	uint64_t idle;
	uint64_t packets;
	uint64_t bytes;
	uint64_t ect;
	uint64_t ce;
	uint64_t cnp;
	uint64_t fecn;
	uint64_t becn;
	uint64_t nak_sequence;
	uint64_t nak_other;
	uint64_t rnr;
	uint64_t retransmitted;
	uint64_t retransmitted_bytes;
	uint64_t gaps;
	uint64_t lost;
	uint64_t reordered;
	uint64_t missing;
	uint64_t timeouts;
	uint64_t rate_bytes;
	uint64_t rate_packets;
	struct peerlane_flow_rtt rtt;
	struct peerlane_flow_reverse reverse;
};

/** peerlane_flow_counter() - one counter of @info by number, 0 for a number that there is not. */
PEERLANE_API uint64_t
peerlane_flow_counter(const struct peerlane_flow_info *info, uint32_t counter);

/**
 * peerlane_flow_since() - what a counter grew by from one look to the next
 * @now: the later one
 * @before: the earlier one of the same flow
 * @counter: one with peerlane_flow_counter_is_total()
 * @delta: set; left alone when false is returned
 *
 * Return: false where that is not known: the counter was set to zero in
 * between, or the flow was forgotten and began again.
 */
PEERLANE_API bool peerlane_flow_since(const struct peerlane_flow_info *now,
				      const struct peerlane_flow_info *before,
				      uint32_t counter, uint64_t *delta);

/** struct peerlane_flow_min - @counter below PEERLANE_COUNTERS is at least @value. */
struct peerlane_flow_min {
	uint32_t counter;
	uint64_t value;
};

/**
 * struct peerlane_flow_filter - which flows; all zero is every flow
 * @address: source or destination
 * @saddr: source
 * @daddr: destination
 * @label: exactly this one
 * @ifindex: counted at this device
 * @point: counted at this kind of point
 * @qpn: at either end
 * @has_transport: @transport is looked at
 * @transport: see peerlane_flow_transport_name()
 * @congested: only those congested now
 * @min_count: how many of @min are looked at
 * @min: smallest values of counters
 * @top: only so many, 1 to PEERLANE_FLOW_TOP, the largest of @top_by first;
 *	0 all, in no order
 * @top_by: counter below PEERLANE_COUNTERS
 *
 * A flow is meant if it satisfies everything that is given.
 */
struct peerlane_flow_filter {
	uint8_t address[16];
	uint8_t saddr[16];
	uint8_t daddr[16];
	char label[PEERLANE_FLOW_LABEL];
	uint32_t ifindex;
	uint32_t point;
	uint32_t qpn;
	bool has_transport;
	uint32_t transport;
	bool congested;
	uint32_t min_count;
	struct peerlane_flow_min min[PEERLANE_FLOW_MINS];
	uint32_t top;
	uint32_t top_by;
};

/**
 * peerlane_flow_list() - flows, in an array
 * @filter: which; NULL all
 * @list: set to an array, freed by the caller with free(); NULL when @count is 0
 * @count: set to its length
 * @incomplete: set to whether flows may be missing, or be there twice, because
 *	the table changed while it was read, five times in a row; may be NULL
 *
 * Return: 0, also when @incomplete; -EPROTO the kernel repeats itself.
 */
PEERLANE_API int peerlane_flow_list(const struct peerlane_flow_filter *filter,
				    struct peerlane_flow_info **list,
				    size_t *count, bool *incomplete);

#define PEERLANE_FLOW_HISTOGRAM	(1U << 0)

/**
 * typedef peerlane_flow_fn - told of one flow
 * @info: valid until it returns
 * @histogram: PEERLANE_RTT_HISTOGRAM buckets; NULL if not asked for, or without
 *	samples; valid until it returns
 * @arg: of the caller
 *
 * May call any function of the library. Return: 0 to go on; anything else ends
 * the walk, which then returns it.
 */
typedef int (*peerlane_flow_fn)(const struct peerlane_flow_info *info,
				const uint32_t *histogram, void *arg);

/**
 * peerlane_flow_each() - flows, one after another
 * @filter: which; NULL all
 * @flags: PEERLANE_FLOW_HISTOGRAM or 0
 * @fn: called for each as it arrives: no more than a few are in memory at once
 * @arg: handed to @fn
 *
 * Return: 0; -EINTR after the last flow: the table changed meanwhile, some may
 * be missing or have come twice; -EPROTO the kernel repeats itself; or what @fn
 * returned.
 */
PEERLANE_API int peerlane_flow_each(const struct peerlane_flow_filter *filter,
				    uint32_t flags, peerlane_flow_fn fn,
				    void *arg);

/**
 * peerlane_flow_reset() - set counters and histograms to zero
 * @filter: which; NULL all; without @top
 * @flags: PEERLANE_FLOW_HISTOGRAM or 0
 * @fn: called with the values as they were, taken in the same step; may be NULL.
 *	When it ends the walk, some later flows may have been reset, too
 * @arg: handed to @fn
 *
 * Return: as peerlane_flow_each(), -EINTR: some may not have been reset.
 */
PEERLANE_API int peerlane_flow_reset(const struct peerlane_flow_filter *filter,
				     uint32_t flags, peerlane_flow_fn fn,
				     void *arg);

/**
 * peerlane_flow_get() - one flow
 * @key: its name
 * @info: filled
 * @histogram: filled, zero without samples; may be NULL
 *
 * Return: 0; -ESRCH no such flow.
 */
PEERLANE_API int peerlane_flow_get(const struct peerlane_flow_key *key,
				   struct peerlane_flow_info *info,
				   uint32_t histogram[PEERLANE_RTT_HISTOGRAM]);

/**
 * peerlane_flow_label() - name one flow
 * @key: which
 * @label: up to 31 bytes; empty takes the name away
 *
 * Return: 0; -ESRCH no such flow; -ENOSPC no room for another label.
 */
PEERLANE_API int peerlane_flow_label(const struct peerlane_flow_key *key,
				     const char *label);

/**
 * peerlane_flow_label_all() - name many flows
 * @filter: which; NULL all
 * @label: as for peerlane_flow_label()
 * @count: set to how many were changed; may be NULL
 *
 * Return: 0; -ESRCH nothing was observed yet; -ENOSPC no room for another label.
 */
PEERLANE_API int
peerlane_flow_label_all(const struct peerlane_flow_filter *filter,
			const char *label, uint32_t *count);

/**
 * peerlane_flow_pair() - tell which queue pair a flow comes from
 * @key: which
 * @peer_qpn: 0 not known, so that the kernel may guess it again
 *
 * Return: 0; -ESRCH no such flow.
 */
PEERLANE_API int peerlane_flow_pair(const struct peerlane_flow_key *key,
				    uint32_t peer_qpn);

/**
 * peerlane_rtt_bucket() - what a bucket of a histogram holds
 * @bucket: below PEERLANE_RTT_HISTOGRAM
 * @low: set to the shortest, ns
 * @high: set to the first ns beyond; UINT64_MAX for the last
 */
PEERLANE_API void peerlane_rtt_bucket(uint32_t bucket, uint64_t *low,
				      uint64_t *high);

/**
 * peerlane_rtt_percentile() - middle of the bucket that a percentile falls in
 * @histogram: of one flow, or several added up
 * @millionths: 500000 the median, 999000 the 99.9th percentile, ...
 *
 * Return: ns; 0 without samples.
 */
PEERLANE_API uint64_t
peerlane_rtt_percentile(const uint32_t histogram[PEERLANE_RTT_HISTOGRAM],
			uint32_t millionths);

#ifdef __cplusplus
}
#endif

#endif /* LIBPEERLANE_FLOW_H */
