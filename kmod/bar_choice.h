/* SPDX-License-Identifier: GPL-2.0 */
/* Which BAR of a function is the memory. */
#ifndef PEERLANE_BAR_CHOICE_H
#define PEERLANE_BAR_CHOICE_H

#include <linux/kernel.h>

struct peerlane_bar {
	u64 size;
	bool is_memory;		/* not I/O ports, and there at all */
	bool is_prefetchable;
	bool has_address;
};

enum peerlane_bar_fault {
	PEERLANE_BAR_FITS,
	PEERLANE_BAR_NO_ADDRESS,
	PEERLANE_BAR_SMALL,
	PEERLANE_BAR_REGISTERS,
};

/* Why it cannot be device memory; @bar has memory. */
enum peerlane_bar_fault peerlane_bar_fault(const struct peerlane_bar *bar);
/* The first of the largest that have memory, -1: none has. */
int peerlane_bar_largest(const struct peerlane_bar *bars, int count);
/* The first of the largest that can be device memory, -1: none can. */
int peerlane_bar_best(const struct peerlane_bar *bars, int count);

#endif /* PEERLANE_BAR_CHOICE_H */
