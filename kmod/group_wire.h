/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a worker and an aggregator say to each other, over a link: payload of
 * its owner messages. All numbers are little-endian. Pure.
 *
 *   worker                                   aggregator
 *     JOIN ------------------------------------->     first word on a link
 *     <------------------------------------- WELCOME  all ranks have joined
 *     (exposes its slots) ---------------------->
 *     <--------------------------------------- READY  token is known
 *     (PUT into the pool), SEGMENT n ----------->
 *     <---------------- (PUT into the slot), RESULT n
 *     PROBE <----------------------------------> PROBE  comes back as it is
 *     TUNE ------------------------------------->     what this rank measured
 *     <---------------------------------------- TUNE  all ranks' together
 *     LEAVE ------------------------------------>     what follows is no death
 *     <--------------------------------------> ABORT  either way, any time
 *
 * Segments of one worker to one aggregator are a stream, numbered from 0. The
 * RESULT of n is the credit for n + window, also where it brings no data.
 */
#ifndef PEERLANE_GROUP_WIRE_H
#define PEERLANE_GROUP_WIRE_H

#include <linux/kernel.h>

#include "group_cost.h"

#define GROUP_VERSION		1
#define GROUP_MAGIC		0x72676c70U	/* "plgr" */
#define GROUP_MESSAGE_MAX	72	/* bytes of the longest */
#define GROUP_RANKS_MAX		1024
#define GROUP_AGGREGATORS_MAX	1024
#define GROUP_WINDOW_MAX	256
#define GROUP_SEGMENT_MIN	4096	/* bytes, a power of two */
#define GROUP_SEGMENT_MAX	(4U << 20)
#define GROUP_OFFSET_MAX	(1ULL << 62)
#define GROUP_REPEATS_MAX	512	/* segments said again */
#define GROUP_TIMEOUT_MAX	86400000U	/* ms */
#define GROUP_NOBODY		U32_MAX

enum group_message_type {
	GROUP_MESSAGE_JOIN	= 1,
	GROUP_MESSAGE_WELCOME	= 2,
	GROUP_MESSAGE_READY	= 3,
	GROUP_MESSAGE_SEGMENT	= 4,
	GROUP_MESSAGE_RESULT	= 5,
	GROUP_MESSAGE_LEAVE	= 6,
	GROUP_MESSAGE_ABORT	= 7,
	GROUP_MESSAGE_PROBE	= 8,
	GROUP_MESSAGE_TUNE	= 9,
};

/* enum peerlane_group_kind of <uapi/peerlane_group.h>: what is called */
enum group_kind {
	GROUP_ALL_REDUCE	= 1,
	GROUP_REDUCE_SCATTER	= 2,
	GROUP_ALL_GATHER	= 3,
	GROUP_REDUCE		= 4,
	GROUP_BROADCAST		= 5,
	GROUP_BARRIER		= 6,
};

/*
 * enum peerlane_group_placement of the same: who computes. DEDICATED and
 * COLOCATED are the same protocol; AUTO is settled by TUNE.
 */
enum group_placement {
	GROUP_PLACEMENT_AUTO		= 0,
	GROUP_PLACEMENT_DEDICATED	= 1,
	GROUP_PLACEMENT_COLOCATED	= 2,
	GROUP_PLACEMENT_REPLICATED	= 3,
	GROUP_PLACEMENT_TREE		= 4,
};
#define GROUP_PLACEMENT_LAST	GROUP_PLACEMENT_TREE

/* Why a group ended, or a join was refused. Also in the uapi header. */
enum group_cause {
	GROUP_CAUSE_NONE	= 0,
	GROUP_CAUSE_LEFT	= 1,	/* a rank left with operations open */
	GROUP_CAUSE_DEAD	= 2,	/* its link ended */
	GROUP_CAUSE_LATE	= 3,	/* the operation's time was up */
	GROUP_CAUSE_MISMATCH	= 4,	/* it called something else */
	GROUP_CAUSE_REVOKED	= 5,	/* its region is gone */
	GROUP_CAUSE_PROTOCOL	= 6,	/* it said what may not be said */
	GROUP_CAUSE_CLOSED	= 7,	/* the aggregator ends */
	GROUP_CAUSE_SHAPE	= 8,	/* join: other ranks, segments, windows */
	GROUP_CAUSE_TAKEN	= 9,	/* join: that rank is there already */
	GROUP_CAUSE_FULL	= 10,	/* join: no memory in the pool left */
	GROUP_CAUSE_JOIN	= 11,	/* not all ranks joined in time */
	GROUP_CAUSE_UNABLE	= 12,	/* the aggregator cannot compute that */
	GROUP_CAUSE_BLOCK	= 13,	/* join: that aggregator has another block */
};

/* The part of a call that must be the same on all ranks. */
struct group_call {
	u8 kind;		/* enum group_kind */
	u8 type;		/* enum peerlane_type; 0: none, as of BARRIER */
	u8 op;			/* enum peerlane_op... of reductions; 0: none */
	u32 root;		/* of REDUCE and BROADCAST; else 0 */
	u64 count;		/* elements, as the caller gave it */
	u8 way;			/* enum group_way */
};

struct group_join {
	u64 group;		/* the same on all ranks, random */
	u32 rank;		/* of several: the lowest */
	u32 size;
	u32 aggregators;
	u32 index;		/* which of them this one is */
	u32 segment;		/* bytes */
	u32 window;		/* segments */
	u32 block;		/* ranks whose sum is made first; 2 or more */
	u32 timeout_ms;		/* of an operation */
	u32 placement;		/* enum group_placement */
	u32 unit;		/* TREE: ranks that it speaks for; else 0 */
};

struct group_part {
	u64 n;			/* in the stream */
	u64 seq;		/* of the operation, from 0 */
	struct group_call call;
	u64 index;		/* segment of the operation */
	u32 bytes;		/* that the sender contributes; 0: none */
	u64 token;		/* where it wants the result; 0: nowhere */
	u64 offset;		/* first byte there */
};

/*
 * What differs. SEQ and INDEX: one rank is at another operation or segment than
 * the other, since an operation before was called with another count.
 */
enum group_field {
	GROUP_FIELD_KIND	= 1,
	GROUP_FIELD_TYPE	= 2,
	GROUP_FIELD_OP		= 3,
	GROUP_FIELD_ROOT	= 4,
	GROUP_FIELD_COUNT	= 5,
	GROUP_FIELD_SEQ		= 6,
	GROUP_FIELD_INDEX	= 7,
	GROUP_FIELD_WAY		= 8,	/* enum group_way */
};

struct group_fault {
	u32 cause;		/* enum group_cause */
	u32 rank;		/* whose fault; GROUP_NOBODY */
	u32 other;		/* MISMATCH: a rank that called as most did */
	u32 missing;		/* LATE, JOIN: how many ranks; else: of an aggregator */
	u64 seq;		/* operation */
	u32 field;		/* MISMATCH: enum group_field; else 0 */
	u64 value;		/* of @rank */
	u64 expected;		/* of @other */
};

/* A round of it, which all ranks take part in, before the same operation. */
struct group_tune {
	u32 round;
	struct group_cost cost;
};

struct group_message {
	u8 type;
	union {
		struct group_join join;
		struct group_part part;		/* SEGMENT */
		struct {
			u64 n;
			u64 seq;
		} result;
		u64 token;			/* READY */
		u64 probe;
		struct group_tune tune;
		struct group_fault fault;	/* ABORT */
	};
};

/* Bytes of it, at most GROUP_MESSAGE_MAX. */
u32 group_message_encode(const struct group_message *message, u8 *data);
/*
 * 0; -EPROTO: nonsense, or beyond a limit above; -EPROTONOSUPPORT: JOIN of
 * another version. Calls of a SEGMENT are the business of group_call_check().
 */
int group_message_decode(struct group_message *message, const u8 *data,
			 u32 length);

/* "rank 3 called count 409598, rank 0 count 409600"; length as snprintf() */
int group_fault_text(const struct group_fault *fault, char *text, size_t size);

#endif /* PEERLANE_GROUP_WIRE_H */
