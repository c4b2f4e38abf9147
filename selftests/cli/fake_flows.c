// SPDX-License-Identifier: GPL-2.0
/* Which flows there are in each scene, and which of them a filter means. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "fake_flow.h"

static void set_address(uint8_t address[16], const char *text)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	memcpy(address, mapped, sizeof(mapped));
	if (inet_pton(AF_INET, text, address + 12) != 1)
		inet_pton(AF_INET6, text, address);
}

static struct peerlane_flow_info flow_between(const char *from, const char *to,
					      uint32_t qpn)
{
	struct peerlane_flow_info flow = { .key.qpn = qpn };

	set_address(flow.key.saddr, from);
	set_address(flow.key.daddr, to);
	return flow;
}

/* From this host to another, congested. */
static struct peerlane_flow_info congested_flow(uint64_t look)
{
	struct peerlane_flow_info flow =
		flow_between("10.0.0.1", "10.0.0.2", 18);

	strcpy(flow.label, "rank 3");
	flow.peer_qpn = 17;
	flow.pairing = PEERLANE_PAIRED_PORT;
	flow.point = PEERLANE_AT_LOCAL_OUT;
	flow.pmtu = 4096;
	flow.sport = 49999;
	flow.dscp = 26;
	flow.congested = true;
	flow.age = 61000 + 100 * look;
	flow.idle = 4;
	flow.packets = 200000 + 1000 * look;
	flow.bytes = 834000000 + 4096000 * look;
	flow.ect = flow.packets;
	flow.ce = 3000 + 20 * look;
	flow.retransmitted = 40 + 5 * look;
	flow.retransmitted_bytes = 163840 + 20480 * look;
	flow.gaps = 3;
	flow.lost = 7 + look;
	flow.reordered = 2;
	flow.missing = 1;
	flow.timeouts = 1;
	flow.rate_bytes = 1250000000;
	flow.rate_packets = 305175;
	flow.rtt = (struct peerlane_flow_rtt){
		1007, 2176, 8000, 5000, 180000, 400000
	};
	flow.has_reverse = true;
	flow.reverse = (struct peerlane_flow_reverse){
		.packets = 25000 + 100 * look, .bytes = 1500000,
		.cnp = 120 + 3 * look, .nak_sequence = 3, .nak_other = 1,
		.rnr = 9,
	};
	return flow;
}

/* Its answers. */
static struct peerlane_flow_info answering_flow(uint64_t look)
{
	struct peerlane_flow_info flow =
		flow_between("10.0.0.2", "10.0.0.1", 17);

	flow.peer_qpn = 18;
	flow.pairing = PEERLANE_PAIRED_PORT;
	flow.point = PEERLANE_AT_LOCAL_IN;
	flow.sport = 49999;
	flow.age = 61000 + 100 * look;
	flow.packets = 25000 + 100 * look;
	flow.bytes = 1500000 + 6000 * look;
	flow.cnp = 120 + 3 * look;
	flow.nak_sequence = 3;
	flow.nak_other = 1;
	flow.rnr = 9;
	flow.rate_bytes = 25000;
	flow.has_reverse = true;
	flow.reverse.packets = 200000 + 1000 * look;
	return flow;
}

/* Mirrored from a switch, with nothing known of its ends. */
static struct peerlane_flow_info mirrored_flow(uint64_t look)
{
	struct peerlane_flow_info flow =
		flow_between("2001:db8::1", "2001:db8::2", 0xfffffe);

	flow.key.transport = PEERLANE_FLOW_UD;
	flow.point = PEERLANE_AT_DEVICE;
	flow.ifindex = 1;
	flow.sport = 65535;
	flow.age = 1000 + 100 * look;
	flow.packets = 10 + look;
	flow.bytes = 640 + 64 * look;
	return flow;
}

/* From a rank on another node to an aggregator of this one. */
static struct peerlane_flow_info group_flow(void)
{
	struct peerlane_flow_info flow =
		flow_between("10.0.0.4", "10.0.0.9", 18);

	strcpy(flow.label, "aggregator 5");
	flow.point = PEERLANE_AT_LOCAL_IN;
	flow.packets = 200000;
	flow.ce = 4000;
	flow.retransmitted = 31;
	return flow;
}

/* Every number as large as it can be. */
static struct peerlane_flow_info largest_flow(void)
{
	struct peerlane_flow_info flow =
		flow_between("255.255.255.255", "255.255.255.255", 0xffffff);

	memset(&flow.age, 0xff,
	       sizeof(flow) - offsetof(struct peerlane_flow_info, age));
	memset(flow.label, 'x', 31);
	flow.key.transport = 7;
	flow.peer_qpn = 0xffffff;
	flow.pairing = PEERLANE_PAIRED_USER;
	flow.point = 99;
	flow.pmtu = 4096;
	flow.sport = 65535;
	flow.dscp = 63;
	flow.has_reverse = true;
	return flow;
}

static size_t hostile_flows(struct peerlane_flow_info *flows)
{
	flows[0] = congested_flow(0);
	strcpy(flows[0].label, "\033[2J\033]0;x\007\n\"\\");
	flows[1] = mirrored_flow(0);
	strcpy(flows[1].label, "\302\23331m\377\300\257gr\303\274n\177");
	flows[2] = answering_flow(0);
	flows[2].key.transport = 77;
	flows[2].pairing = 77;
	memset(flows[2].label, 'y', sizeof(flows[2].label));	/* not ended */
	return 3;
}

static size_t many_flows(struct peerlane_flow_info *flows)
{
	for (uint32_t i = 0; i < FAKE_FLOWS; i++) {
		char text[16];

		snprintf(text, sizeof(text), "10.9.%u.%u", i / 250, i % 250);
		flows[i] = flow_between(text, "10.0.0.2", 100 + i);
		flows[i].sport = (uint16_t)(49152 + i);
		flows[i].packets = 1 + i;
		flows[i].bytes = 1000 * (1 + i);
		flows[i].rate_bytes = 1000 - i;
	}
	return FAKE_FLOWS;
}

/* One overtakes another; then it is forgotten; then all are reset. */
static size_t moving_flows(struct peerlane_flow_info *flows, unsigned int look)
{
	static const uint64_t bytes[][3] = {
		{ 1000, 500, 100 }, { 1100, 2000, 150 }, { 1200, 0, 200 },
		{ 1, 0, 2 }, { 10, 0, 20 },
	};
	static const char *const names[] = { "10.0.0.1", "10.0.0.2", "10.0.0.3" };
	size_t count = 0;

	if (look > 4)
		look = 4;
	for (size_t i = 0; i < 3; i++) {
		if (!bytes[look][i])
			continue;
		flows[count] = flow_between(names[i], "10.0.0.9", 1);
		flows[count++].bytes = bytes[look][i];
	}
	return count;
}

size_t fake_flows(struct peerlane_flow_info *flows, unsigned int look)
{
	if (scene("empty") || scene("unobserved"))
		return 0;
	if (scene("hostile"))
		return hostile_flows(flows);
	if (scene("many"))
		return many_flows(flows);
	if (scene("moving"))
		return moving_flows(flows, look);
	flows[0] = congested_flow(look);
	if (scene("reset") && look) {	/* by another, after the first look */
		flows[0].packets = look;
		flows[0].bytes = 4096 * look;
		flows[0].ce = 0;
	}
	if (scene("marked"))
		flows[0] = group_flow();
	flows[1] = answering_flow(look);
	flows[2] = mirrored_flow(look);
	flows[3] = largest_flow();
	return 4;
}

static bool is_address(const uint8_t *wanted, const uint8_t *one,
		       const uint8_t *other)
{
	static const uint8_t any[16];

	return !memcmp(wanted, any, 16) || !memcmp(wanted, one, 16) ||
	       (other && !memcmp(wanted, other, 16));
}

bool fake_matches(const struct peerlane_flow_filter *filter,
		  const struct peerlane_flow_info *flow)
{
	const struct peerlane_flow_key *key = &flow->key;

	if (!filter)
		return true;
	for (uint32_t i = 0; i < filter->min_count; i++)
		if (peerlane_flow_counter(flow, filter->min[i].counter) <
		    filter->min[i].value)
			return false;
	return is_address(filter->address, key->saddr, key->daddr) &&
	       is_address(filter->saddr, key->saddr, NULL) &&
	       is_address(filter->daddr, key->daddr, NULL) &&
	       (!filter->ifindex || filter->ifindex == flow->ifindex) &&
	       (!filter->point || filter->point == flow->point) &&
	       (!filter->qpn || filter->qpn == key->qpn ||
		filter->qpn == flow->peer_qpn) &&
	       (!filter->has_transport ||
		filter->transport == key->transport) &&
	       (!*filter->label || !strcmp(filter->label, flow->label)) &&
	       (!filter->congested || flow->congested);
}
