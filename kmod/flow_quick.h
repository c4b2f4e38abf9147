/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The way of nearly all packets: plain ones, of flows that are known, in their
 * turn. It ends with a packet that is counted, or none of RoCE, or before
 * anything was changed; flow_see_skb() does for all packets.
 */
#ifndef PEERLANE_FLOW_QUICK_H
#define PEERLANE_FLOW_QUICK_H

#include <linux/preempt.h>
#include <linux/skbuff.h>

#include "compat.h"
#include "flow_find.h"
#include "flow_plain.h"

/*
 * False where a window has ended since the last packet, as far as is known; or
 * where another CPU has asked the clock later.
 */
static __always_inline bool flow_quick_tick(const struct flow_table *table,
					    struct peerlane_flow *flow, u32 now)
{
	u32 window = now - READ_ONCE(table->window_at);

	if (unlikely(window >= HZ || now - flow->last_seen > window))
		return false;
	flow->last_seen = now;
	return true;
}

static __always_inline struct peerlane_flow *
flow_quick_find(struct flow_table *table, const struct roce_plain *packet)
{
	return flow_find_v4(table, roce_plain_saddr(packet),
			    roce_plain_daddr(packet), roce_plain_qpn(packet),
			    roce_plain_transport(packet));
}

/* What follows has bottom halves off, and is false if nothing was changed. */
static __always_inline bool flow_quick_request(struct flow_table *table,
					       const struct roce_plain *packet,
					       u8 at)
{
	struct peerlane_flow *flow = flow_quick_find(table, packet);

	if (unlikely(!flow))
		return false;
	spin_lock(&flow->lock);
	/* Or the lock's address would be kept on the stack. */
	OPTIMIZER_HIDE_VAR(flow);
	if (unlikely(flow->state.point != at ||
		     !flow_is_plain_request(&flow->state, packet) ||
		     !flow_quick_tick(table, flow, (u32)jiffies))) {
		spin_unlock(&flow->lock);
		return false;
	}
	flow->sport = roce_plain_sport(packet);
	if (flow_plain_request(&flow->state, packet))
		flow_mark(&flow->state, roce_plain_psn(packet), false,
			  ktime_get_ns());
	spin_unlock(&flow->lock);
	return true;
}

static __always_inline bool flow_quick_answer(struct flow_table *table,
					      const struct roce_plain *packet,
					      u8 at)
{
	struct peerlane_flow *flow = flow_quick_find(table, packet);
	u32 peer;

	if (unlikely(!flow))
		return false;
	spin_lock(&flow->lock);
	/* Or the lock's address would be kept on the stack. */
	OPTIMIZER_HIDE_VAR(flow);
	if (unlikely(flow->state.point != at ||
		     !flow_is_plain_answer(&flow->state) ||
		     !flow_quick_tick(table, flow, (u32)jiffies))) {
		spin_unlock(&flow->lock);
		return false;
	}
	flow->sport = roce_plain_sport(packet);
	flow_plain_answer(&flow->state, packet);
	peer = flow->peer_qpn;
	spin_unlock(&flow->lock);
	if (likely(flow_is_paired(peer)))
		flow_acknowledge(table, roce_plain_saddr(packet),
				 roce_plain_daddr(packet),
				 (peer & ROCE_QPN_MASK) |
				 roce_plain_transport(packet),
				 roce_plain_psn(packet));
	else
		flow_seek(table, flow, roce_plain_sport(packet), true,
			  roce_plain_psn(packet));
	return true;
}

static __always_inline bool flow_quick_count(struct flow_table *table,
					     const struct roce_plain *packet,
					     u8 at)
{
	bool is_request = packet->kind & ROCE_PLAIN_REQUEST;
	bool done;

	if (!is_request && !roce_plain_is_ack(packet))
		return false;
	/* What arrives does with bottom halves off, but not from NFQUEUE. */
	if (at != FLOW_AT_OUT && unlikely(!in_softirq()))
		return false;
	if (at == FLOW_AT_OUT)
		local_bh_disable();
	done = is_request ? flow_quick_request(table, packet, at) :
			    flow_quick_answer(table, packet, at);
	if (at == FLOW_AT_OUT)
		local_bh_enable();
	return done;
}

/* The IP header is @offset bytes into the data. RCU is held. */
static __always_inline void flow_quick_see(struct flow_table *table,
					   const struct sk_buff *skb,
					   u32 offset, u8 at)
{
	s32 avail = skb_headlen(skb) - offset;
	const u8 *ip = skb->data + offset;
	struct roce_plain packet peerlane_uninitialized;

	if (unlikely(avail < ROCE_PLAIN_BYTES || ip[0] != 0x45))
		goto other;
	if (!roce_plain_is_roce(ip)) {
		if (unlikely(roce_plain_is_fragment(ip)))
			goto other;
		return;
	}
	if (likely(roce_plain_parse(ip, avail, &packet) && !skb_is_gso(skb) &&
		   flow_quick_count(table, &packet, at)))
		return;
other:
	flow_see_skb(table, skb, offset, at);
}

#endif /* PEERLANE_FLOW_QUICK_H */
