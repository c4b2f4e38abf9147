// SPDX-License-Identifier: GPL-2.0
/* Where the ranks of a group may choose its way: their numbers, put together. */
#include <linux/ktime.h>

#include "aggregator.h"
#include "reduce_cpu.h"

#define SAMPLE	16384U		/* bytes of each rank; less says nothing of bytes */

static bool has_choice(const struct aggregator_group *group)
{
	const struct group_join *shape = &group->shape;

	return shape->placement == GROUP_PLACEMENT_AUTO && shape->size > 1 &&
	       shape->aggregators == shape->size;
}

/* ---- reductions ---- */

void aggregator_reduced(struct aggregator_group *group, u32 bytes, u64 ns)
{
	u64 all = (u64)bytes * group->members.count;
	u32 ps = (u32)clamp_t(u64, ns * 1000 / max_t(u64, all, 1), 1,
			      GROUP_COST_BYTE_MAX);

	if (bytes < min(SAMPLE, group->shape.segment))
		return;
	/* Several at once may lose one of them. */
	WRITE_ONCE(group->gamma, group->gamma - group->gamma / 8 + ps / 8);
}

/*
 * Where the ranks may choose; of what is in the pool, as nobody has sent a segment.
 */
void aggregator_measure(struct aggregator_group *group)
{
	struct aggregator_place *place = &group->places[0];
	u32 bytes = min(SAMPLE, group->shape.segment);
	struct group_call call = { .type = PEERLANE_TYPE_F32,
				   .op = PEERLANE_REDUCE_SUM };
	u64 begin;

	lockdep_assert_held(&group->aggregator->lock);
	if (!has_choice(group))
		return;
	begin = ktime_get_ns();
	if (aggregator_reduce(place, &call, bytes / sizeof(u32))) {
		call.type = PEERLANE_TYPE_I32;
		begin = ktime_get_ns();
		aggregator_reduce(place, &call, bytes / sizeof(u32));
	}
	group->gamma = (u32)clamp_t(u64, (ktime_get_ns() - begin) * 1000 /
				    ((u64)bytes * group->members.count), 1,
				    GROUP_COST_BYTE_MAX);
}

/* ---- rounds ---- */

/* 0: others are missing; 1: all are there, @all has their numbers; < 0 */
static int take(struct aggregator_rank *rank, const struct group_tune *tune,
		struct group_tune *all)
{
	struct aggregator_group *group = rank->group;
	struct aggregator_tuning *tuning = &group->tuning;
	u32 i;

	lockdep_assert_held(&group->lock);
	if (group->ended)
		return 0;
	if (!has_choice(group) || !group->formed || rank->left || rank->tuned ||
	    group->shape.index || tune->round != tuning->round)
		return -EPROTO;
	rank->tuned = true;
	if (tuning->count++) {
		group_cost_merge(&tuning->cost, &tune->cost);
	} else {
		tuning->cost = tune->cost;
		tuning->since = ktime_get_ns();
	}
	if (tuning->count < group->members.count)
		return 0;
	all->round = tuning->round++;
	all->cost = tuning->cost;
	all->cost.gamma = READ_ONCE(group->gamma);
	tuning->count = 0;
	for (i = 0; i < group->members.count; i++)
		group->ranks[i]->tuned = false;
	return 1;
}

void aggregator_tune(struct aggregator_rank *rank, const struct group_tune *tune)
{
	struct aggregator_group *group = rank->group;
	struct group_message answer = { .type = GROUP_MESSAGE_TUNE };
	u32 i;
	int ret;

	spin_lock(&group->lock);
	ret = take(rank, tune, &answer.tune);
	spin_unlock(&group->lock);
	if (ret < 0)
		aggregator_fail_rank(rank, GROUP_CAUSE_PROTOCOL);
	/* Its ranks stay as long as the link of one is up, which this one's is. */
	for (i = 0; ret > 0 && i < group->members.count; i++)
		if (aggregator_answer(group->ranks[i], &answer))
			aggregator_fail_rank(group->ranks[i], GROUP_CAUSE_FULL);
}

bool aggregator_tune_is_late(struct aggregator_group *group, u64 now, u64 limit,
			     struct group_fault *fault)
{
	const struct aggregator_tuning *tuning = &group->tuning;
	u32 i;

	lockdep_assert_held(&group->lock);
	/* Before the first operation some may still be measuring. */
	if (!tuning->round)
		limit += (u64)group->aggregator->join_timeout_ms * NSEC_PER_MSEC;
	if (!tuning->count || now - tuning->since < limit)
		return false;
	for (i = 0; i < group->members.count - 1; i++)
		if (!group->ranks[i]->tuned)
			break;
	if (group->left) {
		*fault = (struct group_fault){ .cause = GROUP_CAUSE_LEFT,
					       .rank = group->first_left,
					       .other = GROUP_NOBODY };
		return true;
	}
	*fault = (struct group_fault){ .cause = GROUP_CAUSE_LATE, .rank = i,
				       .other = GROUP_NOBODY,
				       .missing = group->members.count -
						  tuning->count,
				       .seq = group_cost_round_at(tuning->round) };
	return true;
}
