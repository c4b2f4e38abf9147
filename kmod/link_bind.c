// SPDX-License-Identifier: GPL-2.0
/* What slots of endpoints and of groups ask of a region. */
#include <linux/file.h>
#include <linux/mm.h>

#include "link.h"
#include "peerlane.h"
#include "range.h"

static int check_part(const struct peerlane_region *region,
		      struct peerlane_endpoint_bind *args,
		      struct peerlane_msg *msg)
{
	if (!PAGE_ALIGNED(args->offset) || !PAGE_ALIGNED(args->length))
		return peerlane_refuse(msg, -EINVAL,
				       "offset %#llx and length %#llx must be multiples of the page size",
				       args->offset, args->length);
	if (peerlane_range_wraps(args->offset, args->length))
		return peerlane_refuse(msg, -EOVERFLOW,
				       "offset %#llx + length %#llx overflows",
				       args->offset, args->length);
	args->out_length = args->length;
	if (!args->length && args->offset < region->length)
		args->out_length = region->length - args->offset;
	if (!args->out_length ||
	    !peerlane_range_within(args->offset, args->out_length,
				   region->length))
		return peerlane_refuse(msg, -EINVAL,
				       "[%#llx, %#llx) is empty or beyond the region's %#llx bytes",
				       args->offset,
				       args->offset + args->out_length,
				       region->length);
	return 0;
}

int link_bind_part(struct peerlane_region *region,
		   struct peerlane_endpoint_bind *args, struct peerlane_msg *msg)
{
	int ret;

	down_read(&region->lock);
	ret = peerlane_region_usable(region, msg);
	if (!ret)
		ret = check_part(region, args, msg);
	up_read(&region->lock);
	return ret;
}

struct file *link_bind_file(const struct peerlane_endpoint_bind *args,
			    struct peerlane_msg *msg)
{
	struct file *file = fget(args->region_fd);
	int ret;

	if (!file)
		return ERR_PTR(peerlane_refuse(msg, -EBADF, "fd %d is not open",
					       args->region_fd));
	if (!peerlane_region_of(file))
		ret = peerlane_refuse(msg, -EBADF, "fd %d is not a region",
				      args->region_fd);
	else if (!(file->f_mode & FMODE_WRITE) &&
		 !(args->flags & PEERLANE_BIND_READ_ONLY))
		ret = peerlane_refuse(msg, -EPERM,
				      "the region file is open for reading only: PEERLANE_BIND_READ_ONLY");
	else
		return file;
	fput(file);
	return ERR_PTR(ret);
}
