// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>

/* kunit_roce_parse.c has it too, and the module has both. */
#define roce_parse_ip		headers_parse_ip
#define roce_parse_ethernet	headers_parse_ethernet
#define roce_rnr_timer_us	headers_rnr_timer_us
#include "roce_parse.c"
#include "roce_make.h"

/* ---- the BTH ---- */

static void solicited_and_migrated(struct kunit *test)
{
	struct roce_packet packet;
	u8 ip[ROOM];
	u32 length = put_ip4(ip, 0, 0x04, 8);

	EXPECT_IP(test, ROCE_PACKET, ip, length);
	KUNIT_EXPECT_FALSE(test, packet.solicited);
	KUNIT_EXPECT_FALSE(test, packet.migrated);
	ip[29] = 0x80;
	EXPECT_IP(test, ROCE_PACKET, ip, length);
	KUNIT_EXPECT_TRUE(test, packet.solicited);
	KUNIT_EXPECT_FALSE(test, packet.migrated);
	ip[29] = 0x40;
	EXPECT_IP(test, ROCE_PACKET, ip, length);
	KUNIT_EXPECT_FALSE(test, packet.solicited);
	KUNIT_EXPECT_TRUE(test, packet.migrated);
}

static void other_header_versions(struct kunit *test)
{
	struct roce_packet packet;
	u32 tver, length;
	u8 ip[ROOM];

	length = put_ip4(ip, 0, 0x04, 8);
	for (tver = 1; tver < 16; tver++) {
		ip[29] = tver;
		EXPECT_IP(test, ROCE_MALFORMED, ip, length);
	}
}

static void pad_is_no_payload(struct kunit *test)
{
	struct roce_packet packet;
	u32 pad, length;
	u8 ip[ROOM];

	length = put_ip4(ip, 0, 0x04, 8);
	for (pad = 0; pad < 4; pad++) {
		ip[29] = pad << 4;
		EXPECT_IP(test, ROCE_PACKET, ip, length);
		KUNIT_EXPECT_EQ(test, packet.pad + 0U, pad);
		KUNIT_EXPECT_EQ(test, packet.payload, 4 - pad);
		KUNIT_EXPECT_EQ(test, packet.payload_offset, 40);
	}
}

static void more_pad_than_bytes(struct kunit *test)
{
	struct roce_packet packet;
	u32 pad, payload, length;
	u8 ip[ROOM];

	for (payload = 0; payload < 4; payload++)
		for (pad = 0; pad < 4; pad++) {
			length = put_ip4(ip, 0, 0x04, 4 + payload);
			ip[29] = pad << 4;
			EXPECT_IP(test, pad > payload ? ROCE_MALFORMED :
				  ROCE_PACKET, ip, length);
		}
}

static void congestion_bits_are_not_of_the_qpn(struct kunit *test)
{
	struct roce_packet packet;
	u32 bits, length;
	u8 ip[ROOM];

	length = put_ip4(ip, 0, 0x04, 8);
	for (bits = 0; bits < 256; bits++) {
		ip[32] = bits;
		EXPECT_IP(test, ROCE_PACKET, ip, length);
		KUNIT_EXPECT_EQ(test, packet.fecn + 0U, bits >> 7);
		KUNIT_EXPECT_EQ(test, packet.becn + 0U, bits >> 6 & 1);
		KUNIT_EXPECT_EQ(test, packet.dqpn, (u32)QPN);
	}
}

static void a_request_for_acknowledgement_is_not_of_the_psn(struct kunit *test)
{
	struct roce_packet packet;
	u32 bits, length;
	u8 ip[ROOM];

	length = put_ip4(ip, 0, 0x04, 8);
	for (bits = 0; bits < 256; bits++) {
		ip[36] = bits;
		EXPECT_IP(test, ROCE_PACKET, ip, length);
		KUNIT_EXPECT_EQ(test, packet.ack_request + 0U, bits >> 7);
		KUNIT_EXPECT_EQ(test, packet.psn, (u32)PSN);
	}
}

static void a_congestion_notification(struct kunit *test)
{
	struct roce_packet packet;
	u8 ip[ROOM];
	u32 length = put_ip4(ip, 0, ROCE_OPCODE_CNP, 20);

	ip[32] = 0x40;
	EXPECT_IP(test, ROCE_PACKET, ip, length);
	KUNIT_EXPECT_EQ(test, packet.opcode, ROCE_OPCODE_CNP);
	KUNIT_EXPECT_TRUE(test, packet.becn);
	KUNIT_EXPECT_EQ(test, packet.dqpn, (u32)QPN);
	KUNIT_EXPECT_EQ(test, packet.has, 0);
	KUNIT_EXPECT_EQ(test, packet.payload, 0U);
	length = put_ip4(ip, 0, ROCE_OPCODE_CNP, 19);
	EXPECT_IP(test, ROCE_MALFORMED, ip, length);
}

static void that_of_other_fabrics(struct kunit *test)
{
	struct roce_packet packet;
	u8 ip[ROOM];
	u32 length = put_ip4(ip, 0, ROCE_OPCODE_CNP_OTHER, 20);

	EXPECT_IP(test, ROCE_PACKET, ip, length);
	KUNIT_EXPECT_EQ(test, packet.opcode, 0x80);
	KUNIT_EXPECT_EQ(test, packet.payload, 16U);
}

/* ---- lengths ---- */

static void the_shortest_packet(struct kunit *test)
{
	struct roce_packet packet;
	u8 ip[ROOM];
	u32 length = put_ip4(ip, 0, 0x04, 4);

	EXPECT_IP(test, ROCE_PACKET, ip, length);
	KUNIT_EXPECT_EQ(test, packet.payload, 0U);
	length = put_ip4(ip, 0, 0x04, 3);
	EXPECT_IP(test, ROCE_MALFORMED, ip, length);
}

/* What is behind the end of the IP packet, but there, does not count. */
static void ip_shorter_than_udp(struct kunit *test)
{
	struct roce_packet packet;
	u32 said, length;
	u8 ip[ROOM];

	length = put_ip4(ip, 0, 0x04, 104);
	for (said = 0; said < length; said++) {
		put16(ip + 2, said);
		EXPECT_IP(test, ROCE_MALFORMED, ip, length);
	}
	length = put_plain_ip6(ip);
	for (said = 0; said < length - 40; said++) {
		put16(ip + 4, said);
		EXPECT_IP(test, ROCE_MALFORMED, ip, length);
	}
}

static void udp_shorter_than_ip(struct kunit *test)
{
	struct roce_packet packet;
	u32 said, length;
	u8 ip[ROOM];

	length = put_ip4(ip, 0, 0x04, 104);
	for (said = 0; said < 124; said++) {
		put16(ip + 24, said);
		EXPECT_IP(test, said < 24 ? ROCE_MALFORMED : ROCE_PACKET, ip,
			  length);
		if (said >= 24)
			KUNIT_EXPECT_EQ(test, packet.payload, said - 24);
	}
}

static void the_longest_packet(struct kunit *test)
{
	struct roce_packet packet;
	u8 ip[ROOM];
	u32 length = put_ip4(ip, 0, 0x07, 104);

	put16(ip + 2, 65535);
	put16(ip + 24, 65535 - 20);
	EXPECT_IP(test, ROCE_PACKET, ip, length);
	KUNIT_EXPECT_EQ(test, packet.length, 65535U);
	KUNIT_EXPECT_EQ(test, packet.payload, 65535U - 44);
	put16(ip + 24, 65535);
	EXPECT_IP(test, ROCE_MALFORMED, ip, length);
}

/* ---- headers of each opcode, against a plain reference ---- */

static bool is_request(u32 operation)
{
	return operation <= 0x0c || (operation >= 0x13 && operation != 0x1f);
}

static bool is_known(u32 transport, u32 operation)
{
	switch (transport) {
	case ROCE_RC:
	case ROCE_XRC:
		return operation <= 0x14 || operation == 0x16 ||
		       operation == 0x17 || operation == 0x1c ||
		       operation == 0x1d;
	case ROCE_UC:
		return operation <= 0x0b;
	case ROCE_RD:
		return operation <= 0x15;
	case ROCE_UD:
		return operation == 0x04 || operation == 0x05;
	default:
		return false;
	}
}

static bool is_one_of(u32 operation, const char *set)
{
	return operation && strchr(set, operation);
}

/* In the order that they have on the wire, so that the offset of each is known. */
struct headers {
	u32 has, bytes;
	u32 deth, xrceth, reth, aeth, imm, ieth;
};

static u32 add(struct headers *headers, bool is_there, u32 has, u32 bytes)
{
	u32 at = headers->bytes;

	if (is_there) {
		headers->has |= has;
		headers->bytes += bytes;
	}
	return at;
}

static struct headers headers_of(u32 opcode)
{
	u32 transport = opcode >> 5, operation = opcode & 0x1f;
	bool request = is_request(operation);
	struct headers h = {};

	if (opcode == ROCE_OPCODE_CNP)
		h.bytes = 16;
	if (!is_known(transport, operation))
		return h;
	add(&h, transport == ROCE_RD, 0, 4);
	h.deth = add(&h, transport == ROCE_UD || (transport == ROCE_RD && request),
		     ROCE_HAS_DETH, 8);
	h.xrceth = add(&h, transport == ROCE_XRC && request, ROCE_HAS_XRCETH, 4);
	add(&h, operation == ROCE_FLUSH, 0, 4);
	h.reth = add(&h, is_one_of(operation, "\x06\x0a\x0b\x0c\x1c\x1d"),
		     ROCE_HAS_RETH, 16);
	add(&h, is_one_of(operation, "\x13\x14"), ROCE_HAS_ATOMIC, 28);
	h.aeth = add(&h, is_one_of(operation, "\x0d\x0f\x10\x11\x12"),
		     ROCE_HAS_AETH, 4);
	add(&h, operation == ROCE_ATOMIC_ACK, ROCE_HAS_ATOMIC, 8);
	h.imm = add(&h, is_one_of(operation, "\x03\x05\x09\x0b"), ROCE_HAS_IMM,
		    4);
	h.ieth = add(&h, is_one_of(operation, "\x16\x17"), ROCE_HAS_IETH, 4);
	return h;
}

static void headers_of_each_opcode(struct kunit *test)
{
	struct roce_packet packet;
	struct headers want;
	u32 opcode, length;
	u8 ip[ROOM];

	for (opcode = 0; opcode < 256; opcode++) {
		want = headers_of(opcode);
		length = put_ip4(ip, 0, opcode, want.bytes + 4 + 64);
		EXPECT_IP(test, ROCE_PACKET, ip, length);
		KUNIT_ASSERT_EQ_MSG(test, packet.has, want.has, "%#x", opcode);
		KUNIT_ASSERT_EQ_MSG(test, packet.payload, 64, "%#x", opcode);
		KUNIT_ASSERT_EQ_MSG(test, packet.payload_offset,
				    40 + want.bytes, "%#x", opcode);
	}
}

static void each_opcode_at_its_shortest(struct kunit *test)
{
	struct roce_packet packet;
	u32 opcode, length, bytes;
	u8 ip[ROOM];

	for (opcode = 0; opcode < 256; opcode++) {
		bytes = headers_of(opcode).bytes;
		length = put_ip4(ip, 0, opcode, bytes + 4);
		EXPECT_IP(test, ROCE_PACKET, ip, length);
		KUNIT_EXPECT_EQ(test, packet.payload, 0U);
		length = put_ip4(ip, 0, opcode, bytes + 3);
		EXPECT_IP(test, ROCE_MALFORMED, ip, length);
	}
}

/* The body is 1, 2, 3, ...: what begins at @offset is offset + 1 and so on. */
static u64 number_at(u32 offset, u32 bytes)
{
	u64 number = 0;

	while (bytes--)
		number = number << 8 | ++offset;
	return number;
}

static bool is_right(const struct roce_packet *packet, const struct headers *at)
{
	bool good = true;

	if (packet->has & ROCE_HAS_DETH)
		good = packet->qkey == number_at(at->deth, 4) &&
		       packet->sqpn == number_at(at->deth + 5, 3);
	if (packet->has & ROCE_HAS_XRCETH)
		good = good && packet->srqn == number_at(at->xrceth + 1, 3);
	if (packet->has & ROCE_HAS_RETH)
		good = good && packet->va == number_at(at->reth, 8) &&
		       packet->rkey == number_at(at->reth + 8, 4) &&
		       packet->dma_length == number_at(at->reth + 12, 4);
	if (packet->has & ROCE_HAS_AETH)
		good = good && packet->aeth_syndrome == number_at(at->aeth, 1) &&
		       packet->aeth_msn == number_at(at->aeth + 1, 3);
	if (packet->has & ROCE_HAS_IMM)
		good = good && packet->imm == number_at(at->imm, 4);
	if (packet->has & ROCE_HAS_IETH)
		good = good && packet->ieth_rkey == number_at(at->ieth, 4);
	return good;
}

static void fields_of_each_opcode(struct kunit *test)
{
	struct roce_packet packet;
	struct headers at;
	u32 opcode, length;
	u8 ip[ROOM];

	for (opcode = 0; opcode < 256; opcode++) {
		at = headers_of(opcode);
		length = put_ip4(ip, 0, opcode, at.bytes + 4);
		EXPECT_IP(test, ROCE_PACKET, ip, length);
		KUNIT_ASSERT_TRUE_MSG(test, is_right(&packet, &at), "%#x",
				      opcode);
	}
}

/* ---- cut packets ---- */

static void cut_anywhere(struct kunit *test, const u8 *ip, u32 udp, u8 opcode)
{
	u32 headers = udp + 20 + headers_of(opcode).bytes;
	struct roce_packet packet;
	u32 avail;
	int want;

	for (avail = 0; avail <= headers; avail++) {
		want = avail < udp + 4 ? ROCE_OTHER :
		       avail < headers ? ROCE_TRUNCATED : ROCE_PACKET;
		KUNIT_ASSERT_EQ_MSG(test,
				    (int)read_ip(test, ip, avail, &packet),
				    want, "opcode %#x, %u bytes", opcode, avail);
	}
}

static void each_opcode_cut_anywhere(struct kunit *test)
{
	static const u8 chain[16] = { 60, [8] = 17 };
	u32 opcode;
	u8 ip[ROOM];

	for (opcode = 0; opcode < 256; opcode++) {
		put_ip4(ip, 0, opcode, 100);
		cut_anywhere(test, ip, 20, opcode);
		put_ip4(ip, 40, opcode, 100);
		cut_anywhere(test, ip, 60, opcode);
	}
	put_plain_ip6(ip);
	cut_anywhere(test, ip, 40, 0x04);
	put_ip6(ip, 0, chain, sizeof(chain), 0x11);
	cut_anywhere(test, ip, 56, 0x11);
}

/* One that is too short is so also where it is cut. */
static void the_shortest_packet_cut_in_its_bth(struct kunit *test)
{
	struct roce_packet packet;
	u8 ip[ROOM];

	put_ip4(ip, 0, 0x04, 4);
	EXPECT_IP(test, ROCE_TRUNCATED, ip, 39);
	put_ip4(ip, 0, 0x04, 3);
	EXPECT_IP(test, ROCE_MALFORMED, ip, 39);
}

static void what_is_no_packet_is_not_written(struct kunit *test)
{
	struct roce_packet packet, before;
	u8 ip[ROOM];
	u32 length = put_ip4(ip, 0, 0x06, 100);

	memset(&packet, 0x5a, sizeof(packet));
	memcpy(&before, &packet, sizeof(packet));
	EXPECT_IP(test, ROCE_TRUNCATED, ip, 50);
	ip[29] = 1;
	EXPECT_IP(test, ROCE_MALFORMED, ip, length);
	ip[6] = 0x20;
	EXPECT_IP(test, ROCE_FRAGMENT, ip, length);
	ip[9] = 6;
	EXPECT_IP(test, ROCE_OTHER, ip, length);
	KUNIT_EXPECT_TRUE(test, !memcmp(&packet, &before, sizeof(packet)));
}

/* ---- RNR NAKs ---- */

/* The specification's table, in hundredths of a millisecond */
static void rnr_times(struct kunit *test)
{
	static const u32 times[32] = {
		65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
		256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192,
		12288, 16384, 24576, 32768, 49152,
	};
	u32 code;

	for (code = 0; code < 256; code++)
		KUNIT_EXPECT_EQ(test, roce_rnr_timer_us(code),
				times[code % 32] * 10);
}

static struct kunit_case roce_headers_cases[] = {
	KUNIT_CASE(solicited_and_migrated),
	KUNIT_CASE(other_header_versions),
	KUNIT_CASE(pad_is_no_payload),
	KUNIT_CASE(more_pad_than_bytes),
	KUNIT_CASE(congestion_bits_are_not_of_the_qpn),
	KUNIT_CASE(a_request_for_acknowledgement_is_not_of_the_psn),
	KUNIT_CASE(a_congestion_notification),
	KUNIT_CASE(that_of_other_fabrics),
	KUNIT_CASE(the_shortest_packet),
	KUNIT_CASE(ip_shorter_than_udp),
	KUNIT_CASE(udp_shorter_than_ip),
	KUNIT_CASE(the_longest_packet),
	KUNIT_CASE(headers_of_each_opcode),
	KUNIT_CASE(each_opcode_at_its_shortest),
	KUNIT_CASE(fields_of_each_opcode),
	KUNIT_CASE(each_opcode_cut_anywhere),
	KUNIT_CASE(the_shortest_packet_cut_in_its_bth),
	KUNIT_CASE(what_is_no_packet_is_not_written),
	KUNIT_CASE(rnr_times),
	{}
};

static struct kunit_suite roce_headers_suite = {
	.name		= "peerlane_roce_headers",
	.test_cases	= roce_headers_cases,
};

kunit_test_suite(roce_headers_suite);
