/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* Work of endpoints, and notices of its end. The rules of <peerlane.h> hold. */
#ifndef LIBPEERLANE_ENDPOINT_WORK_H
#define LIBPEERLANE_ENDPOINT_WORK_H

#include <peerlane/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct peerlane_endpoint;

enum peerlane_work_code {
	PEERLANE_WORK_PUT = 1,		/* this side's slot to the peer's exposure */
	PEERLANE_WORK_GET = 2,		/* the peer's exposure to this side's slot */
	PEERLANE_WORK_FLUSH = 3,	/* all puts before it are in the peer's memory */
	PEERLANE_WORK_NOTIFY = 4,	/* only PEERLANE_NOTICE_NOTIFY at the peer */
};

#define PEERLANE_WORK_NOTIFYING	(1U << 0)	/* put: a notice at the peer after it */
#define PEERLANE_WORK_QUIET	(1U << 1)	/* no notice here unless it fails */
#define PEERLANE_WORK_LANE	(1U << 2)	/* by @lane, else by the soonest done */

/**
 * struct peerlane_work - one thing to do
 * @code: enum peerlane_work_code
 * @flags: PEERLANE_WORK_*
 * @slot: this side's memory
 * @offset: in the slot, bytes
 * @length: bytes, also 0
 * @token: the peer's memory
 * @remote_offset: in the exposure, bytes
 * @cookie: given back in PEERLANE_NOTICE_DONE
 * @value: told to the peer in PEERLANE_NOTICE_NOTIFY
 * @lane: with PEERLANE_WORK_LANE, else 0
 * @reserved: 0
 *
 * A flush uses only @cookie, and @flags and @lane; a notification only @value,
 * too. Unused members are 0.
 */
struct peerlane_work {
	uint16_t code;
	uint16_t flags;
	uint32_t slot;
	uint64_t offset;
	uint64_t length;
	uint64_t token;
	uint64_t remote_offset;
	uint64_t cookie;
	uint64_t value;
	uint32_t lane;
	uint32_t reserved;
};

enum peerlane_notice_id {
	PEERLANE_NOTICE_DONE = 1,	/* work ended: @status, @cookie, @length */
	PEERLANE_NOTICE_NOTIFY = 2,	/* of the peer's: @value, @length, @token */
	PEERLANE_NOTICE_EXPOSED = 3,	/* by the peer: @token, @length, @rights, @value */
	PEERLANE_NOTICE_WITHDRAWN = 4,	/* by the peer: @token */
	PEERLANE_NOTICE_CONNECTED = 5,	/* the connection stands */
	PEERLANE_NOTICE_DISCONNECTED = 6, /* it ended: @status; the last one */
};

/** peerlane_notice_name() - "done", "notify", "exposed", ..., "unknown". */
PEERLANE_API const char *peerlane_notice_name(uint32_t type);

/**
 * struct peerlane_notice - what an endpoint tells
 * @type: enum peerlane_notice_id; pass over those you do not know
 * @status: 0 or a negative errno
 * @cookie: of the work
 * @token: of the exposure
 * @length: bytes
 * @value: as the peer gave it
 * @rights: PEERLANE_MAY_*
 * @lane: that it came by
 *
 * Status of PEERLANE_NOTICE_DONE: -EACCES unknown token, outside of the
 * exposure, or without the right; -ENOKEY the token was withdrawn; -ETIMEDOUT
 * the peer does not answer; -ECONNRESET it closed, or its process or region
 * ended; -ECANCELED given up here, or earlier work of the lane failed; -ENODEV
 * the slot's region was revoked; -ENETDOWN the RDMA device is gone. Work that is
 * caught by a withdrawal or a revocation fails so and ends the connection.
 */
struct peerlane_notice {
	uint32_t type;
	int32_t status;
	uint64_t cookie;
	uint64_t token;
	uint64_t length;
	uint64_t value;
	uint32_t rights;
	uint32_t lane;
};

#define PEERLANE_NOTICE_ROOM	64	/* bytes of a buffer that suffice for one */

/**
 * struct peerlane_notices - a buffer for notices as they come
 * @buffer: the caller's, 8-byte aligned
 * @size: its bytes, at least PEERLANE_NOTICE_ROOM
 * @used: set: bytes that are filled
 * @next: set: where peerlane_notice_next() goes on
 */
struct peerlane_notices {
	void *buffer;
	size_t size;
	size_t used;
	size_t next;
};

/**
 * peerlane_notice_next() - the next one of a filled buffer
 * @notices: filled by peerlane_endpoint_submit() or peerlane_endpoint_wait()
 * @notice: filled
 *
 * Return: false, and @notice as it was, after the last one.
 */
PEERLANE_API bool peerlane_notice_next(struct peerlane_notices *notices,
				       struct peerlane_notice *notice);

#define PEERLANE_BATCH_BUSY_POLL	(1U << 0)	/* wait actively, for latency */

/**
 * struct peerlane_batch - work to begin, and notices to wait for, in one call
 * @works: @count of them, in order; may be NULL if that is 0
 * @count: up to 4096
 * @flags: PEERLANE_BATCH_*
 * @wait: notices to wait for; 0 takes those that are there
 * @begun: set: how many of @works were begun, from the first on
 * @timeout: of the wait, ns; -1 none
 * @notices: where they go; without a buffer none are taken
 */
struct peerlane_batch {
	const struct peerlane_work *works;
	uint32_t count;
	uint32_t flags;
	uint32_t wait;
	uint32_t begun;
	int64_t timeout;
	struct peerlane_notices notices;
};

/**
 * peerlane_endpoint_submit() - begin work, and wait, in one system call
 * @endpoint: connected
 * @batch: see there
 *
 * Work that is wrong in itself ends the batch there: the call fails if it is
 * the first, else @batch->begun is less than @batch->count, and a second call
 * with the rest tells why. So does work for which there is no room (-EAGAIN).
 * What goes wrong later is in the notices. A signal or the end of the time ends
 * the wait only: then there are fewer notices, or none. Return: 0; -EAGAIN no room; -EINVAL; -ENOTCONN not connected,
 * or not any more; -EINTR a signal came before anything was done; -EACCES,
 * -ENOKEY the token; -ENODEV the slot's region is revoked.
 */
PEERLANE_API int
peerlane_endpoint_submit(const struct peerlane_endpoint *endpoint,
			 struct peerlane_batch *batch);

/**
 * peerlane_endpoint_wait() - take notices
 * @endpoint: in any state but new and listening
 * @timeout: ms to wait for the first; 0 do not, -1 for ever
 * @notices: filled with what is there
 *
 * Return: 0; -EAGAIN none came in time; -EINTR a signal came; -ENOTCONN the last
 * one was taken before.
 */
PEERLANE_API int
peerlane_endpoint_wait(const struct peerlane_endpoint *endpoint, int timeout,
		       struct peerlane_notices *notices);

/**
 * peerlane_endpoint_put() - begin one put
 * @endpoint: connected
 * @slot: this side's memory
 * @offset: in the slot
 * @length: bytes
 * @token: the peer's memory
 * @remote_offset: in the exposure
 * @cookie: given back in PEERLANE_NOTICE_DONE
 *
 * Return: as peerlane_endpoint_submit().
 */
PEERLANE_API int peerlane_endpoint_put(const struct peerlane_endpoint *endpoint,
				       uint32_t slot, uint64_t offset,
				       uint64_t length, uint64_t token,
				       uint64_t remote_offset, uint64_t cookie);

/** peerlane_endpoint_get() - begin one get; as peerlane_endpoint_put(). */
PEERLANE_API int peerlane_endpoint_get(const struct peerlane_endpoint *endpoint,
				       uint32_t slot, uint64_t offset,
				       uint64_t length, uint64_t token,
				       uint64_t remote_offset, uint64_t cookie);

/** peerlane_endpoint_flush() - begin a flush: done when all earlier puts have arrived. */
PEERLANE_API int
peerlane_endpoint_flush(const struct peerlane_endpoint *endpoint,
			uint64_t cookie);

/** peerlane_endpoint_notify() - begin a notification: @value at the peer. */
PEERLANE_API int
peerlane_endpoint_notify(const struct peerlane_endpoint *endpoint,
			 uint64_t value, uint64_t cookie);

#ifdef __cplusplus
}
#endif

#endif /* LIBPEERLANE_ENDPOINT_WORK_H */
