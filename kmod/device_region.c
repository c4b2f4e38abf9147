// SPDX-License-Identifier: GPL-2.0
/*
 * Regions of device memory: from the device's pool, or from an allocator that
 * another driver owns.
 */
#include <linux/ctype.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "peerlane.h"
#include "range.h"

/* region->priv of a range that another driver allocated; else NULL */
struct owned {
	const struct peerlane_region_owner_ops *ops;
	void *priv;
};

static u32 pool_kind(const struct peerlane_region *region)
{
	return region->dev->kind;
}

static u32 pool_caps(const struct peerlane_region *region)
{
	return PEERLANE_CAP_MMAP | PEERLANE_CAP_REG_MR | PEERLANE_CAP_EXPORT |
	       PEERLANE_CAP_HW_DMA | PEERLANE_CAP_VIRT_DMA |
	       PEERLANE_CAP_DIRECT_IO | PEERLANE_CAP_REVOKE;
}

static void pool_memory(struct peerlane_region *region,
			struct peerlane_memory *memory)
{
	memory->owner = region;
	memory->writable = true;
}

static void pool_unpublish(struct peerlane_region *region)
{
	peerlane_map_zap(region);
	peerlane_dmabuf_revoke(region);
}

static unsigned int pool_pinned(struct peerlane_region *region)
{
	return peerlane_pages_pinned(region->dev, region->offset, region->span);
}

static void pool_release(struct peerlane_region *region)
{
	struct peerlane_device *dev = region->dev;
	struct owned *owned = region->priv;

	if (owned) {
		owned->ops->release(owned->priv);
		kfree(owned);
	} else {
		peerlane_pool_free(dev, region->offset, region->span);
		peerlane_uncharge(dev, region->uid, region->span);
	}
	peerlane_device_detach(dev, region);
	/* From here the device's removal may go on: no look at its memory. */
	peerlane_device_unhold(dev);
}

const struct peerlane_region_kind peerlane_kind_pool = {
	.kind		= pool_kind,
	.caps		= pool_caps,
	.mmap		= peerlane_map_vma,
	.export		= peerlane_dmabuf_export,
	.memory		= pool_memory,
	.unpublish	= pool_unpublish,
	.pinned		= pool_pinned,
	.release	= pool_release,
};

static int refuse_removed(const struct peerlane_device *dev,
			  struct peerlane_msg *msg)
{
	return peerlane_refuse(msg, -ENODEV, "%s is being removed or reset",
			       peerlane_device_name(dev));
}

static int check_length(const struct peerlane_device *dev, u64 length,
			struct peerlane_msg *msg)
{
	if (dev->owner_allocates)
		return peerlane_refuse(msg, -EOPNOTSUPP,
				       "memory of %s is given out by its own driver",
				       peerlane_device_name(dev));
	if (!length)
		return peerlane_refuse(msg, -EINVAL, "length is 0");
	if (length > dev->size)
		return peerlane_refuse(msg, -ENOSPC,
				       "%s has %llu bytes in all, %llu were asked for",
				       peerlane_device_name(dev), dev->size,
				       length);
	return 0;
}

/* No reset comes between the wiping and the listing, or it is refused. */
static int take_pool(struct peerlane_region *region, u64 length, u64 span,
		     struct peerlane_msg *msg)
{
	struct peerlane_device *dev = region->dev;
	int ret;

	/* mmap_lock may be held: do not wait for the end of a reset. */
	if (!peerlane_wipe_try(dev))
		return refuse_removed(dev, msg);
	ret = peerlane_pool_alloc(dev, span, &region->offset, msg);
	if (ret) {
		peerlane_wipe_end(dev);
		return ret;
	}
	region->length = PAGE_ALIGN(length);
	region->span = span;
	ret = peerlane_device_attach(dev, region);
	peerlane_wipe_end(dev);
	if (!ret)
		return 0;

	peerlane_pool_free_dirty(dev, region->offset, span);
	region->length = 0;
	region->span = 0;
	region->offset = 0;
	return refuse_removed(dev, msg);
}

int peerlane_region_fill(struct peerlane_region *region, u64 length,
			 struct peerlane_msg *msg)
{
	struct peerlane_device *dev = region->dev;
	u64 span;
	int ret;

	lockdep_assert_held_write(&region->lock);
	ret = check_length(dev, length, msg);
	if (ret)
		return ret;
	span = ALIGN(length, PEERLANE_UNIT);
	/* Before the pool wipes: the device's pages stay until we let go. */
	if (peerlane_device_hold(dev))
		return refuse_removed(dev, msg);
	ret = peerlane_charge(dev, region->uid, span,
			      READ_ONCE(dev->user_limit), msg);
	if (ret)
		goto err_unhold;
	ret = take_pool(region, length, span, msg);
	if (ret)
		goto err_uncharge;
	return 0;

err_uncharge:
	peerlane_uncharge(dev, region->uid, span);
err_unhold:
	peerlane_device_unhold(dev);
	return ret;
}

/* ---- calls for other drivers, see include/linux/peerlane.h ---- */

struct peerlane_device *
peerlane_register_device(const struct peerlane_device_desc *desc)
{
	struct peerlane_device_args args = {
		.parent		 = desc->parent,
		.owner		 = desc->owner,
		.name		 = desc->name,
		.phys		 = desc->phys,
		.size		 = desc->size,
		.kind		 = PEERLANE_KIND_DRIVER,
		.bar		 = -1,
		.owner_allocates = desc->owner_allocates,
	};
	size_t len = desc->name ? strlen(desc->name) : 0;

	if (!desc->parent || !desc->owner || !len || len > 16 ||
	    !islower(desc->name[0]) ||
	    strspn(desc->name, "abcdefghijklmnopqrstuvwxyz0123456789_-") != len)
		return ERR_PTR(-EINVAL);
	if (!desc->size || !IS_ALIGNED(desc->size, PEERLANE_UNIT) ||
	    !IS_ALIGNED(desc->phys, PEERLANE_UNIT) ||
	    peerlane_range_beyond(desc->phys, desc->size, U64_MAX))
		return ERR_PTR(-EINVAL);
	if (dev_is_pci(desc->parent))
		args.pdev = to_pci_dev(desc->parent);
	return peerlane_device_create(&args, NULL);
}
EXPORT_SYMBOL_GPL(peerlane_register_device);

void peerlane_unregister_device(struct peerlane_device *dev)
{
	peerlane_device_destroy(dev);
}
EXPORT_SYMBOL_GPL(peerlane_unregister_device);

static bool range_ok(const struct peerlane_device *dev, u64 offset, u64 length)
{
	return length && IS_ALIGNED(offset, PEERLANE_UNIT) &&
	       PAGE_ALIGNED(length) &&
	       peerlane_range_within(offset, length, dev->size);
}

static int take_owned(struct peerlane_region *region, u64 offset, u64 length,
		      struct owned *owned)
{
	int ret = peerlane_device_hold(region->dev);

	if (ret)
		return refuse_removed(region->dev, NULL);
	down_write(&region->lock);
	region->offset = offset;
	region->length = length;
	region->span = ALIGN(length, PEERLANE_UNIT);
	region->priv = owned;
	ret = peerlane_device_attach(region->dev, region);
	up_write(&region->lock);
	if (ret)
		peerlane_device_unhold(region->dev);
	return ret;
}

struct file *peerlane_region_create(struct peerlane_device *dev, u64 offset,
				    u64 length,
				    const struct peerlane_region_owner_ops *ops,
				    void *priv)
{
	struct peerlane_region *region;
	struct owned *owned;
	struct file *file;
	int ret;

	if (!dev->owner_allocates || !ops || !ops->release ||
	    !range_ok(dev, offset, length))
		return ERR_PTR(-EINVAL);
	owned = kmalloc(sizeof(*owned), GFP_KERNEL);
	if (!owned)
		return ERR_PTR(-ENOMEM);
	owned->ops = ops;
	owned->priv = priv;
	region = peerlane_region_new(&peerlane_kind_pool, dev, NULL);
	if (IS_ERR(region)) {
		ret = PTR_ERR(region);
		goto err_owned;
	}
	/*
	 * The file before the memory: once the region owns the memory its end
	 * calls release(), which a failure must not.
	 */
	file = peerlane_region_file(region);
	if (IS_ERR(file)) {
		ret = PTR_ERR(file);
		peerlane_region_put_user(region);
		goto err_owned;
	}
	ret = take_owned(region, offset, length, owned);
	if (ret) {
		fput(file);	/* drops the user; the region is still empty */
		goto err_owned;
	}
	return file;

err_owned:
	kfree(owned);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(peerlane_region_create);

int peerlane_region_file_revoke(struct file *file)
{
	struct peerlane_region *region = peerlane_region_of(file);

	return region ? peerlane_region_revoke(region, NULL) : -EBADF;
}
EXPORT_SYMBOL_GPL(peerlane_region_file_revoke);
