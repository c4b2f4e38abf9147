// SPDX-License-Identifier: GPL-2.0
/*
 * One call, one struct: copied in, checked, handled, copied out. The rules are
 * in the uapi header.
 */
#include <linux/dma-buf.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/uaccess.h>

#include "peerlane.h"

union peerlane_args {
	struct peerlane_hdr hdr;
	struct peerlane_region_alloc alloc;
	struct peerlane_region_status info;
	struct peerlane_region_export export;
	struct peerlane_region_revoke revoke;
	struct peerlane_list list;
	struct peerlane_import_dmabuf import;
	struct peerlane_pin_host host;
	struct peerlane_preflight preflight;
};

struct call {
	struct file *file;
	void __user *user;
	u32 user_size;
	bool say;			/* the text goes out also on success */
	union peerlane_args args;
	struct peerlane_msg msg;
};

struct command {
	unsigned int cmd;
	u32 size;
	u32 min_size;			/* of the first release, for ever */
	u32 flags;			/* known ones */
	int (*handler)(struct call *call);
};

#define COMMAND(_cmd, _struct, _last, _flags, _handler)			\
	[_IOC_NR(_cmd) - (BASE)] = {					\
		.cmd = _cmd,						\
		.size = sizeof(struct _struct) +			\
			BUILD_BUG_ON_ZERO(sizeof(union peerlane_args) <	\
					  sizeof(struct _struct)),	\
		.min_size = offsetofend(struct _struct, _last),		\
		.flags = _flags,					\
		.handler = _handler,					\
	}

/* ---- out ---- */

/*
 * The only way back to the user. A handler that makes a file answers before
 * fd_install(), which cannot be undone.
 */
static int respond(struct call *call, u32 size)
{
	if (copy_to_user(call->user, &call->args,
			 min(call->user_size, size)))
		return peerlane_refuse(&call->msg, -EFAULT,
				       "the argument cannot be written");
	return 0;
}

static void send_text(struct call *call)
{
	const struct peerlane_hdr *hdr = &call->args.hdr;
	void __user *to = u64_to_user_ptr(hdr->msg_ptr);
	size_t len;

	if (!hdr->msg_ptr || !hdr->msg_len || !call->msg.text[0])
		return;
	len = min_t(size_t, strlen(call->msg.text) + 1, hdr->msg_len);
	call->msg.text[len - 1] = '\0';
	/* An errno with no text is better than another errno. */
	if (copy_to_user(to, call->msg.text, len))
		return;
}

static int install(struct call *call, u32 size, __s32 *out_fd,
		   struct file *file)
{
	int fd = get_unused_fd_flags(O_CLOEXEC);
	int ret;

	if (fd < 0)
		return peerlane_refuse(&call->msg, fd,
				       "no free file descriptor");
	*out_fd = fd;
	ret = respond(call, size);
	if (ret) {
		put_unused_fd(fd);
		return ret;
	}
	fd_install(fd, file);	/* the table owns the file from here */
	return 0;
}

/* Takes over the caller's user of @region, also on failure. */
static int install_region(struct call *call, u32 size, __s32 *out_fd,
			  struct peerlane_region *region)
{
	struct file *file = peerlane_region_file(region);
	int ret;

	if (IS_ERR(file)) {
		peerlane_region_put_user(region);
		return PTR_ERR(file);
	}
	ret = install(call, size, out_fd, file);
	if (ret)
		fput(file);
	return ret;
}

/* ---- on region files ---- */

static int region_alloc(struct call *call)
{
	struct peerlane_region *region = call->file->private_data;
	struct peerlane_region_alloc *args = &call->args.alloc;
	int ret;

	if (!region->dev)
		return peerlane_refuse(&call->msg, -EOPNOTSUPP,
				       "only files of a device node take memory");
	down_write(&region->lock);
	if (region->state == PEERLANE_STATE_EMPTY)
		ret = peerlane_region_fill(region, args->length, &call->msg);
	else if (region->state == PEERLANE_STATE_ACTIVE)
		ret = peerlane_refuse(&call->msg, -EBUSY,
				      "region %llu has its memory already",
				      region->id);
	else
		ret = peerlane_region_usable(region, &call->msg);
	args->out_length = region->length;
	args->out_id = region->id;
	up_write(&region->lock);
	return ret ? ret : respond(call, sizeof(*args));
}

static int region_info(struct call *call)
{
	peerlane_region_info(call->file->private_data, &call->args.info);
	return respond(call, sizeof(call->args.info));
}

/* Who was handed the file for reading may not make more of it, nor end it. */
static int check_writable(struct call *call)
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
	if (length > U64_MAX - offset)
		return peerlane_refuse(msg, -EOVERFLOW,
				       "offset %llu + length %llu overflows",
				       offset, length);
	if (offset + length > region->length)
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

static int region_export(struct call *call)
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
	ret = install(call, sizeof(*args), &args->out_fd, dmabuf->file);
	if (ret)
		dma_buf_put(dmabuf);
	return ret;
}

static int region_revoke(struct call *call)
{
	int ret = check_writable(call);

	return ret ? ret : peerlane_region_revoke(call->file->private_data, &call->msg);
}

/* ---- on control ---- */

typedef u32 (*records_fn)(void *records, u32 room);

static u32 device_records(void *records, u32 room)
{
	return peerlane_device_records(records, room);
}

static u32 region_records(void *records, u32 room)
{
	return peerlane_region_records(records, room);
}

static int copy_records(const struct peerlane_list *args, const void *records,
			u32 count, u32 size)
{
	char __user *to = u64_to_user_ptr(args->array_ptr);
	u32 i, part = min(size, args->record_size);

	for (i = 0; i < count; i++, to += args->record_size) {
		if (copy_to_user(to, records + (size_t)i * size, part))
			return -EFAULT;
		if (clear_user(to + part, args->record_size - part))
			return -EFAULT;
	}
	return 0;
}

/*
 * The room is for what there is now, not for what the caller has: he may say 4
 * billion. Taken again if by then there was more, and he has room for it.
 */
static void *snapshot(u32 limit, records_fn get, u32 size, u32 *room, u32 *count)
{
	void *records = NULL;

	*count = get(NULL, 0);
	do {
		kvfree(records);
		*room = min(limit, *count + *count / 8 + 16);
		records = kvmalloc_array(max(*room, 1U), size,
					 GFP_KERNEL_ACCOUNT);
		if (!records)
			return NULL;
		*count = get(records, *room);
	} while (*count > *room && *room < limit);
	return records;
}

/* @min_size: of the first release's record, for ever. */
static int list(struct call *call, records_fn get, u32 size, u32 min_size)
{
	struct peerlane_list *args = &call->args.list;
	u32 room, count;
	void *records;
	int ret = 0;

	if (args->record_size < min_size || args->record_size > PAGE_SIZE)
		return peerlane_refuse(&call->msg, -EINVAL,
				       "record_size %u, the first release has %u",
				       args->record_size, min_size);
	records = snapshot(args->count, get, size, &room, &count);
	if (!records)
		return -ENOMEM;
	if (count > room)
		ret = -EMSGSIZE;
	else
		ret = copy_records(args, records, count, size);
	kvfree(records);
	if (ret == -EFAULT)
		return peerlane_refuse(&call->msg, ret,
				       "array_ptr cannot be written");
	args->count = count;
	if (respond(call, sizeof(*args)))
		return -EFAULT;
	if (ret)
		return peerlane_refuse(&call->msg, ret,
				       "there are %u records", count);
	return 0;
}

static int device_list(struct call *call)
{
	return list(call, device_records, sizeof(struct peerlane_device_record),
		    offsetofend(struct peerlane_device_record, reserved));
}

static int region_list(struct call *call)
{
	return list(call, region_records, sizeof(struct peerlane_region_record),
		    offsetofend(struct peerlane_region_record, device));
}

static int import_dmabuf(struct call *call)
{
	struct peerlane_import_dmabuf *args = &call->args.import;
	struct peerlane_region *region;

	region = peerlane_import(args->dmabuf_fd, args->offset, args->length,
				 &call->msg);
	if (IS_ERR(region))
		return PTR_ERR(region);
	args->out_length = region->length;
	return install_region(call, sizeof(*args), &args->out_fd, region);
}

static int pin_host(struct call *call)
{
	struct peerlane_pin_host *args = &call->args.host;
	struct peerlane_region *region;

	if (args->reserved2)
		return peerlane_refuse(&call->msg, -EOPNOTSUPP,
				       "reserved2 is not 0");
	region = peerlane_host(args->addr, args->length, args->flags,
			       &call->msg);
	if (IS_ERR(region))
		return PTR_ERR(region);
	return install_region(call, sizeof(*args), &args->out_fd, region);
}

static int preflight_bind(struct pci_dev *target,
			  struct peerlane_preflight *args,
			  struct peerlane_msg *msg)
{
	int bar;

	if (args->initiator[0])
		return peerlane_refuse(msg, -EINVAL,
				       "PREFLIGHT_BIND takes no initiator");
	bar = peerlane_bar_pick(target, msg);
	if (bar < 0)
		return bar;
	args->out_bar = bar;
	peerlane_say(msg, "BAR %d of %s, %llu bytes", bar, pci_name(target),
		     (u64)pci_resource_len(target, bar));
	return 0;
}

static int preflight_pair(struct pci_dev *target,
			  struct peerlane_preflight *args,
			  struct peerlane_msg *msg)
{
	struct peerlane_verdict verdict = {};
	struct pci_dev *initiator;
	int ret;

	initiator = peerlane_pci_find(args->initiator, msg);
	if (IS_ERR(initiator))
		return PTR_ERR(initiator);
	/* Its driver, hence its DMA mask and IOMMU domain, must not go. */
	ret = device_lock_interruptible(&initiator->dev);
	if (!ret) {
		ret = peerlane_preflight(target, 0, initiator, &verdict, msg);
		device_unlock(&initiator->dev);
	}
	args->out_path = verdict.path;
	args->out_distance = verdict.distance;
	pci_dev_put(initiator);
	return ret;
}

static int preflight(struct call *call)
{
	struct peerlane_preflight *args = &call->args.preflight;
	struct pci_dev *target;
	int ret;

	if (args->reserved2)
		return peerlane_refuse(&call->msg, -EOPNOTSUPP,
				       "reserved2 is not 0");
	target = peerlane_pci_find(args->target, &call->msg);
	if (IS_ERR(target))
		return PTR_ERR(target);
	args->out_bar = -1;
	if (args->flags & PEERLANE_PREFLIGHT_BIND)
		ret = preflight_bind(target, args, &call->msg);
	else
		ret = preflight_pair(target, args, &call->msg);
	pci_dev_put(target);
	if (ret)
		return ret;
	call->say = true;
	return respond(call, sizeof(*args));
}

/* ---- in ---- */

#define BASE PEERLANE_CMD_REGION_ALLOC
static const struct command region_commands[] = {
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

#define BASE PEERLANE_CMD_DEVICE_LIST
static const struct command control_commands[] = {
	COMMAND(PEERLANE_IOC_DEVICE_LIST, peerlane_list, record_size, 0,
		device_list),
	COMMAND(PEERLANE_IOC_REGION_LIST, peerlane_list, record_size, 0,
		region_list),
	COMMAND(PEERLANE_IOC_IMPORT_DMABUF, peerlane_import_dmabuf, out_length,
		0, import_dmabuf),
	COMMAND(PEERLANE_IOC_PIN_HOST, peerlane_pin_host, reserved2,
		PEERLANE_PIN_READ_ONLY, pin_host),
	COMMAND(PEERLANE_IOC_PREFLIGHT, peerlane_preflight, reserved2,
		PEERLANE_PREFLIGHT_BIND, preflight),
};
#undef BASE

static int read_args(struct call *call, const struct command *command)
{
	int ret;

	if (get_user(call->user_size, (u32 __user *)call->user))
		return -EFAULT;
	if (call->user_size < command->min_size)
		return -EINVAL;
	/* Before 4 GiB of zeroes are looked at. */
	if (call->user_size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&call->args, command->size, call->user,
				    call->user_size);
	if (ret)
		return ret;
	/* Read twice: a thread may have changed it in between. */
	call->args.hdr.size = call->user_size;
	return 0;
}

static int check_hdr(struct call *call, const struct command *command)
{
	const struct peerlane_hdr *hdr = &call->args.hdr;

	if (hdr->flags & ~command->flags)
		return peerlane_refuse(&call->msg, -EOPNOTSUPP,
				       "unknown flags %#x",
				       hdr->flags & ~command->flags);
	if (hdr->reserved)
		return peerlane_refuse(&call->msg, -EOPNOTSUPP,
				       "reserved is not 0");
	return 0;
}

static long run(struct call *call, const struct command *command)
{
	int ret = read_args(call, command);

	if (ret)	/* no header to trust, so the text is only traced */
		return peerlane_refuse(NULL, ret,
				       "command %u with a struct of %u bytes",
				       _IOC_NR(command->cmd), call->user_size);
	ret = check_hdr(call, command);
	if (!ret)
		ret = command->handler(call);
	if (ret || call->say)
		send_text(call);
	return ret;
}

static long dispatch(struct file *file, unsigned int cmd, unsigned long arg,
		     const struct command *commands, unsigned int count,
		     unsigned int base)
{
	unsigned int index = _IOC_NR(cmd) - base;
	struct call *call;
	long ret;

	if (index >= count || commands[index].cmd != cmd)
		return -ENOTTY;
	index = array_index_nospec(index, count);
	call = kzalloc(sizeof(*call), GFP_KERNEL);
	if (!call)
		return -ENOMEM;
	call->file = file;
	call->user = (void __user *)arg;
	ret = run(call, &commands[index]);
	kfree(call);
	return ret;
}

long peerlane_region_ioctl(struct file *file, unsigned int cmd,
			   unsigned long arg)
{
	return dispatch(file, cmd, arg, region_commands,
			ARRAY_SIZE(region_commands), PEERLANE_CMD_REGION_ALLOC);
}

long peerlane_control_ioctl(struct file *file, unsigned int cmd,
			    unsigned long arg)
{
	return dispatch(file, cmd, arg, control_commands,
			ARRAY_SIZE(control_commands), PEERLANE_CMD_DEVICE_LIST);
}
