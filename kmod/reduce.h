/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reduction: the values of N ranks become one, element by element, always in
 * the same order and so with the same bits. Pure; who runs it in the kernel has
 * the FPU (reduce_cpu.h does).
 *
 * Order
 * -----
 * Sources are in the order of ranks. Up to @radix of them are folded from left
 * to right; so are the results of up to @radix such blocks, and so on:
 *
 *	radix 2, 7 sources: (((0 1) (2 3)) ((4 5) 6))
 *
 * Whoever folds blocks himself, on several machines, uses partial results in the
 * type of accumulators: f32 for f16 and bf16, else the type itself.
 *
 * Values
 * ------
 * - f16 and bf16 are computed in f32 and rounded once, to the nearest, ties to
 *   even. Partial results are not rounded.
 * - avg divides once, at the end, by the number of ranks: floats by the division
 *   of the accumulator's type; integers truncate toward zero.
 * - sum, avg and prod of integers wrap (modulo 2^bits).
 * - min and max: a NaN in any source gives a NaN; -0 is less than +0.
 * - Which NaN is not specified, neither its payload nor its sign.
 * - Subnormal numbers are numbers. Floats are never reassociated or contracted.
 *
 * Memory
 * ------
 * Every pointer is aligned as one element. The result may be exactly where one
 * of the sources of the same size of elements is; any other overlap is not
 * allowed. Each source is read once and the result written once, but for
 * scratch memory that fits into the cache. Any length is allowed, 0 too.
 */
#ifndef PEERLANE_REDUCE_H
#define PEERLANE_REDUCE_H

#include <linux/types.h>
#include <uapi/peerlane_reduce.h>

#define REDUCE_TYPES		(PEERLANE_TYPE_U64 + 1)
#define REDUCE_OPS		(PEERLANE_REDUCE_BXOR + 1)
/* As many are the same number in f32, too. */
#define REDUCE_RANKS_MAX	65536
/* Elements that go through scratch memory at once */
#define REDUCE_TILE		1024

/* Rows of a table of folds: types, and narrow floats to and from f32 */
enum reduce_row {
	REDUCE_ROW_WIDEN_F16 = REDUCE_TYPES,
	REDUCE_ROW_WIDEN_BF16,
	REDUCE_ROW_NARROW_F16,
	REDUCE_ROW_NARROW_BF16,
	REDUCE_ROWS,
};

/**
 * struct reduce_span - what a fold does
 * @to: the first result
 * @first: an accumulator for each result, to begin with; NULL: the first source
 * @from: sources, of which there are @count, one at least if @first is NULL
 * @ranks: to divide by
 * @past_cache: as in struct reduce_work
 * @begin: element of each source that belongs to the first result
 * @length: results
 */
struct reduce_span {
	void *to;
	const void *first;
	const void *const *from;
	u32 count;
	u32 ranks;
	bool past_cache;
	size_t begin;
	size_t length;
};

/* Returns how many results it made; what it left is less than a vector. */
typedef size_t (*reduce_fold_fn)(const struct reduce_span *span);

/**
 * struct reduce_variant - the folds for one kind of processor
 * @name: for people
 * @uses_fpu: has to be run where the kernel may use the FPU
 * @fold: by row and operation; NULL: not of this variant
 */
struct reduce_variant {
	const char *name;
	bool uses_fpu;
	reduce_fold_fn fold[REDUCE_ROWS][REDUCE_OPS];
};

/* Any machine: integers without the FPU, and floats. They leave nothing. */
extern const struct reduce_variant reduce_integer;
extern const struct reduce_variant reduce_float;
/* Vectors of 16 bytes: of SSE2, NEON */
extern const struct reduce_variant reduce_vector16;
/* x86-64 with AVX2 and F16C; with AVX-512 F, BW, DQ and VL */
extern const struct reduce_variant reduce_avx2;
extern const struct reduce_variant reduce_avx512;

/**
 * struct reduce - a reduction, as all who do a part of it agree on it
 * @type: enum peerlane_type
 * @op: enum peerlane_reduce_op
 * @ranks: all ranks of the group, which avg divides by
 * @radix: sources of a block
 * @variant: does most of it
 * @rest: does what @variant leaves or does not have
 */
struct reduce {
	u32 type;
	u32 op;
	u32 ranks;
	u32 radix;
	const struct reduce_variant *variant;
	const struct reduce_variant *rest;
};

/**
 * struct reduce_work - one call
 * @to: element 0 of the result
 * @from: element 0 of each source
 * @count: sources, 1 at least
 * @past_cache: elements of the result are written past the cache, where it does
 *	not take memory from others: for what a device reads next, and what is
 *	larger than the cache. A wmb() has to follow (reduce_cpu_run() has it).
 * @begin: first element to be computed
 * @length: elements to be computed; nothing else of @to is written
 */
struct reduce_work {
	void *to;
	const void *const *from;
	u32 count;
	bool past_cache;
	size_t begin;
	size_t length;
};

static inline bool reduce_is_float(u32 type)
{
	return type >= PEERLANE_TYPE_F32 && type <= PEERLANE_TYPE_BF16;
}

/* Bytes of an element; 0: there is no such type. */
u32 reduce_size(u32 type);
/* Bytes of an accumulator of it */
u32 reduce_accumulator_size(u32 type);

/**
 * reduce_init() - a reduction that is done by @variant
 * @rest: &reduce_integer or &reduce_float, as the type is
 *
 * Return: 0; -EOPNOTSUPP: no such type or operation; -EINVAL: an operation that
 * the type does not have, @ranks not 1 .. REDUCE_RANKS_MAX, or @radix below 2.
 */
int reduce_init(struct reduce *reduce, u32 type, u32 op, u32 ranks, u32 radix,
		const struct reduce_variant *variant,
		const struct reduce_variant *rest);

/* A block's partial result: accumulators of elements, from left to right. */
void reduce_first(const struct reduce *reduce, const struct reduce_work *work);
/* Goes on with the partial result in work->to, where more sources have come. */
void reduce_accumulate(const struct reduce *reduce,
		       const struct reduce_work *work);
/* A partial result of partial results, from left to right. */
void reduce_combine(const struct reduce *reduce, const struct reduce_work *work);
/* Elements of partial results, from left to right: divided, rounded, stored. */
void reduce_finish(const struct reduce *reduce, const struct reduce_work *work);

/* Bytes that reduce_all() needs for @count sources; 0 for up to @radix. */
size_t reduce_scratch_size(const struct reduce *reduce, u32 count);

/**
 * reduce_all() - everything: elements of the sources to elements of the result
 * @scratch: aligned to 8 bytes; of one caller at a time
 */
void reduce_all(const struct reduce *reduce, const struct reduce_work *work,
		void *scratch);

#endif /* PEERLANE_REDUCE_H */
