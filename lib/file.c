// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* File content moved by the disk's own DMA, straight into and out of regions. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "private.h"

/* One request; a multiple of every block size and below the kernel's limit */
#define CHUNK	((size_t)1 << 30)
/* No block size is smaller: a count in between means the file's end. */
#define SECTOR	512

typedef ssize_t (*move_fn)(int fd, char *at, size_t length, off_t offset);

static ssize_t move_in(int fd, char *at, size_t length, off_t offset)
{
	return pread(fd, at, length, offset);
}

static ssize_t move_out(int fd, char *at, size_t length, off_t offset)
{
	return pwrite(fd, at, length, offset);
}

static int check(struct peerlane_region *region, uint64_t offset, int fd,
		 uint64_t file_offset, size_t length, const char *what)
{
	struct peerlane_region_status info;
	int flags, ret;

	flags = fcntl(fd, F_GETFL);
	if (flags < 0)
		return pl_fail(errno, "%s: fd %d", what, fd);
	if (!(flags & O_DIRECT))
		return pl_fail_text(EINVAL, "%s: fd %d was opened without O_DIRECT",
				    what, fd);
	if (file_offset > INT64_MAX || length > INT64_MAX - file_offset)
		return pl_fail_text(EOVERFLOW, "%s: %zu bytes at %llu of the file",
				    what, length,
				    (unsigned long long)file_offset);
	ret = pl_region_info(region, &info, what);
	if (ret)
		return ret;
	if (info.out_state != PEERLANE_STATE_EMPTY &&
	    info.out_state != PEERLANE_STATE_ACTIVE)
		return pl_fail_text(ENODEV, "%s: the region is revoked", what);
	if (!(info.out_caps & PEERLANE_CAP_DIRECT_IO))
		return pl_fail_text(EOPNOTSUPP, "%s: no direct file I/O on a %s region",
				    what, peerlane_kind_name(info.out_kind));
	return pl_range(info.out_length, offset, length, what);
}

/* pread() and pwrite() give EFAULT also where the region was revoked. */
static int fail(const struct peerlane_region *region, int err, const char *what)
{
	struct peerlane_region_status info;

	if (err == EFAULT && !pl_region_info(region, &info, what) &&
	    info.out_state != PEERLANE_STATE_ACTIVE)
		return pl_fail_text(ENODEV, "%s: the region was revoked", what);
	if (err == EINVAL)
		return pl_fail_text(EINVAL, "%s: offset, length and file offset have to be multiples of the file's block size",
				    what);
	return pl_fail(err, "%s", what);
}

static int transfer(struct peerlane_region *region, uint64_t offset, int fd,
		    uint64_t file_offset, size_t length, size_t *done,
		    move_fn move, const char *what)
{
	size_t moved = 0;
	void *base;
	int ret;

	pl_clear();
	ret = check(region, offset, fd, file_offset, length, what);
	if (!ret)
		ret = pl_region_map(region, what, &base);
	if (ret)
		return ret;
	while (moved < length) {
		size_t left = length - moved;
		ssize_t n = move(fd, (char *)base + offset + moved,
				 left < CHUNK ? left : CHUNK,
				 (off_t)(file_offset + moved));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(region, errno, what);
		moved += (size_t)n;
		if (n == 0 || n % SECTOR)
			break;
	}
	*done = moved;
	return 0;
}

int peerlane_region_read_file(struct peerlane_region *region, uint64_t offset,
			      int fd, uint64_t file_offset, size_t length,
			      size_t *done)
{
	return transfer(region, offset, fd, file_offset, length, done, move_in,
			"read of a file");
}

int peerlane_region_write_file(struct peerlane_region *region, uint64_t offset,
			       int fd, uint64_t file_offset, size_t length,
			       size_t *done)
{
	return transfer(region, offset, fd, file_offset, length, done, move_out,
			"write of a file");
}
