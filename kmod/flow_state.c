// SPDX-License-Identifier: GPL-2.0
#include <linux/compiler.h>
#include <linux/kernel.h>

#include "flow_gap.h"
#include "flow_plain.h"
#include "psn.h"

/* ---- what a packet is ---- */

static bool has_sequence(const struct roce_packet *packet)
{
	u32 transport = roce_transport(packet);

	/* UD's numbers run over all destinations, so that gaps mean nothing. */
	return transport == ROCE_RC || transport == ROCE_UC ||
	       transport == ROCE_XRC;
}

static bool is_response(const struct roce_packet *packet)
{
	return roce_operation(packet) - ROCE_READ_RESPONSE_FIRST <=
	       ROCE_ATOMIC_ACK - ROCE_READ_RESPONSE_FIRST;
}

static bool is_read_response(const struct roce_packet *packet)
{
	return roce_operation(packet) - ROCE_READ_RESPONSE_FIRST <=
	       ROCE_READ_RESPONSE_ONLY - ROCE_READ_RESPONSE_FIRST;
}

/* A packet that is followed by more of its message is as long as the path MTU. */
static bool is_full(const struct roce_packet *packet)
{
	const u32 full = 1 << ROCE_SEND_FIRST | 1 << ROCE_SEND_MIDDLE |
			 1 << ROCE_WRITE_FIRST | 1 << ROCE_WRITE_MIDDLE |
			 1 << ROCE_READ_RESPONSE_FIRST |
			 1 << ROCE_READ_RESPONSE_MIDDLE;

	return full >> roce_operation(packet) & 1;
}

/* Its answer has its own number; others' may have a later one. */
static bool has_own_answer(const struct roce_packet *packet)
{
	u32 operation = roce_operation(packet);

	return operation == ROCE_READ_REQUEST ||
	       operation == ROCE_COMPARE_SWAP || operation == ROCE_FETCH_ADD;
}

static noinline void change_pmtu(struct flow_state *state, u32 pmtu)
{
	u32 code;

	for (code = 1; code <= 5; code++)
		if (pmtu == 128u << code)
			state->pmtu_code = code;
}

static __always_inline void learn_pmtu(struct flow_state *state,
				       const struct roce_packet *packet)
{
	if (unlikely(packet->payload != flow_pmtu(state)))
		change_pmtu(state, packet->payload);
}

/* ---- requests ---- */

/* Some READs are on their way together. */
static void learn_reach(struct flow_state *state, u32 numbers)
{
	while (numbers > flow_window_back(state) / 16 &&
	       state->reach < FLOW_REACH_MAX)
		state->reach++;
}

static noinline u32 read_request(struct flow_state *state,
				 const struct roce_packet *packet)
{
	u32 numbers = flow_numbers(state, packet);

	state->after_read = !state->pmtu_code;
	learn_reach(state, numbers);
	return numbers;
}

static __always_inline void new_request(struct flow_state *state,
					const struct roce_packet *packet,
					const struct flow_clock *clock)
{
	u32 numbers = 1;
	bool is_exact;

	if (unlikely(state->in_burst))
		flow_burst_end(state);
	state->after_read = 0;
	if (unlikely(roce_operation(packet) == ROCE_READ_REQUEST))
		numbers = read_request(state, packet);
	state->next_request = psn_add(packet->psn, numbers);
	if (state->has_marker)
		return;
	is_exact = has_own_answer(packet);
	if (packet->ack_request || is_exact)
		flow_mark(state, packet->psn, is_exact, clock->ns());
}

/* The first of a connection that was not seen yet. */
static noinline void first_request(struct flow_state *state,
			  const struct roce_packet *packet,
			  const struct flow_clock *clock)
{
	flow_gap_settle(state);
	/* It may have another path MTU than that of before. */
	if (state->has_request && !is_full(packet))
		state->pmtu_code = 0;
	state->has_request = 1;
	state->has_marker = 0;
	state->in_burst = 0;
	state->asked = FLOW_ASKED_NOT;
	state->reach = 0;
	new_request(state, packet, clock);
}

/* Not the one that comes next. */
static noinline void other_request(struct flow_state *state,
				   const struct roce_packet *packet,
				   const struct flow_clock *clock,
				   bool is_sender, bool knows_answers)
{
	s32 ahead = psn_ahead(packet->psn, state->next_request);

	if (!state->has_request || ahead >= FLOW_PSN_WINDOW ||
	    ahead <= -(s32)flow_window_back(state)) {
		first_request(state, packet, clock);
		return;
	}
	if (ahead < 0) {
		flow_old_request(state, packet, knows_answers);
		return;
	}
	flow_burst_end(state);
	/* A sender leaves nothing out: it is we who do not know the READ's size. */
	if (!state->after_read && !is_sender)
		flow_gap_open(state, FLOW_GAP_REQUEST, state->next_request,
			      (u32)ahead, clock);
	new_request(state, packet, clock);
}

/* Nearly all packets go through here, so it is short. */
static __always_inline void request(struct flow_state *state,
				    const struct roce_packet *packet,
				    const struct flow_clock *clock,
				    bool is_sender, bool knows_answers)
{
	if (is_full(packet))
		learn_pmtu(state, packet);
	if (likely(packet->psn == state->next_request && state->has_request))
		new_request(state, packet, clock);
	else
		other_request(state, packet, clock, is_sender, knows_answers);
}

/* ---- responses ---- */

/*
 * A response that comes again begins with a first packet at the number asked
 * for; a later one in the gap without that is an original that is late.
 */
static void old_response(struct flow_state *state,
			 const struct roce_packet *packet, bool begins)
{
	if (state->gap == FLOW_GAP_RESPONSE && begins)
		flow_gap_settle(state);
	if (state->gap == FLOW_GAP_RESPONSE && flow_in_gap(state, packet->psn)) {
		flow_came_late(state, packet->psn, 1);
		return;
	}
	state->retransmitted++;
	state->retransmitted_bytes += packet->length;
	state->signals++;
}

static noinline unsigned int read_response(struct flow_state *state,
				  const struct roce_packet *packet,
				  const struct flow_clock *clock,
				  bool is_sender)
{
	u32 operation = roce_operation(packet);
	bool begins = operation == ROCE_READ_RESPONSE_FIRST ||
		      operation == ROCE_READ_RESPONSE_ONLY;
	bool goes_on = operation == ROCE_READ_RESPONSE_FIRST ||
		       operation == ROCE_READ_RESPONSE_MIDDLE;
	s32 ahead = psn_ahead(packet->psn, state->next_response);
	bool is_new = !state->has_response || ahead >= FLOW_PSN_WINDOW ||
		      ahead <= -FLOW_PSN_WINDOW;
	unsigned int next = FLOW_NEXT_ANSWER;

	if (goes_on)
		learn_pmtu(state, packet);
	if (!is_new && ahead < 0) {
		old_response(state, packet, begins);
		return next;
	}
	/* Requests without a response lie between the responses of two READs. */
	if (!is_new && ahead && !is_sender && (!begins || state->in_response)) {
		flow_gap_open(state, FLOW_GAP_RESPONSE, state->next_response,
			      (u32)ahead, clock);
		next |= FLOW_NEXT_GAP;
	}
	state->has_response = 1;
	state->in_response = goes_on;
	state->next_response = psn_add(packet->psn, 1);
	return next;
}

static void count_syndrome(struct flow_state *state, u8 syndrome)
{
	switch (syndrome >> 5 & 3) {
	case ROCE_AETH_RNR:
		state->rnr++;
		break;
	case ROCE_AETH_NAK:
		if ((syndrome & 0x1f) == ROCE_NAK_SEQUENCE)
			state->nak_sequence++;
		else
			state->nak_other++;
		break;
	}
}

static unsigned int response(struct flow_state *state,
			     const struct roce_packet *packet,
			     const struct flow_clock *clock, bool is_sender)
{
	if (packet->has & ROCE_HAS_AETH)
		count_syndrome(state, packet->aeth_syndrome);
	if (is_read_response(packet))
		return read_response(state, packet, clock, is_sender);
	return FLOW_NEXT_ANSWER;
}

/* ---- both ---- */

unsigned int flow_packet(struct flow_state *state,
			 const struct roce_packet *packet,
			 const struct flow_clock *clock, bool is_sender,
			 bool knows_answers)
{
	state->packets++;
	state->bytes += packet->length;
	state->dscp = packet->dscp;
	if (packet->ecn) {
		state->ect++;
		if (unlikely(packet->ecn == 3)) {
			state->ce++;
			state->signals++;
		}
	}
	if (unlikely(packet->opcode == ROCE_OPCODE_CNP)) {
		state->cnp++;
		return FLOW_NEXT_ANSWER;
	}
	if (unlikely(packet->bth_congestion)) {
		state->fecn += packet->fecn;
		state->becn += packet->becn;
	}
	if (!has_sequence(packet))
		return FLOW_NEXT_NONE;
	if (unlikely(flow_gap_is_old(state, clock)))
		flow_gap_settle(state);
	if (is_response(packet))
		return response(state, packet, clock, is_sender);
	request(state, packet, clock, is_sender, knows_answers);
	return FLOW_NEXT_NONE;
}

static bool is_refusal(const struct roce_packet *packet)
{
	u32 class = packet->aeth_syndrome >> 5 & 3;

	return packet->has & ROCE_HAS_AETH &&
	       (class == ROCE_AETH_RNR || class == ROCE_AETH_NAK);
}

static void refused(struct flow_state *state, const struct roce_packet *packet)
{
	/* Karn, as above */
	state->has_marker = 0;
	if ((packet->aeth_syndrome >> 5 & 3) == ROCE_AETH_RNR) {
		state->asked = FLOW_ASKED_RNR;
		return;
	}
	/* After the others, nothing is sent any more. */
	if ((packet->aeth_syndrome & 0x1f) != ROCE_NAK_SEQUENCE)
		return;
	state->asked = FLOW_ASKED_GAP;
	if (state->gap != FLOW_GAP_REQUEST)
		return;
	/* What is being sent again may go on before this is heard. */
	flow_run_settle(state);
	if (state->gap != FLOW_GAP_REQUEST || !flow_in_gap(state, packet->psn))
		return;
	state->gap = FLOW_GAP_ASKED;
	state->gap_start = packet->psn;
}

u64 flow_answered(struct flow_state *state, const struct roce_packet *packet,
		  const struct flow_clock *clock, bool gap, bool *is_stranger)
{
	*is_stranger = false;
	if (packet->opcode == ROCE_OPCODE_CNP) {
		state->signals++;
		return 0;
	}
	if (is_read_response(packet) && is_full(packet))
		learn_pmtu(state, packet);
	if (flow_is_stranger(state, packet->psn)) {
		*is_stranger = true;
		return 0;
	}
	if (is_refusal(packet)) {
		refused(state, packet);
		return 0;
	}
	if (gap) {
		state->has_marker = 0;
		state->asked = FLOW_ASKED_GAP;
		return 0;
	}
	return flow_acknowledged(state, packet->psn, clock->ns);
}

/* ---- for readers ---- */

u32 flow_missing(const struct flow_state *state, const struct flow_clock *clock)
{
	return flow_gap_is_old(state, clock) ? 0 : state->gap_length;
}

u64 flow_lost(const struct flow_state *state, const struct flow_clock *clock)
{
	u32 late = state->gap == FLOW_GAP_REQUEST ? state->run : 0;

	if (!flow_gap_is_old(state, clock))
		return state->lost;
	return state->lost + state->gap_length - late;
}

void flow_reset(struct flow_state *state, const struct flow_clock *clock)
{
	/* As flow_lost() told it */
	if (flow_gap_is_old(state, clock))
		flow_gap_settle(state);
	/* So that the window goes on */
	state->mark_bytes -= (u32)(state->bytes >> FLOW_BYTES_SHIFT);
	state->mark_packets -= (u32)state->packets;
	state->packets = 0;
	state->bytes = 0;
	state->ect = 0;
	state->ce = 0;
	state->cnp = 0;
	state->fecn = 0;
	state->becn = 0;
	state->nak_sequence = 0;
	state->nak_other = 0;
	state->rnr = 0;
	state->retransmitted = 0;
	state->retransmitted_bytes = 0;
	state->gaps = 0;
	state->lost = 0;
	state->reordered = 0;
	state->timeouts = 0;
}
