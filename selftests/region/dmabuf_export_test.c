// SPDX-License-Identifier: GPL-2.0
/* Exports of device memory, and CPU mappings of them. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dmabuf.h"

/* ---- export ---- */

static void export_has_the_length_asked_for(void)
{
	int region = new_region(LENGTH);
	int dmabuf = region_export(region, UNIT, 3 * PAGE, 0);

	CHECK(dmabuf >= 0);
	CHECK_INT(lseek(dmabuf, 0, SEEK_END), 3 * PAGE);
	CHECK_INT(fcntl(dmabuf, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	CHECK_INT(fcntl(dmabuf, F_GETFL) & O_ACCMODE, O_RDWR);
	end((struct pair){ region, dmabuf });
}

static void export_of_an_unaligned_range_is_refused(void)
{
	int region = new_region(LENGTH);

	CHECK_INT(region_export(region, 1, PAGE, 0), -EINVAL);
	CHECK_INT(region_export(region, 0, PAGE - 1, 0), -EINVAL);
	CHECK_INT(region_export(region, 0, 0, 0), -EINVAL);
	CHECK_HAS(why, "page size");
	close(region);
}

static void export_beyond_the_region_is_refused(void)
{
	int region = new_region(LENGTH);

	CHECK_INT(region_export(region, PAGE, LENGTH, 0), -EINVAL);
	CHECK_HAS(why, "beyond");
	CHECK_INT(region_export(region, -PAGE, 2 * PAGE, 0), -EOVERFLOW);
	close(region);
}

static void export_with_an_unknown_flag_is_refused(void)
{
	int region = new_region(LENGTH);

	CHECK_INT(region_export(region, 0, PAGE, 1U << 31), -EOPNOTSUPP);
	close(region);
}

static void export_of_an_empty_region_is_refused(void)
{
	int region = open_node("gpu0");

	CHECK_INT(region_export(region, 0, PAGE, 0), -ENODATA);
	close(region);
}

static void export_of_a_revoked_region_is_refused(void)
{
	int region = new_region(LENGTH);

	CHECK_INT(region_revoke(region), 0);
	CHECK_INT(region_export(region, 0, PAGE, 0), -ENODEV);
	CHECK_HAS(why, "revoked");
	close(region);
}

static void exports_are_counted(void)
{
	struct pair pair = new_pair(0);
	int second = region_export(pair.region, 0, PAGE, 0);

	CHECK_INT(info_of(pair.region).out_exports, 2);
	close(second);
	CHECK(wait_exports(pair.region, 1));
	end(pair);
}

static void export_keeps_the_memory(void)
{
	struct pair pair = new_pair(0);
	char *addr = map(pair.region, PAGE, 0);

	addr[0] = 'k';
	munmap(addr, PAGE);
	close(pair.region);
	sleep_ms(300);
	CHECK_INT(bytes_free(), all_free - LENGTH);
	addr = map(pair.dmabuf, PAGE, 0);
	CHECK(addr && addr[0] == 'k');
	munmap(addr, PAGE);
	close(pair.dmabuf);
	CHECK(wait_free(all_free));
}

/* ---- CPU mapping ---- */

static void mapping_shows_the_region_at_the_offset(void)
{
	int region = new_region(LENGTH);
	int dmabuf = region_export(region, UNIT + PAGE, UNIT, 0);
	char *whole = map(region, LENGTH, 0);
	char *part = map(dmabuf, UNIT - PAGE, PAGE);

	CHECK(whole && part);
	whole[UNIT + 2 * PAGE + 7] = 'x';
	CHECK_INT(part[7], 'x');
	part[UNIT - PAGE - 1] = 'y';
	CHECK_INT(whole[2 * UNIT + PAGE - 1], 'y');
	munmap(whole, LENGTH);
	munmap(part, UNIT - PAGE);
	end((struct pair){ region, dmabuf });
}

static void mapping_is_counted(void)
{
	struct pair pair = new_pair(0);
	char *addr = map(pair.dmabuf, LENGTH, 0);

	CHECK_INT(info_of(pair.region).out_mappings, 1);
	munmap(addr, LENGTH);
	CHECK_INT(info_of(pair.region).out_mappings, 0);
	end(pair);
}

static void mapping_beyond_the_dmabuf_is_refused(void)
{
	int region = new_region(LENGTH);
	int dmabuf = region_export(region, 0, UNIT, 0);

	CHECK_INT(map_error(dmabuf, UNIT, PAGE, PROT_READ, MAP_SHARED), -EINVAL);
	end((struct pair){ region, dmabuf });
}

static void private_mapping_is_refused(void)
{
	struct pair pair = new_pair(0);

	CHECK_INT(map_error(pair.dmabuf, PAGE, 0, PROT_READ, MAP_PRIVATE),
		  -EINVAL);
	end(pair);
}

static void executable_mapping_is_refused(void)
{
	struct pair pair = new_pair(0);
	void *addr = map(pair.dmabuf, PAGE, 0);

	CHECK_INT(map_error(pair.dmabuf, PAGE, 0, PROT_READ | PROT_EXEC,
			    MAP_SHARED), -EPERM);
	CHECK_INT(mprotect(addr, PAGE, PROT_READ | PROT_EXEC), -1);
	munmap(addr, PAGE);
	end(pair);
}

static const struct tap_case cases[] = {
	TAP_CASE(export_has_the_length_asked_for),
	TAP_CASE(export_of_an_unaligned_range_is_refused),
	TAP_CASE(export_beyond_the_region_is_refused),
	TAP_CASE(export_with_an_unknown_flag_is_refused),
	TAP_CASE(export_of_an_empty_region_is_refused),
	TAP_CASE(export_of_a_revoked_region_is_refused),
	TAP_CASE(exports_are_counted),
	TAP_CASE(export_keeps_the_memory),
	TAP_CASE(mapping_shows_the_region_at_the_offset),
	TAP_CASE(mapping_is_counted),
	TAP_CASE(mapping_beyond_the_dmabuf_is_refused),
	TAP_CASE(private_mapping_is_refused),
	TAP_CASE(executable_mapping_is_refused),
	TAP_CASE(nothing_is_left),
};

int main(void)
{
	all_free = bytes_free();
	return TAP_RUN(cases);
}
