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
	u64 seen_segments;	/* at the last look for late ones */
	u64 seen_late;
	u32 late[GROUP_LATENESS_BUCKETS];
};

struct group_table {
	struct group_shape shape;
	struct group_members members;
	u32 index;		/* this aggregator's among the group's */
	u32 window;
	struct group_place *places;	/* window */
	struct group_rank_stats *stats;	/* of each */
};

/*
 * Bytes of the memory that group_table_init() needs, zeroed. Shape and window
 * are within the limits of group_wire.h.
 */
size_t group_table_size(u32 members, u32 window);
void group_table_init(struct group_table *table, void *memory,
		      const struct group_shape *shape,
		      const struct group_members *members, u32 index, u32 window);

/*
 * SEGMENT came from member @rank at @now (ns). Faults name its lowest rank.
 * 0: others are missing; 1: all are
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

/*
 * Others wait for operation @seq: as group_table_late() of what is FILLING, else who
 * came last to what is FULL of it. False: nobody has come.
 */
bool group_table_slow(const struct group_table *table, u64 seq,
		      struct group_fault *fault);
/* Is anything FILLING or FULL? For LEAVE. */
bool group_table_is_busy(const struct group_table *table);

/* ---- group_late.c: who is late again and again ---- */

#define GROUP_LATE_WINDOW	2000000000ULL	/* ns, at least */
#define GROUP_LATE_WINDOWS	3	/* one after the other, that count */
#define GROUP_LATE_SHARE	100000	/* of the time, in millionths */

/* Zeroed at first; a window begins with the first look. */
struct group_late {
	u64 at;			/* ns: the last look */
	u32 suspect;		/* late in the last windows, or GROUP_NOBODY */
	u32 windows;		/* in so many */
	u32 calm;		/* windows that @accused was not */
	u32 accused;		/* that was told of, if @told */
	bool told;
};

/* What is to be told of one rank. */
struct group_late_word {
	bool late;		/* else it is in time again */
	u32 rank;
	u32 share;		/* of the time it costs, in millionths */
	u64 delay_ns;		/* on average */
};

/*
 * To be called often; looks once in a window, which lasts until there were some
 * segments or somebody stands still. Fills up to two words, the one that
 * ends before the one that begins, and returns how many.
 */
u32 group_late_look(struct group_table *table, struct group_late *late, u64 now,
		    struct group_late_word words[2]);

#endif /* PEERLANE_GROUP_TABLE_H */
