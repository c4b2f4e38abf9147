// SPDX-License-Identifier: GPL-2.0
/*
 * The PCI driver for memory that has no driver of its own: FPGAs,
 * accelerators, NVMe CMBs, NTBs, emulated devices. It has no ID table and is
 * bound by driver_override only.
 */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/pm.h>

#include "bar_choice.h"
#include "peerlane.h"

static void look_at(struct pci_dev *pdev, struct peerlane_bar *bars)
{
	unsigned long flags;
	int i;

	for (i = 0; i < PCI_STD_NUM_BARS; i++) {
		flags = pci_resource_flags(pdev, i);
		bars[i] = (struct peerlane_bar) {
			.size		 = pci_resource_len(pdev, i),
			.is_memory	 = flags & IORESOURCE_MEM,
			.is_prefetchable = flags & IORESOURCE_PREFETCH,
			.has_address	 = !(flags & IORESOURCE_UNSET),
		};
	}
}

int peerlane_bar_of(struct pci_dev *pdev)
{
	struct peerlane_bar bars[PCI_STD_NUM_BARS];

	look_at(pdev, bars);
	return peerlane_bar_largest(bars, PCI_STD_NUM_BARS);
}

static int refuse_all(struct pci_dev *pdev, const struct peerlane_bar *bars,
		      struct peerlane_msg *msg)
{
	int largest = peerlane_bar_largest(bars, PCI_STD_NUM_BARS);

	if (largest < 0)
		return peerlane_refuse(msg, -EINVAL, "%s has no memory BAR",
				       pci_name(pdev));
	switch (peerlane_bar_fault(&bars[largest])) {
	case PEERLANE_BAR_NO_ADDRESS:
		return peerlane_refuse(msg, -EINVAL,
				       "BAR %d of %s has no address: the firmware found no room for it",
				       largest, pci_name(pdev));
	case PEERLANE_BAR_SMALL:
		return peerlane_refuse(msg, -EINVAL,
				       "the largest BAR of %s, %d, has %llu bytes; at least %lu are needed",
				       pci_name(pdev), largest,
				       bars[largest].size, PEERLANE_UNIT);
	default:
		return peerlane_refuse(msg, -EINVAL,
				       "BAR %d of %s (%llu bytes) is not prefetchable: it holds registers, not memory",
				       largest, pci_name(pdev),
				       bars[largest].size);
	}
}

int peerlane_bar_pick(struct pci_dev *pdev, struct peerlane_msg *msg)
{
	struct peerlane_bar bars[PCI_STD_NUM_BARS];
	int ret, best;

	ret = peerlane_pages_supported(msg);
	if (ret)
		return ret;
	look_at(pdev, bars);
	best = peerlane_bar_best(bars, PCI_STD_NUM_BARS);
	return best < 0 ? refuse_all(pdev, bars, msg) : best;
}

static struct peerlane_device *create(struct pci_dev *pdev, int bar,
				      struct peerlane_msg *msg)
{
	const struct peerlane_device_args args = {
		.parent	= &pdev->dev,
		.pdev	= pdev,
		.name	= "gpu",
		.phys	= pci_resource_start(pdev, bar),
		.size	= ALIGN_DOWN(pci_resource_len(pdev, bar),
				     PEERLANE_UNIT),
		.kind	= PEERLANE_KIND_BAR,
		.bar	= bar,
	};

	return peerlane_device_create(&args, msg);
}

static int bar_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct peerlane_msg msg = {};
	struct peerlane_device *dev;
	int bar, ret;

	bar = peerlane_bar_pick(pdev, &msg);
	if (bar < 0) {
		ret = bar;
		goto err_say;
	}
	ret = pci_enable_device_mem(pdev);
	if (ret) {
		peerlane_refuse(&msg, ret, "%s cannot be enabled",
				pci_name(pdev));
		goto err_say;
	}
	ret = pci_request_region(pdev, bar, "peerlane");
	if (ret) {
		peerlane_refuse(&msg, ret,
				"BAR %d of %s is claimed by another driver",
				bar, pci_name(pdev));
		goto err_disable;
	}
	dev = create(pdev, bar, &msg);
	if (IS_ERR(dev)) {
		ret = PTR_ERR(dev);
		goto err_release;
	}
	pci_set_drvdata(pdev, dev);
	pci_save_state(pdev);
	pci_info(pdev, "BAR %d, %llu bytes, is /dev/peerlane/%s\n", bar,
		 dev->size, peerlane_device_name(dev));
	return 0;

err_release:
	pci_release_region(pdev, bar);
err_disable:
	pci_disable_device(pdev);
err_say:
	/* Only root binds, so this cannot flood. */
	pci_err(pdev, "not bound: %s\n", msg.text);
	return ret;
}

static void bar_remove(struct pci_dev *pdev)
{
	struct peerlane_device *dev = pci_get_drvdata(pdev);
	int bar = dev->bar;

	peerlane_device_destroy(dev);
	pci_release_region(pdev, bar);
	pci_disable_device(pdev);
}

/* A reset loses the contents and stops DMA in the middle. */
static void bar_reset_prepare(struct pci_dev *pdev)
{
	peerlane_device_reset_begin(pci_get_drvdata(pdev));
}

static void bar_reset_done(struct pci_dev *pdev)
{
	peerlane_device_reset_end(pci_get_drvdata(pdev));
}

/*
 * An error on the link: the memory may read as all ones by now, and the
 * recovery may reset it, also on account of a neighbour.
 */
static pci_ers_result_t bar_error_detected(struct pci_dev *pdev,
					   pci_channel_state_t state)
{
	peerlane_device_reset_begin(pci_get_drvdata(pdev));
	if (state == pci_channel_io_perm_failure)
		return PCI_ERS_RESULT_DISCONNECT;
	return PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t bar_slot_reset(struct pci_dev *pdev)
{
	/* From probe: BAR addresses and memory decoding. */
	pci_restore_state(pdev);
	pci_save_state(pdev);
	return pci_device_is_present(pdev) ? PCI_ERS_RESULT_RECOVERED :
					     PCI_ERS_RESULT_DISCONNECT;
}

static const struct pci_error_handlers bar_errors = {
	.error_detected	= bar_error_detected,
	.slot_reset	= bar_slot_reset,
	.resume		= bar_reset_done,
	.reset_prepare	= bar_reset_prepare,
	.reset_done	= bar_reset_done,
};

static int bar_suspend(struct device *device)
{
	peerlane_device_reset_begin(dev_get_drvdata(device));
	return 0;
}

static int bar_resume(struct device *device)
{
	peerlane_device_reset_end(dev_get_drvdata(device));
	return 0;
}

static DEFINE_SIMPLE_DEV_PM_OPS(bar_pm, bar_suspend, bar_resume);

static struct pci_driver bar_driver = {
	.name		= "peerlane",
	.probe		= bar_probe,
	.remove		= bar_remove,
	.err_handler	= &bar_errors,
	.driver.pm	= pm_sleep_ptr(&bar_pm),
};

int peerlane_bar_init(void)
{
	return pci_register_driver(&bar_driver);
}

void peerlane_bar_exit(void)
{
	pci_unregister_driver(&bar_driver);
}
