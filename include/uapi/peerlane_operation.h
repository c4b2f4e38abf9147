/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * peerlane: ioctl ABI of what endpoints do: operations, and records of their end.
 * "peerlane_endpoint.h" includes this file; what a completion means is told there.
 */
#ifndef _UAPI_PEERLANE_OPERATION_H
#define _UAPI_PEERLANE_OPERATION_H

#include <linux/types.h>

/**
 * enum peerlane_op_code - what an operation does
 * @PEERLANE_OP_PUT: local slot -> peer's exposure
 * @PEERLANE_OP_GET: peer's exposure -> local slot
 * @PEERLANE_OP_FLUSH: wait for all PUTs submitted before it; only @cookie is used
 * @PEERLANE_OP_NOTIFY: no data, only a NOTIFY record at the peer
 */
enum peerlane_op_code {
	PEERLANE_OP_PUT		= 1,
	PEERLANE_OP_GET		= 2,
	PEERLANE_OP_FLUSH	= 3,
	PEERLANE_OP_NOTIFY	= 4,
};

#define PEERLANE_OP_F_NOTIFY	(1U << 0)	/* PUT: NOTIFY record at the peer after it */
#define PEERLANE_OP_F_QUIET	(1U << 1)	/* no DONE record unless it fails */
#define PEERLANE_OP_F_LANE	(1U << 2)	/* use @lane, else the soonest done */

/**
 * struct peerlane_op - one operation
 * @op: enum peerlane_op_code
 * @flags: PEERLANE_OP_F_*
 * @slot: local slot
 * @offset: first byte in it
 * @length: bytes, also 0
 * @token: peer's exposure
 * @remote_offset: first byte in it
 * @cookie: given back in the DONE record
 * @value: for the peer's NOTIFY record
 * @lane: with PEERLANE_OP_F_LANE; else 0
 * @reserved: 0
 */
struct peerlane_op {
	__u16 op;
	__u16 flags;
	__u32 slot;
	__aligned_u64 offset;
	__aligned_u64 length;
	__aligned_u64 token;
	__aligned_u64 remote_offset;
	__aligned_u64 cookie;
	__aligned_u64 value;
	__u32 lane;
	__u32 reserved;
};

/* Wait actively, for latency; as long as the scheduler has nothing better */
#define PEERLANE_SUBMIT_BUSY_POLL	(1U << 0)

/**
 * struct peerlane_endpoint_submit - begin operations, and read records
 * ioctl(PEERLANE_IOC_ENDPOINT_SUBMIT)
 * @flags: PEERLANE_SUBMIT_*
 * @ops_ptr: @count structs peerlane_op of @op_size bytes each
 * @count: 0 .. 4096
 * @op_size: sizeof(struct peerlane_op) as the caller was compiled
 * @out_count: operations begun, from the first on
 * @wait: records to wait for, at most what fits into @records_len; 0: take what
 *	is there
 * @records_ptr: room for records, as read() would fill it, or 0
 * @records_len: its bytes
 * @out_records_len: bytes filled
 * @timeout_ns: of the wait; -1: none; whatever the file's O_NONBLOCK says
 *
 * An operation that is wrong in itself (slot, range, flags) ends the batch: if
 * it is the first, the call fails with its error and the text; else the call
 * succeeds with @out_count less than @count. The same with EAGAIN when there is
 * no more room. Errors of operations that were begun come in their records. A
 * signal or the timeout ends only the wait: what was begun is in @out_count. With
 * EFAULT nothing has begun, unless the struct was unmapped during the call.
 */
struct peerlane_endpoint_submit {
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
#define PEERLANE_IOC_ENDPOINT_SUBMIT \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_ENDPOINT_SUBMIT)

/**
 * struct peerlane_endpoint_uring - SUBMIT by io_uring: command area of the SQE
 * @args_ptr: struct peerlane_endpoint_submit
 * @reserved: 0
 *
 * opcode IORING_OP_URING_CMD, fd the endpoint file, cmd_op
 * PEERLANE_IOC_ENDPOINT_SUBMIT, this struct in cmd (SQEs of 64 bytes have room
 * for it; what is behind it in those of 128 is not looked at). What @args_ptr
 * points to is read when the command is issued and written before it completes,
 * so it has to stay until then, and so have the operations and the room for
 * records. res of the CQE is @out_count or a negative errno, EAGAIN among them;
 * all else is as by ioctl.
 *
 * Without @wait it is done at once, by whoever submits. A worker of io_uring
 * takes it over where it would have to sleep: with @wait, for as long as it
 * waits, and when a slot is used for the first time since the connection stands.
 * If operations of the batch have begun by then, it ends with those instead. Who
 * cancels a command that waits gets what was begun. read() and poll() by
 * io_uring take no worker while they wait.
 */
struct peerlane_endpoint_uring {
	__aligned_u64 args_ptr;
	__aligned_u64 reserved;
};

/**
 * enum peerlane_record_type - what a record tells
 * @PEERLANE_RECORD_DONE: an operation ended: @status, @cookie, @length
 * @PEERLANE_RECORD_NOTIFY: of the peer's: @value, @length and @token of its PUT
 * @PEERLANE_RECORD_EXPOSED: the peer exposed @length bytes as @token with
 *	@rights and @value
 * @PEERLANE_RECORD_WITHDRAWN: the peer ended @token
 * @PEERLANE_RECORD_CONNECTED: the connection stands
 * @PEERLANE_RECORD_DISCONNECTED: it ended: @status; INFO has the text. The last
 *	record of an endpoint, after the DONE records of all operations
 */
enum peerlane_record_type {
	PEERLANE_RECORD_DONE		= 1,
	PEERLANE_RECORD_NOTIFY		= 2,
	PEERLANE_RECORD_EXPOSED		= 3,
	PEERLANE_RECORD_WITHDRAWN	= 4,
	PEERLANE_RECORD_CONNECTED	= 5,
	PEERLANE_RECORD_DISCONNECTED	= 6,
};

/**
 * struct peerlane_record - what read() of an endpoint file gives
 * @size: bytes of this record; the next one follows. Skip types you do not know.
 * @type: enum peerlane_record_type
 * @status: 0 or a negative errno
 * @cookie: of the operation
 * @token: of the exposure
 * @length: bytes
 * @value: the application's own
 * @rights: PEERLANE_RIGHT_*
 * @lane: that it came by
 *
 * read() gives whole records: as many as there are and fit, EINVAL if not one
 * fits, EAGAIN or a wait if there are none, 0 after DISCONNECTED was read.
 */
struct peerlane_record {
	__u16 size;
	__u16 type;
	__s32 status;
	__aligned_u64 cookie;
	__aligned_u64 token;
	__aligned_u64 length;
	__aligned_u64 value;
	__u32 rights;
	__u32 lane;
};

#endif /* _UAPI_PEERLANE_OPERATION_H */
