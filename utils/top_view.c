// SPDX-License-Identifier: GPL-2.0
/* What "flow top" draws: two lines of totals, a table, a line of keys. */
#include <stdlib.h>
#include <string.h>

#include "top_screen.h"
#include "top_table.h"
#include "top_view.h"
#include "units.h"

static const enum flow_column columns[] = {
	FLOW_SOURCE, FLOW_DESTINATION, FLOW_PROCESS, FLOW_RATE, FLOW_PACKETS,
	FLOW_CE, FLOW_CNP, FLOW_NAK, FLOW_RNR, FLOW_RETX, FLOW_LOST, FLOW_P50,
	FLOW_P99, FLOW_STATE, FLOW_LABEL,
};

/* Of these, what rows can be ordered by. */
static const struct sort {
	const char *name;
	enum flow_column column;
	uint32_t counter;	/* of "sort by" */
} sorts[] = {
	{ "rate", FLOW_RATE, PEERLANE_COUNT_RATE_BYTES },
	{ "packets", FLOW_PACKETS, PEERLANE_COUNT_RATE_PACKETS },
	{ "ce", FLOW_CE, PEERLANE_COUNT_CE },
	{ "cnp", FLOW_CNP, PEERLANE_COUNT_REVERSE_CNP },
	{ "nak", FLOW_NAK, PEERLANE_COUNT_REVERSE_NAK_SEQUENCE },
	{ "rnr", FLOW_RNR, PEERLANE_COUNT_REVERSE_RNR },
	{ "retx", FLOW_RETX, PEERLANE_COUNT_RETRANSMITTED },
	{ "lost", FLOW_LOST, PEERLANE_COUNT_LOST },
	{ "p99", FLOW_P99, PEERLANE_COUNT_RTT_P99 },
};

enum { WIDTH = ARRAY_SIZE(columns), HEAD = 3, FOOT = 1 };
_Static_assert(ARRAY_SIZE(columns) <= (size_t)TOP_WIDTH, "columns");

void top_view_init(struct top_state *state, const struct flow_query *query)
{
	memset(state, 0, sizeof(*state));
	state->sort_count = ARRAY_SIZE(sorts);
	for (size_t i = 0; i < ARRAY_SIZE(sorts) && query->sorted; i++)
		if (sorts[i].counter == query->sort)
			state->sort = i;
}

uint32_t top_view_counter(const struct top_state *state)
{
	return sorts[state->sort].counter;
}

void top_view_points(struct top_data *data)
{
	struct peerlane_flow_point *list = NULL;
	size_t count = 0;

	if (peerlane_flow_points(&list, &count))
		return;
	free(list);
	data->points = count;
}

/* ---- rows --------------------------------------------------------------- */

static struct top_line make_line(const struct flow_row *row,
				 enum flow_column sort, size_t index)
{
	struct top_line line = { .index = index };
	char text[FLOW_CELL];

	for (size_t i = 0; i < WIDTH; i++) {
		line.tint[i] = flow_cell(row, columns[i], true, text);
		line.text[i] = printable(*text ? text : "-");
	}
	if (flow_value(row, sort, &line.sort) != RATE_KNOWN)
		line.sort = 0;
	/* Until there are two readings, by what the kernel says. */
	if (!line.sort && sort == FLOW_RATE)
		line.sort = row->before ? 0 : row->info->rate_bytes;
	return line;
}

static void make_table(struct top_table *table, const struct top_state *state,
		       const struct top_data *data)
{
	const struct flow_set *before = data->have_before ? &data->before : NULL;
	enum flow_column sort = sorts[state->sort].column;

	*table = (struct top_table){ .width = WIDTH };
	for (size_t k = 0; k < WIDTH; k++) {
		table->columns[k].title = flow_title(columns[k], true);
		table->columns[k].right = flow_column_right(columns[k]);
		if (columns[k] == sort)
			table->marked = k;
	}
	for (size_t i = 0; i < data->now.shown; i++) {
		struct flow_row row = flow_row_of(&data->now, i, before, true);
		struct top_line line;

		if (state->congested && !row.info->congested)
			continue;
		line = make_line(&row, sort, i);
		top_table_add(table, state, &line);
	}
	top_table_sort(table, state);
}

/* ---- drawing ------------------------------------------------------------ */

static void draw_totals(const struct top_state *state,
			const struct top_data *data,
			const struct flow_query *query)
{
	uint64_t bytes = 0;
	uint64_t packets = 0;
	size_t congested = 0;
	char rate[UNITS_ROOM];
	char speed[UNITS_ROOM];
	char *text;

	for (size_t i = 0; i < data->now.count; i++) {
		bytes += data->now.infos[i].rate_bytes;
		packets += data->now.infos[i].rate_packets;
		congested += data->now.infos[i].congested;
	}
	units_bits(rate, bytes);
	units_si(speed, packets, "");
	text = format_text("peerlane flow top  every %gs%s  by %s%s  flows %zu  congested %zu  %s  %s packets/s",
			   (double)query->interval_ns / 1e9,
			   state->paused ? "  PAUSED" : "",
			   sorts[state->sort].name,
			   state->reversed ? " (smallest first)" : "",
			   data->now.count, congested, rate, speed);
	screen_text(0, 0, TINT_BOLD, text);
	free(text);
}

/* What is not in the table has to be seen before the table. */
static void draw_missed(const struct top_data *data)
{
	const struct peerlane_flow_stats *stats = &data->stats;
	uint64_t missed = stats->missed_full + stats->missed_memory;
	char *text = format_text("table %u of %u  missed packets %ju  round trips %ju  evicted %ju%s%s",
				 stats->flows, stats->flow_limit,
				 (uintmax_t)missed,
				 (uintmax_t)stats->missed_histogram,
				 (uintmax_t)stats->evicted,
				 data->now.incomplete ? "  INCOMPLETE" : "",
				 data->cut ? "  FIRST ROWS ONLY" : "");

	screen_text(1, 0, missed || data->now.incomplete ? TINT_BAD : TINT_NONE,
		    text);
	free(text);
}

static void draw_help(const struct top_state *state, int row)
{
	char *text;

	if (state->typing)
		text = format_text("find: %s_", state->find);
	else if (state->help)
		text = format_text("q quit  s/S next/last order  r reverse  p pause  c congested only  f find  space now  arrows, Home: move  Esc: all flows");
	else
		text = format_text("q quit  s sort  r reverse  p pause  f find%s%s%s  c congested%s  h help",
				   *state->find ? " (" : "", state->find,
				   *state->find ? ")" : "",
				   state->congested ? " (only)" : "");
	screen_bar(row, text);
	free(text);
}

static void draw_message(const struct top_data *data)
{
	char *safe = NULL;

	if (data->error) {
		safe = printable(data->error);
		screen_text(HEAD, 0, TINT_BAD, safe);
	} else if (!data->now.count && !data->points) {
		screen_text(HEAD, 0, TINT_WARN,
			    "no packets are observed: see \"peerlane flow observe\"");
	}
	free(safe);
}

void top_view_draw(struct top_state *state, const struct top_data *data,
		   const struct flow_query *query)
{
	struct top_table table;

	make_table(&table, state, data);
	top_table_fit(&table, state, HEAD, FOOT);
	screen_begin();
	draw_totals(state, data, query);
	draw_missed(data);
	top_table_draw(&table, state, HEAD);
	draw_message(data);
	draw_help(state, screen_rows() - 1);
	screen_end();
	top_table_free(&table);
}
