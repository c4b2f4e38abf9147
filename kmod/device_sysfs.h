/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PEERLANE_DEVICE_SYSFS_H
#define PEERLANE_DEVICE_SYSFS_H

#include <linux/sysfs.h>

extern const struct attribute_group *peerlane_device_groups[];

#endif /* PEERLANE_DEVICE_SYSFS_H */
