// SPDX-License-Identifier: GPL-2.0
/*
 * Reductions where the kernel does them: with its FPU sections, and its idea of
 * the processor. No float is in this file; selftests/unit has far more.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/string.h>

#include "reduce_cpu.h"

#define SOURCES	5
#define WORDS	2500

static u64 sources[SOURCES][WORDS];
static u64 result[WORDS], expected[WORDS];
static u64 scratch[3 * REDUCE_TILE];
static const void *from[SOURCES];

static const struct reduce_variant *plain_of(u32 type)
{
	return reduce_cpu_variant(reduce_is_float(type) ? 1 : 0);
}

static bool has(const struct reduce_variant *variant, u32 type, u32 op)
{
	/* Integers have a sum where they have an avg. */
	return variant->fold[type][op] ||
	       (!reduce_is_float(type) && op == PEERLANE_REDUCE_AVG &&
		variant->fold[type][PEERLANE_REDUCE_SUM]);
}

/* Numbers of some size, so that no NaN comes out: those may differ. */
static void make_sources(u32 type)
{
	static const u64 keep[] = {
		[PEERLANE_TYPE_F32] = 0x87ffffff87ffffff,
		[PEERLANE_TYPE_F64] = 0x80ffffffffffffff,
		[PEERLANE_TYPE_F16] = 0x87ff87ff87ff87ff,
		[PEERLANE_TYPE_BF16] = 0x87ff87ff87ff87ff,
	};
	static const u64 add[] = {
		[PEERLANE_TYPE_F32] = 0x3c0000003c000000,
		[PEERLANE_TYPE_F64] = 0x3f00000000000000,
		[PEERLANE_TYPE_F16] = 0x3800380038003800,
		[PEERLANE_TYPE_BF16] = 0x3c003c003c003c00,
	};
	u64 state = 0x9e3779b97f4a7c15;
	u32 i, j;

	for (i = 0; i < SOURCES; i++) {
		from[i] = sources[i];
		for (j = 0; j < WORDS; j++) {
			state = state * 6364136223846793005 + 1442695040888963407;
			sources[i][j] = state ^ state >> 29;
			if (reduce_is_float(type))
				sources[i][j] = (sources[i][j] & keep[type]) +
						add[type];
		}
	}
}

/* All of the result; elements from @begin on, in blocks of @radix. */
static void run(struct kunit *test, const struct reduce_variant *variant,
		u32 type, u32 op, u32 radix, size_t begin, u64 *to)
{
	struct reduce_work work = {
		.to = to, .from = from, .count = SOURCES, .begin = begin,
		.length = sizeof(result) / reduce_size(type) - begin,
	};
	struct reduce reduce;

	memset(to, 0, sizeof(result));
	KUNIT_ASSERT_EQ_MSG(test, reduce_init(&reduce, type, op, SOURCES, radix,
					      variant, plain_of(type)), 0,
			    "type %u op %u", type, op);
	KUNIT_ASSERT_TRUE_MSG(test, reduce_scratch_size(&reduce, SOURCES) <=
			      sizeof(scratch), "radix %u", radix);
	reduce_cpu_run(&reduce, REDUCE_STEP_ALL, &work, scratch);
}

static void check_variants(struct kunit *test, u32 type, u32 op)
{
	const struct reduce_variant *variant;
	unsigned int i;

	if (!has(plain_of(type), type, op))
		return;
	make_sources(type);
	run(test, plain_of(type), type, op, 2, 3, expected);
	for (i = 0; (variant = reduce_cpu_variant(i)); i++) {
		if (!has(variant, type, op))
			continue;
		run(test, variant, type, op, 2, 3, result);
		KUNIT_ASSERT_TRUE_MSG(test, !memcmp(result, expected,
						    sizeof(result)),
				      "%s differs, type %u op %u",
				      variant->name, type, op);
	}
}

static void variants_have_the_same_bits(struct kunit *test)
{
	const struct reduce_variant *variant;
	unsigned int i;
	u32 type, op;

	for (i = 0; (variant = reduce_cpu_variant(i)); i++)
		kunit_info(test, "variant %s", variant->name);
	for (type = 1; type < REDUCE_TYPES; type++)
		for (op = 1; op < REDUCE_OPS; op++)
			if (plain_of(type))
				check_variants(test, type, op);
}

/* ---- against whole numbers ---- */

/* The bits of a small whole number, without the FPU */
static u64 bits_of(u32 type, u32 whole)
{
	static const u8 fractions[] = {
		[PEERLANE_TYPE_F32] = 23, [PEERLANE_TYPE_F64] = 52,
		[PEERLANE_TYPE_F16] = 10, [PEERLANE_TYPE_BF16] = 7,
	};
	static const u16 biases[] = {
		[PEERLANE_TYPE_F32] = 127, [PEERLANE_TYPE_F64] = 1023,
		[PEERLANE_TYPE_F16] = 15, [PEERLANE_TYPE_BF16] = 127,
	};
	u32 exponent = 0;

	if (!reduce_is_float(type) || !whole)
		return whole;
	while (whole >> (exponent + 1))
		exponent++;
	/* The leading 1 adds one to the exponent. */
	return (((u64)biases[type] - 1 + exponent) << fractions[type]) +
	       ((u64)whole << (fractions[type] - exponent));
}

static void put(u32 type, void *to, size_t index, u64 bits)
{
	u32 size = reduce_size(type);

	/* The low bytes: little-endian machines only are built for. */
	memcpy((char *)to + index * size, &bits, size);
}

/* Source i has i + 1 and i + 7 in turn. */
static void make_whole(u32 type, size_t length)
{
	size_t at;
	u32 i;

	for (i = 0; i < SOURCES; i++)
		for (at = 0; at < length; at++)
			put(type, sources[i], at,
			    bits_of(type, i + (at % 2 ? 7 : 1)));
}

static void check_whole(struct kunit *test, u32 type, u32 op, u32 even, u32 odd)
{
	size_t length = sizeof(result) / reduce_size(type), at;
	const struct reduce_variant *variant;
	unsigned int i;

	make_whole(type, length);
	for (at = 0; at < length; at++)
		put(type, expected, at, bits_of(type, at % 2 ? odd : even));
	for (i = 0; (variant = reduce_cpu_variant(i)); i++) {
		if (!has(variant, type, op))
			continue;
		run(test, variant, type, op, 8, 0, result);
		KUNIT_ASSERT_TRUE_MSG(test, !memcmp(result, expected,
						    sizeof(result)),
				      "%s is wrong, type %u op %u",
				      variant->name, type, op);
	}
}

/* 1 .. 5 and 7 .. 11 */
static void whole_numbers_are_exact(struct kunit *test)
{
	u32 type;

	for (type = 1; type < REDUCE_TYPES; type++) {
		check_whole(test, type, PEERLANE_REDUCE_SUM, 15, 45);
		check_whole(test, type, PEERLANE_REDUCE_AVG, 3, 9);
		check_whole(test, type, PEERLANE_REDUCE_MIN, 1, 7);
		check_whole(test, type, PEERLANE_REDUCE_MAX, 5, 11);
	}
	check_whole(test, PEERLANE_TYPE_F32, PEERLANE_REDUCE_PROD, 120, 55440);
	check_whole(test, PEERLANE_TYPE_F64, PEERLANE_REDUCE_PROD, 120, 55440);
	check_whole(test, PEERLANE_TYPE_U16, PEERLANE_REDUCE_PROD, 120, 55440);
	check_whole(test, PEERLANE_TYPE_I64, PEERLANE_REDUCE_PROD, 120, 55440);
	check_whole(test, PEERLANE_TYPE_U8, PEERLANE_REDUCE_BAND, 0, 0);
	check_whole(test, PEERLANE_TYPE_U32, PEERLANE_REDUCE_BOR, 7, 15);
	check_whole(test, PEERLANE_TYPE_I16, PEERLANE_REDUCE_BXOR, 1, 7);
}

/* ---- bits that are known ---- */

static void check_known(struct kunit *test, u32 type, u32 op, const u64 *three,
			u64 want)
{
	size_t length = 100, at;
	const struct reduce_variant *variant;
	struct reduce_work work = {
		.to = result, .from = from, .count = 3, .length = length,
	};
	struct reduce reduce;
	unsigned int i;

	for (i = 0; i < 3; i++)
		for (at = 0; at < length; at++)
			put(type, sources[i], at, three[i]);
	for (at = 0; at < length; at++)
		put(type, expected, at, want);
	for (i = 0; (variant = reduce_cpu_variant(i)); i++) {
		if (!has(variant, type, op))
			continue;
		reduce_init(&reduce, type, op, 3, 8, variant, plain_of(type));
		reduce_cpu_run(&reduce, REDUCE_STEP_ALL, &work, NULL);
		KUNIT_EXPECT_EQ_MSG(test, memcmp(result, expected, length *
						 reduce_size(type)), 0,
				    "%s, type %u op %u: %llx", variant->name,
				    type, op, (unsigned long long)result[0]);
	}
}

static void known_sums(struct kunit *test)
{
	static const struct {
		u32 type, op;
		u64 from[3], want;
	} known[] = {
		/* 1e30, 1, -1e30: in this order the 1 is lost. */
		{ 1, 1, { 0x7149f2ca, 0x3f800000, 0xf149f2ca }, 0 },
		{ 1, 1, { 0x7149f2ca, 0xf149f2ca, 0x3f800000 }, 0x3f800000 },
		/* 1 / 3, and subnormal numbers */
		{ 1, 2, { 0x3f800000, 0, 0 }, 0x3eaaaaab },
		{ 1, 1, { 1, 2, 0x80000001 }, 2 },
		{ 2, 2, { 0x3ff0000000000000, 0, 0 }, 0x3fd5555555555555 },
		/* 2048 + 1 + 1, 65504 + 8 + 8, which is infinite, 2^-24 + 2^-25 */
		{ 3, 1, { 0x6800, 0x3c00, 0x3c00 }, 0x6801 },
		{ 3, 1, { 0x7bff, 0x4800, 0x4800 }, 0x7c00 },
		{ 3, 1, { 0x7bff, 0x4800, 0 }, 0x7bff },
		{ 3, 1, { 1, 1, 0x8001 }, 1 },
		/* 256 + 1 + 1, 256 + 1 + 0 */
		{ 4, 1, { 0x4380, 0x3f80, 0x3f80 }, 0x4381 },
		{ 4, 1, { 0x4380, 0x3f80, 0 }, 0x4380 },
		/* Zeroes by their signs */
		{ 1, 3, { 0, 0x80000000, 0 }, 0x80000000 },
		{ 1, 4, { 0x80000000, 0, 0x80000000 }, 0 },
		{ 2, 3, { 0, 0x8000000000000000, 0 }, 0x8000000000000000 },
		{ 3, 4, { 0x8000, 0, 0x8000 }, 0 },
		{ 4, 3, { 0, 0x8000, 0 }, 0x8000 },
		/* Integers wrap, and truncate. */
		{ 5, 1, { 127, 1, 0 }, 128 },
		{ 5, 2, { 0xfd, 0xfd, 0xfe }, 0xfe },
		{ 9, 5, { 16, 16, 1 }, 0 },
	};
	u32 i;

	for (i = 0; i < SOURCES; i++)
		from[i] = sources[i];
	for (i = 0; i < ARRAY_SIZE(known); i++)
		check_known(test, known[i].type, known[i].op, known[i].from,
			    known[i].want);
}

/* ---- the choice ---- */

static void every_type_has_a_choice(struct kunit *test)
{
	struct reduce reduce;
	u32 type;

	reduce_cpu_init();
	for (type = 1; type < REDUCE_TYPES; type++) {
		KUNIT_ASSERT_EQ_MSG(test, reduce_cpu_plan(&reduce, type,
							  PEERLANE_REDUCE_SUM,
							  2, 2), 0,
				    "type %u", type);
		KUNIT_EXPECT_TRUE(test, has(reduce.variant, type,
					    PEERLANE_REDUCE_SUM));
		KUNIT_EXPECT_EQ(test, reduce.rest->fold[type][1] != NULL, 1);
	}
	KUNIT_EXPECT_EQ(test, reduce_cpu_plan(&reduce, 0, 1, 2, 2), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, reduce_cpu_plan(&reduce, REDUCE_TYPES, 1, 2, 2),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, reduce_cpu_plan(&reduce, PEERLANE_TYPE_F32,
					      PEERLANE_REDUCE_BXOR, 2, 2),
			-EINVAL);
}

static struct kunit_case reduce_cases[] = {
	KUNIT_CASE(variants_have_the_same_bits),
	KUNIT_CASE(whole_numbers_are_exact),
	KUNIT_CASE(known_sums),
	KUNIT_CASE(every_type_has_a_choice),
	{}
};

static struct kunit_suite reduce_suite = {
	.name = "peerlane_reduce",
	.test_cases = reduce_cases,
};
kunit_test_suite(reduce_suite);
