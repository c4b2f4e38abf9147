/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ranges of bytes, as users, importers and firmware give them: any two numbers.
 * Nothing here adds before it knows that the sum fits.
 */
#ifndef PEERLANE_RANGE_H
#define PEERLANE_RANGE_H

#include <linux/kernel.h>

/* Does start + length not fit into 64 bits? */
static inline bool peerlane_range_wraps(u64 start, u64 length)
{
	return length > U64_MAX - start;
}

/* Is it a part of [0, size)? One that is empty may also be at its end. */
static inline bool peerlane_range_within(u64 start, u64 length, u64 size)
{
	return start <= size && length <= size - start;
}

/* Is its last byte above address @last, which itself is a good one? */
static inline bool peerlane_range_beyond(u64 start, u64 length, u64 last)
{
	return length && (start > last || length - 1 > last - start);
}

#endif /* PEERLANE_RANGE_H */
