// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reduce_reference.h"

const char *const type_names[REDUCE_TYPES] = {
	"none", "f32", "f64", "f16", "bf16",
	"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
};

const char *const op_names[REDUCE_OPS] = {
	"none", "sum", "avg", "min", "max", "prod", "band", "bor", "bxor",
};

/* ---- numbers as they are stored ---- */

uint64_t reference_bits(u32 type, const void *at, size_t index)
{
	uint64_t bits = 0;

	memcpy(&bits, (const char *)at + index * reduce_size(type),
	       reduce_size(type));
	return bits;
}

/* Bits of a fraction, and what is added to the exponent, of narrow floats */
static int fraction_of(u32 type)
{
	return type == PEERLANE_TYPE_F16 ? 10 : 7;
}

static int bias_of(u32 type)
{
	return type == PEERLANE_TYPE_F16 ? 15 : 127;
}

/* By the definition of the format; every one is a double. */
static double narrow_value(u32 type, uint64_t bits)
{
	int size = fraction_of(type), bias = bias_of(type);
	int fraction = bits & ((1 << size) - 1);
	int exponent = (bits & 0x7fff) >> size;
	double sign = bits & 0x8000 ? -1 : 1;

	if (exponent == 2 * bias + 1)
		return fraction ? NAN : sign * INFINITY;
	if (!exponent)
		return sign * ldexp(fraction, 1 - bias - size);
	return sign * ldexp(fraction + (1 << size), exponent - bias - size);
}

static int64_t extended(u32 type, uint64_t bits)
{
	switch (type) {
	case PEERLANE_TYPE_I8:
		return (int8_t)bits;
	case PEERLANE_TYPE_I16:
		return (int16_t)bits;
	case PEERLANE_TYPE_I32:
		return (int32_t)bits;
	default:
		return (int64_t)bits;
	}
}

static struct number number_of(u32 type, uint64_t bits)
{
	struct number a = { .i = (uint64_t)extended(type, bits) };
	float f;

	if (type == PEERLANE_TYPE_F32) {
		memcpy(&f, &bits, sizeof(f));
		a.f = f;
	} else if (type == PEERLANE_TYPE_F64) {
		memcpy(&a.f, &bits, sizeof(a.f));
	} else if (reduce_is_float(type)) {
		a.f = narrow_value(type, bits);
	}
	return a;
}

struct number reference_read(u32 type, const void *at, size_t index)
{
	return number_of(type, reference_bits(type, at, index));
}

/*
 * The nearest number by comparing distances, which are exact: @value is an f32,
 * so is each number of the type, and of the two that are next to it both have
 * the same exponent or nearly. What is beyond the largest counts as one step
 * larger than it and is infinite.
 */
static uint64_t narrow_bits(u32 type, double value)
{
	uint64_t infinite = (uint64_t)(2 * bias_of(type) + 1) << fraction_of(type);
	double size = fabs(value), low_gap, high_gap, high_value;
	uint64_t low = 0, high = infinite, middle;
	uint64_t sign = signbit(value) ? 0x8000 : 0;

	if (isnan(value))
		return infinite + 1;
	while (high - low > 1) {
		middle = (low + high) / 2;
		if (narrow_value(type, middle) <= size)
			low = middle;
		else
			high = middle;
	}
	high_value = high == infinite ? ldexp(1, bias_of(type) + 1) :
					narrow_value(type, high);
	low_gap = size - narrow_value(type, low);
	high_gap = high_value - size;
	if (high_gap < low_gap || (high_gap == low_gap && low & 1))
		low = high;
	return sign | low;
}

uint64_t reference_store(u32 type, struct number a)
{
	uint64_t bits = a.i;
	float f = (float)a.f;

	if (type == PEERLANE_TYPE_F64) {
		memcpy(&bits, &a.f, sizeof(bits));
	} else if (type == PEERLANE_TYPE_F32) {
		bits = 0;
		memcpy(&bits, &f, sizeof(f));
	} else if (reduce_is_float(type)) {
		bits = narrow_bits(type, a.f);
	} else if (reduce_size(type) < 8) {
		bits &= (1ULL << 8 * reduce_size(type)) - 1;
	}
	return bits;
}

bool reference_is_nan(u32 type, uint64_t bits)
{
	return reduce_is_float(type) && isnan(number_of(type, bits).f);
}

/* ---- operations ---- */

/* Neither is a NaN. */
static double float_min(double a, double b)
{
	if (a == b)
		return signbit(a) ? a : b;
	return a < b ? a : b;
}

static struct number float_op(u32 type, u32 op, struct number a, struct number b)
{
	struct number c = {};

	switch (op) {
	case PEERLANE_REDUCE_SUM:
	case PEERLANE_REDUCE_AVG:
		c.f = a.f + b.f;
		break;
	case PEERLANE_REDUCE_PROD:
		c.f = a.f * b.f;
		break;
	case PEERLANE_REDUCE_MIN:
		c.f = float_min(a.f, b.f);
		break;
	default:
		c.f = -float_min(-a.f, -b.f);
	}
	if (isnan(a.f) || isnan(b.f))
		c.f = NAN;
	/*
	 * Of two f32 sum and product as doubles, rounded again, are what they
	 * are when rounded once: a double has more than twice the digits.
	 */
	if (type != PEERLANE_TYPE_F64)
		c.f = (float)c.f;
	return c;
}

static bool is_less(u32 type, uint64_t a, uint64_t b)
{
	return type < PEERLANE_TYPE_U8 ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t integer_op(u32 type, u32 op, uint64_t a, uint64_t b)
{
	switch (op) {
	case PEERLANE_REDUCE_SUM:
	case PEERLANE_REDUCE_AVG:
		return a + b;
	case PEERLANE_REDUCE_PROD:
		return a * b;
	case PEERLANE_REDUCE_MIN:
		return is_less(type, a, b) ? a : b;
	case PEERLANE_REDUCE_MAX:
		return is_less(type, a, b) ? b : a;
	case PEERLANE_REDUCE_BAND:
		return a & b;
	case PEERLANE_REDUCE_BOR:
		return a | b;
	default:
		return a ^ b;
	}
}

struct number reference_op(u32 type, u32 op, struct number a, struct number b)
{
	struct number c = {};

	if (reduce_is_float(type))
		return float_op(type, op, a, b);
	c.i = integer_op(type, op, a.i, b.i);
	/* What does not fit is lost at once. */
	return number_of(type, reference_store(type, c));
}

struct number reference_fold(u32 type, u32 op, u32 radix, struct number *from,
			     u32 count)
{
	u32 i, blocks;

	do {
		blocks = 0;
		for (i = 0; i < count; i++) {
			if (i % radix == 0)
				from[blocks++] = from[i];
			else
				from[blocks - 1] = reference_op(type, op,
								from[blocks - 1],
								from[i]);
		}
		count = blocks;
	} while (count > 1);
	return from[0];
}

struct number reference_divide(u32 type, struct number a, u32 ranks)
{
	if (reduce_is_float(type)) {
		a.f /= ranks;
		if (type != PEERLANE_TYPE_F64)
			a.f = (float)a.f;
	} else if (type < PEERLANE_TYPE_U8) {
		a.i = (uint64_t)((int64_t)a.i / (int64_t)ranks);
	} else {
		a.i = reference_store(type, a) / ranks;
	}
	return a;
}

/* ---- what is random ---- */

uint64_t random_bits(void)
{
	static uint64_t state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 2685821657736338717ULL;
}

static uint64_t ordinary(u32 type)
{
	struct number a = { .i = random_bits() };

	if (!reduce_is_float(type))
		return reference_store(type, a);
	a.f = (float)ldexp((double)(a.i % 2000001) - 1000000,
			   -(int)(random_bits() % 32));
	return reference_store(type, a);
}

/* Zeroes, infinities, the smallest, ties; seldom a NaN, it would hide others. */
static uint64_t special(u32 type)
{
	static const double values[] = {
		0.0, -0.0, 0.0, -0.0, 1, -1, 65504, 65519, 65520, 0x1p-24,
		0x1p-14, -0x1p-25, 0x3p-26, 2049, 2051, 257, 259, 0x1p-149,
		0x1p-126, -0x1p-133, 0x1.fffffep127, -0x1.fffffep127, INFINITY,
		-INFINITY, 0x1p-1074, -0x1p-1022, 0x1p1023,
	};
	struct number a = { .f = values[random_bits() % ARRAY_SIZE(values)] };

	if (random_bits() % 512 == 0)
		a.f = NAN;
	a.i = random_bits() % 5 - 2;
	/* Around the largest signed one, too */
	if (random_bits() % 3 == 0)
		a.i += 1ULL << (8 * reduce_size(type) - 1);
	return reference_store(type, a);
}

void random_fill(u32 type, enum taste taste, void *at, size_t bytes)
{
	size_t size = reduce_size(type), i;
	uint64_t bits;

	for (i = 0; i + size <= bytes; i += size) {
		bits = random_bits();
		if (taste == ORDINARY)
			bits = ordinary(type);
		else if (taste == SPECIAL)
			bits = special(type);
		memcpy((char *)at + i, &bits, size);
	}
}
