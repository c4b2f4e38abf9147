// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>

#include "range.h"

/* Where carries, signs and widths end, and both ends of everything. */
static const u64 edges[] = {
	0, 1, 2, 0xfff, 0x1000, 0x1001, 0x1fffff, 0x200000, 0x200001,
	0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0x100000000,
	0x100000001, 0xfffffffffffff, 0x10000000000000, 0x10000000000001,
	0x7fffffffffffffff, 0x8000000000000000, 0x8000000000000001,
	0xffffffffffe00000, 0xfffffffffffff000, 0xfffffffffffffffe, U64_MAX,
};

/* ---- a plain reference, in numbers that all sums fit into ---- */

static bool wraps(__uint128_t start, __uint128_t length)
{
	return start + length >= (__uint128_t)1 << 64;
}

static bool within(__uint128_t start, __uint128_t length, __uint128_t size)
{
	return start + length <= size;
}

static bool beyond(__uint128_t start, __uint128_t length, __uint128_t last)
{
	return length > 0 && start + length - 1 > last;
}

static void check_pair(struct kunit *test, u64 start, u64 length)
{
	size_t i;

	KUNIT_ASSERT_EQ_MSG(test, peerlane_range_wraps(start, length),
			    wraps(start, length), "%#llx + %#llx", start,
			    length);
	for (i = 0; i < ARRAY_SIZE(edges); i++) {
		KUNIT_ASSERT_EQ_MSG(test,
				    peerlane_range_within(start, length, edges[i]),
				    within(start, length, edges[i]),
				    "%#llx + %#llx in %#llx", start, length,
				    edges[i]);
		KUNIT_ASSERT_EQ_MSG(test,
				    peerlane_range_beyond(start, length, edges[i]),
				    beyond(start, length, edges[i]),
				    "%#llx + %#llx, last %#llx", start, length,
				    edges[i]);
	}
}

static void every_edge(struct kunit *test)
{
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(edges); i++)
		for (j = 0; j < ARRAY_SIZE(edges); j++)
			check_pair(test, edges[i], edges[j]);
}

static void small_numbers(struct kunit *test)
{
	u64 start, length, size;

	for (start = 0; start < 12; start++)
		for (length = 0; length < 12; length++)
			for (size = 0; size < 12; size++)
				KUNIT_ASSERT_EQ_MSG(test,
						    peerlane_range_within(start, length, size),
						    start + length <= size,
						    "%llu + %llu in %llu",
						    start, length, size);
}

static void the_last_byte_may_be_the_highest(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, peerlane_range_beyond(0xfffff000, 0x1000,
						       0xffffffff));
	KUNIT_EXPECT_TRUE(test, peerlane_range_beyond(0xfffff000, 0x1001,
						      0xffffffff));
	KUNIT_EXPECT_FALSE(test, peerlane_range_beyond(U64_MAX, 1, U64_MAX));
	KUNIT_EXPECT_TRUE(test, peerlane_range_beyond(U64_MAX, 2, U64_MAX));
}

static void nothing_is_never_beyond(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, peerlane_range_beyond(U64_MAX, 0, 0));
	KUNIT_EXPECT_FALSE(test, peerlane_range_beyond(0, 0, 0));
}

static struct kunit_case range_cases[] = {
	KUNIT_CASE(every_edge),
	KUNIT_CASE(small_numbers),
	KUNIT_CASE(the_last_byte_may_be_the_highest),
	KUNIT_CASE(nothing_is_never_beyond),
	{}
};

static struct kunit_suite range_suite = {
	.name		= "peerlane_range",
	.test_cases	= range_cases,
};

kunit_test_suite(range_suite);
