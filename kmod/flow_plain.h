/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a plain packet changes that comes in its turn: no more than this. Pure, as
 * flow_state.h. What is taken here, flow_packet() and flow_answered() would make
 * the same of.
 */
#ifndef PEERLANE_FLOW_PLAIN_H
#define PEERLANE_FLOW_PLAIN_H

#include "flow_state.h"
#include "psn.h"
#include "roce_plain.h"

/* Whether a request is the next, and no more than that. */
static __always_inline bool flow_is_plain_request(const struct flow_state *state,
						  const struct roce_plain *packet)
{
	u32 psn = roce_plain_psn(packet);

	if (packet->kind & ROCE_PLAIN_FULL &&
	    packet->payload != 128u << state->pmtu_code)
		return false;
	/* Neither a gap, nor a burst, nor a READ; and flow_plain_request() adds. */
	return (state->turn & FLOW_TURN_MASK) == (psn | FLOW_TURN_REQUEST) &&
	       psn != PSN_MASK;
}

static __always_inline bool flow_is_plain_answer(const struct flow_state *state)
{
	return state->gap == FLOW_GAP_NONE;
}

/* What each packet changes. */
static __always_inline void flow_plain_answer(struct flow_state *state,
					      const struct roce_plain *packet)
{
	u32 tos = roce_plain_tos(packet);
	u32 ecn = tos & 3;

	state->packets++;
	state->bytes += roce_plain_length(packet);
	if (unlikely((state->dscp_and ^ tos) & 0xfc))
		state->dscp = tos >> 2;
	if (!ecn)
		return;
	state->ect++;
	if (unlikely(ecn == 3)) {
		state->ce++;
		state->signals++;
	}
}

/* Returns whether flow_mark() is to follow. */
static __always_inline bool flow_plain_request(struct flow_state *state,
					       const struct roce_plain *packet)
{
	flow_plain_answer(state, packet);
	state->turn++;
	return roce_plain_asks(packet) && !state->has_marker;
}

/* An answer to the request @psn will tell a round trip. */
static __always_inline void flow_mark(struct flow_state *state, u32 psn,
				      bool is_exact, u64 ns)
{
	state->has_marker = 1;
	state->marker = psn;
	state->marker_is_exact = is_exact;
	state->marker_time = ns;
}

/* How far back an answer may be to be one, see FLOW_PSN_WINDOW. */
static __always_inline u32 flow_window_back(const struct flow_state *state)
{
	return FLOW_PSN_WINDOW << 2 * state->reach;
}

/* Whether something of that number cannot be an answer to this flow. */
static __always_inline bool flow_is_stranger(const struct flow_state *state,
					     u32 psn)
{
	s32 behind = psn_ahead(state->next_request, psn);

	/* Where requests are unknown, or how many responses a READ has. */
	if (!state->has_request || state->after_read)
		return false;
	return behind <= 0 ||
	       (unlikely(behind > FLOW_PSN_WINDOW) &&
		behind > (s32)flow_window_back(state));
}

/* Whether something of that number may well be an answer to this flow. */
static __always_inline bool flow_is_asked(const struct flow_state *state,
					  u32 psn)
{
	s32 behind = psn_ahead(state->next_request, psn);

	return state->has_request && behind > 0 &&
	       behind <= (s32)flow_window_back(state);
}

/* It is acknowledged, up to @psn. Returns the round trip in ns, or 0. */
static __always_inline u64 flow_acknowledged(struct flow_state *state, u32 psn,
					     u64 (*now)(void))
{
	s64 ns;

	if (!state->has_marker || psn_ahead(psn, state->marker) < 0)
		return 0;
	state->has_marker = 0;
	/* Its own answer did not come, which asks for it. */
	if (state->marker_is_exact && psn != state->marker) {
		state->asked = FLOW_ASKED_GAP;
		return 0;
	}
	ns = (s64)((now() - state->marker_time) << 16) >> 16;
	return ns > 0 ? (u64)ns : 1;
}

#endif /* PEERLANE_FLOW_PLAIN_H */
