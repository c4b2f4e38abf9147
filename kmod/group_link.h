/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What ranks and aggregators share: messages on their way over a link, and what
 * a cause is for users.
 *
 * Locks, outermost first: (the owner's) -> pipe->lock -> the link's
 */
#ifndef PEERLANE_GROUP_LINK_H
#define PEERLANE_GROUP_LINK_H

#include "group_wire.h"
#include "link.h"

/* The exposure of an aggregator's pool to a rank has this value. */
#define GROUP_POOL_VALUE	0x6c6f6f70U

struct group_post;

/* Messages to one peer, in order, as it has room for them. */
struct group_pipe {
	struct link *link;
	spinlock_t lock;
	/* protected by lock */
	struct list_head waiting;	/* group_post */
	bool ended;
};

/*
 * A message, perhaps after a PUT: the owner's memory, the link's from
 * group_pipe_add() until ->done, in which it may be used again.
 */
struct group_post {
	struct link_op op;
	struct list_head node;		/* pipe->lock */
	struct group_pipe *pipe;
	void (*done)(struct group_post *post, int status);
	bool busy;			/* the owner's lock */
	u32 index;			/* the owner's */
	void *owner;			/* the owner's */
	u8 data[GROUP_MESSAGE_MAX];
};

void group_pipe_init(struct group_pipe *pipe, struct link *link);
/* A message without data; else the caller fills in post->op after it. */
void group_post_init(struct group_post *post, const struct group_message *message,
		     void (*done)(struct group_post *post, int status));
/* Also under a lock that ->done takes. group_pipe_push() has to follow. */
void group_pipe_add(struct group_pipe *pipe, struct group_post *post);
/* No lock may be held that ->done takes: after the end it is called from here. */
void group_pipe_push(struct group_pipe *pipe);
/* The link is down. */
void group_pipe_end(struct group_pipe *pipe);

/* enum group_cause: what the end of a link is to the group. It has ended. */
u32 group_cause_of_end(const struct link *link);
/* 0 or a negative errno, as the uapi header has it. */
int group_cause_errno(u32 cause);

/* ---- arguments ---- */

/* @to is @value, or @fallback if that is 0; -EINVAL: not of @least .. @most */
struct group_number {
	const char *name;
	u32 least;
	u32 fallback;
	u32 most;
};

int group_take_number(u32 value, const struct group_number *number, u32 *to,
		      struct peerlane_msg *msg);
/* @text is of PEERLANE_*_LEN bytes, and ends within. */
int group_take_secret(const u8 *secret, u8 *to, struct peerlane_msg *msg);
int group_take_text(const char *text, size_t size, char *to, const char *name,
		    struct peerlane_msg *msg);
int group_take_address(const u8 *from, bool may_be_none, union link_address *to,
		       struct peerlane_msg *msg);

#endif /* PEERLANE_GROUP_LINK_H */
