// SPDX-License-Identifier: GPL-2.0
/* Events: in order, lost in several ways, and the end of the module. */
#include "lib_fake_netlink.h"

static uint64_t newest;		/* event number that the kernel is at */
static uint32_t congested;	/* flows that are */

static void put_flow(uint32_t qpn)
{
	static const uint8_t address[4] = { 10, 0, 0, 1 };

	net_put(PEERLANE_A_FLOW_SADDR, address, 4);
	net_put(PEERLANE_A_FLOW_DADDR, address, 4);
	net_put_u32(PEERLANE_A_FLOW_QPN, qpn);
	net_put(PEERLANE_A_FLOW_CONGESTED, NULL, 0);
}

static void event_message(uint64_t number, uint32_t kind)
{
	net_message(0, PEERLANE_CMD_EVENT_NTF);
	net_put_u32(PEERLANE_A_EVENT_KIND, kind);
	net_put_u64(PEERLANE_A_EVENT_SEQUENCE, number);
	net_put_u64(PEERLANE_A_EVENT_TIME, 123456789012ULL);
	net_put_u32(PEERLANE_A_EVENT_SHARE, 20000);
	net_nest(PEERLANE_A_EVENT_FLOW);
	put_flow((uint32_t)number);
	net_nest_end();
}

static void event(uint64_t number)
{
	net_events_begin();
	net_begin();
	event_message(number, number & 1 ? 1 : 2);
	net_end();
	net_events_end();
}

static void stats(void)
{
	net_begin();
	net_message(0, PEERLANE_CMD_INFO_GET);
	net_put_u64(PEERLANE_A_INFO_EVENT_SEQUENCE, newest);
	net_end();
	net_ack();
}

static void congested_flows(void)
{
	uint32_t i;

	net_begin();
	for (i = 0; i < congested; i++) {
		net_message(NLM_F_MULTI, PEERLANE_CMD_FLOW_GET);
		put_flow(100 + i);
	}
	net_end();
	net_done(0);
}

static struct peerlane_events *open_at(uint64_t number, bool current)
{
	struct peerlane_events *events = NULL;

	net_reset();
	newest = number;
	congested = 0;
	net_expect(PEERLANE_CMD_INFO_GET, stats);
	CHECK_INT(peerlane_event_open(current, &events), 0);
	CHECK(peerlane_event_fd(events) >= 0);
	return events;
}

static void close_all(struct peerlane_events *events)
{
	peerlane_event_close(events);
	net_finish();
}

static void expect_event(struct peerlane_events *events, uint64_t number)
{
	struct peerlane_event got = { 0 };

	CHECK_INT(peerlane_event_next(events, 0, &got), 0);
	CHECK_INT(got.sequence, number);
	CHECK_INT(got.kind, number & 1 ? PEERLANE_EVENT_CONGESTION_ON :
					 PEERLANE_EVENT_CONGESTION_OFF);
	CHECK_INT(got.share, 20000);
	CHECK(got.time == 123456789012ULL);
	CHECK_INT(got.flow.key.qpn, number);
	CHECK(!got.resync && !got.lost);
}

static void expect_lost(struct peerlane_events *events, uint64_t count)
{
	struct peerlane_event got = { 0 };

	CHECK_INT(peerlane_event_next(events, 0, &got), 0);
	CHECK_INT(got.kind, PEERLANE_EVENT_LOST);
	CHECK_INT(got.lost, count);
	CHECK(!got.resync);
	CHECK(got.time > 0);
}

static void expect_congested(struct peerlane_events *events, uint32_t count)
{
	struct peerlane_event got = { 0 };
	uint32_t i;

	for (i = 0; i < count; i++) {
		CHECK_INT(peerlane_event_next(events, 0, &got), 0);
		CHECK_INT(got.kind, PEERLANE_EVENT_CONGESTION_ON);
		CHECK(got.resync);
		CHECK_INT(got.flow.key.qpn, 100 + i);
	}
}

static void expect_none(struct peerlane_events *events)
{
	struct peerlane_event got = { .share = 77 };

	CHECK_INT(peerlane_event_next(events, 0, &got), -EAGAIN);
	CHECK_INT(got.share, 77);
}

static void in_order(void)
{
	struct peerlane_events *events = open_at(5, false);

	expect_none(events);
	event(6);
	event(7);
	expect_event(events, 6);
	expect_event(events, 7);
	expect_none(events);
	CHECK_INT(net.polls, 0);
	close_all(events);
	peerlane_event_close(NULL);
}

/* Two in one datagram, and kinds and messages that nobody knows */
static void several(void)
{
	struct peerlane_events *events = open_at(0, false);
	struct peerlane_event got;

	net_events_begin();
	net_begin();
	event_message(1, 1);
	net_message(0, 77);
	event_message(2, 99);
	net_message_raw(NET_FAMILY, 0);
	net_message_raw(0x55, 0);
	net_end();
	net_events_end();
	expect_event(events, 1);
	CHECK_INT(peerlane_event_next(events, 0, &got), 0);
	CHECK_INT(got.kind, 99);
	CHECK_STR(peerlane_event_name(got.kind), "unknown");
	expect_none(events);
	close_all(events);
}

/* An event without a flow, one whose flow has no address */
static void odd(void)
{
	struct peerlane_events *events = open_at(0, false);
	struct peerlane_event got;

	net_events_begin();
	net_begin();
	net_message(0, PEERLANE_CMD_EVENT_NTF);
	net_put_u32(PEERLANE_A_EVENT_KIND, 50);
	net_put_u32(PEERLANE_A_EVENT_SEQUENCE, 1);
	net_message(0, PEERLANE_CMD_EVENT_NTF);
	net_put_u32(PEERLANE_A_EVENT_SEQUENCE, 2);
	net_nest(PEERLANE_A_EVENT_FLOW);
	net_nest_end();
	net_end();
	net_truncate(10000);
	net_events_end();
	CHECK_INT(peerlane_event_next(events, 0, &got), 0);
	CHECK_INT(got.kind, 50);
	CHECK_INT(got.flow.key.qpn, 0);
	expect_none(events);
	close_all(events);
}

static void already_congested(void)
{
	struct peerlane_events *events = open_at(9, true);

	congested = 3;
	net_expect(PEERLANE_CMD_FLOW_GET, congested_flows);
	event(10);
	expect_congested(events, 3);
	expect_event(events, 10);
	close_all(events);
}

/* Those that came while it was opened are in the list already. */
static void old_ones_are_left_out(void)
{
	struct peerlane_events *events = open_at(9, false);

	event(8);
	event(9);
	event(10);
	expect_event(events, 10);
	expect_none(events);
	close_all(events);
}

static void gap(void)
{
	struct peerlane_events *events = open_at(0, false);
	struct nlattr *tb[PEERLANE_A_FLOW_MAX + 1];
	struct nlattr *in[PEERLANE_A_FILTER_MAX + 1];

	congested = 2;
	event(1);
	event(5);
	event(6);
	expect_event(events, 1);
	expect_lost(events, 3);
	net_expect(PEERLANE_CMD_FLOW_GET, congested_flows);
	expect_congested(events, 2);
	net_sent(tb, PEERLANE_A_FLOW_MAX);
	nla_parse_nested(in, PEERLANE_A_FILTER_MAX, tb[PEERLANE_A_FLOW_FILTER],
			 NULL);
	CHECK(in[PEERLANE_A_FILTER_CONGESTED] != NULL);
	expect_event(events, 5);
	expect_event(events, 6);
	expect_none(events);
	close_all(events);
}

static void overrun(void)
{
	struct peerlane_events *events = open_at(0, false);

	congested = 1;
	net_events_begin();
	net_fail(ENOBUFS);
	net_events_end();
	event(1);
	event(2);
	newest = 12;
	/* What waited is still good. */
	expect_event(events, 1);
	expect_event(events, 2);
	net_expect(PEERLANE_CMD_INFO_GET, stats);
	expect_lost(events, 10);
	net_expect(PEERLANE_CMD_FLOW_GET, congested_flows);
	expect_congested(events, 1);
	event(12);
	event(13);
	expect_event(events, 13);
	expect_none(events);
	close_all(events);
}

/* The socket was overrun by something else: nothing is missing. */
static void overrun_of_nothing(void)
{
	struct peerlane_events *events = open_at(3, false);

	net_events_begin();
	net_fail(ENOBUFS);
	net_events_end();
	net_expect(PEERLANE_CMD_INFO_GET, stats);
	expect_none(events);
	expect_none(events);
	close_all(events);
}

/* The numbers tell it before the queue is empty. */
static void overrun_and_gap(void)
{
	struct peerlane_events *events = open_at(0, false);

	net_events_begin();
	net_fail(ENOBUFS);
	net_events_end();
	event(4);
	net_expect(PEERLANE_CMD_FLOW_GET, congested_flows);
	expect_lost(events, 3);
	expect_event(events, 4);
	expect_none(events);
	close_all(events);
}

static void too_large(void)
{
	struct peerlane_events *events = open_at(0, false);
	static char filler[20000];
	int i;

	for (i = 1; i <= 2; i++) {
		net_events_begin();
		net_begin();
		event_message((uint64_t)i, 1);
		net_put(200, filler, sizeof(filler));
		net_end();
		net_events_end();
	}
	/* The first is lost, but not the second. */
	net_expect(PEERLANE_CMD_FLOW_GET, congested_flows);
	expect_lost(events, 1);
	CHECK_INT(peerlane_event_next(events, 0,
				      &(struct peerlane_event){ 0 }), 0);
	expect_none(events);
	close_all(events);
}

static void no_memory(void) { net_error(ENOMEM, "no memory"); }

/* A loss is told once, its repair is tried until it succeeds. */
static void repair_fails(void)
{
	struct peerlane_events *events = open_at(0, false);
	struct peerlane_event got;

	congested = 2;
	event(3);
	expect_lost(events, 2);
	net_expect(PEERLANE_CMD_FLOW_GET, no_memory);
	CHECK_INT(peerlane_event_next(events, 0, &got), -ENOMEM);
	net_expect(PEERLANE_CMD_FLOW_GET, congested_flows);
	expect_congested(events, 2);
	expect_event(events, 3);
	close_all(events);
}

static void farewell(const char *name)
{
	net_events_begin();
	net_begin();
	net_message_raw(GENL_ID_CTRL, 0);
	net_put_head(CTRL_CMD_DELFAMILY);
	net_put_text(CTRL_ATTR_FAMILY_NAME, name);
	net_end();
	net_events_end();
}

static void module_goes(void)
{
	struct peerlane_events *events = open_at(0, false);
	struct peerlane_event got;

	event(1);
	farewell("other");
	farewell("peerlane");
	event(2);
	expect_event(events, 1);
	CHECK_INT(peerlane_event_next(events, -1, &got), -ENODEV);
	CHECK_HAS(peerlane_strerror(), "was unloaded");
	CHECK_INT(peerlane_event_next(events, -1, &got), -ENODEV);
	close_all(events);
	/* Nobody said so, but it is not there any more. */
	events = open_at(0, false);
	event(3);
	expect_lost(events, 2);
	net.absent = true;
	CHECK_INT(peerlane_event_next(events, 0, &got), -ENODEV);
	close_all(events);
	/* Another one has come, which counts from the beginning. */
	events = open_at(100, false);
	newest = 3;
	net_events_begin();
	net_fail(ENOBUFS);
	net_events_end();
	net_expect(PEERLANE_CMD_INFO_GET, stats);
	CHECK_INT(peerlane_event_next(events, 0, &got), -ENODEV);
	close_all(events);
}

static void waits(void)
{
	struct peerlane_events *events = open_at(0, false);
	struct peerlane_event got;

	CHECK_INT(peerlane_event_next(events, 50, &got), -EAGAIN);
	CHECK_INT(net.polls, 1);
	CHECK_HAS(peerlane_strerror(), "none came in time");
	net.poll_ret = -1;
	net.poll_errno = EINTR;
	CHECK_INT(peerlane_event_next(events, -1, &got), -EINTR);
	event(1);
	expect_event(events, 1);
	net_events_begin();
	net_fail(EINTR);
	net_fail(EBADF);
	net_events_end();
	CHECK_INT(peerlane_event_next(events, 0, &got), -EBADF);
	close_all(events);
}

static void no_events(void)
{
	struct peerlane_events *events = (void *)1;

	net_reset();
	net.no_group = true;
	CHECK_INT(peerlane_event_open(false, &events), -EOPNOTSUPP);
	net.no_group = false;
	net_expect(PEERLANE_CMD_INFO_GET, no_memory);
	CHECK_INT(peerlane_event_open(false, &events), -ENOMEM);
	fake.calloc_fail = 1;
	CHECK_INT(peerlane_event_open(false, &events), -ENOMEM);
	CHECK(events == (void *)1);
	net_finish();
}

static const struct tap_case cases[] = {
	TAP_CASE(in_order), TAP_CASE(several), TAP_CASE(odd),
	TAP_CASE(already_congested), TAP_CASE(old_ones_are_left_out),
	TAP_CASE(gap), TAP_CASE(overrun), TAP_CASE(overrun_of_nothing),
	TAP_CASE(overrun_and_gap), TAP_CASE(too_large), TAP_CASE(repair_fails),
	TAP_CASE(module_goes), TAP_CASE(waits), TAP_CASE(no_events),
};

int main(void)
{
	return TAP_RUN(cases);
}
