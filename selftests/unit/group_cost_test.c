// SPDX-License-Identifier: GPL-2.0
/* What operations are expected to take, and which way is chosen for it. */
#include <string.h>

#include "tap.h"

#include "group_cost.h"
#include "group_plan.h"

#define KIB	1024ULL
#define MIB	(1024 * KIB)

static struct group_shape shape_of(u32 ranks, u32 aggregators)
{
	return (struct group_shape){
		.size = ranks, .aggregators = aggregators, .segment = 65536,
	};
}

/* 10 us, 100 Gbit/s, 10 GB/s; the own aggregator is near. */
static const struct group_cost fabric = {
	.alpha = 10000, .own = 1000, .beta = 80, .gamma = 100, .colocated = 1,
};

/* Operations that are replicated take more of it than their bytes say. */
static struct group_cost busy_with(u32 replicated)
{
	struct group_cost cost = fabric;

	cost.ratio[GROUP_WAY_SHARED] = GROUP_COST_UNIT;
	cost.ratio[GROUP_WAY_REPLICATED] = replicated;
	return cost;
}

static u64 predict(u32 way, u32 ranks, u64 bytes)
{
	const struct group_shape shape = shape_of(ranks, ranks);

	return group_cost_predict(&fabric, &shape, way, bytes);
}

static void nothing_takes_its_latencies(void)
{
	CHECK_INT(predict(GROUP_WAY_SHARED, 8, 0), 20000);
	CHECK_INT(predict(GROUP_WAY_REPLICATED, 8, 0), 11000);
}

static void bytes_take_their_time(void)
{
	/* 8 ranks, 4 KiB each: in, out, reduced */
	CHECK_INT(predict(GROUP_WAY_SHARED, 8, 4 * KIB),
		  20000 + 2 * (32 * KIB * 80 / 1000) + 32 * KIB * 100 / 1000);
	CHECK_INT(predict(GROUP_WAY_REPLICATED, 8, 4 * KIB),
		  11000 + 36 * KIB * 80 / 1000 + 32 * KIB * 100 / 1000);
}

static void segments_overlap(void)
{
	const struct group_shape one = shape_of(8, 1);
	u64 link = 8 * 64 * MIB * 80 / 1000;
	u64 ns = group_cost_predict(&fabric, &one, GROUP_WAY_SHARED, 64 * MIB);

	/* The slowest stage counts, which is the sum; and a little to fill. */
	CHECK(ns > 8 * 64 * MIB * 100 / 1000);
	CHECK(ns < 2 * link);
}

static void more_aggregators_take_less(void)
{
	struct group_cost cost = fabric;
	u64 before = U64_MAX, ns;
	u32 count;

	cost.colocated = 0;
	for (count = 1; count <= 8; count *= 2) {
		const struct group_shape shape = shape_of(8, count);

		ns = group_cost_predict(&cost, &shape, GROUP_WAY_SHARED, 64 * MIB);
		CHECK(ns < before);
		before = ns;
	}
}

static void colocated_has_both_roles_on_the_wire(void)
{
	const struct group_shape shape = shape_of(8, 8);
	struct group_cost apart = fabric;

	apart.colocated = 0;
	CHECK(group_cost_predict(&fabric, &shape, GROUP_WAY_SHARED, 64 * MIB) >
	      group_cost_predict(&apart, &shape, GROUP_WAY_SHARED, 64 * MIB));
}

/* ---- the choice ---- */

static void small_ones_are_replicated_and_large_ones_not(void)
{
	const struct group_shape shape = shape_of(8, 8);
	const struct group_cost cost = busy_with(GROUP_COST_UNIT * 16 / 10);
	const u32 limit = group_cost_limit(&cost, &shape);
	u64 last = limit - 1;

	CHECK(limit > 1 && limit <= shape.segment);
	CHECK(group_cost_expect(&cost, &shape, GROUP_WAY_REPLICATED, last) <
	      group_cost_expect(&cost, &shape, GROUP_WAY_SHARED, last));
	CHECK(group_cost_expect(&cost, &shape, GROUP_WAY_REPLICATED, 2 * last) >=
	      group_cost_expect(&cost, &shape, GROUP_WAY_SHARED, 2 * last));
}

static void where_an_own_one_is_far_nothing_is_replicated(void)
{
	const struct group_shape shape = shape_of(8, 8);
	struct group_cost cost = fabric;

	cost.own = 20000;
	CHECK_INT(group_cost_limit(&cost, &shape), 0);
}

static void other_shapes_have_no_choice(void)
{
	const struct group_shape few = shape_of(8, 4), single = shape_of(1, 1);

	CHECK_INT(group_cost_limit(&fabric, &few), 0);
	CHECK_INT(group_cost_limit(&fabric, &single), 0);
}

static void what_operations_took_moves_the_choice(void)
{
	const struct group_shape shape = shape_of(8, 8);
	struct group_cost cost = busy_with(4 * GROUP_COST_UNIT);
	u32 limit;

	CHECK_INT(group_cost_limit(&cost, &shape), 0);
	cost = busy_with(GROUP_COST_UNIT * 16 / 10);
	limit = group_cost_limit(&cost, &shape);
	CHECK(limit);
	cost = busy_with(GROUP_COST_UNIT / 4);
	CHECK(group_cost_limit(&cost, &shape) > limit);
}

/* Both were predicted wrong in the same way, as far as is known. */
static void one_known_ratio_is_that_of_both(void)
{
	const struct group_shape shape = shape_of(8, 8);
	struct group_cost cost = fabric;

	cost.ratio[GROUP_WAY_SHARED] = 3 * GROUP_COST_UNIT;
	CHECK_INT(group_cost_limit(&cost, &shape),
		  group_cost_limit(&fabric, &shape));
	CHECK_INT(group_cost_expect(&cost, &shape, GROUP_WAY_REPLICATED, 0),
		  11000 / GROUP_COST_UNIT * 3 * GROUP_COST_UNIT);
}

static void a_ratio_is_what_was_measured(void)
{
	const struct group_shape shape = shape_of(8, 8);

	CHECK_INT(group_cost_ratio(&fabric, &shape, GROUP_WAY_SHARED, 0, 40000),
		  2 * GROUP_COST_UNIT);
	CHECK_INT(group_cost_ratio(&fabric, &shape, GROUP_WAY_SHARED, 0, 1), 1);
	CHECK_INT(group_cost_ratio(&fabric, &shape, GROUP_WAY_SHARED, 0,
				   1ULL << 60), 0);
	CHECK_INT(group_cost_ratio(&fabric, &shape, GROUP_WAY_SHARED, 0,
				   1ULL << 50), GROUP_COST_RATIO_MAX);
}

/* ---- numbers of several ranks ---- */

static void the_worst_rank_counts(void)
{
	struct group_cost cost = fabric, other = fabric;

	other.alpha = 20000;
	other.beta = 0;
	other.colocated = 0;
	other.ratio[GROUP_WAY_SHARED] = 300;
	group_cost_merge(&cost, &other);
	CHECK_INT(cost.alpha, 20000);
	CHECK_INT(cost.beta, 80);
	CHECK_INT(cost.colocated, 0);
	CHECK_INT(cost.ratio[GROUP_WAY_SHARED], 300);
}

static void what_is_new_counts_half(void)
{
	struct group_cost cost = fabric, new = fabric;

	new.alpha = 30000;
	new.beta = 0;
	group_cost_learn(&cost, &new);
	CHECK_INT(cost.alpha, 20000);
	CHECK_INT(cost.beta, 80);
}

/* The largest numbers that a peer may say */
static void nothing_overflows(void)
{
	const struct group_shape shape = {
		.size = GROUP_RANKS_MAX, .aggregators = GROUP_RANKS_MAX,
		.segment = GROUP_SEGMENT_MAX,
	};
	const struct group_cost most = {
		GROUP_COST_LATENCY_MAX, GROUP_COST_LATENCY_MAX,
		GROUP_COST_BYTE_MAX, GROUP_COST_BYTE_MAX,
		{ GROUP_COST_RATIO_MAX, GROUP_COST_RATIO_MAX }, 1,
	};
	u64 bytes, before[GROUP_WAYS] = {}, ns;
	u32 way;

	for (way = 0; way < GROUP_WAYS; way++)
		for (bytes = 1; bytes < 1ULL << 62; bytes *= 2) {
			ns = group_cost_expect(&most, &shape, way, bytes);
			CHECK(ns >= before[way]);
			before[way] = ns;
		}
	CHECK(group_cost_limit(&most, &shape) <= shape.segment + 1);
}

static void rounds_come_less_often(void)
{
	u32 i;

	CHECK_INT(group_cost_round_at(0), 0);
	CHECK_INT(group_cost_round_at(1), 64);
	CHECK_INT(group_cost_round_at(2), 128);
	CHECK_INT(group_cost_round_at(7), 4096);
	CHECK_INT(group_cost_round_at(8), 8192);
	for (i = 0; i < 100; i++)
		CHECK(group_cost_round_at(i) < group_cost_round_at(i + 1));
	CHECK_INT(group_cost_round_at(U32_MAX), 4096ULL * (U32_MAX - 6));
}

/* ---- text ---- */

static void what_is_agreed_on_holds_from_its_operation_on(void)
{
	struct group_limit limit = {};

	group_limit_agree(&limit, 0, 100);
	CHECK_INT(group_limit_at(&limit, 0), 100);
	CHECK_INT(group_limit_at(&limit, 55), 100);
	/* One rank hears of it here, and another one seven operations later. */
	group_limit_agree(&limit, 1, 5000);
	CHECK_INT(group_limit_at(&limit, 56), 100);
	CHECK_INT(group_limit_at(&limit, 63), 100);
	CHECK_INT(group_limit_at(&limit, 64), 5000);
	group_limit_agree(&limit, 2, 0);
	CHECK_INT(group_limit_at(&limit, 127), 5000);
	CHECK_INT(group_limit_at(&limit, 128), 0);
}

static void the_text_has_the_reason(void)
{
	const struct group_shape shape = shape_of(8, 8), few = shape_of(8, 4);
	const struct group_cost busy = busy_with(GROUP_COST_UNIT * 16 / 10);
	struct group_cost far = fabric;
	char text[192];

	group_cost_text(&busy, &shape, group_cost_limit(&busy, &shape), text,
			sizeof(text));
	CHECK_HAS(text, "replicated up to ");
	CHECK_HAS(text, " us are expected there, shared ");
	far.own = 20000;
	group_cost_text(&far, &shape, 0, text, sizeof(text));
	CHECK_HAS(text, "shared: of 0 bytes 40 us are expected, replicated 40 us");
	group_cost_text(&fabric, &few, 0, text, sizeof(text));
	CHECK_HAS(text, "an aggregator for each of the 8 ranks, and there are 4");
	group_cost_text(&fabric, &shape, shape.segment + 1, text, sizeof(text));
	CHECK_HAS(text, "replicated up to a segment");
}

static const struct tap_case cases[] = {
	TAP_CASE(nothing_takes_its_latencies),
	TAP_CASE(bytes_take_their_time),
	TAP_CASE(segments_overlap),
	TAP_CASE(more_aggregators_take_less),
	TAP_CASE(colocated_has_both_roles_on_the_wire),
	TAP_CASE(small_ones_are_replicated_and_large_ones_not),
	TAP_CASE(where_an_own_one_is_far_nothing_is_replicated),
	TAP_CASE(other_shapes_have_no_choice),
	TAP_CASE(what_operations_took_moves_the_choice),
	TAP_CASE(one_known_ratio_is_that_of_both),
	TAP_CASE(a_ratio_is_what_was_measured),
	TAP_CASE(the_worst_rank_counts),
	TAP_CASE(what_is_new_counts_half),
	TAP_CASE(nothing_overflows),
	TAP_CASE(rounds_come_less_often),
	TAP_CASE(what_is_agreed_on_holds_from_its_operation_on),
	TAP_CASE(the_text_has_the_reason),
};

int main(void)
{
	return TAP_RUN(cases);
}
