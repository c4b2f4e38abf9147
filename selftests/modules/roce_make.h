/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RoCE packets for tests, and the parser on memory that ends where they do.
 * Include roce_parse.c before this.
 */
#ifndef SELFTESTS_ROCE_MAKE_H
#define SELFTESTS_ROCE_MAKE_H

#include <kunit/test.h>
#include <linux/slab.h>
#include <linux/string.h>

#define ROOM	512
#define QPN	0xabcdef
#define PSN	0x123456

/* ---- making packets ---- */

static inline void put16(u8 *at, u32 value)
{
	at[0] = value >> 8;
	at[1] = value;
}

/* @body bytes after the BTH, the ICRC with them: 1, 2, 3, ... Returns the length. */
static inline u32 put_udp(u8 *at, u8 opcode, u32 body)
{
	static const u8 bth[] = {
		0, 0, 0xff, 0xff, 0, 0xab, 0xcd, 0xef, 0, 0x12, 0x34, 0x56,
	};
	u32 i;

	put16(at, 0xc123);
	put16(at + 2, 4791);
	put16(at + 4, 20 + body);
	put16(at + 6, 0);
	memcpy(at + 8, bth, sizeof(bth));
	at[8] = opcode;
	for (i = 0; i < body; i++)
		at[20 + i] = i + 1;
	return 20 + body;
}

/* 10.1.2.3 to 10.4.5.6, with @options bytes of options */
static inline u32 put_ip4(u8 *at, u32 options, u8 opcode, u32 body)
{
	static const u8 header[20] = {
		[8] = 64, [9] = 17, [12] = 10, 1, 2, 3, 10, 4, 5, 6,
	};
	u32 length = 20 + options + put_udp(at + 20 + options, opcode, body);

	memcpy(at, header, sizeof(header));
	memset(at + 20, 1, options);
	at[0] = 0x45 + options / 4;
	put16(at + 2, length);
	return length;
}

/* fd00::11 to fd00::22; @chain holds @bytes of extension headers after @next */
static inline u32 put_ip6(u8 *at, u8 next, const u8 *chain, u32 bytes, u8 opcode)
{
	u32 length = bytes + put_udp(at + 40 + bytes, opcode, 24);

	memset(at, 0, 40);
	at[0] = 0x60;
	put16(at + 4, length);
	at[6] = next;
	at[7] = 64;
	at[8] = 0xfd;
	at[23] = 0x11;
	at[24] = 0xfd;
	at[39] = 0x22;
	memcpy(at + 40, chain, bytes);
	return 40 + length;
}

static inline u32 put_plain_ip6(u8 *at)
{
	return put_ip6(at, 17, (const u8 *)"", 0, 0x04);
}

/* ---- reading them, from memory that ends where they do ---- */

typedef enum roce_verdict roce_parser(const void *bytes, u32 avail,
				      struct roce_packet *packet);

static inline enum roce_verdict read_by(struct kunit *test, const u8 *bytes,
					u32 avail, struct roce_packet *packet,
					roce_parser *parse)
{
	enum roce_verdict verdict;
	u8 *copy = kmalloc(avail, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy, bytes, avail);
	verdict = parse(copy, avail, packet);
	kfree(copy);
	return verdict;
}

static inline enum roce_verdict read_ip(struct kunit *test, const u8 *ip,
					u32 avail, struct roce_packet *packet)
{
	return read_by(test, ip, avail, packet, roce_parse_ip);
}

#define EXPECT_IP(test, verdict, ip, length) \
	KUNIT_EXPECT_EQ(test, (int)read_ip(test, ip, length, &packet), \
			(int)(verdict))

#endif /* SELFTESTS_ROCE_MAKE_H */
