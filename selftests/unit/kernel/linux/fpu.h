/* SPDX-License-Identifier: GPL-2.0 */
/* Who uses the FPU says so, and gives it back before anybody else may run. */
#ifndef SELFTESTS_FPU_H
#define SELFTESTS_FPU_H

#include <stdbool.h>
#include <stdlib.h>

struct fpu_stub {
	bool is_away;
	bool is_used;
	unsigned long sections;
};

__attribute__((weak)) struct fpu_stub fpu_stub;

static inline bool kernel_fpu_available(void)
{
	return !fpu_stub.is_away;
}

static inline void kernel_fpu_begin(void)
{
	if (fpu_stub.is_used)
		abort();
	fpu_stub.is_used = true;
	fpu_stub.sections++;
}

static inline void kernel_fpu_end(void)
{
	if (!fpu_stub.is_used)
		abort();
	fpu_stub.is_used = false;
}

#endif /* SELFTESTS_FPU_H */
