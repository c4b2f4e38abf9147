// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Parameters of a model that each rank has a part of, as FSDP and ZeRO-3 keep
 * them: before a layer is computed its parameters are gathered from all ranks,
 * into one of two buffers. Those of the next layer are gathered meanwhile.
 *
 *	mpirun -x PEERLANE_SECRET -x PEERLANE_AGGREGATORS prefetch -l 16
 */
#include <errno.h>
#include <stdlib.h>

#include "overlap.h"

/* Elements of one rank's part of a layer, and of a layer */
static size_t part, whole;
/* What computing the layers of the last step found: sums, each of one layer */
static double *sums;

/* A step's parameters are others than those before, in each place. */
static float value(uint64_t step, uint32_t layer, uint32_t rank, size_t index)
{
	return (float)((step * 131 + layer * 31 + rank * 17 + index * 3) % 1021);
}

/* This rank's part of a layer, and the buffer in which a layer comes together */
static size_t part_of(uint32_t layer)
{
	return layer * part;
}

static size_t buffer_of(const struct overlap *rank, uint32_t layer)
{
	return rank->layers * part + (layer % 2) * whole;
}

static int gather(struct overlap *rank, uint32_t layer)
{
	const struct peerlane_collective what = {
		.kind = PEERLANE_ALL_GATHER, .type = PEERLANE_F32, .count = part,
		.send_slot = SLOT_DATA, .receive_slot = SLOT_DATA,
		.send_offset = part_of(layer) * sizeof(float),
		.receive_offset = buffer_of(rank, layer) * sizeof(float),
		.cookie = layer,
	};

	return peerlane_group_submit(rank->group, &what, 1, NULL);
}

static int wait_for(struct overlap *rank, uint32_t layer)
{
	int ret;

	do {
		ret = peerlane_group_wait(rank->group, layer, -1);
	} while (ret == -EINTR);
	return ret;
}

static void compute_layer(struct overlap *rank, uint32_t layer)
{
	sums[layer] = overlap_compute(rank, rank->memory + buffer_of(rank, layer),
				      whole);
}

/* ---- four ways --------------------------------------------------------------- */

static int communicate(struct overlap *rank)
{
	int ret = 0;

	for (uint32_t layer = 0; !ret && layer < rank->layers; layer++) {
		ret = gather(rank, layer);
		if (!ret)
			ret = wait_for(rank, layer);
	}
	return ret;
}

static int compute(struct overlap *rank)
{
	for (uint32_t layer = 0; layer < rank->layers; layer++)
		compute_layer(rank, layer);
	return 0;
}

static int serial(struct overlap *rank)
{
	int ret = 0;

	for (uint32_t layer = 0; !ret && layer < rank->layers; layer++) {
		ret = gather(rank, layer);
		if (!ret)
			ret = wait_for(rank, layer);
		if (!ret)
			compute_layer(rank, layer);
	}
	return ret;
}

/*
 * The buffer that the next layer goes to was computed with before: only this
 * rank's gather writes it, so nobody else has to be asked.
 */
static int prefetch(struct overlap *rank)
{
	int ret = gather(rank, 0);

	for (uint32_t layer = 0; !ret && layer < rank->layers; layer++) {
		ret = wait_for(rank, layer);
		if (!ret && layer + 1 < rank->layers)
			ret = gather(rank, layer + 1);
		if (!ret)
			compute_layer(rank, layer);
	}
	return ret;
}

/* ---- data ------------------------------------------------------------------------ */

static void prepare(struct overlap *rank, uint64_t step)
{
	for (uint32_t layer = 0; layer < rank->layers; layer++)
		for (size_t i = 0; i < part; i++)
			rank->memory[part_of(layer) + i] =
				value(step, layer, rank->rank, i);
}

static double expected_sum(const struct overlap *rank, uint64_t step,
			   uint32_t layer)
{
	double sum = 0;

	for (uint32_t from = 0; from < rank->ranks; from++)
		for (size_t i = 0; i < part; i++)
			sum += (double)value(step, layer, from, i);
	return sum;
}

static uint64_t wrong_elements(const struct overlap *rank, uint64_t step,
			       uint32_t layer)
{
	const float *got = rank->memory + buffer_of(rank, layer);
	uint64_t wrong = 0;

	for (size_t i = 0; i < whole; i++)
		wrong += got[i] != value(step, layer, (uint32_t)(i / part), i % part);
	return wrong;
}

/*
 * Sums are of small whole numbers, so they are exact: what was computed while
 * the next layer came in is right. The last two layers are still there.
 */
static uint64_t wrong(struct overlap *rank, uint64_t step)
{
	uint32_t first = rank->layers > 2 ? rank->layers - 2 : 0;
	uint64_t found = 0;

	for (uint32_t layer = 0; layer < rank->layers; layer++)
		found += sums[layer] != expected_sum(rank, step, layer);
	for (uint32_t layer = first; layer < rank->layers; layer++)
		found += wrong_elements(rank, step, layer);
	return found;
}

int main(int argc, char **argv)
{
	static const struct overlap_work work = {
		.prepare = prepare, .communicate = communicate,
		.compute = compute, .serial = serial, .overlapped = prefetch,
		.wrong = wrong,
	};
	static struct overlap rank = { .name = "prefetch" };
	struct peerlane_group_options who = { .size = sizeof(who) };
	struct peerlane_launch launch;
	int status;

	overlap_begin(&rank, argc, argv);
	if (peerlane_launch_read(&launch, &who))
		return overlap_fail(&rank);
	part = rank.bytes / sizeof(float) / (who.ranks ? who.ranks : 1);
	part += !part;
	whole = part * who.ranks;
	sums = calloc(rank.layers, sizeof(*sums));
	if (!sums || overlap_join(&rank, (rank.layers * part + 2 * whole) *
				  sizeof(float)))
		status = overlap_fail(&rank);
	else
		status = overlap_measure(&rank, &work);
	overlap_end(&rank);
	free(sums);
	return status;
}
