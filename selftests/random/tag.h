/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whoever writes into a region writes its tag: every word of a page is the
 * region's number and the page's. So what is found in a region is zero or its
 * tag, else it is another's, or at the wrong place.
 */
#ifndef SELFTESTS_RANDOM_TAG_H
#define SELFTESTS_RANDOM_TAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAG_MAGIC	0xc5a1ULL
#define TAG_LINE	64UL		/* what is looked at of most pages */

/* @offset: of the page, in the region. */
static inline uint64_t tag_of(uint64_t region, uint64_t offset)
{
	return TAG_MAGIC << 48 | (region & 0xffffffff) << 16 |
	       ((offset >> 12) & 0xffff);
}

/* @offset: of @at in the region; both are page-aligned, but for the length. */
void tag_write(void *at, size_t length, uint64_t region, uint64_t offset);
/* The bytes of a page before the first that does not belong there, or -1. */
long tag_differs(const void *at, size_t length, uint64_t region,
		 uint64_t offset);
bool tag_is_zero(const void *at, size_t length);

/* As tag_differs(), of @from; complains. */
void tag_check(const void *at, size_t length, uint64_t region, uint64_t offset,
	       const char *from);

#endif /* SELFTESTS_RANDOM_TAG_H */
