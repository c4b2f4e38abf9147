// SPDX-License-Identifier: GPL-2.0
/* peerlane why: ranks that are not there, or stand still. Pure. */
#include <stdlib.h>
#include <string.h>

#include "why.h"

#define WEIGHT_STILL	200
/* Before that of why_local.c: who it is, and not only that somebody waits */
#define WEIGHT_ABSENT	260

/* No counter shrinks: who has less of one is another, in the same place. */
static bool is_later(const struct peerlane_rank_status *first,
		     const struct peerlane_rank_status *last)
{
	for (size_t i = 0; i < PEERLANE_LATENESS; i++)
		if (first->late[i] > last->late[i])
			return false;
	return first->segments <= last->segments &&
	       first->bytes <= last->bytes &&
	       first->late_total <= last->late_total &&
	       first->last <= last->last;
}

struct why_rank why_rank_of(const struct peerlane_rank_status *first,
			    const struct peerlane_rank_status *last)
{
	struct why_rank rank = { .last = *last, .grown = *last };

	/* Then all is new. */
	if (!is_later(first, last))
		return rank;
	rank.grown.segments -= first->segments;
	rank.grown.bytes -= first->bytes;
	rank.grown.late_total -= first->late_total;
	rank.grown.last -= first->last;
	for (size_t i = 0; i < PEERLANE_LATENESS; i++)
		rank.grown.late[i] -= first->late[i];
	return rank;
}

/* ---- who stands still ------------------------------------------------------------ */

static uint64_t most_segments(const struct why_seen *seen)
{
	uint64_t most = 0;

	for (size_t i = 0; i < seen->count; i++)
		if (seen->ranks[i].last.segments > most)
			most = seen->ranks[i].last.segments;
	return most;
}

/* All of the interval the others were ahead of it, and it did not move. */
static bool stands_still(const struct why_facts *facts,
			 const struct why_rank *rank, uint64_t most)
{
	return facts->seconds > 0 && rank->last.is_there && rank->was_behind &&
	       !rank->grown.segments && rank->last.segments < most;
}

static void tell_still(const struct why_facts *facts,
		       const struct why_seen *seen_by,
		       const struct why_rank *rank, uint64_t most,
		       struct findings *findings)
{
	char *subject = format_text("rank %u", rank->last.rank);
	struct finding *finding = find(findings, "stands-still",
				       SEVERITY_PROBLEM, subject);

	free(subject);
	finding->rank = rank->last.rank;
	finding->weight = WEIGHT_STILL;
	say(finding, "sent nothing for %.1f s, and the others wait for it",
	    facts->seconds);
	seen(finding, "aggregator %ju: %ju segments came from it, %ju from others; it is connected",
	     (uintmax_t)seen_by->aggregator, (uintmax_t)rank->last.segments,
	     (uintmax_t)most);
	remedy(finding, "look at its process on %.*s: is it stopped, in a debugger, or in work that takes long?",
	       (int)sizeof(rank->last.peer), rank->last.peer);
}

/* ---- who is not there -------------------------------------------------------------- */

/*
 * Who joined has an address, also when it is down. A rank that dies ends its
 * group, of which an aggregator tells nothing then: down here is who left.
 */
static bool is_awaited(const struct peerlane_rank_status *rank)
{
	return !rank->is_there && !*rank->peer && !rank->segments;
}

const char *why_presence(const struct peerlane_rank_status *rank)
{
	if (rank->is_there)
		return "there";
	return is_awaited(rank) ? "joining" : "left";
}

static void tell_awaited(const struct why_seen *seen_by, uint64_t group,
			 struct finding *finding)
{
	finding->weight = WEIGHT_ABSENT;
	say(finding, "has not joined yet");
	seen(finding, "aggregator %ju: nothing came from it",
	     (uintmax_t)seen_by->aggregator);
	remedy(finding, "look whether its process was started, and at \"peerlane group show %ju\" on its node",
	       (uintmax_t)group);
}

static void tell_left(const struct why_seen *seen_by,
		      const struct why_rank *rank, struct finding *finding)
{
	say(finding, "left, or is leaving");
	seen(finding, "aggregator %ju: it was at %.*s, and sent %ju segments",
	     (uintmax_t)seen_by->aggregator, (int)sizeof(rank->last.peer),
	     rank->last.peer, (uintmax_t)rank->last.segments);
}

static void tell_absent(const struct why_facts *facts,
			const struct why_seen *seen_by,
			const struct why_rank *rank, struct findings *findings)
{
	bool awaited = is_awaited(&rank->last);
	char *subject = format_text("rank %u", rank->last.rank);
	struct finding *finding = find(findings, why_presence(&rank->last),
				       awaited ? SEVERITY_PROBLEM :
						 SEVERITY_NOTE, subject);

	free(subject);
	finding->rank = rank->last.rank;
	if (awaited)
		tell_awaited(seen_by, facts->group, finding);
	else
		tell_left(seen_by, rank, finding);
}

/* ---- an aggregator ------------------------------------------------------------------ */

static void judge_seen(const struct why_facts *facts,
		       const struct why_seen *seen, struct findings *findings)
{
	uint64_t most = most_segments(seen);

	for (size_t i = 0; i < seen->count; i++) {
		const struct why_rank *rank = &seen->ranks[i];

		if (!rank->last.is_there)
			tell_absent(facts, seen, rank, findings);
		if (stands_still(facts, rank, most))
			tell_still(facts, seen, rank, most, findings);
	}
	why_judge_late(facts, seen, findings);
}

static void tell_unknown(const struct why_facts *facts,
			 struct findings *findings)
{
	struct finding *finding = find(findings, "lateness-seen",
				       SEVERITY_UNKNOWN, "group");

	say(finding, "which rank the others wait for");
	if (facts->refused) {
		seen(finding, "%zu aggregators are here, and may not be looked at",
		     facts->refused);
		remedy(finding, "ask as root (CAP_SYS_PTRACE)");
		return;
	}
	seen(finding, "this node has no aggregator of the group");
	remedy(finding, "ask on a node that has one: peerlane why %ju",
	       (uintmax_t)facts->group);
}

void why_judge_ranks(const struct why_facts *facts, struct findings *findings)
{
	for (size_t i = 0; i < facts->seen_count; i++)
		judge_seen(facts, &facts->seen[i], findings);
	if (!facts->seen_count)
		tell_unknown(facts, findings);
}
