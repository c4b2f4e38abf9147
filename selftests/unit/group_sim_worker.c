// SPDX-License-Identifier: GPL-2.0
/* A worker of the simulation: submits, sends, and looks at what comes back. */
#include <stdlib.h>
#include <string.h>

#include "group_sim.h"

void sim_worker_init(struct sim_worker *worker)
{
	struct sim *sim = worker->sim;
	u32 i;

	worker->memory = calloc(1, group_streams_size(sim->shape.aggregators,
						      sim->window));
	group_streams_init(&worker->streams, worker->memory, &sim->shape,
			   worker->rank, sim->window);
	worker->depth = sim->depth ?: 1 + sim_random(sim, 4);
	for (i = 0; i < sim->ops; i++)
		worker->ops[i].number = i;
}

/* ---- sending ---- */

static bool is_odd(const struct sim_worker *worker, enum sim_trouble trouble)
{
	return worker->sim->trouble == trouble && worker->rank == worker->sim->odd;
}

static bool submit(struct sim_worker *worker)
{
	struct group_op *op;

	if (worker->submitted == worker->sim->ops ||
	    worker->open == worker->depth)
		return false;
	op = &worker->ops[worker->submitted].op;
	op->in_place = worker->sim->calls[worker->submitted++].in_place;
	group_stream_add(&worker->streams, op);
	if (worker->sim->trouble == SIM_HASTENS)
		op->foreign = 0;
	worker->open++;
	return true;
}

/* The data into its place, if this rank gives any, and where the result goes */
static void fill(struct sim_worker *worker, struct sim_lane *lane,
		 struct sim_op *op, const struct group_segment *segment,
		 struct group_part *part)
{
	const struct sim_buffers *buffers = &worker->buffers[op->number];
	struct sim_item item = {
		.is_put = true, .n = part->n, .bytes = segment->bytes,
		.from = worker->region + buffers->send + segment->send,
		.at = part->n % worker->sim->window,
		.op = &op->op,
	};

	if (!segment->bytes)
		return;
	if (group_contributes(segment, worker->rank)) {
		part->bytes = segment->bytes;
		sim_post_put(worker->sim, lane, &item);
		op->readers++;
	}
	if (group_receives(segment, worker->rank)) {
		part->token = worker->rank + 1;
		part->offset = buffers->receive + segment->receive;
	}
}

/* Now and then what was said is said again, or what may not be. */
static void be_odd(struct sim_worker *worker, struct sim_lane *lane,
		   struct group_message message)
{
	struct sim_item item = { .bytes = 5, .data = "hello" };
	struct sim *sim = worker->sim;

	if (is_odd(worker, SIM_REPEATS) && sim_random(sim, 2))
		sim_post(sim, lane, &message);
	/* With the last word that it says, for it has to come to that. */
	if (worker->steps < sim->odd_at && worker->submitted < sim->ops)
		return;
	if (is_odd(worker, SIM_FORGES)) {
		message.part.n += sim->window * 1000;
		sim_post(sim, lane, &message);
	}
	if (is_odd(worker, SIM_BABBLES))
		sim_post_put(sim, lane, &item);
}

static void give_back(struct sim_worker *worker, struct group_op *op,
		      bool is_complete)
{
	struct sim_op *its = list_of(op, struct sim_op, op);

	its->back++;
	its->is_complete = is_complete;
	worker->open--;
	if (is_complete)
		sim_check_result(worker, its->number);
}

/* Replicated: also when nobody reads its data any more */
static void give_back_if_read(struct sim_worker *worker, struct sim_op *its)
{
	if (its->is_over && !its->readers && !its->back)
		give_back(worker, &its->op, true);
}

void sim_worker_read(struct sim_worker *worker, struct group_op *op, u32 aggregator)
{
	struct sim_op *its = list_of(op, struct sim_op, op);

	its->readers--;
	group_stream_read(&worker->streams, op, aggregator);
	give_back_if_read(worker, its);
}

static bool send(struct sim_worker *worker, u32 aggregator)
{
	struct sim *sim = worker->sim;
	struct sim_lane *lane =
		&sim->up[worker->rank][aggregator][sim_random(sim, sim->lanes)];
	struct group_message message = { .type = GROUP_MESSAGE_SEGMENT };
	struct group_segment segment;
	struct group_op *op;
	struct sim_op *its;

	if (!group_stream_next(&worker->streams, aggregator, &message.part.n, &op,
			       &message.part.index, &segment))
		return false;
	message.part.seq = op->seq;
	message.part.call = op->call;
	its = list_of(op, struct sim_op, op);
	fill(worker, lane, its, &segment, &message.part);
	sim_post(sim, lane, &message);
	its->is_over = group_stream_is_over(op);
	give_back_if_read(worker, its);
	be_odd(worker, lane, message);
	return true;
}

bool sim_worker_step(struct sim_worker *worker)
{
	u32 count = worker->sim->shape.aggregators, i, begin;

	if (is_odd(worker, SIM_STOPS) && worker->steps >= worker->sim->odd_at)
		worker->has_stopped = true;
	if (worker->has_stopped || worker->has_fault)
		return false;
	worker->steps++;
	if (!sim_random(worker->sim, 4) && submit(worker))
		return true;
	begin = sim_random(worker->sim, count);
	for (i = 0; i < count; i++)
		if (send(worker, (begin + i) % count))
			return true;
	return submit(worker);
}

/* ---- hearing ---- */

/* The first fault is it, and all aggregators hear of it. */
static void end(struct sim_worker *worker, const struct group_message *message)
{
	struct sim *sim = worker->sim;
	struct group_op *op;
	u32 i;

	if (worker->has_fault)
		return;
	worker->has_fault = true;
	worker->fault = message->fault;
	while ((op = group_stream_abort(&worker->streams)))
		give_back(worker, op, false);
	for (i = 0; i < sim->shape.aggregators; i++)
		sim_post(sim, &sim->up[worker->rank][i][0], message);
}

static void over(struct sim_worker *worker, struct group_op *op)
{
	struct sim_op *its = list_of(op, struct sim_op, op);

	its->is_over = true;
	give_back_if_read(worker, its);
}

static void result(struct sim_worker *worker, u32 aggregator,
		   const struct group_message *message)
{
	struct group_op *done;

	if (worker->has_fault)
		return;
	if (group_stream_result(&worker->streams, aggregator, message->result.n,
				message->result.seq, &done))
		sim_wrong(worker->sim, "rank %u waits for no result %llu of %u",
			  worker->rank, message->result.n, aggregator);
	else if (done)
		over(worker, done);
}

static void put(struct sim_worker *worker, u32 aggregator,
		const struct sim_item *item)
{
	struct sim_aggregator *from = &worker->sim->aggregators[aggregator];

	if (item->token != worker->rank + 1 ||
	    item->at > worker->region_bytes ||
	    item->bytes > worker->region_bytes - item->at) {
		sim_wrong(worker->sim, "rank %u: a result for no memory of it",
			  worker->rank);
		return;
	}
	memcpy(worker->region + item->at, item->from, item->bytes);
	from->readers[item->n % worker->sim->window]--;
}

void sim_worker_hear(struct sim_worker *worker, u32 aggregator,
		     const struct sim_item *item)
{
	struct group_message message = {};

	if (item->is_put) {
		put(worker, aggregator, item);
		return;
	}
	if (worker->has_stopped)
		return;
	if (group_message_decode(&message, item->data, item->bytes))
		sim_wrong(worker->sim, "an aggregator babbles");
	else if (message.type == GROUP_MESSAGE_RESULT)
		result(worker, aggregator, &message);
	else if (message.type == GROUP_MESSAGE_ABORT)
		end(worker, &message);
}
