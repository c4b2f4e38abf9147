// SPDX-License-Identifier: GPL-2.0
/* Windows: rates; and what becomes of all when counters are set to zero. */
#define FLOW_PART	rates
#include "flow_make.h"

static u64 packets_of(const struct place *place, u32 windows)
{
	u64 bytes, packets;

	flow_rates(&place->flow, windows, &bytes, &packets);
	return packets;
}

static u64 bytes_of(const struct place *place, u32 windows)
{
	u64 bytes, packets;

	flow_rates(&place->flow, windows, &bytes, &packets);
	return bytes;
}

static bool is_near(u64 got, u64 want, u32 percent)
{
	u64 room = want * percent / 100;

	return got + room >= want && got <= want + room;
}

#define EXPECT_NEAR(test, got, want, percent) \
	KUNIT_ASSERT_TRUE_MSG(test, is_near(got, want, percent), \
			      "%llu, not %llu", (u64)(got), (u64)(want))

/* ---- rates ---- */

static void in_the_first_window_all_that_came(struct kunit *test)
{
	struct place place = {};

	see_sends(&place, 1, 100);
	KUNIT_EXPECT_EQ(test, packets_of(&place, 0), 100ULL);
	KUNIT_EXPECT_EQ(test, bytes_of(&place, 0), 106000ULL);
	EXPECT_NEAR(test, packets_of(&place, 8), 34, 15);
	KUNIT_EXPECT_EQ(test, packets_of(&place, 100000), 0ULL);
	KUNIT_EXPECT_EQ(test, bytes_of(&place, 100000), 0ULL);
}

static void a_steady_rate_is_told_at_once(struct kunit *test)
{
	static const u32 rates[] = { 1, 2, 7, 50, 1000, 1000000, 60000000 };
	size_t i;
	int j;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		struct place place = {};

		for (j = 0; j < 20; j++) {
			pass(&place, rates[i], 0, 1);
			EXPECT_NEAR(test, packets_of(&place, 0), rates[i], 1);
			EXPECT_NEAR(test, bytes_of(&place, 0), rates[i] * 1000ULL,
				    1);
		}
	}
}

static void it_follows_within_windows(struct kunit *test)
{
	static const u32 rates[] = { 1, 2, 7, 50, 1000, 1000000 };
	size_t i;
	int j;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		struct place place = {};

		pass(&place, rates[i] * 10, 0, 1);
		for (j = 0; j < 60; j++)
			pass(&place, rates[i], 0, 1);
		EXPECT_NEAR(test, packets_of(&place, 0), rates[i], 10);
		EXPECT_NEAR(test, bytes_of(&place, 0), rates[i] * 1000ULL, 10);
		for (j = 0; j < 8; j++)
			pass(&place, rates[i] * 20, 0, 1);
		/* 1 - (7/8)^8 of the way */
		EXPECT_NEAR(test, bytes_of(&place, 0),
			    rates[i] * (1000ULL + 19000 * 656 / 1000), 10);
	}
}

static void upwards_too(struct kunit *test)
{
	static const u32 rates[] = { 2, 3, 7, 50, 1000, 1000000 };
	size_t i;
	int j;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		struct place place = {};

		pass(&place, 1, 0, 1);
		for (j = 0; j < 60; j++)
			pass(&place, rates[i], 0, 1);
		EXPECT_NEAR(test, packets_of(&place, 0), rates[i], 10);
		EXPECT_NEAR(test, bytes_of(&place, 0), rates[i] * 1000ULL, 10);
	}
}

/* Small packets are less than a unit of the average. */
static void bytes_of_small_packets(struct kunit *test)
{
	struct place place = {};
	u32 psn, share;

	for (psn = 0; psn < 100; psn++) {
		see_packet(&place, make_answer(ACK, psn));
		flow_window(&place.flow, &limits, 1, &share);
	}
	EXPECT_NEAR(test, bytes_of(&place, 0), 48, 5);
	KUNIT_EXPECT_EQ(test, packets_of(&place, 0), 1ULL);
}

static void silence_brings_it_to_nothing(struct kunit *test)
{
	static const u32 rates[] = { 1, 7, 1000, 1000000 };
	size_t i;
	int j;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		struct place place = {};

		for (j = 0; j < 10; j++)
			pass(&place, rates[i], 0, 1);
		EXPECT_NEAR(test, bytes_of(&place, 8), rates[i] * 343ULL, 12);
		KUNIT_EXPECT_EQ(test, bytes_of(&place, 200), 0ULL);
		KUNIT_EXPECT_EQ(test, packets_of(&place, 200), 0ULL);
		/* The same whether it is told window by window, or at once. */
		for (j = 0; j < 8; j++)
			pass(&place, 0, 0, 1);
		EXPECT_NEAR(test, bytes_of(&place, 0), rates[i] * 343ULL, 12);
		for (j = 0; j < 200; j++)
			pass(&place, 0, 0, 1);
		KUNIT_EXPECT_EQ(test, bytes_of(&place, 0), 0ULL);
		pass(&place, rates[i], 0, 200);
		KUNIT_EXPECT_EQ(test, bytes_of(&place, 0), 0ULL);
	}
}

static void windows_told_at_once_or_later(struct kunit *test)
{
	struct place once = {}, later = {};

	pass(&once, 5000, 0, 1);
	pass(&later, 5000, 0, 1);
	pass(&once, 3000, 0, 6);
	pass(&later, 3000, 0, 1);
	KUNIT_EXPECT_EQ(test, bytes_of(&once, 0), bytes_of(&later, 5));
	KUNIT_EXPECT_EQ(test, packets_of(&once, 0), packets_of(&later, 5));
}

static void more_than_counters_of_32_bits(struct kunit *test)
{
	struct place place = {};
	int i;

	for (i = 0; i < 300; i++) {
		pass(&place, 20000000, 0, 1);
		EXPECT_NEAR(test, bytes_of(&place, 0), 20000000000ULL, 1);
	}
}

/* ---- set to zero ---- */

static void counters_are_zero(struct kunit *test)
{
	struct place place = { .knows = true };
	struct flow_clock clock = clock_of(&place);
	struct flow_state *flow = &place.flow;
	struct roce_packet packet = make_send(1);

	packet.ecn = 3;
	packet.fecn = 1;
	packet.becn = 1;
	see_packet(&place, packet);
	see_sends(&place, 2, 5);
	see_sends(&place, 3, 5);
	see_packet(&place, make_send(8));
	see_packet(&place, make_send(6));
	see_packet(&place, make_send(500000));
	see_packet(&place, make_answer(NAK_SEQUENCE, 1));
	see_packet(&place, make_answer(NAK_ACCESS, 1));
	see_packet(&place, make_answer(RNR, 1));
	flow->cnp = 1;
	flow_reset(flow, &clock);
	KUNIT_EXPECT_EQ(test, flow->packets | flow->bytes | flow->ect |
			flow->ce | flow->cnp | flow->fecn | flow->becn, 0ULL);
	KUNIT_EXPECT_EQ(test, flow->nak_sequence | flow->nak_other | flow->rnr |
			flow->retransmitted | flow->retransmitted_bytes, 0ULL);
	KUNIT_EXPECT_EQ(test, flow->gaps | flow->lost | flow->reordered |
			flow->timeouts, 0ULL);
}

static void what_was_learned_stays(struct kunit *test)
{
	struct place place = {};
	struct flow_clock clock = clock_of(&place);

	see_packet(&place, make_full(ROCE_WRITE_FIRST, 1, 1024));
	flow_reset(&place.flow, &clock);
	KUNIT_EXPECT_EQ(test, flow_pmtu(&place.flow), 1024U);
	see_packet(&place, make_send(3));
	KUNIT_EXPECT_EQ(test, missing_of(&place), 1U);
	see_packet(&place, make_send(1));
	EXPECT_FATES(test, &place, 1, 0, 0, 1);
}

/* It was not told as lost yet, and so it is told later. */
static void what_is_missing_is_decided_later(struct kunit *test)
{
	struct place place = {};
	struct flow_clock clock = clock_of(&place);

	see_packet(&place, make_send(1));
	see_packet(&place, make_send(4));
	flow_reset(&place.flow, &clock);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 2U);
	see_packet(&place, make_send(3));
	see_packet(&place, make_send(5));
	place.ticks += LATE + 1;
	EXPECT_FATES(test, &place, 0, 1, 1, 0);
}

static void what_was_told_as_lost_is_not_told_again(struct kunit *test)
{
	struct place place = {};
	struct flow_clock clock;

	see_packet(&place, make_send(1));
	see_packet(&place, make_send(4));
	place.ticks += LATE + 1;
	KUNIT_EXPECT_EQ(test, lost_of(&place), 2ULL);
	clock = clock_of(&place);
	flow_reset(&place.flow, &clock);
	EXPECT_FATES(test, &place, 0, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 0U);
}

static void in_the_middle_of_being_sent_again(struct kunit *test)
{
	struct place place = { .is_sender = true, .knows = true };
	struct flow_clock clock = clock_of(&place);

	see_sends(&place, 1, 10);
	see_sends(&place, 3, 5);
	flow_reset(&place.flow, &clock);
	see_sends(&place, 6, 12);
	KUNIT_EXPECT_EQ(test, place.flow.retransmitted, 5ULL);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
}

static void rates_go_on(struct kunit *test)
{
	struct place place = {};
	struct flow_clock clock = clock_of(&place);
	int i;

	for (i = 0; i < 5; i++)
		pass(&place, 1000, 0, 1);
	flow_reset(&place.flow, &clock);
	KUNIT_EXPECT_EQ(test, packets_of(&place, 0), 1000ULL);
	EXPECT_NEAR(test, bytes_of(&place, 0), 1000000, 1);
	pass(&place, 1000, 0, 1);
	KUNIT_EXPECT_EQ(test, packets_of(&place, 0), 1000ULL);
	/* In the middle of a window, most of which was before */
	place.flow.packets += 900;
	place.flow.bytes += 900000;
	flow_reset(&place.flow, &clock);
	pass(&place, 100, 0, 1);
	KUNIT_EXPECT_EQ(test, packets_of(&place, 0), 1000ULL);
	EXPECT_NEAR(test, bytes_of(&place, 0), 1000000, 1);
}

static void rates_of_slow_flows_go_on(struct kunit *test)
{
	struct place place = {};
	struct flow_clock clock = clock_of(&place);
	int i;

	for (i = 0; i < 5; i++)
		pass(&place, 2, 0, 1);
	flow_reset(&place.flow, &clock);
	KUNIT_EXPECT_EQ(test, packets_of(&place, 0), 2ULL);
	EXPECT_NEAR(test, bytes_of(&place, 0), 2000, 5);
	pass(&place, 2, 0, 1);
	KUNIT_EXPECT_EQ(test, packets_of(&place, 0), 2ULL);
	EXPECT_NEAR(test, bytes_of(&place, 0), 2000, 1);
}

/* The window's packets before do not go away, and so its share is right. */
static void no_congestion_by_setting_to_zero(struct kunit *test)
{
	struct place place = {};
	struct flow_clock clock = clock_of(&place);

	place.flow.packets = 100000;
	place.flow.signals = 10;
	flow_reset(&place.flow, &clock);
	KUNIT_EXPECT_EQ(test, pass(&place, 100, 0, 1), FLOW_CHANGE_NONE);
}

static struct kunit_case flow_rates_cases[] = {
	KUNIT_CASE(in_the_first_window_all_that_came),
	KUNIT_CASE(a_steady_rate_is_told_at_once),
	KUNIT_CASE(it_follows_within_windows),
	KUNIT_CASE(upwards_too),
	KUNIT_CASE(bytes_of_small_packets),
	KUNIT_CASE(silence_brings_it_to_nothing),
	KUNIT_CASE(windows_told_at_once_or_later),
	KUNIT_CASE(more_than_counters_of_32_bits),
	KUNIT_CASE(counters_are_zero),
	KUNIT_CASE(what_was_learned_stays),
	KUNIT_CASE(what_is_missing_is_decided_later),
	KUNIT_CASE(what_was_told_as_lost_is_not_told_again),
	KUNIT_CASE(in_the_middle_of_being_sent_again),
	KUNIT_CASE(rates_go_on),
	KUNIT_CASE(rates_of_slow_flows_go_on),
	KUNIT_CASE(no_congestion_by_setting_to_zero),
	{}
};

static struct kunit_suite flow_rates_suite = {
	.name		= "peerlane_flow_rates",
	.test_cases	= flow_rates_cases,
};

kunit_test_suite(flow_rates_suite);
