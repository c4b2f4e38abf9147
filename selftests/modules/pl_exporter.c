// SPDX-License-Identifier: GPL-2.0
/*
 * dma-bufs that are not peerlane's: kernel memory, with or without a CPU
 * mapping. It cannot be attached to; tests of imports need no more.
 */
#include <linux/debugfs.h>
#include <linux/dma-buf.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "pl_exporter.h"

#define LARGEST	(64UL << 20)

static atomic_t live;
static struct dentry *debug;

static struct sg_table *exporter_map(struct dma_buf_attachment *attach,
				     enum dma_data_direction dir)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static void exporter_unmap(struct dma_buf_attachment *attach,
			   struct sg_table *sgt, enum dma_data_direction dir)
{
}

static void exporter_release(struct dma_buf *dmabuf)
{
	vfree(dmabuf->priv);
	atomic_dec(&live);
}

/* By fault, and with nothing that keeps a mapping from growing. */
static vm_fault_t exporter_fault(struct vm_fault *vmf)
{
	struct dma_buf *dmabuf = vmf->vma->vm_private_data;

	if (vmf->pgoff >= dmabuf->size >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;
	vmf->page = vmalloc_to_page(dmabuf->priv + (vmf->pgoff << PAGE_SHIFT));
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

static int export(const struct pl_export *args)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *dmabuf;
	void *memory;
	int fd;

	if (!args->size || args->size > LARGEST)
		return -EINVAL;
	memory = vmalloc_user(args->size);
	if (!memory)
		return -ENOMEM;
	info.ops = args->flags & PL_EXPORT_MMAP ? &ops_with_mmap : &ops;
	info.size = args->size;
	info.flags = args->flags & PL_EXPORT_READ_ONLY ? O_RDONLY : O_RDWR;
	info.priv = memory;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf)) {
		vfree(memory);
		return PTR_ERR(dmabuf);
	}
	atomic_inc(&live);
	fd = dma_buf_fd(dmabuf, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(dmabuf);
	return fd;
}

static long exporter_ioctl(struct file *file, unsigned int cmd,
			   unsigned long arg)
{
	struct pl_export args;

	if (cmd != PL_EXPORT)
		return -ENOTTY;
	if (copy_from_user(&args, (void __user *)arg, sizeof(args)))
		return -EFAULT;
	return export(&args);
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
