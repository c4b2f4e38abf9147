// SPDX-License-Identifier: GPL-2.0
/* Lanes of a group's links, as they are shown. */
#include "group.h"

/* NULL: none yet. */
static struct link *link_at(struct peerlane_group *group, u32 peer)
{
	/* Pairs with the release in JOIN. */
	return smp_load_acquire(&group->peers[peer].link);
}

/* JOIN has made them, and they stay as long as the file. */
static u32 peers_of(const struct peerlane_group *group)
{
	return group_state(group) == PEERLANE_GROUP_NEW ? 0 :
							  READ_ONCE(group->peer_count);
}

u32 group_lanes_left(struct peerlane_group *group)
{
	u32 i, lane, left = 0;
	struct link_lane_info info;
	struct link *link;

	for (i = 0; i < peers_of(group); i++) {
		link = link_at(group, i);
		for (lane = 0; link && link_lane_info(link, lane, &info); lane++)
			left += info.state != PEERLANE_LANE_LIVE;
	}
	return left;
}

static void fill(const struct peerlane_group *group, u32 peer, u32 lane,
		 const struct link_lane_info *info,
		 struct peerlane_lane_info *record)
{
	*record = (struct peerlane_lane_info){
		.id = group->id,
		.messages = info->messages,
		.bytes = info->bytes,
		.replayed = info->replayed,
		.delay_ns = info->delay_ns,
		.aggregator = peer,
		.lane = lane,
		.state = info->state,
		.qpn = info->qpn,
		.left_ns = info->left_ns,
		.cause = info->cause,
		.peer_qpn = info->peer_qpn,
	};
}

u32 group_lanes_of(struct peerlane_group *group, struct peerlane_lane_info *records,
		   u32 room, u32 count)
{
	struct link_lane_info info;
	struct link *link;
	u32 i, lane;

	for (i = 0; i < peers_of(group); i++) {
		link = link_at(group, i);
		for (lane = 0; link && link_lane_info(link, lane, &info);
		     lane++, count++)
			if (count < room)
				fill(group, i, lane, &info, &records[count]);
	}
	return count;
}
