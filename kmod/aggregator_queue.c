// SPDX-License-Identifier: GPL-2.0
/* Records of aggregators: a ring, from which the oldest goes if nobody reads. */
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "aggregator.h"

#define BATCH	8

/* record_lock held. */
static struct peerlane_aggregator_record *
next_place(struct peerlane_aggregator *aggregator)
{
	u32 at = aggregator->first_record + aggregator->record_count;

	lockdep_assert_held(&aggregator->record_lock);
	if (aggregator->record_count < AGGREGATOR_RECORDS) {
		WRITE_ONCE(aggregator->record_count,
			   aggregator->record_count + 1);
	} else {
		aggregator->first_record++;
		aggregator->lost++;
	}
	return &aggregator->records[at % AGGREGATOR_RECORDS];
}

void aggregator_record(struct peerlane_aggregator *aggregator, u32 type,
		       const struct aggregator_group *group, int status)
{
	struct peerlane_aggregator_record record = {
		.size = sizeof(record),
		.type = type,
		.status = status,
		.rank = PEERLANE_RANK_NONE,
	};

	if (group) {
		record.group = group->shape.group;
		record.ranks = group->shape.size;
	}
	if (group && type == PEERLANE_AGGREGATOR_RECORD_ENDED) {
		record.cause = group->fault.cause;
		if (group->fault.cause)
			record.rank = group->fault.rank;
	}
	spin_lock(&aggregator->record_lock);
	*next_place(aggregator) = record;
	spin_unlock(&aggregator->record_lock);
	wake_up_all(&aggregator->wait);
}

static u32 peek(struct peerlane_aggregator *aggregator,
		struct peerlane_aggregator_record *records, u32 most, u32 *first)
{
	u32 i, count;

	spin_lock(&aggregator->record_lock);
	count = min(most, aggregator->record_count);
	*first = aggregator->first_record;
	for (i = 0; i < count; i++)
		records[i] = aggregator->records[(*first + i) %
						 AGGREGATOR_RECORDS];
	if (count)
		records[0].lost = aggregator->lost;
	spin_unlock(&aggregator->record_lock);
	return count;
}

/* What was read, unless it has gone meanwhile. */
static void drop(struct peerlane_aggregator *aggregator, u32 first, u32 count)
{
	u32 end = first + count;

	spin_lock(&aggregator->record_lock);
	/* Those that went beyond what was read just now are still to be told. */
	if (count)
		aggregator->lost = max_t(s32, 0, aggregator->first_record - end);
	for (; (s32)(end - aggregator->first_record) > 0 &&
	     aggregator->record_count; aggregator->first_record++)
		WRITE_ONCE(aggregator->record_count,
			   aggregator->record_count - 1);
	spin_unlock(&aggregator->record_lock);
}

static ssize_t read_some(struct peerlane_aggregator *aggregator,
			 char __user *to, size_t size)
{
	struct peerlane_aggregator_record records[BATCH];
	u32 count, first;
	int ret = 0;

	mutex_lock(&aggregator->read_lock);
	count = peek(aggregator, records,
		     min_t(size_t, size / sizeof(records[0]), BATCH), &first);
	if (copy_to_user(to, records, count * sizeof(records[0])))
		ret = -EFAULT;
	else
		drop(aggregator, first, count);
	mutex_unlock(&aggregator->read_lock);
	return ret ?: count * sizeof(records[0]);
}

ssize_t aggregator_read(struct file *file, char __user *to, size_t size,
			loff_t *offset)
{
	struct peerlane_aggregator *aggregator = file->private_data;
	ssize_t got;

	if (size < sizeof(struct peerlane_aggregator_record))
		return -EINVAL;
	for (;;) {
		got = read_some(aggregator, to, size);
		if (got)
			return got;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(aggregator->wait,
					     READ_ONCE(aggregator->record_count)))
			return -ERESTARTSYS;
	}
}

__poll_t aggregator_poll(struct file *file, poll_table *table)
{
	struct peerlane_aggregator *aggregator = file->private_data;
	__poll_t events = 0;

	poll_wait(file, &aggregator->wait, table);
	if (READ_ONCE(aggregator->record_count))
		events |= EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(aggregator->status))
		events |= EPOLLHUP;
	return events;
}
