// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>

#include "window.h"

#define UNIT	PEERLANE_UNIT
#define PAGE	PAGE_SIZE

static unsigned long end_of(const struct peerlane_window *window)
{
	return window->start + (window->pages << PAGE_SHIFT);
}

/* What holds for each window of each mapping. */
static void check(struct kunit *test, unsigned long start, unsigned long end,
		  unsigned long pgoff, unsigned long addr)
{
	struct peerlane_window window =
		peerlane_window_around(start, end, pgoff, addr);
	unsigned long last = end_of(&window) - 1;
	bool good;

	good = window.pages > 0 && window.pages <= UNIT / PAGE &&
	       window.start >= start && last <= end - 1 &&
	       window.start <= addr && addr <= last &&
	       window.start / UNIT == last / UNIT;
	/* As large as it can be */
	good = good && (window.start == start || window.start % UNIT == 0) &&
	       (last == end - 1 || (last + 1) % UNIT == 0);
	good = good && window.offset ==
	       (u64)pgoff * PAGE + (window.start - start);
	KUNIT_ASSERT_TRUE_MSG(test, good,
			      "[%#lx, %#lx) at page %#lx, %#lx: %#lx, %lu pages, offset %#llx",
			      start, end, pgoff, addr, window.start,
			      window.pages, window.offset);
}

/* Each page of each mapping that begins and ends near the edges of units. */
static void near_edges(struct kunit *test, unsigned long base)
{
	static const unsigned long edges[] = {
		0, PAGE, 2 * PAGE, UNIT - PAGE, UNIT, UNIT + PAGE,
		2 * UNIT - PAGE, 2 * UNIT, 3 * UNIT - PAGE, 3 * UNIT,
	};
	unsigned long start, end, addr;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(edges); i++)
		for (j = i + 1; j < ARRAY_SIZE(edges); j++) {
			start = base + edges[i];
			end = base + edges[j];
			for (addr = start; addr < end; addr += PAGE)
				check(test, start, end, i * 7, addr);
		}
}

static void each_page_of_small_mappings(struct kunit *test)
{
	near_edges(test, 0x7f0000000000);
	near_edges(test, 0);
}

/* Mappings that end with the address space, but for a page. */
static void at_the_top(struct kunit *test)
{
	const unsigned long end = -PAGE;
	unsigned long length, before;

	for (length = PAGE; length < 3 * UNIT; length += 17 * PAGE)
		for (before = PAGE; before <= length; before += 5 * PAGE)
			check(test, end - length, end, 1, end - before);
}

static void windows_follow_one_another(struct kunit *test)
{
	const unsigned long start = 0x10000000 + 5 * PAGE;
	const unsigned long end = start + 7 * UNIT + 3 * PAGE;
	struct peerlane_window window;
	unsigned long at, windows = 0;

	for (at = start; at < end; at = end_of(&window), windows++) {
		window = peerlane_window_around(start, end, 0, at);
		KUNIT_ASSERT_EQ_MSG(test, window.start, at, "window %lu",
				    windows);
		KUNIT_ASSERT_EQ_MSG(test, window.offset, at - start,
				    "window %lu", windows);
	}
	KUNIT_EXPECT_EQ(test, at, end);
	KUNIT_EXPECT_EQ(test, windows, 8UL);
}

/* Offsets do not stay below 4 GiB, nor in a signed number. */
static void far_into_a_region(struct kunit *test)
{
	const unsigned long start = 0x200000000;
	static const unsigned long pgoffs[] = {
		(1UL << 20) - 1, 1UL << 20, (1UL << 51) - 1, 1UL << 51,
		(1UL << 52) - 2 * (UNIT / PAGE),
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pgoffs); i++)
		check(test, start, start + 2 * UNIT, pgoffs[i],
		      start + UNIT + PAGE);
}

static struct kunit_case window_cases[] = {
	KUNIT_CASE(each_page_of_small_mappings),
	KUNIT_CASE(at_the_top),
	KUNIT_CASE(windows_follow_one_another),
	KUNIT_CASE(far_into_a_region),
	{}
};

static struct kunit_suite window_suite = {
	.name		= "peerlane_window",
	.test_cases	= window_cases,
};

kunit_test_suite(window_suite);
