// SPDX-License-Identifier: GPL-2.0
/*
 * flow_bench RUNS costs DEVICE PEER OBJECT OBJECT_BY_QPN
 * flow_bench RUNS tables PEER FLOWS
 *
 * Costs of counting flows, ours and those of others, for packets of network
 * namespace a, where it runs, and of PEER, behind DEVICE; then with tables of up
 * to FLOWS. Prints "sample SERIES VALUE". When QEMU counts instructions (-icount
 * shift=0), a nanosecond is one instruction.
 */
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <peerlane.h>

#include "flow_dump.h"
#include "flow_rival.h"
#include "flow_traffic.h"

#define FEW		BATCH
#define SOME		65536
#define ROUNDS		5
#define WARM_ROUNDS	1
#define RUNS_MAX	100

static const char *object, *object_by_qpn;
static unsigned int ifindex;

static void sample(const char *series, const char *side, double value)
{
	printf("sample %s/%s %.1f\n", series, side, value);
	fflush(stdout);
}

static void observe(bool on)
{
	if (peerlane_flow_observe(NULL, on))
		die("%s", peerlane_strerror());
}

static struct peerlane_flow_stats stats(void)
{
	struct peerlane_flow_stats stats;

	if (peerlane_flow_stats(&stats))
		die("%s", peerlane_strerror());
	return stats;
}

/* ---- a packet's way through this namespace -------------------------------- */

static int by_size(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return a < b ? -1 : a > b;
}

/* The median of some rounds: the kernel has other things to do at times. */
static double packet(enum pattern pattern)
{
	double rounds[ROUNDS];
	unsigned int packets;
	uint64_t begin;
	int i;

	for (i = 0; i < WARM_ROUNDS; i++)
		traffic_round(pattern);
	for (i = 0; i < ROUNDS; i++) {
		begin = now();
		packets = traffic_round(pattern);
		rounds[i] = (double)(now() - begin) / packets;
	}
	qsort(rounds, ROUNDS, sizeof(*rounds), by_size);
	return rounds[ROUNDS / 2];
}

/* What each counts must be all there is, or it would be cheap for nothing. */
static void expect(const char *who, uint64_t counted, enum pattern pattern)
{
	uint64_t sent = (WARM_ROUNDS + ROUNDS) * (pattern == MESSAGES ? 5 : 2) *
			BATCH;

	if (counted != sent)
		die("%s counted %llu packets of %llu", who,
		    (unsigned long long)counted, (unsigned long long)sent);
}

static double with_flows(enum pattern pattern)
{
	uint64_t before = stats().packets;
	double cost;

	observe(true);
	cost = packet(pattern);
	observe(false);
	if (pattern == OTHER && stats().packets != before)
		die("packets that are not RDMA were counted");
	if (pattern != OTHER)
		expect("peerlane", stats().packets - before, pattern);
	return cost;
}

static double with_conntrack(enum pattern pattern)
{
	double cost;

	conntrack_set(true);
	cost = packet(pattern);
	conntrack_set(false);
	if (conntrack_count() < 2 * BATCH)
		die("%u connections are tracked", conntrack_count());
	return cost;
}

static double with_ebpf(enum pattern pattern, enum hook hook,
			const char *program, bool is_lru)
{
	uint64_t counted;
	double cost;

	if (!ebpf_begin(program, hook, ifindex, is_lru))
		return 0;
	cost = packet(pattern);
	ebpf_end(&counted);
	expect("eBPF", counted, pattern);
	return cost;
}

/* Returns the cheapest of the places it can be at. */
static enum hook ebpf_costs(const char *series, enum pattern pattern,
			    double off)
{
	double cost, added, best = 0;
	enum hook hook, cheapest = 0;

	for (hook = 0; hook < HOOKS; hook++) {
		cost = with_ebpf(pattern, hook, object, false);
		if (!cost)
			continue;
		added = cost - off;
		sample(series, hook_names[hook], added);
		if (!best || added < best) {
			best = added;
			cheapest = hook;
		}
	}
	sample(series, "ebpf", best);
	return cheapest;
}

/* Each between two measurements without it. */
static void costs(enum pattern pattern)
{
	double off[4], with;
	enum hook hook;
	char series[32];

	snprintf(series, sizeof(series), "flow-cost-%s", pattern_names[pattern]);
	off[0] = packet(pattern);
	with = with_flows(pattern);
	off[1] = packet(pattern);
	sample(series, "off", off[1]);
	sample(series, "peerlane", with - (off[0] + off[1]) / 2);
	with = with_conntrack(pattern);
	off[2] = packet(pattern);
	sample(series, "conntrack", with - (off[1] + off[2]) / 2);
	hook = ebpf_costs(series, pattern, off[2]);
	sample(series, "ebpf-lru",
	       with_ebpf(pattern, hook, object, true) - off[2]);
	if (pattern != OTHER)
		sample(series, "ebpf-qpn",
		       with_ebpf(pattern, hook, object_by_qpn, false) - off[2]);
}

/* ---- larger tables --------------------------------------------------------- */

static void lookups(const char *side, uint32_t flows, int runs)
{
	double off, with;
	int run;

	traffic_select(flows / BATCH);
	printf("progress packets of %u flows\n", stats().flows);
	for (run = 0; run < runs; run++) {
		off = packet(MESSAGES);
		with = with_flows(MESSAGES);
		off = (off + packet(MESSAGES)) / 2;
		sample("flow-lookup", side, with - off);
	}
}

static void fill(uint32_t begin, uint32_t end)
{
	uint32_t missed;

	printf("progress flows %u to %u\n", begin, end);
	fflush(stdout);
	observe(true);
	conntrack_set(true);
	traffic_fill(begin, end);
	conntrack_set(false);
	observe(false);
	missed = (uint32_t)stats().missed_full;
	if (stats().flows < end || missed || conntrack_count() < end)
		die("%u flows and %u connections, not %u", stats().flows,
		    conntrack_count(), end);
}

/*
 * The connections of lookups() come first: their directions find each other, which
 * those that are only filled in do not, and would cost less.
 */
static void pair(uint32_t flows)
{
	traffic_select(flows / BATCH);
	observe(true);
	traffic_round(MESSAGES);
	observe(false);
}

static void dumps(unsigned int runs)
{
	struct slice ours[RUNS_MAX], theirs[RUNS_MAX];
	unsigned int i;

	printf("progress dumps\n");
	fflush(stdout);
	dump_flows(ours, runs, stats().flows);
	dump_conntrack(theirs, runs, conntrack_count());
	for (i = 0; i < runs; i++) {
		sample("flow-dump-rate", "peerlane",
		       (double)ours[i].entries * 1e9 / (double)ours[i].ns);
		sample("flow-dump-rate", "conntrack",
		       (double)theirs[i].entries * 1e9 / (double)theirs[i].ns);
	}
}

/* ---- all of it -------------------------------------------------------------- */

static void sizes(int runs)
{
	struct peerlane_flow_stats now = stats();
	int run;

	for (run = 0; run < runs; run++) {
		sample("flow-bytes", "record", now.flow_size);
		sample("flow-bytes", "bucket",
		       8.0 * now.buckets / now.flow_limit);
	}
}

static void all_costs(int runs)
{
	int run;

	for (run = 0; run < runs; run++)
		sample("flow-cost-off", "never", packet(MESSAGES));
	for (run = 0; run < runs; run++) {
		printf("progress costs, run %d of %d\n", run + 1, runs);
		costs(MESSAGES);
		costs(SENDS);
		costs(OTHER);
		sample("flow-cost-off", "again", packet(MESSAGES));
	}
	sizes(runs);
}

static void all_tables(int runs, uint32_t flows)
{
	lookups("1k", FEW, runs);
	pair(SOME);
	pair(flows);
	fill(0, SOME);
	lookups("64k", SOME, runs);
	fill(SOME, flows);
	lookups("1m", flows, runs);
	dumps((unsigned int)runs);
}

int main(int argc, char **argv)
{
	int runs = argc > 1 ? atoi(argv[1]) : 0;
	bool is_costs = argc == 7 && !strcmp(argv[2], "costs");

	if (runs < 1 || runs > RUNS_MAX ||
	    (!is_costs && (argc != 5 || strcmp(argv[2], "tables"))))
		die("usage: flow_bench RUNS costs DEVICE PEER OBJECT OBJECT_BY_QPN | tables PEER FLOWS");
	traffic_open(argv[is_costs ? 4 : 3]);
	traffic_select(1);
	if (is_costs) {
		ifindex = if_nametoindex(argv[3]);
		object = argv[5];
		object_by_qpn = argv[6];
		all_costs(runs);
	} else {
		all_tables(runs, (uint32_t)atoi(argv[4]));
	}
	return 0;
}
