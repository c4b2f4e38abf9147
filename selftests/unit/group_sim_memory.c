// SPDX-License-Identifier: GPL-2.0
/* What workers give and get: computed plainly, and compared. */
#include <stdlib.h>
#include <string.h>

#include "group_sim.h"

#define GAP		0xee	/* belongs to nobody */
#define REUSED		0xaa	/* belongs to somebody else now */
#define UNSET		0x55	/* a result that has not come */

/* ---- values ---- */

/* Sums of floats depend on their order: their exponents differ. */
static u32 as_float(u32 hash)
{
	float value = (float)(hash >> 8 & 0xffff) + 1;
	u32 bits, i;

	for (i = 0; i < (hash & 7); i++)
		value *= 13.7f;
	if (hash & 8)
		value = -value;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

u32 sim_given(const struct sim *sim, u32 number, u32 rank, u64 i)
{
	u32 hash = (u32)i * 2654435761U + number * 40503 + rank * 97 + 1;

	hash ^= hash >> 15;
	hash *= 2246822519U;
	hash ^= hash >> 13;
	return sim->calls[number].call.type == SIM_F32 ? as_float(hash) : hash;
}

u32 sim_add(u32 type, u32 sum, u32 value)
{
	float one, other;

	if (type != SIM_F32)
		return sum + value;
	memcpy(&one, &sum, sizeof(one));
	memcpy(&other, &value, sizeof(other));
	one += other;
	memcpy(&sum, &one, sizeof(sum));
	return sum;
}

static u32 want_sum(const struct sim *sim, u32 number, u64 i)
{
	u32 rank, sum = sim_given(sim, number, 0, i);

	for (rank = 1; rank < sim->shape.size; rank++)
		sum = sim_add(sim->calls[number].call.type, sum,
			      sim_given(sim, number, rank, i));
	return sum;
}

/* Element @i of what @rank gets */
static u32 want(const struct sim *sim, u32 number, u32 rank, u64 i)
{
	const struct group_call *call = &sim->calls[number].call;

	switch (call->kind) {
	case GROUP_ALL_GATHER:
		return sim_given(sim, number, (u32)(i / call->count),
				 i % call->count);
	case GROUP_BROADCAST:
		return sim_given(sim, number, call->root, i);
	case GROUP_REDUCE_SCATTER:
		return want_sum(sim, number, rank * call->count + i);
	}
	return want_sum(sim, number, i);
}

/* ---- memory ---- */

/* Not all ranks have it at the same place. */
static u64 place(struct sim *sim, u64 *end, u64 bytes)
{
	u64 at = *end + 8 + 4 * sim_random(sim, 5);

	*end = at + bytes;
	return at;
}

static void give(struct sim_worker *worker, u32 number)
{
	const struct sim_buffers *buffers = &worker->buffers[number];
	u32 value;
	u64 i;

	memset(worker->region + buffers->receive, UNSET, buffers->receive_bytes);
	for (i = 0; i < buffers->send_bytes / 4; i++) {
		value = sim_given(worker->sim, number, worker->rank, i);
		memcpy(worker->region + buffers->send + 4 * i, &value, 4);
	}
}

static void place_all(struct sim *sim, struct sim_worker *worker)
{
	struct sim_buffers *buffers;
	u64 end = 0;
	u32 i;

	for (i = 0; i < sim->ops; i++) {
		const struct group_call *call = &worker->ops[i].op.call;

		buffers = &worker->buffers[i];
		buffers->send_bytes = group_call_send_bytes(&sim->shape, call,
							    worker->rank);
		buffers->receive_bytes = group_call_receive_bytes(&sim->shape, call,
								  worker->rank);
		buffers->send = place(sim, &end, buffers->send_bytes);
		buffers->receive = sim->calls[i].in_place ? buffers->send :
					place(sim, &end, buffers->receive_bytes);
	}
	worker->region_bytes = place(sim, &end, 0);
}

void sim_memory_init(struct sim *sim)
{
	struct sim_worker *worker;
	u32 rank, i;

	for (rank = 0; rank < sim->shape.size; rank++) {
		worker = &sim->workers[rank];
		worker->sim = sim;
		worker->rank = rank;
		for (i = 0; i < sim->ops; i++)
			worker->ops[i].op.call = sim->calls[i].call;
		if (sim->trouble == SIM_COUNTS && rank == sim->odd)
			worker->ops[sim->odd_at].op.call.count +=
				1 + sim_random(sim, 100);
		place_all(sim, worker);
		worker->region = malloc(worker->region_bytes);
		memset(worker->region, GAP, worker->region_bytes);
		for (i = 0; i < sim->ops; i++)
			give(worker, i);
	}
}

void sim_memory_exit(struct sim *sim)
{
	u32 rank;

	for (rank = 0; rank < sim->shape.size; rank++)
		free(sim->workers[rank].region);
}

/* ---- checks ---- */

void sim_check_result(struct sim_worker *worker, u32 number)
{
	const struct sim_buffers *buffers = &worker->buffers[number];
	u8 *receive = worker->region + buffers->receive;
	u32 value;
	u64 i;

	for (i = 0; i < buffers->receive_bytes / 4; i++) {
		memcpy(&value, receive + 4 * i, 4);
		if (value == want(worker->sim, number, worker->rank, i))
			continue;
		sim_wrong(worker->sim, "rank %u, operation %u, kind %u: element %llu is wrong",
			  worker->rank, number,
			  worker->ops[number].op.call.kind, i);
		return;
	}
	memset(receive, REUSED, buffers->receive_bytes);
	memset(worker->region + buffers->send, REUSED, buffers->send_bytes);
}

/* What should be there: @free where anything may be */
static void expect(struct sim_worker *worker, u32 number, u8 *image, u8 *free)
{
	const struct sim_buffers *buffers = &worker->buffers[number];
	u64 receive = buffers->receive, send = buffers->send, i;
	u32 value;

	if (worker->ops[number].is_complete) {
		memset(image + receive, REUSED, buffers->receive_bytes);
		memset(image + send, REUSED, buffers->send_bytes);
		return;
	}
	for (i = 0; i < buffers->send_bytes / 4; i++) {
		value = sim_given(worker->sim, number, worker->rank, i);
		memcpy(image + send + 4 * i, &value, 4);
	}
	memset(free + receive, number < worker->submitted, buffers->receive_bytes);
	if (number >= worker->submitted && receive != send)
		memset(image + receive, UNSET, buffers->receive_bytes);
}

void sim_check_memory(struct sim_worker *worker)
{
	u8 *image = malloc(worker->region_bytes);
	u8 *any = calloc(1, worker->region_bytes);
	u64 i;
	u32 number;

	memset(image, GAP, worker->region_bytes);
	for (number = 0; number < worker->sim->ops; number++)
		expect(worker, number, image, any);
	for (i = 0; i < worker->region_bytes; i++)
		if (!any[i] && worker->region[i] != image[i])
			sim_wrong(worker->sim, "rank %u: byte %llu was written",
				  worker->rank, i);
	free(any);
	free(image);
}
