// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Work of endpoints: begun, waited for, and what is told of it. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "endpoint.h"

/* An array of the one goes to the kernel as an array of the other. */
#define SAME(a, b)							\
	_Static_assert(offsetof(struct peerlane_work, a) ==		\
		       offsetof(struct peerlane_op, b), #a)
_Static_assert(sizeof(struct peerlane_work) == sizeof(struct peerlane_op), "");
SAME(code, op);
SAME(flags, flags);
SAME(slot, slot);
SAME(offset, offset);
SAME(length, length);
SAME(token, token);
SAME(remote_offset, remote_offset);
SAME(cookie, cookie);
SAME(value, value);
SAME(lane, lane);
#define EQUAL(own, kernel) _Static_assert((int)(own) == (int)(kernel), #own)
EQUAL(PEERLANE_WORK_PUT, PEERLANE_OP_PUT);
EQUAL(PEERLANE_WORK_GET, PEERLANE_OP_GET);
EQUAL(PEERLANE_WORK_FLUSH, PEERLANE_OP_FLUSH);
EQUAL(PEERLANE_WORK_NOTIFY, PEERLANE_OP_NOTIFY);
EQUAL(PEERLANE_WORK_NOTIFYING, PEERLANE_OP_F_NOTIFY);
EQUAL(PEERLANE_WORK_QUIET, PEERLANE_OP_F_QUIET);
EQUAL(PEERLANE_WORK_LANE, PEERLANE_OP_F_LANE);
EQUAL(PEERLANE_BATCH_BUSY_POLL, PEERLANE_SUBMIT_BUSY_POLL);
EQUAL(PEERLANE_MAY_READ, PEERLANE_RIGHT_READ);
EQUAL(PEERLANE_MAY_WRITE, PEERLANE_RIGHT_WRITE);
EQUAL(PEERLANE_NOTICE_DONE, PEERLANE_RECORD_DONE);
EQUAL(PEERLANE_NOTICE_NOTIFY, PEERLANE_RECORD_NOTIFY);
EQUAL(PEERLANE_NOTICE_EXPOSED, PEERLANE_RECORD_EXPOSED);
EQUAL(PEERLANE_NOTICE_WITHDRAWN, PEERLANE_RECORD_WITHDRAWN);
EQUAL(PEERLANE_NOTICE_CONNECTED, PEERLANE_RECORD_CONNECTED);
EQUAL(PEERLANE_NOTICE_DISCONNECTED, PEERLANE_RECORD_DISCONNECTED);
EQUAL(PEERLANE_SECRET, PEERLANE_ENDPOINT_TOKEN_LEN);
_Static_assert(sizeof(struct peerlane_record) <= PEERLANE_NOTICE_ROOM, "");

/* ---- what is told ----------------------------------------------------------- */

static void from_record(struct peerlane_notice *notice,
			const struct peerlane_record *record)
{
	notice->type = record->type;
	notice->status = record->status;
	notice->cookie = record->cookie;
	notice->token = record->token;
	notice->length = record->length;
	notice->value = record->value;
	notice->rights = record->rights;
	notice->lane = record->lane;
}

/* Records of other kernels are shorter or longer: what is missing is zero. */
bool peerlane_notice_next(struct peerlane_notices *notices,
			  struct peerlane_notice *notice)
{
	struct peerlane_record record = { 0 };
	size_t used = notices->used, left, size;
	const char *at;

	if (used > notices->size)
		used = notices->size;
	if (notices->next >= used)
		return false;
	left = used - notices->next;
	at = (const char *)notices->buffer + notices->next;
	if (left < offsetof(struct peerlane_record, cookie)) {
		notices->next = used;
		return false;
	}
	memcpy(&record, at, offsetof(struct peerlane_record, cookie));
	size = record.size;
	if (size < offsetof(struct peerlane_record, cookie) || size > left) {
		notices->next = used;
		return false;
	}
	memcpy(&record, at, size < sizeof(record) ? size : sizeof(record));
	notices->next += size;
	from_record(notice, &record);
	return true;
}

const char *peerlane_notice_name(uint32_t type)
{
	static const char *const names[] = {
		[PEERLANE_NOTICE_DONE] = "done",
		[PEERLANE_NOTICE_NOTIFY] = "notify",
		[PEERLANE_NOTICE_EXPOSED] = "exposed",
		[PEERLANE_NOTICE_WITHDRAWN] = "withdrawn",
		[PEERLANE_NOTICE_CONNECTED] = "connected",
		[PEERLANE_NOTICE_DISCONNECTED] = "disconnected",
	};

	return type < sizeof(names) / sizeof(names[0]) && names[type] ?
	       names[type] : "unknown";
}

/* ---- begun ------------------------------------------------------------------ */

static int submit(const struct peerlane_endpoint *endpoint,
		  struct peerlane_batch *batch)
{
	struct peerlane_endpoint_submit arg = {
		.flags = batch->flags,
		.ops_ptr = (uintptr_t)batch->works,
		.count = batch->count,
		.op_size = sizeof(struct peerlane_work),
		.wait = batch->wait,
		.timeout_ns = batch->timeout,
	};
	struct peerlane_notices *notices = &batch->notices;
	int ret;

	if (notices->buffer) {
		arg.records_ptr = (uintptr_t)notices->buffer;
		arg.records_len = notices->size > INT32_MAX ? INT32_MAX :
				  (uint32_t)notices->size;
	}
	ret = pl_ioctl_once(endpoint->fd, PEERLANE_IOC_ENDPOINT_SUBMIT, &arg,
			    sizeof(arg), "submit");
	if (ret)
		return ret;
	if (arg.out_count > batch->count || arg.out_records_len > arg.records_len)
		return pl_fail_text(EPROTO, "submit: the kernel says %u of %u, %u bytes in room for %u",
				    arg.out_count, batch->count,
				    arg.out_records_len, arg.records_len);
	batch->begun = arg.out_count;
	notices->used = arg.out_records_len;
	notices->next = 0;
	return 0;
}

int peerlane_endpoint_submit(const struct peerlane_endpoint *endpoint,
			     struct peerlane_batch *batch)
{
	pl_clear();
	return submit(endpoint, batch);
}

static int submit_one(const struct peerlane_endpoint *endpoint,
		      const struct peerlane_work *work)
{
	struct peerlane_batch batch = { .works = work, .count = 1 };
	int ret;

	pl_clear();
	ret = submit(endpoint, &batch);
	if (!ret && batch.begun != 1)
		return pl_fail_text(EAGAIN, "submit: no room");
	return ret;
}

int peerlane_endpoint_put(const struct peerlane_endpoint *endpoint,
			  uint32_t slot, uint64_t offset, uint64_t length,
			  uint64_t token, uint64_t remote_offset,
			  uint64_t cookie)
{
	const struct peerlane_work work = {
		.code = PEERLANE_WORK_PUT, .slot = slot, .offset = offset,
		.length = length, .token = token,
		.remote_offset = remote_offset, .cookie = cookie,
	};

	return submit_one(endpoint, &work);
}

int peerlane_endpoint_get(const struct peerlane_endpoint *endpoint,
			  uint32_t slot, uint64_t offset, uint64_t length,
			  uint64_t token, uint64_t remote_offset,
			  uint64_t cookie)
{
	const struct peerlane_work work = {
		.code = PEERLANE_WORK_GET, .slot = slot, .offset = offset,
		.length = length, .token = token,
		.remote_offset = remote_offset, .cookie = cookie,
	};

	return submit_one(endpoint, &work);
}

int peerlane_endpoint_flush(const struct peerlane_endpoint *endpoint,
			    uint64_t cookie)
{
	const struct peerlane_work work = {
		.code = PEERLANE_WORK_FLUSH, .cookie = cookie,
	};

	return submit_one(endpoint, &work);
}

int peerlane_endpoint_notify(const struct peerlane_endpoint *endpoint,
			     uint64_t value, uint64_t cookie)
{
	const struct peerlane_work work = {
		.code = PEERLANE_WORK_NOTIFY, .value = value, .cookie = cookie,
	};

	return submit_one(endpoint, &work);
}

/* ---- waited for ------------------------------------------------------------- */

int peerlane_endpoint_wait(const struct peerlane_endpoint *endpoint, int timeout,
			   struct peerlane_notices *notices)
{
	struct pollfd file = { .fd = endpoint->fd, .events = POLLIN };
	ssize_t size;
	int ret;

	pl_clear();
	ret = poll(&file, 1, timeout);
	if (ret < 0)
		return pl_fail(errno, "wait");
	if (!ret)
		return pl_fail_text(EAGAIN, "wait: nothing came in time");
	size = read(endpoint->fd, notices->buffer, notices->size);
	if (size < 0)
		return pl_fail(errno, "wait");
	if (!size)
		return pl_fail_text(ENOTCONN, "wait: the connection has ended, and its last notice was taken");
	notices->used = (size_t)size;
	notices->next = 0;
	return 0;
}
