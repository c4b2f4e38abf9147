/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The address space of one map: ranges of addresses in the order of the bytes
 * they stand for. Whole pages, so that memory keys can be made of any part.
 * Pure.
 */
#ifndef PEERLANE_LINK_RANGE_H
#define PEERLANE_LINK_RANGE_H

#include <linux/kernel.h>

struct link_range {
	u64 start;		/* the first byte's offset */
	u64 addr;
};

/* Filled by link_ranges_add(), then only read. */
struct link_ranges {
	struct link_range *list;
	u32 room;		/* of list */
	u32 count;
	u64 length;		/* of all */
};

struct link_piece {
	u64 addr;
	u32 length;
};

/* Where a walk over [offset, offset + left) is. */
struct link_cursor {
	const struct link_ranges *ranges;
	u32 index;		/* of the range with @offset; count: none */
	u64 offset;
	u64 left;
};

/*
 * Behind what is there; as a part of the last one if they meet. 0; -EINVAL: not
 * whole pages, or beyond 64 bits; -ENOSPC: no room.
 */
int link_ranges_add(struct link_ranges *ranges, u64 addr, u64 length);

/* 0, or -ERANGE: not within the ranges. */
int link_cursor_begin(struct link_cursor *cursor,
		      const struct link_ranges *ranges, u64 offset, u64 length);
/* The next contiguous piece, of @most bytes at most; false: the end. */
bool link_cursor_next(struct link_cursor *cursor, u32 most,
		      struct link_piece *piece);

#endif /* PEERLANE_LINK_RANGE_H */
