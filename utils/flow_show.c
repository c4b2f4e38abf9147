// SPDX-License-Identifier: GPL-2.0
/* peerlane flow show: flows in full, with a picture of their round trips. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "histogram.h"
#include "units.h"

enum { BAR_WIDTH = 40 };

static uint64_t edge(uint32_t bucket)
{
	uint64_t low;
	uint64_t high;

	peerlane_rtt_bucket(bucket, &low, &high);
	return low;
}

/* ---- text --------------------------------------------------------------- */

static void print_row(const struct histogram_row *row, uint64_t samples,
		      uint64_t most)
{
	char low[UNITS_ROOM];
	char high[UNITS_ROOM] = "";
	char share[UNITS_ROOM];
	char bar[BAR_WIDTH + 1];
	size_t length = histogram_bar(row->samples, most, BAR_WIDTH);

	units_ns(low, row->low);
	if (row->high != UINT64_MAX)
		units_ns(high, row->high);
	units_percent(share, rate_share(row->samples, samples));
	memset(bar, '#', length);
	bar[length] = '\0';
	printf("  %8s .. %-8s %10ju %7s%s%s\n", low, high,
	       (uintmax_t)row->samples, share, length ? "  " : "", bar);
}

static void print_histogram(const uint32_t *counts)
{
	const struct histogram histogram = {
		counts, PEERLANE_RTT_HISTOGRAM, edge
	};
	struct histogram_row rows[HISTOGRAM_ROWS];
	size_t count = histogram_rows(&histogram, rows);
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++)
		if (rows[i].samples > most)
			most = rows[i].samples;
	for (size_t i = 0; i < count; i++)
		print_row(&rows[i], histogram_samples(&histogram), most);
}

static void print_who(const struct flow_row *row)
{
	static const struct {
		const char *key;
		enum flow_column column;
	} words[] = {
		{ "source", FLOW_SOURCE }, { "destination", FLOW_DESTINATION },
		{ "transport", FLOW_TYPE }, { "label", FLOW_LABEL },
		{ "process", FLOW_PROCESS },
	};
	const struct peerlane_flow_info *info = row->info;
	char netdev[16] = "";
	char text[FLOW_CELL];

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		flow_cell(row, words[i].column, options.human, text);
		property(words[i].key, i < 2 ? TINT_BOLD : TINT_NONE, "%s", text);
	}
	property("pairing", TINT_NONE, "%s",
		 peerlane_flow_pairing_name(info->pairing));
	if (info->ifindex)
		peerlane_netdev_name(info->ifindex, netdev);
	property("point", TINT_NONE, "%s%s%.*s",
		 peerlane_flow_point_name(info->point), *netdev ? " " : "",
		 (int)sizeof(netdev), netdev);
	property("congested", info->congested ? TINT_BAD : TINT_GOOD, "%s",
		 info->congested ? "yes" : "no");
	property("sport", TINT_NONE, "%u", info->sport);
	property("dscp", TINT_NONE, "%u", info->dscp);
	if (info->pmtu)
		property("pmtu", TINT_NONE, "%u", info->pmtu);
	else
		property("pmtu", TINT_NONE, "%s", "");
}

static enum tint tint_of(uint32_t counter)
{
	switch (counter) {
	case PEERLANE_COUNT_LOST:
	case PEERLANE_COUNT_TIMEOUTS:
	case PEERLANE_COUNT_REVERSE_NAK_SEQUENCE:
	case PEERLANE_COUNT_REVERSE_NAK_OTHER:
		return TINT_BAD;
	case PEERLANE_COUNT_CE:
	case PEERLANE_COUNT_RETRANSMITTED:
	case PEERLANE_COUNT_GAPS:
	case PEERLANE_COUNT_REVERSE_CNP:
	case PEERLANE_COUNT_REVERSE_RNR:
		return TINT_WARN;
	default:
		return TINT_NONE;
	}
}

/* @value in @unit for people; false if it reads best as it is. */
static bool human_text(const char *unit, uint64_t value, char text[UNITS_ROOM])
{
	if (!strcmp(unit, "bytes"))
		snprintf(text, UNITS_ROOM, "%s", bytes_text(value));
	else if (!strcmp(unit, "ns"))
		units_ns(text, value);
	else if (!strcmp(unit, "ms"))
		units_age(text, value);
	else if (!strcmp(unit, "bytes/s"))
		units_bits(text, value);
	else
		return false;
	return true;
}

static void print_value(uint32_t counter, uint64_t value)
{
	const char *name = peerlane_flow_counter_name(counter);
	const char *unit = peerlane_flow_counter_unit(counter);
	char text[UNITS_ROOM];

	if (options.human && human_text(unit, value, text))
		property(name, TINT_NONE, "%s", text);
	else
		property(name, value ? tint_of(counter) : TINT_NONE, "%ju",
			 (uintmax_t)value);
}

static void print_counters(const struct peerlane_flow_info *info, uint32_t from,
			   uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		print_value(i, peerlane_flow_counter(info, i));
}

static void print_flow(const struct flow_row *row, const uint32_t *histogram)
{
	const struct peerlane_flow_info *info = row->info;

	property_width(20);
	print_who(row);
	print_counters(info, PEERLANE_COUNT_AGE, PEERLANE_COUNT_IDLE + 1);
	print_counters(info, 0, PEERLANE_COUNT_RTT_MAX);
	print_counters(info, PEERLANE_COUNT_MISSING, PEERLANE_COUNT_AGE);
	if (info->has_reverse)
		print_counters(info, PEERLANE_COUNT_REVERSE_PACKETS,
			       PEERLANE_COUNTERS_END);
	print_counters(info, PEERLANE_COUNT_RTT_SAMPLES,
		       PEERLANE_COUNT_RTT_SAMPLES + 1);
	if (!info->rtt.samples)
		return;
	print_counters(info, PEERLANE_COUNT_RTT_MIN,
		       PEERLANE_COUNT_REVERSE_PACKETS);
	print_counters(info, PEERLANE_COUNT_RTT_MAX, PEERLANE_COUNTERS);
	print_histogram(histogram);
}

/* ---- all of them -------------------------------------------------------- */

/* What is shown is of one moment, so the counters are read again as well. */
static int show_one(const struct flow_set *set, size_t i,
		    struct json_object *array)
{
	struct flow_row row = flow_row_of(set, i, NULL, false);
	uint32_t histogram[PEERLANE_RTT_HISTOGRAM] = { 0 };
	struct peerlane_flow_info info = *row.info;
	int error = peerlane_flow_get(&row.info->key, &info, histogram);

	if (error == -ESRCH)	/* forgotten since it was listed */
		return STATUS_OK;
	if (error)
		return library_error(error);
	row.info = &info;
	if (array) {
		json_object_array_add(array, flow_json(&row, histogram));
		return STATUS_OK;
	}
	if (i)
		putchar('\n');
	print_flow(&row, histogram);
	return STATUS_OK;
}

static int show_all(const struct flow_set *set)
{
	struct json_object *array = NULL;
	int status = STATUS_OK;

	if (options.json)
		array = must(json_object_new_array());
	for (size_t i = 0; i < set->shown && !status; i++)
		status = show_one(set, i, array);
	if (array && !status)
		json_print(stdout, array, options.pretty);
	else
		json_object_put(array);
	return status;
}

int flow_show(int argc, char **argv)
{
	struct flow_query query;
	struct flow_set set;
	int status = flow_query_parse(argc, argv,
				      WORDS_FILTER | WORDS_LOCAL | WORDS_ORDER,
				      &query);
	int error;

	if (status)
		return status;
	error = flow_set_read(&query, NULL, &set);
	if (error)
		return library_error(error);
	status = show_all(&set);
	if (!status)
		status = flow_report(&set);
	flow_set_free(&set);
	return status;
}
