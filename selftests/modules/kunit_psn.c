// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>

#include "psn.h"

#define HALF	(1 << 23)

/* Slowly: up from the one or from the other, whichever gets there first. */
static s32 by_counting(u32 a, u32 b)
{
	s64 ahead = (s64)(a & PSN_MASK) - (s64)(b & PSN_MASK);

	if (ahead >= HALF)
		ahead -= 2 * HALF;
	if (ahead < -HALF)
		ahead += 2 * HALF;
	return (s32)ahead;
}

static const u32 edges[] = {
	0, 1, 2, HALF - 2, HALF - 1, HALF, HALF + 1, HALF + 2, PSN_MASK - 1,
	PSN_MASK,
};

static void ahead_and_behind_at_each_edge(struct kunit *test)
{
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(edges); i++)
		for (j = 0; j < ARRAY_SIZE(edges); j++)
			KUNIT_EXPECT_EQ_MSG(test, psn_ahead(edges[i], edges[j]),
					    by_counting(edges[i], edges[j]),
					    "%#x and %#x", edges[i], edges[j]);
}

static void ahead_and_behind_anywhere(struct kunit *test)
{
	u32 a = 1, b = 1, i;

	for (i = 0; i < 100000; i++) {
		a = a * 1664525 + 1013904223;
		b = b * 22695477 + 1;
		KUNIT_ASSERT_EQ_MSG(test, psn_ahead(a, b), by_counting(a, b),
				    "%#x and %#x", a, b);
	}
}

static void one_is_ahead_of_the_other(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, psn_ahead(0, PSN_MASK), 1);
	KUNIT_EXPECT_EQ(test, psn_ahead(PSN_MASK, 0), -1);
	KUNIT_EXPECT_EQ(test, psn_ahead(5, 5), 0);
}

static void half_way_round_is_behind(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, psn_ahead(HALF, 0), -HALF);
	KUNIT_EXPECT_EQ(test, psn_ahead(0, HALF), -HALF);
	KUNIT_EXPECT_EQ(test, psn_ahead(HALF - 1, 0), HALF - 1);
}

/* A header's word has the request for an acknowledgement above the number. */
static void upper_bits_do_not_matter(struct kunit *test)
{
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(edges); i++)
		for (j = 0; j < ARRAY_SIZE(edges); j++)
			KUNIT_EXPECT_EQ(test,
					psn_ahead(edges[i] | 0x80000000, edges[j]),
					psn_ahead(edges[i], edges[j] | 0x7f000000));
}

static void sums_go_round(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, psn_add(PSN_MASK, 1), 0U);
	KUNIT_EXPECT_EQ(test, psn_add(PSN_MASK - 2, 5), 2U);
	KUNIT_EXPECT_EQ(test, psn_add(7, 1 << 24), 7U);
	KUNIT_EXPECT_EQ(test, psn_add(7, ~0U), 6U);
}

static void what_was_added_is_ahead(struct kunit *test)
{
	static const u32 counts[] = { 0, 1, 65535, 65536, HALF - 1 };
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(edges); i++)
		for (j = 0; j < ARRAY_SIZE(counts); j++)
			KUNIT_EXPECT_EQ(test,
					psn_ahead(psn_add(edges[i], counts[j]),
						  edges[i]), (s32)counts[j]);
}

static struct kunit_case psn_cases[] = {
	KUNIT_CASE(ahead_and_behind_at_each_edge),
	KUNIT_CASE(ahead_and_behind_anywhere),
	KUNIT_CASE(one_is_ahead_of_the_other),
	KUNIT_CASE(half_way_round_is_behind),
	KUNIT_CASE(upper_bits_do_not_matter),
	KUNIT_CASE(sums_go_round),
	KUNIT_CASE(what_was_added_is_ahead),
	{}
};

static struct kunit_suite psn_suite = {
	.name		= "peerlane_psn",
	.test_cases	= psn_cases,
};

kunit_test_suite(psn_suite);
