/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of exports share. */
#ifndef SELFTESTS_REGION_DMABUF_H
#define SELFTESTS_REGION_DMABUF_H

#include "region.h"
#include "tap.h"

#define LENGTH	(4 * UNIT)
#define PAGE	4096UL

static uint64_t all_free;	/* before the first case */

/* A region and one dma-buf of all of it. */
struct pair {
	int region;
	int dmabuf;
};

static inline struct pair new_pair(uint32_t flags)
{
	struct pair pair = { new_region(LENGTH), -1 };

	if (CHECK(pair.region >= 0))
		pair.dmabuf = region_export(pair.region, 0, LENGTH, flags);
	CHECK(pair.dmabuf >= 0);
	return pair;
}

static inline void end(struct pair pair)
{
	close(pair.dmabuf);
	close(pair.region);
	CHECK(wait_free(all_free));
}

static inline struct peerlane_region_status info_of(int region)
{
	struct peerlane_region_status info;

	CHECK_INT(region_info(region, &info), 0);
	return info;
}

static inline int attach_and_map(int dmabuf, uint32_t mode)
{
	int importer = importer_attach(dmabuf, mode);

	if (CHECK(importer >= 0))
		CHECK_INT(importer_map(importer), 0);
	return importer;
}

/* The last case of each program. */
static inline void nothing_is_left(void)
{
	CHECK(wait_free(all_free));
	CHECK(wait_regions(0));
	CHECK_INT(bytes_limbo(), 0);
}

#endif /* SELFTESTS_REGION_DMABUF_H */
