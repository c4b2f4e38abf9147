/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the packets of one flow, and the answers to them, tell. Pure: the caller
 * has the lock and the clock.
 *
 * Requests and responses of one direction have sequence numbers of different
 * senders: requests those of the flow's own sender, responses those of the
 * requests they answer. A READ request stands for as many numbers as its
 * response has packets.
 */
#ifndef PEERLANE_FLOW_STATE_H
#define PEERLANE_FLOW_STATE_H

#include <linux/types.h>

#include "flow_rtt.h"
#include "roce_parse.h"

/*
 * A jump further than this is a new connection, not a loss; backwards four times
 * as far for each step of @reach.
 */
#define FLOW_PSN_WINDOW		65536
#define FLOW_REACH_MAX		3
/*
 * Overtaken by that many, what was left out does not come late any more. So few
 * of them stay missing, though: they may be those that were left out last.
 */
#define FLOW_REORDER		4096
#define FLOW_REORDER_FEW	64
/* Unit of rates of bytes */
#define FLOW_BYTES_SHIFT	6
/* Packets whose fate can be left open, see @run. */
#define FLOW_RUN_MAX		127

/* Why packets may be sent again. */
enum flow_asked {
	FLOW_ASKED_NOT,
	FLOW_ASKED_GAP,		/* NAK for a sequence error, or a gap in responses */
	FLOW_ASKED_RNR,
};

enum flow_gap {
	FLOW_GAP_NONE,
	FLOW_GAP_REQUEST,	/* of requests; nobody is known to have asked */
	FLOW_GAP_ASKED,		/* of requests; the receiver has asked for them */
	FLOW_GAP_SENT_AGAIN,	/* the same, and the first came since */
	FLOW_GAP_RESPONSE,
};

/* Of flow_state.turn: all but @asked; and @has_request alone. */
#define FLOW_TURN_MASK		0x3fffffff
#define FLOW_TURN_REQUEST	0x01000000

/**
 * struct flow_state - counters and memory of one flow
 * @rtt: histogram or NULL, of the caller
 * @next_request: PSN of the next new request
 * @has_request: @next_request is known
 * @after_read: the last request was a READ of unknown number of packets
 * @in_burst: the last request was an old one
 * @gap: enum flow_gap
 * @asked: enum flow_asked, since packets were last begun to be sent again
 * @turn: these from @next_request on; see FLOW_TURN_MASK
 * @next_response: PSN of the next packet of the READ response
 * @in_response: between the first and the last of it
 * @has_response: @next_response is known
 * @dscp: of the last packet
 * @dscp_and: it, in the upper 6 bits
 * @gap_start: none is left out before this PSN
 * @has_marker: an answer to @marker is waited for
 * @congested: see flow_window()
 * @is_rnr_burst: @in_burst, and sent again because the receiver was not ready
 * @reach: how far requests may be ahead of answers, see FLOW_PSN_WINDOW
 * @pmtu_code: path MTU is 128 << @pmtu_code, 0 if not known
 * @gap_time: when PSNs were last left out, ticks
 * @gap_length: PSNs left out, from @gap_start on, not all in a row
 * @calm: quiet windows in a row
 * @point: where the flow is counted, of the caller
 * @signals: of congestion, in this window
 * @marker_time: when @marker was sent, ns, lower 48 bits
 * @run_words: bytes of @run, / 4
 * @marker: PSN of a request
 * @closed: windows since the last packet that flow_window() knows of
 * @burst_next: PSN that continues the old requests
 * @run: of these, how many may be late, or sent again: what follows tells
 * @marker_is_exact: @marker has an answer of its own
 * @rate_bytes: moving average, in 64 bytes a window
 * @rate_packets: moving average, in 1/64 packet a window
 * @mark_bytes: @bytes / 64 at the start of the window, lower 32 bits
 * @mark_packets: @packets at that time, lower 32 bits
 *
 * The counters are told by the netlink specification. Laid out by use: the first
 * 64 bytes are what an ordinary packet changes.
 */
struct flow_state {
	u64 packets;
	u64 bytes;
	u64 ect;
	u64 ce;
	struct flow_rtt *rtt;
	union {
		struct {
#ifdef __LITTLE_ENDIAN_BITFIELD
			u32 next_request:24;
			u32 has_request:1;
			u32 after_read:1;
			u32 in_burst:1;
			u32 gap:3;
			u32 asked:2;
#else
			u32 asked:2;
			u32 gap:3;
			u32 in_burst:1;
			u32 after_read:1;
			u32 has_request:1;
			u32 next_request:24;
#endif
		};
		u32 turn;
	};
	union {
		struct {
#ifdef __LITTLE_ENDIAN_BITFIELD
			u32 next_response:24;
			u32 in_response:1;
			u32 has_response:1;
			u32 dscp:6;
		};
		struct {
			u8 not_dscp[3];
			u8 dscp_and;
#else
			u32 dscp:6;
			u32 has_response:1;
			u32 in_response:1;
			u32 next_response:24;
		};
		struct {
			u8 dscp_and;
			u8 not_dscp[3];
#endif
		};
	};
	u32 gap_start:24;
	u32 has_marker:1;
	u32 congested:1;
	u32 is_rnr_burst:1;
	u32 reach:2;
	u32 pmtu_code:3;
	u32 gap_time;
	u32 signals;
	u16 gap_length;
	u8 calm;
	u8 point;

	union {
		struct {
			u64 marker_time:48;
			u64 run_words:16;
			u32 marker:24;
			u32 closed:8;
			u32 burst_next:24;
			u32 run:7;
			u32 marker_is_exact:1;
		};
		/* For the caller, when the flow has come to its end. */
		void *room[2];
	};
	u32 rate_bytes;
	u32 rate_packets;
	u32 mark_bytes;
	u32 mark_packets;
	u64 cnp;
	u64 fecn;
	u64 becn;
	u64 nak_sequence;

	u64 nak_other;
	u64 rnr;
	u64 retransmitted;
	u64 retransmitted_bytes;
	u64 gaps;
	u64 lost;
	u64 reordered;
	u64 timeouts;
};

/**
 * struct flow_clock - time as the caller has it
 * @ticks: of a clock that wraps
 * @late: ticks after which PSNs left out will not come late any more
 * @ns: called only when it is needed
 */
struct flow_clock {
	u32 ticks;
	u32 late;
	u64 (*ns)(void);
};

/* What else is to be done about a packet; bits. */
enum flow_next {
	FLOW_NEXT_NONE = 0,
	FLOW_NEXT_ANSWER = 1,	/* flow_answered() for the other direction */
	FLOW_NEXT_GAP = 2,	/* and it leaves out responses */
};

/*
 * A packet of this flow. @is_sender: it is seen where it is sent, before
 * anything can be lost. @knows_answers: the other direction is seen too.
 */
unsigned int flow_packet(struct flow_state *state,
			 const struct roce_packet *packet,
			 const struct flow_clock *clock, bool is_sender,
			 bool knows_answers);

/*
 * A packet of the other direction. Returns a round trip in ns, or 0. Sets
 * @is_stranger when it cannot be an answer to this flow. @gap: the packet was
 * a READ response that left some out.
 */
u64 flow_answered(struct flow_state *state, const struct roce_packet *packet,
		  const struct flow_clock *clock, bool gap,
		  bool *is_stranger);

/* PSNs left out whose fate is open; after @clock->late they are lost. */
u32 flow_missing(const struct flow_state *state,
		 const struct flow_clock *clock);
u64 flow_lost(const struct flow_state *state, const struct flow_clock *clock);

static inline u32 flow_pmtu(const struct flow_state *state)
{
	return state->pmtu_code ? 128u << state->pmtu_code : 0;
}

/* Counters to zero. What was learned stays, and what is not decided yet. */
void flow_reset(struct flow_state *state, const struct flow_clock *clock);

#endif /* PEERLANE_FLOW_STATE_H */
