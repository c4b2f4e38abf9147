// SPDX-License-Identifier: GPL-2.0
/* What a group at an aggregator has time for: who is late ends it for all. */
#include <linux/jiffies.h>
#include <linux/ktime.h>

#include "aggregator_parent.h"

/* Who has not joined, or speaks for some who have not; false: all have. */
static bool find_missing(struct aggregator_group *group, struct group_fault *fault)
{
	u32 i;

	lockdep_assert_held(&group->aggregator->lock);
	*fault = (struct group_fault){ .cause = GROUP_CAUSE_JOIN,
				       .rank = GROUP_NOBODY,
				       .other = GROUP_NOBODY };
	for (i = group->members.count; i; i--) {
		if (group->ranks[i - 1] && group->ranks[i - 1]->ready)
			continue;
		fault->rank = group_member_rank(&group->members, i - 1);
		fault->missing += min(group->members.unit,
				      group->shape.size - fault->rank);
	}
	return fault->missing;
}

/* All of ours may be there, and the parent waits for others. */
static bool join_is_late(struct aggregator_group *group, struct group_fault *fault)
{
	return time_after(jiffies, group->born +
			  msecs_to_jiffies(group->aggregator->join_timeout_ms)) &&
	       find_missing(group, fault);
}

/*
 * After the first LEAVE there is nothing that the others could still do
 * together, so who does not leave only keeps the group's memory.
 */
static bool leave_is_late(struct aggregator_group *group, u64 now, u64 limit,
			  struct group_fault *fault)
{
	lockdep_assert_held(&group->lock);
	if (!group->left || now - group->left_at < limit)
		return false;
	*fault = (struct group_fault){ .cause = GROUP_CAUSE_LEFT,
				       .rank = group->first_left,
				       .other = GROUP_NOBODY };
	return true;
}

/* Who speaks for others knows for whom of them it waits. */
static bool may_ask(const struct aggregator_group *group,
		    const struct group_fault *fault,
		    const struct aggregator_rank *rank)
{
	return group->members.unit > 1 && rank && !rank->down &&
	       (fault->cause == GROUP_CAUSE_LATE ||
		fault->cause == GROUP_CAUSE_JOIN);
}

/*
 * Its answer is an ABORT, which names the rank. One that does not answer in time
 * is named itself.
 */
static void blame(struct aggregator_group *group, const struct group_fault *fault)
{
	unsigned long patience =
		msecs_to_jiffies(group->aggregator->settings.timeout_ms);
	struct aggregator_rank *rank = NULL;
	u32 index;

	lockdep_assert_held(&group->aggregator->lock);
	if (group->asked) {
		if (time_after(jiffies, group->asked_at + patience))
			aggregator_fail(group, &group->question, NULL);
		return;
	}
	index = fault->rank / group->members.unit - group->members.first;
	if (index < group->members.count)
		rank = group->ranks[index];
	if (!may_ask(group, fault, rank)) {
		aggregator_fail(group, fault, NULL);
		return;
	}
	group->asked = rank;
	group->asked_at = jiffies;
	group->question = *fault;
	rank->asked = true;
	aggregator_tell(rank, fault);
}

/*
 * A parent that answers, but says neither who is late nor what the result is, as
 * a rank's own patience has it.
 */
static void watch_parent(struct aggregator_group *group, bool formed)
{
	struct peerlane_aggregator *aggregator = group->aggregator;
	const struct group_join *shape = &group->shape;
	u32 height = group_tree_height(shape->size, shape->unit * shape->block,
				       shape->block);
	u64 limit = (height + 1) * (u64)shape->timeout_ms +
		    aggregator->settings.timeout_ms;
	bool stuck;

	if (formed)
		stuck = aggregator_parent_is_stuck(group->parent,
						   limit * NSEC_PER_MSEC);
	else
		stuck = time_after(jiffies, group->born +
				   2 * msecs_to_jiffies(aggregator->join_timeout_ms));
	if (stuck)
		aggregator_parent_kill(group->parent);
}

void aggregator_look_after(struct aggregator_group *group)
{
	u64 limit = (u64)group->shape.timeout_ms * NSEC_PER_MSEC;
	struct group_fault fault;
	u64 now;
	bool ended, formed, owes, late;

	lockdep_assert_held(&group->aggregator->lock);
	spin_lock(&group->lock);
	/* Not before: nothing that is looked at is later than this. */
	now = ktime_get_ns();
	ended = group->ended;
	formed = group->formed;
	owes = !ended && formed &&
	       aggregator_result_is_late(group, now, limit, &fault);
	late = !ended && formed && !owes &&
	       (aggregator_tune_is_late(group, now, limit, &fault) ||
		group_table_late(&group->table, now, limit, &fault) ||
		leave_is_late(group, now, limit, &fault));
	spin_unlock(&group->lock);
	if (!ended && formed)
		aggregator_late_events(group);
	if (!ended && !formed)
		late = join_is_late(group, &fault);
	/* Who takes no results is at fault himself, whoever he speaks for. */
	if (owes)
		aggregator_fail(group, &fault, NULL);
	if (late)
		blame(group, &fault);
	if (!ended && group->parent)
		watch_parent(group, formed);
}

void aggregator_accuse(struct aggregator_group *group,
		       const struct group_fault *question)
{
	struct group_fault fault, own;
	bool found;

	lockdep_assert_held(&group->aggregator->lock);
	fault = *question;
	if (fault.cause == GROUP_CAUSE_JOIN) {
		found = find_missing(group, &own);
	} else {
		spin_lock(&group->lock);
		found = group_table_slow(&group->table, fault.seq, &own);
		spin_unlock(&group->lock);
	}
	blame(group, found ? &own : &fault);
}
