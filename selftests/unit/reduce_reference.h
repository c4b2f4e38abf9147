/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a reduction must come to, one element at a time and by definition; it
 * has nothing of kmod/reduce*. And what its tests share.
 */
#ifndef SELFTESTS_REDUCE_REFERENCE_H
#define SELFTESTS_REDUCE_REFERENCE_H

#include <linux/kernel.h>
#include <stdint.h>

#include "reduce.h"

#define MOST_SOURCES	128

/* A number: of floats f, of integers all bits of i. */
struct number {
	double f;
	uint64_t i;
};

/* Element @index at @at, and its bits as it is stored */
struct number reference_read(u32 type, const void *at, size_t index);
uint64_t reference_bits(u32 type, const void *at, size_t index);
/* The number's bits as an element: floats rounded to the nearest one */
uint64_t reference_store(u32 type, struct number a);
/* One operation on accumulators; avg is sum. */
struct number reference_op(u32 type, u32 op, struct number a, struct number b);
/* From left to right in blocks of @radix, these likewise, until one is left. */
struct number reference_fold(u32 type, u32 op, u32 radix, struct number *from,
			     u32 count);
struct number reference_divide(u32 type, struct number a, u32 ranks);
/* Bits that are a NaN of that type */
bool reference_is_nan(u32 type, uint64_t bits);

/* The same bits; any NaN is any other. */
static inline bool reference_same(u32 type, uint64_t a, uint64_t b)
{
	return a == b || (reference_is_nan(type, a) && reference_is_nan(type, b));
}

static inline bool reference_has(u32 type, u32 op)
{
	return !reduce_is_float(type) || op < PEERLANE_REDUCE_BAND;
}

/* ---- what is random ---- */

uint64_t random_bits(void);

enum taste { ORDINARY, SPECIAL, ANY, TASTES };

/* @bytes bytes: ordinary numbers; infinities, zeroes, subnormals; any bits */
void random_fill(u32 type, enum taste taste, void *at, size_t bytes);

extern const char *const type_names[REDUCE_TYPES];
extern const char *const op_names[REDUCE_OPS];

#endif /* SELFTESTS_REDUCE_REFERENCE_H */
