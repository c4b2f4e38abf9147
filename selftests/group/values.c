// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reduce_reference.h"
#include "values.h"

/* ---- what is given ---- */

/*
 * Large enough that small ones are lost beside it in the accumulator, also that of
 * f16, which is an f32.
 */
static double large(u32 type)
{
	return type == PEERLANE_TYPE_F16 ? 16384 : 1e30;
}

static double small(u32 type)
{
	return type == PEERLANE_TYPE_F16 ? 0x1p-14 : 1;
}

/* Of as many large ones as negative ones nothing is left, but of small ones. */
static double turn_of(u32 type, u32 turn, u32 ranks)
{
	u32 pairs = (ranks - 1) / 2;

	if (turn >= 2 * pairs)
		return small(type) * (1 + turn - 2 * pairs);
	return turn % 2 ? -large(type) : large(type);
}

static void shuffle(u32 *turns, u32 count)
{
	u32 i, k, turn;

	for (i = 0; i < count; i++)
		turns[i] = i;
	for (i = count - 1; i; i--) {
		k = random_bits() % (i + 1);
		turn = turns[i];
		turns[i] = turns[k];
		turns[k] = turn;
	}
}

/* Element @i of all ranks: large and small ones, ordinary, or with odd ones. */
static void give_one(const struct values *values, size_t i)
{
	u32 turns[VALUES_RANKS], rank, type = values->type;
	size_t size = values->size;

	shuffle(turns, values->ranks);
	for (rank = 0; rank < values->ranks; rank++) {
		struct number number = {
			.f = turn_of(type, turns[rank], values->ranks),
			.i = random_bits(),
		};
		u64 bits = reference_store(type, number);
		char *at = values->given[rank] + i * size;

		if (i % 3 == 0)
			memcpy(at, &bits, size);
		else
			random_fill(type, i % 3 == 1 || rank % 4 ? ORDINARY : SPECIAL,
				    at, size);
	}
}

static void give_all(struct values *values)
{
	size_t bytes = VALUES_PERIOD * values->size, i;
	u32 rank;

	values->sum = malloc(bytes);
	for (rank = 0; rank < values->ranks; rank++)
		values->given[rank] = malloc(bytes);
	for (i = 0; i < VALUES_PERIOD; i++)
		give_one(values, i);
}

/* ---- what must come ---- */

static u64 sum_one(const struct values *values, const uint32_t *order, size_t i)
{
	struct number from[VALUES_RANKS], sum;
	u32 rank;

	for (rank = 0; rank < values->ranks; rank++)
		from[rank] = reference_read(values->type, values->given[order[rank]], i);
	sum = reference_fold(values->type, values->op, values->block, from,
			     values->ranks);
	if (values->op == PEERLANE_REDUCE_AVG)
		sum = reference_divide(values->type, sum, values->ranks);
	return reference_store(values->type, sum);
}

void values_sum(struct values *values, const uint32_t *order)
{
	u64 bits;
	size_t i;

	for (i = 0; i < VALUES_PERIOD; i++) {
		bits = sum_one(values, order, i);
		memcpy(values->sum + i * values->size, &bits, values->size);
	}
}

bool values_make(struct values *values, uint32_t type, uint32_t op, uint32_t ranks,
		 uint32_t block)
{
	uint32_t order[VALUES_RANKS], rank;

	*values = (struct values){
		.type = type, .op = op, .ranks = ranks, .block = block,
		.size = reduce_size(type),
	};
	if (!reference_has(type, op) || ranks > VALUES_RANKS)
		return false;
	for (rank = 0; rank < ranks; rank++)
		order[rank] = rank;
	give_all(values);
	values_sum(values, order);
	return true;
}

void values_free(struct values *values)
{
	u32 rank;

	for (rank = 0; rank < values->ranks; rank++)
		free(values->given[rank]);
	free(values->sum);
	memset(values, 0, sizeof(*values));
}

/* ---- pieces ---- */

/* Elements from @first on that lie together in a period */
static size_t run_of(size_t first, size_t count)
{
	size_t left = VALUES_PERIOD - first % VALUES_PERIOD;

	return count < left ? count : left;
}

void values_give(const struct values *values, uint32_t rank, void *to, size_t first,
		 size_t count)
{
	size_t run, size = values->size;
	char *at = to;

	for (; count; count -= run, first += run, at += run * size) {
		run = run_of(first, count);
		memcpy(at, values->given[rank] + first % VALUES_PERIOD * size,
		       run * size);
	}
}

/* The first of a run that is another; @run: none */
static size_t run_differs(const struct values *values, const char *want,
			  const char *got, size_t run)
{
	size_t i = 0;

	if (!memcmp(want, got, run * values->size))
		return run;
	while (i < run && reference_same(values->type,
					 reference_bits(values->type, want, i),
					 reference_bits(values->type, got, i)))
		i++;
	return i;
}

static long long differs(const struct values *values, const char *want,
			 const void *got, size_t first, size_t count)
{
	size_t run, same, done, size = values->size;

	for (done = 0; done < count; done += run) {
		run = run_of(first + done, count - done);
		same = run_differs(values, want + (first + done) % VALUES_PERIOD * size,
				   (const char *)got + done * size, run);
		if (same < run)
			return (long long)(done + same);
	}
	return -1;
}

long long values_sum_differs(const struct values *values, const void *got,
			     size_t first, size_t count)
{
	return differs(values, values->sum, got, first, count);
}

long long values_given_differs(const struct values *values, uint32_t rank,
			       const void *got, size_t first, size_t count)
{
	return differs(values, values->given[rank], got, first, count);
}

const char *values_name(const struct values *values)
{
	static char name[32];

	snprintf(name, sizeof(name), "%s of %s", op_names[values->op],
		 type_names[values->type]);
	return name;
}
