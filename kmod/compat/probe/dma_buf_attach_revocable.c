// SPDX-License-Identifier: GPL-2.0
/* Added in 7.1. */
#include <linux/dma-buf.h>
bool probe(struct dma_buf_attachment *a) { return dma_buf_attach_revocable(a); }
