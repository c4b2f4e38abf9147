// SPDX-License-Identifier: GPL-2.0
/*
 * What the peer exposed to us. It comes in one message or several, in order;
 * the owner is told when all keys are known.
 */
#include <linux/hashtable.h>
#include <linux/slab.h>

#include "link_core.h"

static struct link_grant *find(struct link *link, u64 token)
{
	struct link_grant *grant;

	lockdep_assert_held(&link->lock);
	hash_for_each_possible(link->grants, grant, node, token)
		if (grant->token == token)
			return grant;
	return NULL;
}

struct link_grant *link_grant_find(struct link *link, u64 token)
{
	struct link_grant *grant;

	spin_lock(&link->lock);
	grant = find(link, token);
	if (grant && grant->known < grant->chunks)
		grant = NULL;
	if (grant)
		kref_get(&grant->ref);
	spin_unlock(&link->lock);
	return grant;
}

/* Also with a spinlock held, where kvfree() would sleep. */
static void grant_free(struct kref *ref)
{
	struct link_grant *grant = container_of(ref, struct link_grant, ref);

	kvfree_rcu(grant, rcu);
}

void link_grant_put(struct link_grant *grant)
{
	kref_put(&grant->ref, grant_free);
}

/* ---- in ---- */

/* Room for one, or the peer does not keep to what it was told. */
static bool take_room(struct link *link, u32 chunks)
{
	bool room;

	spin_lock(&link->lock);
	room = link->granted < link->settings.grants &&
	       chunks <= link->settings.keys - link->grant_chunks;
	if (room) {
		link->granted++;
		link->grant_chunks += chunks;
	}
	spin_unlock(&link->lock);
	return room;
}

static struct link_grant *grant_new(struct link *link,
				    const struct link_message *message)
{
	struct link_grant *grant;

	if (message->index || !take_room(link, message->chunks))
		return NULL;
	grant = kvzalloc(struct_size(grant, chunk_at, message->chunks),
			 GFP_KERNEL_ACCOUNT);
	if (!grant)
		return NULL;
	kref_init(&grant->ref);
	grant->link = link;
	grant->token = message->token;
	grant->value = message->value;
	grant->rights = message->rights;
	grant->chunks = message->chunks;
	grant->geometry.length = message->length;
	grant->geometry.first = message->first;
	grant->geometry.chunk = message->chunk;
	spin_lock(&link->lock);
	hash_add(link->grants, &grant->node, grant->token);
	spin_unlock(&link->lock);
	return grant;
}

/* Each message goes on where the last one ended. */
static int add_chunks(struct link *link, struct link_grant *grant,
		      const struct link_message *message)
{
	if (grant->known != message->index ||
	    grant->chunks != message->chunks ||
	    grant->geometry.length != message->length)
		return -EPROTO;
	memcpy(&grant->chunk_at[grant->known], message->chunk_at,
	       message->count * sizeof(message->chunk_at[0]));
	spin_lock(&link->lock);
	grant->known += message->count;
	spin_unlock(&link->lock);
	if (grant->known < grant->chunks)
		return 0;
	kref_get(&grant->ref);
	return link->ops->exposed(link, link->owner, grant);
}

int link_grant_in(struct link *link, const struct link_message *message)
{
	struct link_grant *grant;

	lockdep_assert_held(&link->poll_lock);
	spin_lock(&link->lock);
	grant = find(link, message->token);
	spin_unlock(&link->lock);
	if (!grant)
		grant = grant_new(link, message);
	if (!grant)
		return -ENOBUFS;
	return add_chunks(link, grant, message);
}

/* Out of the hash, and its room is told to be free. link->lock held. */
static void unlist(struct link *link, struct link_grant *grant)
{
	lockdep_assert_held(&link->lock);
	hash_del(&grant->node);
	link->granted--;
	link->grant_chunks -= grant->chunks;
	link->grants_forgotten++;
}

int link_grant_out(struct link *link, u64 token)
{
	struct link_grant *grant;
	bool whole = false;

	lockdep_assert_held(&link->poll_lock);
	spin_lock(&link->lock);
	grant = find(link, token);
	if (grant && grant->withdrawn)
		grant = NULL;
	if (grant) {
		WRITE_ONCE(grant->withdrawn, true);
		whole = grant->known == grant->chunks;
		if (!whole)	/* the owner was not told of it */
			unlist(link, grant);
	}
	spin_unlock(&link->lock);
	if (!grant)
		return -EPROTO;
	if (whole) {
		link->ops->withdrawn(link, link->owner, grant);
		return 0;
	}
	link_grant_put(grant);
	link_urge(link, LINK_SEND_CREDIT);
	return 0;
}

/* ---- end ---- */

/* The owner's reference and the hash's. */
void link_grant_forget(struct link *link, struct link_grant *grant)
{
	bool known;

	spin_lock(&link->lock);
	known = !hlist_unhashed(&grant->node);
	if (known)
		unlist(link, grant);
	spin_unlock(&link->lock);
	if (known) {
		link_grant_put(grant);
		link_urge(link, LINK_SEND_CREDIT);
	}
	link_grant_put(grant);
}

/* Who takes one out of the hash puts its reference. */
static struct link_grant *take_any(struct link *link)
{
	struct link_grant *grant;
	u32 bucket;

	spin_lock(&link->lock);
	hash_for_each(link->grants, bucket, grant, node) {
		unlist(link, grant);
		spin_unlock(&link->lock);
		return grant;
	}
	spin_unlock(&link->lock);
	return NULL;
}

void link_grants_free(struct link *link)
{
	struct link_grant *grant;

	while ((grant = take_any(link)))
		link_grant_put(grant);
}
