// SPDX-License-Identifier: GPL-2.0
/* Requests of numbers that were passed, where packets are sent. */
#define FLOW_PART	again
#include "flow_make.h"

static struct place at_sender(void)
{
	return (struct place){ .is_sender = true, .knows = true };
}

static void sent_again_when_asked(struct kunit *test)
{
	struct place place = at_sender();

	see_sends(&place, 1, 10);
	see_answer(&place, make_answer(NAK_SEQUENCE, 4));
	see_sends(&place, 4, 14);
	EXPECT_FATES(test, &place, 0, 0, 0, 7);
	KUNIT_EXPECT_EQ(test, place.flow.retransmitted_bytes, 7ULL * 1060);
	KUNIT_EXPECT_EQ(test, place.flow.signals, 7U);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
}

static void sent_again_without_being_asked(struct kunit *test)
{
	struct place place = at_sender();

	see_sends(&place, 1, 10);
	see_sends(&place, 8, 12);
	KUNIT_EXPECT_EQ(test, place.flow.retransmitted, 3ULL);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 1ULL);
	KUNIT_EXPECT_EQ(test, place.flow.signals, 3U);
}

static void each_time_of_being_sent_again(struct kunit *test)
{
	struct place place = at_sender();

	see_sends(&place, 1, 10);
	see_sends(&place, 8, 10);
	see_sends(&place, 8, 10);
	see_sends(&place, 9, 12);
	KUNIT_EXPECT_EQ(test, place.flow.retransmitted, 8ULL);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 3ULL);
}

static void no_timeout_where_answers_are_not_known(struct kunit *test)
{
	struct place place = { .is_sender = true };

	see_sends(&place, 1, 10);
	see_sends(&place, 8, 12);
	KUNIT_EXPECT_EQ(test, place.flow.retransmitted, 3ULL);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
}

static void a_receiver_not_ready_is_no_congestion(struct kunit *test)
{
	struct place place = at_sender();

	see_sends(&place, 1, 10);
	see_answer(&place, make_answer(RNR, 4));
	see_sends(&place, 4, 12);
	KUNIT_EXPECT_EQ(test, place.flow.retransmitted, 7ULL);
	KUNIT_EXPECT_EQ(test, place.flow.signals, 0U);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
	/* What comes after it is. */
	see_answer(&place, make_answer(NAK_SEQUENCE, 11));
	see_sends(&place, 11, 13);
	KUNIT_EXPECT_EQ(test, place.flow.signals, 2U);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
}

static void asked_once_is_not_asked_twice(struct kunit *test)
{
	struct place place = at_sender();

	see_sends(&place, 1, 10);
	see_answer(&place, make_answer(RNR, 4));
	see_sends(&place, 4, 10);
	see_sends(&place, 4, 10);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 1ULL);
	KUNIT_EXPECT_EQ(test, place.flow.signals, 7U);
}

static void asked_in_the_middle_of_a_burst(struct kunit *test)
{
	struct place place = at_sender();

	see_sends(&place, 1, 10);
	see_answer(&place, make_answer(NAK_SEQUENCE, 2));
	see_sends(&place, 2, 6);
	see_answer(&place, make_answer(NAK_SEQUENCE, 4));
	see_sends(&place, 7, 8);
	see_sends(&place, 4, 12);
	KUNIT_EXPECT_EQ(test, place.flow.retransmitted, 14ULL);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
}

static void sent_again_where_numbers_go_round(struct kunit *test)
{
	struct place place = at_sender();

	see_sends(&place, 0xfffff0, 10);
	see_answer(&place, make_answer(NAK_SEQUENCE, 0xfffffa));
	see_sends(&place, 0xfffffa, 12);
	KUNIT_EXPECT_EQ(test, place.flow.retransmitted, 17ULL);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
}

static void the_rest_of_a_read_is_asked_for_again(struct kunit *test)
{
	struct place place = at_sender();

	see_packet(&place, make_full(ROCE_SEND_FIRST, 0, 1024));
	see_packet(&place, make_read(1, 16 * 1024));
	see_answer_gap(&place, make_full(ROCE_READ_RESPONSE_MIDDLE, 7, 1024),
		       true);
	see_packet(&place, make_read(6, 11 * 1024));
	see_sends(&place, 17, 18);
	EXPECT_FATES(test, &place, 0, 0, 0, 1);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
}

/* Behind by more numbers than any other connection's would be */
static void the_rest_of_a_very_long_read(struct kunit *test)
{
	struct place place = at_sender();

	see_packet(&place, make_full(ROCE_SEND_FIRST, 0, 1024));
	see_packet(&place, make_read(1, 200 << 20));
	see_packet(&place, make_read(200 * 1024 + 1, 200 << 20));
	see_answer(&place, make_full(ROCE_READ_RESPONSE_FIRST, 1, 1024));
	KUNIT_EXPECT_FALSE(test, place.is_stranger);
	see_packet(&place, make_read(6, (200 << 20) - 5 * 1024));
	see_packet(&place, make_read(200 * 1024 + 1, 200 << 20));
	see_sends(&place, 400 * 1024 + 1, 400 * 1024 + 2);
	EXPECT_FATES(test, &place, 0, 0, 0, 2);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 1ULL);
}

static struct kunit_case flow_again_cases[] = {
	KUNIT_CASE(sent_again_when_asked),
	KUNIT_CASE(sent_again_without_being_asked),
	KUNIT_CASE(each_time_of_being_sent_again),
	KUNIT_CASE(no_timeout_where_answers_are_not_known),
	KUNIT_CASE(a_receiver_not_ready_is_no_congestion),
	KUNIT_CASE(asked_once_is_not_asked_twice),
	KUNIT_CASE(asked_in_the_middle_of_a_burst),
	KUNIT_CASE(sent_again_where_numbers_go_round),
	KUNIT_CASE(the_rest_of_a_read_is_asked_for_again),
	KUNIT_CASE(the_rest_of_a_very_long_read),
	{}
};

static struct kunit_suite flow_again_suite = {
	.name		= "peerlane_flow_again",
	.test_cases	= flow_again_cases,
};

kunit_test_suite(flow_again_suite);
