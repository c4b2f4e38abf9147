// SPDX-License-Identifier: GPL-2.0
/* What the library is asked about flows. Names and numbers are its own. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_flow.h"

/* ---- what the library's own files need ------------------------------------ */

void pl_clear(void);
int pl_fail_text(int error, const char *format, ...);

void pl_clear(void)
{
	refuse(0, "");
}

int pl_fail_text(int error, const char *format, ...)
{
	char text[200];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return refuse(error, text);
}

/* ---- reading ------------------------------------------------------------ */

static unsigned int looks;

static uint32_t order_by;

static int by_counter(const void *a, const void *b)
{
	uint64_t one = peerlane_flow_counter(a, order_by);
	uint64_t other = peerlane_flow_counter(b, order_by);

	return one < other ? 1 : -(one > other);
}

/* The flows that @filter means, in an array to be freed. */
static struct peerlane_flow_info *
selected(const struct peerlane_flow_filter *filter, unsigned int look,
	 size_t *count)
{
	struct peerlane_flow_info *flows = calloc(FAKE_FLOWS, sizeof(*flows));
	size_t all = fake_flows(flows, look);

	*count = 0;
	for (size_t i = 0; i < all; i++)
		if (fake_matches(filter, &flows[i]))
			flows[(*count)++] = flows[i];
	if (!filter || !filter->top)
		return flows;
	order_by = filter->top_by;
	qsort(flows, *count, sizeof(*flows), by_counter);
	if (*count > filter->top)
		*count = filter->top;
	return flows;
}

int peerlane_flow_list(const struct peerlane_flow_filter *filter,
		       struct peerlane_flow_info **list, size_t *count,
		       bool *incomplete)
{
	struct peerlane_flow_info *flows;
	size_t number;
	int error = common_failure();

	if (error)
		return error;
	flows = selected(filter, looks++, &number);
	*incomplete = scene("incomplete");
	error = copy_out(list, count, flows, sizeof(*flows), number);
	free(flows);
	return error;
}

static void fill_histogram(uint32_t histogram[PEERLANE_RTT_HISTOGRAM])
{
	memset(histogram, 0, PEERLANE_RTT_HISTOGRAM * sizeof(*histogram));
	histogram[33] = 400;
	histogram[40] = 300;
	histogram[70] = 280;
	histogram[100] = 20;
	histogram[130] = 7;
}

static int walk(const struct peerlane_flow_filter *filter, uint32_t flags,
		unsigned int look, peerlane_flow_fn fn, void *arg)
{
	uint32_t histogram[PEERLANE_RTT_HISTOGRAM];
	size_t count;
	struct peerlane_flow_info *flows = selected(filter, look, &count);
	int result = 0;

	fill_histogram(histogram);
	for (size_t i = 0; i < count && !result; i++)
		result = fn(&flows[i], flags && flows[i].rtt.samples ?
			    histogram : NULL, arg);
	free(flows);
	if (!result && scene("incomplete"))
		return refuse(EINTR, "list of flows: it changed meanwhile (EINTR)");
	return result;
}

int peerlane_flow_each(const struct peerlane_flow_filter *filter,
		       uint32_t flags, peerlane_flow_fn fn, void *arg)
{
	int error = common_failure();

	/* Looks are counted by peerlane_flow_stats(), which pages begin with. */
	return error ? error : walk(filter, flags, looks ? looks - 1 : 0, fn, arg);
}

int peerlane_flow_reset(const struct peerlane_flow_filter *filter,
			uint32_t flags, peerlane_flow_fn fn, void *arg)
{
	int error = common_failure();

	if (scene("user"))
		return refuse(EPERM, "flow statistics: CAP_NET_ADMIN is needed (EPERM)");
	return error ? error : walk(filter, flags, 0, fn, arg);
}

int peerlane_flow_get(const struct peerlane_flow_key *key,
		      struct peerlane_flow_info *info,
		      uint32_t histogram[PEERLANE_RTT_HISTOGRAM])
{
	struct peerlane_flow_info *flows;
	size_t count;
	int error = common_failure();

	if (error)
		return error;
	error = refuse(ESRCH, "no such flow (ESRCH)");
	flows = selected(NULL, 0, &count);
	for (size_t i = 0; i < count && !scene("forgotten"); i++) {
		if (memcmp(&flows[i].key, key, sizeof(*key)))
			continue;
		*info = flows[i];
		memset(histogram, 0, PEERLANE_RTT_HISTOGRAM * 4);
		if (info->rtt.samples)
			fill_histogram(histogram);
		error = 0;
	}
	free(flows);
	return error;
}

int peerlane_flow_join(const struct peerlane_flow_info *flows, size_t count,
		       struct peerlane_flow_qp *qps)
{
	if (scene("no-processes"))
		return refuse(EMSGSIZE, "list of queue pairs: it changed each time (EMSGSIZE)");
	memset(qps, 0, count * sizeof(*qps));
	for (size_t i = 0; i < count; i++) {
		if (flows[i].point != PEERLANE_AT_LOCAL_OUT)
			continue;
		qps[i].found = true;
		qps[i].sender = true;
		qps[i].qp.pid = 4242;
		strcpy(qps[i].qp.device, "rxe0");
		strcpy(qps[i].qp.comm, scene("hostile") ? "a\033[31m\nb" :
							  "ib_write_bw");
	}
	return 0;
}

/* ---- changing ----------------------------------------------------------- */

static int refused(void)
{
	int error = common_failure();

	if (!error && scene("user"))
		return refuse(EPERM, "flow statistics: CAP_NET_ADMIN is needed (EPERM)");
	return error;
}

int peerlane_flow_label(const struct peerlane_flow_key *key, const char *label)
{
	int error = refused();

	if (!error && (scene("forgotten") || !key->qpn || strlen(label) > 31))
		return refuse(ESRCH, "no such flow (ESRCH)");
	return error;
}

int peerlane_flow_label_all(const struct peerlane_flow_filter *filter,
			    const char *label, uint32_t *count)
{
	size_t number;
	int error = refused();

	if (error)
		return error;
	if (!strcmp(label, "full"))
		return refuse(ENOSPC, "no room for another label (ENOSPC)");
	free(selected(filter, 0, &number));
	*count = (uint32_t)number;
	return 0;
}

int peerlane_flow_pair_local(size_t *count)
{
	int error = refused();

	if (!error)
		*count = 2;
	return error;
}

int peerlane_flow_observe(const char *device, bool on)
{
	int error = refused();

	if (error)
		return error;
	if (device && strcmp(device, "eth2"))
		return refuse(ENODEV, "no such network device (ENODEV)");
	if (scene("already"))
		return on ? refuse(EEXIST, "observed already (EEXIST)") :
			    refuse(ESRCH, "not observed (ESRCH)");
	return 0;
}

int peerlane_flow_limits_set(const struct peerlane_flow_limits *limits)
{
	int error = refused();

	if (!error && limits->threshold_off > limits->threshold_on &&
	    limits->threshold_on)
		return refuse(EINVAL, "threshold-off is above threshold-on (EINVAL)");
	return error;
}

/* ---- the rest ------------------------------------------------------------ */

int peerlane_flow_points(struct peerlane_flow_point **list, size_t *count)
{
	struct peerlane_flow_point points[] = {
		{ .point = PEERLANE_AT_LOCAL_OUT },
		{ .point = PEERLANE_AT_LOCAL_IN },
		{ .point = PEERLANE_AT_DEVICE, .ifindex = 5, .device = "eth2" },
	};
	int error = common_failure();

	if (error)
		return error;
	if (scene("hostile"))
		strcpy(points[2].device, "e\033[2J\n");
	return copy_out(list, count, points, sizeof(points[0]),
			scene("unobserved") ? 0 : 3);
}

int peerlane_flow_stats(struct peerlane_flow_stats *stats)
{
	int error = common_failure();

	if (error)
		return error;
	*stats = (struct peerlane_flow_stats){
		.flows = 4, .flow_limit = 65536, .flow_size = 256,
		.buckets = 1024, .histograms = 1, .histogram_limit = 4096,
		.histogram_size = 1536, .idle_timeout = 120,
		.threshold_on = 10000, .threshold_off = 1000,
		.calm_windows = 3, .created = 5, .expired = 1,
		.packets = 18446744073709551615ULL,
		.bytes = 18446744073709551614ULL, .event_sequence = 2,
	};
	if (scene("moving"))
		looks++;
	if (scene("missed")) {
		stats->missed_full = 12 + looks;
		stats->missed_memory = 3;
	}
	return 0;
}

int peerlane_flow_tcp(struct peerlane_tcp_flow **list, size_t *count)
{
	struct peerlane_tcp_flow flows[2] = {
		{ .sport = 4791, .dport = 65535, .device = "siw0", .lqpn = 2,
		  .pid = 4242, .comm = "rping", .has_tcp = true, .state = 1,
		  .mss = 1460, .cwnd = 10, .srtt = 123456, .min_rtt = 99000,
		  .delivered = 5000, .delivered_ce = 12, .retransmitted = 3,
		  .delivery_rate = 125000000, .bytes_sent = 7300000 },
		{ .sport = 1, .dport = 2, .device = "cxgb4_0" },
	};
	int error = common_failure();

	if (error)
		return error;
	for (int i = 0; i < 2; i++) {
		peerlane_address_parse("10.0.0.1", flows[i].saddr);
		peerlane_address_parse("2001:db8::2", flows[i].daddr);
	}
	if (scene("hostile"))
		strcpy(flows[0].comm, "a\033[31m\nb");
	return copy_out(list, count, flows, sizeof(flows[0]),
			scene("empty") ? 0 : 2);
}

__attribute__((weak)) const char *peerlane_transport_name(uint32_t transport)
{
	static const char *const names[] = {
		"unknown", "ib", "roce", "iwarp", "other"
	};

	return name_of(names, 5, transport);
}
