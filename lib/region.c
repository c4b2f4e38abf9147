// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Regions: made, asked, mapped, exported, revoked. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "private.h"

uint64_t pl_page_size(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Take @fd over: on success it is the region's. */
int pl_region_new(int fd, struct peerlane_region **region)
{
	struct peerlane_region_status info = { 0 };
	struct peerlane_region *new;
	int ret;

	ret = pl_ioctl(fd, PEERLANE_IOC_REGION_INFO, &info, sizeof(info), NULL,
		       "fd %d", fd);
	if (ret)
		return ret;
	new = calloc(1, sizeof(*new));
	if (!new)
		return pl_fail(ENOMEM, "region");
	new->fd = fd;
	new->dmabuf = -1;
	new->kind = info.out_kind;
	new->length = info.out_length;
	*region = new;
	return 0;
}

static int open_device(const char *device)
{
	char path[sizeof(PL_DEV_DIR) + PEERLANE_NAME_LEN];
	int fd;

	if (!device || !*device || strlen(device) >= PEERLANE_NAME_LEN ||
	    strchr(device, '/') || device[0] == '.' ||
	    !strcmp(device, "control"))
		return pl_fail_text(ENODEV, "no memory device %s",
				    device && *device ? device : "(none)");
	snprintf(path, sizeof(path), PL_DEV_DIR "/%s", device);
	do
		fd = open(path, O_RDWR | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd >= 0)
		return fd;
	if (errno == ENOENT && access(PL_CONTROL, F_OK) != 0)
		return pl_fail_text(ENODEV, "no memory device %s: the peerlane module is not loaded",
				    device);
	if (errno == ENOENT || errno == ENXIO || errno == ENODEV)
		return pl_fail_text(ENODEV, "no memory device %s", device);
	return pl_fail(errno == EPERM ? EACCES : errno, "%s", path);
}

int peerlane_region_alloc(const char *device, size_t length,
			  struct peerlane_region **region)
{
	struct peerlane_region_alloc arg = { 0 };
	int fd, ret;

	pl_clear();
	fd = open_device(device);
	if (fd < 0)
		return fd;
	arg.length = length;
	ret = pl_ioctl(fd, PEERLANE_IOC_REGION_ALLOC, &arg, sizeof(arg), NULL,
		       "%zu bytes of %s", length, device);
	if (!ret)
		ret = pl_region_new(fd, region);
	if (ret)
		pl_close(fd);
	return ret;
}

int pl_region_import(int dmabuf_fd, uint64_t offset, uint64_t length,
		     struct peerlane_region **region)
{
	struct peerlane_import_dmabuf arg = { 0 };
	struct peerlane_region *new;
	int fd, ret;

	fd = pl_open_control();
	if (fd < 0)
		return fd;
	arg.dmabuf_fd = dmabuf_fd;
	arg.out_fd = -1;
	arg.offset = offset;
	arg.length = length;
	ret = pl_ioctl(fd, PEERLANE_IOC_IMPORT_DMABUF, &arg, sizeof(arg), NULL,
		       "import of a dma-buf");
	pl_close(fd);
	if (ret)
		return ret;
	ret = pl_region_new(arg.out_fd, &new);
	if (ret) {
		pl_close(arg.out_fd);
		return ret;
	}
	new->dmabuf = fcntl(dmabuf_fd, F_DUPFD_CLOEXEC, 0);
	if (new->dmabuf < 0) {
		ret = pl_fail(errno, "import of a dma-buf");
		peerlane_region_free(new);
		return ret;
	}
	new->part_offset = offset;
	*region = new;
	return 0;
}

int peerlane_region_import(int dmabuf_fd, uint64_t offset, size_t length,
			   struct peerlane_region **region)
{
	pl_clear();
	return pl_region_import(dmabuf_fd, offset, length, region);
}

int peerlane_region_host(void *addr, size_t length, bool read_only,
			 struct peerlane_region **region)
{
	struct peerlane_pin_host arg = { 0 };
	struct peerlane_region *new;
	int fd, ret;

	pl_clear();
	fd = pl_open_control();
	if (fd < 0)
		return fd;
	arg.flags = read_only ? PEERLANE_PIN_READ_ONLY : 0;
	arg.addr = (uintptr_t)addr;
	arg.length = length;
	arg.out_fd = -1;
	ret = pl_ioctl(fd, PEERLANE_IOC_PIN_HOST, &arg, sizeof(arg), NULL,
		       "%zu bytes of host memory", length);
	pl_close(fd);
	if (ret)
		return ret;
	ret = pl_region_new(arg.out_fd, &new);
	if (ret) {
		pl_close(arg.out_fd);
		return ret;
	}
	new->host = addr;
	new->read_only = read_only;
	*region = new;
	return 0;
}

int peerlane_region_from_fd(int fd, struct peerlane_region **region)
{
	struct peerlane_region *new;
	int ret;

	pl_clear();
	ret = pl_region_new(fd, &new);
	if (ret == -ENOTTY)
		return pl_fail_text(EBADF, "fd %d is not a region", fd);
	if (ret)
		return ret;
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) {
		free(new);
		return pl_fail(errno, "fd %d", fd);
	}
	*region = new;
	return 0;
}

int peerlane_region_fd(const struct peerlane_region *region)
{
	return region->fd;
}

uint64_t peerlane_region_gpu_offset(const struct peerlane_region *region)
{
	return region->gpu_offset;
}

void peerlane_region_free(struct peerlane_region *region)
{
	int saved = errno;

	if (!region)
		return;
	if (region->map)
		munmap(region->map, region->map_length);
	if (region->dmabuf >= 0)
		close(region->dmabuf);
	close(region->fd);
	free(region);
	errno = saved;
}

int pl_region_info(const struct peerlane_region *region,
		   struct peerlane_region_status *info, const char *what)
{
	memset(info, 0, sizeof(*info));
	return pl_ioctl(region->fd, PEERLANE_IOC_REGION_INFO, info,
			sizeof(*info), NULL, "%s", what);
}

int peerlane_region_query(const struct peerlane_region *region,
			  struct peerlane_region_info *info)
{
	struct peerlane_region_status from;
	struct peerlane_region_info to;
	int ret;

	pl_clear();
	ret = pl_region_info(region, &from, "region");
	if (ret)
		return ret;
	memset(&to, 0, sizeof(to));
	to.id = from.out_id;
	to.length = from.out_length;
	to.dev_offset = from.out_dev_offset;
	to.kind = from.out_kind;
	to.state = from.out_state;
	to.caps = from.out_caps;
	to.memtype = from.out_memtype;
	to.exports = from.out_exports;
	to.attachments = from.out_attachments;
	to.mappings = from.out_mappings;
	to.numa_node = from.out_numa_node;
	memcpy(to.device, from.out_device, sizeof(to.device));
	to.device[sizeof(to.device) - 1] = '\0';
	*info = to;
	return 0;
}

/* A reason before mmap(), which has none to give */
static int may_map(const struct peerlane_region *region, const char *what,
		   uint64_t *length)
{
	struct peerlane_region_status info;
	int ret;

	ret = pl_region_info(region, &info, what);
	if (ret)
		return ret;
	if (info.out_state == PEERLANE_STATE_EMPTY)
		return pl_fail_text(ENODATA, "%s: the region has no memory yet",
				    what);
	if (info.out_state != PEERLANE_STATE_ACTIVE)
		return pl_fail_text(ENODEV, "%s: the region is revoked", what);
	if (!(info.out_caps & PEERLANE_CAP_MMAP))
		return pl_fail_text(EOPNOTSUPP, "%s: a %s region has no CPU mapping here",
				    what, peerlane_kind_name(info.out_kind));
	if (!info.out_length || info.out_length > SIZE_MAX)
		return pl_fail_text(EOVERFLOW, "%s: %llu bytes", what,
				    (unsigned long long)info.out_length);
	*length = info.out_length;
	return 0;
}

int pl_region_map(struct peerlane_region *region, const char *what, void **addr)
{
	uint64_t length;
	void *map;
	int ret;

	if (region->host || region->map) {
		*addr = region->host ? region->host : region->map;
		return 0;
	}
	ret = may_map(region, what, &length);
	if (ret)
		return ret;
	map = mmap(NULL, (size_t)length, PROT_READ | PROT_WRITE, MAP_SHARED,
		   region->fd, 0);
	if (map == MAP_FAILED)
		return pl_fail(errno, "%s: mmap of %llu bytes", what,
			       (unsigned long long)length);
	region->map = map;
	region->map_length = (size_t)length;
	region->length = length;
	*addr = map;
	return 0;
}

int peerlane_region_map(struct peerlane_region *region, void **addr)
{
	pl_clear();
	return pl_region_map(region, "map", addr);
}

int peerlane_region_unmap(struct peerlane_region *region)
{
	pl_clear();
	if (!region->map)
		return 0;
	if (munmap(region->map, region->map_length) < 0)
		return pl_fail(errno, "unmap");
	region->map = NULL;
	region->map_length = 0;
	return 0;
}

int pl_region_export(const struct peerlane_region *region, uint64_t offset,
		     uint64_t length, uint32_t flags, int *fd)
{
	struct peerlane_region_export arg = { 0 };
	int ret;

	arg.flags = flags;
	arg.offset = offset;
	arg.length = length;
	arg.out_fd = -1;
	ret = pl_ioctl(region->fd, PEERLANE_IOC_REGION_EXPORT, &arg,
		       sizeof(arg), NULL, "export");
	if (ret)
		return ret;
	*fd = arg.out_fd;
	return 0;
}

int peerlane_region_export(const struct peerlane_region *region,
			   uint64_t offset, size_t length, bool revocable_only,
			   int *fd)
{
	pl_clear();
	return pl_region_export(region, offset, length,
				revocable_only ? PEERLANE_EXPORT_REVOCABLE_ONLY :
						 0, fd);
}

int peerlane_region_revoke(struct peerlane_region *region)
{
	struct peerlane_region_revoke arg = { 0 };

	pl_clear();
	return pl_ioctl(region->fd, PEERLANE_IOC_REGION_REVOKE, &arg,
			sizeof(arg), NULL, "revoke");
}

/* Do @length bytes from @offset lie in a region of @whole bytes? */
int pl_range(uint64_t whole, uint64_t offset, uint64_t length, const char *what)
{
	if (offset <= whole && length <= whole - offset)
		return 0;
	return pl_fail_text(EINVAL, "%s: %llu bytes at %llu are outside of a region of %llu bytes",
			    what, (unsigned long long)length,
			    (unsigned long long)offset,
			    (unsigned long long)whole);
}
