// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>

#include "bar_choice.c"

#define BARS	3

static const u64 sizes[] = { 0, PEERLANE_UNIT - 1, PEERLANE_UNIT,
			     1ULL << 40 };

/* One of each size and kind: all there are for a number up to KINDS. */
#define KINDS	(ARRAY_SIZE(sizes) * 8)

static struct peerlane_bar kind(unsigned int number)
{
	return (struct peerlane_bar) {
		.size		 = sizes[number / 8],
		.is_memory	 = number & 1,
		.is_prefetchable = number & 2,
		.has_address	 = number & 4,
	};
}

static bool is_good(const struct peerlane_bar *bar)
{
	return bar->is_memory && bar->is_prefetchable && bar->has_address &&
	       bar->size >= PEERLANE_UNIT;
}

static bool is_there(const struct peerlane_bar *bar)
{
	return bar->is_memory && bar->size > 0;
}

/* @choice is one that counts, and none that counts is larger, or as large and earlier. */
static bool is_right(const struct peerlane_bar *bars, int choice,
		     bool (*counts)(const struct peerlane_bar *bar))
{
	int i;

	if (choice < -1 || choice >= BARS)
		return false;
	if (choice >= 0 && !counts(&bars[choice]))
		return false;
	for (i = 0; i < BARS; i++) {
		if (!counts(&bars[i]))
			continue;
		if (choice < 0 || bars[i].size > bars[choice].size ||
		    (bars[i].size == bars[choice].size && i < choice))
			return false;
	}
	return true;
}

static void every_device_of_three(struct kunit *test)
{
	struct peerlane_bar bars[BARS];
	unsigned int a, b, c;

	for (a = 0; a < KINDS; a++)
		for (b = 0; b < KINDS; b++)
			for (c = 0; c < KINDS; c++) {
				bars[0] = kind(a);
				bars[1] = kind(b);
				bars[2] = kind(c);
				KUNIT_ASSERT_TRUE_MSG(test,
						      is_right(bars, peerlane_bar_best(bars, BARS), is_good) &&
						      is_right(bars, peerlane_bar_largest(bars, BARS), is_there),
						      "kinds %u %u %u", a, b, c);
			}
}

/* A device that has memory and none of it fits is told why by its largest. */
static void a_fault_is_told_of_the_largest(struct kunit *test)
{
	struct peerlane_bar bars[BARS];
	unsigned int a, b;
	int largest;

	for (a = 0; a < KINDS; a++)
		for (b = 0; b < KINDS; b++) {
			bars[0] = kind(a);
			bars[1] = kind(b);
			bars[2] = kind(0);
			largest = peerlane_bar_largest(bars, BARS);
			if (peerlane_bar_best(bars, BARS) >= 0 || largest < 0)
				continue;
			KUNIT_ASSERT_TRUE_MSG(test,
					      peerlane_bar_fault(&bars[largest]) !=
					      PEERLANE_BAR_FITS,
					      "kinds %u %u", a, b);
		}
}

static void faults_in_order(struct kunit *test)
{
	struct peerlane_bar bar = {
		.size = PEERLANE_UNIT - 1, .is_memory = true,
	};

	KUNIT_EXPECT_EQ(test, peerlane_bar_fault(&bar),
			PEERLANE_BAR_NO_ADDRESS);
	bar.has_address = true;
	KUNIT_EXPECT_EQ(test, peerlane_bar_fault(&bar), PEERLANE_BAR_SMALL);
	bar.size++;
	KUNIT_EXPECT_EQ(test, peerlane_bar_fault(&bar), PEERLANE_BAR_REGISTERS);
	bar.is_prefetchable = true;
	KUNIT_EXPECT_EQ(test, peerlane_bar_fault(&bar), PEERLANE_BAR_FITS);
}

static void none_of_none(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, peerlane_bar_best(NULL, 0), -1);
	KUNIT_EXPECT_EQ(test, peerlane_bar_largest(NULL, 0), -1);
}

static struct kunit_case bar_choice_cases[] = {
	KUNIT_CASE(every_device_of_three),
	KUNIT_CASE(a_fault_is_told_of_the_largest),
	KUNIT_CASE(faults_in_order),
	KUNIT_CASE(none_of_none),
	{}
};

static struct kunit_suite bar_choice_suite = {
	.name		= "peerlane_bar_choice",
	.test_cases	= bar_choice_cases,
};

kunit_test_suite(bar_choice_suite);
