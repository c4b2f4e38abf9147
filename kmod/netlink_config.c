// SPDX-License-Identifier: GPL-2.0
/* What is observed, limits, and numbers of the whole table. */
#include <linux/jiffies.h>
#include <net/sock.h>

#include "netlink.h"

/* ---- observe ---- */

static int put_point(struct sk_buff *skb, struct netlink_callback *cb, u32 point,
		     u32 ifindex)
{
	void *header;

	header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
			     cb->nlh->nlmsg_seq, &peerlane_family, NLM_F_MULTI,
			     PEERLANE_CMD_OBSERVE_GET);
	if (!header)
		return -EMSGSIZE;
	if (nla_put_u32(skb, PEERLANE_A_OBSERVE_POINT, point) ||
	    flow_put_u32(skb, PEERLANE_A_OBSERVE_IFINDEX, ifindex)) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

/* The number of the point to go on with is kept, so it may take several calls. */
int peerlane_observe_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct net *net = sock_net(cb->skb->sk);
	u32 ifindex;
	long at;

	for (at = cb->args[0] ?: FLOW_AT_OUT;
	     at < FLOW_AT_DEVICE + PEERLANE_DEVICE_MAX; at++) {
		cb->args[0] = at;
		ifindex = flow_observer_ifindex(net, (u8)at);
		if (at < FLOW_AT_DEVICE && flow_observes_local(net)) {
			if (put_point(skb, cb, (u32)at, 0))
				return (int)skb->len;
		} else if (ifindex) {
			if (put_point(skb, cb, PEERLANE_POINT_DEVICE, ifindex))
				return (int)skb->len;
		}
	}
	cb->args[0] = at;
	return (int)skb->len;
}

int peerlane_observe_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	struct net *net = genl_info_net(info);
	u32 point;
	bool on;

	if (!attrs[PEERLANE_A_OBSERVE_POINT] ||
	    !attrs[PEERLANE_A_OBSERVE_ENABLE]) {
		NL_SET_ERR_MSG(info->extack, "point and enable are needed");
		return -EINVAL;
	}
	point = nla_get_u32(attrs[PEERLANE_A_OBSERVE_POINT]);
	on = nla_get_u8(attrs[PEERLANE_A_OBSERVE_ENABLE]);
	if (point == PEERLANE_POINT_NONE ||
	    (point == PEERLANE_POINT_DEVICE) != !!attrs[PEERLANE_A_OBSERVE_IFINDEX]) {
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[PEERLANE_A_OBSERVE_POINT],
				    "a device, and only that, has an ifindex");
		return -EINVAL;
	}
	if (point != PEERLANE_POINT_DEVICE)
		return flow_observe_local(net, on, info->extack);
	return flow_observe_device(net,
				   nla_get_u32(attrs[PEERLANE_A_OBSERVE_IFINDEX]),
				   on, info->extack);
}

/* ---- limits ---- */

static u32 get_or(const struct nlattr *attr, u32 current_value)
{
	return attr ? nla_get_u32(attr) : current_value;
}

static int set_limits(struct flow_table *table, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	struct flow_limits limits = {
		.threshold_on = get_or(attrs[PEERLANE_A_LIMIT_THRESHOLD_ON],
				       table->limits.threshold_on),
		.threshold_off = get_or(attrs[PEERLANE_A_LIMIT_THRESHOLD_OFF],
					table->limits.threshold_off),
		.calm_windows = get_or(attrs[PEERLANE_A_LIMIT_CALM_WINDOWS],
				       table->limits.calm_windows),
	};

	if (limits.threshold_off > limits.threshold_on) {
		NL_SET_ERR_MSG(info->extack,
			       "threshold-off would be above threshold-on");
		return -EINVAL;
	}
	WRITE_ONCE(table->limits.threshold_on, limits.threshold_on);
	WRITE_ONCE(table->limits.threshold_off, limits.threshold_off);
	WRITE_ONCE(table->limits.calm_windows, limits.calm_windows);
	if (attrs[PEERLANE_A_LIMIT_IDLE_TIMEOUT])
		WRITE_ONCE(table->idle_ms, MSEC_PER_SEC *
			   nla_get_u32(attrs[PEERLANE_A_LIMIT_IDLE_TIMEOUT]));
	return 0;
}

int peerlane_limit_set(struct sk_buff *skb, struct genl_info *info)
{
	struct net *net = genl_info_net(info);
	struct flow_net *flows = flow_net_of(net);
	struct flow_table *table;
	int ret = -ENOMEM;

	/* Made if need be: limits may be set before anything is observed. */
	mutex_lock(&flows->config_lock);
	table = flow_table_need(net);
	if (table)
		ret = set_limits(table, info);
	mutex_unlock(&flows->config_lock);
	return ret;
}

/* ---- info ---- */

struct number {
	int type;
	u64 value;
};

static int put_u32s(struct sk_buff *skb, const struct number *numbers, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (flow_put_u32(skb, numbers[i].type, (u32)numbers[i].value))
			return -EMSGSIZE;
	return 0;
}

static int put_u64s(struct sk_buff *skb, const struct number *numbers, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (flow_put_u64(skb, numbers[i].type, numbers[i].value,
				 PEERLANE_A_INFO_PAD))
			return -EMSGSIZE;
	return 0;
}

static int put_sizes(struct sk_buff *skb)
{
	const struct number numbers[] = {
		{ PEERLANE_A_INFO_FLOW_LIMIT, flow_max_flows() },
		{ PEERLANE_A_INFO_FLOW_SIZE, sizeof(struct peerlane_flow) },
		{ PEERLANE_A_INFO_HISTOGRAMS, flow_histograms() },
		{ PEERLANE_A_INFO_HISTOGRAM_LIMIT, flow_max_histograms() },
		{ PEERLANE_A_INFO_HISTOGRAM_SIZE, sizeof(struct flow_rtt) },
	};

	return put_u32s(skb, numbers, ARRAY_SIZE(numbers));
}

static int put_table(struct sk_buff *skb, struct flow_table *table)
{
	const struct number numbers[] = {
		{ PEERLANE_A_INFO_FLOWS, (u32)atomic_read(&table->count) },
		{ PEERLANE_A_INFO_BUCKETS, table->mask + 1 },
		{ PEERLANE_A_INFO_IDLE_TIMEOUT, table->idle_ms / MSEC_PER_SEC },
		{ PEERLANE_A_INFO_THRESHOLD_ON, table->limits.threshold_on },
		{ PEERLANE_A_INFO_THRESHOLD_OFF, table->limits.threshold_off },
		{ PEERLANE_A_INFO_CALM_WINDOWS, table->limits.calm_windows },
	};

	return put_u32s(skb, numbers, ARRAY_SIZE(numbers));
}

static int put_counts(struct sk_buff *skb, struct flow_table *table)
{
	struct flow_counts sum;
	u64 packets, bytes;

	flow_totals(table, &sum, &packets, &bytes);
	{
		const struct number numbers[] = {
			{ PEERLANE_A_INFO_CREATED, sum.count[FLOW_CREATED] },
			{ PEERLANE_A_INFO_EXPIRED, sum.count[FLOW_EXPIRED] },
			{ PEERLANE_A_INFO_EVICTED, sum.count[FLOW_EVICTED] },
			{ PEERLANE_A_INFO_PACKETS, packets },
			{ PEERLANE_A_INFO_BYTES, bytes },
			{ PEERLANE_A_INFO_MISSED_FULL, sum.count[FLOW_MISSED_FULL] },
			{ PEERLANE_A_INFO_MISSED_MEMORY, sum.count[FLOW_MISSED_MEMORY] },
			{ PEERLANE_A_INFO_MISSED_HISTOGRAM, sum.count[FLOW_MISSED_HISTOGRAM] },
			{ PEERLANE_A_INFO_FRAGMENTS, sum.count[FLOW_FRAGMENTS] },
			{ PEERLANE_A_INFO_TRUNCATED, sum.count[FLOW_TRUNCATED] },
			{ PEERLANE_A_INFO_MALFORMED, sum.count[FLOW_MALFORMED] },
			{ PEERLANE_A_INFO_AGGREGATED, sum.count[FLOW_AGGREGATED] },
			{ PEERLANE_A_INFO_ELSEWHERE, sum.count[FLOW_ELSEWHERE] },
			{ PEERLANE_A_INFO_EVENTS_LOST, sum.count[FLOW_EVENTS_LOST] },
			{ PEERLANE_A_INFO_EVENT_SEQUENCE,
			  READ_ONCE(table->event_sequence) },
		};

		return put_u64s(skb, numbers, ARRAY_SIZE(numbers));
	}
}

#define INFO_ROOM	1024

int peerlane_info_get(struct sk_buff *request, struct genl_info *info)
{
	struct flow_table *table = flow_table_of(genl_info_net(info));
	struct sk_buff *skb;
	void *header;

	skb = peerlane_reply_new(info, INFO_ROOM, &header);
	if (!skb)
		return -ENOMEM;
	if (put_sizes(skb) ||
	    flow_put_u64(skb, PEERLANE_A_INFO_GROUP_EVENT_SEQUENCE,
			 peerlane_group_events(genl_info_net(info)),
			 PEERLANE_A_INFO_PAD) ||
	    (table && (put_table(skb, table) || put_counts(skb, table)))) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return genlmsg_reply(skb, info);
}
