// SPDX-License-Identifier: GPL-2.0
/* Chance, time and lanes; who does something next; how it should end. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "group_sim.h"

/* ---- chance ---- */

u32 sim_random(struct sim *sim, u32 below)
{
	sim->random = sim->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)((sim->random >> 33) % below);
}

void sim_wrong(struct sim *sim, const char *format, ...)
{
	va_list list;

	if (sim->wrong[0])
		return;
	va_start(list, format);
	vsnprintf(sim->wrong, sizeof(sim->wrong), format, list);
	va_end(list);
}

/* ---- lanes ---- */

void sim_post_put(struct sim *sim, struct sim_lane *lane,
		  const struct sim_item *item)
{
	struct sim_item *to = &lane->items[(lane->first + lane->count) % SIM_QUEUE];

	if (lane->count == SIM_QUEUE) {
		sim_wrong(sim, "more was sent than may be");
		return;
	}
	*to = *item;
	to->due = sim->now + sim_random(sim, SIM_DELAY);
	lane->count++;
}

void sim_post(struct sim *sim, struct sim_lane *lane,
	      const struct group_message *message)
{
	struct sim_item item = {};

	item.bytes = group_message_encode(message, item.data);
	sim_post_put(sim, lane, &item);
}

/* The first of a lane, if its time has come */
static bool take(struct sim *sim, struct sim_lane *lane, struct sim_item *item)
{
	if (!lane->count || lane->items[lane->first].due > sim->now)
		return false;
	*item = lane->items[lane->first];
	lane->first = (lane->first + 1) % SIM_QUEUE;
	lane->count--;
	return true;
}

static bool deliver(struct sim *sim, u32 rank, u32 aggregator, u32 lane)
{
	struct sim_item item;

	if (take(sim, &sim->up[rank][aggregator][lane], &item))
		sim_aggregator_hear(&sim->aggregators[aggregator], rank, &item);
	else if (take(sim, &sim->down[rank][aggregator][lane], &item))
		sim_worker_hear(&sim->workers[rank], aggregator, &item);
	else
		return false;
	return true;
}

/* ---- what happens next ---- */

/* Actor @i: a worker, an aggregator, or both directions of a lane */
static bool act(struct sim *sim, u32 i)
{
	u32 ranks = sim->shape.size, aggregators = sim->shape.aggregators;

	if (i < ranks)
		return sim_worker_step(&sim->workers[i]);
	i -= ranks;
	if (i < aggregators)
		return sim_aggregator_step(&sim->aggregators[i]);
	i -= aggregators;
	return deliver(sim, i % ranks, i / ranks % aggregators,
		       i / ranks / aggregators);
}

static bool act_any(struct sim *sim)
{
	u32 count = sim->shape.size + sim->shape.aggregators +
		    sim->shape.size * sim->shape.aggregators * sim->lanes;
	u32 i, begin = sim_random(sim, count);

	for (i = 0; i < count; i++)
		if (act(sim, (begin + i) % count))
			return true;
	return false;
}

static u64 lane_due(const struct sim_lane *lane)
{
	return lane->count ? lane->items[lane->first].due : U64_MAX;
}

/* To when something arrives. False: nothing will. */
static bool pass_time(struct sim *sim)
{
	u64 due = U64_MAX;
	u32 i, rank, aggregator, lane;

	for (i = 0; i < SIM_RANKS * SIM_AGGREGATORS * SIM_LANES; i++) {
		rank = i % SIM_RANKS;
		aggregator = i / SIM_RANKS % SIM_AGGREGATORS;
		lane = i / SIM_RANKS / SIM_AGGREGATORS;
		due = min(due, lane_due(&sim->up[rank][aggregator][lane]));
		due = min(due, lane_due(&sim->down[rank][aggregator][lane]));
	}
	if (due == U64_MAX)
		return false;
	sim->now = max(sim->now, due);
	return true;
}

/* Nothing goes on by itself: who waits for whom? */
static bool time_is_up(struct sim *sim)
{
	bool is_late = false;
	u32 i;

	sim->now += SIM_TIMEOUT;
	for (i = 0; i < sim->shape.aggregators; i++)
		is_late |= sim_aggregator_late(&sim->aggregators[i]);
	return is_late;
}

static void go(struct sim *sim)
{
	u64 steps;

	for (steps = 0; !sim->wrong[0]; steps++) {
		if (steps > 1000000)
			sim_wrong(sim, "it does not end");
		if (!act_any(sim) && !pass_time(sim) && !time_is_up(sim))
			return;
	}
}

/* ---- the end ---- */

static void check_fault(struct sim *sim, const struct sim_worker *worker,
			u32 cause)
{
	const struct group_fault *fault = &worker->fault;
	/* Of two that differ the second one is wrong. */
	u32 rank = sim->trouble == SIM_COUNTS && sim->shape.size == 2 ? 1 :
									 sim->odd;
	char text[128];

	if (fault->cause == cause && fault->rank == rank)
		return;
	group_fault_text(fault, text, sizeof(text));
	sim_wrong(sim, "rank %u: cause %u: %s; not cause %u of rank %u",
		  worker->rank, fault->cause, text, cause, rank);
}

static void check_ops(struct sim *sim, const struct sim_worker *worker)
{
	u32 i;

	for (i = 0; i < worker->submitted; i++)
		if (worker->ops[i].back != 1)
			sim_wrong(sim, "rank %u: operation %u was given back %u times",
				  worker->rank, i, worker->ops[i].back);
	if (worker->submitted < sim->ops && !worker->has_fault)
		sim_wrong(sim, "rank %u: not all were submitted", worker->rank);
}

/* A rank that stopped may have done so at the end. */
static void check_worker(struct sim *sim, struct sim_worker *worker)
{
	static const u32 causes[] = {
		[SIM_STOPS] = GROUP_CAUSE_LATE,
		[SIM_COUNTS] = GROUP_CAUSE_MISMATCH,
		[SIM_FORGES] = GROUP_CAUSE_PROTOCOL,
		[SIM_BABBLES] = GROUP_CAUSE_PROTOCOL,
		[SIM_HASTENS] = 0,
	};
	u32 cause = causes[sim->trouble];

	sim_check_memory(worker);
	if (worker->has_stopped)
		return;
	check_ops(sim, worker);
	if (worker->has_fault)
		check_fault(sim, worker, cause);
	else if (cause && sim->trouble != SIM_STOPS)
		sim_wrong(sim, "rank %u knows of no fault", worker->rank);
}

static void check_end(struct sim *sim)
{
	u32 i;

	for (i = 0; i < sim->shape.size; i++)
		check_worker(sim, &sim->workers[i]);
	for (i = 0; i < sim->shape.aggregators; i++)
		if (!sim->aggregators[i].has_fault &&
		    group_table_is_busy(&sim->aggregators[i].table))
			sim_wrong(sim, "aggregator %u waits for ever", i);
}

/* ---- the beginning ---- */

static struct sim_call draw_call(struct sim *sim)
{
	u8 kind = (u8)(GROUP_ALL_REDUCE + sim_random(sim, GROUP_BARRIER));
	struct sim_call call = { .call = { .kind = kind } };

	if (kind == GROUP_BARRIER)
		return call;
	call.call.type = sim_random(sim, 2) ? SIM_I32 : SIM_F32;
	call.call.count = sim_random(sim, 5) ? sim_random(sim, 300) : 0;
	if (kind != GROUP_ALL_GATHER && kind != GROUP_BROADCAST)
		call.call.op = SIM_SUM;
	if (kind == GROUP_REDUCE || kind == GROUP_BROADCAST)
		call.call.root = sim_random(sim, sim->shape.size);
	call.in_place = kind == GROUP_ALL_REDUCE && call.call.count &&
			sim_random(sim, 2);
	return call;
}

/* Of a rank with another count the way would be another, too. */
static void draw_way(struct sim *sim, struct sim_call *call)
{
	if (sim->trouble == SIM_COUNTS ||
	    sim->shape.aggregators != sim->shape.size || sim_random(sim, 2))
		return;
	/* Few are as small by themselves. */
	if (sim_random(sim, 2))
		*call = (struct sim_call){
			.call = { GROUP_ALL_REDUCE, SIM_F32, SIM_SUM, 0,
				  1 + sim_random(sim, sim->shape.segment / 4) },
			.in_place = sim_random(sim, 2),
		};
	if (group_may_replicate(&sim->shape, &call->call))
		call->call.way = GROUP_WAY_REPLICATED;
}

static void draw(struct sim *sim, u32 window)
{
	bool alone = sim->trouble == SIM_NONE || sim->trouble == SIM_REPEATS;
	u32 i, least = alone ? 1 : 2;

	sim->shape.size = least + sim_random(sim, SIM_RANKS + 1 - least);
	sim->shape.aggregators = 1 + sim_random(sim, SIM_AGGREGATORS);
	if (sim->shape.size <= SIM_AGGREGATORS && sim_random(sim, 2))
		sim->shape.aggregators = sim->shape.size;
	sim->shape.segment = SIM_SEGMENT >> sim_random(sim, 3);
	sim->window = window;
	sim->lanes = 1 + sim_random(sim, SIM_LANES);
	sim->ops = 1 + sim_random(sim, SIM_OPS);
	for (i = 0; i < sim->ops; i++)
		sim->calls[i] = draw_call(sim);
	for (i = 0; i < sim->ops; i++)
		draw_way(sim, &sim->calls[i]);
	/*
	 * If some run ahead, a rank that waits for the one that stopped is late
	 * in their next operation, and at another aggregator may be named for it.
	 */
	if (sim->trouble == SIM_STOPS)
		sim->depth = 1 + sim_random(sim, 4);
	sim->odd = sim_random(sim, sim->shape.size);
	sim->odd_at = sim_random(sim, sim->trouble == SIM_COUNTS ? sim->ops : 60);
	/* A barrier has no other count. */
	if (sim->trouble == SIM_COUNTS)
		sim->calls[sim->odd_at].call = (struct group_call){
			.kind = GROUP_ALL_REDUCE, .type = SIM_I32, .op = SIM_SUM,
			.count = sim_random(sim, 300),
		};
}

bool sim_run(struct sim *sim, u64 seed, u32 window, enum sim_trouble trouble)
{
	u32 i;

	memset(sim, 0, sizeof(*sim));
	sim->random = seed * 2654435761 + window;
	sim->trouble = trouble;
	draw(sim, window);
	sim_memory_init(sim);
	for (i = 0; i < sim->shape.aggregators; i++) {
		sim->aggregators[i].sim = sim;
		sim->aggregators[i].index = i;
		sim_aggregator_init(&sim->aggregators[i]);
	}
	for (i = 0; i < sim->shape.size; i++)
		sim_worker_init(&sim->workers[i]);
	go(sim);
	if (!sim->wrong[0])
		check_end(sim);
	for (i = 0; i < sim->shape.aggregators; i++)
		free(sim->aggregators[i].memory);
	for (i = 0; i < sim->shape.size; i++)
		free(sim->workers[i].memory);
	sim_memory_exit(sim);
	return !sim->wrong[0];
}
