// SPDX-License-Identifier: GPL-2.0
/* /sys/class/peerlane/<device>/ and /sys/kernel/debug/peerlane/. */
#include <sys/stat.h>

#include "harness.h"

#define DEBUG	"/sys/kernel/debug/peerlane/"

static void attributes_are_for_reading(void)
{
	static const char *const names[] = {
		"size", "free", "limbo", "memtype", "bar",
	};
	struct stat stat_;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		CHECK_INT(stat(device_attr(names[i]), &stat_), 0);
		CHECK_INT(stat_.st_mode & 0777, 0444);
		CHECK_INT(write_text(device_attr(names[i]), "1"), -EACCES);
	}
	CHECK_INT(stat(device_attr("user_limit"), &stat_), 0);
	CHECK_INT(stat_.st_mode & 0777, 0644);
}

static void attributes_have_one_value_each(void)
{
	CHECK_STR(read_text(device_attr("memtype")), "wc\n");
	CHECK_STR(read_text(device_attr("bar")), "2\n");
	CHECK_STR(read_text(device_attr("user_limit")), "0\n");
	CHECK_STR(read_text(device_attr("limbo")), "0\n");
	CHECK(read_number(device_attr("size")) >= 16 * MIB);
	CHECK_INT(read_number(device_attr("size")) % UNIT, 0);
}

static void free_follows_what_is_held(void)
{
	uint64_t size = read_number(device_attr("size"));
	int fd;

	CHECK_INT(read_number(device_attr("free")), size);
	fd = new_region(UNIT + 1);
	CHECK_INT(read_number(device_attr("free")), size - 2 * UNIT);
	CHECK_INT(read_number(device_attr("limbo")), 0);
	close(fd);
	CHECK(WAIT_FOR(read_number(device_attr("free")) == size,
		       LIMBO_SECONDS));
	CHECK_INT(read_number(device_attr("limbo")), 0);
}

static void the_parent_is_the_function(void)
{
	char path[PATH_MAX] = "";

	CHECK(realpath(device_attr("device/driver"), path));
	CHECK_STR(path, "/sys/bus/pci/drivers/peerlane");
	CHECK(realpath(device_attr("subsystem"), path));
	CHECK_STR(path, "/sys/class/peerlane");
}

static void debug_files_are_for_reading(void)
{
	static const char *const names[] = { "counts", "regions" };
	char path[64];
	struct stat stat_;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), DEBUG "%s", names[i]);
		CHECK_INT(stat(path, &stat_), 0);
		CHECK_INT(stat_.st_mode & 0777, 0400);
		CHECK(write_text(path, "1") < 0);
	}
}

static void counts_follow_what_is_open(void)
{
	int fds[2];

	CHECK_HAS(read_text(DEBUG "counts"), "regions 0\n");
	fds[0] = open_device();
	fds[1] = new_region(PAGE);
	CHECK_HAS(read_text(DEBUG "counts"), "regions 2\n");
	close(fds[0]);
	close(fds[1]);
}

static void regions_are_told(void)
{
	int fd = new_region(UNIT + PAGE), dmabuf = region_export(fd, 0, PAGE, 0);
	void *at = map(fd, PAGE);
	char want[256];

	snprintf(want, sizeof(want),
		 "id=%llu device=%s state=1 offset=%llu length=%lu exports=1 attachments=0 mappings=1 pinned=0\n",
		 (unsigned long long)region_info(fd).out_id, device_name(),
		 (unsigned long long)region_info(fd).out_dev_offset,
		 UNIT + PAGE);
	CHECK_STR(read_text(DEBUG "regions"), want);
	munmap(at, PAGE);
	close(dmabuf);
	close(fd);
}

/* Programs learn of the parameters by modinfo and set them here. */
static void parameters_are_for_root(void)
{
	static const char *const names[] = {
		"user_limit", "user_regions", "revoke_kill",
	};
	char path[128];
	struct stat stat_;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path),
			 "/sys/module/peerlane/parameters/%s", names[i]);
		CHECK_INT(stat(path, &stat_), 0);
		CHECK_INT(stat_.st_mode & 0777, 0644);
		CHECK_INT(write_text(path, "x"), -EINVAL);
		CHECK_INT(write_text(path, "-1"), -EINVAL);
	}
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(attributes_are_for_reading),
		TAP_CASE(attributes_have_one_value_each),
		TAP_CASE(free_follows_what_is_held),
		TAP_CASE(the_parent_is_the_function),
		TAP_CASE(debug_files_are_for_reading),
		TAP_CASE(counts_follow_what_is_open),
		TAP_CASE(regions_are_told),
		TAP_CASE(parameters_are_for_root),
	};

	return HARNESS_RUN(cases);
}
