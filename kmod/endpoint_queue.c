// SPDX-License-Identifier: GPL-2.0
/*
 * Records. Each is made from what it tells of, which stays in the queue until
 * it is read: so none is lost, and the queue is bounded by depth, notify_depth
 * and the exposures that the peer may have.
 */
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "endpoint.h"

#define BATCH	16

void endpoint_queue(struct peerlane_endpoint *endpoint, struct endpoint_node *node)
{
	lockdep_assert_held(&endpoint->queue_lock);
	list_add_tail(&node->node, &endpoint->records);
	WRITE_ONCE(endpoint->record_count, endpoint->record_count + 1);
}

void endpoint_wake(struct peerlane_endpoint *endpoint, __poll_t events)
{
	if (wq_has_sleeper(&endpoint->wait))
		wake_up_poll(&endpoint->wait, events);
}

/* ---- what the link tells ---- */

void endpoint_op_free(struct endpoint_op *op)
{
	struct peerlane_endpoint *endpoint = op->endpoint;

	lockdep_assert_held(&endpoint->queue_lock);
	list_add(&op->node.node, &endpoint->free_ops);
	WRITE_ONCE(endpoint->free_count, endpoint->free_count + 1);
}

static void count(struct endpoint_op *op)
{
	struct peerlane_endpoint *endpoint = op->endpoint;

	if (op->status) {
		atomic64_inc(&endpoint->ops_failed);
		return;
	}
	atomic64_inc(&endpoint->ops_done);
	if (op->op.code == PEERLANE_OP_PUT)
		atomic64_add(op->op.length, &endpoint->bytes_put);
	else if (op->op.code == PEERLANE_OP_GET)
		atomic64_add(op->op.length, &endpoint->bytes_get);
}

void endpoint_op_ended(struct endpoint_op *op, int status)
{
	struct peerlane_endpoint *endpoint = op->endpoint;

	op->status = status;
	count(op);
	spin_lock(&endpoint->queue_lock);
	WRITE_ONCE(endpoint->outstanding, endpoint->outstanding - 1);
	if (op->quiet && !status)
		endpoint_op_free(op);
	else
		endpoint_queue(endpoint, &op->node);
	spin_unlock(&endpoint->queue_lock);
	endpoint_wake(endpoint, EPOLLIN | EPOLLOUT);
}

/* The link knows what failed, we know why. */
static int status_of(const struct endpoint_op *op)
{
	int status = op->op.work.status;

	if (status && op->slot && READ_ONCE(op->slot->revoked))
		return -ENODEV;
	if (status == -EACCES && op->op.grant &&
	    READ_ONCE(op->op.grant->withdrawn))
		return -ENOKEY;
	return status;
}

void endpoint_op_done(struct link_work *work)
{
	struct endpoint_op *op = container_of(work, struct endpoint_op, op.work);
	int status = status_of(op);

	link_op_end(op->endpoint->link, &op->op);
	if (op->op.grant)
		link_grant_put(op->op.grant);
	if (op->slot)
		atomic_dec(&op->slot->users);
	endpoint_op_ended(op, status);
}

/* There is room, as the peer had credit for it. */
void endpoint_notice(struct link *link, void *owner,
		     const struct link_notice *told)
{
	struct peerlane_endpoint *endpoint = owner;
	struct endpoint_notice *notice;

	spin_lock(&endpoint->queue_lock);
	notice = list_first_entry_or_null(&endpoint->free_notices,
					  struct endpoint_notice, node.node);
	if (notice) {
		list_del_init(&notice->node.node);
		notice->notice = *told;
		endpoint_queue(endpoint, &notice->node);
	}
	spin_unlock(&endpoint->queue_lock);
	if (!notice)
		link_kill(link, -EPROTO, -ECANCELED,
			  "the peer sent more notices than it may");
	else
		endpoint_wake(endpoint, EPOLLIN);
}

int endpoint_exposed(struct link *link, void *owner, struct link_grant *grant)
{
	struct peerlane_endpoint *endpoint = owner;
	struct endpoint_grant *own = kzalloc(sizeof(*own), GFP_KERNEL_ACCOUNT);

	if (!own) {
		link_grant_put(grant);
		return -ENOMEM;
	}
	own->exposed.type = PEERLANE_RECORD_EXPOSED;
	own->withdrawn.type = PEERLANE_RECORD_WITHDRAWN;
	own->grant = grant;
	grant->owner = own;
	spin_lock(&endpoint->queue_lock);
	list_add_tail(&own->node, &endpoint->grants);
	endpoint_queue(endpoint, &own->exposed);
	spin_unlock(&endpoint->queue_lock);
	endpoint_wake(endpoint, EPOLLIN);
	return 0;
}

void endpoint_withdrawn(struct link *link, void *owner, struct link_grant *grant)
{
	struct peerlane_endpoint *endpoint = owner;
	struct endpoint_grant *own = grant->owner;

	spin_lock(&endpoint->queue_lock);
	endpoint_queue(endpoint, &own->withdrawn);
	spin_unlock(&endpoint->queue_lock);
	endpoint_wake(endpoint, EPOLLIN);
}

void endpoint_room(struct link *link, void *owner)
{
	endpoint_wake(owner, EPOLLOUT);
}

/* ---- one record ---- */

static void fill_done(const struct endpoint_op *op, struct peerlane_record *record)
{
	record->status = op->status;
	record->cookie = op->cookie;
	record->length = op->op.length;
	record->lane = op->lane;
}

static void fill_notice(const struct link_notice *notice,
			struct peerlane_record *record)
{
	record->token = notice->token;
	record->length = notice->length;
	record->value = notice->value;
	record->lane = notice->lane;
}

static void fill_grant(const struct link_grant *grant,
		       struct peerlane_record *record)
{
	record->token = grant->token;
	record->length = grant->geometry.length;
	record->value = grant->value;
	record->rights = grant->rights;
}

static void fill(const struct peerlane_endpoint *endpoint,
		 const struct endpoint_node *node, struct peerlane_record *record)
{
	*record = (struct peerlane_record){
		.size = sizeof(*record),
		.type = node->type,
	};
	switch (node->type) {
	case PEERLANE_RECORD_DONE:
		fill_done(container_of(node, struct endpoint_op, node), record);
		break;
	case PEERLANE_RECORD_NOTIFY:
		fill_notice(&container_of(node, struct endpoint_notice,
					  node)->notice, record);
		break;
	case PEERLANE_RECORD_EXPOSED:
		fill_grant(container_of(node, struct endpoint_grant,
					exposed)->grant, record);
		break;
	case PEERLANE_RECORD_WITHDRAWN:
		fill_grant(container_of(node, struct endpoint_grant,
					withdrawn)->grant, record);
		break;
	case PEERLANE_RECORD_DISCONNECTED:
		record->status = endpoint->status;
		break;
	}
}

/* ---- what was read goes back to where it came from ---- */

static void forget(struct peerlane_endpoint *endpoint, struct endpoint_grant *own)
{
	spin_lock(&endpoint->queue_lock);
	list_del_init(&own->node);
	spin_unlock(&endpoint->queue_lock);
	link_grant_forget(endpoint->link, own->grant);
	kfree(own);
}

/* Returns 1 for a notice. */
static u32 retire(struct peerlane_endpoint *endpoint, struct endpoint_node *node)
{
	bool is_op = node->type == PEERLANE_RECORD_DONE;
	bool is_notice = node->type == PEERLANE_RECORD_NOTIFY;

	if (node->type == PEERLANE_RECORD_WITHDRAWN)
		forget(endpoint, container_of(node, struct endpoint_grant,
					      withdrawn));
	else if (node->type == PEERLANE_RECORD_DISCONNECTED)
		WRITE_ONCE(endpoint->told_end, true);
	if (!is_op && !is_notice)
		return 0;
	spin_lock(&endpoint->queue_lock);
	if (is_op)
		endpoint_op_free(container_of(node, struct endpoint_op, node));
	else
		list_add(&node->node, &endpoint->free_notices);
	spin_unlock(&endpoint->queue_lock);
	return is_notice;
}

static void retire_all(struct peerlane_endpoint *endpoint, struct list_head *nodes)
{
	struct endpoint_node *node, *next;
	u32 notices = 0;
	bool ops = false;

	list_for_each_entry_safe(node, next, nodes, node) {
		list_del_init(&node->node);
		ops |= node->type == PEERLANE_RECORD_DONE;
		notices += retire(endpoint, node);
	}
	if (notices)
		link_notices_read(endpoint->link, notices);
	if (ops)
		endpoint_wake(endpoint, EPOLLOUT);
}

/* ---- read ---- */

static u32 take(struct peerlane_endpoint *endpoint, u32 most,
		struct list_head *nodes)
{
	u32 count = 0;

	spin_lock(&endpoint->queue_lock);
	while (count < most && !list_empty(&endpoint->records)) {
		list_move_tail(endpoint->records.next, nodes);
		count++;
	}
	WRITE_ONCE(endpoint->record_count, endpoint->record_count - count);
	spin_unlock(&endpoint->queue_lock);
	return count;
}

static void give_back(struct peerlane_endpoint *endpoint, u32 count,
		      struct list_head *nodes)
{
	spin_lock(&endpoint->queue_lock);
	list_splice_init(nodes, &endpoint->records);
	WRITE_ONCE(endpoint->record_count, endpoint->record_count + count);
	spin_unlock(&endpoint->queue_lock);
}

/* Bytes, 0: none there, or -EFAULT with the records back in the queue. */
static ssize_t read_batch(struct peerlane_endpoint *endpoint,
			  struct iov_iter *to)
{
	u32 most = iov_iter_count(to) / sizeof(struct peerlane_record);
	struct peerlane_record records[BATCH];
	struct endpoint_node *node;
	LIST_HEAD(nodes);
	u32 i = 0, count;
	size_t bytes;

	lockdep_assert_held(&endpoint->read_lock);
	count = take(endpoint, min_t(u32, most, BATCH), &nodes);
	bytes = count * sizeof(records[0]);
	list_for_each_entry(node, &nodes, node)
		fill(endpoint, node, &records[i++]);
	if (copy_to_iter(records, bytes, to) != bytes) {
		give_back(endpoint, count, &nodes);
		return -EFAULT;
	}
	retire_all(endpoint, &nodes);
	return bytes;
}

ssize_t endpoint_read_records(struct peerlane_endpoint *endpoint,
			      struct iov_iter *to, bool nowait)
{
	size_t done = 0;
	ssize_t got = 0;

	if (!nowait)
		mutex_lock(&endpoint->read_lock);
	else if (!mutex_trylock(&endpoint->read_lock))
		return -EAGAIN;
	while (iov_iter_count(to) >= sizeof(struct peerlane_record)) {
		got = read_batch(endpoint, to);
		if (got <= 0)
			break;
		done += got;
	}
	mutex_unlock(&endpoint->read_lock);
	return done ?: got;
}

/* The link of one that is, or was, connected stays. */
void endpoint_hear(struct peerlane_endpoint *endpoint)
{
	if (endpoint_state(endpoint) == PEERLANE_ENDPOINT_CONNECTED)
		link_hear(endpoint->link);
}

static bool may_read(struct peerlane_endpoint *endpoint)
{
	return READ_ONCE(endpoint->record_count) ||
	       READ_ONCE(endpoint->told_end);
}

ssize_t endpoint_read(struct kiocb *iocb, struct iov_iter *to)
{
	struct peerlane_endpoint *endpoint = iocb->ki_filp->private_data;
	bool nowait = iocb->ki_flags & IOCB_NOWAIT;
	ssize_t got;

	if (iov_iter_count(to) < sizeof(struct peerlane_record))
		return -EINVAL;
	for (;;) {
		got = endpoint_read_records(endpoint, to, nowait);
		if (got || READ_ONCE(endpoint->told_end))
			return got;
		if (nowait || (iocb->ki_filp->f_flags & O_NONBLOCK))
			return -EAGAIN;
		endpoint_hear(endpoint);
		if (wait_event_interruptible(endpoint->wait, may_read(endpoint)))
			return -ERESTARTSYS;
	}
}

__poll_t endpoint_poll(struct file *file, poll_table *table)
{
	struct peerlane_endpoint *endpoint = file->private_data;
	u32 state;
	__poll_t events = 0;

	poll_wait(file, &endpoint->wait, table);
	endpoint_hear(endpoint);
	state = endpoint_state(endpoint);
	if (may_read(endpoint) || !list_empty_careful(&endpoint->ready))
		events |= EPOLLIN | EPOLLRDNORM;
	if (state == PEERLANE_ENDPOINT_CONNECTED &&
	    READ_ONCE(endpoint->free_count))
		events |= EPOLLOUT | EPOLLWRNORM;
	if (state == PEERLANE_ENDPOINT_CLOSED)
		events |= EPOLLHUP | EPOLLRDHUP;
	return events;
}

/* ---- end ---- */

void endpoint_drop_records(struct peerlane_endpoint *endpoint)
{
	struct endpoint_grant *own, *next;
	LIST_HEAD(nodes);

	take(endpoint, U32_MAX, &nodes);
	retire_all(endpoint, &nodes);
	list_for_each_entry_safe(own, next, &endpoint->grants, node)
		forget(endpoint, own);
}
