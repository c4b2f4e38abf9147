// SPDX-License-Identifier: GPL-2.0
/* The order of summation, by whichever calls; and what calls refuse. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reduce_cpu.h"
#include "reduce_reference.h"
#include "tap.h"

#define LENGTH	100
#define SOURCES	7

static float rows[MOST_SOURCES][LENGTH];
static const void *from[MOST_SOURCES];

/* Source @i has @values[i] everywhere. */
static void fill(const double *values, u32 count)
{
	u32 i, j;

	for (i = 0; i < count; i++) {
		from[i] = rows[i];
		for (j = 0; j < LENGTH; j++)
			rows[i][j] = (float)values[i];
	}
}

static struct reduce plan(const struct reduce_variant *variant, u32 radix)
{
	struct reduce reduce;

	CHECK_INT(reduce_init(&reduce, PEERLANE_TYPE_F32, PEERLANE_REDUCE_SUM, 1,
			      radix, variant, &reduce_float), 0);
	return reduce;
}

static const struct reduce_variant *float_variant(unsigned int index)
{
	return reduce_cpu_variant(index + 1);
}

/* The sum of one element, with all elements the same. */
static float sum_of(const struct reduce *reduce, u32 count)
{
	float to[LENGTH];
	struct reduce_work work = {
		.to = to, .from = from, .count = count, .length = LENGTH,
	};
	void *scratch = malloc(reduce_scratch_size(reduce, count));
	size_t i;

	reduce_all(reduce, &work, scratch);
	free(scratch);
	for (i = 1; i < LENGTH; i++)
		CHECK(!memcmp(&to[i], &to[0], sizeof(to[0])));
	return to[0];
}

/* What is wrong if somebody adds as data comes, or from the other end. */
static void ranks_are_added_in_order(void)
{
	static const double in_order[] = { 1e30, -1e30, 1 };
	static const double given[] = { 1e30, 1, -1e30 };
	const struct reduce_variant *variant;
	struct reduce reduce;
	unsigned int i;

	for (i = 0; (variant = float_variant(i)); i++) {
		reduce = plan(variant, 8);
		fill(given, 3);
		CHECK(sum_of(&reduce, 3) == 0);
		fill(in_order, 3);
		CHECK(sum_of(&reduce, 3) == 1);
	}
}

/* The control: the order test tells an order from another one. */
static void another_order_is_noticed(void)
{
	static const double given[] = { 1e30, 1, -1e30 };
	struct reduce reduce = plan(&reduce_float, 8);
	const void *swapped;
	float right, wrong;

	fill(given, 3);
	right = sum_of(&reduce, 3);
	swapped = from[1];
	from[1] = from[2];
	from[2] = swapped;
	wrong = sum_of(&reduce, 3);
	CHECK(memcmp(&right, &wrong, sizeof(right)));
}

static void blocks_are_nested(void)
{
	/* ((1e30 1) (-1e30 1)) ((1 2) 4): 1 in each of the first blocks is lost. */
	static const double values[] = { 1e30, 1, -1e30, 1, 1, 2, 4 };
	const struct reduce_variant *variant;
	struct reduce reduce;
	unsigned int i;

	fill(values, SOURCES);
	for (i = 0; (variant = float_variant(i)); i++) {
		reduce = plan(variant, 2);
		CHECK(sum_of(&reduce, SOURCES) == 7);
		/* (1e30 1 -1e30) (1 1 2) (4) */
		reduce = plan(variant, 3);
		CHECK(sum_of(&reduce, SOURCES) == 8);
		/* (1e30 1 -1e30 1 1 2 4) */
		reduce = plan(variant, 7);
		CHECK(sum_of(&reduce, SOURCES) == 8);
		/* (1e30 1 -1e30 1) (1 2 4) */
		reduce = plan(variant, 4);
		CHECK(sum_of(&reduce, SOURCES) == 8);
	}
}

/*
 * What an aggregator does as data comes, and aggregators of aggregators do, is
 * what one does that has everything.
 */
static void check_parts(u32 type, u32 op)
{
	u32 size = reduce_size(type), wide = reduce_accumulator_size(type), i;
	char *sources[SOURCES], *partial[3], *to = malloc((size_t)LENGTH * size);
	char *all = malloc((size_t)LENGTH * size);
	const void *pointers[SOURCES], *partials[3];
	struct reduce reduce;
	struct reduce_work work = { .from = pointers, .length = LENGTH };
	struct reduce_work last = { .to = to, .from = partials, .length = LENGTH };
	void *scratch;

	CHECK_INT(reduce_init(&reduce, type, op, SOURCES, 3, float_variant(1),
			      reduce_is_float(type) ? &reduce_float :
						      &reduce_integer), 0);
	scratch = malloc(reduce_scratch_size(&reduce, SOURCES));
	for (i = 0; i < SOURCES; i++) {
		pointers[i] = sources[i] = malloc((size_t)LENGTH * size);
		random_fill(type, ORDINARY, sources[i], (size_t)LENGTH * size);
	}
	for (i = 0; i < 3; i++)
		partials[i] = partial[i] = malloc((size_t)LENGTH * wide);

	/* (0 1 2) (3 4 5) (6): the first and then the others, in two steps */
	for (i = 0; i < 3; i++) {
		work.to = partial[i];
		work.from = pointers + (size_t)i * 3;
		work.count = 1;
		reduce_first(&reduce, &work);
		work.from++;
		work.count = i < 2 ? 2 : 0;
		if (work.count)
			reduce_accumulate(&reduce, &work);
	}
	/* Two of the partial results by somebody in between, in place */
	last.to = partial[0];
	last.count = 2;
	reduce_combine(&reduce, &last);
	partials[1] = partial[2];
	last.to = to;
	reduce_finish(&reduce, &last);

	work.to = all;
	work.from = pointers;
	work.count = SOURCES;
	reduce_all(&reduce, &work, scratch);
	CHECK(!memcmp(to, all, (size_t)LENGTH * size));
	for (i = 0; i < SOURCES; i++)
		free(sources[i]);
	for (i = 0; i < 3; i++)
		free(partial[i]);
	free(scratch);
	free(all);
	free(to);
}

static void parts_come_to_the_whole(void)
{
	u32 type, op;

	for (type = 1; type < REDUCE_TYPES; type++)
		for (op = 1; op < REDUCE_OPS; op++)
			if (reference_has(type, op) && op != PEERLANE_REDUCE_PROD)
				check_parts(type, op);
}

/* Every piece of a segment for itself, in whatever order */
static void pieces_come_to_the_whole(void)
{
	float whole[LENGTH], pieces[LENGTH];
	struct reduce reduce = plan(float_variant(0), 16);
	struct reduce_work work = {
		.to = whole, .from = from, .count = SOURCES, .length = LENGTH,
	};
	static const size_t begins[] = { 37, 0, 99, 64, 5 };
	static const size_t lengths[] = { 27, 5, 1, 35, 32 };
	size_t i;

	for (i = 0; i < SOURCES; i++) {
		random_fill(PEERLANE_TYPE_F32, ORDINARY, rows[i], sizeof(rows[i]));
		from[i] = rows[i];
	}
	reduce_all(&reduce, &work, NULL);
	work.to = pieces;
	for (i = 0; i < ARRAY_SIZE(begins); i++) {
		work.begin = begins[i];
		work.length = lengths[i];
		reduce_all(&reduce, &work, NULL);
	}
	CHECK(!memcmp(whole, pieces, sizeof(whole)));
}

static void what_is_refused(void)
{
	const struct reduce_variant *any = &reduce_integer;
	struct reduce reduce;

	CHECK_INT(reduce_init(&reduce, 0, 1, 1, 2, any, any), -EOPNOTSUPP);
	CHECK_INT(reduce_init(&reduce, 13, 1, 1, 2, any, any), -EOPNOTSUPP);
	CHECK_INT(reduce_init(&reduce, ~0U, 1, 1, 2, any, any), -EOPNOTSUPP);
	CHECK_INT(reduce_init(&reduce, 5, 0, 1, 2, any, any), -EOPNOTSUPP);
	CHECK_INT(reduce_init(&reduce, 5, 9, 1, 2, any, any), -EOPNOTSUPP);
	CHECK_INT(reduce_init(&reduce, PEERLANE_TYPE_BF16, PEERLANE_REDUCE_BAND,
			      1, 2, any, any), -EINVAL);
	CHECK_INT(reduce_init(&reduce, 5, 1, 0, 2, any, any), -EINVAL);
	CHECK_INT(reduce_init(&reduce, 5, 1, 65537, 2, any, any), -EINVAL);
	CHECK_INT(reduce_init(&reduce, 5, 1, 65536, 1, any, any), -EINVAL);
	CHECK_INT(reduce_init(&reduce, 5, 1, 65536, ~0U, any, any), 0);
}

/* ABI and wire: these numbers stay. */
static void numbers_stay(void)
{
	CHECK_INT(PEERLANE_TYPE_F32, 1);
	CHECK_INT(PEERLANE_TYPE_BF16, 4);
	CHECK_INT(PEERLANE_TYPE_I8, 5);
	CHECK_INT(PEERLANE_TYPE_U64, 12);
	CHECK_INT(PEERLANE_REDUCE_SUM, 1);
	CHECK_INT(PEERLANE_REDUCE_PROD, 5);
	CHECK_INT(PEERLANE_REDUCE_BXOR, 8);
	CHECK_INT(reduce_size(PEERLANE_TYPE_F64), 8);
	CHECK_INT(reduce_size(0), 0);
	CHECK_INT(reduce_size(13), 0);
	CHECK_INT(reduce_accumulator_size(PEERLANE_TYPE_F16), 4);
	CHECK_INT(reduce_accumulator_size(PEERLANE_TYPE_BF16), 4);
	CHECK_INT(reduce_accumulator_size(PEERLANE_TYPE_U8), 1);
}

static const struct tap_case cases[] = {
	TAP_CASE(ranks_are_added_in_order),
	TAP_CASE(another_order_is_noticed),
	TAP_CASE(blocks_are_nested),
	TAP_CASE(parts_come_to_the_whole),
	TAP_CASE(pieces_come_to_the_whole),
	TAP_CASE(what_is_refused),
	TAP_CASE(numbers_stay),
};

int main(void)
{
	return TAP_RUN(cases);
}
