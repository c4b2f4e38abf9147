/* SPDX-License-Identifier: GPL-2.0 */
/* The least that can be done with some streams of memory. */
#ifndef SELFTESTS_BENCH_REDUCE_PLAIN_H
#define SELFTESTS_BENCH_REDUCE_PLAIN_H

#include <stddef.h>

#define STREAMS	8

/**
 * struct plain - reads STREAMS streams and writes one, a multiple of 4 KiB each
 *
 * Every byte is loaded, and as many as of one stream are stored; nothing is
 * computed.
 */
struct plain {
	const char *name;
	void (*run)(void *to, const void *const *from, size_t bytes);
};

/* Those that this processor has; the last one has no name. */
const struct plain *plain_list(void);

#endif /* SELFTESTS_BENCH_REDUCE_PLAIN_H */
