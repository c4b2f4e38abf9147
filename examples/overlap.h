/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What both examples share: one rank of a group, layers that take time to
 * compute, and how much of the communication that hides.
 */
#ifndef OVERLAP_H
#define OVERLAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <peerlane.h>

enum { SLOT_DATA = 0, SLOT_CONTROL = 1 };

/**
 * struct overlap - one rank, and what it measures
 * @name: of the program
 * @layers: of the model
 * @bytes: of one layer, at most
 * @layer_ms: that computing one takes; 0: as long as communicating it
 * @steps: that are measured
 * @idle: the CPU sleeps while a layer is computed, as if an accelerator did it
 * @json: instead of words
 * @device: whose memory is used, or NULL
 * @group: joined, with @memory of @length bytes in SLOT_DATA
 * @rank: of @ranks
 * @passes: over a layer that make up computing it
 * @wait_ns: that computing a layer takes, with @idle
 */
struct overlap {
	const char *name;
	uint32_t layers;
	uint64_t bytes;
	uint32_t layer_ms;
	uint32_t steps;
	bool idle;
	bool json;
	const char *device;

	struct peerlane_group *group;
	uint32_t rank;
	uint32_t ranks;
	float *memory;
	size_t length;
	uint64_t passes;
	uint64_t wait_ns;

	struct peerlane_region *data;
	struct peerlane_region *control;
	double *shared;
	struct peerlane_launch launch;
};

/**
 * struct overlap_work - what is measured; each function returns 0 or a negative
 *	errno with peerlane_strerror()
 * @prepare: a step that nobody measures: new data
 * @communicate: all layers, without computing
 * @compute: all layers, without communicating
 * @serial: both, one after the other
 * @overlapped: both at once
 * @wrong: elements of the last step that are not what they should be
 */
struct overlap_work {
	void (*prepare)(struct overlap *rank, uint64_t step);
	int (*communicate)(struct overlap *rank);
	int (*compute)(struct overlap *rank);
	int (*serial)(struct overlap *rank);
	int (*overlapped)(struct overlap *rank);
	uint64_t (*wrong)(struct overlap *rank, uint64_t step);
};

/* Options, then who we are as the launcher says. Ends the program if told so. */
void overlap_begin(struct overlap *rank, int argc, char **argv);
/* @length bytes of memory, and the others. */
int overlap_join(struct overlap *rank, size_t length);
/* Returns the exit status: 0, 1 an error, 2 wrong data. */
int overlap_measure(struct overlap *rank, const struct overlap_work *work);
int overlap_fail(const struct overlap *rank);
void overlap_end(struct overlap *rank);

/* Time passes as if @count elements of @layer were worked on; their sum. */
double overlap_compute(const struct overlap *rank, const float *layer,
		       size_t count);

#endif /* OVERLAP_H */
