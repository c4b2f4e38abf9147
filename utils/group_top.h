/* SPDX-License-Identifier: GPL-2.0 */
/* Ranks of groups as "group top" has them, from one reading to the next. */
#ifndef PEERLANE_GROUP_TOP_H
#define PEERLANE_GROUP_TOP_H

#include "group.h"
#include "rate.h"

/**
 * struct rank_now - a rank, as far as this node knows it
 * @group: number of the group
 * @rank: which one
 * @is_local: a process of this node is it: @local is known
 * @is_seen: an aggregator of this node has it: @seen is known
 * @local: what its file says
 * @aggregator: number of that
 * @seen: what it says; of several the one that waits most
 */
struct rank_now {
	uint64_t group;
	uint32_t rank;
	bool is_local;
	bool is_seen;
	struct peerlane_group_status local;
	uint64_t aggregator;
	struct peerlane_rank_status seen;
};

struct rank_set {
	struct rank_now *list;
	size_t count;
	uint64_t when;		/* CLOCK_MONOTONIC, ns */
};

/**
 * struct rank_figures - what happened between two readings
 * @ops: a second
 * @sent: bytes a second to aggregators
 * @received: bytes a second from them
 * @late_p99: ns after the first rank; since the beginning, if nothing came
 * @wait: ns that the first rank waited for it, of a segment on average
 * @last: percent of its segments to which it came last
 */
struct rank_figures {
	struct rate ops;
	struct rate sent;
	struct rate received;
	uint64_t late_p99;
	uint64_t wait;
	uint32_t last;
};

/* @group: 0 all that have a rank here. Returns 0 or a negative errno. */
int rank_set_read(uint64_t group, struct rank_set *set);
void rank_set_free(struct rank_set *set);
const struct rank_now *rank_set_find(const struct rank_set *set,
				     const struct rank_now *rank);
/* @before, or NULL, is the same rank @elapsed_ns ago (group_figures.c: pure). */
struct rank_figures rank_figures_of(const struct rank_now *now,
				    const struct rank_now *before,
				    uint64_t elapsed_ns);

int group_top(int argc, char **argv);

#endif /* PEERLANE_GROUP_TOP_H */
