// SPDX-License-Identifier: GPL-2.0
/* Symbol namespaces are bare words before 6.13, strings since. */
#include <linux/module.h>
MODULE_IMPORT_NS(DMA_BUF);
