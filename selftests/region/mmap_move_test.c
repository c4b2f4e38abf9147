// SPDX-License-Identifier: GPL-2.0
/* Mappings that are moved, split, dropped, inherited and outlive their file. */
#include "harness.h"

#define LENGTH	(3 * UNIT)
#define PAGES	(LENGTH / PAGE)

/* Each page knows its number, so that a wrong one is seen. */
static void number(void *at, unsigned long pages)
{
	unsigned long i;

	for (i = 0; i < pages; i++)
		*(volatile uint64_t *)((char *)at + i * PAGE) = ~i;
}

static void check_numbers(void *at, unsigned long first, unsigned long pages)
{
	unsigned long i;

	for (i = 0; i < pages; i++) {
		uint64_t got = *(volatile uint64_t *)((char *)at + i * PAGE);

		if (got == ~(first + i))
			continue;
		printf("# page %lu shows page %lu\n", first + i,
		       (unsigned long)~got);
		tap.bad++;
		return;
	}
}

static char *numbered(int fd)
{
	char *at = map(fd, LENGTH);

	if (CHECK(at != MAP_FAILED))
		number(at, PAGES);
	return at;
}

static void growth_is_refused(void)
{
	int fd = new_region(LENGTH);
	char *at = map(fd, UNIT);

	CHECK(mremap(at, UNIT, 2 * UNIT, MREMAP_MAYMOVE) == MAP_FAILED);
	CHECK_INT(errno, EFAULT);
	CHECK(mremap(at, UNIT, UNIT + PAGE, 0) == MAP_FAILED);
	CHECK_INT(errno, EFAULT);
	/* "old size 0" asks for a second mapping. */
	CHECK(mremap(at, 0, UNIT, MREMAP_MAYMOVE) == MAP_FAILED);
	CHECK_INT(errno, EFAULT);
	CHECK_INT(region_info(fd).out_mappings, 1);
	munmap(at, UNIT);
	close(fd);
}

static void a_moved_mapping_keeps_its_content(void)
{
	int fd = open_device();
	char *at = numbered(fd), *to, *moved;

	/* By an odd page, so that windows lie elsewhere than before. */
	to = mmap(NULL, LENGTH + 2 * UNIT, PROT_NONE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	moved = mremap(at, LENGTH, LENGTH, MREMAP_MAYMOVE | MREMAP_FIXED,
		       to + 3 * PAGE);
	CHECK(moved == to + 3 * PAGE);
	check_numbers(moved, 0, PAGES);
	CHECK_INT(touch(at, false), SIGSEGV);
	madvise(moved, LENGTH, MADV_DONTNEED);
	check_numbers(moved, 0, PAGES);
	CHECK_INT(region_info(fd).out_mappings, 1);
	munmap(to, LENGTH + 2 * UNIT);
	CHECK_INT(region_info(fd).out_mappings, 0);
	close(fd);
}

static void a_part_moved_keeps_its_content(void)
{
	int fd = open_device();
	char *at = numbered(fd), *to, *moved;

	to = mmap(NULL, 5 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		  0);
	moved = mremap(at + UNIT, 5 * PAGE, 5 * PAGE,
		       MREMAP_MAYMOVE | MREMAP_FIXED, to);
	CHECK(moved == to);
	check_numbers(moved, UNIT / PAGE, 5);
	CHECK_INT(touch(at + UNIT, false), SIGSEGV);
	check_numbers(at + UNIT + 5 * PAGE, UNIT / PAGE + 5,
		      PAGES - UNIT / PAGE - 5);
	munmap(moved, 5 * PAGE);
	munmap(at, LENGTH);
	CHECK_INT(region_info(fd).out_mappings, 0);
	close(fd);
}

static void a_hole_splits_the_mapping(void)
{
	int fd = open_device();
	char *at = numbered(fd);

	CHECK_INT(region_info(fd).out_mappings, 1);
	munmap(at + UNIT, PAGE);
	CHECK_INT(region_info(fd).out_mappings, 2);
	CHECK_INT(touch(at + UNIT, false), SIGSEGV);
	check_numbers(at, 0, UNIT / PAGE);
	check_numbers(at + UNIT + PAGE, UNIT / PAGE + 1,
		      PAGES - UNIT / PAGE - 1);
	/* Not filled before: faults in a window with a hole in it. */
	madvise(at, UNIT, MADV_DONTNEED);
	madvise(at + UNIT + PAGE, LENGTH - UNIT - PAGE, MADV_DONTNEED);
	check_numbers(at, 0, UNIT / PAGE);
	check_numbers(at + UNIT + PAGE, UNIT / PAGE + 1,
		      PAGES - UNIT / PAGE - 1);
	munmap(at, LENGTH);
	CHECK_INT(region_info(fd).out_mappings, 0);
	close(fd);
}

static void protecting_a_part_splits_the_mapping(void)
{
	int fd = open_device();
	char *at = numbered(fd);

	CHECK_INT(mprotect(at + UNIT, 3 * PAGE, PROT_READ), 0);
	CHECK_INT(touch(at + UNIT + PAGE, true), SIGSEGV);
	CHECK_INT(touch(at + UNIT - PAGE, true), 0);
	CHECK_INT(touch(at + UNIT + 3 * PAGE, true), 0);
	check_numbers(at, 0, PAGES);
	munmap(at, LENGTH);
	close(fd);
}

static void dropped_pages_come_back(void)
{
	int fd = open_device();
	char *at = numbered(fd);

	CHECK_INT(madvise(at, LENGTH, MADV_DONTNEED), 0);
	check_numbers(at, 0, PAGES);
	/* A window that is filled in part: the fault skips what is there. */
	CHECK_INT(madvise(at + 7 * PAGE, PAGE, MADV_DONTNEED), 0);
	CHECK_INT(madvise(at + UNIT + PAGE, 99 * PAGE, MADV_DONTNEED), 0);
	check_numbers(at, 0, PAGES);
	munmap(at, LENGTH);
	close(fd);
}

static void a_mapping_at_an_offset_shows_that_part(void)
{
	static const uint64_t offsets[] = { PAGE, UNIT - PAGE, UNIT,
					    UNIT + 5 * PAGE, LENGTH - PAGE };
	int fd = open_device();
	char *at = numbered(fd);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		uint64_t length = LENGTH - offsets[i];
		char *part = map_at(fd, length, offsets[i]);

		check_numbers(part, offsets[i] / PAGE, length / PAGE);
		munmap(part, length);
	}
	munmap(at, LENGTH);
	close(fd);
}

/* Windows are aligned by address: any address and any length. */
static void a_mapping_at_an_odd_address_works(void)
{
	static const unsigned long places[] = { 0, 1, 2, 255, 511, 512, 513 };
	int fd = open_device();
	char *at = numbered(fd), *field, *base;
	size_t i;

	field = mmap(NULL, LENGTH + 4 * UNIT, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	base = (char *)(((uintptr_t)field + UNIT - 1) & -UNIT);
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		char *want = base + places[i] * PAGE;
		char *got = mmap(want, LENGTH - PAGE, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_FIXED, fd, PAGE);

		CHECK(got == want);
		/* The last page first. */
		check_numbers(got + LENGTH - 2 * PAGE, PAGES - 1, 1);
		check_numbers(got, 1, PAGES - 1);
		mmap(base, LENGTH + 2 * UNIT, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
	munmap(field, LENGTH + 4 * UNIT);
	munmap(at, LENGTH);
	close(fd);
}

static void a_mapping_outlives_its_file(void)
{
	uint64_t free = read_number(device_attr("free"));
	int fd = open_device();
	char *at = numbered(fd);

	close(fd);
	CHECK_INT(read_number(device_attr("free")), free - LENGTH);
	CHECK_INT(madvise(at, LENGTH, MADV_DONTNEED), 0);
	check_numbers(at, 0, PAGES);
	munmap(at, LENGTH);
}

static void read_and_write(void *arg)
{
	check_numbers(arg, 0, PAGES);
	number(arg, 1);
	*(volatile uint64_t *)((char *)arg + LENGTH - PAGE) = 77;
}

static void a_child_shares_the_mapping(void)
{
	int fd = open_device();
	char *at = numbered(fd);

	in_child(read_and_write, at);
	CHECK_INT(*(volatile uint64_t *)(at + LENGTH - PAGE), 77);
	CHECK_INT(region_info(fd).out_mappings, 1);
	munmap(at, LENGTH);
	close(fd);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(growth_is_refused),
		TAP_CASE(a_moved_mapping_keeps_its_content),
		TAP_CASE(a_part_moved_keeps_its_content),
		TAP_CASE(a_hole_splits_the_mapping),
		TAP_CASE(protecting_a_part_splits_the_mapping),
		TAP_CASE(dropped_pages_come_back),
		TAP_CASE(a_mapping_at_an_offset_shows_that_part),
		TAP_CASE(a_mapping_at_an_odd_address_works),
		TAP_CASE(a_mapping_outlives_its_file),
		TAP_CASE(a_child_shares_the_mapping),
	};

	return HARNESS_RUN(cases);
}
