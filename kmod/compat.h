/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between kernels, by feature and never by version: each HAVE_ is
 * the answer of kmod/compat/probe/<name>.c for the kernel we build for. No
 * other file of the module mentions one.
 */
#ifndef PEERLANE_COMPAT_H
#define PEERLANE_COMPAT_H

#include <linux/device.h>
#include <linux/dma-buf.h>
#include <linux/fs.h>
#include <linux/memremap.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/timer.h>

/* 6.13: symbol namespaces became strings. The argument is the bare word. */
#ifdef HAVE_IMPORT_NS_TOKEN
#define PEERLANE_IMPORT_NS(ns)			MODULE_IMPORT_NS(ns)
#define PEERLANE_EXPORT_SYMBOL_NS_GPL(sym, ns)	EXPORT_SYMBOL_NS_GPL(sym, ns)
#else
#define PEERLANE_IMPORT_NS(ns)			MODULE_IMPORT_NS(#ns)
#define PEERLANE_EXPORT_SYMBOL_NS_GPL(sym, ns)	EXPORT_SYMBOL_NS_GPL(sym, #ns)
#endif

/* 6.4: class_create() lost its owner. */
static inline struct class *peerlane_class_create(const char *name)
{
#ifdef HAVE_CLASS_CREATE_OWNER
	return class_create(THIS_MODULE, name);
#else
	return class_create(name);
#endif
}

/* 6.4: class_register() takes a const class, for 'static peerlane_class_const'. */
#ifdef HAVE_CLASS_REGISTER_CONST
#define peerlane_class_const	const struct class
#else
#define peerlane_class_const	struct class
#endif

/* 6.2: class.devnode() takes a const device. */
#ifdef HAVE_CLASS_DEVNODE_CONST
#define peerlane_devnode_arg	const struct device
#else
#define peerlane_devnode_arg	struct device
#endif

/* 6.3: vma->vm_flags is changed by helpers that take the VMA's lock. */
static inline void peerlane_vm_flags_set(struct vm_area_struct *vma,
					 unsigned long flags)
{
#ifdef HAVE_VM_FLAGS_SET
	vm_flags_set(vma, flags);
#else
	vma->vm_flags |= flags;
#endif
}

static inline void peerlane_vm_flags_clear(struct vm_area_struct *vma,
					   unsigned long flags)
{
#ifdef HAVE_VM_FLAGS_SET
	vm_flags_clear(vma, flags);
#else
	vma->vm_flags &= ~flags;
#endif
}

/* 6.15: a folio can be mapped by one PMD. Else map page by page. */
#ifdef HAVE_VMF_INSERT_FOLIO_PMD
#define PEERLANE_CAN_MAP_PMD	1
#else
#define PEERLANE_CAN_MAP_PMD	0
#endif

static inline vm_fault_t peerlane_insert_folio_pmd(struct vm_fault *vmf,
						   struct folio *folio,
						   bool write)
{
#ifdef HAVE_VMF_INSERT_FOLIO_PMD
	return vmf_insert_folio_pmd(vmf, folio, write);
#else
	return VM_FAULT_FALLBACK;
#endif
}

/* 7.1: zap_vma_ptes() became zap_special_vma_range(). */
static inline void peerlane_zap_vma(struct vm_area_struct *vma,
				    unsigned long addr, unsigned long size)
{
#ifdef HAVE_ZAP_VMA_PTES
	zap_vma_ptes(vma, addr, size);
#else
	zap_special_vma_range(vma, addr, size);
#endif
}

/* 6.17: pfn_t is gone, its users take an unsigned long. */
#ifdef HAVE_PFN_T
#include <linux/pfn_t.h>
#define peerlane_pfn_arg(pfn)	pfn_to_pfn_t(pfn)
#else
#define peerlane_pfn_arg(pfn)	(pfn)
#endif

/* 6.18: get_dev_pagemap() lost the pointer to the last one found. */
static inline struct dev_pagemap *peerlane_get_dev_pagemap(unsigned long pfn)
{
#ifdef HAVE_GET_DEV_PAGEMAP_CACHED
	return get_dev_pagemap(pfn, NULL);
#else
	return get_dev_pagemap(pfn);
#endif
}

/*
 * 6.19: dev_pagemap_ops.page_free(page) became folio_free(folio). To be used as
 * PEERLANE_PAGE_FREE_OP(name, arg) { ... } and .PEERLANE_PAGE_FREE = name.
 */
#ifdef HAVE_DEV_PAGEMAP_OPS_FOLIO_FREE
#define PEERLANE_PAGE_FREE	folio_free
#define PEERLANE_PAGE_FREE_OP(name, arg)	static void name(struct folio *arg)
#else
#define PEERLANE_PAGE_FREE	page_free
#define PEERLANE_PAGE_FREE_OP(name, arg)	static void name(struct page *arg)
#endif

/*
 * 7.1: the importer's move_notify is called invalidate_mappings, and so is the
 * exporter's call. To be used as .PEERLANE_INVALIDATE = function.
 */
#ifdef HAVE_DMA_BUF_ATTACH_OPS_INVALIDATE_MAPPINGS
#define PEERLANE_INVALIDATE	invalidate_mappings
#else
#define PEERLANE_INVALIDATE	move_notify
#endif

/* dma_resv is held. */
static inline void peerlane_dma_buf_invalidate(struct dma_buf *dmabuf)
{
#ifdef HAVE_DMA_BUF_INVALIDATE_MAPPINGS
	dma_buf_invalidate_mappings(dmabuf);
#else
	dma_buf_move_notify(dmabuf);
#endif
}

/*
 * 7.1: an importer says whether it obeys an invalidation. Before, an exporter
 * cannot know (a pinned attachment and a revocable one look the same), so each
 * counts as one that keeps its mapping until it detaches.
 */
static inline bool peerlane_dma_buf_revocable(struct dma_buf_attachment *attach)
{
#ifdef HAVE_DMA_BUF_ATTACH_REVOCABLE
	return dma_buf_attach_revocable(attach);
#else
	return false;
#endif
}

/* 6.2: dma_buf_map_attachment() wants dma_resv held, _unlocked() takes it. */
static inline struct sg_table *
peerlane_dma_buf_map(struct dma_buf_attachment *attach,
		     enum dma_data_direction dir)
{
#ifdef HAVE_DMA_BUF_MAP_ATTACHMENT_UNLOCKED
	return dma_buf_map_attachment_unlocked(attach, dir);
#else
	return dma_buf_map_attachment(attach, dir);
#endif
}

static inline void peerlane_dma_buf_unmap(struct dma_buf_attachment *attach,
					  struct sg_table *sgt,
					  enum dma_data_direction dir)
{
#ifdef HAVE_DMA_BUF_MAP_ATTACHMENT_UNLOCKED
	dma_buf_unmap_attachment_unlocked(attach, sgt, dir);
#else
	dma_buf_unmap_attachment(attach, sgt, dir);
#endif
}

/*
 * 7.1: the cached sg_table went. Where it is, we must never ask for it: it
 * cannot be had together with pin(), and a re-map would not ask us.
 */
#ifdef HAVE_DMA_BUF_OPS_CACHE_SGT_MAPPING
#define PEERLANE_NO_CACHED_SGT	.cache_sgt_mapping = false,
#else
#define PEERLANE_NO_CACHED_SGT
#endif

/* 6.12: no_llseek is gone, NULL means it. */
#ifdef HAVE_NO_LLSEEK
#define PEERLANE_NO_LLSEEK	no_llseek
#else
#define PEERLANE_NO_LLSEEK	NULL
#endif

/* 6.10: __assign_str() takes the source that __string() was given. */
#ifdef HAVE_ASSIGN_STR_ONE_ARG
#define peerlane_assign_str(field, source)	__assign_str(field)
#else
#define peerlane_assign_str(field, source)	__assign_str(field, source)
#endif

/* 6.11: platform_driver.remove() returns nothing. */
#ifdef HAVE_PLATFORM_REMOVE_VOID
#define PEERLANE_PLATFORM_REMOVE(name, arg) \
	static void name(struct platform_device *arg)
#define PEERLANE_PLATFORM_REMOVE_END
#else
#define PEERLANE_PLATFORM_REMOVE(name, arg) \
	static int name(struct platform_device *arg)
#define PEERLANE_PLATFORM_REMOVE_END	return 0
#endif

/* 6.2: del_timer_sync() got the name timer_delete_sync(), and lost the old one. */
#ifndef HAVE_TIMER_DELETE_SYNC
#define timer_delete_sync(timer)	del_timer_sync(timer)
#endif

/* 6.16: from_timer() became timer_container_of(). */
#ifndef HAVE_TIMER_CONTAINER_OF
#define timer_container_of(var, timer, field)	from_timer(var, timer, field)
#endif

#endif /* PEERLANE_COMPAT_H */
