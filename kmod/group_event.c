// SPDX-License-Identifier: GPL-2.0
/* What happens to a rank's group, for readers of netlink. */
#include "group.h"
#include "netlink.h"

static struct group_event_record record_of(const struct peerlane_group *group,
					   u32 kind)
{
	struct group_event_record record = {
		.kind = kind,
		.group = group->join.group,
		.file = group->id,
		.ranks = group->join.size,
		.rank = group->join.rank,
	};

	strscpy(record.label, group->settings.label, sizeof(record.label));
	return record;
}

void group_event(struct peerlane_group *group, u32 kind)
{
	struct group_event_record record = record_of(group, kind);

	if (kind == PEERLANE_EVENT_KIND_GROUP_ENDED) {
		/* Set before the end began, and for good. */
		record.cause = group->fault.cause;
		record.status = group->status;
		record.fault_rank = group->fault.rank;
		strscpy(record.reason, group->text, sizeof(record.reason));
	}
	peerlane_group_event(group->net, &record);
}

void group_lane_event(struct group_peer *peer, u32 lane)
{
	struct group_event_record record;
	struct link_lane_info info = {};

	record = record_of(peer->group, PEERLANE_EVENT_KIND_LANE_LEFT);
	link_lane_info(peer->link, lane, &info);
	record.cause = info.cause;
	record.aggregator = peer->index;
	record.lane = lane;
	peerlane_group_event(peer->group->net, &record);
}
