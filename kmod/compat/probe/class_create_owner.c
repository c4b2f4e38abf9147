// SPDX-License-Identifier: GPL-2.0
/* class_create() lost its owner argument in 6.4. */
#include <linux/device.h>
#include <linux/module.h>
struct class *probe(void) { return class_create(THIS_MODULE, "probe"); }
