// SPDX-License-Identifier: GPL-2.0
/* What collective operations compute, of many shapes. */
#include "group.h"

#define LENGTH	(8 * MIB)
#define HALF	(LENGTH / 2)

#define ALL_REDUCE(_count, ...) GROUP_OP(ALL_REDUCE,			\
	.type = PEERLANE_TYPE_I32, .op = PEERLANE_REDUCE_SUM,		\
	.count = _count, __VA_ARGS__)

static int32_t given(uint32_t rank, size_t i)
{
	return (int32_t)(rank * 1000003 + i * 7 + 1);
}

static int32_t *ints(struct world *world, uint32_t rank, size_t offset)
{
	return (int32_t *)(world->pages[rank].mem + offset);
}

static void give(struct world *world, size_t count)
{
	uint32_t rank;
	size_t i;

	for (rank = 0; rank < world->ranks; rank++)
		for (i = 0; i < count; i++)
			ints(world, rank, 0)[i] = given(rank, i);
}

static int32_t sum_of(uint32_t ranks, size_t i)
{
	uint32_t rank, sum = 0;

	for (rank = 0; rank < ranks; rank++)
		sum += given(rank, i);
	return (int32_t)sum;
}

/* Index of the first that is another, or -1; what follows is untouched. */
static long long differs(struct world *world, uint32_t rank, size_t offset,
			 size_t count)
{
	const int32_t *got = ints(world, rank, offset);
	size_t i;

	for (i = 0; i < count; i++)
		if (got[i] != sum_of(world->ranks, i))
			return (long long)i;
	return -1;
}

#define CANARY	0x5a5a5a5a

static void check_all(struct world *world, size_t offset, size_t count)
{
	uint32_t rank;

	for (rank = 0; rank < world->ranks; rank++) {
		CHECK_INT(differs(world, rank, offset, count), -1);
		CHECK_INT(ints(world, rank, offset)[count], CANARY);
	}
}

static void reduce_once(struct world *world, size_t count, bool in_place)
{
	size_t to = in_place ? 0 : HALF;
	uint32_t rank;

	give(world, count);
	for (rank = 0; rank < world->ranks; rank++)
		ints(world, rank, to)[count] = CANARY;
	CHECK_INT(world_do(world, ALL_REDUCE(count, .receive_offset = to,
					     .cookie = count)), 0);
	check_all(world, to, count);
}

static void one_element(void)
{
	struct world world;

	if (world_new(&world, 2, 1, LENGTH))
		reduce_once(&world, 1, false);
	world_end(&world);
}

static void sizes(uint32_t ranks, uint32_t aggregators, uint32_t lanes)
{
	static const size_t counts[] = {
		0, 1, 7, SEGMENT / 4 - 1, SEGMENT / 4, SEGMENT / 4 + 1,
		300000,
	};
	const struct peerlane_group_create settings =
		GROUP_SETTINGS(.lanes = lanes);
	struct world world;
	size_t i;

	if (world_of(&world, ranks, aggregators, LENGTH, settings))
		for (i = 0; i < ARRAY_SIZE(counts) && !tap.bad; i++) {
			reduce_once(&world, counts[i], false);
			reduce_once(&world, counts[i], true);
		}
	world_end(&world);
}

static void one_rank(void) { sizes(1, 1, 1); }
static void two_ranks(void) { sizes(2, 1, 1); }
static void three_ranks_two_aggregators(void) { sizes(3, 2, 1); }
static void five_ranks_three_aggregators(void) { sizes(5, 3, 2); }

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(one_element),
		TAP_CASE(one_rank),
		TAP_CASE(two_ranks),
		TAP_CASE(three_ranks_two_aggregators),
		TAP_CASE(five_ranks_three_aggregators),
	};

	return HARNESS_RUN(cases);
}
