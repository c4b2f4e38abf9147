/* SPDX-License-Identifier: GPL-2.0 */
/* What the keys of "flow top" do. Pure: knows no terminal and no flow. */
#ifndef PEERLANE_TOP_STATE_H
#define PEERLANE_TOP_STATE_H

#include <stdbool.h>
#include <stddef.h>

enum top_key {			/* what is no character */
	TOP_KEY_UP = 0x110000,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_BACKSPACE,
	TOP_KEY_RESIZE,
};

enum top_action {
	TOP_IGNORE,
	TOP_DRAW,		/* the same data look different now */
	TOP_READ,		/* new data are wanted now */
	TOP_QUIT,
};

struct top_state {
	size_t sort_count;	/* how many sort keys there are */
	size_t page;		/* rows on the screen */
	size_t rows;		/* rows there are */
	size_t sort;
	size_t first;		/* row at the top */
	bool reversed;
	bool paused;
	bool congested;		/* only those */
	bool help;
	bool typing;		/* the text to look for */
	bool quit;
	char find[64];
};

enum top_action top_key(struct top_state *state, int key);
/* After a change of @rows or @page: the top row stays one of them. */
void top_clamp(struct top_state *state);

#endif /* PEERLANE_TOP_STATE_H */
