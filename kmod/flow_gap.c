// SPDX-License-Identifier: GPL-2.0
#include <linux/kernel.h>

#include "flow_gap.h"

/* ---- numbers that were left out ---- */

void flow_came_late(struct flow_state *state, u32 psn, u32 count)
{
	if (psn == state->gap_start)
		state->gap_start = psn_add(psn, count);
	count = min_t(u32, count, state->gap_length);
	state->reordered += count;
	state->gap_length -= count;
	if (!state->gap_length)
		state->gap = FLOW_GAP_NONE;
}

static u32 run_start(const struct flow_state *state)
{
	return (state->burst_next - state->run) & PSN_MASK;
}

/* What filled the gap is not followed by more that is old: it was late. */
void flow_run_settle(struct flow_state *state)
{
	if (state->gap == FLOW_GAP_REQUEST && state->run)
		flow_came_late(state, run_start(state), state->run);
	if (state->gap != FLOW_GAP_SENT_AGAIN)
		state->run = 0;
}

void flow_gap_settle(struct flow_state *state)
{
	flow_run_settle(state);
	state->lost += state->gap_length;
	state->signals += state->gap_length;
	state->gap = FLOW_GAP_NONE;
	state->gap_length = 0;
	state->run = 0;
}

void flow_gap_open(struct flow_state *state, enum flow_gap kind, u32 start,
		   u32 length, const struct flow_clock *clock)
{
	bool is_far = psn_ahead(start, state->gap_start) > FLOW_REORDER;
	bool is_long = state->gap_length + length > U16_MAX;

	if (state->gap == kind && is_far && !is_long &&
	    state->gap_length <= FLOW_REORDER_FEW) {
		state->gap_start = psn_add(start, -FLOW_REORDER);
	} else if (state->gap != kind || is_far || is_long) {
		flow_gap_settle(state);
		state->gap = kind;
		state->gap_start = start;
	}
	state->gaps++;
	state->gap_length += length;
	state->gap_time = clock->ticks;
}

/* ---- requests that are old ---- */

void flow_burst_end(struct flow_state *state)
{
	flow_run_settle(state);
	state->in_burst = 0;
}

/*
 * A sender goes back to begin with: what is further on belongs to the same
 * burst, though some of it may be lost.
 */
static bool goes_on(const struct flow_state *state, u32 psn)
{
	s32 ahead = psn_ahead(psn, state->burst_next);

	if (state->gap == FLOW_GAP_REQUEST && state->run)
		return !ahead;
	return state->in_burst && ahead >= 0;
}

static void burst_begin(struct flow_state *state,
			const struct roce_packet *packet, bool knows_answers)
{
	state->is_rnr_burst = state->asked == FLOW_ASKED_RNR;
	if (state->asked == FLOW_ASKED_NOT && knows_answers &&
	    roce_transport(packet) != ROCE_UC)
		state->timeouts++;
	state->asked = FLOW_ASKED_NOT;
}

/* @packets that begin with @psn */
static void sent_again(struct flow_state *state, u32 psn, u32 packets,
		       u32 bytes)
{
	state->retransmitted += packets;
	state->retransmitted_bytes += bytes;
	if (!state->is_rnr_burst)
		state->signals += packets;
	/* Karn: an answer may now be one to either copy. */
	if (psn_ahead(state->marker, psn) >= 0)
		state->has_marker = 0;
}

/* The run was no late packets, but the beginning of a burst. */
static void run_was_sent_again(struct flow_state *state,
			       const struct roce_packet *packet,
			       bool knows_answers)
{
	burst_begin(state, packet, knows_answers);
	sent_again(state, run_start(state), state->run,
		   (u32)state->run_words * 4);
	state->run = 0;
	flow_gap_settle(state);
}

/*
 * In a gap that nobody asked for, as far as is known. A sender that goes back
 * sends more than what was left out, so if no more comes, it was late.
 */
static bool fills_run(struct flow_state *state,
		      const struct roce_packet *packet, bool is_next,
		      bool knows_answers)
{
	u32 words = packet->length / 4 +
		    (state->run ? (u32)state->run_words : 0);

	/* A burst that began before the gap: all of it is sent again. */
	if (is_next && !state->run) {
		flow_gap_settle(state);
		return false;
	}
	if (state->run == state->gap_length || state->run == FLOW_RUN_MAX ||
	    words > U16_MAX) {
		run_was_sent_again(state, packet, knows_answers);
		return false;
	}
	state->run++;
	state->run_words = words;
	return true;
}

/*
 * A receiver that has asked gets the first missing one again for certain. If it
 * then comes twice, the first was the original, and those that followed it too:
 * they came late, and were counted as sent again, for which those that now
 * follow are not.
 */
static bool was_counted(struct flow_state *state, u32 psn)
{
	u32 run = state->run;

	if (state->gap == FLOW_GAP_ASKED && psn == state->gap_start) {
		state->gap = FLOW_GAP_SENT_AGAIN;
		state->run = 1;
		return false;
	}
	if (state->gap != FLOW_GAP_SENT_AGAIN)
		return false;
	if (psn == state->gap_start && state->asked == FLOW_ASKED_NOT) {
		flow_came_late(state, psn, run);
		flow_gap_settle(state);
		state->run = run - 1;
		state->is_rnr_burst = 0;
		return true;
	}
	if (psn_ahead(psn, state->gap_start) == (s32)run && run < FLOW_RUN_MAX &&
	    run < state->gap_length)
		state->run++;
	return false;
}

/* Whether it is not to be counted as sent again. */
static bool is_late(struct flow_state *state, const struct roce_packet *packet,
		    bool is_next, bool knows_answers)
{
	if (state->gap == FLOW_GAP_REQUEST)
		return flow_in_gap(state, packet->psn) &&
		       fills_run(state, packet, is_next, knows_answers);
	if (state->gap == FLOW_GAP_ASKED || state->gap == FLOW_GAP_SENT_AGAIN)
		return was_counted(state, packet->psn);
	if (!state->run)
		return false;
	state->run--;
	return true;
}

/*
 * It is not waited what follows: a READ stands for more than itself, and where
 * nothing is acknowledged nothing is sent again.
 */
static bool is_late_at_once(const struct flow_state *state,
			    const struct roce_packet *packet, u32 numbers,
			    bool is_next)
{
	if (state->gap != FLOW_GAP_REQUEST || !flow_in_gap(state, packet->psn))
		return false;
	return roce_transport(packet) == ROCE_UC || (numbers > 1 && !is_next);
}

void flow_old_request(struct flow_state *state,
		      const struct roce_packet *packet, bool knows_answers)
{
	bool is_next = goes_on(state, packet->psn);
	u32 numbers = flow_numbers(state, packet);

	if (!is_next)
		flow_burst_end(state);
	if (is_late_at_once(state, packet, numbers, is_next)) {
		flow_came_late(state, packet->psn, numbers);
		return;
	}
	if (!is_late(state, packet, is_next, knows_answers)) {
		/* As it is now: a run may just have begun the burst. */
		if (!goes_on(state, packet->psn))
			burst_begin(state, packet, knows_answers);
		sent_again(state, packet->psn, 1, packet->length);
	}
	state->in_burst = 1;
	state->burst_next = psn_add(packet->psn, numbers);
}
