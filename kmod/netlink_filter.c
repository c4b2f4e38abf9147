// SPDX-License-Identifier: GPL-2.0
/* Which flows a request means. */
#include "netlink.h"
#include "flow_find.h"

static bool given(const struct flow_filter *filter, int what)
{
	return filter->has & BIT(what);
}

/* ---- from attributes ---- */

int flow_address_parse(union roce_address *address, const struct nlattr *attr,
		       struct netlink_ext_ack *extack)
{
	int length = nla_len(attr);

	if (length != 4 && length != 16) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "an address has 4 or 16 bytes");
		return -EINVAL;
	}
	memset(address, 0, sizeof(*address));
	if (length == 4)
		address->word[2] = htonl(0xffff);
	memcpy(address->byte + sizeof(*address) - length, nla_data(attr), length);
	return 0;
}

static int parse_minimum(struct flow_filter *filter, const struct nlattr *nest,
			 struct netlink_ext_ack *extack)
{
	struct nlattr *tb[PEERLANE_A_MIN_MAX + 1];
	int ret;

	if (filter->minimums == FLOW_MINIMUMS) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "more than 8 minimums");
		return -EINVAL;
	}
	ret = nla_parse_nested(tb, PEERLANE_A_MIN_MAX, nest,
			       peerlane_min_policy, extack);
	if (ret)
		return ret;
	if (!tb[PEERLANE_A_MIN_COUNTER] || !tb[PEERLANE_A_MIN_VALUE]) {
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "a minimum has a counter and a value");
		return -EINVAL;
	}
	filter->min[filter->minimums].counter =
		nla_get_u32(tb[PEERLANE_A_MIN_COUNTER]);
	filter->min[filter->minimums].value =
		nla_get_u64(tb[PEERLANE_A_MIN_VALUE]);
	filter->minimums++;
	return 0;
}

static int parse_minimums(struct flow_filter *filter, const struct nlattr *nest,
			  struct netlink_ext_ack *extack)
{
	const struct nlattr *attr;
	int rest, ret;

	nla_for_each_nested(attr, nest, rest) {
		if (nla_type(attr) != PEERLANE_A_FILTER_MIN)
			continue;
		ret = parse_minimum(filter, attr, extack);
		if (ret)
			return ret;
	}
	return 0;
}

static int parse_addresses(struct flow_filter *filter, struct nlattr **tb,
			   struct netlink_ext_ack *extack)
{
	const struct {
		int type;
		union roce_address *address;
	} addresses[] = {
		{ PEERLANE_A_FILTER_ADDRESS, &filter->address },
		{ PEERLANE_A_FILTER_SADDR, &filter->saddr },
		{ PEERLANE_A_FILTER_DADDR, &filter->daddr },
	};
	u32 i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(addresses); i++) {
		if (!tb[addresses[i].type])
			continue;
		ret = flow_address_parse(addresses[i].address,
					 tb[addresses[i].type], extack);
		if (ret)
			return ret;
	}
	return 0;
}

static void parse_numbers(struct flow_filter *filter, struct nlattr **tb)
{
	const struct {
		int type;
		u32 *value;
	} numbers[] = {
		{ PEERLANE_A_FILTER_IFINDEX, &filter->ifindex },
		{ PEERLANE_A_FILTER_POINT, &filter->at },
		{ PEERLANE_A_FILTER_QPN, &filter->qpn },
		{ PEERLANE_A_FILTER_TRANSPORT, &filter->transport },
		{ PEERLANE_A_FILTER_TOP_BY, &filter->top_by },
		{ PEERLANE_A_FILTER_TOP, &filter->top },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (tb[numbers[i].type])
			*numbers[i].value = nla_get_u32(tb[numbers[i].type]);
}

int flow_filter_parse(struct flow_filter *filter, const struct nlattr *nest,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[PEERLANE_A_FILTER_MAX + 1];
	int i, ret;

	memset(filter, 0, sizeof(*filter));
	if (!nest)
		return 0;
	ret = nla_parse_nested(tb, PEERLANE_A_FILTER_MAX, nest,
			       peerlane_filter_policy, extack);
	if (ret)
		return ret;
	for (i = 1; i <= PEERLANE_A_FILTER_MAX; i++)
		if (tb[i])
			filter->has |= BIT(i);
	if (given(filter, PEERLANE_A_FILTER_TOP_BY) !=
	    given(filter, PEERLANE_A_FILTER_TOP)) {
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "top and top-by need each other");
		return -EINVAL;
	}
	parse_numbers(filter, tb);
	if (tb[PEERLANE_A_FILTER_LABEL])
		nla_strscpy(filter->label, tb[PEERLANE_A_FILTER_LABEL],
			    sizeof(filter->label));
	ret = parse_addresses(filter, tb, extack);
	return ret ?: parse_minimums(filter, nest, extack);
}

/* ---- against flows ---- */

/* By what never changes, so that no lock is needed. */
static bool is_meant_by_key(const struct flow_filter *filter,
			    const struct flow_key *key)
{
	if (!filter->has)
		return true;
	if (given(filter, PEERLANE_A_FILTER_TRANSPORT) &&
	    flow_key_transport(key) != filter->transport)
		return false;
	if (given(filter, PEERLANE_A_FILTER_SADDR) &&
	    !flow_address_equal(&key->saddr, &filter->saddr))
		return false;
	if (given(filter, PEERLANE_A_FILTER_DADDR) &&
	    !flow_address_equal(&key->daddr, &filter->daddr))
		return false;
	return !given(filter, PEERLANE_A_FILTER_ADDRESS) ||
	       flow_address_equal(&key->saddr, &filter->address) ||
	       flow_address_equal(&key->daddr, &filter->address);
}

static bool has_qpn(const struct flow_snapshot *snapshot, u32 qpn)
{
	if (flow_key_qpn(&snapshot->key) == qpn)
		return true;
	return snapshot->peer_qpn >> FLOW_TRANSPORT_SHIFT &&
	       (snapshot->peer_qpn & ROCE_QPN_MASK) == qpn;
}

static bool has_minimums(const struct flow_filter *filter,
			 const struct flow_snapshot *snapshot)
{
	u32 i;

	for (i = 0; i < filter->minimums; i++)
		if (flow_counter(snapshot, filter->min[i].counter) <
		    filter->min[i].value)
			return false;
	return true;
}

/* By all the rest. */
static bool is_meant(const struct flow_filter *filter,
		     const struct flow_snapshot *snapshot)
{
	/* Only told of, so far */
	if (!snapshot->state.packets && snapshot->state.point == FLOW_AT_NONE)
		return false;
	if (!filter->has)
		return true;
	if (given(filter, PEERLANE_A_FILTER_IFINDEX) &&
	    snapshot->ifindex != filter->ifindex)
		return false;
	if (given(filter, PEERLANE_A_FILTER_POINT) &&
	    min_t(u32, snapshot->state.point, FLOW_AT_DEVICE) != filter->at)
		return false;
	if (given(filter, PEERLANE_A_FILTER_QPN) &&
	    !has_qpn(snapshot, filter->qpn))
		return false;
	if (given(filter, PEERLANE_A_FILTER_LABEL) &&
	    strcmp(snapshot->label, filter->label))
		return false;
	if (given(filter, PEERLANE_A_FILTER_CONGESTED) &&
	    !snapshot->state.congested)
		return false;
	return has_minimums(filter, snapshot);
}

static u64 rate(const struct flow_snapshot *snapshot, bool is_bytes)
{
	u64 bytes, packets;

	flow_snapshot_rates(snapshot, &bytes, &packets);
	return is_bytes ? bytes : packets;
}

u64 flow_counter(const struct flow_snapshot *snapshot, u32 counter)
{
	const struct flow_state *state = &snapshot->state;
	const struct flow_clock clock = flow_clock_now();

	switch (counter) {
	case PEERLANE_COUNTER_PACKETS:
		return state->packets;
	case PEERLANE_COUNTER_BYTES:
		return state->bytes;
	case PEERLANE_COUNTER_ECT:
		return state->ect;
	case PEERLANE_COUNTER_CE:
		return state->ce;
	case PEERLANE_COUNTER_CNP:
		return state->cnp;
	case PEERLANE_COUNTER_FECN:
		return state->fecn;
	case PEERLANE_COUNTER_BECN:
		return state->becn;
	case PEERLANE_COUNTER_NAK_SEQUENCE:
		return state->nak_sequence;
	case PEERLANE_COUNTER_NAK_OTHER:
		return state->nak_other;
	case PEERLANE_COUNTER_RNR:
		return state->rnr;
	case PEERLANE_COUNTER_RETRANSMITTED:
		return state->retransmitted;
	case PEERLANE_COUNTER_RETRANSMITTED_BYTES:
		return state->retransmitted_bytes;
	case PEERLANE_COUNTER_GAPS:
		return state->gaps;
	case PEERLANE_COUNTER_LOST:
		return flow_lost(state, &clock);
	case PEERLANE_COUNTER_REORDERED:
		return state->reordered;
	case PEERLANE_COUNTER_TIMEOUTS:
		return state->timeouts;
	case PEERLANE_COUNTER_RATE_BYTES:
		return rate(snapshot, true);
	case PEERLANE_COUNTER_RATE_PACKETS:
		return rate(snapshot, false);
	case PEERLANE_COUNTER_RTT_MAX:
		return snapshot->has_rtt ? snapshot->rtt.max : 0;
	}
	return 0;
}

bool flow_filter_take(const struct flow_filter *filter,
		      struct flow_table *table, struct peerlane_flow *flow,
		      struct flow_snapshot *snapshot)
{
	return is_meant_by_key(filter, &flow->key) &&
	       flow_snapshot_take(table, flow, false, snapshot) &&
	       is_meant(filter, snapshot);
}
