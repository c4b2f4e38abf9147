/* SPDX-License-Identifier: GPL-2.0 */
/* A table of five ranks, and what they say to it; of tests. */
#ifndef SELFTESTS_GROUP_TABLE_MAKE_H
#define SELFTESTS_GROUP_TABLE_MAKE_H

#include <errno.h>
#include <stdlib.h>

#include "tap.h"

#include "group_table.h"

enum { U8 = 9, I32 = 7, F32 = 2 };
enum { SUM = 1, MAX = 4 };

#define SIZE	5
#define WINDOW	3
#define TOKEN	77

/* Aggregator 1 of 2: segments 1, 3, 5 ... of operation 0 */
static const struct group_shape shape = { SIZE, 2, 4096 };
static const struct group_call all_reduce = {
	GROUP_ALL_REDUCE, I32, SUM, 0, 100000,
};

static struct group_table table;
static struct group_fault fault;
static void *memory;

static inline void begin(void)
{
	memory = calloc(1, group_table_size(SIZE, WINDOW));
	group_table_init(&table, memory, &shape,
			 &(struct group_members){ SIZE, 0, 1 }, 1, WINDOW);
	memset(&fault, 0, sizeof(fault));
}

static inline void end(void)
{
	free(memory);
}

/* Number @n in the stream of operation 0 */
static inline struct group_part make_part(u64 n)
{
	return (struct group_part){
		.n = n, .call = all_reduce, .index = 1 + 2 * n, .bytes = 4096,
		.token = TOKEN, .offset = (1 + 2 * n) * 4096,
	};
}

static inline int say(u32 rank, const struct group_part *part)
{
	return group_table_contribute(&table, rank, part, 1000, &fault);
}

static inline int contribute(u32 rank, u64 n, u64 now)
{
	const struct group_part part = make_part(n);

	return group_table_contribute(&table, rank, &part, now, &fault);
}

/* The return value of the last one */
static inline int contribute_all(u64 n, u64 now)
{
	u32 rank;
	int got = 0;

	for (rank = 0; rank < SIZE; rank++) {
		CHECK_INT(got, 0);
		got = contribute(rank, n, now);
	}
	return got;
}

#endif /* SELFTESTS_GROUP_TABLE_MAKE_H */
