/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A flow that is not paired notes in the rest of its @peer_qpn when it last
 * looked for its partner: it does so once a window by a request, and once by an
 * answer.
 */
#ifndef PEERLANE_FLOW_SEEK_H
#define PEERLANE_FLOW_SEEK_H

#include "flow.h"

#define FLOW_SOUGHT_WINDOW	0x3fffffU
#define FLOW_SOUGHT_BY_REQUEST	0x400000U
#define FLOW_SOUGHT_BY_ANSWER	0x800000U

static inline u32 flow_sought_window(u32 now)
{
	return flow_window_of(now) & FLOW_SOUGHT_WINDOW;
}

/* As of a flow that has just done all of it. */
static inline u32 flow_sought(u32 now)
{
	return flow_sought_window(now) | FLOW_SOUGHT_BY_REQUEST |
	       FLOW_SOUGHT_BY_ANSWER;
}

int flow_seek_init(struct flow_table *table, u32 buckets);
void flow_seek_exit(struct flow_table *table);

#endif /* PEERLANE_FLOW_SEEK_H */
