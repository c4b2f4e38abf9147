// SPDX-License-Identifier: GPL-2.0
/* Removed in 7.1. */
#include <linux/dma-buf.h>
const struct dma_buf_ops probe = { .cache_sgt_mapping = true };
