// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>

#include "aggregator.h"
#include "endpoint.h"
#include "flow.h"
#include "group.h"
#include "peerlane.h"
#include "reduce_cpu.h"

static int __init peerlane_init(void)
{
	int ret;

	reduce_cpu_init();
	ret = peerlane_limbo_init();
	if (ret)
		return ret;
	ret = peerlane_devices_init();
	if (ret)
		goto err_limbo;
	ret = peerlane_flows_init();
	if (ret)
		goto err_devices;
	ret = endpoint_init();
	if (ret)
		goto err_flows;
	ret = group_init();
	if (ret)
		goto err_endpoints;
	ret = aggregator_init();
	if (ret)
		goto err_groups;
	/* Last: devices may be bound, and nodes opened, from here on. */
	ret = peerlane_bar_init();
	if (ret)
		goto err_aggregators;
	peerlane_debugfs_init();
	return 0;

err_aggregators:
	aggregator_exit();
err_groups:
	group_exit();
err_endpoints:
	endpoint_exit();
err_flows:
	peerlane_flows_exit();
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
	aggregator_exit();
	group_exit();
	endpoint_exit();
	peerlane_flows_exit();
	peerlane_devices_exit();
	peerlane_limbo_exit();
}

module_init(peerlane_init);
module_exit(peerlane_exit);

MODULE_DESCRIPTION("Accelerator memory on the RDMA fabric");
MODULE_LICENSE("GPL");
MODULE_VERSION(PEERLANE_VERSION);
