// SPDX-License-Identifier: GPL-2.0
#include <linux/kernel.h>

#include "flow_window.h"

#define AVERAGE_SHIFT	3	/* the newest window counts 1/8 */
#define AVERAGE_PARTS	(1u << AVERAGE_SHIFT)
#define AVERAGE_END	256	/* (7/8)^256 of any rate is nothing */

/* Unit of packets: small flows have few a window. */
#define PACKETS_SHIFT	6
/* With fewer units than these, bytes are better told from packets. */
#define BYTES_FINE	1024

/* Upwards, so that it comes to zero. */
static u64 decay(u64 rate, u32 windows)
{
	if (windows >= AVERAGE_END)
		return 0;
	while (windows--)
		rate -= (rate + AVERAGE_PARTS - 1) >> AVERAGE_SHIFT;
	return rate;
}

static u32 average(u32 rate, u64 window, bool is_first)
{
	u64 result = window;

	if (!is_first && !window)
		result = decay(rate, 1);
	else if (!is_first)
		result = ((u64)rate * (AVERAGE_PARTS - 1) + window +
			  AVERAGE_PARTS / 2) >> AVERAGE_SHIFT;
	return (u32)min_t(u64, result, U32_MAX);
}

/* No window with a packet has ended yet. */
static bool is_first_window(const struct flow_state *state)
{
	return !state->mark_packets && !state->rate_packets;
}

static enum flow_change judge(struct flow_state *state,
			      const struct flow_limits *limits, u32 windows,
			      u32 packets, u32 share)
{
	bool is_bad = share >= limits->threshold_on &&
		      packets >= FLOW_WINDOW_PACKETS;
	u32 calm = windows - 1;

	/* Those without a packet are calm, the one before them may be. */
	if (share < limits->threshold_off)
		calm = state->calm + windows;
	state->calm = (u8)min_t(u32, calm, U8_MAX);
	if (!state->congested) {
		state->congested = is_bad;
		return is_bad ? FLOW_CHANGE_ON : FLOW_CHANGE_NONE;
	}
	if (state->calm < limits->calm_windows)
		return FLOW_CHANGE_NONE;
	state->congested = 0;
	return FLOW_CHANGE_OFF;
}

static u32 share_of(u32 signals, u32 packets)
{
	if (!signals)
		return 0;
	if (signals >= packets)
		return 1000000;
	return (u32)((u64)signals * 1000000 / packets);
}

enum flow_change flow_window(struct flow_state *state,
			     const struct flow_limits *limits, u32 windows,
			     u32 *share)
{
	u32 bytes = (u32)(state->bytes >> FLOW_BYTES_SHIFT) - state->mark_bytes;
	u32 packets = (u32)state->packets - state->mark_packets;
	bool is_first = is_first_window(state);
	u64 scaled = (u64)packets << PACKETS_SHIFT;

	*share = share_of(state->signals, packets);
	state->signals = 0;
	state->mark_bytes += bytes;
	state->mark_packets += packets;
	bytes = average(state->rate_bytes, bytes, is_first);
	state->rate_bytes = (u32)decay(bytes, windows - 1);
	scaled = average(state->rate_packets, scaled, is_first);
	state->rate_packets = (u32)decay(scaled, windows - 1);
	return judge(state, limits, windows, packets, *share);
}

/* Without the product of all bytes, which may not fit. */
static u64 by_mean(u64 rate_packets, const struct flow_state *state)
{
	u64 rest = state->bytes % state->packets;

	return state->bytes / state->packets * rate_packets +
	       rest * rate_packets / state->packets;
}

void flow_rates(const struct flow_state *state, u32 windows, u64 *bytes,
		u64 *packets)
{
	u64 rate_packets = decay(state->rate_packets, windows);
	u64 rate_bytes = decay(state->rate_bytes, windows);

	if (is_first_window(state)) {
		*bytes = decay(state->bytes, windows);
		*packets = decay(state->packets, windows);
		return;
	}
	*packets = (rate_packets + (1 << PACKETS_SHIFT) / 2) >> PACKETS_SHIFT;
	*bytes = rate_bytes << FLOW_BYTES_SHIFT;
	/* By the mean length of a packet, where one was counted */
	if (rate_bytes < BYTES_FINE && state->packets)
		*bytes = by_mean(rate_packets, state) >> PACKETS_SHIFT;
}
