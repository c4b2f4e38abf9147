// SPDX-License-Identifier: GPL-2.0
/*
 * What requests may carry. The specification says the same; a test compares.
 * Attributes that only replies have are refused. Ranges are not constant, since
 * 6.1 would not take them.
 */
#include "netlink.h"

static struct netlink_range_validation qpn_range = {
	.max = ROCE_QPN_MASK,
};

static struct netlink_range_validation share_range = {
	.min = 1,
	.max = 1000000,
};

static struct netlink_range_validation idle_range = {
	.min = 1,
	.max = 86400,
};

#define ADDRESS		NLA_POLICY_RANGE(NLA_BINARY, 4, 16)

const struct nla_policy peerlane_min_policy[PEERLANE_A_MIN_MAX + 1] = {
	[PEERLANE_A_MIN_COUNTER] = NLA_POLICY_MAX(NLA_U32, PEERLANE_COUNTER_RTT_MAX),
	[PEERLANE_A_MIN_VALUE] = { .type = NLA_U64 },
};

const struct nla_policy peerlane_filter_policy[PEERLANE_A_FILTER_MAX + 1] = {
	[PEERLANE_A_FILTER_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[PEERLANE_A_FILTER_POINT] = NLA_POLICY_MAX(NLA_U32, PEERLANE_POINT_DEVICE),
	[PEERLANE_A_FILTER_ADDRESS] = ADDRESS,
	[PEERLANE_A_FILTER_SADDR] = ADDRESS,
	[PEERLANE_A_FILTER_DADDR] = ADDRESS,
	[PEERLANE_A_FILTER_QPN] = NLA_POLICY_FULL_RANGE(NLA_U32, &qpn_range),
	[PEERLANE_A_FILTER_TRANSPORT] = NLA_POLICY_MAX(NLA_U32, PEERLANE_TRANSPORT_VENDOR7),
	[PEERLANE_A_FILTER_LABEL] = {
		.type = NLA_NUL_STRING,
		.len = PEERLANE_LABEL_MAX,
	},
	[PEERLANE_A_FILTER_CONGESTED] = { .type = NLA_FLAG },
	[PEERLANE_A_FILTER_MIN] = NLA_POLICY_NESTED(peerlane_min_policy),
	[PEERLANE_A_FILTER_TOP_BY] = NLA_POLICY_MAX(NLA_U32, PEERLANE_COUNTER_RTT_MAX),
	[PEERLANE_A_FILTER_TOP] = NLA_POLICY_RANGE(NLA_U32, 1, PEERLANE_TOP_MAX),
};

const struct nla_policy
peerlane_flow_get_policy[PEERLANE_A_FLOW_WITH_HISTOGRAM + 1] = {
	[PEERLANE_A_FLOW_SADDR] = ADDRESS,
	[PEERLANE_A_FLOW_DADDR] = ADDRESS,
	[PEERLANE_A_FLOW_TRANSPORT] = NLA_POLICY_MAX(NLA_U32, PEERLANE_TRANSPORT_VENDOR7),
	[PEERLANE_A_FLOW_QPN] = NLA_POLICY_FULL_RANGE(NLA_U32, &qpn_range),
	[PEERLANE_A_FLOW_FILTER] = NLA_POLICY_NESTED(peerlane_filter_policy),
	[PEERLANE_A_FLOW_WITH_HISTOGRAM] = { .type = NLA_FLAG },
};

/*
 * One policy is for both kinds of flow-get, since 6.1 cannot have two. A filter
 * would be of no effect on one flow, and a key on a dump of all.
 */
static const u8 peerlane_flow_not_in_do[] = {
	PEERLANE_A_FLOW_FILTER,
};

static const u8 peerlane_flow_not_in_dump[] = {
	PEERLANE_A_FLOW_SADDR,
	PEERLANE_A_FLOW_DADDR,
	PEERLANE_A_FLOW_TRANSPORT,
	PEERLANE_A_FLOW_QPN,
};

static int refuse(struct nlattr **attrs, const u8 *types, u32 count,
		  struct netlink_ext_ack *extack)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (!attrs[types[i]])
			continue;
		NL_SET_ERR_MSG_ATTR(extack, attrs[types[i]],
				    "one flow has a key, a dump has a filter");
		return -EINVAL;
	}
	return 0;
}

int peerlane_flow_get_check(struct nlattr **attrs, bool is_dump,
			    struct netlink_ext_ack *extack)
{
	if (is_dump)
		return refuse(attrs, peerlane_flow_not_in_dump,
			      ARRAY_SIZE(peerlane_flow_not_in_dump), extack);
	return refuse(attrs, peerlane_flow_not_in_do,
		      ARRAY_SIZE(peerlane_flow_not_in_do), extack);
}

const struct nla_policy
peerlane_flow_set_policy[PEERLANE_A_FLOW_FILTER + 1] = {
	[PEERLANE_A_FLOW_SADDR] = ADDRESS,
	[PEERLANE_A_FLOW_DADDR] = ADDRESS,
	[PEERLANE_A_FLOW_TRANSPORT] = NLA_POLICY_MAX(NLA_U32, PEERLANE_TRANSPORT_VENDOR7),
	[PEERLANE_A_FLOW_QPN] = NLA_POLICY_FULL_RANGE(NLA_U32, &qpn_range),
	[PEERLANE_A_FLOW_PEER_QPN] = NLA_POLICY_FULL_RANGE(NLA_U32, &qpn_range),
	[PEERLANE_A_FLOW_LABEL] = {
		.type = NLA_NUL_STRING,
		.len = PEERLANE_LABEL_MAX,
	},
	[PEERLANE_A_FLOW_FILTER] = NLA_POLICY_NESTED(peerlane_filter_policy),
};

const struct nla_policy
peerlane_flow_reset_policy[PEERLANE_A_FLOW_WITH_HISTOGRAM + 1] = {
	[PEERLANE_A_FLOW_FILTER] = NLA_POLICY_NESTED(peerlane_filter_policy),
	[PEERLANE_A_FLOW_WITH_HISTOGRAM] = { .type = NLA_FLAG },
};

const struct nla_policy peerlane_observe_policy[PEERLANE_A_OBSERVE_MAX + 1] = {
	[PEERLANE_A_OBSERVE_POINT] = NLA_POLICY_MAX(NLA_U32, PEERLANE_POINT_DEVICE),
	[PEERLANE_A_OBSERVE_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[PEERLANE_A_OBSERVE_ENABLE] = NLA_POLICY_MAX(NLA_U8, 1),
};

const struct nla_policy peerlane_limit_policy[PEERLANE_A_LIMIT_MAX + 1] = {
	[PEERLANE_A_LIMIT_IDLE_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &idle_range),
	[PEERLANE_A_LIMIT_THRESHOLD_ON] = NLA_POLICY_FULL_RANGE(NLA_U32, &share_range),
	[PEERLANE_A_LIMIT_THRESHOLD_OFF] = NLA_POLICY_FULL_RANGE(NLA_U32, &share_range),
	[PEERLANE_A_LIMIT_CALM_WINDOWS] = NLA_POLICY_RANGE(NLA_U32, 1, 255),
};
