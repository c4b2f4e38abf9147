// SPDX-License-Identifier: GPL-2.0
/*
 * RoCE v2 packets, from bytes.
 *
 * What is not known to be for RoCE's UDP port is ROCE_OTHER, whatever is wrong
 * with it; so the port is looked at first, and the rest of the packet judged
 * after it.
 */
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>

#include "roce_parse.h"

enum {
	ETHERNET_BYTES	= 14,
	VLAN_BYTES	= 4,
	VLANS_MAX	= 2,
	IP4_BYTES	= 20,
	IP6_BYTES	= 40,
	/* Linux takes more; nobody sends them. */
	IP6_EXTENSIONS_MAX = 8,
	UDP_BYTES	= 8,
	BTH_BYTES	= 12,
	ICRC_BYTES	= 4,
	/* From the UDP header on, each packet begins so, and is so long */
	FIXED_BYTES	= UDP_BYTES + BTH_BYTES,
	LEAST_BYTES	= FIXED_BYTES + ICRC_BYTES,
};

enum {
	TYPE_IP4	= 0x0800,
	TYPE_VLAN	= 0x8100,
	TYPE_IP6	= 0x86dd,
	TYPE_VLAN_OUTER	= 0x88a8,
};

enum {
	NEXT_HOP_BY_HOP	= 0,
	NEXT_UDP	= 17,
	NEXT_ROUTING	= 43,
	NEXT_FRAGMENT	= 44,
	NEXT_AUTH	= 51,
	NEXT_OPTIONS	= 60,
};

#define IP4_FRAGMENT	0x3fff	/* more fragments, and the offset */
#define IP6_FRAGMENT	0xfff9	/* the offset, and more fragments */
#define IP6_OFFSET	0xfff8
#define BTH_TVER	0x0f

static __always_inline u32 be16(const u8 *at)
{
	__be16 word;

	memcpy(&word, at, sizeof(word));
	return __be16_to_cpu(word);
}

static __always_inline u32 be32(const u8 *at)
{
	__be32 word;

	memcpy(&word, at, sizeof(word));
	return __be32_to_cpu(word);
}

static __always_inline u64 be64(const u8 *at)
{
	__be64 word;

	memcpy(&word, at, sizeof(word));
	return __be64_to_cpu(word);
}

/* ---- what follows the BTH ---- */

/**
 * struct layout - headers between BTH and payload
 * @has: ROCE_HAS_*
 * @bytes: their length
 * @front: bytes before the first of @has
 */
struct layout {
	u8 has;
	u8 bytes;
	u16 front;
};

#define DETH	ROCE_HAS_DETH
#define RETH	ROCE_HAS_RETH
#define AETH	ROCE_HAS_AETH
#define IMM	ROCE_HAS_IMM
#define XRCETH	ROCE_HAS_XRCETH
#define IETH	ROCE_HAS_IETH
#define ATOMIC	ROCE_HAS_ATOMIC

/* By opcode. The reliable datagram's RDETH comes before all others. */
static const struct layout layouts[256] = {
	/* RC */
	[0x03] = { IMM, 4 },			/* send last */
	[0x05] = { IMM, 4 },			/* send only */
	[0x06] = { RETH, 16 },			/* write first */
	[0x09] = { IMM, 4 },			/* write last */
	[0x0a] = { RETH, 16 },			/* write only */
	[0x0b] = { RETH | IMM, 20 },
	[0x0c] = { RETH, 16 },			/* read request */
	[0x0d] = { AETH, 4 },			/* read response first */
	[0x0f] = { AETH, 4 },			/* last */
	[0x10] = { AETH, 4 },			/* only */
	[0x11] = { AETH, 4 },			/* acknowledge */
	[0x12] = { AETH | ATOMIC, 12 },
	[0x13] = { ATOMIC, 28 },		/* compare and swap */
	[0x14] = { ATOMIC, 28 },		/* fetch and add */
	[0x16] = { IETH, 4 },			/* send last */
	[0x17] = { IETH, 4 },			/* send only */
	[0x1c] = { RETH, 20 },			/* flush: FETH, 4 bytes, first */
	[0x1d] = { RETH, 16 },			/* atomic write */
	/* UC */
	[0x23] = { IMM, 4 },
	[0x25] = { IMM, 4 },
	[0x26] = { RETH, 16 },
	[0x29] = { IMM, 4 },
	[0x2a] = { RETH, 16 },
	[0x2b] = { RETH | IMM, 20 },
	/* RD */
	[0x40] = { DETH, 12, 4 },
	[0x41] = { DETH, 12, 4 },
	[0x42] = { DETH, 12, 4 },
	[0x43] = { DETH | IMM, 16, 4 },
	[0x44] = { DETH, 12, 4 },
	[0x45] = { DETH | IMM, 16, 4 },
	[0x46] = { DETH | RETH, 28, 4 },
	[0x47] = { DETH, 12, 4 },
	[0x48] = { DETH, 12, 4 },
	[0x49] = { DETH | IMM, 16, 4 },
	[0x4a] = { DETH | RETH, 28, 4 },
	[0x4b] = { DETH | RETH | IMM, 32, 4 },
	[0x4c] = { DETH | RETH, 28, 4 },
	[0x4d] = { AETH, 8, 4 },
	[0x4e] = { 0, 4, 4 },
	[0x4f] = { AETH, 8, 4 },
	[0x50] = { AETH, 8, 4 },
	[0x51] = { AETH, 8, 4 },
	[0x52] = { AETH | ATOMIC, 16, 4 },
	[0x53] = { DETH | ATOMIC, 40, 4 },
	[0x54] = { DETH | ATOMIC, 40, 4 },
	[0x55] = { DETH, 12, 4 },		/* resync */
	/* UD */
	[0x64] = { DETH, 8 },
	[0x65] = { DETH | IMM, 12 },
	/* its reserved bytes; what 0x80 has is not said for UDP */
	[ROCE_OPCODE_CNP] = { 0, 16 },
	/* XRC: as RC, with an XRCETH first in requests */
	[0xa0] = { XRCETH, 4 },
	[0xa1] = { XRCETH, 4 },
	[0xa2] = { XRCETH, 4 },
	[0xa3] = { XRCETH | IMM, 8 },
	[0xa4] = { XRCETH, 4 },
	[0xa5] = { XRCETH | IMM, 8 },
	[0xa6] = { XRCETH | RETH, 20 },
	[0xa7] = { XRCETH, 4 },
	[0xa8] = { XRCETH, 4 },
	[0xa9] = { XRCETH | IMM, 8 },
	[0xaa] = { XRCETH | RETH, 20 },
	[0xab] = { XRCETH | RETH | IMM, 24 },
	[0xac] = { XRCETH | RETH, 20 },
	[0xad] = { AETH, 4 },
	[0xaf] = { AETH, 4 },
	[0xb0] = { AETH, 4 },
	[0xb1] = { AETH, 4 },
	[0xb2] = { AETH | ATOMIC, 12 },
	[0xb3] = { XRCETH | ATOMIC, 32 },
	[0xb4] = { XRCETH | ATOMIC, 32 },
	[0xb6] = { XRCETH | IETH, 8 },
	[0xb7] = { XRCETH | IETH, 8 },
	[0xbc] = { XRCETH | RETH, 24 },
	[0xbd] = { XRCETH | RETH, 20 },
};

/* RETH, immediate data and IETH are last, the others first. */
static noinline enum roce_verdict take_headers(const u8 *at,
					       const struct layout *layout,
					       struct roce_packet *packet)
{
	const u8 *end = at + layout->bytes;
	u8 has = layout->has;

	if (has & DETH) {
		packet->qkey = be32(at + layout->front);
		packet->sqpn = be32(at + layout->front + 4) & ROCE_QPN_MASK;
	}
	if (has & XRCETH)
		packet->srqn = be32(at) & ROCE_QPN_MASK;
	if (has & IMM) {
		end -= 4;
		packet->imm = be32(end);
	}
	if (has & IETH)
		packet->ieth_rkey = be32(end - 4);
	if (has & RETH) {
		packet->va = be64(end - 16);
		packet->rkey = be32(end - 8);
		packet->dma_length = be32(end - 4);
	}
	return ROCE_PACKET;
}

static __always_inline void take_aeth(const u8 *at, struct roce_packet *packet)
{
	u32 aeth = be32(at);

	packet->aeth_syndrome = aeth >> 24;
	packet->aeth_msn = aeth & 0xffffff;
}

/* ---- from the UDP header on ---- */

static __always_inline void take_ip4(const u8 *ip, struct roce_packet *packet)
{
	packet->saddr.word[0] = 0;
	packet->saddr.word[1] = 0;
	packet->saddr.word[2] = __cpu_to_be32(0xffff);
	memcpy(&packet->saddr.word[3], ip + 12, 4);
	packet->daddr.word[0] = 0;
	packet->daddr.word[1] = 0;
	packet->daddr.word[2] = __cpu_to_be32(0xffff);
	memcpy(&packet->daddr.word[3], ip + 16, 4);
	packet->ip_tos = ip[1];
	packet->is_v6 = false;
}

static __always_inline void take_ip6(const u8 *ip, struct roce_packet *packet)
{
	memcpy(&packet->saddr, ip + 8, 16);
	memcpy(&packet->daddr, ip + 24, 16);
	packet->ip_tos = be16(ip) >> 4;
	packet->is_v6 = true;
}

static __always_inline void take_bth(const u8 *bth, struct roce_packet *packet)
{
	u32 qpn = be32(bth + 4);
	u32 psn = be32(bth + 8);

	packet->opcode = bth[0];
	packet->bth_flags = bth[1];
	packet->pkey = be16(bth + 2);
	packet->bth_congestion = qpn >> 24;
	packet->dqpn = qpn & ROCE_QPN_MASK;
	packet->bth_ack = psn >> 24;
	packet->psn = psn & ROCE_PSN_MASK;
}

/*
 * The UDP header is @offset bytes behind the IP header, which says @length. What
 * of a packet is known to be there are its first @offset + FIXED_BYTES.
 */
static __always_inline enum roce_verdict
parse_udp(const u8 *ip, u32 avail, u32 offset, u32 length, bool is_v6,
	  struct roce_packet *packet)
{
	const u8 *udp = ip + offset;
	const u8 *bth = udp + UDP_BYTES;
	const struct layout *layout = &layouts[bth[0]];
	u32 payload_offset = offset + FIXED_BYTES + layout->bytes;
	u32 end = offset + be16(udp + 4);
	/* Below zero where the headers are longer than the packet */
	s32 payload = end - payload_offset - (bth[1] >> 4 & 3) - ICRC_BYTES;

	if (unlikely(payload < 0 || length < end || bth[1] & BTH_TVER))
		return ROCE_MALFORMED;
	if (unlikely(avail < payload_offset))
		return ROCE_TRUNCATED;

	packet->length = length;
	packet->payload = payload;
	packet->payload_offset = payload_offset;
	packet->sport = be16(udp);
	packet->has = layout->has;
	take_bth(bth, packet);
	if (is_v6)
		take_ip6(ip, packet);
	else
		take_ip4(ip, packet);

	if (layout->has & AETH)
		take_aeth(bth + BTH_BYTES + layout->front, packet);
	else if (layout->has)
		return take_headers(bth + BTH_BYTES, layout, packet);
	return ROCE_PACKET;
}

static __always_inline bool is_roce(const u8 *udp)
{
	return be16(udp + 2) == ROCE_UDP_PORT;
}

/* As parse_udp(), but how much is there is not known yet. */
static noinline enum roce_verdict
parse_udp_carefully(const u8 *ip, u32 avail, u32 offset, u32 length,
		    struct roce_packet *packet)
{
	if (avail < offset + 4 || !is_roce(ip + offset))
		return ROCE_OTHER;
	if (length < offset + LEAST_BYTES)
		return ROCE_MALFORMED;
	if (avail < offset + FIXED_BYTES)
		return ROCE_TRUNCATED;
	return parse_udp(ip, avail, offset, length, ip[0] >> 4 == 6, packet);
}

/* ---- IPv4 ---- */

/* No options, and as much of it as each RoCE packet has. */
static __always_inline bool is_plain_ip4(const u8 *ip, u32 avail)
{
	return avail >= IP4_BYTES + FIXED_BYTES && ip[0] == 0x45;
}

static __always_inline enum roce_verdict
parse_plain_ip4(const u8 *ip, u32 avail, struct roce_packet *packet)
{
	/* fragment and protocol, with the time to live between them */
	u32 word = be32(ip + 6) & (IP4_FRAGMENT << 16 | 0xff);

	if (word != NEXT_UDP)
		return (word & 0xff) == NEXT_UDP ? ROCE_FRAGMENT : ROCE_OTHER;
	if (!is_roce(ip + IP4_BYTES))
		return ROCE_OTHER;
	return parse_udp(ip, avail, IP4_BYTES, be16(ip + 2), false,
			 packet);
}

static enum roce_verdict parse_ip4(const u8 *ip, u32 avail,
				   struct roce_packet *packet)
{
	u32 header = (ip[0] & 0x0f) * 4;

	if (avail < IP4_BYTES || header < IP4_BYTES || ip[9] != NEXT_UDP)
		return ROCE_OTHER;
	if (be16(ip + 6) & IP4_FRAGMENT)
		return ROCE_FRAGMENT;
	return parse_udp_carefully(ip, avail, header, be16(ip + 2), packet);
}

/* ---- IPv6 ---- */

/* Where the walk along extension headers is. */
struct walk {
	u32 offset;
	u8 next;
	bool is_fragment;
	bool is_behind_first;	/* a fragment that has no more headers */
};

static bool is_extension(u8 next)
{
	return next == NEXT_HOP_BY_HOP || next == NEXT_ROUTING ||
	       next == NEXT_FRAGMENT || next == NEXT_AUTH ||
	       next == NEXT_OPTIONS;
}

/* The extension header at @at, of which 4 bytes are there. */
static void walk_on(struct walk *walk, const u8 *at)
{
	u32 bytes = (at[1] + 1) * 8;

	if (walk->next == NEXT_AUTH) {
		bytes = (at[1] + 2) * 4;
	} else if (walk->next == NEXT_FRAGMENT) {
		bytes = 8;
		/* One that is the whole packet is none ("atomic"). */
		walk->is_fragment |= !!(be16(at + 2) & IP6_FRAGMENT);
		walk->is_behind_first |= !!(be16(at + 2) & IP6_OFFSET);
	}
	walk->next = at[0];
	walk->offset += bytes;
}

static noinline enum roce_verdict
parse_ip6_extensions(const u8 *ip, u32 avail, struct roce_packet *packet)
{
	struct walk walk = { .offset = IP6_BYTES, .next = ip[6] };
	int left = IP6_EXTENSIONS_MAX;

	while (is_extension(walk.next) && !walk.is_behind_first) {
		if (avail < walk.offset + 4)
			return ROCE_OTHER;
		if (!left--)
			return ROCE_MALFORMED;
		walk_on(&walk, ip + walk.offset);
	}
	if (walk.next != NEXT_UDP)
		return ROCE_OTHER;
	if (walk.is_fragment)
		return ROCE_FRAGMENT;
	return parse_udp_carefully(ip, avail, walk.offset,
				   IP6_BYTES + be16(ip + 4), packet);
}

static enum roce_verdict parse_ip6(const u8 *ip, u32 avail,
				   struct roce_packet *packet)
{
	if (avail < IP6_BYTES)
		return ROCE_OTHER;
	if (avail < IP6_BYTES + FIXED_BYTES || ip[6] != NEXT_UDP)
		return parse_ip6_extensions(ip, avail, packet);
	if (!is_roce(ip + IP6_BYTES))
		return ROCE_OTHER;
	return parse_udp(ip, avail, IP6_BYTES, IP6_BYTES + be16(ip + 4),
			 true, packet);
}

/* ---- either ---- */

static noinline enum roce_verdict
parse_ip(const u8 *ip, u32 avail, struct roce_packet *packet)
{
	u32 version = avail ? ip[0] >> 4 : 0;

	if (version == 4)
		return parse_ip4(ip, avail, packet);
	return version == 6 ? parse_ip6(ip, avail, packet) : ROCE_OTHER;
}

enum roce_verdict roce_parse_ip(const void *ip, u32 avail,
				struct roce_packet *packet)
{
	if (likely(is_plain_ip4(ip, avail)))
		return parse_plain_ip4(ip, avail, packet);
	return parse_ip(ip, avail, packet);
}

/* Does the Ethernet type say what the IP header says? */
static bool is_ip(u32 type, u8 first)
{
	return (type == TYPE_IP4 && first >> 4 == 4) ||
	       (type == TYPE_IP6 && first >> 4 == 6);
}

enum roce_verdict roce_parse_ethernet(const void *frame, u32 avail,
				      struct roce_packet *packet)
{
	const u8 *ip = (const u8 *)frame + ETHERNET_BYTES;
	u32 left = VLANS_MAX;
	u32 type;

	if (avail < ETHERNET_BYTES)
		return ROCE_OTHER;
	avail -= ETHERNET_BYTES;
	type = be16(ip - 2);
	while (type == TYPE_VLAN || type == TYPE_VLAN_OUTER) {
		if (!left-- || avail < VLAN_BYTES)
			return ROCE_OTHER;
		ip += VLAN_BYTES;
		avail -= VLAN_BYTES;
		type = be16(ip - 2);
	}
	if (!avail || !is_ip(type, ip[0]))
		return ROCE_OTHER;
	return roce_parse_ip(ip, avail, packet);
}

/* ---- RNR NAKs ---- */

u32 roce_rnr_timer_us(u8 code)
{
	static const u32 times[32] = {
		655360, 10, 20, 30, 40, 60, 80, 120,
		160, 240, 320, 480, 640, 960, 1280, 1920,
		2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720,
		40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520,
	};

	return times[code & 0x1f];
}
