// SPDX-License-Identifier: GPL-2.0
/*
 * What the order of summation is to be seen by: an aggregator that sums in the order
 * in which data comes gives results that are noticed, and the same one that sums in
 * the order of ranks does not.
 */
#include "hostile_scene.h"
#include "values.h"

#define RANKS	3
#define COUNT	900		/* elements, in one segment */
#define BYTES	(COUNT * 4)

/* Each rank is a liar's, and the liars are one. */
static struct scene scenes[RANKS];
static struct values values;

static bool meet(void)
{
	uint32_t i;
	bool good = CHECK(values_make(&values, PEERLANE_TYPE_F32, PEERLANE_REDUCE_SUM,
				      RANKS, RANKS));

	memset(scenes, 0, sizeof(scenes));
	for (i = 0; i < RANKS && good; i++) {
		scenes[i].rank = i;
		good = scene_join(&scenes[i], GROUP_SETTINGS(.ranks = RANKS,
					.window = WINDOW, .segment = SMALL)) &&
		       welcome(&scenes[i], WINDOW);
		if (!good)
			break;
		ready(&scenes[i]);
		values_give(&values, i, scenes[i].pages.mem, 0, COUNT);
	}
	return good;
}

static void part(void)
{
	uint32_t i;

	for (i = 0; i < RANKS; i++) {
		memset(scenes[i].pages.mem, CANARY, LENGTH);
		scene_end(&scenes[i]);
	}
	values_free(&values);
}

/* ---- the aggregator ---- */

static float place_of(uint32_t rank, size_t i)
{
	float value;

	memcpy(&value, scenes[rank].liar.hostile.memory + POOL_AT + i * 4, 4);
	return value;
}

static void sum_up(const uint32_t *order, float *sum)
{
	uint32_t k;
	size_t i;

	for (i = 0; i < COUNT; i++) {
		sum[i] = place_of(order[0], i);
		for (k = 1; k < RANKS; k++)
			sum[i] += place_of(order[k], i);
	}
}

static void answer(struct scene *scene, const float *sum,
		   const struct group_message *word)
{
	const struct link_chunk *slot = &scene->liar.exposed.chunk_at[0];

	memcpy(scene->liar.hostile.memory, sum, BYTES);
	CHECK_INT(hostile_write(&scene->liar.hostile, slot->rkey,
				slot->iova + word->part.offset, BYTES), IBV_WC_SUCCESS);
	result(scene, 0, 0);
	CHECK_INT(group_next(scene->fd, PEERLANE_GROUP_RECORD_DONE).status, 0);
}

/* Ranks come in the order @comes, and are summed in the order @adds. */
static void reduce(const uint32_t *comes, const uint32_t *adds)
{
	struct peerlane_group_op op = GROUP_OP(ALL_REDUCE, .type = PEERLANE_TYPE_F32,
		.op = PEERLANE_REDUCE_SUM, .count = COUNT,
		.receive_offset = LENGTH / 2);
	struct group_message words[RANKS];
	float sum[COUNT];
	uint32_t i;

	for (i = 0; i < RANKS; i++) {
		CHECK_INT(group_begin(scenes[comes[i]].fd, &op, 1), 1);
		if (!CHECK(liar_hear(&scenes[comes[i]].liar, GROUP_MESSAGE_SEGMENT,
				     &words[comes[i]], PATIENCE)))
			return;
	}
	sum_up(adds, sum);
	for (i = 0; i < RANKS; i++)
		answer(&scenes[i], sum, &words[i]);
}

static long long first_wrong(uint32_t rank)
{
	return values_sum_differs(&values, scenes[rank].pages.mem + LENGTH / 2, 0, COUNT);
}

/* ---- the tests ---- */

static const uint32_t comes[RANKS] = { 2, 0, 1 };
static const uint32_t ranks[RANKS] = { 0, 1, 2 };

static void an_aggregator_that_sums_in_order_is_right(void)
{
	uint32_t i;

	if (meet()) {
		reduce(comes, ranks);
		for (i = 0; i < RANKS; i++)
			CHECK_INT(first_wrong(i), -1);
	}
	part();
}

static void one_that_sums_in_the_order_of_arrival_is_noticed(void)
{
	uint32_t i;

	if (meet()) {
		reduce(comes, comes);
		for (i = 0; i < RANKS; i++)
			CHECK(first_wrong(i) >= 0);
	}
	part();
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(an_aggregator_that_sums_in_order_is_right),
		TAP_CASE(one_that_sums_in_the_order_of_arrival_is_noticed),
	};

	hostile_init();
	return HARNESS_RUN(cases);
}
