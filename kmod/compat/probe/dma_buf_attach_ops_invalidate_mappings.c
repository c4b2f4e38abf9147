// SPDX-License-Identifier: GPL-2.0
/* dma_buf_attach_ops.move_notify got this name in 7.1. */
#include <linux/dma-buf.h>
static void callback(struct dma_buf_attachment *a) { }
const struct dma_buf_attach_ops probe = { .invalidate_mappings = callback };
