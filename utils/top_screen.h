/* SPDX-License-Identifier: GPL-2.0 */
/* The terminal as "flow top" needs it; all of ncurses is behind this. */
#ifndef PEERLANE_TOP_SCREEN_H
#define PEERLANE_TOP_SCREEN_H

#include "cli.h"

/*
 * Take the terminal over. Returns NULL, or why it cannot be used so, which is
 * then as it was.
 */
const char *screen_open(void);
/* Give it back as it was. */
void screen_close(void);

int screen_rows(void);
int screen_columns(void);
void screen_begin(void);
/* Text at a place, cut at the edge; printable ASCII only. Returns where it ends. */
int screen_text(int row, int column, enum tint tint, const char *text);
/* A line in reverse video from edge to edge. */
void screen_bar(int row, const char *text);
void screen_end(void);

enum { SCREEN_NO_KEY = -1, SCREEN_GONE = -2 };

/*
 * Wait for a key: a character, an enum top_key, SCREEN_NO_KEY after @ms, or
 * SCREEN_GONE when the terminal has gone or a signal asks for the end.
 */
int screen_key(int ms);

#endif /* PEERLANE_TOP_SCREEN_H */
