// SPDX-License-Identifier: GPL-2.0
/* peerlane why: whose flows these are, and whether they lose time. Pure. */
#include <stdlib.h>
#include <string.h>

#include "rate.h"
#include "units.h"
#include "why.h"

/* Of so many packets one that is marked, or sent again, costs time. */
#define MARKED_OF	100
#define AGAIN_OF	1000
/* What happens once in a while says nothing. */
#define EVENTS_LEAST	3

/* ---- whose they are -------------------------------------------------------- */

/* What is not known of the time before is counted from the beginning. */
static uint64_t grown(const struct peerlane_flow_info *now,
		      const struct peerlane_flow_info *before, uint32_t counter)
{
	uint64_t delta;

	if (before && peerlane_flow_since(now, before, counter, &delta))
		return delta;
	return peerlane_flow_counter(now, counter);
}

void why_flow_add(struct why_flow *sum, const struct peerlane_flow_info *now,
		  const struct peerlane_flow_info *before)
{
	uint64_t packets = grown(now, before, PEERLANE_COUNT_PACKETS);

	sum->flows += packets > 0;
	sum->packets += packets;
	sum->ce += grown(now, before, PEERLANE_COUNT_CE);
	sum->cnp += grown(now, before, PEERLANE_COUNT_REVERSE_CNP);
	sum->retransmitted += grown(now, before, PEERLANE_COUNT_RETRANSMITTED);
	sum->lost += grown(now, before, PEERLANE_COUNT_LOST);
	sum->rnr += grown(now, before, PEERLANE_COUNT_REVERSE_RNR);
	sum->timeouts += grown(now, before, PEERLANE_COUNT_TIMEOUTS);
}

static bool has_label(const struct peerlane_flow_info *flow, const char *label,
		      size_t room)
{
	size_t length = strnlen(label, room);

	return length && length == strnlen(flow->label, sizeof(flow->label)) &&
	       !memcmp(flow->label, label, length);
}

static bool take_local(struct why_facts *facts,
		       const struct peerlane_flow_info *now,
		       const struct peerlane_flow_info *before)
{
	bool taken = false;

	for (size_t i = 0; i < facts->local_count; i++) {
		struct why_local *local = &facts->locals[i];

		if (!has_label(now, local->last.label,
			       sizeof(local->last.label)))
			continue;
		why_flow_add(now->point == PEERLANE_AT_LOCAL_IN ?
			     &local->from : &local->to, now, before);
		if (now->point != PEERLANE_AT_LOCAL_IN)
			why_take_lane_flow(local, now, before);
		taken = true;
	}
	return taken;
}

/* The other end of an aggregator's flow is known by its address only. */
static void take_seen(struct why_seen *seen,
		      const struct peerlane_flow_info *now,
		      const struct peerlane_flow_info *before)
{
	for (size_t i = 0; i < seen->count; i++) {
		struct why_rank *rank = &seen->ranks[i];

		if (!rank->has_address)
			continue;
		if (!memcmp(now->key.saddr, rank->address, 16))
			why_flow_add(&rank->to, now, before);
		else if (!memcmp(now->key.daddr, rank->address, 16))
			why_flow_add(&rank->from, now, before);
	}
}

void why_take_flow(struct why_facts *facts,
		   const struct peerlane_flow_info *now,
		   const struct peerlane_flow_info *before)
{
	char label[PEERLANE_FLOW_LABEL];

	if (take_local(facts, now, before))
		return;
	for (size_t i = 0; i < facts->seen_count; i++) {
		/* As the module calls the flows of an aggregator */
		snprintf(label, sizeof(label), "aggregator %ju",
			 (uintmax_t)facts->seen[i].aggregator);
		if (has_label(now, label, sizeof(label)))
			take_seen(&facts->seen[i], now, before);
	}
}

uint32_t why_sharers(const struct why_seen *seen, const struct why_rank *rank)
{
	uint32_t count = 0;

	for (size_t i = 0; i < seen->count; i++)
		count += seen->ranks[i].has_address && rank->has_address &&
			 !memcmp(seen->ranks[i].address, rank->address, 16);
	return count ? count : 1;
}

uint32_t why_namesakes(const struct why_facts *facts,
		       const struct why_local *local)
{
	const char *label = local->last.label;
	uint32_t count = 0;

	for (size_t i = 0; i < facts->local_count; i++)
		count += *label && !strncmp(facts->locals[i].last.label, label,
					    sizeof(local->last.label));
	return count ? count : 1;
}

/* ---- what they say ----------------------------------------------------------- */

/* events * one_of >= packets, which might overflow */
static bool often(uint64_t events, uint64_t packets, uint64_t one_of)
{
	return events >= EVENTS_LEAST &&
	       events >= packets / one_of + !!(packets % one_of);
}

bool why_flow_bad(const struct why_flow *flow)
{
	if (!flow->packets)
		return false;
	return often(flow->ce, flow->packets, MARKED_OF) ||
	       often(flow->retransmitted, flow->packets, AGAIN_OF) ||
	       often(flow->rnr, flow->packets, AGAIN_OF);
}

static char *append(char *words, uint64_t count, const char *what)
{
	char *longer;

	if (!count)
		return words;
	longer = format_text("%s%s%ju %s", words, *words ? ", " : "",
			     (uintmax_t)count, what);
	free(words);
	return longer;
}

char *why_flow_words(const struct why_flow *flow)
{
	char share[UNITS_ROOM];
	char *words;

	units_percent(share, rate_share(flow->ce, flow->packets));
	words = flow->ce ? format_text("%s CE marks", share) :
			   format_text("%s", "");
	words = append(words, flow->cnp, "notifications of congestion");
	words = append(words, flow->retransmitted, "packets sent again");
	words = append(words, flow->lost, "lost");
	words = append(words, flow->timeouts, "timeouts");
	return append(words, flow->rnr, "answers of a receiver that was not ready");
}

/* ---- flows that lose time, whoever is late ------------------------------------- */

static uint32_t weight_of(const struct why_flow *flow)
{
	uint64_t events = flow->ce + flow->retransmitted + flow->rnr;
	uint64_t share = rate_share(events, flow->packets) / 100;

	return share > 100 ? 100 : share ? (uint32_t)share : 1;
}

static void tell(const struct why_flow *flow, uint32_t rank, const char *where,
		 const char *whose, struct findings *findings)
{
	struct finding *finding;
	char *subject, *words;

	if (!why_flow_bad(flow))
		return;
	subject = format_text("rank %u", rank);
	words = why_flow_words(flow);
	finding = find(findings, "flow", SEVERITY_WARNING, subject);
	finding->weight = weight_of(flow);
	finding->rank = rank;
	say(finding, "%s %s lose time: %s", whose, where, words);
	seen(finding, "%u flows, %ju packets", flow->flows,
	     (uintmax_t)flow->packets);
	if (flow->rnr > flow->ce + flow->retransmitted)
		remedy(finding, "the receiver is short of CPU: look at its load");
	else if (flow->ce >= flow->retransmitted)
		remedy(finding, "peerlane flow top: what else goes by the same way; then ECN thresholds and rates at the switches");
	else
		remedy(finding, "peerlane doctor: PFC, MTU and errors of the port; then drops at the switches");
	free(words);
	free(subject);
}

static void judge_local(const struct why_facts *facts,
			const struct why_local *local, struct findings *findings)
{
	const char *whose = why_namesakes(facts, local) > 1 ?
		"the flows of its label" : "its flows";

	tell(&local->to, local->last.rank, "to the aggregators", whose,
	     findings);
	tell(&local->from, local->last.rank, "from the aggregators", whose,
	     findings);
}

static void judge_seen(const struct why_facts *facts,
		       const struct why_seen *seen, struct findings *findings)
{
	for (size_t i = 0; i < seen->count; i++) {
		const struct why_rank *rank = &seen->ranks[i];
		const char *whose = why_sharers(seen, rank) > 1 ?
			"the flows of its node" : "its flows";

		/* Those of a rank of this node have its own label. */
		if (why_local_of(facts, rank->last.rank))
			continue;
		tell(&rank->to, rank->last.rank, "to the aggregator", whose,
		     findings);
		tell(&rank->from, rank->last.rank, "from the aggregator", whose,
		     findings);
	}
}

static bool any_flow(const struct why_facts *facts)
{
	uint32_t flows = 0;

	for (size_t i = 0; i < facts->local_count; i++)
		flows += facts->locals[i].to.flows + facts->locals[i].from.flows;
	for (size_t i = 0; i < facts->seen_count; i++)
		for (size_t k = 0; k < facts->seen[i].count; k++)
			flows += facts->seen[i].ranks[k].to.flows +
				 facts->seen[i].ranks[k].from.flows;
	return flows;
}

/* That nothing is known is no proof that all is well. */
static void judge_unknown(const struct why_facts *facts,
			  struct findings *findings)
{
	struct finding *finding;

	if (!facts->no_flows && any_flow(facts))
		return;
	finding = find(findings, "flows-seen", SEVERITY_UNKNOWN, "flows");
	say(finding, "whether flows of the group are congested");
	if (facts->no_flows) {
		seen(finding, "%s", facts->no_flows);
		return;
	}
	seen(finding, facts->points ? "no flow with a label of the group had a packet" :
	     "no packets are observed");
	remedy(finding, facts->points ?
	       "of NICs in hardware only a mirror port sees packets: peerlane flow observe dev NAME on; flows that were there before have a label soon" :
	       "peerlane flow observe local on, and ask again after some operations");
}

void why_judge_flows(const struct why_facts *facts, struct findings *findings)
{
	for (size_t i = 0; i < facts->local_count; i++)
		judge_local(facts, &facts->locals[i], findings);
	for (size_t i = 0; i < facts->seen_count; i++)
		judge_seen(facts, &facts->seen[i], findings);
	judge_unknown(facts, findings);
}
