/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The folds in vectors of REDUCE_BYTES, once for each kind of processor, as
 * struct reduce_variant REDUCE_VARIANT named REDUCE_NAME. The compiler makes of
 * them what the flags of the file allow (see Kbuild); no kernel header of
 * intrinsics is there. They do the same to the last bit as reduce_float.c and
 * reduce_integer.c, which tell why.
 */
#include <linux/compiler.h>
#include <linux/types.h>

#include "reduce.h"

/* sparse knows no vectors. */
#ifdef __CHECKER__
const struct reduce_variant REDUCE_VARIANT;
#else

#define REDUCE_UNROLL	4
#define REDUCE_AHEAD	1024

#define vector(type)	type __attribute__((vector_size(REDUCE_BYTES)))
#define half(type)	type __attribute__((vector_size(REDUCE_BYTES / 2)))

#if !defined(__SSE2__)
#define STREAM(at, a)		__builtin_memcpy(at, &(a), sizeof(a))
#define STREAM_HALF(at, a)	__builtin_memcpy(at, &(a), sizeof(a))
#elif REDUCE_BYTES == 64
#define STREAM(at, a)		__builtin_ia32_movntdq512(at, a)
#define STREAM_HALF(at, a)	__builtin_ia32_movntdq256(at, a)
#elif REDUCE_BYTES == 32
#define STREAM(at, a)		__builtin_ia32_movntdq256(at, a)
#define STREAM_HALF(at, a)	__builtin_ia32_movntdq(at, a)
#else
#define STREAM(at, a)		__builtin_ia32_movntdq(at, a)
#define STREAM_HALF(at, a)	__builtin_memcpy(at, &(a), sizeof(a))
#endif

static __always_inline void put(void *at, vector(long long) a, bool is_past)
{
	if (is_past)
		STREAM(at, a);
	else
		__builtin_memcpy(at, &a, sizeof(a));
}

static __always_inline void put_half(void *at, half(long long) a, bool is_past)
{
	if (is_past)
		STREAM_HALF(at, a);
	else
		__builtin_memcpy(at, &a, sizeof(a));
}

#define REDUCE_PUT(at, a, is_past)	put(at, (vector(long long))(a), is_past)

#define FOLD_VALUE	vector(u8)
#define FOLD_ELEMENT	u8
#define FOLD_NAME(x)	u8_##x
#include "reduce_fold.h"
#define FOLD_VALUE	vector(u16)
#define FOLD_ELEMENT	u16
#define FOLD_NAME(x)	u16_##x
#include "reduce_fold.h"
#define FOLD_VALUE	vector(u32)
#define FOLD_ELEMENT	u32
#define FOLD_NAME(x)	u32_##x
#include "reduce_fold.h"
#define FOLD_VALUE	vector(u64)
#define FOLD_ELEMENT	u64
#define FOLD_NAME(x)	u64_##x
#include "reduce_fold.h"
#define FOLD_VALUE	vector(float)
#define FOLD_ELEMENT	float
#define FOLD_NAME(x)	f32_##x
#include "reduce_fold.h"
#define FOLD_VALUE	vector(double)
#define FOLD_ELEMENT	double
#define FOLD_NAME(x)	f64_##x
#include "reduce_fold.h"
#include "reduce_row.h"

/* ---- operations ---- */

#define OPERATION(name, type, element, what) \
static __always_inline vector(element) \
type##_##name##_op(vector(element) a, vector(element) b) \
{ \
	return what; \
}

/* Of each element a's or b's bits, as the comparison of it says */
#define CHOOSE(bits, test, a, b) \
	(((vector(bits))(test) & (vector(bits))(a)) | \
	 (~(vector(bits))(test) & (vector(bits))(b)))
#define AS(type, a)	((vector(type))(a))

#define INTEGER_OPERATIONS(type, signed_type) \
OPERATION(sum, type, type, a + b) \
OPERATION(prod, type, type, a * b) \
OPERATION(min, type, type, CHOOSE(type, a < b, a, b)) \
OPERATION(max, type, type, CHOOSE(type, a > b, a, b)) \
OPERATION(min_signed, type, type, \
	  CHOOSE(type, AS(signed_type, a) < AS(signed_type, b), a, b)) \
OPERATION(max_signed, type, type, \
	  CHOOSE(type, AS(signed_type, a) > AS(signed_type, b), a, b)) \
OPERATION(band, type, type, a & b) \
OPERATION(bor, type, type, a | b) \
OPERATION(bxor, type, type, a ^ b) \
REDUCE_INTEGER_FOLDS(type)

INTEGER_OPERATIONS(u8, s8)
INTEGER_OPERATIONS(u16, s16)
INTEGER_OPERATIONS(u32, s32)
INTEGER_OPERATIONS(u64, s64)

/*
 * Where a and b are equal or one is a NaN, the first choice is b and the second
 * is a. Equal ones differ in the sign of zero at most, which "or" sets and "and"
 * clears. "or" makes a NaN of a NaN and whatever.
 */
#define FLOAT_OPERATIONS(type, real, bits) \
OPERATION(sum, type, real, a + b) \
OPERATION(prod, type, real, a * b) \
OPERATION(min, type, real, \
	  (vector(real))(CHOOSE(bits, a < b, a, b) | CHOOSE(bits, b < a, b, a))) \
OPERATION(max, type, real, \
	  (vector(real))((CHOOSE(bits, b < a, a, b) & \
			  CHOOSE(bits, a < b, b, a)) | \
			 ~(vector(bits))((a <= b) | (b < a)))) \
static __always_inline vector(real) type##_divide(vector(real) a, u32 ranks) \
{ \
	return a / (real)ranks; \
}

FLOAT_OPERATIONS(f32, float, u32)
FLOAT_OPERATIONS(f64, double, u64)

/* ---- narrow floats ---- */

/* Compilers need more than the one instruction for a conversion, unless told. */
#if defined(__AVX2__) && REDUCE_BYTES == 32
#define WIDEN(halves)	__builtin_ia32_pmovzxwd256((half(short))(halves))
#elif defined(__AVX512F__) && REDUCE_BYTES == 64
#define WIDEN(halves) \
	__builtin_ia32_pmovzxwd512_mask((half(short))(halves), \
					(vector(int)){}, 0xffff)
#else
#define WIDEN(halves)	__builtin_convertvector(halves, vector(u32))
#endif

static __always_inline vector(u32) halves_load(const void *at)
{
	half(u16) halves;

	__builtin_memcpy(&halves, at, sizeof(halves));
	return (vector(u32))WIDEN(halves);
}

static __always_inline void halves_store(void *at, vector(u32) bits,
					 bool is_past)
{
	half(u16) halves = __builtin_convertvector(bits, half(u16));

	put_half(at, (half(long long))halves, is_past);
}

static __always_inline vector(float) bf16_load(const void *at)
{
	return (vector(float))(halves_load(at) << 16);
}

static __always_inline void bf16_store(void *at, vector(float) a,
				       bool is_past)
{
	vector(u32) bits = (vector(u32))a;
	vector(u32) round = bits + 0x7fff + (bits >> 16 & 1);

	halves_store(at, CHOOSE(u32, a == a, round, bits | 0x400000) >> 16,
		     is_past);
}

#if defined(__F16C__) && REDUCE_BYTES == 32

static __always_inline vector(float) f16_load(const void *at)
{
	half(short) halves;

	__builtin_memcpy(&halves, at, sizeof(halves));
	return __builtin_ia32_vcvtph2ps256(halves);
}

static __always_inline void f16_store(void *at, vector(float) a,
				      bool is_past)
{
	/* 0: to the nearest */
	half(short) halves = __builtin_ia32_vcvtps2ph256(a, 0);

	put_half(at, (half(long long))halves, is_past);
}

#elif defined(__AVX512F__) && REDUCE_BYTES == 64

static __always_inline vector(float) f16_load(const void *at)
{
	vector(float) none = {};
	half(short) halves;

	__builtin_memcpy(&halves, at, sizeof(halves));
	/* Every element; 4: as MXCSR has it, which does not matter here */
	return __builtin_ia32_vcvtph2ps512_mask(halves, none, 0xffff, 4);
}

static __always_inline void f16_store(void *at, vector(float) a,
				      bool is_past)
{
	half(short) halves = {};

	halves = __builtin_ia32_vcvtps2ph512_mask(a, 0, halves, 0xffff);
	put_half(at, (half(long long))halves, is_past);
}

#else

static __always_inline vector(float) f16_load(const void *at)
{
	vector(u32) wide = halves_load(at), bits;

	bits = (vector(u32))((vector(float))((wide & 0x7fff) << 13) * 0x1p112f);
	bits |= (vector(u32))((wide & 0x7c00) == 0x7c00) & 0x7f800000;
	return (vector(float))(bits | (wide & 0x8000) << 16);
}

static __always_inline vector(u32) f16_round(vector(u32) bits)
{
	vector(u32) none = {};
	vector(u32) normal = (bits - (112 << 23) + 0xfff + (bits >> 13 & 1)) >> 13;
	vector(u32) small = (vector(u32))((vector(float))bits + 0.5f) - 0x3f000000;
	vector(u32) large = 0x7c00 +
			    ((vector(u32))(bits > 0x7f800000) & (none + 0x200));

	normal = CHOOSE(u32, bits < 0x38800000, small, normal);
	return CHOOSE(u32, bits >= 0x477ff000, large, normal);
}

static __always_inline void f16_store(void *at, vector(float) a,
				      bool is_past)
{
	vector(u32) bits = (vector(u32))a;

	halves_store(at, f16_round(bits & 0x7fffffff) | (bits >> 16 & 0x8000),
		     is_past);
}

#endif

REDUCE_FLOATS

const struct reduce_variant REDUCE_VARIANT = {
	.name = REDUCE_NAME,
	.uses_fpu = true,
	.fold = { REDUCE_INTEGER_ROWS, REDUCE_FLOAT_ROWS },
};

#endif /* __CHECKER__ */
