// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>

#include "link_math.h"

/* ---- geometry ---- */

static const u64 offsets[] = { 0, 1, 4095, 4096, 4097, 8191, 1234567 };
static const u64 lengths[] = { 1, 2, 4095, 4096, 4097, 16384, 16385, 1234567 };

/* Keys one after another have each byte once, and none begins within a page. */
static void check_geometry(struct kunit *test, u64 offset, u64 length, u32 pages)
{
	struct link_geometry geometry = link_geometry_make(offset, length, pages,
							   12);
	u64 chunks = link_geometry_chunks(&geometry);
	u64 at = 0, left, index;

	for (index = 0; index < chunks; index++) {
		KUNIT_ASSERT_EQ_MSG(test, link_geometry_begin(&geometry, index),
				    at, "offset %llu length %llu key %llu",
				    offset, length, index);
		KUNIT_ASSERT_EQ_MSG(test, link_geometry_index(&geometry, at),
				    index, "at %llu", at);
		KUNIT_ASSERT_EQ_MSG(test, index && (offset + at) % 4096, 0,
				    "key %llu begins within a page", index);
		left = link_geometry_left(&geometry, at);
		KUNIT_ASSERT_TRUE_MSG(test, left > 0, "key %llu is empty", index);
		/* Pages that it touches */
		KUNIT_ASSERT_TRUE_MSG(test, pages >=
				      ((offset + at) % 4096 + left + 4095) / 4096,
				      "key %llu is long", index);
		KUNIT_ASSERT_EQ_MSG(test, link_geometry_index(&geometry,
							      at + left - 1),
				    index, "the last byte of key %llu", index);
		KUNIT_ASSERT_EQ_MSG(test, link_geometry_left(&geometry,
							     at + left - 1),
				    1, "the last byte of key %llu", index);
		at += left;
	}
	KUNIT_ASSERT_EQ_MSG(test, at, length, "offset %llu length %llu", offset,
			    length);
}

static void geometry_has_each_byte_once(struct kunit *test)
{
	static const u32 pages[] = { 1, 2, 3, 256, 512 };
	size_t i, j, k;

	for (i = 0; i < ARRAY_SIZE(offsets); i++)
		for (j = 0; j < ARRAY_SIZE(lengths); j++)
			for (k = 0; k < ARRAY_SIZE(pages); k++)
				check_geometry(test, offsets[i], lengths[j],
					       pages[k]);
}

static void geometry_of_much(struct kunit *test)
{
	struct link_geometry geometry = link_geometry_make(4095, 1ULL << 40, 512,
							   12);

	KUNIT_EXPECT_EQ(test, geometry.first, (2U << 20) - 4095);
	KUNIT_EXPECT_EQ(test, link_geometry_chunks(&geometry), (1U << 19) + 1);
}

static void keys_have_room_and_not_much_more(struct kunit *test)
{
	u32 pages, size;

	for (pages = 1; pages <= 512; pages++) {
		size = link_key_size(pages);
		KUNIT_ASSERT_TRUE_MSG(test, size < LINK_KEY_SIZES, "%u", pages);
		KUNIT_ASSERT_TRUE_MSG(test, link_key_size_pages(size) >= pages,
				      "%u", pages);
		KUNIT_ASSERT_TRUE_MSG(test, link_key_size_pages(size) < 8 * pages,
				      "%u", pages);
	}
}

/* ---- credit ---- */

static void credit_goes_and_comes(struct kunit *test)
{
	struct link_credit credit = { .limit = 3 };

	KUNIT_EXPECT_EQ(test, link_credit_left(&credit), 3);
	credit.sent += 3;
	KUNIT_EXPECT_EQ(test, link_credit_left(&credit), 0);
	KUNIT_EXPECT_TRUE(test, link_credit_return(&credit, 2));
	KUNIT_EXPECT_EQ(test, link_credit_left(&credit), 2);
	/* an older word, that another lane was overtaken by */
	KUNIT_EXPECT_TRUE(test, link_credit_return(&credit, 1));
	KUNIT_EXPECT_EQ(test, link_credit_left(&credit), 2);
	/* more than was ever sent */
	KUNIT_EXPECT_FALSE(test, link_credit_return(&credit, 4));
	KUNIT_EXPECT_EQ(test, link_credit_left(&credit), 2);
}

static void credit_wraps(struct kunit *test)
{
	struct link_credit credit = {
		.limit = 5, .sent = 1, .done = U32_MAX - 1,
	};

	KUNIT_EXPECT_EQ(test, link_credit_left(&credit), 2);
	KUNIT_EXPECT_TRUE(test, link_credit_return(&credit, 1));
	KUNIT_EXPECT_EQ(test, link_credit_left(&credit), 5);
	KUNIT_EXPECT_FALSE(test, link_credit_return(&credit, 2));
	KUNIT_EXPECT_TRUE(test, link_credit_return(&credit, U32_MAX));
	KUNIT_EXPECT_EQ(test, link_credit_left(&credit), 5);
}

/* ---- the rest ---- */

static void signals_are_neither_all_nor_few(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, link_wants_signal(1, 0));
	KUNIT_EXPECT_FALSE(test, link_wants_signal(15, 65535));
	KUNIT_EXPECT_TRUE(test, link_wants_signal(16, 0));
	KUNIT_EXPECT_TRUE(test, link_wants_signal(1, 65536));
}

static void check_timeout(struct kunit *test, u32 ms)
{
	u8 exponent = link_ack_timeout(ms);

	KUNIT_ASSERT_TRUE_MSG(test, exponent >= 1 && exponent <= 31, "%u", ms);
	KUNIT_ASSERT_TRUE_MSG(test, 8 * (4096ULL << exponent) <= ms * 1000000ULL,
			      "%u ms are less than eight tries", ms);
	if (exponent < 31)
		KUNIT_ASSERT_TRUE_MSG(test, 16 * (4096ULL << exponent) >
				      ms * 1000000ULL, "%u ms are much more", ms);
}

static void eight_tries_are_in_time(struct kunit *test)
{
	static const u32 times[] = { 100, 101, 1000, 5000, 20000, 600000 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(times); i++)
		check_timeout(test, times[i]);
}

static struct kunit_case link_math_cases[] = {
	KUNIT_CASE(geometry_has_each_byte_once),
	KUNIT_CASE(geometry_of_much),
	KUNIT_CASE(keys_have_room_and_not_much_more),
	KUNIT_CASE(credit_goes_and_comes),
	KUNIT_CASE(credit_wraps),
	KUNIT_CASE(signals_are_neither_all_nor_few),
	KUNIT_CASE(eight_tries_are_in_time),
	{}
};

static struct kunit_suite link_math_suite = {
	.name = "peerlane_link_math",
	.test_cases = link_math_cases,
};
kunit_test_suite(link_math_suite);
