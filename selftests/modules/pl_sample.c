// SPDX-License-Identifier: GPL-2.0
/*
 * A driver with memory of its own that lends it to peerlane: how
 * peerlane_register_device() and peerlane_region_create() are used.
 *
 * The memory is a PCI BAR. With own_allocator=0 peerlane allocates from it, and
 * there is nothing more to do. With own_allocator=1 this driver does, by
 * /dev/pl_sample, and is told by release() when a range is free again; its
 * allocator here is one bit per 2 MiB.
 */
#include <linux/bitmap.h>
#include <linux/debugfs.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/peerlane.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "pl_sample.h"

#define UNIT	SZ_2M

static char *pci = "";
module_param(pci, charp, 0444);
MODULE_PARM_DESC(pci, "dddd:bb:dd.f of the function with the memory");

static int bar = 2;
module_param(bar, int, 0444);
MODULE_PARM_DESC(bar, "which of its BARs (default 2)");

static char *name = "sample";
module_param(name, charp, 0444);
MODULE_PARM_DESC(name, "of the device, without number (default sample)");

static bool own_allocator;
module_param(own_allocator, bool, 0444);
MODULE_PARM_DESC(own_allocator, "this driver allocates (default: peerlane does)");

static struct pci_dev *pdev;
static struct peerlane_device *device;
static struct dentry *debug;

static unsigned long *taken;		/* bit per unit */
static DEFINE_MUTEX(taken_lock);	/* protects taken */
static atomic_t created, released;

struct lent {
	unsigned int first, units;
};

/* ---- the allocator ---- */

static int take(const struct lent *lent)
{
	unsigned long end = lent->first + lent->units;
	int ret = 0;

	mutex_lock(&taken_lock);
	if (find_next_bit(taken, end, lent->first) < end)
		ret = -EBUSY;
	else
		bitmap_set(taken, lent->first, lent->units);
	mutex_unlock(&taken_lock);
	return ret;
}

static void give_back(const struct lent *lent)
{
	mutex_lock(&taken_lock);
	bitmap_clear(taken, lent->first, lent->units);
	mutex_unlock(&taken_lock);
}

/* Nobody reads or writes the range any more. A real driver wipes it here. */
static void lent_release(void *priv)
{
	give_back(priv);
	kfree(priv);
	atomic_inc(&released);
}

static const struct peerlane_region_owner_ops owner_ops = {
	.release = lent_release,
};

/* ---- /dev/pl_sample ---- */

static struct lent *lent_new(const struct pl_sample_create *args)
{
	u64 size = pci_resource_len(pdev, bar);
	struct lent *lent;
	int ret;

	if (!IS_ALIGNED(args->offset, UNIT) || !args->length ||
	    args->offset >= size || args->length > size - args->offset)
		return ERR_PTR(-EINVAL);
	lent = kmalloc(sizeof(*lent), GFP_KERNEL);
	if (!lent)
		return ERR_PTR(-ENOMEM);
	lent->first = args->offset / UNIT;
	lent->units = DIV_ROUND_UP_ULL(args->length, UNIT);
	ret = take(lent);
	if (ret) {
		kfree(lent);
		return ERR_PTR(ret);
	}
	return lent;
}

static int create(const struct pl_sample_create *args)
{
	struct lent *lent;
	struct file *file;
	int fd;

	lent = lent_new(args);
	if (IS_ERR(lent))
		return PTR_ERR(lent);
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		goto err_lent;
	file = peerlane_region_create(device, args->offset, args->length,
				      &owner_ops, lent);
	if (IS_ERR(file)) {
		put_unused_fd(fd);
		fd = PTR_ERR(file);
		goto err_lent;
	}
	/* From here release() ends it. */
	atomic_inc(&created);
	fd_install(fd, file);
	return fd;

err_lent:
	give_back(lent);
	kfree(lent);
	return fd;
}

static int revoke(int fd)
{
	struct file *file = fget(fd);
	int ret;

	if (!file)
		return -EBADF;
	ret = peerlane_region_file_revoke(file);
	fput(file);
	return ret;
}

static long sample_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct pl_sample_create args;

	switch (cmd) {
	case PL_SAMPLE_CREATE:
		if (copy_from_user(&args, (void __user *)arg, sizeof(args)))
			return -EFAULT;
		return create(&args);
	case PL_SAMPLE_REVOKE:
		return revoke(arg);
	}
	return -ENOTTY;
}

static const struct file_operations sample_fops = {
	.owner		= THIS_MODULE,
	.unlocked_ioctl	= sample_ioctl,
};

static struct miscdevice misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "pl_sample",
	.fops	= &sample_fops,
	.mode	= 0600,
};

/* ---- start and end ---- */

static struct pci_dev *find_function(void)
{
	unsigned int domain, bus, slot, func;

	if (sscanf(pci, "%x:%x:%x.%x", &domain, &bus, &slot, &func) != 4)
		return NULL;
	return pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, func));
}

static int lend(void)
{
	const struct peerlane_device_desc desc = {
		.name		 = name,
		.parent		 = &pdev->dev,
		.owner		 = THIS_MODULE,
		.phys		 = pci_resource_start(pdev, bar),
		.size		 = pci_resource_len(pdev, bar),
		.owner_allocates = own_allocator,
	};

	device = peerlane_register_device(&desc);
	return PTR_ERR_OR_ZERO(device);
}

static void make_counters(void)
{
	debug = debugfs_create_dir("pl_sample", NULL);
	debugfs_create_atomic_t("created", 0400, debug, &created);
	debugfs_create_atomic_t("released", 0400, debug, &released);
}

static int __init sample_init(void)
{
	int ret;

	pdev = find_function();
	if (!pdev)
		return -ENODEV;
	ret = pci_enable_device_mem(pdev);
	if (ret)
		goto err_put;
	ret = pci_request_region(pdev, bar, "pl_sample");
	if (ret)
		goto err_disable;
	taken = bitmap_zalloc(pci_resource_len(pdev, bar) / UNIT, GFP_KERNEL);
	if (!taken) {
		ret = -ENOMEM;
		goto err_region;
	}
	ret = lend();
	if (ret)
		goto err_bitmap;
	/* Last: regions can be asked for from here. */
	ret = misc_register(&misc);
	if (ret)
		goto err_lend;
	make_counters();
	return 0;

err_lend:
	peerlane_unregister_device(device);
err_bitmap:
	bitmap_free(taken);
err_region:
	pci_release_region(pdev, bar);
err_disable:
	pci_disable_device(pdev);
err_put:
	pci_dev_put(pdev);
	return ret;
}
module_init(sample_init);

/* Regions hold this module, so none with memory is left. */
static void __exit sample_exit(void)
{
	misc_deregister(&misc);
	debugfs_remove_recursive(debug);
	peerlane_unregister_device(device);
	bitmap_free(taken);
	pci_release_region(pdev, bar);
	pci_disable_device(pdev);
	pci_dev_put(pdev);
}
module_exit(sample_exit);

MODULE_DESCRIPTION("Sample of a driver that lends memory to peerlane");
MODULE_LICENSE("GPL");
