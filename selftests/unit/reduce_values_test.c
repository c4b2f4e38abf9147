// SPDX-License-Identifier: GPL-2.0
/*
 * Every type, operation and number of sources, by every variant that this
 * processor has: bit for bit what the reference says.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "reduce_cpu.h"
#include "reduce_reference.h"
#include "tap.h"

static const u32 counts[] = { 1, 2, 3, 7, 8, 16, 17, 100 };
static const size_t lengths[] = { 0, 1, 3, 15, 64, 193 };

#define LONGEST		193
#define OFFSETS		3
/* Elements of each buffer; there is nothing behind the last one. */
#define ELEMENTS	(LONGEST + OFFSETS)

static char *sources[MOST_SOURCES];
static const void *from[MOST_SOURCES];
static uint64_t want[ELEMENTS];

static const struct reduce_variant *rest_of(u32 type)
{
	return reduce_is_float(type) ? &reduce_float : &reduce_integer;
}

/* Buffers whose last element ends where malloc()'s memory does. */
static void make_sources(u32 type, enum taste taste, u32 count)
{
	size_t bytes = ELEMENTS * reduce_size(type);
	u32 i;

	for (i = 0; i < count; i++) {
		sources[i] = malloc(bytes);
		random_fill(type, taste, sources[i], bytes);
		from[i] = sources[i];
	}
}

static void free_sources(u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		free(sources[i]);
}

static void make_want(const struct reduce *reduce, u32 count)
{
	struct number numbers[MOST_SOURCES], sum;
	size_t at;
	u32 i;

	for (at = 0; at < ELEMENTS; at++) {
		for (i = 0; i < count; i++)
			numbers[i] = reference_read(reduce->type, sources[i], at);
		sum = reference_fold(reduce->type, reduce->op, reduce->radix,
				     numbers, count);
		if (reduce->op == PEERLANE_REDUCE_AVG)
			sum = reference_divide(reduce->type, sum, reduce->ranks);
		want[at] = reference_store(reduce->type, sum);
	}
}

/* Elements from @begin are as wanted; the others have not been touched. */
static bool is_right(const struct reduce *reduce, const char *to, size_t begin,
		     size_t length, const char *before)
{
	u32 type = reduce->type;
	uint64_t got, expected;
	size_t at;

	for (at = 0; at < ELEMENTS; at++) {
		bool is_within = at >= begin && at < begin + length;

		got = reference_bits(type, to, at);
		expected = is_within ? want[at] : reference_bits(type, before, at);
		if (is_within ? reference_same(type, got, expected) : got == expected)
			continue;
		printf("# %s %s by %s, element %zu of %zu from %zu: %llx, not %llx\n",
		       type_names[type], op_names[reduce->op],
		       reduce->variant->name, at, length, begin,
		       (unsigned long long)got, (unsigned long long)expected);
		return false;
	}
	return true;
}

/* @in_place: where that source is; below 0: where none is. */
static bool run(const struct reduce *reduce, u32 count, size_t begin,
		size_t length, int in_place)
{
	size_t bytes = ELEMENTS * reduce_size(reduce->type);
	char *before = malloc(bytes), *to = malloc(bytes);
	struct reduce_work work = {
		.to = to, .from = from, .count = count, .begin = begin,
		.length = length, .past_cache = length % 2,
	};
	void *scratch = malloc(reduce_scratch_size(reduce, count));
	bool good;

	random_fill(reduce->type, ANY, before, bytes);
	if (in_place >= 0) {
		memcpy(before, sources[in_place], bytes);
		from[in_place] = to;
	}
	memcpy(to, before, bytes);
	reduce_all(reduce, &work, scratch);
	good = is_right(reduce, to, begin, length, before);
	if (in_place >= 0)
		from[in_place] = sources[in_place];
	free(scratch);
	free(before);
	free(to);
	return good;
}

static bool check_variant(struct reduce *reduce, u32 count)
{
	size_t i, offset;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		offset = (i + count) % (OFFSETS + 1);
		if (!run(reduce, count, offset, lengths[i], -1))
			return false;
	}
	return run(reduce, count, 1, LONGEST, (int)(random_bits() % count));
}

static bool check_variants(u32 type, u32 op, u32 count, u32 radix)
{
	const struct reduce_variant *variant;
	struct reduce reduce;
	unsigned int i;
	bool good = true;

	for (i = 0; good && (variant = reduce_cpu_variant(i)); i++) {
		if (!variant->fold[type][PEERLANE_REDUCE_SUM])
			continue;
		if (reduce_init(&reduce, type, op, count, radix, variant,
				rest_of(type)))
			return CHECK(!"reduce_init");
		make_want(&reduce, count);
		good = check_variant(&reduce, count);
	}
	return good;
}

/* In one block, in blocks, and in blocks of blocks. */
static void check(u32 type, u32 op)
{
	static const u32 radixes[] = { 128, 16, 3 };
	size_t i, j;
	int taste;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		for (taste = 0; taste < TASTES; taste++) {
			make_sources(type, taste, counts[i]);
			for (j = 0; j < ARRAY_SIZE(radixes); j++)
				CHECK(check_variants(type, op, counts[i],
						     radixes[j]));
			free_sources(counts[i]);
		}
	}
}

static void check_type(u32 type)
{
	u32 op;

	for (op = 1; op < REDUCE_OPS; op++)
		if (reference_has(type, op))
			check(type, op);
}

#define TYPE(type) static void every_##type(void) { check_type(PEERLANE_TYPE_##type); }

TYPE(F32) TYPE(F64) TYPE(F16) TYPE(BF16)
TYPE(I8) TYPE(I16) TYPE(I32) TYPE(I64)
TYPE(U8) TYPE(U16) TYPE(U32) TYPE(U64)

/* ---- alignment: of an element, no more ---- */

static bool check_alignment(const struct reduce_variant *variant, u32 type,
			    size_t skip)
{
	size_t bytes = ELEMENTS * reduce_size(type);
	struct reduce reduce;
	bool good;
	u32 i;

	reduce_init(&reduce, type, PEERLANE_REDUCE_SUM, 5, 5, variant,
		    rest_of(type));
	for (i = 0; i < 5; i++) {
		char *room = aligned_alloc(64, (bytes + 64 + 63) & ~63UL);

		sources[i] = room + (skip * (i + 1) * reduce_size(type)) % 64;
		random_fill(type, ORDINARY, sources[i], bytes);
		from[i] = sources[i];
	}
	make_want(&reduce, 5);
	good = run(&reduce, 5, 0, ELEMENTS, -1);
	for (i = 0; i < 5; i++)
		free((void *)((uintptr_t)sources[i] & ~63UL));
	return good;
}

static void any_alignment_of_elements(void)
{
	const struct reduce_variant *variant;
	unsigned int i;
	size_t skip;
	u32 type;

	for (i = 0; (variant = reduce_cpu_variant(i)); i++)
		for (type = 1; type < REDUCE_TYPES; type++)
			for (skip = 0; skip < 8; skip++)
				if (variant->fold[type][PEERLANE_REDUCE_SUM])
					CHECK(check_alignment(variant, type, skip));
}

static void variants_of_this_processor(void)
{
	const struct reduce_variant *variant;
	unsigned int i;

	for (i = 0; (variant = reduce_cpu_variant(i)); i++)
		printf("# variant %s\n", variant->name);
	CHECK(i >= 3);
}

/* ---- integers, in words ---- */

static int64_t of_three(u32 type, u32 op, int64_t a, int64_t b, int64_t c,
			u32 ranks)
{
	const void *three[] = { &a, &b, &c };
	int64_t to = 0;
	struct reduce_work work = {
		.to = &to, .from = three, .count = 3, .length = 1,
	};
	struct reduce reduce;

	CHECK_INT(reduce_init(&reduce, type, op, ranks, 4, &reduce_integer,
			      &reduce_integer), 0);
	reduce_all(&reduce, &work, NULL);
	return to;
}

static void integers_wrap(void)
{
	CHECK_INT(of_three(PEERLANE_TYPE_U8, PEERLANE_REDUCE_SUM, 200, 100, 1, 3),
		  45);
	CHECK_INT((int8_t)of_three(PEERLANE_TYPE_I8, PEERLANE_REDUCE_SUM, 127, 1,
				   0, 3), -128);
	CHECK_INT(of_three(PEERLANE_TYPE_I64, PEERLANE_REDUCE_SUM, INT64_MAX, 1,
			   0, 3), INT64_MIN);
	CHECK_INT(of_three(PEERLANE_TYPE_U16, PEERLANE_REDUCE_PROD, 65535, 65535,
			   1, 3), 1);
	CHECK_INT((int32_t)of_three(PEERLANE_TYPE_I32, PEERLANE_REDUCE_PROD,
				    INT32_MIN, -1, 1, 3), INT32_MIN);
}

static void averages_truncate_toward_zero(void)
{
	const u32 avg = PEERLANE_REDUCE_AVG;

	CHECK_INT((int8_t)of_three(PEERLANE_TYPE_I8, avg, -3, -3, -2, 3), -2);
	CHECK_INT(of_three(PEERLANE_TYPE_I8, avg, 3, 3, 2, 3), 2);
	CHECK_INT((int32_t)of_three(PEERLANE_TYPE_I32, avg, INT32_MIN, 0, 0, 3),
		  -715827882);
	CHECK_INT(of_three(PEERLANE_TYPE_U32, avg, UINT32_MAX, 0, 0, 3),
		  1431655765);
	CHECK_INT(of_three(PEERLANE_TYPE_I64, avg, INT64_MIN, 0, 0, 3),
		  -3074457345618258602);
	/* The number of ranks is no number of the type. */
	CHECK_INT(of_three(PEERLANE_TYPE_U8, avg, 255, 0, 0, 256), 0);
	CHECK_INT((int8_t)of_three(PEERLANE_TYPE_I8, avg, -128, 0, 0, 65536), 0);
	CHECK_INT((int8_t)of_three(PEERLANE_TYPE_I8, avg, -128, 0, 0, 1), -128);
}

/* The division by reciprocals is the division. */
static void averages_of_many_divisors(void)
{
	static const u32 values[] = {
		0, 1, 2, 65535, 65536, 0x7fffffff, 0x80000000, 0xfffffffe,
		0xffffffff,
	};
	u32 ranks;
	size_t i;

	for (ranks = 1; ranks <= REDUCE_RANKS_MAX; ranks++)
		for (i = 0; i < ARRAY_SIZE(values) && !tap.bad; i++) {
			CHECK_INT(of_three(PEERLANE_TYPE_U32, PEERLANE_REDUCE_AVG,
					   values[i], 0, 0, ranks),
				  values[i] / ranks);
			CHECK_INT((int32_t)of_three(PEERLANE_TYPE_I32,
						    PEERLANE_REDUCE_AVG,
						    values[i], 0, 0, ranks),
				  (int32_t)values[i] / (int64_t)ranks);
		}
}

static const struct tap_case cases[] = {
	TAP_CASE(variants_of_this_processor),
	TAP_CASE(every_F32), TAP_CASE(every_F64), TAP_CASE(every_F16),
	TAP_CASE(every_BF16), TAP_CASE(every_I8), TAP_CASE(every_I16),
	TAP_CASE(every_I32), TAP_CASE(every_I64), TAP_CASE(every_U8),
	TAP_CASE(every_U16), TAP_CASE(every_U32), TAP_CASE(every_U64),
	TAP_CASE(any_alignment_of_elements),
	TAP_CASE(integers_wrap),
	TAP_CASE(averages_truncate_toward_zero),
	TAP_CASE(averages_of_many_divisors),
};

int main(void)
{
	return TAP_RUN(cases);
}
