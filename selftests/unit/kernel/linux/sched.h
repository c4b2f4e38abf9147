/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SELFTESTS_SCHED_H
#define SELFTESTS_SCHED_H

#include <linux/fpu.h>

static inline void cond_resched(void)
{
	if (fpu_stub.is_used)
		abort();
}

#endif /* SELFTESTS_SCHED_H */
