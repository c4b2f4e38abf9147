/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SELFTESTS_SLAB_H
#define SELFTESTS_SLAB_H

#include <stdlib.h>

#define GFP_KERNEL	0

static inline void *kmalloc(size_t bytes, int flags)
{
	(void)flags;
	return malloc(bytes);
}

static inline void kfree(void *memory)
{
	free(memory);
}

#endif /* SELFTESTS_SLAB_H */
