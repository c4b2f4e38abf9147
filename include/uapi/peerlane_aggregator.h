/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * peerlane: ioctl ABI of aggregators, which do the arithmetic of groups. The
 * rules and the errno contract of <peerlane.h>, which includes this file, and of
 * <peerlane_group.h> hold here too.
 */
#ifndef _UAPI_PEERLANE_AGGREGATOR_H
#define _UAPI_PEERLANE_AGGREGATOR_H

#include <linux/types.h>

#include "peerlane_endpoint.h"

#define PEERLANE_LATENESS_BUCKETS	40

/**
 * struct peerlane_aggregator_create - make an aggregator, which listens
 * ioctl(PEERLANE_IOC_AGGREGATOR_CREATE) on /dev/peerlane/control
 * @secret: of the groups that it serves; not all zero
 * @address: struct sockaddr_in or sockaddr_in6, the rest zero; the wildcard
 *	address and port 0 (any free one) are allowed
 * @backlog: connections that have not joined yet, 1 .. 1024; 0: 64
 * @pool_fd: a region file of PIN_HOST, not read-only: the memory for all groups,
 *	which is what limits them. May be closed afterwards
 * @max_groups: at once, 1 .. module parameter aggregator_groups; 0: 64
 * @timeout_ms: after this a rank that does not answer is dead, 100 .. 600000;
 *	0: 5000
 * @join_timeout_ms: all ranks of a group must join within this after the first,
 *	100 .. 86400000; 0: 60000
 * @rdma_device: name of the RDMA device to use, or empty
 * @out_address: with the port that was taken
 * @out_fd: the aggregator file, O_CLOEXEC
 * @out_id: number of the aggregator, as in lists and logs
 * @parent: struct sockaddr_in or sockaddr_in6 of the aggregator above, which has the
 *	same secret, or all zero. Groups of PEERLANE_PLACEMENT_TREE with more ranks
 *	than their block are one block's here, and go on there
 * @parent_lanes: queue pairs to it, 1 .. 16; 0: 1
 *
 * A group of n ranks takes (n + 1) * window * segment bytes of the pool when its
 * first rank joins, and window * segment more if it goes on above. EPERM: module parameter `aggregator' is 0. EDQUOT: the user
 * has module parameter user_aggregators already, or would have more memory than
 * user_aggregator_bytes, for which the links of ranks count too.
 */
struct peerlane_aggregator_create {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
	__u8 secret[PEERLANE_ENDPOINT_TOKEN_LEN];
	__u8 address[PEERLANE_ADDRESS_LEN];
	__u32 backlog;
	__s32 pool_fd;
	__u32 max_groups;
	__u32 timeout_ms;
	__u32 join_timeout_ms;
	char rdma_device[PEERLANE_RDMA_NAME_LEN];
	__u8 out_address[PEERLANE_ADDRESS_LEN];
	__s32 out_fd;
	__aligned_u64 out_id;
	__u8 parent[PEERLANE_ADDRESS_LEN];
	__u32 parent_lanes;
};
#define PEERLANE_IOC_AGGREGATOR_CREATE \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_AGGREGATOR_CREATE)

/**
 * enum peerlane_aggregator_record_type - what a record of an aggregator tells
 * @PEERLANE_AGGREGATOR_RECORD_FORMED: all @ranks of @group have joined
 * @PEERLANE_AGGREGATOR_RECORD_ENDED: @group ended: @status, @rank, @cause; its
 *	memory is free again
 * @PEERLANE_AGGREGATOR_RECORD_CLOSED: the aggregator takes nobody in any more, as
 *	its RDMA device or its pool is gone: @status
 */
enum peerlane_aggregator_record_type {
	PEERLANE_AGGREGATOR_RECORD_FORMED	= 1,
	PEERLANE_AGGREGATOR_RECORD_ENDED	= 2,
	PEERLANE_AGGREGATOR_RECORD_CLOSED	= 3,
};

/**
 * struct peerlane_aggregator_record - what read() of an aggregator file gives
 * @size: bytes of this record; the next one follows. Skip types you do not know.
 * @type: enum peerlane_aggregator_record_type
 * @status: 0 or a negative errno
 * @group: number of the group
 * @rank: whose fault, or PEERLANE_RANK_NONE
 * @cause: enum peerlane_group_cause
 * @ranks: size of the group
 * @lost: records before this one that were not read in time; the last 256 stay
 */
struct peerlane_aggregator_record {
	__u16 size;
	__u16 type;
	__s32 status;
	__aligned_u64 group;
	__u32 rank;
	__u32 cause;
	__u32 ranks;
	__u32 lost;
};

/**
 * struct peerlane_aggregator_info - one aggregator
 * @id: its number
 * @pool_bytes: of its memory
 * @pool_used: given to groups
 * @segments: reduced or forwarded
 * @bytes: received from ranks
 * @formed: groups that formed
 * @failed: groups that ended by somebody's fault
 * @refused: JOINs refused
 * @uid: who made it, in the caller's user namespace
 * @pid: process that made it, in the caller's pid namespace; 0 if not seen
 * @groups: at present
 * @max_groups: at once
 * @links: connections at present
 * @status: 0, or why it takes nobody in: negative errno
 * @comm: command name of @pid
 * @address: struct sockaddr_in or sockaddr_in6
 * @reserved: 0
 * @rdma_device: as given
 * @parent: of the aggregator above, or all zero
 * @tree_groups: of @groups, those that go on there
 */
struct peerlane_aggregator_info {
	__aligned_u64 id;
	__aligned_u64 pool_bytes;
	__aligned_u64 pool_used;
	__aligned_u64 segments;
	__aligned_u64 bytes;
	__aligned_u64 formed;
	__aligned_u64 failed;
	__aligned_u64 refused;
	__u32 uid;
	__s32 pid;
	__u32 groups;
	__u32 max_groups;
	__u32 links;
	__s32 status;
	char comm[16];
	__u8 address[PEERLANE_ADDRESS_LEN];
	__u32 reserved;
	char rdma_device[PEERLANE_RDMA_NAME_LEN];
	__u8 parent[PEERLANE_ADDRESS_LEN];
	__u32 tree_groups;
};

/*
 * ioctl(PEERLANE_IOC_AGGREGATOR_INFO) on an aggregator file and
 * ioctl(PEERLANE_IOC_AGGREGATOR_LIST) on /dev/peerlane/control take struct
 * peerlane_list with records of struct peerlane_aggregator_info.
 */
#define PEERLANE_IOC_AGGREGATOR_LIST \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_AGGREGATOR_LIST)
#define PEERLANE_IOC_AGGREGATOR_INFO \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_AGGREGATOR_INFO)

/**
 * struct peerlane_rank_record - what an aggregator saw of one rank of a group
 * @segments: that came
 * @bytes: of them
 * @late_total_ns: after the rank that came first, summed over segments
 * @late_max_ns: the most of one segment
 * @last: segments to which it came last
 * @rank: which one
 * @is_there: it has joined and is connected
 * @peer: its struct sockaddr_in or sockaddr_in6
 * @reserved: 0
 * @late: segments by lateness: bucket b has [2^b, 2^(b+1)) ns, 0 also 0 ns
 */
struct peerlane_rank_record {
	__aligned_u64 segments;
	__aligned_u64 bytes;
	__aligned_u64 late_total_ns;
	__aligned_u64 late_max_ns;
	__aligned_u64 last;
	__u32 rank;
	__u32 is_there;
	__u8 peer[PEERLANE_ADDRESS_LEN];
	__u32 reserved;
	__u32 late[PEERLANE_LATENESS_BUCKETS];
};

/**
 * struct peerlane_aggregator_ranks - statistics of the ranks of a group
 * ioctl(PEERLANE_IOC_AGGREGATOR_RANKS) on an aggregator file
 * @array_ptr: user address of @count records of @record_size bytes
 * @count: room in records; written back: how many there are
 * @record_size: sizeof(struct peerlane_rank_record) as the caller was compiled
 * @group: number of the group
 *
 * As struct peerlane_list. ENOENT: it has no such group.
 */
struct peerlane_aggregator_ranks {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
	__aligned_u64 array_ptr;
	__u32 count;
	__u32 record_size;
	__aligned_u64 group;
};
#define PEERLANE_IOC_AGGREGATOR_RANKS \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_AGGREGATOR_RANKS)

#endif /* _UAPI_PEERLANE_AGGREGATOR_H */
