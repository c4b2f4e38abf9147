// SPDX-License-Identifier: GPL-2.0
/*
 * CPU mappings of device memory.
 *
 * Pages are inserted by fault and never by mmap: mmap runs before the VMA is
 * in the address space's tree, so a revocation at that moment would not find
 * what mmap inserted. One fault fills a window of 2 MiB, aligned by virtual
 * address.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "compat.h"
#include "peerlane.h"
#include "range.h"
#include "trace.h"
#include "window.h"

static int insert_one(struct vm_area_struct *vma, unsigned long addr,
		      struct page *page)
{
	int ret = vm_insert_page(vma, addr, page);

	return ret == -EBUSY ? 0 : ret;
}

/*
 * -EBUSY for a page means that another thread's fault was there first, or that
 * an earlier fault filled what madvise() has not dropped since: skip it.
 */
static int insert_pages(struct vm_area_struct *vma,
			const struct peerlane_window *window,
			struct page **pages)
{
	unsigned long left = window->pages, done;
	int ret;

	while (left) {
		done = window->pages - left;
		ret = vm_insert_pages(vma, window->start + (done << PAGE_SHIFT),
				      pages + done, &left);
		if (ret && ret != -EBUSY)
			return ret;
		if (ret == -EBUSY)
			left--;
	}
	return 0;
}

static int insert_window(struct peerlane_region *region,
			 struct vm_area_struct *vma, unsigned long addr,
			 const struct peerlane_window *window)
{
	struct page *first = peerlane_page(region->dev,
					   region->offset + window->offset);
	struct page **pages;
	unsigned long i;
	int ret;

	pages = kmalloc_array(window->pages, sizeof(*pages),
			      GFP_KERNEL | __GFP_NOWARN);
	if (!pages)	/* one page still serves the access that faulted */
		return insert_one(vma, addr,
				  first + ((addr - window->start) >> PAGE_SHIFT));
	for (i = 0; i < window->pages; i++)
		pages[i] = first + i;
	ret = insert_pages(vma, window, pages);
	kfree(pages);
	return ret;
}

static vm_fault_t map_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct peerlane_region *region = vma->vm_private_data;
	unsigned long addr = vmf->address & PAGE_MASK;
	struct peerlane_window window;
	int ret = -ENODEV;

	/*
	 * A marker of userfaultfd where the page should go: inserting would say
	 * -EBUSY for ever, and a fault by the kernel could not be killed.
	 */
	if ((vmf->flags & FAULT_FLAG_ORIG_PTE_VALID) &&
	    !pte_none(vmf->orig_pte))
		return VM_FAULT_SIGBUS;

	window = peerlane_window_around(vma->vm_start, vma->vm_end,
					vma->vm_pgoff, addr);
	down_read(&region->lock);
	if (region->state == PEERLANE_STATE_ACTIVE) {
		/* Later comers get no page to pin: they must not be blamed. */
		peerlane_region_note_mapper(region);
		ret = insert_window(region, vma, addr, &window);
	}
	up_read(&region->lock);

	trace_peerlane_fault(region, addr, window.pages, ret);
	if (!ret)
		return VM_FAULT_NOPAGE;
	return ret == -ENOMEM ? VM_FAULT_OOM : VM_FAULT_SIGBUS;
}

/* fork() and splits. The file that each VMA holds keeps the region. */
static void map_open(struct vm_area_struct *vma)
{
	struct peerlane_region *region = vma->vm_private_data;

	atomic_inc(&region->mappings);
}

static void map_close(struct vm_area_struct *vma)
{
	struct peerlane_region *region = vma->vm_private_data;

	atomic_dec(&region->mappings);
}

static const struct vm_operations_struct map_ops = {
	.open	= map_open,
	.close	= map_close,
	.fault	= map_fault,
};

int peerlane_map_vma(struct peerlane_region *region, struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 length = vma->vm_end - vma->vm_start;

	lockdep_assert_held(&region->lock);
	if (!peerlane_range_within(offset, length, region->length))
		return peerlane_refuse(NULL, -EINVAL,
				       "mmap of [%llu, %llu) is beyond the region's %llu bytes",
				       offset, offset + length, region->length);

	/*
	 * WIPEONFORK: a child gets the mapping, but fills its own page tables
	 * by faults. So it is known as a mapper before it can pin, and fork()
	 * does not copy a PTE for each page of a large region.
	 */
	peerlane_vm_flags_set(vma, VM_MIXEDMAP | VM_DONTEXPAND | VM_DONTDUMP |
			      VM_WIPEONFORK);
	if (region->dev->memtype == PEERLANE_MEMTYPE_WC)
		vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
	vma->vm_private_data = region;
	vma->vm_ops = &map_ops;
	atomic_inc(&region->mappings);
	peerlane_region_note_mapper(region);
	trace_peerlane_mmap(region, offset, length);
	return 0;
}

int peerlane_map_check(const struct vm_area_struct *vma)
{
	if (!(vma->vm_flags & VM_MAYSHARE))
		return peerlane_refuse(NULL, -EINVAL,
				       "MAP_PRIVATE would copy device memory into host memory");
	if (vma->vm_flags & VM_EXEC)
		return peerlane_refuse(NULL, -EPERM,
				       "device memory is not executable");
	return 0;
}

/* The first mmap of a device node's file decides how much memory it has. */
static int fill_by_mmap(struct peerlane_region *region,
			const struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 length = vma->vm_end - vma->vm_start;
	int ret = 0;

	if (peerlane_range_wraps(offset, length))
		return peerlane_refuse(NULL, -EOVERFLOW,
				       "mmap offset and length overflow");
	down_write(&region->lock);
	if (region->state == PEERLANE_STATE_EMPTY)
		ret = peerlane_region_fill(region, offset + length, NULL);
	up_write(&region->lock);
	return ret;
}

int peerlane_file_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct peerlane_region *region = file->private_data;
	int ret = peerlane_map_check(vma);

	if (ret)
		return ret;
	if (!region->kind->mmap)
		return peerlane_refuse(NULL, -EOPNOTSUPP,
				       "region %llu has no CPU mapping by its file",
				       region->id);
	if (READ_ONCE(region->state) == PEERLANE_STATE_EMPTY) {
		ret = fill_by_mmap(region, vma);
		if (ret)
			return ret;
	}
	peerlane_vm_flags_clear(vma, VM_MAYEXEC);
	down_read(&region->lock);
	ret = peerlane_region_usable(region, NULL);
	if (!ret)
		ret = region->kind->mmap(region, vma);
	up_read(&region->lock);
	return ret;
}

void peerlane_map_zap(struct peerlane_region *region)
{
	unmap_mapping_range(region->inode->i_mapping, 0, 0, 1);
}
