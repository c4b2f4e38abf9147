// SPDX-License-Identifier: GPL-2.0
/* Files: /dev/peerlane/<device>, /dev/peerlane/control, and regions. */
#include <linux/cdev.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/poll.h>

#include "compat.h"
#include "peerlane.h"

static int device_open(struct inode *inode, struct file *file)
{
	struct peerlane_device *dev;
	struct peerlane_region *region;

	/* cdev_device_add() made the device's struct live as long as the cdev. */
	dev = container_of(inode->i_cdev, struct peerlane_device, cdev);
	region = peerlane_region_new(&peerlane_kind_pool, dev, NULL);
	if (IS_ERR(region))
		return PTR_ERR(region);
	/*
	 * All VMAs of this file go into the region's own address space: a zap
	 * hits no stranger, and a node that lies on a disk file system does not
	 * bring that file system's dirty tracking, which GUP refuses.
	 */
	file->f_mapping = region->inode->i_mapping;
	file->private_data = region;
	return 0;
}

static int region_close(struct inode *inode, struct file *file)
{
	peerlane_region_put_user(file->private_data);
	return 0;
}

/* EPOLLHUP when the memory is taken away. */
static __poll_t region_poll(struct file *file, poll_table *table)
{
	struct peerlane_region *region = file->private_data;
	u32 state;

	poll_wait(file, &region->wait, table);
	state = READ_ONCE(region->state);
	if (state == PEERLANE_STATE_EMPTY || state == PEERLANE_STATE_ACTIVE)
		return 0;
	return EPOLLHUP | EPOLLERR;
}

const struct file_operations peerlane_device_fops = {
	.owner		= THIS_MODULE,
	.open		= device_open,
	.release	= region_close,
	.mmap		= peerlane_file_mmap,
	.poll		= region_poll,
	.unlocked_ioctl	= peerlane_region_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.llseek		= PEERLANE_NO_LLSEEK,
};

const struct file_operations peerlane_region_fops = {
	.owner		= THIS_MODULE,
	.release	= region_close,
	.mmap		= peerlane_file_mmap,
	.poll		= region_poll,
	.unlocked_ioctl	= peerlane_region_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.llseek		= PEERLANE_NO_LLSEEK,
};

const struct file_operations peerlane_control_fops = {
	.owner		= THIS_MODULE,
	.unlocked_ioctl	= peerlane_control_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.llseek		= PEERLANE_NO_LLSEEK,
};
