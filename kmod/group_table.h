/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an aggregator knows of one group: who has contributed to which segment.
 * Pure; the caller has a lock, the clock and the memory.
 *
 * Place n % window of the table has segment n of every rank's stream.
 *   EMPTY -> FILLING -> FULL -> EMPTY
 * FULL from the last contribution until group_table_done(): the caller reduces
 * and sends. Places may be done in any order. A rank cannot send n + window
 * before it has the RESULT of n, so a message with a higher number than its
 * place waits for is an error of that rank; one with a lower number is done.
 */
#ifndef PEERLANE_GROUP_TABLE_H
#define PEERLANE_GROUP_TABLE_H

#include <linux/kernel.h>

#include "group_plan.h"
#include "group_wire.h"

#define GROUP_LATENESS_BUCKETS	40	/* bucket b: [2^b, 2^(b+1)) ns; 0: 0 and 1 */

enum group_place_state {
	GROUP_PLACE_EMPTY,
	GROUP_PLACE_FILLING,
	GROUP_PLACE_FULL,
};

/* What one rank said of one segment. */
struct group_told {
	struct group_part part;
	u64 at;			/* ns */
	bool is_there;
};

struct group_place {
	u8 state;
	u64 n;			/* that it has or, EMPTY, waits for */
	u32 count;		/* of ranks that are there */
	u32 odd;		/* ranks that called another thing than @first */
	u32 first;		/* rank that came first */
	u64 first_at;		/* ns */
	u64 last_at;
	struct group_told *told;	/* of each rank */
};

struct group_rank_stats {
	u64 segments;
	u64 bytes;
	u64 late_total;		/* ns after the first rank, summed */
	u64 late_max;
	u64 last;		/* times that it was the last one */
	u32 repeats;		/* segments said again since the last new one */
	u32 late[GROUP_LATENESS_BUCKETS];
};

struct group_table {
	struct group_shape shape;
	u32 index;		/* this aggregator's among the group's */
	u32 window;
	struct group_place *places;	/* window */
	struct group_rank_stats *stats;	/* of each rank */
};

/*
 * Bytes of the memory that group_table_init() needs, zeroed. Shape and window
 * are within the limits of group_wire.h.
 */
size_t group_table_size(u32 size, u32 window);
void group_table_init(struct group_table *table, void *memory,
		      const struct group_shape *shape, u32 index, u32 window);

/*
 * SEGMENT came from @rank at @now (ns). 0: others are missing; 1: all are
 * there, group_table_place() has them, nobody's call is odd; < 0: @fault, the
 * group has to end:
 * -EPROTO: a stream's numbers, an index of another aggregator, bytes that are
 *	not those of the plan, a receiver that does not say where
 * -EBADE: all have come, and what they called is not the same. @fault: what
 *	most called is right (of parts as large as each other, what the lowest
 *	rank called), and the lowest rank that called another thing is named
 * A message that has come before (place already told by this rank with the same
 * n, or done) is no error and changes nothing: 0. But of more than
 * GROUP_REPEATS_MAX of them with nothing new in between: -EPROTO.
 */
int group_table_contribute(struct group_table *table, u32 rank,
			   const struct group_part *part, u64 now,
			   struct group_fault *fault);
struct group_place *group_table_place(struct group_table *table, u64 n);
/* FULL -> EMPTY; its RESULTs may be sent from now on. */
void group_table_done(struct group_table *table, u64 n);
/*
 * The one that has been FILLING longest, if for @limit ns or more: true, and
 * @fault: -EBADE's if calls differ (those that are there decide), else LATE with
 * the lowest missing rank.
 */
bool group_table_late(const struct group_table *table, u64 now, u64 limit,
		      struct group_fault *fault);
/* Is anything FILLING or FULL? For LEAVE. */
bool group_table_is_busy(const struct group_table *table);

#endif /* PEERLANE_GROUP_TABLE_H */
