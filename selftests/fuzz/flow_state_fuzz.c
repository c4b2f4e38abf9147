// SPDX-License-Identifier: GPL-2.0
/*
 * Any packets, in any order, for the state of the two directions of a
 * connection, as the module's flow_packet.c hands them on. The input is read as
 * steps: what comes, where, and how far its number is from the last one; or
 * a whole packet for the parser.
 *
 * What must hold after each step, for each direction:
 *  - counters do not go back, but to zero when they are set to zero;
 *  - each PSN that was left out is lost, reordered or missing, once: the sum of
 *    these grows by the numbers of a new gap, and by nothing else;
 *  - what is missing is open: there is a gap; and none is lost twice by time;
 *  - packets are not sent again more often than they came;
 *  - congestion begins and ends in turn;
 *  - the short way for plain packets, where it is taken, ends at the same state.
 */
#include <linux/types.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "flow_gap.h"
#include "flow_plain.h"
#include "flow_window.h"

#define MUST(what) \
	do { \
		if (!(what)) \
			abort(); \
	} while (0)

#define LATE	50

struct input {
	const uint8_t *at;
	size_t left;
};

struct side {
	struct flow_state flow;
	u32 psn;
	bool is_sender;
};

struct both {
	struct side sides[2];
	struct input input;
	u32 ticks;
	u32 transport;
	bool knows;
};

static u64 now;

static u64 get_ns(void)
{
	return now;
}

static u32 take(struct input *input, u32 bytes)
{
	u32 value = 0;

	for (; bytes && input->left; bytes--, input->left--)
		value = value << 8 | *input->at++;
	return value;
}

static struct flow_clock clock_of(const struct both *both)
{
	return (struct flow_clock){ both->ticks, LATE, get_ns };
}

/* ---- what must hold ---- */

static void check_counters(const struct flow_state *was,
			   const struct flow_state *is)
{
	MUST(is->packets >= was->packets && is->bytes >= was->bytes);
	MUST(is->ect >= was->ect && is->ce >= was->ce && is->ce <= is->ect);
	MUST(is->cnp >= was->cnp && is->fecn >= was->fecn);
	MUST(is->becn >= was->becn && is->rnr >= was->rnr);
	MUST(is->nak_sequence >= was->nak_sequence);
	MUST(is->nak_other >= was->nak_other);
	MUST(is->retransmitted >= was->retransmitted);
	MUST(is->retransmitted_bytes >= was->retransmitted_bytes);
	MUST(is->gaps >= was->gaps && is->gaps <= was->gaps + 1);
	MUST(is->lost >= was->lost && is->reordered >= was->reordered);
	MUST(is->timeouts >= was->timeouts && is->timeouts <= was->timeouts + 1);
	MUST(is->ect <= is->packets && is->cnp <= is->packets);
}

static u64 left_out(const struct flow_state *flow)
{
	return flow->lost + flow->reordered + flow->gap_length;
}

static void check_gaps(const struct flow_state *was,
		       const struct flow_state *is, bool is_sender)
{
	u64 more = left_out(is) - left_out(was);

	MUST(left_out(is) >= left_out(was));
	MUST((is->gaps > was->gaps) == (more > 0));
	MUST(more < FLOW_PSN_WINDOW);
	MUST(!is_sender || !more);
	MUST((is->gap == FLOW_GAP_NONE) == !is->gap_length);
	MUST(is->gap <= FLOW_GAP_RESPONSE);
	MUST(is->gap != FLOW_GAP_REQUEST || is->run <= is->gap_length);
}

static void check_readers(const struct flow_state *flow,
			  const struct flow_clock *clock)
{
	u64 lost = flow_lost(flow, clock), missing = flow_missing(flow, clock);
	u64 bytes, packets;

	MUST(lost >= flow->lost);
	MUST(lost + missing + flow->reordered <= left_out(flow));
	MUST(!missing || lost == flow->lost);
	flow_rates(flow, 0, &bytes, &packets);
	flow_rates(flow, 1000000, &bytes, &packets);
	MUST(!bytes && !packets);
}

static void check(const struct both *was, const struct both *is)
{
	struct flow_clock clock = clock_of(is);
	int i;

	for (i = 0; i < 2; i++) {
		check_counters(&was->sides[i].flow, &is->sides[i].flow);
		check_gaps(&was->sides[i].flow, &is->sides[i].flow,
			   is->sides[i].is_sender);
		check_readers(&is->sides[i].flow, &clock);
	}
}

/* ---- steps ---- */

static const u8 operations[16] = {
	ROCE_SEND_ONLY, ROCE_SEND_ONLY, ROCE_SEND_ONLY, ROCE_WRITE_FIRST,
	ROCE_WRITE_MIDDLE, ROCE_WRITE_LAST, ROCE_READ_REQUEST,
	ROCE_READ_RESPONSE_FIRST, ROCE_READ_RESPONSE_MIDDLE,
	ROCE_READ_RESPONSE_LAST, ROCE_READ_RESPONSE_ONLY, ROCE_ACK, ROCE_ACK,
	ROCE_ATOMIC_ACK, ROCE_FETCH_ADD, ROCE_SEND_LAST,
};

static bool answers(const struct roce_packet *packet)
{
	u32 operation = roce_operation(packet);

	return operation >= ROCE_READ_RESPONSE_FIRST &&
	       operation <= ROCE_ATOMIC_ACK;
}

/* What flow_quick.h does, with what of a packet is looked at for it. */
static void see_plain(struct flow_state *flow, const struct roce_packet *packet,
		      unsigned int next, const struct flow_state *after)
{
	u8 ip[48] = {
		[1] = packet->ip_tos,
		[2] = (u8)(packet->length >> 8), (u8)packet->length,
		[28] = packet->opcode,
		[36] = packet->bth_ack, (u8)(packet->psn >> 16),
		(u8)(packet->psn >> 8), (u8)packet->psn,
	};
	struct roce_plain plain = {
		.ip = ip, .payload = packet->payload,
		.kind = roce_plain_kinds[packet->opcode],
	};
	bool is_ack = !(plain.kind & ROCE_PLAIN_REQUEST);

	if (!plain.kind || packet->bth_congestion || packet->length > 65535 ||
	    (is_ack && packet->aeth_syndrome & 0x60) ||
	    !(is_ack ? flow_is_plain_answer(flow) :
		       flow_is_plain_request(flow, &plain)))
		return;
	if (is_ack)
		flow_plain_answer(flow, &plain);
	else if (flow_plain_request(flow, &plain))
		flow_mark(flow, packet->psn, false, get_ns());
	MUST(!memcmp(flow, after, sizeof(*flow)));
	MUST(next == (is_ack ? FLOW_NEXT_ANSWER : FLOW_NEXT_NONE));
}

static void see(struct both *both, u32 which, const struct roce_packet *packet)
{
	struct side *side = &both->sides[which];
	struct flow_clock clock = clock_of(both);
	struct flow_state before = side->flow;
	bool is_stranger;
	unsigned int next;

	next = flow_packet(&side->flow, packet, &clock, side->is_sender,
			   both->knows);
	MUST(side->flow.packets == before.packets + 1);
	MUST(side->flow.retransmitted <=
	     before.retransmitted + 1 + before.run);
	see_plain(&before, packet, next, &side->flow);
	if (both->knows && next)
		flow_answered(&both->sides[!which].flow, packet, &clock,
			      next & FLOW_NEXT_GAP, &is_stranger);
}

/* One whose number is near that of the last, or of the other side's requests */
static void step_packet(struct both *both, u32 word)
{
	u32 which = word & 1, kind = word >> 1 & 15, flags = take(&both->input, 1);
	struct roce_packet packet = {
		.opcode = operations[kind], .length = 60 + (flags & 3) * 256,
		.payload = 128 << (flags & 7), .ip_tos = flags >> 3 & 3,
	};
	struct side *from = &both->sides[which];
	s32 by = (signed char)take(&both->input, 1);

	packet.opcode |= both->transport << 5;
	packet.ack_request = flags >> 7;
	if (answers(&packet))
		from = &both->sides[!which];
	else
		from->psn++;
	packet.psn = (from->psn + (u32)by) & PSN_MASK;
	if (flags & 0x40)
		from->psn = packet.psn;
	if (kind == 6) {
		packet.has = ROCE_HAS_RETH;
		packet.dma_length = take(&both->input, 3) << 4;
	}
	if (kind >= 11 && kind <= 13) {
		packet.has = ROCE_HAS_AETH;
		packet.aeth_syndrome = (u8)take(&both->input, 1);
	}
	see(both, which, &packet);
}

static void step_bytes(struct both *both, u32 word)
{
	size_t length = take(&both->input, 1);
	struct roce_packet packet;

	if (length > both->input.left)
		length = both->input.left;
	/* A flow has one transport, but for CNPs. */
	if (roce_parse_ip(both->input.at, (u32)length, &packet) == ROCE_PACKET &&
	    (roce_transport(&packet) == both->transport ||
	     roce_transport(&packet) == ROCE_CNP))
		see(both, word & 1, &packet);
	both->input.at += length;
	both->input.left -= length;
}

static void step_window(struct both *both, u32 word)
{
	static const struct flow_limits limits = { 10000, 1000, 3 };
	struct flow_state *flow = &both->sides[word & 1].flow;
	bool was_congested = flow->congested;
	enum flow_change change;
	u32 share;

	change = flow_window(flow, &limits, 1 + (word >> 1 & 15), &share);
	MUST(share <= 1000000 && !flow->signals);
	MUST((change == FLOW_CHANGE_ON) == (!was_congested && flow->congested));
	MUST((change == FLOW_CHANGE_OFF) == (was_congested && !flow->congested));
}

/* All that is open stays so; what is old has been told as lost. */
static void step_reset(struct both *both, u32 word)
{
	struct flow_state *flow = &both->sides[word & 1].flow;
	struct flow_clock clock = clock_of(both);
	u32 missing = flow_missing(flow, &clock);

	flow_reset(flow, &clock);
	MUST(flow_missing(flow, &clock) == missing);
	MUST(!flow->packets && !flow->lost && !flow->reordered && !flow->gaps);
}

static void step(struct both *both)
{
	u32 word = take(&both->input, 1);
	struct both was = *both;

	switch (word >> 5) {
	case 5:
		both->ticks += word & 31;
		now += (u64)take(&both->input, 2) << (word & 31);
		break;
	case 6:
		if (word & 16)
			step_window(both, word);
		else
			step_bytes(both, word);
		break;
	case 7:
		step_reset(both, word);
		return;
	default:
		step_packet(both, word);
		break;
	}
	check(&was, both);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct both both = { .input = { data, size } };
	u32 word = take(&both.input, 1);

	now = 1000;
	both.knows = word & 1;
	both.transport = word & 32 ? ROCE_UC : ROCE_RC;
	both.sides[0].is_sender = word & 2;
	both.sides[1].is_sender = word & 4;
	both.sides[0].psn = word & 8 ? PSN_MASK - 5 : 100;
	both.sides[1].psn = word & 16 ? PSN_MASK - 50 : 0;
	while (both.input.left)
		step(&both);
	return 0;
}
