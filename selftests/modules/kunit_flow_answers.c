// SPDX-License-Identifier: GPL-2.0
/* What answers tell of the flow whose requests they answer: round trips, Karn. */
#define FLOW_PART	answers
#include "flow_make.h"

static struct place at_sender(void)
{
	make_ns = 1000000;
	return (struct place){ .is_sender = true, .knows = true };
}

/* @psn, which asks for an answer, and then time goes by. */
static void ask(struct place *place, u32 psn, u64 ns)
{
	see_packet(place, make_asking(psn));
	make_ns += ns;
}

static u64 trip_of(struct place *place, u32 psn)
{
	see_answer(place, make_answer(ACK, psn));
	return place->trip;
}

/* ---- round trips ---- */

static void from_the_request_to_its_answer(struct kunit *test)
{
	struct place place = at_sender();

	ask(&place, 7, 2500);
	KUNIT_EXPECT_EQ(test, trip_of(&place, 7), 2500ULL);
	/* Once */
	KUNIT_EXPECT_EQ(test, trip_of(&place, 7), 0ULL);
}

static void to_the_answer_of_a_later_one(struct kunit *test)
{
	struct place place = at_sender();

	ask(&place, 7, 100);
	ask(&place, 8, 100);
	ask(&place, 9, 100);
	KUNIT_EXPECT_EQ(test, trip_of(&place, 9), 300ULL);
}

static void not_to_the_answer_of_an_earlier_one(struct kunit *test)
{
	struct place place = at_sender();

	see_sends(&place, 5, 6);
	ask(&place, 7, 100);
	KUNIT_EXPECT_EQ(test, trip_of(&place, 5), 0ULL);
	KUNIT_EXPECT_EQ(test, trip_of(&place, 6), 0ULL);
	KUNIT_EXPECT_EQ(test, trip_of(&place, 7), 100ULL);
}

/* An acknowledgement that was not asked for may come whenever it likes. */
static void only_of_requests_that_ask(struct kunit *test)
{
	struct place place = at_sender();

	see_sends(&place, 5, 7);
	make_ns += 100;
	KUNIT_EXPECT_EQ(test, trip_of(&place, 7), 0ULL);
}

static void of_reads_to_the_first_response(struct kunit *test)
{
	struct place place = at_sender();

	see_packet(&place, make_full(ROCE_SEND_FIRST, 0, 1024));
	see_packet(&place, make_read(1, 10240));
	make_ns += 300;
	see_answer(&place, make_full(ROCE_READ_RESPONSE_FIRST, 1, 1024));
	KUNIT_EXPECT_EQ(test, place.trip, 300ULL);
	make_ns += 100;
	see_answer(&place, make_full(ROCE_READ_RESPONSE_MIDDLE, 2, 1024));
	KUNIT_EXPECT_EQ(test, place.trip, 0ULL);
}

static void of_atomics(struct kunit *test)
{
	static const u8 atomics[] = { ROCE_COMPARE_SWAP, ROCE_FETCH_ADD };
	struct place place = at_sender();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(atomics); i++) {
		see_packet(&place, make(atomics[i], i));
		make_ns += 70;
		see_answer(&place, make(ROCE_ATOMIC_ACK, i));
		KUNIT_EXPECT_EQ(test, place.trip, 70ULL);
	}
}

static void where_numbers_go_round(struct kunit *test)
{
	struct place place = at_sender();

	ask(&place, 0xffffff, 100);
	see_sends(&place, 0, 3);
	KUNIT_EXPECT_EQ(test, trip_of(&place, 0xfffffe), 0ULL);
	KUNIT_EXPECT_EQ(test, trip_of(&place, 2), 100ULL);
}

static void a_clock_that_goes_back_a_little(struct kunit *test)
{
	struct place place = at_sender();

	ask(&place, 1, 0);
	make_ns -= 50;
	KUNIT_EXPECT_EQ(test, trip_of(&place, 1), 1ULL);
	ask(&place, 2, 0);
	KUNIT_EXPECT_EQ(test, trip_of(&place, 2), 1ULL);
}

/* 48 bits of ns are kept. */
static void a_clock_of_more_bits_than_are_kept(struct kunit *test)
{
	struct place place = at_sender();

	make_ns = (5ULL << 48) - 10;
	ask(&place, 1, 1000);
	KUNIT_EXPECT_EQ(test, trip_of(&place, 1), 1000ULL);
	ask(&place, 2, 86400ULL * 1000000000);
	KUNIT_EXPECT_EQ(test, trip_of(&place, 2), 86400ULL * 1000000000);
}

/* ---- Karn ---- */

static void not_of_what_was_sent_again(struct kunit *test)
{
	struct place place = at_sender();

	see_sends(&place, 1, 4);
	ask(&place, 5, 100);
	see_packet(&place, make_send(3));
	KUNIT_EXPECT_EQ(test, trip_of(&place, 5), 0ULL);
	/* And the next one is. */
	ask(&place, 6, 100);
	KUNIT_EXPECT_EQ(test, trip_of(&place, 6), 100ULL);
}

static void not_of_what_itself_was_sent_again(struct kunit *test)
{
	struct place place = at_sender();

	ask(&place, 5, 100);
	ask(&place, 5, 100);
	KUNIT_EXPECT_EQ(test, trip_of(&place, 5), 0ULL);
}

static void of_what_came_before_that(struct kunit *test)
{
	struct place place = at_sender();

	ask(&place, 5, 100);
	see_sends(&place, 6, 8);
	see_packet(&place, make_send(7));
	KUNIT_EXPECT_EQ(test, trip_of(&place, 5), 100ULL);
}

static void not_after_a_refusal(struct kunit *test)
{
	static const u8 refusals[] = { NAK_SEQUENCE, NAK_ACCESS, RNR };
	struct place place = at_sender();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(refusals); i++) {
		ask(&place, 10 + i, 100);
		see_answer(&place, make_answer(refusals[i], 10 + i));
		KUNIT_EXPECT_EQ(test, place.trip, 0ULL);
		KUNIT_EXPECT_EQ(test, trip_of(&place, 10 + i), 0ULL);
	}
}

static void not_after_a_gap_in_the_answers(struct kunit *test)
{
	struct place place = at_sender();

	ask(&place, 10, 100);
	see_answer_gap(&place, make(ROCE_READ_RESPONSE_MIDDLE, 10), true);
	KUNIT_EXPECT_EQ(test, place.trip, 0ULL);
	KUNIT_EXPECT_EQ(test, trip_of(&place, 10), 0ULL);
}

/* A response that was lost is asked for by the answer to a later request. */
static void an_own_answer_that_is_passed_over(struct kunit *test)
{
	struct place place = at_sender();

	see_packet(&place, make_full(ROCE_SEND_FIRST, 0, 1024));
	see_packet(&place, make_read(1, 2048));
	see_packet(&place, make_asking(3));
	make_ns += 100;
	KUNIT_EXPECT_EQ(test, trip_of(&place, 3), 0ULL);
	see_packet(&place, make_read(1, 2048));
	see_packet(&place, make_asking(3));
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
	KUNIT_EXPECT_EQ(test, place.flow.retransmitted, 2ULL);
}

static void an_atomic_answer_that_is_passed_over(struct kunit *test)
{
	struct place place = at_sender();

	see_packet(&place, make(ROCE_FETCH_ADD, 1));
	see_packet(&place, make(ROCE_FETCH_ADD, 2));
	see_answer(&place, make(ROCE_ATOMIC_ACK, 2));
	KUNIT_EXPECT_EQ(test, place.trip, 0ULL);
	see_packet(&place, make(ROCE_FETCH_ADD, 1));
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
}

/* ---- what is no answer to it ---- */

static void answers_to_what_was_not_sent(struct kunit *test)
{
	static const struct {
		u32 psn;
		bool is_stranger;
	} answers[] = {
		{ 99, false }, { 50, false }, { 100, true }, { 101, true },
		{ 100 - 65536, false }, { 100 - 65537, true },
		{ 100 + 0x700000, true }, { 100 - 0x700000, true },
	};
	struct place place = at_sender();
	size_t i;

	see_sends(&place, 10, 99);
	for (i = 0; i < ARRAY_SIZE(answers); i++) {
		see_answer(&place, make_answer(ACK, answers[i].psn));
		KUNIT_EXPECT_EQ_MSG(test, place.is_stranger,
				    answers[i].is_stranger, "%#x",
				    answers[i].psn);
	}
}

static void a_stranger_changes_nothing(struct kunit *test)
{
	struct place place = at_sender();

	ask(&place, 10, 100);
	see_answer(&place, make_answer(NAK_SEQUENCE, 11));
	KUNIT_EXPECT_TRUE(test, place.is_stranger);
	KUNIT_EXPECT_EQ(test, trip_of(&place, 12), 0ULL);
	KUNIT_EXPECT_EQ(test, trip_of(&place, 10), 100ULL);
	see_packet(&place, make_send(10));
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 1ULL);
}

static void none_is_a_stranger_where_requests_are_not_known(struct kunit *test)
{
	struct place place = at_sender();

	see_answer(&place, make_answer(ACK, 12345));
	KUNIT_EXPECT_FALSE(test, place.is_stranger);
	/* Nor where it is not known how far a READ goes. */
	see_packet(&place, make_read(100, 1 << 20));
	see_answer(&place, make(ROCE_READ_RESPONSE_LAST, 400));
	KUNIT_EXPECT_FALSE(test, place.is_stranger);
}

static void responses_tell_the_path_mtu(struct kunit *test)
{
	struct place place = at_sender();

	see_packet(&place, make_read(100, 8192));
	see_answer(&place, make_full(ROCE_READ_RESPONSE_FIRST, 100, 2048));
	KUNIT_EXPECT_EQ(test, flow_pmtu(&place.flow), 2048U);
	see_packet(&place, make_read(104, 8192));
	KUNIT_EXPECT_EQ(test, place.flow.next_request + 0U, 108U);
	see_answer(&place, make_full(ROCE_READ_RESPONSE_LAST, 107, 1024));
	KUNIT_EXPECT_EQ(test, flow_pmtu(&place.flow), 2048U);
}

static void a_notification_is_a_signal(struct kunit *test)
{
	struct place place = at_sender();
	struct roce_packet packet = { .opcode = ROCE_OPCODE_CNP };

	ask(&place, 500, 100);
	see_answer(&place, packet);
	KUNIT_EXPECT_FALSE(test, place.is_stranger);
	KUNIT_EXPECT_EQ(test, place.flow.signals, 1U);
	KUNIT_EXPECT_EQ(test, place.flow.cnp, 0ULL);
	KUNIT_EXPECT_EQ(test, trip_of(&place, 500), 100ULL);
}

/* ---- what was asked for ---- */

/* After a fatal refusal nothing is sent again, for whatever comes then. */
static void only_some_refusals_ask(struct kunit *test)
{
	static const u8 others[] = { NAK_ACCESS, 0x61, 0x63, 0x64, 0x40, 0x5f };
	struct place place = at_sender();
	size_t i;

	see_sends(&place, 1, 10);
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		see_answer(&place, make_answer(others[i], 5));
		see_packet(&place, make_send(5));
		KUNIT_EXPECT_EQ(test, place.flow.timeouts, i + 1ULL);
	}
}

static void a_gap_in_the_answers_asks(struct kunit *test)
{
	struct place place = at_sender();

	see_sends(&place, 1, 10);
	see_answer_gap(&place, make(ROCE_READ_RESPONSE_MIDDLE, 6), true);
	see_packet(&place, make_send(5));
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
	KUNIT_EXPECT_EQ(test, place.flow.signals, 1U);
}

static void acknowledgements_do_not_ask(struct kunit *test)
{
	struct place place = at_sender();

	see_sends(&place, 1, 10);
	see_answer(&place, make_answer(ACK, 5));
	see_packet(&place, make_send(6));
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 1ULL);
}

static struct kunit_case flow_answers_cases[] = {
	KUNIT_CASE(from_the_request_to_its_answer),
	KUNIT_CASE(to_the_answer_of_a_later_one),
	KUNIT_CASE(not_to_the_answer_of_an_earlier_one),
	KUNIT_CASE(only_of_requests_that_ask),
	KUNIT_CASE(of_reads_to_the_first_response),
	KUNIT_CASE(of_atomics),
	KUNIT_CASE(where_numbers_go_round),
	KUNIT_CASE(a_clock_that_goes_back_a_little),
	KUNIT_CASE(a_clock_of_more_bits_than_are_kept),
	KUNIT_CASE(not_of_what_was_sent_again),
	KUNIT_CASE(not_of_what_itself_was_sent_again),
	KUNIT_CASE(of_what_came_before_that),
	KUNIT_CASE(not_after_a_refusal),
	KUNIT_CASE(not_after_a_gap_in_the_answers),
	KUNIT_CASE(an_own_answer_that_is_passed_over),
	KUNIT_CASE(an_atomic_answer_that_is_passed_over),
	KUNIT_CASE(answers_to_what_was_not_sent),
	KUNIT_CASE(a_stranger_changes_nothing),
	KUNIT_CASE(none_is_a_stranger_where_requests_are_not_known),
	KUNIT_CASE(responses_tell_the_path_mtu),
	KUNIT_CASE(a_notification_is_a_signal),
	KUNIT_CASE(only_some_refusals_ask),
	KUNIT_CASE(a_gap_in_the_answers_asks),
	KUNIT_CASE(acknowledgements_do_not_ask),
	{}
};

static struct kunit_suite flow_answers_suite = {
	.name		= "peerlane_flow_answers",
	.test_cases	= flow_answers_cases,
};

kunit_test_suite(flow_answers_suite);
