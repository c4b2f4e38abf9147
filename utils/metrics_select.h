/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which flows have rows of their own in metrics, and what all others add up to.
 *
 * Sums over a family are exact: each flow is in one row. Between two scrapes of
 * one run the row of the others never goes back, which a reader would take for a
 * reset and then count everything again.
 */
#ifndef PEERLANE_METRICS_SELECT_H
#define PEERLANE_METRICS_SELECT_H

#include "metrics.h"

struct metrics_flow {
	struct peerlane_flow_info info;
	uint32_t *histogram;	/* NULL without samples */
};

struct metrics_selection {
	struct metrics_flow *named;	/* in the order of their keys */
	size_t count;
	uint64_t all;			/* flows, named and others */
	uint64_t others[PEERLANE_COUNTERS];	/* totals */
	bool incomplete;
};

/* 0 or a negative errno of the library. */
int metrics_select(const struct metrics_options *wanted,
		   struct metrics_selection *selection);
void metrics_selection_free(struct metrics_selection *selection);

struct metrics_state *metrics_state_new(void);
void metrics_state_free(struct metrics_state *state);

#endif /* PEERLANE_METRICS_SELECT_H */
