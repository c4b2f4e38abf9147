/* SPDX-License-Identifier: GPL-2.0 */
/* ioctls of /dev/pl_importer: one attachment per open file. */
#ifndef PL_IMPORTER_H
#define PL_IMPORTER_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* How it attaches, after drivers that exist. */
enum {
	PL_STATIC,	/* dma_buf_attach(): no peer-to-peer, maps at attach */
	PL_SYSTEM_ONLY,	/* dynamic, without allow_peer2peer */
	PL_DYNAMIC,	/* unmaps when told to */
	PL_PINNED,	/* pins at attach, keeps its mapping whatever it is told */
	PL_PINNED_REVOCABLE,	/* pins at attach, unmaps when told to */
	PL_NOT_PCI,	/* PL_DYNAMIC, by a device that is no PCI function */
};

struct pl_attach {
	__s32 fd;
	__u32 mode;
	__u32 max_segment;	/* bytes, 0: leave the device as it is */
	__u32 reserved;
};

struct pl_state {
	__u32 notifies;
	__u32 mapped;
	__u32 entries;
	__u32 pages;		/* entries with a page for the CPU */
	__u64 addr;		/* of the first entry */
	__u64 length;		/* of all */
	__u64 longest;		/* of one */
	__u32 contiguous;
	__u32 busy;		/* its job goes on */
};

/* By the edu function's engine; at most 2048 bytes. */
struct pl_copy {
	__u64 offset;		/* in what is mapped */
	__u64 data_ptr;
	__u32 length;
	__u32 write;		/* to the dma-buf */
};

/*
 * Fill with @byte again and again for so long, in the background, under a
 * fence; one for each attachment.
 */
struct pl_job {
	__u64 offset;
	__u32 length;
	__u32 byte;
	__u32 ms;
	__u32 hasty;		/* unmaps when told to, not when it is done */
};

#define PL_ATTACH	_IOW('i', 0, struct pl_attach)
#define PL_DETACH	_IO('i', 1)
#define PL_MAP		_IO('i', 2)
#define PL_UNMAP	_IO('i', 3)
#define PL_STATE	_IOR('i', 4, struct pl_state)
#define PL_COPY		_IOW('i', 5, struct pl_copy)
#define PL_JOB		_IOW('i', 6, struct pl_job)

#endif /* PL_IMPORTER_H */
