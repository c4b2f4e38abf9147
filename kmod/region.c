// SPDX-License-Identifier: GPL-2.0
/* Regions: birth, revocation and end. The lifetime is told in peerlane.h. */
#include <linux/file.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/poll.h>
#include <linux/pseudo_fs.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "peerlane.h"
#include "region_list.h"
#include "trace.h"

#define PEERLANE_FS_MAGIC	0x70656572

static unsigned int user_regions = 65536;
module_param(user_regions, uint, 0644);
MODULE_PARM_DESC(user_regions,
		 "open regions one user may have; 0: no limit (default 65536)");

/* Mounted while there are regions: simple_pin_fs() counts them. */
static struct vfsmount *mount;
static int mount_count;
static atomic64_t last_id;

static const struct peerlane_countable regions = {
	.nouns		= "regions",
	.parameter	= "user_regions",
};

static int init_fs_context(struct fs_context *fc)
{
	return init_pseudo(fc, PEERLANE_FS_MAGIC) ? 0 : -ENOMEM;
}

/*
 * The superblock holds the module: O_PATH descriptors, and files half closed,
 * have the mount after the last of our own references is gone.
 */
static struct file_system_type region_fs = {
	.owner		 = THIS_MODULE,
	.name		 = "peerlane",
	.init_fs_context = init_fs_context,
	.kill_sb	 = kill_anon_super,
};

static void set_state(struct peerlane_region *region, u32 to)
{
	u32 from = region->state;

	lockdep_assert_held_write(&region->lock);
	WRITE_ONCE(region->state, to);
	trace_peerlane_region_state(region, from, to);
}

static void region_init(struct peerlane_region *region)
{
	kref_init(&region->ref);
	refcount_set(&region->users, 1);
	init_rwsem(&region->lock);
	INIT_LIST_HEAD(&region->node);
	INIT_LIST_HEAD(&region->dev_node);
	mutex_init(&region->exports_lock);
	INIT_LIST_HEAD(&region->exports);
	peerlane_region_init_watches(region);
	spin_lock_init(&region->mappers_lock);
	init_waitqueue_head(&region->wait);
	init_completion(&region->unpublished);
	INIT_DELAYED_WORK(&region->limbo, peerlane_limbo_work);
	region->uid = current_euid();
	region->opener = get_pid(task_tgid(current));
	get_task_comm(region->comm, current->group_leader);
	region->id = atomic64_inc_return(&last_id);
}

struct peerlane_region *peerlane_region_new(const struct peerlane_region_kind *kind,
					    struct peerlane_device *dev,
					    struct peerlane_msg *msg)
{
	struct peerlane_region *region;
	int ret;

	if (dev && !peerlane_device_get_owner(dev))
		return ERR_PTR(-ENODEV);
	ret = peerlane_count(&regions, current_euid(), 1,
			     READ_ONCE(user_regions), msg);
	if (ret)
		goto err_owner;
	region = kzalloc(sizeof(*region), GFP_KERNEL_ACCOUNT);
	if (!region) {
		ret = -ENOMEM;
		goto err_uncharge;
	}
	ret = simple_pin_fs(&region_fs, &mount, &mount_count);
	if (ret)
		goto err_free;
	region->inode = alloc_anon_inode(mount->mnt_sb);
	if (IS_ERR(region->inode)) {
		ret = PTR_ERR(region->inode);
		goto err_unpin;
	}
	region_init(region);
	region->kind = kind;
	region->dev = dev;
	if (dev)
		get_device(&dev->dev);
	/* Limbo runs after the file's own module reference is gone. */
	__module_get(THIS_MODULE);
	peerlane_region_publish(region);
	return region;

err_unpin:
	simple_release_fs(&mount, &mount_count);
err_free:
	kfree(region);
err_uncharge:
	peerlane_uncount(&regions, current_euid(), 1);
err_owner:
	if (dev)
		module_put(dev->owner);
	return ERR_PTR(ret);
}

static void region_free(struct kref *ref)
{
	struct peerlane_region *region;
	struct peerlane_device *dev;

	region = container_of(ref, struct peerlane_region, ref);
	dev = region->dev;
	peerlane_region_unpublish(region);
	peerlane_uncount(&regions, region->uid, 1);
	put_pid(region->opener);
	iput(region->inode);
	simple_release_fs(&mount, &mount_count);
	kfree(region);
	if (dev) {
		struct module *owner = dev->owner;

		put_device(&dev->dev);
		module_put(owner);
	}
	/* rmmod may go on from here; limbo's queue is drained by module exit. */
	module_put(THIS_MODULE);
}

void peerlane_region_put(struct peerlane_region *region)
{
	kref_put(&region->ref, region_free);
}

void peerlane_region_put_user(struct peerlane_region *region)
{
	bool begin = false;

	if (!refcount_dec_and_test(&region->users))
		return;

	/* Nobody can reach the memory: no file, so no VMA, no dma-buf, no link. */
	WARN_ON_ONCE(!list_empty(&region->watches.list));
	down_write(&region->lock);
	if (region->state == PEERLANE_STATE_ACTIVE) {
		begin = true;
		set_state(region, PEERLANE_STATE_LIMBO);
	} else if (region->state == PEERLANE_STATE_REVOKED) {
		set_state(region, PEERLANE_STATE_LIMBO);
	}
	up_write(&region->lock);
	if (begin) {
		complete_all(&region->unpublished);
		peerlane_limbo_begin(region);
	}
	peerlane_region_put(region);
}

void peerlane_region_set_released(struct peerlane_region *region)
{
	down_write(&region->lock);
	set_state(region, PEERLANE_STATE_RELEASED);
	up_write(&region->lock);
}

void peerlane_region_activate(struct peerlane_region *region, u64 length,
			      void *priv)
{
	down_write(&region->lock);
	region->length = length;
	region->priv = priv;
	set_state(region, PEERLANE_STATE_ACTIVE);
	up_write(&region->lock);
}

int peerlane_region_usable(const struct peerlane_region *region,
			   struct peerlane_msg *msg)
{
	lockdep_assert_held(&region->lock);
	if (region->state == PEERLANE_STATE_ACTIVE)
		return 0;
	if (region->state == PEERLANE_STATE_EMPTY)
		return peerlane_refuse(msg, -ENODATA,
				       "region %llu has no memory yet: mmap() or REGION_ALLOC first",
				       region->id);
	return peerlane_refuse(msg, -ENODEV, "region %llu is revoked",
			       region->id);
}

/* The count first: limbo looks at it after the state has changed. */
int peerlane_region_begin_dma(struct peerlane_region *region,
			      struct peerlane_msg *msg)
{
	int ret;

	atomic_inc(&region->attachments);
	down_read(&region->lock);
	ret = peerlane_region_usable(region, msg);
	up_read(&region->lock);
	if (ret)
		atomic_dec(&region->attachments);
	return ret;
}

void peerlane_region_end_dma(struct peerlane_region *region)
{
	/* All of it has happened when limbo sees this. */
	(void)atomic_dec_return_release(&region->attachments);
}

int peerlane_region_revoke(struct peerlane_region *region,
			   struct peerlane_msg *msg)
{
	int ret;

	down_write(&region->lock);
	ret = peerlane_region_usable(region, msg);
	if (!ret)
		set_state(region, PEERLANE_STATE_REVOKED);
	up_write(&region->lock);
	if (ret)
		return ret == -ENODEV ? -EBUSY : ret;

	/*
	 * From here no fault inserts a page: faults look at the state under
	 * the lock, and one that ran before us is in the page tables already,
	 * where the zap finds it.
	 */
	if (region->kind->unpublish)
		region->kind->unpublish(region);
	peerlane_region_tell_watches(region);
	complete_all(&region->unpublished);
	wake_up_poll(&region->wait, EPOLLHUP | EPOLLERR);
	peerlane_limbo_begin(region);
	return 0;
}

struct file *peerlane_region_file(struct peerlane_region *region)
{
	struct file *file;

	/* The file takes over one reference of each; dropped on failure. */
	ihold(region->inode);
	__module_get(THIS_MODULE);
	file = alloc_file_pseudo(region->inode, mount, "peerlane-region",
				 O_RDWR, &peerlane_region_fops);
	if (IS_ERR(file)) {
		module_put(THIS_MODULE);
		iput(region->inode);
		return file;
	}
	file->private_data = region;
	return file;
}

struct peerlane_region *peerlane_region_of(struct file *file)
{
	if (file->f_op == &peerlane_device_fops ||
	    file->f_op == &peerlane_region_fops)
		return file->private_data;
	return NULL;
}
