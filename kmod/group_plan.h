/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How an operation is cut into segments, and which aggregator has which. All
 * ranks compute the same. Pure.
 */
#ifndef PEERLANE_GROUP_PLAN_H
#define PEERLANE_GROUP_PLAN_H

#include <linux/kernel.h>

#include "group_wire.h"

#define GROUP_ALL	U32_MAX		/* every rank */
#define GROUP_OTHERS	(U32_MAX - 1)	/* every rank but the contributor */

struct group_shape {
	u32 size;		/* ranks */
	u32 aggregators;
	u32 segment;		/* bytes */
	bool is_tree;		/* a segment has room for what is not rounded yet */
};

/*
 * One segment. Offsets and lengths in bytes; @send from the first byte of what
 * the caller gives, @receive of where he wants the result.
 */
struct group_segment {
	u32 aggregator;
	u32 contributor;	/* GROUP_ALL, or the rank with the data */
	u32 receiver;		/* GROUP_ALL, GROUP_OTHERS, or the rank that gets it */
	u32 elements;
	u32 bytes;
	u32 partial;		/* bytes of it between aggregators */
	u64 send;
	u64 receive;
};

/*
 * 0; -EINVAL: kind, type, op or root is none of the allowed, or they do not go
 * together; -EOVERFLOW: more bytes than a s64 has.
 */
int group_call_check(const struct group_shape *shape,
		     const struct group_call *call);
/* Of a call that was checked but for its way: may it go by REPLICATED? */
bool group_may_replicate(const struct group_shape *shape,
			 const struct group_call *call);
/*
 * Bytes that a caller gives, and gets: @count elements, but all ranks' of what
 * REDUCE_SCATTER is given and ALL_GATHER gives. @call was checked.
 */
u64 group_call_send_bytes(const struct group_shape *shape,
			  const struct group_call *call, u32 rank);
u64 group_call_receive_bytes(const struct group_shape *shape,
			     const struct group_call *call, u32 rank);

/* At least 1, also where nothing is to be moved. @call was checked. */
u64 group_plan_segments(const struct group_shape *shape,
			const struct group_call *call);
/*
 * Segment @index of operation @seq; aggregator (@seq + @index) % aggregators,
 * that of group_plan_aggregator(). Where ranks have blocks of their own, the
 * first segments of all blocks come first, then the second ones: all ranks are
 * at work from the beginning. Of what is replicated each aggregator has one
 * segment with all of it, which goes to the rank of the aggregator's number.
 */
u32 group_plan_aggregator(const struct group_shape *shape, u64 seq, u64 index);
/* The first segment that @aggregator has of operation @seq; each aggregators-th. */
u32 group_plan_first(const struct group_shape *shape, u64 seq, u32 aggregator);
void group_plan_segment(const struct group_shape *shape,
			const struct group_call *call, u64 seq, u64 index,
			struct group_segment *segment);

/*
 * Those that speak to one aggregator: @count of them, of which number i speaks
 * for @unit ranks from (@first + i) * @unit on. Of what is not a tree each rank.
 */
struct group_members {
	u32 count;
	u32 first;
	u32 unit;
};

static inline u32 group_member_rank(const struct group_members *members, u32 index)
{
	return (members->first + index) * members->unit;
}

/* Aggregators above one another, of which the lowest serves @block units at once. */
static inline u32 group_tree_height(u32 size, u32 unit, u32 block)
{
	u32 members = (size - 1) / unit + 1, height = 1;

	for (; members > block; height++)
		members = (members - 1) / block + 1;
	return height;
}

static inline bool group_member_has(const struct group_members *members,
				    u32 index, u32 rank)
{
	return rank / members->unit == members->first + index;
}

static inline bool
group_member_contributes(const struct group_members *members, u32 index,
			 const struct group_segment *segment)
{
	return segment->contributor == GROUP_ALL ||
	       group_member_has(members, index, segment->contributor);
}

/* Of others, who has the contributor has its data. */
static inline bool
group_member_receives(const struct group_members *members, u32 index,
		      const struct group_segment *segment)
{
	if (segment->receiver == GROUP_OTHERS)
		return !group_member_has(members, index, segment->contributor);
	return segment->receiver == GROUP_ALL ||
	       group_member_has(members, index, segment->receiver);
}

/* What a member gives, if it does, and gets. */
static inline u32 group_member_bytes(const struct group_members *members,
				     const struct group_segment *segment)
{
	return members->unit > 1 ? segment->partial : segment->bytes;
}

static inline bool group_contributes(const struct group_segment *segment,
				     u32 rank)
{
	return segment->contributor == GROUP_ALL || segment->contributor == rank;
}

static inline bool group_receives(const struct group_segment *segment, u32 rank)
{
	if (segment->receiver == GROUP_OTHERS)
		return segment->contributor != rank;
	return segment->receiver == GROUP_ALL || segment->receiver == rank;
}

#endif /* PEERLANE_GROUP_PLAN_H */
