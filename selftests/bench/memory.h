/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of each sort that is compared. No function returns after a failure. */
#ifndef SELFTESTS_BENCH_MEMORY_H
#define SELFTESTS_BENCH_MEMORY_H

#include <stddef.h>

enum sort { BAR, SMALL, HUGE, SORTS };

extern const char *const sort_names[SORTS];

void die(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/**
 * memory_open() - @length bytes, mapped, nothing touched
 *
 * Of BAR by open() and mmap() of the device node, as a program does that knows
 * nothing of peerlane; of SMALL and HUGE by a memfd of 4 KiB and 2 MiB pages.
 * At an address that is a multiple of 2 MiB.
 */
char *memory_open(enum sort sort, size_t length);
/** memory_close() - and wait until the device has it back */
void memory_close(char *at, size_t length);
/** memory_touch() - write to each 4 KiB */
void memory_touch(char *at, size_t length);
/** memory_settle() - until no region of gpu0 holds memory */
void memory_settle(void);

#endif /* SELFTESTS_BENCH_MEMORY_H */
