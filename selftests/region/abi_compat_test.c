// SPDX-License-Identifier: GPL-2.0
/* A 32-bit program on a 64-bit kernel: same structs, same calls. */
#include "abi_layout.h"
#include "harness.h"

static bool is_32bit(void)
{
	if (sizeof(long) == 4)
		return true;
	SKIP("the compiler makes no 32-bit programs: install gcc-multilib");
	return false;
}

static void calls_of_a_region_work(void)
{
	struct peerlane_region_alloc alloc = { .length = 3 * PAGE };
	struct peerlane_region_status info;
	int fd, dmabuf;

	if (!is_32bit())
		return;
	fd = open_device();
	CHECK_INT(CALL(fd, REGION_ALLOC, &alloc), 0);
	CHECK_INT(alloc.out_length, 3 * PAGE);
	info = region_info(fd);
	CHECK(info.out_id == alloc.out_id);
	CHECK_STR(info.out_device, device_name());
	dmabuf = region_export(fd, PAGE, 2 * PAGE, 0);
	CHECK(dmabuf >= 0);
	CHECK_INT(region_revoke(fd), 0);
	CHECK(region_info(fd).out_state > PEERLANE_STATE_ACTIVE);
	close(dmabuf);
	close(fd);
}

static void calls_of_control_work(void)
{
	struct peerlane_region_record records[64];
	struct peerlane_list list = {
		.array_ptr = (uintptr_t)records, .count = ARRAY_SIZE(records),
		.record_size = sizeof(records[0]),
	};
	int control, pinned, region, dmabuf, imported;
	void *page;

	if (!is_32bit())
		return;
	control = open_control();
	page = aligned_alloc(PAGE, PAGE);
	pinned = pin_host(control, page, PAGE, 0);
	CHECK(pinned >= 0);
	region = new_region(UNIT);
	dmabuf = region_export(region, 0, UNIT, 0);
	imported = import_dmabuf(control, dmabuf, 0, 0);
	CHECK(imported >= 0);
	CHECK_INT(CALL(control, REGION_LIST, &list), 0);
	CHECK_INT(list.count, 3);
	CHECK_INT(records[0].pid, getpid());
	close(imported);
	close(dmabuf);
	close(region);
	close(pinned);
	close(control);
	free(page);
}

static void the_text_arrives(void)
{
	int fd;

	if (!is_32bit())
		return;
	fd = open_device();
	CHECK_INT(region_alloc(fd, 0), -EINVAL);
	CHECK_HAS(text, "length is 0");
	close(fd);
}

static void a_mapping_works(void)
{
	char *at;
	int fd;

	if (!is_32bit())
		return;
	fd = open_device();
	at = map(fd, 3 * UNIT);
	if (CHECK(at != MAP_FAILED)) {
		at[0] = 1;
		at[3 * UNIT - 1] = 2;
		CHECK_INT(at[0] + at[3 * UNIT - 1], 3);
		munmap(at, 3 * UNIT);
	}
	close(fd);
}

/* mmap2() counts pages: offsets that 64-bit programs write as bytes. */
static void a_mapping_beyond_4g_is_refused(void)
{
	int fd;

	if (!is_32bit())
		return;
	fd = open_device();
	CHECK(map_at(fd, PAGE, 0xffffffffULL * PAGE) == MAP_FAILED);
	CHECK_INT(errno, ENOSPC);
	close(fd);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(calls_of_a_region_work),
		TAP_CASE(calls_of_control_work),
		TAP_CASE(the_text_arrives),
		TAP_CASE(a_mapping_works),
		TAP_CASE(a_mapping_beyond_4g_is_refused),
	};

	return HARNESS_RUN(cases);
}
