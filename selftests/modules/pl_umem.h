/* SPDX-License-Identifier: GPL-2.0 */
/* ioctls of /dev/pl_umem: one dma-buf of RDMA core's per open file. */
#ifndef PL_UMEM_H
#define PL_UMEM_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* By which of RDMA core's calls, hence how it behaves. */
enum {
	PL_UMEM_DYNAMIC,	/* ib_umem_dmabuf_get() */
	PL_UMEM_PINNED,		/* ..._get_pinned(), mapped from the start */
	PL_UMEM_REVOCABLE,	/* ..._get_pinned_revocable_and_lock(); 7.1 */
};

struct pl_umem_get {
	__s32 fd;
	__u32 mode;
	__u64 offset;		/* in the dma-buf */
	__u64 length;
};

struct pl_umem_state {
	__u32 told;		/* how often to let go */
	__u32 mapped;
	__u64 addr;		/* of the first byte */
	__u64 length;		/* of all that is mapped */
	__u64 page;		/* best size for a NIC that has 4K, 64K and 2M */
	__u64 pages;		/* of that size */
};

/* Within what is mapped, by the edu function; at most PL_EDU_ROOM bytes. */
struct pl_umem_copy {
	__u64 from;
	__u64 to;
	__u32 length;
	__u32 reserved;
};

#define PL_UMEM_GET	_IOW('u', 0, struct pl_umem_get)
#define PL_UMEM_MAP	_IO('u', 1)
#define PL_UMEM_UNMAP	_IO('u', 2)
#define PL_UMEM_REVOKE	_IO('u', 3)	/* by the NIC's driver */
#define PL_UMEM_STATE	_IOR('u', 4, struct pl_umem_state)
#define PL_UMEM_COPY	_IOW('u', 5, struct pl_umem_copy)

#endif /* PL_UMEM_H */
