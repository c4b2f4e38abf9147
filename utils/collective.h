/* SPDX-License-Identifier: GPL-2.0 */
/* Figures of collective operations, and values to check them with. Pure. */
#ifndef PEERLANE_COLLECTIVE_H
#define PEERLANE_COLLECTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <peerlane.h>

/* Values repeat after so many, a prime: what lands elsewhere is another one. */
enum { COLLECTIVE_PERIOD = 1021 };

/*
 * Bytes per ns, which is GB/s: what a rank has at the end (of a barrier 0) by
 * the time it took. 0 if that is 0.
 */
double collective_algbw(uint64_t bytes, uint64_t ns);
/*
 * The same as if rings had moved it, which does not depend on the number of
 * ranks where the fabric is the limit: as nccl-tests have it.
 */
double collective_busbw(uint32_t kind, uint32_t ranks, uint64_t bytes,
			uint64_t ns);

/* What @rank of @ranks gives as element @index, and what all are to get for it */
double collective_given(uint32_t op, uint32_t ranks, uint32_t rank,
			uint64_t index);
double collective_expected(uint32_t type, uint32_t op, uint32_t ranks,
			   uint64_t index);

/* Element @index of @values, and what it is; integers as two's complement */
void collective_put(void *values, uint32_t type, uint64_t index, double value);
double collective_get(const void *values, uint32_t type, uint64_t index);

#endif /* PEERLANE_COLLECTIVE_H */
