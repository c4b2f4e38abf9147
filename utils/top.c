// SPDX-License-Identifier: GPL-2.0
/* peerlane flow top: flows on the whole screen, again and again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "top_screen.h"
#include "top_view.h"

struct top {
	const struct flow_query *query;
	struct top_state state;
	struct top_data data;
	uint64_t next;		/* when to read again */
	bool have_data;
	int error;		/* of the last reading */
	char *reason;
};

/* ---- data --------------------------------------------------------------- */

/* An error is shown where data would be: it may be over at the next reading. */
static void keep_error(struct top *top, int error)
{
	free(top->reason);
	top->reason = error ? library_reason(error) : NULL;
	top->error = error;
	top->data.error = top->reason;
}

/* Of a large table only the first rows are worth reading. */
static struct flow_query query_now(const struct top *top)
{
	struct flow_query query = *top->query;
	uint32_t counter = top_view_counter(&top->state);

	if (query.top || top->data.stats.flows <= PEERLANE_FLOW_TOP ||
	    counter >= PEERLANE_COUNTERS || top->state.reversed)
		return query;
	query.top = PEERLANE_FLOW_TOP;
	query.sort = counter;
	query.sorted = true;
	return query;
}

static void read_data(struct top *top)
{
	const struct flow_set *previous = top->have_data ? &top->data.now : NULL;
	struct flow_query query = query_now(top);
	struct flow_set set;
	int error = flow_set_read(&query, previous, &set);

	top->next = monotonic_ns() + top->query->interval_ns;
	if (!error)
		error = peerlane_flow_stats(&top->data.stats);
	if (!error)
		top_view_points(&top->data);
	keep_error(top, error);
	if (error) {
		flow_set_free(&set);
		return;
	}
	flow_set_free(&top->data.before);
	top->data.before = top->data.now;
	top->data.cut = query.top && set.shown == query.top;
	top->data.have_before = top->have_data;
	top->data.now = set;
	top->have_data = true;
}

static int wait_ms(const struct top *top)
{
	uint64_t now = monotonic_ns();

	if (top->state.paused)
		return 60000;
	if (now >= top->next)
		return 0;
	return (int)((top->next - now + 999999) / 1000000);
}

/* ---- the loop ----------------------------------------------------------- */

static void step(struct top *top)
{
	int key;
	enum top_action action;

	top_view_draw(&top->state, &top->data, top->query);
	key = screen_key(wait_ms(top));
	if (key == SCREEN_GONE) {
		top->state.quit = true;
		return;
	}
	if (key == SCREEN_NO_KEY) {
		if (!top->state.paused && monotonic_ns() >= top->next)
			read_data(top);
		return;
	}
	action = top_key(&top->state, key);
	if (action == TOP_QUIT)
		top->state.quit = true;
	if (action == TOP_READ)
		read_data(top);
}

static int run(struct top *top)
{
	int status;

	while (!top->state.quit)
		step(top);
	screen_close();
	/* The library's text is of the last call; say what was on the screen. */
	status = top->error ? usage_error("%s", top->reason) : STATUS_OK;
	return status;
}

/* The first reading is before the screen, so that its failure is a message. */
static int start(struct top *top)
{
	const char *reason;
	struct flow_set set;
	int error = flow_set_read(top->query, NULL, &set);

	if (error)
		return library_error(error);
	flow_set_free(&set);
	reason = options.json ? "there is no full screen with -json" :
				screen_open();
	if (reason) {
		note("%s: as \"flow watch\"", reason);
		return flow_watch_query(top->query);
	}
	read_data(top);
	return run(top);
}

int flow_top(int argc, char **argv)
{
	struct flow_query query;
	struct top top = { .query = &query };
	int status = flow_query_parse(argc, argv,
				      WORDS_FILTER | WORDS_LOCAL | WORDS_ORDER |
				      WORDS_TIME, &query);

	if (status)
		return status;
	top_view_init(&top.state, &query);
	status = start(&top);
	flow_set_free(&top.data.now);
	flow_set_free(&top.data.before);
	free(top.reason);
	return status;
}
