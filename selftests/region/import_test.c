// SPDX-License-Identifier: GPL-2.0
/* Imported dma-bufs: what they can do, their ends, and what they hold. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pl_exporter.h"
#include "region.h"
#include "tap.h"

#define LENGTH	(2 * UNIT)
#define PAGE	4096UL

static uint64_t all_free;

/* A region of ours, its dma-buf, and a region that imports it. */
struct chain {
	int region;
	int dmabuf;
	int import;
};

static struct chain new_chain(uint64_t offset, uint64_t length)
{
	struct chain chain = { new_region(LENGTH), -1, -1 };

	if (CHECK(chain.region >= 0))
		chain.dmabuf = region_export(chain.region, 0, LENGTH, 0);
	if (CHECK(chain.dmabuf >= 0))
		chain.import = import_dmabuf(chain.dmabuf, offset, length, NULL);
	CHECK(chain.import >= 0);
	return chain;
}

static void end(struct chain chain)
{
	close(chain.import);
	close(chain.dmabuf);
	close(chain.region);
	CHECK(wait_free(all_free));
	CHECK(wait_regions(0));
}

static struct peerlane_region_status info_of(int region)
{
	struct peerlane_region_status info;

	CHECK_INT(region_info(region, &info), 0);
	return info;
}

/* ---- another driver's ---- */

static int new_foreign(uint64_t size, uint32_t flags)
{
	struct pl_export args = { .size = size, .flags = flags };
	int fd = open("/dev/pl_exporter", O_RDWR | O_CLOEXEC);
	int dmabuf = ioctl(fd, PL_EXPORT, &args);

	close(fd);
	CHECK(dmabuf >= 0);
	return dmabuf;
}

static int live_foreign(void)
{
	FILE *file = fopen("/sys/kernel/debug/pl_exporter/live", "r");
	int live = -1;

	if (!file || fscanf(file, "%d", &live) != 1)
		live = -1;
	if (file)
		fclose(file);
	return live;
}

static bool wait_no_foreign(void)
{
	int ms;

	for (ms = 0; ms < 30000 && live_foreign(); ms += 10)
		sleep_ms(10);
	return !live_foreign();
}

/* ---- making ---- */

static void whole_is_imported_by_length_0(void)
{
	struct chain chain = { new_region(LENGTH), -1, -1 };
	uint64_t length = 0;

	chain.dmabuf = region_export(chain.region, 0, LENGTH, 0);
	chain.import = import_dmabuf(chain.dmabuf, 0, 0, &length);
	CHECK_INT(length, LENGTH);
	CHECK_INT(info_of(chain.import).out_length, LENGTH);
	CHECK_INT(fcntl(chain.import, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	end(chain);
}

static void rest_is_imported_by_length_0(void)
{
	struct chain chain = { new_region(LENGTH), -1, -1 };
	uint64_t length = 0;

	chain.dmabuf = region_export(chain.region, 0, LENGTH, 0);
	chain.import = import_dmabuf(chain.dmabuf, UNIT + PAGE, 0, &length);
	CHECK_INT(length, UNIT - PAGE);
	end(chain);
}

static void fd_that_is_not_open_is_refused(void)
{
	CHECK_INT(import_dmabuf(-1, 0, 0, NULL), -EBADF);
	CHECK_INT(import_dmabuf(9999, 0, 0, NULL), -EBADF);
	CHECK_HAS(why, "not open");
}

static void fd_of_another_file_is_refused(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	CHECK_INT(import_dmabuf(fd, 0, 0, NULL), -EBADF);
	CHECK_HAS(why, "not a dma-buf");
	close(fd);
}

static void region_itself_is_no_dmabuf(void)
{
	int region = new_region(LENGTH);

	CHECK_INT(import_dmabuf(region, 0, 0, NULL), -EBADF);
	close(region);
	CHECK(wait_free(all_free));
}

static void bad_ranges_are_refused(void)
{
	struct chain chain = new_chain(0, 0);

	CHECK_INT(import_dmabuf(chain.dmabuf, 1, PAGE, NULL), -EINVAL);
	CHECK_INT(import_dmabuf(chain.dmabuf, 0, PAGE + 1, NULL), -EINVAL);
	CHECK_INT(import_dmabuf(chain.dmabuf, PAGE, LENGTH, NULL), -EINVAL);
	CHECK_INT(import_dmabuf(chain.dmabuf, LENGTH, 0, NULL), -EINVAL);
	CHECK_INT(import_dmabuf(chain.dmabuf, 2 * LENGTH, 0, NULL), -EINVAL);
	CHECK_INT(import_dmabuf(chain.dmabuf, -PAGE, 2 * PAGE, NULL), -EOVERFLOW);
	end(chain);
}

/* ---- what it can do ---- */

static void own_dmabuf_can_do_all_but_pages(void)
{
	struct chain chain = new_chain(0, 0);
	struct peerlane_region_status info = info_of(chain.import);

	CHECK_INT(info.out_kind, PEERLANE_KIND_DMABUF);
	CHECK_INT(info.out_state, PEERLANE_STATE_ACTIVE);
	CHECK_INT(info.out_caps, PEERLANE_CAP_MMAP | PEERLANE_CAP_EXPORT |
		  PEERLANE_CAP_HW_DMA | PEERLANE_CAP_VIRT_DMA |
		  PEERLANE_CAP_REVOKE);
	CHECK_INT(info.out_dev_offset, 0);
	CHECK_STR(info.out_device, "");
	end(chain);
}

static void foreign_dmabuf_has_no_virtual_dma(void)
{
	int dmabuf = new_foreign(LENGTH, PL_EXPORT_MMAP);
	int import = import_dmabuf(dmabuf, 0, 0, NULL);

	CHECK_INT(info_of(import).out_caps, PEERLANE_CAP_MMAP |
		  PEERLANE_CAP_EXPORT | PEERLANE_CAP_HW_DMA |
		  PEERLANE_CAP_REVOKE);
	close(import);
	close(dmabuf);
	CHECK(wait_no_foreign());
}

static void mapping_shows_the_part_imported(void)
{
	struct chain chain = new_chain(UNIT, PAGE * 4);
	char *whole = map(chain.region, LENGTH, 0);
	char *part = map(chain.import, PAGE, 2 * PAGE);

	CHECK(whole && part);
	part[5] = 'p';
	CHECK_INT(whole[UNIT + 2 * PAGE + 5], 'p');
	munmap(whole, LENGTH);
	munmap(part, PAGE);
	end(chain);
}

static void mapping_beyond_the_part_is_refused(void)
{
	struct chain chain = new_chain(0, PAGE * 4);

	CHECK_INT(map_error(chain.import, PAGE * 4, PAGE, PROT_READ, MAP_SHARED),
		  -EINVAL);
	CHECK_INT(map_error(chain.import, PAGE * 5, 0, PROT_READ, MAP_SHARED),
		  -EINVAL);
	end(chain);
}

static void mapping_cannot_grow_beyond_the_part(void)
{
	int dmabuf = new_foreign(LENGTH, PL_EXPORT_MMAP);
	int import = import_dmabuf(dmabuf, 0, PAGE, NULL);
	void *addr = map(import, PAGE, 0);
	void *grown = mremap(addr, PAGE, 2 * PAGE, MREMAP_MAYMOVE);

	CHECK(grown == MAP_FAILED);
	if (grown == MAP_FAILED)
		munmap(addr, PAGE);
	else
		munmap(grown, 2 * PAGE);
	close(import);
	close(dmabuf);
	CHECK(wait_no_foreign());
}

static void foreign_memory_is_mapped_by_its_exporter(void)
{
	int dmabuf = new_foreign(LENGTH, PL_EXPORT_MMAP);
	int import = import_dmabuf(dmabuf, PAGE, 0, NULL);
	char *theirs = map(dmabuf, LENGTH, 0);
	char *ours = map(import, PAGE, PAGE);

	CHECK(theirs && ours);
	ours[1] = 'f';
	CHECK_INT(theirs[2 * PAGE + 1], 'f');
	munmap(theirs, LENGTH);
	munmap(ours, PAGE);
	close(import);
	close(dmabuf);
	CHECK(wait_no_foreign());
}

static void mapping_is_refused_if_the_exporter_cannot(void)
{
	int dmabuf = new_foreign(LENGTH, 0);
	int import = import_dmabuf(dmabuf, 0, 0, NULL);

	CHECK_INT(info_of(import).out_caps & PEERLANE_CAP_MMAP, 0);
	CHECK_INT(map_error(import, PAGE, 0, PROT_READ, MAP_SHARED), -EOPNOTSUPP);
	close(import);
	close(dmabuf);
	CHECK(wait_no_foreign());
}

static void read_only_dmabuf_is_not_mapped_for_writing(void)
{
	int dmabuf = new_foreign(LENGTH, PL_EXPORT_MMAP | PL_EXPORT_READ_ONLY);
	int import = import_dmabuf(dmabuf, 0, 0, NULL);
	void *addr = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, import, 0);

	CHECK(addr != MAP_FAILED);
	CHECK_INT(mprotect(addr, PAGE, PROT_READ | PROT_WRITE), -1);
	CHECK_INT(map_error(import, PAGE, 0, PROT_READ | PROT_WRITE, MAP_SHARED),
		  -EACCES);
	munmap(addr, PAGE);
	close(import);
	close(dmabuf);
	CHECK(wait_no_foreign());
}

static void alloc_of_an_import_is_refused(void)
{
	struct chain chain = new_chain(0, 0);

	CHECK_INT(region_alloc(chain.import, PAGE), -EOPNOTSUPP);
	end(chain);
}

/* ---- handing on ---- */

static void whole_is_handed_on_as_it_came(void)
{
	struct chain chain = new_chain(0, 0);
	int again = region_export(chain.import, 0, LENGTH, 0);
	struct stat first, second;

	CHECK(again >= 0);
	CHECK_INT(fstat(chain.dmabuf, &first), 0);
	CHECK_INT(fstat(again, &second), 0);
	CHECK_INT(first.st_ino, second.st_ino);
	close(again);
	end(chain);
}

static void a_part_of_the_import_is_not_handed_on(void)
{
	struct chain chain = new_chain(0, 0);

	CHECK_INT(region_export(chain.import, 0, PAGE, 0), -EINVAL);
	CHECK_INT(region_export(chain.import, PAGE, LENGTH - PAGE, 0), -EINVAL);
	end(chain);
}

static void import_of_a_part_is_not_handed_on(void)
{
	struct chain chain = new_chain(0, UNIT);

	CHECK_INT(info_of(chain.import).out_caps & PEERLANE_CAP_EXPORT, 0);
	CHECK_INT(region_export(chain.import, 0, UNIT, 0), -EOPNOTSUPP);
	end(chain);
}

static void flags_cannot_be_added(void)
{
	struct chain chain = new_chain(0, 0);

	CHECK_INT(region_export(chain.import, 0, LENGTH,
				PEERLANE_EXPORT_REVOCABLE_ONLY), -EOPNOTSUPP);
	end(chain);
}

/* ---- ends ---- */

static void import_holds_the_memory(void)
{
	struct chain chain = new_chain(0, 0);
	char *addr;

	close(chain.dmabuf);
	close(chain.region);
	sleep_ms(300);
	CHECK_INT(bytes_free(), all_free - LENGTH);
	addr = map(chain.import, PAGE, 0);
	CHECK(addr && !faults(addr));
	munmap(addr, PAGE);
	close(chain.import);
	CHECK(wait_free(all_free));
}

static void mapping_outlives_the_import(void)
{
	struct chain chain = new_chain(0, 0);
	char *addr = map(chain.import, PAGE, 0);

	close(chain.import);
	CHECK(wait_regions(1));
	CHECK(!faults(addr));
	munmap(addr, PAGE);
	chain.import = -1;
	end(chain);
}

static void revoked_import_puts_the_dmabuf(void)
{
	int dmabuf = new_foreign(LENGTH, PL_EXPORT_MMAP);
	int import = import_dmabuf(dmabuf, 0, 0, NULL);

	close(dmabuf);
	sleep_ms(100);
	CHECK_INT(live_foreign(), 1);
	CHECK_INT(region_revoke(import), 0);
	CHECK(wait_no_foreign());
	CHECK(wait_state(import, PEERLANE_STATE_RELEASED));
	close(import);
}

static void revoked_import_can_do_nothing(void)
{
	struct chain chain = new_chain(0, 0);

	CHECK_INT(region_revoke(chain.import), 0);
	CHECK_INT(info_of(chain.import).out_caps, 0);
	CHECK_INT(map_error(chain.import, PAGE, 0, PROT_READ, MAP_SHARED),
		  -ENODEV);
	CHECK_INT(region_export(chain.import, 0, LENGTH, 0), -ENODEV);
	CHECK_INT(region_revoke(chain.import), -EBUSY);
	end(chain);
}

static void revoked_import_leaves_the_original(void)
{
	struct chain chain = new_chain(0, 0);
	char *addr = map(chain.region, PAGE, 0);

	CHECK_INT(region_revoke(chain.import), 0);
	CHECK(!faults(addr));
	CHECK_INT(info_of(chain.region).out_state, PEERLANE_STATE_ACTIVE);
	munmap(addr, PAGE);
	end(chain);
}

static void revoked_original_ends_mappings_by_the_import(void)
{
	struct chain chain = new_chain(0, 0);
	char *addr = map(chain.import, PAGE, 0);

	CHECK(!faults(addr));
	CHECK_INT(region_revoke(chain.region), 0);
	CHECK(faults(addr));
	CHECK_INT(map_error(chain.import, PAGE, 0, PROT_READ, MAP_SHARED),
		  -ENODEV);
	munmap(addr, PAGE);
	end(chain);
}

static void nothing_is_left(void)
{
	CHECK(wait_no_foreign());
	CHECK(wait_free(all_free));
	CHECK(wait_regions(0));
}

static const struct tap_case cases[] = {
	TAP_CASE(whole_is_imported_by_length_0),
	TAP_CASE(rest_is_imported_by_length_0),
	TAP_CASE(fd_that_is_not_open_is_refused),
	TAP_CASE(fd_of_another_file_is_refused),
	TAP_CASE(region_itself_is_no_dmabuf),
	TAP_CASE(bad_ranges_are_refused),
	TAP_CASE(own_dmabuf_can_do_all_but_pages),
	TAP_CASE(foreign_dmabuf_has_no_virtual_dma),
	TAP_CASE(mapping_shows_the_part_imported),
	TAP_CASE(mapping_beyond_the_part_is_refused),
	TAP_CASE(mapping_cannot_grow_beyond_the_part),
	TAP_CASE(foreign_memory_is_mapped_by_its_exporter),
	TAP_CASE(mapping_is_refused_if_the_exporter_cannot),
	TAP_CASE(read_only_dmabuf_is_not_mapped_for_writing),
	TAP_CASE(alloc_of_an_import_is_refused),
	TAP_CASE(whole_is_handed_on_as_it_came),
	TAP_CASE(a_part_of_the_import_is_not_handed_on),
	TAP_CASE(import_of_a_part_is_not_handed_on),
	TAP_CASE(flags_cannot_be_added),
	TAP_CASE(import_holds_the_memory),
	TAP_CASE(mapping_outlives_the_import),
	TAP_CASE(revoked_import_puts_the_dmabuf),
	TAP_CASE(revoked_import_can_do_nothing),
	TAP_CASE(revoked_import_leaves_the_original),
	TAP_CASE(revoked_original_ends_mappings_by_the_import),
	TAP_CASE(nothing_is_left),
};

int main(void)
{
	all_free = bytes_free();
	return TAP_RUN(cases);
}
