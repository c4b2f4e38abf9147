/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SELFTESTS_KTIME_H
#define SELFTESTS_KTIME_H

#include <linux/types.h>
#include <time.h>

static inline u64 ktime_get_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

#endif /* SELFTESTS_KTIME_H */
