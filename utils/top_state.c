// SPDX-License-Identifier: GPL-2.0
/* What the keys of "flow top" do. */
#include <string.h>

#include "top_state.h"

enum { ESCAPE = 27, CONTROL_C = 3, CONTROL_H = 8, DELETE = 127 };

void top_clamp(struct top_state *state)
{
	size_t last = state->rows > state->page ? state->rows - state->page : 0;

	if (state->first > last)
		state->first = last;
}

static enum top_action type_key(struct top_state *state, int key)
{
	size_t length = strlen(state->find);

	switch (key) {
	case '\n':
	case '\r':
		state->typing = false;
		return TOP_DRAW;
	case ESCAPE:
		state->typing = false;
		state->find[0] = '\0';
		return TOP_DRAW;
	case TOP_KEY_BACKSPACE:
	case CONTROL_H:
	case DELETE:
		if (length)
			state->find[length - 1] = '\0';
		return TOP_DRAW;
	case CONTROL_C:
		return TOP_QUIT;
	case TOP_KEY_RESIZE:
		return TOP_DRAW;
	}
	if (key < ' ' || key > '~' || length + 1 >= sizeof(state->find))
		return TOP_IGNORE;
	state->find[length] = (char)key;
	state->find[length + 1] = '\0';
	return TOP_DRAW;
}

static enum top_action move(struct top_state *state, int key)
{
	size_t step = state->page ? state->page : 1;

	switch (key) {
	case TOP_KEY_UP:
		state->first -= !!state->first;
		break;
	case TOP_KEY_DOWN:
		state->first++;
		break;
	case TOP_KEY_PAGE_UP:
		state->first -= state->first < step ? state->first : step;
		break;
	case TOP_KEY_PAGE_DOWN:
		state->first += step;
		break;
	default:
		state->first = 0;
	}
	top_clamp(state);
	return TOP_DRAW;
}

static void next_sort(struct top_state *state, size_t step)
{
	state->sort = (state->sort + step) % state->sort_count;
	state->first = 0;
}

enum top_action top_key(struct top_state *state, int key)
{
	if (state->typing)
		return type_key(state, key);
	switch (key) {
	case 'q':
	case CONTROL_C:
		return TOP_QUIT;
	case 's':
		next_sort(state, 1);
		return TOP_DRAW;
	case 'S':
		next_sort(state, state->sort_count - 1);
		return TOP_DRAW;
	case 'r':
		state->reversed = !state->reversed;
		return TOP_DRAW;
	case 'p':
		state->paused = !state->paused;
		return state->paused ? TOP_DRAW : TOP_READ;
	case 'c':
		state->congested = !state->congested;
		state->first = 0;
		return TOP_DRAW;
	case 'f':
	case '/':
		state->typing = true;
		return TOP_DRAW;
	case 'h':
	case '?':
		state->help = !state->help;
		return TOP_DRAW;
	case ESCAPE:
		state->help = false;
		state->find[0] = '\0';
		return TOP_DRAW;
	case ' ':
		return state->paused ? TOP_IGNORE : TOP_READ;
	case TOP_KEY_RESIZE:
		return TOP_DRAW;
	case TOP_KEY_UP:
	case TOP_KEY_DOWN:
	case TOP_KEY_PAGE_UP:
	case TOP_KEY_PAGE_DOWN:
	case TOP_KEY_HOME:
		return move(state, key);
	}
	return TOP_IGNORE;
}
