// SPDX-License-Identifier: GPL-2.0
/* Which segment a worker sends next, and which results it waits for. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/list.h>

#include "group_stream.h"

size_t group_streams_size(u32 aggregators, u32 window)
{
	return aggregators * (sizeof(struct group_stream) +
			      window * sizeof(struct group_sent));
}

void group_streams_init(struct group_streams *streams, void *memory,
			const struct group_shape *shape, u32 rank, u32 window)
{
	struct group_sent *sent;
	u32 i;

	*streams = (struct group_streams){
		.shape = *shape, .rank = rank, .window = window, .of = memory,
	};
	INIT_LIST_HEAD(&streams->ops);
	sent = (void *)(streams->of + shape->aggregators);
	for (i = 0; i < shape->aggregators; i++, sent += window)
		streams->of[i].sent_at = sent;
}

static struct group_sent *sent_at(const struct group_streams *streams,
				  const struct group_stream *stream, u64 n)
{
	return &stream->sent_at[n % streams->window];
}

/* True: @op has segments for @aggregator, and they are next. */
static bool point_at(const struct group_streams *streams, u32 aggregator,
		     struct group_op *op)
{
	struct group_lane_cursor *cursor = &streams->of[aggregator].cursor;
	u32 first = group_plan_first(&streams->shape, op->seq, aggregator);

	if (first >= op->segments)
		return false;
	cursor->op = op;
	cursor->index = first;
	return true;
}

void group_stream_add(struct group_streams *streams, struct group_op *op)
{
	u32 i;

	op->seq = streams->next_seq++;
	op->segments = group_plan_segments(&streams->shape, &op->call);
	op->back = 0;
	op->foreign = op->call.way == GROUP_WAY_REPLICATED ?
		      streams->shape.aggregators - 1 : 0;
	list_add_tail(&op->node, &streams->ops);
	for (i = 0; i < streams->shape.aggregators; i++)
		if (!streams->of[i].cursor.op)
			point_at(streams, i, op);
}

/* An operation whose segments were not all sent is on the list. */
static void advance(const struct group_streams *streams, u32 aggregator)
{
	struct group_lane_cursor *cursor = &streams->of[aggregator].cursor;
	struct group_op *op = cursor->op;

	cursor->index += streams->shape.aggregators;
	if (cursor->index < op->segments)
		return;
	cursor->op = NULL;
	list_for_each_entry_continue(op, &streams->ops, node)
		if (point_at(streams, aggregator, op))
			return;
}

/* In place, and others may still read what its result overwrites. */
static bool has_to_wait(const struct group_streams *streams, u32 aggregator,
			const struct group_op *op)
{
	return op->in_place && op->foreign && aggregator == streams->rank;
}

static bool waits_for_result(const struct group_streams *streams,
			     const struct group_op *op,
			     const struct group_segment *segment)
{
	return op->call.way != GROUP_WAY_REPLICATED ||
	       group_receives(segment, streams->rank);
}

/* Off the list, if that was the last of it. */
static bool is_done(struct group_op *op)
{
	if (++op->back < op->segments)
		return false;
	list_del_init(&op->node);
	return true;
}

void group_stream_read(const struct group_streams *streams, struct group_op *op,
		       u32 aggregator)
{
	if (op->foreign && aggregator != streams->rank)
		op->foreign--;
}

bool group_stream_next(struct group_streams *streams, u32 aggregator, u64 *n,
		       struct group_op **op, u64 *index,
		       struct group_segment *segment)
{
	struct group_stream *stream = &streams->of[aggregator];
	struct group_lane_cursor *cursor = &stream->cursor;
	struct group_sent *sent = sent_at(streams, stream, stream->sent);

	if (!cursor->op || sent->is_out ||
	    has_to_wait(streams, aggregator, cursor->op))
		return false;
	*n = stream->sent++;
	*op = cursor->op;
	*index = cursor->index;
	group_plan_segment(&streams->shape, &cursor->op->call, cursor->op->seq,
			   cursor->index, segment);
	*sent = (struct group_sent){
		.n = *n, .seq = cursor->op->seq, .is_out = true,
	};
	if (waits_for_result(streams, cursor->op, segment))
		sent->op = cursor->op;
	advance(streams, aggregator);
	if (!sent->op)
		is_done(*op);
	return true;
}

int group_stream_result(struct group_streams *streams, u32 aggregator, u64 n,
			u64 seq, struct group_op **done)
{
	struct group_stream *stream = &streams->of[aggregator];
	struct group_sent *sent = sent_at(streams, stream, n);
	struct group_op *op = sent->op;

	*done = NULL;
	if (!sent->is_out || sent->n != n || sent->seq != seq)
		return -EPROTO;
	sent->op = NULL;
	sent->is_out = false;
	while (stream->back < stream->sent &&
	       !sent_at(streams, stream, stream->back)->is_out)
		stream->back++;
	if (op && is_done(op))
		*done = op;
	return 0;
}

static void forget(const struct group_streams *streams,
		   struct group_stream *stream)
{
	stream->cursor.op = NULL;
	for (; stream->back < stream->sent; stream->back++) {
		sent_at(streams, stream, stream->back)->op = NULL;
		sent_at(streams, stream, stream->back)->is_out = false;
	}
}

struct group_op *group_stream_abort(struct group_streams *streams)
{
	struct group_op *op;
	u32 i;

	/* They are the caller's now: nothing may lead to one. */
	for (i = 0; i < streams->shape.aggregators; i++)
		forget(streams, &streams->of[i]);
	if (list_empty(&streams->ops))
		return NULL;
	op = list_first_entry(&streams->ops, struct group_op, node);
	list_del_init(&op->node);
	return op;
}
