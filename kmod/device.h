/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory devices: what they are made of, and who has their memory. Locks are told
 * in peerlane.h.
 */
#ifndef PEERLANE_DEVICE_H
#define PEERLANE_DEVICE_H

#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/list.h>
#include <linux/memremap.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <uapi/peerlane.h>

#include "units.h"

#define PEERLANE_MINORS		256

struct peerlane_msg;
struct peerlane_region;

/* ---- device.c: memory devices ---- */

struct peerlane_device {
	/* immutable after publish */
	struct device dev;
	struct cdev cdev;
	int id;
	int bar;			/* or -1 */
	u32 kind;			/* PEERLANE_KIND_BAR or _DRIVER */
	u32 memtype;			/* PEERLANE_MEMTYPE_* */
	bool owner_allocates;		/* no pool: the other driver has it */
	struct module *owner;
	struct pci_dev *pdev;		/* may be NULL */
	phys_addr_t phys;
	u64 size;
	void *vaddr;			/* of pgmap; NULL: no pages */
	struct dev_pagemap pgmap;
	struct list_head node;		/* devices_lock */

	spinlock_t wipe_lock;
	/* protected by wipe_lock */
	bool resetting;			/* the memory does not answer */
	unsigned int wipers;
	wait_queue_head_t wipe_wait;	/* either has become 0 */

	struct mutex lock;
	/* protected by lock */
	bool dead;			/* or in a reset */
	struct peerlane_pool pool;
	struct list_head regions;	/* that hold memory */
	unsigned int holders;		/* those, and some being made */
	u64 user_limit;			/* bytes; READ_ONCE outside */

	wait_queue_head_t idle;		/* holders reached 0 */
};

struct peerlane_device_args {
	struct device *parent;
	struct pci_dev *pdev;
	struct module *owner;
	const char *name;		/* "gpu": a number is appended */
	phys_addr_t phys;
	u64 size;
	u32 kind;
	int bar;
	bool owner_allocates;
};

int peerlane_devices_init(void);
void peerlane_devices_exit(void);
struct peerlane_device *peerlane_device_create(const struct peerlane_device_args *args,
					       struct peerlane_msg *msg);
/*
 * A reset lies between these two. Regions are revoked, new ones refused; after
 * it no memory is known to be zero. May sleep; does not wait for pins.
 */
void peerlane_device_reset_begin(struct peerlane_device *dev);
void peerlane_device_reset_end(struct peerlane_device *dev);
/* The first half of the end: no new regions, and none active. */
void peerlane_device_die(struct peerlane_device *dev);
/* Unpublish, revoke, wait until every pin is gone, free. */
void peerlane_device_destroy(struct peerlane_device *dev);
static inline const char *peerlane_device_name(const struct peerlane_device *dev)
{
	return dev_name(&dev->dev);
}

/*
 * A hold keeps the device's pages; removal waits for it. -ENODEV: the device is
 * going.
 */
int peerlane_device_hold(struct peerlane_device *dev);
void peerlane_device_unhold(struct peerlane_device *dev);
/* A reference on the driver that brought the device; false: it is going. */
bool peerlane_device_get_owner(struct peerlane_device *dev);
/*
 * List the region and make it ACTIVE, in one step. -ENODEV: the device is
 * going. region->lock held for write; the caller has a hold.
 */
int peerlane_device_attach(struct peerlane_device *dev,
			   struct peerlane_region *region);
void peerlane_device_detach(struct peerlane_device *dev,
			    struct peerlane_region *region);
/* Count @span in or out of limbo. */
void peerlane_device_limbo(struct peerlane_device *dev, u64 span, bool enter);

/* One record per device, in order of id. Returns how many there are. */
u32 peerlane_device_records(struct peerlane_device_record *records, u32 room);
bool peerlane_device_present(const struct peerlane_device *dev);

/* ---- pool.c: 2 MiB units of a device ---- */

int peerlane_pool_init(struct peerlane_pool *pool, u64 size);
void peerlane_pool_fini(struct peerlane_pool *pool);
/*
 * Contiguous, zeroed. device->lock is not held, as wiping takes long. The
 * caller is a wiper.
 */
int peerlane_pool_alloc(struct peerlane_device *dev, u64 span, u64 *offset,
			struct peerlane_msg *msg);
/* Wipes when the device is there, then frees. */
void peerlane_pool_free(struct peerlane_device *dev, u64 offset, u64 span);
/* Leaves the wiping to the next allocation. */
void peerlane_pool_free_dirty(struct peerlane_device *dev, u64 offset, u64 span);

/* ---- reset.c: memory that goes away for a while ---- */

/* Between these two the device is not reset. begin waits for the end of one. */
bool peerlane_wipe_try(struct peerlane_device *dev);
void peerlane_wipe_begin(struct peerlane_device *dev);
void peerlane_wipe_end(struct peerlane_device *dev);

/* ---- pages.c: struct pages over a device's memory ---- */

int peerlane_pages_map(struct peerlane_device *dev, struct peerlane_msg *msg);
void peerlane_pages_unmap(struct peerlane_device *dev);
/* Units of [offset, offset + span) whose head page has a foreign reference. */
unsigned int peerlane_pages_pinned(const struct peerlane_device *dev,
				   u64 offset, u64 span);
static inline struct page *peerlane_page(const struct peerlane_device *dev,
					 u64 offset)
{
	return pfn_to_page(PHYS_PFN(dev->phys + offset));
}
/* Can this machine map device memory with pages at all? */
int peerlane_pages_supported(struct peerlane_msg *msg);

#endif /* PEERLANE_DEVICE_H */
