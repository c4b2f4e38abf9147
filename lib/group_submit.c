// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Operations of groups: begun. How their ends are told is in group_wait.c. */
#include <errno.h>
#include <stdlib.h>

#include <uapi/peerlane_reduce.h>

#include "group_wait.h"

/* An array of the one goes to the kernel as an array of the other. */
#define SAME(a)								\
	_Static_assert(offsetof(struct peerlane_collective, a) ==	\
		       offsetof(struct peerlane_group_op, a), #a)
_Static_assert(sizeof(struct peerlane_collective) ==
	       sizeof(struct peerlane_group_op), "");
SAME(kind);
SAME(type);
SAME(op);
SAME(flags);
SAME(root);
SAME(count);
SAME(send_slot);
SAME(receive_slot);
SAME(send_offset);
SAME(receive_offset);
SAME(cookie);
#define EQUAL(own, kernel) _Static_assert((int)(own) == (int)(kernel), #own)
EQUAL(PEERLANE_ALL_REDUCE, PEERLANE_GROUP_ALL_REDUCE);
EQUAL(PEERLANE_REDUCE_SCATTER, PEERLANE_GROUP_REDUCE_SCATTER);
EQUAL(PEERLANE_ALL_GATHER, PEERLANE_GROUP_ALL_GATHER);
EQUAL(PEERLANE_REDUCE, PEERLANE_GROUP_REDUCE);
EQUAL(PEERLANE_BROADCAST, PEERLANE_GROUP_BROADCAST);
EQUAL(PEERLANE_BARRIER, PEERLANE_GROUP_BARRIER);
EQUAL(PEERLANE_F32, PEERLANE_TYPE_F32);
EQUAL(PEERLANE_F64, PEERLANE_TYPE_F64);
EQUAL(PEERLANE_F16, PEERLANE_TYPE_F16);
EQUAL(PEERLANE_BF16, PEERLANE_TYPE_BF16);
EQUAL(PEERLANE_I8, PEERLANE_TYPE_I8);
EQUAL(PEERLANE_I16, PEERLANE_TYPE_I16);
EQUAL(PEERLANE_I32, PEERLANE_TYPE_I32);
EQUAL(PEERLANE_I64, PEERLANE_TYPE_I64);
EQUAL(PEERLANE_U8, PEERLANE_TYPE_U8);
EQUAL(PEERLANE_U16, PEERLANE_TYPE_U16);
EQUAL(PEERLANE_U32, PEERLANE_TYPE_U32);
EQUAL(PEERLANE_U64, PEERLANE_TYPE_U64);
EQUAL(PEERLANE_SUM, PEERLANE_REDUCE_SUM);
EQUAL(PEERLANE_AVG, PEERLANE_REDUCE_AVG);
EQUAL(PEERLANE_MIN, PEERLANE_REDUCE_MIN);
EQUAL(PEERLANE_MAX, PEERLANE_REDUCE_MAX);
EQUAL(PEERLANE_PROD, PEERLANE_REDUCE_PROD);
EQUAL(PEERLANE_BAND, PEERLANE_REDUCE_BAND);
EQUAL(PEERLANE_BOR, PEERLANE_REDUCE_BOR);
EQUAL(PEERLANE_BXOR, PEERLANE_REDUCE_BXOR);

#define LIST_MOST	4096

/* ---- what the kernel is told -------------------------------------------------- */

/* Begin @call->list, and take records; without the lock. */
int pl_group_call(const struct peerlane_group *group, struct pl_group_call *call)
{
	struct peerlane_group_submit arg = {
		.ops_ptr = (uintptr_t)call->list,
		.count = call->count,
		.op_size = sizeof(struct peerlane_collective),
		.wait = call->wait,
		.timeout_ns = call->timeout,
	};
	int ret;

	if (call->takes) {
		arg.records_ptr = (uintptr_t)call->records;
		arg.records_len = sizeof(call->records);
	}
	ret = pl_ioctl_once(group->fd, PEERLANE_IOC_GROUP_SUBMIT, &arg,
			    sizeof(arg), "submit");
	if (ret)
		return ret;
	if (arg.out_count > call->count || arg.out_records_len > arg.records_len)
		return pl_fail_text(EPROTO, "submit: the kernel says %u of %u, %u bytes in room for %u",
				    arg.out_count, call->count,
				    arg.out_records_len, arg.records_len);
	call->begun = arg.out_count;
	call->used = arg.out_records_len;
	return 0;
}

/* ---- what the library remembers; lock held --------------------------------------- */

static int remember(struct peerlane_group *group, uint64_t cookie)
{
	struct pl_group_task *task = pl_group_task(group, cookie);

	if (task)
		return pl_fail_text(EEXIST, "the end of another operation with cookie %llu was not taken yet",
				    (unsigned long long)cookie);
	task = pl_group_task_new(group, PEERLANE_GROUP_EVENT_DONE);
	if (!task)
		return pl_fail(ENOMEM, "submit");
	task->event.cookie = cookie;
	return 0;
}

/* The last @count that were remembered */
static void forget(struct peerlane_group *group,
		   const struct peerlane_collective *list, uint32_t count)
{
	struct pl_group_task *task;
	uint32_t i;

	for (i = 0; i < count; i++) {
		task = pl_group_task(group, list[i].cookie);
		if (task)
			pl_group_task_free(group, task);
	}
}

/* All or none */
static int remember_all(struct peerlane_group *group,
			const struct peerlane_collective *list, uint32_t count)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < count; i++) {
		ret = remember(group, list[i].cookie);
		if (ret)
			break;
	}
	if (ret)
		forget(group, list, i);
	return ret;
}

/* ---- calls ------------------------------------------------------------------------ */

static int begin(struct peerlane_group *group,
		 const struct peerlane_collective *list, uint32_t count)
{
	int ret;

	if (count > LIST_MOST)
		return pl_fail_text(EINVAL, "submit: %u operations, %d is the most",
				    count, LIST_MOST);
	pthread_mutex_lock(&group->lock);
	ret = remember_all(group, list, count);
	pthread_mutex_unlock(&group->lock);
	return ret;
}

/* What the kernel did not begin is not waited for. */
static void begun(struct peerlane_group *group,
		  const struct peerlane_collective *list, uint32_t count,
		  uint32_t done)
{
	pthread_mutex_lock(&group->lock);
	forget(group, list + done, count - done);
	pthread_mutex_unlock(&group->lock);
}

int peerlane_group_submit(struct peerlane_group *group,
			  const struct peerlane_collective *list,
			  uint32_t count, uint32_t *done)
{
	struct pl_group_call call = { .list = list, .count = count };
	int ret;

	pl_clear();
	ret = begin(group, list, count);
	if (ret)
		return ret;
	ret = pl_group_call(group, &call);
	begun(group, list, count, ret ? 0 : call.begun);
	if (!ret && !done && call.begun != count)
		return pl_fail_text(EAGAIN, "submit: %u of %u operations were begun",
				    call.begun, count);
	if (!ret && done)
		*done = call.begun;
	return ret;
}

int peerlane_group_run(struct peerlane_group *group,
		       const struct peerlane_collective *operation)
{
	int ret;

	pl_clear();
	ret = begin(group, operation, 1);
	if (ret)
		return ret;
	ret = pl_group_run(group, operation);
	if (ret) {
		begun(group, operation, 1, 0);
		return ret;
	}
	return peerlane_group_wait(group, operation->cookie, -1);
}
