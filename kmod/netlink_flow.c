// SPDX-License-Identifier: GPL-2.0
/* Requests about one flow, and changes of flows. */
#include <linux/slab.h>

#include "netlink.h"
#include "flow_find.h"

/* ---- one flow ---- */

int peerlane_key_parse(struct flow_key *key, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	int ret;

	if (!attrs[PEERLANE_A_FLOW_SADDR] || !attrs[PEERLANE_A_FLOW_DADDR] ||
	    !attrs[PEERLANE_A_FLOW_QPN]) {
		NL_SET_ERR_MSG(info->extack,
			       "a flow is named by saddr, daddr and qpn");
		return -EINVAL;
	}
	ret = flow_address_parse(&key->saddr, attrs[PEERLANE_A_FLOW_SADDR],
				 info->extack);
	if (!ret)
		ret = flow_address_parse(&key->daddr,
					 attrs[PEERLANE_A_FLOW_DADDR],
					 info->extack);
	if (ret)
		return ret;
	key->qpn = nla_get_u32(attrs[PEERLANE_A_FLOW_QPN]);
	if (attrs[PEERLANE_A_FLOW_TRANSPORT])
		key->qpn |= nla_get_u32(attrs[PEERLANE_A_FLOW_TRANSPORT])
			    << FLOW_TRANSPORT_SHIFT;
	return 0;
}

static bool snapshot_by_key(struct net *net, const struct flow_key *key,
			    struct flow_snapshot *snapshot)
{
	struct flow_table *table = flow_table_of(net);
	struct peerlane_flow *flow;
	bool found = false;

	if (!table)
		return false;
	rcu_read_lock();
	flow = flow_find(table, &key->saddr, &key->daddr, key->qpn);
	if (flow)
		found = flow_snapshot_take(table, flow, false, snapshot);
	rcu_read_unlock();
	return found;
}

static int reply_with(struct genl_info *info,
		      const struct flow_snapshot *snapshot)
{
	bool with_histogram = info->attrs[PEERLANE_A_FLOW_WITH_HISTOGRAM];
	struct sk_buff *skb;
	void *header;

	skb = peerlane_reply_new(info, FLOW_PUT_HISTOGRAM_MAX, &header);
	if (!skb)
		return -ENOMEM;
	if (flow_put(skb, snapshot, with_histogram)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return genlmsg_reply(skb, info);
}

int peerlane_flow_get(struct sk_buff *skb, struct genl_info *info)
{
	struct flow_snapshot *snapshot;
	struct flow_key key;
	int ret;

	ret = peerlane_flow_get_check(info->attrs, false, info->extack);
	if (!ret)
		ret = peerlane_key_parse(&key, info);
	if (ret)
		return ret;
	snapshot = kmalloc(sizeof(*snapshot), GFP_KERNEL);
	if (!snapshot)
		return -ENOMEM;
	if (snapshot_by_key(genl_info_net(info), &key, snapshot)) {
		ret = reply_with(info, snapshot);
	} else {
		NL_SET_ERR_MSG(info->extack, "no such flow");
		ret = -ENOENT;
	}
	kfree(snapshot);
	return ret;
}

/* ---- changes ---- */

/**
 * struct change - what flow-set does
 * @table: of the namespace
 * @filter: which flows, unless a key was given
 * @has_label: @label is to be set
 * @label: its number, 0 = none
 * @count: flows changed
 * @snapshot: to ask the filter
 */
struct change {
	struct flow_table *table;
	struct flow_filter filter;
	bool has_label;
	u16 label;
	u32 count;
	struct flow_snapshot snapshot;
};

static void set_label(struct change *change, struct peerlane_flow *flow)
{
	u16 old = change->label;

	if (!flow_label_hold(change->table, change->label))
		return;
	spin_lock_bh(&flow->lock);
	if (!flow_is_dead(flow)) {
		swap(old, flow->label);
		change->count++;
	}
	spin_unlock_bh(&flow->lock);
	flow_label_put(change->table, old);
}

static void label_matching(struct change *change)
{
	struct flow_table *table = change->table;
	struct peerlane_flow *flow;
	u32 i;

	for (i = 0; i <= table->mask; i++) {
		rcu_read_lock();
		for (flow = rcu_dereference(table->buckets[i]); flow;
		     flow = rcu_dereference(flow->next))
			if (flow_filter_take(&change->filter, table, flow,
					     &change->snapshot))
				set_label(change, flow);
		rcu_read_unlock();
		cond_resched();
	}
}

static int change_one(struct change *change, struct genl_info *info)
{
	struct nlattr *peer = info->attrs[PEERLANE_A_FLOW_PEER_QPN];
	struct peerlane_flow *flow;
	struct flow_key key;
	int ret;

	ret = peerlane_key_parse(&key, info);
	if (ret)
		return ret;
	rcu_read_lock();
	flow = flow_find(change->table, &key.saddr, &key.daddr, key.qpn);
	if (!flow) {
		NL_SET_ERR_MSG(info->extack, "no such flow");
		ret = -ENOENT;
		goto out;
	}
	if (change->has_label)
		set_label(change, flow);
	if (peer && nla_get_u32(peer))
		flow_pair_set(change->table, flow, nla_get_u32(peer),
			      PEERLANE_PAIRING_USER);
	else if (peer)
		flow_pair_clear(change->table, flow);
	change->count = 1;
out:
	rcu_read_unlock();
	return ret;
}

static int change_matching(struct change *change, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	int ret;

	if (attrs[PEERLANE_A_FLOW_SADDR] || attrs[PEERLANE_A_FLOW_DADDR] ||
	    attrs[PEERLANE_A_FLOW_TRANSPORT] || attrs[PEERLANE_A_FLOW_QPN]) {
		NL_SET_ERR_MSG(info->extack,
			       "flows are named by a key or by a filter, not by both");
		return -EINVAL;
	}
	if (attrs[PEERLANE_A_FLOW_PEER_QPN]) {
		NL_SET_ERR_MSG_ATTR(info->extack,
				    attrs[PEERLANE_A_FLOW_PEER_QPN],
				    "peer-qpn is for one flow, not for a filter");
		return -EINVAL;
	}
	ret = flow_filter_parse(&change->filter, attrs[PEERLANE_A_FLOW_FILTER],
				info->extack);
	if (!ret && change->filter.top) {
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[PEERLANE_A_FLOW_FILTER],
				    "top is not for changes");
		ret = -EINVAL;
	}
	if (!ret)
		label_matching(change);
	return ret;
}

static int reply_count(struct genl_info *info, u32 count)
{
	struct sk_buff *skb;
	void *header;

	skb = peerlane_reply_new(info, nla_total_size(sizeof(u32)), &header);
	if (!skb)
		return -ENOMEM;
	if (flow_put_u32(skb, PEERLANE_A_FLOW_COUNT, count)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return genlmsg_reply(skb, info);
}

static int change_flows(struct change *change, struct genl_info *info)
{
	struct nlattr *label = info->attrs[PEERLANE_A_FLOW_LABEL];
	int number = 0, ret;

	if (label)
		number = flow_label_get(change->table, nla_data(label));
	if (number == -ENOSPC)
		NL_SET_ERR_MSG_ATTR(info->extack, label,
				    "no room for another label");
	if (number < 0)
		return number;
	change->has_label = label;
	change->label = (u16)number;
	ret = info->attrs[PEERLANE_A_FLOW_FILTER] ?
	      change_matching(change, info) : change_one(change, info);
	flow_label_put(change->table, change->label);
	return ret;
}

int peerlane_flow_set(struct sk_buff *skb, struct genl_info *info)
{
	struct net *net = genl_info_net(info);
	struct nlattr **attrs = info->attrs;
	struct change *change;
	int ret;

	if (!attrs[PEERLANE_A_FLOW_LABEL] && !attrs[PEERLANE_A_FLOW_PEER_QPN]) {
		NL_SET_ERR_MSG(info->extack, "neither label nor peer-qpn is given");
		return -EINVAL;
	}
	change = kvzalloc(sizeof(*change), GFP_KERNEL);
	if (!change)
		return -ENOMEM;
	change->table = flow_table_of(net);
	if (change->table) {
		mutex_lock(&flow_net_of(net)->config_lock);
		ret = change_flows(change, info);
		mutex_unlock(&flow_net_of(net)->config_lock);
	} else {
		NL_SET_ERR_MSG(info->extack,
			       "nothing was observed in this namespace yet");
		ret = -ENOENT;
	}
	if (!ret)
		ret = reply_count(info, change->count);
	kvfree(change);
	return ret;
}
