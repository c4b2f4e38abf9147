/* SPDX-License-Identifier: GPL-2.0 */
/* Packet sequence numbers: 24-bit serial numbers. */
#ifndef PEERLANE_PSN_H
#define PEERLANE_PSN_H

#include <linux/types.h>

#define PSN_MASK	0xffffff

/*
 * How far @a is ahead of @b: less than 0 if it is behind, between -2^23 and
 * 2^23 - 1. Whatever is in the upper 8 bits of either does not matter.
 */
static inline s32 psn_ahead(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

static inline u32 psn_add(u32 psn, u32 count)
{
	return (psn + count) & PSN_MASK;
}

#endif /* PEERLANE_PSN_H */
