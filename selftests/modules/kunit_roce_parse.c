// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>

#include "roce_parse.c"
#include "roce_make.h"

/* ---- Ethernet ---- */

struct tags {
	u32 count;
	u16 types[4];	/* one more than tags: what is in them */
};

static int read_tagged(struct kunit *test, const struct tags *tags)
{
	struct roce_packet packet;
	u8 frame[ROOM] = {};
	u8 *at = frame + 12;
	u32 i;

	for (i = 0; i <= tags->count; i++) {
		put16(at, tags->types[i]);
		at += i < tags->count ? 4 : 2;
	}
	at += put_ip4(at, 0, 0x04, 8);
	return read_by(test, frame, at - frame, &packet, roce_parse_ethernet);
}

static void up_to_two_vlan_tags(struct kunit *test)
{
	static const struct tags good[] = {
		{ 0, { 0x0800 } },
		{ 1, { 0x8100, 0x0800 } },
		{ 1, { 0x88a8, 0x0800 } },
		{ 2, { 0x88a8, 0x8100, 0x0800 } },
		{ 2, { 0x8100, 0x8100, 0x0800 } },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++)
		KUNIT_EXPECT_EQ(test, read_tagged(test, &good[i]),
				(int)ROCE_PACKET);
}

static void other_frames(struct kunit *test)
{
	static const struct tags other[] = {
		{ 3, { 0x88a8, 0x8100, 0x8100, 0x0800 } },
		{ 0, { 0x0806 } },
		{ 0, { 0x8915 } },		/* the first RoCE */
		{ 0, { 0x86dd } },		/* type and version differ */
		{ 1, { 0x8100, 0x86dd } },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(other); i++)
		KUNIT_EXPECT_EQ(test, read_tagged(test, &other[i]),
				(int)ROCE_OTHER);
}

static void ip6_in_a_frame(struct kunit *test)
{
	struct roce_packet packet;
	u8 frame[ROOM] = { [12] = 0x86, 0xdd };
	u32 length = 14 + put_plain_ip6(frame + 14);

	KUNIT_EXPECT_EQ(test, (int)read_by(test, frame, length, &packet,
					   roce_parse_ethernet),
			(int)ROCE_PACKET);
	frame[13] = 0;
	frame[12] = 0x08;
	KUNIT_EXPECT_EQ(test, (int)read_by(test, frame, length, &packet,
					   roce_parse_ethernet),
			(int)ROCE_OTHER);
}

/* 802.1ad, 802.1Q, IP, UDP, BTH: nothing is read behind the end. */
static void a_frame_cut_anywhere(struct kunit *test)
{
	struct roce_packet packet;
	u8 frame[ROOM] = { [12] = 0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 8, 0 };
	u32 length = 22 + put_ip4(frame + 22, 0, 0x07, 100);
	u32 avail, port = 22 + 20 + 4, headers = 22 + 20 + 20;
	int want;

	for (avail = 0; avail <= length; avail++) {
		want = avail < port ? ROCE_OTHER :
		       avail < headers ? ROCE_TRUNCATED : ROCE_PACKET;
		KUNIT_ASSERT_EQ_MSG(test,
				    (int)read_by(test, frame, avail, &packet,
						 roce_parse_ethernet),
				    want, "%u bytes", avail);
	}
}

static void padding_of_a_frame_is_no_payload(struct kunit *test)
{
	struct roce_packet packet;
	u8 frame[ROOM] = { [12] = 8 };
	u32 length = 14 + put_ip4(frame + 14, 0, 0x04, 4);

	KUNIT_EXPECT_EQ(test, (int)read_by(test, frame, length + 18, &packet,
					   roce_parse_ethernet),
			(int)ROCE_PACKET);
	KUNIT_EXPECT_EQ(test, packet.length, length - 14);
	KUNIT_EXPECT_EQ(test, packet.payload, 0U);
}

/* ---- IPv4 ---- */

static bool has_ip4_addresses(const struct roce_packet *packet)
{
	static const u8 source[16] = { [10] = 0xff, 0xff, 10, 1, 2, 3 };
	static const u8 target[16] = { [10] = 0xff, 0xff, 10, 4, 5, 6 };

	return !packet->is_v6 && !memcmp(&packet->saddr, source, 16) &&
	       !memcmp(&packet->daddr, target, 16);
}

static void an_ip4_packet(struct kunit *test)
{
	struct roce_packet packet;
	u8 ip[ROOM];
	u32 length = put_ip4(ip, 0, 0x04, 104);

	memset(&packet, 0x5a, sizeof(packet));
	EXPECT_IP(test, ROCE_PACKET, ip, length);
	KUNIT_EXPECT_TRUE(test, has_ip4_addresses(&packet));
	KUNIT_EXPECT_EQ(test, packet.length, length);
	KUNIT_EXPECT_EQ(test, packet.payload, 100U);
	KUNIT_EXPECT_EQ(test, packet.payload_offset, 40);
	KUNIT_EXPECT_EQ(test, packet.sport, 0xc123);
	KUNIT_EXPECT_EQ(test, packet.opcode, 0x04);
	KUNIT_EXPECT_EQ(test, packet.has, 0);
	KUNIT_EXPECT_EQ(test, packet.pkey, 0xffff);
	KUNIT_EXPECT_EQ(test, packet.dqpn, (u32)QPN);
	KUNIT_EXPECT_EQ(test, packet.psn, (u32)PSN);
	KUNIT_EXPECT_EQ(test, (int)roce_transport(&packet), (int)ROCE_RC);
	KUNIT_EXPECT_EQ(test, (int)roce_operation(&packet), (int)ROCE_SEND_ONLY);
}

static void ip4_options_are_skipped(struct kunit *test)
{
	struct roce_packet packet;
	u32 options, length;
	u8 ip[ROOM];

	for (options = 4; options <= 40; options += 4) {
		length = put_ip4(ip, options, 0x04, 104);
		memset(&packet, 0x5a, sizeof(packet));
		EXPECT_IP(test, ROCE_PACKET, ip, length);
		KUNIT_EXPECT_TRUE(test, has_ip4_addresses(&packet));
		KUNIT_EXPECT_EQ(test, packet.length, length);
		KUNIT_EXPECT_EQ(test, packet.payload, 100U);
		KUNIT_EXPECT_EQ(test, packet.payload_offset, 40 + options);
		KUNIT_EXPECT_EQ(test, packet.psn, (u32)PSN);
	}
}

static void a_wrong_ip4_header_length(struct kunit *test)
{
	struct roce_packet packet;
	u32 words, length;
	u8 ip[ROOM];

	length = put_ip4(ip, 0, 0x04, 104);
	for (words = 0; words < 16; words++) {
		ip[0] = 0x40 + words;
		EXPECT_IP(test, words == 5 ? ROCE_PACKET : ROCE_OTHER, ip,
			  length);
	}
}

static void other_versions(struct kunit *test)
{
	struct roce_packet packet;
	u32 version, length;
	u8 ip[ROOM];

	length = put_ip4(ip, 0, 0x04, 104);
	for (version = 0; version < 16; version++) {
		ip[0] = version << 4 | 5;
		EXPECT_IP(test, version == 4 ? ROCE_PACKET : ROCE_OTHER, ip,
			  length);
	}
}

static void the_port_is_the_destination(struct kunit *test)
{
	struct roce_packet packet;
	u8 ip[ROOM];
	u32 length = put_ip4(ip, 0, 0x04, 8);

	put16(ip + 20, 4791);
	EXPECT_IP(test, ROCE_PACKET, ip, length);
	put16(ip + 22, 0xc123);
	EXPECT_IP(test, ROCE_OTHER, ip, length);
	put16(ip + 22, 4790);
	EXPECT_IP(test, ROCE_OTHER, ip, length);
}

static void other_protocols(struct kunit *test)
{
	struct roce_packet packet;
	u32 options, length;
	u8 ip[ROOM];

	for (options = 0; options <= 4; options += 4) {
		length = put_ip4(ip, options, 0x04, 8);
		ip[9] = 6;
		EXPECT_IP(test, ROCE_OTHER, ip, length);
		ip[6] = 0x20;
		EXPECT_IP(test, ROCE_OTHER, ip, length);
	}
}

static void ip4_fragments(struct kunit *test)
{
	struct roce_packet packet;
	u32 options, bit, length;
	u8 ip[ROOM];

	for (options = 0; options <= 4; options += 4)
		for (bit = 0; bit < 16; bit++) {
			length = put_ip4(ip, options, 0x04, 8);
			put16(ip + 6, 1 << bit);
			/* 14 and 15: do not fragment, reserved */
			EXPECT_IP(test, bit < 14 ? ROCE_FRAGMENT : ROCE_PACKET,
				  ip, length);
		}
}

static void a_fragment_needs_no_more_than_its_header(struct kunit *test)
{
	static const u8 header[8] = { 17, 0, 0, 9 };
	struct roce_packet packet;
	u8 ip[ROOM];

	put_ip4(ip, 0, 0x04, 8);
	ip[7] = 1;
	EXPECT_IP(test, ROCE_FRAGMENT, ip, 20);
	EXPECT_IP(test, ROCE_OTHER, ip, 19);
	put_ip6(ip, 44, header, 8, 0x04);
	EXPECT_IP(test, ROCE_FRAGMENT, ip, 44);
	EXPECT_IP(test, ROCE_OTHER, ip, 43);
}

static void ecn_and_dscp(struct kunit *test)
{
	struct roce_packet packet;
	u32 tos, v6, length;
	u8 ip[ROOM];

	for (v6 = 0; v6 < 2; v6++)
		for (tos = 0; tos < 256; tos++) {
			length = v6 ? put_plain_ip6(ip) : put_ip4(ip, 0, 4, 8);
			if (v6)
				put16(ip, 0x600f | tos << 4);
			else
				ip[1] = tos;
			EXPECT_IP(test, ROCE_PACKET, ip, length);
			KUNIT_EXPECT_EQ(test, packet.ecn + 0U, tos & 3);
			KUNIT_EXPECT_EQ(test, packet.dscp + 0U, tos >> 2);
		}
}

/* ---- IPv6 ---- */

static bool has_ip6_addresses(const struct roce_packet *packet)
{
	static const u8 source[16] = { 0xfd, [15] = 0x11 };
	static const u8 target[16] = { 0xfd, [15] = 0x22 };

	return packet->is_v6 && !memcmp(&packet->saddr, source, 16) &&
	       !memcmp(&packet->daddr, target, 16);
}

static void an_ip6_packet(struct kunit *test)
{
	struct roce_packet packet;
	u8 ip[ROOM];
	u32 length = put_plain_ip6(ip);

	EXPECT_IP(test, ROCE_PACKET, ip, length);
	KUNIT_EXPECT_TRUE(test, has_ip6_addresses(&packet));
	KUNIT_EXPECT_EQ(test, packet.length, length);
	KUNIT_EXPECT_EQ(test, packet.payload, 20U);
	KUNIT_EXPECT_EQ(test, packet.payload_offset, 60);
	KUNIT_EXPECT_EQ(test, packet.psn, (u32)PSN);
}

struct chain {
	const char *name;
	u8 next;
	u32 bytes;
	u8 headers[80];
	enum roce_verdict verdict;
};

static void ip6_extension_headers(struct kunit *test)
{
	static const struct chain chains[] = {
		{ "hop by hop", 0, 8, { 17 }, ROCE_PACKET },
		{ "options, long", 60, 24, { 17, 2 }, ROCE_PACKET },
		{ "routing", 43, 24, { 17, 2, 4 }, ROCE_PACKET },
		{ "authentication", 51, 24, { 17, 4 }, ROCE_PACKET },
		{ "hop by hop, routing, options", 0, 24,
		  { 43, [8] = 60, [16] = 17 }, ROCE_PACKET },
		{ "fragment that is whole", 44, 8, { 17, 0, 0, 6, 1 },
		  ROCE_PACKET },
		{ "first fragment", 44, 8, { 17, 0, 0, 1 }, ROCE_FRAGMENT },
		{ "later fragment", 44, 8, { 17, 0, 0, 9 }, ROCE_FRAGMENT },
		{ "last fragment", 44, 8, { 17, 0, 0, 8 }, ROCE_FRAGMENT },
		{ "far fragment", 44, 8, { 17, 0, 0x80, 0 }, ROCE_FRAGMENT },
		{ "first fragment, options in it", 44, 16,
		  { 60, 0, 0, 1, [8] = 17 }, ROCE_FRAGMENT },
		{ "later fragment of something", 44, 16,
		  { 60, 0, 0, 9, [8] = 17 }, ROCE_OTHER },
		{ "fragment of TCP", 44, 8, { 6, 0, 0, 1 }, ROCE_OTHER },
		{ "hop by hop, TCP", 0, 8, { 6 }, ROCE_OTHER },
		{ "encrypted", 50, 8, { 17 }, ROCE_OTHER },
		{ "nothing", 59, 8, { 17 }, ROCE_OTHER },
		{ "eight", 60, 64, { 60, [8] = 60, [16] = 60, [24] = 60,
		  [32] = 60, [40] = 60, [48] = 60, [56] = 17 }, ROCE_PACKET },
		{ "nine", 60, 72, { 60, [8] = 60, [16] = 60, [24] = 60,
		  [32] = 60, [40] = 60, [48] = 60, [56] = 60, [64] = 17 },
		  ROCE_MALFORMED },
	};
	const struct chain *chain = chains;
	struct roce_packet packet;
	u8 ip[ROOM];
	u32 length;

	for (; chain < chains + ARRAY_SIZE(chains); chain++) {
		length = put_ip6(ip, chain->next, chain->headers, chain->bytes,
				 0x04);
		KUNIT_ASSERT_EQ_MSG(test,
				    (int)read_ip(test, ip, length, &packet),
				    (int)chain->verdict, "%s", chain->name);
		if (chain->verdict != ROCE_PACKET)
			continue;
		KUNIT_EXPECT_TRUE(test, has_ip6_addresses(&packet));
		KUNIT_EXPECT_EQ(test, packet.length, length);
		KUNIT_EXPECT_EQ(test, packet.payload, 20U);
		KUNIT_EXPECT_EQ(test, packet.payload_offset, 60 + chain->bytes);
		KUNIT_EXPECT_EQ(test, packet.psn, (u32)PSN);
	}
}

static void an_extension_header_without_end(struct kunit *test)
{
	static const u8 header[8] = { 17, 255 };
	struct roce_packet packet;
	u8 ip[ROOM];
	u32 length = put_ip6(ip, 60, header, 8, 0x04);

	EXPECT_IP(test, ROCE_OTHER, ip, length);
}

static void a_jumbogram(struct kunit *test)
{
	struct roce_packet packet;
	u8 ip[ROOM];
	u32 length = put_plain_ip6(ip);

	put16(ip + 4, 0);
	EXPECT_IP(test, ROCE_MALFORMED, ip, length);
}

static struct kunit_case roce_parse_cases[] = {
	KUNIT_CASE(up_to_two_vlan_tags),
	KUNIT_CASE(other_frames),
	KUNIT_CASE(ip6_in_a_frame),
	KUNIT_CASE(a_frame_cut_anywhere),
	KUNIT_CASE(padding_of_a_frame_is_no_payload),
	KUNIT_CASE(an_ip4_packet),
	KUNIT_CASE(ip4_options_are_skipped),
	KUNIT_CASE(a_wrong_ip4_header_length),
	KUNIT_CASE(other_versions),
	KUNIT_CASE(the_port_is_the_destination),
	KUNIT_CASE(other_protocols),
	KUNIT_CASE(ip4_fragments),
	KUNIT_CASE(a_fragment_needs_no_more_than_its_header),
	KUNIT_CASE(ecn_and_dscp),
	KUNIT_CASE(an_ip6_packet),
	KUNIT_CASE(ip6_extension_headers),
	KUNIT_CASE(an_extension_header_without_end),
	KUNIT_CASE(a_jumbogram),
	{}
};

static struct kunit_suite roce_parse_suite = {
	.name		= "peerlane_roce_parse",
	.test_cases	= roce_parse_cases,
};

kunit_test_suite(roce_parse_suite);
