/* SPDX-License-Identifier: GPL-2.0 */
/* Exposures from inside: what link_key.c and link_key_post.c share. */
#ifndef PEERLANE_LINK_KEY_H
#define PEERLANE_LINK_KEY_H

#include "link_core.h"

enum key_stage {
	KEY_REGISTER,
	KEY_TELL,
	KEY_LIVE,
	KEY_INVALIDATE,
	KEY_WITHDRAW,
	KEY_GONE,
};

struct link_key {
	struct link *link;
	struct kref ref;
	struct list_head node;		/* link->keys; link->lock */
	struct link_exposure exposure;
	u64 token;
	struct link_geometry geometry;
	u32 count;
	struct ib_mr **mrs;		/* link->keys_lock */

	/* lanes[0]->lock */
	struct list_head work_node;	/* link->key_work */
	enum key_stage stage;
	u32 at;				/* of @mrs, in this stage */
	u32 registered;			/* of @mrs: as many are or were */
	bool told;			/* at least a part, to the peer */
	struct link_work invalid;

	bool withdrawing;		/* link->lock */
	bool invalidated;		/* set before @ended is completed */
	refcount_t users;		/* device requests that use the memory */
	struct completion ended;
};

void link_key_put(struct link_key *key);
/* link->keys_lock held for both. */
int link_key_make_mrs(struct link_key *key);
/* @invalid: as far as they were valid, they are known not to be any more. */
void link_key_free_mrs(struct link_key *key, bool invalid);

#endif /* PEERLANE_LINK_KEY_H */
