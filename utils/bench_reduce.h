/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of "peerlane bench allreduce" share. */
#ifndef PEERLANE_BENCH_REDUCE_H
#define PEERLANE_BENCH_REDUCE_H

#include "bench.h"
#include "bench_reduce_options.h"

/* One size; times and errors are those of all ranks. @errors: elements */
struct reduce_row {
	uint64_t bytes;
	uint64_t count;
	uint64_t ns;		/* of one operation, on average of all ranks */
	uint64_t errors;
	uint64_t sent;		/* by this rank, of one operation */
	uint64_t received;
	uint64_t replicated;	/* operations */
	struct latency latency;	/* as this rank saw it */
};

/* ---- values (bench_reduce_check.c) -------------------------------------------- */

/* What all ranks give, and get, in turn */
struct reduce_values {
	uint32_t type;
	uint32_t element;
	char *given;
	double *expected;
};

void reduce_values_make(struct reduce_values *values,
			const struct reduce_options *wanted, uint32_t rank,
			uint32_t ranks);
void reduce_values_free(struct reduce_values *values);
/* @count elements at @map */
void reduce_values_fill(const struct reduce_values *values, char *map,
			uint64_t count);
void reduce_values_spoil(const struct reduce_values *values, char *map,
			 uint64_t count);
/* How many are not what they should be */
uint64_t reduce_values_wrong(const struct reduce_values *values,
			     const char *map, uint64_t count);

/* ---- results (bench_reduce_report.c) --------------------------------------------- */

void reduce_report(const struct reduce_options *wanted, uint32_t rank,
		   uint32_t ranks, const struct reduce_row *rows, size_t count);

/* ---- the command (bench_reduce.c) -------------------------------------------------- */

void reduce_print_options(void);
int bench_reduce(int argc, char **argv);

#endif /* PEERLANE_BENCH_REDUCE_H */
