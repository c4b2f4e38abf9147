// SPDX-License-Identifier: GPL-2.0
/* What a group at an aggregator has time for: who is late ends it for all. */
#include <linux/jiffies.h>
#include <linux/ktime.h>

#include "aggregator.h"

static bool join_is_late(struct aggregator_group *group, struct group_fault *fault)
{
	u32 i;

	if (!time_after(jiffies, group->born +
			msecs_to_jiffies(group->aggregator->join_timeout_ms)))
		return false;
	*fault = (struct group_fault){ .cause = GROUP_CAUSE_JOIN,
				       .rank = GROUP_NOBODY,
				       .other = GROUP_NOBODY };
	for (i = group->shape.size; i; i--) {
		if (group->ranks[i - 1])
			continue;
		fault->rank = i - 1;
		fault->missing++;
	}
	return true;
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

void aggregator_look_after(struct aggregator_group *group)
{
	u64 limit = (u64)group->shape.timeout_ms * NSEC_PER_MSEC;
	struct group_fault fault;
	u64 now;
	bool ended, formed, late;

	lockdep_assert_held(&group->aggregator->lock);
	spin_lock(&group->lock);
	/* Not before: nothing that is looked at is later than this. */
	now = ktime_get_ns();
	ended = group->ended;
	formed = group->formed;
	late = !ended && formed &&
	       (aggregator_result_is_late(group, now, limit, &fault) ||
		aggregator_tune_is_late(group, now, limit, &fault) ||
		group_table_late(&group->table, now, limit, &fault) ||
		leave_is_late(group, now, limit, &fault));
	spin_unlock(&group->lock);
	if (!ended && formed)
		aggregator_late_events(group);
	if (!ended && !formed)
		late = join_is_late(group, &fault);
	if (late)
		aggregator_fail(group, &fault, NULL);
}
