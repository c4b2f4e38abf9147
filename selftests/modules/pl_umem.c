// SPDX-License-Identifier: GPL-2.0
/*
 * Imports of dma-bufs as drivers of NICs do them: by RDMA core, for an RDMA
 * device that is nothing but its DMA device, QEMU's edu function.
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

#include "compat.h"
#include "pl_edu.h"
#include "pl_umem.h"

#define ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)
#define PAGES	(SZ_4K | SZ_64K | SZ_2M)

struct nic {
	struct ib_device ibdev;		/* never registered */
};

static struct nic *nic;

struct umem {
	struct mutex lock;		/* outside dma_resv */
	struct ib_umem_dmabuf *dmabuf;	/* NULL: none */
	u32 mode;
	u32 told;			/* dma_resv */
};

static struct dma_resv *resv_of(const struct umem *umem)
{
	return umem->dmabuf->attach->dmabuf->resv;
}

/* ---- getting ---- */

static void invalidate(struct dma_buf_attachment *attach)
{
	struct ib_umem_dmabuf *dmabuf = attach->importer_priv;
	struct umem *umem = dmabuf->private;

	dma_resv_assert_held(attach->dmabuf->resv);
	/* There is a moment between attaching and knowing for whom. */
	if (umem)
		umem->told++;
	ib_umem_dmabuf_unmap_pages(dmabuf);
}

static const struct dma_buf_attach_ops dynamic_ops = {
	.allow_peer2peer = true,
	.PEERLANE_INVALIDATE = invalidate,
};

static struct ib_umem_dmabuf *get_dynamic(struct umem *umem,
					  const struct pl_umem_get *args)
{
	struct ib_umem_dmabuf *dmabuf;

	dmabuf = ib_umem_dmabuf_get(&nic->ibdev, args->offset, args->length,
				    args->fd, ACCESS, &dynamic_ops);
	if (IS_ERR(dmabuf))
		return dmabuf;
	dma_resv_lock(dmabuf->attach->dmabuf->resv, NULL);
	dmabuf->private = umem;
	dma_resv_unlock(dmabuf->attach->dmabuf->resv);
	return dmabuf;
}

static struct ib_umem_dmabuf *get_pinned(const struct pl_umem_get *args)
{
	return ib_umem_dmabuf_get_pinned(&nic->ibdev, args->offset,
					 args->length, args->fd, ACCESS);
}

#ifdef HAVE_IB_UMEM_DMABUF_SET_REVOKE_LOCKED
static void revoked(void *priv)
{
	struct umem *umem = priv;

	umem->told++;
}

static struct ib_umem_dmabuf *get_revocable(struct umem *umem,
					    const struct pl_umem_get *args)
{
	struct ib_umem_dmabuf *dmabuf;

	dmabuf = ib_umem_dmabuf_get_pinned_revocable_and_lock(&nic->ibdev,
							      args->offset,
							      args->length,
							      args->fd, ACCESS);
	if (IS_ERR(dmabuf))
		return dmabuf;
	ib_umem_dmabuf_set_revoke_locked(dmabuf, revoked, umem);
	ib_umem_dmabuf_revoke_unlock(dmabuf);
	return dmabuf;
}
#else
static struct ib_umem_dmabuf *get_revocable(struct umem *umem,
					    const struct pl_umem_get *args)
{
	return ERR_PTR(-EOPNOTSUPP);
}
#endif

static struct ib_umem_dmabuf *get_as(struct umem *umem,
				     const struct pl_umem_get *args)
{
	switch (args->mode) {
	case PL_UMEM_DYNAMIC:
		return get_dynamic(umem, args);
	case PL_UMEM_PINNED:
		return get_pinned(args);
	case PL_UMEM_REVOCABLE:
		return get_revocable(umem, args);
	}
	return ERR_PTR(-EINVAL);
}

static int do_get(struct umem *umem, const struct pl_umem_get *args)
{
	struct ib_umem_dmabuf *dmabuf;

	if (umem->dmabuf)
		return -EBUSY;
	dmabuf = get_as(umem, args);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	umem->dmabuf = dmabuf;
	umem->mode = args->mode;
	return 0;
}

/* ---- what drivers do with it ---- */

/* Only those that get told may map by themselves. */
static int do_map(struct umem *umem)
{
	int ret;

	if (umem->mode != PL_UMEM_DYNAMIC)
		return -EINVAL;
	dma_resv_lock(resv_of(umem), NULL);
	ret = ib_umem_dmabuf_map_pages(umem->dmabuf);
	dma_resv_unlock(resv_of(umem));
	return ret;
}

static int do_unmap(struct umem *umem)
{
	if (umem->mode != PL_UMEM_DYNAMIC)
		return -EINVAL;
	dma_resv_lock(resv_of(umem), NULL);
	ib_umem_dmabuf_unmap_pages(umem->dmabuf);
	dma_resv_unlock(resv_of(umem));
	return 0;
}

static int do_revoke(struct umem *umem)
{
#ifdef HAVE_IB_UMEM_DMABUF_REVOKE
	ib_umem_dmabuf_revoke(umem->dmabuf);
	return 0;
#else
	return -EOPNOTSUPP;
#endif
}

static u64 first_addr(const struct ib_umem *umem)
{
	return sg_dma_address(umem->sgt_append.sgt.sgl) +
	       offset_in_page(umem->address);
}

static void describe(struct ib_umem *umem, struct pl_umem_state *state)
{
	struct scatterlist *sg;
	unsigned int i;

	state->addr = first_addr(umem);
	for_each_sgtable_dma_sg(&umem->sgt_append.sgt, sg, i)
		state->length += sg_dma_len(sg);
	state->page = ib_umem_find_best_pgsz(umem, PAGES, umem->address);
	if (state->page)
		state->pages = ib_umem_num_dma_blocks(umem, state->page);
}

static void get_state(struct umem *umem, struct pl_umem_state *state)
{
	memset(state, 0, sizeof(*state));
	dma_resv_lock(resv_of(umem), NULL);
	state->told = umem->told;
	state->mapped = !!umem->dmabuf->sgt;
	if (state->mapped)
		describe(&umem->dmabuf->umem, state);
	dma_resv_unlock(resv_of(umem));
}

static bool is_inside(u64 offset, const struct pl_umem_copy *args, u64 length)
{
	return offset <= length && args->length <= length - offset;
}

/* dma_resv is held, so that the mapping cannot go under the engine. */
static int do_copy(struct umem *umem, const struct pl_umem_copy *args)
{
	struct ib_umem *whole = &umem->dmabuf->umem;
	int ret = -ENOENT;

	if (!is_inside(args->from, args, whole->length) ||
	    !is_inside(args->to, args, whole->length))
		return -ERANGE;
	dma_resv_lock(resv_of(umem), NULL);
	if (umem->dmabuf->sgt)
		ret = pl_edu_copy(first_addr(whole) + args->from,
				  first_addr(whole) + args->to, args->length);
	dma_resv_unlock(resv_of(umem));
	return ret;
}

/* ---- the file ---- */

static int umem_open(struct inode *inode, struct file *file)
{
	struct umem *umem = kzalloc(sizeof(*umem), GFP_KERNEL);

	if (!umem)
		return -ENOMEM;
	mutex_init(&umem->lock);
	file->private_data = umem;
	return 0;
}

static int umem_release(struct inode *inode, struct file *file)
{
	struct umem *umem = file->private_data;

	if (umem->dmabuf)
		ib_umem_release(&umem->dmabuf->umem);
	kfree(umem);
	return 0;
}

static long use(struct umem *umem, unsigned int cmd, void __user *user)
{
	struct pl_umem_state state;
	struct pl_umem_copy args;

	switch (cmd) {
	case PL_UMEM_MAP:
		return do_map(umem);
	case PL_UMEM_UNMAP:
		return do_unmap(umem);
	case PL_UMEM_REVOKE:
		return do_revoke(umem);
	case PL_UMEM_STATE:
		get_state(umem, &state);
		return copy_to_user(user, &state, sizeof(state)) ? -EFAULT : 0;
	case PL_UMEM_COPY:
		if (copy_from_user(&args, user, sizeof(args)))
			return -EFAULT;
		return do_copy(umem, &args);
	}
	return -ENOTTY;
}

static long umem_command(struct umem *umem, unsigned int cmd, void __user *user)
{
	struct pl_umem_get args;

	if (cmd != PL_UMEM_GET)
		return umem->dmabuf ? use(umem, cmd, user) : -ENOENT;
	if (copy_from_user(&args, user, sizeof(args)))
		return -EFAULT;
	return do_get(umem, &args);
}

static long umem_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct umem *umem = file->private_data;
	long ret;

	mutex_lock(&umem->lock);
	ret = umem_command(umem, cmd, (void __user *)arg);
	mutex_unlock(&umem->lock);
	return ret;
}

static const struct file_operations umem_fops = {
	.owner		= THIS_MODULE,
	.open		= umem_open,
	.release	= umem_release,
	.unlocked_ioctl	= umem_ioctl,
};

static struct miscdevice misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "pl_umem",
	.fops	= &umem_fops,
	.mode	= 0600,
};

static int __init umem_init(void)
{
	int ret;

	nic = ib_alloc_device(nic, ibdev);
	if (!nic)
		return -ENOMEM;
	nic->ibdev.dma_device = &pl_edu_function()->dev;
	ret = misc_register(&misc);
	if (ret)
		ib_dealloc_device(&nic->ibdev);
	return ret;
}
module_init(umem_init);

static void __exit umem_exit(void)
{
	misc_deregister(&misc);
	ib_dealloc_device(&nic->ibdev);
}
module_exit(umem_exit);

PEERLANE_IMPORT_NS(DMA_BUF);
MODULE_DESCRIPTION("RDMA core's imports of dma-bufs for tests");
MODULE_LICENSE("GPL");
