// SPDX-License-Identifier: GPL-2.0
/* Requests of numbers that were passed, where packets may be missing. */
#define FLOW_PART	late
#include "flow_make.h"

static struct place at_receiver(void)
{
	return (struct place){ .knows = true };
}

static void late_is_reordered(struct kunit *test)
{
	struct place place = at_receiver();

	see_packet(&place, make_send(1));
	see_packet(&place, make_send(3));
	see_packet(&place, make_send(2));
	see_sends(&place, 4, 5);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 0U);
	EXPECT_FATES(test, &place, 1, 0, 1, 0);
	KUNIT_EXPECT_EQ(test, place.flow.signals, 0U);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
}

static void late_in_any_order(struct kunit *test)
{
	static const u8 orders[][4] = {
		{ 2, 3, 4, 5 }, { 5, 4, 3, 2 }, { 3, 2, 5, 4 }, { 4, 2, 5, 3 },
		{ 3, 4, 2, 5 }, { 3, 5, 2, 4 }, { 4, 5, 2, 3 }, { 5, 2, 3, 4 },
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		struct place place = at_receiver();

		see_packet(&place, make_send(1));
		see_packet(&place, make_send(6));
		for (j = 0; j < 4; j++)
			see_packet(&place, make_send(orders[i][j]));
		see_packet(&place, make_send(7));
		place.ticks += LATE + 1;
		EXPECT_FATES(test, &place, 1, 0, 4, 0);
		KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
	}
}

static void late_for_two_gaps(struct kunit *test)
{
	struct place place = at_receiver();

	see_packet(&place, make_send(1));
	see_packet(&place, make_send(3));
	see_packet(&place, make_send(5));
	see_packet(&place, make_send(2));
	see_packet(&place, make_send(6));
	see_packet(&place, make_send(4));
	see_packet(&place, make_send(7));
	place.ticks += LATE + 1;
	EXPECT_FATES(test, &place, 2, 0, 2, 0);
	KUNIT_EXPECT_EQ(test, place.flow.signals, 0U);
}

static void one_is_late_and_one_is_lost(struct kunit *test)
{
	struct place place = at_receiver();

	see_packet(&place, make_send(1));
	see_packet(&place, make_send(5));
	see_packet(&place, make_send(3));
	see_packet(&place, make_send(6));
	KUNIT_EXPECT_EQ(test, missing_of(&place), 2U);
	place.ticks += LATE + 1;
	EXPECT_FATES(test, &place, 1, 2, 1, 0);
	see_packet(&place, make_send(7));
	EXPECT_FATES(test, &place, 1, 2, 1, 0);
	KUNIT_EXPECT_EQ(test, place.flow.signals, 2U);
}

static void too_late_is_lost_and_sent_again(struct kunit *test)
{
	struct place place = at_receiver();

	see_packet(&place, make_send(1));
	see_packet(&place, make_send(3));
	place.ticks += LATE + 1;
	see_packet(&place, make_send(2));
	see_packet(&place, make_send(3));
	EXPECT_FATES(test, &place, 1, 1, 0, 2);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 1ULL);
}

static void lost_and_sent_again_when_asked(struct kunit *test)
{
	struct place place = at_receiver();

	see_sends(&place, 1, 2);
	see_packet(&place, make_send(5));
	see_answer(&place, make_answer(NAK_SEQUENCE, 3));
	see_sends(&place, 6, 7);
	see_sends(&place, 3, 9);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 2U);
	place.ticks += LATE + 1;
	EXPECT_FATES(test, &place, 1, 2, 0, 5);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
}

/* A receiver may ask for those alone that it misses. */
static void only_the_missing_is_sent_again(struct kunit *test)
{
	struct place place = at_receiver();

	see_sends(&place, 1, 2);
	see_packet(&place, make_send(4));
	see_answer(&place, make_answer(NAK_SEQUENCE, 3));
	see_packet(&place, make_send(5));
	see_packet(&place, make_send(3));
	see_packet(&place, make_send(6));
	place.ticks += LATE + 1;
	EXPECT_FATES(test, &place, 1, 1, 0, 1);
}

static void late_though_it_was_asked_for(struct kunit *test)
{
	struct place place = at_receiver();

	see_sends(&place, 1, 2);
	see_packet(&place, make_send(4));
	see_answer(&place, make_answer(NAK_SEQUENCE, 3));
	see_packet(&place, make_send(3));	/* late */
	see_packet(&place, make_send(5));
	see_sends(&place, 3, 6);		/* again, 6 is new */
	place.ticks += LATE + 1;
	EXPECT_FATES(test, &place, 1, 0, 1, 3);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 0U);
}

static void some_are_late_though_they_were_asked_for(struct kunit *test)
{
	struct place place = at_receiver();

	see_packet(&place, make_send(1));
	see_packet(&place, make_send(6));
	see_answer(&place, make_answer(NAK_SEQUENCE, 2));
	see_sends(&place, 2, 4);		/* late */
	see_packet(&place, make_send(7));
	see_sends(&place, 2, 8);		/* again, 8 is new */
	EXPECT_FATES(test, &place, 1, 1, 3, 6);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
	/* That what follows is not counted ends there. */
	see_answer(&place, make_answer(NAK_SEQUENCE, 8));
	see_packet(&place, make_send(8));
	EXPECT_FATES(test, &place, 1, 1, 3, 7);
}

static void late_and_only_then_asked_for(struct kunit *test)
{
	struct place place = at_receiver();

	see_sends(&place, 1, 2);
	see_packet(&place, make_send(4));
	see_packet(&place, make_send(3));	/* late */
	see_answer(&place, make_answer(NAK_SEQUENCE, 3));
	see_sends(&place, 3, 5);
	EXPECT_FATES(test, &place, 1, 0, 1, 2);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
}

static void asked_for_twice_and_sent_again_twice(struct kunit *test)
{
	struct place place = at_receiver();

	see_sends(&place, 1, 2);
	see_packet(&place, make_send(4));
	see_answer(&place, make_answer(NAK_SEQUENCE, 3));
	see_sends(&place, 3, 4);
	/* Lost again, further on */
	see_answer(&place, make_answer(NAK_SEQUENCE, 3));
	see_sends(&place, 3, 5);
	place.ticks += LATE + 1;
	EXPECT_FATES(test, &place, 1, 1, 0, 4);
}

/* Where the answers are not seen, or the question was lost. */
static void lost_and_sent_again_by_a_sender_that_goes_back(struct kunit *test)
{
	struct place place = {};

	see_sends(&place, 1, 2);
	see_sends(&place, 5, 7);
	see_sends(&place, 3, 9);
	EXPECT_FATES(test, &place, 1, 2, 0, 5);
	KUNIT_EXPECT_EQ(test, place.flow.retransmitted_bytes, 5ULL * 1060);
	KUNIT_EXPECT_EQ(test, place.flow.signals, 2U + 5);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 0U);
}

static void the_same_is_a_timeout_where_answers_are_known(struct kunit *test)
{
	struct place place = at_receiver();

	see_sends(&place, 1, 2);
	see_sends(&place, 5, 7);
	see_sends(&place, 3, 9);
	EXPECT_FATES(test, &place, 1, 2, 0, 5);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 1ULL);
}

static void a_sender_that_goes_back_behind_the_gap(struct kunit *test)
{
	struct place place = {};

	see_sends(&place, 1, 4);
	see_sends(&place, 6, 7);
	see_sends(&place, 3, 9);
	EXPECT_FATES(test, &place, 1, 1, 0, 5);
}

/* What is asked for was lost further on. */
static void asked_for_from_before_the_gap(struct kunit *test)
{
	struct place place = at_receiver();

	see_sends(&place, 1, 4);
	see_sends(&place, 6, 7);
	see_answer(&place, make_answer(NAK_SEQUENCE, 3));
	see_sends(&place, 3, 9);
	EXPECT_FATES(test, &place, 1, 1, 0, 5);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 0U);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
}

static void as_little_as_a_sender_can_go_back(struct kunit *test)
{
	struct place place = {};

	see_packet(&place, make_send(1));
	see_packet(&place, make_send(3));
	see_sends(&place, 2, 4);
	EXPECT_FATES(test, &place, 1, 1, 0, 2);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 0U);
}

static void more_than_can_be_kept_open(struct kunit *test)
{
	struct place place = {};

	see_packet(&place, make_send(0));
	see_packet(&place, make_send(1001));
	see_sends(&place, 1, 1002);
	EXPECT_FATES(test, &place, 1, 1000, 0, 1001);
	KUNIT_EXPECT_EQ(test, place.flow.retransmitted_bytes, 1001ULL * 1060);
}

static void longer_packets_than_can_be_kept_open(struct kunit *test)
{
	struct roce_packet packet;
	struct place place = {};
	u32 psn;

	see_packet(&place, make_send(0));
	see_packet(&place, make_send(101));
	for (psn = 1; psn <= 101; psn++) {
		packet = make_full(ROCE_WRITE_MIDDLE, psn, 4096);
		see_packet(&place, packet);
	}
	EXPECT_FATES(test, &place, 1, 100, 0, 101);
	KUNIT_EXPECT_EQ(test, place.flow.retransmitted_bytes, 101ULL * 4156);
}

static void a_loss_in_what_is_sent_again(struct kunit *test)
{
	struct place place = at_receiver();

	see_sends(&place, 1, 10);
	see_answer(&place, make_answer(NAK_SEQUENCE, 3));
	see_sends(&place, 3, 4);
	see_sends(&place, 6, 11);
	KUNIT_EXPECT_EQ(test, place.flow.retransmitted, 7ULL);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
}

/* The last packet's fate is open until the next one comes. */
static void late_and_then_silence(struct kunit *test)
{
	struct place place = at_receiver();

	see_packet(&place, make_send(1));
	see_packet(&place, make_send(4));
	see_packet(&place, make_send(2));
	KUNIT_EXPECT_EQ(test, missing_of(&place), 2U);
	place.ticks += LATE + 1;
	KUNIT_EXPECT_EQ(test, lost_of(&place), 1ULL);
	see_packet(&place, make_send(5));
	EXPECT_FATES(test, &place, 1, 1, 1, 0);
}

static void unreliable_ones_are_never_sent_again(struct kunit *test)
{
	static const u32 psns[] = { 1, 2, 4, 3, 6, 5, 9, 10 };
	struct place place = at_receiver();
	struct roce_packet packet;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(psns); i++) {
		packet = make_send(psns[i]);
		packet.opcode |= ROCE_UC << 5;
		see_packet(&place, packet);
	}
	place.ticks += LATE + 1;
	EXPECT_FATES(test, &place, 3, 2, 2, 0);
	/* Twice, by the network */
	see_packet(&place, packet);
	EXPECT_FATES(test, &place, 3, 2, 2, 1);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
}

/* What is under way when something is asked for is not the answer to that. */
static void asked_for_in_the_middle_of_a_burst(struct kunit *test)
{
	struct place place = at_receiver();

	see_sends(&place, 1, 3);
	see_sends(&place, 5, 10);
	see_answer(&place, make_answer(NAK_SEQUENCE, 4));
	see_sends(&place, 11, 12);
	see_sends(&place, 14, 16);
	see_sends(&place, 4, 6);
	see_packet(&place, make_send(8));
	see_answer(&place, make_answer(NAK_SEQUENCE, 7));
	see_sends(&place, 9, 10);
	see_sends(&place, 7, 17);
	EXPECT_FATES(test, &place, 2, 2, 0, 16);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
}

/* So it is known of the last one too. */
static void an_unreliable_one_is_late_at_once(struct kunit *test)
{
	static const u32 psns[] = { 1, 4, 2, 3 };
	struct place place = at_receiver();
	struct roce_packet packet;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(psns); i++) {
		packet = make_send(psns[i]);
		packet.opcode |= ROCE_UC << 5;
		see_packet(&place, packet);
	}
	KUNIT_EXPECT_EQ(test, missing_of(&place), 0U);
	EXPECT_FATES(test, &place, 1, 0, 2, 0);
}

static struct kunit_case flow_late_cases[] = {
	KUNIT_CASE(late_is_reordered),
	KUNIT_CASE(late_in_any_order),
	KUNIT_CASE(late_for_two_gaps),
	KUNIT_CASE(one_is_late_and_one_is_lost),
	KUNIT_CASE(too_late_is_lost_and_sent_again),
	KUNIT_CASE(lost_and_sent_again_when_asked),
	KUNIT_CASE(only_the_missing_is_sent_again),
	KUNIT_CASE(late_though_it_was_asked_for),
	KUNIT_CASE(some_are_late_though_they_were_asked_for),
	KUNIT_CASE(late_and_only_then_asked_for),
	KUNIT_CASE(asked_for_twice_and_sent_again_twice),
	KUNIT_CASE(lost_and_sent_again_by_a_sender_that_goes_back),
	KUNIT_CASE(the_same_is_a_timeout_where_answers_are_known),
	KUNIT_CASE(a_sender_that_goes_back_behind_the_gap),
	KUNIT_CASE(asked_for_from_before_the_gap),
	KUNIT_CASE(as_little_as_a_sender_can_go_back),
	KUNIT_CASE(more_than_can_be_kept_open),
	KUNIT_CASE(longer_packets_than_can_be_kept_open),
	KUNIT_CASE(a_loss_in_what_is_sent_again),
	KUNIT_CASE(late_and_then_silence),
	KUNIT_CASE(unreliable_ones_are_never_sent_again),
	KUNIT_CASE(asked_for_in_the_middle_of_a_burst),
	KUNIT_CASE(an_unreliable_one_is_late_at_once),
	{}
};

static struct kunit_suite flow_late_suite = {
	.name		= "peerlane_flow_late",
	.test_cases	= flow_late_cases,
};

kunit_test_suite(flow_late_suite);
