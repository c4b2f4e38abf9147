// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>
#include <linux/string.h>

#include "units.c"

/*
 * A plain reference: a byte for each unit, looked at one by one. Whoever takes
 * writes: what he gives back unwiped stays dirty.
 */
#define MOST	200

struct model {
	unsigned int units;
	unsigned char used[MOST];
	unsigned char dirty[MOST];
};

struct pair {
	struct peerlane_pool pool;
	struct model model;
};

static bool model_room(const struct model *model, unsigned int first,
		       unsigned int units)
{
	unsigned int i;

	for (i = first; i < first + units; i++)
		if (i >= model->units || model->used[i])
			return false;
	return true;
}

static unsigned int model_take(struct model *model, unsigned int units)
{
	unsigned int first;

	for (first = 0; first < model->units; first++)
		if (model_room(model, first, units)) {
			memset(model->used + first, 1, units);
			memset(model->dirty + first, 1, units);
			return first;
		}
	return model->units;
}

static void model_give_back(struct model *model, unsigned int first,
			    unsigned int units, bool wiped)
{
	memset(model->used + first, 0, units);
	if (wiped)
		memset(model->dirty + first, 0, units);
}

static bool is_same(const struct pair *pair)
{
	const struct peerlane_pool *pool = &pair->pool;
	unsigned int i, free = 0;

	for (i = 0; i < pool->units; i++) {
		if (test_bit(i, pool->used) != pair->model.used[i] ||
		    test_bit(i, pool->dirty) != pair->model.dirty[i])
			return false;
		free += !pair->model.used[i];
	}
	return free == pool->free;
}

/* Both take, and whoever takes soils. */
static unsigned int take(struct kunit *test, struct pair *pair,
			 unsigned int units)
{
	unsigned int first = peerlane_units_take(&pair->pool, units);
	unsigned int want = model_take(&pair->model, units);

	KUNIT_ASSERT_EQ_MSG(test, first, want, "%u units", units);
	if (first < pair->pool.units)
		peerlane_units_soil(&pair->pool, first, units);
	return first;
}

static void give_back(struct pair *pair, unsigned int first,
		      unsigned int units, bool wiped)
{
	peerlane_units_give_back(&pair->pool, first, units, wiped);
	model_give_back(&pair->model, first, units, wiped);
}

/* All free, and of none is known what it holds. */
static void reset(struct pair *pair)
{
	struct peerlane_pool *pool = &pair->pool;

	bitmap_clear(pool->used, 0, pool->units);
	pool->free = pool->units;
	peerlane_units_soil_all(pool);
	memset(pair->model.used, 0, pool->units);
	memset(pair->model.dirty, 1, pool->units);
}

static void init(struct kunit *test, struct pair *pair, unsigned int units)
{
	struct peerlane_pool *pool = &pair->pool;

	memset(pair, 0, sizeof(*pair));
	pool->units = units;
	pair->model.units = units;
	pool->used = bitmap_zalloc(units, GFP_KERNEL);
	pool->dirty = bitmap_zalloc(units, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pool->used);
	KUNIT_ASSERT_NOT_NULL(test, pool->dirty);
	reset(pair);
}

static void fini(struct pair *pair)
{
	bitmap_free(pair->pool.used);
	bitmap_free(pair->pool.dirty);
}

/* One that was given out; units 0: none */
struct given {
	unsigned int first, units;
};

static void take_into(struct kunit *test, struct pair *pair,
		      struct given *given, unsigned int units)
{
	given->first = take(test, pair, units);
	given->units = given->first < pair->pool.units ? units : 0;
}

static void give_back_from(struct pair *pair, struct given *given, bool wiped)
{
	give_back(pair, given->first, given->units, wiped);
	given->units = 0;
}

/* ---- every sequence of a few steps on a small pool ---- */

#define SMALL	4
#define STEPS	5
/* Take 1 to SMALL units, or give back the first to last of SMALL, wiped or not */
#define MOVES	(3 * SMALL)

static bool move(struct kunit *test, struct pair *pair, struct given *given,
		 unsigned int number)
{
	unsigned int slot = 0;

	if (number >= SMALL) {
		slot = number % SMALL;
		if (!given[slot].units)
			return false;
		give_back_from(pair, &given[slot], number >= 2 * SMALL);
		return true;
	}
	while (slot < SMALL - 1 && given[slot].units)
		slot++;
	if (given[slot].units)
		return false;
	take_into(test, pair, &given[slot], number + 1);
	return true;
}

/* @number in base MOVES has a digit for each step. */
static bool play(struct kunit *test, struct pair *pair, unsigned int number)
{
	struct given given[SMALL] = {};
	unsigned int step;

	reset(pair);
	for (step = 0; step < STEPS; step++, number /= MOVES)
		if (!move(test, pair, given, number % MOVES))
			return false;
	return true;
}

static void every_short_sequence(struct kunit *test)
{
	unsigned int number, step, sequences = 1, played = 0;
	struct pair pair;

	init(test, &pair, SMALL);
	for (step = 0; step < STEPS; step++)
		sequences *= MOVES;
	for (number = 0; number < sequences; number++) {
		played += play(test, &pair, number);
		KUNIT_ASSERT_TRUE_MSG(test, is_same(&pair), "sequence %u",
				      number);
	}
	KUNIT_EXPECT_TRUE(test, played > sequences / 50);
	fini(&pair);
}

/* ---- long sequences, across the words of a bitmap ---- */

static u32 next(u32 *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 16;
}

static void churn(struct kunit *test, unsigned int units, unsigned int steps)
{
	struct given given[16] = {};
	struct given *one;
	struct pair pair;
	u32 state = units;

	init(test, &pair, units);
	while (steps--) {
		one = &given[next(&state) % ARRAY_SIZE(given)];
		if (one->units)
			give_back_from(&pair, one, next(&state) & 1);
		else
			take_into(test, &pair, one,
				  1 + next(&state) % (units / 4 + 1));
		KUNIT_ASSERT_TRUE_MSG(test, is_same(&pair),
				      "%u units, %u steps before the end",
				      units, steps);
	}
	fini(&pair);
}

static void long_sequences(struct kunit *test)
{
	static const unsigned int sizes[] = { 1, 2, 63, 64, 65, 127, 128, 129 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		churn(test, sizes[i], 1000);
}

/* ---- limits ---- */

static void all_of_it_and_no_more(struct kunit *test)
{
	static const unsigned int sizes[] = { 1, 63, 64, 65, 200 };
	struct pair pair;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		init(test, &pair, sizes[i]);
		KUNIT_EXPECT_EQ(test, take(test, &pair, sizes[i] + 1), sizes[i]);
		KUNIT_EXPECT_EQ(test, take(test, &pair, sizes[i]), 0U);
		KUNIT_EXPECT_EQ(test, take(test, &pair, 1), sizes[i]);
		KUNIT_EXPECT_TRUE(test, is_same(&pair));
		give_back(&pair, sizes[i] - 1, 1, true);
		KUNIT_EXPECT_EQ(test, take(test, &pair, 1), sizes[i] - 1);
		fini(&pair);
	}
}

/* Sums with them wrap, or lose their upper half. */
static void more_than_there_can_be(struct kunit *test)
{
	static const unsigned long sizes[] = {
		1UL << 31, UINT_MAX, 1UL << 32, (1UL << 32) + 1, 1UL << 63,
		ULONG_MAX - 64, ULONG_MAX,
	};
	struct pair pair;
	size_t i;

	init(test, &pair, 65);
	give_back(&pair, take(test, &pair, 3), 3, true);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		KUNIT_EXPECT_EQ_MSG(test,
				    peerlane_units_take(&pair.pool, sizes[i]),
				    65UL, "%#lx units", sizes[i]);
		KUNIT_EXPECT_TRUE(test, is_same(&pair));
	}
	fini(&pair);
}

static void a_pool_of_nothing(struct kunit *test)
{
	struct pair pair;

	init(test, &pair, 0);
	KUNIT_EXPECT_EQ(test, peerlane_units_take(&pair.pool, 1), 0UL);
	KUNIT_EXPECT_EQ(test, pair.pool.free, 0U);
	fini(&pair);
}

/* ---- what another user left ---- */

static bool is_dirty(const struct pair *pair, unsigned int unit)
{
	return test_bit(unit, pair->pool.dirty);
}

static void clean_is_what_was_wiped(struct kunit *test)
{
	struct pair pair;

	init(test, &pair, 4);
	KUNIT_EXPECT_EQ(test, take(test, &pair, 2), 0U);
	give_back(&pair, 0, 1, true);
	give_back(&pair, 1, 1, false);
	KUNIT_EXPECT_FALSE(test, is_dirty(&pair, 0));
	KUNIT_EXPECT_TRUE(test, is_dirty(&pair, 1));
	KUNIT_EXPECT_TRUE(test, is_dirty(&pair, 2));
	/* Taking tells what has to be wiped, so it does not soil by itself. */
	KUNIT_EXPECT_EQ(test, peerlane_units_take(&pair.pool, 1), 0UL);
	KUNIT_EXPECT_FALSE(test, is_dirty(&pair, 0));
	fini(&pair);
}

static void a_reset_soils_all(struct kunit *test)
{
	struct pair pair;
	unsigned int unit;

	init(test, &pair, 70);
	KUNIT_EXPECT_EQ(test, take(test, &pair, 70), 0U);
	give_back(&pair, 0, 70, true);
	KUNIT_EXPECT_FALSE(test, is_dirty(&pair, 69));
	peerlane_units_soil_all(&pair.pool);
	for (unit = 0; unit < 70; unit++)
		KUNIT_EXPECT_TRUE(test, is_dirty(&pair, unit));
	KUNIT_EXPECT_EQ(test, pair.pool.free, 70U);
	fini(&pair);
}

static struct kunit_case units_cases[] = {
	KUNIT_CASE(every_short_sequence),
	KUNIT_CASE(long_sequences),
	KUNIT_CASE(all_of_it_and_no_more),
	KUNIT_CASE(more_than_there_can_be),
	KUNIT_CASE(a_pool_of_nothing),
	KUNIT_CASE(clean_is_what_was_wiped),
	KUNIT_CASE(a_reset_soils_all),
	{}
};

static struct kunit_suite units_suite = {
	.name		= "peerlane_units",
	.test_cases	= units_cases,
};

kunit_test_suite(units_suite);
