// SPDX-License-Identifier: GPL-2.0
/* Which flows have rows of their own in metrics, and the sum of the others. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "metrics_select.h"

enum { TRIES = 3 };

struct exported {
	struct peerlane_flow_key key;
	uint64_t totals[PEERLANE_COUNTERS];
};

/* What the last scrape said. */
struct metrics_state {
	struct exported *named;
	size_t count;
	uint64_t others[PEERLANE_COUNTERS];
	uint64_t carry[PEERLANE_COUNTERS];	/* to add to the sum; wraps */
};

struct metrics_state *metrics_state_new(void)
{
	return must(calloc(1, sizeof(struct metrics_state)));
}

void metrics_state_free(struct metrics_state *state)
{
	if (!state)
		return;
	free(state->named);
	free(state);
}

/* ---- the named ones ------------------------------------------------------ */

static int add_named(const struct peerlane_flow_info *info,
		     const uint32_t *histogram, void *arg)
{
	struct metrics_selection *selection = arg;
	size_t size = PEERLANE_RTT_HISTOGRAM * sizeof(*histogram);
	struct metrics_flow *flow;

	selection->named = must(reallocarray(selection->named,
					     selection->count + 1,
					     sizeof(*selection->named)));
	flow = &selection->named[selection->count++];
	flow->info = *info;
	flow->histogram = NULL;
	if (histogram)
		flow->histogram = memcpy(must(malloc(size)), histogram, size);
	return 0;
}

static int compare_flows(const void *a, const void *b)
{
	const struct metrics_flow *one = a;
	const struct metrics_flow *other = b;

	return flow_key_compare(&one->info.key, &other->info.key);
}

static void free_named(struct metrics_selection *selection)
{
	for (size_t i = 0; i < selection->count; i++)
		free(selection->named[i].histogram);
	free(selection->named);
	selection->named = NULL;
	selection->count = 0;
}

/* Where a dump was interrupted a flow may have come twice; no sample may. */
static void sort_named(struct metrics_selection *selection)
{
	struct metrics_flow *list = selection->named;
	size_t kept = 0;

	if (selection->count)
		qsort(list, selection->count, sizeof(*list), compare_flows);
	for (size_t i = 0; i < selection->count; i++) {
		if (kept && !compare_flows(&list[kept - 1], &list[i]))
			free(list[i].histogram);
		else
			list[kept++] = list[i];
	}
	selection->count = kept;
}

static int select_named(const struct metrics_options *wanted,
			struct metrics_selection *selection)
{
	const struct peerlane_flow_filter filter = {
		.top = wanted->flows, .top_by = wanted->by,
	};
	int error = -EINTR;

	for (int i = 0; i < TRIES && error == -EINTR; i++) {
		free_named(selection);
		error = peerlane_flow_each(&filter, PEERLANE_FLOW_HISTOGRAM,
					   add_named, selection);
	}
	selection->incomplete |= error == -EINTR;
	sort_named(selection);
	return error == -EINTR ? 0 : error;
}

/* ---- the others ---------------------------------------------------------- */

struct walk {
	struct metrics_selection *selection;
	const struct metrics_state *state;
	uint64_t moved[PEERLANE_COUNTERS];	/* of those named before */
};

static bool is_named(const struct metrics_selection *selection,
		     const struct peerlane_flow_key *key)
{
	struct metrics_flow wanted = { .info.key = *key };

	return selection->count &&
	       bsearch(&wanted, selection->named, selection->count,
		       sizeof(wanted), compare_flows);
}

static int compare_exported(const void *a, const void *b)
{
	const struct exported *one = a;
	const struct exported *other = b;

	return flow_key_compare(&one->key, &other->key);
}

static const struct exported *find_exported(const struct metrics_state *state,
					    const struct peerlane_flow_key *key)
{
	struct exported wanted = { .key = *key };

	if (!state || !state->count)
		return NULL;
	return bsearch(&wanted, state->named, state->count, sizeof(wanted),
		       compare_exported);
}

static int add_other(const struct peerlane_flow_info *info,
		     const uint32_t *histogram, void *arg)
{
	struct walk *walk = arg;
	const struct exported *before;

	(void)histogram;
	walk->selection->all++;
	if (is_named(walk->selection, &info->key))
		return 0;
	before = find_exported(walk->state, &info->key);
	for (uint32_t i = 0; i < PEERLANE_COUNTERS; i++) {
		walk->selection->others[i] += peerlane_flow_counter(info, i);
		if (before)
			walk->moved[i] += before->totals[i];
	}
	return 0;
}

static int sum_others(struct walk *walk)
{
	struct metrics_selection *selection = walk->selection;
	int error = -EINTR;

	for (int i = 0; i < TRIES && error == -EINTR; i++) {
		memset(walk->moved, 0, sizeof(walk->moved));
		memset(selection->others, 0, sizeof(selection->others));
		selection->all = 0;
		error = peerlane_flow_each(NULL, 0, add_other, walk);
	}
	selection->incomplete |= error == -EINTR;
	return error == -EINTR ? 0 : error;
}

/*
 * A flow that lost its own row brings what that row has said already: only what
 * it grew by since is new to the others. One that got a row, or was forgotten,
 * takes its count along; the others then stay where they were.
 */
static void settle(struct metrics_state *state, const struct walk *walk)
{
	uint64_t *others = walk->selection->others;

	for (uint32_t i = 0; i < PEERLANE_COUNTERS; i++) {
		uint64_t value;

		state->carry[i] -= walk->moved[i];
		value = others[i] + state->carry[i];
		if ((int64_t)(value - state->others[i]) < 0) {
			state->carry[i] += state->others[i] - value;
			value = state->others[i];
		}
		state->others[i] = value;
		others[i] = value;
	}
}

static void remember(struct metrics_state *state,
		     const struct metrics_selection *selection)
{
	free(state->named);
	state->named = must(calloc(selection->count + 1,
				   sizeof(*state->named)));
	state->count = selection->count;
	for (size_t k = 0; k < selection->count; k++) {
		const struct peerlane_flow_info *info =
			&selection->named[k].info;

		state->named[k].key = info->key;
		for (uint32_t i = 0; i < PEERLANE_COUNTERS; i++)
			state->named[k].totals[i] =
				peerlane_flow_counter(info, i);
	}
}

int metrics_select(const struct metrics_options *wanted,
		   struct metrics_selection *selection)
{
	struct walk walk = { .selection = selection, .state = wanted->state };
	int error;

	memset(selection, 0, sizeof(*selection));
	error = select_named(wanted, selection);
	if (!error)
		error = sum_others(&walk);
	if (error) {
		metrics_selection_free(selection);
		return error;
	}
	if (wanted->state) {
		settle(wanted->state, &walk);
		remember(wanted->state, selection);
	}
	return 0;
}

void metrics_selection_free(struct metrics_selection *selection)
{
	free_named(selection);
	memset(selection, 0, sizeof(*selection));
}
