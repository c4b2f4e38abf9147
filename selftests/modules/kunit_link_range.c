// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>

#include "link_range.c"

#define ROOM	8
#define PAGES(n)	((n) * (u64)PAGE_SIZE)

struct table {
	struct link_range list[ROOM];
	struct link_ranges ranges;
};

static void table_init(struct table *table)
{
	*table = (struct table) {};
	table->ranges.list = table->list;
	table->ranges.room = ROOM;
}

static void add(struct kunit *test, struct table *table, u64 addr, u64 length)
{
	KUNIT_EXPECT_EQ(test, link_ranges_add(&table->ranges, addr, length), 0);
}

/* Ranges of 1, 2, 3, ... pages, none beside another. */
static void fill(struct kunit *test, struct table *table)
{
	unsigned int i;

	table_init(table);
	for (i = 0; i < ROOM; i++)
		add(test, table, PAGES(1000 * (ROOM - i)), PAGES(i + 1));
}

/* By going through all. */
static u64 address_of(const struct link_ranges *ranges, u64 offset)
{
	u32 i = 0;

	while (i + 1 < ranges->count && ranges->list[i + 1].start <= offset)
		i++;
	return ranges->list[i].addr + (offset - ranges->list[i].start);
}

static void neighbours_are_one(struct kunit *test)
{
	struct table table;

	table_init(&table);
	add(test, &table, PAGES(5), PAGES(1));
	add(test, &table, PAGES(6), PAGES(2));
	KUNIT_EXPECT_EQ(test, table.ranges.count, 1U);
	add(test, &table, PAGES(9), PAGES(1));
	add(test, &table, PAGES(4), PAGES(1));
	KUNIT_EXPECT_EQ(test, table.ranges.count, 3U);
	/* Neither the same again, nor what comes before. */
	add(test, &table, PAGES(4), PAGES(1));
	add(test, &table, PAGES(3), PAGES(1));
	KUNIT_EXPECT_EQ(test, table.ranges.count, 5U);
	KUNIT_EXPECT_EQ(test, table.ranges.length, PAGES(7));
}

static void whole_pages_only(struct kunit *test)
{
	static const u64 bad[][2] = {
		{ PAGE_SIZE, 0 },
		{ PAGE_SIZE + 1, PAGE_SIZE },
		{ PAGE_SIZE, PAGE_SIZE - 1 },
		{ PAGE_SIZE, PAGE_SIZE / 2 },
		{ 512, PAGE_SIZE },
	};
	struct table table;
	size_t i;

	table_init(&table);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, link_ranges_add(&table.ranges,
							  bad[i][0], bad[i][1]),
				    -EINVAL, "case %zu", i);
	KUNIT_EXPECT_EQ(test, table.ranges.count, 0U);
	KUNIT_EXPECT_EQ(test, table.ranges.length, 0ULL);
}

static void sums_fit(struct kunit *test)
{
	const u64 last = U64_MAX - PAGE_SIZE + 1;
	struct table table;

	table_init(&table);
	KUNIT_EXPECT_EQ(test, link_ranges_add(&table.ranges, last,
					      2 * PAGE_SIZE), -EINVAL);
	add(test, &table, 0, last);
	KUNIT_EXPECT_EQ(test, link_ranges_add(&table.ranges, 0, PAGE_SIZE),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, table.ranges.length, last);
}

static void no_more_than_there_is_room(struct kunit *test)
{
	struct table table;
	u64 length;

	fill(test, &table);
	length = table.ranges.length;
	KUNIT_EXPECT_EQ(test, link_ranges_add(&table.ranges, PAGES(1),
					      PAGES(1)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, table.ranges.length, length);
	/* A part of the last one needs none. */
	add(test, &table, PAGES(1000 + ROOM), PAGES(1));
	KUNIT_EXPECT_EQ(test, table.ranges.length, length + PAGE_SIZE);
}

/* Pieces are the part: in order, no gap, each in one range and not too long. */
static void check_walk(struct kunit *test, const struct link_ranges *ranges,
		       u64 offset, u64 length, u32 most)
{
	struct link_cursor cursor;
	struct link_piece piece;
	u64 at = offset;

	KUNIT_EXPECT_EQ(test, link_cursor_begin(&cursor, ranges, offset, length),
			0);
	while (link_cursor_next(&cursor, most, &piece)) {
		KUNIT_ASSERT_TRUE_MSG(test, piece.length && piece.length <= most,
				      "%#x at %#llx", piece.length, at);
		KUNIT_ASSERT_EQ_MSG(test, piece.addr, address_of(ranges, at),
				    "at %#llx", at);
		at += piece.length;
		KUNIT_ASSERT_EQ_MSG(test, piece.addr + piece.length - 1,
				    address_of(ranges, at - 1), "at %#llx", at);
	}
	KUNIT_ASSERT_EQ_MSG(test, at, offset + length, "%#llx + %#llx by %#x",
			    offset, length, most);
	KUNIT_EXPECT_FALSE(test, link_cursor_next(&cursor, most, &piece));
}

static void walks(struct kunit *test)
{
	static const u32 most[] = { 1000, PAGE_SIZE, 3 * PAGE_SIZE, U32_MAX };
	struct table table;
	u64 offset, length;
	size_t i;

	fill(test, &table);
	for (i = 0; i < ARRAY_SIZE(most); i++)
		for (offset = 0; offset < table.ranges.length; offset += 1021)
			for (length = 0; length <= table.ranges.length - offset;
			     length += 5003)
				check_walk(test, &table.ranges, offset, length,
					   most[i]);
}

static void edges(struct kunit *test)
{
	struct table table;
	u64 length, edge;
	u32 i;

	fill(test, &table);
	length = table.ranges.length;
	check_walk(test, &table.ranges, 0, length, U32_MAX);
	check_walk(test, &table.ranges, length - 1, 1, U32_MAX);
	check_walk(test, &table.ranges, length, 0, U32_MAX);
	for (i = 1; i < ROOM; i++) {
		edge = table.list[i].start;
		check_walk(test, &table.ranges, edge - 1, 1, U32_MAX);
		check_walk(test, &table.ranges, edge, 1, U32_MAX);
		check_walk(test, &table.ranges, edge - 1, 2, U32_MAX);
		check_walk(test, &table.ranges, edge - 1, length - edge + 1,
			   U32_MAX);
	}
}

static void nothing_beyond(struct kunit *test)
{
	struct link_cursor cursor;
	struct table table;
	u64 length;

	fill(test, &table);
	length = table.ranges.length;
	KUNIT_EXPECT_EQ(test, link_cursor_begin(&cursor, &table.ranges, 0,
						length + 1), -ERANGE);
	KUNIT_EXPECT_EQ(test, link_cursor_begin(&cursor, &table.ranges, length,
						1), -ERANGE);
	KUNIT_EXPECT_EQ(test, link_cursor_begin(&cursor, &table.ranges,
						length + 1, 0), -ERANGE);
	KUNIT_EXPECT_EQ(test, link_cursor_begin(&cursor, &table.ranges, 1,
						U64_MAX), -ERANGE);
	KUNIT_EXPECT_EQ(test, link_cursor_begin(&cursor, &table.ranges,
						U64_MAX, 1), -ERANGE);
}

static void a_large_range(struct kunit *test)
{
	const u64 length = 5ULL << 32;
	struct link_cursor cursor;
	struct link_piece piece;
	struct table table;
	u32 count = 0;

	table_init(&table);
	add(test, &table, PAGES(1), length);
	KUNIT_EXPECT_EQ(test, link_cursor_begin(&cursor, &table.ranges, 0,
						length), 0);
	while (link_cursor_next(&cursor, 1U << 30, &piece))
		count++;
	KUNIT_EXPECT_EQ(test, count, 20U);
	check_walk(test, &table.ranges, length - 1, 1, 1U << 30);
}

static struct kunit_case link_range_cases[] = {
	KUNIT_CASE(neighbours_are_one),
	KUNIT_CASE(whole_pages_only),
	KUNIT_CASE(sums_fit),
	KUNIT_CASE(no_more_than_there_is_room),
	KUNIT_CASE(walks),
	KUNIT_CASE(edges),
	KUNIT_CASE(nothing_beyond),
	KUNIT_CASE(a_large_range),
	{}
};

static struct kunit_suite link_range_suite = {
	.name		= "peerlane_link_range",
	.test_cases	= link_range_cases,
};

kunit_test_suite(link_range_suite);
