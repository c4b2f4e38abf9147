/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module makes of packets, for tests: the code, packets, and a place
 * where they are seen. Before this, FLOW_PART is set to a word of the suite's
 * own, since the suites are in one module.
 */
#ifndef SELFTESTS_FLOW_MAKE_H
#define SELFTESTS_FLOW_MAKE_H

#include <kunit/test.h>
#include <linux/string.h>

#define FLOW_GLUED(part, name)	part ## _ ## name
#define FLOW_GLUE(part, name)	FLOW_GLUED(part, name)
#define FLOW_OWN(name)		FLOW_GLUE(FLOW_PART, name)

#define flow_packet		FLOW_OWN(flow_packet)
#define flow_answered		FLOW_OWN(flow_answered)
#define flow_missing		FLOW_OWN(flow_missing)
#define flow_lost		FLOW_OWN(flow_lost)
#define flow_reset		FLOW_OWN(flow_reset)
#define flow_gap_settle		FLOW_OWN(flow_gap_settle)
#define flow_gap_open		FLOW_OWN(flow_gap_open)
#define flow_came_late		FLOW_OWN(flow_came_late)
#define flow_burst_end		FLOW_OWN(flow_burst_end)
#define flow_run_settle		FLOW_OWN(flow_run_settle)
#define flow_old_request	FLOW_OWN(flow_old_request)
#define flow_window		FLOW_OWN(flow_window)
#define flow_rates		FLOW_OWN(flow_rates)
#include "flow_state.c"
#include "flow_gap.c"
#include "flow_window.c"

#define LATE	50

/**
 * struct place - where packets of a flow are seen, and answers to them
 * @flow: what they tell
 * @is_sender: they are seen where they are sent
 * @knows: answers are known to be such
 * @ticks: time
 * @next: of the last packet, FLOW_NEXT_*
 * @trip: of the last answer
 * @is_stranger: the last answer was none
 */
struct place {
	struct flow_state flow;
	bool is_sender;
	bool knows;
	u32 ticks;
	unsigned int next;
	u64 trip;
	bool is_stranger;
};

static u64 make_ns;

static u64 make_now(void)
{
	return make_ns;
}

static inline struct flow_clock clock_of(const struct place *place)
{
	return (struct flow_clock){ place->ticks, LATE, make_now };
}

/* ---- making packets ---- */

/* Of the reliable connection, with 1000 bytes, which are no path MTU */
static inline struct roce_packet make(u32 operation, u32 psn)
{
	struct roce_packet packet = {
		.opcode = ROCE_OPCODE(ROCE_RC, operation),
		.psn = psn & PSN_MASK,
		.length = 1060,
		.payload = 1000,
	};

	return packet;
}

static inline struct roce_packet make_send(u32 psn)
{
	return make(ROCE_SEND_ONLY, psn);
}

static inline struct roce_packet make_asking(u32 psn)
{
	struct roce_packet packet = make(ROCE_SEND_ONLY, psn);

	packet.ack_request = 1;
	return packet;
}

static inline struct roce_packet make_read(u32 psn, u32 bytes)
{
	struct roce_packet packet = make(ROCE_READ_REQUEST, psn);

	packet.payload = 0;
	packet.length = 60;
	packet.has = ROCE_HAS_RETH;
	packet.dma_length = bytes;
	return packet;
}

/* As long as the path MTU @pmtu, so that it is learned */
static inline struct roce_packet make_full(u32 operation, u32 psn, u32 pmtu)
{
	struct roce_packet packet = make(operation, psn);

	packet.payload = pmtu;
	packet.length = pmtu + 60;
	return packet;
}

static inline struct roce_packet make_answer(u32 syndrome, u32 psn)
{
	struct roce_packet packet = make(ROCE_ACK, psn);

	packet.payload = 0;
	packet.length = 48;
	packet.has = ROCE_HAS_AETH;
	packet.aeth_syndrome = syndrome;
	return packet;
}

#define ACK		0x1f
#define NAK_SEQUENCE	0x60
#define NAK_ACCESS	0x62
#define RNR		0x2c

/* ---- seeing them ---- */

static inline void see_packet(struct place *place, struct roce_packet packet)
{
	struct flow_clock clock = clock_of(place);

	place->next = flow_packet(&place->flow, &packet, &clock,
				  place->is_sender, place->knows);
}

static inline void see_answer_gap(struct place *place, struct roce_packet packet,
				  bool gap)
{
	struct flow_clock clock = clock_of(place);

	place->trip = flow_answered(&place->flow, &packet, &clock, gap,
				    &place->is_stranger);
}

static inline void see_answer(struct place *place, struct roce_packet packet)
{
	see_answer_gap(place, packet, false);
}

/* SENDs from @psn to @last */
static inline void see_sends(struct place *place, u32 psn, u32 last)
{
	for (; psn_ahead(last, psn) >= 0; psn = psn_add(psn, 1))
		see_packet(place, make_send(psn));
}

static inline u64 lost_of(const struct place *place)
{
	struct flow_clock clock = clock_of(place);

	return flow_lost(&place->flow, &clock);
}

static inline u32 missing_of(const struct place *place)
{
	struct flow_clock clock = clock_of(place);

	return flow_missing(&place->flow, &clock);
}

/* What the last packet left open, once another one has followed. */
#define EXPECT_FATES(test, place, gaps_, lost_, reordered_, again_) do { \
	KUNIT_EXPECT_EQ(test, (place)->flow.gaps, (u64)(gaps_)); \
	KUNIT_EXPECT_EQ(test, lost_of(place), (u64)(lost_)); \
	KUNIT_EXPECT_EQ(test, (place)->flow.reordered, (u64)(reordered_)); \
	KUNIT_EXPECT_EQ(test, (place)->flow.retransmitted, (u64)(again_)); \
} while (0)

/* ---- windows ---- */

static const struct flow_limits limits = {
	.threshold_on = 10000,
	.threshold_off = 1000,
	.calm_windows = 3,
};

/* A window of @packets with @signals ends, and @windows - 1 without any. */
static inline enum flow_change pass(struct place *place, u32 packets, u32 signals,
			     u32 windows)
{
	u32 share;

	place->flow.packets += packets;
	place->flow.bytes += packets * 1000ULL;
	place->flow.signals += signals;
	return flow_window(&place->flow, &limits, windows, &share);
}

#endif /* SELFTESTS_FLOW_MAKE_H */
