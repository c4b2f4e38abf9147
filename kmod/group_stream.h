/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a worker knows of its operations: which segment goes next to which
 * aggregator, and what has come back. Pure; the caller has a lock and memory.
 *
 * Operations are numbered in the order of group_stream_add(); to each
 * aggregator their segments go in that order, at most window of them without a
 * result.
 */
#ifndef PEERLANE_GROUP_STREAM_H
#define PEERLANE_GROUP_STREAM_H

#include <linux/list.h>

#include "group_plan.h"
#include "group_wire.h"

/* The caller's, from group_stream_add() until it is completed or aborted. */
struct group_op {
	struct list_head node;
	struct group_call call;
	u64 seq;
	u64 segments;
	u64 back;		/* segments that are over for it */
	bool in_place;		/* its result comes where its data is */
	u32 foreign;		/* replicated: data to others that may still be read */
};

struct group_lane_cursor {
	struct group_op *op;	/* whose segments go next; NULL: none is left */
	u64 index;		/* of the next segment for this aggregator */
};

struct group_stream {
	u64 sent;		/* number of the next segment */
	u64 back;		/* all below came back; more may have */
	struct group_lane_cursor cursor;
	struct group_sent {
		u64 n;
		u64 seq;
		bool is_out;		/* its result has not come */
		struct group_op *op;	/* that waits for it, or NULL */
	} *sent_at;		/* window: n % window */
};

struct group_streams {
	struct group_shape shape;
	u32 rank;
	u32 window;
	u64 next_seq;
	struct list_head ops;	/* not completed, in order */
	struct group_stream *of;	/* each aggregator */
};

size_t group_streams_size(u32 aggregators, u32 window);
/* @memory: zeroed */
void group_streams_init(struct group_streams *streams, void *memory,
			const struct group_shape *shape, u32 rank, u32 window);
/* @op->call was checked. */
void group_stream_add(struct group_streams *streams, struct group_op *op);
/*
 * The next segment for @aggregator, if one may go now: true, its number, whose
 * it is, and what it is. It counts as sent.
 *
 * A replicated operation waits for the result of its own rank's aggregator
 * alone. So sending may be what completes it: group_stream_is_over(), and it is
 * off the list. In place, that result would overwrite what other aggregators
 * are still to read: its own segment goes only when group_stream_read() was
 * said for all others.
 */
bool group_stream_next(struct group_streams *streams, u32 aggregator, u64 *n,
		       struct group_op **op, u64 *index,
		       struct group_segment *segment);
static inline bool group_stream_is_over(const struct group_op *op)
{
	return op->back == op->segments;
}

/* The data of a segment of it, to @aggregator, is not read any more. */
void group_stream_read(const struct group_streams *streams, struct group_op *op,
		       u32 aggregator);
/*
 * RESULT came. 0, and *@done is an operation that is completed by it, off the
 * list, or NULL; operations may complete out of order. -EPROTO: nothing waits
 * for that, and nothing was changed.
 */
int group_stream_result(struct group_streams *streams, u32 aggregator, u64 n,
			u64 seq, struct group_op **done);
/*
 * The first of what is left, off the list; NULL: none. For the end: what was
 * sent is forgotten, and results of it are refused.
 */
struct group_op *group_stream_abort(struct group_streams *streams);

#endif /* PEERLANE_GROUP_STREAM_H */
