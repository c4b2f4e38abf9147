// SPDX-License-Identifier: GPL-2.0
/* Operations, and how they begin. */
#include <linux/slab.h>

#include "endpoint_op.h"
#include "link_map.h"
#include "range.h"

/* A map is needed first: nobody sees it. */
#define NEEDS_MAP	1

/* ---- memory for them ---- */

static void give_all(struct peerlane_endpoint *endpoint, u32 flushes)
{
	const struct link_settings *settings = &endpoint->settings;
	u32 i;

	for (i = 0; i < settings->depth; i++) {
		endpoint->ops[i].endpoint = endpoint;
		endpoint->ops[i].node.type = PEERLANE_RECORD_DONE;
		list_add_tail(&endpoint->ops[i].node.node, &endpoint->free_ops);
	}
	endpoint->free_count = settings->depth;
	for (i = 0; i < flushes; i++)
		list_add_tail(&endpoint->flushes[i].node,
			      &endpoint->free_flushes);
	for (i = 0; i < settings->notify; i++) {
		endpoint->notices[i].node.type = PEERLANE_RECORD_NOTIFY;
		list_add_tail(&endpoint->notices[i].node.node,
			      &endpoint->free_notices);
	}
}

int endpoint_ops_init(struct peerlane_endpoint *endpoint)
{
	const struct link_settings *settings = &endpoint->settings;
	u32 flushes = settings->lanes * ENDPOINT_FLUSHES;

	endpoint->ops = kvcalloc(settings->depth, sizeof(*endpoint->ops),
				 GFP_KERNEL_ACCOUNT);
	endpoint->flushes = kvcalloc(flushes, sizeof(*endpoint->flushes),
				     GFP_KERNEL_ACCOUNT);
	endpoint->notices = kvcalloc(settings->notify,
				     sizeof(*endpoint->notices),
				     GFP_KERNEL_ACCOUNT);
	if (!endpoint->ops || !endpoint->flushes || !endpoint->notices)
		return -ENOMEM;
	give_all(endpoint, flushes);
	return 0;
}

void endpoint_ops_free(struct peerlane_endpoint *endpoint)
{
	kvfree(endpoint->ops);
	kvfree(endpoint->flushes);
	kvfree(endpoint->notices);
}

static struct endpoint_op *take_op(struct endpoint_batch *batch)
{
	struct peerlane_endpoint *endpoint = batch->endpoint;
	struct endpoint_op *op;

	spin_lock(&endpoint->queue_lock);
	op = list_first_entry_or_null(&endpoint->free_ops, struct endpoint_op,
				      node.node);
	if (op) {
		list_del_init(&op->node.node);
		endpoint->free_count--;
		endpoint->outstanding++;
	}
	spin_unlock(&endpoint->queue_lock);
	if (!op)
		peerlane_refuse(batch->msg, -EAGAIN,
				"%u operations are outstanding, or their records unread",
				endpoint->settings.depth);
	return op;
}

/* It never began. */
static void untake_op(struct endpoint_op *op)
{
	struct peerlane_endpoint *endpoint = op->endpoint;

	spin_lock(&endpoint->queue_lock);
	endpoint->outstanding--;
	endpoint_op_free(op);
	spin_unlock(&endpoint->queue_lock);
}

/* ---- PUT, GET, NOTIFY ---- */

static struct link_grant *get_grant(struct endpoint_batch *batch, u64 token)
{
	struct link_grant *grant = batch->grant;

	if (!grant || grant->token != token) {
		if (grant)
			link_grant_put(grant);
		grant = link_grant_find(batch->link, token);
		batch->grant = grant;
	}
	if (!grant)
		peerlane_refuse(batch->msg, -EACCES,
				"the peer exposes nothing as token %#llx", token);
	return grant;
}

static int check_remote(struct endpoint_batch *batch, const struct peerlane_op *args,
			const struct link_grant *grant)
{
	u32 right = args->op == PEERLANE_OP_GET ? PEERLANE_RIGHT_READ :
						  PEERLANE_RIGHT_WRITE;

	if (READ_ONCE(grant->withdrawn))
		return peerlane_refuse(batch->msg, -ENOKEY,
				       "the peer withdrew token %#llx",
				       args->token);
	if (!(grant->rights & right))
		return peerlane_refuse(batch->msg, -EACCES,
				       "the peer gave no right to %s with token %#llx",
				       args->op == PEERLANE_OP_GET ? "read" :
								     "write",
				       args->token);
	if (!peerlane_range_within(args->remote_offset, args->length,
				   grant->geometry.length))
		return peerlane_refuse(batch->msg, -EACCES,
				       "[%#llx, + %#llx) is beyond the %#llx bytes of token %#llx",
				       args->remote_offset, args->length,
				       grant->geometry.length, args->token);
	return 0;
}

static int check_local(struct endpoint_batch *batch, const struct peerlane_op *args,
		       const struct endpoint_slot *slot)
{
	if (peerlane_range_wraps(args->offset, args->length) ||
	    peerlane_range_wraps(args->remote_offset, args->length))
		return peerlane_refuse(batch->msg, -EOVERFLOW,
				       "offset + length overflows");
	if (!peerlane_range_within(args->offset, args->length, slot->length))
		return peerlane_refuse(batch->msg, -EINVAL,
				       "[%#llx, + %#llx) is beyond the %#llx bytes of slot %u",
				       args->offset, args->length, slot->length,
				       slot->index);
	if (args->op == PEERLANE_OP_GET &&
	    (slot->read_only || !link_map_writable(slot->map)))
		return peerlane_refuse(batch->msg, -EPERM,
				       "slot %u is for reading only",
				       slot->index);
	return 0;
}

static int check_memory(struct endpoint_batch *batch, const struct peerlane_op *args,
			struct endpoint_slot **slot, struct link_grant **grant)
{
	int ret;

	ret = endpoint_slot_usable(batch->endpoint, args->slot, slot,
				   batch->msg);
	if (ret == -EAGAIN) {
		batch->slot = args->slot;
		return NEEDS_MAP;
	}
	if (!ret)
		ret = check_local(batch, args, *slot);
	if (ret)
		return ret;
	*grant = get_grant(batch, args->token);
	if (!*grant)
		return -EACCES;
	return check_remote(batch, args, *grant);
}

static void fill_op(struct endpoint_batch *batch, struct endpoint_op *op,
		    const struct peerlane_op *args, struct endpoint_slot *slot,
		    struct link_grant *grant)
{
	op->slot = slot;
	op->cookie = args->cookie;
	op->quiet = args->flags & PEERLANE_OP_F_QUIET;
	op->op = (struct link_op){
		.work.done = endpoint_op_done,
		.code = args->op,
		.notify = args->flags & PEERLANE_OP_F_NOTIFY,
		.quiet = op->quiet,
		.lane = args->flags & PEERLANE_OP_F_LANE ?
			args->lane : link_pick_lane(batch->link),
		.map = slot ? slot->map : NULL,
		.local = slot ? slot->offset + args->offset : 0,
		.grant = grant,
		.remote = args->remote_offset,
		.length = args->length,
		.value = args->value,
	};
	op->lane = op->op.lane;
	if (slot)
		atomic_inc(&slot->users);
	if (grant)
		kref_get(&grant->ref);
}

static int not_connected(struct endpoint_batch *batch)
{
	return endpoint_connected(batch->endpoint, batch->msg) ?: -ENOTCONN;
}

static void unfill_op(struct endpoint_op *op)
{
	if (op->slot && atomic_dec_and_test(&op->slot->users))
		wake_up_all(&op->endpoint->wait);
	if (op->op.grant)
		link_grant_put(op->op.grant);
}

static int begin_op(struct endpoint_batch *batch, const struct peerlane_op *args)
{
	bool notify = args->op == PEERLANE_OP_NOTIFY ||
		      (args->flags & PEERLANE_OP_F_NOTIFY);
	struct endpoint_slot *slot = NULL;
	struct link_grant *grant = NULL;
	struct endpoint_op *op;
	int ret = 0;

	if (args->op != PEERLANE_OP_NOTIFY)
		ret = check_memory(batch, args, &slot, &grant);
	if (ret)
		return ret;
	op = take_op(batch);
	if (!op)
		return -EAGAIN;
	if (notify && !link_take_notify_credit(batch->link)) {
		untake_op(op);
		return peerlane_refuse(batch->msg, -EAGAIN,
				       "the peer has not read its NOTIFY records");
	}
	fill_op(batch, op, args, slot, grant);
	if (link_submit(batch->link, &op->op)) {
		__set_bit(op->lane, &batch->lanes);
		return 0;
	}
	unfill_op(op);
	untake_op(op);
	return not_connected(batch);
}

/* ---- FLUSH ---- */

static bool take_flushes(struct peerlane_endpoint *endpoint, u32 count,
			 struct list_head *parts)
{
	struct endpoint_flush *flush;
	u32 i;

	spin_lock(&endpoint->queue_lock);
	for (i = 0; i < count && !list_empty(&endpoint->free_flushes); i++) {
		flush = list_first_entry(&endpoint->free_flushes,
					 struct endpoint_flush, node);
		list_move_tail(&flush->node, parts);
	}
	if (i < count)
		list_splice_init(parts, &endpoint->free_flushes);
	spin_unlock(&endpoint->queue_lock);
	return i == count;
}

static void end_part(struct endpoint_flush *flush, int status)
{
	struct endpoint_op *whole = flush->whole;
	struct peerlane_endpoint *endpoint = whole->endpoint;

	spin_lock(&endpoint->queue_lock);
	if (status)
		whole->status = status;
	list_add(&flush->node, &endpoint->free_flushes);
	spin_unlock(&endpoint->queue_lock);
	if (atomic_dec_and_test(&whole->parts))
		endpoint_op_ended(whole, whole->status);
}

static void part_done(struct link_work *work)
{
	struct endpoint_flush *flush = container_of(work, struct endpoint_flush,
						    op.work);

	link_op_end(flush->whole->endpoint->link, &flush->op);
	end_part(flush, work->status);
}

static void begin_part(struct endpoint_batch *batch, struct endpoint_flush *flush,
		       struct endpoint_op *whole, u32 lane)
{
	list_del_init(&flush->node);
	flush->whole = whole;
	flush->op = (struct link_op){
		.work.done = part_done,
		.code = PEERLANE_OP_FLUSH,
		.lane = lane,
	};
	if (link_submit(batch->link, &flush->op)) {
		__set_bit(lane, &batch->lanes);
		return;
	}
	end_part(flush, -ECANCELED);
}

static int begin_flush(struct endpoint_batch *batch, const struct peerlane_op *args)
{
	u32 lane, lanes = link_lanes(batch->link);
	struct endpoint_flush *flush, *next;
	struct endpoint_op *op;
	LIST_HEAD(parts);

	op = take_op(batch);
	if (!op)
		return -EAGAIN;
	if (!take_flushes(batch->endpoint, lanes, &parts)) {
		untake_op(op);
		return peerlane_refuse(batch->msg, -EAGAIN,
				       "too many FLUSHes are outstanding");
	}
	op->slot = NULL;
	op->cookie = args->cookie;
	op->quiet = args->flags & PEERLANE_OP_F_QUIET;
	op->status = 0;
	op->lane = 0;
	op->op = (struct link_op){ .code = PEERLANE_OP_FLUSH };
	atomic_set(&op->parts, lanes);
	lane = 0;
	list_for_each_entry_safe(flush, next, &parts, node)
		begin_part(batch, flush, op, lane++);
	return 0;
}

/* ---- one ---- */

static int check_form(struct endpoint_batch *batch, const struct peerlane_op *args)
{
	u32 known = PEERLANE_OP_F_QUIET | PEERLANE_OP_F_LANE;

	if (args->op == PEERLANE_OP_PUT)
		known |= PEERLANE_OP_F_NOTIFY;
	if (args->op < PEERLANE_OP_PUT || args->op > PEERLANE_OP_NOTIFY)
		return peerlane_refuse(batch->msg, -EOPNOTSUPP,
				       "unknown operation %u", args->op);
	if ((args->flags & ~known) || args->reserved)
		return peerlane_refuse(batch->msg, -EOPNOTSUPP,
				       "flags %#x or reserved are not for operation %u",
				       args->flags & ~known, args->op);
	if (args->flags & PEERLANE_OP_F_LANE ?
	    args->lane >= link_lanes(batch->link) : args->lane)
		return peerlane_refuse(batch->msg, -EINVAL,
				       "lane %u: the connection has %u, and PEERLANE_OP_F_LANE is needed",
				       args->lane, link_lanes(batch->link));
	return 0;
}

static int begin_one(struct endpoint_batch *batch, const struct peerlane_op *args)
{
	int ret = endpoint_connected(batch->endpoint, batch->msg);

	if (!ret) {
		batch->link = batch->endpoint->link;
		ret = check_form(batch, args);
	}
	if (ret)
		return ret;
	if (args->op == PEERLANE_OP_FLUSH)
		return begin_flush(batch, args);
	return begin_op(batch, args);
}

/* Begun, from the first on; the rest's reason in @ret. */
static u32 begin_some(struct endpoint_batch *batch, const struct peerlane_op *ops,
		      u32 count, int *ret)
{
	u32 i;

	if (!batch->nowait) {
		down_read(&batch->endpoint->lock);
	} else if (!down_read_trylock(&batch->endpoint->lock)) {
		*ret = -EAGAIN;
		return 0;
	}
	for (i = 0; i < count; i++) {
		*ret = begin_one(batch, &ops[i]);
		if (*ret)
			break;
	}
	up_read(&batch->endpoint->lock);
	return i;
}

void endpoint_push(struct endpoint_batch *batch)
{
	if (batch->lanes)
		link_push(batch->link, batch->lanes);
	batch->lanes = 0;
}

u32 endpoint_begin(struct endpoint_batch *batch, const struct peerlane_op *ops,
		       u32 count, int *ret)
{
	u32 done;

	done = begin_some(batch, ops, count, ret);
	if (*ret == NEEDS_MAP && batch->nowait)
		*ret = -EAGAIN;
	while (*ret == NEEDS_MAP) {
		endpoint_push(batch);
		*ret = endpoint_map(batch->endpoint, batch->slot, batch->msg);
		if (!*ret)
			done += begin_some(batch, ops + done, count - done, ret);
	}
	return done;
}
