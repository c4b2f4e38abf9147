/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The allocation units of a device: which are used, and which may hold what
 * another user left. Callers serialize; nothing here touches the memory.
 */
#ifndef PEERLANE_UNITS_H
#define PEERLANE_UNITS_H

#include <linux/kernel.h>

#define PEERLANE_UNIT_SHIFT	21
#define PEERLANE_UNIT		(1UL << PEERLANE_UNIT_SHIFT)

struct peerlane_pool {
	unsigned long *used;	/* bit per unit */
	unsigned long *dirty;	/* content not known to be zero */
	unsigned int units;
	unsigned int free;
	unsigned int limbo;	/* used, and nobody can reach them */
};

/*
 * The first fit of @units contiguous units becomes used. Returns the first of
 * them, or pool->units if there is no such range.
 */
unsigned long peerlane_units_take(struct peerlane_pool *pool,
				  unsigned long units);
/* Used ones become free, and known to be zero if they were @wiped. */
void peerlane_units_give_back(struct peerlane_pool *pool, unsigned long first,
			      unsigned long units, bool wiped);
/* Used ones are about to be written. */
void peerlane_units_soil(struct peerlane_pool *pool, unsigned long first,
			 unsigned long units);
/* Of no unit is known what it holds. */
void peerlane_units_soil_all(struct peerlane_pool *pool);

#endif /* PEERLANE_UNITS_H */
