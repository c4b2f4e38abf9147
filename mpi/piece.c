// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* A collective in pieces that fit into a buffer. */
#include "piece.h"

#include <string.h>

static void blocks_of(const struct shim_job *job, uint32_t rank,
		      uint32_t ranks, struct shim_plan *plan)
{
	bool is_root = rank == job->root;

	plan->gives = 1;
	plan->gets = 1;
	if (job->kind == PEERLANE_REDUCE_SCATTER)
		plan->gives = ranks;
	else if (job->kind == PEERLANE_ALL_GATHER)
		plan->gets = ranks;
	else if (job->kind == PEERLANE_REDUCE)
		plan->gets = is_root;
	else if (job->kind == PEERLANE_BROADCAST)
		plan->gives = is_root, plan->gets = !is_root;
	else if (job->kind == PEERLANE_BARRIER)
		plan->gives = plan->gets = 0;
}

static uint32_t widest(const struct shim_plan *plan)
{
	return plan->gives > plan->gets ? plan->gives : plan->gets;
}

struct shim_plan shim_plan(const struct shim_job *job, uint32_t rank,
			   uint32_t ranks, uint64_t room)
{
	struct shim_plan plan = {
		.element = peerlane_element_size(job->type), .pieces = 1,
	};

	blocks_of(job, rank, ranks, &plan);
	if (!widest(&plan))
		return plan;
	plan.most = plan.element ? room / plan.element / widest(&plan) : 0;
	if (plan.most && job->count)
		plan.pieces = (job->count - 1) / plan.most + 1;
	return plan;
}

/*
 * In place, as groups have it: where one side has a block of each rank and the
 * other has one, that one is this rank's among them.
 */
static uint64_t place(uint32_t blocks, uint32_t all, uint32_t rank,
		      uint64_t bytes)
{
	return blocks < all ? rank * bytes : 0;
}

struct shim_piece shim_piece(const struct shim_job *job,
			     const struct shim_plan *plan, uint32_t rank,
			     uint64_t index, uint64_t offset)
{
	struct shim_piece piece = {
		.first = index * plan->most,
		.what = { .kind = job->kind, .type = job->type, .op = job->op,
			  .root = job->root },
	};
	uint32_t all = widest(plan);
	uint64_t bytes;

	if (job->kind == PEERLANE_BARRIER)
		return piece;
	piece.count = job->count - piece.first;
	if (piece.count > plan->most)
		piece.count = plan->most;
	bytes = piece.count * plan->element;
	piece.what.count = piece.count;
	piece.what.send_offset = offset;
	piece.what.receive_offset = offset;
	if (plan->gives && plan->gets) {
		piece.what.send_offset += place(plan->gives, all, rank, bytes);
		piece.what.receive_offset += place(plan->gets, all, rank, bytes);
	}
	return piece;
}

/* The piece of block @block in the program's memory */
static uint64_t outside(const struct shim_job *job,
			const struct shim_plan *plan,
			const struct shim_piece *piece, uint32_t block)
{
	return (block * job->count + piece->first) * plan->element;
}

void shim_fill(const struct shim_job *job, const struct shim_plan *plan,
	       const struct shim_piece *piece, char *buffer)
{
	uint64_t bytes = piece->count * plan->element;
	char *to = buffer + piece->what.send_offset;
	const char *from = job->give;

	for (uint32_t i = 0; i < plan->gives; i++)
		memcpy(to + i * bytes, from + outside(job, plan, piece, i),
		       bytes);
}

void shim_drain(const struct shim_job *job, const struct shim_plan *plan,
		const struct shim_piece *piece, const char *buffer)
{
	uint64_t bytes = piece->count * plan->element;
	const char *from = buffer + piece->what.receive_offset;
	char *to = job->get;

	for (uint32_t i = 0; i < plan->gets; i++)
		memcpy(to + outside(job, plan, piece, i), from + i * bytes,
		       bytes);
}
