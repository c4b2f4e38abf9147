/* SPDX-License-Identifier: GPL-2.0 */
/* What "flow top" draws. */
#ifndef PEERLANE_TOP_VIEW_H
#define PEERLANE_TOP_VIEW_H

#include "flow.h"
#include "top_state.h"

struct top_data {
	struct flow_set now;
	struct flow_set before;
	bool have_before;
	bool cut;			/* there may be more flows */
	size_t points;			/* where packets are looked at */
	struct peerlane_flow_stats stats;
	const char *error;		/* why there is nothing newer, or NULL */
};

void top_view_init(struct top_state *state, const struct flow_query *query);
/* What rows are ordered by, as a counter. */
uint32_t top_view_counter(const struct top_state *state);
void top_view_points(struct top_data *data);
void top_view_draw(struct top_state *state, const struct top_data *data,
		   const struct flow_query *query);

#endif /* PEERLANE_TOP_VIEW_H */
