// SPDX-License-Identifier: GPL-2.0
/* Requests: what is counted, the sequence, and what READs do to it. */
#define FLOW_PART	requests
#include "flow_make.h"

/* ---- counters of each packet ---- */

static void the_record_is_of_three_cache_lines(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sizeof(struct flow_state), (size_t)192);
	KUNIT_EXPECT_EQ(test, offsetof(struct flow_state, point), (size_t)63);
}

static void packets_and_bytes(struct kunit *test)
{
	struct place place = {};

	see_packet(&place, make_send(0));
	see_packet(&place, make_read(1, 100));
	see_packet(&place, make_answer(ACK, 7));
	KUNIT_EXPECT_EQ(test, place.flow.packets, 3ULL);
	KUNIT_EXPECT_EQ(test, place.flow.bytes, 1060ULL + 60 + 48);
}

static void ecn_capable_and_marked(struct kunit *test)
{
	struct place place = {};
	struct roce_packet packet;
	u32 ecn;

	for (ecn = 0; ecn < 4; ecn++) {
		packet = make_send(ecn);
		packet.ecn = ecn;
		see_packet(&place, packet);
	}
	KUNIT_EXPECT_EQ(test, place.flow.ect, 3ULL);
	KUNIT_EXPECT_EQ(test, place.flow.ce, 1ULL);
	KUNIT_EXPECT_EQ(test, place.flow.signals, 1U);
}

static void the_code_point_is_that_of_the_last(struct kunit *test)
{
	struct place place = {};
	struct roce_packet packet = make_send(0);

	packet.dscp = 26;
	see_packet(&place, packet);
	KUNIT_EXPECT_EQ(test, place.flow.dscp + 0U, 26U);
	packet = make_send(1);
	packet.dscp = 48;
	see_packet(&place, packet);
	KUNIT_EXPECT_EQ(test, place.flow.dscp + 0U, 48U);
}

static void bits_of_the_bth(struct kunit *test)
{
	struct place place = {};
	struct roce_packet packet = make_send(0);

	packet.fecn = 1;
	see_packet(&place, packet);
	packet = make_send(1);
	packet.becn = 1;
	see_packet(&place, packet);
	see_packet(&place, packet);
	KUNIT_EXPECT_EQ(test, place.flow.fecn, 1ULL);
	KUNIT_EXPECT_EQ(test, place.flow.becn, 2ULL);
}

static void a_notification_is_counted_apart(struct kunit *test)
{
	struct place place = {};
	struct roce_packet packet = { .opcode = ROCE_OPCODE_CNP, .length = 60 };

	see_sends(&place, 100, 101);
	packet.becn = 1;
	see_packet(&place, packet);
	KUNIT_EXPECT_EQ(test, place.next, (unsigned int)FLOW_NEXT_ANSWER);
	KUNIT_EXPECT_EQ(test, place.flow.cnp, 1ULL);
	KUNIT_EXPECT_EQ(test, place.flow.becn, 0ULL);
	KUNIT_EXPECT_EQ(test, place.flow.signals, 0U);
	/* Its number, 0, is none. */
	see_packet(&place, make_send(102));
	EXPECT_FATES(test, &place, 0, 0, 0, 0);
}

/* ---- gaps ---- */

static void in_order_there_is_nothing(struct kunit *test)
{
	struct place place = {};

	see_sends(&place, 1000, 1999);
	EXPECT_FATES(test, &place, 0, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, place.flow.signals, 0U);
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 0ULL);
}

static void a_gap_is_missing_and_then_lost(struct kunit *test)
{
	struct place place = {};

	see_sends(&place, 1, 2);
	see_packet(&place, make_send(6));
	EXPECT_FATES(test, &place, 1, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 3U);
	place.ticks += LATE;
	KUNIT_EXPECT_EQ(test, missing_of(&place), 3U);
	place.ticks++;
	KUNIT_EXPECT_EQ(test, missing_of(&place), 0U);
	EXPECT_FATES(test, &place, 1, 3, 0, 0);
}

static void lost_is_counted_once(struct kunit *test)
{
	struct place place = {};

	see_packet(&place, make_send(1));
	see_packet(&place, make_send(3));
	place.ticks += LATE + 1;
	see_sends(&place, 4, 9);
	place.ticks += LATE + 1;
	see_sends(&place, 10, 11);
	EXPECT_FATES(test, &place, 1, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 0U);
}

static void time_goes_round_in_a_gap(struct kunit *test)
{
	struct place place = { .ticks = ~0U - 10 };

	see_packet(&place, make_send(1));
	see_packet(&place, make_send(3));
	place.ticks += LATE;
	KUNIT_EXPECT_EQ(test, missing_of(&place), 1U);
	place.ticks++;
	KUNIT_EXPECT_EQ(test, lost_of(&place), 1ULL);
}

static void the_sender_leaves_nothing_out(struct kunit *test)
{
	struct place place = { .is_sender = true };

	see_packet(&place, make_send(1));
	see_packet(&place, make_send(5));
	KUNIT_EXPECT_EQ(test, missing_of(&place), 0U);
	EXPECT_FATES(test, &place, 0, 0, 0, 0);
}

static void a_gap_where_numbers_go_round(struct kunit *test)
{
	struct place place = {};

	see_sends(&place, 0xfffff0, 0xfffffd);
	see_sends(&place, 2, 3);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 4U);
	see_packet(&place, make_send(0xffffff));
	see_packet(&place, make_send(0));
	see_packet(&place, make_send(4));
	EXPECT_FATES(test, &place, 1, 0, 2, 0);
	place.ticks += LATE + 1;
	EXPECT_FATES(test, &place, 1, 2, 2, 0);
}

static void the_largest_gap(struct kunit *test)
{
	struct place place = {};

	see_packet(&place, make_send(0));
	see_packet(&place, make_send(FLOW_PSN_WINDOW));
	KUNIT_EXPECT_EQ(test, missing_of(&place), FLOW_PSN_WINDOW - 1U);
	place.ticks += LATE + 1;
	see_packet(&place, make_send(FLOW_PSN_WINDOW + 1));
	EXPECT_FATES(test, &place, 1, FLOW_PSN_WINDOW - 1, 0, 0);
}

static void two_gaps_are_missing_together(struct kunit *test)
{
	struct place place = {};

	see_packet(&place, make_send(0));
	see_packet(&place, make_send(2));
	see_packet(&place, make_send(5));
	KUNIT_EXPECT_EQ(test, missing_of(&place), 3U);
	EXPECT_FATES(test, &place, 2, 0, 0, 0);
}

/* Every other packet, to @last: each is left out for itself. */
static void leave_out(struct place *place, u32 psn, u32 last)
{
	for (; psn <= last; psn += 2)
		see_packet(place, make_send(psn));
}

/* Else what is left out on and on would not be lost while it goes on. */
static void far_behind_many_are_lost_though_more_are_missing(struct kunit *test)
{
	struct place place = {};
	u32 many = FLOW_REORDER_FEW + 1;

	leave_out(&place, 0, 2 * many);
	see_sends(&place, 2 * many + 1, FLOW_REORDER);
	see_packet(&place, make_send(FLOW_REORDER + 2));
	KUNIT_EXPECT_EQ(test, missing_of(&place), many + 1);
	see_packet(&place, make_send(FLOW_REORDER + 4));
	KUNIT_EXPECT_EQ(test, missing_of(&place), 1U);
	EXPECT_FATES(test, &place, many + 2, many + 1, 0, 0);
}

/* Where packets overtake each other all the time, some are always missing. */
static void far_behind_a_few_stay_missing(struct kunit *test)
{
	struct place place = {};
	u32 few = FLOW_REORDER_FEW;

	leave_out(&place, 0, 2 * few);
	see_sends(&place, 2 * few + 1, 2 * FLOW_REORDER);
	see_packet(&place, make_send(2 * FLOW_REORDER + 2));
	KUNIT_EXPECT_EQ(test, missing_of(&place), few + 1);
	see_packet(&place, make_send(2 * FLOW_REORDER + 1));
	see_packet(&place, make_send(2 * FLOW_REORDER + 3));
	KUNIT_EXPECT_EQ(test, missing_of(&place), few);
	place.ticks += LATE + 1;
	EXPECT_FATES(test, &place, few + 1, few, 1, 0);
}

static void more_gaps_than_can_be_missing(struct kunit *test)
{
	struct place place = {};

	see_packet(&place, make_send(0));
	see_packet(&place, make_send(2));
	see_packet(&place, make_send(2 + 65535));
	KUNIT_EXPECT_EQ(test, missing_of(&place), 65535U);
	see_packet(&place, make_send(2 + 65535 + 2));
	KUNIT_EXPECT_EQ(test, missing_of(&place), 1U);
	EXPECT_FATES(test, &place, 3, 65535, 0, 0);
}

/* ---- other connections ---- */

static void a_jump_is_a_new_connection(struct kunit *test)
{
	static const u32 jumps[] = { FLOW_PSN_WINDOW, 0x7fffff, 0x800000,
				     0xff0000 };
	struct place place = {};
	u32 psn = 5;
	size_t i;

	see_sends(&place, 4, 5);
	for (i = 0; i < ARRAY_SIZE(jumps); i++) {
		psn = psn_add(psn + 1, jumps[i]);
		see_packet(&place, make_send(psn));
	}
	EXPECT_FATES(test, &place, 0, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 0U);
	/* And goes on where it began. */
	see_packet(&place, make_send(psn + 2));
	KUNIT_EXPECT_EQ(test, missing_of(&place), 1U);
}

static void what_was_missing_before_a_jump_is_lost(struct kunit *test)
{
	struct place place = {};

	see_packet(&place, make_send(1));
	see_packet(&place, make_send(3));
	see_packet(&place, make_send(500000));
	EXPECT_FATES(test, &place, 1, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 0U);
}

static void a_new_connection_has_another_path_mtu(struct kunit *test)
{
	struct place place = {};

	see_packet(&place, make_full(ROCE_WRITE_FIRST, 1, 1024));
	see_packet(&place, make_read(500000, 8192));
	KUNIT_EXPECT_EQ(test, flow_pmtu(&place.flow), 0U);
	see_packet(&place, make_full(ROCE_WRITE_FIRST, 500002, 4096));
	KUNIT_EXPECT_EQ(test, flow_pmtu(&place.flow), 4096U);
	see_packet(&place, make_full(ROCE_WRITE_FIRST, 1, 2048));
	KUNIT_EXPECT_EQ(test, flow_pmtu(&place.flow), 2048U);
	EXPECT_FATES(test, &place, 0, 0, 0, 0);
}

/* Back by more than other connections' packets ever are */
static void a_new_connection_has_no_long_reads_yet(struct kunit *test)
{
	struct place place = {};

	see_packet(&place, make_full(ROCE_SEND_FIRST, 0, 1024));
	see_packet(&place, make_read(1, 200 << 20));
	see_sends(&place, 0x700000, 0x700001);
	see_packet(&place, make_send(0x700000 - 100000));
	EXPECT_FATES(test, &place, 0, 0, 0, 0);
}

/* It was the old connection's receiver who had asked. */
static void nobody_has_asked_a_new_connection(struct kunit *test)
{
	struct place place = { .is_sender = true, .knows = true };

	see_sends(&place, 1, 5);
	see_answer(&place, make_answer(NAK_SEQUENCE, 3));
	see_sends(&place, 500000, 500002);
	see_packet(&place, make_send(500002));
	KUNIT_EXPECT_EQ(test, place.flow.timeouts, 1ULL);
}

static void datagrams_have_no_gaps(struct kunit *test)
{
	static const u8 transports[] = { ROCE_RD, ROCE_UD, 6, 7 };
	struct place place = {};
	struct roce_packet packet;
	size_t i;
	u32 psn;

	for (i = 0; i < ARRAY_SIZE(transports); i++)
		for (psn = 0; psn < 50; psn++) {
			packet = make_send(psn * 7 % 50 * 3);
			packet.opcode |= transports[i] << 5;
			see_packet(&place, packet);
			KUNIT_EXPECT_EQ(test, place.next, 0U);
		}
	EXPECT_FATES(test, &place, 0, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 0U);
	KUNIT_EXPECT_EQ(test, place.flow.packets, 200ULL);
}

static void each_connected_transport_has_gaps(struct kunit *test)
{
	static const u8 transports[] = { ROCE_RC, ROCE_UC, ROCE_XRC };
	struct roce_packet packet;
	size_t i;
	u32 psn;

	for (i = 0; i < ARRAY_SIZE(transports); i++) {
		struct place place = {};

		for (psn = 0; psn < 6; psn += 2) {
			packet = make_send(psn);
			packet.opcode |= transports[i] << 5;
			see_packet(&place, packet);
		}
		KUNIT_EXPECT_EQ(test, missing_of(&place), 2U);
	}
}

/* ---- READs ---- */

static void the_path_mtu_is_that_of_long_messages(struct kunit *test)
{
	static const u8 full[] = {
		ROCE_SEND_FIRST, ROCE_SEND_MIDDLE, ROCE_WRITE_FIRST,
		ROCE_WRITE_MIDDLE, ROCE_READ_RESPONSE_FIRST,
		ROCE_READ_RESPONSE_MIDDLE,
	};
	static const u8 others[] = {
		ROCE_SEND_LAST, ROCE_SEND_ONLY, ROCE_WRITE_LAST,
		ROCE_WRITE_ONLY, ROCE_READ_RESPONSE_LAST,
		ROCE_READ_RESPONSE_ONLY,
	};
	u32 pmtu;
	size_t i;

	for (pmtu = 256; pmtu <= 4096; pmtu *= 2)
		for (i = 0; i < ARRAY_SIZE(full); i++) {
			struct place place = {};

			see_packet(&place, make_full(others[i], 0, pmtu));
			KUNIT_EXPECT_EQ(test, flow_pmtu(&place.flow), 0U);
			see_packet(&place, make_full(full[i], 1, pmtu));
			KUNIT_EXPECT_EQ(test, flow_pmtu(&place.flow), pmtu);
		}
}

static void what_is_no_path_mtu_is_not_learned(struct kunit *test)
{
	static const u32 lengths[] = { 0, 128, 255, 1000, 8192, 65536 };
	struct place place = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++)
		see_packet(&place, make_full(ROCE_SEND_FIRST, i, lengths[i]));
	KUNIT_EXPECT_EQ(test, flow_pmtu(&place.flow), 0U);
}

static void a_read_takes_the_numbers_of_its_responses(struct kunit *test)
{
	/* Bytes, numbers */
	static const u32 reads[][2] = {
		{ 0, 1 }, { 1, 1 }, { 1023, 1 }, { 1024, 1 }, { 1025, 2 },
		{ 2048, 2 }, { 2049, 3 }, { 1 << 20, 1024 },
		{ 1U << 31, 1 << 21 },
	};
	struct place place = {};
	u32 psn = 1;
	size_t i;

	see_packet(&place, make_full(ROCE_SEND_FIRST, 0, 1024));
	for (i = 0; i < ARRAY_SIZE(reads); i++) {
		see_packet(&place, make_read(psn, reads[i][0]));
		psn += reads[i][1];
		KUNIT_EXPECT_EQ_MSG(test, place.flow.next_request + 0U, psn,
				    "%u bytes", reads[i][0]);
	}
	EXPECT_FATES(test, &place, 0, 0, 0, 0);
}

static void without_the_path_mtu_no_read_makes_a_gap(struct kunit *test)
{
	static const u32 numbers[] = { 1, 2, 100, 65535, 65536, 65537, 1 << 21 };
	struct place place = {};
	u32 psn = 10;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		see_packet(&place, make_read(psn, numbers[i] * 256));
		psn += numbers[i];
	}
	see_sends(&place, psn, psn + 1);
	EXPECT_FATES(test, &place, 0, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, missing_of(&place), 0U);
	see_packet(&place, make_send(psn + 3));
	KUNIT_EXPECT_EQ(test, missing_of(&place), 1U);
}

static void a_gap_after_a_read_that_is_known(struct kunit *test)
{
	struct place place = {};

	see_packet(&place, make_full(ROCE_SEND_FIRST, 0, 1024));
	see_packet(&place, make_read(1, 4096));
	see_packet(&place, make_send(7));
	KUNIT_EXPECT_EQ(test, missing_of(&place), 2U);
}

/* All of its numbers come with it, when it is late. */
static void a_read_that_comes_late(struct kunit *test)
{
	struct place place = {};

	see_packet(&place, make_full(ROCE_SEND_FIRST, 0, 1024));
	see_packet(&place, make_send(17));
	KUNIT_EXPECT_EQ(test, missing_of(&place), 16U);
	see_packet(&place, make_read(1, 16384));
	KUNIT_EXPECT_EQ(test, missing_of(&place), 0U);
	see_packet(&place, make_send(18));
	place.ticks += LATE + 1;
	EXPECT_FATES(test, &place, 1, 0, 16, 0);
	KUNIT_EXPECT_EQ(test, place.flow.signals, 0U);
}

static struct kunit_case flow_requests_cases[] = {
	KUNIT_CASE(the_record_is_of_three_cache_lines),
	KUNIT_CASE(packets_and_bytes),
	KUNIT_CASE(ecn_capable_and_marked),
	KUNIT_CASE(the_code_point_is_that_of_the_last),
	KUNIT_CASE(bits_of_the_bth),
	KUNIT_CASE(a_notification_is_counted_apart),
	KUNIT_CASE(in_order_there_is_nothing),
	KUNIT_CASE(a_gap_is_missing_and_then_lost),
	KUNIT_CASE(lost_is_counted_once),
	KUNIT_CASE(time_goes_round_in_a_gap),
	KUNIT_CASE(the_sender_leaves_nothing_out),
	KUNIT_CASE(a_gap_where_numbers_go_round),
	KUNIT_CASE(the_largest_gap),
	KUNIT_CASE(two_gaps_are_missing_together),
	KUNIT_CASE(far_behind_many_are_lost_though_more_are_missing),
	KUNIT_CASE(far_behind_a_few_stay_missing),
	KUNIT_CASE(more_gaps_than_can_be_missing),
	KUNIT_CASE(a_jump_is_a_new_connection),
	KUNIT_CASE(what_was_missing_before_a_jump_is_lost),
	KUNIT_CASE(a_new_connection_has_another_path_mtu),
	KUNIT_CASE(a_new_connection_has_no_long_reads_yet),
	KUNIT_CASE(nobody_has_asked_a_new_connection),
	KUNIT_CASE(datagrams_have_no_gaps),
	KUNIT_CASE(each_connected_transport_has_gaps),
	KUNIT_CASE(the_path_mtu_is_that_of_long_messages),
	KUNIT_CASE(what_is_no_path_mtu_is_not_learned),
	KUNIT_CASE(a_read_takes_the_numbers_of_its_responses),
	KUNIT_CASE(without_the_path_mtu_no_read_makes_a_gap),
	KUNIT_CASE(a_gap_after_a_read_that_is_known),
	KUNIT_CASE(a_read_that_comes_late),
	{}
};

static struct kunit_suite flow_requests_suite = {
	.name		= "peerlane_flow_requests",
	.test_cases	= flow_requests_cases,
};

kunit_test_suite(flow_requests_suite);
