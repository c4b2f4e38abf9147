// SPDX-License-Identifier: GPL-2.0
/* platform_driver.remove returns nothing since 6.11. */
#include <linux/platform_device.h>
static void callback(struct platform_device *pdev) { }
const struct platform_driver probe = { .remove = callback };
