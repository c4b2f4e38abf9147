// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * What groups tell, taken by one thread for all: who finds nobody else doing so
 * goes into the kernel for records, without the lock, keeps what concerns
 * others, and wakes them, of whom the next one goes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"
#include "group_wait.h"

#define EQUAL(own, kernel) _Static_assert((int)(own) == (int)(kernel), #own)
EQUAL(PEERLANE_GROUP_EVENT_JOINED, PEERLANE_GROUP_RECORD_JOINED);
EQUAL(PEERLANE_GROUP_EVENT_DONE, PEERLANE_GROUP_RECORD_DONE);
EQUAL(PEERLANE_GROUP_EVENT_ENDED, PEERLANE_GROUP_RECORD_ENDED);
_Static_assert(PEERLANE_NOBODY == PEERLANE_RANK_NONE, "");

#define TASKS_FIRST	16
#define TASKS_MOST	(1U << 20)	/* more than any kernel's depth */

/* ---- what is remembered; lock held ---------------------------------------------- */

struct pl_group_task *pl_group_task(struct peerlane_group *group,
				    uint64_t cookie)
{
	size_t i;

	for (i = 0; i < group->count; i++)
		if (group->tasks[i].event.type == PEERLANE_GROUP_EVENT_DONE &&
		    group->tasks[i].event.cookie == cookie)
			return &group->tasks[i];
	return NULL;
}

struct pl_group_task *pl_group_task_new(struct peerlane_group *group,
					uint32_t type)
{
	const struct pl_growth growth = { TASKS_FIRST, TASKS_MOST };
	struct pl_group_task *tasks;

	tasks = pl_grow(group->tasks, group->count, &group->room,
			sizeof(*tasks), growth);
	if (!tasks)
		return NULL;
	group->tasks = tasks;
	tasks += group->count++;
	*tasks = (struct pl_group_task){ .event = { .type = type } };
	return tasks;
}

void pl_group_task_free(struct peerlane_group *group,
			struct pl_group_task *task)
{
	*task = group->tasks[--group->count];
}

static struct pl_group_task *first_ended(struct peerlane_group *group)
{
	struct pl_group_task *first = NULL;
	size_t i;

	for (i = 0; i < group->count; i++)
		if (group->tasks[i].order &&
		    (!first || group->tasks[i].order < first->order))
			first = &group->tasks[i];
	return first;
}

/* ---- what the kernel told; lock held ----------------------------------------------- */

/* Nothing else comes: who still waits is not left to. */
static void end_all(struct peerlane_group *group, int status)
{
	size_t i;

	group->is_over = true;
	for (i = 0; i < group->count; i++) {
		if (group->tasks[i].order)
			continue;
		group->tasks[i].event.status = status ? status : -ENOTCONN;
		group->tasks[i].order = ++group->orders;
	}
}

static void keep(struct peerlane_group *group,
		 const struct peerlane_group_record *record)
{
	struct pl_group_task *task;

	if (record->type == PEERLANE_GROUP_RECORD_ENDED)
		end_all(group, record->status);
	if (record->type == PEERLANE_GROUP_RECORD_DONE)
		task = pl_group_task(group, record->cookie);
	else if (record->type == PEERLANE_GROUP_RECORD_JOINED ||
		 record->type == PEERLANE_GROUP_RECORD_ENDED)
		task = pl_group_task_new(group, record->type);
	else
		return;		/* of a newer kernel */
	if (!task || task->order)
		return;
	task->event.status = record->status;
	task->event.sequence = record->seq;
	task->event.rank = record->rank;
	task->event.cause = record->cause;
	task->order = ++group->orders;
}

/* Records of other kernels are shorter or longer: what is missing is zero. */
static void keep_all(struct peerlane_group *group,
		     const struct pl_group_call *call)
{
	const char *at = (const char *)call->records;
	size_t left = call->used, size;

	while (left >= offsetof(struct peerlane_group_record, cookie)) {
		struct peerlane_group_record record = { 0 };

		memcpy(&record, at, offsetof(struct peerlane_group_record, cookie));
		size = record.size;
		if (size < offsetof(struct peerlane_group_record, cookie) ||
		    size > left)
			return;
		memcpy(&record, at, size < sizeof(record) ? size :
							    sizeof(record));
		keep(group, &record);
		at += size;
		left -= size;
	}
}

/* ---- waiting ---------------------------------------------------------------------------- */

/* Another thread takes records: until it has, or until @end. Lock held. */
static int wait_reader(struct peerlane_group *group, int64_t end)
{
	struct timespec time = { .tv_sec = (time_t)(end / PL_CLOCK_SECOND),
				 .tv_nsec = (long)(end % PL_CLOCK_SECOND) };

	if (end < 0)
		return -pthread_cond_wait(&group->read, &group->lock);
	if (!pthread_cond_timedwait(&group->read, &group->lock, &time))
		return 0;
	return pl_fail_text(EAGAIN, "wait: nothing came in time");
}

/* Lock held, but not meanwhile. */
static int read_some(struct peerlane_group *group, struct pl_group_call *call)
{
	int ret;

	group->has_reader = true;
	pthread_mutex_unlock(&group->lock);
	ret = pl_group_call(group, call);
	pthread_mutex_lock(&group->lock);
	group->has_reader = false;
	if (!ret)
		keep_all(group, call);
	pthread_cond_broadcast(&group->read);
	return ret;
}

/* 0: look again. Lock held. */
static int wait_more(struct peerlane_group *group, int64_t end)
{
	struct pl_group_call call = { .takes = true, .wait = 1 };
	int ret;

	if (group->is_over)
		return pl_fail_text(ENOTCONN, "wait: the group has ended");
	if (group->has_reader)
		return wait_reader(group, end);
	call.timeout = pl_clock_left(end);
	ret = read_some(group, &call);
	if (ret || call.used)
		return ret;
	if (!pl_clock_left(end))
		return pl_fail_text(EAGAIN, "wait: nothing came in time");
	return pl_fail_text(EINTR, "wait: a signal came");
}

/* Lock held. */
static int until_ended(struct peerlane_group *group, uint64_t cookie,
		       int64_t end, struct peerlane_group_event *event)
{
	struct pl_group_task *task;
	int ret;

	for (;;) {
		task = pl_group_task(group, cookie);
		if (!task)
			return pl_fail_text(ENOENT, "no operation has the cookie %llu, or its end was taken already",
					    (unsigned long long)cookie);
		if (task->order)
			break;
		ret = wait_more(group, end);
		if (ret)
			return ret;
	}
	*event = task->event;
	pl_group_task_free(group, task);
	return 0;
}

/* Why it failed; the group's end has the words, as an operation ends with it. */
static int failed(const struct peerlane_group *group,
		  const struct peerlane_group_event *event)
{
	int err = event->status < 0 && event->status > -4096 ? -event->status :
							      EPROTO;
	struct peerlane_group_info info;
	char rank[24] = "";

	if (!pl_group_info(group->fd, &info) && *info.text)
		return pl_fail_text(err, "operation %llu: %.*s",
				    (unsigned long long)event->sequence,
				    (int)sizeof(info.text), info.text);
	if (event->rank != PEERLANE_NOBODY)
		snprintf(rank, sizeof(rank), ", rank %u", event->rank);
	return pl_fail(err, "operation %llu%s",
		       (unsigned long long)event->sequence, rank);
}

/* ---- calls -------------------------------------------------------------------------------- */

int pl_group_run(struct peerlane_group *group,
		 const struct peerlane_collective *operation)
{
	struct pl_group_call call = {
		.list = operation, .count = 1, .takes = true, .wait = 1,
		.timeout = -1,
	};
	int ret;

	pthread_mutex_lock(&group->lock);
	if (!group->has_reader) {
		ret = read_some(group, &call);
		pthread_mutex_unlock(&group->lock);
	} else {
		pthread_mutex_unlock(&group->lock);
		call.takes = false;
		call.wait = 0;
		ret = pl_group_call(group, &call);
	}
	if (!ret && !call.begun)
		ret = pl_fail_text(EAGAIN, "submit: no room");
	return ret;
}

int peerlane_group_wait(struct peerlane_group *group, uint64_t cookie,
			int timeout)
{
	struct peerlane_group_event event;
	int ret;

	pl_clear();
	pthread_mutex_lock(&group->lock);
	ret = until_ended(group, cookie, pl_clock_end(timeout), &event);
	pthread_mutex_unlock(&group->lock);
	if (ret)
		return ret;
	if (event.status)
		return failed(group, &event);
	pl_clear();
	return 0;
}

int peerlane_group_test(struct peerlane_group *group, uint64_t cookie)
{
	return peerlane_group_wait(group, cookie, 0);
}

int peerlane_group_next(struct peerlane_group *group, int timeout,
			struct peerlane_group_event *event)
{
	int64_t end = pl_clock_end(timeout);
	struct pl_group_task *task;
	int ret = 0;

	pl_clear();
	pthread_mutex_lock(&group->lock);
	for (task = first_ended(group); !ret && !task;
	     task = first_ended(group))
		ret = wait_more(group, end);
	if (!ret) {
		*event = task->event;
		pl_group_task_free(group, task);
	}
	pthread_mutex_unlock(&group->lock);
	return ret;
}
