/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A group in one process: workers and aggregators made of the module's pure
 * code, with lanes between them. What happens next is drawn from a seed.
 *
 *   worker      PUTs and SEGMENTs on lanes up, looks at each completed result
 *   aggregator  takes FULL places in any order, reduces, PUTs, sends RESULTs
 *   lane        a FIFO; each item has a delay of its own, but does not overtake
 *
 * A PUT reads its source when it arrives, the last moment that hardware may:
 * so memory that is used again too early is seen.
 */
#ifndef SELFTESTS_GROUP_SIM_H
#define SELFTESTS_GROUP_SIM_H

#include "group_plan.h"
#include "group_stream.h"
#include "group_table.h"
#include "group_wire.h"

#define SIM_RANKS	6
#define SIM_AGGREGATORS	4
#define SIM_LANES	3
#define SIM_WINDOW	8
#define SIM_SEGMENT	128
#define SIM_OPS		12
#define SIM_QUEUE	64
#define SIM_DELAY	200
#define SIM_TIMEOUT	100000

enum { SIM_F32 = 1, SIM_I32 = 7, SIM_SUM = 1 };

/* What goes wrong in the group, and faults that are planted in the simulation. */
enum sim_trouble {
	SIM_NONE,
	SIM_STOPS,		/* the rank, without a word */
	SIM_COUNTS,		/* it calls another count */
	SIM_REPEATS,		/* it says segments again, on the same lane */
	SIM_FORGES,		/* it says one beyond the window */
	SIM_BABBLES,		/* it says what is no message */
	SIM_PLANTED,		/* from here on: must be found */
	SIM_SUMS_AS_THEY_COME = SIM_PLANTED,
	SIM_PUTS_ONE_TOO_FAR,
	SIM_PUTS_FROM_PLACE,	/* RESULT to its rank while others read it */
	SIM_FORGETS_RESULT,
	SIM_OVERTAKES,		/* RESULT on another lane than its data */
	SIM_HASTENS,		/* replicated in place: the own segment at once */
};

struct sim_item {
	u64 due;
	bool is_put;
	const u8 *from;		/* PUT */
	struct group_op *op;	/* PUT up: whose data it is */
	u64 token;		/* PUT down */
	u64 at;			/* PUT down: offset; up: place */
	u64 n;
	u32 bytes;
	u8 data[GROUP_MESSAGE_MAX];
};

struct sim_lane {
	struct sim_item items[SIM_QUEUE];
	u32 first;
	u32 count;
};

struct sim_call {
	struct group_call call;
	bool in_place;
};

/* Of one rank and operation */
struct sim_buffers {
	u64 send;		/* offsets in its memory */
	u64 send_bytes;
	u64 receive;
	u64 receive_bytes;
};

struct sim_op {
	struct group_op op;
	u32 number;
	u32 back;		/* times that it was given back */
	bool is_complete;
	bool is_over;		/* but for who reads its data */
	u32 readers;		/* PUTs of it that have not arrived */
};

struct sim_worker {
	struct sim *sim;
	u32 rank;
	struct group_streams streams;
	void *memory;
	u8 *region;
	u64 region_bytes;
	struct sim_buffers buffers[SIM_OPS];
	struct sim_op ops[SIM_OPS];
	u32 submitted;
	u32 open;		/* submitted, not given back */
	u32 depth;		/* most of them */
	bool has_stopped;
	bool has_fault;
	struct group_fault fault;
	u64 steps;
};

struct sim_aggregator {
	struct sim *sim;
	u32 index;
	struct group_table table;
	void *memory;
	u8 pool[SIM_RANKS][SIM_WINDOW][SIM_SEGMENT];
	bool in_use[SIM_RANKS][SIM_WINDOW];
	u32 order[SIM_WINDOW][SIM_RANKS];	/* as they came; for a mutant */
	u32 arrived[SIM_WINDOW];
	u8 result[SIM_WINDOW][SIM_SEGMENT];
	u32 readers[SIM_WINDOW];	/* PUTs that will read it */
	bool has_fault;
	struct group_fault fault;
};

struct sim {
	u64 random;
	u64 now;
	struct group_shape shape;
	u32 window;
	u32 lanes;
	u32 ops;
	u32 depth;		/* of all workers; 0: each has its own */
	struct sim_call calls[SIM_OPS];
	enum sim_trouble trouble;
	u32 odd;		/* rank that is in trouble */
	u64 odd_at;		/* operation or step */
	struct sim_worker workers[SIM_RANKS];
	struct sim_aggregator aggregators[SIM_AGGREGATORS];
	struct sim_lane up[SIM_RANKS][SIM_AGGREGATORS][SIM_LANES];
	struct sim_lane down[SIM_RANKS][SIM_AGGREGATORS][SIM_LANES];
	char wrong[200];	/* the first thing that was */
};

/* ---- world ---- */

/* Below @below */
u32 sim_random(struct sim *sim, u32 below);
__attribute__((format(printf, 2, 3)))
void sim_wrong(struct sim *sim, const char *format, ...);
void sim_post_put(struct sim *sim, struct sim_lane *lane,
		  const struct sim_item *item);
void sim_post(struct sim *sim, struct sim_lane *lane,
	      const struct group_message *message);
/* True: it went as it should, and "" is wrong. */
bool sim_run(struct sim *sim, u64 seed, u32 window, enum sim_trouble trouble);

/* ---- memory ---- */

/* Element @i of what @rank gives to operation @number */
u32 sim_given(const struct sim *sim, u32 number, u32 rank, u64 i);
/* One more of the sum */
u32 sim_add(u32 type, u32 sum, u32 value);
void sim_memory_init(struct sim *sim);
void sim_memory_exit(struct sim *sim);
/* Its result has come: is it right? Then the memory is used for something else. */
void sim_check_result(struct sim_worker *worker, u32 number);
/* At the end: nothing was written but results that were waited for. */
void sim_check_memory(struct sim_worker *worker);

/* ---- workers, aggregators ---- */

void sim_worker_init(struct sim_worker *worker);
/* True: it did something. */
bool sim_worker_step(struct sim_worker *worker);
/* A PUT of its data has arrived. */
void sim_worker_read(struct sim_worker *worker, struct group_op *op,
		     u32 aggregator);
void sim_worker_hear(struct sim_worker *worker, u32 aggregator,
		     const struct sim_item *item);

void sim_aggregator_init(struct sim_aggregator *aggregator);
bool sim_aggregator_step(struct sim_aggregator *aggregator);
void sim_aggregator_hear(struct sim_aggregator *aggregator, u32 rank,
			 const struct sim_item *item);
/* Ends the group if something is late. True: it did. */
bool sim_aggregator_late(struct sim_aggregator *aggregator);

#endif /* SELFTESTS_GROUP_SIM_H */
