// SPDX-License-Identifier: GPL-2.0
/* What was measured of a group: as nccl-tests have it, or as JSON. */
#include "bench_reduce.h"
#include "collective.h"
#include "units.h"

static double busbw(uint32_t ranks, const struct reduce_row *row)
{
	return collective_busbw(PEERLANE_ALL_REDUCE, ranks, row->bytes, row->ns);
}

static void cell_ns(struct table *table, uint64_t ns)
{
	char text[UNITS_ROOM];

	units_ns(text, ns);
	table_cell(table, TINT_NONE, "%s", text);
}

/* To one aggregator each segment, or all to all; auto may have changed its mind. */
static const char *way(const struct reduce_row *row)
{
	if (!row->replicated)
		return "shared";
	return row->replicated < row->latency.samples ? "both" : "replicated";
}

static void table_row(struct table *table, const struct reduce_options *wanted,
		      uint32_t ranks, const struct reduce_row *row)
{
	table_cell(table, TINT_BOLD, "%s", bytes_text(row->bytes));
	table_cell(table, TINT_NONE, "%ju", (uintmax_t)row->count);
	table_cell(table, TINT_NONE, "%s", peerlane_element_name(wanted->type));
	table_cell(table, TINT_NONE, "%s", peerlane_combination_name(wanted->op));
	table_cell(table, TINT_NONE, "%s", way(row));
	cell_ns(table, row->ns);
	table_cell(table, TINT_NONE, "%.3f",
		   collective_algbw(row->bytes, row->ns));
	table_cell(table, TINT_NONE, "%.3f", busbw(ranks, row));
	if (wanted->check)
		table_cell(table, row->errors ? TINT_BAD : TINT_GOOD, "%ju",
			   (uintmax_t)row->errors);
	else
		table_cell(table, TINT_NONE, "-");
	cell_ns(table, latency_percentile(&row->latency, 500000));
	cell_ns(table, latency_percentile(&row->latency, 990000));
	cell_ns(table, row->latency.max);
	table_cell(table, TINT_NONE, "%s", bytes_text(row->sent));
	table_cell(table, TINT_NONE, "%s", bytes_text(row->received));
}

static void print_table(const struct reduce_options *wanted, uint32_t ranks,
			const struct reduce_row *rows, size_t count)
{
	static const struct column columns[] = {
		{ "SIZE", true }, { "COUNT", true }, { "TYPE", false },
		{ "OP", false }, { "WAY", false }, { "TIME", true },
		{ "ALGBW", true }, { "BUSBW", true }, { "ERRORS", true },
		{ "P50", true }, { "P99", true }, { "MAX", true },
		{ "SENT", true }, { "RECEIVED", true },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));

	printf("all-reduce, %u ranks, %s\n", ranks,
	       wanted->in_place ? "in place" : "out of place");
	for (size_t i = 0; i < count; i++)
		table_row(table, wanted, ranks, &rows[i]);
	table_print(table);
	table_free(table);
}

static struct json_object *latency_json(const struct latency *latency)
{
	struct json_object *object = must(json_object_new_object());

	json_number(object, "min", latency->min);
	json_number(object, "mean", latency_mean(latency));
	json_number(object, "p50", latency_percentile(latency, 500000));
	json_number(object, "p99", latency_percentile(latency, 990000));
	json_number(object, "max", latency->max);
	return object;
}

static void json_double(struct json_object *object, const char *key,
			double value)
{
	json_object_object_add(object, key, must(json_object_new_double(value)));
}

static struct json_object *row_json(const struct reduce_options *wanted,
				    uint32_t rank, uint32_t ranks,
				    const struct reduce_row *row)
{
	struct json_object *object = must(json_object_new_object());

	json_text(object, "test", "allreduce", SIZE_MAX);
	json_number(object, "rank", rank);
	json_number(object, "ranks", ranks);
	json_number(object, "size", row->bytes);
	json_number(object, "count", row->count);
	json_text(object, "type", peerlane_element_name(wanted->type), SIZE_MAX);
	json_text(object, "op", peerlane_combination_name(wanted->op), SIZE_MAX);
	json_object_object_add(object, "in_place",
			       must(json_object_new_boolean(wanted->in_place)));
	json_text(object, "placement", peerlane_place_name(wanted->placement),
		  SIZE_MAX);
	json_number(object, "ops", row->latency.samples);
	json_number(object, "ops_replicated", row->replicated);
	json_number(object, "time_ns", row->ns);
	json_double(object, "algbw", collective_algbw(row->bytes, row->ns));
	json_double(object, "busbw", busbw(ranks, row));
	json_or_null(object, "errors", wanted->check ? (int64_t)row->errors : -1,
		     -1);
	json_object_object_add(object, "latency_ns",
			       latency_json(&row->latency));
	json_number(object, "wire_sent", row->sent);
	json_number(object, "wire_received", row->received);
	return object;
}

void reduce_report(const struct reduce_options *wanted, uint32_t rank,
		   uint32_t ranks, const struct reduce_row *rows, size_t count)
{
	struct json_object *array;

	/* All ranks have the same times; their output often goes to one place. */
	if (!options.json && !rank && count)
		print_table(wanted, ranks, rows, count);
	if (!options.json)
		return;
	array = must(json_object_new_array());
	for (size_t i = 0; i < count; i++)
		json_object_array_add(array, row_json(wanted, rank, ranks,
						      &rows[i]));
	json_print(stdout, array, options.pretty);
}
