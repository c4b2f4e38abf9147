// SPDX-License-Identifier: GPL-2.0
/* A flow as attributes. What is zero is left out. */
#include <linux/ktime.h>

#include "netlink.h"
#include "flow_find.h"

/*
 * nla_put(), inline: a dump of many flows does little else. Room for the value,
 * or NULL; lengths are multiples of what netlink aligns to.
 */
static __always_inline void *put_room(struct sk_buff *skb, int type, u32 length)
{
	struct nlattr *attr;

	BUILD_BUG_ON(length % NLA_ALIGNTO);
	if (unlikely(skb_tailroom(skb) < (int)(NLA_HDRLEN + length)))
		return NULL;
	attr = __skb_put(skb, NLA_HDRLEN + length);
	attr->nla_type = (u16)type;
	attr->nla_len = (u16)(NLA_HDRLEN + length);
	return attr + 1;
}

int flow_put_u32(struct sk_buff *skb, int type, u32 value)
{
	void *room;

	if (!value)
		return 0;
	room = put_room(skb, type, sizeof(value));
	if (unlikely(!room))
		return -EMSGSIZE;
	memcpy(room, &value, sizeof(value));
	return 0;
}

int flow_put_u64(struct sk_buff *skb, int type, u64 value, int pad)
{
	void *room;

	if (!value)
		return 0;
	if (nla_need_padding_for_64bit(skb))
		return nla_put_u64_64bit(skb, type, value, pad);
	room = put_room(skb, type, sizeof(value));
	if (unlikely(!room))
		return -EMSGSIZE;
	memcpy(room, &value, sizeof(value));
	return 0;
}

static int put_address(struct sk_buff *skb, int type,
		       const union roce_address *address)
{
	bool is_v4 = flow_is_v4(address);
	void *room;

	room = is_v4 ? put_room(skb, type, 4) : put_room(skb, type, 16);
	if (unlikely(!room))
		return -EMSGSIZE;
	if (is_v4)
		memcpy(room, &address->word[3], 4);
	else
		memcpy(room, address, 16);
	return 0;
}

/* Counters of struct flow_state that are shown as they are. */
struct counter {
	u16 type;
	u16 offset;
};

#define COUNTER(set, name, field) \
	{ PEERLANE_A_##set##_##name, offsetof(struct flow_state, field) }

static const struct counter flow_counters[] = {
	COUNTER(FLOW, PACKETS, packets),
	COUNTER(FLOW, BYTES, bytes),
	COUNTER(FLOW, ECT, ect),
	COUNTER(FLOW, CE, ce),
	COUNTER(FLOW, CNP, cnp),
	COUNTER(FLOW, FECN, fecn),
	COUNTER(FLOW, BECN, becn),
	COUNTER(FLOW, NAK_SEQUENCE, nak_sequence),
	COUNTER(FLOW, NAK_OTHER, nak_other),
	COUNTER(FLOW, RNR, rnr),
	COUNTER(FLOW, RETRANSMITTED, retransmitted),
	COUNTER(FLOW, RETRANSMITTED_BYTES, retransmitted_bytes),
	COUNTER(FLOW, GAPS, gaps),
	COUNTER(FLOW, REORDERED, reordered),
	COUNTER(FLOW, TIMEOUTS, timeouts),
};

static const struct counter reverse_counters[] = {
	COUNTER(REVERSE, PACKETS, packets),
	COUNTER(REVERSE, BYTES, bytes),
	COUNTER(REVERSE, CNP, cnp),
	COUNTER(REVERSE, BECN, becn),
	COUNTER(REVERSE, NAK_SEQUENCE, nak_sequence),
	COUNTER(REVERSE, NAK_OTHER, nak_other),
	COUNTER(REVERSE, RNR, rnr),
};

static int put_counters(struct sk_buff *skb, const struct flow_state *state,
			const struct counter *counters, u32 count, int pad)
{
	u32 i;

	for (i = 0; i < count; i++) {
		const u64 *value = (const void *)state + counters[i].offset;

		if (flow_put_u64(skb, counters[i].type, *value, pad))
			return -EMSGSIZE;
	}
	return 0;
}

static int put_key(struct sk_buff *skb, const struct flow_snapshot *snapshot)
{
	const struct flow_key *key = &snapshot->key;
	u32 peer = snapshot->peer_qpn;

	if (put_address(skb, PEERLANE_A_FLOW_SADDR, &key->saddr) ||
	    put_address(skb, PEERLANE_A_FLOW_DADDR, &key->daddr) ||
	    flow_put_u32(skb, PEERLANE_A_FLOW_TRANSPORT,
			 flow_key_transport(key)) ||
	    flow_put_u32(skb, PEERLANE_A_FLOW_QPN, flow_key_qpn(key)) ||
	    flow_put_u32(skb, PEERLANE_A_FLOW_PEER_QPN, peer & ROCE_QPN_MASK) ||
	    flow_put_u32(skb, PEERLANE_A_FLOW_PAIRING,
			 peer >> FLOW_TRANSPORT_SHIFT))
		return -EMSGSIZE;
	if (*snapshot->label &&
	    nla_put_string(skb, PEERLANE_A_FLOW_LABEL, snapshot->label))
		return -EMSGSIZE;
	return 0;
}

static u32 point_of(const struct flow_snapshot *snapshot)
{
	switch (snapshot->state.point) {
	case FLOW_AT_NONE:
		return PEERLANE_POINT_NONE;
	case FLOW_AT_OUT:
		return PEERLANE_POINT_LOCAL_OUT;
	case FLOW_AT_IN:
		return PEERLANE_POINT_LOCAL_IN;
	default:
		return PEERLANE_POINT_DEVICE;
	}
}

static int put_place(struct sk_buff *skb, const struct flow_snapshot *snapshot)
{
	const struct flow_state *state = &snapshot->state;

	if (snapshot->sport &&
	    nla_put_u16(skb, PEERLANE_A_FLOW_SPORT, snapshot->sport))
		return -EMSGSIZE;
	if (state->dscp && nla_put_u8(skb, PEERLANE_A_FLOW_DSCP, state->dscp))
		return -EMSGSIZE;
	if (state->congested && nla_put_flag(skb, PEERLANE_A_FLOW_CONGESTED))
		return -EMSGSIZE;
	if (flow_put_u32(skb, PEERLANE_A_FLOW_POINT, point_of(snapshot)) ||
	    flow_put_u32(skb, PEERLANE_A_FLOW_IFINDEX, snapshot->ifindex) ||
	    flow_put_u32(skb, PEERLANE_A_FLOW_PMTU, flow_pmtu(state)))
		return -EMSGSIZE;
	return 0;
}

static int put_time(struct sk_buff *skb, const struct flow_snapshot *snapshot)
{
	u32 seconds = (u32)ktime_get_boottime_seconds() - snapshot->first_seen;
	s32 idle = (s32)((u32)jiffies - snapshot->last_seen);
	u64 bytes, packets;

	flow_snapshot_rates(snapshot, &bytes, &packets);
	if (flow_put_u64(skb, PEERLANE_A_FLOW_AGE, (u64)seconds * MSEC_PER_SEC,
			 PEERLANE_A_FLOW_PAD) ||
	    flow_put_u64(skb, PEERLANE_A_FLOW_IDLE,
			 jiffies_to_msecs((unsigned long)max(idle, 0)),
			 PEERLANE_A_FLOW_PAD) ||
	    flow_put_u64(skb, PEERLANE_A_FLOW_RATE_BYTES, bytes,
			 PEERLANE_A_FLOW_PAD) ||
	    flow_put_u64(skb, PEERLANE_A_FLOW_RATE_PACKETS, packets,
			 PEERLANE_A_FLOW_PAD))
		return -EMSGSIZE;
	return 0;
}

static int put_lost(struct sk_buff *skb, const struct flow_state *state)
{
	struct flow_clock clock = flow_clock_now();

	if (flow_put_u64(skb, PEERLANE_A_FLOW_LOST, flow_lost(state, &clock),
			 PEERLANE_A_FLOW_PAD) ||
	    flow_put_u64(skb, PEERLANE_A_FLOW_MISSING,
			 flow_missing(state, &clock), PEERLANE_A_FLOW_PAD))
		return -EMSGSIZE;
	return 0;
}

static int put_rtt_values(struct sk_buff *skb, const struct flow_rtt *rtt)
{
	const struct {
		int type;
		u64 value;
	} values[] = {
		{ PEERLANE_A_RTT_SAMPLES, rtt->samples },
		{ PEERLANE_A_RTT_SHORTEST, rtt->min },
		{ PEERLANE_A_RTT_MEAN, div64_u64(rtt->sum, rtt->samples) },
		{ PEERLANE_A_RTT_P50, flow_rtt_percentile(rtt, 500) },
		{ PEERLANE_A_RTT_P99, flow_rtt_percentile(rtt, 990) },
		{ PEERLANE_A_RTT_LONGEST, rtt->max },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(values); i++)
		if (flow_put_u64(skb, values[i].type, values[i].value,
				 PEERLANE_A_RTT_PAD))
			return -EMSGSIZE;
	return 0;
}

static int put_rtt(struct sk_buff *skb, const struct flow_rtt *rtt,
		   bool with_histogram)
{
	struct nlattr *nest = nla_nest_start(skb, PEERLANE_A_FLOW_RTT);

	if (!nest || put_rtt_values(skb, rtt))
		return -EMSGSIZE;
	if (with_histogram &&
	    nla_put(skb, PEERLANE_A_RTT_HISTOGRAM, sizeof(rtt->bucket),
		    rtt->bucket))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_reverse(struct sk_buff *skb, const struct flow_state *reverse)
{
	struct nlattr *nest = nla_nest_start(skb, PEERLANE_A_FLOW_REVERSE);

	if (!nest || put_counters(skb, reverse, reverse_counters,
				  ARRAY_SIZE(reverse_counters),
				  PEERLANE_A_REVERSE_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* The caller takes back what was put, if it did not fit. */
int flow_put(struct sk_buff *skb, const struct flow_snapshot *snapshot,
	     bool with_histogram)
{
	if (put_key(skb, snapshot) || put_place(skb, snapshot) ||
	    put_counters(skb, &snapshot->state, flow_counters,
			 ARRAY_SIZE(flow_counters), PEERLANE_A_FLOW_PAD) ||
	    put_lost(skb, &snapshot->state) || put_time(skb, snapshot))
		return -EMSGSIZE;
	if (snapshot->has_rtt &&
	    put_rtt(skb, &snapshot->rtt, with_histogram))
		return -EMSGSIZE;
	if (snapshot->has_reverse && put_reverse(skb, &snapshot->reverse))
		return -EMSGSIZE;
	return 0;
}
