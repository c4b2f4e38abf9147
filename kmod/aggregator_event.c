// SPDX-License-Identifier: GPL-2.0
/* What happens to groups at an aggregator, for readers of netlink. */
#include <linux/ktime.h>

#include "aggregator.h"
#include "netlink.h"

static struct group_event_record record_of(const struct aggregator_group *group,
					   u32 kind)
{
	const struct peerlane_aggregator *aggregator = group->aggregator;
	struct group_event_record record = {
		.kind = kind,
		.at_aggregator = true,
		.group = group->shape.group,
		.file = aggregator->id,
		.ranks = group->shape.size,
		.aggregator = group->shape.index,
	};

	strscpy(record.label, aggregator->settings.label, sizeof(record.label));
	return record;
}

void aggregator_event(const struct aggregator_group *group, u32 kind)
{
	struct group_event_record record = record_of(group, kind);

	if (kind == PEERLANE_EVENT_KIND_GROUP_ENDED && group->fault.cause) {
		record.cause = group->fault.cause;
		record.status = group_cause_errno(group->fault.cause);
		record.fault_rank = group->fault.rank;
		group_fault_text(&group->fault, record.reason,
				 sizeof(record.reason));
	}
	peerlane_group_event(group->aggregator->net, &record);
}

void aggregator_lane_event(const struct aggregator_rank *rank, u32 lane)
{
	/* Pairs with the release in enter(). */
	const struct aggregator_group *group = smp_load_acquire(&rank->group);
	struct group_event_record record;
	struct link_lane_info info = {};

	if (!group)
		return;
	record = record_of(group, PEERLANE_EVENT_KIND_LANE_LEFT);
	link_lane_info(rank->link, lane, &info);
	record.cause = info.cause;
	record.rank = rank->join.rank;
	record.lane = lane;
	peerlane_group_event(group->aggregator->net, &record);
}

static void tell_late(const struct aggregator_group *group,
		      const struct group_late_word *word)
{
	struct group_event_record record;

	record = record_of(group, word->late ? PEERLANE_EVENT_KIND_RANK_LATE :
					       PEERLANE_EVENT_KIND_RANK_IN_TIME);
	record.rank = word->rank;
	record.share = word->share;
	record.delay_ns = word->delay_ns;
	peerlane_group_event(group->aggregator->net, &record);
}

void aggregator_late_events(struct aggregator_group *group)
{
	struct group_late_word words[2];
	u32 i, count;

	lockdep_assert_held(&group->aggregator->lock);
	spin_lock(&group->lock);
	count = group_late_look(&group->table, &group->late, ktime_get_ns(),
				words);
	spin_unlock(&group->lock);
	for (i = 0; i < count; i++)
		tell_late(group, &words[i]);
}
