// SPDX-License-Identifier: GPL-2.0
/* Lines in columns on the whole screen, which can be ordered and moved. */
#include <stdlib.h>
#include <string.h>

#include "top_screen.h"
#include "top_table.h"

/* ---- lines -------------------------------------------------------------- */

static void free_line(struct top_line *line)
{
	for (size_t i = 0; i < TOP_WIDTH; i++)
		free(line->text[i]);
}

static bool holds(const struct top_table *table, const struct top_line *line,
		  const char *find)
{
	for (size_t i = 0; i < table->width && *find; i++)
		if (strcasestr(line->text[i], find))
			return true;
	return !*find;
}

void top_table_add(struct top_table *table, const struct top_state *state,
		   struct top_line *line)
{
	if (!holds(table, line, state->find)) {
		free_line(line);
		return;
	}
	if (table->count == table->room) {
		table->room = table->room ? 2 * table->room : 64;
		table->list = must(reallocarray(table->list, table->room,
						sizeof(*table->list)));
	}
	table->list[table->count++] = *line;
}

static int compare_lines(const void *a, const void *b, void *arg)
{
	const struct top_line *one = a;
	const struct top_line *other = b;
	const struct top_state *state = arg;
	int order = one->sort < other->sort ? 1 : -(one->sort > other->sort);

	if (state->reversed)
		order = -order;
	return order ? order : one->index < other->index ? -1 : 1;
}

void top_table_sort(struct top_table *table, const struct top_state *state)
{
	if (table->count)
		qsort_r(table->list, table->count, sizeof(*table->list),
			compare_lines, (void *)(uintptr_t)state);
}

void top_table_free(struct top_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free_line(&table->list[i]);
	free(table->list);
}

/* ---- drawing ------------------------------------------------------------ */

static size_t end_of(const struct top_table *table,
		     const struct top_state *state)
{
	size_t end = state->first + state->page;

	return end < table->count ? end : table->count;
}

static void measure(const struct top_table *table,
		    const struct top_state *state, int widths[TOP_WIDTH])
{
	size_t end = end_of(table, state);

	for (size_t k = 0; k < table->width; k++)
		widths[k] = (int)strlen(table->columns[k].title);
	for (size_t i = state->first; i < end; i++) {
		for (size_t k = 0; k < table->width; k++) {
			int length = (int)strlen(table->list[i].text[k]);

			if (length > widths[k])
				widths[k] = length;
		}
	}
}

static void draw_titles(const struct top_table *table, int row,
			const int widths[TOP_WIDTH])
{
	char *bar = must(strdup(""));

	for (size_t k = 0; k < table->width; k++) {
		bool right = table->columns[k].right;
		char *longer = format_text("%s%*s%c ", bar,
					   right ? widths[k] : -widths[k],
					   table->columns[k].title,
					   k == table->marked ? '*' : ' ');

		free(bar);
		bar = longer;
	}
	screen_bar(row, bar);
	free(bar);
}

static void draw_line(const struct top_table *table, int row,
		      const struct top_line *line, const int widths[TOP_WIDTH])
{
	int column = 0;

	for (size_t k = 0; k < table->width; k++) {
		int fill = widths[k] - (int)strlen(line->text[k]);

		screen_text(row, column + (table->columns[k].right ? fill : 0),
			    line->tint[k], line->text[k]);
		column += widths[k] + 2;
	}
}

void top_table_fit(const struct top_table *table, struct top_state *state,
		   int head, int foot)
{
	int height = screen_rows() - head - foot;

	state->rows = table->count;
	state->page = height > 0 ? (size_t)height : 0;
	top_clamp(state);
}

void top_table_draw(const struct top_table *table,
		    const struct top_state *state, int head)
{
	size_t end = end_of(table, state);
	int widths[TOP_WIDTH];

	measure(table, state, widths);
	draw_titles(table, head - 1, widths);
	for (size_t i = state->first; i < end; i++)
		draw_line(table, head + (int)(i - state->first),
			  &table->list[i], widths);
}
