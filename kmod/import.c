// SPDX-License-Identifier: GPL-2.0
/*
 * Regions that are another driver's dma-buf, or a part of one.
 *
 * The region holds the dma-buf and nothing else: no attachment, so the exporter
 * may move the memory until an endpoint attaches.
 *
 * A CPU mapping is the exporter's, not ours: dma_buf_mmap() makes it a mapping
 * of the dma-buf's own file, with the exporter's fault handler, so that the
 * exporter can take it away. Therefore it does not count in region->mappings,
 * outlives the region, and stays when the region is revoked: zapping the
 * dma-buf's address space would hit mappings that others made of it (all
 * buffers of a DRM device share one), and fault handlers would put ours back.
 * What revocation of an import ends is new mappings and DMA by this region.
 */
#include <linux/dma-buf.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "compat.h"
#include "peerlane.h"
#include "range.h"

struct import {
	struct dma_buf *dmabuf;		/* a reference */
	u64 offset;			/* of the region in it */
	bool whole;
};

static u32 import_kind(const struct peerlane_region *region)
{
	return PEERLANE_KIND_DMABUF;
}

static u32 import_caps(const struct peerlane_region *region)
{
	const struct import *import = region->priv;
	u32 caps = PEERLANE_CAP_HW_DMA | PEERLANE_CAP_REVOKE;

	if (import->dmabuf->ops->mmap)
		caps |= PEERLANE_CAP_MMAP;
	if (import->whole)
		caps |= PEERLANE_CAP_EXPORT;
	/* Software NICs need pages, and only of ours do we know that they exist. */
	if (peerlane_dmabuf_is_ours(import->dmabuf))
		caps |= PEERLANE_CAP_VIRT_DMA;
	return caps;
}

/* The region file is open for writing, the dma-buf perhaps is not. */
static int check_write(const struct import *import, struct vm_area_struct *vma)
{
	if ((import->dmabuf->file->f_mode & FMODE_WRITE) ||
	    !(vma->vm_flags & VM_MAYSHARE))
		return 0;
	if (vma->vm_flags & VM_WRITE)
		return peerlane_refuse(NULL, -EACCES,
				       "the imported dma-buf is open for reading only");
	peerlane_vm_flags_clear(vma, VM_MAYWRITE);
	return 0;
}

static int import_mmap(struct peerlane_region *region,
		       struct vm_area_struct *vma)
{
	const struct import *import = region->priv;
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 length = vma->vm_end - vma->vm_start;
	int ret;

	if (!import->dmabuf->ops->mmap)
		return peerlane_refuse(NULL, -EOPNOTSUPP,
				       "exporter %s of this dma-buf cannot map it for the CPU",
				       import->dmabuf->exp_name);
	if (vma->vm_pgoff > U64_MAX >> PAGE_SHIFT ||
	    !peerlane_range_within(offset, length, region->length))
		return peerlane_refuse(NULL, -EINVAL,
				       "mmap is beyond the region's %llu bytes",
				       region->length);
	ret = check_write(import, vma);
	if (ret)
		return ret;
	/* mremap() asks nobody: it must not grow beyond the part imported. */
	peerlane_vm_flags_set(vma, VM_DONTEXPAND);
	return dma_buf_mmap(import->dmabuf, vma,
			    (import->offset + offset) >> PAGE_SHIFT);
}

static struct dma_buf *import_export(struct peerlane_region *region, u64 offset,
				     u64 length, u32 flags,
				     struct peerlane_msg *msg)
{
	const struct import *import = region->priv;
	int ret = 0;

	if (flags)
		ret = peerlane_refuse(msg, -EOPNOTSUPP,
				      "an imported dma-buf is handed on as it came: flags cannot be added");
	else if (!import->whole)
		ret = peerlane_refuse(msg, -EOPNOTSUPP,
				      "the region is a part of a dma-buf, and only a whole one can be handed on");
	else if (offset || length != region->length)
		ret = peerlane_refuse(msg, -EINVAL,
				      "an imported dma-buf is handed on whole: offset 0, length %llu",
				      region->length);
	if (ret)
		return ERR_PTR(ret);
	get_dma_buf(import->dmabuf);
	return import->dmabuf;
}

static void import_memory(struct peerlane_region *region,
			  struct peerlane_memory *memory)
{
	const struct import *import = region->priv;
	struct dma_buf *dmabuf = import->dmabuf;

	/* Ours needs no attachment, and can be reached without a device's DMA. */
	if (peerlane_dmabuf_is_ours(dmabuf))
		memory->owner = peerlane_dmabuf_behind(dmabuf, &memory->offset);
	else
		memory->dmabuf = dmabuf;
	memory->offset += import->offset;
	memory->writable = dmabuf->file->f_mode & FMODE_WRITE;
}

/* DMA mappings are counted in region->attachments. */
static unsigned int import_pinned(struct peerlane_region *region)
{
	return 0;
}

static void import_free(struct import *import)
{
	dma_buf_put(import->dmabuf);
	kfree(import);
}

static void import_release(struct peerlane_region *region)
{
	import_free(region->priv);
}

static const struct peerlane_region_kind import_region_kind = {
	.kind		= import_kind,
	.caps		= import_caps,
	.mmap		= import_mmap,
	.export		= import_export,
	.memory		= import_memory,
	.pinned		= import_pinned,
	.release	= import_release,
};

/* @length 0 becomes the rest of @size, without an incomplete last page. */
static int check_part(u64 size, u64 offset, u64 *length,
		      struct peerlane_msg *msg)
{
	if (!PAGE_ALIGNED(offset) || !PAGE_ALIGNED(*length))
		return peerlane_refuse(msg, -EINVAL,
				       "offset %#llx and length %#llx must be multiples of the page size",
				       offset, *length);
	if (peerlane_range_wraps(offset, *length))
		return peerlane_refuse(msg, -EOVERFLOW,
				       "offset %#llx + length %#llx is beyond 64 bits",
				       offset, *length);
	if (!*length && offset < size)
		*length = rounddown(size - offset, PAGE_SIZE);
	if (!*length || !peerlane_range_within(offset, *length, size))
		return peerlane_refuse(msg, -EINVAL,
				       "[%#llx, %#llx) is empty or beyond the dma-buf's %#llx bytes",
				       offset, offset + *length, size);
	return 0;
}

static struct import *import_new(int fd, struct peerlane_msg *msg)
{
	struct import *import;
	struct dma_buf *dmabuf;
	int ret;

	dmabuf = dma_buf_get(fd);
	if (IS_ERR(dmabuf)) {
		ret = PTR_ERR(dmabuf);
		/* -EINVAL is its answer for a file of another type */
		return ERR_PTR(peerlane_refuse(msg, ret == -EINVAL ? -EBADF : ret,
					       ret == -EINVAL ?
					       "fd %d is not a dma-buf" :
					       "fd %d is not open", fd));
	}
	import = kzalloc(sizeof(*import), GFP_KERNEL_ACCOUNT);
	if (!import) {
		dma_buf_put(dmabuf);
		return ERR_PTR(peerlane_refuse(msg, -ENOMEM,
					       "no memory for an import"));
	}
	import->dmabuf = dmabuf;
	return import;
}

struct peerlane_region *peerlane_import(int fd, u64 offset, u64 length,
					struct peerlane_msg *msg)
{
	struct peerlane_region *region;
	struct import *import;
	int ret;

	import = import_new(fd, msg);
	if (IS_ERR(import))
		return ERR_CAST(import);
	ret = check_part(import->dmabuf->size, offset, &length, msg);
	if (ret)
		goto err_free;
	import->offset = offset;
	import->whole = !offset && length == import->dmabuf->size;

	region = peerlane_region_new(&import_region_kind, NULL, msg);
	if (IS_ERR(region)) {
		ret = PTR_ERR(region);
		goto err_free;
	}
	/* From here the import is the region's. */
	peerlane_region_activate(region, length, import);
	return region;

err_free:
	import_free(import);
	return ERR_PTR(ret);
}
