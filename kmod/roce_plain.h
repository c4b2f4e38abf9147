/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The packets that nearly all are: IPv4 without options, reliable or unreliable
 * connections, data that is sent or written, or an acknowledgement of it. Pure,
 * as roce_parse.h, of which this is a shorter way: what it takes, roce_parse_ip()
 * takes too, and says the same.
 */
#ifndef PEERLANE_ROCE_PLAIN_H
#define PEERLANE_ROCE_PLAIN_H

#include <linux/compiler.h>
#include <linux/string.h>

#include "roce_parse.h"

/* IP header, UDP header and BTH */
#define ROCE_PLAIN_BYTES	40

/*
 * Kinds of opcodes, 0 is any other. The lower 6 bits are bytes from the UDP header
 * on, and of the ICRC: no packet of it is shorter. The upper 8 bits are the
 * transport.
 */
#define ROCE_PLAIN_REQUEST	0x80	/* others: an acknowledgement */
#define ROCE_PLAIN_FULL		0x40	/* more of the message follows */
#define ROCE_PLAIN_LEAST	0x3f

/**
 * struct roce_plain - such a packet; what it says is read from it when needed
 * @ip: its bytes
 * @payload: as in struct roce_packet
 * @kind: ROCE_PLAIN_*
 */
struct roce_plain {
	const u8 *ip;
	u32 payload;
	u32 kind;
};

#define ANSWER(transport, headers) \
	((transport) << 24 | (24 + (headers)))
#define LAST(transport, headers) \
	(ROCE_PLAIN_REQUEST | ANSWER(transport, headers))
#define MORE(transport, headers) \
	(ROCE_PLAIN_FULL | LAST(transport, headers))

/* SEND and WRITE, each from the first packet to the only one, and positive ACKs */
static const u32 roce_plain_kinds[256] = {
	[0x00] = MORE(ROCE_RC, 0),
	[0x01] = MORE(ROCE_RC, 0),
	[0x02] = LAST(ROCE_RC, 0),
	[0x03] = LAST(ROCE_RC, 4),
	[0x04] = LAST(ROCE_RC, 0),
	[0x05] = LAST(ROCE_RC, 4),
	[0x06] = MORE(ROCE_RC, 16),
	[0x07] = MORE(ROCE_RC, 0),
	[0x08] = LAST(ROCE_RC, 0),
	[0x09] = LAST(ROCE_RC, 4),
	[0x0a] = LAST(ROCE_RC, 16),
	[0x0b] = LAST(ROCE_RC, 20),
	[0x11] = ANSWER(ROCE_RC, 4),
	[0x16] = LAST(ROCE_RC, 4), LAST(ROCE_RC, 4),
	[0x20] = MORE(ROCE_UC, 0),
	[0x21] = MORE(ROCE_UC, 0),
	[0x22] = LAST(ROCE_UC, 0),
	[0x23] = LAST(ROCE_UC, 4),
	[0x24] = LAST(ROCE_UC, 0),
	[0x25] = LAST(ROCE_UC, 4),
	[0x26] = MORE(ROCE_UC, 16),
	[0x27] = MORE(ROCE_UC, 0),
	[0x28] = LAST(ROCE_UC, 0),
	[0x29] = LAST(ROCE_UC, 4),
	[0x2a] = LAST(ROCE_UC, 16),
	[0x2b] = LAST(ROCE_UC, 20),
	[0xa0] = MORE(ROCE_XRC, 4),
	[0xa1] = MORE(ROCE_XRC, 4),
	[0xa2] = LAST(ROCE_XRC, 4),
	[0xa3] = LAST(ROCE_XRC, 8),
	[0xa4] = LAST(ROCE_XRC, 4),
	[0xa5] = LAST(ROCE_XRC, 8),
	[0xa6] = MORE(ROCE_XRC, 20),
	[0xa7] = MORE(ROCE_XRC, 4),
	[0xa8] = LAST(ROCE_XRC, 4),
	[0xa9] = LAST(ROCE_XRC, 8),
	[0xaa] = LAST(ROCE_XRC, 20),
	[0xab] = LAST(ROCE_XRC, 24),
	[0xb1] = ANSWER(ROCE_XRC, 4),
	[0xb6] = LAST(ROCE_XRC, 8), LAST(ROCE_XRC, 8),
};

#undef ANSWER
#undef LAST
#undef MORE

static __always_inline u32 roce_plain_be16(const u8 *at)
{
	__be16 word;

	memcpy(&word, at, sizeof(word));
	return __be16_to_cpu(word);
}

static __always_inline __be32 roce_plain_word(const u8 *at)
{
	__be32 word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static __always_inline u32 roce_plain_length(const struct roce_plain *packet)
{
	return roce_plain_be16(packet->ip + 2);
}

static __always_inline u8 roce_plain_tos(const struct roce_plain *packet)
{
	return packet->ip[1];
}

static __always_inline __be32 roce_plain_saddr(const struct roce_plain *packet)
{
	return roce_plain_word(packet->ip + 12);
}

static __always_inline __be32 roce_plain_daddr(const struct roce_plain *packet)
{
	return roce_plain_word(packet->ip + 16);
}

static __always_inline u32 roce_plain_sport(const struct roce_plain *packet)
{
	return roce_plain_be16(packet->ip + 20);
}

static __always_inline u32 roce_plain_opcode(const struct roce_plain *packet)
{
	return packet->ip[28];
}

/* In the upper 8 bits. */
static __always_inline u32 roce_plain_transport(const struct roce_plain *packet)
{
	return packet->kind & 0xff000000;
}

/* The byte before it is 0. */
static __always_inline u32 roce_plain_qpn(const struct roce_plain *packet)
{
	return __be32_to_cpu(roce_plain_word(packet->ip + 32));
}

static __always_inline bool roce_plain_asks(const struct roce_plain *packet)
{
	return packet->ip[36] >> 7;
}

static __always_inline u32 roce_plain_psn(const struct roce_plain *packet)
{
	return __be32_to_cpu(roce_plain_word(packet->ip + 36)) & ROCE_PSN_MASK;
}

/* Which part of a datagram it is, and of what; the time to live is between. */
static __always_inline __be32 roce_plain_part(const u8 *ip)
{
	return roce_plain_word(ip + 6) & __cpu_to_be32(0x3fff00ff);
}

/*
 * At @ip are ROCE_PLAIN_BYTES of an IPv4 packet without options. Whether it is
 * UDP in one piece, to RoCE's port.
 */
static __always_inline bool roce_plain_is_roce(const u8 *ip)
{
	__be16 port;

	memcpy(&port, ip + 22, sizeof(port));
	return roce_plain_part(ip) == __cpu_to_be32(17) &&
	       port == __cpu_to_be16(ROCE_UDP_PORT);
}

/* The same of a piece of UDP. */
static __always_inline bool roce_plain_is_fragment(const u8 *ip)
{
	u32 part = __be32_to_cpu(roce_plain_part(ip));

	return part >> 16 && (part & 0xff) == 17;
}

/*
 * @avail of its bytes are there, ROCE_PLAIN_BYTES at least. False if it has to be
 * parsed by roce_parse_ip(); where it is no request, ask roce_plain_is_ack().
 */
static __always_inline bool roce_plain_parse(const u8 *ip, u32 avail,
					     struct roce_plain *packet)
{
	const u8 *bth = ip + 28;
	u32 length = roce_plain_be16(ip + 24);
	u32 kind = roce_plain_kinds[bth[0]], least = kind & ROCE_PLAIN_LEAST;
	/* Below zero if it is too short */
	s32 payload = length - least;

	packet->ip = ip;
	packet->payload = payload;
	packet->kind = kind;
	/* Pad and version; FECN and BECN; all but the ICRC is there */
	return !(bth[1] & 0x3f || bth[4] || payload < 0 ||
		 avail < least + 20 - 4 ||
		 roce_plain_length(packet) < length + 20);
}

/* No request, but an acknowledgement that is one. */
static __always_inline bool roce_plain_is_ack(const struct roce_plain *packet)
{
	return packet->kind && !(packet->ip[40] & 0x60);
}

#endif /* PEERLANE_ROCE_PLAIN_H */
