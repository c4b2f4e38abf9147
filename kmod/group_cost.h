/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an operation is going to take by which way: a model of few numbers, that
 * were measured. All ranks have the same numbers and compute the same, so that
 * they choose the same. Pure.
 *
 *   alpha  latency of a message	beta  time of a byte on its way
 *   gamma  time of a byte that is reduced
 *
 * Shared: to an aggregator and back, 2 alpha; each aggregator takes, reduces and
 * sends all ranks' bytes of its share, one segment after the other, in three
 * stages that overlap where it has several segments.
 * Replicated: alpha, and what is left is within the node; each rank sends, takes
 * and reduces the bytes of all. So does, of one segment, the one aggregator that
 * has it when it is shared, which sends them all, too: what speaks against
 * replicating is what processors have to do for all these messages. That is what
 * the ratios say, which are measured.
 */
#ifndef PEERLANE_GROUP_COST_H
#define PEERLANE_GROUP_COST_H

#include <linux/kernel.h>

struct group_shape;

/* By which way one operation goes. */
enum group_way {
	GROUP_WAY_SHARED	= 0,	/* each segment to one aggregator, for all */
	GROUP_WAY_REPLICATED	= 1,	/* to all, each for the rank of its number */
};
#define GROUP_WAYS		2

#define GROUP_COST_LATENCY_MAX	1000000000U	/* ns */
#define GROUP_COST_BYTE_MAX	1000000U	/* ps */
#define GROUP_COST_UNIT		256U		/* of a ratio */
#define GROUP_COST_RATIO_MAX	(64 * GROUP_COST_UNIT)

struct group_cost {
	u32 alpha;		/* ns, to the aggregators of others */
	u32 own;		/* ns, to the one of the rank's number */
	u32 beta;		/* ps */
	u32 gamma;		/* ps */
	u32 ratio[GROUP_WAYS];	/* what operations took, to what is predicted; 0: unknown */
	u32 colocated;		/* 1: each rank's node has the aggregator of its number */
};

/* @to of several ranks: the worst of what is known, as the slowest one counts. */
void group_cost_merge(struct group_cost *to, const struct group_cost *from);
/* What was measured of @way: all ranks' of one round after the others */
void group_cost_learn(struct group_cost *cost, const struct group_cost *measured);

/* Of an all-reduce of @bytes, in ns, without and with what operations took. */
u64 group_cost_predict(const struct group_cost *cost,
		       const struct group_shape *shape, u32 way, u64 bytes);
u64 group_cost_expect(const struct group_cost *cost,
		      const struct group_shape *shape, u32 way, u64 bytes);
/* What one took, to what was predicted: 0, it says nothing. */
u32 group_cost_ratio(const struct group_cost *cost,
		     const struct group_shape *shape, u32 way, u64 bytes, u64 ns);
/*
 * Ranks agree on the numbers in rounds, from 0: the first operation for which
 * @round has to be over.
 */
u64 group_cost_round_at(u32 round);
/* Operations of fewer bytes are expected to be faster by REPLICATED; 0: none. */
u32 group_cost_limit(const struct group_cost *cost,
		     const struct group_shape *shape);

/*
 * Below how many bytes operations are replicated. Ranks hear of a round between
 * different operations of theirs, so what was agreed on holds from the one on
 * that the round is for. There is at most one that does not hold yet.
 */
struct group_limit {
	u32 bytes;
	u32 next;
	u64 next_at;
};

void group_limit_agree(struct group_limit *limit, u32 round, u32 bytes);
/* For operation @seq; they are asked for in order, each once. */
u32 group_limit_at(struct group_limit *limit, u64 seq);
/* Why the limit is what it is; length as snprintf(). */
int group_cost_text(const struct group_cost *cost,
		    const struct group_shape *shape, u32 limit, char *text,
		    size_t size);

#endif /* PEERLANE_GROUP_COST_H */
