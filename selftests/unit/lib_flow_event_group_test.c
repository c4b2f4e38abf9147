// SPDX-License-Identifier: GPL-2.0
/* Events of groups: what they say, who may hear them, and their own numbers. */
#include "lib_fake_netlink.h"

static uint64_t newest;		/* event of a group that the kernel is at */
static uint64_t of_flows;	/* likewise of a flow */

static void stats(void)
{
	net_begin();
	net_message(0, PEERLANE_CMD_INFO_GET);
	net_put_u64(PEERLANE_A_INFO_EVENT_SEQUENCE, of_flows);
	net_put_u64(PEERLANE_A_INFO_GROUP_EVENT_SEQUENCE, newest);
	net_end();
	net_ack();
}

static void no_flows(void)
{
	net_begin();
	net_end();
	net_done(0);
}

static void group_message(uint64_t number, uint32_t kind, uint32_t cause)
{
	net_message(0, PEERLANE_CMD_EVENT_NTF);
	net_put_u32(PEERLANE_A_EVENT_KIND, kind);
	net_put_u64(PEERLANE_A_EVENT_SEQUENCE, number);
	net_put_u64(PEERLANE_A_EVENT_TIME, 99);
	net_nest(PEERLANE_A_EVENT_GROUP);
	net_put_u64(PEERLANE_A_GROUP_NUMBER, 77);
	net_put_u64(PEERLANE_A_GROUP_FILE, 3);
	net_put_u32(PEERLANE_A_GROUP_RANKS, 4);
	net_put_u32(PEERLANE_A_GROUP_RANK, 1);
	net_put_u32(PEERLANE_A_GROUP_CAUSE, cause);
	net_put_u32(PEERLANE_A_GROUP_ERROR, cause ? ETIMEDOUT : 0);
	net_put_u32(PEERLANE_A_GROUP_FAULT_RANK, 2);
	net_put_u32(PEERLANE_A_GROUP_AGGREGATOR, 6);
	net_put_u32(PEERLANE_A_GROUP_LANE, 7);
	net_put_u64(PEERLANE_A_GROUP_DELAY, 8);
	net_put_text(PEERLANE_A_GROUP_LABEL, "layer 3");
	net_put_text(PEERLANE_A_GROUP_REASON, "it is late");
	net_nest_end();
}

static void group_event(uint64_t number)
{
	net_events_begin();
	net_begin();
	group_message(number, PEERLANE_EVENT_GROUP_ENDED,
		      PEERLANE_ENDING_LATE);
	net_end();
	net_events_end();
}

static void flow_event(uint64_t number)
{
	static const uint8_t address[4] = { 10, 0, 0, 1 };

	net_events_begin();
	net_begin();
	net_message(0, PEERLANE_CMD_EVENT_NTF);
	net_put_u32(PEERLANE_A_EVENT_KIND, PEERLANE_EVENT_CONGESTION_ON);
	net_put_u64(PEERLANE_A_EVENT_SEQUENCE, number);
	net_nest(PEERLANE_A_EVENT_FLOW);
	net_put(PEERLANE_A_FLOW_SADDR, address, 4);
	net_put(PEERLANE_A_FLOW_DADDR, address, 4);
	net_nest_end();
	net_end();
	net_events_end();
}

static struct peerlane_events *open_groups(bool has_right)
{
	struct peerlane_events *events = NULL;

	net_reset();
	net.has_groups = true;
	net.no_right = !has_right;
	newest = 10;
	of_flows = 5;
	net_expect(PEERLANE_CMD_INFO_GET, stats);
	CHECK_INT(peerlane_event_open(false, &events), 0);
	CHECK(peerlane_event_has_groups(events) == has_right);
	return events;
}

static void finish(struct peerlane_events *events)
{
	struct peerlane_event got;

	CHECK_INT(peerlane_event_next(events, 0, &got), -EAGAIN);
	peerlane_event_close(events);
	net_finish();
}

static void expect(struct peerlane_events *events, uint32_t kind,
		   uint64_t sequence, struct peerlane_event *got)
{
	CHECK_INT(peerlane_event_next(events, 0, got), 0);
	CHECK_STR(peerlane_event_name(got->kind), peerlane_event_name(kind));
	CHECK_INT(got->sequence, sequence);
}

static void what_they_say(void)
{
	struct peerlane_events *events = open_groups(true);
	struct peerlane_event got;

	group_event(11);
	expect(events, PEERLANE_EVENT_GROUP_ENDED, 11, &got);
	CHECK_INT(got.time, 99);
	CHECK_INT(got.group.group, 77);
	CHECK_INT(got.group.id, 3);
	CHECK_INT(got.group.ranks, 4);
	CHECK_INT(got.group.rank, 1);
	CHECK_INT(got.group.cause, PEERLANE_ENDING_LATE);
	CHECK_INT(got.group.status, -ETIMEDOUT);
	CHECK_INT(got.group.fault_rank, 2);
	CHECK_INT(got.group.aggregator, 6);
	CHECK_INT(got.group.lane, 7);
	CHECK_INT(got.group.delay, 8);
	CHECK(!got.group.at_aggregator);
	CHECK_STR(got.group.label, "layer 3");
	CHECK_STR(got.group.reason, "it is late");
	CHECK_INT(got.flow.key.qpn, 0);
	finish(events);
}

/* Rank 0 is left out as any zero is; that does not accuse it. */
static void without_a_cause_nobody_is_to_blame(void)
{
	struct peerlane_events *events = open_groups(true);
	struct peerlane_event got;

	net_events_begin();
	net_begin();
	group_message(11, PEERLANE_EVENT_GROUP_ENDED, 0);
	net_end();
	net_events_end();
	expect(events, PEERLANE_EVENT_GROUP_ENDED, 11, &got);
	CHECK_INT(got.group.fault_rank, PEERLANE_NOBODY);
	CHECK_INT(got.group.status, 0);
	finish(events);
}

static void without_the_right_those_of_flows_come(void)
{
	struct peerlane_events *events = open_groups(false);
	struct peerlane_event got;

	flow_event(6);
	expect(events, PEERLANE_EVENT_CONGESTION_ON, 6, &got);
	CHECK_INT(got.group.group, 0);
	finish(events);
}

static void each_kind_has_its_numbers(void)
{
	struct peerlane_events *events = open_groups(true);
	struct peerlane_event got;

	group_event(11);
	flow_event(6);
	group_event(12);
	flow_event(7);
	expect(events, PEERLANE_EVENT_GROUP_ENDED, 11, &got);
	expect(events, PEERLANE_EVENT_CONGESTION_ON, 6, &got);
	expect(events, PEERLANE_EVENT_GROUP_ENDED, 12, &got);
	expect(events, PEERLANE_EVENT_CONGESTION_ON, 7, &got);
	finish(events);
}

static void expect_lost(struct peerlane_events *events, uint64_t count)
{
	struct peerlane_event got;

	net_expect(PEERLANE_CMD_FLOW_GET, no_flows);
	CHECK_INT(peerlane_event_next(events, 0, &got), 0);
	CHECK_INT(got.kind, PEERLANE_EVENT_LOST);
	CHECK_INT(got.lost, count);
}

static void a_gap_is_told(void)
{
	struct peerlane_events *events = open_groups(true);
	struct peerlane_event got;

	group_event(14);
	expect_lost(events, 3);
	expect(events, PEERLANE_EVENT_GROUP_ENDED, 14, &got);
	finish(events);
}

/* One kind has a gap; what is missing of the other is asked for. */
static void both_kinds_may_be_missing(void)
{
	struct peerlane_events *events = open_groups(true);
	struct peerlane_event got;

	net_events_begin();
	net_fail(ENOBUFS);
	net_events_end();
	flow_event(8);
	expect_lost(events, 2);
	expect(events, PEERLANE_EVENT_CONGESTION_ON, 8, &got);
	newest = 13;
	of_flows = 8;
	net_expect(PEERLANE_CMD_INFO_GET, stats);
	expect_lost(events, 3);
	finish(events);
}

static void an_old_module_sends_none(void)
{
	struct peerlane_events *events = NULL;

	net_reset();
	net_expect(PEERLANE_CMD_INFO_GET, stats);
	CHECK_INT(peerlane_event_open(false, &events), 0);
	CHECK(!peerlane_event_has_groups(events));
	peerlane_event_close(events);
	net_finish();
}

static const struct tap_case cases[] = {
	TAP_CASE(what_they_say),
	TAP_CASE(without_a_cause_nobody_is_to_blame),
	TAP_CASE(without_the_right_those_of_flows_come),
	TAP_CASE(each_kind_has_its_numbers),
	TAP_CASE(a_gap_is_told),
	TAP_CASE(both_kinds_may_be_missing),
	TAP_CASE(an_old_module_sends_none),
};

int main(void)
{
	return TAP_RUN(cases);
}
