// SPDX-License-Identifier: GPL-2.0
/* peerlane why: ranks for which the others waited. Pure. */
#include <stdlib.h>
#include <string.h>

#include "lateness.h"
#include "rate.h"
#include "units.h"
#include "why.h"

/* Fewer are an accident. */
#define SEGMENTS_LEAST	8
/* How many times as late as the next one stands out */
#define STANDS_OUT	2
/* Without an interval: less than this is how clocks and queues are */
#define NS_LEAST	100000
/* With one: percent of the time that have to be lost */
#define PERCENT_LEAST	10
/* Segments on their way where no rank is here to tell: what is usual */
#define WINDOW_USUAL	8

struct place {
	const struct why_rank *rank;
	uint64_t mean;		/* ns behind the first */
};

/**
 * struct late - what is said of one rank
 * @seen: by whom
 * @rank: it
 * @mean: ns behind the first
 * @next: of the latest of those that are not accused
 * @percent: of the time that it costs; 0: not known
 */
struct late {
	const struct why_seen *seen;
	const struct why_rank *rank;
	uint64_t mean;
	uint64_t next;
	uint32_t percent;
};

const struct why_local *why_local_of(const struct why_facts *facts,
				     uint32_t rank)
{
	for (size_t i = 0; i < facts->local_count; i++)
		if (facts->locals[i].last.rank == rank)
			return &facts->locals[i];
	return NULL;
}

/* ---- who ------------------------------------------------------------------------ */

static int latest_first(const void *a, const void *b)
{
	const struct place *one = a;
	const struct place *other = b;

	return one->mean < other->mean ? 1 : -(one->mean > other->mean);
}

static size_t order(const struct why_seen *seen, struct place *places)
{
	size_t count = 0;

	for (size_t i = 0; i < seen->count; i++) {
		const struct why_rank *rank = &seen->ranks[i];
		uint64_t segments = rank->grown.segments;

		if (segments < SEGMENTS_LEAST)
			continue;
		places[count].rank = rank;
		places[count++].mean = rank->grown.late_total / segments;
	}
	qsort(places, count, sizeof(*places), latest_first);
	return count;
}

/*
 * How many of the latest stand out. More than half of the ranks never do: these
 * are then what is usual, and the others early.
 */
static size_t outstanding(const struct place *places, size_t count)
{
	size_t most = count / 2, found = 0;

	for (size_t i = 0; i < most; i++)
		if (places[i].mean &&
		    places[i].mean / STANDS_OUT >= places[i + 1].mean)
			found = i + 1;
	return found;
}

/* ---- what it costs ---------------------------------------------------------------- */

/* Segments that wait for a late rank at the same time, and so lose it once */
static double together(const struct why_facts *facts, uint64_t segments)
{
	const struct why_local *local = facts->local_count ? facts->locals : NULL;
	double window = local && local->last.window ? local->last.window :
						      WINDOW_USUAL;
	double each;

	if (!local || !local->ops)
		return window;
	each = (double)segments / (double)local->ops;
	if (each < 1)
		each = 1;
	return each < window ? each : window;
}

static uint32_t cost(const struct why_facts *facts, const struct late *late)
{
	double segments = (double)late->rank->grown.segments;
	double lost = (double)(late->mean - late->next) * segments;
	double share;

	if (!(facts->seconds > 0))
		return 0;
	share = lost / together(facts, late->rank->grown.segments) /
		(facts->seconds * 1e9) * 100;
	return share > 100 ? 100 : (uint32_t)share;
}

static bool matters(const struct why_facts *facts, const struct late *late)
{
	if (facts->seconds > 0)
		return late->percent >= PERCENT_LEAST;
	return late->mean - late->next >= NS_LEAST;
}

/* ---- why -------------------------------------------------------------------------- */

/* Flows may be known of several ranks together only. */
enum owner { OWNER_RANK, OWNER_NODE, OWNER_LABEL };

/**
 * struct causes - what else is known of a rank
 * @flow: of its flows the one to speak of, or NULL: none was seen
 * @to: that goes to the aggregator
 * @owner: whose it is
 * @path: from its memory, or NULL
 */
struct causes {
	const struct why_flow *flow;
	bool to;
	enum owner owner;
	const struct why_path *path;
};

static struct causes causes_of(const struct why_facts *facts,
			       const struct late *late)
{
	const struct why_local *local = why_local_of(facts,
						     late->rank->last.rank);
	const struct why_flow *to = &late->rank->to;
	const struct why_flow *from = &late->rank->from;
	struct causes causes = { .to = true };

	if (why_sharers(late->seen, late->rank) > 1)
		causes.owner = OWNER_NODE;
	if (local && local->to.flows + local->from.flows) {
		to = &local->to;
		from = &local->from;
		causes.owner = why_namesakes(facts, local) > 1 ? OWNER_LABEL :
								 OWNER_RANK;
	}
	if (local && why_path_bad(&local->path))
		causes.path = &local->path;
	if (!why_flow_bad(to) && why_flow_bad(from))
		causes.to = false;
	/* Its segments go to the aggregator: clean results acquit nobody. */
	if (to->flows || !causes.to)
		causes.flow = causes.to ? to : from;
	return causes;
}

static char *flow_clause(const struct causes *causes, uint64_t aggregator)
{
	static const struct {
		const char *flow;
		const char *has;
		const char *is;
	} owners[] = {
		[OWNER_RANK] = { "its flow", "has", "is" },
		[OWNER_NODE] = { "its node's flow", "has", "is" },
		[OWNER_LABEL] = { "the flows of its label", "have", "are" },
	};
	char *words, *clause;

	if (!causes->flow)
		return format_text("; no packets from it were observed");
	words = why_flow_words(causes->flow);
	clause = format_text("; %s %s aggregator %ju %s %s",
			     owners[causes->owner].flow,
			     causes->to ? "to" : "from", (uintmax_t)aggregator,
			     *words ? owners[causes->owner].has :
				      owners[causes->owner].is,
			     *words ? words : "clean");
	free(words);
	return clause;
}

static char *path_clause(const struct causes *causes)
{
	const struct why_path *path = causes->path;

	if (!path)
		return format_text("%s", "");
	return format_text("; its PCIe path from %.*s to %.*s %s%s",
			   (int)sizeof(path->device), path->device,
			   (int)sizeof(path->nic), path->nic,
			   !strcmp(path->path, "none") ? "does not exist" :
							 "crosses the ",
			   !strcmp(path->path, "none") ? "" :
			   !strcmp(path->path, "iommu") ? "IOMMU" :
							  "host bridge");
}

static void advise(struct finding *finding, const struct causes *causes)
{
	if (!causes->flow)
		remedy(finding, "peerlane flow observe local on, and ask again: is it the network, or is its process late?");
	else if (!why_flow_bad(causes->flow))
		remedy(finding, "it is not the network: profile its process, which began its operations late (input, an uneven share of work, CPU frequency, a neighbour)");
	else if (causes->flow->rnr >
		 causes->flow->ce + causes->flow->retransmitted)
		remedy(finding, "a receiver is not ready: give that node more CPU");
	else
		remedy(finding, "peerlane flow top: what shares its way; peerlane doctor on its node; then the switches between it and the aggregator");
}

/* ---- the words ------------------------------------------------------------------------ */

static uint64_t percent(uint64_t part, uint64_t all)
{
	return part < all ? rate_share(part, all) / 100 : 100;
}

static void tell_cost(char text[64], const struct late *late, double seconds)
{
	if (seconds > 0)
		snprintf(text, 64, ", which cost about %u%% of the time",
			 late->percent);
	else
		*text = '\0';
}

static void tell_seen(struct finding *finding, const struct late *late,
		      double seconds)
{
	char mean[UNITS_ROOM], next[UNITS_ROOM], most[UNITS_ROOM], when[32];

	units_ns(mean, late->mean);
	units_ns(next, late->next);
	units_ns(most, late->rank->grown.late_max);
	snprintf(when, sizeof(when), "in %.1f s", seconds);
	seen(finding, "aggregator %ju: last to %ju%% of %ju segments %s, %s after the first on average (the next latest %s), at most ever %s",
	     (uintmax_t)late->seen->aggregator,
	     (uintmax_t)percent(late->rank->grown.last,
				late->rank->grown.segments),
	     (uintmax_t)late->rank->grown.segments,
	     seconds > 0 ? when : "so far", mean, next, most);
}

static void accuse(const struct why_facts *facts, const struct late *late,
		   struct findings *findings)
{
	struct causes causes = causes_of(facts, late);
	char *flow = flow_clause(&causes, late->seen->aggregator);
	char *path = path_clause(&causes);
	char *subject = format_text("rank %u", late->rank->last.rank);
	char p50[UNITS_ROOM], p99[UNITS_ROOM], costs[64];
	struct finding *finding;

	units_ns(p50, lateness_percentile(&late->rank->grown, 500000));
	units_ns(p99, lateness_percentile(&late->rank->grown, 990000));
	tell_cost(costs, late, facts->seconds);
	finding = find(findings, "late", SEVERITY_WARNING, subject);
	finding->rank = late->rank->last.rank;
	finding->weight = late->percent ? late->percent : PERCENT_LEAST;
	say(finding, "was late by %s at p99 (%s at p50)%s%s%s", p99, p50, costs,
	    flow, path);
	tell_seen(finding, late, facts->seconds);
	advise(finding, &causes);
	free(subject);
	free(path);
	free(flow);
}

void why_judge_late(const struct why_facts *facts, const struct why_seen *seen,
		    struct findings *findings)
{
	struct place *places = must(calloc(seen->count + 1, sizeof(*places)));
	size_t count = order(seen, places);
	size_t found = outstanding(places, count);

	for (size_t i = 0; i < found; i++) {
		struct late late = {
			.seen = seen, .rank = places[i].rank,
			.mean = places[i].mean, .next = places[found].mean,
		};

		late.percent = cost(facts, &late);
		if (matters(facts, &late))
			accuse(facts, &late, findings);
	}
	free(places);
}
