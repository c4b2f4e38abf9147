// SPDX-License-Identifier: GPL-2.0
/* Operations: cut over keys and entries, and put into a lane's send queue. */
#include <linux/bitops.h>

#include "link_core.h"
#include "link_map.h"

#define OP_COST		4096	/* bytes that an operation weighs beside its own */

static struct link_op *op_of(struct link_work *work)
{
	return container_of(work, struct link_op, work);
}

/* ---- PUT and GET ---- */

static bool window_is_full(const struct link_lane *lane)
{
	return lane->bytes_posted - lane->bytes_back >= LINK_WINDOW;
}

static bool may_post(const struct link_lane *lane)
{
	return link_lane_room(lane) > LINK_SQ_RESERVE && !window_is_full(lane);
}

void link_op_remote(struct link_wr *wr, const struct link_op *op)
{
	const struct link_geometry *geometry = &op->grant->geometry;
	u64 at = op->remote + op->posted;
	u64 index = link_geometry_index(geometry, at);

	wr->rdma.rkey = op->grant->chunk_at[index].rkey;
	wr->rdma.remote_addr = op->grant->chunk_at[index].iova +
			       (at - link_geometry_begin(geometry, index));
}

/* The next request's bytes, at most: within one key of the peer's. */
static u64 next_length(const struct link_op *op)
{
	return min3(op->length - op->posted, (u64)LINK_REQUEST_MAX,
		    link_geometry_left(&op->grant->geometry,
				       op->remote + op->posted));
}

/* Returns the bytes that there is room for. */
static u64 fill_local(struct link_lane *lane, struct link_wr *wr,
		      const struct link_op *op)
{
	u32 room = op->code == PEERLANE_OP_GET ? lane->read_sges : lane->sges;
	u64 covered = 0;
	int count;

	count = link_map_sges(op->map, op->local + op->posted, next_length(op),
			      lane->link->pd->local_dma_lkey, wr->sges, room,
			      &covered);
	if (WARN_ON_ONCE(count <= 0)) {	/* ranges were looked at before */
		link_kill(lane->link, -EIO, -EIO, "memory without addresses");
		return 0;
	}
	wr->send.sg_list = wr->sges;
	wr->send.num_sge = count;
	return covered;
}

/* One request; returns its bytes, 0: not now. */
static u64 post_part(struct link_lane *lane, struct link_op *op)
{
	struct link_wr *wr;
	u64 bytes;

	if (op->code == PEERLANE_OP_GET && lane->link->is_iwarp)
		return link_sink_read(lane, op, next_length(op));
	wr = link_lane_next(lane);
	link_op_remote(wr, op);
	bytes = fill_local(lane, wr, op);
	if (!bytes)
		return 0;
	wr->send.opcode = op->code == PEERLANE_OP_GET ? IB_WR_RDMA_READ :
							IB_WR_RDMA_WRITE;
	/* siw refers to the memory of requests that need not tell. */
	op->work.end = link_lane_add(lane, wr, bytes, lane->link->is_iwarp);
	return bytes;
}

static void touch(struct link_lane *lane, struct link_op *op)
{
	if (op->code != PEERLANE_OP_PUT || !op->length)
		return;
	set_bit(lane->index, &op->grant->touched);
	WRITE_ONCE(op->grant->last, op->remote + op->length - 1);
}

/* True: all of its data is posted. */
static bool post_data(struct link_lane *lane, struct link_op *op)
{
	u64 bytes;

	while (op->posted < op->length) {
		if (!may_post(lane))
			return false;
		bytes = post_part(lane, op);
		if (!bytes)
			return false;
		op->posted += bytes;
	}
	touch(lane, op);
	return true;
}

/* ---- NOTIFY ---- */

static bool is_hungry(struct link *link)
{
	bool hungry;

	spin_lock(&link->lock);
	hungry = !link_credit_left(&link->notify);
	spin_unlock(&link->lock);
	return hungry;
}

static bool post_notify(struct link_lane *lane, struct link_op *op)
{
	struct link_message message = {
		.type = LINK_MESSAGE_NOTIFY,
		.length = op->length,
		.token = op->grant ? op->grant->token : 0,
		.value = op->value,
	};

	if (link_lane_room(lane) <= LINK_SQ_RESERVE)
		return false;
	if (is_hungry(lane->link))
		message.flags |= LINK_MESSAGE_HUNGRY;
	op->work.end = link_lane_send(lane, &message);
	return true;
}

/* ---- OWNER ---- */

static bool post_message(struct link_lane *lane, struct link_op *op)
{
	struct link_message message = {
		.type = LINK_MESSAGE_OWNER,
		.length = op->message_length,
	};

	if (link_lane_room(lane) <= LINK_SQ_RESERVE)
		return false;
	if (is_hungry(lane->link))
		message.flags |= LINK_MESSAGE_HUNGRY;
	memcpy(message.data, op->message, op->message_length);
	op->number = (u32)lane->owners_out;
	op->work.end = link_lane_send(lane, &message);
	return true;
}

/* ---- all ---- */

/*
 * By iWARP a read may be answered after what was sent behind it has arrived. What
 * must not overtake it waits here, as siw answers no reads of the peer's while a
 * request of its own waits with it.
 */
static bool has_to_wait(const struct link_lane *lane, const struct link_op *op)
{
	return lane->reads && (op->code == PEERLANE_OP_PUT ||
			       op->code == PEERLANE_OP_NOTIFY);
}

/* True: its last request is posted. */
static bool post(struct link_lane *lane, struct link_op *op)
{
	if (has_to_wait(lane, op))
		return false;
	if (!op->began)
		op->work.end = lane->head - 1;	/* if it has none of its own */
	op->began = true;
	switch (op->code) {
	case PEERLANE_OP_PUT:
	case PEERLANE_OP_GET:
		if (!post_data(lane, op))
			return false;
		if (op->message_length)
			return post_message(lane, op);
		return !op->notify || post_notify(lane, op);
	case LINK_OP_MESSAGE:
		return post_message(lane, op);
	case PEERLANE_OP_NOTIFY:
		return post_notify(lane, op);
	default:
		return link_flush_post(lane, op);
	}
}

void link_ops_pump(struct link_lane *lane)
{
	struct link_work *work, *next;

	lockdep_assert_held(&lane->lock);
	list_for_each_entry_safe(work, next, &lane->pending, node) {
		if (!lane->open || !post(lane, op_of(work)))
			return;
		list_move_tail(&work->node, &lane->posted);
		/* Nothing is under way that would tell of it. */
		if (lane->head == lane->tail)
			link_sweep_later(lane);
	}
}

static u64 weight(const struct link_op *op)
{
	return op->length + OP_COST;
}

/* False: the link has ended. @left: another lane has to take it. */
static bool take(struct link_lane *lane, struct link_op *op, bool *left)
{
	bool taken;

	spin_lock(&lane->lock);
	*left = lane->left && !lane->ended;
	taken = !lane->left && !lane->ended;
	if (taken) {
		/* It was idle: nothing is late yet. */
		if (lane->head == lane->tail && list_empty(&lane->pending))
			WRITE_ONCE(lane->progress, jiffies);
		/* Before it may be done. */
		op->lane = lane->index;
		atomic64_add(weight(op), &lane->load);
		list_add_tail(&op->work.node, &lane->pending);
	}
	spin_unlock(&lane->lock);
	return taken;
}

bool link_submit(struct link *link, struct link_op *op)
{
	struct link_lane *lane = link->lanes[op->lane];
	bool left = false, taken = take(lane, op, &left);

	if (!left)
		return taken;
	/* Which the caller does not know of. */
	do {
		lane = link->lanes[link_pick_lane(link)];
		taken = take(lane, op, &left);
	} while (left);
	link_lane_kick(lane);
	return taken;
}

void link_op_end(struct link *link, const struct link_op *op)
{
	atomic64_sub(weight(op), &link->lanes[op->lane]->load);
}

bool link_op_is_of(struct link_work *work, u32 owners)
{
	return (s32)(op_of(work)->number - owners) < 0;
}

void link_op_again(struct link *link, struct link_work *work)
{
	struct link_op *op = op_of(work);

	link_op_end(link, op);
	op->began = false;
	op->posted = 0;
	op->work.end = 0;
	op->lane = link_pick_lane(link);
	link_submit(link, op);
}

void link_push(struct link *link, unsigned long lanes)
{
	u32 i;

	for_each_set_bit(i, &lanes, LINK_LANES_MAX)
		link_lane_kick(link->lanes[i]);
}
