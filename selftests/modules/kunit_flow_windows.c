// SPDX-License-Identifier: GPL-2.0
/* Windows: when congestion begins and ends. */
#define FLOW_PART	windows
#include "flow_make.h"

/* ---- congestion ---- */

static void it_begins_at_the_upper_threshold(struct kunit *test)
{
	struct place place = {};

	KUNIT_EXPECT_EQ(test, pass(&place, 1000, 9, 1), FLOW_CHANGE_NONE);
	KUNIT_EXPECT_EQ(test, pass(&place, 1000, 10, 1), FLOW_CHANGE_ON);
	KUNIT_EXPECT_EQ(test, place.flow.congested + 0U, 1U);
	KUNIT_EXPECT_EQ(test, pass(&place, 1000, 500, 1), FLOW_CHANGE_NONE);
}

static void few_packets_are_no_ground(struct kunit *test)
{
	struct place place = {};

	KUNIT_EXPECT_EQ(test, pass(&place, FLOW_WINDOW_PACKETS - 1, 7, 1),
			FLOW_CHANGE_NONE);
	KUNIT_EXPECT_EQ(test, pass(&place, 0, 100, 1), FLOW_CHANGE_NONE);
	KUNIT_EXPECT_EQ(test, pass(&place, FLOW_WINDOW_PACKETS, 7, 1),
			FLOW_CHANGE_ON);
}

static void it_ends_after_calm_windows(struct kunit *test)
{
	struct place place = {};

	pass(&place, 1000, 10, 1);
	KUNIT_EXPECT_EQ(test, pass(&place, 1000, 0, 1), FLOW_CHANGE_NONE);
	KUNIT_EXPECT_EQ(test, pass(&place, 1000, 0, 1), FLOW_CHANGE_NONE);
	KUNIT_EXPECT_EQ(test, pass(&place, 1000, 0, 1), FLOW_CHANGE_OFF);
	KUNIT_EXPECT_EQ(test, place.flow.congested + 0U, 0U);
	KUNIT_EXPECT_EQ(test, pass(&place, 1000, 0, 1), FLOW_CHANGE_NONE);
}

static void calm_is_below_the_lower_threshold(struct kunit *test)
{
	struct place place = {};
	int i;

	pass(&place, 1000, 10, 1);
	for (i = 0; i < 20; i++)
		KUNIT_EXPECT_EQ(test, pass(&place, 1000, 1, 1),
				FLOW_CHANGE_NONE);
	pass(&place, 1001, 1, 1);
	pass(&place, 1001, 1, 1);
	KUNIT_EXPECT_EQ(test, pass(&place, 1001, 1, 1), FLOW_CHANGE_OFF);
}

static void between_the_thresholds_calm_begins_anew(struct kunit *test)
{
	struct place place = {};

	pass(&place, 1000, 10, 1);
	pass(&place, 1000, 0, 1);
	pass(&place, 1000, 0, 1);
	KUNIT_EXPECT_EQ(test, pass(&place, 1000, 5, 1), FLOW_CHANGE_NONE);
	pass(&place, 1000, 0, 1);
	KUNIT_EXPECT_EQ(test, pass(&place, 1000, 0, 1), FLOW_CHANGE_NONE);
	KUNIT_EXPECT_EQ(test, pass(&place, 1000, 0, 1), FLOW_CHANGE_OFF);
}

static void between_the_thresholds_it_does_not_begin(struct kunit *test)
{
	struct place place = {};
	int i;

	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, pass(&place, 1000, 5, 1),
				FLOW_CHANGE_NONE);
}

static void a_few_bad_packets_are_not_calm(struct kunit *test)
{
	struct place place = {};
	int i;

	pass(&place, 1000, 10, 1);
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, pass(&place, 3, 3, 1), FLOW_CHANGE_NONE);
}

static void windows_without_packets_are_calm(struct kunit *test)
{
	struct place place = {};

	pass(&place, 1000, 10, 1);
	/* A bad one, and three more */
	KUNIT_EXPECT_EQ(test, pass(&place, 1000, 10, 3), FLOW_CHANGE_NONE);
	KUNIT_EXPECT_EQ(test, pass(&place, 1000, 10, 4), FLOW_CHANGE_OFF);
	pass(&place, 1000, 10, 1);
	/* A good one counts itself. */
	KUNIT_EXPECT_EQ(test, pass(&place, 1000, 0, 3), FLOW_CHANGE_OFF);
}

static void idle_windows_one_by_one(struct kunit *test)
{
	struct place place = {};

	KUNIT_EXPECT_EQ(test, pass(&place, 1000, 10, 1), FLOW_CHANGE_ON);
	KUNIT_EXPECT_EQ(test, pass(&place, 0, 0, 1), FLOW_CHANGE_NONE);
	KUNIT_EXPECT_EQ(test, pass(&place, 0, 0, 1), FLOW_CHANGE_NONE);
	KUNIT_EXPECT_EQ(test, pass(&place, 0, 0, 1), FLOW_CHANGE_OFF);
}

static void it_begins_though_silence_followed(struct kunit *test)
{
	struct place place = {};

	KUNIT_EXPECT_EQ(test, pass(&place, 1000, 10, 50), FLOW_CHANGE_ON);
	KUNIT_EXPECT_EQ(test, pass(&place, 1000, 0, 1), FLOW_CHANGE_OFF);
}

static void the_most_calm_windows(struct kunit *test)
{
	static const struct flow_limits most = { 10000, 1000, 255 };
	struct place place = {};
	u32 share;
	int i;

	pass(&place, 1000, 10, 1);
	for (i = 1; i < 255; i++)
		KUNIT_EXPECT_EQ(test, flow_window(&place.flow, &most, 1, &share),
				FLOW_CHANGE_NONE);
	KUNIT_EXPECT_EQ(test, flow_window(&place.flow, &most, 1, &share),
			FLOW_CHANGE_OFF);
	pass(&place, 1000, 10, 1);
	KUNIT_EXPECT_EQ(test, flow_window(&place.flow, &most, 86400, &share),
			FLOW_CHANGE_OFF);
}

static void the_share_is_of_packets(struct kunit *test)
{
	static const struct {
		u32 packets, signals, share;
	} windows[] = {
		{ 1000, 0, 0 }, { 1000, 1, 1000 }, { 3, 1, 333333 },
		{ 10, 10, 1000000 }, { 10, 50, 1000000 }, { 0, 5, 1000000 },
		{ 0, 0, 0 }, { 100000000, 99999999, 999999 },
	};
	struct place place = {};
	u32 share;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		place.flow.packets += windows[i].packets;
		place.flow.signals = windows[i].signals;
		flow_window(&place.flow, &limits, 1, &share);
		KUNIT_EXPECT_EQ_MSG(test, share, windows[i].share, "%zu", i);
		KUNIT_EXPECT_EQ(test, place.flow.signals, 0U);
	}
}

static struct kunit_case flow_windows_cases[] = {
	KUNIT_CASE(it_begins_at_the_upper_threshold),
	KUNIT_CASE(few_packets_are_no_ground),
	KUNIT_CASE(it_ends_after_calm_windows),
	KUNIT_CASE(calm_is_below_the_lower_threshold),
	KUNIT_CASE(between_the_thresholds_calm_begins_anew),
	KUNIT_CASE(between_the_thresholds_it_does_not_begin),
	KUNIT_CASE(a_few_bad_packets_are_not_calm),
	KUNIT_CASE(windows_without_packets_are_calm),
	KUNIT_CASE(idle_windows_one_by_one),
	KUNIT_CASE(it_begins_though_silence_followed),
	KUNIT_CASE(the_most_calm_windows),
	KUNIT_CASE(the_share_is_of_packets),
	{}
};

static struct kunit_suite flow_windows_suite = {
	.name		= "peerlane_flow_windows",
	.test_cases	= flow_windows_cases,
};

kunit_test_suite(flow_windows_suite);
