// SPDX-License-Identifier: GPL-2.0
/* Regions: made, asked, mapped, exported, revoked, freed. */
#include "lib_fake.h"

#include <sys/mman.h>

#define ALL_CAPS 0x7fU

static void alloc(void)
{
	struct peerlane_region *region;

	fake_reset();
	region = fake_region(ALL_CAPS, 8192);
	CHECK_STR(fake.opened, "/dev/peerlane/gpu0");
	CHECK_INT(fake.seen[0].alloc.length, 8192);
	CHECK_INT(fake.seen[0].alloc.flags, 0);
	CHECK_INT(peerlane_region_fd(region), fake.region_fd);
	CHECK(fcntl(fake.region_fd, F_GETFD) & FD_CLOEXEC);
	CHECK_INT(peerlane_region_gpu_offset(region), 0);
	peerlane_region_free(region);
	fake_finish();
}

static void alloc_interrupted(void)
{
	struct peerlane_region *region;

	fake_reset();
	fake.open_eintr = 3;
	fake_ioctl(PEERLANE_IOC_REGION_ALLOC, 0, .eintr = 2);
	fake_info(PEERLANE_KIND_BAR, PEERLANE_STATE_ACTIVE, 0, 4096);
	CHECK_INT(peerlane_region_alloc("gpu0", 4096, &region), 0);
	peerlane_region_free(region);
	fake_finish();
}

static void alloc_bad_names(void)
{
	static const char *const names[] = {
		"", "control", "..", ".", "../null", "a/b",
		"a-name-that-is-longer-than-any-device-may-have"
	};
	struct peerlane_region *region = (void *)1;
	size_t i;

	fake_reset();
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CHECK_INT(peerlane_region_alloc(names[i], 1, &region), -ENODEV);
		CHECK_HAS(peerlane_strerror(), "no memory device");
	}
	CHECK_INT(peerlane_region_alloc(NULL, 1, &region), -ENODEV);
	CHECK_STR(fake.opened, "");
	CHECK(region == (void *)1);
	fake_finish();
}

static void alloc_refused(void)
{
	struct peerlane_region *region = (void *)1;

	fake_reset();
	fake.device_errno = ENOENT;
	CHECK_INT(peerlane_region_alloc("gpu9", 1, &region), -ENODEV);
	CHECK_STR(peerlane_strerror(), "no memory device gpu9 (ENODEV)");
	fake.device_errno = ENXIO;
	CHECK_INT(peerlane_region_alloc("gpu9", 1, &region), -ENODEV);
	fake.device_errno = ENOENT;
	fake.control_errno = ENOENT;
	CHECK_INT(peerlane_region_alloc("gpu0", 1, &region), -ENODEV);
	CHECK_HAS(peerlane_strerror(), "module is not loaded");
	fake.device_errno = EPERM;
	CHECK_INT(peerlane_region_alloc("gpu0", 1, &region), -EACCES);
	fake.device_errno = EACCES;
	CHECK_INT(peerlane_region_alloc("gpu0", 1, &region), -EACCES);
	CHECK_STR(peerlane_strerror(),
		  "/dev/peerlane/gpu0: Permission denied (EACCES)");
	fake.device_errno = 0;
	fake_ioctl(PEERLANE_IOC_REGION_ALLOC, 0, ENOSPC,
		   "largest free range is 2 MiB");
	CHECK_INT(peerlane_region_alloc("gpu0", 4096, &region), -ENOSPC);
	CHECK_STR(peerlane_strerror(),
		  "4096 bytes of gpu0: largest free range is 2 MiB (ENOSPC)");
	fake_ioctl(PEERLANE_IOC_REGION_ALLOC, 0);
	fake_ioctl(PEERLANE_IOC_REGION_INFO, 0, ENODEV, "gone");
	CHECK_INT(peerlane_region_alloc("gpu0", 4096, &region), -ENODEV);
	fake_ioctl(PEERLANE_IOC_REGION_ALLOC, 0);
	fake_info(PEERLANE_KIND_BAR, PEERLANE_STATE_ACTIVE, 0, 4096);
	fake.calloc_fail = 1;
	CHECK_INT(peerlane_region_alloc("gpu0", 4096, &region), -ENOMEM);
	CHECK(region == (void *)1);
	fake_finish();
}

static int next_fd;

static void fill_import(void *arg)
{
	((struct peerlane_import_dmabuf *)arg)->out_fd = next_fd;
}

static void import(void)
{
	struct peerlane_region *region;
	int dmabuf;

	fake_reset();
	dmabuf = fake_file(16384);
	next_fd = fake_file(8192);
	fake_ioctl(PEERLANE_IOC_IMPORT_DMABUF,
		   sizeof(struct peerlane_import_dmabuf), .fill = fill_import);
	fake_info(PEERLANE_KIND_DMABUF, PEERLANE_STATE_ACTIVE, 0, 8192);
	CHECK_INT(peerlane_region_import(dmabuf, 4096, 8192, &region), 0);
	CHECK_INT(fake.seen[0].import.dmabuf_fd, dmabuf);
	CHECK_INT(fake.seen[0].import.offset, 4096);
	CHECK_INT(fake.seen[0].import.length, 8192);
	CHECK_INT(peerlane_region_fd(region), next_fd);
	CHECK(fcntl(dmabuf, F_GETFD) >= 0);
	close(dmabuf);
	peerlane_region_free(region);
	fake_finish();
}

static void import_refused(void)
{
	struct peerlane_region *region = (void *)1;

	fake_reset();
	fake.control_errno = ENOENT;
	CHECK_INT(peerlane_region_import(0, 0, 0, &region), -ENOENT);
	fake.control_errno = 0;
	fake_ioctl(PEERLANE_IOC_IMPORT_DMABUF, 0, EBADF, "not a dma-buf");
	CHECK_INT(peerlane_region_import(0, 0, 0, &region), -EBADF);
	CHECK_STR(peerlane_strerror(),
		  "import of a dma-buf: not a dma-buf (EBADF)");
	next_fd = fake_file(0);
	fake_ioctl(PEERLANE_IOC_IMPORT_DMABUF, 0, .fill = fill_import);
	fake_ioctl(PEERLANE_IOC_REGION_INFO, 0, ENODEV, "gone");
	CHECK_INT(peerlane_region_import(0, 0, 0, &region), -ENODEV);
	/* the caller's file is closed meanwhile: no region comes of it */
	next_fd = fake_file(0);
	fake_ioctl(PEERLANE_IOC_IMPORT_DMABUF, 0, .fill = fill_import);
	fake_info(PEERLANE_KIND_DMABUF, PEERLANE_STATE_ACTIVE, 0, 4096);
	CHECK_INT(peerlane_region_import(1000, 0, 0, &region), -EBADF);
	CHECK(region == (void *)1);
	fake_finish();
}

static void fill_pin(void *arg)
{
	((struct peerlane_pin_host *)arg)->out_fd = next_fd;
}

static void host(void)
{
	static char pages[8192] __attribute__((aligned(4096)));
	struct peerlane_region *region;
	void *addr;
	int i;

	for (i = 0; i < 2; i++) {
		fake_reset();
		next_fd = fake_file(0);
		fake_ioctl(PEERLANE_IOC_PIN_HOST,
			   sizeof(struct peerlane_pin_host), .fill = fill_pin);
		fake_info(PEERLANE_KIND_HOST, PEERLANE_STATE_ACTIVE, 0, 8192);
		CHECK_INT(peerlane_region_host(pages, 8192, i, &region), 0);
		CHECK_INT(fake.seen[0].pin.flags,
			  i ? PEERLANE_PIN_READ_ONLY : 0);
		CHECK_INT(fake.seen[0].pin.addr, (uintptr_t)pages);
		CHECK_INT(fake.seen[0].pin.length, 8192);
		/* its mapping is the caller's own, and stays */
		CHECK_INT(peerlane_region_map(region, &addr), 0);
		CHECK(addr == pages);
		CHECK_INT(peerlane_region_unmap(region), 0);
		peerlane_region_free(region);
		pages[0] = 1;
		fake_finish();
	}
}

static void host_refused(void)
{
	struct peerlane_region *region = (void *)1;

	fake_reset();
	fake_ioctl(PEERLANE_IOC_PIN_HOST, 0, ENOMEM, "RLIMIT_MEMLOCK is 8 MiB");
	CHECK_INT(peerlane_region_host(NULL, 4096, false, &region), -ENOMEM);
	CHECK_STR(peerlane_strerror(),
		  "4096 bytes of host memory: RLIMIT_MEMLOCK is 8 MiB (ENOMEM)");
	next_fd = fake_file(0);
	fake_ioctl(PEERLANE_IOC_PIN_HOST, 0, .fill = fill_pin);
	fake_ioctl(PEERLANE_IOC_REGION_INFO, 0, ENODEV, "gone");
	CHECK_INT(peerlane_region_host(NULL, 4096, false, &region), -ENODEV);
	fake.control_errno = EACCES;
	CHECK_INT(peerlane_region_host(NULL, 4096, false, &region), -EACCES);
	CHECK(region == (void *)1);
	fake_finish();
}

static void from_fd(void)
{
	struct peerlane_region *region;
	int fd;

	fake_reset();
	fd = memfd_create("region", 0);
	fake_info(PEERLANE_KIND_BAR, PEERLANE_STATE_ACTIVE, 0, 4096);
	CHECK_INT(peerlane_region_from_fd(fd, &region), 0);
	CHECK_INT(peerlane_region_fd(region), fd);
	CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	peerlane_region_free(region);
	CHECK(fcntl(fd, F_GETFD) < 0);
	fake_finish();
}

static void from_fd_refused(void)
{
	struct peerlane_region *region = (void *)1;
	int fd;

	fake_reset();
	fd = fake_file(0);
	fake_ioctl(PEERLANE_IOC_REGION_INFO, 0, ENOTTY);
	CHECK_INT(peerlane_region_from_fd(fd, &region), -EBADF);
	CHECK_HAS(peerlane_strerror(), "is not a region (EBADF)");
	fake_ioctl(PEERLANE_IOC_REGION_INFO, 0, EPERM, "no");
	CHECK_INT(peerlane_region_from_fd(fd, &region), -EPERM);
	CHECK(region == (void *)1);
	/* it stays the caller's */
	CHECK_INT(close(fd), 0);
	fake_finish();
}

static void query(void)
{
	static const struct peerlane_region_status from = {
		.out_id = 1, .out_length = 2, .out_dev_offset = 3, .out_kind = 4,
		.out_state = 5, .out_caps = 6, .out_memtype = 7,
		.out_exports = 8, .out_attachments = 9, .out_mappings = 10,
		.out_numa_node = -1, .out_device = "gpu0",
	};
	struct peerlane_region_info info;
	struct peerlane_region *region;

	fake_reset();
	region = fake_region(0, 4096);
	fake_ioctl(PEERLANE_IOC_REGION_INFO, sizeof(from), .copy = &from);
	memset(&info, 0xff, sizeof(info));
	CHECK_INT(peerlane_region_query(region, &info), 0);
	CHECK_INT(info.id, 1);
	CHECK_INT(info.length, 2);
	CHECK_INT(info.dev_offset, 3);
	CHECK_INT(info.kind, 4);
	CHECK_INT(info.state, 5);
	CHECK_INT(info.caps, 6);
	CHECK_INT(info.memtype, 7);
	CHECK_INT(info.exports, 8);
	CHECK_INT(info.attachments, 9);
	CHECK_INT(info.mappings, 10);
	CHECK_INT(info.numa_node, -1);
	CHECK_STR(info.device, "gpu0");
	CHECK_INT(info.uid, 0);
	CHECK_INT(info.pid, 0);
	CHECK_STR(info.comm, "");
	fake_ioctl(PEERLANE_IOC_REGION_INFO, 0, ENODEV, "gone");
	CHECK_INT(peerlane_region_query(region, &info), -ENODEV);
	CHECK_INT(info.id, 1);
	peerlane_region_free(region);
	fake_finish();
}

static void fill_regions(void *arg)
{
	struct peerlane_region_record record = {
		.id = 1, .length = 2, .dev_offset = 3, .uid = 4, .pid = 5,
		.mapper_pid = 6, .kind = 7, .state = 8, .exports = 9,
		.attachments = 10, .mappings = 11, .pinned_units = 12,
		.comm = "one", .mapper_comm = "two", .device = "gpu0",
	};
	struct peerlane_list *list = arg;

	CHECK_INT(list->record_size, sizeof(record));
	memset(record.mapper_comm, 'm', sizeof(record.mapper_comm));
	memcpy((void *)(uintptr_t)list->array_ptr, &record, sizeof(record));
	list->count = 1;
}

static void list(void)
{
	struct peerlane_region_info *infos = NULL;
	size_t count = 0;

	fake_reset();
	fake_ioctl(PEERLANE_IOC_REGION_LIST, 0, .fill = fill_regions);
	CHECK_INT(peerlane_region_list(&infos, &count), 0);
	CHECK_INT(count, 1);
	CHECK_INT(infos[0].id, 1);
	CHECK_INT(infos[0].length, 2);
	CHECK_INT(infos[0].dev_offset, 3);
	CHECK_INT(infos[0].uid, 4);
	CHECK_INT(infos[0].pid, 5);
	CHECK_INT(infos[0].mapper_pid, 6);
	CHECK_INT(infos[0].kind, 7);
	CHECK_INT(infos[0].state, 8);
	CHECK_INT(infos[0].exports, 9);
	CHECK_INT(infos[0].attachments, 10);
	CHECK_INT(infos[0].mappings, 11);
	CHECK_INT(infos[0].pinned_units, 12);
	CHECK_INT(infos[0].numa_node, -1);
	CHECK_INT(infos[0].memtype, PEERLANE_MEMTYPE_NONE);
	CHECK_STR(infos[0].comm, "one");
	CHECK_INT(strlen(infos[0].mapper_comm), PEERLANE_COMM_LEN - 1);
	CHECK_STR(infos[0].device, "gpu0");
	free(infos);
	fake_finish();
}

static void list_refused(void)
{
	struct peerlane_region_info *infos = (void *)1;
	size_t count = 5;

	fake_reset();
	fake.control_errno = ENOENT;
	CHECK_INT(peerlane_region_list(&infos, &count), -ENOENT);
	fake.control_errno = 0;
	fake_ioctl(PEERLANE_IOC_REGION_LIST, 0, .fill = fill_regions);
	fake.calloc_fail = 2;
	CHECK_INT(peerlane_region_list(&infos, &count), -ENOMEM);
	CHECK(infos == (void *)1);
	CHECK_INT(count, 5);
	fake_finish();
}

static void map(void)
{
	struct peerlane_region *region;
	void *addr = NULL, *again = NULL;
	char back[4] = "";

	fake_reset();
	region = fake_region(ALL_CAPS, 8192);
	fake_info(PEERLANE_KIND_BAR, PEERLANE_STATE_ACTIVE, ALL_CAPS, 8192);
	CHECK_INT(peerlane_region_map(region, &addr), 0);
	CHECK_INT(peerlane_region_map(region, &again), 0);
	CHECK(addr == again);
	memcpy((char *)addr + 8188, "abc", 4);
	CHECK_INT(pread(fake.region_fd, back, 4, 8188), 4);
	CHECK_STR(back, "abc");
	CHECK_INT(peerlane_region_unmap(region), 0);
	CHECK(msync(addr, 8192, MS_ASYNC) < 0);
	CHECK_INT(peerlane_region_unmap(region), 0);
	/* and once more, and left to free() */
	fake_info(PEERLANE_KIND_BAR, PEERLANE_STATE_ACTIVE, ALL_CAPS, 8192);
	CHECK_INT(peerlane_region_map(region, &addr), 0);
	peerlane_region_free(region);
	CHECK(msync(addr, 8192, MS_ASYNC) < 0);
	fake_finish();
}

static void map_refused(void)
{
	static const struct {
		uint32_t state, caps;
		uint64_t length;
		int err;
		const char *text;
	} rows[] = {
		{ PEERLANE_STATE_EMPTY, ALL_CAPS, 0, ENODATA, "no memory yet" },
		{ PEERLANE_STATE_REVOKED, ALL_CAPS, 4096, ENODEV, "revoked" },
		{ PEERLANE_STATE_LIMBO, ALL_CAPS, 4096, ENODEV, "revoked" },
		{ PEERLANE_STATE_RELEASED, ALL_CAPS, 4096, ENODEV, "revoked" },
		{ PEERLANE_STATE_ACTIVE, ALL_CAPS & ~PEERLANE_CAP_MMAP, 4096,
		  EOPNOTSUPP, "a bar region has no CPU mapping" },
		{ PEERLANE_STATE_ACTIVE, ALL_CAPS, 0, EOVERFLOW, "0 bytes" },
	};
	struct peerlane_region *region;
	void *addr = (void *)1;
	size_t i;

	fake_reset();
	region = fake_region(ALL_CAPS, 4096);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_info(PEERLANE_KIND_BAR, rows[i].state, rows[i].caps,
			  rows[i].length);
		CHECK_INT(peerlane_region_map(region, &addr), -rows[i].err);
		CHECK_HAS(peerlane_strerror(), rows[i].text);
	}
	fake_ioctl(PEERLANE_IOC_REGION_INFO, 0, EPERM, "no");
	CHECK_INT(peerlane_region_map(region, &addr), -EPERM);
	fake_info(PEERLANE_KIND_BAR, PEERLANE_STATE_ACTIVE, ALL_CAPS, 4096);
	fake.mmap_errno = EAGAIN;
	CHECK_INT(peerlane_region_map(region, &addr), -EAGAIN);
	CHECK_HAS(peerlane_strerror(), "map: mmap of 4096 bytes: ");
	CHECK(addr == (void *)1);
	peerlane_region_free(region);
	fake_finish();
}

static void fill_export(void *arg)
{
	((struct peerlane_region_export *)arg)->out_fd = next_fd;
}

static void export(void)
{
	struct peerlane_region *region;
	int fd = -7, i;

	fake_reset();
	region = fake_region(ALL_CAPS, 16384);
	next_fd = 77;
	for (i = 0; i < 2; i++) {
		int call = fake.planned;

		fake_ioctl(PEERLANE_IOC_REGION_EXPORT,
			   sizeof(struct peerlane_region_export),
			   .fill = fill_export);
		CHECK_INT(peerlane_region_export(region, 4096, 8192, i, &fd),
			  0);
		CHECK_INT(fd, 77);
		CHECK_INT(fake.seen[call].export.offset, 4096);
		CHECK_INT(fake.seen[call].export.length, 8192);
		CHECK_INT(fake.seen[call].export.flags,
			  i ? PEERLANE_EXPORT_REVOCABLE_ONLY : 0);
	}
	fake_ioctl(PEERLANE_IOC_REGION_EXPORT, 0, EINVAL, "offset 1 is odd",
		   .fill = fill_export);
	fd = -7;
	CHECK_INT(peerlane_region_export(region, 1, 8192, false, &fd), -EINVAL);
	CHECK_STR(peerlane_strerror(), "export: offset 1 is odd (EINVAL)");
	CHECK_INT(fd, -7);
	peerlane_region_free(region);
	fake_finish();
}

static void revoke_region(void)
{
	struct peerlane_region *region;

	fake_reset();
	region = fake_region(ALL_CAPS, 4096);
	fake_ioctl(PEERLANE_IOC_REGION_REVOKE,
		   sizeof(struct peerlane_region_revoke), .eintr = 1);
	CHECK_INT(peerlane_region_revoke(region), 0);
	fake_ioctl(PEERLANE_IOC_REGION_REVOKE, 0, EBUSY, "revoked already");
	CHECK_INT(peerlane_region_revoke(region), -EBUSY);
	peerlane_region_free(region);
	fake_finish();
}

static const struct tap_case cases[] = {
	TAP_CASE(alloc),
	TAP_CASE(alloc_interrupted),
	TAP_CASE(alloc_bad_names),
	TAP_CASE(alloc_refused),
	TAP_CASE(import),
	TAP_CASE(import_refused),
	TAP_CASE(host),
	TAP_CASE(host_refused),
	TAP_CASE(from_fd),
	TAP_CASE(from_fd_refused),
	TAP_CASE(query),
	TAP_CASE(list),
	TAP_CASE(list_refused),
	TAP_CASE(map),
	TAP_CASE(map_refused),
	TAP_CASE(export),
	TAP_CASE(revoke_region),
};

int main(void)
{
	return TAP_RUN(cases);
}
