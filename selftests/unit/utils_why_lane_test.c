// SPDX-License-Identifier: GPL-2.0
/* peerlane why: lanes that failed, and lanes that are slow. */
#include "utils_why_make.h"

#include <string.h>

enum { LIVE = 1, LEFT = 3 };

static struct why_lane lanes[4];

/* Rank 0 is here, with four lanes to aggregator 2 that take as long. */
static struct why_facts with_lanes(void)
{
	struct why_facts facts = group(4);
	uint32_t i;

	memset(lanes, 0, sizeof(lanes));
	for (i = 0; i < 4; i++)
		lanes[i] = (struct why_lane){
			.last = { .aggregator = 2, .lane = i, .state = LIVE,
				  .qpn = 17 + i, .peer_qpn = 117 + i,
				  .delay_ns = 2 * MS },
			.messages = 250,
		};
	locals[0].last.state = 2;
	locals[0].lanes = lanes;
	locals[0].lane_count = 4;
	strcpy(locals[0].last.label, "rank 0 group 1");
	facts.locals = locals;
	facts.local_count = 1;
	facts.now = 50000 * MS;
	return facts;
}

static bool says(const char *id, const char *words)
{
	const struct finding *finding = found(id, 0);

	return finding && strstr(finding->message, words);
}

static void lanes_alike_are_no_finding(void)
{
	struct why_facts facts = with_lanes();

	judge(&facts);
	CHECK(!found("lane-left", 0) && !found("lane-slow", 0));
}

static void which_failed_when_and_why(void)
{
	struct why_facts facts = with_lanes();

	lanes[3].last.state = LEFT;
	lanes[3].last.left_ns = 46000 * MS;
	lanes[3].last.cause = 2;
	lanes[3].last.delay_ns = 900 * MS;
	judge(&facts);
	CHECK(says("lane-left", "lane 3 to aggregator 2 failed 4s ago"));
	CHECK(says("lane-left", "nothing on it was completed"));
	CHECK(found("lane-left", 0)->severity == SEVERITY_WARNING);
	/* Its delay is of the past. */
	CHECK(!found("lane-slow", 0));
}

static void which_is_slow_with_its_share(void)
{
	struct why_facts facts = with_lanes();

	lanes[1].last.delay_ns = 5 * MS;
	lanes[1].messages = 50;
	judge(&facts);
	CHECK(says("lane-slow", "lane 1 to aggregator 2 takes 5ms, the slowest other 2ms"));
	CHECK(says("lane-slow", "it gets 6% of the messages"));
	lanes[0].last.delay_ns = 3 * MS;
	judge(&facts);
	CHECK(!found("lane-slow", 0));
}

static void lanes_to_others_are_not_compared(void)
{
	struct why_facts facts = with_lanes();
	uint32_t i;

	lanes[1].last.delay_ns = 50 * MS;
	for (i = 0; i < 4; i++)
		lanes[i].last.aggregator = i;
	judge(&facts);
	CHECK(!found("lane-slow", 0));
}

static void less_than_a_millisecond_is_no_matter(void)
{
	struct why_facts facts = with_lanes();
	uint32_t i;

	for (i = 0; i < 4; i++)
		lanes[i].last.delay_ns = 10000;
	lanes[1].last.delay_ns = MS - 1;
	judge(&facts);
	CHECK(!found("lane-slow", 0));
}

static void take(struct why_facts *facts, uint32_t qpn, uint32_t peer_qpn)
{
	struct peerlane_flow_info flow = {
		.key.qpn = qpn, .peer_qpn = peer_qpn, .packets = 1000,
		.point = PEERLANE_AT_LOCAL_OUT, .ce = 20, .retransmitted = 7,
	};

	strcpy(flow.label, "rank 0 group 1");
	why_take_flow(facts, &flow, NULL);
}

static void the_flow_of_a_lane_is_told_with_it(void)
{
	struct why_facts facts = with_lanes();

	lanes[1].last.delay_ns = 5 * MS;
	take(&facts, 118, 18);
	/* Of another lane, and of another node with the same number */
	take(&facts, 117, 17);
	take(&facts, 118, 99);
	judge(&facts);
	CHECK(says("lane-slow", "its flow has 2.00% CE marks, 7 packets sent again"));
	CHECK_INT(lanes[1].flow.packets, 1000);
	CHECK_INT(lanes[0].flow.packets, 1000);
	CHECK_INT(lanes[2].flow.packets, 0);
}

static const struct tap_case cases[] = {
	TAP_CASE(lanes_alike_are_no_finding),
	TAP_CASE(which_failed_when_and_why),
	TAP_CASE(which_is_slow_with_its_share),
	TAP_CASE(lanes_to_others_are_not_compared),
	TAP_CASE(less_than_a_millisecond_is_no_matter),
	TAP_CASE(the_flow_of_a_lane_is_told_with_it),
};

int main(void)
{
	int status = TAP_RUN(cases);

	findings_free(&findings);
	return status;
}
