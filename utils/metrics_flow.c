// SPDX-License-Identifier: GPL-2.0
/* Metrics of flows, and of the table that they are kept in. */
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "histogram.h"
#include "metrics_select.h"

static const struct om_labels no_labels;

/* ---- labels of a flow ----------------------------------------------------- */

enum { KEY_LABELS = 4 };

/*
 * No UDP port, which is another one for each connection. Queue pair numbers are
 * so few as there are rows.
 */
struct key_text {
	char saddr[46];
	char daddr[46];
	char qpn[12];
	struct om_label labels[KEY_LABELS];
};

static struct om_labels key_labels(const struct peerlane_flow_key *key,
				   struct key_text *text)
{
	peerlane_address_text(key->saddr, text->saddr);
	peerlane_address_text(key->daddr, text->daddr);
	snprintf(text->qpn, sizeof(text->qpn), "%u", key->qpn);
	text->labels[0] = (struct om_label){ "src", text->saddr };
	text->labels[1] = (struct om_label){ "dst", text->daddr };
	text->labels[2] = (struct om_label){
		"transport", peerlane_flow_transport_name(key->transport)
	};
	text->labels[3] = (struct om_label){ "qpn", text->qpn };
	return (struct om_labels){ text->labels, KEY_LABELS };
}

static const struct om_label other_list[KEY_LABELS] = {
	{ "src", "other" }, { "dst", "other" }, { "transport", "other" },
	{ "qpn", "other" },
};
static const struct om_labels other_labels = { other_list, KEY_LABELS };

/* ---- counters ------------------------------------------------------------ */

static const char *const helps[PEERLANE_COUNTERS] = {
	[PEERLANE_COUNT_PACKETS] = "Packets.",
	[PEERLANE_COUNT_BYTES] = "Bytes of IP packets.",
	[PEERLANE_COUNT_ECT] = "Packets whose sender is ECN-capable.",
	[PEERLANE_COUNT_CE] =
		"Packets that a switch marked as having met congestion.",
	[PEERLANE_COUNT_CNP] =
		"Congestion notification packets. NICs send few, so they tell that there is congestion, not how much.",
	[PEERLANE_COUNT_FECN] = "Packets with the forward congestion bit.",
	[PEERLANE_COUNT_BECN] =
		"Packets with the backward congestion bit, without notifications.",
	[PEERLANE_COUNT_NAK_SEQUENCE] =
		"Answers that a packet is missing: one for each gap, however long.",
	[PEERLANE_COUNT_NAK_OTHER] = "Negative answers for other reasons.",
	[PEERLANE_COUNT_RNR] =
		"Answers that the receiver was not ready, which is no congestion of the network.",
	[PEERLANE_COUNT_RETRANSMITTED] = "Packets sent again.",
	[PEERLANE_COUNT_RETRANSMITTED_BYTES] = "Bytes sent again.",
	[PEERLANE_COUNT_GAPS] = "Times that packets were left out.",
	[PEERLANE_COUNT_LOST] =
		"Packets that came only by being sent again, or never.",
	[PEERLANE_COUNT_REORDERED] =
		"Packets that came late without being sent again, which is no loss.",
	[PEERLANE_COUNT_TIMEOUTS] =
		"Times that packets were sent again without being asked for.",
};

/* "retransmitted-bytes" as "peerlane_flow_retransmitted_bytes" */
static void family_name(uint32_t counter, char to[64])
{
	char name[48];

	om_name(peerlane_flow_counter_name(counter), name, sizeof(name));
	snprintf(to, 64, "peerlane_flow_%s", name);
}

static void print_counter(struct om_writer *writer, uint32_t counter,
			  const struct metrics_selection *selection)
{
	bool bytes = !strcmp(peerlane_flow_counter_unit(counter), "bytes");
	char name[64];

	family_name(counter, name);
	om_family(writer, OM_COUNTER, name, bytes ? "bytes" : NULL,
		  helps[counter]);
	for (size_t i = 0; i < selection->count; i++) {
		const struct peerlane_flow_info *info =
			&selection->named[i].info;
		struct key_text text;

		om_sample(writer, key_labels(&info->key, &text),
			  peerlane_flow_counter(info, counter));
	}
	om_sample(writer, other_labels, selection->others[counter]);
}

static void print_congested(struct om_writer *writer,
			    const struct metrics_selection *selection)
{
	om_family(writer, OM_GAUGE, "peerlane_flow_congested", NULL,
		  "Whether the flow is congested now.");
	for (size_t i = 0; i < selection->count; i++) {
		struct key_text text;

		om_sample(writer,
			  key_labels(&selection->named[i].info.key, &text),
			  selection->named[i].info.congested);
	}
}

/* ---- round trips ---------------------------------------------------------- */

static uint64_t edge(uint32_t bucket)
{
	uint64_t low;
	uint64_t high;

	peerlane_rtt_bucket(bucket, &low, &high);
	return low;
}

/* Powers of four: few enough for each flow, and edges of the fine buckets. */
static const uint64_t rtt_edges[] = {
	1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24,
	1 << 26, 1 << 28, 1 << 30,
};

static void print_rtt(struct om_writer *writer, const struct metrics_flow *flow)
{
	const struct histogram fine = {
		flow->histogram, PEERLANE_RTT_HISTOGRAM, edge
	};
	uint64_t below[ARRAY_SIZE(rtt_edges)];
	const struct om_histogram coarse = {
		.edges_ns = rtt_edges, .below = below,
		.count = ARRAY_SIZE(rtt_edges),
		.samples = histogram_samples(&fine),
		.sum_ns = histogram_sum(&fine),
	};
	struct key_text text;

	histogram_below(&fine, rtt_edges, below, ARRAY_SIZE(rtt_edges));
	om_histogram(writer, key_labels(&flow->info.key, &text), &coarse);
}

static void print_rtts(struct om_writer *writer,
		       const struct metrics_selection *selection)
{
	om_family(writer, OM_HISTOGRAM, "peerlane_flow_rtt_seconds", "seconds",
		  "From a request to its answer, where flows have samples; the sum is of the middles of fine buckets.");
	for (size_t i = 0; i < selection->count; i++)
		if (selection->named[i].histogram)
			print_rtt(writer, &selection->named[i]);
	om_family(writer, OM_GAUGE, "peerlane_flow_rtt_p99_seconds", "seconds",
		  "The 99th percentile of it since the flow was reset.");
	for (size_t i = 0; i < selection->count; i++) {
		const struct peerlane_flow_info *info =
			&selection->named[i].info;
		struct key_text text;

		if (info->rtt.samples)
			om_sample_seconds(writer, key_labels(&info->key, &text),
					  info->rtt.p99);
	}
}

/* ---- identity ------------------------------------------------------------ */

static void print_identity(struct om_writer *writer,
			   const struct peerlane_flow_info *info,
			   const struct peerlane_flow_qp *qp)
{
	struct key_text text;
	struct om_label labels[KEY_LABELS + 7];
	char label[PEERLANE_FLOW_LABEL + 1];
	char netdev[16] = "";
	char peer[12] = "";
	char pid[12] = "";

	memcpy(labels, key_labels(&info->key, &text).list, sizeof(text.labels));
	snprintf(label, sizeof(label), "%.*s", (int)sizeof(info->label),
		 info->label);
	if (info->ifindex)
		peerlane_netdev_name(info->ifindex, netdev);
	if (info->peer_qpn)
		snprintf(peer, sizeof(peer), "%u", info->peer_qpn);
	if (qp->found && qp->qp.pid)
		snprintf(pid, sizeof(pid), "%d", qp->qp.pid);
	labels[4] = (struct om_label){ "peer_qpn", peer };
	labels[5] = (struct om_label){ "label", label };
	labels[6] = (struct om_label){
		"point", peerlane_flow_point_name(info->point)
	};
	labels[7] = (struct om_label){ "netdev", netdev };
	labels[8] = (struct om_label){ "device", qp->found ? qp->qp.device : "" };
	labels[9] = (struct om_label){ "pid", pid };
	labels[10] = (struct om_label){ "comm", qp->found ? qp->qp.comm : "" };
	om_sample(writer, (struct om_labels){ labels, ARRAY_SIZE(labels) }, 1);
}

static void print_identities(struct om_writer *writer,
			     const struct metrics_selection *selection)
{
	size_t count = selection->count;
	struct peerlane_flow_info *infos =
		must(calloc(count + 1, sizeof(*infos)));
	struct peerlane_flow_qp *qps = must(calloc(count + 1, sizeof(*qps)));

	for (size_t i = 0; i < count; i++)
		infos[i] = selection->named[i].info;
	if (count && peerlane_flow_join(infos, count, qps))
		memset(qps, 0, count * sizeof(*qps));
	om_family(writer, OM_INFO, "peerlane_flow", NULL,
		  "What a flow is, and which process of this node has it.");
	for (size_t i = 0; i < count; i++)
		print_identity(writer, &infos[i], &qps[i]);
	free(qps);
	free(infos);
}

/* ---- the table ------------------------------------------------------------ */

static void print_one(struct om_writer *writer, enum om_type type,
		      const char *name, const char *unit, uint64_t value,
		      const char *help)
{
	om_family(writer, type, name, unit, help);
	om_sample(writer, no_labels, value);
}

struct reason {
	const char *name;
	uint64_t value;
};

static void print_reasons(struct om_writer *writer, const char *name,
			  const char *help, const struct reason *list,
			  size_t count)
{
	om_family(writer, OM_COUNTER, name, NULL, help);
	for (size_t i = 0; i < count; i++) {
		const struct om_label label = { "reason", list[i].name };

		om_sample(writer, (struct om_labels){ &label, 1 },
			  list[i].value);
	}
}

static void print_losses(struct om_writer *writer,
			 const struct peerlane_flow_stats *stats)
{
	const struct reason missed[] = {
		{ "full", stats->missed_full },
		{ "memory", stats->missed_memory },
	};
	const struct reason unparsed[] = {
		{ "fragment", stats->fragments },
		{ "truncated", stats->truncated },
		{ "malformed", stats->malformed },
		{ "aggregated", stats->aggregated },
		{ "elsewhere", stats->elsewhere },
	};

	print_reasons(writer, "peerlane_missed_packets",
		      "Packets that are in no flow.", missed,
		      ARRAY_SIZE(missed));
	print_reasons(writer, "peerlane_unparsed_packets",
		      "Packets that were seen and left out.", unparsed,
		      ARRAY_SIZE(unparsed));
	print_one(writer, OM_COUNTER, "peerlane_missed_round_trips", NULL,
		  stats->missed_histogram, "Round trips that were not counted.");
	print_one(writer, OM_COUNTER, "peerlane_lost_events", NULL,
		  stats->events_lost, "Events that could not be sent.");
}

static void print_table(struct om_writer *writer,
			const struct peerlane_flow_stats *stats)
{
	print_one(writer, OM_COUNTER, "peerlane_packets", NULL, stats->packets,
		  "Packets of all flows, forgotten and reset ones too.");
	print_one(writer, OM_COUNTER, "peerlane_bytes", "bytes", stats->bytes,
		  "Bytes of all flows, forgotten and reset ones too.");
	print_one(writer, OM_GAUGE, "peerlane_flows", NULL, stats->flows,
		  "Flows in the table.");
	print_one(writer, OM_GAUGE, "peerlane_flows_max", NULL,
		  stats->flow_limit, "Most flows that there can be.");
	print_one(writer, OM_COUNTER, "peerlane_flows_created", NULL,
		  stats->created, "Flows that were ever entered.");
	print_one(writer, OM_COUNTER, "peerlane_flows_expired", NULL,
		  stats->expired, "Flows forgotten because they were idle.");
	print_one(writer, OM_COUNTER, "peerlane_flows_evicted", NULL,
		  stats->evicted,
		  "Idle flows forgotten early because the table was full.");
	print_one(writer, OM_GAUGE, "peerlane_histograms", NULL,
		  stats->histograms, "Histograms of round trips.");
	print_one(writer, OM_GAUGE, "peerlane_histograms_max", NULL,
		  stats->histogram_limit, "Most histograms that there can be.");
	print_one(writer, OM_COUNTER, "peerlane_events", NULL,
		  stats->event_sequence, "Events of congestion.");
	print_losses(writer, stats);
}

static void print_points(struct om_writer *writer)
{
	struct peerlane_flow_point *list = NULL;
	size_t count = 0;

	if (peerlane_flow_points(&list, &count))
		return;
	om_family(writer, OM_GAUGE, "peerlane_observed", NULL,
		  "Places where packets are looked at.");
	for (size_t i = 0; i < count; i++) {
		const struct om_label labels[] = {
			{ "point", peerlane_flow_point_name(list[i].point) },
			{ "netdev", list[i].device },
		};

		om_sample(writer, (struct om_labels){ labels, 2 }, 1);
	}
	free(list);
}

int metrics_flows(struct om_writer *writer,
		  const struct metrics_options *wanted,
		  struct metrics_result *result)
{
	struct metrics_selection selection;
	struct peerlane_flow_stats stats;
	int error = peerlane_flow_stats(&stats);

	if (!error)
		error = metrics_select(wanted, &selection);
	if (error)
		return error;
	print_table(writer, &stats);
	print_points(writer);
	print_identities(writer, &selection);
	for (uint32_t i = 0; i < PEERLANE_COUNTERS; i++)
		if (helps[i])
			print_counter(writer, i, &selection);
	print_congested(writer, &selection);
	print_rtts(writer, &selection);
	result->incomplete = selection.incomplete;
	metrics_selection_free(&selection);
	return 0;
}
