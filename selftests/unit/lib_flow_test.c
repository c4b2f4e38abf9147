// SPDX-License-Identifier: GPL-2.0
/* One flow and requests: what is sent, what odd answers become. */
#include "lib_fake_netlink.h"

static const struct peerlane_flow_key key = {
	.saddr = { [10] = 0xff, 0xff, 192, 0, 2, 1 },
	.daddr = { 0x20, 1, 0xd, 0xb8, [15] = 1 },
	.transport = PEERLANE_FLOW_UD,
	.qpn = 0x1234,
};

static const uint8_t four[4] = { 192, 0, 2, 1 };

static void put_key(void)
{
	net_put(PEERLANE_A_FLOW_SADDR, four, 4);
	net_put(PEERLANE_A_FLOW_DADDR, key.daddr, 16);
}

static void answer(void (*fill)(void))
{
	net_begin();
	net_message(0, PEERLANE_CMD_FLOW_GET);
	fill();
	net_end();
	net_ack();
}

static void fill_everything(void)
{
	static uint32_t histogram[PEERLANE_RTT_HISTOGRAM] = { [7] = 5 };
	int i;

	put_key();
	net_put_u32(PEERLANE_A_FLOW_TRANSPORT, 3);
	net_put_u32(PEERLANE_A_FLOW_QPN, 0x1234);
	net_put_u32(PEERLANE_A_FLOW_PEER_QPN, 0x77);
	net_put_u32(PEERLANE_A_FLOW_PAIRING, 2);
	net_put_text(PEERLANE_A_FLOW_LABEL, "rank 3");
	net_put_u16(PEERLANE_A_FLOW_SPORT, 0xc001);
	net_put_u8(PEERLANE_A_FLOW_DSCP, 26);
	net_put_u32(PEERLANE_A_FLOW_POINT, 3);
	net_put_u32(PEERLANE_A_FLOW_IFINDEX, 1);
	net_put_u32(PEERLANE_A_FLOW_PMTU, 4096);
	net_put(PEERLANE_A_FLOW_CONGESTED, NULL, 0);
	for (i = PEERLANE_A_FLOW_AGE; i <= PEERLANE_A_FLOW_RATE_PACKETS; i++)
		net_put_u64(i, (uint64_t)i << 40);
	net_nest(PEERLANE_A_FLOW_RTT);
	for (i = PEERLANE_A_RTT_SAMPLES; i < PEERLANE_A_RTT_HISTOGRAM; i++)
		net_put_u64(i, (uint64_t)i);
	net_put(PEERLANE_A_RTT_HISTOGRAM, histogram, sizeof(histogram));
	net_nest_end();
	net_nest(PEERLANE_A_FLOW_REVERSE);
	for (i = PEERLANE_A_REVERSE_PACKETS; i <= PEERLANE_A_REVERSE_RNR; i++)
		net_put_u64(i, (uint64_t)i * 10);
	net_nest_end();
}

static void everything(void) { answer(fill_everything); }

/* A counter's number in the table, from its attribute */
static void check_counter(uint64_t value, int attr)
{
	CHECK_INT(value >> 40, attr);
}

static void get(void)
{
	uint32_t histogram[PEERLANE_RTT_HISTOGRAM];
	struct nlattr *tb[PEERLANE_A_FLOW_MAX + 1];
	struct peerlane_flow_info info;

	net_reset();
	net_expect(PEERLANE_CMD_FLOW_GET, everything);
	CHECK_INT(peerlane_flow_get(&key, &info, histogram), 0);
	CHECK(!memcmp(&info.key, &key, sizeof(key)));
	CHECK_INT(info.peer_qpn, 0x77);
	CHECK_INT(info.pairing, PEERLANE_PAIRED_CM);
	CHECK_STR(info.label, "rank 3");
	CHECK_INT(info.sport, 0xc001);
	CHECK_INT(info.dscp, 26);
	CHECK_INT(info.point, PEERLANE_AT_DEVICE);
	CHECK_INT(info.ifindex, 1);
	CHECK_INT(info.pmtu, 4096);
	CHECK(info.congested && info.has_reverse);
	check_counter(info.age, PEERLANE_A_FLOW_AGE);
	check_counter(info.idle, PEERLANE_A_FLOW_IDLE);
	check_counter(info.packets, PEERLANE_A_FLOW_PACKETS);
	check_counter(info.becn, PEERLANE_A_FLOW_BECN);
	check_counter(info.missing, PEERLANE_A_FLOW_MISSING);
	check_counter(info.timeouts, PEERLANE_A_FLOW_TIMEOUTS);
	check_counter(info.rate_packets, PEERLANE_A_FLOW_RATE_PACKETS);
	CHECK_INT(info.rtt.samples, PEERLANE_A_RTT_SAMPLES);
	CHECK_INT(info.rtt.min, PEERLANE_A_RTT_SHORTEST);
	CHECK_INT(info.rtt.max, PEERLANE_A_RTT_LONGEST);
	CHECK_INT(info.reverse.packets, 10 * PEERLANE_A_REVERSE_PACKETS);
	CHECK_INT(info.reverse.rnr, 10 * PEERLANE_A_REVERSE_RNR);
	CHECK_INT(histogram[7], 5);
	CHECK_INT(histogram[8], 0);
	CHECK_STR(peerlane_strerror(), "");
	net_sent(tb, PEERLANE_A_FLOW_MAX);
	CHECK_INT(nla_len(tb[PEERLANE_A_FLOW_SADDR]), 4);
	CHECK_INT(nla_len(tb[PEERLANE_A_FLOW_DADDR]), 16);
	CHECK_INT(nla_get_u32(tb[PEERLANE_A_FLOW_TRANSPORT]), 3);
	CHECK_INT(nla_get_u32(tb[PEERLANE_A_FLOW_QPN]), 0x1234);
	CHECK(tb[PEERLANE_A_FLOW_WITH_HISTOGRAM] != NULL);
	CHECK(!tb[PEERLANE_A_FLOW_FILTER]);
	CHECK(!(net_sent_flags() & NLM_F_DUMP));
	net_finish();
}

static void only_key(void) { answer(put_key); }

static void get_little(void)
{
	uint32_t histogram[PEERLANE_RTT_HISTOGRAM];
	struct peerlane_flow_info info, zero = { 0 };

	net_reset();
	net_expect(PEERLANE_CMD_FLOW_GET, only_key);
	memset(&info, 0xee, sizeof(info));
	memset(histogram, 0xee, sizeof(histogram));
	CHECK_INT(peerlane_flow_get(&key, &info, histogram), 0);
	CHECK(!memcmp(info.key.saddr, key.saddr, 16));
	memset(&info.key, 0, sizeof(info.key));
	CHECK(!memcmp(&info, &zero, sizeof(info)));
	CHECK_INT(histogram[0], 0);
	CHECK_INT(histogram[PEERLANE_RTT_HISTOGRAM - 1], 0);
	net_finish();
}

/* Lengths that nobody expects, and attributes of tomorrow */
static void fill_odd(void)
{
	char label[40];

	memset(label, 'x', sizeof(label));
	put_key();
	net_put(PEERLANE_A_FLOW_LABEL, label, sizeof(label));
	net_put_u64(PEERLANE_A_FLOW_PEER_QPN, UINT64_MAX);
	net_put_u32(PEERLANE_A_FLOW_SPORT, 0x12345);
	net_put_u64(PEERLANE_A_FLOW_DSCP, 256);
	net_put_u32(PEERLANE_A_FLOW_PACKETS, 9);
	net_put_u64(PEERLANE_A_FLOW_BYTES, UINT64_MAX);
	net_put(PEERLANE_A_FLOW_LOST, "abc", 3);
	net_put(PEERLANE_A_FLOW_GAPS, NULL, 0);
	net_put_u32(PEERLANE_A_FLOW_MAX + 1, 1);
	net_put_u32(0x3000, 1);
	net_nest(PEERLANE_A_FLOW_RTT);
	net_put_u64(PEERLANE_A_RTT_SAMPLES, 1);
	net_put(PEERLANE_A_RTT_HISTOGRAM, "\1\0\0\0\2\0", 6);
	net_nest_end();
	net_put(PEERLANE_A_FLOW_REVERSE, "\xff\xff", 2);
}

static void odd(void) { answer(fill_odd); }

static void get_odd(void)
{
	uint32_t histogram[PEERLANE_RTT_HISTOGRAM];
	struct peerlane_flow_info info;

	net_reset();
	net_expect(PEERLANE_CMD_FLOW_GET, odd);
	CHECK_INT(peerlane_flow_get(&key, &info, histogram), 0);
	CHECK_INT(strlen(info.label), 31);
	CHECK_INT(info.peer_qpn, UINT32_MAX);
	CHECK_INT(info.sport, 0xffff);
	CHECK_INT(info.dscp, 0xff);
	CHECK_INT(info.packets, 9);
	CHECK(info.bytes == UINT64_MAX);
	CHECK_INT(info.lost, 0);
	CHECK_INT(info.gaps, 0);
	CHECK_INT(histogram[0], 1);
	CHECK_INT(histogram[1], 0);
	net_finish();
}

static void short_address(void)
{
	net_begin();
	net_message(0, PEERLANE_CMD_FLOW_GET);
	net_put(PEERLANE_A_FLOW_SADDR, four, 3);
	net_put(PEERLANE_A_FLOW_DADDR, four, 4);
	net_end();
	net_ack();
}

/* The message ends in the middle of an address. */
static void cut_address(void)
{
	net_begin();
	net_message(0, PEERLANE_CMD_FLOW_GET);
	net_put(PEERLANE_A_FLOW_SADDR, four, 4);
	net_put_longer(PEERLANE_A_FLOW_DADDR, four, 4, 16);
	net_end();
	net_ack();
}

static void nothing(void) { net_ack(); }

static void get_unreadable(void)
{
	struct peerlane_flow_info info = { .age = 5 };

	net_reset();
	net_expect(PEERLANE_CMD_FLOW_GET, short_address);
	CHECK_INT(peerlane_flow_get(&key, &info, NULL), -EPROTO);
	net_expect(PEERLANE_CMD_FLOW_GET, cut_address);
	CHECK_INT(peerlane_flow_get(&key, &info, NULL), -EPROTO);
	net_expect(PEERLANE_CMD_FLOW_GET, nothing);
	CHECK_INT(peerlane_flow_get(&key, &info, NULL), -EPROTO);
	CHECK_STR(peerlane_strerror(), "flow: an empty answer (EPROTO)");
	CHECK_INT(info.age, 5);
	net_finish();
}

static void no_such(void) { net_error(ENOENT, "no such flow"); }
static void no_such_silent(void) { net_error(ENOENT, NULL); }
static void not_allowed(void) { net_error(EPERM, NULL); }
static void no_label(void) { net_error(ENOSPC, "no room for more labels"); }

static void get_refused(void)
{
	struct peerlane_flow_info info;

	net_reset();
	net_expect(PEERLANE_CMD_FLOW_GET, no_such);
	CHECK_INT(peerlane_flow_get(&key, &info, NULL), -ESRCH);
	CHECK_HAS(peerlane_strerror(), "flow: no such flow (");
	CHECK(!strstr(peerlane_strerror(), "ENOENT"));
	net_expect(PEERLANE_CMD_FLOW_GET, no_such_silent);
	CHECK_INT(peerlane_flow_get(&key, &info, NULL), -ESRCH);
	net_expect(PEERLANE_CMD_FLOW_SET, not_allowed);
	CHECK_INT(peerlane_flow_pair(&key, 1), -EPERM);
	CHECK_STR(peerlane_strerror(), "pair: Operation not permitted (EPERM)");
	net_expect(PEERLANE_CMD_FLOW_SET, no_label);
	CHECK_INT(peerlane_flow_label(&key, "a"), -ENOSPC);
	CHECK_STR(peerlane_strerror(), "label: no room for more labels (ENOSPC)");
	net_finish();
}

static void not_loaded(void)
{
	static const struct peerlane_flow_limits limits = { 1, 1, 1, 1 };
	struct peerlane_flow_stats stats;
	struct peerlane_events *events;
	struct peerlane_flow_point *points;
	struct peerlane_flow_info info;
	size_t count;

	net_reset();
	net.absent = true;
	CHECK_INT(peerlane_flow_get(&key, &info, NULL), -ENOENT);
	CHECK_STR(peerlane_strerror(),
		  "flow statistics: the module is not loaded (ENOENT)");
	CHECK_INT(peerlane_flow_label(&key, ""), -ENOENT);
	CHECK_INT(peerlane_flow_pair(&key, 0), -ENOENT);
	CHECK_INT(peerlane_flow_stats(&stats), -ENOENT);
	CHECK_INT(peerlane_flow_limits_set(&limits), -ENOENT);
	CHECK_INT(peerlane_flow_observe(NULL, true), -ENOENT);
	CHECK_INT(peerlane_flow_points(&points, &count), -ENOENT);
	CHECK_INT(peerlane_flow_each(NULL, 0, NULL, NULL), -ENOENT);
	CHECK_INT(peerlane_event_open(false, &events), -ENOENT);
	CHECK_INT(peerlane_flow_pair_local(NULL), -ENOENT);
	net.socket_errno = EPROTONOSUPPORT;
	CHECK(peerlane_flow_stats(&stats) < 0);
	net_finish();
}

static void changed_three(void)
{
	net_begin();
	net_message(0, PEERLANE_CMD_FLOW_SET);
	net_put_u32(PEERLANE_A_FLOW_COUNT, 3);
	net_end();
	net_ack();
}

static void labels(void)
{
	struct peerlane_flow_filter filter = { .congested = true };
	struct nlattr *tb[PEERLANE_A_FLOW_MAX + 1];
	uint32_t count = 9;

	net_reset();
	net_expect(PEERLANE_CMD_FLOW_SET, changed_three);
	CHECK_INT(peerlane_flow_label(&key, "job 7"), 0);
	net_sent(tb, PEERLANE_A_FLOW_MAX);
	CHECK_STR(nla_get_string(tb[PEERLANE_A_FLOW_LABEL]), "job 7");
	CHECK(tb[PEERLANE_A_FLOW_SADDR] && !tb[PEERLANE_A_FLOW_FILTER]);
	net_expect(PEERLANE_CMD_FLOW_SET, changed_three);
	CHECK_INT(peerlane_flow_label_all(&filter, "", &count), 0);
	CHECK_INT(count, 3);
	net_sent(tb, PEERLANE_A_FLOW_MAX);
	CHECK_STR(nla_get_string(tb[PEERLANE_A_FLOW_LABEL]), "");
	CHECK(!tb[PEERLANE_A_FLOW_SADDR] && tb[PEERLANE_A_FLOW_FILTER]);
	/* All flows are named as such, not by leaving something out. */
	net_expect(PEERLANE_CMD_FLOW_SET, nothing);
	CHECK_INT(peerlane_flow_label_all(NULL, "x", &count), 0);
	CHECK_INT(count, 0);
	net_sent(tb, PEERLANE_A_FLOW_MAX);
	CHECK(tb[PEERLANE_A_FLOW_FILTER] != NULL);
	CHECK_INT(nla_len(tb[PEERLANE_A_FLOW_FILTER]), 0);
	CHECK_INT(peerlane_flow_label(&key, "12345678901234567890123456789012"),
		  -EINVAL);
	CHECK_HAS(peerlane_strerror(), "31 bytes");
	net_finish();
}

static void pairs(void)
{
	struct nlattr *tb[PEERLANE_A_FLOW_MAX + 1];

	net_reset();
	net_expect(PEERLANE_CMD_FLOW_SET, nothing);
	CHECK_INT(peerlane_flow_pair(&key, 0), 0);
	net_sent(tb, PEERLANE_A_FLOW_MAX);
	CHECK_INT(nla_get_u32(tb[PEERLANE_A_FLOW_PEER_QPN]), 0);
	CHECK_INT(nla_get_u32(tb[PEERLANE_A_FLOW_QPN]), 0x1234);
	CHECK(!tb[PEERLANE_A_FLOW_LABEL]);
	net_finish();
}

static void numbers(void)
{
	int i;

	net_begin();
	net_message(0, PEERLANE_CMD_INFO_GET);
	for (i = PEERLANE_A_INFO_FLOWS; i <= PEERLANE_A_INFO_CALM_WINDOWS; i++)
		net_put_u32(i, (uint32_t)i);
	for (; i <= PEERLANE_A_INFO_GROUP_EVENT_SEQUENCE; i++)
		net_put_u64(i, (uint64_t)i << 32);
	net_end();
	net_ack();
}

static void stats(void)
{
	struct peerlane_flow_stats stats;

	net_reset();
	net_expect(PEERLANE_CMD_INFO_GET, numbers);
	CHECK_INT(peerlane_flow_stats(&stats), 0);
	CHECK_INT(stats.flows, PEERLANE_A_INFO_FLOWS);
	CHECK_INT(stats.buckets, PEERLANE_A_INFO_BUCKETS);
	CHECK_INT(stats.calm_windows, PEERLANE_A_INFO_CALM_WINDOWS);
	CHECK_INT(stats.created >> 32, PEERLANE_A_INFO_CREATED);
	CHECK_INT(stats.elsewhere >> 32, PEERLANE_A_INFO_ELSEWHERE);
	CHECK_INT(stats.event_sequence >> 32, PEERLANE_A_INFO_EVENT_SEQUENCE);
	CHECK_INT(stats.group_events >> 32,
		  PEERLANE_A_INFO_GROUP_EVENT_SEQUENCE);
	net_finish();
}

static void out_of_range(void)
{
	net_error(ERANGE, "threshold-off is above threshold-on");
}

static void limits(void)
{
	struct peerlane_flow_limits limits = { .threshold_off = 5 };
	struct nlattr *tb[PEERLANE_A_LIMIT_MAX + 1];

	net_reset();
	net_expect(PEERLANE_CMD_LIMIT_SET, nothing);
	CHECK_INT(peerlane_flow_limits_set(&limits), 0);
	net_sent(tb, PEERLANE_A_LIMIT_MAX);
	CHECK(!tb[PEERLANE_A_LIMIT_THRESHOLD_ON]);
	CHECK_INT(nla_get_u32(tb[PEERLANE_A_LIMIT_THRESHOLD_OFF]), 5);
	net_expect(PEERLANE_CMD_LIMIT_SET, out_of_range);
	CHECK_INT(peerlane_flow_limits_set(&limits), -ERANGE);
	CHECK_HAS(peerlane_strerror(), ": threshold-off is above threshold-on");
	net_finish();
}

static void observed(void) { net_error(EEXIST, "lo is observed already"); }

static void observe(void)
{
	struct nlattr *tb[PEERLANE_A_OBSERVE_MAX + 1];

	net_reset();
	net_expect(PEERLANE_CMD_OBSERVE_SET, nothing);
	CHECK_INT(peerlane_flow_observe("lo", true), 0);
	net_sent(tb, PEERLANE_A_OBSERVE_MAX);
	CHECK_INT(nla_get_u32(tb[PEERLANE_A_OBSERVE_POINT]),
		  PEERLANE_POINT_DEVICE);
	CHECK_INT(nla_get_u8(tb[PEERLANE_A_OBSERVE_ENABLE]), 1);
	CHECK(nla_get_u32(tb[PEERLANE_A_OBSERVE_IFINDEX]) > 0);
	net_expect(PEERLANE_CMD_OBSERVE_SET, nothing);
	CHECK_INT(peerlane_flow_observe(NULL, false), 0);
	net_sent(tb, PEERLANE_A_OBSERVE_MAX);
	CHECK_INT(nla_get_u8(tb[PEERLANE_A_OBSERVE_ENABLE]), 0);
	CHECK(!tb[PEERLANE_A_OBSERVE_IFINDEX]);
	net_expect(PEERLANE_CMD_OBSERVE_SET, observed);
	CHECK_INT(peerlane_flow_observe("lo", true), -EEXIST);
	CHECK_STR(peerlane_strerror(), "lo: lo is observed already (EEXIST)");
	CHECK_INT(peerlane_flow_observe("no-such", true), -ENODEV);
	net_finish();
}

static void two_points(void)
{
	net_begin();
	net_message(NLM_F_MULTI, PEERLANE_CMD_OBSERVE_GET);
	net_put_u32(PEERLANE_A_OBSERVE_POINT, PEERLANE_POINT_LOCAL_OUT);
	net_message(NLM_F_MULTI, PEERLANE_CMD_OBSERVE_GET);
	net_put_u32(PEERLANE_A_OBSERVE_POINT, PEERLANE_POINT_DEVICE);
	net_put_u32(PEERLANE_A_OBSERVE_IFINDEX, 4000000000U);
	net_end();
	net_done(0);
}

static void no_points(void) { net_done(0); }

static void points(void)
{
	struct peerlane_flow_point *list;
	size_t count;

	net_reset();
	net_expect(PEERLANE_CMD_OBSERVE_GET, two_points);
	CHECK_INT(peerlane_flow_points(&list, &count), 0);
	CHECK_INT(count, 2);
	CHECK_INT(list[0].point, PEERLANE_AT_LOCAL_OUT);
	CHECK_STR(list[0].device, "");
	CHECK_STR(list[1].device, "4000000000");
	free(list);
	net_expect(PEERLANE_CMD_OBSERVE_GET, no_points);
	CHECK_INT(peerlane_flow_points(&list, &count), 0);
	CHECK(!list && !count);
	net_finish();
}

static const struct tap_case cases[] = {
	TAP_CASE(get), TAP_CASE(get_little), TAP_CASE(get_odd),
	TAP_CASE(get_unreadable), TAP_CASE(get_refused), TAP_CASE(not_loaded),
	TAP_CASE(labels), TAP_CASE(pairs), TAP_CASE(stats), TAP_CASE(limits),
	TAP_CASE(observe), TAP_CASE(points),
};

int main(void)
{
	return TAP_RUN(cases);
}
