// SPDX-License-Identifier: GPL-2.0
/* An aggregator of the simulation: takes what is full, reduces, sends. */
#include <stdlib.h>
#include <string.h>

#include "group_sim.h"

void sim_aggregator_init(struct sim_aggregator *aggregator)
{
	struct sim *sim = aggregator->sim;

	aggregator->memory = calloc(1, group_table_size(sim->shape.size,
							sim->window));
	group_table_init(&aggregator->table, aggregator->memory, &sim->shape,
			 &(struct group_members){ sim->shape.size, 0, 1 },
			 aggregator->index, sim->window);
}

/* ---- the end ---- */

static void end(struct sim_aggregator *aggregator, const struct group_fault *fault)
{
	struct group_message message = {
		.type = GROUP_MESSAGE_ABORT, .fault = *fault,
	};
	struct sim *sim = aggregator->sim;
	u32 rank;

	if (aggregator->has_fault)
		return;
	aggregator->has_fault = true;
	aggregator->fault = *fault;
	for (rank = 0; rank < sim->shape.size; rank++)
		sim_post(sim, &sim->down[rank][aggregator->index][0], &message);
}

bool sim_aggregator_late(struct sim_aggregator *aggregator)
{
	struct group_fault fault;

	if (aggregator->has_fault ||
	    !group_table_late(&aggregator->table, aggregator->sim->now,
			      SIM_TIMEOUT, &fault))
		return false;
	end(aggregator, &fault);
	return true;
}

/* ---- hearing ---- */

static void put(struct sim_aggregator *aggregator, u32 rank,
		const struct sim_item *item)
{
	bool *in_use = &aggregator->in_use[rank][item->at];

	if (*in_use && !aggregator->has_fault)
		sim_wrong(aggregator->sim, "rank %u: number %llu comes into a place in use",
			  rank, item->n);
	*in_use = true;
	memcpy(aggregator->pool[rank][item->at], item->from, item->bytes);
	if (item->op)
		sim_worker_read(&aggregator->sim->workers[rank], item->op,
				aggregator->index);
}

static void segment(struct sim_aggregator *aggregator, u32 rank,
		    const struct group_part *part)
{
	u32 at = part->n % aggregator->sim->window;
	struct group_fault fault;
	int got;

	/* There may be one more, if it is said twice. */
	if (aggregator->arrived[at] < aggregator->sim->shape.size)
		aggregator->order[at][aggregator->arrived[at]++] = rank;
	got = group_table_contribute(&aggregator->table, rank, part,
				     aggregator->sim->now, &fault);
	if (got < 0)
		end(aggregator, &fault);
}

void sim_aggregator_hear(struct sim_aggregator *aggregator, u32 rank,
			 const struct sim_item *item)
{
	struct group_fault fault = {
		.cause = GROUP_CAUSE_PROTOCOL, .rank = rank,
		.other = GROUP_NOBODY,
	};
	struct group_message message = {};

	if (item->is_put) {
		put(aggregator, rank, item);
		return;
	}
	if (aggregator->has_fault)
		return;
	if (group_message_decode(&message, item->data, item->bytes))
		end(aggregator, &fault);
	else if (message.type == GROUP_MESSAGE_SEGMENT)
		segment(aggregator, rank, &message.part);
	else if (message.type == GROUP_MESSAGE_ABORT)
		end(aggregator, &message.fault);
}

/* ---- results ---- */

static u32 load(const struct sim_aggregator *aggregator, u32 rank, u32 at, u32 i)
{
	u32 value;

	memcpy(&value, aggregator->pool[rank][at] + 4 * i, 4);
	return value;
}

static u32 sum(const struct sim_aggregator *aggregator, u32 type, u32 at, u32 i)
{
	bool as_they_came = aggregator->sim->trouble == SIM_SUMS_AS_THEY_COME;
	const u32 *order = aggregator->order[at];
	u32 k, value, all = load(aggregator, as_they_came ? order[0] : 0, at, i);

	for (k = 1; k < aggregator->sim->shape.size; k++) {
		value = load(aggregator, as_they_came ? order[k] : k, at, i);
		all = sim_add(type, all, value);
	}
	return all;
}

static void reduce(struct sim_aggregator *aggregator, u32 at, u32 type,
		   const struct group_segment *segment)
{
	u32 i, value;

	if (aggregator->readers[at])
		sim_wrong(aggregator->sim, "a result is computed where one is read");
	for (i = 0; i < segment->elements; i++) {
		value = segment->contributor == GROUP_ALL ?
			sum(aggregator, type, at, i) :
			load(aggregator, segment->contributor, at, i);
		memcpy(aggregator->result[at] + 4 * i, &value, 4);
		if (aggregator->sim->trouble == SIM_PUTS_FROM_PLACE)
			memcpy(aggregator->pool[0][at] + 4 * i, &value, 4);
	}
}

static void send(struct sim_aggregator *aggregator, u32 rank,
		 const struct group_segment *segment,
		 const struct group_part *part)
{
	struct sim *sim = aggregator->sim;
	struct sim_lane *lanes = sim->down[rank][aggregator->index];
	struct sim_lane *lane = &lanes[sim_random(sim, sim->lanes)];
	struct group_message message = {
		.type = GROUP_MESSAGE_RESULT,
		.result = { .n = part->n, .seq = part->seq },
	};
	struct sim_item item = {
		.is_put = true, .n = part->n, .bytes = segment->bytes,
		.from = aggregator->result[part->n % sim->window],
		.token = part->token, .at = part->offset,
	};

	if (sim->trouble == SIM_PUTS_FROM_PLACE)
		item.from = aggregator->pool[0][part->n % sim->window];
	if (sim->trouble == SIM_PUTS_ONE_TOO_FAR)
		item.at += 4;
	if (segment->bytes && group_receives(segment, rank)) {
		sim_post_put(sim, lane, &item);
		aggregator->readers[part->n % sim->window]++;
	}
	if (sim->trouble == SIM_OVERTAKES)
		lane = &lanes[sim_random(sim, sim->lanes)];
	if (sim->trouble != SIM_FORGETS_RESULT || sim_random(sim, 20))
		sim_post(sim, lane, &message);
}

/* The places of all ranks: from now on they may be sent into. */
static void forget(struct sim_aggregator *aggregator, u64 n)
{
	u32 rank, at = n % aggregator->sim->window;

	aggregator->arrived[at] = 0;
	for (rank = 0; rank < aggregator->sim->shape.size; rank++)
		aggregator->in_use[rank][at] = false;
	group_table_done(&aggregator->table, n);
}

static void finish(struct sim_aggregator *aggregator, struct group_place *place)
{
	const struct group_part *part = &place->told[0].part;
	struct group_segment segment;
	u64 n = place->n;
	u32 rank;

	group_plan_segment(&aggregator->sim->shape, &part->call, part->seq,
			   part->index, &segment);
	reduce(aggregator, n % aggregator->sim->window, part->call.type, &segment);
	forget(aggregator, n);
	for (rank = 0; rank < aggregator->sim->shape.size; rank++)
		send(aggregator, rank, &segment, &place->told[rank].part);
}

bool sim_aggregator_step(struct sim_aggregator *aggregator)
{
	u32 window = aggregator->sim->window, i, begin;
	struct group_place *place;

	begin = sim_random(aggregator->sim, window);
	for (i = 0; i < window && !aggregator->has_fault; i++) {
		place = group_table_place(&aggregator->table, begin + i);
		if (place->state != GROUP_PLACE_FULL)
			continue;
		finish(aggregator, place);
		return true;
	}
	return false;
}
