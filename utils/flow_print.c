// SPDX-License-Identifier: GPL-2.0
/* Flows as a table, as JSON, and what has to be said about what is missing. */
#include <stdlib.h>
#include <string.h>

#include "flow.h"

static const enum flow_column plain_columns[] = {
	FLOW_SOURCE, FLOW_DESTINATION, FLOW_TYPE, FLOW_PROCESS, FLOW_STATE,
	FLOW_RATE, FLOW_PACKETS, FLOW_BYTES, FLOW_CE, FLOW_CNP, FLOW_NAK,
	FLOW_RNR, FLOW_RETX, FLOW_LOST, FLOW_P50, FLOW_P99, FLOW_LABEL,
};

/* Bytes of an interval would say again what the rate says. */
static const enum flow_column live_columns[] = {
	FLOW_SOURCE, FLOW_DESTINATION, FLOW_TYPE, FLOW_PROCESS, FLOW_STATE,
	FLOW_RATE, FLOW_PACKETS, FLOW_CE, FLOW_CNP, FLOW_NAK, FLOW_RNR,
	FLOW_RETX, FLOW_LOST, FLOW_P50, FLOW_P99, FLOW_LABEL,
};

static void print_rows(const enum flow_column *list, size_t width,
		       const struct flow_set *set,
		       const struct flow_set *previous, bool live)
{
	struct column columns[FLOW_COLUMNS];
	struct table *table;
	char text[FLOW_CELL];

	for (size_t i = 0; i < width; i++)
		columns[i] = (struct column){ flow_title(list[i], live),
					      flow_column_right(list[i]) };
	table = table_new(columns, width);
	for (size_t i = 0; i < set->shown; i++) {
		struct flow_row row = flow_row_of(set, i, previous, live);

		for (size_t k = 0; k < width; k++) {
			enum tint tint = flow_cell(&row, list[k], options.human,
						   text);

			table_cell(table, tint, "%s", text);
		}
	}
	table_print(table);
	table_free(table);
}

void flow_print_table(const struct flow_set *set,
		      const struct flow_set *previous, bool live)
{
	if (!set->shown)
		return;
	if (live)
		print_rows(live_columns, ARRAY_SIZE(live_columns), set,
			   previous, live);
	else
		print_rows(plain_columns, ARRAY_SIZE(plain_columns), set,
			   previous, live);
}

void flow_print_json(const struct flow_set *set,
		     const struct flow_set *previous, bool live)
{
	struct json_object *array = must(json_object_new_array());

	for (size_t i = 0; i < set->shown; i++) {
		struct flow_row row = flow_row_of(set, i, previous, live);

		json_object_array_add(array, flow_json(&row, NULL));
	}
	json_print(stdout, array, options.pretty);
}

/* ---- what is missing ----------------------------------------------------- */

static bool nothing_observed(void)
{
	struct peerlane_flow_point *points = NULL;
	size_t count = 0;

	if (peerlane_flow_points(&points, &count))
		return false;
	free(points);
	return !count;
}

/* Cutting is never silent: what is in no flow is told. */
static void report_missed(void)
{
	struct peerlane_flow_stats stats;

	if (peerlane_flow_stats(&stats))
		return;
	if (stats.missed_full)
		note("%ju packets are in no flow: the table was full of busy ones, see parameter max_flows (now %u)",
		     (uintmax_t)stats.missed_full, stats.flow_limit);
	if (stats.missed_memory)
		note("%ju packets are in no flow: memory was short",
		     (uintmax_t)stats.missed_memory);
}

int flow_report(const struct flow_set *set)
{
	report_missed();
	if (set->no_processes)
		note("processes are not known: %s", set->no_processes);
	if (set->incomplete) {
		note("flows may be missing: the table changed its shape each time it was read");
		return STATUS_INCOMPLETE;
	}
	if (!set->count && nothing_observed())
		note("no packets are observed; \"peerlane flow observe local on\" begins with those of this node's software RDMA, \"peerlane flow observe dev NAME on\" with those that arrive at a network device, such as a mirror port");
	return STATUS_OK;
}
