// SPDX-License-Identifier: GPL-2.0
/* Calls on /dev/peerlane/control. */
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/pci.h>

#include "ioctl.h"

#define LOCK_PATIENCE	HZ

/* Takes over the caller's user of @region, also on failure. */
static int install_region(struct peerlane_call *call, u32 size, __s32 *out_fd,
			  struct peerlane_region *region)
{
	struct file *file = peerlane_region_file(region);
	int ret;

	if (IS_ERR(file)) {
		peerlane_region_put_user(region);
		return PTR_ERR(file);
	}
	ret = peerlane_install(call, size, out_fd, file);
	if (ret)
		fput(file);
	return ret;
}

static u32 device_records(void *records, u32 room)
{
	return peerlane_device_records(records, room);
}

static u32 region_records(void *records, u32 room)
{
	return peerlane_region_records(records, room);
}

static int device_list(struct peerlane_call *call)
{
	return peerlane_list(call, device_records, sizeof(struct peerlane_device_record),
		    offsetofend(struct peerlane_device_record, reserved));
}

static int region_list(struct peerlane_call *call)
{
	return peerlane_list(call, region_records, sizeof(struct peerlane_region_record),
		    offsetofend(struct peerlane_region_record, device));
}

static int import_dmabuf(struct peerlane_call *call)
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

static int pin_host(struct peerlane_call *call)
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

/*
 * Its driver, hence its DMA mask and IOMMU domain, must not go. The lock may be
 * held by a removal that waits for pins, perhaps for the caller's own: so it is
 * waited for a little only.
 */
static int lock_function(struct pci_dev *pdev, struct peerlane_msg *msg)
{
	unsigned long end = jiffies + LOCK_PATIENCE;

	while (!device_trylock(&pdev->dev)) {
		if (time_after(jiffies, end))
			return peerlane_refuse(msg, -EBUSY,
					       "%s is being bound, unbound or removed",
					       pci_name(pdev));
		if (msleep_interruptible(10))
			return -EINTR;
	}
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
	ret = lock_function(initiator, msg);
	if (!ret) {
		ret = peerlane_preflight(target, 0, initiator, &verdict, msg);
		device_unlock(&initiator->dev);
	}
	args->out_path = verdict.path;
	args->out_distance = verdict.distance;
	pci_dev_put(initiator);
	return ret;
}

static int preflight(struct peerlane_call *call)
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
	return peerlane_respond(call, sizeof(*args));
}

#define BASE PEERLANE_CMD_DEVICE_LIST
static const struct peerlane_command control_commands[] = {
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
	COMMAND(PEERLANE_IOC_ENDPOINT_CREATE, peerlane_endpoint_create,
		reserved2, 0, peerlane_endpoint_create),
	COMMAND(PEERLANE_IOC_ENDPOINT_LIST, peerlane_list, record_size, 0,
		peerlane_endpoint_list),
	COMMAND(PEERLANE_IOC_GROUP_CREATE, peerlane_group_create, placement, 0,
		peerlane_group_create),
	COMMAND(PEERLANE_IOC_AGGREGATOR_CREATE, peerlane_aggregator_create,
		out_id, 0, peerlane_aggregator_create),
	COMMAND(PEERLANE_IOC_GROUP_LIST, peerlane_list, record_size, 0,
		peerlane_group_list),
	COMMAND(PEERLANE_IOC_AGGREGATOR_LIST, peerlane_list, record_size, 0,
		peerlane_aggregator_list),
	COMMAND(PEERLANE_IOC_GROUP_LANES, peerlane_list, record_size, 0,
		peerlane_group_lanes),
};
#undef BASE

long peerlane_control_ioctl(struct file *file, unsigned int cmd,
			    unsigned long arg)
{
	return peerlane_dispatch(file, cmd, arg, control_commands,
			ARRAY_SIZE(control_commands), PEERLANE_CMD_DEVICE_LIST);
}
