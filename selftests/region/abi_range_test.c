// SPDX-License-Identifier: GPL-2.0
/* Ranges, file arguments and states that a command has to refuse, and how. */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include "harness.h"

#define LENGTH	(3 * UNIT)

struct range {
	uint64_t offset, length;
	int err;
};

static void check_range(const char *what, const struct range *range, int got)
{
	if (got != range->err)
		printf("# %s of %#llx bytes at %#llx\n", what,
		       (unsigned long long)range->length,
		       (unsigned long long)range->offset);
	CHECK_INT(got, range->err);
	CHECK(text[0]);
	if (got >= 0)
		close(got);
}

static void export_checks_its_range(void)
{
	static const struct range ranges[] = {
		{ 0, 0, -EINVAL },
		{ PAGE, 0, -EINVAL },
		{ 1, PAGE, -EINVAL },
		{ PAGE / 2, PAGE, -EINVAL },
		{ 0, 1, -EINVAL },
		{ 0, PAGE + 1, -EINVAL },
		{ 0, LENGTH + PAGE, -EINVAL },
		{ PAGE, LENGTH, -EINVAL },
		{ LENGTH, PAGE, -EINVAL },
		{ LENGTH - PAGE, 2 * PAGE, -EINVAL },
		{ 1ULL << 62, PAGE, -EINVAL },
		{ 0, 1ULL << 63, -EINVAL },
		{ -PAGE, PAGE, -EOVERFLOW },
		{ -PAGE, 2 * PAGE, -EOVERFLOW },
		{ 1ULL << 63, 1ULL << 63, -EOVERFLOW },
		{ PAGE, -PAGE, -EOVERFLOW },
	};
	int fd = new_region(LENGTH);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ranges); i++)
		check_range("export", &ranges[i],
			    region_export(fd, ranges[i].offset,
					  ranges[i].length, 0));
	close(fd);
}

static void import_checks_its_range(void)
{
	static const struct range ranges[] = {
		{ 1, PAGE, -EINVAL },
		{ 0, PAGE - 1, -EINVAL },
		{ 0, LENGTH + PAGE, -EINVAL },
		{ PAGE, LENGTH, -EINVAL },
		{ LENGTH, 0, -EINVAL },
		{ LENGTH, PAGE, -EINVAL },
		{ 1ULL << 62, 0, -EINVAL },
		{ -PAGE, 0, -EINVAL },
		{ -PAGE, PAGE, -EOVERFLOW },
		{ -PAGE, 2 * PAGE, -EOVERFLOW },
		{ 1ULL << 63, 1ULL << 63, -EOVERFLOW },
	};
	int control = open_control(), fd = new_region(LENGTH);
	int dmabuf = region_export(fd, 0, LENGTH, 0);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ranges); i++)
		check_range("import", &ranges[i],
			    import_dmabuf(control, dmabuf, ranges[i].offset,
					  ranges[i].length));
	close(dmabuf);
	close(fd);
	close(control);
}

static void pin_host_checks_its_range(void)
{
	char *at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint64_t here = (uintptr_t)at;
	const struct range ranges[] = {
		{ here, 0, -EINVAL },
		{ here + 1, PAGE, -EINVAL },
		{ here, PAGE - 1, -EINVAL },
		{ here, PAGE + 1, -EINVAL },
		{ -PAGE, PAGE, -EOVERFLOW },
		{ -PAGE, 2 * PAGE, -EOVERFLOW },
		{ 1ULL << 63, 1ULL << 63, -EOVERFLOW },
		{ PAGE, -PAGE, -EOVERFLOW },
		{ 0, PAGE, -EFAULT },
		{ here, 2 * PAGE, -EFAULT },	/* the second is gone */
		{ 1ULL << 63, PAGE, -EFAULT },
		{ here, 1ULL << 60, -ENOMEM },
	};
	int control = open_control();
	size_t i;

	munmap(at + PAGE, PAGE);
	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		struct peerlane_pin_host args = {
			.addr = ranges[i].offset, .length = ranges[i].length,
		};

		check_range("pin", &ranges[i],
			    CALL(control, PIN_HOST, &args));
	}
	munmap(at, PAGE);
	close(control);
}

static void alloc_checks_its_length(void)
{
	const uint64_t size = read_number(device_attr("size"));
	const struct range ranges[] = {
		{ 0, 0, -EINVAL },
		{ 0, size + 1, -ENOSPC },
		{ 0, 1ULL << 63, -ENOSPC },
		{ 0, UINT64_MAX, -ENOSPC },	/* rounding up must not wrap */
		{ 0, UINT64_MAX - PAGE, -ENOSPC },
		{ 0, UINT64_MAX - UNIT + 2, -ENOSPC },
	};
	int fd = open_device();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ranges); i++)
		check_range("alloc", &ranges[i],
			    region_alloc(fd, ranges[i].length));
	CHECK_INT(region_info(fd).out_state, PEERLANE_STATE_EMPTY);
	CHECK_INT(region_info(fd).out_length, 0);
	close(fd);
}

static void import_wants_a_dmabuf(void)
{
	int files[] = {
		open("/dev/null", O_RDWR), open("/tmp", O_RDONLY),
		open("/proc/self/status", O_RDONLY), epoll_create1(0),
		eventfd(0, 0), open_device(), open_control(),
		new_region(PAGE), open("/dev/null", O_PATH),
	};
	int control = open_control();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		if (!CHECK_INT(import_dmabuf(control, files[i], 0, 0), -EBADF))
			printf("# file %zu\n", i);
		CHECK(text[0]);
		close(files[i]);
	}
	CHECK_INT(import_dmabuf(control, -1, 0, 0), -EBADF);
	CHECK_INT(import_dmabuf(control, INT32_MIN, 0, 0), -EBADF);
	CHECK_INT(import_dmabuf(control, 1000000, 0, 0), -EBADF);
	close(control);
}

static void an_empty_region_has_no_data(void)
{
	int fd = open_device();
	struct peerlane_region_status info = region_info(fd);

	CHECK_INT(info.out_state, PEERLANE_STATE_EMPTY);
	CHECK_INT(info.out_length, 0);
	CHECK_INT(info.out_caps, 0);
	CHECK_INT(region_export(fd, 0, PAGE, 0), -ENODATA);
	CHECK_HAS(text, "no memory yet");
	CHECK_INT(region_revoke(fd), -ENODATA);
	CHECK_HAS(text, "no memory yet");
	close(fd);
}

static void memory_is_given_once(void)
{
	int fd = new_region(PAGE);

	CHECK_INT(region_alloc(fd, PAGE), -EBUSY);
	CHECK_HAS(text, "has its memory already");
	CHECK_INT(region_info(fd).out_length, PAGE);
	close(fd);
}

static void a_revoked_region_is_gone(void)
{
	int fd = new_region(LENGTH);

	CHECK_INT(region_revoke(fd), 0);
	CHECK_INT(region_export(fd, 0, PAGE, 0), -ENODEV);
	CHECK_HAS(text, "revoked");
	CHECK(map(fd, PAGE) == MAP_FAILED);
	CHECK_INT(errno, ENODEV);
	CHECK_INT(region_alloc(fd, PAGE), -ENODEV);
	CHECK_INT(region_revoke(fd), -EBUSY);
	CHECK(text[0]);
	CHECK_INT(region_info(fd).out_caps, 0);
	CHECK(WAIT_FOR(region_info(fd).out_state == PEERLANE_STATE_RELEASED,
		       LIMBO_SECONDS));
	CHECK_INT(region_export(fd, 0, PAGE, 0), -ENODEV);
	CHECK_INT(region_revoke(fd), -EBUSY);
	close(fd);
}

/* A region of control has its memory from the start. */
static void alloc_is_for_device_files(void)
{
	void *page = aligned_alloc(PAGE, PAGE);
	int fd = pin_host(-1, page, PAGE, 0);

	CHECK(fd >= 0);
	CHECK_INT(region_alloc(fd, PAGE), -EOPNOTSUPP);
	CHECK(text[0]);
	CHECK_INT(region_export(fd, 0, PAGE, 0), -EOPNOTSUPP);
	CHECK(text[0]);
	CHECK(map(fd, PAGE) == MAP_FAILED);
	CHECK_INT(errno, EOPNOTSUPP);
	close(fd);
	free(page);
}

static void a_full_table_of_files_is_told(void)
{
	const struct rlimit tight = { .rlim_cur = 0, .rlim_max = 1 << 20 };
	void *page = aligned_alloc(PAGE, PAGE);
	int control = open_control(), fd = new_region(PAGE);
	struct rlimit usual;

	getrlimit(RLIMIT_NOFILE, &usual);
	setrlimit(RLIMIT_NOFILE, &tight);
	CHECK_INT(region_export(fd, 0, PAGE, 0), -EMFILE);
	CHECK(text[0]);
	CHECK_INT(pin_host(control, page, PAGE, 0), -EMFILE);
	CHECK(text[0]);
	setrlimit(RLIMIT_NOFILE, &usual);
	close(fd);
	close(control);
	free(page);
}

/* The caller was told nothing, so he has nothing, and may try again. */
static void an_answer_that_is_lost_takes_no_memory(void)
{
	struct peerlane_region_alloc *args = mmap(NULL, PAGE,
						  PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS,
						  -1, 0);
	int fd = open_device();

	args->size = sizeof(*args);
	args->length = UNIT;
	mprotect(args, PAGE, PROT_READ);
	CHECK_INT(call_raw(fd, PEERLANE_IOC_REGION_ALLOC, args), -EFAULT);
	CHECK_INT(region_info(fd).out_state, PEERLANE_STATE_EMPTY);
	CHECK_INT(region_alloc(fd, UNIT), 0);
	munmap(args, PAGE);
	close(fd);
}

static void info_tells_what_was_given(void)
{
	struct peerlane_region_alloc alloc = { .length = UNIT + 1 };
	struct peerlane_region_status info;
	int fd = open_device();

	CHECK_INT(CALL(fd, REGION_ALLOC, &alloc), 0);
	CHECK_INT(alloc.out_length, UNIT + PAGE);
	info = region_info(fd);
	CHECK_INT(info.out_id, alloc.out_id);
	CHECK_INT(info.out_length, UNIT + PAGE);
	CHECK_INT(info.out_dev_offset % UNIT, 0);
	CHECK_INT(info.out_kind, PEERLANE_KIND_BAR);
	CHECK_INT(info.out_state, PEERLANE_STATE_ACTIVE);
	CHECK_INT(info.out_memtype, PEERLANE_MEMTYPE_WC);
	CHECK_INT(info.out_caps, 0x7f);
	CHECK_INT(info.out_exports + info.out_attachments + info.out_mappings,
		  0);
	CHECK_INT(info.out_numa_node, -1);
	CHECK_STR(info.out_device, device_name());
	close(fd);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(export_checks_its_range),
		TAP_CASE(import_checks_its_range),
		TAP_CASE(pin_host_checks_its_range),
		TAP_CASE(alloc_checks_its_length),
		TAP_CASE(import_wants_a_dmabuf),
		TAP_CASE(an_empty_region_has_no_data),
		TAP_CASE(memory_is_given_once),
		TAP_CASE(a_revoked_region_is_gone),
		TAP_CASE(alloc_is_for_device_files),
		TAP_CASE(a_full_table_of_files_is_told),
		TAP_CASE(an_answer_that_is_lost_takes_no_memory),
		TAP_CASE(info_tells_what_was_given),
	};

	return HARNESS_RUN(cases);
}
