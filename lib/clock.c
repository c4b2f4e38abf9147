// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Deadlines of calls that wait more than once. */
#include <time.h>

#include "clock.h"

#define MS	INT64_C(1000000)

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * PL_CLOCK_SECOND + time.tv_nsec;
}

int64_t pl_clock_end(int timeout)
{
	return timeout < 0 ? -1 : now() + (int64_t)timeout * MS;
}

int64_t pl_clock_left(int64_t end)
{
	int64_t left = end < 0 ? -1 : end - now();

	return end >= 0 && left < 0 ? 0 : left;
}

int pl_clock_left_ms(int64_t end)
{
	int64_t left = pl_clock_left(end);

	return left < 0 ? -1 : (int)((left + MS - 1) / MS);
}
