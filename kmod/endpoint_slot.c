// SPDX-License-Identifier: GPL-2.0
/* Slots: regions bound, mapped for the link's device, exposed, revoked. */
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/nospec.h>

#include "endpoint.h"
#include "link_map.h"
#include "range.h"

/* ---- use ---- */

static struct endpoint_slot *slot_at(struct peerlane_endpoint *endpoint,
				     u32 index, struct peerlane_msg *msg)
{
	if (index >= endpoint->slot_count) {
		peerlane_refuse(msg, -EINVAL, "slot %u: the endpoint has %u",
				index, endpoint->slot_count);
		return NULL;
	}
	return &endpoint->slots[array_index_nospec(index, endpoint->slot_count)];
}

int endpoint_slot_usable(struct peerlane_endpoint *endpoint, u32 index,
			 struct endpoint_slot **found, struct peerlane_msg *msg)
{
	struct endpoint_slot *slot = slot_at(endpoint, index, msg);

	lockdep_assert_held(&endpoint->lock);
	if (!slot)
		return -EINVAL;
	if (!slot->region)
		return peerlane_refuse(msg, -EINVAL, "slot %u is empty", index);
	if (slot->revoked)
		return peerlane_refuse(msg, -ENODEV,
				       "the region of slot %u is revoked", index);
	*found = slot;
	return slot->map ? 0 : -EAGAIN;
}

/* ---- maps ---- */

static struct endpoint_slot *get_unmapped(struct peerlane_endpoint *endpoint,
					  u32 index,
					  struct peerlane_region **region)
{
	struct endpoint_slot *slot;

	lockdep_assert_held(&endpoint->bind_lock);
	down_read(&endpoint->lock);
	if (endpoint_slot_usable(endpoint, index, &slot, NULL) != -EAGAIN)
		slot = NULL;
	else
		*region = slot->region;
	up_read(&endpoint->lock);
	return slot;
}

/* bind_lock keeps the slot's region as it is. */
static int map(struct peerlane_endpoint *endpoint, u32 index,
	       struct peerlane_msg *msg)
{
	struct peerlane_region *region;
	struct endpoint_slot *slot;
	struct link_map *map;
	struct ib_device *dev;

	slot = get_unmapped(endpoint, index, &region);
	if (!slot)
		return 0;
	dev = link_device_get(endpoint->link);
	if (!dev)
		return endpoint_connected(endpoint, msg) ?: -ENOTCONN;
	map = link_map_get(region, dev, msg);
	down_write(&endpoint->lock);
	if (!IS_ERR(map) && !slot->revoked && !slot->map &&
	    endpoint_state(endpoint) == PEERLANE_ENDPOINT_CONNECTED) {
		slot->map = map;
		map = NULL;
	}
	up_write(&endpoint->lock);
	if (!IS_ERR_OR_NULL(map))	/* the end came first */
		link_map_put(map);
	link_device_put(endpoint->link);
	return IS_ERR(map) ? PTR_ERR(map) : 0;
}

int endpoint_map(struct peerlane_endpoint *endpoint, u32 index,
		 struct peerlane_msg *msg)
{
	int ret;

	mutex_lock(&endpoint->bind_lock);
	ret = map(endpoint, index, msg);
	mutex_unlock(&endpoint->bind_lock);
	return ret;
}

static void unmap(struct endpoint_slot *slot)
{
	struct peerlane_endpoint *endpoint = slot->endpoint;
	struct link_map *map;

	down_write(&endpoint->lock);
	map = slot->map;
	slot->map = NULL;
	up_write(&endpoint->lock);
	if (map)
		link_map_put(map);
}

void endpoint_unmap_all(struct peerlane_endpoint *endpoint)
{
	u32 i;

	for (i = 0; i < endpoint->slot_count; i++)
		unmap(&endpoint->slots[i]);
}

/* ---- revocation ---- */

/*
 * Nobody may use the memory when this returns. What goes on cannot be taken
 * back one by one: if there is any, the link has to die for it.
 */
static void region_revoked(struct region_watch *watch)
{
	struct endpoint_slot *slot = container_of(watch, struct endpoint_slot,
						  watch);
	struct peerlane_endpoint *endpoint = slot->endpoint;
	struct link *link;

	down_write(&endpoint->lock);
	slot->revoked = true;
	/* Before it was up nothing of the slot can have been used. */
	link = READ_ONCE(endpoint->was_up) ? endpoint->link : NULL;
	up_write(&endpoint->lock);
	if (link) {
		link_withdraw_slot(link, slot->index);
		if (atomic_read(&slot->users)) {
			link_kill(link, -ENODEV, -ECANCELED,
				  "the region of slot %u was revoked during operations",
				  slot->index);
			link_wait_settled(link);
		}
	}
	unmap(slot);
}

/* ---- BIND ---- */

static bool is_idle(struct peerlane_endpoint *endpoint,
		    const struct endpoint_slot *slot)
{
	return !atomic_read(&slot->users) &&
	       (!endpoint->link ||
		!link_slot_exposed(endpoint->link, slot->index));
}

static int empty(struct endpoint_slot *slot, struct peerlane_msg *msg)
{
	struct peerlane_endpoint *endpoint = slot->endpoint;
	struct peerlane_region *region = NULL;
	struct link_map *map = NULL;
	int ret = 0;

	lockdep_assert_held(&endpoint->bind_lock);
	down_write(&endpoint->lock);
	if (!is_idle(endpoint, slot)) {
		ret = -EBUSY;
	} else {
		swap(region, slot->region);
		swap(map, slot->map);
	}
	up_write(&endpoint->lock);
	if (ret)
		return peerlane_refuse(msg, ret,
				       "slot %u has operations or exposures",
				       slot->index);
	if (map)
		link_map_put(map);
	if (region) {
		peerlane_region_unwatch(region, &slot->watch);
		peerlane_region_put_user(region);
	}
	return 0;
}

static int fill(struct endpoint_slot *slot, struct peerlane_region *region,
		struct peerlane_endpoint_bind *args, struct peerlane_msg *msg)
{
	struct peerlane_endpoint *endpoint = slot->endpoint;
	int ret;

	lockdep_assert_held(&endpoint->bind_lock);
	if (slot->region)
		return peerlane_refuse(msg, -EBUSY, "slot %u has a region",
				       slot->index);
	ret = link_bind_part(region, args, msg);
	if (ret)
		return ret;
	slot->watch.revoked = region_revoked;
	slot->revoked = false;	/* before the callback may come */
	ret = peerlane_region_watch(region, &slot->watch, msg);
	if (ret)
		return ret;
	peerlane_region_get_user(region);
	down_write(&endpoint->lock);
	slot->region = region;
	slot->offset = args->offset;
	slot->length = args->out_length;
	slot->read_only = args->flags & PEERLANE_BIND_READ_ONLY;
	up_write(&endpoint->lock);
	if (endpoint_state(endpoint) != PEERLANE_ENDPOINT_CONNECTED)
		return 0;
	ret = map(endpoint, slot->index, msg);
	if (ret)
		empty(slot, NULL);
	return ret;
}

static int fill_by_fd(struct endpoint_slot *slot,
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

int endpoint_bind(struct peerlane_endpoint *endpoint,
		  struct peerlane_endpoint_bind *args, struct peerlane_msg *msg)
{
	struct endpoint_slot *slot = slot_at(endpoint, args->slot, msg);
	int ret;

	if (!slot)
		return -EINVAL;
	mutex_lock(&endpoint->bind_lock);
	if (args->region_fd != -1)
		ret = fill_by_fd(slot, args, msg);
	else if (!slot->region)
		ret = peerlane_refuse(msg, -EINVAL, "slot %u is empty",
				      args->slot);
	else
		ret = empty(slot, msg);
	mutex_unlock(&endpoint->bind_lock);
	return ret;
}

void endpoint_unbind(struct peerlane_endpoint *endpoint, u32 index)
{
	mutex_lock(&endpoint->bind_lock);
	empty(&endpoint->slots[index], NULL);
	mutex_unlock(&endpoint->bind_lock);
}

/* The link, if there was one, has ended. */
void endpoint_unbind_all(struct peerlane_endpoint *endpoint)
{
	u32 i;

	mutex_lock(&endpoint->bind_lock);
	for (i = 0; i < endpoint->slot_count; i++)
		if (endpoint->slots[i].region)
			WARN_ON_ONCE(empty(&endpoint->slots[i], NULL));
	mutex_unlock(&endpoint->bind_lock);
}

/* ---- EXPOSE ---- */

#define RIGHTS	(PEERLANE_RIGHT_READ | PEERLANE_RIGHT_WRITE)

static int check_exposure(const struct endpoint_slot *slot,
			  const struct peerlane_endpoint_expose *args,
			  struct peerlane_msg *msg)
{
	if (peerlane_range_wraps(args->offset, args->length))
		return peerlane_refuse(msg, -EOVERFLOW,
				       "offset %#llx + length %#llx overflows",
				       args->offset, args->length);
	if (!args->length ||
	    !peerlane_range_within(args->offset, args->length, slot->length))
		return peerlane_refuse(msg, -EINVAL,
				       "[%#llx, %#llx) is empty or beyond the slot's %#llx bytes",
				       args->offset, args->offset + args->length,
				       slot->length);
	if ((args->rights & PEERLANE_RIGHT_WRITE) &&
	    (slot->read_only || !link_map_writable(slot->map)))
		return peerlane_refuse(msg, -EPERM,
				       "slot %u is for reading only", slot->index);
	return 0;
}

static int expose(struct peerlane_endpoint *endpoint,
		  struct peerlane_endpoint_expose *args,
		  struct peerlane_msg *msg)
{
	struct link_exposure exposure;
	struct endpoint_slot *slot;
	int ret;

	lockdep_assert_held_read(&endpoint->lock);
	ret = endpoint_connected(endpoint, msg);
	if (!ret)
		ret = endpoint_slot_usable(endpoint, args->slot, &slot, msg);
	if (!ret)
		ret = check_exposure(slot, args, msg);
	if (ret)
		return ret;
	exposure = (struct link_exposure){
		.map = slot->map,
		.offset = slot->offset + args->offset,
		.length = args->length,
		.value = args->value,
		.rights = args->rights,
		.slot = slot->index,
	};
	return link_expose(endpoint->link, &exposure, &args->out_token, msg);
}

int endpoint_expose(struct peerlane_endpoint *endpoint,
		    struct peerlane_endpoint_expose *args,
		    struct peerlane_msg *msg)
{
	bool mapped = false;
	int ret;

	if (args->rights & ~RIGHTS)
		return peerlane_refuse(msg, -EOPNOTSUPP, "unknown rights %#x",
				       args->rights & ~RIGHTS);
	if (!args->rights)
		return peerlane_refuse(msg, -EINVAL, "no rights are given");
	for (;;) {
		msg->text[0] = '\0';
		down_read(&endpoint->lock);
		ret = expose(endpoint, args, msg);
		up_read(&endpoint->lock);
		/* One of the slot has no text. */
		if (ret != -EAGAIN || msg->text[0] || mapped)
			return ret;
		ret = endpoint_map(endpoint, args->slot, msg);
		if (ret)
			return ret;
		mapped = true;
	}
}
