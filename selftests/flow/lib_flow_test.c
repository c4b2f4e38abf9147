// SPDX-License-Identifier: GPL-2.0
/* Flows by the library: counts, names, lists, limits and rights. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flow_case.h"

/* ---- what there is --------------------------------------------------------- */

static void nothing_observed(void)
{
	struct peerlane_flow_key key = flow_key(1);
	struct peerlane_flow_stats stats;
	struct peerlane_flow_point *points;
	struct peerlane_flow_info info;
	size_t count;

	case_begin();
	CHECK_INT(roce_send_many(writes(1, 0), 3), 0);
	CHECK_INT(flow_count(NULL), 0);
	CHECK_INT(peerlane_flow_get(&key, &info, NULL), -ESRCH);
	CHECK_HAS(peerlane_strerror(), "no such flow");
	CHECK_INT(peerlane_flow_points(&points, &count), 0);
	CHECK(!points && !count);
	CHECK_INT(peerlane_flow_stats(&stats), 0);
	CHECK(stats.flow_limit > 0 && stats.flow_size > 0);
	CHECK_INT(stats.flows, 0);
	CHECK_INT(peerlane_flow_observe(NULL, false), -ESRCH);
	CHECK_HAS(peerlane_strerror(), "not observed");
	CHECK_INT(peerlane_flow_label(&key, "x"), -ESRCH);
	case_end();
}

static void points(void)
{
	struct peerlane_flow_point *points = NULL;
	size_t count = 0;

	case_begin_observed();
	CHECK_INT(peerlane_flow_observe(NULL, true), -EEXIST);
	CHECK_HAS(peerlane_strerror(), "observed already");
	CHECK_INT(peerlane_flow_observe("lo", true), 0);
	CHECK_INT(peerlane_flow_observe("lo", true), -EEXIST);
	CHECK_INT(peerlane_flow_points(&points, &count), 0);
	if (CHECK(count == 3)) {
		CHECK_INT(points[0].point, PEERLANE_AT_LOCAL_OUT);
		CHECK_INT(points[1].point, PEERLANE_AT_LOCAL_IN);
		CHECK_INT(points[2].point, PEERLANE_AT_DEVICE);
		CHECK_STR(points[2].device, "lo");
	}
	free(points);
	CHECK_INT(peerlane_flow_observe("lo", false), 0);
	CHECK_INT(peerlane_flow_observe("lo", false), -ESRCH);
	CHECK_INT(peerlane_flow_observe(NULL, false), 0);
	CHECK_INT(peerlane_flow_points(&points, &count), 0);
	CHECK_INT(count, 0);
	CHECK_INT(peerlane_flow_observe("no-such", true), -ENODEV);
	case_end();
}

static void counts(void)
{
	struct peerlane_flow_info info;
	struct peerlane_flow_stats stats;
	struct roce packet = writes(0x11, 0);

	case_begin_observed();
	CHECK_INT(roce_send_many(packet, 60), 0);
	packet.psn = 60;
	packet.tos = 26 << 2 | 2;
	CHECK_INT(roce_send_many(packet, 30), 0);
	packet.psn = 90;
	packet.tos = 26 << 2 | 3;
	CHECK_INT(roce_send_many(packet, 10), 0);
	info = flow_get(0x11);
	CHECK_INT(info.packets, 100);
	CHECK_INT(info.bytes, 100 * ROCE_WRITE_BYTES);
	CHECK_INT(info.ect, 40);
	CHECK_INT(info.ce, 10);
	CHECK_INT(info.dscp, 26);
	CHECK_INT(info.sport, ROCE_SPORT);
	CHECK_INT(info.point, PEERLANE_AT_LOCAL_OUT);
	CHECK_INT(info.ifindex, 0);
	CHECK_INT(info.gaps + info.lost + info.missing + info.retransmitted, 0);
	CHECK(!info.has_reverse);
	CHECK_INT(peerlane_flow_stats(&stats), 0);
	CHECK_INT(stats.flows, 1);
	CHECK_INT(stats.created, 1);
	CHECK_INT(stats.packets, 100);
	/* They arrived as well. */
	CHECK_INT(stats.elsewhere, 100);
	case_end();
}

/* A sender leaves nothing out, so this is seen where packets arrive. */
static void losses(void)
{
	struct peerlane_flow_info info;

	case_begin();
	CHECK_INT(peerlane_flow_observe("lo", true), 0);
	CHECK_INT(roce_send_many(writes(0x11, 0xfffffa), 10), 0);
	CHECK_INT(roce_send_many(writes(0x11, 9), 5), 0);
	info = flow_get(0x11);
	CHECK_INT(info.point, PEERLANE_AT_DEVICE);
	CHECK_INT(info.gaps, 1);
	CHECK_INT(info.missing + info.lost, 5);
	CHECK_INT(roce_send_many(writes(0x11, 4), 10), 0);
	info = flow_get(0x11);
	/* Late, or on a slow machine so late that they were given up */
	CHECK_INT(info.reordered + info.lost, 5);
	CHECK_INT(info.reordered + info.retransmitted, 10);
	CHECK_INT(info.packets, 25);
	case_end();
}

static void six(void)
{
	struct peerlane_flow_filter filter = { 0 };
	struct roce packet = writes(5, 0);

	case_begin_observed();
	packet.from = "::1";
	packet.to = "::1";
	CHECK_INT(roce_send_many(packet, 7), 0);
	CHECK_INT(roce_send_many(writes(5, 0), 3), 0);
	CHECK_INT(flow_count(NULL), 2);
	CHECK_INT(peerlane_address_parse("::1", filter.address), 0);
	CHECK_INT(flow_count(&filter), 1);
	CHECK_INT(peerlane_address_parse("127.0.0.1", filter.address), 0);
	CHECK_INT(flow_count(&filter), 1);
	CHECK_INT(peerlane_address_parse("::2", filter.address), 0);
	CHECK_INT(flow_count(&filter), 0);
	case_end();
}

/* ---- names ------------------------------------------------------------------ */

static void labels(void)
{
	static const char longest[] = "1234567890123456789012345678901";
	struct peerlane_flow_filter filter = { .label = "rank 3" };
	struct peerlane_flow_key key = flow_key(1);
	uint32_t count = 9;

	case_begin_observed();
	CHECK_INT(roce_send_many(writes(1, 0), 1), 0);
	CHECK_INT(roce_send_many(writes(2, 0), 1), 0);
	CHECK_INT(peerlane_flow_label(&key, "rank 3"), 0);
	CHECK_STR(flow_get(1).label, "rank 3");
	CHECK_STR(flow_get(2).label, "");
	CHECK_INT(flow_count(&filter), 1);
	CHECK_INT(peerlane_flow_label_all(NULL, longest, &count), 0);
	CHECK_INT(count, 2);
	CHECK_STR(flow_get(2).label, longest);
	CHECK_INT(flow_count(&filter), 0);
	CHECK_INT(peerlane_flow_label_all(&filter, "x", &count), 0);
	CHECK_INT(count, 0);
	CHECK_INT(peerlane_flow_label(&key, ""), 0);
	CHECK_STR(flow_get(1).label, "");
	key.qpn = 3;
	CHECK_INT(peerlane_flow_label(&key, "x"), -ESRCH);
	CHECK_HAS(peerlane_strerror(), "no such flow (ESRCH)");
	case_end();
}

static void pairs(void)
{
	struct peerlane_flow_key key = flow_key(1);
	struct peerlane_flow_info info;
	struct roce back = { .opcode = ROCE_CNP, .qpn = 2, .sport = 50000 };

	case_begin_observed();
	CHECK_INT(roce_send_many(writes(1, 0), 4), 0);
	CHECK_INT(roce_send(&back), 0);
	CHECK_INT(peerlane_flow_pair(&key, 2), 0);
	info = flow_get(1);
	CHECK_INT(info.peer_qpn, 2);
	CHECK_INT(info.pairing, PEERLANE_PAIRED_USER);
	CHECK_INT(peerlane_flow_pair(&key, 0), 0);
	info = flow_get(1);
	CHECK_INT(info.peer_qpn, 0);
	CHECK_INT(info.pairing, PEERLANE_PAIRED_NONE);
	key.qpn = 77;
	CHECK_INT(peerlane_flow_pair(&key, 2), -ESRCH);
	CHECK_INT(peerlane_flow_pair(&key, 0x1000000), -ERANGE);
	case_end();
}

/* ---- guesses by the UDP port ------------------------------------------------ */

#define SHARED_PORT	50000

/* Requests to @qpn of 127.0.0.2, which are answered to queue pairs of 127.0.0.1 */
static void ask(uint32_t qpn, uint32_t psn)
{
	struct roce packet = writes(qpn, psn);

	packet.to = "127.0.0.2";
	packet.sport = SHARED_PORT;
	CHECK_INT(roce_send(&packet), 0);
}

static void acknowledge(uint32_t qpn, uint32_t psn)
{
	struct roce packet = { .from = "127.0.0.2", .opcode = ROCE_ACK,
			       .qpn = qpn, .psn = psn, .sport = SHARED_PORT };

	CHECK_INT(roce_send(&packet), 0);
}

/* Whose answers the requests to @qpn get, 0 if it is not known */
static uint32_t guess(uint32_t qpn)
{
	struct peerlane_flow_key key = flow_key(qpn);
	struct peerlane_flow_info info = { 0 };

	peerlane_address_parse("127.0.0.2", key.daddr);
	CHECK_INT(peerlane_flow_get(&key, &info, NULL), 0);
	CHECK_INT(info.pairing, info.peer_qpn ? PEERLANE_PAIRED_PORT :
						PEERLANE_PAIRED_NONE);
	return info.peer_qpn;
}

static void a_shared_port(void)
{
	case_begin_observed();
	ask(1, 5);
	acknowledge(2, 5);
	CHECK_INT(guess(1), 2);
	ask(3, 500000);
	CHECK_INT(guess(1), 2);
	acknowledge(4, 500000);
	CHECK_INT(guess(3), 4);
	CHECK_INT(guess(1), 2);
	case_end();
}

static void a_guess_taken_back(void)
{
	case_begin_observed();
	ask(1, 5);
	/* In fact to 3, of which nothing was seen yet */
	acknowledge(4, 5);
	ask(3, 7);
	CHECK_INT(guess(1), 0);
	acknowledge(2, 5);
	CHECK_INT(guess(1), 0);
	CHECK_INT(guess(3), 0);
	acknowledge(4, 7);
	CHECK_INT(guess(1), 0);
	CHECK_INT(guess(3), 4);
	case_end();
}

static void an_answer_to_nothing(void)
{
	case_begin_observed();
	ask(1, 5);
	acknowledge(2, 900);
	CHECK_INT(guess(1), 0);
	ask(1, 6);
	pause_ms(1100);
	acknowledge(2, 6);
	CHECK_INT(guess(1), 2);
	case_end();
}

static void round_trips(void)
{
	uint32_t histogram[PEERLANE_RTT_HISTOGRAM], sum = 0, i;
	struct peerlane_flow_key key = flow_key(1);
	struct peerlane_flow_info info;
	struct roce request = writes(1, 0), answer;

	case_begin_observed();
	answer = (struct roce){ .opcode = ROCE_ACK, .qpn = 2 };
	request.ask = true;
	CHECK_INT(roce_send(&request), 0);
	CHECK_INT(roce_send(&answer), 0);
	CHECK_INT(peerlane_flow_pair(&key, 2), 0);
	for (i = 1; i <= 5; i++) {
		request.psn = i;
		answer.psn = i;
		CHECK_INT(roce_send(&request), 0);
		pause_ms(3);
		CHECK_INT(roce_send(&answer), 0);
	}
	CHECK_INT(peerlane_flow_get(&key, &info, histogram), 0);
	CHECK(info.has_reverse);
	CHECK(info.reverse.packets > 0);
	CHECK(info.rtt.samples >= 5);
	CHECK(info.rtt.max >= 3000000);
	CHECK(info.rtt.min <= info.rtt.p50 && info.rtt.p50 <= info.rtt.p99);
	for (i = 0; i < PEERLANE_RTT_HISTOGRAM; i++)
		sum += histogram[i];
	CHECK_INT(sum, info.rtt.samples);
	CHECK(peerlane_rtt_percentile(histogram, 990000) >= 2900000);
	case_end();
}

/* ---- many -------------------------------------------------------------------- */

#define MANY 1000

static void make_many(void)
{
	uint32_t i;

	for (i = 1; i <= MANY; i++)
		roce_send_many(writes(i, 0), i % 10 ? 1 : 2);
}

static int see(const struct peerlane_flow_info *info,
	       const uint32_t *histogram, void *arg)
{
	uint8_t *seen = arg;

	CHECK(!histogram);
	if (info->key.qpn <= MANY)
		seen[info->key.qpn]++;
	return 0;
}

static int third(const struct peerlane_flow_info *info,
		 const uint32_t *histogram, void *arg)
{
	(void)info;
	(void)histogram;
	return ++*(int *)arg == 3 ? 7 : 0;
}

static void many(void)
{
	static uint8_t seen[MANY + 1];
	struct peerlane_flow_filter filter = { .min_count = 1 };
	struct peerlane_flow_info *list = NULL;
	size_t count = 0, once = 0, i;
	int walked = 0;

	case_begin_observed();
	make_many();
	CHECK_INT(peerlane_flow_each(NULL, 0, see, seen), 0);
	for (i = 1; i <= MANY; i++)
		once += seen[i] == 1;
	CHECK_INT(once, MANY);
	CHECK_INT(peerlane_flow_each(NULL, 0, third, &walked), 7);
	filter.min[0] = (struct peerlane_flow_min){ PEERLANE_COUNT_PACKETS, 2 };
	CHECK_INT(flow_count(&filter), MANY / 10);
	filter.top = 20;
	filter.top_by = PEERLANE_COUNT_BYTES;
	filter.min_count = 0;
	roce_send_many(writes(17, 1), 5);
	CHECK_INT(peerlane_flow_list(&filter, &list, &count, NULL), 0);
	CHECK_INT(count, 20);
	if (count == 20) {
		CHECK_INT(list[0].key.qpn, 17);
		CHECK_INT(list[0].packets, 6);
		CHECK_INT(list[1].packets, 2);
	}
	free(list);
	filter.top = 2000;
	CHECK_INT(peerlane_flow_list(&filter, &list, &count, NULL), -ERANGE);
	filter = (struct peerlane_flow_filter){ .qpn = 17 };
	CHECK_INT(flow_count(&filter), 1);
	filter.has_transport = true;
	filter.transport = PEERLANE_FLOW_UD;
	CHECK_INT(flow_count(&filter), 0);
	filter = (struct peerlane_flow_filter){ .min_count = 1,
						.min = { { 66, 1 } } };
	CHECK_INT(peerlane_flow_list(&filter, &list, &count, NULL), -ERANGE);
	CHECK_HAS(peerlane_strerror(), "not selected by idle");
	case_end();
}

static int add_up(const struct peerlane_flow_info *info,
		  const uint32_t *histogram, void *arg)
{
	(void)histogram;
	*(uint64_t *)arg += info->packets;
	return 0;
}

static void reset(void)
{
	struct peerlane_flow_filter filter = { .top = 1 };
	struct peerlane_flow_info before, now;
	struct peerlane_flow_stats stats;
	uint64_t sum = 0, delta;

	case_begin_observed();
	make_many();
	before = flow_get(10);
	CHECK_INT(peerlane_flow_reset(&filter, 0, add_up, &sum), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "not the first 1");
	CHECK_INT(peerlane_flow_reset(NULL, PEERLANE_FLOW_HISTOGRAM, add_up,
				      &sum), 0);
	CHECK_INT(sum, MANY + MANY / 10);
	sum = 0;
	CHECK_INT(peerlane_flow_reset(NULL, 0, add_up, &sum), 0);
	CHECK_INT(sum, 0);
	now = flow_get(10);
	CHECK_INT(now.packets, 0);
	CHECK(!peerlane_flow_since(&now, &before, PEERLANE_COUNT_PACKETS,
				   &delta));
	CHECK_INT(peerlane_flow_stats(&stats), 0);
	CHECK_INT(stats.packets, MANY + MANY / 10);
	case_end();
}

/* ---- limits and rights --------------------------------------------------------- */

static void limits(void)
{
	struct peerlane_flow_limits limits = { .idle_timeout = 77 };
	struct peerlane_flow_stats stats;

	case_begin();
	CHECK_INT(peerlane_flow_limits_set(&limits), 0);
	limits = (struct peerlane_flow_limits){ .threshold_on = 5000,
						.threshold_off = 4000 };
	CHECK_INT(peerlane_flow_limits_set(&limits), 0);
	CHECK_INT(peerlane_flow_stats(&stats), 0);
	CHECK_INT(stats.idle_timeout, 77);
	CHECK_INT(stats.threshold_on, 5000);
	CHECK_INT(stats.threshold_off, 4000);
	limits.threshold_off = 6000;
	CHECK_INT(peerlane_flow_limits_set(&limits), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "above threshold-on");
	limits.threshold_off = 1000001;
	CHECK_INT(peerlane_flow_limits_set(&limits), -ERANGE);
	CHECK_INT(peerlane_flow_stats(&stats), 0);
	CHECK_INT(stats.threshold_off, 4000);
	case_end();
}

static int as_nobody(void)
{
	static const struct peerlane_flow_limits limits = { .calm_windows = 1 };
	struct peerlane_flow_key key = flow_key(1);

	if (setgid(65534) || setuid(65534))
		return 1;
	CHECK_INT(flow_count(NULL), 1);
	CHECK_INT(flow_get(1).packets, 2);
	CHECK_INT(peerlane_flow_label(&key, "x"), -EPERM);
	CHECK_HAS(peerlane_strerror(), "(EPERM)");
	CHECK_INT(peerlane_flow_pair(&key, 2), -EPERM);
	CHECK_INT(peerlane_flow_reset(NULL, 0, NULL, NULL), -EPERM);
	CHECK_INT(peerlane_flow_observe("lo", true), -EPERM);
	CHECK_INT(peerlane_flow_observe(NULL, false), -EPERM);
	CHECK_INT(peerlane_flow_limits_set(&limits), -EPERM);
	return tap.bad != 0;
}

static void rights(void)
{
	int status = -1;
	pid_t child;

	case_begin_observed();
	CHECK_INT(roce_send_many(writes(1, 0), 2), 0);
	fflush(stdout);
	child = fork();
	if (!child)
		_exit(as_nobody());
	waitpid(child, &status, 0);
	CHECK_INT(status, 0);
	CHECK_INT(flow_get(1).packets, 2);
	case_end();
}

static const struct tap_case cases[] = {
	TAP_CASE(nothing_observed), TAP_CASE(points), TAP_CASE(counts),
	TAP_CASE(losses), TAP_CASE(six), TAP_CASE(labels), TAP_CASE(pairs),
	TAP_CASE(a_shared_port), TAP_CASE(a_guess_taken_back),
	TAP_CASE(an_answer_to_nothing),
	TAP_CASE(round_trips), TAP_CASE(many), TAP_CASE(reset),
	TAP_CASE(limits), TAP_CASE(rights),
};

int main(void)
{
	return TAP_RUN(cases);
}
