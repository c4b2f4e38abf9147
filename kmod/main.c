// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>

#include "peerlane.h"

static int __init peerlane_init(void)
{
	int ret;

	ret = peerlane_limbo_init();
	if (ret)
		return ret;
	ret = peerlane_devices_init();
	if (ret)
		goto err_limbo;
	/* Last: devices may be bound, and nodes opened, from here on. */
	ret = peerlane_bar_init();
	if (ret)
		goto err_devices;
	peerlane_debugfs_init();
	return 0;

err_devices:
	peerlane_devices_exit();
err_limbo:
	peerlane_limbo_exit();
	return ret;
}

static void __exit peerlane_exit(void)
{
	peerlane_debugfs_exit();
	peerlane_bar_exit();
	peerlane_devices_exit();
	peerlane_limbo_exit();
}

module_init(peerlane_init);
module_exit(peerlane_exit);

MODULE_DESCRIPTION("Accelerator memory on the RDMA fabric");
MODULE_LICENSE("GPL");
MODULE_VERSION(PEERLANE_VERSION);
