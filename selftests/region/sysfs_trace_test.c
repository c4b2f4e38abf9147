// SPDX-License-Identifier: GPL-2.0
/* Tracepoints: each change of a state, and each refusal with its reason. */
#include "harness.h"

#define TRACING	"/sys/kernel/tracing/"

static void trace_begin(void)
{
	int fd = open(TRACING "trace", O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	CHECK(fd >= 0);
	CHECK_INT(write_text(TRACING "events/peerlane/enable", "1"), 0);
}

/* What was traced since; lives until the next read_text(). */
static const char *trace_end(void)
{
	CHECK_INT(write_text(TRACING "events/peerlane/enable", "0"), 0);
	return read_text(TRACING "trace");
}

static void expect(const char *traced, const char *event, const char *part)
{
	char want[512];

	snprintf(want, sizeof(want), "peerlane_%s: %s", event, part);
	if (!strstr(traced, want))
		printf("# not traced: %s\n", want);
	CHECK(strstr(traced, want));
}

static void expect_state(const char *traced, uint64_t id, const char *change)
{
	char part[128];

	snprintf(part, sizeof(part), "region=%llu %s ", (unsigned long long)id,
		 change);
	expect(traced, "region_state", part);
}

static bool is_released(int fd)
{
	return region_info(fd).out_state == PEERLANE_STATE_RELEASED;
}

static bool is_traced(const char *part)
{
	return strstr(read_text(TRACING "trace"), part);
}

static void a_revoked_region_is_followed(void)
{
	const char *traced;
	uint64_t id;
	int fd;

	trace_begin();
	fd = new_region(PAGE);
	id = region_info(fd).out_id;
	region_revoke(fd);
	CHECK(WAIT_FOR(is_released(fd), LIMBO_SECONDS));
	close(fd);
	traced = trace_end();
	expect_state(traced, id, "empty->active");
	expect_state(traced, id, "active->revoked");
	expect_state(traced, id, "revoked->released");
	expect(traced, "limbo", "region=");
}

static void a_closed_region_is_followed(void)
{
	const char *traced;
	uint64_t id;
	int fd;

	trace_begin();
	fd = new_region(3 * PAGE);
	id = region_info(fd).out_id;
	close(fd);
	CHECK(WAIT_FOR(is_traced("limbo->released"), LIMBO_SECONDS));
	traced = trace_end();
	expect_state(traced, id, "empty->active");
	expect_state(traced, id, "active->limbo");
	expect_state(traced, id, "limbo->released");
	/* With what memory: the change to active knows already. */
	CHECK_HAS(strstr(traced, "empty->active"), "length=12288");
}

static void a_region_of_host_pages_is_followed(void)
{
	void *page = aligned_alloc(PAGE, PAGE);
	const char *traced;
	uint64_t id;
	int fd;

	trace_begin();
	fd = pin_host(-1, page, PAGE, 0);
	id = region_info(fd).out_id;
	close(fd);
	CHECK(WAIT_FOR(is_traced("limbo->released"), LIMBO_SECONDS));
	traced = trace_end();
	expect_state(traced, id, "empty->active");
	expect_state(traced, id, "active->limbo");
	free(page);
}

static void mappings_and_faults_are_traced(void)
{
	char part[128];
	const char *traced;
	uint64_t id;
	char *at;
	int fd;

	trace_begin();
	fd = open_device();
	at = map(fd, 2 * UNIT);
	id = region_info(fd).out_id;
	touch(at, true);
	munmap(at, 2 * UNIT);
	close(fd);
	traced = trace_end();
	snprintf(part, sizeof(part), "region=%llu offset=0x0 length=%lu",
		 (unsigned long long)id, 2 * UNIT);
	expect(traced, "mmap", part);
	snprintf(part, sizeof(part), "region=%llu addr=%#lx pages=",
		 (unsigned long long)id, (unsigned long)at);
	expect(traced, "fault", part);
	CHECK_HAS(strstr(traced, "peerlane_fault"), "err=0");
}

static void a_fault_after_the_end_is_traced(void)
{
	int fd = new_region(UNIT);
	char *at = map(fd, UNIT);

	region_revoke(fd);
	trace_begin();
	CHECK_INT(touch(at, false), SIGBUS);
	CHECK_HAS(trace_end(), "err=-19");
	munmap(at, UNIT);
	close(fd);
}

static void exports_are_traced(void)
{
	const char *traced;
	int fd, dmabuf;

	trace_begin();
	fd = new_region(UNIT);
	dmabuf = region_export(fd, 0, UNIT, 0);
	close(dmabuf);
	close(fd);
	traced = trace_end();
	expect(traced, "dmabuf", "region=");
}

static void a_device_is_followed(void)
{
	char path[PATH_MAX] = "", part[64], *name;
	const char *traced;

	if (!CHECK(realpath(device_attr("device"), path)))
		return;
	name = strrchr(path, '/') + 1;
	trace_begin();
	CHECK_INT(write_text("/sys/bus/pci/drivers/peerlane/unbind", name), 0);
	CHECK_INT(write_text("/sys/bus/pci/drivers/peerlane/bind", name), 0);
	traced = trace_end();
	snprintf(part, sizeof(part), "%s revoke phys=", device_name());
	expect(traced, "device", part);
	snprintf(part, sizeof(part), "%s destroy phys=", device_name());
	expect(traced, "device", part);
	snprintf(part, sizeof(part), "%s create phys=", device_name());
	expect(traced, "device", part);
}

/* ---- refusals ---- */

/* The call was refused: is it traced, with the text that the caller got? */
static void refused(int ret)
{
	char part[PEERLANE_MSG_MAX + 32];

	CHECK(ret < 0);
	snprintf(part, sizeof(part), "err=%d %s\n", ret, text);
	expect(trace_end(), "refuse", part);
	trace_begin();
}

static void refusals_of_calls_are_traced(void)
{
	struct peerlane_region_status info = { .flags = 1 };
	struct peerlane_preflight preflight = { .target = "x" };
	struct peerlane_list list = { .record_size = 1 };
	int fd = open_device(), control = open_control();

	trace_begin();
	refused(CALL(fd, REGION_INFO, &info));
	refused(region_alloc(fd, 0));
	refused(region_alloc(fd, UINT64_MAX));
	refused(region_export(fd, 0, PAGE, 0));
	refused(region_revoke(fd));
	region_alloc(fd, PAGE);
	refused(region_alloc(fd, PAGE));
	refused(region_export(fd, 1, PAGE, 0));
	refused(region_export(fd, -PAGE, PAGE, 0));
	refused(import_dmabuf(control, -1, 0, 0));
	refused(import_dmabuf(control, fd, 0, 0));
	refused(pin_host(control, NULL, 0, 0));
	refused(pin_host(control, NULL, PAGE, 0));
	refused(CALL(control, REGION_LIST, &list));
	refused(CALL(control, PREFLIGHT, &preflight));
	trace_end();
	close(control);
	close(fd);
}

/* mmap() and open() have no text for the caller: here it is. */
static void refusals_without_a_text_are_traced(void)
{
	char path[64];
	int fd, pinned;
	void *page = aligned_alloc(PAGE, PAGE);

	trace_begin();
	fd = open_device();
	mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	CHECK(map_at(fd, PAGE, 1UL << 50) == MAP_FAILED);
	region_alloc(fd, PAGE);
	CHECK(map(fd, 2 * PAGE) == MAP_FAILED);
	region_revoke(fd);
	CHECK(map(fd, PAGE) == MAP_FAILED);
	pinned = pin_host(-1, page, PAGE, 0);
	CHECK(map(pinned, PAGE) == MAP_FAILED);
	strcpy(path, "/sys/module/peerlane/parameters/user_regions");
	CHECK_INT(write_text(path, "1"), 0);
	CHECK_INT(open_device(), -EDQUOT);
	CHECK_INT(write_text(path, "65536"), 0);
	{
		const char *traced = trace_end();

		expect(traced, "refuse", "err=-22 MAP_PRIVATE");
		expect(traced, "refuse", "err=-1 device memory is not exec");
		expect(traced, "refuse", "err=-28 ");
		expect(traced, "refuse", "err=-22 mmap of [0, 8192) is beyond");
		expect(traced, "refuse", "err=-19 region ");
		expect(traced, "refuse", "err=-95 region ");
		expect(traced, "refuse", "err=-122 this user has ");
	}
	close(pinned);
	close(fd);
	free(page);
}

static void refusals_of_structs_are_traced(void)
{
	struct {
		struct peerlane_region_status info;
		uint64_t tail;
	} args = { .tail = 1 };
	const char *traced;
	int fd = open_device();

	trace_begin();
	args.info.size = 8;
	CHECK_INT(call_raw(fd, PEERLANE_IOC_REGION_INFO, &args), -EINVAL);
	args.info.size = sizeof(args);
	CHECK_INT(call_raw(fd, PEERLANE_IOC_REGION_INFO, &args), -E2BIG);
	CHECK_INT(call_raw(fd, PEERLANE_IOC_REGION_INFO, NULL), -EFAULT);
	traced = trace_end();
	expect(traced, "refuse", "err=-22 ");
	expect(traced, "refuse", "err=-7 ");
	expect(traced, "refuse", "err=-14 ");
	close(fd);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(a_revoked_region_is_followed),
		TAP_CASE(a_closed_region_is_followed),
		TAP_CASE(a_region_of_host_pages_is_followed),
		TAP_CASE(mappings_and_faults_are_traced),
		TAP_CASE(a_fault_after_the_end_is_traced),
		TAP_CASE(exports_are_traced),
		TAP_CASE(a_device_is_followed),
		TAP_CASE(refusals_of_calls_are_traced),
		TAP_CASE(refusals_without_a_text_are_traced),
		TAP_CASE(refusals_of_structs_are_traced),
	};

	return HARNESS_RUN(cases);
}
