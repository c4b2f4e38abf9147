// SPDX-License-Identifier: GPL-2.0
/* Removed in 6.12; NULL had come to mean the same. */
#include <linux/fs.h>
const struct file_operations probe = { .llseek = no_llseek };
