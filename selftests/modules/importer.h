/* SPDX-License-Identifier: GPL-2.0 */
/* Private to the module pl_importer. */
#ifndef IMPORTER_H
#define IMPORTER_H

#include <linux/atomic.h>
#include <linux/dma-buf.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include "pl_importer.h"

struct importer_job;

struct importer {
	struct mutex lock;		/* outside dma_resv; protects the rest */
	struct dma_buf *dmabuf;
	struct dma_buf_attachment *attach;
	u32 mode;
	void *bounce;			/* PL_EDU_ROOM */
	dma_addr_t bounce_addr;
	bool pinned;			/* dma_resv */
	struct sg_table *sgt;		/* dma_resv */
	struct importer_job *job;	/* dma_resv; NULL: none was begun */
	atomic_t notifies;
};

/* The rest with dma_resv held. Bus address of a range that is mapped. */
int importer_find(struct importer *importer, u64 offset, u32 length, u64 *addr);
/* Unmap and unpin. */
void importer_let_go(struct importer *importer);

/* ---- importer_job.c: DMA that goes on in the background ---- */

int importer_job_begin(struct importer *importer, const struct pl_job *args);
/* Whether its mapping must stay. */
bool importer_job_needs_mapping(const struct importer *importer);
bool importer_job_goes_on(const struct importer *importer);
/* Wait for its end, without dma_resv. */
void importer_job_end(struct importer *importer);

#endif /* IMPORTER_H */
