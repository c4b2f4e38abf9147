// SPDX-License-Identifier: GPL-2.0
/*
 * What we expose to the peer: memory keys with exactly the range and the rights
 * that were given, made and ended by requests of the control lane.
 *
 *   REGISTER -> TELL -> LIVE -> INVALIDATE -> WITHDRAW -> gone
 * The peer is told of keys after they are registered, and of their end after
 * they are invalid, since requests of a lane are done in order.
 *
 * Software devices invalidate a key by a mark, and one who looked at it just
 * before may still copy. So there each is freed, which waits for such.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "link_key.h"
#include "link_map.h"

#define PATIENCE	(2 * HZ)	/* of a revocation */

static unsigned int user_keys = 262144;
module_param(user_keys, uint, 0644);
MODULE_PARM_DESC(user_keys,
		 "memory keys for exposures one user may have; 0: no limit (default 262144)");

static const struct peerlane_countable countable = {
	.nouns		= "memory keys",
	.parameter	= "user_keys",
};

static void free_key(struct kref *ref)
{
	kfree(container_of(ref, struct link_key, ref));
}

void link_key_put(struct link_key *key)
{
	kref_put(&key->ref, free_key);
}

static void queue_key(struct link_key *key)
{
	struct link *link = key->link;
	struct link_lane *lane;

	for (;;) {
		lane = link_control(link);
		spin_lock(&lane->lock);
		if (lane == link_control(link))
			break;
		spin_unlock(&lane->lock);
	}
	/* Else the end of the link has taken care of it, or is going to. */
	if (!lane->stopped && key->stage != KEY_GONE && list_empty(&key->work_node))
		list_add_tail(&key->work_node, &link->key_work);
	link_lane_pump(lane);
	spin_unlock(&lane->lock);
}

/* ---- expose ---- */

static int take_link_room(struct link *link, const struct link_key *key,
			  struct peerlane_msg *msg)
{
	int ret = 0;

	spin_lock(&link->lock);
	if (key->count > link->key_limit ||
	    link->key_count > link->key_limit - key->count)
		ret = -EDQUOT;
	else if (!link_credit_left(&link->exposures))
		ret = -EAGAIN;
	if (!ret) {
		link->exposures.sent++;
		link->key_count += key->count;
		link->exposed++;
	}
	spin_unlock(&link->lock);
	if (ret == -EAGAIN)
		return peerlane_refuse(msg, ret,
				       "the peer keeps %u exposures, and has not read that some are withdrawn",
				       link->exposures.limit);
	if (ret)
		return peerlane_refuse(msg, ret,
				       "%u memory keys are wanted, %u are in use, the limit is %u (module parameter endpoint_keys, here or there)",
				       key->count, link->key_count,
				       link->key_limit);
	return 0;
}

static void give_link_room(const struct link_key *key, bool unsent)
{
	struct link *link = key->link;

	spin_lock(&link->lock);
	if (unsent)
		link->exposures.sent--;
	link->key_count -= key->count;
	link->exposed--;
	spin_unlock(&link->lock);
}

static int take_room(struct link *link, const struct link_key *key,
		     struct peerlane_msg *msg)
{
	int ret = take_link_room(link, key, msg);

	if (ret)
		return ret;
	ret = peerlane_count(&countable, link->settings.uid, key->count,
			     READ_ONCE(user_keys), msg);
	if (ret)
		give_link_room(key, true);
	return ret;
}

static void give_room(const struct link_key *key, bool unsent)
{
	give_link_room(key, unsent);
	peerlane_uncount(&countable, key->link->settings.uid, key->count);
}

static void key_invalid(struct link_work *work)
{
	struct link_key *key = container_of(work, struct link_key, invalid);

	key->invalidated = !work->status;
	link_key_unuse(key);
}

static struct link_key *key_new(struct link *link,
				const struct link_exposure *exposure)
{
	struct link_key *key = kzalloc(sizeof(*key), GFP_KERNEL_ACCOUNT);

	if (!key)
		return NULL;
	key->link = link;
	kref_init(&key->ref);
	INIT_LIST_HEAD(&key->node);
	INIT_LIST_HEAD(&key->work_node);
	INIT_LIST_HEAD(&key->invalid.node);
	key->invalid.done = key_invalid;
	key->exposure = *exposure;
	key->geometry = link_geometry_make(exposure->offset, exposure->length,
					   link->key_pages, PAGE_SHIFT);
	key->count = min_t(u64, link_geometry_chunks(&key->geometry), U32_MAX);
	refcount_set(&key->users, 1);
	init_completion(&key->ended);
	do {
		get_random_bytes(&key->token, sizeof(key->token));
	} while (!key->token);
	return key;
}

static int publish(struct link *link, struct link_key *key,
		   struct peerlane_msg *msg)
{
	int ret;

	mutex_lock(&link->keys_lock);
	ret = link_state(link) == LINK_UP ? link_key_make_mrs(key) : -ENOTCONN;
	if (!ret) {
		kref_get(&key->ref);	/* for link->keys */
		spin_lock(&link->lock);
		list_add_tail(&key->node, &link->keys);
		spin_unlock(&link->lock);
	}
	mutex_unlock(&link->keys_lock);
	if (ret)
		return peerlane_refuse(msg, ret,
				       "no memory keys from RDMA device: error %d",
				       ret);
	return 0;
}

int link_expose(struct link *link, const struct link_exposure *exposure,
		u64 *token, struct peerlane_msg *msg)
{
	struct link_key *key = key_new(link, exposure);
	int ret;

	if (!key)
		return peerlane_refuse(msg, -ENOMEM, "no memory for an exposure");
	ret = take_room(link, key, msg);
	if (ret)
		goto err_put;
	*token = key->token;
	/* The first is the key's until it is gone, which may be soon. */
	kref_get(&key->ref);
	ret = publish(link, key, msg);
	if (ret)
		goto err_room;
	queue_key(key);
	link_key_put(key);
	return 0;

err_room:
	give_room(key, true);
	link_key_put(key);
err_put:
	link_key_put(key);
	return ret;
}

/* ---- use by an answer to FLUSH ---- */

static struct link_key *find(struct link *link, u64 token)
{
	struct link_key *key;

	lockdep_assert_held(&link->lock);
	list_for_each_entry(key, &link->keys, node)
		if (key->token == token && !key->withdrawing)
			return key;
	return NULL;
}

struct link_key *link_key_use(struct link *link, u64 token)
{
	struct link_key *key;

	spin_lock(&link->lock);
	key = find(link, token);
	if (key) {
		refcount_inc(&key->users);
		kref_get(&key->ref);
	}
	spin_unlock(&link->lock);
	return key;
}

void link_key_unuse(struct link_key *key)
{
	if (refcount_dec_and_test(&key->users))
		complete_all(&key->ended);
	link_key_put(key);
}

/*
 * Always the first: any byte serves, and who may only write must not be told
 * those of his choice.
 */
bool link_key_sge(const struct link_key *key, struct ib_sge *sge)
{
	u64 covered;

	return link_map_sges(key->exposure.map, key->exposure.offset, 1,
			     key->link->pd->local_dma_lkey, sge, 1,
			     &covered) == 1;
}

/* ---- withdraw ---- */

/* Invalid, and no request of ours reads the memory. */
static void finish(struct link_key *key)
{
	struct link *link = key->link;
	bool listed;

	mutex_lock(&link->keys_lock);
	if (key->mrs && ib_uses_virt_dma(link->dev))
		synchronize_rcu();
	link_key_free_mrs(key, key->invalidated);
	spin_lock(&link->lock);
	listed = !list_empty(&key->node);
	list_del_init(&key->node);
	spin_unlock(&link->lock);
	mutex_unlock(&link->keys_lock);
	if (!listed)
		return;
	give_room(key, !key->told);
	link_key_put(key);	/* of link->keys */
}

/*
 * Its requests wait for those before them, perhaps for a peer that is dead. Who
 * cannot wait that long ends the link, which is what it takes.
 */
static void wait_within(struct link_key *key, unsigned long patience, int status,
			const char *why)
{
	if (wait_for_completion_timeout(&key->ended, patience))
		return;
	link_kill(key->link, status, -ECANCELED,
		  "%s, and the lane was too slow to end its keys", why);
	wait_for_completion(&key->ended);
}

static void wait_killable(struct link_key *key)
{
	if (!wait_for_completion_killable(&key->ended))
		return;
	link_kill(key->link, -ECANCELED, -ECANCELED,
		  "killed while it withdrew an exposure");
	wait_for_completion(&key->ended);
}

/* Nobody reaches memory by it any more; takes over a reference. */
static void done_with(struct link_key *key)
{
	finish(key);
	link_key_put(key);
}

/* With a reference, and nobody else's to withdraw. */
static struct link_key *take_key(struct link *link, u64 token)
{
	struct link_key *key;

	spin_lock(&link->lock);
	key = find(link, token);
	if (key) {
		WRITE_ONCE(key->withdrawing, true);
		kref_get(&key->ref);
	}
	spin_unlock(&link->lock);
	return key;
}

int link_withdraw(struct link *link, u64 token, struct peerlane_msg *msg)
{
	struct link_key *key = take_key(link, token);

	if (!key)
		return peerlane_refuse(msg, -ENOKEY,
				       "no exposure has that token");
	queue_key(key);
	wait_killable(key);
	done_with(key);
	return 0;
}

void link_withdraw_in_time(struct link *link, u64 token)
{
	struct link_key *key = take_key(link, token);

	if (!key)
		return;
	queue_key(key);
	wait_within(key, msecs_to_jiffies(link->settings.timeout_ms), -ETIMEDOUT,
		    "a region was unbound");
	done_with(key);
}

/* Also one that somebody else withdraws: it may not have ended yet. */
static struct link_key *first_of_slot(struct link *link, u32 slot)
{
	struct link_key *key, *found = NULL;

	spin_lock(&link->lock);
	list_for_each_entry(key, &link->keys, node) {
		if (key->exposure.slot != slot)
			continue;
		WRITE_ONCE(key->withdrawing, true);
		kref_get(&key->ref);
		found = key;
		break;
	}
	spin_unlock(&link->lock);
	return found;
}

void link_withdraw_slot(struct link *link, u32 slot)
{
	struct link_key *key;

	while ((key = first_of_slot(link, slot))) {
		queue_key(key);
		wait_within(key, PATIENCE, -ENODEV, "a region was revoked");
		done_with(key);
	}
}

bool link_slot_exposed(struct link *link, u32 slot)
{
	struct link_key *key;
	bool found = false;

	spin_lock(&link->lock);
	list_for_each_entry(key, &link->keys, node)
		found |= key->exposure.slot == slot;
	spin_unlock(&link->lock);
	return found;
}

/* ---- end ---- */

/* Who takes one off the list gives its room back, and the list's reference. */
static struct link_key *take_any(struct link *link)
{
	struct link_key *key;

	lockdep_assert_held(&link->keys_lock);
	spin_lock(&link->lock);
	key = list_first_entry_or_null(&link->keys, struct link_key, node);
	if (key)
		list_del_init(&key->node);
	spin_unlock(&link->lock);
	return key;
}

void link_keys_abort(struct link *link)
{
	struct link_key *key, *next;

	mutex_lock(&link->keys_lock);
	while ((key = take_any(link))) {
		link_key_free_mrs(key, false);
		list_del_init(&key->work_node);
		complete_all(&key->ended);
		give_room(key, false);
		if (key->stage != KEY_GONE)
			link_key_put(key);
		link_key_put(key);	/* of link->keys */
	}
	link_pool_drain(link);
	mutex_unlock(&link->keys_lock);
	/* Invalid, but the peer was not told yet. */
	list_for_each_entry_safe(key, next, &link->key_work, work_node) {
		list_del_init(&key->work_node);
		link_key_put(key);
	}
}
