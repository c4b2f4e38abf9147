// SPDX-License-Identifier: GPL-2.0
/*
 * QEMU's edu function, whose engine copies between memory and its own buffer:
 * two copies are one from memory to memory that no CPU had a hand in.
 *
 * The function is used without being bound: no other driver wants it, and
 * importers need nothing but its struct device.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/uaccess.h>

#include "pl_edu.h"

#define EDU_VENDOR	0x1234
#define EDU_DEVICE	0x11e8
#define EDU_SOURCE	0x80
#define EDU_TARGET	0x88
#define EDU_COUNT	0x90
#define EDU_COMMAND	0x98
#define EDU_RUN		1
#define EDU_TO_MEMORY	2
#define EDU_BUFFER	0x40000

static unsigned int dma_bits = 64;
module_param(dma_bits, uint, 0444);
MODULE_PARM_DESC(dma_bits, "how many address bits the function says it has (default 64)");

static struct pci_dev *pdev;
static void __iomem *registers;
static DEFINE_MUTEX(engine);		/* protects registers */

struct pci_dev *pl_edu_function(void)
{
	return pdev;
}
EXPORT_SYMBOL_GPL(pl_edu_function);

static int run(u64 source, u64 target, u32 count, u32 direction)
{
	unsigned long end = jiffies + 5 * HZ;

	lockdep_assert_held(&engine);
	writeq(source, registers + EDU_SOURCE);
	writeq(target, registers + EDU_TARGET);
	writeq(count, registers + EDU_COUNT);
	writeq(EDU_RUN | direction, registers + EDU_COMMAND);
	while (readq(registers + EDU_COMMAND) & EDU_RUN) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		usleep_range(1000, 5000);
	}
	return 0;
}

int pl_edu_copy(u64 source, u64 target, u32 length)
{
	int ret;

	if (!length || length > PL_EDU_ROOM)
		return -EINVAL;
	mutex_lock(&engine);
	ret = run(source, EDU_BUFFER, length, 0);
	if (!ret)
		ret = run(EDU_BUFFER, target, length, EDU_TO_MEMORY);
	mutex_unlock(&engine);
	return ret;
}
EXPORT_SYMBOL_GPL(pl_edu_copy);

static long edu_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct pl_edu_copy args;

	if (cmd != PL_EDU_COPY)
		return -ENOTTY;
	if (copy_from_user(&args, (void __user *)arg, sizeof(args)))
		return -EFAULT;
	return pl_edu_copy(args.source, args.target, args.length);
}

static const struct file_operations edu_fops = {
	.owner		= THIS_MODULE,
	.unlocked_ioctl	= edu_ioctl,
};

static struct miscdevice misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "pl_edu",
	.fops	= &edu_fops,
	.mode	= 0600,
};

static int __init edu_init(void)
{
	int ret;

	pdev = pci_get_device(EDU_VENDOR, EDU_DEVICE, NULL);
	if (!pdev)
		return -ENODEV;
	ret = pci_enable_device(pdev);
	if (ret)
		goto err_put;
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(dma_bits));
	if (ret)
		goto err_disable;
	registers = pci_iomap(pdev, 0, 0);
	if (!registers) {
		ret = -ENOMEM;
		goto err_disable;
	}
	pci_set_master(pdev);
	ret = misc_register(&misc);
	if (ret)
		goto err_unmap;
	return 0;

err_unmap:
	pci_clear_master(pdev);
	pci_iounmap(pdev, registers);
err_disable:
	pci_disable_device(pdev);
err_put:
	pci_dev_put(pdev);
	return ret;
}
module_init(edu_init);

static void __exit edu_exit(void)
{
	misc_deregister(&misc);
	pci_clear_master(pdev);
	pci_iounmap(pdev, registers);
	pci_disable_device(pdev);
	pci_dev_put(pdev);
}
module_exit(edu_exit);

MODULE_DESCRIPTION("QEMU's edu DMA engine for tests");
MODULE_LICENSE("GPL");
