/* SPDX-License-Identifier: GPL-2.0 */
/* Bitmaps as the kernel has them, a bit at a time. */
#ifndef SELFTESTS_BITMAP_H
#define SELFTESTS_BITMAP_H

#include <linux/kernel.h>
#include <stdlib.h>

#define BITS_PER_LONG		(CHAR_BIT * (unsigned int)sizeof(long))
#define BITS_TO_LONGS(bits)	(((bits) + BITS_PER_LONG - 1) / BITS_PER_LONG)
#define GFP_KERNEL		0

static inline unsigned long *bitmap_zalloc(unsigned int bits, int flags)
{
	(void)flags;
	return calloc(BITS_TO_LONGS(bits), sizeof(long));
}

static inline void bitmap_free(unsigned long *map)
{
	free(map);
}

static inline bool test_bit(unsigned long bit, const unsigned long *map)
{
	return map[bit / BITS_PER_LONG] >> bit % BITS_PER_LONG & 1;
}

static inline void bitmap_clear(unsigned long *map, unsigned int first,
				unsigned int bits)
{
	for (; bits; bits--, first++)
		map[first / BITS_PER_LONG] &= ~(1UL << first % BITS_PER_LONG);
}

static inline void bitmap_set(unsigned long *map, unsigned int first,
			      unsigned int bits)
{
	for (; bits; bits--, first++)
		map[first / BITS_PER_LONG] |= 1UL << first % BITS_PER_LONG;
}

/* Whole words, as the kernel's does. */
static inline void bitmap_fill(unsigned long *map, unsigned int bits)
{
	bitmap_set(map, 0, BITS_TO_LONGS(bits) * BITS_PER_LONG);
}

/* Above @size if there is none. */
static inline unsigned long
bitmap_find_next_zero_area(unsigned long *map, unsigned long size,
			   unsigned long start, unsigned int bits,
			   unsigned long align_mask)
{
	unsigned long at, run = 0;

	(void)align_mask;
	for (at = start; at < size; at++) {
		run = test_bit(at, map) ? 0 : run + 1;
		if (run == bits)
			return at + 1 - bits;
	}
	return size + 1;
}

#endif /* SELFTESTS_BITMAP_H */
