// SPDX-License-Identifier: GPL-2.0
/*
 * sample_test own|pool: the calls for other drivers, by pl_sample, which
 * allocates itself or lets peerlane do it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pl_sample.h"
#include "region.h"
#include "tap.h"

#define LENGTH	(2 * UNIT)
#define PAGE	4096UL

static int sample(unsigned int cmd, void *arg)
{
	int fd = open("/dev/pl_sample", O_RDWR | O_CLOEXEC);
	int ret = ioctl(fd, cmd, arg);

	ret = ret < 0 ? -errno : ret;
	close(fd);
	return ret;
}

static int create(uint64_t offset, uint64_t length)
{
	struct pl_sample_create args = { offset, length };

	return sample(PL_SAMPLE_CREATE, &args);
}

static int sample_revoke(int fd)
{
	return sample(PL_SAMPLE_REVOKE, (void *)(intptr_t)fd);
}

static int counter(const char *name)
{
	char path[64];
	FILE *file;
	int value = -1;

	snprintf(path, sizeof(path), "/sys/kernel/debug/pl_sample/%s", name);
	file = fopen(path, "r");
	if (file && fscanf(file, "%d", &value) != 1)
		value = -1;
	if (file)
		fclose(file);
	return value;
}

/* Within 30 s: every range that was lent came back, each once. */
static bool all_released(void)
{
	int ms;

	for (ms = 0; ms < 30000 && counter("released") < counter("created"); ms += 10)
		sleep_ms(10);
	return counter("released") == counter("created");
}

static int unload(void)
{
	return syscall(SYS_delete_module, "pl_sample", O_NONBLOCK) ? -errno : 0;
}

static struct peerlane_region_status info_of(int region)
{
	struct peerlane_region_status info;

	CHECK_INT(region_info(region, &info), 0);
	return info;
}

/* ---- either allocator ---- */

static void device_is_listed(void)
{
	struct peerlane_device_record record = {};

	CHECK(device_record("sample0", &record));
	CHECK_INT(record.kind, PEERLANE_KIND_DRIVER);
	CHECK_INT(record.bar, -1);
	CHECK_INT(record.unit, UNIT);
	CHECK(record.bytes_total >= 16 * MIB);
	CHECK(record.pci[0]);
}

/* ---- the driver's ---- */

static void region_is_the_range_that_was_lent(void)
{
	int region = create(3 * UNIT, LENGTH - PAGE);
	struct peerlane_region_status info = info_of(region);

	CHECK_INT(info.out_kind, PEERLANE_KIND_DRIVER);
	CHECK_INT(info.out_state, PEERLANE_STATE_ACTIVE);
	CHECK_INT(info.out_length, LENGTH - PAGE);
	CHECK_INT(info.out_dev_offset, 3 * UNIT);
	CHECK_STR(info.out_device, "sample0");
	CHECK_INT(fcntl(region, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(region);
	CHECK(all_released());
}

static void region_is_mapped_and_keeps_its_contents(void)
{
	int region = create(0, LENGTH);
	char *addr = map(region, LENGTH, 0);

	CHECK(addr);
	memset(addr, 'l', LENGTH);
	munmap(addr, LENGTH);
	close(region);
	CHECK(all_released());
	/* Wiping is the driver's, and the sample does not. */
	region = create(0, LENGTH);
	addr = map(region, LENGTH, 0);
	CHECK_INT(addr[LENGTH - 1], 'l');
	munmap(addr, LENGTH);
	close(region);
	CHECK(all_released());
}

static void mapping_beyond_the_range_is_refused(void)
{
	int region = create(0, PAGE);

	CHECK_INT(map_error(region, 2 * PAGE, 0, PROT_READ, MAP_SHARED), -EINVAL);
	close(region);
	CHECK(all_released());
}

static void release_comes_after_the_last_mapping(void)
{
	int region = create(0, LENGTH);
	char *addr = map(region, LENGTH, 0);
	int before = counter("released");

	addr[0] = 1;
	close(region);
	sleep_ms(500);
	CHECK_INT(counter("released"), before);
	CHECK_INT(create(0, LENGTH), -EBUSY);
	munmap(addr, LENGTH);
	CHECK(all_released());
}

static void release_comes_after_the_last_dmabuf(void)
{
	int region = create(0, LENGTH);
	int dmabuf = region_export(region, 0, LENGTH, 0);
	int before = counter("released");

	CHECK(dmabuf >= 0);
	close(region);
	sleep_ms(500);
	CHECK_INT(counter("released"), before);
	close(dmabuf);
	CHECK(all_released());
}

static void driver_can_revoke(void)
{
	int region = create(0, LENGTH);
	char *addr = map(region, LENGTH, 0);

	addr[0] = 1;
	CHECK_INT(sample_revoke(region), 0);
	CHECK(faults(addr));
	/* The file is open and the mapping is there, but neither reaches it. */
	CHECK(all_released());
	CHECK_INT(sample_revoke(region), -EBUSY);
	CHECK_INT(region_revoke(region), -EBUSY);
	munmap(addr, LENGTH);
	close(region);
}

static void user_can_revoke(void)
{
	int region = create(0, LENGTH);

	CHECK_INT(region_revoke(region), 0);
	CHECK(all_released());
	CHECK_INT(sample_revoke(region), -EBUSY);
	close(region);
}

static void revocation_of_another_file_is_refused(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	CHECK_INT(sample_revoke(fd), -EBADF);
	close(fd);
}

static void bad_ranges_are_refused_and_not_released(void)
{
	int before = counter("released");

	CHECK_INT(create(0, PAGE + 1), -EINVAL);
	CHECK_INT(create(PAGE, PAGE), -EINVAL);
	CHECK_INT(create(0, 1UL << 40), -EINVAL);
	sleep_ms(300);
	CHECK_INT(counter("released"), before);
	/* And what was taken for them came back. */
	close(create(0, LENGTH));
	CHECK(all_released());
}

static void node_gives_no_memory(void)
{
	int fd = open_node("sample0");

	CHECK(fd >= 0);
	CHECK_INT(region_alloc(fd, PAGE), -EOPNOTSUPP);
	CHECK_HAS(why, "its own driver");
	CHECK_INT(map_error(fd, PAGE, 0, PROT_READ, MAP_SHARED), -EOPNOTSUPP);
	close(fd);
}

static void driver_stays_while_a_region_lives(void)
{
	int region = create(0, LENGTH);
	char *addr = map(region, PAGE, 0);

	addr[0] = 1;
	CHECK_INT(unload(), -EWOULDBLOCK);
	close(region);
	CHECK_INT(unload(), -EWOULDBLOCK);
	munmap(addr, PAGE);
	CHECK(all_released());
}

/* ---- peerlane's ---- */

static void node_gives_memory(void)
{
	struct peerlane_device_record before, record;
	int fd = open_node("sample0");
	char *addr;

	CHECK(device_record("sample0", &before));
	addr = map(fd, LENGTH, 0);
	CHECK(addr);
	addr[LENGTH - 1] = 1;
	CHECK_INT(info_of(fd).out_kind, PEERLANE_KIND_DRIVER);
	CHECK(device_record("sample0", &record));
	CHECK_INT(record.bytes_free, before.bytes_free - LENGTH);
	munmap(addr, LENGTH);
	close(fd);
	CHECK(wait_regions(0));
}

static void memory_of_the_pool_is_wiped(void)
{
	int fd = open_node("sample0");
	char *addr = map(fd, LENGTH, 0);

	memset(addr, 'x', LENGTH);
	munmap(addr, LENGTH);
	close(fd);
	CHECK(wait_regions(0));
	fd = open_node("sample0");
	addr = map(fd, LENGTH, 0);
	CHECK_INT(addr[0], 0);
	CHECK_INT(addr[LENGTH - 1], 0);
	munmap(addr, LENGTH);
	close(fd);
	CHECK(wait_regions(0));
}

static void pool_is_not_for_the_driver(void)
{
	CHECK_INT(create(0, LENGTH), -EINVAL);
}

static void nothing_is_left(void)
{
	CHECK(all_released());
	CHECK(wait_regions(0));
}

static const struct tap_case own[] = {
	TAP_CASE(device_is_listed),
	TAP_CASE(region_is_the_range_that_was_lent),
	TAP_CASE(region_is_mapped_and_keeps_its_contents),
	TAP_CASE(mapping_beyond_the_range_is_refused),
	TAP_CASE(release_comes_after_the_last_mapping),
	TAP_CASE(release_comes_after_the_last_dmabuf),
	TAP_CASE(driver_can_revoke),
	TAP_CASE(user_can_revoke),
	TAP_CASE(revocation_of_another_file_is_refused),
	TAP_CASE(bad_ranges_are_refused_and_not_released),
	TAP_CASE(node_gives_no_memory),
	TAP_CASE(driver_stays_while_a_region_lives),
	TAP_CASE(nothing_is_left),
};

static const struct tap_case pool[] = {
	TAP_CASE(device_is_listed),
	TAP_CASE(node_gives_memory),
	TAP_CASE(memory_of_the_pool_is_wiped),
	TAP_CASE(pool_is_not_for_the_driver),
	TAP_CASE(nothing_is_left),
};

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	return strcmp(argv[1], "own") ? TAP_RUN(pool) : TAP_RUN(own);
}
