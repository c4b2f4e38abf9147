// SPDX-License-Identifier: GPL-2.0
/* Flows for those who read: copies, so that no lock is held while they do. */
#include "flow.h"
#include "flow_find.h"

static void copy_record(const struct peerlane_flow *flow,
			struct flow_snapshot *snapshot)
{
	snapshot->key = flow->key;
	snapshot->state = flow->state;
	snapshot->first_seen = flow->first_seen;
	snapshot->last_seen = flow->last_seen;
	snapshot->peer_qpn = flow_is_paired(flow->peer_qpn) ? flow->peer_qpn : 0;
	snapshot->sport = flow->sport;
	snapshot->has_rtt = flow->state.rtt && flow->state.rtt->samples;
	if (snapshot->has_rtt)
		snapshot->rtt = *flow->state.rtt;
}

static void reset_record(struct flow_table *table, struct peerlane_flow *flow)
{
	struct flow_clock clock = flow_clock_now();

	flow_count(table, FLOW_PAST_PACKETS, flow->state.packets);
	flow_count(table, FLOW_PAST_BYTES, flow->state.bytes);
	flow_reset(&flow->state, &clock);
	if (flow->state.rtt)
		memset(flow->state.rtt, 0, sizeof(*flow->state.rtt));
}

static bool copy_reverse(struct flow_table *table,
			 struct flow_snapshot *snapshot)
{
	struct peerlane_flow *flow;
	struct flow_key key;
	bool is_alive;

	if (!flow_reverse_key(&snapshot->key, snapshot->peer_qpn, &key))
		return false;
	flow = flow_find(table, &key.saddr, &key.daddr, key.qpn);
	if (!flow)
		return false;
	spin_lock_bh(&flow->lock);
	is_alive = !flow_is_dead(flow);
	snapshot->reverse = flow->state;
	spin_unlock_bh(&flow->lock);
	return is_alive;
}

bool flow_snapshot_take(struct flow_table *table, struct peerlane_flow *flow,
			bool reset, struct flow_snapshot *snapshot)
{
	bool is_alive;

	spin_lock_bh(&flow->lock);
	is_alive = !flow_is_dead(flow);
	copy_record(flow, snapshot);
	flow_label_text(table, flow->label, snapshot->label);
	if (is_alive && reset)
		reset_record(table, flow);
	spin_unlock_bh(&flow->lock);
	if (!is_alive)
		return false;

	/* Not the histograms, nor whatever else they are behind. */
	snapshot->state.rtt = NULL;
	snapshot->ifindex = flow_observer_ifindex(table->net,
						  snapshot->state.point);
	snapshot->has_reverse = copy_reverse(table, snapshot);
	snapshot->reverse.rtt = NULL;
	return true;
}

void flow_snapshot_rates(const struct flow_snapshot *snapshot, u64 *bytes,
			 u64 *packets)
{
	u32 windows = flow_windows_since(snapshot->last_seen);

	windows -= min_t(u32, windows, snapshot->state.closed);
	flow_rates(&snapshot->state, windows, bytes, packets);
}
