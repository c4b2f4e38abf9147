// SPDX-License-Identifier: GPL-2.0
/*
 * A reliable connection with its own truth: a sender that goes back, a receiver
 * that drops what is out of order and says so once, and between them a way of
 * two parts that lose, delay and refuse. What three places say of it, at the
 * sender, on the way and at the receiver, is compared with what they saw.
 */
#define FLOW_PART	path
#include "flow_make.h"
#include <linux/slab.h>

#define PSNS		6000
#define FLIGHTS		512
#define UNACKED		100	/* as far as a sender goes on */
#define TIMEOUT		400	/* ticks, more than LATE */
#define RNR_WAIT	20
#define ROUNDS		10

/* Of 1000 packets */
struct nature {
	u32 lost[2];		/* of either part of the way */
	u32 answers_lost;
	u32 delayed[2];
	u32 not_ready;
	u32 start;		/* PSN */
	bool is_tolerant;	/* the receiver keeps what is out of order */
	bool is_blind;		/* the places know of no answers */
};

enum { AT_SENDER, AT_MIDDLE, AT_RECEIVER, PLACES };

struct flight {
	u32 due;
	u32 to;			/* place */
	u32 psn;		/* from 0 on */
	bool is_answer;
	bool is_copy;
	u8 syndrome;
};

/* What is known of a place because it is known which packets are copies. */
struct truth {
	u32 highest;		/* first PSN that was not passed yet */
	u32 gaps, lost, reordered, again;
	u8 is_missing[PSNS];
};

struct line {
	struct nature nature;
	u32 random;
	u32 now;
	struct place places[PLACES];
	struct truth truths[PLACES];
	struct flight flights[FLIGHTS];
	u32 first, last;	/* of the flights */
	/* the sender */
	u32 next, unacked, sent, wait, progress;
	u32 timeouts;
	/* the receiver */
	u32 expected;
	bool has_told;
	u8 has_come[PSNS];
};

static bool chance(struct line *line, u32 of_1000)
{
	line->random = line->random * 1664525 + 1013904223;
	return (line->random >> 8) % 1000 < of_1000;
}

/* ---- the way ---- */

static void fly(struct line *line, struct flight flight, u32 ticks)
{
	flight.due = line->now + ticks;
	line->flights[line->last++ % FLIGHTS] = flight;
}

/* From @place on, which it has passed */
static void fly_on(struct line *line, struct flight flight, u32 place)
{
	const struct nature *nature = &line->nature;
	u32 part = flight.is_answer ? place - 1 : place;

	if (chance(line, flight.is_answer ? nature->answers_lost :
			 nature->lost[part]) && flight.psn)
		return;
	flight.to = flight.is_answer ? place - 1 : place + 1;
	/* The first is the first for all. */
	if (flight.is_answer || !flight.psn ||
	    !chance(line, nature->delayed[part]))
		fly(line, flight, 2);
	else
		fly(line, flight, 3 + line->random % 13);
}

/* ---- the truth of a place ---- */

static void truth_of_new(struct truth *truth, u32 psn)
{
	if (psn > truth->highest)
		truth->gaps++;
	for (; truth->highest < psn; truth->highest++)
		truth->is_missing[truth->highest] = 1;
	truth->highest++;
}

static void truth_of_old(struct truth *truth, u32 psn, bool is_copy)
{
	if (is_copy)
		truth->again++;
	if (truth->is_missing[psn] && is_copy)
		truth->lost++;
	else if (truth->is_missing[psn])
		truth->reordered++;
	truth->is_missing[psn] = 0;
}

static void pass_packet(struct line *line, const struct flight *flight, u32 at)
{
	struct place *place = &line->places[at];
	struct truth *truth = &line->truths[at];

	place->ticks = line->now;
	see_packet(place, make_asking(line->nature.start + flight->psn));
	if (flight->psn >= truth->highest)
		truth_of_new(truth, flight->psn);
	else
		truth_of_old(truth, flight->psn, flight->is_copy);
}

static void pass_answer(struct line *line, const struct flight *flight, u32 at)
{
	struct place *place = &line->places[at];

	place->ticks = line->now;
	if (!line->nature.is_blind)
		see_answer(place, make_answer(flight->syndrome,
					      line->nature.start + flight->psn));
}

/* ---- the receiver ---- */

static void say(struct line *line, u8 syndrome, u32 psn)
{
	struct flight flight = {
		.is_answer = true, .psn = psn, .syndrome = syndrome,
	};

	pass_answer(line, &flight, AT_RECEIVER);
	fly_on(line, flight, AT_RECEIVER);
}

static void receive_in_order(struct line *line)
{
	if (chance(line, line->nature.not_ready)) {
		line->has_told = true;
		say(line, RNR, line->expected);
		return;
	}
	while (line->expected < PSNS && line->has_come[line->expected])
		line->expected++;
	line->has_told = false;
	say(line, ACK, line->expected - 1);
}

static void receive(struct line *line, const struct flight *flight)
{
	if (flight->psn < line->expected) {
		say(line, ACK, line->expected - 1);
		return;
	}
	if (flight->psn == line->expected || line->nature.is_tolerant)
		line->has_come[flight->psn] = 1;
	if (flight->psn == line->expected) {
		receive_in_order(line);
		return;
	}
	if (line->has_told || line->nature.is_tolerant)
		return;
	line->has_told = true;
	say(line, NAK_SEQUENCE, line->expected);
}

/* ---- the sender ---- */

static void hear(struct line *line, const struct flight *flight)
{
	u32 psn = flight->psn;

	line->progress = line->now;
	if (flight->syndrome == ACK) {
		line->unacked = max(line->unacked, psn + 1);
		line->next = max(line->next, line->unacked);
		return;
	}
	line->unacked = max(line->unacked, psn);
	line->next = min(line->next, max(psn, line->unacked));
	if (flight->syndrome == RNR)
		line->wait = RNR_WAIT;
}

static void look_at_the_time(struct line *line)
{
	if (line->now - line->progress < TIMEOUT || line->wait)
		return;
	line->progress = line->now;
	if (line->next == line->unacked)
		return;
	line->next = line->unacked;
	line->timeouts++;
}

static void send(struct line *line)
{
	struct flight flight = { .psn = line->next };

	if (line->wait) {
		line->wait--;
		return;
	}
	if (line->next >= PSNS || line->next >= line->unacked + UNACKED ||
	    chance(line, 100))
		return;
	flight.is_copy = line->next < line->sent;
	line->next++;
	line->sent = max(line->sent, line->next);
	pass_packet(line, &flight, AT_SENDER);
	fly_on(line, flight, AT_SENDER);
}

static void arrive(struct line *line, struct flight flight)
{
	if (flight.is_answer)
		pass_answer(line, &flight, flight.to);
	else
		pass_packet(line, &flight, flight.to);
	if (flight.to == AT_MIDDLE)
		fly_on(line, flight, AT_MIDDLE);
	else if (flight.is_answer)
		hear(line, &flight);
	else
		receive(line, &flight);
}

/* What is due, in the order that it was sent in; what is not stays. */
static void tick(struct line *line)
{
	u32 last = line->last;
	struct flight flight;

	for (; line->first != last; line->first++) {
		flight = line->flights[line->first % FLIGHTS];
		if (flight.due == line->now)
			arrive(line, flight);
		else
			line->flights[line->last++ % FLIGHTS] = flight;
	}
	look_at_the_time(line);
	send(line);
	line->now++;
}

static struct line *run_line(struct kunit *test, const struct nature *nature,
			     u32 random)
{
	struct line *line = kmalloc(sizeof(*line), GFP_KERNEL);
	u32 i, end = 2000000;

	KUNIT_ASSERT_NOT_NULL(test, line);
	memset(line, 0, sizeof(*line));
	line->nature = *nature;
	line->random = random;
	for (i = 0; i < PLACES; i++)
		line->places[i].knows = !nature->is_blind;
	line->places[AT_SENDER].is_sender = true;
	while (line->unacked < PSNS && line->now < end)
		tick(line);
	KUNIT_EXPECT_EQ(test, line->unacked, (u32)PSNS);
	for (i = 0; i < PLACES; i++) {
		line->places[i].ticks += LATE + 1;
		see_packet(&line->places[i], make_send(nature->start + PSNS));
	}
	return line;
}

/* ---- what must hold ---- */

static void check_sender(struct kunit *test, const struct line *line)
{
	const struct flow_state *flow = &line->places[AT_SENDER].flow;

	KUNIT_EXPECT_EQ(test, flow->retransmitted,
			(u64)line->truths[AT_SENDER].again);
	KUNIT_EXPECT_EQ(test, flow->retransmitted_bytes,
			line->truths[AT_SENDER].again * 1060ULL);
	KUNIT_EXPECT_EQ(test, flow->gaps + flow->lost + flow->reordered, 0ULL);
	if (line->nature.is_blind)
		KUNIT_EXPECT_EQ(test, flow->timeouts, 0ULL);
	else
		KUNIT_EXPECT_EQ(test, flow->timeouts, (u64)line->timeouts);
}

static void check_place(struct kunit *test, const struct line *line, u32 at)
{
	const struct flow_state *flow = &line->places[at].flow;
	const struct truth *truth = &line->truths[at];

	KUNIT_EXPECT_EQ_MSG(test, flow->gaps, (u64)truth->gaps, "at %u", at);
	KUNIT_EXPECT_EQ_MSG(test, flow->lost, (u64)truth->lost, "at %u", at);
	KUNIT_EXPECT_EQ_MSG(test, flow->reordered, (u64)truth->reordered,
			    "at %u", at);
	KUNIT_EXPECT_EQ_MSG(test, flow->retransmitted, (u64)truth->again,
			    "at %u", at);
}

static bool is_about(u64 got, u64 want, u64 room)
{
	return got + room >= want && got <= want + room;
}

/* Where they have to guess: within 1/20 and a few */
static void check_about(struct kunit *test, const struct line *line, u32 at)
{
	const struct flow_state *flow = &line->places[at].flow;
	const struct truth *truth = &line->truths[at];
	u64 left_out = truth->lost + truth->reordered;

	KUNIT_EXPECT_EQ(test, flow->gaps, (u64)truth->gaps);
	KUNIT_EXPECT_EQ(test, flow->lost + flow->reordered, left_out);
	KUNIT_ASSERT_TRUE_MSG(test, is_about(flow->lost, truth->lost,
					     left_out / 20 + 3),
			      "at %u: lost %llu, not %u", at,
			      (u64)flow->lost, truth->lost);
	KUNIT_ASSERT_TRUE_MSG(test, is_about(flow->retransmitted, truth->again,
					     truth->again / 20 + 3),
			      "at %u: again %llu, not %u", at,
			      (u64)flow->retransmitted, truth->again);
}

static void check_all(struct kunit *test, const struct nature *nature,
		      void (*check)(struct kunit *test,
				    const struct line *line, u32 at))
{
	struct line *line;
	u32 i;

	for (i = 1; i <= ROUNDS; i++) {
		line = run_line(test, nature, i);
		check_sender(test, line);
		check(test, line, AT_MIDDLE);
		check(test, line, AT_RECEIVER);
		kfree(line);
	}
}

static void nothing_happens(struct kunit *test)
{
	static const struct nature nature = {};

	check_all(test, &nature, check_place);
}

static void losses_before_the_middle(struct kunit *test)
{
	static const struct nature nature = { .lost = { 10, 0 } };

	check_all(test, &nature, check_place);
}

static void losses_behind_the_middle(struct kunit *test)
{
	static const struct nature nature = { .lost = { 0, 10 } };

	check_all(test, &nature, check_place);
}

static void losses_where_numbers_go_round(struct kunit *test)
{
	static const struct nature nature = { .lost = { 10, 0 },
					      .start = 0xfff800 };

	check_all(test, &nature, check_place);
}

static void losses_on_both_parts(struct kunit *test)
{
	static const struct nature nature = { .lost = { 8, 8 } };

	check_all(test, &nature, check_about);
}

static void losses_of_answers_too(struct kunit *test)
{
	static const struct nature nature = { .lost = { 5, 5 },
					      .answers_lost = 50 };

	check_all(test, &nature, check_about);
}

static void losses_where_answers_are_not_seen(struct kunit *test)
{
	static const struct nature nature = { .lost = { 5, 5 },
					      .is_blind = true };

	check_all(test, &nature, check_about);
}

static void other_ways_for_some(struct kunit *test)
{
	static const struct nature nature = { .delayed = { 50, 50 },
					      .is_tolerant = true };

	check_all(test, &nature, check_place);
}

static void other_ways_for_many(struct kunit *test)
{
	static const struct nature nature = { .delayed = { 400, 400 },
					      .is_tolerant = true,
					      .start = 0xfff000 };

	check_all(test, &nature, check_place);
}

static void other_ways_where_answers_are_not_seen(struct kunit *test)
{
	static const struct nature nature = { .delayed = { 200, 200 },
					      .is_tolerant = true,
					      .is_blind = true };

	check_all(test, &nature, check_place);
}

/* An original may come after its copy, and nobody can tell which was which. */
static void other_ways_to_a_strict_receiver(struct kunit *test)
{
	static const struct nature nature = { .delayed = { 10, 0 } };
	const struct flow_state *flow;
	const struct truth *truth;
	struct line *line;
	u32 i;

	for (i = 1; i <= ROUNDS; i++) {
		line = run_line(test, &nature, i);
		check_sender(test, line);
		flow = &line->places[AT_MIDDLE].flow;
		truth = &line->truths[AT_MIDDLE];
		KUNIT_EXPECT_EQ(test, flow->lost + flow->reordered,
				(u64)truth->lost + truth->reordered);
		KUNIT_ASSERT_TRUE_MSG(test, is_about(flow->retransmitted,
						     truth->again,
						     truth->again / 20 + 3),
				      "again %llu, not %u",
				      (u64)flow->retransmitted, truth->again);
		kfree(line);
	}
}

static void a_receiver_that_is_often_not_ready(struct kunit *test)
{
	static const struct nature nature = { .not_ready = 20 };
	struct line *line;
	u32 i, at;

	for (i = 1; i <= ROUNDS; i++) {
		line = run_line(test, &nature, i);
		check_sender(test, line);
		for (at = 0; at < PLACES; at++) {
			check_place(test, line, at);
			KUNIT_EXPECT_EQ(test, line->places[at].flow.signals, 0U);
			KUNIT_EXPECT_EQ(test, line->places[at].flow.timeouts,
					0ULL);
		}
		kfree(line);
	}
}

static struct kunit_case flow_path_cases[] = {
	KUNIT_CASE(nothing_happens),
	KUNIT_CASE(losses_before_the_middle),
	KUNIT_CASE(losses_behind_the_middle),
	KUNIT_CASE(losses_where_numbers_go_round),
	KUNIT_CASE(losses_on_both_parts),
	KUNIT_CASE(losses_of_answers_too),
	KUNIT_CASE(losses_where_answers_are_not_seen),
	KUNIT_CASE(other_ways_for_some),
	KUNIT_CASE(other_ways_for_many),
	KUNIT_CASE(other_ways_where_answers_are_not_seen),
	KUNIT_CASE(other_ways_to_a_strict_receiver),
	KUNIT_CASE(a_receiver_that_is_often_not_ready),
	{}
};

static struct kunit_suite flow_path_suite = {
	.name		= "peerlane_flow_path",
	.test_cases	= flow_path_cases,
};

kunit_test_suite(flow_path_suite);
