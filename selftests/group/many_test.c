// SPDX-License-Identifier: GPL-2.0
/* Groups of one aggregator: two at once, and $GROUPS_MADE one after the other. */
#include "group.h"

#define RANKS	4
#define LENGTH	(2 * MIB)
#define HALF	(LENGTH / 2)
#define COUNT	30000		/* two segments */
#define SOON	10.0		/* seconds; emulation on a busy machine is slow */
#define WARM	50		/* groups, until caches of memory are as large as they get */

#define SUM(_count) GROUP_OP(ALL_REDUCE, .type = PEERLANE_TYPE_I32,	\
	.op = PEERLANE_REDUCE_SUM, .count = _count, .receive_offset = HALF)
#define BYTES_OF_GROUP(_ranks, _window) \
	((size_t)((_ranks) + 1) * (_window) * SEGMENT)

static uint32_t groups;

static int32_t *at(struct world *world, uint32_t rank, size_t offset)
{
	return (int32_t *)(world->pages[rank].mem + offset);
}

static void give(struct world *world, int32_t salt)
{
	uint32_t rank;
	int32_t i;

	for (rank = 0; rank < world->ranks; rank++)
		for (i = 0; i < COUNT; i++)
			at(world, rank, 0)[i] = salt * (i + 1) + (int32_t)rank;
}

static void check_sums(struct world *world, int32_t salt)
{
	int32_t ranks = (int32_t)world->ranks, i, wrong = 0;
	int32_t rank;

	for (rank = 0; rank < ranks; rank++)
		for (i = 0; i < COUNT; i++)
			wrong += at(world, rank, HALF)[i] !=
				 ranks * salt * (i + 1) + ranks * (ranks - 1) / 2;
	CHECK_INT(wrong, 0);
}

/* ---- two at once ---- */

/* Another group of @first's aggregator, which is not its own. */
static bool join_beside(struct world *world, const struct world *first,
			struct peerlane_group_create args)
{
	*world = (struct world){ .ranks = RANKS, .aggregators = 1 };
	memcpy(world->addresses, first->addresses, sizeof(world->addresses));
	return world_join(world, args, LENGTH);
}

static uint64_t pool_used(const struct world *world)
{
	return aggregator_info(world->aggregator[0].fd).pool_used;
}

static void two_share_an_aggregator(void)
{
	struct peerlane_group_create args = GROUP_SETTINGS(.window = 4, .group = 1);
	struct peerlane_group_op op = SUM(COUNT);
	struct world a, b;
	uint32_t i;

	if (!world_of(&a, RANKS, 1, LENGTH, args))
		return world_end(&a);
	args.group = 2;
	if (join_beside(&b, &a, args)) {
		CHECK_INT(pool_used(&a), 2 * BYTES_OF_GROUP(RANKS, 4));
		give(&a, 3);
		give(&b, 5);
		/* One waits for its last rank, the other goes on. */
		for (i = 0; i < RANKS - 1; i++)
			CHECK_INT(group_begin(a.rank[i], &op, 1), 1);
		for (i = 0; i < 5; i++)
			CHECK_INT(world_do(&b, op), 0);
		check_sums(&b, 5);
		CHECK_INT(group_begin(a.rank[RANKS - 1], &op, 1), 1);
		for (i = 0; i < RANKS; i++)
			CHECK_INT(group_next(a.rank[i],
					     PEERLANE_GROUP_RECORD_DONE).status, 0);
		check_sums(&a, 3);
	}
	world_leave(&b);
	CHECK(WAIT_FOR(pool_used(&a) == BYTES_OF_GROUP(RANKS, 4), SOON));
	CHECK_INT(world_do(&a, op), 0);
	world_end(&a);
}

/* By a rank that calls something else; the other one does not notice. */
static void one_ends_and_the_other_goes_on(void)
{
	struct peerlane_group_create args = GROUP_SETTINGS(.window = 4, .group = 1);
	struct peerlane_group_op op = SUM(COUNT), other = SUM(COUNT - 1);
	struct world a, b;
	uint32_t i;

	if (!world_of(&a, RANKS, 1, LENGTH, args))
		return world_end(&a);
	args.group = 2;
	if (join_beside(&b, &a, args)) {
		give(&b, 7);
		for (i = 0; i < RANKS; i++)
			CHECK_INT(group_begin(b.rank[i], &op, 1), 1);
		for (i = 0; i < RANKS; i++)
			CHECK_INT(group_begin(a.rank[i], i == 2 ? &other : &op, 1), 1);
		for (i = 0; i < RANKS; i++)
			CHECK_INT(group_find(a.rank[i],
					     PEERLANE_GROUP_RECORD_ENDED).rank, 2);
		for (i = 0; i < RANKS; i++)
			CHECK_INT(group_next(b.rank[i],
					     PEERLANE_GROUP_RECORD_DONE).status, 0);
		check_sums(&b, 7);
		CHECK(WAIT_FOR(pool_used(&a) == BYTES_OF_GROUP(RANKS, 4), SOON));
		CHECK_INT(world_do(&b, op), 0);
	}
	world_leave(&b);
	world_end(&a);
}

/* As soon as one has ended there is room for the next. */
static void a_full_aggregator_has_room_again(void)
{
	struct peerlane_group_create args = GROUP_SETTINGS(.group = 1);
	struct world a = { .ranks = RANKS }, b;
	int fd;

	world_aggregators(&a, 1, BYTES_OF_GROUP(RANKS, 8));
	if (world_join(&a, args, LENGTH)) {
		args.group = 2;
		args.ranks = RANKS;
		fd = group_create(args);
		CHECK_INT(group_join(fd, a.addresses, 1), -ENOSPC);
		close(fd);
	}
	world_leave(&a);
	CHECK(WAIT_FOR(!pool_used(&a), SOON));
	if (join_beside(&b, &a, args)) {
		give(&b, 9);
		CHECK_INT(world_do(&b, SUM(COUNT)), 0);
		check_sums(&b, 9);
	}
	world_leave(&b);
	world_end(&a);
}

/* ---- one after the other ---- */

static uint64_t kib_of(const char *name)
{
	const char *line = strstr(read_text("/proc/meminfo"), name);

	return CHECK(line) ? strtoull(line + strlen(name) + 1, NULL, 10) : 0;
}

/* Of the kernel's own memory: what is never given back shows here. */
static uint64_t kernel_kib(void)
{
	return kib_of("SUnreclaim") + kib_of("VmallocUsed") + kib_of("Percpu") +
	       kib_of("KernelStack") + kib_of("PageTables");
}

static void make_groups(struct world *world, uint32_t first, uint32_t count)
{
	struct peerlane_group_create args = GROUP_SETTINGS(.window = 2, .segment = 4096);
	uint32_t i;

	for (i = 0; i < count && !tap.bad; i++) {
		world->ranks = 2;
		args.group = first + i;
		if (world_join(world, args, LENGTH))
			CHECK_INT(world_do(world, SUM(100)), 0);
		world_leave(world);
	}
	CHECK(WAIT_FOR(!aggregator_info(world->aggregator[0].fd).links, SOON));
}

/* What each of them left behind would be more than 1 KiB, if it were anything. */
static void groups_leave_nothing(void)
{
	uint64_t before, after = 0, most = groups + 512;
	struct world world = {};

	world_aggregators(&world, 1, POOL);
	make_groups(&world, 1, WARM);
	before = kernel_kib();
	make_groups(&world, 1 + WARM, groups);
	CHECK_INT(aggregator_info(world.aggregator[0].fd).formed, groups + WARM);
	CHECK_INT(aggregator_info(world.aggregator[0].fd).failed, 0);
	CHECK_INT(pool_used(&world), 0);
	CHECK(WAIT_FOR((after = kernel_kib()) <= before + most, SOON));
	printf("# the kernel had %llu KiB, and has %llu after %u groups\n",
	       (unsigned long long)before, (unsigned long long)after, groups);
	world_end(&world);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(two_share_an_aggregator),
		TAP_CASE(one_ends_and_the_other_goes_on),
		TAP_CASE(a_full_aggregator_has_room_again),
		TAP_CASE(groups_leave_nothing),
	};

	groups = (uint32_t)atoi(getenv("GROUPS_MADE") ?: "1000");
	return HARNESS_RUN(cases);
}
