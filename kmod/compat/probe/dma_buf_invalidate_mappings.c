// SPDX-License-Identifier: GPL-2.0
/* dma_buf_move_notify() got this name in 7.1. */
#include <linux/dma-buf.h>
void probe(struct dma_buf *buf) { dma_buf_invalidate_mappings(buf); }
