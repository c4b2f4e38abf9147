// SPDX-License-Identifier: GPL-2.0
/* Packets as the kernel has them: any of them, wherever their bytes are. */
#include <linux/netdevice.h>
#include <linux/skbuff.h>

#include "compat.h"
#include "flow.h"

/* As much of a management message as flow_pair_message() looks at. */
#define MESSAGE_MAX	64
/* IP, UDP and base transport header. */
#define IP4_HEADER	20
#define IP4_NEEDED	40
#define IP6_NEEDED	60

/*
 * Receive paths may leave headers in the fragments: as little as the IP header
 * is in the linear part, or nothing. What follows is on the way of each packet
 * of the system while something is observed, so it is inline, and what few
 * packets need is not: kernels that clear each variable would clear it for all.
 */
static bool is_enough(const u8 *ip, u32 linear)
{
	if (linear < IP4_NEEDED)
		return false;
	if (ip[0] >> 4 != 6)
		return linear >= IP4_NEEDED - IP4_HEADER + (ip[0] & 0x0f) * 4;
	return linear >= IP6_NEEDED &&
	       (ip[6] == IPPROTO_UDP || ip[6] == IPPROTO_TCP);
}

static noinline enum roce_verdict parse_fragments(const struct sk_buff *skb,
						  u32 offset,
						  struct roce_packet *packet)
{
	u8 headers[ROCE_HEADERS_MAX];
	u32 length;

	if (unlikely(skb->len <= offset))
		return ROCE_OTHER;
	length = min_t(u32, skb->len - offset, sizeof(headers));
	if (skb_copy_bits(skb, (int)offset, headers, (int)length))
		return ROCE_OTHER;
	return roce_parse_ip(headers, length, packet);
}

static __always_inline enum roce_verdict parse(const struct sk_buff *skb,
					       u32 offset,
					       struct roce_packet *packet)
{
	u32 linear = skb_headlen(skb) > offset ? skb_headlen(skb) - offset : 0;
	const u8 *ip = skb->data + offset;
	enum roce_verdict verdict;

	if (likely(!skb_is_nonlinear(skb)))
		return roce_parse_ip(ip, linear, packet);
	if (is_enough(ip, linear)) {
		verdict = roce_parse_ip(ip, linear, packet);
		if (likely(verdict != ROCE_TRUNCATED))
			return verdict;
	}
	return parse_fragments(skb, offset, packet);
}

static noinline void see_message(struct flow_table *table, const struct sk_buff *skb,
			u32 offset, const struct roce_packet *packet)
{
	u32 length = min_t(u32, packet->payload, MESSAGE_MAX);
	u8 room[MESSAGE_MAX];
	const u8 *message;

	message = skb_header_pointer(skb, offset + packet->payload_offset,
				     length, room);
	if (message)
		flow_pair_message(table, packet, message, length);
}

static noinline void count_other(struct flow_table *table,
				 enum roce_verdict verdict)
{
	switch (verdict) {
	case ROCE_FRAGMENT:
		flow_count(table, FLOW_FRAGMENTS, 1);
		break;
	case ROCE_TRUNCATED:
		flow_count(table, FLOW_TRUNCATED, 1);
		break;
	case ROCE_MALFORMED:
		flow_count(table, FLOW_MALFORMED, 1);
		break;
	default:
		break;
	}
}

void flow_see_skb(struct flow_table *table, const struct sk_buff *skb,
		  u32 offset, u8 at)
{
	/* Filled by the parser, as far as the packet has it. */
	struct roce_packet packet peerlane_uninitialized;
	enum roce_verdict verdict;

	verdict = parse(skb, offset, &packet);
	if (verdict == ROCE_OTHER)
		return;
	if (unlikely(verdict != ROCE_PACKET)) {
		count_other(table, verdict);
		return;
	}
	if (unlikely(skb_is_gso(skb))) {
		flow_count(table, FLOW_AGGREGATED,
			   max_t(u16, skb_shinfo(skb)->gso_segs, 1));
		return;
	}
	flow_see(table, &packet, at);
	if (unlikely(packet.dqpn == ROCE_QPN_CM &&
		     roce_transport(&packet) == ROCE_UD))
		see_message(table, skb, offset, &packet);
}
