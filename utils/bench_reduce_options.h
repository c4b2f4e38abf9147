/* SPDX-License-Identifier: GPL-2.0 */
/* What a measurement of a group is to be, as said on the command line. Pure. */
#ifndef PEERLANE_BENCH_REDUCE_OPTIONS_H
#define PEERLANE_BENCH_REDUCE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <peerlane.h>

#define REDUCE_BYTES_MOST	(UINT64_C(1) << 34)

enum { REDUCE_REASON = 160 };

/*
 * @aggregators: of all --aggregator and all words behind it, or empty
 * @trace: file for a timeline, or NULL
 * @rank: -1: not said
 * @ranks: 0: not said
 * @from, @to, @factor: sizes, bytes
 * @iterations, @warmups: of each size
 * @type, @op: enum peerlane_element, enum peerlane_combination
 * @placement: enum peerlane_place
 * @segment, @window, @block, @lanes, @timeout, @operation_timeout,
 * @join_timeout: 0 by default
 */
struct reduce_options {
	char aggregators[PEERLANE_AGGREGATORS_TEXT];
	const char *device;
	const char *rdma_device;
	const char *source;
	const char *secret;
	const char *group;
	const char *trace;
	int64_t rank;
	uint32_t ranks;
	uint64_t from;
	uint64_t to;
	uint32_t factor;
	uint32_t iterations;
	uint32_t warmups;
	uint32_t type;
	uint32_t op;
	uint32_t segment;
	uint32_t window;
	uint32_t block;
	uint32_t placement;
	uint32_t lanes;
	uint32_t timeout;
	uint32_t operation_timeout;
	uint32_t join_timeout;
	bool in_place;
	bool check;
	bool json;
	bool pretty;
	bool help;
};

/*
 * @argv has what follows the name of the test, and a place in front. False:
 * @reason says what is wrong.
 */
bool reduce_options_parse(struct reduce_options *options, int argc, char **argv,
			  char reason[REDUCE_REASON]);

/* The size after @bytes, 0 after the last; in whole elements and pages' reach */
uint64_t reduce_next_size(const struct reduce_options *options, uint64_t bytes);

#endif /* PEERLANE_BENCH_REDUCE_OPTIONS_H */
