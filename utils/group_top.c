// SPDX-License-Identifier: GPL-2.0
/* peerlane group top: ranks of groups on the whole screen, again and again. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flow.h"
#include "group_top.h"
#include "top_screen.h"
#include "top_table.h"
#include "units.h"
#include "why.h"

enum { HEAD = 2, FOOT = 1 };

enum {
	COLUMN_GROUP, COLUMN_RANK, COLUMN_STATE, COLUMN_WHERE, COLUMN_OPS,
	COLUMN_SENT, COLUMN_RECEIVED, COLUMN_WAIT, COLUMN_P99, COLUMN_LAST,
	COLUMN_FAILED, COLUMNS_ALL,
};

static const struct column columns[COLUMNS_ALL] = {
	{ "GROUP", true }, { "RANK", true }, { "STATE", false },
	{ "WHERE", false }, { "OPS/S", true }, { "SENT", true },
	{ "RECEIVED", true }, { "WAIT", true }, { "P99", true },
	{ "LAST", true }, { "FAILED", true },
};

/* What rows can be ordered by */
static const size_t sorts[] = {
	COLUMN_WAIT, COLUMN_P99, COLUMN_OPS, COLUMN_SENT, COLUMN_FAILED,
};

struct group_top {
	const struct flow_query *query;	/* interval and count */
	uint64_t group;
	struct top_state state;
	struct rank_set now, before;
	bool have_before;
	uint64_t next;			/* when to read again */
	int error;
	char *reason;
};

/* ---- one rank ------------------------------------------------------------- */

static struct rank_figures figures_of(const struct group_top *top, size_t i)
{
	const struct rank_now *now = &top->now.list[i];
	const struct rank_now *before = top->have_before ?
		rank_set_find(&top->before, now) : NULL;

	return rank_figures_of(now, before, top->now.when - top->before.when);
}

static const char *state_of(const struct rank_now *rank)
{
	if (rank->is_local)
		return peerlane_group_state_name(rank->local.state);
	return why_presence(&rank->seen);
}

static char *where(const struct rank_now *rank)
{
	if (!rank->is_local)
		return format_text("%.*s", (int)sizeof(rank->seen.peer),
				   rank->seen.peer);
	return format_text("%.*s(%d)", (int)sizeof(rank->local.comm),
			   rank->local.comm, rank->local.pid);
}

static char *rate_text(const struct rate *rate, const char *unit)
{
	char text[UNITS_ROOM];

	if (rate->state != RATE_KNOWN)
		return format_text("-");
	units_si(text, rate->per_second, unit);
	return format_text("%s", text);
}

static char *ns_text(bool known, uint64_t ns)
{
	char text[UNITS_ROOM];

	units_ns(text, ns);
	return format_text("%s", known ? text : "-");
}

static void fill(const struct rank_now *rank, const struct rank_figures *figures,
		 char *to[COLUMNS_ALL])
{
	to[COLUMN_GROUP] = format_text("%ju", (uintmax_t)rank->group);
	to[COLUMN_RANK] = format_text("%u", rank->rank);
	to[COLUMN_STATE] = format_text("%s", state_of(rank));
	to[COLUMN_WHERE] = where(rank);
	to[COLUMN_OPS] = rate_text(&figures->ops, "");
	to[COLUMN_SENT] = rate_text(&figures->sent, "B/s");
	to[COLUMN_RECEIVED] = rate_text(&figures->received, "B/s");
	to[COLUMN_WAIT] = ns_text(rank->is_seen, figures->wait);
	to[COLUMN_P99] = ns_text(rank->is_seen, figures->late_p99);
	to[COLUMN_LAST] = rank->is_seen ? format_text("%u%%", figures->last) :
					  format_text("-");
	to[COLUMN_FAILED] = rank->is_local ?
		format_text("%ju", (uintmax_t)rank->local.ops_failed) :
		format_text("-");
}

static uint64_t sort_value(const struct rank_now *rank,
			   const struct rank_figures *figures, size_t column)
{
	switch (column) {
	case COLUMN_P99:
		return figures->late_p99;
	case COLUMN_OPS:
		return figures->ops.per_second;
	case COLUMN_SENT:
		return figures->sent.per_second;
	case COLUMN_FAILED:
		return rank->is_local ? rank->local.ops_failed : 0;
	default:
		return figures->wait;
	}
}

static enum tint tint_of(const struct rank_now *rank, size_t column)
{
	if (column == COLUMN_FAILED && rank->is_local && rank->local.ops_failed)
		return TINT_BAD;
	if (column == COLUMN_STATE)
		return !strcmp(state_of(rank), "joined") ||
		       !strcmp(state_of(rank), "there") ? TINT_GOOD : TINT_WARN;
	return column == COLUMN_RANK ? TINT_BOLD : TINT_NONE;
}

/* ---- the screen ------------------------------------------------------------- */

static void add_line(struct top_table *table, const struct group_top *top,
		     size_t i)
{
	const struct rank_now *rank = &top->now.list[i];
	struct rank_figures figures = figures_of(top, i);
	struct top_line line = { .index = i };
	char *texts[COLUMNS_ALL];

	fill(rank, &figures, texts);
	for (size_t k = 0; k < COLUMNS_ALL; k++) {
		line.text[k] = printable(texts[k]);
		line.tint[k] = tint_of(rank, k);
		free(texts[k]);
	}
	line.sort = sort_value(rank, &figures, table->marked);
	top_table_add(table, &top->state, &line);
}

static void draw_head(const struct group_top *top)
{
	char *text = format_text("peerlane group top  every %gs%s  by %s%s  ranks %zu",
				 (double)top->query->interval_ns / 1e9,
				 top->state.paused ? "  PAUSED" : "",
				 columns[sorts[top->state.sort]].title,
				 top->state.reversed ? " (smallest first)" : "",
				 top->now.count);
	char *safe = NULL;

	screen_text(0, 0, TINT_BOLD, text);
	free(text);
	if (top->reason)
		safe = printable(top->reason);
	if (safe)
		screen_text(HEAD, 0, TINT_BAD, safe);
	else if (!top->now.count)
		screen_text(HEAD, 0, TINT_NONE, "no rank of a group is here");
	free(safe);
}

static void draw_keys(const struct top_state *state)
{
	char *text = state->typing ? format_text("find: %s_", state->find) :
		format_text("q quit  s/S order  r reverse  p pause  f find%s%s%s  space now  arrows, Home: move",
			    *state->find ? " (" : "", state->find,
			    *state->find ? ")" : "");

	screen_bar(screen_rows() - 1, text);
	free(text);
}

static void draw(struct group_top *top)
{
	struct top_table table = { .width = COLUMNS_ALL,
				   .marked = sorts[top->state.sort] };

	memcpy(table.columns, columns, sizeof(columns));
	for (size_t i = 0; i < top->now.count; i++)
		add_line(&table, top, i);
	top_table_sort(&table, &top->state);
	top_table_fit(&table, &top->state, HEAD, FOOT);
	screen_begin();
	top_table_draw(&table, &top->state, HEAD);
	draw_head(top);
	draw_keys(&top->state);
	screen_end();
	top_table_free(&table);
}

/* ---- readings ----------------------------------------------------------------- */

static void read_now(struct group_top *top)
{
	struct rank_set set;
	int error = rank_set_read(top->group, &set);

	top->next = monotonic_ns() + top->query->interval_ns;
	free(top->reason);
	top->reason = error ? library_reason(error) : NULL;
	top->error = error;
	if (error)
		return;
	rank_set_free(&top->before);
	top->have_before = top->now.when;
	top->before = top->now;
	top->now = set;
}

static int wait_ms(const struct group_top *top)
{
	uint64_t now = monotonic_ns();

	if (top->state.paused)
		return 60000;
	return now < top->next ? (int)((top->next - now + 999999) / 1000000) : 0;
}

static void step(struct group_top *top)
{
	enum top_action action;
	int key;

	draw(top);
	key = screen_key(wait_ms(top));
	if (key == SCREEN_NO_KEY) {
		if (!top->state.paused && monotonic_ns() >= top->next)
			read_now(top);
		return;
	}
	action = key == SCREEN_GONE ? TOP_QUIT : top_key(&top->state, key);
	if (action == TOP_QUIT)
		top->state.quit = true;
	if (action == TOP_READ)
		read_now(top);
}

/* ---- without a screen ------------------------------------------------------------ */

static struct json_object *rate_json(const struct rate *rate)
{
	return rate->state == RATE_KNOWN ?
		must(json_object_new_uint64(rate->per_second)) : NULL;
}

static struct json_object *rank_json(const struct group_top *top, size_t i)
{
	struct json_object *object = must(json_object_new_object());
	const struct rank_now *rank = &top->now.list[i];
	struct rank_figures figures = figures_of(top, i);
	char *place = where(rank);

	json_number(object, "group", rank->group);
	json_number(object, "rank", rank->rank);
	json_text(object, "state", state_of(rank), SIZE_MAX);
	json_text(object, "where", place, SIZE_MAX);
	json_object_object_add(object, "ops_per_s", rate_json(&figures.ops));
	json_object_object_add(object, "sent_per_s", rate_json(&figures.sent));
	json_object_object_add(object, "received_per_s",
			       rate_json(&figures.received));
	json_or_null(object, "wait_ns", rank->is_seen ? (int64_t)figures.wait :
							-1, -1);
	json_or_null(object, "late_p99_ns", rank->is_seen ?
		     (int64_t)figures.late_p99 : -1, -1);
	free(place);
	return object;
}

static void print_json(const struct group_top *top)
{
	struct json_object *array = must(json_object_new_array());

	for (size_t i = 0; i < top->now.count; i++)
		json_object_array_add(array, rank_json(top, i));
	json_print(stdout, array, options.pretty);
}

static void print_table(const struct group_top *top)
{
	struct table *table = table_new(columns, COLUMNS_ALL);

	for (size_t i = 0; i < top->now.count; i++) {
		const struct rank_now *rank = &top->now.list[i];
		struct rank_figures figures = figures_of(top, i);
		char *texts[COLUMNS_ALL];

		fill(rank, &figures, texts);
		for (size_t k = 0; k < COLUMNS_ALL; k++) {
			table_cell(table, tint_of(rank, k), "%s", texts[k]);
			free(texts[k]);
		}
	}
	table_print(table);
	table_free(table);
}

static void sleep_until(uint64_t end)
{
	const struct timespec time = {
		.tv_sec = (time_t)(end / 1000000000),
		.tv_nsec = (long)(end % 1000000000),
	};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

/* One table after another, the first without rates. */
static int print_again(struct group_top *top)
{
	uint64_t count = top->query->once ? 2 : top->query->count;

	for (uint64_t i = 0; !top->error && !ferror(stdout); i++) {
		if (!top->query->once || i)
			(options.json ? print_json : print_table)(top);
		fflush(stdout);
		if (count && i + 1 >= count)
			break;
		sleep_until(top->next);
		read_now(top);
	}
	return top->error ? library_error(top->error) : STATUS_OK;
}

/* ---- the command -------------------------------------------------------------------- */

static int run(struct group_top *top)
{
	const char *reason = options.json ? "" : screen_open();

	if (reason) {
		if (*reason)
			note("%s: one table after another", reason);
		return print_again(top);
	}
	while (!top->state.quit)
		step(top);
	screen_close();
	return top->error ? usage_error("%s", top->reason) : STATUS_OK;
}

int group_top(int argc, char **argv)
{
	struct flow_query query;
	struct group_top top = { .query = &query,
				 .state.sort_count = ARRAY_SIZE(sorts) };
	int status;

	if (argc && *argv[0] >= '0' && *argv[0] <= '9') {
		if (peerlane_group_number(argv[0], &top.group))
			return usage_error("\"%s\" is no number of a group",
					   argv[0]);
		argc--;
		argv++;
	}
	status = flow_query_parse(argc, argv, WORDS_TIME, &query);
	if (status)
		return status;
	/* Before the screen, so that a failure is a message. */
	read_now(&top);
	status = top.error ? library_error(top.error) : run(&top);
	rank_set_free(&top.now);
	rank_set_free(&top.before);
	free(top.reason);
	return status;
}
