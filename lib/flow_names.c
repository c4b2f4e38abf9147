// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Names of what flows have, and their counters by number. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "flow.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const transports[] = {
	"rc", "uc", "rd", "ud", "cnp", "xrc", "vendor6", "vendor7",
};

static const char *const points[] = {
	"none", "local-out", "local-in", "device",
};

static const char *const pairings[] = { "none", "port", "cm", "user" };

/**
 * struct counter - what has a number in struct peerlane_flow_info
 * @name: as the specification says it
 * @unit: of the value
 * @total: grows until it is reset
 * @offset: where it is
 */
struct counter {
	const char *name;
	const char *unit;
	bool total;
	size_t offset;
};

#define TOTAL(id, name, unit, member) \
	[PEERLANE_COUNT_##id] = { name, unit, true, \
		offsetof(struct peerlane_flow_info, member) }
#define VALUE(id, name, unit, member) \
	[PEERLANE_COUNT_##id] = { name, unit, false, \
		offsetof(struct peerlane_flow_info, member) }

static const struct counter counters[PEERLANE_COUNTERS_END] = {
	TOTAL(PACKETS, "packets", "packets", packets),
	TOTAL(BYTES, "bytes", "bytes", bytes),
	TOTAL(ECT, "ect", "packets", ect),
	TOTAL(CE, "ce", "packets", ce),
	TOTAL(CNP, "cnp", "packets", cnp),
	TOTAL(FECN, "fecn", "packets", fecn),
	TOTAL(BECN, "becn", "packets", becn),
	TOTAL(NAK_SEQUENCE, "nak-sequence", "packets", nak_sequence),
	TOTAL(NAK_OTHER, "nak-other", "packets", nak_other),
	TOTAL(RNR, "rnr", "packets", rnr),
	TOTAL(RETRANSMITTED, "retransmitted", "packets", retransmitted),
	TOTAL(RETRANSMITTED_BYTES, "retransmitted-bytes", "bytes",
	      retransmitted_bytes),
	TOTAL(GAPS, "gaps", "events", gaps),
	TOTAL(LOST, "lost", "packets", lost),
	TOTAL(REORDERED, "reordered", "packets", reordered),
	TOTAL(TIMEOUTS, "timeouts", "events", timeouts),
	VALUE(RATE_BYTES, "rate-bytes", "bytes/s", rate_bytes),
	VALUE(RATE_PACKETS, "rate-packets", "packets/s", rate_packets),
	VALUE(RTT_MAX, "rtt-max", "ns", rtt.max),
	VALUE(MISSING, "missing", "packets", missing),
	VALUE(AGE, "age", "ms", age),
	VALUE(IDLE, "idle", "ms", idle),
	TOTAL(RTT_SAMPLES, "rtt-samples", "samples", rtt.samples),
	VALUE(RTT_MIN, "rtt-min", "ns", rtt.min),
	VALUE(RTT_MEAN, "rtt-mean", "ns", rtt.mean),
	VALUE(RTT_P50, "rtt-p50", "ns", rtt.p50),
	VALUE(RTT_P99, "rtt-p99", "ns", rtt.p99),
	TOTAL(REVERSE_PACKETS, "reverse-packets", "packets", reverse.packets),
	TOTAL(REVERSE_BYTES, "reverse-bytes", "bytes", reverse.bytes),
	TOTAL(REVERSE_CNP, "reverse-cnp", "packets", reverse.cnp),
	TOTAL(REVERSE_BECN, "reverse-becn", "packets", reverse.becn),
	TOTAL(REVERSE_NAK_SEQUENCE, "reverse-nak-sequence", "packets",
	      reverse.nak_sequence),
	TOTAL(REVERSE_NAK_OTHER, "reverse-nak-other", "packets",
	      reverse.nak_other),
	TOTAL(REVERSE_RNR, "reverse-rnr", "packets", reverse.rnr),
};

static const char *name_of(const char *const *names, size_t count, uint32_t id)
{
	return id < count ? names[id] : "unknown";
}

static int find(const char *const *names, size_t count, const char *what,
		const char *name, uint32_t *id)
{
	uint32_t i;

	pl_clear();
	for (i = 0; i < count; i++) {
		if (strcmp(names[i], name))
			continue;
		*id = i;
		return 0;
	}
	return pl_fail_text(EINVAL, "no %s \"%s\"", what, name);
}

const char *peerlane_flow_transport_name(uint32_t transport)
{
	return name_of(transports, COUNT(transports), transport);
}

int peerlane_flow_transport_find(const char *name, uint32_t *transport)
{
	return find(transports, COUNT(transports), "transport", name,
		    transport);
}

const char *peerlane_flow_point_name(uint32_t point)
{
	return name_of(points, COUNT(points), point);
}

int peerlane_flow_point_find(const char *name, uint32_t *point)
{
	return find(points, COUNT(points), "point of observation", name, point);
}

const char *peerlane_flow_pairing_name(uint32_t pairing)
{
	return name_of(pairings, COUNT(pairings), pairing);
}

const char *peerlane_event_name(uint32_t kind)
{
	static const char *const names[] = {
		[PEERLANE_EVENT_CONGESTION_ON] = "congestion-on",
		[PEERLANE_EVENT_CONGESTION_OFF] = "congestion-off",
		[PEERLANE_EVENT_GROUP_FORMED] = "group-formed",
		[PEERLANE_EVENT_GROUP_ENDED] = "group-ended",
		[PEERLANE_EVENT_RANK_LATE] = "rank-late",
		[PEERLANE_EVENT_RANK_IN_TIME] = "rank-in-time",
		[PEERLANE_EVENT_LANE_LEFT] = "lane-left",
	};

	if (kind == PEERLANE_EVENT_LOST)
		return "lost";
	return kind ? name_of(names, COUNT(names), kind) : "unknown";
}

/* NULL where the number has no counter: there are gaps. */
static const struct counter *counter_of(uint32_t id)
{
	if (id >= COUNT(counters) || !counters[id].name)
		return NULL;
	return &counters[id];
}

const char *peerlane_flow_counter_name(uint32_t counter)
{
	const struct counter *entry = counter_of(counter);

	return entry ? entry->name : "unknown";
}

const char *peerlane_flow_counter_unit(uint32_t counter)
{
	const struct counter *entry = counter_of(counter);

	return entry ? entry->unit : "";
}

bool peerlane_flow_counter_is_total(uint32_t counter)
{
	const struct counter *entry = counter_of(counter);

	return entry && entry->total;
}

int peerlane_flow_counter_find(const char *name, uint32_t *counter)
{
	const struct counter *entry;
	uint32_t i;

	pl_clear();
	for (i = 0; i < COUNT(counters); i++) {
		entry = counter_of(i);
		if (!entry || strcmp(entry->name, name))
			continue;
		*counter = i;
		return 0;
	}
	return pl_fail_text(EINVAL, "no counter \"%s\"", name);
}

uint64_t peerlane_flow_counter(const struct peerlane_flow_info *info,
			       uint32_t counter)
{
	const struct counter *entry = counter_of(counter);
	uint64_t value = 0;

	if (entry)
		memcpy(&value, (const char *)info + entry->offset,
		       sizeof(value));
	return value;
}

bool peerlane_flow_since(const struct peerlane_flow_info *now,
			 const struct peerlane_flow_info *before,
			 uint32_t counter, uint64_t *delta)
{
	uint64_t new = peerlane_flow_counter(now, counter);
	uint64_t old = peerlane_flow_counter(before, counter);

	if (now->age < before->age || new < old)
		return false;
	*delta = new - old;
	return true;
}

static bool is_mapped(const uint8_t address[16])
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)
				    (const void *)address);
}

void peerlane_address_text(const uint8_t address[16], char text[46])
{
	if (is_mapped(address))
		inet_ntop(AF_INET, address + 12, text, 46);
	else
		inet_ntop(AF_INET6, address, text, 46);
}

int peerlane_address_parse(const char *text, uint8_t address[16])
{
	uint8_t parsed[16] = { [10] = 0xff, [11] = 0xff };

	pl_clear();
	if (inet_pton(AF_INET, text, parsed + 12) != 1 &&
	    inet_pton(AF_INET6, text, parsed) != 1)
		return pl_fail_text(EINVAL, "\"%s\" is not an IP address",
				    text);
	memcpy(address, parsed, sizeof(parsed));
	return 0;
}

int peerlane_netdev_index(const char *name, uint32_t *ifindex)
{
	uint32_t index = if_nametoindex(name);

	pl_clear();
	if (!index)
		return pl_fail_text(ENODEV, "no network device \"%s\" in this network namespace",
				    name);
	*ifindex = index;
	return 0;
}

void peerlane_netdev_name(uint32_t ifindex, char name[16])
{
	char found[IF_NAMESIZE];

	if (if_indextoname(ifindex, found))
		snprintf(name, 16, "%.15s", found);
	else
		snprintf(name, 16, "%u", ifindex);
}
