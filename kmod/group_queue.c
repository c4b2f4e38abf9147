// SPDX-License-Identifier: GPL-2.0
/*
 * Records of group files. Each is made from what it tells of, which stays in the
 * queue until it is read: none is lost, and depth bounds the queue.
 */
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "group.h"

#define BATCH	16

void group_queue_record(struct peerlane_group *group, struct group_node *node)
{
	lockdep_assert_held(&group->queue_lock);
	list_add_tail(&node->node, &group->records);
	WRITE_ONCE(group->record_count, group->record_count + 1);
}

void group_wake(struct peerlane_group *group, __poll_t events)
{
	if (wq_has_sleeper(&group->wait))
		wake_up_poll(&group->wait, events);
}

/* ---- one record ---- */

static void fill_fault(const struct peerlane_group *group,
		       struct peerlane_group_record *record)
{
	record->rank = group->fault.rank;
	record->cause = group->fault.cause;
}

static void fill_done(const struct peerlane_group *group,
		      const struct group_task *task,
		      struct peerlane_group_record *record)
{
	record->status = task->status;
	record->cookie = task->cookie;
	record->seq = task->op.seq;
	if (task->status)
		fill_fault(group, record);
}

static void fill(const struct peerlane_group *group,
		 const struct group_node *node,
		 struct peerlane_group_record *record)
{
	*record = (struct peerlane_group_record){
		.size = sizeof(*record),
		.type = node->type,
		.rank = PEERLANE_RANK_NONE,
	};
	if (node->type == PEERLANE_GROUP_RECORD_DONE) {
		fill_done(group, container_of(node, struct group_task, record),
			  record);
	} else if (node->type == PEERLANE_GROUP_RECORD_ENDED) {
		record->status = group->status;
		fill_fault(group, record);
	}
}

/* ---- what was read goes back to where it came from ---- */

static void retire(struct peerlane_group *group, struct list_head *nodes)
{
	struct group_node *node, *next;

	spin_lock(&group->queue_lock);
	list_for_each_entry_safe(node, next, nodes, node) {
		list_del_init(&node->node);
		if (node->type == PEERLANE_GROUP_RECORD_ENDED)
			WRITE_ONCE(group->told_end, true);
		if (node->type != PEERLANE_GROUP_RECORD_DONE)
			continue;
		list_add(&node->node, &group->free_tasks);
		WRITE_ONCE(group->free_count, group->free_count + 1);
	}
	spin_unlock(&group->queue_lock);
	group_wake(group, EPOLLOUT);
}

/* ---- read ---- */

static u32 take(struct peerlane_group *group, u32 most, struct list_head *nodes)
{
	u32 count = 0;

	spin_lock(&group->queue_lock);
	while (count < most && !list_empty(&group->records)) {
		list_move_tail(group->records.next, nodes);
		count++;
	}
	WRITE_ONCE(group->record_count, group->record_count - count);
	spin_unlock(&group->queue_lock);
	return count;
}

static void give_back(struct peerlane_group *group, u32 count,
		      struct list_head *nodes)
{
	spin_lock(&group->queue_lock);
	list_splice_init(nodes, &group->records);
	WRITE_ONCE(group->record_count, group->record_count + count);
	spin_unlock(&group->queue_lock);
}

/* Bytes, 0: none there, or -EFAULT with the records back in the queue. */
static ssize_t read_batch(struct peerlane_group *group, void __user *to, u32 most)
{
	struct peerlane_group_record records[BATCH];
	struct group_node *node;
	LIST_HEAD(nodes);
	u32 i = 0, count;

	lockdep_assert_held(&group->read_lock);
	count = take(group, min_t(u32, most, BATCH), &nodes);
	list_for_each_entry(node, &nodes, node)
		fill(group, node, &records[i++]);
	if (copy_to_user(to, records, count * sizeof(records[0]))) {
		give_back(group, count, &nodes);
		return -EFAULT;
	}
	if (count)
		retire(group, &nodes);
	return count * sizeof(records[0]);
}

ssize_t group_read_records(struct peerlane_group *group, void __user *to,
			   size_t size)
{
	size_t done = 0;
	ssize_t got = 0;

	mutex_lock(&group->read_lock);
	while (size - done >= sizeof(struct peerlane_group_record)) {
		got = read_batch(group, to + done, (size - done) /
				 sizeof(struct peerlane_group_record));
		if (got <= 0)
			break;
		done += got;
	}
	mutex_unlock(&group->read_lock);
	return done ?: got;
}

static bool may_read(struct peerlane_group *group)
{
	return READ_ONCE(group->record_count) || READ_ONCE(group->told_end);
}

ssize_t group_read(struct file *file, char __user *to, size_t size, loff_t *offset)
{
	struct peerlane_group *group = file->private_data;
	ssize_t got;

	if (size < sizeof(struct peerlane_group_record))
		return -EINVAL;
	for (;;) {
		got = group_read_records(group, to, size);
		if (got || READ_ONCE(group->told_end))
			return got;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(group->wait, may_read(group)))
			return -ERESTARTSYS;
	}
}

__poll_t group_poll(struct file *file, poll_table *table)
{
	struct peerlane_group *group = file->private_data;
	__poll_t events = 0;
	u32 state;

	poll_wait(file, &group->wait, table);
	state = group_state(group);
	if (may_read(group))
		events |= EPOLLIN | EPOLLRDNORM;
	if (state == PEERLANE_GROUP_JOINED && READ_ONCE(group->free_count))
		events |= EPOLLOUT | EPOLLWRNORM;
	if (state == PEERLANE_GROUP_ENDED)
		events |= EPOLLHUP | EPOLLRDHUP;
	return events;
}
