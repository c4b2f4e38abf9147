// SPDX-License-Identifier: GPL-2.0
/* peerlane why: who is accused, and who is not. */
#include "tap.h"

#include <stdlib.h>

#include "utils_why_make.h"

#include "../../utils/group_top.h"

/* ---- nobody -------------------------------------------------------------------- */

static void nobody_is_late(void)
{
	struct why_facts facts = group(4);

	judge(&facts);
	CHECK_INT(bad(), 0);
}

/* Ten times as late as the others, and not a hundredth of the time */
static void what_costs_nothing_is_no_matter(void)
{
	struct why_facts facts = group(4);

	arrive(3, 1000, 120000);
	judge(&facts);
	CHECK_INT(bad(), 0);
}

static void all_alike_are_not_late(void)
{
	struct why_facts facts = group(4);

	for (uint32_t i = 0; i < 4; i++)
		arrive(i, 1000, 10 * MS);
	judge(&facts);
	CHECK_INT(bad(), 0);
}

/* Three of four are late: then the fourth is early. */
static void most_are_not_late(void)
{
	struct why_facts facts = group(4);

	for (uint32_t i = 1; i < 4; i++)
		arrive(i, 1000, 10 * MS);
	judge(&facts);
	CHECK_INT(bad(), 0);
}

static void few_segments_say_nothing(void)
{
	struct why_facts facts = group(4);

	arrive(3, 7, 500 * MS);
	judge(&facts);
	CHECK_INT(bad(), 0);
}

static void one_rank_is_never_late(void)
{
	struct why_facts facts = group(1);

	arrive(0, 1000, 10 * MS);
	judge(&facts);
	CHECK_INT(bad(), 0);
}

/* ---- somebody ------------------------------------------------------------------- */

/* 1000 segments, 8 at a time, 4 ms: half a second of two */
static void the_late_one_is_named(void)
{
	struct why_facts facts = group(4);
	const struct finding *finding;

	arrive(3, 1000, 4 * MS);
	judge(&facts);
	finding = only("late", 3);
	CHECK_INT(finding->weight, 24);
	CHECK_HAS(finding->message, "was late by ");
	CHECK_HAS(finding->message, "cost about 24% of the time");
	CHECK_HAS(finding->message, "; no packets from it were observed");
	CHECK_HAS(finding->seen, "1000 segments in 2.0 s, 4ms after the first on average (the next latest 30us)");
	CHECK_HAS(finding->remedy, "peerlane flow observe local on");
}

static void of_two_as_well(void)
{
	struct why_facts facts = group(2);

	arrive(0, 1000, 4 * MS);
	judge(&facts);
	only("late", 0);
}

static void two_of_four_are_named(void)
{
	struct why_facts facts = group(4);

	arrive(1, 1000, 5 * MS);
	arrive(2, 1000, 4 * MS);
	judge(&facts);
	CHECK_INT(bad(), 2);
	CHECK(found("late", 1) && found("late", 2));
	CHECK_INT(findings.list[0].rank, 1);
}

/* An operation of one segment loses all of the lateness. */
static void small_operations_lose_more(void)
{
	struct why_facts facts = group(4);

	facts.locals = locals;
	facts.local_count = 1;
	locals[0].last.window = 8;
	locals[0].ops = 1000;
	arrive(3, 1000, MS / 2);
	judge(&facts);
	CHECK_INT(only("late", 3)->weight, 23);
}

static void without_an_interval(void)
{
	struct why_facts facts = group(4);
	const struct finding *finding;

	facts.seconds = 0;
	judge(&facts);
	CHECK_INT(bad(), 0);
	arrive(3, 1000, 4 * MS);
	judge(&facts);
	finding = only("late", 3);
	CHECK_HAS(finding->seen, "1000 segments so far");
	CHECK(!strstr(finding->message, "cost"));
}

static void only_what_grew_counts(void)
{
	struct peerlane_rank_status first = {
		.rank = 3, .is_there = true, .segments = 1000,
		.late_total = 4000 * MS, .late = { [22] = 1000 },
	}, last = first;
	struct why_facts facts = group(4);

	last.segments = 2000;
	last.late_total += 1000;
	last.late[0] = 1000;
	ranks[3] = why_rank_of(&first, &last);
	CHECK_INT(ranks[3].grown.late[22], 0);
	CHECK_INT(ranks[3].grown.late[0], 1000);
	judge(&facts);
	CHECK_INT(bad(), 0);
}

/* Whatever shrank: another one took the place, and nothing is less than 0. */
static void what_shrank_is_another(void)
{
	const struct peerlane_rank_status first = {
		.segments = 1000, .bytes = 1000, .late_total = 4000 * MS,
		.last = 10, .late = { [22] = 1000 },
	};
	struct peerlane_rank_status all[5];

	for (size_t i = 0; i < 5; i++) {
		all[i] = first;
		all[i].segments += 7;
	}
	CHECK_INT(why_rank_of(&first, &all[0]).grown.segments, 7);
	all[0].segments = 500;
	all[1].bytes--;
	all[2].late_total--;
	all[3].last--;
	all[4].late[22]--;
	for (size_t i = 0; i < 5; i++) {
		struct why_rank rank = why_rank_of(&first, &all[i]);

		CHECK_INT(rank.grown.segments, all[i].segments);
		CHECK_INT(rank.grown.bytes, all[i].bytes);
		CHECK_INT(rank.grown.late_total, all[i].late_total);
		CHECK_INT(rank.grown.last, all[i].last);
		CHECK_INT(rank.grown.late[22], all[i].late[22]);
	}
}

/* ---- group top ---------------------------------------------------------------------- */

static void figures_of_an_interval(void)
{
	struct rank_now before = {
		.is_seen = true, .aggregator = 5, .seen.segments = 1000,
		.seen.bytes = 1000, .seen.late_total = 4000 * MS,
	}, now = before;
	struct rank_figures figures;

	now.seen.segments += 100;
	now.seen.bytes += 300;
	now.seen.late_total += 100 * MS;
	now.seen.last = 25;
	figures = rank_figures_of(&now, &before, 1000 * MS);
	CHECK_INT(figures.wait, MS);
	CHECK_INT(figures.last, 25);
	CHECK_INT(figures.sent.per_second, 300);
	CHECK_INT(figures.ops.state, RATE_UNKNOWN);
}

/* Another aggregator of the group waited more this time. */
static void figures_are_of_one_aggregator(void)
{
	struct rank_now before = {
		.is_seen = true, .aggregator = 5, .seen.segments = 100,
		.seen.bytes = 100, .seen.late_total = 100 * MS,
	}, now = before;
	struct rank_figures figures;

	now.aggregator = 6;
	now.seen.segments = 200;
	now.seen.bytes = 500;
	now.seen.late_total = 400 * MS;
	figures = rank_figures_of(&now, &before, 1000 * MS);
	CHECK_INT(figures.wait, 2 * MS);
	CHECK_INT(figures.sent.state, RATE_UNKNOWN);
	figures = rank_figures_of(&now, NULL, 0);
	CHECK_INT(figures.wait, 2 * MS);
}

/* ---- who is not there, or stands still ------------------------------------------------- */

static void who_stands_still(void)
{
	struct why_facts facts = group(4);

	for (uint32_t i = 0; i < 4; i++)
		ranks[i].grown = (struct peerlane_rank_status){ .rank = i };
	ranks[2].last.segments = 992;
	judge(&facts);
	CHECK_INT(bad(), 0);	/* it came to that just now */
	ranks[2].was_behind = 8;
	judge(&facts);
	CHECK_HAS(only("stands-still", 2)->message, "sent nothing for 2.0 s");
	/* it moves, slowly */
	ranks[2].grown.segments = 1;
	judge(&facts);
	CHECK_INT(bad(), 0);
}

/* As an aggregator tells of one that it never heard of */
static void who_has_not_joined(void)
{
	struct why_facts facts = group(4);

	for (uint32_t i = 0; i < 4; i++)
		ranks[i].last.segments = ranks[i].grown.segments = 0;
	ranks[1].last = (struct peerlane_rank_status){ .rank = 1 };
	judge(&facts);
	CHECK_STR(only("joining", 1)->message, "has not joined yet");
	CHECK(!found("left", 1));
	CHECK_STR(why_presence(&ranks[0].last), "there");
	CHECK_STR(why_presence(&ranks[1].last), "joining");
}

/* Nobody's fault: had it died, the group had ended. */
static void who_left(void)
{
	struct why_facts facts = group(4);

	ranks[1].last.is_there = false;
	judge(&facts);
	CHECK_INT(bad(), 0);
	if (CHECK(found("left", 1))) {
		CHECK_INT(found("left", 1)->severity, SEVERITY_NOTE);
		CHECK_STR(found("left", 1)->message, "left, or is leaving");
		CHECK_HAS(found("left", 1)->seen, "it was at 10.0.0.2:4000");
	}
	CHECK_STR(why_presence(&ranks[1].last), "left");
	/* it sent nothing at all */
	ranks[1].last.segments = 0;
	CHECK_STR(why_presence(&ranks[1].last), "left");
}

/* ---- this node --------------------------------------------------------------------------- */

static void how_it_ended(void)
{
	struct why_facts facts = group(4);
	const struct finding *finding;

	facts.locals = locals;
	facts.local_count = 1;
	facts.seen_count = 0;
	locals[0].last.status = -110;
	locals[0].last.fault_cause = PEERLANE_ENDING_LATE;
	locals[0].last.fault_rank = 2;
	strcpy(locals[0].last.text, "rank 2 is late in operation 7");
	judge(&facts);
	finding = only("ended", 2);
	CHECK_HAS(finding->message, "rank 2 is late in operation 7");
	CHECK_STR(finding->subject, "rank 0");
	CHECK(found("lateness-seen", PEERLANE_NOBODY));
}

static void a_path_alone_is_a_note(void)
{
	struct why_facts facts = group(4);

	facts.locals = locals;
	facts.local_count = 1;
	strcpy(locals[0].path.path, "iommu");
	judge(&facts);
	CHECK_INT(bad(), 0);
	CHECK(found("pci-path", 0));
	strcpy(locals[0].path.path, "switch");
	judge(&facts);
	CHECK(!found("pci-path", 0));
}

static void what_is_not_known_is_said(void)
{
	struct why_facts facts = group(4);

	facts.points = 0;
	judge(&facts);
	if (CHECK(found("flows-seen", PEERLANE_NOBODY)))
		CHECK_HAS(found("flows-seen", PEERLANE_NOBODY)->remedy, "peerlane flow observe local on");
	facts.no_flows = (char []){ "no such family" };
	facts.seen_count = 0;
	facts.refused = 1;
	judge(&facts);
	if (CHECK(found("flows-seen", PEERLANE_NOBODY)))
		CHECK_STR(found("flows-seen", PEERLANE_NOBODY)->seen, "no such family");
	if (CHECK(found("lateness-seen", PEERLANE_NOBODY)))
		CHECK_HAS(found("lateness-seen", PEERLANE_NOBODY)->remedy, "root");
	CHECK_INT(bad(), 0);
}

/* As large as can be: nothing overflows, and nothing is read beyond its end. */
static void hostile(void)
{
	struct peerlane_flow_info info;
	struct why_facts facts = group(4);

	facts.locals = locals;
	facts.local_count = 1;
	memset(ranks, 0xff, sizeof(ranks));
	memset(&locals[0].last, 0xff, sizeof(locals[0].last));
	memset(&info, 0xff, sizeof(info));
	for (size_t i = 0; i < 4; i++) {
		ranks[i].last.is_there = i;
		ranks[i].grown.is_there = true;
		ranks[i].has_address = true;
		memset(ranks[i].last.peer, 'x', sizeof(ranks[i].last.peer));
	}
	info.congested = info.has_reverse = true;
	why_take_flow(&facts, &info, NULL);
	judge(&facts);
	CHECK(findings.count);
}

static const struct tap_case cases[] = {
	TAP_CASE(nobody_is_late), TAP_CASE(what_costs_nothing_is_no_matter),
	TAP_CASE(all_alike_are_not_late), TAP_CASE(most_are_not_late),
	TAP_CASE(few_segments_say_nothing), TAP_CASE(one_rank_is_never_late),
	TAP_CASE(the_late_one_is_named), TAP_CASE(of_two_as_well),
	TAP_CASE(two_of_four_are_named), TAP_CASE(small_operations_lose_more),
	TAP_CASE(without_an_interval), TAP_CASE(only_what_grew_counts),
	TAP_CASE(what_shrank_is_another), TAP_CASE(figures_of_an_interval),
	TAP_CASE(figures_are_of_one_aggregator),
	TAP_CASE(who_stands_still), TAP_CASE(who_has_not_joined),
	TAP_CASE(who_left),
	TAP_CASE(how_it_ended), TAP_CASE(a_path_alone_is_a_note),
	TAP_CASE(what_is_not_known_is_said), TAP_CASE(hostile),
};

int main(void)
{
	int status = TAP_RUN(cases);

	findings_free(&findings);
	return status;
}
