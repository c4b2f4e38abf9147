/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bytes that follow from a seed. hook has the same in Python, so that the host
 * knows what should lie behind a BAR without asking the guest.
 */
#ifndef SELFTESTS_VERBS_FILL_H
#define SELFTESTS_VERBS_FILL_H

#include <stddef.h>
#include <stdint.h>

/* fill() - the first @length bytes of the stream of @seed */
void fill(void *to, size_t length, uint64_t seed);

/* fill_differs() - index of the first byte that is another, or -1 */
long long fill_differs(const void *at, size_t length, uint64_t seed);

/* host_number() - what `host NAME ...` prints; -1 if it fails */
long long host_number(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

/* host_says() - exit status of `host NAME ...`, formatted; -1 no answer */
int host_says(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* SELFTESTS_VERBS_FILL_H */
