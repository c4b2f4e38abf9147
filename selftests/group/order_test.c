// SPDX-License-Identifier: GPL-2.0
/*
 * The bits that come of it: of all types, operations, sizes, kinds and placements,
 * and ranks that come in any order. They are the reference's, which knows nothing
 * of the module but the order of ranks.
 */
#include "group.h"
#include "values.h"

#define RANKS	8
#define LENGTH	(4 * MIB)
#define HALF	(LENGTH / 2)
#define CANARY	0x5a
#define GUARD	64		/* bytes behind a result */

/* ---- placements ---- */

static const struct placement {
	const char *name;
	uint32_t aggregators;
	struct peerlane_group_create settings;
} placements[] = {
	{ "one aggregator", 1, GROUP_SETTINGS(.segment = 4096) },
	{ "three aggregators, two lanes", 3,
	  GROUP_SETTINGS(.segment = 8192, .window = 4, .lanes = 2) },
	{ "each rank's own", RANKS, GROUP_SETTINGS(.segment = 4096, .window = 2) },
	{ "blocks of 3", 2, GROUP_SETTINGS(.segment = 4096, .block = 3) },
	{ "blocks of 2", 1, GROUP_SETTINGS(.segment = 16384, .block = 2) },
};

static size_t pool_of(const struct peerlane_group_create *settings)
{
	return (RANKS + 1) * (settings->window ?: 8) * settings->segment;
}

static uint32_t block_of(const struct placement *placement)
{
	return placement->settings.block ?: RANKS;
}

static bool place(struct world *world, const struct placement *placement)
{
	*world = (struct world){ .ranks = RANKS };
	world_aggregators(world, placement->aggregators,
			  pool_of(&placement->settings));
	return world_join(world, placement->settings, LENGTH);
}

/* ---- ranks that come when they like ---- */

static uint32_t dice(uint32_t sides)
{
	static uint64_t state = 0x9e3779b97f4a7c15;

	state = state * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)(state >> 33) % sides;
}

static void shuffle(uint32_t *order)
{
	uint32_t i, k, rank;

	for (i = 0; i < RANKS; i++)
		order[i] = i;
	for (i = RANKS - 1; i; i--) {
		k = dice(i + 1);
		rank = order[i];
		order[i] = order[k];
		order[k] = rank;
	}
}

static int collect(struct world *world)
{
	struct peerlane_group_record record;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < RANKS; i++) {
		record = group_next(world->rank[i], PEERLANE_GROUP_RECORD_DONE);
		if (record.type != PEERLANE_GROUP_RECORD_DONE) {
			printf("# rank %u: %s\n", i, group_info(world->rank[i]).text);
			return -ENODATA;
		}
		ret = ret ?: record.status;
	}
	return ret;
}

/* In any order, each after up to 2 ms; half of them at once. */
static int call_all(struct world *world, struct peerlane_group_op op)
{
	uint32_t order[RANKS], i;

	shuffle(order);
	for (i = 0; i < RANKS; i++) {
		if (dice(2))
			usleep(dice(2000));
		CHECK_INT(group_begin(world->rank[order[i]], &op, 1), 1);
	}
	return collect(world);
}

static char *at(struct world *world, uint32_t rank, size_t offset)
{
	return world->pages[rank].mem + offset;
}

/* ---- one operation ---- */

/* What a rank gives and gets, in units of the call's count */
struct shape {
	uint32_t kind;
	uint32_t gives, gets;
	bool sums;
};

static const struct shape all_reduce = {
	PEERLANE_GROUP_ALL_REDUCE, 1, 1, true,
};

static const struct shape shapes[] = {
	{ PEERLANE_GROUP_ALL_REDUCE, 1, 1, true },
	{ PEERLANE_GROUP_REDUCE_SCATTER, RANKS, 1, true },
	{ PEERLANE_GROUP_ALL_GATHER, 1, RANKS, false },
	{ PEERLANE_GROUP_REDUCE, 1, 1, true },
	{ PEERLANE_GROUP_BROADCAST, 1, 1, false },
};

#define ROOT	3

static bool has_root(const struct shape *shape)
{
	return shape->kind == PEERLANE_GROUP_REDUCE ||
	       shape->kind == PEERLANE_GROUP_BROADCAST;
}

static bool gets(const struct shape *shape, uint32_t rank)
{
	if (shape->kind == PEERLANE_GROUP_REDUCE)
		return rank == ROOT;
	return shape->kind != PEERLANE_GROUP_BROADCAST || rank != ROOT;
}

/* Index of the first wrong one, or -1 */
static long long wrong_at(const struct shape *shape, const struct values *values,
			  uint32_t rank, const char *got, size_t count)
{
	size_t of = shape->kind == PEERLANE_GROUP_REDUCE_SCATTER ? rank * count : 0;
	long long bad = -1;
	uint32_t k;

	if (shape->sums)
		return values_sum_differs(values, got, of, count);
	if (shape->kind == PEERLANE_GROUP_BROADCAST)
		return values_given_differs(values, ROOT, got, 0, count);
	for (k = 0; k < RANKS && bad < 0; k++)
		bad = values_given_differs(values, k, got + k * count * values->size,
					   0, count);
	return bad;
}

/* The bytes that the rank gets, or those that it must not: and those behind. */
static void check_rank(const struct shape *shape, const struct values *values,
		       const char *to, uint32_t rank, size_t count)
{
	size_t bytes = count * shape->gets * values->size, i, touched = 0;
	size_t from = gets(shape, rank) ? bytes : 0;
	long long bad = from ? wrong_at(shape, values, rank, to, count) : -1;

	for (i = from; i < bytes + GUARD; i++)
		touched += to[i] != CANARY;
	if (bad >= 0 || touched)
		printf("# kind %u, %s, %zu elements, rank %u: element %lld, %zu touched\n",
		       shape->kind, values_name(values), count, rank, bad, touched);
	CHECK(bad < 0 && !touched);
}

static void run(struct world *world, const struct shape *shape,
		const struct values *values, size_t count)
{
	size_t bytes = count * shape->gets * values->size;
	struct peerlane_group_op op = {
		.kind = shape->kind, .type = values->type,
		.op = shape->sums ? values->op : 0,
		.root = has_root(shape) ? ROOT : 0,
		.count = count, .receive_offset = HALF,
	};
	uint32_t rank;

	for (rank = 0; rank < RANKS; rank++) {
		values_give(values, rank, at(world, rank, 0), 0, count * shape->gives);
		memset(at(world, rank, HALF), CANARY, bytes + GUARD);
	}
	CHECK_INT(call_all(world, op), 0);
	for (rank = 0; rank < RANKS; rank++)
		check_rank(shape, values, at(world, rank, HALF), rank, count);
}

static void run_in_place(struct world *world, const struct values *values,
			 size_t count)
{
	struct peerlane_group_op op = {
		.kind = PEERLANE_GROUP_ALL_REDUCE, .type = values->type,
		.op = values->op, .count = count,
	};
	uint32_t rank;

	for (rank = 0; rank < RANKS; rank++) {
		values_give(values, rank, at(world, rank, 0), 0, count);
		memset(at(world, rank, count * values->size), CANARY, GUARD);
	}
	CHECK_INT(call_all(world, op), 0);
	for (rank = 0; rank < RANKS; rank++)
		check_rank(&all_reduce, values, at(world, rank, 0), rank, count);
}

/* ---- the tests ---- */

static void all_operations_of(struct world *world, uint32_t type, uint32_t block)
{
	struct values values;
	uint32_t op;

	for (op = PEERLANE_REDUCE_SUM; op <= PEERLANE_REDUCE_BXOR && !tap.bad; op++) {
		if (!values_make(&values, type, op, RANKS, block))
			continue;
		run(world, &all_reduce, &values, 1500);
		values_free(&values);
	}
}

static void all_types_and_operations(void)
{
	struct world world;
	uint32_t type;

	if (place(&world, &placements[1]))
		for (type = PEERLANE_TYPE_F32; type <= PEERLANE_TYPE_U64; type++)
			all_operations_of(&world, type, RANKS);
	world_end(&world);
}

static void all_sizes_of(struct world *world, uint32_t type, uint32_t segment)
{
	struct values values;
	size_t each, i;

	CHECK(values_make(&values, type, PEERLANE_REDUCE_SUM, RANKS, RANKS));
	each = segment / values.size;
	const size_t counts[] = {
		0, 1, 3, each - 1, each, each + 1, 3 * each + 1, 12 * each - 1,
		13 * each + 7,
	};

	for (i = 0; i < ARRAY_SIZE(counts) && !tap.bad; i++) {
		run(world, &all_reduce, &values, counts[i]);
		run_in_place(world, &values, counts[i]);
	}
	values_free(&values);
}

/* Around the segments' ends, and those of the window over all aggregators */
static void all_sizes(void)
{
	static const uint32_t types[] = {
		PEERLANE_TYPE_F32, PEERLANE_TYPE_BF16, PEERLANE_TYPE_U8,
	};
	struct world world;
	size_t i;

	if (place(&world, &placements[1]))
		for (i = 0; i < ARRAY_SIZE(types); i++)
			all_sizes_of(&world, types[i],
				     placements[1].settings.segment);
	world_end(&world);
}

static void all_kinds_at(const struct placement *placement)
{
	struct world world;
	struct values values;
	size_t i;

	printf("# %s\n", placement->name);
	CHECK(values_make(&values, PEERLANE_TYPE_F32, PEERLANE_REDUCE_SUM, RANKS,
			  block_of(placement)));
	if (place(&world, placement))
		for (i = 0; i < ARRAY_SIZE(shapes) && !tap.bad; i++) {
			run(&world, &shapes[i], &values, 1);
			run(&world, &shapes[i], &values, 5003);
		}
	values_free(&values);
	world_end(&world);
}

static void all_kinds_at_all_placements(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(placements); i++)
		all_kinds_at(&placements[i]);
}

static void several_mebibytes(void)
{
	static const struct placement large = {
		"large segments", 2, GROUP_SETTINGS(),
	};
	struct values values;
	struct world world;

	CHECK(values_make(&values, PEERLANE_TYPE_F32, PEERLANE_REDUCE_SUM, RANKS, RANKS));
	if (place(&world, &large))
		run_in_place(&world, &values, 3 * MIB / 4 + 1);
	values_free(&values);
	world_end(&world);
}

/* ---- the control ---- */

static uint64_t segments_of(struct world *world, uint32_t rank)
{
	struct peerlane_rank_record records[RANKS] = {};
	struct peerlane_aggregator_ranks args = {
		.array_ptr = (uintptr_t)records, .count = RANKS,
		.record_size = sizeof(records[0]), .group = 0x1234,
	};

	CHECK_INT(CALL(world->aggregator[0].fd, AGGREGATOR_RANKS, &args), 0);
	return records[rank].segments;
}

/* One after the other: the aggregator has all of one before the next begins. */
static int call_in_order(struct world *world, const uint32_t *order,
			 struct peerlane_group_op op)
{
	uint64_t before;
	uint32_t i;

	for (i = 0; i < RANKS; i++) {
		before = segments_of(world, order[i]);
		CHECK_INT(group_begin(world->rank[order[i]], &op, 1), 1);
		if (i < RANKS - 1)
			CHECK(WAIT_FOR(segments_of(world, order[i]) > before, PATIENCE));
	}
	return collect(world);
}

/*
 * What these tests compare would tell a sum in the order in which data came: with
 * these values, and this very order, it is another one.
 */
static void a_sum_in_the_order_of_arrival_would_be_noticed(void)
{
	static const uint32_t order[RANKS] = { 5, 0, 7, 2, 6, 1, 4, 3 };
	static const uint32_t types[] = {
		PEERLANE_TYPE_F32, PEERLANE_TYPE_F64, PEERLANE_TYPE_F16,
		PEERLANE_TYPE_BF16,
	};
	struct peerlane_group_op op = GROUP_OP(ALL_REDUCE, .op = PEERLANE_REDUCE_SUM,
					       .count = 500);
	struct values values;
	struct world world;
	uint32_t i, rank;

	if (place(&world, &placements[0]))
		for (i = 0; i < ARRAY_SIZE(types); i++) {
			CHECK(values_make(&values, types[i], PEERLANE_REDUCE_SUM, RANKS,
					  RANKS));
			for (rank = 0; rank < RANKS; rank++)
				values_give(&values, rank, at(&world, rank, 0), 0, 500);
			op.type = types[i];
			CHECK_INT(call_in_order(&world, order, op), 0);
			CHECK_INT(values_sum_differs(&values, at(&world, 0, 0), 0, 500), -1);
			values_sum(&values, order);
			CHECK(values_sum_differs(&values, at(&world, 0, 0), 0, 500) >= 0);
			values_free(&values);
		}
	world_end(&world);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(all_types_and_operations),
		TAP_CASE(all_sizes),
		TAP_CASE(all_kinds_at_all_placements),
		TAP_CASE(several_mebibytes),
		TAP_CASE(a_sum_in_the_order_of_arrival_would_be_noticed),
	};

	return HARNESS_RUN(cases);
}
