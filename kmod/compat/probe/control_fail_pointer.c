// SPDX-License-Identifier: GPL-2.0
/* Control: a callback of another type must not compile. */
#include <linux/fs.h>
static int callback(struct inode *inode) { return 0; }
const struct file_operations probe = { .open = callback };
