// SPDX-License-Identifier: GPL-2.0
/* Slots of groups: regions bound, exposed to all aggregators, revoked. */
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/nospec.h>

#include "group.h"
#include "link_map.h"

#define GOODBYE		(HZ / 4)	/* of a revocation */

/* ---- as the aggregators see it ---- */

static int map_for(struct group_slot *slot, struct group_peer *peer,
		   struct link_map **map, struct peerlane_msg *msg)
{
	struct ib_device *dev = link_device_get(peer->link);

	if (!dev)
		return peerlane_refuse(msg, -ENOTCONN,
				       "aggregator %u is not connected any more",
				       peer->index);
	*map = link_map_get(slot->region, dev, msg);
	link_device_put(peer->link);
	if (IS_ERR(*map))
		return PTR_ERR(*map);
	if (slot->read_only || link_map_writable(*map))
		return 0;
	link_map_put(*map);
	return peerlane_refuse(msg, -EPERM,
			       "the region of slot %u is for reading only: PEERLANE_BIND_READ_ONLY",
			       slot->index);
}

static int expose(struct group_slot *slot, struct group_peer *peer,
		  struct link_map *map, struct peerlane_msg *msg)
{
	const struct link_exposure exposure = {
		.map = map,
		.offset = slot->offset,
		.length = slot->length,
		.value = slot->index,
		.rights = PEERLANE_RIGHT_WRITE,
		.slot = slot->index,
	};
	struct group_view *view = group_view(slot, peer->index);
	u64 token = 0;
	int ret = 0;

	lockdep_assert_held(&slot->group->expose_lock);
	if (slot->revoked)
		return peerlane_refuse(msg, -ENODEV,
				       "the region of slot %u is revoked",
				       slot->index);
	if (!slot->read_only)
		ret = link_expose(peer->link, &exposure, &token, msg);
	if (ret)
		return ret;
	spin_lock(&slot->group->queue_lock);
	view->map = map;
	view->token = token;
	spin_unlock(&slot->group->queue_lock);
	return 0;
}

static int show_to(struct group_slot *slot, struct group_peer *peer,
		   struct peerlane_msg *msg)
{
	struct link_map *map;
	int ret = map_for(slot, peer, &map, msg);

	if (ret)
		return ret;
	mutex_lock(&slot->group->expose_lock);
	ret = expose(slot, peer, map, msg);
	mutex_unlock(&slot->group->expose_lock);
	if (ret)
		link_map_put(map);
	return ret;
}

static struct group_view take_view(struct group_slot *slot, u32 peer)
{
	struct peerlane_group *group = slot->group;
	struct group_view view;

	mutex_lock(&group->expose_lock);
	spin_lock(&group->queue_lock);
	view = *group_view(slot, peer);
	*group_view(slot, peer) = (struct group_view){};
	slot->mapped = false;
	slot->ready = 0;
	spin_unlock(&group->queue_lock);
	mutex_unlock(&group->expose_lock);
	return view;
}

/*
 * No operation uses it, or all links are down. bind_lock is held meanwhile, for
 * which the end waits: so an aggregator has no say in how long it takes.
 */
static void hide(struct group_slot *slot)
{
	struct peerlane_group *group = slot->group;
	struct group_view view;
	u32 i;

	for (i = 0; i < group->peer_count; i++) {
		view = take_view(slot, i);
		if (view.token)
			link_withdraw_in_time(group->peers[i].link, view.token);
		if (view.map)
			link_map_put(view.map);
	}
}

static int show(struct group_slot *slot, struct peerlane_msg *msg)
{
	struct peerlane_group *group = slot->group;
	u32 i;
	int ret = 0;

	lockdep_assert_held(&group->bind_lock);
	for (i = 0; !ret && i < group->peer_count; i++)
		ret = show_to(slot, &group->peers[i], msg);
	if (ret) {
		hide(slot);
		return ret;
	}
	spin_lock(&group->queue_lock);
	slot->mapped = true;
	spin_unlock(&group->queue_lock);
	return 0;
}

int group_expose_all(struct peerlane_group *group, struct peerlane_msg *msg)
{
	u32 i;
	int ret = 0;

	for (i = 0; !ret && i < group->slot_count; i++)
		if (group->slots[i].region)
			ret = show(&group->slots[i], msg);
	return ret;
}

/* Exposing is over: its token is known, or it is one that was withdrawn. */
bool group_slot_ready(struct group_peer *peer, u64 token)
{
	struct peerlane_group *group = peer->group;
	struct group_view *view;
	bool found = false;
	u32 i;

	mutex_lock(&group->expose_lock);
	spin_lock(&group->queue_lock);
	for (i = 0; !found && i < group->slot_count; i++) {
		view = group_view(&group->slots[i], peer->index);
		found = token && view->token == token && !view->ready;
		if (!found)
			continue;
		view->ready = true;
		group->slots[i].ready++;
	}
	spin_unlock(&group->queue_lock);
	mutex_unlock(&group->expose_lock);
	return found;
}

void group_unmap_all(struct peerlane_group *group)
{
	u32 i;

	for (i = 0; i < group->slot_count; i++)
		hide(&group->slots[i]);
}

/* ---- revocation ---- */

/* Nobody reaches memory through the links after it. */
static void settle_links(struct peerlane_group *group)
{
	struct link *link;
	u32 i, count = READ_ONCE(group->peer_count);

	if (!count)
		return;
	/* The others are told why before that. */
	wait_event_timeout(group->wait, group_links_down(group), GOODBYE);
	for (i = 0; i < count; i++) {
		/* Pairs with the release in JOIN. */
		link = smp_load_acquire(&group->peers[i].link);
		if (!link)
			continue;
		link_kill(link, -ENODEV, -ECANCELED, "a region was revoked");
		link_wait_settled(link);
	}
}

static void region_revoked(struct region_watch *watch)
{
	struct group_slot *slot = container_of(watch, struct group_slot, watch);
	struct peerlane_group *group = slot->group;
	struct group_fault fault = group_own_fault(group, GROUP_CAUSE_REVOKED);
	char text[64];
	bool has_links;

	mutex_lock(&group->expose_lock);
	WRITE_ONCE(slot->revoked, true);
	mutex_unlock(&group->expose_lock);
	spin_lock(&group->queue_lock);
	has_links = group->state != PEERLANE_GROUP_NEW &&
		    group->state != PEERLANE_GROUP_ENDED && group->peer_count;
	spin_unlock(&group->queue_lock);
	if (!has_links)	/* and no map */
		return;
	snprintf(text, sizeof(text), "rank %u: the region of slot %u is revoked",
		 group->join.rank, slot->index);
	group_end(group, &fault, 0, text, NULL);
	settle_links(group);
	hide(slot);
}

/* ---- BIND ---- */

static struct group_slot *slot_at(struct peerlane_group *group, u32 index,
				  struct peerlane_msg *msg)
{
	if (index >= group->slot_count) {
		peerlane_refuse(msg, -EINVAL, "slot %u: the group has %u", index,
				group->slot_count);
		return NULL;
	}
	return &group->slots[array_index_nospec(index, group->slot_count)];
}

static int clear_slot(struct group_slot *slot, struct peerlane_msg *msg)
{
	struct peerlane_group *group = slot->group;
	struct peerlane_region *region = slot->region;
	bool busy;

	lockdep_assert_held(&group->bind_lock);
	if (!region)
		return peerlane_refuse(msg, -EINVAL, "slot %u is empty",
				       slot->index);
	spin_lock(&group->queue_lock);
	busy = slot->users;
	if (!busy)
		slot->mapped = false;
	spin_unlock(&group->queue_lock);
	if (busy)
		return peerlane_refuse(msg, -EBUSY, "slot %u has operations",
				       slot->index);
	hide(slot);
	peerlane_region_unwatch(region, &slot->watch);
	slot->region = NULL;
	peerlane_region_put_user(region);
	return 0;
}

static int fill(struct group_slot *slot, struct peerlane_region *region,
		struct peerlane_endpoint_bind *args, struct peerlane_msg *msg)
{
	struct peerlane_group *group = slot->group;
	int ret;

	lockdep_assert_held(&group->bind_lock);
	if (slot->region)
		return peerlane_refuse(msg, -EBUSY, "slot %u has a region",
				       slot->index);
	if (group_state(group) > PEERLANE_GROUP_JOINED)
		return group_joined(group, msg);
	ret = link_bind_part(region, args, msg);
	if (ret)
		return ret;
	slot->watch.revoked = region_revoked;
	slot->revoked = false;	/* before the callback may come */
	ret = peerlane_region_watch(region, &slot->watch, msg);
	if (ret)
		return ret;
	peerlane_region_get_user(region);
	slot->region = region;
	slot->offset = args->offset;
	slot->length = args->out_length;
	slot->read_only = args->flags & PEERLANE_BIND_READ_ONLY;
	if (group_state(group) != PEERLANE_GROUP_JOINED)
		return 0;	/* JOIN is going to do it */
	ret = show(slot, msg);
	if (ret)
		clear_slot(slot, NULL);
	return ret;
}

static int fill_by_fd(struct group_slot *slot,
		      struct peerlane_endpoint_bind *args,
		      struct peerlane_msg *msg)
{
	struct file *file = link_bind_file(args, msg);
	int ret;

	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = fill(slot, peerlane_region_of(file), args, msg);
	fput(file);
	return ret;
}

int group_bind(struct peerlane_group *group, struct peerlane_endpoint_bind *args,
	       struct peerlane_msg *msg)
{
	struct group_slot *slot = slot_at(group, args->slot, msg);
	int ret;

	if (!slot)
		return -EINVAL;
	mutex_lock(&group->bind_lock);
	if (args->region_fd != -1)
		ret = fill_by_fd(slot, args, msg);
	else
		ret = clear_slot(slot, msg);
	mutex_unlock(&group->bind_lock);
	return ret;
}

void group_unbind(struct peerlane_group *group, u32 index)
{
	mutex_lock(&group->bind_lock);
	clear_slot(&group->slots[index], NULL);
	mutex_unlock(&group->bind_lock);
}

/* The group has ended. */
void group_unbind_all(struct peerlane_group *group)
{
	u32 i;

	mutex_lock(&group->bind_lock);
	for (i = 0; i < group->slot_count; i++)
		if (group->slots[i].region)
			WARN_ON_ONCE(clear_slot(&group->slots[i], NULL));
	mutex_unlock(&group->bind_lock);
}
