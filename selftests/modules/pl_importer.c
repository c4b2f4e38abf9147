// SPDX-License-Identifier: GPL-2.0
/*
 * An importer of dma-bufs that behaves as it is told: as the drivers do that
 * exist. It attaches for QEMU's edu function, whose engine then copies, or for
 * the function that parameter pci names, without a copy.
 *
 * The function is used without being bound: no other driver wants it, and an
 * attachment needs nothing but its struct device.
 */
#include <linux/delay.h>
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "pl_importer.h"

#define EDU_VENDOR	0x1234
#define EDU_DEVICE	0x11e8
#define EDU_SOURCE	0x80
#define EDU_TARGET	0x88
#define EDU_COUNT	0x90
#define EDU_COMMAND	0x98
#define EDU_RUN		1
#define EDU_TO_MEMORY	2
#define EDU_BUFFER	0x40000
#define EDU_ROOM	2048

static char *pci = "";
module_param(pci, charp, 0444);
MODULE_PARM_DESC(pci, "dddd:bb:dd.f of the importing function (default: the edu function)");

static unsigned int dma_bits = 64;
module_param(dma_bits, uint, 0444);
MODULE_PARM_DESC(dma_bits, "how many address bits the function says it has (default 64)");

static struct pci_dev *pdev;
static void __iomem *edu;		/* NULL: no engine */
static void *bounce;
static dma_addr_t bounce_addr;
static DEFINE_MUTEX(engine);		/* protects edu and bounce */

struct importer {
	struct mutex lock;		/* outside dma_resv; protects the rest */
	struct dma_buf *dmabuf;
	struct dma_buf_attachment *attach;
	u32 mode;
	bool pinned;			/* dma_resv */
	struct sg_table *sgt;		/* dma_resv */
	atomic_t notifies;
};

/* ---- what the exporter tells ---- */

static void drop_mapping(struct importer *importer)
{
	dma_resv_assert_held(importer->dmabuf->resv);
	if (!importer->sgt)
		return;
	dma_buf_unmap_attachment(importer->attach, importer->sgt,
				 DMA_BIDIRECTIONAL);
	importer->sgt = NULL;
}

static void drop_pin(struct importer *importer)
{
	dma_resv_assert_held(importer->dmabuf->resv);
	if (importer->pinned)
		dma_buf_unpin(importer->attach);
	importer->pinned = false;
}

static void notify_obey(struct dma_buf_attachment *attach)
{
	struct importer *importer = attach->importer_priv;

	atomic_inc(&importer->notifies);
	drop_mapping(importer);
	drop_pin(importer);
}

#ifndef HAVE_DMA_BUF_ATTACH_REVOCABLE
/* Later kernels take NULL for "cannot let go". */
static void notify_ignore(struct dma_buf_attachment *attach)
{
	struct importer *importer = attach->importer_priv;

	atomic_inc(&importer->notifies);
}
#endif

static const struct dma_buf_attach_ops obedient = {
	.allow_peer2peer = true,
	.PEERLANE_INVALIDATE = notify_obey,
};

static const struct dma_buf_attach_ops stubborn = {
	.allow_peer2peer = true,
#ifndef HAVE_DMA_BUF_ATTACH_REVOCABLE
	.PEERLANE_INVALIDATE = notify_ignore,
#endif
};

static const struct dma_buf_attach_ops system_only = {
	.PEERLANE_INVALIDATE = notify_obey,
};

/* ---- attaching ---- */

static struct miscdevice misc;

static struct dma_buf_attachment *attach_as(struct importer *importer)
{
	struct dma_buf *dmabuf = importer->dmabuf;

	switch (importer->mode) {
	case PL_STATIC:
		return dma_buf_attach(dmabuf, &pdev->dev);
	case PL_SYSTEM_ONLY:
		return dma_buf_dynamic_attach(dmabuf, &pdev->dev, &system_only,
					      importer);
	case PL_DYNAMIC:
	case PL_PINNED_REVOCABLE:
		return dma_buf_dynamic_attach(dmabuf, &pdev->dev, &obedient,
					      importer);
	case PL_PINNED:
		return dma_buf_dynamic_attach(dmabuf, &pdev->dev, &stubborn,
					      importer);
	case PL_NOT_PCI:
		return dma_buf_dynamic_attach(dmabuf, misc.this_device,
					      &obedient, importer);
	}
	return ERR_PTR(-EINVAL);
}

static int pin(struct importer *importer)
{
	int ret;

	if (importer->mode != PL_PINNED && importer->mode != PL_PINNED_REVOCABLE)
		return 0;
	dma_resv_lock(importer->dmabuf->resv, NULL);
	ret = dma_buf_pin(importer->attach);
	importer->pinned = !ret;
	dma_resv_unlock(importer->dmabuf->resv);
	return ret;
}

static int do_attach(struct importer *importer, const struct pl_attach *args)
{
	int ret;

	if (importer->dmabuf)
		return -EBUSY;
	if (args->max_segment)
		dma_set_max_seg_size(&pdev->dev, args->max_segment);
	importer->mode = args->mode;
	importer->dmabuf = dma_buf_get(args->fd);
	if (IS_ERR(importer->dmabuf)) {
		ret = PTR_ERR(importer->dmabuf);
		goto err_none;
	}
	importer->attach = attach_as(importer);
	if (IS_ERR(importer->attach)) {
		ret = PTR_ERR(importer->attach);
		goto err_put;
	}
	ret = pin(importer);
	if (ret)
		goto err_detach;
	return 0;

err_detach:
	dma_buf_detach(importer->dmabuf, importer->attach);
err_put:
	dma_buf_put(importer->dmabuf);
err_none:
	importer->dmabuf = NULL;
	return ret;
}

static int do_detach(struct importer *importer)
{
	struct dma_buf *dmabuf = importer->dmabuf;

	if (!dmabuf)
		return -ENOENT;
	dma_resv_lock(dmabuf->resv, NULL);
	drop_mapping(importer);
	drop_pin(importer);
	dma_resv_unlock(dmabuf->resv);
	dma_buf_detach(dmabuf, importer->attach);
	importer->dmabuf = NULL;
	dma_buf_put(dmabuf);
	return 0;
}

static int do_map(struct importer *importer)
{
	struct sg_table *sgt;
	int ret = 0;

	if (!importer->dmabuf)
		return -ENOENT;
	dma_resv_lock(importer->dmabuf->resv, NULL);
	if (importer->sgt) {
		ret = -EBUSY;
		goto out;
	}
	sgt = dma_buf_map_attachment(importer->attach, DMA_BIDIRECTIONAL);
	if (IS_ERR(sgt))
		ret = PTR_ERR(sgt);
	else
		importer->sgt = sgt;
out:
	dma_resv_unlock(importer->dmabuf->resv);
	return ret;
}

static int do_unmap(struct importer *importer)
{
	int ret = 0;

	if (!importer->dmabuf)
		return -ENOENT;
	dma_resv_lock(importer->dmabuf->resv, NULL);
	if (importer->sgt)
		drop_mapping(importer);
	else
		ret = -ENOENT;
	dma_resv_unlock(importer->dmabuf->resv);
	return ret;
}

static void describe(const struct importer *importer, struct pl_state *state)
{
	struct scatterlist *sg;
	unsigned int i;
	u64 next;

	state->entries = importer->sgt->nents;
	state->pages = importer->sgt->orig_nents;
	state->addr = sg_dma_address(importer->sgt->sgl);
	state->contiguous = 1;
	next = state->addr;
	for_each_sgtable_dma_sg(importer->sgt, sg, i) {
		state->contiguous &= sg_dma_address(sg) == next;
		state->length += sg_dma_len(sg);
		state->longest = max_t(u64, state->longest, sg_dma_len(sg));
		next = sg_dma_address(sg) + sg_dma_len(sg);
	}
}

static void get_state(struct importer *importer, struct pl_state *state)
{
	memset(state, 0, sizeof(*state));
	state->notifies = atomic_read(&importer->notifies);
	state->can_copy = !!edu;
	if (!importer->dmabuf)
		return;
	dma_resv_lock(importer->dmabuf->resv, NULL);
	state->mapped = !!importer->sgt;
	if (importer->sgt)
		describe(importer, state);
	dma_resv_unlock(importer->dmabuf->resv);
}

/* ---- the engine: between memory and its own buffer only ---- */

static int engine_run(u64 source, u64 target, u32 count, u32 direction)
{
	unsigned long end = jiffies + 5 * HZ;

	writeq(source, edu + EDU_SOURCE);
	writeq(target, edu + EDU_TARGET);
	writeq(count, edu + EDU_COUNT);
	writeq(EDU_RUN | direction, edu + EDU_COMMAND);
	while (readq(edu + EDU_COMMAND) & EDU_RUN) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		usleep_range(1000, 5000);
	}
	return 0;
}

static int engine_copy(u64 source, u64 target, u32 count)
{
	int ret = engine_run(source, EDU_BUFFER, count, 0);

	return ret ?: engine_run(EDU_BUFFER, target, count, EDU_TO_MEMORY);
}

/* dma_resv is held, so that the mapping cannot go under the engine. */
static int copy(struct importer *importer, const struct pl_copy *args)
{
	struct pl_state state = {};
	u64 addr;

	if (!importer->sgt)
		return -ENOENT;
	describe(importer, &state);
	if (!state.contiguous || args->offset > state.length ||
	    args->length > state.length - args->offset)
		return -ERANGE;
	addr = state.addr + args->offset;
	return args->write ? engine_copy(bounce_addr, addr, args->length) :
			     engine_copy(addr, bounce_addr, args->length);
}

static int do_copy(struct importer *importer, const struct pl_copy *args)
{
	void __user *data = u64_to_user_ptr(args->data_ptr);
	int ret = 0;

	if (!edu || !importer->dmabuf)
		return -ENOENT;
	if (!args->length || args->length > EDU_ROOM)
		return -EINVAL;
	mutex_lock(&engine);
	if (args->write && copy_from_user(bounce, data, args->length))
		ret = -EFAULT;
	if (!ret) {
		dma_resv_lock(importer->dmabuf->resv, NULL);
		ret = copy(importer, args);
		dma_resv_unlock(importer->dmabuf->resv);
	}
	if (!ret && !args->write && copy_to_user(data, bounce, args->length))
		ret = -EFAULT;
	mutex_unlock(&engine);
	return ret;
}

/* ---- the file ---- */

static int importer_open(struct inode *inode, struct file *file)
{
	struct importer *importer = kzalloc(sizeof(*importer), GFP_KERNEL);

	if (!importer)
		return -ENOMEM;
	mutex_init(&importer->lock);
	file->private_data = importer;
	return 0;
}

static int importer_release(struct inode *inode, struct file *file)
{
	struct importer *importer = file->private_data;

	do_detach(importer);
	kfree(importer);
	return 0;
}

static long importer_command(struct importer *importer, unsigned int cmd,
			     void __user *user)
{
	struct pl_attach attach;
	struct pl_state state;
	struct pl_copy args;

	switch (cmd) {
	case PL_ATTACH:
		if (copy_from_user(&attach, user, sizeof(attach)))
			return -EFAULT;
		return do_attach(importer, &attach);
	case PL_DETACH:
		return do_detach(importer);
	case PL_MAP:
		return do_map(importer);
	case PL_UNMAP:
		return do_unmap(importer);
	case PL_STATE:
		get_state(importer, &state);
		return copy_to_user(user, &state, sizeof(state)) ? -EFAULT : 0;
	case PL_COPY:
		if (copy_from_user(&args, user, sizeof(args)))
			return -EFAULT;
		return do_copy(importer, &args);
	}
	return -ENOTTY;
}

static long importer_ioctl(struct file *file, unsigned int cmd,
			   unsigned long arg)
{
	struct importer *importer = file->private_data;
	long ret;

	mutex_lock(&importer->lock);
	ret = importer_command(importer, cmd, (void __user *)arg);
	mutex_unlock(&importer->lock);
	return ret;
}

static const struct file_operations importer_fops = {
	.owner		= THIS_MODULE,
	.open		= importer_open,
	.release	= importer_release,
	.unlocked_ioctl	= importer_ioctl,
};

static struct miscdevice misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "pl_importer",
	.fops	= &importer_fops,
	.mode	= 0600,
};

/* ---- the function ---- */

static struct pci_dev *find_function(void)
{
	unsigned int domain, bus, slot, func;

	if (!pci[0])
		return pci_get_device(EDU_VENDOR, EDU_DEVICE, NULL);
	if (sscanf(pci, "%x:%x:%x.%x", &domain, &bus, &slot, &func) != 4)
		return NULL;
	return pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, func));
}

static int engine_init(void)
{
	if (pdev->vendor != EDU_VENDOR || pdev->device != EDU_DEVICE)
		return 0;
	pci_set_master(pdev);
	edu = pci_iomap(pdev, 0, 0);
	if (!edu)
		return -ENOMEM;
	bounce = dma_alloc_coherent(&pdev->dev, EDU_ROOM, &bounce_addr,
				    GFP_KERNEL);
	if (!bounce) {
		pci_iounmap(pdev, edu);
		return -ENOMEM;
	}
	return 0;
}

static void engine_exit(void)
{
	if (!edu)
		return;
	dma_free_coherent(&pdev->dev, EDU_ROOM, bounce, bounce_addr);
	pci_iounmap(pdev, edu);
	pci_clear_master(pdev);
}

static int __init importer_init(void)
{
	int ret;

	pdev = find_function();
	if (!pdev)
		return -ENODEV;
	ret = pci_enable_device(pdev);
	if (ret)
		goto err_put;
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(dma_bits));
	if (ret)
		goto err_disable;
	ret = engine_init();
	if (ret)
		goto err_disable;
	ret = misc_register(&misc);
	if (ret)
		goto err_engine;
	return 0;

err_engine:
	engine_exit();
err_disable:
	pci_disable_device(pdev);
err_put:
	pci_dev_put(pdev);
	return ret;
}
module_init(importer_init);

static void __exit importer_exit(void)
{
	misc_deregister(&misc);
	engine_exit();
	pci_disable_device(pdev);
	pci_dev_put(pdev);
}
module_exit(importer_exit);

PEERLANE_IMPORT_NS(DMA_BUF);
MODULE_DESCRIPTION("Importer of dma-bufs for tests");
MODULE_LICENSE("GPL");
