// SPDX-License-Identifier: GPL-2.0
/* Calls on region files. */
#include <linux/dma-buf.h>
#include <linux/fs.h>
#include <linux/mm.h>

#include "ioctl.h"
#include "range.h"

static int region_alloc(struct peerlane_call *call)
{
	struct peerlane_region *region = call->file->private_data;
	struct peerlane_region_alloc *args = &call->args.alloc;
	int ret;

	if (!region->dev)
		return peerlane_refuse(&call->msg, -EOPNOTSUPP,
				       "only files of a device node take memory");
	/* Before the memory, which cannot be taken back once others map it. */
	args->out_length = PAGE_ALIGN(args->length);
	args->out_id = region->id;
	ret = peerlane_respond(call, sizeof(*args));
	if (ret)
		return ret;
	down_write(&region->lock);
	if (region->state == PEERLANE_STATE_EMPTY)
		ret = peerlane_region_fill(region, args->length, &call->msg);
	else if (region->state == PEERLANE_STATE_ACTIVE)
		ret = peerlane_refuse(&call->msg, -EBUSY,
				      "region %llu has its memory already",
				      region->id);
	else
		ret = peerlane_region_usable(region, &call->msg);
	up_write(&region->lock);
	return ret;
}

static int region_info(struct peerlane_call *call)
{
	peerlane_region_info(call->file->private_data, &call->args.info);
	return peerlane_respond(call, sizeof(call->args.info));
}

/* Who was handed the file for reading may not make more of it, nor end it. */
static int check_writable(struct peerlane_call *call)
{
	if (call->file->f_mode & FMODE_WRITE)
		return 0;
	return peerlane_refuse(&call->msg, -EPERM,
			       "the region file is open for reading only");
}

static int check_range(struct peerlane_region *region, u64 offset, u64 length,
		       struct peerlane_msg *msg)
{
	if (!length || !PAGE_ALIGNED(offset) || !PAGE_ALIGNED(length))
		return peerlane_refuse(msg, -EINVAL,
				       "offset %llu and length %llu have to be multiples of the page size, and length not 0",
				       offset, length);
	if (peerlane_range_wraps(offset, length))
		return peerlane_refuse(msg, -EOVERFLOW,
				       "offset %llu + length %llu overflows",
				       offset, length);
	if (!peerlane_range_within(offset, length, region->length))
		return peerlane_refuse(msg, -EINVAL,
				       "[%llu, %llu) is beyond the region's %llu bytes",
				       offset, offset + length, region->length);
	return 0;
}

static struct dma_buf *export(struct peerlane_region *region,
			      const struct peerlane_region_export *args,
			      struct peerlane_msg *msg)
{
	int ret;

	lockdep_assert_held_read(&region->lock);
	ret = peerlane_region_usable(region, msg);
	if (!ret)
		ret = check_range(region, args->offset, args->length, msg);
	if (ret)
		return ERR_PTR(ret);
	return region->kind->export(region, args->offset, args->length,
				    args->flags, msg);
}

static int region_export(struct peerlane_call *call)
{
	struct peerlane_region *region = call->file->private_data;
	struct peerlane_region_export *args = &call->args.export;
	struct dma_buf *dmabuf;
	int ret;

	if (args->reserved2)
		return peerlane_refuse(&call->msg, -EOPNOTSUPP,
				       "reserved2 is not 0");
	ret = check_writable(call);
	if (ret)
		return ret;
	if (!region->kind->export)
		return peerlane_refuse(&call->msg, -EOPNOTSUPP,
				       "this kind of region has no dma-buf export");
	down_read(&region->lock);
	dmabuf = export(region, args, &call->msg);
	up_read(&region->lock);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	ret = peerlane_install(call, sizeof(*args), &args->out_fd, dmabuf->file);
	if (ret)
		dma_buf_put(dmabuf);
	return ret;
}

static int region_revoke(struct peerlane_call *call)
{
	int ret = check_writable(call);

	return ret ? ret : peerlane_region_revoke(call->file->private_data, &call->msg);
}

#define BASE PEERLANE_CMD_REGION_ALLOC
static const struct peerlane_command region_commands[] = {
	COMMAND(PEERLANE_IOC_REGION_ALLOC, peerlane_region_alloc, out_id, 0,
		region_alloc),
	COMMAND(PEERLANE_IOC_REGION_INFO, peerlane_region_status, out_device, 0,
		region_info),
	COMMAND(PEERLANE_IOC_REGION_EXPORT, peerlane_region_export, reserved2,
		PEERLANE_EXPORT_REVOCABLE_ONLY, region_export),
	COMMAND(PEERLANE_IOC_REGION_REVOKE, peerlane_region_revoke, reserved, 0,
		region_revoke),
};
#undef BASE

long peerlane_region_ioctl(struct file *file, unsigned int cmd,
			   unsigned long arg)
{
	return peerlane_dispatch(file, cmd, arg, region_commands,
			ARRAY_SIZE(region_commands), PEERLANE_CMD_REGION_ALLOC);
}
