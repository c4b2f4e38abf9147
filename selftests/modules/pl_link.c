// SPDX-License-Identifier: GPL-2.0
/*
 * A user of link maps that does no RDMA: one map for each open file, whose
 * addresses it shows and copies through.
 */
#include <linux/dma-mapping.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/ib_verbs.h>

#include "link_test.h"
#include "pl_edu.h"
#include "pl_link.h"

#define ENTRIES	1024

struct holder {
	struct mutex lock;		/* of ioctls */
	struct ib_device *rdma;		/* NULL: edu */
	struct peerlane_region *region;	/* a user of it; NULL: none */
	struct region_watch watch;
	u32 mode;
	atomic_t told;
	struct mutex map_lock;		/* inside of lock; also the callback's */
	struct link_map *map;		/* map_lock */
	void *bounce;
	dma_addr_t bounce_addr;
};

static const struct link_test *const link = &peerlane_link_test;
static struct device *edu;

static void drop_map(struct holder *holder)
{
	struct link_map *map;

	mutex_lock(&holder->map_lock);
	map = holder->map;
	holder->map = NULL;
	mutex_unlock(&holder->map_lock);
	if (map)
		link->put(map);
}

static void revoked(struct region_watch *watch)
{
	struct holder *holder = container_of(watch, struct holder, watch);

	atomic_inc(&holder->told);
	if (holder->mode == PL_LINK_OBEY)
		drop_map(holder);
}

static struct peerlane_region *region_get(int fd)
{
	struct peerlane_region *region;
	struct file *file = fget(fd);

	if (!file)
		return NULL;
	region = link->region_of(file);
	if (region)
		peerlane_region_get_user(region);
	fput(file);
	return region;
}

/* ---- RDMA devices ---- */

struct known {
	struct list_head node;		/* known_lock */
	struct ib_device *rdma;
};

static LIST_HEAD(known_list);
static DEFINE_MUTEX(known_lock);	/* protects known_list */
static struct ib_client client;

static int rdma_add(struct ib_device *rdma)
{
	struct known *known = kzalloc(sizeof(*known), GFP_KERNEL);

	if (!known)
		return -ENOMEM;
	known->rdma = rdma;
	ib_set_client_data(rdma, &client, known);
	mutex_lock(&known_lock);
	list_add(&known->node, &known_list);
	mutex_unlock(&known_lock);
	return 0;
}

static void rdma_remove(struct ib_device *rdma, void *data)
{
	struct known *known = data;

	mutex_lock(&known_lock);
	list_del(&known->node);
	mutex_unlock(&known_lock);
	kfree(known);
}

static struct ib_client client = {
	.name	= "pl_link",
	.add	= rdma_add,
	.remove	= rdma_remove,
};

static struct ib_device *rdma_get(const char *name)
{
	struct ib_device *rdma = NULL;
	struct known *known;

	mutex_lock(&known_lock);
	list_for_each_entry(known, &known_list, node)
		if (!strcmp(dev_name(&known->rdma->dev), name) &&
		    ib_device_try_get(known->rdma))
			rdma = known->rdma;
	mutex_unlock(&known_lock);
	return rdma;
}

/* ---- maps ---- */

static struct link_map *map_for(struct holder *holder, struct peerlane_msg *msg)
{
	const struct link_map_target target = {
		.key = edu, .dma = edu, .name = dev_name(edu),
	};

	if (holder->rdma)
		return link->get(holder->region, holder->rdma, msg);
	return link->get_for(holder->region, &target, msg);
}

static void end(struct holder *holder)
{
	if (!holder->region)
		return;
	link->unwatch(holder->region, &holder->watch);
	drop_map(holder);
	link->region_put_user(holder->region);
	holder->region = NULL;
	if (holder->rdma)
		ib_device_put(holder->rdma);
	holder->rdma = NULL;
}

static int do_get(struct holder *holder, struct pl_link_get *args,
		  struct peerlane_msg *msg)
{
	struct link_map *map;
	int ret;

	if (holder->region)
		return -EBUSY;
	holder->region = region_get(args->fd);
	if (!holder->region)
		return -EBADF;
	args->device[sizeof(args->device) - 1] = '\0';
	holder->rdma = rdma_get(args->device);
	holder->mode = args->mode;
	INIT_LIST_HEAD(&holder->watch.node);
	atomic_set(&holder->told, 0);
	if (args->device[0] && !holder->rdma) {
		end(holder);
		return -ENXIO;
	}
	map = map_for(holder, msg);
	if (IS_ERR(map)) {
		end(holder);
		return PTR_ERR(map);
	}
	holder->map = map;
	holder->watch.revoked = revoked;
	ret = link->watch(holder->region, &holder->watch, msg);
	if (ret)
		end(holder);
	return ret;
}

static int command_get(struct holder *holder, void __user *arg)
{
	struct peerlane_msg msg = {};
	struct pl_link_get args;
	int ret;

	if (copy_from_user(&args, arg, sizeof(args)))
		return -EFAULT;
	ret = do_get(holder, &args, &msg);
	memcpy(args.text, msg.text, min(sizeof(args.text), sizeof(msg.text)));
	if (copy_to_user(arg, &args, sizeof(args)))
		return -EFAULT;
	return ret;
}

static int command_state(struct holder *holder, void __user *arg)
{
	struct pl_link_state state = { .told = atomic_read(&holder->told) };

	mutex_lock(&holder->map_lock);
	if (holder->map) {
		state.mapped = 1;
		state.map = (uintptr_t)holder->map;
		state.length = link->length(holder->map);
		state.writable = link->writable(holder->map);
	}
	mutex_unlock(&holder->map_lock);
	return copy_to_user(arg, &state, sizeof(state)) ? -EFAULT : 0;
}

/* ---- entries ---- */

static int list_sges(struct holder *holder, struct pl_link_list *list)
{
	struct ib_sge *sges;
	int i, n;

	sges = kcalloc(ENTRIES, sizeof(*sges), GFP_KERNEL);
	if (!sges)
		return -ENOMEM;
	n = link->sges(holder->map, list->offset, list->length, 7, sges,
		       min_t(u32, list->room, ENTRIES), &list->covered);
	for (i = 0; i < n && i < PL_LINK_LIST; i++) {
		list->addr[i] = sges[i].addr;
		list->bytes[i] = sges[i].length;
		if (sges[i].lkey != 7)
			n = -EBADMSG;
	}
	kfree(sges);
	return n;
}

/* What a driver makes of it: the length of the key, or an error. */
static int try_key(struct ib_device *rdma, struct scatterlist *sg, int n,
		   u64 *covered)
{
	struct ib_pd *pd;
	struct ib_mr *mr;
	int ret;

	pd = ib_alloc_pd(rdma, 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 256);
	if (IS_ERR(mr)) {
		ib_dealloc_pd(pd);
		return PTR_ERR(mr);
	}
	ret = ib_map_mr_sg(mr, sg, n, NULL, PAGE_SIZE);
	*covered = mr->length;
	ib_dereg_mr(mr);
	ib_dealloc_pd(pd);
	return ret == n ? 0 : -EIO;
}

static int list_keysg(struct holder *holder, struct pl_link_list *list)
{
	struct scatterlist *sg;
	int i, n, ret = 0;

	sg = kcalloc(ENTRIES, sizeof(*sg), GFP_KERNEL);
	if (!sg)
		return -ENOMEM;
	n = link->keysg(holder->map, list->offset, list->length, sg,
			min_t(u32, list->room, ENTRIES));
	for (i = 0; i < n && i < PL_LINK_LIST; i++) {
		list->addr[i] = sg_dma_address(&sg[i]);
		list->bytes[i] = sg_dma_len(&sg[i]);
	}
	if (n > 0 && holder->rdma)
		ret = try_key(holder->rdma, sg, n, &list->covered);
	kfree(sg);
	return ret ?: n;
}

static int command_list(struct holder *holder, void __user *arg,
			int (*list_of)(struct holder *, struct pl_link_list *))
{
	struct pl_link_list list;
	int ret = -ENOENT;

	if (copy_from_user(&list, arg, sizeof(list)))
		return -EFAULT;
	mutex_lock(&holder->map_lock);
	if (holder->map)
		ret = list_of(holder, &list);
	mutex_unlock(&holder->map_lock);
	if (ret < 0)
		return ret;
	list.count = ret;
	return copy_to_user(arg, &list, sizeof(list)) ? -EFAULT : 0;
}

/* ---- copying ---- */

static int copy_one(struct holder *holder, const struct ib_sge *sge, u64 at,
		    bool write)
{
	void *bounce = holder->bounce + at;

	if (!holder->rdma)
		return write ?
			pl_edu_copy(holder->bounce_addr + at, sge->addr, sge->length) :
			pl_edu_copy(sge->addr, holder->bounce_addr + at, sge->length);
	if (write)
		memcpy((void *)(uintptr_t)sge->addr, bounce, sge->length);
	else
		memcpy(bounce, (void *)(uintptr_t)sge->addr, sge->length);
	return 0;
}

static int copy(struct holder *holder, const struct pl_link_copy *args)
{
	struct ib_sge sges[4];
	u64 covered, at = 0;
	int i, n, ret = 0;

	n = link->sges(holder->map, args->offset, args->length, 0, sges,
		       ARRAY_SIZE(sges), &covered);
	if (n < 0)
		return n;
	if (covered != args->length)
		return -E2BIG;
	for (i = 0; i < n && !ret; i++) {
		ret = copy_one(holder, &sges[i], at, args->write);
		at += sges[i].length;
	}
	return ret;
}

static int command_copy(struct holder *holder, void __user *arg)
{
	struct pl_link_copy args;
	void __user *data;
	int ret = -ENOENT;

	if (copy_from_user(&args, arg, sizeof(args)))
		return -EFAULT;
	data = u64_to_user_ptr(args.data_ptr);
	if (!args.length || args.length > PL_LINK_ROOM)
		return -EINVAL;
	if (args.write && copy_from_user(holder->bounce, data, args.length))
		return -EFAULT;
	mutex_lock(&holder->map_lock);
	if (holder->map)
		ret = copy(holder, &args);
	mutex_unlock(&holder->map_lock);
	if (!ret && !args.write && copy_to_user(data, holder->bounce, args.length))
		ret = -EFAULT;
	return ret;
}

/* ---- ways ---- */

static int command_path(void __user *arg)
{
	struct peerlane_region *region;
	struct pl_link_path args;
	struct ib_device *rdma;
	struct link_path path;

	if (copy_from_user(&args, arg, sizeof(args)))
		return -EFAULT;
	args.device[sizeof(args.device) - 1] = '\0';
	region = region_get(args.fd);
	if (!region)
		return -EBADF;
	rdma = rdma_get(args.device);
	if (rdma) {
		link->path_of(region, rdma, &path);
		ib_device_put(rdma);
	} else {
		link->path_of_device(region, edu, &path);
	}
	link->region_put_user(region);
	args.path = path.path;
	args.bridges = path.bridges;
	args.node_distance = path.node_distance;
	return copy_to_user(arg, &args, sizeof(args)) ? -EFAULT : 0;
}

/* ---- the file ---- */

static int link_open(struct inode *inode, struct file *file)
{
	struct holder *holder = kzalloc(sizeof(*holder), GFP_KERNEL);

	if (!holder)
		return -ENOMEM;
	holder->bounce = dma_alloc_coherent(edu, PL_LINK_ROOM, &holder->bounce_addr,
					  GFP_KERNEL);
	if (!holder->bounce) {
		kfree(holder);
		return -ENOMEM;
	}
	mutex_init(&holder->lock);
	mutex_init(&holder->map_lock);
	file->private_data = holder;
	return 0;
}

static int link_release(struct inode *inode, struct file *file)
{
	struct holder *holder = file->private_data;

	end(holder);
	dma_free_coherent(edu, PL_LINK_ROOM, holder->bounce, holder->bounce_addr);
	kfree(holder);
	return 0;
}

static long link_command(struct holder *holder, unsigned int cmd, void __user *arg)
{
	switch (cmd) {
	case PL_LINK_GET:
		return command_get(holder, arg);
	case PL_LINK_PUT:
		drop_map(holder);
		return 0;
	case PL_LINK_STATE:
		return command_state(holder, arg);
	case PL_LINK_SGES:
		return command_list(holder, arg, list_sges);
	case PL_LINK_KEYSG:
		return command_list(holder, arg, list_keysg);
	case PL_LINK_COPY:
		return command_copy(holder, arg);
	case PL_LINK_PATH:
		return command_path(arg);
	}
	return -ENOTTY;
}

static long link_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct holder *holder = file->private_data;
	long ret;

	/* Beside the others: it waits for what they do. */
	if (cmd == PL_LINK_DRAIN) {
		link->drain(holder->rdma ?: (void *)edu);
		return 0;
	}
	mutex_lock(&holder->lock);
	ret = link_command(holder, cmd, (void __user *)arg);
	mutex_unlock(&holder->lock);
	return ret;
}

static const struct file_operations link_fops = {
	.owner		= THIS_MODULE,
	.open		= link_open,
	.release	= link_release,
	.unlocked_ioctl	= link_ioctl,
};

static struct miscdevice misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "pl_link",
	.fops	= &link_fops,
	.mode	= 0600,
};

static int __init link_init(void)
{
	int ret;

	edu = &pl_edu_function()->dev;
	ret = ib_register_client(&client);
	if (ret)
		return ret;
	ret = misc_register(&misc);
	if (ret)
		ib_unregister_client(&client);
	return ret;
}
module_init(link_init);

static void __exit link_exit(void)
{
	misc_deregister(&misc);
	ib_unregister_client(&client);
}
module_exit(link_exit);

MODULE_DESCRIPTION("User of link maps for tests");
MODULE_LICENSE("GPL");
