// SPDX-License-Identifier: GPL-2.0
/* Values that ranks give and get, in memory that may be a device's. */
#include <stdlib.h>
#include <string.h>

#include "bench_reduce.h"
#include "collective.h"

/* Elements that are copied at once: whole periods, for they begin anew then */
#define CHUNK	(8 * COLLECTIVE_PERIOD)

void reduce_values_make(struct reduce_values *values,
			const struct reduce_options *wanted, uint32_t rank,
			uint32_t ranks)
{
	values->type = wanted->type;
	values->element = peerlane_element_size(wanted->type);
	values->given = must(calloc(CHUNK, values->element));
	values->expected = must(calloc(COLLECTIVE_PERIOD,
				       sizeof(*values->expected)));
	for (uint64_t i = 0; i < CHUNK; i++)
		collective_put(values->given, wanted->type, i,
			       collective_given(wanted->op, ranks, rank, i));
	for (uint64_t i = 0; i < COLLECTIVE_PERIOD; i++)
		values->expected[i] = collective_expected(wanted->type,
							  wanted->op, ranks, i);
}

void reduce_values_free(struct reduce_values *values)
{
	free(values->given);
	free(values->expected);
}

static uint64_t piece(uint64_t at, uint64_t count)
{
	return count - at < CHUNK ? count - at : CHUNK;
}

void reduce_values_fill(const struct reduce_values *values, char *map,
			uint64_t count)
{
	for (uint64_t at = 0; at < count; at += CHUNK)
		peerlane_copy_to(map + at * values->element, values->given,
				 piece(at, count) * values->element);
}

/* No expected value has all bits. */
void reduce_values_spoil(const struct reduce_values *values, char *map,
			 uint64_t count)
{
	size_t size = CHUNK * (size_t)values->element;
	char *chunk = must(malloc(size));

	memset(chunk, 0xff, size);
	for (uint64_t at = 0; at < count; at += CHUNK)
		peerlane_copy_to(map + at * values->element, chunk,
				 piece(at, count) * values->element);
	free(chunk);
}

static uint64_t wrong_of(const struct reduce_values *values, const char *chunk,
			 uint64_t count)
{
	uint64_t wrong = 0;

	/* Not "!=": what is no number is wrong too. */
	for (uint64_t i = 0; i < count; i++)
		wrong += !(collective_get(chunk, values->type, i) ==
			   values->expected[i % COLLECTIVE_PERIOD]);
	return wrong;
}

uint64_t reduce_values_wrong(const struct reduce_values *values,
			     const char *map, uint64_t count)
{
	char *chunk = must(malloc(CHUNK * (size_t)values->element));
	uint64_t wrong = 0;

	for (uint64_t at = 0; at < count; at += CHUNK) {
		peerlane_copy_from(chunk, map + at * values->element,
				   piece(at, count) * values->element);
		wrong += wrong_of(values, chunk, piece(at, count));
	}
	free(chunk);
	return wrong;
}
