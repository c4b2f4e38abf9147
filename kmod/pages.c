// SPDX-License-Identifier: GPL-2.0
/*
 * Struct pages over device memory.
 *
 * MEMORY_DEVICE_GENERIC pages can be pinned for long by GUP, hence by
 * ibv_reg_mr(), on every kernel; P2PDMA pages cannot. vmemmap_shift makes each
 * 2 MiB one compound page: references are counted on its head, and the struct
 * pages of the tail share memory.
 */
#include <linux/cc_platform.h>
#include <linux/io.h>
#include <linux/memremap.h>
#include <linux/mm.h>
#ifdef CONFIG_X86
#include <asm/memtype.h>
#endif

#include "peerlane.h"

int peerlane_pages_supported(struct peerlane_msg *msg)
{
	if (!IS_ENABLED(CONFIG_X86_64))
		return peerlane_refuse(msg, -EOPNOTSUPP,
				       "device memory is mapped on x86-64 only so far: the memory type is not proven elsewhere");
	if (!IS_ENABLED(CONFIG_ZONE_DEVICE))
		return peerlane_refuse(msg, -EOPNOTSUPP,
				       "the kernel is built without CONFIG_ZONE_DEVICE");
	if (cc_platform_has(CC_ATTR_MEM_ENCRYPT))
		return peerlane_refuse(msg, -EOPNOTSUPP,
				       "memory encryption is on: the kernel would map device memory encrypted");
#ifdef CONFIG_X86
	if (!pat_enabled())
		return peerlane_refuse(msg, -EOPNOTSUPP,
				       "PAT is off: device memory cannot be mapped write-combining");
#endif
	return 0;
}

static int refuse_remap(const struct peerlane_device *dev, int err,
			struct peerlane_msg *msg)
{
	if (err == -ENOMEM)
		return peerlane_refuse(msg, err,
				       "no memory for the struct pages of %pa (%llu bytes), or another driver has pages there",
				       &dev->phys, dev->size);
	return peerlane_refuse(msg, err,
			       "no struct pages for %pa (%llu bytes): %d; beyond the CPU's address limit, or another driver has pages there",
			       &dev->phys, dev->size, err);
}

static int reserve_wc(struct peerlane_device *dev, struct peerlane_msg *msg)
{
	int ret = arch_io_reserve_memtype_wc(dev->phys, dev->size);

	if (ret == -ENOMEM)
		return peerlane_refuse(msg, ret, "no memory for a memory type");
	if (ret)
		return peerlane_refuse(msg, -EBUSY,
				       "memory at %pa is mapped with another memory type by someone else (%d)",
				       &dev->phys, ret);
	dev->memtype = PEERLANE_MEMTYPE_WC;
	return 0;
}

int peerlane_pages_map(struct peerlane_device *dev, struct peerlane_msg *msg)
{
	struct dev_pagemap *pgmap = &dev->pgmap;
	void *vaddr;
	int ret;

	ret = peerlane_pages_supported(msg);
	if (ret)
		return ret;
	/* Before memremap, which takes over the type that is reserved then. */
	ret = reserve_wc(dev, msg);
	if (ret)
		return ret;

	pgmap->type = MEMORY_DEVICE_GENERIC;
	pgmap->vmemmap_shift = PEERLANE_UNIT_SHIFT - PAGE_SHIFT;
	pgmap->nr_range = 1;
	pgmap->range.start = dev->phys;
	pgmap->range.end = dev->phys + dev->size - 1;
	vaddr = memremap_pages(pgmap, dev_to_node(dev->dev.parent));
	if (IS_ERR(vaddr)) {
		arch_io_free_memtype_wc(dev->phys, dev->size);
		return refuse_remap(dev, PTR_ERR(vaddr), msg);
	}
	dev->vaddr = vaddr;
	return 0;
}

void peerlane_pages_unmap(struct peerlane_device *dev)
{
	if (!dev->vaddr)
		return;
	memunmap_pages(&dev->pgmap);
	arch_io_free_memtype_wc(dev->phys, dev->size);
	dev->vaddr = NULL;
}

unsigned int peerlane_pages_pinned(const struct peerlane_device *dev,
				   u64 offset, u64 span)
{
	unsigned int pinned = 0;
	u64 at;

	/* Each head page carries one reference from memremap_pages(). */
	for (at = offset; at < offset + span; at += PEERLANE_UNIT)
		if (page_ref_count(peerlane_page(dev, at)) != 1)
			pinned++;
	return pinned;
}
