/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the windows of time of one flow tell: rates, and whether it is congested.
 * Pure, as flow_state.h.
 */
#ifndef PEERLANE_FLOW_WINDOW_H
#define PEERLANE_FLOW_WINDOW_H

#include "flow_state.h"

/* A window with fewer packets is no ground to call a flow congested. */
#define FLOW_WINDOW_PACKETS	8

struct flow_limits {
	u32 threshold_on;	/* millionths of packets */
	u32 threshold_off;
	u32 calm_windows;
};

enum flow_change {
	FLOW_CHANGE_NONE,
	FLOW_CHANGE_ON,
	FLOW_CHANGE_OFF,
};

/*
 * A window ends, and @windows - 1 without a packet went by since. Returns
 * whether congestion began or ended, and the @share of packets, in millionths,
 * that it was judged by.
 */
enum flow_change flow_window(struct flow_state *state,
			     const struct flow_limits *limits, u32 windows,
			     u32 *share);

/* Rates in bytes and packets a window, @windows after the last packet's. */
void flow_rates(const struct flow_state *state, u32 windows, u64 *bytes,
		u64 *packets);

#endif /* PEERLANE_FLOW_WINDOW_H */
