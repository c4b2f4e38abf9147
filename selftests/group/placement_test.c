// SPDX-License-Identifier: GPL-2.0
/* Placements: the same bits by each, what is chosen, and how they end. */
#include "group.h"

#define LENGTH	(2 * MIB)
#define HALF	(LENGTH / 2)
#define RANKS	3

#define SUM_F32(_count, ...) GROUP_OP(ALL_REDUCE,			\
	.type = PEERLANE_TYPE_F32, .op = PEERLANE_REDUCE_SUM,		\
	.count = _count, __VA_ARGS__)

static float *floats(struct world *world, uint32_t rank, size_t offset)
{
	return (float *)(world->pages[rank].mem + offset);
}

/* 1e30, 1 and -1e30 in turns: only one order of summation gives this result. */
static float given(uint32_t rank, size_t i)
{
	static const float values[] = { 1e30f, 1.0f, -1e30f };

	return values[(rank + i) % 3] * (float)(1 + i % 5);
}

static float expected(uint32_t ranks, size_t i)
{
	volatile float sum = given(0, i);
	uint32_t rank;

	for (rank = 1; rank < ranks; rank++)
		sum += given(rank, i);
	return sum;
}

static void give(struct world *world, size_t offset, size_t count)
{
	uint32_t rank;
	size_t i;

	for (rank = 0; rank < world->ranks; rank++)
		for (i = 0; i < count; i++)
			floats(world, rank, offset)[i] = given(rank, i);
}

/* Of all ranks: elements that have other bits */
static long long wrong_bits(struct world *world, size_t offset, size_t count)
{
	long long wrong = 0;
	uint32_t rank;
	size_t i;

	for (rank = 0; rank < world->ranks; rank++)
		for (i = 0; i < count; i++) {
			float want = expected(world->ranks, i);

			wrong += !!memcmp(&floats(world, rank, offset)[i],
					  &want, sizeof(want));
		}
	return wrong;
}

static bool world_placed(struct world *world, uint32_t placement)
{
	return world_of(world, RANKS, RANKS, LENGTH,
			GROUP_SETTINGS(.placement = placement));
}

/* ---- what is computed ---- */

static void sum_all(struct world *world, bool in_place)
{
	static const size_t counts[] = {
		0, 1, 2, 1000, SEGMENT / 4 - 1, SEGMENT / 4, SEGMENT / 4 + 1,
	};
	size_t i, to = in_place ? 0 : HALF;

	for (i = 0; i < ARRAY_SIZE(counts) && !tap.bad; i++) {
		give(world, 0, counts[i]);
		CHECK_INT(world_do(world, SUM_F32(counts[i],
						  .receive_offset = to)), 0);
		CHECK_INT(wrong_bits(world, to, counts[i]), 0);
	}
}

static void every_placement_gives_the_same_bits(void)
{
	static const uint32_t placements[] = {
		PEERLANE_PLACEMENT_AUTO, PEERLANE_PLACEMENT_DEDICATED,
		PEERLANE_PLACEMENT_COLOCATED, PEERLANE_PLACEMENT_REPLICATED,
	};
	struct world world;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(placements) && !tap.bad; i++) {
		if (world_placed(&world, placements[i])) {
			sum_all(&world, false);
			sum_all(&world, true);
		}
		world_end(&world);
	}
}

/* In every order, the others some time after the first */
static void ranks_may_come_in_any_order(void)
{
	static const uint32_t orders[][RANKS] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
		{ 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
	};
	const struct peerlane_group_op op = SUM_F32(500);
	struct world world;
	size_t i;
	uint32_t k;

	if (world_placed(&world, PEERLANE_PLACEMENT_REPLICATED))
		for (i = 0; i < ARRAY_SIZE(orders) && !tap.bad; i++) {
			give(&world, 0, 500);
			for (k = 0; k < RANKS; k++) {
				CHECK_INT(group_begin(world.rank[orders[i][k]],
						      &op, 1), 1);
				usleep(20000);
			}
			for (k = 0; k < RANKS; k++)
				CHECK_INT(group_next(world.rank[k],
						     PEERLANE_GROUP_RECORD_DONE)
					  .status, 0);
			CHECK_INT(wrong_bits(&world, 0, 500), 0);
		}
	world_end(&world);
}

/* More than the window, each with values of its own */
static void many_are_under_way_at_once(void)
{
	enum { OPS = 40, COUNT = 100 };
	struct peerlane_group_op ops[OPS];
	struct world world;
	uint32_t i, rank;

	for (i = 0; i < OPS; i++)
		ops[i] = SUM_F32(COUNT, .send_offset = i * COUNT * 4,
				 .receive_offset = i % 2 ? i * COUNT * 4 :
						   HALF + i * COUNT * 4);
	if (world_placed(&world, PEERLANE_PLACEMENT_REPLICATED)) {
		for (i = 0; i < OPS; i++)
			give(&world, i * COUNT * 4, COUNT);
		for (rank = 0; rank < RANKS; rank++)
			CHECK_INT(group_begin(world.rank[rank], ops, OPS), OPS);
		for (i = 0; i < OPS * RANKS; i++)
			CHECK_INT(group_next(world.rank[i % RANKS],
					     PEERLANE_GROUP_RECORD_DONE).status,
				  0);
		for (i = 0; i < OPS; i++)
			CHECK_INT(wrong_bits(&world, ops[i].receive_offset,
					     COUNT), 0);
	}
	world_end(&world);
}

/* A barrier is over when all have come, and not before. */
static void a_barrier_waits_for_all(void)
{
	const struct peerlane_group_op op = GROUP_OP(BARRIER);
	struct peerlane_group_record record;
	struct world world;
	uint32_t i;

	if (world_placed(&world, PEERLANE_PLACEMENT_REPLICATED)) {
		for (i = 0; i < RANKS - 1; i++)
			CHECK_INT(group_begin(world.rank[i], &op, 1), 1);
		CHECK_INT(group_read(world.rank[0], &record, 0.5), 0);
		CHECK_INT(group_begin(world.rank[RANKS - 1], &op, 1), 1);
		for (i = 0; i < RANKS; i++)
			CHECK_INT(group_next(world.rank[i],
					     PEERLANE_GROUP_RECORD_DONE).status,
				  0);
		CHECK_INT(group_info(world.rank[0]).ops_replicated, 1);
	}
	world_end(&world);
}

/* ---- by which way ---- */

static void only_what_fits_a_segment_is_replicated(void)
{
	struct world world;

	if (world_placed(&world, PEERLANE_PLACEMENT_REPLICATED)) {
		CHECK_INT(world_do(&world, SUM_F32(SEGMENT / 4)), 0);
		CHECK_INT(group_info(world.rank[1]).ops_replicated, 1);
		CHECK_INT(world_do(&world, SUM_F32(SEGMENT / 4 + 1)), 0);
		CHECK_INT(group_info(world.rank[1]).ops_replicated, 1);
		CHECK_INT(group_info(world.rank[1]).ops_done, 2);
	}
	world_end(&world);
}

static void dedicated_ones_never_are(void)
{
	struct peerlane_group_info info;
	struct world world;

	if (world_placed(&world, PEERLANE_PLACEMENT_DEDICATED)) {
		CHECK_INT(world_do(&world, SUM_F32(1)), 0);
		info = group_info(world.rank[0]);
		CHECK_INT(info.ops_replicated, 0);
		CHECK_HAS(info.reason, "as the group was made");
	}
	world_end(&world);
}

/* What was measured is that of all ranks, so they all choose the same. */
static void check_agreed(struct world *world)
{
	struct peerlane_group_info first = group_info(world->rank[0]), info;
	uint32_t i;

	CHECK(first.rounds);
	CHECK(first.alpha_ns);
	CHECK(first.own_ns);
	CHECK(first.gamma_ps);
	CHECK_INT(first.colocated, 1);	/* all are on this node */
	for (i = 1; i < world->ranks; i++) {
		info = group_info(world->rank[i]);
		CHECK_INT(info.alpha_ns, first.alpha_ns);
		CHECK_INT(info.beta_ps, first.beta_ps);
		CHECK_INT(info.gamma_ps, first.gamma_ps);
		CHECK_INT(info.replicated_below, first.replicated_below);
		CHECK_INT(info.ops_replicated, first.ops_replicated);
	}
	printf("# alpha %u ns, own %u ns, beta %u ps, gamma %u ps, ratios %u and %u: %s\n",
	       first.alpha_ns, first.own_ns, first.beta_ps, first.gamma_ps,
	       first.shared_permille, first.replicated_permille, first.reason);
}

static void auto_does_as_it_measured(void)
{
	struct peerlane_group_info info;
	struct world world;
	uint64_t before;
	size_t count;

	if (world_placed(&world, PEERLANE_PLACEMENT_AUTO))
		for (count = 1; count <= HALF / 4; count *= 8) {
			before = group_info(world.rank[0]).ops_replicated;
			give(&world, 0, count);
			CHECK_INT(world_do(&world, SUM_F32(count,
						.receive_offset = HALF)), 0);
			CHECK_INT(wrong_bits(&world, HALF, count), 0);
			info = group_info(world.rank[0]);
			CHECK_INT(info.ops_replicated - before,
				  count * 4 < info.replicated_below);
		}
	check_agreed(&world);
	world_end(&world);
}

static void auto_learns_from_operations(void)
{
	struct peerlane_group_info info;
	struct world world;
	uint32_t i;

	if (world_placed(&world, PEERLANE_PLACEMENT_AUTO)) {
		CHECK_INT(world_do(&world, SUM_F32(1)), 0);
		info = group_info(world.rank[0]);
		CHECK_INT(info.rounds, 1);
		CHECK_INT(info.shared_permille + info.replicated_permille, 0);
		for (i = 0; i < 130 && !tap.bad; i++)
			CHECK_INT(world_do(&world, SUM_F32(1 + i)), 0);
		info = group_info(world.rank[0]);
		CHECK_INT(info.rounds, 3);
		CHECK(info.shared_permille + info.replicated_permille);
		check_agreed(&world);
	}
	world_end(&world);
}

static void auto_has_no_choice_of_other_shapes(void)
{
	struct peerlane_group_info info;
	struct world world;

	if (world_new(&world, 3, 2, LENGTH)) {
		CHECK_INT(world_do(&world, SUM_F32(1)), 0);
		info = group_info(world.rank[0]);
		CHECK_INT(info.ops_replicated, 0);
		CHECK_INT(info.rounds, 0);
		CHECK_HAS(info.reason, "for each of the 3 ranks, and there are 2");
	}
	world_end(&world);
}

/* ---- what is refused, and how they end ---- */

static void fewer_aggregators_than_ranks_are_refused(void)
{
	struct aggregator aggregator = aggregator_of(AGGREGATOR_SETTINGS(), POOL);
	uint32_t placement;
	int fd;

	for (placement = PEERLANE_PLACEMENT_COLOCATED;
	     placement <= PEERLANE_PLACEMENT_REPLICATED; placement++) {
		fd = group_create(GROUP_SETTINGS(.ranks = 2,
						 .placement = placement));
		CHECK(fd >= 0);
		CHECK_INT(group_join(fd, aggregator.address, 1), -EINVAL);
		close(fd);
	}
	CHECK_INT(group_create(GROUP_SETTINGS(.ranks = 2, .placement = 5)),
		  -EOPNOTSUPP);
	aggregator_end(&aggregator);
}

static void another_placement_is_another_shape(void)
{
	struct aggregator aggregator = aggregator_of(AGGREGATOR_SETTINGS(), POOL);
	int first = group_create(GROUP_SETTINGS(.ranks = 2));
	int second = group_create(GROUP_SETTINGS(.ranks = 2, .rank = 1,
				.placement = PEERLANE_PLACEMENT_DEDICATED));

	set_nonblock(first, true);
	CHECK_INT(group_join(first, aggregator.address, 1), -EINPROGRESS);
	CHECK(WAIT_FOR(aggregator_info(aggregator.fd).groups, PATIENCE));
	CHECK_INT(group_join(second, aggregator.address, 1), -EBADE);
	CHECK_INT(group_info(second).fault_cause, PEERLANE_GROUP_CAUSE_SHAPE);
	close(first);
	close(second);
	aggregator_end(&aggregator);
}

static void check_named(struct world *world, uint32_t rank, uint32_t cause)
{
	struct peerlane_group_record record;
	uint32_t i;

	for (i = 0; i < world->ranks; i++) {
		if (world->rank[i] < 0)
			continue;
		record = group_find(world->rank[i], PEERLANE_GROUP_RECORD_ENDED);
		CHECK_INT(record.cause, cause);
		CHECK_INT(record.rank, rank);
		printf("# rank %u: %s\n", i, group_info(world->rank[i]).text);
	}
}

static void the_rank_with_another_count_is_named(void)
{
	struct peerlane_group_op op = SUM_F32(100);
	struct world world;
	uint32_t i;

	if (world_placed(&world, PEERLANE_PLACEMENT_REPLICATED)) {
		for (i = 0; i < RANKS; i++) {
			op.count = 100 + (i == 1);
			CHECK_INT(group_begin(world.rank[i], &op, 1), 1);
		}
		check_named(&world, 1, PEERLANE_GROUP_CAUSE_MISMATCH);
	}
	world_end(&world);
}

/* Its operation goes by another way, too: that is not what is said of it. */
static void the_rank_beyond_a_segment_is_named(void)
{
	struct peerlane_group_op op = SUM_F32(SEGMENT / 4);
	struct world world;
	uint32_t i;

	if (world_placed(&world, PEERLANE_PLACEMENT_REPLICATED)) {
		for (i = 0; i < RANKS; i++) {
			op.count = SEGMENT / 4 + (i == 1);
			CHECK_INT(group_begin(world.rank[i], &op, 1), 1);
		}
		check_named(&world, 1, PEERLANE_GROUP_CAUSE_MISMATCH);
		CHECK_INT(group_info(world.rank[0]).fault_field, 5);
	}
	world_end(&world);
}

static void end_one(uint32_t placement)
{
	const struct peerlane_group_op op = SUM_F32(100);
	struct world world;
	uint32_t i;

	if (world_placed(&world, placement)) {
		CHECK_INT(world_do(&world, op), 0);
		for (i = 0; i < RANKS - 1; i++)
			CHECK_INT(group_begin(world.rank[i], &op, 1), 1);
		close(world.rank[RANKS - 1]);
		world.rank[RANKS - 1] = -1;
		check_named(&world, RANKS - 1, PEERLANE_GROUP_CAUSE_LEFT);
	}
	for (i = 0; i < world.aggregators; i++)
		CHECK(WAIT_FOR(!aggregator_info(world.aggregator[i].fd).pool_used,
			       PATIENCE));
	world_end(&world);
}

/* Others may have it later: an aggregator may still wait for somebody's data. */
static void who_has_its_result_may_leave(void)
{
	const struct peerlane_group_create settings =
		GROUP_SETTINGS(.placement = PEERLANE_PLACEMENT_REPLICATED);
	const struct peerlane_group_op op = SUM_F32(100);
	struct world world = {};
	uint32_t i, round;

	world_aggregators(&world, RANKS, POOL);
	for (round = 0; round < 8 && !tap.bad; round++) {
		world.ranks = RANKS;
		if (!world_join(&world, settings, LENGTH))
			break;
		for (i = 0; i < RANKS; i++)
			CHECK_INT(group_begin(world.rank[i], &op, 1), 1);
		for (i = 0; i < RANKS; i++) {
			CHECK_INT(group_next(world.rank[i],
					     PEERLANE_GROUP_RECORD_DONE).status, 0);
			close(world.rank[i]);
			world.rank[i] = -1;
		}
		world_leave(&world);
	}
	world_end(&world);
}

static void who_leaves_a_replicated_one_is_named(void)
{
	end_one(PEERLANE_PLACEMENT_REPLICATED);
}

static void who_leaves_an_auto_one_is_named(void)
{
	end_one(PEERLANE_PLACEMENT_AUTO);
}

static void who_is_late_in_a_replicated_one_is_named(void)
{
	const struct peerlane_group_create settings =
		GROUP_SETTINGS(.op_timeout_ms = 1000,
			       .placement = PEERLANE_PLACEMENT_REPLICATED);
	const struct peerlane_group_op op = SUM_F32(100);
	struct world world;
	uint32_t i;

	if (world_of(&world, RANKS, RANKS, LENGTH, settings)) {
		for (i = 1; i < RANKS; i++)
			CHECK_INT(group_begin(world.rank[i], &op, 1), 1);
		check_named(&world, 0, PEERLANE_GROUP_CAUSE_LATE);
	}
	world_end(&world);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(every_placement_gives_the_same_bits),
		TAP_CASE(ranks_may_come_in_any_order),
		TAP_CASE(many_are_under_way_at_once),
		TAP_CASE(a_barrier_waits_for_all),
		TAP_CASE(only_what_fits_a_segment_is_replicated),
		TAP_CASE(dedicated_ones_never_are),
		TAP_CASE(auto_does_as_it_measured),
		TAP_CASE(auto_learns_from_operations),
		TAP_CASE(auto_has_no_choice_of_other_shapes),
		TAP_CASE(fewer_aggregators_than_ranks_are_refused),
		TAP_CASE(another_placement_is_another_shape),
		TAP_CASE(the_rank_with_another_count_is_named),
		TAP_CASE(the_rank_beyond_a_segment_is_named),
		TAP_CASE(who_has_its_result_may_leave),
		TAP_CASE(who_leaves_a_replicated_one_is_named),
		TAP_CASE(who_leaves_an_auto_one_is_named),
		TAP_CASE(who_is_late_in_a_replicated_one_is_named),
	};

	return HARNESS_RUN(cases);
}
