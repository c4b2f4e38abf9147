// SPDX-License-Identifier: GPL-2.0
/*
 * Misbehaves on demand, so that the rig's detectors can themselves be tested:
 * write 1 to a parameter to have it done.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>

static int warn_set(const char *val, const struct kernel_param *kp)
{
	WARN(1, "peerlane_splat: asked to warn\n");
	return 0;
}

static const struct kernel_param_ops warn_ops = { .set = warn_set };
module_param_cb(warn, &warn_ops, NULL, 0200);
MODULE_PARM_DESC(warn, "print a warning with a trace");

/* A reference nobody gives back: the module cannot be unloaded. */
static int pin_set(const char *val, const struct kernel_param *kp)
{
	return try_module_get(THIS_MODULE) ? 0 : -EBUSY;
}

static const struct kernel_param_ops pin_ops = { .set = pin_set };
module_param_cb(pin, &pin_ops, NULL, 0200);
MODULE_PARM_DESC(pin, "keep the module from being unloaded");

static int __init peerlane_splat_init(void)
{
	return 0;
}

static void __exit peerlane_splat_exit(void)
{
}

module_init(peerlane_splat_init);
module_exit(peerlane_splat_exit);
MODULE_DESCRIPTION("Deliberate faults for testing the virtual machine rig");
MODULE_LICENSE("GPL");
