// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * What the kernel says of flows. Nothing is expected but addresses: what is
 * missing is 0, what is unknown is left alone.
 */
#include <errno.h>
#include <netlink/attr.h>
#include <string.h>

#include "flow.h"

/* Where a number goes */
struct field {
	uint16_t attr;
	uint16_t offset;
	uint16_t size;
};

#define FLOW(name, member) \
	{ PEERLANE_A_FLOW_##name, offsetof(struct peerlane_flow_info, member), \
	  sizeof(((struct peerlane_flow_info *)0)->member) }
#define REVERSE(name, member) \
	{ PEERLANE_A_REVERSE_##name, \
	  offsetof(struct peerlane_flow_reverse, member), 8 }
#define RTT(name, member) \
	{ PEERLANE_A_RTT_##name, offsetof(struct peerlane_flow_rtt, member), 8 }
#define INFO(name, member) \
	{ PEERLANE_A_INFO_##name, \
	  offsetof(struct peerlane_flow_stats, member), \
	  sizeof(((struct peerlane_flow_stats *)0)->member) }

static const struct field flow_fields[] = {
	FLOW(TRANSPORT, key.transport), FLOW(QPN, key.qpn),
	FLOW(PEER_QPN, peer_qpn), FLOW(PAIRING, pairing),
	FLOW(SPORT, sport), FLOW(DSCP, dscp), FLOW(POINT, point),
	FLOW(IFINDEX, ifindex), FLOW(PMTU, pmtu), FLOW(AGE, age),
	FLOW(IDLE, idle), FLOW(PACKETS, packets), FLOW(BYTES, bytes),
	FLOW(ECT, ect), FLOW(CE, ce), FLOW(CNP, cnp), FLOW(FECN, fecn),
	FLOW(BECN, becn), FLOW(NAK_SEQUENCE, nak_sequence),
	FLOW(NAK_OTHER, nak_other), FLOW(RNR, rnr),
	FLOW(RETRANSMITTED, retransmitted),
	FLOW(RETRANSMITTED_BYTES, retransmitted_bytes), FLOW(GAPS, gaps),
	FLOW(LOST, lost), FLOW(REORDERED, reordered), FLOW(MISSING, missing),
	FLOW(TIMEOUTS, timeouts), FLOW(RATE_BYTES, rate_bytes),
	FLOW(RATE_PACKETS, rate_packets),
};

static const struct field reverse_fields[] = {
	REVERSE(PACKETS, packets), REVERSE(BYTES, bytes), REVERSE(CNP, cnp),
	REVERSE(BECN, becn), REVERSE(NAK_SEQUENCE, nak_sequence),
	REVERSE(NAK_OTHER, nak_other), REVERSE(RNR, rnr),
};

static const struct field rtt_fields[] = {
	RTT(SAMPLES, samples), RTT(SHORTEST, min), RTT(MEAN, mean), RTT(P50, p50),
	RTT(P99, p99), RTT(LONGEST, max),
};

static const struct field info_fields[] = {
	INFO(FLOWS, flows), INFO(FLOW_LIMIT, flow_limit),
	INFO(FLOW_SIZE, flow_size), INFO(BUCKETS, buckets),
	INFO(HISTOGRAMS, histograms), INFO(HISTOGRAM_LIMIT, histogram_limit),
	INFO(HISTOGRAM_SIZE, histogram_size), INFO(IDLE_TIMEOUT, idle_timeout),
	INFO(THRESHOLD_ON, threshold_on), INFO(THRESHOLD_OFF, threshold_off),
	INFO(CALM_WINDOWS, calm_windows), INFO(CREATED, created),
	INFO(EXPIRED, expired), INFO(EVICTED, evicted), INFO(PACKETS, packets),
	INFO(BYTES, bytes), INFO(MISSED_FULL, missed_full),
	INFO(MISSED_MEMORY, missed_memory),
	INFO(MISSED_HISTOGRAM, missed_histogram), INFO(FRAGMENTS, fragments),
	INFO(TRUNCATED, truncated), INFO(MALFORMED, malformed),
	INFO(AGGREGATED, aggregated), INFO(ELSEWHERE, elsewhere),
	INFO(EVENTS_LOST, events_lost), INFO(EVENT_SEQUENCE, event_sequence),
	INFO(GROUP_EVENT_SEQUENCE, group_events),
};

uint64_t pl_flow_number(const struct nlattr *attr)
{
	uint64_t value8;
	uint32_t value4;
	uint16_t value2;

	if (!attr)
		return 0;
	switch (nla_len(attr)) {
	case 8:
		memcpy(&value8, nla_data(attr), sizeof(value8));
		return value8;
	case 4:
		memcpy(&value4, nla_data(attr), sizeof(value4));
		return value4;
	case 2:
		memcpy(&value2, nla_data(attr), sizeof(value2));
		return value2;
	case 1:
		return *(uint8_t *)nla_data(attr);
	default:
		return 0;
	}
}

/* A number that does not fit is the largest that does. */
static void store(void *to, size_t size, uint64_t number)
{
	uint64_t most = size == 8 ? UINT64_MAX : (1ULL << (8 * size)) - 1;
	uint32_t value4;
	uint16_t value2;

	if (number > most)
		number = most;
	value4 = (uint32_t)number;
	value2 = (uint16_t)number;
	if (size == 8)
		memcpy(to, &number, size);
	else if (size == 4)
		memcpy(to, &value4, size);
	else if (size == 2)
		memcpy(to, &value2, size);
	else
		*(uint8_t *)to = (uint8_t)number;
}

static void read_fields(struct nlattr **tb, const struct field *fields,
			size_t count, void *to)
{
	size_t i;

	for (i = 0; i < count; i++)
		store((char *)to + fields[i].offset, fields[i].size,
		      pl_flow_number(tb[fields[i].attr]));
}

#define READ(tb, fields, to) \
	read_fields(tb, fields, sizeof(fields) / sizeof((fields)[0]), to)

static int read_address(const struct nlattr *attr, uint8_t address[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (!attr || (nla_len(attr) != 4 && nla_len(attr) != 16))
		return -EPROTO;
	memcpy(address, mapped, sizeof(mapped));
	if (nla_len(attr) == 16)
		memcpy(address, nla_data(attr), 16);
	else
		memcpy(address + 12, nla_data(attr), 4);
	return 0;
}

static void read_histogram(const struct nlattr *attr, uint32_t *histogram)
{
	size_t size = PEERLANE_RTT_HISTOGRAM * sizeof(*histogram);

	if (!histogram)
		return;
	memset(histogram, 0, size);
	if (attr && (size_t)nla_len(attr) < size)
		size = (size_t)nla_len(attr) / sizeof(*histogram) *
		       sizeof(*histogram);
	if (attr)
		memcpy(histogram, nla_data(attr), size);
}

static void read_rtt(struct nlattr *nest, struct peerlane_flow_rtt *rtt,
		     uint32_t *histogram)
{
	struct nlattr *tb[PEERLANE_A_RTT_MAX + 1];

	if (!nest || nla_parse_nested(tb, PEERLANE_A_RTT_MAX, nest, NULL) < 0) {
		read_histogram(NULL, histogram);
		return;
	}
	READ(tb, rtt_fields, rtt);
	read_histogram(tb[PEERLANE_A_RTT_HISTOGRAM], histogram);
}

static void read_reverse(struct nlattr *nest, struct peerlane_flow_info *info)
{
	struct nlattr *tb[PEERLANE_A_REVERSE_MAX + 1];

	if (!nest ||
	    nla_parse_nested(tb, PEERLANE_A_REVERSE_MAX, nest, NULL) < 0)
		return;
	info->has_reverse = true;
	READ(tb, reverse_fields, &info->reverse);
}

int pl_flow_parse(struct nlattr **tb, struct peerlane_flow_info *info,
		  uint32_t *histogram)
{
	memset(info, 0, sizeof(*info));
	if (read_address(tb[PEERLANE_A_FLOW_SADDR], info->key.saddr) ||
	    read_address(tb[PEERLANE_A_FLOW_DADDR], info->key.daddr))
		return -EPROTO;
	READ(tb, flow_fields, info);
	pl_netlink_text(tb[PEERLANE_A_FLOW_LABEL], info->label,
			sizeof(info->label));
	info->congested = tb[PEERLANE_A_FLOW_CONGESTED] != NULL;
	read_rtt(tb[PEERLANE_A_FLOW_RTT], &info->rtt, histogram);
	read_reverse(tb[PEERLANE_A_FLOW_REVERSE], info);
	return 0;
}

int pl_flow_parse_nested(struct nlattr *nest, struct peerlane_flow_info *info)
{
	struct nlattr *tb[PEERLANE_A_FLOW_MAX + 1];

	if (nla_parse_nested(tb, PEERLANE_A_FLOW_MAX, nest, NULL) < 0)
		return -EPROTO;
	return pl_flow_parse(tb, info, NULL);
}

void pl_flow_parse_stats(struct nlattr **tb, struct peerlane_flow_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	READ(tb, info_fields, stats);
}
