/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIB_FAKE_VERBS_H
#define LIB_FAKE_VERBS_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <unistd.h>

extern struct fake_verbs {
	int reg_err, dmabuf_err;	/* errno; -1: fails without one */
	int calls;			/* 1 reg_mr, 2 iova2, 4 dmabuf */
	struct ibv_pd *pd;
	void *addr;
	uint64_t offset, iova;
	size_t length;
	unsigned int access;
	off_t size;			/* of the dma-buf */
	struct ibv_mr mr;
} fake_verbs;

#endif /* LIB_FAKE_VERBS_H */
