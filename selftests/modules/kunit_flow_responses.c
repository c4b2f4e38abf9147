// SPDX-License-Identifier: GPL-2.0
/* Answers as packets of their own direction: refusals, and READ responses. */
#define FLOW_PART	responses
#include "flow_make.h"

#define FIRST	ROCE_READ_RESPONSE_FIRST
#define MIDDLE	ROCE_READ_RESPONSE_MIDDLE
#define LAST	ROCE_READ_RESPONSE_LAST
#define ONLY	ROCE_READ_RESPONSE_ONLY

static void respond(struct place *place, u32 operation, u32 psn)
{
	see_packet(place, make_full(operation, psn, 1024));
}

/* The response of a READ of which @psn is the first number */
static void respond_all(struct place *place, u32 psn, u32 last)
{
	respond(place, FIRST, psn);
	for (psn = psn_add(psn, 1); psn != last; psn = psn_add(psn, 1))
		respond(place, MIDDLE, psn);
	respond(place, LAST, last);
}

/* ---- refusals ---- */

static void refusals_by_kind(struct kunit *test)
{
	struct place place = {};
	u32 syndrome;

	for (syndrome = 0; syndrome < 0x80; syndrome++)
		see_packet(&place, make_answer(syndrome, 5));
	KUNIT_EXPECT_EQ(test, place.flow.rnr, 32ULL);
	KUNIT_EXPECT_EQ(test, place.flow.nak_sequence, 1ULL);
	KUNIT_EXPECT_EQ(test, place.flow.nak_other, 31ULL);
	KUNIT_EXPECT_EQ(test, place.flow.signals, 0U);
	EXPECT_FATES(test, &place, 0, 0, 0, 0);
}

/* Its highest bit is not of the kind. */
static void the_reserved_bit_of_a_syndrome(struct kunit *test)
{
	struct place place = {};

	see_packet(&place, make_answer(0x80 | NAK_SEQUENCE, 5));
	see_packet(&place, make_answer(0x80 | RNR, 5));
	see_packet(&place, make_answer(0x80 | ACK, 5));
	KUNIT_EXPECT_EQ(test, place.flow.nak_sequence, 1ULL);
	KUNIT_EXPECT_EQ(test, place.flow.rnr, 1ULL);
	KUNIT_EXPECT_EQ(test, place.flow.nak_other, 0ULL);
}

static void what_has_no_syndrome_is_no_refusal(struct kunit *test)
{
	struct place place = {};
	struct roce_packet packet = make(MIDDLE, 5);

	packet.aeth_syndrome = NAK_SEQUENCE;
	see_packet(&place, packet);
	KUNIT_EXPECT_EQ(test, place.flow.nak_sequence, 0ULL);
}

static void each_answer_is_for_the_other_direction(struct kunit *test)
{
	static const u8 answers[] = { FIRST, MIDDLE, LAST, ONLY, ROCE_ACK,
				      ROCE_ATOMIC_ACK };
	static const u8 requests[] = {
		ROCE_SEND_FIRST, ROCE_SEND_ONLY_IMM, ROCE_WRITE_ONLY,
		ROCE_READ_REQUEST, ROCE_COMPARE_SWAP, ROCE_FETCH_ADD,
		ROCE_SEND_LAST_INV, ROCE_SEND_ONLY_INV, ROCE_FLUSH,
		ROCE_ATOMIC_WRITE,
	};
	struct place place = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(answers); i++) {
		see_packet(&place, make(answers[i], i));
		KUNIT_EXPECT_TRUE(test, place.next & FLOW_NEXT_ANSWER);
	}
	KUNIT_EXPECT_EQ(test, place.flow.has_request + 0U, 0U);
	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		see_packet(&place, make(requests[i], i));
		KUNIT_EXPECT_EQ(test, place.next, 0U);
	}
	KUNIT_EXPECT_EQ(test, place.flow.next_request + 0U,
			(u32)ARRAY_SIZE(requests));
}

/* An acknowledgement's number is of the other direction's requests. */
static void requests_and_responses_have_numbers_apart(struct kunit *test)
{
	struct place place = {};

	see_sends(&place, 100, 101);
	respond_all(&place, 7000, 7003);
	see_packet(&place, make_answer(ACK, 9000));
	see_sends(&place, 102, 103);
	respond_all(&place, 7004, 7005);
	EXPECT_FATES(test, &place, 0, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 0U);
}

/* ---- READ responses ---- */

static void other_requests_between_two_reads(struct kunit *test)
{
	struct place place = {};

	respond_all(&place, 10, 14);
	respond_all(&place, 40, 44);
	respond(&place, ONLY, 50);
	respond(&place, ONLY, 70000);
	respond_all(&place, 800000, 800003);
	EXPECT_FATES(test, &place, 0, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, place.next, (unsigned int)FLOW_NEXT_ANSWER);
}

static void a_gap_within_a_response(struct kunit *test)
{
	struct place place = {};

	respond(&place, FIRST, 10);
	respond(&place, MIDDLE, 13);
	KUNIT_EXPECT_EQ(test, place.next,
			(unsigned int)(FLOW_NEXT_ANSWER | FLOW_NEXT_GAP));
	KUNIT_EXPECT_EQ(test, missing_of(&place), 2U);
	respond(&place, LAST, 14);
	KUNIT_EXPECT_EQ(test, place.next, (unsigned int)FLOW_NEXT_ANSWER);
	place.ticks += LATE + 1;
	EXPECT_FATES(test, &place, 1, 2, 0, 0);
}

static void the_end_of_a_response_is_left_out(struct kunit *test)
{
	struct place place = {};

	respond(&place, FIRST, 10);
	respond(&place, MIDDLE, 11);
	respond(&place, FIRST, 13);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 1U);
	KUNIT_EXPECT_TRUE(test, place.next & FLOW_NEXT_GAP);
}

static void the_beginning_of_a_response_is_left_out(struct kunit *test)
{
	struct place place = {};

	respond_all(&place, 10, 12);
	respond(&place, MIDDLE, 14);
	respond(&place, LAST, 15);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 1U);
	respond_all(&place, 20, 22);
	respond(&place, LAST, 24);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 2U);
}

static void the_sender_of_responses_leaves_nothing_out(struct kunit *test)
{
	struct place place = { .is_sender = true };

	respond(&place, FIRST, 10);
	respond(&place, LAST, 14);
	KUNIT_EXPECT_EQ(test, place.next, (unsigned int)FLOW_NEXT_ANSWER);
	EXPECT_FATES(test, &place, 0, 0, 0, 0);
}

static void a_response_that_comes_late(struct kunit *test)
{
	struct place place = {};

	respond(&place, FIRST, 10);
	respond(&place, MIDDLE, 14);
	respond(&place, MIDDLE, 12);
	respond(&place, MIDDLE, 11);
	respond(&place, MIDDLE, 13);
	respond(&place, LAST, 15);
	EXPECT_FATES(test, &place, 1, 0, 3, 0);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 0U);
	KUNIT_EXPECT_EQ(test, place.flow.signals, 0U);
}

static void the_end_of_a_response_comes_late(struct kunit *test)
{
	struct place place = {};

	respond(&place, FIRST, 10);
	respond(&place, FIRST, 12);
	respond(&place, LAST, 11);
	respond(&place, LAST, 13);
	EXPECT_FATES(test, &place, 1, 0, 1, 0);
}

static void a_response_that_is_sent_again(struct kunit *test)
{
	struct place place = {};

	respond(&place, FIRST, 10);
	respond(&place, MIDDLE, 13);
	respond(&place, MIDDLE, 14);
	/* Asked for from the first that was missing */
	respond_all(&place, 11, 16);
	EXPECT_FATES(test, &place, 1, 2, 0, 4);
	KUNIT_EXPECT_EQ(test, place.flow.retransmitted_bytes, 4ULL * 1084);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 0U);
	KUNIT_EXPECT_EQ(test, place.flow.signals, 2U + 4);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
}

/* Something before the gap was lost further on. */
static void sent_again_from_before_the_gap(struct kunit *test)
{
	struct place place = {};

	respond(&place, FIRST, 10);
	respond(&place, MIDDLE, 11);
	respond(&place, MIDDLE, 13);
	respond_all(&place, 11, 14);
	EXPECT_FATES(test, &place, 1, 1, 0, 3);
}

static void sent_again_where_they_are_sent(struct kunit *test)
{
	struct place place = { .is_sender = true };

	respond_all(&place, 0xfffffe, 4);
	respond_all(&place, 0xffffff, 4);
	EXPECT_FATES(test, &place, 0, 0, 0, 6);
}

static void lost_responses_are_counted_once(struct kunit *test)
{
	struct place place = {};

	respond(&place, FIRST, 10);
	respond(&place, MIDDLE, 13);
	place.ticks += LATE + 1;
	respond(&place, MIDDLE, 14);
	respond_all(&place, 11, 16);
	place.ticks += LATE + 1;
	EXPECT_FATES(test, &place, 1, 2, 0, 4);
}

/* A gap of responses is none of requests. */
static void gaps_of_both_kinds(struct kunit *test)
{
	struct place place = {};

	see_packet(&place, make_send(1));
	respond(&place, FIRST, 10);
	respond(&place, MIDDLE, 12);
	see_packet(&place, make_send(3));
	KUNIT_EXPECT_EQ(test, missing_of(&place), 1U);
	respond(&place, LAST, 14);
	place.ticks += LATE + 1;
	see_packet(&place, make_send(4));
	EXPECT_FATES(test, &place, 3, 3, 0, 0);
}

static void requests_again_while_responses_are_missing(struct kunit *test)
{
	struct place place = { .knows = true };

	see_sends(&place, 10, 20);
	respond(&place, FIRST, 10);
	respond(&place, MIDDLE, 14);
	see_sends(&place, 12, 13);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 3U);
	EXPECT_FATES(test, &place, 1, 0, 0, 2);
}

static void atomic_answers_have_no_gaps(struct kunit *test)
{
	struct place place = {};
	u32 psn;

	for (psn = 10; psn < 100; psn += 9)
		see_packet(&place, make(ROCE_ATOMIC_ACK, psn));
	EXPECT_FATES(test, &place, 0, 0, 0, 0);
}

static struct kunit_case flow_responses_cases[] = {
	KUNIT_CASE(refusals_by_kind),
	KUNIT_CASE(the_reserved_bit_of_a_syndrome),
	KUNIT_CASE(what_has_no_syndrome_is_no_refusal),
	KUNIT_CASE(each_answer_is_for_the_other_direction),
	KUNIT_CASE(requests_and_responses_have_numbers_apart),
	KUNIT_CASE(other_requests_between_two_reads),
	KUNIT_CASE(a_gap_within_a_response),
	KUNIT_CASE(the_end_of_a_response_is_left_out),
	KUNIT_CASE(the_beginning_of_a_response_is_left_out),
	KUNIT_CASE(the_sender_of_responses_leaves_nothing_out),
	KUNIT_CASE(a_response_that_comes_late),
	KUNIT_CASE(the_end_of_a_response_comes_late),
	KUNIT_CASE(a_response_that_is_sent_again),
	KUNIT_CASE(sent_again_from_before_the_gap),
	KUNIT_CASE(sent_again_where_they_are_sent),
	KUNIT_CASE(lost_responses_are_counted_once),
	KUNIT_CASE(gaps_of_both_kinds),
	KUNIT_CASE(requests_again_while_responses_are_missing),
	KUNIT_CASE(atomic_answers_have_no_gaps),
	{}
};

static struct kunit_suite flow_responses_suite = {
	.name		= "peerlane_flow_responses",
	.test_cases	= flow_responses_cases,
};

kunit_test_suite(flow_responses_suite);
