/* SPDX-License-Identifier: GPL-2.0 */
/*
 * peerlane: calls for other kernel drivers that own accelerator memory.
 *
 * A driver with memory that the CPU can reach (a BAR or a part of it) gets
 * /dev/peerlane/<name><N>, mmap, dma-buf export, revocation and teardown
 * without writing them. All calls may sleep.
 */
#ifndef _LINUX_PEERLANE_H
#define _LINUX_PEERLANE_H

#include <linux/types.h>

struct device;
struct file;
struct module;
struct peerlane_device;

/**
 * struct peerlane_device_desc - memory that a driver brings
 * @name: node name without number, [a-z][a-z0-9_-]*, at most 16 bytes
 * @parent: the device, usually a PCI function; its driver's module is pinned
 *	while regions live
 * @owner: THIS_MODULE
 * @phys: CPU physical address, 2 MiB aligned
 * @size: bytes, multiple of 2 MiB; no struct page may exist for the range
 * @owner_allocates: peerlane_region_create() is used instead of peerlane's
 *	own pool; open() of the node then gives files without memory
 */
struct peerlane_device_desc {
	const char *name;
	struct device *parent;
	struct module *owner;
	phys_addr_t phys;
	u64 size;
	bool owner_allocates;
};

/**
 * struct peerlane_region_owner_ops - calls back into the driver
 * @release: nobody can reach or write the range any more; the driver may give
 *	it to another user. Called once, from a workqueue, may sleep. Contents
 *	are as the last user left them: wiping is the driver's.
 */
struct peerlane_region_owner_ops {
	void (*release)(void *priv);
};

/**
 * peerlane_register_device() - publish memory
 * @desc: copied
 *
 * Return: the device, or ERR_PTR: -EINVAL a field is wrong, -EOPNOTSUPP this
 * machine cannot map it, -EBUSY pages or another memory type exist for the
 * range, -ENOMEM.
 */
struct peerlane_device *
peerlane_register_device(const struct peerlane_device_desc *desc);

/**
 * peerlane_unregister_device() - take it back
 *
 * Revokes all regions and returns when no CPU mapping, pin or DMA mapping is
 * left and every release callback has run. Regions hold @owner, so a module
 * exit is not delayed by it; a hot-unplug may be.
 */
void peerlane_unregister_device(struct peerlane_device *dev);

/**
 * peerlane_region_create() - a region of a range that the driver allocated
 * @dev: registered with @owner_allocates
 * @offset: bytes, 2 MiB aligned (references are counted per 2 MiB)
 * @length: bytes, page-aligned; the range up to the next 2 MiB is taken
 * @ops: must outlive the region
 * @priv: for @ops
 *
 * Return: a file for fd_install(), or ERR_PTR; on failure @ops->release is not
 * called.
 */
struct file *peerlane_region_create(struct peerlane_device *dev, u64 offset,
				    u64 length,
				    const struct peerlane_region_owner_ops *ops,
				    void *priv);

/**
 * peerlane_region_file_revoke() - cut every user of such a region
 * @file: from peerlane_region_create()
 *
 * Return: 0, or -EBUSY if it is revoked already.
 */
int peerlane_region_file_revoke(struct file *file);

#endif /* _LINUX_PEERLANE_H */
