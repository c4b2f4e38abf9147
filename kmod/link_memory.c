// SPDX-License-Identifier: GPL-2.0
/*
 * Mapping of a region's bytes for one device. By kind of memory:
 *
 * device memory	the CPU's address of its pages; or one dma_map_resource(),
 *			after a look at the way between the two functions
 * pinned pages		the CPU's address of each run; or a list of our own, as
 *			each device's mapping writes into the list
 * another driver's	an attachment, pinned, so that the exporter takes the
 *  dma-buf		memory away only for good; nothing for the CPU, as
 *			there may be no pages
 *
 * One of our own dma-bufs is the device memory behind it.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "compat.h"
#include "link_map.h"
#include "link_memory.h"
#include "sg_chunk.h"

/* For an exporter's own work on the memory, such as moving it here. */
#define FENCE_TIMEOUT_MS	5000

static int ranges_alloc(struct link_memory *memory, u32 room,
			struct peerlane_msg *msg)
{
	memory->ranges.list = kvmalloc_array(room,
					     sizeof(*memory->ranges.list),
					     GFP_KERNEL_ACCOUNT);
	if (!memory->ranges.list)
		return peerlane_refuse(msg, -ENOMEM,
				       "no memory for %u ranges of region %llu",
				       room, memory->region->id);
	memory->ranges.room = room;
	return 0;
}

static void ranges_free(struct link_memory *memory)
{
	kvfree(memory->ranges.list);
	memory->ranges = (struct link_ranges) {};
}

static int refuse_mapping(const struct link_memory *memory, int err,
			  struct peerlane_msg *msg)
{
	return peerlane_refuse(msg, err,
			       "the kernel cannot map region %llu for %s: error %d",
			       memory->region->id, dev_name(memory->dma), -err);
}

/* ---- device memory ---- */

static int map_resource(struct link_memory *memory, u64 offset, u64 *addr,
			struct peerlane_msg *msg)
{
	struct peerlane_device *dev = memory->where.owner->dev;
	u64 length = memory->region->length;
	phys_addr_t phys = dev->phys + offset;
	int ret;

	ret = peerlane_preflight_dma(dev, phys, length, memory->dma, msg);
	if (ret)
		return ret;
	*addr = dma_map_resource(memory->dma, phys, length, memory->dir, 0);
	ret = dma_mapping_error(memory->dma, *addr);
	return ret ? refuse_mapping(memory, ret, msg) : 0;
}

static int address_device(struct link_memory *memory, struct peerlane_msg *msg)
{
	struct peerlane_region *owner = memory->where.owner;
	u64 offset = owner->offset + memory->where.offset;
	u64 addr;
	int ret;

	ret = ranges_alloc(memory, 1, msg);
	if (ret)
		return ret;
	if (memory->dma)
		ret = map_resource(memory, offset, &addr, msg);
	else
		addr = (uintptr_t)owner->dev->vaddr + offset;
	if (ret) {
		ranges_free(memory);
		return ret;
	}
	/* Whole pages, and it is the first: this cannot fail. */
	return link_ranges_add(&memory->ranges, addr, memory->region->length);
}

static int map_device(struct link_memory *memory, struct peerlane_msg *msg)
{
	struct peerlane_region *owner = memory->where.owner;
	int ret;

	if (owner == memory->region)
		return address_device(memory, msg);

	ret = peerlane_region_begin_dma(owner, msg);
	if (ret)
		return ret;
	memory->revoker = link_revoker_new(memory->region, owner, msg);
	if (IS_ERR(memory->revoker)) {
		ret = PTR_ERR(memory->revoker);
		goto err_end;
	}
	ret = address_device(memory, msg);
	if (ret)
		goto err_revoker;
	return 0;

err_revoker:
	link_revoker_end(memory->revoker);
err_end:
	memory->revoker = NULL;
	peerlane_region_end_dma(owner);
	return ret;
}

static void unmap_device(struct link_memory *memory)
{
	struct peerlane_region *owner = memory->where.owner;

	if (memory->dma)
		dma_unmap_resource(memory->dma, memory->ranges.list[0].addr,
				   memory->ranges.length, memory->dir, 0);
	if (owner == memory->region)
		return;
	link_revoker_end(memory->revoker);
	peerlane_region_end_dma(owner);
}

/* ---- pinned pages ---- */

static int map_pages_virtual(struct link_memory *memory,
			     struct peerlane_msg *msg)
{
	const struct sg_table *pages = memory->where.pages;
	struct scatterlist *sg;
	unsigned int i;
	int ret;

	ret = ranges_alloc(memory, pages->orig_nents, msg);
	if (ret)
		return ret;
	for_each_sgtable_sg(pages, sg, i) {
		ret = link_ranges_add(&memory->ranges, (uintptr_t)sg_virt(sg),
				      sg->length);
		if (WARN_ON_ONCE(ret)) {
			ranges_free(memory);
			return ret;
		}
		cond_resched();
	}
	return 0;
}

/* The highest page is what the device can reach least. */
static int check_reach(const struct link_memory *memory,
		       struct peerlane_msg *msg)
{
	struct scatterlist *sg;
	phys_addr_t top = 0;
	unsigned int i;

	for_each_sgtable_sg(memory->where.pages, sg, i)
		top = max(top, sg_phys(sg) + sg->length - PAGE_SIZE);
	return peerlane_dma_reach(memory->dma, top, PAGE_SIZE, msg);
}

static unsigned int count_chunks(const struct sg_table *pages, u32 chunk)
{
	struct scatterlist *sg;
	unsigned int i, n = 0;

	for_each_sgtable_sg(pages, sg, i)
		n += peerlane_sg_chunks(sg->length, chunk);
	return n;
}

static int copy_pages(struct link_memory *memory)
{
	u32 chunk = peerlane_sg_chunk_size(dma_get_max_seg_size(memory->dma));
	const struct sg_table *pages = memory->where.pages;
	struct scatterlist *from, *to;
	unsigned long first;
	unsigned int i;
	u32 at, part;
	int ret;

	ret = sg_alloc_table(&memory->host, count_chunks(pages, chunk),
			     GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret;
	to = memory->host.sgl;
	for_each_sgtable_sg(pages, from, i) {
		first = page_to_pfn(sg_page(from));
		for (at = 0; at < from->length; at += part) {
			part = min(from->length - at, chunk);
			sg_set_page(to, pfn_to_page(first + (at >> PAGE_SHIFT)),
				    part, 0);
			to = sg_next(to);
		}
		cond_resched();
	}
	return 0;
}

static int add_table(struct link_memory *memory, const struct sg_table *sgt)
{
	struct scatterlist *sg;
	unsigned int i;
	int ret;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		ret = link_ranges_add(&memory->ranges, sg_dma_address(sg),
				      sg_dma_len(sg));
		if (ret)
			return ret;
		cond_resched();
	}
	return 0;
}

static int map_pages(struct link_memory *memory, struct peerlane_msg *msg)
{
	int ret;

	if (!memory->dma)
		return map_pages_virtual(memory, msg);
	ret = check_reach(memory, msg);
	if (ret)
		return ret;
	ret = copy_pages(memory);
	if (ret)
		return peerlane_refuse(msg, ret,
				       "no memory for a list of the pages of region %llu",
				       memory->region->id);
	ret = dma_map_sgtable(memory->dma, &memory->host, memory->dir, 0);
	if (ret) {
		refuse_mapping(memory, ret, msg);
		goto err_table;
	}
	ret = ranges_alloc(memory, memory->host.nents, msg);
	if (ret)
		goto err_unmap;
	ret = add_table(memory, &memory->host);
	if (ret) {
		refuse_mapping(memory, ret, msg);
		goto err_ranges;
	}
	return 0;

err_ranges:
	ranges_free(memory);
err_unmap:
	dma_unmap_sgtable(memory->dma, &memory->host, memory->dir, 0);
err_table:
	sg_free_table(&memory->host);
	return ret;
}

static void unmap_pages(struct link_memory *memory)
{
	if (!memory->dma)
		return;
	dma_unmap_sgtable(memory->dma, &memory->host, memory->dir, 0);
	sg_free_table(&memory->host);
}

/* ---- another driver's dma-buf ---- */

/* It was pinned, so the exporter wants it back for good. dma_resv is held. */
static void taken_away(struct dma_buf_attachment *attach)
{
	link_revoker_fire(attach->importer_priv);
}

static const struct dma_buf_attach_ops attach_ops = {
	.allow_peer2peer = true,
	.PEERLANE_INVALIDATE = taken_away,
};

static int refuse_dmabuf(const struct link_memory *memory, int err,
			 const char *what, struct peerlane_msg *msg)
{
	return peerlane_refuse(msg, err,
			       "exporter %s of the dma-buf of region %llu does not %s it for %s: error %d",
			       memory->where.dmabuf->exp_name,
			       memory->region->id, what,
			       dev_name(memory->dma), -err);
}

static int wait_for_exporter(const struct link_memory *memory)
{
	long left;

	left = dma_resv_wait_timeout(memory->where.dmabuf->resv,
				     DMA_RESV_USAGE_KERNEL, false,
				     msecs_to_jiffies(FENCE_TIMEOUT_MS));
	if (left < 0)
		return left;
	return left ? 0 : -ETIMEDOUT;
}

static int pin_and_map(struct link_memory *memory, struct peerlane_msg *msg)
{
	struct sg_table *sgt;
	int ret;

	dma_resv_assert_held(memory->where.dmabuf->resv);
	ret = dma_buf_pin(memory->attach);
	if (ret)
		return refuse_dmabuf(memory, ret, "pin", msg);
	sgt = dma_buf_map_attachment(memory->attach, memory->dir);
	if (IS_ERR(sgt)) {
		ret = refuse_dmabuf(memory, PTR_ERR(sgt), "map", msg);
		goto err_unpin;
	}
	ret = wait_for_exporter(memory);
	if (ret) {
		refuse_dmabuf(memory, ret, "finish its own work on", msg);
		goto err_unmap;
	}
	memory->attached = sgt;
	return 0;

err_unmap:
	dma_buf_unmap_attachment(memory->attach, sgt, memory->dir);
err_unpin:
	dma_buf_unpin(memory->attach);
	return ret;
}

static void unpin_and_unmap(struct link_memory *memory)
{
	struct dma_resv *resv = memory->where.dmabuf->resv;

	dma_resv_lock(resv, NULL);
	dma_buf_unmap_attachment(memory->attach, memory->attached, memory->dir);
	dma_buf_unpin(memory->attach);
	dma_resv_unlock(resv);
}

/* The part of the table that is the region. */
static int add_part(struct link_memory *memory)
{
	u64 skip = memory->where.offset, left = memory->region->length, part;
	struct scatterlist *sg;
	unsigned int i;
	int ret;

	for_each_sgtable_dma_sg(memory->attached, sg, i) {
		part = sg_dma_len(sg);
		if (skip >= part) {
			skip -= part;
			continue;
		}
		part = min(part - skip, left);
		ret = link_ranges_add(&memory->ranges,
				      sg_dma_address(sg) + skip, part);
		if (ret)
			return ret;
		skip = 0;
		left -= part;
		if (!left)
			return 0;
	}
	return -EINVAL;
}

static int attach_and_map(struct link_memory *memory, struct peerlane_msg *msg)
{
	struct dma_buf *dmabuf = memory->where.dmabuf;
	int ret;

	memory->attach = dma_buf_dynamic_attach(dmabuf, memory->dma,
						&attach_ops, memory->revoker);
	if (IS_ERR(memory->attach))
		return refuse_dmabuf(memory, PTR_ERR(memory->attach), "attach",
				     msg);
	dma_resv_lock(dmabuf->resv, NULL);
	ret = pin_and_map(memory, msg);
	dma_resv_unlock(dmabuf->resv);
	if (ret)
		goto err_detach;
	ret = ranges_alloc(memory, memory->attached->nents, msg);
	if (ret)
		goto err_unmap;
	ret = add_part(memory);
	if (ret) {
		ret = peerlane_refuse(msg, -EOPNOTSUPP,
				      "exporter %s gave addresses for region %llu that are not whole pages",
				      dmabuf->exp_name, memory->region->id);
		goto err_ranges;
	}
	return 0;

err_ranges:
	ranges_free(memory);
err_unmap:
	unpin_and_unmap(memory);
err_detach:
	dma_buf_detach(dmabuf, memory->attach);
	return ret;
}

static int map_dmabuf(struct link_memory *memory, struct peerlane_msg *msg)
{
	int ret;

	memory->revoker = link_revoker_new(memory->region, NULL, msg);
	if (IS_ERR(memory->revoker))
		return PTR_ERR(memory->revoker);
	ret = attach_and_map(memory, msg);
	if (ret)
		link_revoker_end(memory->revoker);
	return ret;
}

static void unmap_dmabuf(struct link_memory *memory)
{
	unpin_and_unmap(memory);
	/* After it nobody is told any more. */
	dma_buf_detach(memory->where.dmabuf, memory->attach);
	link_revoker_end(memory->revoker);
}

/* ---- all kinds ---- */

static int map_kind(struct link_memory *memory, const char *name,
		    struct peerlane_msg *msg)
{
	if (memory->where.owner)
		return map_device(memory, msg);
	if (memory->where.pages)
		return map_pages(memory, msg);
	if (!memory->dma)
		return peerlane_refuse(msg, -EOPNOTSUPP,
				       "%s copies by the CPU, and region %llu is a dma-buf of %s: only of peerlane's own is it known that they have pages",
				       name, memory->region->id,
				       memory->where.dmabuf->exp_name);
	return map_dmabuf(memory, msg);
}

int link_memory_map(struct link_memory *memory, struct peerlane_region *region,
		    const struct link_map_target *target,
		    struct peerlane_msg *msg)
{
	int ret;

	memory->region = region;
	memory->dma = target->dma;
	region->kind->memory(region, &memory->where);
	memory->dir = memory->where.writable ? DMA_BIDIRECTIONAL :
					       DMA_TO_DEVICE;
	ret = map_kind(memory, target->name, msg);
	/* What preflight found is no reason here. */
	if (!ret)
		peerlane_say(msg, "%s", "");
	return ret;
}

void link_memory_unmap(struct link_memory *memory)
{
	if (memory->where.owner)
		unmap_device(memory);
	else if (memory->where.pages)
		unmap_pages(memory);
	else
		unmap_dmabuf(memory);
	ranges_free(memory);
}
