// SPDX-License-Identifier: GPL-2.0
/* Figures of collective operations, and values to check them with. */
#include <math.h>
#include <string.h>

#include "collective.h"

/* ---- figures ------------------------------------------------------------------ */

double collective_algbw(uint64_t bytes, uint64_t ns)
{
	return ns ? (double)bytes / (double)ns : 0;
}

static double ring_share(uint32_t kind, uint32_t ranks)
{
	double others = ranks ? (double)(ranks - 1) / ranks : 0;

	switch (kind) {
	case PEERLANE_ALL_REDUCE:
		return 2 * others;
	case PEERLANE_REDUCE_SCATTER:
	case PEERLANE_ALL_GATHER:
		return others;
	case PEERLANE_REDUCE:
	case PEERLANE_BROADCAST:
		return 1;
	default:
		return 0;
	}
}

double collective_busbw(uint32_t kind, uint32_t ranks, uint64_t bytes,
			uint64_t ns)
{
	return collective_algbw(bytes, ns) * ring_share(kind, ranks);
}

/* ---- values ------------------------------------------------------------------------ */

/* A small number that belongs to the place */
static uint32_t digit(uint64_t index)
{
	uint64_t x = (index % COLLECTIVE_PERIOD + 1) *
		     UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	return (uint32_t)(x >> 59);
}

/*
 * Small, so that sums of many ranks are exact, and no digit of all ranks' is the
 * same. A product has one factor that is not 1.
 */
double collective_given(uint32_t op, uint32_t ranks, uint32_t rank,
			uint64_t index)
{
	uint32_t own = digit(index);

	switch (op) {
	case PEERLANE_PROD:
		return own % ranks == rank ? 2 + own % 3 : 1;
	case PEERLANE_BAND:
		return 127 ^ ((own + rank) % 7 ? 0 : 1U << own % 7);
	case PEERLANE_BOR:
	case PEERLANE_BXOR:
		return (own * 5 + rank * 3) & 127;
	default:
		return (own + rank * 3) % 4;
	}
}

static double combine_bits(uint32_t op, double sum, double value)
{
	uint32_t a = (uint32_t)sum, b = (uint32_t)value;

	return op == PEERLANE_BAND ? a & b : op == PEERLANE_BOR ? a | b : a ^ b;
}

static double combine(uint32_t op, double sum, double value)
{
	switch (op) {
	case PEERLANE_MIN:
		return value < sum ? value : sum;
	case PEERLANE_MAX:
		return value > sum ? value : sum;
	case PEERLANE_PROD:
		return sum * value;
	case PEERLANE_BAND:
	case PEERLANE_BOR:
	case PEERLANE_BXOR:
		return combine_bits(op, sum, value);
	default:
		return sum + value;
	}
}

static int significant(uint32_t type)
{
	return type == PEERLANE_F16 ? 11 : type == PEERLANE_BF16 ? 8 :
	       type == PEERLANE_F32 ? 24 : 53;
}

static bool is_float(uint32_t type)
{
	return type <= PEERLANE_BF16;
}

/* To nearest, ties to even, in so many binary digits */
static double rounded(double value, int digits)
{
	int exponent;
	double part = frexp(value, &exponent);

	return ldexp(nearbyint(ldexp(part, digits)), exponent - digits);
}

/* As an integer of the type has it: what does not fit wraps. */
static double wrapped(double value, uint32_t type)
{
	uint8_t bytes[8];

	collective_put(bytes, type, 0, value);
	return collective_get(bytes, type, 0);
}

/* The small floats are summed and divided as f32, and rounded once. */
static double averaged(double sum, uint32_t type, uint32_t ranks)
{
	if (type == PEERLANE_F64)
		return sum / ranks;
	if (is_float(type))
		return (double)((float)sum / (float)ranks);
	return trunc(sum / ranks);
}

double collective_expected(uint32_t type, uint32_t op, uint32_t ranks,
			   uint64_t index)
{
	double sum = collective_given(op, ranks, 0, index);

	for (uint32_t rank = 1; rank < ranks; rank++)
		sum = combine(op, sum, collective_given(op, ranks, rank, index));
	if (op == PEERLANE_AVG)
		sum = averaged(sum, type, ranks);
	return is_float(type) ? rounded(sum, significant(type)) :
				wrapped(sum, type);
}

/* ---- memory ----------------------------------------------------------------------------- */

static uint16_t to_half(double value)
{
	int exponent;
	double part = frexp(value, &exponent);

	if (!(value > 0))
		return 0;
	/* 0.5 <= part < 1; eleven digits, of which the first is not written */
	return (uint16_t)(((uint32_t)(exponent + 14) << 10) +
			  ((uint32_t)nearbyint(part * 2048) - 1024));
}

static double from_half(uint16_t bits)
{
	int exponent = bits >> 10 & 31;
	double digits = bits & 1023;

	if (exponent == 31)
		return NAN;
	digits = exponent ? ldexp(digits + 1024, exponent - 25) :
			    ldexp(digits, -24);
	return bits & 0x8000 ? -digits : digits;
}

static uint16_t to_bfloat(double value)
{
	float single = (float)rounded(value, 8);
	uint32_t bits;

	memcpy(&bits, &single, sizeof(bits));
	return (uint16_t)(bits >> 16);
}

static double from_bfloat(uint16_t half)
{
	uint32_t bits = (uint32_t)half << 16;
	float single;

	memcpy(&single, &bits, sizeof(single));
	return (double)single;
}

static void put_float(void *to, uint32_t type, double value)
{
	float single = (float)value;
	uint16_t half = type == PEERLANE_F16 ? to_half(value) :
					       to_bfloat(value);

	if (type == PEERLANE_F64)
		memcpy(to, &value, sizeof(value));
	else if (type == PEERLANE_F32)
		memcpy(to, &single, sizeof(single));
	else
		memcpy(to, &half, sizeof(half));
}

static double get_float(const void *from, uint32_t type)
{
	double value;
	float single;
	uint16_t half;

	memcpy(&half, from, sizeof(half));
	if (type == PEERLANE_F16)
		return from_half(half);
	if (type == PEERLANE_BF16)
		return from_bfloat(half);
	memcpy(&single, from, sizeof(single));
	if (type == PEERLANE_F32)
		return (double)single;
	memcpy(&value, from, sizeof(value));
	return value;
}

/* The machine's lowest bytes come first, as on all that peerlane runs on. */
void collective_put(void *values, uint32_t type, uint64_t index, double value)
{
	uint32_t size = peerlane_element_size(type);
	char *to = (char *)values + index * size;
	int64_t whole;

	if (is_float(type)) {
		put_float(to, type, value);
		return;
	}
	whole = (int64_t)value;
	memcpy(to, &whole, size);
}

double collective_get(const void *values, uint32_t type, uint64_t index)
{
	uint32_t size = peerlane_element_size(type);
	const char *from = (const char *)values + index * size;
	unsigned int unused = 64 - 8 * size;
	uint64_t bits = 0;

	if (is_float(type))
		return get_float(from, type);
	memcpy(&bits, from, size);
	if (type >= PEERLANE_U8)
		return (double)bits;
	return (double)((int64_t)(bits << unused) >> unused);
}
