// SPDX-License-Identifier: GPL-2.0
/* Work in flight: DMA in the background, with a fence that says when it ends. */
#include <linux/dma-fence.h>
#include <linux/dma-resv.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "importer.h"
#include "pl_edu.h"

struct importer_job {
	struct dma_fence fence;		/* first: whoever puts last frees it */
	spinlock_t lock;		/* of fence */
	struct work_struct work;
	struct importer *importer;
	u64 target;
	u32 length;
	bool hasty;
	unsigned long end;		/* jiffies */
};

static const char *name_of(struct dma_fence *fence)
{
	return "pl_importer";
}

static const struct dma_fence_ops job_ops = {
	.get_driver_name	= name_of,
	.get_timeline_name	= name_of,
};

static void job_work(struct work_struct *work)
{
	struct importer_job *job = container_of(work, struct importer_job, work);
	struct importer *importer = job->importer;
	struct dma_resv *resv = importer->dmabuf->resv;
	int ret;

	do
		ret = pl_edu_copy(importer->bounce_addr, job->target,
				  job->length);
	while (!ret && time_before(jiffies, job->end));

	dma_resv_lock(resv, NULL);
	dma_fence_signal(&job->fence);
	if (atomic_read(&importer->notifies))
		importer_let_go(importer);
	dma_resv_unlock(resv);
}

static struct importer_job *job_new(struct importer *importer,
				    const struct pl_job *args)
{
	struct importer_job *job = kzalloc(sizeof(*job), GFP_KERNEL);

	if (!job)
		return NULL;
	spin_lock_init(&job->lock);
	INIT_WORK(&job->work, job_work);
	job->importer = importer;
	job->length = args->length;
	job->hasty = args->hasty;
	job->end = jiffies + msecs_to_jiffies(args->ms);
	dma_fence_init(&job->fence, &job_ops, &job->lock,
		       dma_fence_context_alloc(1), 1);
	return job;
}

static int start(struct importer *importer, struct importer_job *job, u64 offset)
{
	struct dma_resv *resv = importer->dmabuf->resv;
	int ret;

	ret = importer_find(importer, offset, job->length, &job->target);
	if (ret)
		return ret;
	ret = dma_resv_reserve_fences(resv, 1);
	if (ret)
		return ret;
	dma_resv_add_fence(resv, &job->fence, DMA_RESV_USAGE_WRITE);
	importer->job = job;
	queue_work(system_unbound_wq, &job->work);
	return 0;
}

int importer_job_begin(struct importer *importer, const struct pl_job *args)
{
	struct importer_job *job;
	int ret;

	if (!importer->dmabuf)
		return -ENOENT;
	if (importer->job)
		return -EBUSY;
	job = job_new(importer, args);
	if (!job)
		return -ENOMEM;
	memset(importer->bounce, args->byte, PL_EDU_ROOM);
	dma_resv_lock(importer->dmabuf->resv, NULL);
	ret = start(importer, job, args->offset);
	dma_resv_unlock(importer->dmabuf->resv);
	if (ret)
		dma_fence_put(&job->fence);
	return ret;
}

bool importer_job_goes_on(const struct importer *importer)
{
	return importer->job && !dma_fence_is_signaled(&importer->job->fence);
}

bool importer_job_needs_mapping(const struct importer *importer)
{
	return importer_job_goes_on(importer) && !importer->job->hasty;
}

void importer_job_end(struct importer *importer)
{
	if (!importer->job)
		return;
	flush_work(&importer->job->work);
	dma_fence_put(&importer->job->fence);
	importer->job = NULL;
}
