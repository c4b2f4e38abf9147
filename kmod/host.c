// SPDX-License-Identifier: GPL-2.0
/*
 * Regions that are pinned pages of their maker.
 *
 * Pages are charged to the maker's mm as RDMA memory regions are (pinned_vm,
 * against RLIMIT_MEMLOCK), from before the first is pinned until after the last
 * is unpinned. The struct of the mm is kept for that; the mm may be gone.
 */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "peerlane.h"
#include "range.h"

#define BATCH	(PAGE_SIZE / sizeof(struct page *))

struct host {
	/* Contiguous pages share an entry: 16 B to 32 B for each run */
	struct sg_append_table table;
	struct mm_struct *mm;		/* mmgrab() */
	unsigned long pages;		/* charged */
	bool writable;
};

static u32 host_kind(const struct peerlane_region *region)
{
	return PEERLANE_KIND_HOST;
}

static u32 host_caps(const struct peerlane_region *region)
{
	return PEERLANE_CAP_HW_DMA | PEERLANE_CAP_VIRT_DMA |
	       PEERLANE_CAP_REVOKE;
}

static void host_memory(struct peerlane_region *region,
			struct peerlane_memory *memory)
{
	const struct host *host = region->priv;

	memory->pages = &host->table.sgt;
	memory->writable = host->writable;
}

/* Our own pins are no foreign hands; DMA is in region->attachments. */
static unsigned int host_pinned(struct peerlane_region *region)
{
	return 0;
}

static int charge(struct host *host, unsigned long pages,
		  struct peerlane_msg *msg)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	u64 pinned;

	/* Also for those who have no limit: what cannot be is refused first. */
	if (pages > totalram_pages())
		return peerlane_refuse(msg, -ENOMEM,
				       "%lu pages are more than this machine has",
				       pages);
	pinned = atomic64_add_return(pages, &host->mm->pinned_vm);
	if (pinned > limit && !capable(CAP_IPC_LOCK)) {
		atomic64_sub(pages, &host->mm->pinned_vm);
		return peerlane_refuse(msg, -ENOMEM,
				       "%llu KiB would be pinned, RLIMIT_MEMLOCK is %lu KiB",
				       pinned << (PAGE_SHIFT - 10),
				       limit << (PAGE_SHIFT - 10));
	}
	host->pages = pages;
	return 0;
}

static void uncharge(struct host *host)
{
	atomic64_sub(host->pages, &host->mm->pinned_vm);
}

static void unpin_all(struct host *host)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(&host->table.sgt, sg, i) {
		unpin_user_page_range_dirty_lock(sg_page(sg),
						 sg->length >> PAGE_SHIFT,
						 host->writable);
		cond_resched();
	}
	sg_free_append_table(&host->table);
}

/*
 * For reading only, writing is still tried first: it breaks copy-on-write now,
 * so that the pages we pin are those that the caller writes to later. (Kernels
 * before 6.2 pin the zero page of memory that was never touched.) A mapping
 * that nobody can write has no such later.
 */
static int pin_batch(const struct host *host, u64 addr, unsigned long pages,
		     struct page **batch)
{
	int ret;

	ret = pin_user_pages_fast(addr, pages, FOLL_LONGTERM | FOLL_WRITE,
				  batch);
	if (ret < 0 && !host->writable && !fatal_signal_pending(current))
		ret = pin_user_pages_fast(addr, pages, FOLL_LONGTERM, batch);
	return ret;
}

static int pin_error(const struct host *host, u64 addr, int err,
		     struct peerlane_msg *msg)
{
	if (fatal_signal_pending(current))
		return -EINTR;
	if (err == -ENOMEM || err == -EINTR)
		return peerlane_refuse(msg, err, "cannot pin page %#llx", addr);
	/* Also pages of another device, fsdax, poisoned ones */
	return peerlane_refuse(msg, -EFAULT,
			       "page %#llx is not mapped%s, or cannot be pinned for long (error %d)",
			       addr, host->writable ? " for writing" : "", -err);
}

static int pin_all(struct host *host, u64 addr, struct page **batch,
		   struct peerlane_msg *msg)
{
	unsigned long left = host->pages;
	int got, ret;

	while (left) {
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		got = pin_batch(host, addr, min_t(unsigned long, left, BATCH),
				batch);
		if (got <= 0)
			return pin_error(host, addr, got, msg);
		left -= got;
		addr += (u64)got << PAGE_SHIFT;
		ret = sg_alloc_append_table_from_pages(&host->table, batch, got,
						       0, (u64)got << PAGE_SHIFT,
						       SZ_1G, left,
						       GFP_KERNEL_ACCOUNT);
		if (ret) {
			/* This batch is not in the table yet. */
			unpin_user_pages(batch, got);
			return peerlane_refuse(msg, ret,
					       "no memory for the list of pages");
		}
	}
	return 0;
}

static struct host *host_new(u64 addr, unsigned long pages, bool writable,
			     struct peerlane_msg *msg)
{
	struct page **batch;
	struct host *host;
	int ret;

	host = kzalloc(sizeof(*host), GFP_KERNEL_ACCOUNT);
	batch = (struct page **)__get_free_page(GFP_KERNEL);
	if (!host || !batch) {
		ret = peerlane_refuse(msg, -ENOMEM, "no memory for a region");
		goto err_free;
	}
	host->writable = writable;
	host->mm = current->mm;
	mmgrab(host->mm);
	ret = charge(host, pages, msg);
	if (ret)
		goto err_mm;
	ret = pin_all(host, addr, batch, msg);
	if (ret)
		goto err_unpin;
	free_page((unsigned long)batch);
	return host;

err_unpin:
	unpin_all(host);
	uncharge(host);
err_mm:
	mmdrop(host->mm);
err_free:
	free_page((unsigned long)batch);
	kfree(host);
	return ERR_PTR(ret);
}

static void host_free(struct host *host)
{
	unpin_all(host);
	uncharge(host);
	mmdrop(host->mm);
	kfree(host);
}

static void host_release(struct peerlane_region *region)
{
	host_free(region->priv);
}

static const struct peerlane_region_kind host_region_kind = {
	.kind		= host_kind,
	.caps		= host_caps,
	.memory		= host_memory,
	.pinned		= host_pinned,
	.release	= host_release,
};

static int check_range(u64 addr, u64 length, struct peerlane_msg *msg)
{
	if (!PAGE_ALIGNED(addr) || !PAGE_ALIGNED(length) || !length)
		return peerlane_refuse(msg, -EINVAL,
				       "address %#llx and length %#llx must be multiples of the page size, and length not 0",
				       addr, length);
	if (!peerlane_range_within(addr, length, ULONG_MAX))
		return peerlane_refuse(msg, -EOVERFLOW,
				       "address %#llx + length %#llx is beyond the address space",
				       addr, length);
	return 0;
}

struct peerlane_region *peerlane_host(u64 addr, u64 length, u32 flags,
				      struct peerlane_msg *msg)
{
	struct peerlane_region *region;
	struct host *host;
	int ret;

	ret = check_range(addr, length, msg);
	if (ret)
		return ERR_PTR(ret);
	host = host_new(addr, length >> PAGE_SHIFT,
			!(flags & PEERLANE_PIN_READ_ONLY), msg);
	if (IS_ERR(host))
		return ERR_CAST(host);
	region = peerlane_region_new(&host_region_kind, NULL, msg);
	if (IS_ERR(region)) {
		host_free(host);
		return region;
	}
	/* From here the pages are the region's. */
	peerlane_region_activate(region, length, host);
	return region;
}
