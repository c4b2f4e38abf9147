// SPDX-License-Identifier: GPL-2.0
/* What was measured, as a table or as JSON. */
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "histogram.h"
#include "units.h"

#define GIB		(UINT64_C(1) << 30)
#define BAR_WIDTH	50
#define PROGRESS_NS	500000000

static const char *const tests[] = {
	[BENCH_PUT] = "put", [BENCH_GET] = "get", [BENCH_LAT] = "lat",
};

/* ---- progress ---------------------------------------------------------------------- */

void bench_progress(struct bench_run *run, uint64_t begin, uint64_t ops)
{
	uint64_t now = bench_now();

	if (now - (run->progress ? run->progress : begin) < PROGRESS_NS ||
	    !run->is_client || options.json || !isatty(STDERR_FILENO))
		return;
	run->progress = now;
	fprintf(stderr, "\r%ju bytes: %ju operations, %.1f s ",
		(uintmax_t)run->what->size, (uintmax_t)ops,
		(double)(now - begin) / 1e9);
	fflush(stderr);
}

void bench_progress_end(struct bench_run *run)
{
	if (run->progress)
		fputs("\r\033[K", stderr);
	run->progress = 0;
}

/* ---- figures -------------------------------------------------------------------- */

static uint64_t scaled(uint64_t value, uint64_t by, uint64_t over)
{
	unsigned __int128 product = value;

	return over ? (uint64_t)(product * by / over) : 0;
}

/* Of both directions, if data went both ways */
static uint64_t all_bytes(const struct bench_row *row)
{
	return row->own.bytes + row->peer.bytes;
}

static uint64_t all_ops(const struct bench_row *row)
{
	return row->own.ops + row->peer.ops;
}

static double calls_per_op(const struct bench_row *row)
{
	return row->own.ops ? (double)row->own.calls / (double)row->own.ops : 0;
}

static struct histogram histogram_of(const struct latency *latency)
{
	return (struct histogram){
		.counts = latency->counts, .buckets = LATENCY_BUCKETS,
		.edge = latency_edge,
	};
}

/* ---- table ------------------------------------------------------------------------ */

static void cell_ns(struct table *table, uint64_t ns)
{
	char text[UNITS_ROOM];

	units_ns(text, ns);
	table_cell(table, TINT_NONE, "%s", text);
}

/* Ticks are coarse: what is too short to be seen is not told. */
static void cell_cost(struct table *table, uint64_t ns)
{
	if (ns)
		cell_ns(table, ns);
	else
		table_cell(table, TINT_NONE, "-");
}

/* Of each GiB, or of each operation */
static void costs(struct table *table, const struct bench_row *row, uint64_t by,
		  uint64_t over)
{
	cell_cost(table, scaled(row->own.process, by, over));
	cell_cost(table, scaled(row->own.node, by, over));
	cell_cost(table, scaled(row->peer.process, by, over));
	cell_cost(table, scaled(row->peer.node, by, over));
	table_cell(table, TINT_NONE, "%.2f", calls_per_op(row));
}

static void flood_row(struct table *table, const struct bench_row *row)
{
	const struct latency *latency = &row->latency;

	table_cell(table, TINT_BOLD, "%s", bytes_text(row->size));
	table_cell(table, TINT_NONE, "%ju", (uintmax_t)all_ops(row));
	table_cell(table, TINT_NONE, "%.2f",
		   row->own.ns ? (double)all_bytes(row) * 1e9 / 1048576 /
		   (double)row->own.ns : 0);
	table_cell(table, TINT_NONE, "%ju",
		   (uintmax_t)scaled(all_ops(row), 1000000000, row->own.ns));
	cell_ns(table, latency_percentile(latency, 500000));
	cell_ns(table, latency_percentile(latency, 990000));
	cell_ns(table, latency_percentile(latency, 999000));
	cell_ns(table, latency->max);
	costs(table, row, GIB, all_bytes(row));
}

static void lat_row(struct table *table, const struct bench_row *row)
{
	const struct latency *latency = &row->latency;

	table_cell(table, TINT_BOLD, "%s", bytes_text(row->size));
	table_cell(table, TINT_NONE, "%ju", (uintmax_t)row->own.ops);
	cell_ns(table, latency->min);
	cell_ns(table, latency_percentile(latency, 500000));
	cell_ns(table, latency_mean(latency));
	cell_ns(table, latency_percentile(latency, 990000));
	cell_ns(table, latency_percentile(latency, 999000));
	cell_ns(table, latency->max);
	costs(table, row, 1, row->own.ops);
}

static const struct column flood_columns[] = {
	{ "SIZE", true }, { "OPS", true }, { "MiB/s", true }, { "OPS/s", true },
	{ "P50", true }, { "P99", true }, { "P99.9", true }, { "MAX", true },
	{ "CPU/GiB", true }, { "NODE/GiB", true }, { "PEER-CPU/GiB", true },
	{ "PEER-NODE/GiB", true }, { "CALLS/OP", true },
};

static const struct column lat_columns[] = {
	{ "SIZE", true }, { "OPS", true }, { "MIN", true }, { "P50", true },
	{ "MEAN", true }, { "P99", true }, { "P99.9", true }, { "MAX", true },
	{ "CPU/OP", true }, { "NODE/OP", true }, { "PEER-CPU/OP", true },
	{ "PEER-NODE/OP", true }, { "CALLS/OP", true },
};

static void print_table(enum bench_test test, const struct bench_row *rows,
			size_t count)
{
	struct table *table = test == BENCH_LAT ?
		table_new(lat_columns, ARRAY_SIZE(lat_columns)) :
		table_new(flood_columns, ARRAY_SIZE(flood_columns));

	for (size_t i = 0; i < count; i++)
		(test == BENCH_LAT ? lat_row : flood_row)(table, &rows[i]);
	table_print(table);
	table_free(table);
}

static void print_bar(const struct histogram_row *row, uint64_t most)
{
	size_t length = histogram_bar(row->samples, most, BAR_WIDTH);
	char low[UNITS_ROOM], high[UNITS_ROOM] = "";

	units_ns(low, row->low);
	if (row->high != UINT64_MAX)
		units_ns(high, row->high);
	printf("%8s - %-8s %10ju ", low, high, (uintmax_t)row->samples);
	while (length--)
		putchar('#');
	putchar('\n');
}

static void print_histogram(const struct bench_row *row)
{
	struct histogram fine = histogram_of(&row->latency);
	struct histogram_row rows[HISTOGRAM_ROWS];
	size_t count = histogram_rows(&fine, rows);
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++)
		if (rows[i].samples > most)
			most = rows[i].samples;
	printf("\n%s bytes\n", bytes_text(row->size));
	for (size_t i = 0; i < count; i++)
		print_bar(&rows[i], most);
}

/* ---- JSON -------------------------------------------------------------------------- */

static struct json_object *latency_json(const struct latency *latency)
{
	struct json_object *object = must(json_object_new_object());

	json_number(object, "min", latency->min);
	json_number(object, "mean", latency_mean(latency));
	json_number(object, "p50", latency_percentile(latency, 500000));
	json_number(object, "p99", latency_percentile(latency, 990000));
	json_number(object, "p99_9", latency_percentile(latency, 999000));
	json_number(object, "max", latency->max);
	return object;
}

static struct json_object *histogram_json(const struct latency *latency)
{
	struct json_object *array = must(json_object_new_array());
	struct histogram fine = histogram_of(latency);
	struct histogram_row rows[HISTOGRAM_ROWS];
	size_t count = histogram_rows(&fine, rows);

	for (size_t i = 0; i < count; i++) {
		struct json_object *row = must(json_object_new_object());

		json_number(row, "low", rows[i].low);
		json_number(row, "high", rows[i].high);
		json_number(row, "samples", rows[i].samples);
		json_object_array_add(array, row);
	}
	return array;
}

static struct json_object *row_json(const struct bench_options *wanted,
				    const char *peer,
				    const struct bench_row *row)
{
	struct json_object *object = must(json_object_new_object());

	json_text(object, "test", tests[wanted->test], SIZE_MAX);
	json_text(object, "peer", peer, SIZE_MAX);
	json_number(object, "size", row->size);
	json_number(object, "ops", all_ops(row));
	json_number(object, "bytes", all_bytes(row));
	json_number(object, "ns", row->own.ns);
	json_number(object, "bytes_per_second",
		    scaled(all_bytes(row), 1000000000, row->own.ns));
	json_number(object, "ops_per_second",
		    scaled(all_ops(row), 1000000000, row->own.ns));
	json_object_object_add(object, "latency_ns",
			       latency_json(&row->latency));
	json_number(object, "calls", row->own.calls);
	json_number(object, "cpu_ns", row->own.process);
	json_number(object, "node_cpu_ns", row->own.node);
	json_number(object, "peer_cpu_ns", row->peer.process);
	json_number(object, "peer_node_cpu_ns", row->peer.node);
	json_or_null(object, "wrong_bytes", wanted->check ?
		     (int64_t)(row->own.wrong + row->peer.wrong) : -1, -1);
	if (wanted->histogram)
		json_object_object_add(object, "histogram",
				       histogram_json(&row->latency));
	return object;
}

void bench_report(const struct bench_options *wanted, const char *peer,
		  const struct bench_row *rows, size_t count)
{
	struct json_object *array;

	if (!options.json) {
		print_table(wanted->test, rows, count);
		for (size_t i = 0; i < count && wanted->histogram; i++)
			print_histogram(&rows[i]);
		return;
	}
	array = must(json_object_new_array());
	for (size_t i = 0; i < count; i++)
		json_object_array_add(array, row_json(wanted, peer, &rows[i]));
	json_print(stdout, array, options.pretty);
}
