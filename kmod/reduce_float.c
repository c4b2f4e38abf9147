// SPDX-License-Identifier: GPL-2.0
/* Floats, one by one. Compiled with the FPU's registers, see Kbuild. */
#include <linux/compiler.h>
#include <linux/types.h>

#include "reduce.h"

#define REDUCE_UNROLL	4
#define REDUCE_AHEAD	0
#define REDUCE_PUT(at, a, is_past) \
	((void)(is_past), (void)__builtin_memcpy(at, &(a), sizeof(a)))

#define FOLD_VALUE	float
#define FOLD_ELEMENT	float
#define FOLD_NAME(x)	f32_##x
#include "reduce_fold.h"
#define FOLD_VALUE	double
#define FOLD_ELEMENT	double
#define FOLD_NAME(x)	f64_##x
#include "reduce_fold.h"
#include "reduce_row.h"

static __always_inline u32 f32_bits(float a)
{
	u32 bits;

	__builtin_memcpy(&bits, &a, sizeof(bits));
	return bits;
}

static __always_inline float f32_of_bits(u32 bits)
{
	float a;

	__builtin_memcpy(&a, &bits, sizeof(a));
	return a;
}

/* ---- bf16: the upper half of an f32 ---- */

static __always_inline float bf16_load(const void *at)
{
	u16 half;

	__builtin_memcpy(&half, at, sizeof(half));
	return f32_of_bits((u32)half << 16);
}

static __always_inline void bf16_store(void *at, float a, bool is_past)
{
	u32 bits = f32_bits(a);
	u16 half;

	/* A tie goes to the even half; a carry into the exponent is right. */
	if (a == a)
		half = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
	else
		half = bits >> 16 | 0x40;
	__builtin_memcpy(at, &half, sizeof(half));
}

/* ---- f16: 5 bits of exponent, 10 of fraction ---- */

static __always_inline float f16_load(const void *at)
{
	u32 bits;
	u16 half;

	__builtin_memcpy(&half, at, sizeof(half));
	/* As an f32 the exponent is too small by 112, also of a subnormal. */
	bits = f32_bits(f32_of_bits((u32)(half & 0x7fff) << 13) * 0x1p112f);
	if ((half & 0x7c00) == 0x7c00)
		bits |= 0x7f800000;
	return f32_of_bits(bits | (u32)(half & 0x8000) << 16);
}

static __always_inline u32 f16_round(u32 bits)
{
	if (bits > 0x7f800000)
		return 0x7e00;
	/* Infinity, and what is rounded to it: from 65520 on */
	if (bits >= 0x477ff000)
		return 0x7c00;
	if (bits >= 0x38800000)
		return (bits - (112 << 23) + 0xfff + (bits >> 13 & 1)) >> 13;
	/* Subnormal: the last place of 0.5 is that of a subnormal f16. */
	return f32_bits(f32_of_bits(bits) + 0.5f) - f32_bits(0.5f);
}

static __always_inline void f16_store(void *at, float a, bool is_past)
{
	u32 bits = f32_bits(a);
	u16 half = f16_round(bits & 0x7fffffff) | (bits >> 16 & 0x8000);

	__builtin_memcpy(at, &half, sizeof(half));
}

/* ---- operations ---- */

/* a + b: a NaN if one of them is; of two zeroes that compare equal, one by sign. */
#define OPERATIONS(type, real) \
static __always_inline real type##_sum_op(real a, real b) \
{ \
	return a + b; \
} \
static __always_inline real type##_prod_op(real a, real b) \
{ \
	return a * b; \
} \
static __always_inline real type##_min_op(real a, real b) \
{ \
	if (a < b || (a == b && __builtin_signbit(a))) \
		return a; \
	return b <= a ? b : a + b; \
} \
static __always_inline real type##_max_op(real a, real b) \
{ \
	if (a > b || (a == b && !__builtin_signbit(a))) \
		return a; \
	return b >= a ? b : a + b; \
} \
static __always_inline real type##_divide(real a, u32 ranks) \
{ \
	return a / (real)ranks; \
}

OPERATIONS(f32, float)
OPERATIONS(f64, double)

REDUCE_FLOATS

const struct reduce_variant reduce_float = {
	.name = "float",
	.uses_fpu = true,
	.fold = { REDUCE_FLOAT_ROWS },
};
