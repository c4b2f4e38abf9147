// SPDX-License-Identifier: GPL-2.0
/* Flows of the module's own connections, which have a name from their start. */
#include <linux/mutex.h>
#include <linux/rcupdate.h>

#include "flow.h"
#include "flow_find.h"
#include "flow_own.h"

/* A user may have given it another name: that stays. */
static bool is_nameless(struct peerlane_flow *flow)
{
	return !READ_ONCE(flow->label);
}

static struct peerlane_flow *find(struct flow_table *table,
				  const struct flow_own *own, bool outward)
{
	if (outward)
		return flow_find(table, &own->local, &own->peer, own->peer_qpn);
	return flow_find(table, &own->peer, &own->local, own->local_qpn);
}

static bool needs_name(struct flow_table *table, const struct flow_own *own,
		       bool outward)
{
	struct peerlane_flow *flow;
	bool needs;

	rcu_read_lock();
	flow = find(table, own, outward);
	needs = flow && is_nameless(flow);
	rcu_read_unlock();
	return needs;
}

static void name(struct flow_table *table, const struct flow_own *own,
		 bool outward, u16 label)
{
	struct peerlane_flow *flow;
	u16 unused = label;

	if (!flow_label_hold(table, label))
		return;
	rcu_read_lock();
	flow = find(table, own, outward);
	if (flow) {
		spin_lock_bh(&flow->lock);
		if (!flow_is_dead(flow) && is_nameless(flow))
			swap(unused, flow->label);
		spin_unlock_bh(&flow->lock);
	}
	rcu_read_unlock();
	flow_label_put(table, unused);
}

void flow_own_label(struct net *net, const struct flow_own *own,
		    const char *text)
{
	struct flow_table *table = flow_table_of(net);
	int label;

	if (!table || (!needs_name(table, own, true) &&
		       !needs_name(table, own, false)))
		return;
	mutex_lock(&flow_net_of(net)->config_lock);
	label = flow_label_get(table, text);
	if (label > 0) {
		name(table, own, true, (u16)label);
		name(table, own, false, (u16)label);
		flow_label_put(table, (u16)label);
	}
	mutex_unlock(&flow_net_of(net)->config_lock);
}
