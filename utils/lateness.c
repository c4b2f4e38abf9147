// SPDX-License-Identifier: GPL-2.0
/* Who of a group was late, in words. */
#include <stdio.h>

#include "lateness.h"
#include "units.h"

/* How many times as late as the others on average stands out */
#define STANDS_OUT	2

uint64_t lateness_percentile(const struct peerlane_rank_status *rank,
			     uint32_t millionths)
{
	uint64_t ns = peerlane_lateness_percentile(rank->late, millionths);

	/* The middle of a bucket may lie beyond all that is in it. */
	return ns < rank->late_max ? ns : rank->late_max;
}

static const struct peerlane_rank_status *
latest(const struct peerlane_rank_status *ranks, size_t count)
{
	const struct peerlane_rank_status *worst = ranks;

	for (size_t i = 1; i < count; i++)
		if (ranks[i].late_total > worst->late_total)
			worst = &ranks[i];
	return worst;
}

struct sums {
	unsigned __int128 late;
	uint64_t last;
	uint64_t segments;
};

static struct sums add_up(const struct peerlane_rank_status *ranks, size_t count)
{
	struct sums sums = { 0 };

	for (size_t i = 0; i < count; i++) {
		sums.late += ranks[i].late_total;
		sums.last += ranks[i].last;
		sums.segments += ranks[i].segments;
	}
	return sums;
}

static unsigned int percent(uint64_t part, uint64_t all)
{
	return all ? (unsigned int)((unsigned __int128)part * 100 / all) : 0;
}

void lateness_words(const struct peerlane_rank_status *ranks, size_t count,
		    char words[LATENESS_WORDS])
{
	const struct peerlane_rank_status *worst = latest(ranks, count);
	struct sums sums = add_up(ranks, count);
	char median[UNITS_ROOM], most[UNITS_ROOM];
	unsigned __int128 others;

	if (!sums.segments) {
		snprintf(words, LATENESS_WORDS, "no data came");
		return;
	}
	if (count < 2) {
		snprintf(words, LATENESS_WORDS, "one rank is never late");
		return;
	}
	others = (sums.late - worst->late_total) / (count - 1);
	if (!worst->late_total || worst->late_total < STANDS_OUT * others) {
		snprintf(words, LATENESS_WORDS, "no rank was later than the others");
		return;
	}
	units_ns(median, peerlane_lateness_percentile(worst->late, 500000));
	units_ns(most, worst->late_max);
	snprintf(words, LATENESS_WORDS,
		 "rank %u was late: last to %u%% of the segments, half of them by more than %s, at most by %s",
		 worst->rank, percent(worst->last, sums.last), median, most);
}

static const char *of_rank(uint32_t cause)
{
	static const char *const words[] = {
		[PEERLANE_ENDING_NONE] = "left",
		[PEERLANE_ENDING_LEFT] = "left while operations were open",
		[PEERLANE_ENDING_DEAD] = "is dead: its connection ended",
		[PEERLANE_ENDING_LATE] = "did not come to an operation in time",
		[PEERLANE_ENDING_MISMATCH] = "called something else than the others",
		[PEERLANE_ENDING_REVOKED] = "lost its memory: the region is revoked",
		[PEERLANE_ENDING_PROTOCOL] = "said what may not be said",
		[PEERLANE_ENDING_CLOSED] = "was closed",
		[PEERLANE_ENDING_SHAPE] = "joined with other numbers than the group has",
		[PEERLANE_ENDING_TAKEN] = "was there already",
		[PEERLANE_ENDING_FULL] = "found no memory for the group",
		[PEERLANE_ENDING_JOIN] = "did not join in time",
		[PEERLANE_ENDING_UNABLE] = "asked for what an aggregator cannot compute",
		[PEERLANE_ENDING_BLOCK] = "joined the aggregator of another block of ranks",
	};

	return cause < sizeof(words) / sizeof(words[0]) ? words[cause] :
							  "ended the group";
}

void ending_words(uint32_t cause, uint32_t rank, char words[LATENESS_WORDS])
{
	if (rank != PEERLANE_NOBODY)
		snprintf(words, LATENESS_WORDS, "rank %u %s", rank,
			 of_rank(cause));
	else if (cause == PEERLANE_ENDING_NONE)
		snprintf(words, LATENESS_WORDS, "all ranks left");
	else if (cause == PEERLANE_ENDING_CLOSED)
		snprintf(words, LATENESS_WORDS, "an aggregator was closed");
	else if (cause == PEERLANE_ENDING_DEAD)
		snprintf(words, LATENESS_WORDS,
			 "an aggregator is dead, or cannot be reached");
	else
		snprintf(words, LATENESS_WORDS, "a rank %s", of_rank(cause));
}
