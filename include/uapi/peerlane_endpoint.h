/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * peerlane: ioctl ABI of endpoints. The rules and the errno contract of
 * <peerlane.h>, which includes this file, hold here too.
 *
 * An endpoint is one reliable connection between the kernels of two nodes.
 * Regions are bound to its slots; a part of a slot is exposed to the peer under
 * a token; operations name (slot, offset) here and (token, offset) there. The
 * data goes from memory to memory by RDMA, no CPU copies it.
 *
 * What a completion means
 * -----------------------
 * Of a GET: the data is in the local slot, for the CPU and for devices that
 * read through the host bridge. Of a PUT: the local memory may be used again;
 * nothing is said about the far side. Of a PUT with PEERLANE_OP_NOTIFY: the
 * same; the peer's NOTIFY record comes after the data of that operation, and of
 * all earlier ones with the same lane, is in the peer's memory. Of a FLUSH: the
 * data of all PUTs submitted before it is in the peer's memory, beyond every
 * queue of the fabric and of its PCI Express path.
 *
 * An operation completes, also with an error, only when nobody can read or
 * write its local memory any more on its behalf.
 *
 * What is caught by a withdrawal or a revocation
 * ----------------------------------------------
 * WITHDRAW, and the revocation of a region that is exposed, do not wait for the
 * peer's operations: one that reaches for the memory afterwards is refused by
 * the RDMA device, and no reliable connection survives that. So it ends:
 * - At the peer the PUT or GET that was caught completes with EACCES, or ENOKEY
 *   if the withdrawal was told there by then; what was submitted behind it with
 *   ECANCELED; DISCONNECTED says EACCES. Where the device does not tell why (siw)
 *   each of these may be ECONNRESET.
 * - At the side that withdrew DISCONNECTED says ECONNRESET, as do operations of
 *   its own that were outstanding.
 * A region that is revoked while operations of this side have its slot ends the
 * connection too: those complete with ENODEV, all others with ECANCELED,
 * DISCONNECTED says ENODEV, and ECONNRESET at the peer.
 *
 * Who wants to go on withdraws after the peer has said, by a NOTIFY, that it has
 * done with the token. A FLUSH is not caught: it uses no token. Of what has been
 * withdrawn by then it says nothing, and completes.
 *
 * errno values of records and of calls on endpoints, beside the general ones
 * --------------------------------------------------------------------------
 * EAGAIN		no room now: depth or the peer's notify credit is used up, or
 *		nothing to read and the file is O_NONBLOCK
 * ENOTCONN	not connected (yet, or no longer: the DISCONNECTED record says why)
 * EISCONN	connected, listening or closed already
 * ETIMEDOUT	the peer did not answer within the endpoint's timeout
 * ECONNRESET	the peer closed, or its process or its region ended
 * ECONNREFUSED	nobody listens there, or the peer refused: the text says why
 * EACCES	the peer does not allow it: unknown token, range or right
 * ENOKEY	the token was withdrawn
 * ECANCELED	given up by this side: disconnect, close, or an earlier
 *		operation of the same lane failed
 * ENETDOWN	the RDMA device is gone
 * ENODEV	the region of the slot is revoked
 */
#ifndef _UAPI_PEERLANE_ENDPOINT_H
#define _UAPI_PEERLANE_ENDPOINT_H

#include <linux/types.h>

#include "peerlane_operation.h"

#define PEERLANE_ENDPOINT_TOKEN_LEN	16	/* secret of a connection, bytes */
#define PEERLANE_ENDPOINT_LABEL_LEN	32	/* flow label with its NUL */
#define PEERLANE_RDMA_NAME_LEN		64	/* RDMA device name with its NUL */
#define PEERLANE_ADDRESS_LEN		28	/* struct sockaddr_in6 */
#define PEERLANE_REASON_LEN		128	/* text with its NUL */

/**
 * struct peerlane_endpoint_create - make an endpoint file
 * ioctl(PEERLANE_IOC_ENDPOINT_CREATE) on /dev/peerlane/control
 * @secret: both sides of a connection must have the same; not all zero. Sent
 *	in clear: it keeps strangers and mistakes out, not who can listen in.
 * @lanes: queue pairs of the connection, 1 .. 16; 0: 1. What has the same lane
 *	is in order, lanes among each other are not. The smaller of both sides'.
 * @depth: operations that may be outstanding, 1 .. module parameter
 *	endpoint_depth; 0: 128
 * @notify_depth: NOTIFY records of the peer that may wait to be read; 0: 128.
 *	The peer's operations get EAGAIN beyond it.
 * @slots: slots for regions, 1 .. 1024; 0: 16
 * @timeout_ms: after this a peer that does not answer is dead, 100 .. 600000;
 *	0: 5000
 * @near_fd: a region file whose nearest RDMA device is to be used when the
 *	route leaves a choice, or -1
 * @rdma_device: name of the RDMA device to use, or empty
 * @label: of the connection's flows in the flow table; empty: "endpoint <id>"
 * @out_id: number of the endpoint, as in lists and logs
 * @out_fd: the endpoint file, O_CLOEXEC; O_NONBLOCK can be set on it
 *
 * The endpoint belongs to the caller's network namespace. EDQUOT: the user has
 * module parameter user_endpoints already, or would have more memory than
 * user_endpoint_bytes; CONNECT may find the same of its connection.
 */
struct peerlane_endpoint_create {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
	__u8 secret[PEERLANE_ENDPOINT_TOKEN_LEN];
	__u32 lanes;
	__u32 depth;
	__u32 notify_depth;
	__u32 slots;
	__u32 timeout_ms;
	__s32 near_fd;
	char rdma_device[PEERLANE_RDMA_NAME_LEN];
	char label[PEERLANE_ENDPOINT_LABEL_LEN];
	__aligned_u64 out_id;
	__s32 out_fd;
	__u32 reserved2;
};
#define PEERLANE_IOC_ENDPOINT_CREATE \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_ENDPOINT_CREATE)

/**
 * struct peerlane_endpoint_address - where to listen, or whom to connect to
 * ioctl(PEERLANE_IOC_ENDPOINT_LISTEN), ioctl(PEERLANE_IOC_ENDPOINT_CONNECT)
 * @address: struct sockaddr_in or sockaddr_in6, the rest zero. LISTEN: the
 *	wildcard address and port 0 (any free one) are allowed
 * @source: CONNECT: the local address, or all zero
 * @backlog: LISTEN: connections that may wait for ACCEPT, 1 .. 1024; 0: 16
 * @out_address: LISTEN: with the port that was taken
 *
 * CONNECT waits until it is connected or refused. With O_NONBLOCK it returns
 * EINPROGRESS, and a CONNECTED or DISCONNECTED record tells the end; the same
 * after EINTR. A CONNECT that fails by any other error leaves no record and the
 * endpoint NEW, with what is bound to it: another address can be tried. ENOSPC:
 * the RDMA device has no queues that are as large as depth and notify_depth want.
 * EDQUOT: the user would have more memory than module parameter
 * user_endpoint_bytes, for which connections count until nothing is left of them.
 * EADDRINUSE, EADDRNOTAVAIL, ENETUNREACH, EHOSTUNREACH: as connect(2), bind(2).
 */
struct peerlane_endpoint_address {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
	__u8 address[PEERLANE_ADDRESS_LEN];
	__u8 source[PEERLANE_ADDRESS_LEN];
	__u8 out_address[PEERLANE_ADDRESS_LEN];
	__u32 backlog;
};
#define PEERLANE_IOC_ENDPOINT_LISTEN \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_ENDPOINT_LISTEN)
#define PEERLANE_IOC_ENDPOINT_CONNECT \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_ENDPOINT_CONNECT)

/**
 * struct peerlane_endpoint_accept - take a connection from a listening endpoint
 * ioctl(PEERLANE_IOC_ENDPOINT_ACCEPT)
 * @out_id: number of the new endpoint
 * @out_fd: connected endpoint with the listener's settings, O_CLOEXEC
 * @reserved2: 0
 * @out_address: the peer's
 *
 * Waits for one, or EAGAIN with O_NONBLOCK; poll() says POLLIN when one waits.
 */
struct peerlane_endpoint_accept {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
	__aligned_u64 out_id;
	__s32 out_fd;
	__u32 reserved2;
	__u8 out_address[PEERLANE_ADDRESS_LEN];
	__u32 reserved3;
};
#define PEERLANE_IOC_ENDPOINT_ACCEPT \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_ENDPOINT_ACCEPT)

/* The slot is only read: by PUTs, and by the peer's GETs */
#define PEERLANE_BIND_READ_ONLY		(1U << 0)

/**
 * struct peerlane_endpoint_bind - put a region into a slot
 * ioctl(PEERLANE_IOC_ENDPOINT_BIND)
 * @slot: 0 .. slots - 1
 * @region_fd: the region file, which may be closed afterwards; -1 empties the
 *	slot, once its operations and exposures have ended (EBUSY until then)
 * @offset: first byte of the part, page-aligned
 * @length: bytes, page-aligned; 0: to the end
 * @out_length: bytes that the slot has
 *
 * EBUSY: the slot has a region. EPERM: the region file is open for reading only
 * and the slot could be written: see PEERLANE_BIND_READ_ONLY.
 */
struct peerlane_endpoint_bind {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
	__u32 slot;
	__s32 region_fd;
	__aligned_u64 offset;
	__aligned_u64 length;
	__aligned_u64 out_length;
};
#define PEERLANE_IOC_ENDPOINT_BIND \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_ENDPOINT_BIND)

#define PEERLANE_RIGHT_READ		(1U << 0)	/* the peer may GET */
#define PEERLANE_RIGHT_WRITE		(1U << 1)	/* the peer may PUT */

/**
 * struct peerlane_endpoint_expose - let the peer reach a part of a slot
 * ioctl(PEERLANE_IOC_ENDPOINT_EXPOSE), on a connected endpoint
 * @slot: a bound slot
 * @rights: PEERLANE_RIGHT_*, at least one
 * @offset: first byte in the slot, any
 * @length: bytes, > 0
 * @value: for the peer's EXPOSED record; the application's own
 * @out_token: 64 random bits, never 0. The peer also learns it by its record.
 *
 * EDQUOT: module parameter endpoint_keys is used up, or the user's user_keys.
 */
struct peerlane_endpoint_expose {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
	__u32 slot;
	__u32 rights;
	__aligned_u64 offset;
	__aligned_u64 length;
	__aligned_u64 value;
	__aligned_u64 out_token;
};
#define PEERLANE_IOC_ENDPOINT_EXPOSE \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_ENDPOINT_EXPOSE)

/**
 * struct peerlane_endpoint_withdraw - end an exposure
 * ioctl(PEERLANE_IOC_ENDPOINT_WITHDRAW)
 * @token: of an exposure of this endpoint
 *
 * Returns once the keys are invalid: nothing of the peer's reaches the memory
 * after it. An operation of the peer's that is under way ends the connection, see
 * above. ENOKEY: no such exposure.
 */
struct peerlane_endpoint_withdraw {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
	__aligned_u64 token;
};
#define PEERLANE_IOC_ENDPOINT_WITHDRAW \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_ENDPOINT_WITHDRAW)

/**
 * struct peerlane_endpoint_disconnect - end the connection
 * ioctl(PEERLANE_IOC_ENDPOINT_DISCONNECT)
 *
 * Operations that are outstanding end with ECANCELED or as they ended; the
 * records can be read after it. Returns when no peer can reach memory through
 * this endpoint any more. close() of the last descriptor does the same.
 */
struct peerlane_endpoint_disconnect {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
};
#define PEERLANE_IOC_ENDPOINT_DISCONNECT \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_ENDPOINT_DISCONNECT)

/**
 * enum peerlane_endpoint_state - life of an endpoint
 * @PEERLANE_ENDPOINT_NEW: made; also after a CONNECT that failed
 * @PEERLANE_ENDPOINT_LISTENING: takes connections
 * @PEERLANE_ENDPOINT_CONNECTING: CONNECT is under way
 * @PEERLANE_ENDPOINT_CONNECTED: usable
 * @PEERLANE_ENDPOINT_CLOSED: ended, the reason is told
 */
enum peerlane_endpoint_state {
	PEERLANE_ENDPOINT_NEW		= 0,
	PEERLANE_ENDPOINT_LISTENING	= 1,
	PEERLANE_ENDPOINT_CONNECTING	= 2,
	PEERLANE_ENDPOINT_CONNECTED	= 3,
	PEERLANE_ENDPOINT_CLOSED	= 4,
};

/**
 * struct peerlane_endpoint_record - one endpoint
 * @id: number of the endpoint
 * @bytes_put: sent by PUTs that completed
 * @bytes_get: received by GETs that completed
 * @ops_done: operations that completed well
 * @ops_failed: that completed with an error
 * @uid: who made it, in the caller's user namespace
 * @pid: process that made it, in the caller's pid namespace; 0 if not seen
 * @state: enum peerlane_endpoint_state
 * @status: why it is CLOSED: negative errno
 * @lanes: queue pairs
 * @depth: operations that may be outstanding
 * @outstanding: that are
 * @slots: slots that are bound
 * @exposed: exposures to the peer
 * @granted: the peer's exposures to us
 * @keys: memory keys in use
 * @path: enum peerlane_path from the RDMA device to the memory of near_fd
 * @comm: command name of @pid
 * @local: struct sockaddr_in or sockaddr_in6, zero if none
 * @peer: likewise
 * @rdma_device: name of the RDMA device, or empty
 * @label: flow label
 * @reason: why it is CLOSED, or empty
 */
struct peerlane_endpoint_record {
	__aligned_u64 id;
	__aligned_u64 bytes_put;
	__aligned_u64 bytes_get;
	__aligned_u64 ops_done;
	__aligned_u64 ops_failed;
	__u32 uid;
	__s32 pid;
	__u32 state;
	__s32 status;
	__u32 lanes;
	__u32 depth;
	__u32 outstanding;
	__u32 slots;
	__u32 exposed;
	__u32 granted;
	__u32 keys;
	__u32 path;
	char comm[16];
	__u8 local[PEERLANE_ADDRESS_LEN];
	__u8 peer[PEERLANE_ADDRESS_LEN];
	char rdma_device[PEERLANE_RDMA_NAME_LEN];
	char label[PEERLANE_ENDPOINT_LABEL_LEN];
	char reason[PEERLANE_REASON_LEN];
};

/*
 * ioctl(PEERLANE_IOC_ENDPOINT_INFO) on an endpoint file and
 * ioctl(PEERLANE_IOC_ENDPOINT_LIST) on /dev/peerlane/control take struct
 * peerlane_list with records of struct peerlane_endpoint_record: INFO has one,
 * LIST has those of the caller's network namespace, without CAP_NET_ADMIN in it
 * only the caller's own.
 */
#define PEERLANE_IOC_ENDPOINT_LIST \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_ENDPOINT_LIST)
#define PEERLANE_IOC_ENDPOINT_INFO \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_ENDPOINT_INFO)

#endif /* _UAPI_PEERLANE_ENDPOINT_H */
