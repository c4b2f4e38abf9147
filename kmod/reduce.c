// SPDX-License-Identifier: GPL-2.0
/* What is folded in which order, and what of it each table of folds does. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "reduce.h"

static const u8 sizes[REDUCE_TYPES] = {
	[PEERLANE_TYPE_F32] = 4, [PEERLANE_TYPE_F64] = 8,
	[PEERLANE_TYPE_F16] = 2, [PEERLANE_TYPE_BF16] = 2,
	[PEERLANE_TYPE_I8] = 1, [PEERLANE_TYPE_I16] = 2,
	[PEERLANE_TYPE_I32] = 4, [PEERLANE_TYPE_I64] = 8,
	[PEERLANE_TYPE_U8] = 1, [PEERLANE_TYPE_U16] = 2,
	[PEERLANE_TYPE_U32] = 4, [PEERLANE_TYPE_U64] = 8,
};

u32 reduce_size(u32 type)
{
	return type < REDUCE_TYPES ? sizes[type] : 0;
}

static bool is_narrow(u32 type)
{
	return type == PEERLANE_TYPE_F16 || type == PEERLANE_TYPE_BF16;
}

u32 reduce_accumulator_size(u32 type)
{
	return is_narrow(type) ? sizeof(u32) : reduce_size(type);
}

int reduce_init(struct reduce *reduce, u32 type, u32 op, u32 ranks, u32 radix,
		const struct reduce_variant *variant,
		const struct reduce_variant *rest)
{
	if (!reduce_size(type) || !op || op >= REDUCE_OPS)
		return -EOPNOTSUPP;
	if (reduce_is_float(type) && op >= PEERLANE_REDUCE_BAND)
		return -EINVAL;
	if (!ranks || ranks > REDUCE_RANKS_MAX || radix < 2)
		return -EINVAL;
	*reduce = (struct reduce){
		.type = type, .op = op, .ranks = ranks, .radix = radix,
		.variant = variant, .rest = rest,
	};
	return 0;
}

/* ---- one fold ---- */

/* Elements are stored as elements, or as accumulators. */
enum form { ELEMENT, ACCUMULATOR };

static u32 row_of(u32 type, enum form in, enum form out)
{
	bool is_f16 = type == PEERLANE_TYPE_F16;

	if (!is_narrow(type) || (in == ELEMENT && out == ELEMENT))
		return type;
	if (in == ELEMENT)
		return is_f16 ? REDUCE_ROW_WIDEN_F16 : REDUCE_ROW_WIDEN_BF16;
	if (out == ELEMENT)
		return is_f16 ? REDUCE_ROW_NARROW_F16 : REDUCE_ROW_NARROW_BF16;
	return PEERLANE_TYPE_F32;
}

static size_t size_of(u32 type, enum form form)
{
	return form == ELEMENT ? reduce_size(type) :
				 reduce_accumulator_size(type);
}

/* What floats leave to the division of their last fold, integers do not. */
static u32 op_of(const struct reduce *reduce, bool is_last)
{
	if (reduce->op != PEERLANE_REDUCE_AVG)
		return reduce->op;
	return is_last && reduce_is_float(reduce->type) ? PEERLANE_REDUCE_AVG :
							  PEERLANE_REDUCE_SUM;
}

static void fold(const struct reduce *reduce, enum form in, enum form out,
		 bool is_last, struct reduce_span span)
{
	u32 row = row_of(reduce->type, in, out), op = op_of(reduce, is_last);
	reduce_fold_fn fast = reduce->variant->fold[row][op];
	size_t done = fast ? fast(&span) : 0;

	if (done == span.length)
		return;
	span.to = (char *)span.to + done * size_of(reduce->type, out);
	if (span.first)
		span.first = (const char *)span.first +
			     done * reduce_accumulator_size(reduce->type);
	span.begin += done;
	span.length -= done;
	reduce->rest->fold[row][op](&span);
}

/* ---- avg of integers ---- */

/*
 * By the reciprocal, which is rounded up: exact for numbers and divisors below
 * 2^32. That of 1 would be too large, it does not come here.
 */
static u64 divide_by(u32 a, u64 reciprocal)
{
	return (a * (reciprocal >> 32) + (a * (reciprocal & U32_MAX) >> 32)) >> 32;
}

static s64 divide_signed(s32 a, u64 reciprocal)
{
	s64 part = divide_by(a < 0 ? -(u32)a : (u32)a, reciprocal);

	return a < 0 ? -part : part;
}

#define DIVIDE(type, what) \
static void divide_##type(void *at, size_t length, u32 ranks) \
{ \
	const u64 reciprocal = U64_MAX / ranks + 1; \
	type *values = at; \
	size_t i; \
\
	for (i = 0; i < length; i++) \
		values[i] = what(values[i], reciprocal); \
}

DIVIDE(u8, divide_by)
DIVIDE(u16, divide_by)
DIVIDE(u32, divide_by)
DIVIDE(s8, divide_signed)
DIVIDE(s16, divide_signed)
DIVIDE(s32, divide_signed)

static void divide_u64(void *at, size_t length, u32 ranks)
{
	u64 *values = at;
	size_t i;

	for (i = 0; i < length; i++)
		values[i] /= ranks;
}

static void divide_s64(void *at, size_t length, u32 ranks)
{
	s64 *values = at;
	size_t i;

	for (i = 0; i < length; i++)
		values[i] /= (s64)ranks;
}

static bool has_division(const struct reduce *reduce)
{
	return reduce->op == PEERLANE_REDUCE_AVG && reduce->ranks > 1 &&
	       !reduce_is_float(reduce->type);
}

static void divide(const struct reduce *reduce, void *at, size_t length)
{
	static void (*const of_type[REDUCE_TYPES])(void *at, size_t length,
						   u32 ranks) = {
		[PEERLANE_TYPE_I8] = divide_s8, [PEERLANE_TYPE_U8] = divide_u8,
		[PEERLANE_TYPE_I16] = divide_s16, [PEERLANE_TYPE_U16] = divide_u16,
		[PEERLANE_TYPE_I32] = divide_s32, [PEERLANE_TYPE_U32] = divide_u32,
		[PEERLANE_TYPE_I64] = divide_s64, [PEERLANE_TYPE_U64] = divide_u64,
	};

	of_type[reduce->type](at, length, reduce->ranks);
}

/* ---- calls ---- */

static void *result_of(const struct reduce *reduce,
		       const struct reduce_work *work, enum form form)
{
	return (char *)work->to + work->begin * size_of(reduce->type, form);
}

static struct reduce_span span_of(const struct reduce *reduce,
				  const struct reduce_work *work, void *to)
{
	return (struct reduce_span){
		.to = to, .from = work->from, .count = work->count,
		.ranks = reduce->ranks, .begin = work->begin,
		.length = work->length,
	};
}

void reduce_first(const struct reduce *reduce, const struct reduce_work *work)
{
	fold(reduce, ELEMENT, ACCUMULATOR, false,
	     span_of(reduce, work, result_of(reduce, work, ACCUMULATOR)));
}

void reduce_accumulate(const struct reduce *reduce,
		       const struct reduce_work *work)
{
	struct reduce_span span = span_of(reduce, work,
					  result_of(reduce, work, ACCUMULATOR));

	span.first = span.to;
	fold(reduce, ELEMENT, ACCUMULATOR, false, span);
}

void reduce_combine(const struct reduce *reduce, const struct reduce_work *work)
{
	fold(reduce, ACCUMULATOR, ACCUMULATOR, false,
	     span_of(reduce, work, result_of(reduce, work, ACCUMULATOR)));
}

/*
 * The end of everything. Integers are divided a tile after the other, which is
 * in the cache still.
 */
static void finish(const struct reduce *reduce, enum form in,
		   struct reduce_span span, bool past_cache)
{
	size_t size = reduce_size(reduce->type), left = span.length;

	span.past_cache = past_cache && !has_division(reduce);
	while (left) {
		span.length = min_t(size_t, left, REDUCE_TILE);
		fold(reduce, in, ELEMENT, true, span);
		if (has_division(reduce))
			divide(reduce, span.to, span.length);
		span.to = (char *)span.to + span.length * size;
		span.begin += span.length;
		left -= span.length;
	}
}

void reduce_finish(const struct reduce *reduce, const struct reduce_work *work)
{
	finish(reduce, ACCUMULATOR,
	       span_of(reduce, work, result_of(reduce, work, ELEMENT)),
	       work->past_cache);
}

/* ---- blocks of blocks ---- */

/* How often the blocks are blocks of blocks: 0 for one block of sources. */
static u32 depth_of(const struct reduce *reduce, u32 count)
{
	u32 depth = 0, blocks = count;

	while (blocks > reduce->radix) {
		blocks = (blocks - 1) / reduce->radix + 1;
		depth++;
	}
	return depth;
}

static size_t tile_size(const struct reduce *reduce)
{
	return REDUCE_TILE * reduce_accumulator_size(reduce->type);
}

size_t reduce_scratch_size(const struct reduce *reduce, u32 count)
{
	u32 depth = depth_of(reduce, count);

	return depth ? (depth + 1) * tile_size(reduce) : 0;
}

/*
 * Block @index of level @level - 1 is in that level's tile: to the left of it, in
 * the tile of its own level, is what came before in the same block of blocks.
 */
static void add_block(const struct reduce *reduce, char *scratch, u32 level,
		      u32 index, size_t length)
{
	char *sum = scratch + level * tile_size(reduce);
	const void *from = sum - tile_size(reduce);
	struct reduce_span span = {
		.to = sum, .first = index % reduce->radix ? sum : NULL,
		.from = &from, .count = 1, .length = length,
	};

	fold(reduce, ACCUMULATOR, ACCUMULATOR, false, span);
}

/* All sources into the tile of level @depth: @span has one tile or less. */
static void add_blocks(const struct reduce *reduce, struct reduce_span span,
		       char *scratch, u32 depth)
{
	const void *const *from = span.from;
	u32 radix = reduce->radix, left = span.count, block, level, index;

	span.to = scratch;
	for (block = 0; left; block++) {
		span.from = from + (size_t)block * radix;
		span.count = min(left, radix);
		left -= span.count;
		fold(reduce, ELEMENT, ACCUMULATOR, false, span);
		/* Up, as long as blocks are whole, or the last. */
		index = block;
		for (level = 1; level <= depth; level++) {
			add_block(reduce, scratch, level, index, span.length);
			if (left && index % radix != radix - 1)
				break;
			index /= radix;
		}
	}
}

void reduce_all(const struct reduce *reduce, const struct reduce_work *work,
		void *scratch)
{
	struct reduce_span span = span_of(reduce, work,
					  result_of(reduce, work, ELEMENT));
	u32 depth = depth_of(reduce, work->count);
	const void *sum = (char *)scratch + depth * tile_size(reduce);
	struct reduce_span last = span;
	size_t left = span.length;

	if (!depth) {
		finish(reduce, ELEMENT, span, work->past_cache);
		return;
	}
	last.from = &sum;
	last.count = 1;
	last.begin = 0;
	for (; left; left -= span.length) {
		span.length = min_t(size_t, left, REDUCE_TILE);
		add_blocks(reduce, span, scratch, depth);
		last.length = span.length;
		finish(reduce, ACCUMULATOR, last, work->past_cache);
		last.to = (char *)last.to + span.length * reduce_size(reduce->type);
		span.begin += span.length;
	}
}
