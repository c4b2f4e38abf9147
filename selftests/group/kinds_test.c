// SPDX-License-Identifier: GPL-2.0
/* The other kinds of operations, other types, and many at once. */
#include "group.h"

#define LENGTH	(8 * MIB)
#define HALF	(LENGTH / 2)
#define RANKS	3
#define COUNT	50000		/* several segments, and a part of one */
#define BYTES	(COUNT * 4)

static int32_t given(uint32_t rank, size_t i)
{
	return (int32_t)((rank + 1) * 100000007u + i * 13);
}

static int32_t *at(struct world *world, uint32_t rank, size_t offset)
{
	return (int32_t *)(world->pages[rank].mem + offset);
}

static void give(struct world *world, size_t offset, size_t count)
{
	uint32_t rank;
	size_t i;

	for (rank = 0; rank < world->ranks; rank++) {
		memset(world->pages[rank].mem + HALF, 0xaa, HALF);
		for (i = 0; i < count; i++)
			at(world, rank, offset)[i] = given(rank, i);
	}
}

static int32_t sum_of(uint32_t ranks, size_t i)
{
	uint32_t rank, sum = 0;

	for (rank = 0; rank < ranks; rank++)
		sum += given(rank, i);
	return (int32_t)sum;
}

/* Sums of the elements from @first on */
static bool has_sums(struct world *world, uint32_t rank, size_t offset, size_t first)
{
	size_t i;

	for (i = 0; i < COUNT; i++)
		if (at(world, rank, offset)[i] != sum_of(world->ranks, first + i))
			return false;
	return true;
}

/* What @of gave */
static bool has_given(struct world *world, uint32_t rank, size_t offset, uint32_t of)
{
	size_t i;

	for (i = 0; i < COUNT; i++)
		if (at(world, rank, offset)[i] != given(of, i))
			return false;
	return true;
}

static bool is_untouched(struct world *world, uint32_t rank)
{
	return *at(world, rank, HALF) == (int32_t)0xaaaaaaaa;
}

/* ---- kinds ---- */

static void reduce_scatter(void)
{
	struct world world;
	uint32_t i;

	if (world_new(&world, RANKS, 2, LENGTH)) {
		give(&world, 0, COUNT * RANKS);
		CHECK_INT(world_do(&world, GROUP_OP(REDUCE_SCATTER,
			.type = PEERLANE_TYPE_I32, .op = PEERLANE_REDUCE_SUM,
			.count = COUNT, .receive_offset = HALF)), 0);
		for (i = 0; i < RANKS; i++)
			CHECK(has_sums(&world, i, HALF, i * COUNT));
	}
	world_end(&world);
}

static void all_gather(void)
{
	struct world world;
	uint32_t i, k;

	if (world_new(&world, RANKS, 2, LENGTH)) {
		give(&world, 0, COUNT);
		CHECK_INT(world_do(&world, GROUP_OP(ALL_GATHER,
			.type = PEERLANE_TYPE_I32, .count = COUNT,
			.receive_offset = HALF)), 0);
		for (i = 0; i < RANKS; i++)
			for (k = 0; k < RANKS; k++)
				CHECK(has_given(&world, i, HALF + k * BYTES, k));
	}
	world_end(&world);
}

static void reduce(void)
{
	struct world world;

	if (world_new(&world, RANKS, 2, LENGTH)) {
		give(&world, 0, COUNT);
		CHECK_INT(world_do(&world, GROUP_OP(REDUCE, .root = 1,
			.type = PEERLANE_TYPE_I32, .op = PEERLANE_REDUCE_SUM,
			.count = COUNT, .receive_offset = HALF)), 0);
		CHECK(has_sums(&world, 1, HALF, 0));
		CHECK(is_untouched(&world, 0));
		CHECK(is_untouched(&world, 2));
	}
	world_end(&world);
}

static void broadcast(void)
{
	struct world world;

	if (world_new(&world, RANKS, 2, LENGTH)) {
		give(&world, 0, COUNT);
		CHECK_INT(world_do(&world, GROUP_OP(BROADCAST, .root = 2,
			.type = PEERLANE_TYPE_I32, .count = COUNT,
			.receive_offset = HALF)), 0);
		CHECK(has_given(&world, 0, HALF, 2));
		CHECK(has_given(&world, 1, HALF, 2));
		CHECK(is_untouched(&world, 2));
	}
	world_end(&world);
}

static void barrier(void)
{
	const struct peerlane_group_op op = GROUP_OP(BARRIER, .cookie = 5);
	struct peerlane_group_record record;
	struct world world;
	uint32_t i;

	if (world_new(&world, RANKS, 2, LENGTH)) {
		for (i = 0; i < RANKS; i++) {
			if (i)
				CHECK_INT(group_read(world.rank[0], &record, 0.2), 0);
			CHECK_INT(group_begin(world.rank[i], &op, 1), 1);
		}
		for (i = 0; i < RANKS; i++)
			CHECK_INT(group_next(world.rank[i],
					     PEERLANE_GROUP_RECORD_DONE).cookie, 5);
	}
	world_end(&world);
}

/* ---- types ---- */

static void floats_are_summed_in_the_order_of_ranks(void)
{
	static const float give_f[RANKS] = { 1e8f, -1e8f, 0.25f };
	const struct peerlane_group_op op = GROUP_OP(ALL_REDUCE,
		.type = PEERLANE_TYPE_F32, .op = PEERLANE_REDUCE_SUM,
		.count = 1, .receive_offset = HALF);
	struct world world;
	uint32_t i;

	if (world_new(&world, RANKS, 1, LENGTH)) {
		for (i = 0; i < RANKS; i++)
			memcpy(at(&world, i, 0), &give_f[i], 4);
		if (CHECK_INT(world_do(&world, op), 0))
			for (i = 0; i < RANKS; i++)
				CHECK(*(float *)at(&world, i, HALF) == 0.25f);
	}
	world_end(&world);
}

static void the_greatest(void)
{
	struct world world;
	uint32_t i;

	if (world_new(&world, RANKS, 1, LENGTH)) {
		give(&world, 0, COUNT);
		CHECK_INT(world_do(&world, GROUP_OP(ALL_REDUCE,
			.type = PEERLANE_TYPE_I32, .op = PEERLANE_REDUCE_MAX,
			.count = COUNT, .receive_offset = HALF)), 0);
		for (i = 0; i < RANKS; i++)
			CHECK(has_given(&world, i, HALF, RANKS - 1));
	}
	world_end(&world);
}

/* ---- many ---- */

#define MANY	100

static void many_at_once(void)
{
	const struct peerlane_group_create settings =
		GROUP_SETTINGS(.segment = 4096, .window = 4, .lanes = 2);
	struct peerlane_group_op ops[MANY];
	struct peerlane_group_record record;
	struct world world;
	uint32_t i, k;

	for (i = 0; i < MANY; i++)
		ops[i] = GROUP_OP(ALL_REDUCE, .type = PEERLANE_TYPE_I32,
				  .op = PEERLANE_REDUCE_SUM,
				  .count = 1 + i * 97, .send_offset = i * 4,
				  .receive_offset = HALF + i * 40000, .cookie = i);
	if (world_of(&world, RANKS, 2, LENGTH, settings)) {
		give(&world, 0, COUNT);
		for (i = 0; i < RANKS; i++)
			CHECK_INT(group_begin(world.rank[i], ops, MANY), MANY);
		for (i = 0; i < RANKS; i++)
			for (k = 0; k < MANY; k++) {
				record = group_next(world.rank[i],
						    PEERLANE_GROUP_RECORD_DONE);
				CHECK_INT(record.status, 0);
			}
		for (i = 0; i < RANKS; i++)
			for (k = 0; k < MANY; k++)
				CHECK_INT(at(&world, i, HALF + k * 40000)[k * 97],
					  sum_of(RANKS, k + k * 97));
		CHECK_INT(group_info(world.rank[0]).ops_done, MANY);
	}
	world_end(&world);
}

static void depth_is_a_limit(void)
{
	const struct peerlane_group_create settings = GROUP_SETTINGS(.depth = 3);
	struct peerlane_group_op ops[5];
	struct world world;
	uint32_t i;

	for (i = 0; i < 5; i++)
		ops[i] = GROUP_OP(BARRIER);
	if (world_of(&world, 1, 1, LENGTH, settings)) {
		CHECK_INT(group_begin(world.rank[0], ops, 5), 3);
		CHECK_INT(group_begin(world.rank[0], ops, 1), -EAGAIN);
		for (i = 0; i < 3; i++)
			group_next(world.rank[0], PEERLANE_GROUP_RECORD_DONE);
		CHECK_INT(group_begin(world.rank[0], ops, 3), 3);
	}
	world_end(&world);
}

static bool is_heard(int fd, uint32_t rank)
{
	struct peerlane_rank_record records[RANKS] = {};
	struct peerlane_aggregator_ranks args = {
		.array_ptr = (uintptr_t)records, .count = RANKS,
		.record_size = sizeof(records[0]), .group = 0x1234,
	};

	return !CALL(fd, AGGREGATOR_RANKS, &args) && records[rank].segments;
}

static void ranks_have_statistics(void)
{
	struct peerlane_rank_record records[RANKS] = {};
	struct peerlane_aggregator_ranks args = {
		.array_ptr = (uintptr_t)records, .count = RANKS,
		.record_size = sizeof(records[0]), .group = 0x1234,
	};
	struct peerlane_group_op op = GROUP_OP(BARRIER);
	struct world world;
	uint32_t i;
	int fd;

	if (world_new(&world, RANKS, 1, LENGTH)) {
		fd = world.aggregator[0].fd;
		group_begin(world.rank[0], &op, 1);
		group_begin(world.rank[1], &op, 1);
		/* What they sent may be long on its way: it counts from here. */
		CHECK(WAIT_FOR(is_heard(fd, 0) && is_heard(fd, 1), PATIENCE));
		usleep(300000);
		group_begin(world.rank[2], &op, 1);
		for (i = 0; i < RANKS; i++)
			group_next(world.rank[i], PEERLANE_GROUP_RECORD_DONE);
		CHECK_INT(CALL(fd, AGGREGATOR_RANKS, &args), 0);
		CHECK_INT(args.count, RANKS);
		CHECK_INT(records[2].last, 1);
		CHECK(records[2].late_max_ns >= 300000000);
		CHECK_INT(records[0].segments, 1);
		args.group = 5;
		CHECK_INT(CALL(fd, AGGREGATOR_RANKS, &args), -ENOENT);
		args.group = 0x1234;
		args.count = 1;
		CHECK_INT(CALL(fd, AGGREGATOR_RANKS, &args), -EMSGSIZE);
		CHECK_INT(args.count, RANKS);
	}
	world_end(&world);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(reduce_scatter),
		TAP_CASE(all_gather),
		TAP_CASE(reduce),
		TAP_CASE(broadcast),
		TAP_CASE(barrier),
		TAP_CASE(floats_are_summed_in_the_order_of_ranks),
		TAP_CASE(the_greatest),
		TAP_CASE(many_at_once),
		TAP_CASE(depth_is_a_limit),
		TAP_CASE(ranks_have_statistics),
	};

	return HARNESS_RUN(cases);
}
