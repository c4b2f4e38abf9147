/* SPDX-License-Identifier: GPL-2.0 */
/*
 * peerlane why: what is read (why_read.c), what that means (why_flow.c,
 * why_lane.c, why_late.c, why_local.c, why_rank.c: pure), how it is told (cmd_why.c). Findings are those
 * of doctor.h.
 */
#ifndef PEERLANE_WHY_H
#define PEERLANE_WHY_H

#include "doctor.h"

/**
 * struct why_flow - flows of one rank in one direction, added up
 * @flows: how many had packets: of others nothing was seen
 * @packets: of them, as all that follows
 * @ce: marked by switches
 * @cnp: notifications of congestion that answered them
 * @retransmitted: sent again
 * @lost: that had to be sent again, or never came
 * @rnr: answers of a receiver that was not ready
 * @timeouts: times that an answer did not come
 */
struct why_flow {
	uint32_t flows;
	uint64_t packets;
	uint64_t ce;
	uint64_t cnp;
	uint64_t retransmitted;
	uint64_t lost;
	uint64_t rnr;
	uint64_t timeouts;
};

/**
 * struct why_rank - a rank as an aggregator of this node sees it
 * @last: all that was counted so far
 * @grown: what of it came in the interval; all without one
 * @was_behind: segments by which another one was ahead as the interval began
 * @address: of its node; IPv4 as ::ffff:a.b.c.d
 * @has_address: that could be read
 * @to: its flows to the aggregator, where its label does not tell them
 * @from: those of results
 */
struct why_rank {
	struct peerlane_rank_status last;
	struct peerlane_rank_status grown;
	uint64_t was_behind;
	uint8_t address[16];
	bool has_address;
	struct why_flow to;
	struct why_flow from;
};

struct why_seen {
	uint64_t aggregator;
	struct why_rank *ranks;
	size_t count;
};

/**
 * struct why_path - the way from a process' memory to a NIC
 * @device: that has the memory
 * @nic: RDMA device
 * @path: as peerlane_path_name() has it, or empty: not known
 * @text: what was found
 */
struct why_path {
	char device[33];
	char nic[65];
	char path[16];
	char text[256];
};

/**
 * struct why_lane - a queue pair of a rank of this node to an aggregator
 * @last: as it is
 * @messages: posted in the interval, or so far without one
 * @flow: that leaves this node, if it was observed
 */
struct why_lane {
	struct peerlane_lane_status last;
	uint64_t messages;
	struct why_flow flow;
};

/**
 * struct why_local - a rank that a process of this node is
 * @last: as it is
 * @ops: that ended well in the interval, or so far without one
 * @lanes: its queue pairs to aggregators
 * @lane_count: of them
 * @to: flows with its label that leave this node; others may have that too
 * @from: and that arrive
 * @path: the worst way from its memory to a NIC
 */
struct why_local {
	struct peerlane_group_status last;
	uint64_t ops;
	struct why_lane *lanes;
	size_t lane_count;
	struct why_flow to;
	struct why_flow from;
	struct why_path path;
};

/**
 * struct why_facts - what is known of a group on this node
 * @group: its number
 * @seconds: of the interval; 0: all counts are since the beginning
 * @now: CLOCK_BOOTTIME, ns
 * @seen: by each aggregator of this node
 * @seen_count: of them
 * @refused: aggregators that may not be looked at
 * @locals: ranks on this node
 * @local_count: of them
 * @no_flows: why flows are not known, or NULL
 * @points: places where packets are looked at
 * @ports: of this node, with samples of their counters
 */
struct why_facts {
	uint64_t group;
	double seconds;
	uint64_t now;
	struct why_seen *seen;
	size_t seen_count;
	size_t refused;
	struct why_local *locals;
	size_t local_count;
	char *no_flows;
	size_t points;
	struct facts ports;
};

/* ---- facts (why_read.c) -------------------------------------------------- */

/* 0 or the negative errno of a call of the library */
int why_read(uint64_t group, double interval, struct why_facts *facts);
void why_free(struct why_facts *facts);

/* ---- flows (why_flow.c) --------------------------------------------------- */

/* Add a flow to those of the ranks it belongs to. @before, or NULL: it is new. */
void why_take_flow(struct why_facts *facts,
		   const struct peerlane_flow_info *now,
		   const struct peerlane_flow_info *before);
/* Its packets, added to others' */
void why_flow_add(struct why_flow *sum, const struct peerlane_flow_info *now,
		  const struct peerlane_flow_info *before);
/* It loses time. */
bool why_flow_bad(const struct why_flow *flow);
/* "2.00% CE marks, 31 packets sent again", to be freed; empty: nothing */
char *why_flow_words(const struct why_flow *flow);
/* Ranks of @seen with the address of @rank, itself too */
uint32_t why_sharers(const struct why_seen *seen, const struct why_rank *rank);
/* Ranks of this node with the label of @local, itself too */
uint32_t why_namesakes(const struct why_facts *facts,
		       const struct why_local *local);
void why_judge_flows(const struct why_facts *facts, struct findings *findings);

/* ---- ranks and what aggregators saw (why_rank.c, why_late.c) --------------- */

/* @last with less than @first, which is of the same rank, or zero */
struct why_rank why_rank_of(const struct peerlane_rank_status *first,
			    const struct peerlane_rank_status *last);
/* "there", "joining", "left": the latter two as findings are called */
const char *why_presence(const struct peerlane_rank_status *rank);
void why_judge_ranks(const struct why_facts *facts, struct findings *findings);
void why_judge_late(const struct why_facts *facts, const struct why_seen *seen,
		    struct findings *findings);
/* The rank as a process of this node, or NULL */
const struct why_local *why_local_of(const struct why_facts *facts,
				     uint32_t rank);

/* ---- this node (why_local.c) ----------------------------------------------- */

/* How memory is reached is slower than it could be. */
bool why_path_bad(const struct why_path *path);
void why_judge_locals(const struct why_facts *facts, struct findings *findings);
void why_judge_ports(const struct why_facts *facts, struct findings *findings);

/* ---- lanes (why_lane.c) ------------------------------------------------------ */

/* A flow with the label of @local, that leaves this node */
void why_take_lane_flow(struct why_local *local,
			const struct peerlane_flow_info *now,
			const struct peerlane_flow_info *before);
void why_judge_lanes(const struct why_facts *facts, struct findings *findings);

/* ---- all of them (why.c) ----------------------------------------------------- */

void why_judge(const struct why_facts *facts, struct findings *findings);

#endif /* PEERLANE_WHY_H */
