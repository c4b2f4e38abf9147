/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * peerlane: ioctl ABI of groups. The rules and the errno contract of
 * <peerlane.h>, which includes this file, hold here too.
 *
 * A group is as many ranks as its size, each with a group file, and one or more
 * aggregators, which do the arithmetic of its collective operations in their
 * own memory. A rank binds regions to slots, joins, and submits operations that
 * name (slot, offset). All ranks submit the same operations in the same order.
 * The data goes by RDMA from the region to the aggregators and back.
 *
 * What a completion means
 * -----------------------
 * The result is in the receive slot, the send slot may be used again, and
 * nobody reads or writes either on behalf of the operation; of BARRIER: all
 * ranks have submitted it. The same holds when it completed with an error, but
 * then the contents of the receive slot are undefined. The result is there for
 * the CPU, and for devices that read through the host bridge; what the fabric of
 * a device's own memory still holds back is not waited for.
 *
 * A group ends as a whole: when a rank leaves, dies, is late, calls something
 * else or loses a region during operations, all ranks get an ENDED record that
 * names it. A group file that ended is of no more use.
 *
 * errno values of records and of calls on groups, beside the general ones
 * -----------------------------------------------------------------------
 * EAGAIN	 no room now: depth is used up, or nothing to read and the file
 *		 is O_NONBLOCK
 * EINPROGRESS	 JOIN of an O_NONBLOCK file: a record tells the end
 * ENOTCONN	 not joined (yet, or no longer: the ENDED record says why)
 * EISCONN	 joined, joining or ended already
 * ECONNREFUSED	 an aggregator cannot be reached, or refuses the connection
 * and by enum peerlane_group_cause:
 * ECONNABORTED	 LEFT: a rank left while others had operations
 * ECONNRESET	 DEAD: the connection of a rank, or to an aggregator, ended
 * ETIMEDOUT	 LATE, JOIN: a rank did not come in time
 * EBADE	 MISMATCH, SHAPE, BLOCK: ranks do not say the same
 * ENODEV	 REVOKED: a rank's region is gone
 * EPROTO	 PROTOCOL: a rank, or an aggregator, said what may not be said
 * ESHUTDOWN	 CLOSED: an aggregator was closed
 * EEXIST	 TAKEN: another has joined as that rank
 * ENOSPC	 FULL: the aggregator has no memory for the group
 * EOPNOTSUPP	 UNABLE: an aggregator cannot compute that
 * ECANCELED	 this rank closed or left
 */
#ifndef _UAPI_PEERLANE_GROUP_H
#define _UAPI_PEERLANE_GROUP_H

#include <linux/types.h>

#include "peerlane_endpoint.h"

#define PEERLANE_GROUP_TEXT_LEN	192	/* why a group ended, with its NUL */
#define PEERLANE_GROUP_REASON_LEN 192	/* why operations go as they do */
#define PEERLANE_RANK_NONE	0xffffffffU

/**
 * enum peerlane_group_placement - who computes. The result has the same bits by
 * each of them
 * @PEERLANE_PLACEMENT_AUTO: by what is expected to take less time, as measured
 * @PEERLANE_PLACEMENT_DEDICATED: each segment goes to one aggregator
 * @PEERLANE_PLACEMENT_COLOCATED: the same, where there are as many aggregators as
 *	ranks, each rank's node running the one of its number
 * @PEERLANE_PLACEMENT_REPLICATED: there are as many aggregators as ranks. ALL_REDUCE
 *	of up to a segment, and BARRIER, go to all of them, and the one of a rank's
 *	number answers that rank alone: one way over the network if it runs on the
 *	rank's node. Other operations as COLOCATED
 * @PEERLANE_PLACEMENT_TREE: each block of ranks has an aggregator, whose parent puts
 *	blocks together; see peerlane_aggregator_create. A rank names that of its
 *	block. @block has to be less than the number of ranks, else there is no tree
 *
 * AUTO chooses where there are as many aggregators as ranks, which are two at
 * least; else it is DEDICATED. When the group is made each rank measures how long
 * a message takes, and, if a slot is bound, a segment's bytes of the first one,
 * which go to the aggregator of another rank and are not used there; aggregators
 * measure how long they take to reduce. All ranks agree on the worst of what was
 * measured, and so on what they do. They do so again after 64 operations, 128 and
 * so on, and each 4096, with what operations took meanwhile; such a time the
 * first operation that waits for it takes another way there and back at most.
 */
enum peerlane_group_placement {
	PEERLANE_PLACEMENT_AUTO		= 0,
	PEERLANE_PLACEMENT_DEDICATED	= 1,
	PEERLANE_PLACEMENT_COLOCATED	= 2,
	PEERLANE_PLACEMENT_REPLICATED	= 3,
	PEERLANE_PLACEMENT_TREE		= 4,
};

/**
 * struct peerlane_group_create - make a group file, of one rank
 * ioctl(PEERLANE_IOC_GROUP_CREATE) on /dev/peerlane/control
 * @secret: the aggregators have the same; not all zero; sent in clear
 * @group: number of the group, the same on all its ranks; random, not 0
 * @rank: 0 .. size - 1
 * @ranks: size of the group, 1 .. 1024
 * @segment: bytes in which an operation is cut, a power of two of 4096 ..
 *	4 MiB; 0: 65536. The same on all ranks, as are @window and @block
 * @window: segments on their way to one aggregator, 1 .. 256; 0: 8
 * @block: ranks whose sum is made first (the order of summation: rank order
 *	within blocks, then the blocks in order), 2 .. 1024; 0: all
 * @lanes: queue pairs to each aggregator, 1 .. 16; 0: 1. One that fails is left,
 *	and the others do its work: the group goes on until the last one fails
 * @depth: operations that may be outstanding, or their records unread, 1 ..
 *	module parameter group_depth; 0: 128
 * @slots: slots for regions, 1 .. 256; 0: 16
 * @timeout_ms: after this an aggregator that does not answer is dead, 100 ..
 *	600000; 0: 5000
 * @op_timeout_ms: all ranks must have come to an operation within this after
 *	the first, 100 .. 86400000; 0: 60000. The same on all ranks. An
 *	aggregator that answers, but has had no result for two of these and a
 *	@timeout_ms, is taken for dead
 * @join_timeout_ms: JOIN gives up after it, 100 .. 86400000; 0: 120000
 * @near_fd: a region file whose nearest RDMA device is to be used when the
 *	route leaves a choice, or -1
 * @rdma_device: name of the RDMA device to use, or empty
 * @label: of the flows in the flow table; empty: "rank <rank> group <id>"
 * @out_id: number of this file, as in lists and logs
 * @out_fd: the group file, O_CLOEXEC; O_NONBLOCK can be set on it
 * @placement: enum peerlane_group_placement, the same on all ranks
 *
 * EDQUOT: the user has module parameter user_groups already, or would have
 * more memory than user_group_bytes.
 */
struct peerlane_group_create {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
	__u8 secret[PEERLANE_ENDPOINT_TOKEN_LEN];
	__aligned_u64 group;
	__u32 rank;
	__u32 ranks;
	__u32 segment;
	__u32 window;
	__u32 block;
	__u32 lanes;
	__u32 depth;
	__u32 slots;
	__u32 timeout_ms;
	__u32 op_timeout_ms;
	__u32 join_timeout_ms;
	__s32 near_fd;
	char rdma_device[PEERLANE_RDMA_NAME_LEN];
	char label[PEERLANE_ENDPOINT_LABEL_LEN];
	__aligned_u64 out_id;
	__s32 out_fd;
	__u32 placement;
};
#define PEERLANE_IOC_GROUP_CREATE \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_GROUP_CREATE)

/*
 * ioctl(PEERLANE_IOC_GROUP_BIND) takes struct peerlane_endpoint_bind, and does
 * with a slot of the group what ENDPOINT_BIND does with one of an endpoint; the
 * slot has no exposures of its user's. Also before JOIN. A slot that is bound
 * with PEERLANE_BIND_READ_ONLY only sends.
 */
#define PEERLANE_IOC_GROUP_BIND \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_GROUP_BIND)

/**
 * struct peerlane_group_join - connect to the aggregators, and meet the others
 * ioctl(PEERLANE_IOC_GROUP_JOIN), once
 * @addresses_ptr: @count addresses of PEERLANE_ADDRESS_LEN bytes each: struct
 *	sockaddr_in or sockaddr_in6, the rest zero. On all ranks the same
 *	aggregators in the same order
 * @count: 1 .. 64
 * @reserved2: 0
 * @source: the local address, or all zero
 * @reserved3: 0
 *
 * Waits until all ranks have joined. With O_NONBLOCK it returns EINPROGRESS, and
 * a JOINED or ENDED record tells the end. A signal ends only the wait. EDQUOT: the
 * user would have more memory than module parameter user_group_bytes with links to
 * all aggregators; the file is NEW, as before. EINVAL: also a placement that takes
 * as many aggregators as ranks, and others are given.
 */
struct peerlane_group_join {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
	__aligned_u64 addresses_ptr;
	__u32 count;
	__u32 reserved2;
	__u8 source[PEERLANE_ADDRESS_LEN];
	__u32 reserved3;
};
#define PEERLANE_IOC_GROUP_JOIN \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_GROUP_JOIN)

/**
 * enum peerlane_group_kind - what a collective operation does, with @count
 * elements of type
 * @PEERLANE_GROUP_ALL_REDUCE: gives count, gets count
 * @PEERLANE_GROUP_REDUCE_SCATTER: gives count for each rank, gets count
 * @PEERLANE_GROUP_ALL_GATHER: gives count, gets count of each rank
 * @PEERLANE_GROUP_REDUCE: gives count, the root gets count
 * @PEERLANE_GROUP_BROADCAST: the root gives count, all others get count
 * @PEERLANE_GROUP_BARRIER: no data: type, op, root and count are 0
 */
enum peerlane_group_kind {
	PEERLANE_GROUP_ALL_REDUCE	= 1,
	PEERLANE_GROUP_REDUCE_SCATTER	= 2,
	PEERLANE_GROUP_ALL_GATHER	= 3,
	PEERLANE_GROUP_REDUCE		= 4,
	PEERLANE_GROUP_BROADCAST	= 5,
	PEERLANE_GROUP_BARRIER		= 6,
};

/**
 * struct peerlane_group_op - one operation
 * @kind: enum peerlane_group_kind
 * @type: enum peerlane_type of <peerlane_reduce.h>
 * @op: enum peerlane_reduce_op of the same, of those that reduce; else 0
 * @flags: 0
 * @root: rank, of REDUCE and BROADCAST; else 0
 * @count: elements
 * @send_slot: of what this rank gives; ignored where it gives nothing
 * @receive_slot: of what it gets; ignored where it gets nothing. Both may be
 *	the same, and the ranges overlap if the operation is in place: the result
 *	is where its own part was given, so of ALL_GATHER the send is at this
 *	rank's part of the receive, and of REDUCE_SCATTER the other way round
 * @send_offset: first byte
 * @receive_offset: first byte
 * @cookie: given back in the DONE record
 */
struct peerlane_group_op {
	__u8 kind;
	__u8 type;
	__u8 op;
	__u8 flags;
	__u32 root;
	__aligned_u64 count;
	__u32 send_slot;
	__u32 receive_slot;
	__aligned_u64 send_offset;
	__aligned_u64 receive_offset;
	__aligned_u64 cookie;
};

/**
 * struct peerlane_group_submit - begin operations, and read records
 * ioctl(PEERLANE_IOC_GROUP_SUBMIT) on a group that has joined
 * @ops_ptr: @count structs peerlane_group_op of @op_size bytes each
 * @count: 0 .. 4096
 * @op_size: sizeof(struct peerlane_group_op) as the caller was compiled
 * @out_count: operations begun, from the first on
 * @wait: records to wait for, at most what fits into @records_len; 0: take what
 *	is there
 * @records_ptr: room for records, as read() would fill it, or 0
 * @records_len: its bytes
 * @out_records_len: bytes filled
 * @timeout_ns: of the wait; -1: none; whatever the file's O_NONBLOCK says
 *
 * Errors and @out_count: as struct peerlane_endpoint_submit.
 */
struct peerlane_group_submit {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
	__aligned_u64 ops_ptr;
	__u32 count;
	__u32 op_size;
	__u32 out_count;
	__u32 wait;
	__aligned_u64 records_ptr;
	__u32 records_len;
	__u32 out_records_len;
	__aligned_s64 timeout_ns;
};
#define PEERLANE_IOC_GROUP_SUBMIT \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_GROUP_SUBMIT)

/**
 * struct peerlane_group_leave - leave the group
 * ioctl(PEERLANE_IOC_GROUP_LEAVE)
 *
 * With operations outstanding it ends the group for all ranks, by this one's
 * fault. Returns when nobody can reach memory through this file any more.
 * close() of the last descriptor does the same.
 */
struct peerlane_group_leave {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
};
#define PEERLANE_IOC_GROUP_LEAVE \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_GROUP_LEAVE)

/**
 * enum peerlane_group_cause - why a group ended, or a rank was not let in
 * @PEERLANE_GROUP_CAUSE_NONE: all left, or this rank did
 * @PEERLANE_GROUP_CAUSE_LEFT: a rank left with operations open, or it was the first
 *	to leave, and others did not within @op_timeout_ms
 * @PEERLANE_GROUP_CAUSE_DEAD: its connection ended; without a rank: an
 *	aggregator's
 * @PEERLANE_GROUP_CAUSE_LATE: it did not come to an operation in time
 * @PEERLANE_GROUP_CAUSE_MISMATCH: it called something else
 * @PEERLANE_GROUP_CAUSE_REVOKED: its region is gone
 * @PEERLANE_GROUP_CAUSE_PROTOCOL: it said what may not be said
 * @PEERLANE_GROUP_CAUSE_CLOSED: an aggregator was closed
 * @PEERLANE_GROUP_CAUSE_SHAPE: join: other numbers than those of the group
 * @PEERLANE_GROUP_CAUSE_TAKEN: join: that rank is there already
 * @PEERLANE_GROUP_CAUSE_FULL: join: no memory, or no more groups
 * @PEERLANE_GROUP_CAUSE_JOIN: not all ranks joined in time
 * @PEERLANE_GROUP_CAUSE_UNABLE: floats, and an aggregator whose kernel may not use
 *	the FPU
 * @PEERLANE_GROUP_CAUSE_BLOCK: join: the aggregator has another block of ranks
 */
enum peerlane_group_cause {
	PEERLANE_GROUP_CAUSE_NONE	= 0,
	PEERLANE_GROUP_CAUSE_LEFT	= 1,
	PEERLANE_GROUP_CAUSE_DEAD	= 2,
	PEERLANE_GROUP_CAUSE_LATE	= 3,
	PEERLANE_GROUP_CAUSE_MISMATCH	= 4,
	PEERLANE_GROUP_CAUSE_REVOKED	= 5,
	PEERLANE_GROUP_CAUSE_PROTOCOL	= 6,
	PEERLANE_GROUP_CAUSE_CLOSED	= 7,
	PEERLANE_GROUP_CAUSE_SHAPE	= 8,
	PEERLANE_GROUP_CAUSE_TAKEN	= 9,
	PEERLANE_GROUP_CAUSE_FULL	= 10,
	PEERLANE_GROUP_CAUSE_JOIN	= 11,
	PEERLANE_GROUP_CAUSE_UNABLE	= 12,
	PEERLANE_GROUP_CAUSE_BLOCK	= 13,
};

/**
 * enum peerlane_group_record_type - what a record of a group file tells
 * @PEERLANE_GROUP_RECORD_JOINED: all ranks have
 * @PEERLANE_GROUP_RECORD_DONE: an operation ended: @status, @cookie, @seq
 * @PEERLANE_GROUP_RECORD_ENDED: the group did: @status, @rank, @cause; INFO has
 *	the text. The last record, after the DONE records of all operations
 */
enum peerlane_group_record_type {
	PEERLANE_GROUP_RECORD_JOINED	= 1,
	PEERLANE_GROUP_RECORD_DONE	= 2,
	PEERLANE_GROUP_RECORD_ENDED	= 3,
};

/**
 * struct peerlane_group_record - what read() of a group file gives
 * @size: bytes of this record; the next one follows. Skip types you do not know.
 * @type: enum peerlane_group_record_type
 * @status: 0 or a negative errno
 * @cookie: of the operation
 * @seq: number of the operation in the group, from 0
 * @rank: ENDED, DONE with an error: whose fault, or PEERLANE_RANK_NONE
 * @cause: likewise, enum peerlane_group_cause
 *
 * read() as of an endpoint file; 0 after ENDED was read.
 */
struct peerlane_group_record {
	__u16 size;
	__u16 type;
	__s32 status;
	__aligned_u64 cookie;
	__aligned_u64 seq;
	__u32 rank;
	__u32 cause;
};

/**
 * enum peerlane_group_state - life of a group file
 * @PEERLANE_GROUP_NEW: made
 * @PEERLANE_GROUP_JOINING: JOIN is under way
 * @PEERLANE_GROUP_JOINED: usable
 * @PEERLANE_GROUP_ENDING: its connections are being ended
 * @PEERLANE_GROUP_ENDED: the reason is told
 */
enum peerlane_group_state {
	PEERLANE_GROUP_NEW	= 0,
	PEERLANE_GROUP_JOINING	= 1,
	PEERLANE_GROUP_JOINED	= 2,
	PEERLANE_GROUP_ENDING	= 3,
	PEERLANE_GROUP_ENDED	= 4,
};

/**
 * struct peerlane_group_info - one group file
 * @id: number of the file
 * @group: number of the group
 * @ops_done: operations that completed well
 * @ops_failed: with an error
 * @bytes_sent: to aggregators
 * @bytes_received: from them
 * @segments: sent
 * @fault_value: MISMATCH: what @fault_rank called
 * @fault_expected: MISMATCH: what @fault_other called
 * @fault_seq: number of the operation that it was about
 * @uid: who made it, in the caller's user namespace
 * @pid: process that made it, in the caller's pid namespace; 0 if not seen
 * @state: enum peerlane_group_state
 * @status: why it ended: 0 or a negative errno
 * @rank: its rank
 * @ranks: size of the group
 * @aggregators: as many as JOIN said
 * @segment: bytes
 * @window: segments
 * @block: ranks
 * @lanes: queue pairs to each aggregator
 * @depth: operations that may be outstanding
 * @outstanding: that are
 * @slots: slots that are bound
 * @fault_cause: enum peerlane_group_cause
 * @fault_rank: whose fault, or PEERLANE_RANK_NONE
 * @fault_other: MISMATCH: a rank that called as most did
 * @fault_missing: LATE, JOIN: how many ranks did not come; else, if not 0: it is not
 *	@fault_rank's fault but that of its aggregator, which so many have from it on
 * @fault_field: MISMATCH: 1 kind, 2 type, 3 op, 4 root, 5 count, 6 the operation
 *	that it is at, 7 the segment, 8 the way
 * @lanes_left: queue pairs, of all aggregators, that failed and were left
 * @comm: command name of @pid
 * @label: flow label
 * @text: why it ended, or empty
 * @ops_replicated: operations that were, of @ops_done and @ops_failed
 * @placement: enum peerlane_group_placement, as asked for
 * @replicated_below: AUTO: all-reduces of fewer bytes are replicated
 * @rounds: AUTO: how often ranks agreed on the next ones, which are 0 until then
 * @colocated: each rank's node runs the aggregator of its number
 * @alpha_ns: of a message to another rank's aggregator
 * @own_ns: to the one of the rank's number
 * @beta_ps: of a byte on its way; 0: not measured, no slot was bound
 * @gamma_ps: of a byte that is reduced
 * @shared_permille: what operations took that were not replicated, to what these
 *	numbers predict; 0: none was alone on its way
 * @replicated_permille: that were
 * @reason: why operations go as they do
 */
struct peerlane_group_info {
	__aligned_u64 id;
	__aligned_u64 group;
	__aligned_u64 ops_done;
	__aligned_u64 ops_failed;
	__aligned_u64 bytes_sent;
	__aligned_u64 bytes_received;
	__aligned_u64 segments;
	__aligned_u64 fault_value;
	__aligned_u64 fault_expected;
	__aligned_u64 fault_seq;
	__u32 uid;
	__s32 pid;
	__u32 state;
	__s32 status;
	__u32 rank;
	__u32 ranks;
	__u32 aggregators;
	__u32 segment;
	__u32 window;
	__u32 block;
	__u32 lanes;
	__u32 depth;
	__u32 outstanding;
	__u32 slots;
	__u32 fault_cause;
	__u32 fault_rank;
	__u32 fault_other;
	__u32 fault_missing;
	__u32 fault_field;
	__u32 lanes_left;
	char comm[16];
	char label[PEERLANE_ENDPOINT_LABEL_LEN];
	char text[PEERLANE_GROUP_TEXT_LEN];
	__aligned_u64 ops_replicated;
	__u32 placement;
	__u32 replicated_below;
	__u32 rounds;
	__u32 colocated;
	__u32 alpha_ns;
	__u32 own_ns;
	__u32 beta_ps;
	__u32 gamma_ps;
	__u32 shared_permille;
	__u32 replicated_permille;
	char reason[PEERLANE_GROUP_REASON_LEN];
};

/*
 * ioctl(PEERLANE_IOC_GROUP_INFO) on a group file and
 * ioctl(PEERLANE_IOC_GROUP_LIST) on /dev/peerlane/control take struct
 * peerlane_list with records of struct peerlane_group_info; which ones LIST has
 * is said at ENDPOINT_LIST.
 */
#define PEERLANE_IOC_GROUP_LIST \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_GROUP_LIST)
#define PEERLANE_IOC_GROUP_INFO \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_GROUP_INFO)

/**
 * enum peerlane_lane_state - life of a queue pair to an aggregator
 * @PEERLANE_LANE_LIVE: usable
 * @PEERLANE_LANE_LEAVING: it failed, and both sides see to it that nothing is
 *	under way on it any more
 * @PEERLANE_LANE_LEFT: the others have done, or do, what was its
 */
enum peerlane_lane_state {
	PEERLANE_LANE_LIVE	= 1,
	PEERLANE_LANE_LEAVING	= 2,
	PEERLANE_LANE_LEFT	= 3,
};

/**
 * enum peerlane_lane_cause - why a queue pair was left
 * @PEERLANE_LANE_CAUSE_UNANSWERED: its device gave up: retries exceeded
 * @PEERLANE_LANE_CAUSE_SILENT: nothing on it was completed, while others moved
 * @PEERLANE_LANE_CAUSE_PEER: the other end left it
 */
enum peerlane_lane_cause {
	PEERLANE_LANE_CAUSE_UNANSWERED	= 1,
	PEERLANE_LANE_CAUSE_SILENT	= 2,
	PEERLANE_LANE_CAUSE_PEER	= 3,
};

/**
 * struct peerlane_lane_info - one queue pair of a group file
 * @id: number of the file
 * @messages: of the group, that were posted; a segment is one
 * @bytes: posted
 * @replayed: messages that had not arrived when it was left
 * @delay_ns: from post to completion, smoothed; 0: not measured yet
 * @aggregator: index of the aggregator
 * @lane: index of the lane
 * @state: enum peerlane_lane_state
 * @qpn: number of the queue pair
 * @left_ns: when it began to be left, CLOCK_BOOTTIME; 0: it is live
 * @cause: enum peerlane_lane_cause; 0: it is live
 * @peer_qpn: number of the aggregator's; 0: not known yet
 */
struct peerlane_lane_info {
	__aligned_u64 id;
	__aligned_u64 messages;
	__aligned_u64 bytes;
	__aligned_u64 replayed;
	__aligned_u64 delay_ns;
	__u32 aggregator;
	__u32 lane;
	__u32 state;
	__u32 qpn;
	__aligned_u64 left_ns;
	__u32 cause;
	__u32 peer_qpn;
};

/*
 * ioctl(PEERLANE_IOC_GROUP_LANES) on /dev/peerlane/control takes struct
 * peerlane_list with records of struct peerlane_lane_info, of the files that
 * GROUP_LIST has; of links that never stood there are none.
 */
#define PEERLANE_IOC_GROUP_LANES \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_GROUP_LANES)

#endif /* _UAPI_PEERLANE_GROUP_H */
