// SPDX-License-Identifier: GPL-2.0
/*
 * Files straight into and out of regions: the disk does the writing, and QEMU
 * tells where to. In the environment: NODE, DISK (a block device that nothing
 * else uses), BAR_PHYS (where the BAR of gpu0 lies), and IOMMU if there is one.
 */
#include <linux/fs.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <peerlane.h>

#include "disk.h"
#include "fill.h"
#include "tap.h"

#define LENGTH	(4UL << 20)
#define PART	(1UL << 20)
#define SEED	4242ULL

static struct peerlane_region *region;
static struct peerlane_region_info info;
static int disk = -1;

static bool begin(int flags)
{
	region = NULL;
	disk = open(getenv("DISK"), flags | O_RDWR | O_CLOEXEC);
	return CHECK(disk >= 0) &&
	       CHECK_INT(peerlane_region_alloc("gpu0", LENGTH, &region), 0) &&
	       CHECK_INT(peerlane_region_query(region, &info), 0);
}

static bool begin_dma(void)
{
	if (disk_takes_device_pages())
		return begin(O_DIRECT);
	SKIP_DISK();
	return false;
}

static void end(void)
{
	peerlane_region_free(region);
	close(disk);
}

static int bar_has(uint64_t offset, size_t length, uint64_t seed)
{
	return host_says("pattern-check \"$NODE\" 0 %llu %zu %llu",
			 (unsigned long long)(info.dev_offset + offset), length,
			 (unsigned long long)seed);
}

/* Bytes of the range, in the BAR, that the disk itself has touched */
static long long dma_bytes(uint64_t offset, size_t length)
{
	uint64_t low = strtoull(getenv("BAR_PHYS"), NULL, 0) +
		       info.dev_offset + offset;

	return host_number("dma-seen \"$NODE\" %llu %llu %s",
			   (unsigned long long)low,
			   (unsigned long long)(low + length),
			   getenv("IOMMU") ? "iommu" : "");
}

/* Pages of the disk that the page cache holds */
static long cached_pages(size_t length)
{
	unsigned char there[LENGTH / 4096] = { 0 };
	void *map = mmap(NULL, length, PROT_READ, MAP_SHARED, disk, 0);
	size_t i;
	long n = 0;

	if (map == MAP_FAILED || mincore(map, length, there))
		n = -1;
	for (i = 0; n >= 0 && i < length / 4096; i++)
		n += there[i] & 1;
	if (map != MAP_FAILED)
		munmap(map, length);
	return n;
}

static void read_puts_the_file_into_the_bar(void)
{
	size_t done = 0;

	CHECK_INT(host_says("disk-fill \"$NODE\" 8192 %lu %llu", PART, SEED), 0);
	if (!begin_dma())
		return;
	/* The search for partitions may have left some, if it ended late. */
	CHECK_INT(ioctl(disk, BLKFLSBUF, 0), 0);
	CHECK_INT(host_says("dma-watch \"$NODE\""), 0);
	CHECK_INT(peerlane_region_read_file(region, 65536, disk, 8192, PART,
					    &done), 0);
	CHECK_INT(done, PART);
	CHECK_INT(dma_bytes(65536, PART), PART);
	CHECK_INT(bar_has(65536, PART, SEED), 0);
	CHECK_INT(bar_has(65536, PART, SEED + 1), 3);
	CHECK_INT(cached_pages(LENGTH), 0);
	end();
}

static void write_takes_the_file_from_the_bar(void)
{
	size_t done = 0;

	if (!begin_dma())
		return;
	CHECK_INT(host_says("pattern-fill \"$NODE\" 0 %llu %lu %llu",
			    (unsigned long long)info.dev_offset + 512, PART,
			    SEED + 7), 0);
	CHECK_INT(host_says("dma-watch \"$NODE\""), 0);
	CHECK_INT(peerlane_region_write_file(region, 512, disk, 4194304, PART,
					     &done), 0);
	CHECK_INT(done, PART);
	if (getenv("IOMMU"))	/* whole pages are seen there */
		CHECK_INT(dma_bytes(0, PART + 4096), PART + 4096);
	else
		CHECK_INT(dma_bytes(512, PART), PART);
	CHECK_INT(host_says("disk-check \"$NODE\" 4194304 %lu %llu", PART,
			    SEED + 7), 0);
	CHECK_INT(host_says("disk-check \"$NODE\" 4194304 %lu %llu", PART,
			    SEED + 8), 3);
	CHECK_INT(cached_pages(LENGTH), 0);
	end();
}

static void the_watch_sees_that_a_cached_file_goes_elsewhere(void)
{
	char *buffer = malloc(PART);
	void *map = NULL;

	if (!begin(0) || !CHECK(buffer))
		return;
	CHECK_INT(host_says("dma-watch \"$NODE\""), 0);
	CHECK_INT(pread(disk, buffer, PART, 8192), PART);
	CHECK_INT(peerlane_region_map(region, &map), 0);
	peerlane_copy_to((char *)map + 65536, buffer, PART);
	CHECK_INT(dma_bytes(0, LENGTH), 0);
	CHECK_INT(bar_has(65536, PART, SEED), 0);
	CHECK(cached_pages(LENGTH) > 0);
	free(buffer);
	end();
}

static void without_o_direct_it_is_refused(void)
{
	size_t done = 77;

	if (!begin(0))
		return;
	CHECK_INT(peerlane_region_read_file(region, 0, disk, 0, 4096, &done),
		  -EINVAL);
	CHECK_HAS(peerlane_strerror(), "O_DIRECT");
	CHECK_INT(done, 77);
	end();
}

static void odd_offsets_are_refused(void)
{
	size_t done = 77;

	if (!begin(O_DIRECT))
		return;
	CHECK_INT(peerlane_region_read_file(region, 3, disk, 0, 4096, &done),
		  -EINVAL);
	CHECK_HAS(peerlane_strerror(), "block size");
	CHECK_INT(peerlane_region_write_file(region, 0, disk, 0, LENGTH + 512,
					     &done), -EINVAL);
	CHECK_INT(done, 77);
	end();
}

static void the_end_of_the_file_shortens(void)
{
	size_t done = 0;
	off_t size;

	if (!begin_dma())
		return;
	size = lseek(disk, 0, SEEK_END);
	CHECK_INT(peerlane_region_read_file(region, 0, disk,
					    (uint64_t)size - 65536, LENGTH,
					    &done), 0);
	CHECK_INT(done, 65536);
	end();
}

static void a_revoked_region_is_refused(void)
{
	size_t done = 77;

	if (!begin(O_DIRECT))
		return;
	CHECK_INT(peerlane_region_revoke(region), 0);
	CHECK_INT(peerlane_region_read_file(region, 0, disk, 0, 4096, &done),
		  -ENODEV);
	CHECK_INT(done, 77);
	end();
}

static const struct tap_case cases[] = {
	TAP_CASE(read_puts_the_file_into_the_bar),
	TAP_CASE(write_takes_the_file_from_the_bar),
	TAP_CASE(the_watch_sees_that_a_cached_file_goes_elsewhere),
	TAP_CASE(without_o_direct_it_is_refused),
	TAP_CASE(odd_offsets_are_refused),
	TAP_CASE(the_end_of_the_file_shortens),
	TAP_CASE(a_revoked_region_is_refused),
};

int main(void)
{
	return TAP_RUN(cases);
}
