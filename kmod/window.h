/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PEERLANE_WINDOW_H
#define PEERLANE_WINDOW_H

#include <asm/page.h>
#include <linux/kernel.h>

#include "units.h"

/* What one fault fills of a mapping. */
struct peerlane_window {
	unsigned long start;
	unsigned long pages;
	u64 offset;		/* of start in the region, bytes */
};

/*
 * The part of the mapping [@map_start, @map_end) in the 2 MiB around @addr,
 * which is in the mapping. The mapping begins at page @map_pgoff of the region.
 */
static inline struct peerlane_window
peerlane_window_around(unsigned long map_start, unsigned long map_end,
		       unsigned long map_pgoff, unsigned long addr)
{
	unsigned long base = ALIGN_DOWN(addr, PEERLANE_UNIT);
	struct peerlane_window window;
	unsigned long end;

	window.start = max(map_start, base);
	/* base + UNIT may wrap at the top of the address space: compare sizes */
	end = map_end - base > PEERLANE_UNIT ? base + PEERLANE_UNIT : map_end;
	window.pages = (end - window.start) >> PAGE_SHIFT;
	window.offset = ((u64)map_pgoff << PAGE_SHIFT) +
			(window.start - map_start);
	return window;
}

#endif /* PEERLANE_WINDOW_H */
