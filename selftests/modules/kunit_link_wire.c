// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>

#include <linux/string.h>

#include "link_wire.h"
#include "link_wire.c"

/* ---- private data ---- */

static const struct link_hello good_hello = {
	.id = 0x8877665544332211,
	.secret = "0123456789abcdef",
	.notify = 128,
	.grants = 1024,
	.timeout_ms = 5000,
	.keys = 65536,
	.lane = 3,
	.lanes = 4,
};

static void hello_comes_back(struct kunit *test)
{
	struct link_hello hello = {};
	u8 data[LINK_HELLO_SIZE];

	memset(data, 0xff, sizeof(data));
	link_hello_encode(&good_hello, data);
	KUNIT_EXPECT_EQ(test, link_hello_decode(&hello, data, sizeof(data)), 0);
	KUNIT_EXPECT_EQ(test, hello.id, good_hello.id);
	KUNIT_EXPECT_EQ(test, memcmp(hello.secret, good_hello.secret,
				     LINK_SECRET_SIZE), 0);
	KUNIT_EXPECT_EQ(test, hello.notify, 128);
	KUNIT_EXPECT_EQ(test, hello.grants, 1024);
	KUNIT_EXPECT_EQ(test, hello.timeout_ms, 5000);
	KUNIT_EXPECT_EQ(test, hello.keys, 65536);
	KUNIT_EXPECT_EQ(test, hello.lane, 3);
	KUNIT_EXPECT_EQ(test, hello.lanes, 4);
	/* little-endian, and where it stands is for ever */
	KUNIT_EXPECT_EQ(test, data[0], 0x65);
	KUNIT_EXPECT_EQ(test, data[4], LINK_VERSION);
	KUNIT_EXPECT_EQ(test, data[8], 0x11);
}

static int decode_with(const struct link_hello *hello, u32 length)
{
	struct link_hello got;
	u8 data[LINK_HELLO_SIZE];

	link_hello_encode(hello, data);
	return link_hello_decode(&got, data, length);
}

static void hello_of_nonsense_is_refused(struct kunit *test)
{
	struct link_hello hello = good_hello, got;
	u8 data[LINK_HELLO_SIZE];
	u32 length;

	for (length = 0; length < LINK_HELLO_SIZE; length++)
		KUNIT_EXPECT_EQ(test, decode_with(&hello, length), -EPROTO);
	hello.lane = 4;
	KUNIT_EXPECT_EQ(test, decode_with(&hello, LINK_HELLO_SIZE), -EPROTO);
	hello = good_hello;
	hello.lanes = 17;
	KUNIT_EXPECT_EQ(test, decode_with(&hello, LINK_HELLO_SIZE), -EPROTO);
	hello = good_hello;
	hello.id = 0;
	KUNIT_EXPECT_EQ(test, decode_with(&hello, LINK_HELLO_SIZE), -EPROTO);
	hello = good_hello;
	hello.notify = 0;
	KUNIT_EXPECT_EQ(test, decode_with(&hello, LINK_HELLO_SIZE), -EPROTO);
	link_hello_encode(&good_hello, data);
	data[4]++;
	KUNIT_EXPECT_EQ(test, link_hello_decode(&got, data, sizeof(data)),
			-EPROTONOSUPPORT);
	data[0]++;
	KUNIT_EXPECT_EQ(test, link_hello_decode(&got, data, sizeof(data)),
			-EPROTO);
}

static void refusal_comes_back(struct kunit *test)
{
	u8 data[LINK_REFUSAL_SIZE];

	link_refusal_encode(LINK_REFUSAL_SECRET, data);
	KUNIT_EXPECT_EQ(test, link_refusal_decode(data, sizeof(data)),
			LINK_REFUSAL_SECRET);
	KUNIT_EXPECT_EQ(test, link_refusal_decode(data, 7), LINK_REFUSAL_NONE);
	data[1]++;
	KUNIT_EXPECT_EQ(test, link_refusal_decode(data, 8), LINK_REFUSAL_NONE);
}

/* ---- messages ---- */

static struct link_message good_expose(u32 count)
{
	struct link_message message = {
		.type = LINK_MESSAGE_EXPOSE,
		.control = 1, .notify = 2, .grants = 3,
		.token = 0xfedcba9876543210, .length = 10 << 20, .value = 7,
		.rights = 3, .first = 1 << 20, .chunk = 2 << 20, .chunks = 6,
		.index = 0, .count = count,
	};
	u32 i;

	for (i = 0; i < count; i++) {
		message.chunk_at[i].rkey = 0x1000 + i;
		message.chunk_at[i].iova = 0xffff888000000000 + i;
	}
	return message;
}

static int again(const struct link_message *message, struct link_message *got,
		 u32 cut)
{
	u8 data[LINK_MESSAGE_MAX];
	u32 length = link_message_encode(message, data);

	return link_message_decode(got, data, length - cut);
}

static void expose_comes_back(struct kunit *test)
{
	struct link_message message = good_expose(6), got = {};

	KUNIT_EXPECT_EQ(test, again(&message, &got, 0), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&message, &got, sizeof(got)), 0);
	KUNIT_EXPECT_EQ(test, again(&message, &got, 1), -EPROTO);
}

static void the_longest_fits(struct kunit *test)
{
	struct link_message message = good_expose(LINK_CHUNKS_PER_MESSAGE), got;
	u8 data[LINK_MESSAGE_MAX];

	message.length = 200ULL << 20;
	message.chunks = 101;
	KUNIT_EXPECT_TRUE(test, link_message_encode(&message, data) <=
			  LINK_MESSAGE_MAX);
	KUNIT_EXPECT_EQ(test, again(&message, &got, 0), 0);
	KUNIT_EXPECT_EQ(test, got.chunk_at[35].rkey, 0x1000 + 35);
}

static void expose_of_nonsense_is_refused(struct kunit *test)
{
	struct link_message message, got;

#define REFUSED(field, to) do { \
	message = good_expose(6); \
	message.field = to; \
	KUNIT_EXPECT_EQ(test, again(&message, &got, 0), -EPROTO); \
} while (0)
	REFUSED(token, 0);
	REFUSED(length, 0);
	REFUSED(length, 1);
	REFUSED(first, 0);
	REFUSED(first, (2 << 20) + 1);
	REFUSED(first, U64_MAX);
	REFUSED(chunk, 0);
	REFUSED(chunk, 1);
	REFUSED(chunk, U64_MAX);
	REFUSED(chunks, 0);
	REFUSED(chunks, 5);
	REFUSED(chunks, 7);
	REFUSED(chunks, U32_MAX);
	REFUSED(index, 1);
	REFUSED(index, 6);
	REFUSED(index, U32_MAX);
	REFUSED(count, 0);
#undef REFUSED
}

/* Every message, cut at every length: no more is read than there is. */
static void what_is_cut_is_refused(struct kunit *test)
{
	static const u8 types[] = {
		LINK_MESSAGE_CREDIT, LINK_MESSAGE_NOTIFY, LINK_MESSAGE_WITHDRAW,
		LINK_MESSAGE_PING, LINK_MESSAGE_PONG, LINK_MESSAGE_FLUSH,
		LINK_MESSAGE_FLUSHED, LINK_MESSAGE_LEFT,
	};
	u8 data[LINK_MESSAGE_SMALL];
	struct link_message got;
	u32 i, length, cut;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct link_message message = {
			.type = types[i], .token = 1, .value = 2,
		};

		length = link_message_encode(&message, data);
		KUNIT_EXPECT_TRUE(test, length <= LINK_MESSAGE_SMALL);
		KUNIT_EXPECT_EQ(test, link_message_decode(&got, data, length), 0);
		for (cut = 0; cut < length; cut++)
			KUNIT_EXPECT_EQ(test, link_message_decode(&got, data, cut),
					-EPROTO);
	}
}

static void words_of_owners_come_back(struct kunit *test)
{
	struct link_message sent = { .type = LINK_MESSAGE_OWNER,
				     .length = LINK_OWNER_MAX }, got;
	u8 data[LINK_MESSAGE_MEDIUM] = {};
	u32 i, length;

	for (i = 0; i < LINK_OWNER_MAX; i++)
		sent.data[i] = i + 1;
	length = link_message_encode(&sent, data);
	KUNIT_EXPECT_TRUE(test, length <= sizeof(data));
	KUNIT_EXPECT_EQ(test, link_message_decode(&got, data, length), 0);
	KUNIT_EXPECT_EQ(test, got.length, sent.length);
	KUNIT_EXPECT_EQ(test, memcmp(got.data, sent.data, LINK_OWNER_MAX), 0);
	/* The last byte is missing; or more are said than may be. */
	KUNIT_EXPECT_EQ(test, link_message_decode(&got, data, length - 1),
			-EPROTO);
	data[length - LINK_OWNER_MAX - 4]++;
	KUNIT_EXPECT_EQ(test, link_message_decode(&got, data, sizeof(data)),
			-EPROTO);
}

static void unknown_ones_are_refused(struct kunit *test)
{
	u8 data[LINK_MESSAGE_MAX] = { LINK_VERSION };
	struct link_message got;
	u32 type;

	for (type = LINK_MESSAGE_LEFT + 1; type < 256; type++) {
		data[1] = type;
		KUNIT_EXPECT_EQ(test, link_message_decode(&got, data,
							  sizeof(data)), -EPROTO);
	}
	data[1] = LINK_MESSAGE_PING;
	data[0]++;
	KUNIT_EXPECT_EQ(test, link_message_decode(&got, data, sizeof(data)),
			-EPROTO);
}

static void left_comes_back(struct kunit *test)
{
	struct link_message sent = { .type = LINK_MESSAGE_LEFT, .notify = 1,
				     .lane = LINK_LANES_MAX - 1,
				     .owners = 0xfffffff0, .controls = 7 }, got = {};

	KUNIT_EXPECT_EQ(test, again(&sent, &got, 0), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&sent, &got, sizeof(got)), 0);
	KUNIT_EXPECT_EQ(test, again(&sent, &got, 1), -EPROTO);
	sent.lane++;
	KUNIT_EXPECT_EQ(test, again(&sent, &got, 0), -EPROTO);
}

static struct kunit_case link_wire_cases[] = {
	KUNIT_CASE(hello_comes_back),
	KUNIT_CASE(left_comes_back),
	KUNIT_CASE(hello_of_nonsense_is_refused),
	KUNIT_CASE(refusal_comes_back),
	KUNIT_CASE(expose_comes_back),
	KUNIT_CASE(the_longest_fits),
	KUNIT_CASE(expose_of_nonsense_is_refused),
	KUNIT_CASE(what_is_cut_is_refused),
	KUNIT_CASE(words_of_owners_come_back),
	KUNIT_CASE(unknown_ones_are_refused),
	{}
};

static struct kunit_suite link_wire_suite = {
	.name = "peerlane_link_wire",
	.test_cases = link_wire_cases,
};
kunit_test_suite(link_wire_suite);
