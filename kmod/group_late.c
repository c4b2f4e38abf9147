// SPDX-License-Identifier: GPL-2.0
/*
 * Is it always the same rank that all others wait for? Judged once in a window;
 * what counts is the time that the group loses by the latest rank, beyond what the
 * next latest would have cost. Pure.
 */
#include <linux/math64.h>

#include "group_table.h"

#define SEGMENTS_LEAST	8	/* in a window: fewer are an accident */

/* The two latest in a window */
struct lateness {
	u32 rank;
	u64 segments;
	u64 most;		/* ns behind the first, on average */
	u64 next;
};

static void take(struct group_rank_stats *stats, u32 rank,
		 struct lateness *lateness)
{
	u64 segments = stats->segments - stats->seen_segments;
	u64 late = stats->late_total - stats->seen_late;
	u64 mean = segments ? div64_u64(late, segments) : 0;

	stats->seen_segments = stats->segments;
	stats->seen_late = stats->late_total;
	if (segments < SEGMENTS_LEAST)
		return;
	if (mean <= lateness->most) {
		lateness->next = mean > lateness->next ? mean : lateness->next;
		return;
	}
	*lateness = (struct lateness){
		.rank = rank, .segments = segments, .most = mean,
		.next = lateness->most,
	};
}

/* Segments that wait for the same rank at once, and so lose the time once */
static u64 together(const struct group_table *table)
{
	const struct group_place *place = &table->places[0];
	const struct group_part *part = &place->told[place->first].part;
	u64 segments;

	/* None came yet. */
	if (!part->call.kind)
		return 1;
	segments = div64_u64(group_plan_segments(&table->shape, &part->call),
			     table->shape.aggregators);
	if (!segments)
		return 1;
	return segments < table->window ? segments : table->window;
}

/* Of the window, in millionths */
static u32 share_of(const struct group_table *table,
		    const struct lateness *lateness, u64 window)
{
	u64 lost = (lateness->most - lateness->next) * lateness->segments;
	u64 share = div64_u64(div64_u64(lost, together(table)),
			      div64_u64(window, 1000000));

	return share < 1000000 ? (u32)share : 1000000;
}

static bool has_enough(const struct group_table *table)
{
	const struct group_rank_stats *stats = table->stats;
	u32 i;

	for (i = 0; i < table->members.count; i++)
		if (stats[i].segments - stats[i].seen_segments >= SEGMENTS_LEAST)
			return true;
	return false;
}

/* Somebody is missing for so long. */
static bool stands_still(const struct group_table *table, u64 now,
			 struct group_late_word *word)
{
	const struct group_members *members = &table->members;
	struct group_fault fault;

	if (!group_table_late(table, now, GROUP_LATE_WINDOW, &fault) ||
	    fault.cause != GROUP_CAUSE_LATE)
		return false;
	/* If several are missing it is nobody's fault alone. */
	word->rank = fault.missing > min(members->unit,
					 table->shape.size - fault.rank) ?
		     GROUP_NOBODY : fault.rank;
	word->share = 1000000;
	word->delay_ns = GROUP_LATE_WINDOW;
	return true;
}

/* Whom this window was lost by; GROUP_NOBODY: nobody. False: it goes on. */
static bool judge(struct group_table *table, u64 now, u64 window,
		  struct group_late_word *word)
{
	struct lateness lateness = { .rank = GROUP_NOBODY };
	bool still = stands_still(table, now, word);
	u32 i;

	if (!still && !has_enough(table))
		return false;
	for (i = 0; i < table->members.count; i++)
		take(&table->stats[i],
		     group_member_rank(&table->members, i), &lateness);
	if (still)
		return true;
	word->rank = GROUP_NOBODY;
	if (lateness.rank == GROUP_NOBODY)
		return true;
	word->share = share_of(table, &lateness, window);
	word->delay_ns = lateness.most;
	/* As late as others is how it is, not who it is. */
	if (word->share >= GROUP_LATE_SHARE && lateness.most / 2 >= lateness.next)
		word->rank = lateness.rank;
	return true;
}

static void acquit(struct group_late *late, struct group_late_word *word)
{
	*word = (struct group_late_word){ .rank = late->accused };
	late->told = false;
	late->calm = 0;
}

u32 group_late_look(struct group_table *table, struct group_late *late, u64 now,
		    struct group_late_word words[2])
{
	struct group_late_word word = {};
	u32 count = 0;
	bool begins;

	if (!late->at)
		late->at = now;
	if (now < late->at || now - late->at < GROUP_LATE_WINDOW ||
	    !judge(table, now, now - late->at, &word))
		return 0;
	late->windows = word.rank == late->suspect ? late->windows + 1 : 1;
	late->suspect = word.rank;
	late->at = now;
	if (late->told)
		late->calm = word.rank == late->accused ? 0 : late->calm + 1;
	begins = word.rank != GROUP_NOBODY &&
		 late->windows >= GROUP_LATE_WINDOWS &&
		 (!late->told || word.rank != late->accused);
	if (late->told && (begins || late->calm >= GROUP_LATE_WINDOWS))
		acquit(late, &words[count++]);
	if (!begins)
		return count;
	word.late = true;
	words[count++] = word;
	late->told = true;
	late->calm = 0;
	late->accused = word.rank;
	return count;
}
