// SPDX-License-Identifier: GPL-2.0
/* Files of a device and of control, and their calls, short of memory. */
#include <sys/epoll.h>

#include "fail_nth.h"

#define LENGTH	UNIT

/* ---- what steps need, and its end ---- */

static int file = -1, other = -1;

static bool begin_device(void)
{
	file = open_device();
	return file >= 0;
}

static bool begin_control(void)
{
	file = open_control();
	return file >= 0;
}

static bool begin_region(void)
{
	file = new_region(LENGTH);
	return file >= 0;
}

static bool begin_export(void)
{
	if (!begin_region())
		return false;
	other = region_export(file, 0, LENGTH, 0);
	return other >= 0;
}

static void end_all(void)
{
	close(file);
	if (other >= 0)
		close(other);
	file = -1;
	other = -1;
}

static void end_file(int ret)
{
	(void)ret;
	end_all();
}

static void check_state(uint32_t state, uint64_t length)
{
	struct peerlane_region_status info = region_info(file);

	CHECK_INT(info.out_state, state);
	CHECK_INT(info.out_length, length);
}

/* ---- opening ---- */

static void end_open(int ret)
{
	if (ret < 0)
		return;
	file = ret;
	check_state(PEERLANE_STATE_EMPTY, 0);
	end_all();
}

/* With the pseudo file system to be mounted first. */
static void open_first(void)
{
	FAIL_SWEEP(.run = open_device, .end = end_open);
}

static void end_second(int ret)
{
	if (ret >= 0)
		close(ret);
	end_all();
}

static void open_second(void)
{
	FAIL_SWEEP(.begin = begin_device, .run = open_device, .end = end_second);
}

static void end_control(int ret)
{
	if (ret >= 0)
		close(ret);
}

static void open_control_file(void)
{
	FAIL_SWEEP(.run = open_control, .end = end_control);
}

/* ---- calls on a region ---- */

static int do_alloc(void)
{
	return region_alloc(file, LENGTH);
}

static void end_alloc(int ret)
{
	if (ret)
		check_state(PEERLANE_STATE_EMPTY, 0);
	else
		check_state(PEERLANE_STATE_ACTIVE, LENGTH);
	end_all();
}

static void taking_memory(void)
{
	FAIL_SWEEP(.begin = begin_device, .run = do_alloc, .end = end_alloc);
}

static int do_info(void)
{
	struct peerlane_region_status info = {};
	int ret = CALL(file, REGION_INFO, &info);

	if (!ret)
		CHECK_INT(info.out_length, LENGTH);
	return ret;
}

static void asking_what_it_is(void)
{
	FAIL_SWEEP(.begin = begin_region, .run = do_info, .end = end_file);
}

static int do_export(void)
{
	return region_export(file, PAGE, PAGE, 0);
}

static void end_export(int ret)
{
	if (ret >= 0)
		CHECK_INT(lseek(ret, 0, SEEK_END), PAGE);
	if (ret >= 0)
		CHECK_INT(region_info(file).out_exports, 1);
	if (ret >= 0)
		close(ret);
	CHECK(WAIT_FOR(!region_info(file).out_exports, LIMBO_SECONDS));
	check_state(PEERLANE_STATE_ACTIVE, LENGTH);
	end_all();
}

static void exporting(void)
{
	FAIL_SWEEP(.begin = begin_region, .run = do_export, .end = end_export);
}

static int do_revoke(void)
{
	return region_revoke(file);
}

static void end_revoke(int ret)
{
	uint32_t state = region_info(file).out_state;

	CHECK((ret < 0) == (state == PEERLANE_STATE_ACTIVE));
	end_all();
}

static void revoking(void)
{
	FAIL_SWEEP(.begin = begin_region, .run = do_revoke, .end = end_revoke);
}

static void revoking_exported(void)
{
	FAIL_SWEEP(.begin = begin_export, .run = do_revoke, .end = end_revoke);
}

static int do_close(void)
{
	int fd = file;

	file = -1;
	return close(fd) ? -errno : 0;
}

/* Nobody could be told of a failure. */
static void close_has_nothing_to_fail(void)
{
	int ret;

	if (fail_file < 0) {
		SKIP(FAIL_UNAVAILABLE);
		return;
	}
	CHECK(begin_region());
	CHECK_INT(fail_points(do_close, &ret), 0);
	CHECK_INT(ret, 0);
}

/* ---- lists ---- */

static struct peerlane_region_record regions[64];
static struct peerlane_device_record devices[16];

static int do_list_regions(void)
{
	struct peerlane_list args = {
		.array_ptr = (uintptr_t)regions, .count = ARRAY_SIZE(regions),
		.record_size = sizeof(regions[0]),
	};

	return CALL(file, REGION_LIST, &args);
}

static int do_list_devices(void)
{
	struct peerlane_list args = {
		.array_ptr = (uintptr_t)devices, .count = ARRAY_SIZE(devices),
		.record_size = sizeof(devices[0]),
	};

	return CALL(file, DEVICE_LIST, &args);
}

static bool begin_lists(void)
{
	other = new_region(LENGTH);
	return other >= 0 && begin_control();
}

static void list_regions(void)
{
	FAIL_SWEEP(.begin = begin_lists, .run = do_list_regions,
		   .end = end_file);
}

static void list_devices(void)
{
	FAIL_SWEEP(.begin = begin_lists, .run = do_list_devices,
		   .end = end_file);
}

static int do_preflight(uint32_t flags, const char *initiator)
{
	struct peerlane_preflight args = { .flags = flags };
	int ret;

	snprintf(args.target, sizeof(args.target), "%s", devices[0].pci);
	snprintf(args.initiator, sizeof(args.initiator), "%s", initiator);
	ret = CALL(file, PREFLIGHT, &args);
	/* The answer, not the reason of a refusal. */
	if (!ret)
		text[0] = '\0';
	return ret;
}

static int do_preflight_pair(void)
{
	return do_preflight(0, devices[1].pci);
}

static int do_preflight_bind(void)
{
	return do_preflight(PEERLANE_PREFLIGHT_BIND, "");
}

static bool begin_preflight(void)
{
	return begin_control() && !do_list_devices() && devices[1].pci[0];
}

static void preflight_pair(void)
{
	FAIL_SWEEP(.begin = begin_preflight, .run = do_preflight_pair,
		   .end = end_file);
}

static void preflight_bind(void)
{
	FAIL_SWEEP(.begin = begin_preflight, .run = do_preflight_bind,
		   .end = end_file);
}

/* ---- waiting ---- */

static bool begin_epoll(void)
{
	other = epoll_create1(EPOLL_CLOEXEC);
	return other >= 0 && begin_region();
}

static int do_epoll_add(void)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(other, EPOLL_CTL_ADD, file, &event) ? -errno : 0;
}

/* Who was added is woken, who was not is not. */
static void end_epoll(int ret)
{
	struct epoll_event event;

	CHECK_INT(region_revoke(file), 0);
	CHECK_INT(epoll_wait(other, &event, 1, 0), ret < 0 ? 0 : 1);
	end_all();
}

static void epoll_add(void)
{
	FAIL_SWEEP(.begin = begin_epoll, .run = do_epoll_add, .end = end_epoll);
}

/* ---- what is read and written by name ---- */

static char content[16384];

static int read_all(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = read(fd, content, sizeof(content));
	ret = ret < 0 ? -errno : ret;
	close(fd);
	return ret;
}

static int do_read_counts(void)
{
	return read_all(DEBUGFS "peerlane/counts");
}

static int do_read_regions(void)
{
	return read_all(DEBUGFS "peerlane/regions");
}

static int do_read_free(void)
{
	return read_all(device_attr("free"));
}

static int do_write_limit(void)
{
	return write_text(device_attr("user_limit"), "123456");
}

static void end_write_limit(int ret)
{
	uint64_t limit = read_number(device_attr("user_limit"));

	CHECK_INT(limit, ret < 0 ? 0 : 123456);
	CHECK_INT(write_text(device_attr("user_limit"), "0"), 0);
}

static void read_counts(void)
{
	FAIL_SWEEP(.begin = begin_region, .run = do_read_counts,
		   .end = end_file);
}

static void read_regions(void)
{
	FAIL_SWEEP(.begin = begin_region, .run = do_read_regions,
		   .end = end_file);
}

static void read_free(void)
{
	FAIL_SWEEP(.run = do_read_free);
}

static void write_limit(void)
{
	FAIL_SWEEP(.run = do_write_limit, .end = end_write_limit);
}

static const struct tap_case cases[] = {
	TAP_CASE(open_first),
	TAP_CASE(open_second),
	TAP_CASE(open_control_file),
	TAP_CASE(taking_memory),
	TAP_CASE(asking_what_it_is),
	TAP_CASE(exporting),
	TAP_CASE(revoking),
	TAP_CASE(revoking_exported),
	TAP_CASE(close_has_nothing_to_fail),
	TAP_CASE(list_regions),
	TAP_CASE(list_devices),
	TAP_CASE(preflight_pair),
	TAP_CASE(preflight_bind),
	TAP_CASE(epoll_add),
	TAP_CASE(read_counts),
	TAP_CASE(read_regions),
	TAP_CASE(read_free),
	TAP_CASE(write_limit),
};

int main(void)
{
	return FAIL_RUN(cases);
}
