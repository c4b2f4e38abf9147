// SPDX-License-Identifier: GPL-2.0
/* Added in 6.2, when dma_buf_map_attachment() began to want the lock. */
#include <linux/dma-buf.h>
struct sg_table *probe(struct dma_buf_attachment *a)
{ return dma_buf_map_attachment_unlocked(a, DMA_TO_DEVICE); }
