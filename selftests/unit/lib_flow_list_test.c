// SPDX-License-Identifier: GPL-2.0
/* Many flows: filters, lists that change, dumps that go wrong. */
#include "lib_fake_netlink.h"

static uint32_t next_qpn;

static void flow(int flags, uint32_t qpn)
{
	static const uint8_t address[4] = { 10, 0, 0, 1 };

	net_message(NLM_F_MULTI | flags, PEERLANE_CMD_FLOW_GET);
	net_put(PEERLANE_A_FLOW_SADDR, address, 4);
	net_put(PEERLANE_A_FLOW_DADDR, address, 4);
	net_put_u32(PEERLANE_A_FLOW_QPN, qpn);
	net_put_u64(PEERLANE_A_FLOW_PACKETS, qpn * 1000ULL);
}

static void some(int flags, int datagrams, int each)
{
	int i, k;

	for (i = 0; i < datagrams; i++) {
		net_begin();
		for (k = 0; k < each; k++)
			flow(flags, next_qpn++);
		net_end();
	}
}

static void three(void)
{
	next_qpn = 1;
	some(0, 1, 2);
	some(0, 1, 1);
	net_done(0);
}

static void none(void) { net_done(0); }

static void many(void)
{
	next_qpn = 1;
	some(0, 50, 100);
	net_done(0);
}

static void interrupted(void)
{
	next_qpn = 1;
	some(0, 1, 1);
	some(NLM_F_DUMP_INTR, 1, 1);
	net_done(0);
}

static void list(void)
{
	struct peerlane_flow_info *flows;
	bool incomplete = true;
	size_t count;

	net_reset();
	net_expect(PEERLANE_CMD_FLOW_GET, three);
	CHECK_INT(peerlane_flow_list(NULL, &flows, &count, &incomplete), 0);
	CHECK_INT(count, 3);
	CHECK(!incomplete);
	CHECK_INT(flows[2].key.qpn, 3);
	CHECK_INT(flows[2].packets, 3000);
	CHECK_INT(net_sent_flags() & NLM_F_DUMP, NLM_F_DUMP);
	free(flows);
	net_expect(PEERLANE_CMD_FLOW_GET, none);
	CHECK_INT(peerlane_flow_list(NULL, &flows, &count, NULL), 0);
	CHECK(!flows && !count);
	net_expect(PEERLANE_CMD_FLOW_GET, many);
	CHECK_INT(peerlane_flow_list(NULL, &flows, &count, NULL), 0);
	CHECK_INT(count, 5000);
	CHECK_INT(flows[4999].key.qpn, 5000);
	free(flows);
	net_finish();
}

static void list_changes(void)
{
	struct peerlane_flow_info *flows;
	bool incomplete = true;
	size_t count;

	net_reset();
	net_expect_times(PEERLANE_CMD_FLOW_GET, interrupted, 4);
	net_expect(PEERLANE_CMD_FLOW_GET, three);
	CHECK_INT(peerlane_flow_list(NULL, &flows, &count, &incomplete), 0);
	CHECK_INT(count, 3);
	CHECK(!incomplete);
	free(flows);
	net_expect_times(PEERLANE_CMD_FLOW_GET, interrupted, 5);
	CHECK_INT(peerlane_flow_list(NULL, &flows, &count, &incomplete), 0);
	CHECK_INT(count, 2);
	CHECK(incomplete);
	CHECK_STR(peerlane_strerror(), "");
	free(flows);
	net_finish();
}

/* Only the end says it. */
static void interrupted_at_the_end(void)
{
	next_qpn = 1;
	some(0, 1, 1);
	net_begin();
	net_message_raw(NLMSG_DONE, NLM_F_MULTI | NLM_F_DUMP_INTR);
	net_end();
}

static int count_flow(const struct peerlane_flow_info *info,
		      const uint32_t *histogram, void *arg)
{
	(void)info;
	CHECK(!histogram);
	++*(int *)arg;
	return 0;
}

static void each(void)
{
	int count = 0;

	net_reset();
	net_expect(PEERLANE_CMD_FLOW_GET, three);
	CHECK_INT(peerlane_flow_each(NULL, 0, count_flow, &count), 0);
	CHECK_INT(count, 3);
	net_expect(PEERLANE_CMD_FLOW_GET, interrupted);
	CHECK_INT(peerlane_flow_each(NULL, 0, count_flow, &count), -EINTR);
	CHECK_INT(count, 5);
	CHECK_HAS(peerlane_strerror(), "changed meanwhile");
	net_expect(PEERLANE_CMD_FLOW_GET, interrupted_at_the_end);
	CHECK_INT(peerlane_flow_each(NULL, 0, count_flow, &count), -EINTR);
	CHECK_INT(count, 6);
	CHECK_INT(peerlane_flow_each(NULL, 2, count_flow, &count), -EINVAL);
	net_finish();
}

static int stop_at_two(const struct peerlane_flow_info *info,
		       const uint32_t *histogram, void *arg)
{
	(void)histogram;
	++*(int *)arg;
	return info->key.qpn == 2 ? 42 : 0;
}

static void each_stops(void)
{
	int count = 0;

	net_reset();
	net_expect(PEERLANE_CMD_FLOW_GET, many);
	CHECK_INT(peerlane_flow_each(NULL, 0, stop_at_two, &count), 42);
	CHECK_INT(count, 2);
	net_finish();
}

static void with_histogram(void)
{
	static uint32_t buckets[PEERLANE_RTT_HISTOGRAM] = { [3] = 2 };

	net_begin();
	flow(0, 1);
	net_nest(PEERLANE_A_FLOW_RTT);
	net_put_u64(PEERLANE_A_RTT_SAMPLES, 2);
	net_put(PEERLANE_A_RTT_HISTOGRAM, buckets, sizeof(buckets));
	net_nest_end();
	flow(0, 2);
	net_end();
	net_done(0);
}

static int see_histogram(const struct peerlane_flow_info *info,
			 const uint32_t *histogram, void *arg)
{
	(void)arg;
	if (info->key.qpn == 2)
		CHECK(!histogram);
	else
		CHECK(histogram && histogram[3] == 2 && !histogram[4]);
	return 0;
}

static void reset(void)
{
	struct nlattr *tb[PEERLANE_A_FLOW_MAX + 1];
	int count = 0;

	net_reset();
	net_expect(PEERLANE_CMD_FLOW_RESET, with_histogram);
	CHECK_INT(peerlane_flow_reset(NULL, PEERLANE_FLOW_HISTOGRAM,
				      see_histogram, NULL), 0);
	net_sent(tb, PEERLANE_A_FLOW_MAX);
	CHECK(tb[PEERLANE_A_FLOW_WITH_HISTOGRAM] != NULL);
	/* Not again: what was read is set to zero. */
	net_expect(PEERLANE_CMD_FLOW_RESET, interrupted);
	CHECK_INT(peerlane_flow_reset(NULL, 0, count_flow, &count), -EINTR);
	CHECK_INT(count, 2);
	net_expect(PEERLANE_CMD_FLOW_RESET, three);
	CHECK_INT(peerlane_flow_reset(NULL, 0, NULL, NULL), 0);
	net_finish();
}

/* ---- filters --------------------------------------------------------------- */

static void check_min(struct nlattr *nest)
{
	struct nlattr *each, *tb[PEERLANE_A_MIN_MAX + 1];
	int left, count = 0;

	nla_for_each_nested(each, nest, left) {
		if (nla_type(each) != PEERLANE_A_FILTER_MIN)
			continue;
		CHECK(each->nla_type & NLA_F_NESTED);
		nla_parse_nested(tb, PEERLANE_A_MIN_MAX, each, NULL);
		CHECK_INT(nla_get_u32(tb[PEERLANE_A_MIN_COUNTER]), count);
		CHECK_INT(nla_get_u64(tb[PEERLANE_A_MIN_VALUE]), count * 10);
		count++;
	}
	CHECK_INT(count, 8);
}

static void filters(void)
{
	struct peerlane_flow_filter filter = {
		.saddr = { [10] = 0xff, 0xff, 1, 2, 3, 4 },
		.daddr = { [0] = 0xfe, 0x80, [15] = 1 },
		.label = "job", .ifindex = 3, .point = PEERLANE_AT_DEVICE,
		.qpn = 5, .has_transport = true, .congested = true,
		.min_count = 8, .top = 10, .top_by = PEERLANE_COUNT_PACKETS,
	};
	struct nlattr *tb[PEERLANE_A_FLOW_MAX + 1];
	struct nlattr *in[PEERLANE_A_FILTER_MAX + 1];
	uint32_t i;

	for (i = 0; i < 8; i++)
		filter.min[i] = (struct peerlane_flow_min){ i, i * 10 };
	net_reset();
	net_expect(PEERLANE_CMD_FLOW_GET, none);
	CHECK_INT(peerlane_flow_each(&filter, 0, NULL, NULL), 0);
	net_sent(tb, PEERLANE_A_FLOW_MAX);
	CHECK(tb[PEERLANE_A_FLOW_FILTER]->nla_type & NLA_F_NESTED);
	nla_parse_nested(in, PEERLANE_A_FILTER_MAX, tb[PEERLANE_A_FLOW_FILTER],
			 NULL);
	CHECK(!in[PEERLANE_A_FILTER_ADDRESS]);
	CHECK_INT(nla_len(in[PEERLANE_A_FILTER_SADDR]), 4);
	CHECK_INT(nla_len(in[PEERLANE_A_FILTER_DADDR]), 16);
	CHECK_STR(nla_get_string(in[PEERLANE_A_FILTER_LABEL]), "job");
	CHECK_INT(nla_get_u32(in[PEERLANE_A_FILTER_IFINDEX]), 3);
	CHECK_INT(nla_get_u32(in[PEERLANE_A_FILTER_POINT]), 3);
	CHECK_INT(nla_get_u32(in[PEERLANE_A_FILTER_QPN]), 5);
	CHECK_INT(nla_get_u32(in[PEERLANE_A_FILTER_TRANSPORT]), 0);
	CHECK(in[PEERLANE_A_FILTER_CONGESTED] != NULL);
	CHECK_INT(nla_get_u32(in[PEERLANE_A_FILTER_TOP]), 10);
	CHECK_INT(nla_get_u32(in[PEERLANE_A_FILTER_TOP_BY]), 0);
	check_min(tb[PEERLANE_A_FLOW_FILTER]);
	net_finish();
}

static void refused(void) { net_error(ERANGE, "qpn is too large"); }

static void bad_filters(void)
{
	struct peerlane_flow_filter filter = { .min_count = 9 };
	struct peerlane_flow_info *flows = (void *)1;
	size_t count = 7;

	net_reset();
	CHECK_INT(peerlane_flow_list(&filter, &flows, &count, NULL), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "at most 8");
	filter.min_count = 0;
	memset(filter.label, 'x', sizeof(filter.label));
	CHECK_INT(peerlane_flow_list(&filter, &flows, &count, NULL), -EINVAL);
	filter.label[0] = '\0';
	filter.top = 2000;
	CHECK_INT(peerlane_flow_list(&filter, &flows, &count, NULL), -ERANGE);
	CHECK_HAS(peerlane_strerror(), "at most 1024");
	filter.top = 1;
	CHECK_INT(peerlane_flow_reset(&filter, 0, NULL, NULL), -EINVAL);
	filter.top_by = PEERLANE_COUNT_RTT_P99;
	CHECK_INT(peerlane_flow_list(&filter, &flows, &count, NULL), -ERANGE);
	CHECK_HAS(peerlane_strerror(), "not selected by rtt-p99");
	filter.top = 0;
	filter.min_count = 1;
	filter.min[0].counter = PEERLANE_COUNTERS;
	CHECK_INT(peerlane_flow_list(&filter, &flows, &count, NULL), -ERANGE);
	CHECK_HAS(peerlane_strerror(), "not selected by unknown");
	filter.min_count = 0;
	net_expect(PEERLANE_CMD_FLOW_GET, refused);
	CHECK_INT(peerlane_flow_list(&filter, &flows, &count, NULL), -ERANGE);
	CHECK_STR(peerlane_strerror(),
		  "list of flows: qpn is too large (ERANGE)");
	CHECK(flows == (void *)1 && count == 7);
	net_finish();
}

/* ---- what goes wrong -------------------------------------------------------- */

static void fails_at_the_end(void)
{
	next_qpn = 1;
	some(0, 1, 2);
	net_done(ENOMEM);
}

static void circle_of_one(void)
{
	int i;

	for (i = 0; i < 100; i++) {
		net_begin();
		flow(0, 1);
		net_end();
	}
}

static void circle_of_many(void)
{
	int i;

	next_qpn = 500;
	some(0, 1, 10);
	for (i = 0; i < 100; i++) {
		next_qpn = 1;
		some(0, 1, 7);
	}
}

static void without_addresses(void)
{
	net_begin();
	flow(0, 1);
	net_message(NLM_F_MULTI, PEERLANE_CMD_FLOW_GET);
	net_put_u32(PEERLANE_A_FLOW_QPN, 2);
	net_message(NLM_F_MULTI, PEERLANE_CMD_FLOW_GET);
	flow(0, 3);
	net_end();
	net_done(0);
}

static void goes_wrong(void)
{
	struct peerlane_flow_info *flows;
	bool incomplete;
	size_t count;
	int n = 0;

	net_reset();
	net_expect(PEERLANE_CMD_FLOW_GET, fails_at_the_end);
	CHECK_INT(peerlane_flow_list(NULL, &flows, &count, NULL), -ENOMEM);
	net_expect(PEERLANE_CMD_FLOW_GET, circle_of_one);
	CHECK_INT(peerlane_flow_list(NULL, &flows, &count, NULL), -EPROTO);
	CHECK_STR(peerlane_strerror(),
		  "list of flows: the kernel repeats itself (EPROTO)");
	net_expect(PEERLANE_CMD_FLOW_GET, circle_of_many);
	CHECK_INT(peerlane_flow_each(NULL, 0, count_flow, &n), -EPROTO);
	CHECK(n < 500);
	net_expect(PEERLANE_CMD_FLOW_GET, without_addresses);
	CHECK_INT(peerlane_flow_list(NULL, &flows, &count, &incomplete), 0);
	CHECK_INT(count, 2);
	CHECK(incomplete);
	free(flows);
	net_expect(PEERLANE_CMD_FLOW_GET, without_addresses);
	CHECK_INT(peerlane_flow_each(NULL, 0, NULL, NULL), -EINTR);
	CHECK_HAS(peerlane_strerror(), "2 could not be read");
	net_finish();
}

/* A message that promises more than arrived, or nothing at all after it */
static void cut_off(void)
{
	next_qpn = 1;
	some(0, 1, 3);
	net_truncate(100);
	net_done(0);
}

static void silence(void)
{
	next_qpn = 1;
	some(0, 1, 3);
}

static void socket_is_overrun(void)
{
	next_qpn = 1;
	some(0, 1, 1);
	net_fail(ENOBUFS);
	net_done(0);
}

static void arrives_badly(void)
{
	struct peerlane_flow_info *flows = NULL;
	size_t count;
	int ret;

	net_reset();
	net_expect(PEERLANE_CMD_FLOW_GET, cut_off);
	ret = peerlane_flow_list(NULL, &flows, &count, NULL);
	CHECK(ret < 0 || count == 1);
	free(ret < 0 ? NULL : flows);
	net_expect(PEERLANE_CMD_FLOW_GET, silence);
	CHECK_INT(peerlane_flow_list(NULL, &flows, &count, NULL), -EAGAIN);
	net_expect(PEERLANE_CMD_FLOW_GET, socket_is_overrun);
	CHECK(peerlane_flow_list(NULL, &flows, &count, NULL) < 0);
	net_finish();
}

static const struct tap_case cases[] = {
	TAP_CASE(list), TAP_CASE(list_changes), TAP_CASE(each),
	TAP_CASE(each_stops), TAP_CASE(reset), TAP_CASE(filters),
	TAP_CASE(bad_filters), TAP_CASE(goes_wrong), TAP_CASE(arrives_badly),
};

int main(void)
{
	return TAP_RUN(cases);
}
