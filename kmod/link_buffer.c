// SPDX-License-Identifier: GPL-2.0
/* Small buffers for messages, some in each page, mapped for the device. */
#include <linux/gfp.h>
#include <linux/slab.h>

#include "link_core.h"

static int add_page(struct link_buffers *buffers, struct ib_device *dev)
{
	void *page = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	u64 dma;

	if (!page)
		return -ENOMEM;
	dma = ib_dma_map_single(dev, page, PAGE_SIZE, buffers->direction);
	if (ib_dma_mapping_error(dev, dma)) {
		free_page((unsigned long)page);
		return -EIO;
	}
	buffers->page[buffers->pages] = page;
	buffers->dma[buffers->pages++] = dma;
	return 0;
}

int link_buffers_init(struct link_buffers *buffers, struct ib_device *dev,
		      u32 count, u32 size, enum dma_data_direction direction)
{
	u32 pages;
	int ret = 0;

	*buffers = (struct link_buffers){
		.count = count,
		.size = size,
		.per_page = PAGE_SIZE / size,
		.direction = direction,
	};
	pages = DIV_ROUND_UP(count, buffers->per_page);
	buffers->page = kvcalloc(pages, sizeof(*buffers->page),
				 GFP_KERNEL_ACCOUNT);
	buffers->dma = kvcalloc(pages, sizeof(*buffers->dma),
				GFP_KERNEL_ACCOUNT);
	if (!buffers->page || !buffers->dma)
		ret = -ENOMEM;
	while (!ret && buffers->pages < pages)
		ret = add_page(buffers, dev);
	if (ret)
		link_buffers_free(buffers, dev);
	return ret;
}

void link_buffers_free(struct link_buffers *buffers, struct ib_device *dev)
{
	while (buffers->pages) {
		buffers->pages--;
		ib_dma_unmap_single(dev, buffers->dma[buffers->pages],
				    PAGE_SIZE, buffers->direction);
		free_page((unsigned long)buffers->page[buffers->pages]);
	}
	kvfree(buffers->page);
	kvfree(buffers->dma);
	buffers->page = NULL;
	buffers->dma = NULL;
}
