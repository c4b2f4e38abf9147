// SPDX-License-Identifier: GPL-2.0
/*
 * Buckets of the library over real groups: an aggregator and three ranks of one
 * process on one node. Each rank is a thread, for joining and agreeing wait.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <peerlane.h>

#include "tap.h"

#define RANKS	3
#define TENSORS	6
#define ROUNDS	4
#define LENGTH	(1 << 20)

static const uint64_t counts[TENSORS] = { 1000, 30000, 7, 0, 20000, 50000 };

struct rank {
	uint32_t number;
	struct peerlane_group *group;
	struct peerlane_region *region;
	float *memory;
	struct peerlane_bucket *bucket;
	struct peerlane_bucket_place places[TENSORS];
	int result;
	uint64_t wrong;
	char why[256];
};

static struct peerlane_aggregator *aggregator;
static struct peerlane_group_options group_options;
static struct peerlane_bucket_options bucket_options;
static struct rank ranks[RANKS];
static char address[PEERLANE_PEER_TEXT];

/* ---- one rank ------------------------------------------------------------------- */

static int fail(struct rank *rank, int error)
{
	snprintf(rank->why, sizeof(rank->why), "%s", peerlane_strerror());
	return error;
}

static int memory_of(struct rank *rank)
{
	rank->memory = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return peerlane_region_host(rank->memory, LENGTH, false, &rank->region);
}

static int join(struct rank *rank)
{
	struct peerlane_group_options options = group_options;
	int ret;

	options.rank = rank->number;
	ret = memory_of(rank);
	if (!ret)
		ret = peerlane_group_create(&options, &rank->group);
	if (!ret)
		ret = peerlane_group_bind(rank->group, 0, rank->region, 0, 0,
					  false, NULL);
	if (!ret)
		ret = peerlane_group_join(rank->group, address, NULL);
	return ret;
}

static int create(struct rank *rank)
{
	struct peerlane_bucket_options options = bucket_options;
	uint64_t bytes;
	uint32_t buckets;
	int ret = peerlane_bucket_layout(&options, rank->places, &bytes, &buckets);

	if (!ret)
		ret = join(rank);
	return ret ? ret : peerlane_bucket_create(rank->group, &options,
						  &rank->bucket);
}

static float *tensor(const struct rank *rank, uint32_t index)
{
	return rank->memory + rank->places[index].offset / sizeof(float);
}

static float value(uint32_t round, uint32_t index, uint64_t i)
{
	return (float)((round * 100 + index * 10 + i) % 1021);
}

static void give(const struct rank *rank, uint32_t round, uint32_t index)
{
	for (uint64_t i = 0; i < counts[index]; i++)
		tensor(rank, index)[i] = value(round, index, i) +
					 (float)rank->number;
}

static uint64_t wrong(const struct rank *rank, uint32_t round, uint32_t index)
{
	uint64_t found = 0;

	/* the average of 0, 1 and 2 */
	for (uint64_t i = 0; i < counts[index]; i++)
		found += tensor(rank, index)[i] != value(round, index, i) + 1;
	return found;
}

/* ---- all of them ------------------------------------------------------------------- */

static bool begin(uint64_t number, uint32_t depth)
{
	struct peerlane_aggregator_options options = {
		.size = sizeof(options), .secret = { 1 }, .memory = 8 << 20,
		.timeout = 20000, .join_timeout = 60000,
	};
	struct peerlane_aggregator_status status;
	const char *node = getenv("NODE_IP_1");

	memset(ranks, 0, sizeof(ranks));
	group_options = (struct peerlane_group_options){
		.size = sizeof(group_options), .secret = { 1 }, .group = number,
		.ranks = RANKS, .depth = depth, .timeout = 20000,
		.operation_timeout = 20000, .join_timeout = 60000,
	};
	bucket_options = (struct peerlane_bucket_options){
		.size = sizeof(bucket_options), .counts = counts,
		.tensors = TENSORS, .type = PEERLANE_F32, .align = 64,
		.bytes = 100000,
	};
	snprintf(address, sizeof(address), "%s:0", node ? node : "127.0.0.1");
	options.address = address;
	if (!CHECK_INT(peerlane_aggregator_create(&options, &aggregator), 0) ||
	    !CHECK_INT(peerlane_aggregator_query(aggregator, &status), 0)) {
		printf("# %s\n", peerlane_strerror());
		return false;
	}
	snprintf(address, sizeof(address), "%s", status.address);
	return true;
}

static void run(void *(*work)(void *rank))
{
	pthread_t threads[RANKS];

	for (uint32_t i = 0; i < RANKS; i++) {
		ranks[i].number = i;
		CHECK_INT(pthread_create(&threads[i], NULL, work, &ranks[i]), 0);
	}
	for (uint32_t i = 0; i < RANKS; i++)
		pthread_join(threads[i], NULL);
}

static void end(void)
{
	for (uint32_t i = 0; i < RANKS; i++) {
		peerlane_bucket_close(ranks[i].bucket);
		peerlane_group_close(ranks[i].group);
		peerlane_region_free(ranks[i].region);
		if (ranks[i].memory)
			munmap(ranks[i].memory, LENGTH);
	}
	peerlane_aggregator_close(aggregator);
	aggregator = NULL;
}

static void all_are(int result)
{
	for (uint32_t i = 0; i < RANKS; i++)
		if (!CHECK_INT(ranks[i].result, result))
			printf("# rank %u: %s\n", i, ranks[i].why);
}

/* ---- what is tested -------------------------------------------------------------------- */

/* Rank 0 from the first to the last, rank 1 the other way round, rank 2 mixed */
static uint32_t turn(uint32_t rank, uint32_t i)
{
	if (rank == 1)
		return TENSORS - 1 - i;
	return rank == 2 ? (i * 5 + 2) % TENSORS : i;
}

static int one_round(struct rank *rank, uint32_t round)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < TENSORS; i++) {
		uint32_t index = turn(rank->number, i);

		give(rank, round, index);
		ret = peerlane_bucket_ready(rank->bucket, index);
	}
	if (!ret)
		ret = peerlane_bucket_finish(rank->bucket, -1);
	for (uint32_t i = 0; !ret && i < TENSORS; i++)
		rank->wrong += wrong(rank, round, i);
	return ret;
}

static void *do_rounds(void *arg)
{
	struct rank *rank = arg;
	int ret = create(rank);

	for (uint32_t round = 0; !ret && round < ROUNDS; round++)
		ret = one_round(rank, round);
	rank->result = ret ? fail(rank, ret) : 0;
	return NULL;
}

static void average_of_all_tensors(uint32_t depth)
{
	if (!begin(100 + depth, depth))
		return;
	run(do_rounds);
	all_are(0);
	for (uint32_t i = 0; i < RANKS; i++)
		CHECK_INT(ranks[i].wrong, 0);
	end();
}

static void ranks_may_be_ready_in_different_order(void)
{
	average_of_all_tensors(0);
}

static void a_group_of_depth_1_is_enough(void)
{
	average_of_all_tensors(1);
}

static void *create_only(void *arg)
{
	struct rank *rank = arg;

	rank->result = fail(rank, create(rank));
	return NULL;
}

/* The same sums of the same sizes, of other tensors */
static void *create_swapped(void *arg)
{
	static const uint64_t swapped[TENSORS] = { 30000, 1000, 7, 0, 20000, 50000 };
	struct rank *rank = arg;
	struct peerlane_bucket_options options = bucket_options;

	if (rank->number != 1)
		return create_only(arg);
	options.counts = swapped;
	rank->result = join(rank);
	if (!rank->result)
		rank->result = peerlane_bucket_create(rank->group, &options,
						      &rank->bucket);
	fail(rank, 0);
	return NULL;
}

static void a_rank_with_other_tensors_is_named(void)
{
	if (!begin(200, 0))
		return;
	run(create_swapped);
	all_are(-EBADE);
	for (uint32_t i = 0; i < RANKS; i++)
		CHECK_HAS(ranks[i].why, "rank 1 was told other tensors than rank 0");
	end();
}

static void *create_refused(void *arg)
{
	struct rank *rank = arg;
	struct peerlane_bucket_options options = bucket_options;

	if (rank->number != 1)
		return create_only(arg);
	options.align = 3;
	rank->result = join(rank);
	if (!rank->result)
		rank->result = peerlane_bucket_create(rank->group, &options,
						      &rank->bucket);
	fail(rank, 0);
	return NULL;
}

static void a_rank_whose_options_are_refused_is_named(void)
{
	if (!begin(500, 0))
		return;
	run(create_refused);
	CHECK_INT(ranks[1].result, -EINVAL);
	CHECK_HAS(ranks[1].why, "alignment 3");
	for (uint32_t i = 0; i < RANKS; i += 2) {
		CHECK_INT(ranks[i].result, -EBADE);
		CHECK_HAS(ranks[i].why, "rank 1 was told what was refused there");
	}
	end();
}

/* Rank 2 leaves before its last tensor is ready. */
static void *leave_early(void *arg)
{
	struct rank *rank = arg;
	int ret = create(rank);

	for (uint32_t i = 0; !ret && i < TENSORS - (rank->number == 2); i++) {
		give(rank, 0, i);
		ret = peerlane_bucket_ready(rank->bucket, i);
	}
	/* Whether some are still under way or not, the others finish. */
	if (rank->number == 2)
		ret = ret ? ret : peerlane_group_leave(rank->group);
	else if (rank->bucket)
		ret = peerlane_bucket_finish(rank->bucket, -1);
	rank->result = fail(rank, ret);
	return NULL;
}

static void a_rank_that_leaves_is_named(void)
{
	if (!begin(300, 0))
		return;
	run(leave_early);
	CHECK_INT(ranks[2].result, 0);
	for (uint32_t i = 0; i < 2; i++) {
		CHECK(ranks[i].result < 0);
		CHECK_HAS(ranks[i].why, "rank 2");
		/* over, for good */
		CHECK(peerlane_bucket_ready(ranks[i].bucket, 0) == 0);
		CHECK(peerlane_bucket_ready(ranks[i].bucket, 1) < 0);
	}
	end();
}

static void slots_are_free_again(void)
{
	if (!begin(400, 0))
		return;
	run(create_only);
	all_are(0);
	for (uint32_t i = 0; i < RANKS; i++)
		CHECK_INT(peerlane_group_bind(ranks[i].group, 1, ranks[i].region,
					      0, 0, false, NULL), 0);
	end();
}

static const struct tap_case cases[] = {
	TAP_CASE(ranks_may_be_ready_in_different_order),
	TAP_CASE(a_group_of_depth_1_is_enough),
	TAP_CASE(a_rank_with_other_tensors_is_named),
	TAP_CASE(a_rank_whose_options_are_refused_is_named),
	TAP_CASE(a_rank_that_leaves_is_named), TAP_CASE(slots_are_free_again),
};

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	return TAP_RUN(cases);
}
