// SPDX-License-Identifier: GPL-2.0
/*
 * An importer of dma-bufs that behaves as it is told: as the drivers do that
 * exist. It attaches for QEMU's edu function, whose engine then copies.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "importer.h"
#include "pl_edu.h"

static struct device *function;		/* edu's */

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

void importer_let_go(struct importer *importer)
{
	drop_mapping(importer);
	drop_pin(importer);
}

static void notify_obey(struct dma_buf_attachment *attach)
{
	struct importer *importer = attach->importer_priv;

	atomic_inc(&importer->notifies);
	/* Work in flight needs the mapping: its end will see to it. */
	if (!importer_job_needs_mapping(importer))
		importer_let_go(importer);
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
		return dma_buf_attach(dmabuf, function);
	case PL_SYSTEM_ONLY:
		return dma_buf_dynamic_attach(dmabuf, function, &system_only,
					      importer);
	case PL_DYNAMIC:
	case PL_PINNED_REVOCABLE:
		return dma_buf_dynamic_attach(dmabuf, function, &obedient,
					      importer);
	case PL_PINNED:
		return dma_buf_dynamic_attach(dmabuf, function, &stubborn,
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
		dma_set_max_seg_size(function, args->max_segment);
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
	importer_job_end(importer);
	dma_resv_lock(dmabuf->resv, NULL);
	importer_let_go(importer);
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
	/* A kernel with DMABUF_DEBUG hands out a copy, of as many entries. */
	for_each_sgtable_sg(importer->sgt, sg, i)
		state->pages += !!sg_page(sg);
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
	if (!importer->dmabuf)
		return;
	dma_resv_lock(importer->dmabuf->resv, NULL);
	state->mapped = !!importer->sgt;
	state->busy = importer_job_goes_on(importer);
	if (importer->sgt)
		describe(importer, state);
	dma_resv_unlock(importer->dmabuf->resv);
}

/* ---- copying ---- */

int importer_find(struct importer *importer, u64 offset, u32 length, u64 *addr)
{
	struct pl_state state = {};

	dma_resv_assert_held(importer->dmabuf->resv);
	if (!importer->sgt)
		return -ENOENT;
	describe(importer, &state);
	if (!state.contiguous || offset > state.length ||
	    length > state.length - offset)
		return -ERANGE;
	*addr = state.addr + offset;
	return 0;
}

/* dma_resv is held, so that the mapping cannot go under the engine. */
static int copy(struct importer *importer, const struct pl_copy *args)
{
	u64 addr;
	int ret;

	ret = importer_find(importer, args->offset, args->length, &addr);
	if (ret)
		return ret;
	return args->write ?
		pl_edu_copy(importer->bounce_addr, addr, args->length) :
		pl_edu_copy(addr, importer->bounce_addr, args->length);
}

static int do_copy(struct importer *importer, const struct pl_copy *args)
{
	void __user *data = u64_to_user_ptr(args->data_ptr);
	int ret;

	if (!importer->dmabuf)
		return -ENOENT;
	if (!args->length || args->length > PL_EDU_ROOM)
		return -EINVAL;
	if (args->write && copy_from_user(importer->bounce, data, args->length))
		return -EFAULT;
	dma_resv_lock(importer->dmabuf->resv, NULL);
	ret = copy(importer, args);
	dma_resv_unlock(importer->dmabuf->resv);
	if (!ret && !args->write &&
	    copy_to_user(data, importer->bounce, args->length))
		ret = -EFAULT;
	return ret;
}

/* ---- the file ---- */

static int importer_open(struct inode *inode, struct file *file)
{
	struct importer *importer = kzalloc(sizeof(*importer), GFP_KERNEL);

	if (!importer)
		return -ENOMEM;
	importer->bounce = dma_alloc_coherent(function, PL_EDU_ROOM,
					      &importer->bounce_addr,
					      GFP_KERNEL);
	if (!importer->bounce) {
		kfree(importer);
		return -ENOMEM;
	}
	mutex_init(&importer->lock);
	file->private_data = importer;
	return 0;
}

static int importer_release(struct inode *inode, struct file *file)
{
	struct importer *importer = file->private_data;

	do_detach(importer);
	dma_free_coherent(function, PL_EDU_ROOM, importer->bounce,
			  importer->bounce_addr);
	kfree(importer);
	return 0;
}

static long importer_command(struct importer *importer, unsigned int cmd,
			     void __user *user)
{
	struct pl_attach attach;
	struct pl_state state;
	struct pl_copy args;
	struct pl_job job;

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
	case PL_JOB:
		if (copy_from_user(&job, user, sizeof(job)))
			return -EFAULT;
		return importer_job_begin(importer, &job);
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

static int __init importer_init(void)
{
	function = &pl_edu_function()->dev;
	return misc_register(&misc);
}
module_init(importer_init);

static void __exit importer_exit(void)
{
	misc_deregister(&misc);
}
module_exit(importer_exit);

PEERLANE_IMPORT_NS(DMA_BUF);
MODULE_DESCRIPTION("Importer of dma-bufs for tests");
MODULE_LICENSE("GPL");
