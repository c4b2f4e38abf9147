/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sequence numbers that one flow left out, and requests that are old: whether
 * they were lost, come late, or are sent again. Pure, as flow_state.h, whose
 * other half this is.
 */
#ifndef PEERLANE_FLOW_GAP_H
#define PEERLANE_FLOW_GAP_H

#include "flow_state.h"
#include "psn.h"

/* Sequence numbers that a request takes. */
static inline u32 flow_numbers(const struct flow_state *state,
		      const struct roce_packet *packet)
{
	u32 pmtu = flow_pmtu(state);

	/* That operation has no length where the transport does not know it. */
	if (roce_operation(packet) != ROCE_READ_REQUEST || !pmtu ||
	    !(packet->has & ROCE_HAS_RETH) || !packet->dma_length)
		return 1;
	return (packet->dma_length - 1) / pmtu + 1;
}

/* @psn, which is old, may be one of those that were left out. */
static inline bool flow_in_gap(const struct flow_state *state, u32 psn)
{
	return state->gap != FLOW_GAP_NONE &&
	       psn_ahead(psn, state->gap_start) >= 0;
}

/* What is missing so long does not come any more. */
static inline bool flow_gap_is_old(const struct flow_state *state,
				   const struct flow_clock *clock)
{
	return state->gap != FLOW_GAP_NONE &&
	       clock->ticks - state->gap_time > clock->late;
}

/* What is missing is lost. */
void flow_gap_settle(struct flow_state *state);

/* @length from @start on are left out, beside what is missing already. */
void flow_gap_open(struct flow_state *state, enum flow_gap kind, u32 start,
		   u32 length, const struct flow_clock *clock);

/* @count of the missing came late, of which @psn was the first. */
void flow_came_late(struct flow_state *state, u32 psn, u32 count);

/* What filled the gap so far was late. */
void flow_run_settle(struct flow_state *state);

/* A request that is not old comes. */
void flow_burst_end(struct flow_state *state);

/* A request of a number that was passed already. */
void flow_old_request(struct flow_state *state,
		      const struct roce_packet *packet, bool knows_answers);

#endif /* PEERLANE_FLOW_GAP_H */
