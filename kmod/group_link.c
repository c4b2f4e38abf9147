// SPDX-License-Identifier: GPL-2.0
/* What ranks and aggregators share: see group_link.h. */
#include <linux/string.h>

#include "group_link.h"
#include "peerlane.h"

/* ---- messages ---- */

void group_pipe_init(struct group_pipe *pipe, struct link *link)
{
	pipe->link = link;
	spin_lock_init(&pipe->lock);
	INIT_LIST_HEAD(&pipe->waiting);
}

static void ended(struct group_post *post, int status)
{
	if (post->op.grant)
		link_grant_put(post->op.grant);
	post->done(post, status);
}

static void work_done(struct link_work *work)
{
	struct group_post *post = container_of(work, struct group_post, op.work);

	link_op_end(post->pipe->link, &post->op);
	ended(post, work->status);
}

void group_post_init(struct group_post *post, const struct group_message *message,
		     void (*done)(struct group_post *post, int status))
{
	post->done = done;
	post->op = (struct link_op){
		.work.done = work_done,
		.code = LINK_OP_MESSAGE,
		.message = post->data,
	};
	post->op.message_length = group_message_encode(message, post->data);
}

void group_pipe_add(struct group_pipe *pipe, struct group_post *post)
{
	post->pipe = pipe;
	spin_lock(&pipe->lock);
	list_add_tail(&post->node, &pipe->waiting);
	spin_unlock(&pipe->lock);
}

/* As many as the peer has room for; those that the link does not take: @left. */
static unsigned long submit(struct group_pipe *pipe, struct list_head *left)
{
	unsigned long lanes = 0;
	struct group_post *post, *next;
	u32 lane;

	spin_lock(&pipe->lock);
	list_for_each_entry_safe(post, next, &pipe->waiting, node) {
		if (!pipe->ended && !link_take_notify_credit(pipe->link))
			break;
		/* Off the list before it may be done. */
		list_del_init(&post->node);
		lane = link_pick_lane(pipe->link);
		post->op.lane = lane;
		/* Once taken it may be done, and gone, at any time. */
		if (!pipe->ended && link_submit(pipe->link, &post->op))
			__set_bit(lane, &lanes);
		else
			list_add_tail(&post->node, left);
	}
	spin_unlock(&pipe->lock);
	return lanes;
}

void group_pipe_push(struct group_pipe *pipe)
{
	struct group_post *post, *next;
	unsigned long lanes;
	LIST_HEAD(left);

	lanes = submit(pipe, &left);
	if (lanes)
		link_push(pipe->link, lanes);
	list_for_each_entry_safe(post, next, &left, node) {
		list_del_init(&post->node);
		ended(post, -ECANCELED);
	}
}

void group_pipe_end(struct group_pipe *pipe)
{
	spin_lock(&pipe->lock);
	pipe->ended = true;
	spin_unlock(&pipe->lock);
	group_pipe_push(pipe);
}

/* ---- causes ---- */

/* Whoever says what makes no sense is not dead: his link ends by our doing. */
u32 group_cause_of_end(const struct link *link)
{
	return link_status(link) == -EPROTO ? GROUP_CAUSE_PROTOCOL :
					      GROUP_CAUSE_DEAD;
}

int group_cause_errno(u32 cause)
{
	static const int errors[] = {
		[GROUP_CAUSE_LEFT]	= -ECONNABORTED,
		[GROUP_CAUSE_DEAD]	= -ECONNRESET,
		[GROUP_CAUSE_LATE]	= -ETIMEDOUT,
		[GROUP_CAUSE_MISMATCH]	= -EBADE,
		[GROUP_CAUSE_REVOKED]	= -ENODEV,
		[GROUP_CAUSE_PROTOCOL]	= -EPROTO,
		[GROUP_CAUSE_CLOSED]	= -ESHUTDOWN,
		[GROUP_CAUSE_SHAPE]	= -EBADE,
		[GROUP_CAUSE_TAKEN]	= -EEXIST,
		[GROUP_CAUSE_FULL]	= -ENOSPC,
		[GROUP_CAUSE_JOIN]	= -ETIMEDOUT,
		[GROUP_CAUSE_UNABLE]	= -EOPNOTSUPP,
		[GROUP_CAUSE_BLOCK]	= -EBADE,
	};

	return cause < ARRAY_SIZE(errors) ? errors[cause] : -EPROTO;
}

/* ---- arguments ---- */

int group_take_number(u32 value, const struct group_number *number, u32 *to,
		      struct peerlane_msg *msg)
{
	*to = value ?: min(number->fallback, number->most);
	if (*to >= number->least && *to <= number->most)
		return 0;
	return peerlane_refuse(msg, -EINVAL, "%s %u is not of %u .. %u",
			       number->name, value, number->least,
			       number->most);
}

int group_take_secret(const u8 *secret, u8 *to, struct peerlane_msg *msg)
{
	if (!memchr_inv(secret, 0, LINK_SECRET_SIZE))
		return peerlane_refuse(msg, -EINVAL, "the secret is all zero");
	memcpy(to, secret, LINK_SECRET_SIZE);
	return 0;
}

int group_take_text(const char *text, size_t size, char *to, const char *name,
		    struct peerlane_msg *msg)
{
	if (strnlen(text, size) == size)
		return peerlane_refuse(msg, -EINVAL, "%s has no end", name);
	strscpy(to, text, size);
	return 0;
}

int group_take_address(const u8 *from, bool may_be_none, union link_address *to,
		       struct peerlane_msg *msg)
{
	size_t size = may_be_none ? 0 : SIZE_MAX;

	memset(to, 0, sizeof(*to));
	memcpy(to, from, PEERLANE_ADDRESS_LEN);
	if (to->any.sa_family == AF_INET)
		size = offsetof(struct sockaddr_in, __pad);
	else if (to->any.sa_family == AF_INET6)
		size = sizeof(to->in6);
	if (size != SIZE_MAX &&
	    !memchr_inv((const u8 *)to + size, 0, sizeof(*to) - size))
		return 0;
	return peerlane_refuse(msg, -EINVAL,
			       "neither an IPv4 nor an IPv6 address, or more than that");
}
