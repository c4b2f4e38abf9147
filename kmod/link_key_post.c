// SPDX-License-Identifier: GPL-2.0
/* Memory keys of exposures, and the requests that begin and end them. */
#include <linux/pfn.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "link_key.h"
#include "link_map.h"

/* ---- memory regions of verbs ---- */

static u32 mr_size(const struct link_key *key, u32 index)
{
	u64 begin = link_geometry_begin(&key->geometry, index);
	u64 length = link_geometry_left(&key->geometry, begin);

	return link_key_size(PFN_UP(offset_in_page(key->exposure.offset + begin) +
				    length));
}

void link_key_free_mrs(struct link_key *key, bool invalid)
{
	u32 i;

	lockdep_assert_held(&key->link->keys_lock);
	if (!key->mrs)
		return;
	for (i = 0; i < key->count; i++)
		if (!IS_ERR_OR_NULL(key->mrs[i]))
			link_pool_put(key->link, key->mrs[i], mr_size(key, i),
				      invalid);
	kvfree(key->mrs);
	key->mrs = NULL;
}

/* Each has addresses of its own that say nothing of where the memory is. */
static void hide_address(struct ib_mr *mr, u32 index)
{
	mr->iova = (mr->iova & ~PAGE_MASK) | (u64)(index + 1) << 32;
}

static int map_mr(struct link_key *key, u32 index, struct scatterlist *sg)
{
	u64 begin = link_geometry_begin(&key->geometry, index);
	u64 length = link_geometry_left(&key->geometry, begin);
	struct ib_mr *mr;
	int count;

	mr = link_pool_get(key->link, mr_size(key, index));
	key->mrs[index] = mr;
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	count = link_map_keysg(key->exposure.map, key->exposure.offset + begin,
			       length, sg, key->link->key_pages);
	if (count < 0)
		return count;
	if (ib_map_mr_sg(mr, sg, count, NULL, PAGE_SIZE) != count ||
	    mr->length != length)
		return -EIO;
	hide_address(mr, index);
	ib_update_fast_reg_key(mr, (u8)(mr->rkey + 1));
	return 0;
}

int link_key_make_mrs(struct link_key *key)
{
	struct scatterlist *sg;
	u32 i;
	int ret = 0;

	lockdep_assert_held(&key->link->keys_lock);
	key->mrs = kvcalloc(key->count, sizeof(*key->mrs), GFP_KERNEL_ACCOUNT);
	sg = kvmalloc_array(key->link->key_pages, sizeof(*sg), GFP_KERNEL);
	if (!key->mrs || !sg)
		ret = -ENOMEM;
	for (i = 0; !ret && i < key->count; i++)
		ret = map_mr(key, i, sg);
	kvfree(sg);
	if (ret)
		link_key_free_mrs(key, true);	/* they never were valid */
	return ret;
}

/* ---- requests ---- */

static int access_of(u32 rights)
{
	int access = 0;

	if (rights & PEERLANE_RIGHT_READ)
		access |= IB_ACCESS_REMOTE_READ;
	if (rights & PEERLANE_RIGHT_WRITE)
		access |= IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE;
	return access;
}

static void post_register(struct link_lane *lane, struct link_key *key)
{
	struct link_wr *wr = link_lane_next(lane);

	wr->send.opcode = IB_WR_REG_MR;
	wr->reg.mr = key->mrs[key->at];
	wr->reg.key = wr->reg.mr->rkey;
	wr->reg.access = access_of(key->exposure.rights);
	link_lane_add(lane, wr, 0, false);
	key->registered = ++key->at;
}

static bool post_tell(struct link_lane *lane, struct link_key *key)
{
	struct link_message message = {
		.type = LINK_MESSAGE_EXPOSE,
		.token = key->token,
		.length = key->geometry.length,
		.value = key->exposure.value,
		.rights = key->exposure.rights,
		.first = key->geometry.first,
		.chunk = key->geometry.chunk,
		.chunks = key->count,
		.index = key->at,
	};
	const struct ib_mr *mr;

	if (!link_take_control(lane->link, LINK_CONTROL_RESERVE))
		return false;
	while (key->at < key->count && message.count < LINK_CHUNKS_PER_MESSAGE) {
		mr = key->mrs[key->at++];
		message.chunk_at[message.count].rkey = mr->rkey;
		message.chunk_at[message.count++].iova = mr->iova;
	}
	link_lane_send(lane, &message);
	key->told = true;
	return true;
}

static void post_invalidate(struct link_lane *lane, struct link_key *key)
{
	struct link_wr *wr = link_lane_next(lane);

	wr->send.opcode = IB_WR_LOCAL_INV;
	wr->send.ex.invalidate_rkey = key->mrs[key->at]->rkey;
	key->invalid.end = link_lane_add(lane, wr, 0, false);
	key->at++;
	if (key->at < key->registered)
		return;
	kref_get(&key->ref);
	list_add_tail(&key->invalid.node, &lane->posted);
}

static bool post_withdraw(struct link_lane *lane, struct link_key *key)
{
	struct link_message message = {
		.type = LINK_MESSAGE_WITHDRAW,
		.token = key->token,
	};

	if (!link_take_control(lane->link, LINK_CONTROL_RESERVE))
		return false;
	link_lane_send(lane, &message);
	key->at++;
	return true;
}

/* How many steps the stage has. */
static u32 steps(const struct link_key *key)
{
	switch (key->stage) {
	case KEY_INVALIDATE:
		return key->registered;
	case KEY_WITHDRAW:
		return key->told ? 1 : 0;
	case KEY_LIVE:
	case KEY_GONE:
		return 0;
	default:
		return key->count;
	}
}

/* A message about it, unless an earlier one waits for credit: they stay in order. */
static bool tell(struct link_lane *lane, struct link_key *key, bool *held)
{
	if (!*held)
		*held = key->stage == KEY_TELL ? !post_tell(lane, key) :
						 !post_withdraw(lane, key);
	return !*held;
}

/* One step. False: not now. */
static bool step(struct link_lane *lane, struct link_key *key, bool *held)
{
	switch (key->stage) {
	case KEY_REGISTER:
		return false;	/* link_keys_register() has not come so far */
	case KEY_INVALIDATE:
		post_invalidate(lane, key);
		return true;
	default:
		return tell(lane, key, held);
	}
}

static void set_stage(struct link_key *key, enum key_stage stage)
{
	key->stage = stage;
	key->at = 0;
	/* Nothing was valid: nothing is to be waited for. */
	if (stage == KEY_INVALIDATE && !key->registered) {
		kref_get(&key->ref);
		link_key_unuse(key);
	}
}

/* True: nothing is left to do, for now. */
static bool advance(struct link_lane *lane, struct link_key *key, bool *held)
{
	/* It need not be told first, which the peer could hold up. */
	if (READ_ONCE(key->withdrawing) && key->stage < KEY_INVALIDATE)
		set_stage(key, KEY_INVALIDATE);
	while (key->stage != KEY_GONE) {
		if (key->stage == KEY_LIVE)
			return true;
		if (key->at == steps(key))
			set_stage(key, key->stage + 1);
		else if (link_lane_room(lane) <= LINK_SQ_RESERVE / 2 ||
			 !step(lane, key, held))
			return false;
		lane->key_end = lane->head;
	}
	return true;
}

/*
 * After a loss rxe does again all requests from the one that was lost on, also the
 * registrations behind it, of which the second is an error that it tells nobody:
 * the queue pair never sends anything again. So they wait for what is on the wire.
 * (What invalidates waits for it by itself.)
 */
static bool may_register(struct link_lane *lane)
{
	lane->draining = lane->link->repeats_keys &&
			 (s32)(lane->wire_end - lane->tail) > 0;
	return !lane->draining;
}

/* Of all keys before anything else is posted: others wait for this once. */
void link_keys_register(struct link_lane *lane)
{
	struct link *link = lane->link;
	struct link_key *key;

	lockdep_assert_held(&lane->lock);
	lane->draining = false;
	/* What the peer got by the lane before comes first. */
	if (READ_ONCE(link->leaving))
		return;
	list_for_each_entry(key, &link->key_work, work_node) {
		if (key->stage != KEY_REGISTER || READ_ONCE(key->withdrawing))
			continue;
		while (key->at < steps(key)) {
			if (!lane->open || !may_register(lane) ||
			    link_lane_room(lane) <= LINK_SQ_RESERVE / 2)
				return;
			post_register(lane, key);
			lane->key_end = lane->head;
		}
	}
}

void link_keys_pump(struct link_lane *lane)
{
	struct link *link = lane->link;
	struct link_key *key, *next;
	bool held = false;

	lockdep_assert_held(&lane->lock);
	if (READ_ONCE(link->leaving))
		return;
	list_for_each_entry_safe(key, next, &link->key_work, work_node) {
		/* One that waits for credit does not keep others from their end. */
		if (!lane->open || link_lane_room(lane) <= LINK_SQ_RESERVE / 2)
			return;
		if (!advance(lane, key, &held))
			continue;
		list_del_init(&key->work_node);
		if (key->stage == KEY_GONE)
			link_key_put(key);
	}
}
