// SPDX-License-Identifier: GPL-2.0
/* peerlane why: queue pairs that failed, or that are slower than the others. Pure. */
#include <stdlib.h>
#include <string.h>

#include "units.h"
#include "why.h"

#define WEIGHT_LEFT	50
/* How many times as slow as the next one stands out */
#define STANDS_OUT	2
/* Less is how queues are. */
#define NS_LEAST	1000000

static bool is_live(const struct why_lane *lane)
{
	return !strcmp(peerlane_lane_state_name(lane->last.state), "live");
}

/* What packets say of it; empty where none was seen. To be freed. */
static char *flow_clause(const struct why_lane *lane)
{
	char *words, *clause;

	if (!lane->flow.flows)
		return format_text("%s", "");
	words = why_flow_words(&lane->flow);
	clause = format_text("; its flow %s %s", *words ? "has" : "is",
			     *words ? words : "clean");
	free(words);
	return clause;
}

static struct finding *find_lane(const struct why_local *local, const char *id,
				 struct findings *findings)
{
	char *subject = format_text("rank %u", local->last.rank);
	struct finding *finding = find(findings, id, SEVERITY_WARNING, subject);

	finding->rank = local->last.rank;
	free(subject);
	return finding;
}

/* ---- that failed ---------------------------------------------------------------- */

static const char *reason_of(uint32_t cause)
{
	const char *name = peerlane_lane_cause_name(cause);

	if (!strcmp(name, "unanswered"))
		return "its packets were not answered, and the device gave up";
	if (!strcmp(name, "silent"))
		return "nothing on it was completed while others moved";
	if (!strcmp(name, "peer"))
		return "the aggregator's end left it";
	return "its cause is not known";
}

static void tell_left(const struct why_facts *facts,
		      const struct why_local *local, const struct why_lane *lane,
		      struct findings *findings)
{
	struct finding *finding = find_lane(local, "lane-left", findings);
	char *flow = flow_clause(lane);
	char ago[UNITS_ROOM];

	units_ns(ago, facts->now > lane->last.left_ns ?
		      facts->now - lane->last.left_ns : 0);
	finding->weight = WEIGHT_LEFT;
	say(finding, "lane %u to aggregator %u failed %s ago: %s%s",
	    lane->last.lane, lane->last.aggregator, ago,
	    reason_of(lane->last.cause), flow);
	seen(finding, "queue pair %u, state %s, cause %s, %ju messages went by others",
	     lane->last.qpn, peerlane_lane_state_name(lane->last.state),
	     peerlane_lane_cause_name(lane->last.cause),
	     (uintmax_t)lane->last.replayed);
	remedy(finding, "the way of that queue pair's UDP source port: drops at one switch or link of several; the lane is not made again before the group is");
	free(flow);
}

/* ---- that are slow --------------------------------------------------------------- */

/* The largest delay of the other lanes to that aggregator; 0: none is known */
static uint64_t next_delay(const struct why_local *local,
			   const struct why_lane *lane)
{
	uint64_t next = 0;

	for (size_t i = 0; i < local->lane_count; i++) {
		const struct why_lane *other = &local->lanes[i];

		if (other != lane && is_live(other) &&
		    other->last.aggregator == lane->last.aggregator &&
		    other->last.delay_ns > next)
			next = other->last.delay_ns;
	}
	return next;
}

/* Of the messages to that aggregator, in percent */
static uint64_t share_of(const struct why_local *local,
			 const struct why_lane *lane)
{
	double all = 0;

	for (size_t i = 0; i < local->lane_count; i++)
		if (local->lanes[i].last.aggregator == lane->last.aggregator)
			all += (double)local->lanes[i].messages;
	return all > 0 ? (uint64_t)(100 * (double)lane->messages / all) : 0;
}

static bool is_slow(const struct why_local *local, const struct why_lane *lane)
{
	uint64_t next = next_delay(local, lane);

	return is_live(lane) && next && lane->last.delay_ns >= NS_LEAST &&
	       lane->last.delay_ns / STANDS_OUT >= next;
}

static void tell_slow(const struct why_local *local, const struct why_lane *lane,
		      struct findings *findings)
{
	struct finding *finding = find_lane(local, "lane-slow", findings);
	char *flow = flow_clause(lane);
	char delay[UNITS_ROOM], next[UNITS_ROOM];
	uint64_t share = share_of(local, lane);

	units_ns(delay, lane->last.delay_ns);
	units_ns(next, next_delay(local, lane));
	finding->weight = 1;
	say(finding, "lane %u to aggregator %u takes %s, the slowest other %s; it gets %ju%% of the messages%s",
	    lane->last.lane, lane->last.aggregator, delay, next,
	    (uintmax_t)share, flow);
	seen(finding, "queue pair %u, %ju messages", lane->last.qpn,
	     (uintmax_t)lane->messages);
	remedy(finding, "what shares the way of that queue pair's UDP source port: peerlane flow top, then the switches; the other lanes do its work meanwhile");
	free(flow);
}

/* ---- both -------------------------------------------------------------------------- */

static void judge(const struct why_facts *facts, const struct why_local *local,
		  struct findings *findings)
{
	for (size_t i = 0; i < local->lane_count; i++) {
		const struct why_lane *lane = &local->lanes[i];

		if (lane->last.left_ns)
			tell_left(facts, local, lane, findings);
		else if (is_slow(local, lane))
			tell_slow(local, lane, findings);
	}
}

void why_judge_lanes(const struct why_facts *facts, struct findings *findings)
{
	for (size_t i = 0; i < facts->local_count; i++)
		judge(facts, &facts->locals[i], findings);
}

void why_take_lane_flow(struct why_local *local,
			const struct peerlane_flow_info *now,
			const struct peerlane_flow_info *before)
{
	for (size_t i = 0; i < local->lane_count; i++) {
		struct why_lane *lane = &local->lanes[i];

		/* Another node's queue pair may have the same number. */
		if (lane->last.peer_qpn && lane->last.peer_qpn == now->key.qpn &&
		    (!now->peer_qpn || now->peer_qpn == lane->last.qpn))
			why_flow_add(&lane->flow, now, before);
	}
}
