// SPDX-License-Identifier: GPL-2.0
/* What a packet changes: its own flow, and the one that it answers. */
#include <linux/jiffies.h>
#include <linux/ktime.h>

#include "compat.h"
#include "flow.h"
#include "flow_find.h"
#include "flow_plain.h"

/* PSNs left out longer than that do not come late any more. */
#define LATE_MS		50

u32 flow_windows_since(u32 then)
{
	u32 now = (u32)jiffies;

	/* Not behind a last_seen that another CPU has just written */
	return (s32)(now - then) > 0 ? flow_window_of(now) - flow_window_of(then) : 0;
}

static u64 now_ns(void)
{
	return ktime_get_ns();
}

struct flow_clock flow_clock_now(void)
{
	return (struct flow_clock){
		.ticks = (u32)jiffies,
		.late = LATE_MS * HZ / MSEC_PER_SEC + 1,
		.ns = now_ns,
	};
}

enum flow_change flow_close_windows(struct flow_table *table,
				    struct peerlane_flow *flow, u32 *share)
{
	u32 windows = flow_windows_since(flow->last_seen) - flow->state.closed;
	enum flow_change change;

	lockdep_assert_held(&flow->lock);
	*share = 0;
	if (!windows || (s32)windows < 0)
		return FLOW_CHANGE_NONE;
	change = flow_window(&flow->state, &table->limits, windows, share);
	flow->state.closed = min(flow->state.closed + windows, 255u);
	if (change == FLOW_CHANGE_ON)
		atomic_inc(&table->congested);
	else if (change == FLOW_CHANGE_OFF)
		atomic_dec(&table->congested);
	return change;
}

/*
 * One packet may pass several points, and would be counted at each. A flow is
 * counted where it was first seen, and elsewhere only when it has gone silent
 * there.
 */
static bool is_elsewhere(struct peerlane_flow *flow, u8 at, u32 now)
{
	/* Another CPU may have seen it after we looked at the clock. */
	s32 silent = (s32)(now - flow->last_seen);

	if (likely(flow->state.point == at))
		return false;
	if (flow->state.point != FLOW_AT_NONE &&
	    silent < (s32)msecs_to_jiffies(FLOW_MOVE_MS))
		return true;
	flow_move(flow, at);
	return false;
}

/* For flow_quick_tick(). Any window will do, if several do this at once. */
static void note_window(struct flow_table *table, u32 now)
{
	if (now - READ_ONCE(table->window_at) >= HZ)
		WRITE_ONCE(table->window_at,
			   now - (now - (u32)INITIAL_JIFFIES) % HZ);
}

/* What is to be done when the flow is unlocked again. */
struct seen {
	unsigned int next;
	u32 peer_qpn;
	bool is_alone;
	enum flow_change change;
};

/* False if the flow has gone. @share is set where there is a change. */
static __always_inline bool
count_packet(struct flow_table *table, struct peerlane_flow *flow,
	     const struct roce_packet *packet, u8 at,
	     const struct flow_clock *clock, struct seen *seen, u32 *share)
{
	bool is_alive;

	seen->next = 0;
	seen->peer_qpn = 0;
	seen->is_alone = false;
	seen->change = FLOW_CHANGE_NONE;
	spin_lock_bh(&flow->lock);
	is_alive = !flow_is_dead(flow);
	if (!is_alive)
		goto out;
	if (unlikely(is_elsewhere(flow, at, clock->ticks))) {
		flow_count(table, FLOW_ELSEWHERE, 1);
		goto out;
	}
	/* Not back, where the clock was asked before another CPU's packet. */
	if (unlikely((s32)(clock->ticks - flow->last_seen) > 0)) {
		note_window(table, clock->ticks);
		if (unlikely(flow_window_of(clock->ticks) !=
			     flow_window_of(flow->last_seen))) {
			seen->change = flow_close_windows(table, flow, share);
			flow->state.closed = 0;
		}
		flow->last_seen = clock->ticks;
	}
	flow->sport = packet->sport;
	seen->is_alone = !flow_is_paired(flow->peer_qpn);
	if (!seen->is_alone)
		seen->peer_qpn = flow->peer_qpn;
	seen->next = flow_packet(&flow->state, packet, clock,
				 at == FLOW_AT_OUT, !seen->is_alone);
out:
	spin_unlock_bh(&flow->lock);
	return is_alive;
}

static void add_round_trip(struct flow_table *table, struct peerlane_flow *flow,
			   u64 ns)
{
	lockdep_assert_held(&flow->lock);
	if (unlikely(!flow->state.rtt))
		flow->state.rtt = flow_histogram_new();
	if (likely(flow->state.rtt))
		flow_rtt_add(flow->state.rtt, ns);
	else
		flow_count(table, FLOW_MISSED_HISTOGRAM, 1);
}

/* The other direction's flow: the one whose requests this packet answers. */
static noinline void answer(struct flow_table *table,
			    const struct roce_packet *packet,
			    const struct peerlane_flow *seen, u32 peer_qpn,
			    bool gap, const struct flow_clock *clock)
{
	u32 qpn = (peer_qpn & ROCE_QPN_MASK) |
		  (seen->key.qpn & ~ROCE_QPN_MASK);
	struct peerlane_flow *flow;
	bool is_stranger = false;
	u64 ns;

	flow = flow_find(table, &packet->daddr, &packet->saddr, qpn);
	if (!flow)
		return;
	spin_lock_bh(&flow->lock);
	if (flow_is_dead(flow))
		goto out;
	ns = flow_answered(&flow->state, packet, clock, gap, &is_stranger);
	if (ns)
		add_round_trip(table, flow, ns);
out:
	spin_unlock_bh(&flow->lock);
	if (unlikely(is_stranger))
		flow_pair_doubt(table, flow);
}

void flow_acknowledge(struct flow_table *table, __be32 saddr, __be32 daddr,
		      u32 qpn, u32 psn)
{
	struct peerlane_flow *flow;
	bool is_stranger = false;
	u64 ns;

	flow = flow_find_v4(table, daddr, saddr, qpn & ROCE_QPN_MASK,
			    qpn & ~ROCE_QPN_MASK);
	if (unlikely(!flow))
		return;
	spin_lock(&flow->lock);
	if (flow_is_dead(flow))
		goto out;
	is_stranger = flow_is_stranger(&flow->state, psn);
	ns = is_stranger ? 0 : flow_acknowledged(&flow->state, psn, ktime_get_ns);
	if (ns)
		add_round_trip(table, flow, ns);
out:
	spin_unlock(&flow->lock);
	if (unlikely(is_stranger))
		flow_pair_doubt(table, flow);
}

/* Out of the way of the others. */
static noinline struct peerlane_flow *make(struct flow_table *table,
					   const struct roce_packet *packet,
					   u32 qpn)
{
	struct peerlane_flow *flow;
	struct flow_key key;
	bool is_new;

	key.saddr = packet->saddr;
	key.daddr = packet->daddr;
	key.qpn = qpn;
	flow = flow_make(table, &key, &is_new);
	if (flow && is_new)
		flow_pair_new(table, flow);
	return flow;
}

static __always_inline struct peerlane_flow *
find_or_make(struct flow_table *table, const struct roce_packet *packet)
{
	u32 qpn = packet->dqpn |
		  (u32)roce_transport(packet) << FLOW_TRANSPORT_SHIFT;
	struct peerlane_flow *flow;

	flow = flow_find(table, &packet->saddr, &packet->daddr, qpn);
	return likely(flow) ? flow : make(table, packet, qpn);
}

/* Returns the flow's peer_qpn, or 0. */
static noinline u32 seek(struct flow_table *table,
			 const struct roce_packet *packet,
			 struct peerlane_flow *flow, bool is_answer)
{
	u32 transport = roce_transport(packet), peer;

	/* Neither UD nor notifications, whose numbers are nobody's. */
	if (transport != ROCE_RC && transport != ROCE_UC &&
	    transport != ROCE_XRC)
		return 0;
	flow_seek(table, flow, packet->sport, is_answer, packet->psn);
	peer = READ_ONCE(flow->peer_qpn);
	return flow_is_paired(peer) ? peer : 0;
}

/* False if the flow has gone meanwhile. */
static __always_inline bool see(struct flow_table *table,
				const struct roce_packet *packet, u8 at)
{
	struct flow_clock clock = flow_clock_now();
	struct peerlane_flow *flow;
	struct seen seen;
	u32 share = 0;

	flow = find_or_make(table, packet);
	if (unlikely(!flow))
		return true;
	if (unlikely(!count_packet(table, flow, packet, at, &clock, &seen,
				   &share)))
		return false;
	if (unlikely(seen.is_alone))
		seen.peer_qpn = seek(table, packet, flow, seen.next);
	if (seen.next && seen.peer_qpn)
		answer(table, packet, flow, seen.peer_qpn,
		       seen.next & FLOW_NEXT_GAP, &clock);
	if (unlikely(seen.change != FLOW_CHANGE_NONE))
		flow_event_add(table, seen.change, share, &flow->key);
	return true;
}

/* A flow that is being forgotten is made anew. */
static noinline void see_again(struct flow_table *table,
			       const struct roce_packet *packet, u8 at)
{
	if (!see(table, packet, at))
		flow_count(table, FLOW_MISSED_FULL, 1);
}

void flow_see(struct flow_table *table, const struct roce_packet *packet, u8 at)
{
	if (unlikely(!see(table, packet, at)))
		see_again(table, packet, at);
}
