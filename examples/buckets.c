// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Gradients of a model that all ranks have, as data parallel training does it:
 * they come from the last layer to the first, and while those of one layer are
 * computed the ones before are averaged over all ranks, some of them at a time.
 *
 *	mpirun -x PEERLANE_SECRET -x PEERLANE_AGGREGATORS buckets -l 16
 */
#include <errno.h>
#include <stdlib.h>

#include "overlap.h"

/* A layer has two tensors: weights, and a sixteenth of that, biases */
enum { TENSORS = 2 };

static struct peerlane_bucket_place *places;
static uint64_t *counts;
static struct peerlane_bucket *bucket;
static struct peerlane_bucket_options options;
static uint64_t step_now;

/* What a rank finds for an element; the average of all is the last plus ranks - 1. */
static float value(uint64_t step, uint32_t tensor, size_t index)
{
	return (float)((step * 131 + tensor * 31 + index * 3) % 1021);
}

static float *tensor_at(const struct overlap *rank, uint32_t tensor)
{
	return rank->memory + places[tensor].offset / sizeof(float);
}

static void compute_tensor(struct overlap *rank, uint32_t tensor)
{
	float *at = tensor_at(rank, tensor);

	for (size_t i = 0; i < counts[tensor]; i++)
		at[i] = value(step_now, tensor, i) + 2 * (float)rank->rank;
}

/* Tensors are in the order in which they come: those of a layer together. */
static void compute_layer(struct overlap *rank, uint32_t layer)
{
	uint32_t first = layer * TENSORS;

	for (uint32_t i = 0; i < TENSORS; i++)
		compute_tensor(rank, first + i);
	overlap_compute(rank, tensor_at(rank, first), counts[first]);
}

static int layer_ready(uint32_t layer)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < TENSORS; i++)
		ret = peerlane_bucket_ready(bucket, layer * TENSORS + i);
	return ret;
}

static int finish(void)
{
	int ret;

	do {
		ret = peerlane_bucket_finish(bucket, -1);
	} while (ret == -EINTR);
	return ret;
}

/* ---- four ways --------------------------------------------------------------- */

static int communicate(struct overlap *rank)
{
	int ret = 0;

	for (uint32_t layer = 0; !ret && layer < rank->layers; layer++)
		ret = layer_ready(layer);
	return ret ? ret : finish();
}

static int compute(struct overlap *rank)
{
	for (uint32_t layer = 0; layer < rank->layers; layer++)
		compute_layer(rank, layer);
	return 0;
}

static int serial(struct overlap *rank)
{
	compute(rank);
	return communicate(rank);
}

static int overlapped(struct overlap *rank)
{
	int ret = 0;

	for (uint32_t layer = 0; !ret && layer < rank->layers; layer++) {
		compute_layer(rank, layer);
		ret = layer_ready(layer);
	}
	return ret ? ret : finish();
}

/* ---- data ------------------------------------------------------------------------ */

static void prepare(struct overlap *rank, uint64_t step)
{
	(void)rank;
	step_now = step;
}

static uint64_t wrong(struct overlap *rank, uint64_t step)
{
	uint64_t found = 0;

	for (uint32_t tensor = 0; tensor < options.tensors; tensor++)
		for (size_t i = 0; i < counts[tensor]; i++)
			found += tensor_at(rank, tensor)[i] !=
				 value(step, tensor, i) + (float)(rank->ranks - 1);
	return found;
}

static int place(const struct overlap *rank, uint64_t *bytes)
{
	uint32_t buckets;

	options = (struct peerlane_bucket_options){
		.size = sizeof(options), .counts = counts,
		.tensors = rank->layers * TENSORS, .type = PEERLANE_F32,
		.op = PEERLANE_AVG, .align = 256,
		/* Of two layers, so that there is something in flight early */
		.bytes = 2 * rank->bytes, .first_bytes = rank->bytes,
		.send_slot = SLOT_DATA, .receive_slot = SLOT_DATA,
	};
	for (uint32_t i = 0; i < rank->layers; i++) {
		counts[i * TENSORS] = rank->bytes / sizeof(float);
		counts[i * TENSORS + 1] = rank->bytes / sizeof(float) / 16;
	}
	return peerlane_bucket_layout(&options, places, bytes, &buckets);
}

int main(int argc, char **argv)
{
	static const struct overlap_work work = {
		.prepare = prepare, .communicate = communicate,
		.compute = compute, .serial = serial, .overlapped = overlapped,
		.wrong = wrong,
	};
	static struct overlap rank = { .name = "buckets" };
	uint64_t bytes;
	int status;

	overlap_begin(&rank, argc, argv);
	counts = calloc(rank.layers * TENSORS, sizeof(*counts));
	places = calloc(rank.layers * TENSORS, sizeof(*places));
	if (!counts || !places || place(&rank, &bytes) ||
	    overlap_join(&rank, bytes) ||
	    peerlane_bucket_create(rank.group, &options, &bucket))
		status = overlap_fail(&rank);
	else
		status = overlap_measure(&rank, &work);
	peerlane_bucket_close(bucket);
	overlap_end(&rank);
	free(counts);
	free(places);
	return status;
}
