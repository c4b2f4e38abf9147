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
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>

/* 6.13: symbol namespaces became strings. The argument is the bare word. */
#ifdef HAVE_IMPORT_NS_TOKEN
#define PEERLANE_IMPORT_NS(ns)			MODULE_IMPORT_NS(ns)
#else
#define PEERLANE_IMPORT_NS(ns)			MODULE_IMPORT_NS(#ns)
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

/* 6.6: a dump has the same struct genl_info as a request. */
static inline struct nlattr **peerlane_dump_attrs(struct netlink_callback *cb)
{
#ifdef HAVE_GENL_INFO_DUMP
	return genl_info_dump(cb)->attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

/* 6.7: who may join a multicast group is said by flags of their own. */
#ifdef HAVE_GENL_MCAST_CAP
#define PEERLANE_MCGRP_ADMIN	GENL_MCAST_CAP_NET_ADMIN
#else
#define PEERLANE_MCGRP_ADMIN	GENL_UNS_ADMIN_PERM
#endif

/* The work queue that is bound to no CPU. */
static inline struct workqueue_struct *peerlane_unbound_wq(void)
{
#ifdef HAVE_SYSTEM_DFL_WQ
	return system_dfl_wq;
#else
	return system_unbound_wq;
#endif
}

/* 6.8: commands of io_uring have a header of their own. */
#ifdef HAVE_IO_URING_CMD_HEADER
#define PEERLANE_URING_CMD_H	"linux/io_uring/cmd.h"
#else
#define PEERLANE_URING_CMD_H	"linux/io_uring.h"
#endif

/* 6.6: the SQE's command area is found by the SQE. */
#ifdef HAVE_IO_URING_CMD_AREA
#define peerlane_uring_cmd_area(_cmd)	((_cmd)->cmd)
#else
#define peerlane_uring_cmd_area(_cmd)	((const void *)(_cmd)->sqe->cmd)
#endif

/* 6.18: the second result is for another function. */
#ifdef HAVE_IO_URING_CMD_DONE_RES2
#define peerlane_uring_cmd_done(cmd, ret, flags)	\
	io_uring_cmd_done(cmd, ret, 0, flags)
#else
#define peerlane_uring_cmd_done(cmd, ret, flags)	\
	io_uring_cmd_done(cmd, ret, flags)
#endif

/*
 * Not cleared by kernels that clear each variable (CONFIG_INIT_STACK_ALL_ZERO):
 * for what is large, on each packet's way and written before it is read.
 */
#if __has_attribute(__uninitialized__) && !defined(__CHECKER__)
#define peerlane_uninitialized	__attribute__((__uninitialized__))
#else
#define peerlane_uninitialized
#endif

#endif /* PEERLANE_COMPAT_H */
