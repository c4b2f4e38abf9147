// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>

#include "sg_chunk.h"

static void sizes(struct kunit *test)
{
	static const struct {
		unsigned int importer_max;
		u32 size;
	} cases[] = {
		{ 0, PAGE_SIZE },
		{ 1, PAGE_SIZE },
		{ PAGE_SIZE - 1, PAGE_SIZE },
		{ PAGE_SIZE, PAGE_SIZE },
		{ PAGE_SIZE + 1, PAGE_SIZE },
		{ 2 * PAGE_SIZE - 1, PAGE_SIZE },
		{ 2 * PAGE_SIZE, 2 * PAGE_SIZE },
		{ 0xffff, 0x10000 - PAGE_SIZE },
		{ 0x10000, 0x10000 },
		{ SZ_1G - 1, SZ_1G - PAGE_SIZE },
		{ SZ_1G, SZ_1G },
		{ SZ_1G + 1, SZ_1G },
		{ INT_MAX, SZ_1G },
		{ UINT_MAX, SZ_1G },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    peerlane_sg_chunk_size(cases[i].importer_max),
				    cases[i].size, "for an importer's %u",
				    cases[i].importer_max);
}

/* The chunks are the range: no gap, nothing twice, no more than needed. */
static void check_cut(struct kunit *test, u64 length, u32 size)
{
	unsigned int i, chunks = peerlane_sg_chunks(length, size);
	u64 left = length;
	u32 part;

	for (i = 0; i < chunks; i++) {
		part = peerlane_sg_chunk_length(length, size, i);
		KUNIT_ASSERT_TRUE_MSG(test,
				      part == size || (part && part == left),
				      "chunk %u of %#llx by %#x is %#x", i,
				      length, size, part);
		left -= part;
	}
	KUNIT_ASSERT_EQ_MSG(test, left, 0ULL, "%#llx by %#x", length, size);
}

static void cuts(struct kunit *test)
{
	u64 length;
	u32 size;

	for (size = PAGE_SIZE; size <= 9 * PAGE_SIZE; size += PAGE_SIZE)
		for (length = 1; length < 64 * PAGE_SIZE; length += 1021)
			check_cut(test, length, size);
	for (length = 1; length <= 5; length++) {
		check_cut(test, length * SZ_1G - 1, SZ_1G);
		check_cut(test, length * SZ_1G, SZ_1G);
		check_cut(test, length * SZ_1G + 1, SZ_1G);
	}
}

static void nothing_has_no_chunk(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, peerlane_sg_chunks(0, PAGE_SIZE), 0U);
	KUNIT_EXPECT_EQ(test, peerlane_sg_chunks(0, SZ_1G), 0U);
}

/* 4 billion and some would come out as some. */
static void more_than_a_table_can_have(struct kunit *test)
{
	const u64 most = (u64)UINT_MAX * PAGE_SIZE;

	KUNIT_EXPECT_EQ(test, peerlane_sg_chunks(most, PAGE_SIZE), UINT_MAX);
	KUNIT_EXPECT_EQ(test, peerlane_sg_chunks(most + 1, PAGE_SIZE), 0U);
	KUNIT_EXPECT_EQ(test, peerlane_sg_chunks(most + 5 * PAGE_SIZE,
						 PAGE_SIZE), 0U);
	KUNIT_EXPECT_EQ(test, peerlane_sg_chunks(U64_MAX, PAGE_SIZE), 0U);
	KUNIT_EXPECT_EQ(test, peerlane_sg_chunks(U64_MAX, SZ_1G), 0U);
}

static void the_last_of_the_largest_table(struct kunit *test)
{
	const u64 most = (u64)UINT_MAX * PAGE_SIZE;

	KUNIT_EXPECT_EQ(test, peerlane_sg_chunk_length(most - 1, PAGE_SIZE,
						       UINT_MAX - 1),
			(u32)PAGE_SIZE - 1);
}

static struct kunit_case sg_chunk_cases[] = {
	KUNIT_CASE(sizes),
	KUNIT_CASE(cuts),
	KUNIT_CASE(nothing_has_no_chunk),
	KUNIT_CASE(more_than_a_table_can_have),
	KUNIT_CASE(the_last_of_the_largest_table),
	{}
};

static struct kunit_suite sg_chunk_suite = {
	.name		= "peerlane_sg_chunk",
	.test_cases	= sg_chunk_cases,
};

kunit_test_suite(sg_chunk_suite);
