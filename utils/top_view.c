// SPDX-License-Identifier: GPL-2.0
/* What "flow top" draws: two lines of totals, a table, a line of keys. */
#include <stdlib.h>
#include <string.h>

#include "top_screen.h"
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

struct line {
	char *text[WIDTH];
	enum tint tint[WIDTH];
	uint64_t sort;
	size_t index;		/* of the set's order: breaks ties */
};

struct lines {
	struct line *list;
	size_t count;
};

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

static void free_line(struct line *line)
{
	for (size_t i = 0; i < WIDTH; i++)
		free(line->text[i]);
}

static bool holds(const struct line *line, const char *find)
{
	for (size_t i = 0; i < WIDTH && *find; i++)
		if (strcasestr(line->text[i], find))
			return true;
	return !*find;
}

static struct line make_line(const struct flow_row *row, enum flow_column sort,
			     size_t index)
{
	struct line line = { .index = index };
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

static int compare_lines(const void *a, const void *b, void *arg)
{
	const struct line *one = a;
	const struct line *other = b;
	const struct top_state *state = arg;
	int order = one->sort < other->sort ? 1 : -(one->sort > other->sort);

	if (state->reversed)
		order = -order;
	return order ? order : one->index < other->index ? -1 : 1;
}

static struct lines make_lines(struct top_state *state,
			       const struct top_data *data)
{
	struct lines lines = { 0 };
	const struct flow_set *before = data->have_before ? &data->before : NULL;

	lines.list = must(calloc(data->now.shown + 1, sizeof(*lines.list)));
	for (size_t i = 0; i < data->now.shown; i++) {
		struct flow_row row = flow_row_of(&data->now, i, before, true);
		struct line line;

		if (state->congested && !row.info->congested)
			continue;
		line = make_line(&row, sorts[state->sort].column, i);
		if (holds(&line, state->find))
			lines.list[lines.count++] = line;
		else
			free_line(&line);
	}
	qsort_r(lines.list, lines.count, sizeof(*lines.list), compare_lines,
		state);
	return lines;
}

static void free_lines(struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free_line(&lines->list[i]);
	free(lines->list);
}

/* ---- drawing ------------------------------------------------------------ */

static void measure(const struct lines *lines, size_t first, size_t end,
		    int widths[WIDTH])
{
	for (size_t k = 0; k < WIDTH; k++)
		widths[k] = (int)strlen(flow_title(columns[k], true));
	for (size_t i = first; i < end; i++) {
		for (size_t k = 0; k < WIDTH; k++) {
			int length = (int)strlen(lines->list[i].text[k]);

			if (length > widths[k])
				widths[k] = length;
		}
	}
}

static void draw_titles(int row, const int widths[WIDTH], size_t sort)
{
	char *bar = must(strdup(""));

	for (size_t k = 0; k < WIDTH; k++) {
		bool right = flow_column_right(columns[k]);
		char mark = columns[k] == sorts[sort].column ? '*' : ' ';
		char *longer = format_text("%s%*s%c ", bar,
					   right ? widths[k] : -widths[k],
					   flow_title(columns[k], true), mark);

		free(bar);
		bar = longer;
	}
	screen_bar(row, bar);
	free(bar);
}

static void draw_line(int row, const struct line *line, const int widths[WIDTH])
{
	int column = 0;

	for (size_t k = 0; k < WIDTH; k++) {
		int fill = widths[k] - (int)strlen(line->text[k]);
		bool right = flow_column_right(columns[k]);

		screen_text(row, column + (right ? fill : 0), line->tint[k],
			    line->text[k]);
		column += widths[k] + 2;
	}
}

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
	struct lines lines = make_lines(state, data);
	int height = screen_rows() - HEAD - FOOT;
	int widths[WIDTH];
	size_t end;

	state->rows = lines.count;
	state->page = height > 0 ? (size_t)height : 0;
	top_clamp(state);
	end = state->first + state->page;
	if (end > lines.count)
		end = lines.count;
	measure(&lines, state->first, end, widths);
	screen_begin();
	draw_totals(state, data, query);
	draw_missed(data);
	draw_titles(HEAD - 1, widths, state->sort);
	for (size_t i = state->first; i < end; i++)
		draw_line(HEAD + (int)(i - state->first), &lines.list[i],
			  widths);
	draw_message(data);
	draw_help(state, screen_rows() - 1);
	screen_end();
	free_lines(&lines);
}
