// SPDX-License-Identifier: GPL-2.0
/*
 * A device that does not let the machine sleep. Devices that came after it are
 * put to sleep before it is asked, and woken when it has said no: those before
 * it, a test machine's own among them, never notice.
 */
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/pm.h>

static struct platform_device *device;

static int awake_probe(struct platform_device *pdev)
{
	return 0;
}

static int awake_suspend(struct device *dev)
{
	return -EBUSY;
}

static const struct dev_pm_ops awake_pm = {
	.suspend = awake_suspend,
};

static struct platform_driver awake_driver = {
	.probe		= awake_probe,
	.driver.name	= "pl_awake",
	.driver.pm	= &awake_pm,
};

static int __init awake_init(void)
{
	int ret;

	ret = platform_driver_register(&awake_driver);
	if (ret)
		return ret;
	device = platform_device_register_simple("pl_awake", PLATFORM_DEVID_NONE,
						 NULL, 0);
	if (IS_ERR(device)) {
		platform_driver_unregister(&awake_driver);
		return PTR_ERR(device);
	}
	return 0;
}
module_init(awake_init);

static void __exit awake_exit(void)
{
	platform_device_unregister(device);
	platform_driver_unregister(&awake_driver);
}
module_exit(awake_exit);

MODULE_DESCRIPTION("Device that refuses to be suspended, for tests");
MODULE_LICENSE("GPL");
