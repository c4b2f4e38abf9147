/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What ranks give to a reduction, and what must come of it, to the last bit and in
 * the order of ranks. A third of the floats are large, small, and large with the
 * other sign, of all ranks as many, and who has which differs from element to
 * element: of their sum the small ones are left that came between, and so it is
 * another one in another order.
 *
 * Elements repeat after VALUES_PERIOD, a prime: a segment at another's place has
 * other values. Who makes the same ones in the same order has the same, in other
 * processes too.
 */
#ifndef SELFTESTS_GROUP_VALUES_H
#define SELFTESTS_GROUP_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VALUES_PERIOD	1021
#define VALUES_RANKS	16

struct values {
	uint32_t type;
	uint32_t op;
	uint32_t ranks;
	uint32_t block;		/* as in struct peerlane_group_create */
	size_t size;		/* of an element */
	char *given[VALUES_RANKS];
	char *sum;		/* what must come */
};

/* False: the type does not have the operation. */
bool values_make(struct values *values, uint32_t type, uint32_t op, uint32_t ranks,
		 uint32_t block);
void values_free(struct values *values);

/* ->sum is made anew, with the ranks in another order than their own. */
void values_sum(struct values *values, const uint32_t *order);

/* Elements @first .. @first + @count of @rank's */
void values_give(const struct values *values, uint32_t rank, void *to, size_t first,
		 size_t count);

/* The first of @count elements at @got that is not that of the sum, or -1 */
long long values_sum_differs(const struct values *values, const void *got,
			     size_t first, size_t count);
/* The same, of what @rank gave */
long long values_given_differs(const struct values *values, uint32_t rank,
			       const void *got, size_t first, size_t count);

const char *values_name(const struct values *values);

#endif /* SELFTESTS_GROUP_VALUES_H */
