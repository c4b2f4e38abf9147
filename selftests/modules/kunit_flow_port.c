// SPDX-License-Identifier: GPL-2.0
/* Partners by UDP port: guessed where one alone can be meant, and else not. */
#include <kunit/test.h>
#include <linux/string.h>

#include "flow_port.c"

#define HOLD	100
#define FLOWS	32
#define REACH	1000
#define UP	1
#define DOWN	0

/**
 * struct world - flows between two nodes
 * @flow: those of each side, at their QPN
 * @ports: what is tested
 * @now: time
 * @tag: of the port that all of them have
 * @side: of the flow in hand
 * @qpn: its own
 * @psn: of its answer
 * @is_answer: it has one
 * @is_unanswered: the transport has none
 */
struct world {
	struct {
		bool is_there;
		bool has_answers_only;
		u32 next;	/* PSN of its next request */
		u32 partner;
	} flow[2][FLOWS];
	struct flow_port_set sets[2];
	struct flow_ports ports;
	u32 now;
	u64 tag;
	u32 side;
	u32 qpn;
	u32 psn;
	bool is_answer;
	bool is_unanswered;
};

static void begin(struct world *world)
{
	memset(world, 0, sizeof(*world));
	world->ports.sets = world->sets;
	world->ports.hold = HOLD;
	world->now = 0xffffffc0;
	world->tag = 77;
}

static bool may_answer(const struct world *world, u32 side, u32 qpn)
{
	return !world->flow[side][qpn].has_answers_only &&
	       world->flow[side][qpn].next - world->psn - 1 < REACH;
}

static enum flow_port_fit fit(void *context, bool own_side, u32 qpn)
{
	struct world *world = context;
	u32 side = own_side ? world->side : !world->side;
	u32 partner = world->flow[side][qpn].partner;
	bool fits;

	if (!world->flow[side][qpn].is_there)
		return FLOW_PORT_GONE;
	if (world->is_unanswered)
		fits = true;
	else if (own_side)
		fits = !world->is_answer &&
		       !world->flow[side][qpn].has_answers_only &&
		       world->flow[side][qpn].next + REACH -
		       world->flow[side][world->qpn].next < 2 * REACH;
	else
		fits = world->is_answer && may_answer(world, side, qpn);
	if (!fits)
		return FLOW_PORT_OTHER;
	return partner && partner != world->qpn ? FLOW_PORT_TAKEN : FLOW_PORT_FITS;
}

static void part(void *context, bool own_side, u32 qpn)
{
	struct world *world = context;
	u32 side = own_side ? world->side : !world->side;
	u32 partner = world->flow[side][qpn].partner;

	world->flow[side][qpn].partner = 0;
	world->flow[!side][partner].partner = 0;
}

static u32 seek(struct world *world, u32 side, u32 qpn)
{
	struct flow_port_seeker seeker = {
		.side = side,
		.qpn = qpn,
		.fit = fit,
		.part = part,
		.context = world,
	};
	u32 partner;

	world->side = side;
	world->qpn = qpn;
	partner = flow_port_partner(&world->ports, world->tag, world->now,
				    &seeker);
	if (partner) {
		world->flow[side][qpn].partner = partner;
		world->flow[!side][partner].partner = qpn;
	}
	return partner;
}

/* The next of the requests to @qpn */
static void request(struct world *world, u32 side, u32 qpn, u32 psn)
{
	world->is_answer = false;
	world->flow[side][qpn].is_there = true;
	world->flow[side][qpn].has_answers_only = false;
	world->flow[side][qpn].next = psn + 1;
	if (!world->flow[side][qpn].partner)
		seek(world, side, qpn);
}

/* Returns who it is to, as far as is told. */
static u32 answer(struct world *world, u32 side, u32 qpn, u32 psn)
{
	world->is_answer = true;
	world->psn = psn;
	if (!world->flow[side][qpn].is_there)
		world->flow[side][qpn].has_answers_only = true;
	world->flow[side][qpn].is_there = true;
	if (!world->flow[side][qpn].partner)
		seek(world, side, qpn);
	return world->flow[side][qpn].partner;
}

/* ---- one connection ---- */

static void an_answer_to_the_only_one_is_its_partners(struct kunit *test)
{
	struct world world;

	begin(&world);
	request(&world, UP, 1, 5);
	KUNIT_EXPECT_EQ(test, world.flow[UP][1].partner, 0U);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 2, 5), 1U);
	KUNIT_EXPECT_EQ(test, world.flow[UP][1].partner, 2U);
}

static void an_answer_that_nobody_asked_for_pairs_nothing(struct kunit *test)
{
	struct world world;

	begin(&world);
	request(&world, UP, 1, 5);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 2, 6), 0U);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 2, 5), 1U);
}

static void an_answer_may_be_seen_before_requests(struct kunit *test)
{
	struct world world;

	begin(&world);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 2, 5), 0U);
	request(&world, UP, 1, 6);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 2, 6), 1U);
}

static void ports_and_nodes_are_apart(struct kunit *test)
{
	struct world world;

	begin(&world);
	request(&world, UP, 1, 5);
	world.tag = 78;
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 2, 5), 0U);
}

/* ---- several that have one port ---- */

static void they_are_told_apart_by_their_numbers(struct kunit *test)
{
	struct world world;

	begin(&world);
	request(&world, UP, 1, 5);
	request(&world, UP, 3, 50005);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 4, 50005), 3U);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 2, 5), 1U);
}

static void with_the_same_numbers_nothing_is_guessed(struct kunit *test)
{
	struct world world;

	begin(&world);
	request(&world, UP, 1, 5);
	request(&world, UP, 3, 5);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 4, 5), 0U);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 2, 5), 0U);
	KUNIT_EXPECT_EQ(test, world.flow[UP][1].partner, 0U);
	KUNIT_EXPECT_EQ(test, world.flow[UP][3].partner, 0U);
	/* Until one is ahead */
	request(&world, UP, 3, 500);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 4, 500), 3U);
}

static void a_guess_is_taken_back_when_it_gets_a_rival(struct kunit *test)
{
	struct world world;

	begin(&world);
	request(&world, UP, 1, 5);
	/* It is to 3, of which nothing was seen yet. */
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 4, 5), 1U);
	request(&world, UP, 3, 7);
	KUNIT_EXPECT_EQ(test, world.flow[UP][1].partner, 0U);
	KUNIT_EXPECT_EQ(test, world.flow[DOWN][4].partner, 0U);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 4, 7), 3U);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 2, 5), 0U);
}

static void one_with_other_numbers_is_no_rival(struct kunit *test)
{
	struct world world;

	begin(&world);
	request(&world, UP, 1, 5);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 2, 5), 1U);
	request(&world, UP, 3, 50005);
	KUNIT_EXPECT_EQ(test, world.flow[UP][1].partner, 2U);
}

static void two_that_claim_one_get_none(struct kunit *test)
{
	struct world world;

	begin(&world);
	request(&world, UP, 1, 5);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 2, 5), 1U);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 4, 5), 0U);
	KUNIT_EXPECT_EQ(test, world.flow[DOWN][2].partner, 0U);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 2, 5), 0U);
}

static void when_one_of_them_goes_the_other_gets_it(struct kunit *test)
{
	struct world world;

	begin(&world);
	request(&world, UP, 1, 5);
	answer(&world, DOWN, 2, 5);
	answer(&world, DOWN, 4, 5);
	world.flow[DOWN][4].is_there = false;
	request(&world, UP, 1, 6);
	answer(&world, DOWN, 2, 6);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 2, 6), 1U);
}

static void when_whose_it_is_comes_both_get_theirs(struct kunit *test)
{
	struct world world;

	begin(&world);
	request(&world, UP, 1, 5);
	answer(&world, DOWN, 2, 5);
	answer(&world, DOWN, 4, 5);
	request(&world, UP, 3, 7);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 4, 7), 3U);
	request(&world, UP, 1, 2000);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 2, 2000), 1U);
}

static void without_answers_it_must_be_alone(struct kunit *test)
{
	struct world world;

	begin(&world);
	world.is_unanswered = true;
	request(&world, UP, 1, 5);
	request(&world, DOWN, 2, 9000);
	KUNIT_EXPECT_EQ(test, world.flow[UP][1].partner, 2U);
	request(&world, UP, 3, 70000);
	KUNIT_EXPECT_EQ(test, world.flow[UP][1].partner, 0U);
	begin(&world);
	world.is_unanswered = true;
	request(&world, DOWN, 2, 5);
	request(&world, DOWN, 4, 9000);
	request(&world, UP, 1, 70000);
	request(&world, DOWN, 2, 6);
	KUNIT_EXPECT_EQ(test, world.flow[DOWN][2].partner, 0U);
}

static void who_has_gone_is_not_meant(struct kunit *test)
{
	struct world world;

	begin(&world);
	request(&world, UP, 1, 5);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 2, 5), 1U);
	part(&world, false, 2);
	world.flow[UP][1].is_there = false;
	world.flow[DOWN][2].is_there = false;
	request(&world, UP, 3, 5);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 4, 5), 3U);
}

static void too_many_for_the_room_are_not_guessed(struct kunit *test)
{
	struct world world;
	u32 qpn;

	begin(&world);
	for (qpn = 1; qpn <= FLOW_PORT_FLOWS + 1; qpn++)
		request(&world, UP, qpn, 10000 * qpn);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 20, 10000), 0U);
	/* When the others have gone, who is left has told. */
	for (qpn = 2; qpn <= FLOW_PORT_FLOWS + 1; qpn++)
		world.flow[UP][qpn].is_there = false;
	world.now += HOLD + 1;
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 20, 10000), 1U);
}

static void those_that_went_make_room(struct kunit *test)
{
	struct world world;
	u32 qpn;

	begin(&world);
	for (qpn = 1; qpn <= FLOW_PORT_FLOWS; qpn++)
		request(&world, UP, qpn, 10000 * qpn);
	for (qpn = 1; qpn <= FLOW_PORT_FLOWS; qpn++)
		world.flow[UP][qpn].is_there = false;
	request(&world, UP, 20, 5);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 21, 5), 20U);
}

/* ---- what had to make room ---- */

static void crowd(struct world *world, u64 tags)
{
	u64 tag = world->tag;

	for (world->tag = 1000; world->tag < 1000 + tags; world->tag++)
		request(world, UP, 30, 0);
	world->tag = tag;
}

static void what_took_anothers_place_is_no_guess(struct kunit *test)
{
	struct world world;

	begin(&world);
	request(&world, UP, 1, 5);
	world.now++;
	crowd(&world, FLOW_PORT_WAYS);
	/* As if 1, whose answer this is, had never been. */
	request(&world, UP, 3, 7);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 2, 5), 0U);
	/* It tells again: now both are known. */
	request(&world, UP, 1, 6);
	world.now += HOLD + 1;
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 2, 6), 0U);
	request(&world, UP, 1, 8);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 2, 8), 1U);
}

static void nobody_waits_in_what_was_long_unused(struct kunit *test)
{
	struct world world;

	begin(&world);
	request(&world, UP, 1, 5);
	crowd(&world, FLOW_PORT_WAYS - 1);
	world.now += HOLD + 1;
	world.tag = 78;
	request(&world, UP, 3, 5);
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 4, 5), 3U);
}

static void the_longest_unused_makes_room(struct kunit *test)
{
	struct world world;

	begin(&world);
	request(&world, UP, 1, 5);
	world.now++;
	crowd(&world, FLOW_PORT_WAYS - 1);
	world.now++;
	request(&world, UP, 1, 5);
	world.tag = 78;
	request(&world, UP, 3, 5);
	world.tag = 77;
	KUNIT_EXPECT_EQ(test, answer(&world, DOWN, 2, 5), 1U);
}

/* ---- any order ---- */

static u32 draw(u32 *seed, u32 below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

#define PAIRS	3
#define STEPS	300

/*
 * A connection @pair, up to @pair + 1 and down to @pair + 11, sends or answers.
 * Its requests are seen, before any answer.
 */
static void go_on(struct world *world, u32 *seed, u32 next[PAIRS],
		  u32 answered[PAIRS])
{
	u32 pair = draw(seed, PAIRS);

	if (answered[pair] == next[pair] || draw(seed, 2)) {
		request(world, UP, pair + 1, next[pair]++);
		return;
	}
	answered[pair] += 1 + draw(seed, next[pair] - answered[pair]);
	answer(world, DOWN, pair + 11, answered[pair] - 1);
}

static u32 wrong_ones(const struct world *world)
{
	u32 pair, partner, wrong = 0;

	for (pair = 0; pair < PAIRS; pair++) {
		partner = world->flow[UP][pair + 1].partner;
		wrong += partner && partner != pair + 11;
		partner = world->flow[DOWN][pair + 11].partner;
		wrong += partner && partner != pair + 1;
	}
	return wrong;
}

/* Now and then others take the place. */
static void no_order_of_packets_makes_a_wrong_pair(struct kunit *test)
{
	u32 round, step, seed = 1, pairs = 0, wrong = 0;
	struct world world;

	for (round = 0; round < 200; round++) {
		u32 next[PAIRS], answered[PAIRS], pair;

		begin(&world);
		for (pair = 0; pair < PAIRS; pair++)
			answered[pair] = next[pair] = 100000 + draw(&seed, 40);
		for (step = 0; step < STEPS; step++) {
			go_on(&world, &seed, next, answered);
			world.now += draw(&seed, 3);
			if (!draw(&seed, 40))
				crowd(&world, FLOW_PORT_WAYS);
			wrong += wrong_ones(&world);
		}
		for (pair = 0; pair < PAIRS; pair++)
			pairs += world.flow[UP][pair + 1].partner != 0;
	}
	KUNIT_EXPECT_EQ(test, wrong, 0U);
	KUNIT_EXPECT_TRUE(test, pairs > 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(an_answer_to_the_only_one_is_its_partners),
	KUNIT_CASE(an_answer_that_nobody_asked_for_pairs_nothing),
	KUNIT_CASE(an_answer_may_be_seen_before_requests),
	KUNIT_CASE(ports_and_nodes_are_apart),
	KUNIT_CASE(they_are_told_apart_by_their_numbers),
	KUNIT_CASE(with_the_same_numbers_nothing_is_guessed),
	KUNIT_CASE(a_guess_is_taken_back_when_it_gets_a_rival),
	KUNIT_CASE(one_with_other_numbers_is_no_rival),
	KUNIT_CASE(two_that_claim_one_get_none),
	KUNIT_CASE(when_one_of_them_goes_the_other_gets_it),
	KUNIT_CASE(when_whose_it_is_comes_both_get_theirs),
	KUNIT_CASE(without_answers_it_must_be_alone),
	KUNIT_CASE(who_has_gone_is_not_meant),
	KUNIT_CASE(too_many_for_the_room_are_not_guessed),
	KUNIT_CASE(those_that_went_make_room),
	KUNIT_CASE(what_took_anothers_place_is_no_guess),
	KUNIT_CASE(nobody_waits_in_what_was_long_unused),
	KUNIT_CASE(the_longest_unused_makes_room),
	KUNIT_CASE(no_order_of_packets_makes_a_wrong_pair),
	{}
};

static struct kunit_suite suite = {
	.name = "peerlane_flow_port",
	.test_cases = cases,
};

kunit_test_suite(suite);
