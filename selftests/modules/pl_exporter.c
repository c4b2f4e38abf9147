// SPDX-License-Identifier: GPL-2.0
/*
 * dma-bufs that are not peerlane's: kernel memory, with or without a CPU
 * mapping, to which devices can attach or not.
 */
#include <linux/debugfs.h>
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "pl_exporter.h"

#define LARGEST	(64UL << 20)

/* dmabuf->priv */
struct exported {
	void *memory;
	u32 flags;
};

static atomic_t live, mapped, pinned;
static struct dentry *debug;

/* ---- devices ---- */

static int fill_table(struct sg_table *sgt, const void *memory, size_t size)
{
	struct scatterlist *sg;
	unsigned int i;
	int ret;

	ret = sg_alloc_table(sgt, size >> PAGE_SHIFT, GFP_KERNEL);
	if (ret)
		return ret;
	for_each_sgtable_sg(sgt, sg, i)
		sg_set_page(sg, vmalloc_to_page(memory + i * PAGE_SIZE),
			    PAGE_SIZE, 0);
	return 0;
}

static struct sg_table *exporter_map(struct dma_buf_attachment *attach,
				     enum dma_data_direction dir)
{
	struct exported *exported = attach->dmabuf->priv;
	struct sg_table *sgt;
	int ret;

	if (!(exported->flags & PL_EXPORT_DMA))
		return ERR_PTR(-EOPNOTSUPP);
	sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	if (!sgt)
		return ERR_PTR(-ENOMEM);
	ret = fill_table(sgt, exported->memory, attach->dmabuf->size);
	if (ret)
		goto err_free;
	ret = dma_map_sgtable(attach->dev, sgt, dir, 0);
	if (ret)
		goto err_table;
	if (exported->flags & PL_EXPORT_ODD)
		sg_dma_len(sgt->sgl) -= 512;
	atomic_inc(&mapped);
	return sgt;

err_table:
	sg_free_table(sgt);
err_free:
	kfree(sgt);
	return ERR_PTR(ret);
}

static void exporter_unmap(struct dma_buf_attachment *attach,
			   struct sg_table *sgt, enum dma_data_direction dir)
{
	struct exported *exported = attach->dmabuf->priv;

	if (exported->flags & PL_EXPORT_ODD)
		sg_dma_len(sgt->sgl) += 512;
	dma_unmap_sgtable(attach->dev, sgt, dir, 0);
	sg_free_table(sgt);
	kfree(sgt);
	atomic_dec(&mapped);
}

static int exporter_pin(struct dma_buf_attachment *attach)
{
	atomic_inc(&pinned);
	return 0;
}

static void exporter_unpin(struct dma_buf_attachment *attach)
{
	atomic_dec(&pinned);
}

/* ---- the CPU ---- */

static void exporter_release(struct dma_buf *dmabuf)
{
	struct exported *exported = dmabuf->priv;

	vfree(exported->memory);
	kfree(exported);
	atomic_dec(&live);
}

/* By fault, and with nothing that keeps a mapping from growing. */
static vm_fault_t exporter_fault(struct vm_fault *vmf)
{
	struct dma_buf *dmabuf = vmf->vma->vm_private_data;
	struct exported *exported = dmabuf->priv;

	if (vmf->pgoff >= dmabuf->size >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;
	vmf->page = vmalloc_to_page(exported->memory +
				    (vmf->pgoff << PAGE_SHIFT));
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct exporter_vm_ops = {
	.fault = exporter_fault,
};

static int exporter_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	vma->vm_private_data = dmabuf;
	vma->vm_ops = &exporter_vm_ops;
	return 0;
}

static const struct dma_buf_ops ops = {
	.map_dma_buf	= exporter_map,
	.unmap_dma_buf	= exporter_unmap,
	.release	= exporter_release,
};

static const struct dma_buf_ops ops_with_mmap = {
	.map_dma_buf	= exporter_map,
	.unmap_dma_buf	= exporter_unmap,
	.release	= exporter_release,
	.mmap		= exporter_mmap,
};

static const struct dma_buf_ops ops_with_pin = {
	.pin		= exporter_pin,
	.unpin		= exporter_unpin,
	.map_dma_buf	= exporter_map,
	.unmap_dma_buf	= exporter_unmap,
	.release	= exporter_release,
	.mmap		= exporter_mmap,
};

static const struct dma_buf_ops *ops_for(u32 flags)
{
	if (flags & PL_EXPORT_DMA)
		return &ops_with_pin;
	return flags & PL_EXPORT_MMAP ? &ops_with_mmap : &ops;
}

static struct exported *exported_new(const struct pl_export *args)
{
	struct exported *exported = kzalloc(sizeof(*exported), GFP_KERNEL);

	if (!exported)
		return NULL;
	exported->flags = args->flags;
	exported->memory = vmalloc_user(args->size);
	if (!exported->memory) {
		kfree(exported);
		return NULL;
	}
	return exported;
}

static int export(const struct pl_export *args)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct exported *exported;
	struct dma_buf *dmabuf;
	int fd;

	if (!args->size || args->size > LARGEST)
		return -EINVAL;
	exported = exported_new(args);
	if (!exported)
		return -ENOMEM;
	info.ops = ops_for(args->flags);
	info.size = args->size;
	info.flags = args->flags & PL_EXPORT_READ_ONLY ? O_RDONLY : O_RDWR;
	info.priv = exported;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf)) {
		vfree(exported->memory);
		kfree(exported);
		return PTR_ERR(dmabuf);
	}
	atomic_inc(&live);
	fd = dma_buf_fd(dmabuf, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(dmabuf);
	return fd;
}

static int take(int fd)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);

	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	dma_resv_lock(dmabuf->resv, NULL);
	peerlane_dma_buf_invalidate(dmabuf);
	dma_resv_unlock(dmabuf->resv);
	dma_buf_put(dmabuf);
	return 0;
}

static long exporter_ioctl(struct file *file, unsigned int cmd,
			   unsigned long arg)
{
	void __user *user = (void __user *)arg;
	struct pl_export args;
	s32 fd;

	switch (cmd) {
	case PL_EXPORT:
		if (copy_from_user(&args, user, sizeof(args)))
			return -EFAULT;
		return export(&args);
	case PL_EXPORT_TAKE:
		if (copy_from_user(&fd, user, sizeof(fd)))
			return -EFAULT;
		return take(fd);
	}
	return -ENOTTY;
}

static const struct file_operations exporter_fops = {
	.owner		= THIS_MODULE,
	.unlocked_ioctl	= exporter_ioctl,
};

static struct miscdevice misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "pl_exporter",
	.fops	= &exporter_fops,
	.mode	= 0600,
};

static int __init exporter_init(void)
{
	int ret = misc_register(&misc);

	if (ret)
		return ret;
	debug = debugfs_create_dir("pl_exporter", NULL);
	debugfs_create_atomic_t("live", 0400, debug, &live);
	debugfs_create_atomic_t("mapped", 0400, debug, &mapped);
	debugfs_create_atomic_t("pinned", 0400, debug, &pinned);
	return 0;
}
module_init(exporter_init);

static void __exit exporter_exit(void)
{
	debugfs_remove_recursive(debug);
	misc_deregister(&misc);
}
module_exit(exporter_exit);

PEERLANE_IMPORT_NS(DMA_BUF);
MODULE_DESCRIPTION("Exporter of dma-bufs for tests");
MODULE_LICENSE("GPL");
