// SPDX-License-Identifier: GPL-2.0
/*
 * A rank's own patience. An aggregator says within the operations' timeout who
 * is late, and within another one that it has a result; one that answers, but
 * does neither, is given up.
 */
#include <linux/jiffies.h>

#include "group.h"

unsigned int group_patience_ms(const struct peerlane_group *group)
{
	const struct group_join *join = &group->join;
	u32 height = 1;

	/* Each may wait for a timeout before the one above it begins to. */
	if (join->placement == GROUP_PLACEMENT_TREE)
		height = group_tree_height(join->size, 1, join->block);
	return (height + 1) * join->timeout_ms + group->settings.timeout_ms;
}

static unsigned long period(const struct peerlane_group *group)
{
	return clamp(msecs_to_jiffies(group->join.timeout_ms) / 4,
		     (unsigned long)HZ / 10, 10UL * HZ);
}

/* The oldest segment that has no result is the one of long ago. */
static bool is_stuck(struct group_peer *peer)
{
	struct peerlane_group *group = peer->group;
	const struct group_stream *stream = &group->streams.of[peer->index];

	lockdep_assert_held(&group->queue_lock);
	if (stream->sent == stream->back || stream->back != peer->watched) {
		peer->watched = stream->back;
		peer->watched_since = jiffies;
		return false;
	}
	return time_after(jiffies, peer->watched_since +
			  msecs_to_jiffies(group_patience_ms(group)));
}

void group_watch(struct peerlane_group *group)
{
	u32 i;

	lockdep_assert_held(&group->queue_lock);
	for (i = 0; i < group->peer_count; i++)
		group->peers[i].watched_since = jiffies;
	queue_delayed_work(group_queue, &group->watch, period(group));
}

void group_watch_work(struct work_struct *work)
{
	struct peerlane_group *group;
	struct group_peer *peer;
	bool stuck;
	u32 i;

	group = container_of(to_delayed_work(work), struct peerlane_group, watch);
	if (group_state(group) != PEERLANE_GROUP_JOINED)
		return;
	for (i = 0; i < group->peer_count; i++) {
		peer = &group->peers[i];
		spin_lock(&group->queue_lock);
		stuck = group->state == PEERLANE_GROUP_JOINED &&
			(is_stuck(peer) ||
			 (!i && group_tune_is_stuck(group, group_patience_ms(group))));
		spin_unlock(&group->queue_lock);
		if (stuck)
			link_kill(peer->link, -ETIMEDOUT, -ETIMEDOUT,
				  "it answers, but had no result for %u ms",
				  group_patience_ms(group));
	}
	queue_delayed_work(group_queue, &group->watch, period(group));
}
