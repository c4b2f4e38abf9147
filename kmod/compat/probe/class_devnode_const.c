// SPDX-License-Identifier: GPL-2.0
/* class.devnode takes a const device since 6.2. */
#include <linux/device.h>
static char *callback(const struct device *dev, umode_t *mode) { return NULL; }
const struct class probe = { .devnode = callback };
