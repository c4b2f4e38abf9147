// SPDX-License-Identifier: GPL-2.0
/*
 * Exports of device memory as dma-bufs.
 *
 * An export is a user of its region until the dma-buf's release, so whatever an
 * importer still holds, the region, its device and this module are there.
 *
 * pin and unpin are always defined. An exporter without them is "static" to
 * the core, which then caches the first sg_table: a re-map after revocation
 * would be answered from that cache and never ask us.
 *
 * A revoked export is told to importers and maps nothing new. Importers may
 * ignore it (before 7.1 nobody can tell which do): what they have mapped counts
 * in region->attachments, and limbo waits for that. It also waits for fences:
 * until they are signaled an importer's engine may write the memory, though its
 * mapping has gone.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "compat.h"
#include "peerlane.h"
#include "sg_chunk.h"
#include "trace.h"

PEERLANE_IMPORT_NS(DMA_BUF);

/* For importers' work in flight at revocation, of all exports together. */
#define FENCE_TIMEOUT_MS	5000

struct export {
	/* immutable after publish */
	struct peerlane_region *region;	/* one user */
	struct dma_buf *dmabuf;
	struct inode *inode;		/* of dmabuf->file, a reference */
	phys_addr_t phys;
	u64 offset;			/* in the region */
	u64 length;
	u32 flags;			/* PEERLANE_EXPORT_* */

	struct list_head node;		/* region->exports_lock */
	bool revoked;			/* dmabuf->resv */
};

/* What map_dma_buf() hands out. */
struct mapping {
	struct sg_table sgt;
	dma_addr_t addr;		/* importers may trim the entries */
};

static void trace(const struct export *export, const char *action,
		  const struct dma_buf_attachment *attach)
{
	trace_peerlane_dmabuf(export->region->id, action,
			      attach ? dev_name(attach->dev) : "");
}

/* ---- attaching ---- */

static int check_importer(const struct export *export,
			  struct dma_buf_attachment *attach)
{
	u64 id = export->region->id;

	if (READ_ONCE(export->region->state) != PEERLANE_STATE_ACTIVE)
		return peerlane_refuse(NULL, -ENODEV, "region %llu is revoked",
				       id);
	if (!attach->peer2peer)
		return peerlane_refuse(NULL, -EOPNOTSUPP,
				       "importer %s takes system memory only, and region %llu has none to migrate to",
				       dev_name(attach->dev), id);
	if ((export->flags & PEERLANE_EXPORT_REVOCABLE_ONLY) &&
	    !peerlane_dma_buf_revocable(attach))
		return peerlane_refuse(NULL, -EOPNOTSUPP,
				       "importer %s does not say that it lets go when told to, and this export of region %llu wants that",
				       dev_name(attach->dev), id);
	return peerlane_preflight_dma(export->region->dev, export->phys,
				      export->length, attach->dev, NULL);
}

static int export_attach(struct dma_buf *dmabuf,
			 struct dma_buf_attachment *attach)
{
	struct export *export = dmabuf->priv;
	int ret = check_importer(export, attach);

	trace(export, ret ? "attach-refused" : "attach", attach);
	return ret;
}

static void export_detach(struct dma_buf *dmabuf,
			  struct dma_buf_attachment *attach)
{
	trace(dmabuf->priv, "detach", attach);
}

/*
 * The memory never moves, so there is nothing to hold still. On kernels that
 * pin for each mapping this is also called for importers that do not pin.
 */
static int export_pin(struct dma_buf_attachment *attach)
{
	struct export *export = attach->dmabuf->priv;

	dma_resv_assert_held(attach->dmabuf->resv);
	if (export->revoked)
		return -ENODEV;
	trace(export, "pin", attach);
	return 0;
}

static void export_unpin(struct dma_buf_attachment *attach)
{
	trace(attach->dmabuf->priv, "unpin", attach);
}

/* ---- mapping ---- */

static int fill_table(struct sg_table *sgt, dma_addr_t addr, u64 length,
		      u32 chunk)
{
	struct scatterlist *sg;
	unsigned int i;
	int ret;

	ret = sg_alloc_table(sgt, peerlane_sg_chunks(length, chunk), GFP_KERNEL);
	if (ret)
		return ret;
	for_each_sgtable_dma_sg(sgt, sg, i) {
		sg_set_page(sg, NULL, 0, 0);
		sg_dma_address(sg) = addr + (u64)i * chunk;
		sg_dma_len(sg) = peerlane_sg_chunk_length(length, chunk, i);
	}
	/* The CPU's half is empty: an importer that walks pages finds none. */
	sgt->orig_nents = 0;
	return 0;
}

static void free_table(struct sg_table *sgt)
{
	sgt->orig_nents = sgt->nents;
	sg_free_table(sgt);
}

static struct sg_table *export_map(struct dma_buf_attachment *attach,
				   enum dma_data_direction dir)
{
	struct export *export = attach->dmabuf->priv;
	struct mapping *mapping;
	int ret;

	dma_resv_assert_held(attach->dmabuf->resv);
	if (export->revoked)
		return ERR_PTR(-ENODEV);
	mapping = kzalloc(sizeof(*mapping), GFP_KERNEL);
	if (!mapping)
		return ERR_PTR(-ENOMEM);
	/* One call for all: contiguous also in the importer's I/O addresses. */
	mapping->addr = dma_map_resource(attach->dev, export->phys,
					 export->length, dir, 0);
	ret = dma_mapping_error(attach->dev, mapping->addr);
	if (ret)
		goto err_free;
	ret = fill_table(&mapping->sgt, mapping->addr, export->length,
			 peerlane_sg_chunk_size(dma_get_max_seg_size(attach->dev)));
	if (ret)
		goto err_unmap;
	atomic_inc(&export->region->attachments);
	trace(export, "map", attach);
	return &mapping->sgt;

err_unmap:
	dma_unmap_resource(attach->dev, mapping->addr, export->length, dir, 0);
err_free:
	kfree(mapping);
	return ERR_PTR(ret);
}

static void export_unmap(struct dma_buf_attachment *attach,
			 struct sg_table *sgt, enum dma_data_direction dir)
{
	struct mapping *mapping = container_of(sgt, struct mapping, sgt);
	struct export *export = attach->dmabuf->priv;

	trace(export, "unmap", attach);
	dma_unmap_resource(attach->dev, mapping->addr, export->length, dir, 0);
	free_table(sgt);
	kfree(mapping);
	/* Last: limbo may give the memory away as soon as this is 0. */
	atomic_dec(&export->region->attachments);
}

/*
 * A mapping of the dma-buf's own file. It is a mapping of the region in all
 * but the address space, which is the dma-buf's: revoke() zaps that one too.
 */
static int export_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	struct export *export = dmabuf->priv;
	struct peerlane_region *region = export->region;
	int ret;

	ret = peerlane_map_check(vma);
	if (ret)
		return ret;
	peerlane_vm_flags_clear(vma, VM_MAYEXEC);
	/*
	 * Nested: the caller may be mmap of a region that imports this dma-buf
	 * and holds its own lock. Never the other way round.
	 */
	down_read_nested(&region->lock, SINGLE_DEPTH_NESTING);
	ret = peerlane_region_usable(region, NULL);
	if (!ret) {
		vma->vm_pgoff += export->offset >> PAGE_SHIFT;
		ret = peerlane_map_vma(region, vma);
	}
	up_read(&region->lock);
	return ret;
}

/* ---- life of an export ---- */

/*
 * The dma-buf is going: no file, VMA or attachment of it is left. Waits for a
 * revocation that is looking at this export.
 */
static void export_release(struct dma_buf *dmabuf)
{
	struct export *export = dmabuf->priv;
	struct peerlane_region *region = export->region;

	mutex_lock(&region->exports_lock);
	list_del(&export->node);
	mutex_unlock(&region->exports_lock);

	trace(export, "release", NULL);
	iput(export->inode);
	kfree(export);
	atomic_dec(&region->nr_exports);
	peerlane_region_put_user(region);
}

static const struct dma_buf_ops export_ops = {
	.attach		= export_attach,
	.detach		= export_detach,
	.pin		= export_pin,
	.unpin		= export_unpin,
	.map_dma_buf	= export_map,
	.unmap_dma_buf	= export_unmap,
	.mmap		= export_mmap,
	.release	= export_release,
};

bool peerlane_dmabuf_is_ours(const struct dma_buf *dmabuf)
{
	return dmabuf->ops == &export_ops;
}

struct peerlane_region *peerlane_dmabuf_behind(const struct dma_buf *dmabuf,
					       u64 *offset)
{
	const struct export *export = dmabuf->priv;

	*offset = export->offset;
	return export->region;
}

static struct export *export_new(struct peerlane_region *region, u64 offset,
				 u64 length, u32 flags)
{
	struct export *export;

	export = kzalloc(sizeof(*export), GFP_KERNEL_ACCOUNT);
	if (!export)
		return NULL;
	export->region = region;
	export->phys = region->dev->phys + region->offset + offset;
	export->offset = offset;
	export->length = length;
	export->flags = flags;
	return export;
}

/*
 * The lock keeps the region ACTIVE until the export is on the list: whoever
 * revokes changes the state first and looks at the list after.
 */
static void publish(struct export *export)
{
	struct peerlane_region *region = export->region;

	lockdep_assert_held(&region->lock);
	peerlane_region_get_user(region);
	atomic_inc(&region->nr_exports);
	mutex_lock(&region->exports_lock);
	list_add_tail(&export->node, &region->exports);
	mutex_unlock(&region->exports_lock);
	trace(export, "export", NULL);
}

struct dma_buf *peerlane_dmabuf_export(struct peerlane_region *region,
				       u64 offset, u64 length, u32 flags,
				       struct peerlane_msg *msg)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *dmabuf;
	struct export *export;

	export = export_new(region, offset, length, flags);
	if (!export)
		return ERR_PTR(peerlane_refuse(msg, -ENOMEM,
					       "no memory for an export"));
	info.ops = &export_ops;
	info.size = length;
	info.flags = O_RDWR;
	info.priv = export;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf)) {
		kfree(export);
		peerlane_refuse(msg, PTR_ERR(dmabuf),
				"the kernel could not make a dma-buf");
		return dmabuf;
	}
	/* From here the export is the dma-buf's, and its release ends it. */
	export->dmabuf = dmabuf;
	export->inode = file_inode(dmabuf->file);
	ihold(export->inode);
	publish(export);
	return dmabuf;
}

static void take_away(struct export *export)
{
	struct dma_resv *resv = export->dmabuf->resv;

	dma_resv_lock(resv, NULL);
	export->revoked = true;
	peerlane_dma_buf_invalidate(export->dmabuf);
	dma_resv_unlock(resv);
	unmap_mapping_range(export->inode->i_mapping, 0, 0, 1);
	trace(export, "revoke", NULL);
}

/* Returns what is left of @timeout, in jiffies. */
static unsigned long wait_for_work(struct export *export, unsigned long timeout)
{
	long left = dma_resv_wait_timeout(export->dmabuf->resv,
					  DMA_RESV_USAGE_BOOKKEEP, false,
					  timeout);

	return max(left, 0L);
}

unsigned int peerlane_dmabuf_in_flight(struct peerlane_region *region)
{
	struct export *export;
	unsigned int n = 0;

	mutex_lock(&region->exports_lock);
	list_for_each_entry(export, &region->exports, node)
		n += !dma_resv_test_signaled(export->dmabuf->resv,
					     DMA_RESV_USAGE_BOOKKEEP);
	mutex_unlock(&region->exports_lock);
	return n;
}

/*
 * Most importers need their own work to end before they unmap, so wait a little
 * for it. What takes longer is limbo's to wait for.
 *
 * No file reference is taken: it may be 0 already. A dma-buf on the list is
 * there all the same, as its release waits for exports_lock, and we hold its
 * inode ourselves, which its dentry has dropped by then.
 */
void peerlane_dmabuf_revoke(struct peerlane_region *region)
{
	unsigned long timeout = msecs_to_jiffies(FENCE_TIMEOUT_MS);
	struct export *export;

	WARN_ON_ONCE(READ_ONCE(region->state) == PEERLANE_STATE_ACTIVE);
	mutex_lock(&region->exports_lock);
	list_for_each_entry(export, &region->exports, node)
		take_away(export);
	list_for_each_entry(export, &region->exports, node)
		timeout = wait_for_work(export, timeout);
	mutex_unlock(&region->exports_lock);
}
