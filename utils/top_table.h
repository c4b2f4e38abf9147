/* SPDX-License-Identifier: GPL-2.0 */
/* Lines in columns on the whole screen, which can be ordered and moved. */
#ifndef PEERLANE_TOP_TABLE_H
#define PEERLANE_TOP_TABLE_H

#include "cli.h"
#include "top_state.h"

enum { TOP_WIDTH = 16 };	/* columns at most */

struct top_line {
	char *text[TOP_WIDTH];
	enum tint tint[TOP_WIDTH];
	uint64_t sort;
	size_t index;		/* of the order they came in: breaks ties */
};

struct top_table {
	struct column columns[TOP_WIDTH];
	size_t width;		/* columns */
	size_t marked;		/* the one that orders the lines */
	struct top_line *list;
	size_t count;
	size_t room;
};

/* Add a line, if it has what the user looks for; its texts are taken over. */
void top_table_add(struct top_table *table, const struct top_state *state,
		   struct top_line *line);
void top_table_sort(struct top_table *table, const struct top_state *state);
/* What fits between the first @head rows of the screen and the last @foot */
void top_table_fit(const struct top_table *table, struct top_state *state,
		   int head, int foot);
/* Titles in row @head - 1, and the lines below it */
void top_table_draw(const struct top_table *table,
		    const struct top_state *state, int head);
void top_table_free(struct top_table *table);

#endif /* PEERLANE_TOP_TABLE_H */
