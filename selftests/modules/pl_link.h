/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ioctls of /dev/pl_link: per open file one map of a region, as links have
 * them, for an RDMA device or for QEMU's edu function.
 */
#ifndef PL_LINK_H
#define PL_LINK_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PL_LINK_LIST	16
#define PL_LINK_ROOM	2048	/* bytes of one copy by edu */

enum {
	PL_LINK_KEEP,		/* told of a revocation, it keeps the map */
	PL_LINK_OBEY,		/* puts it */
};

/* @device empty: edu. Fails with the text in @text. */
struct pl_link_get {
	__s32 fd;		/* region file */
	__u32 mode;
	char device[64];	/* RDMA device */
	char text[256];
};

struct pl_link_state {
	__u64 length;
	__u64 map;		/* which one it is */
	__u32 writable;
	__u32 mapped;
	__u32 told;		/* of a revocation */
	__u32 reserved;
};

/* Entries for work requests, or for a key: */
struct pl_link_list {
	__u64 offset;
	__u64 length;
	__u32 room;
	__u32 count;		/* out */
	__u64 covered;		/* out; of a key: what the RDMA device took */
	__u64 addr[PL_LINK_LIST];	/* out, the first of them */
	__u32 bytes[PL_LINK_LIST];	/* out */
};

/* As the device does: rxe by the CPU at the addresses of the entries. */
struct pl_link_copy {
	__u64 offset;
	__u64 data_ptr;
	__u32 length;
	__u32 write;
};

struct pl_link_path {
	__s32 fd;
	__u32 path;		/* out */
	__u32 bridges;		/* out */
	__u32 node_distance;	/* out */
	char device[64];
};

#define PL_LINK_GET	_IOWR('l', 0, struct pl_link_get)
#define PL_LINK_PUT	_IO('l', 1)
#define PL_LINK_STATE	_IOR('l', 2, struct pl_link_state)
#define PL_LINK_SGES	_IOWR('l', 3, struct pl_link_list)
#define PL_LINK_KEYSG	_IOWR('l', 4, struct pl_link_list)
#define PL_LINK_COPY	_IOW('l', 5, struct pl_link_copy)
#define PL_LINK_PATH	_IOWR('l', 6, struct pl_link_path)
#define PL_LINK_DRAIN	_IO('l', 7)	/* wait until its device has no map */

#endif /* PL_LINK_H */
