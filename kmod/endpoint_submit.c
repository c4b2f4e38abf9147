// SPDX-License-Identifier: GPL-2.0
/* SUBMIT: operations are taken in, and records waited for. */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "endpoint_op.h"

#define BATCH	8
#define MAX_OPS	4096

/* ---- the operations ---- */

static int copy_ops(const struct peerlane_endpoint_submit *args, u32 first,
		    struct peerlane_op *ops, u32 count)
{
	void __user *from = u64_to_user_ptr(args->ops_ptr) +
			    (size_t)first * args->op_size;
	u32 i;
	int ret = 0;

	if (args->op_size == sizeof(*ops))
		return copy_from_user(ops, from, count * sizeof(*ops)) ?
		       -EFAULT : 0;
	for (i = 0; !ret && i < count; i++, from += args->op_size)
		ret = copy_struct_from_user(&ops[i], sizeof(*ops), from,
					    args->op_size);
	return ret;
}

static int begin_all(struct peerlane_endpoint *endpoint,
		     struct peerlane_endpoint_submit *args, bool nowait,
		     struct peerlane_msg *msg)
{
	struct endpoint_batch batch = {
		.endpoint = endpoint,
		.msg = msg,
		.nowait = nowait,
	};
	struct peerlane_op ops[BATCH];
	u32 count;
	int ret = 0;

	while (!ret && args->out_count < args->count) {
		count = min_t(u32, args->count - args->out_count, BATCH);
		ret = copy_ops(args, args->out_count, ops, count);
		if (!ret)
			args->out_count += endpoint_begin(&batch, ops, count, &ret);
	}
	endpoint_push(&batch);
	if (batch.grant)
		link_grant_put(batch.grant);
	return args->out_count ? 0 : ret;
}

/* ---- the wait ---- */

static bool is_enough(struct peerlane_endpoint *endpoint, u32 wait)
{
	return READ_ONCE(endpoint->record_count) >= wait ||
	       READ_ONCE(endpoint->told_end) ||
	       endpoint_state(endpoint) == PEERLANE_ENDPOINT_CLOSED;
}

static void spin(struct peerlane_endpoint *endpoint, u32 wait, ktime_t end)
{
	struct link *link = endpoint->link;

	link_spin_begin(link);
	while (!is_enough(endpoint, wait) && !signal_pending(current) &&
	       ktime_before(ktime_get(), end)) {
		if (!link_poll_now(link))
			cpu_relax();
		cond_resched();
	}
	link_spin_end(link);
}

/* In both queues: another may look at completions too, and make the records. */
static void doze(struct peerlane_endpoint *endpoint, u32 wait, ktime_t end)
{
	struct link *link = endpoint->link;
	struct wait_queue_entry completions;
	DECLARE_WAITQUEUE(records, current);
	ktime_t *until = end == KTIME_MAX ? NULL : &end;
	bool in_time = true;

	add_wait_queue(&endpoint->wait, &records);
	link_doze_begin(link, &completions);
	while (in_time && !is_enough(endpoint, wait) && !signal_pending(current)) {
		if (link_is_stirred(link))
			link_look(link);
		set_current_state(TASK_INTERRUPTIBLE);
		if (!is_enough(endpoint, wait) && !link_is_stirred(link))
			schedule_hrtimeout(until, HRTIMER_MODE_ABS);
		__set_current_state(TASK_RUNNING);
		in_time = !until || ktime_before(ktime_get(), end);
		cond_resched();
	}
	link_doze_end(link, &completions);
	remove_wait_queue(&endpoint->wait, &records);
}

static u32 wanted(const struct peerlane_endpoint_submit *args)
{
	if (!args->records_ptr)
		return 0;
	return min_t(u32, args->wait,
		     args->records_len / sizeof(struct peerlane_record));
}

/* Operations that are begun cannot be begun again: so it is asked before. */
static bool would_wait(struct peerlane_endpoint *endpoint,
		       const struct peerlane_endpoint_submit *args)
{
	u32 wait = wanted(args);

	return wait && (args->count || !is_enough(endpoint, wait));
}

static void wait_records(struct peerlane_endpoint *endpoint,
			 const struct peerlane_endpoint_submit *args)
{
	u32 wait = wanted(args);
	ktime_t end = KTIME_MAX;

	if (is_enough(endpoint, wait))
		return;
	if (args->timeout_ns >= 0)
		end = ktime_add_safe(ktime_get(), ns_to_ktime(args->timeout_ns));
	if (endpoint_state(endpoint) != PEERLANE_ENDPOINT_CONNECTED)
		wait_event_interruptible_hrtimeout(endpoint->wait,
						   is_enough(endpoint, wait),
						   args->timeout_ns < 0 ?
						   KTIME_MAX :
						   ns_to_ktime(args->timeout_ns));
	else if (args->flags & PEERLANE_SUBMIT_BUSY_POLL)
		spin(endpoint, wait, end);
	/* What is there already needs nobody to be woken. */
	else if (!link_poll_now(endpoint->link) || !is_enough(endpoint, wait))
		doze(endpoint, wait, end);
}

/* What was begun has to be told, whatever comes of the records. */
static int take_records(struct peerlane_endpoint *endpoint,
			struct peerlane_endpoint_submit *args, bool nowait)
{
	struct iov_iter to;
	ssize_t got;

	if (!nowait)
		wait_records(endpoint, args);
	iov_iter_ubuf(&to, ITER_DEST, u64_to_user_ptr(args->records_ptr),
		      args->records_len);
	got = endpoint_read_records(endpoint, &to, nowait);
	if (got < 0)
		return args->out_count ? 0 : got;
	args->out_records_len = got;
	return 0;
}

int endpoint_submit(struct peerlane_endpoint *endpoint,
		    struct peerlane_endpoint_submit *args, bool nowait,
		    struct peerlane_msg *msg)
{
	int ret;

	if (args->count > MAX_OPS)
		return peerlane_refuse(msg, -EINVAL, "count %u is more than %u",
				       args->count, MAX_OPS);
	if (args->count &&
	    (args->op_size < offsetofend(struct peerlane_op, reserved) ||
	     args->op_size > PAGE_SIZE))
		return peerlane_refuse(msg, -EINVAL, "op_size %u", args->op_size);
	args->out_count = 0;
	args->out_records_len = 0;
	if (nowait && would_wait(endpoint, args))
		return -EAGAIN;
	ret = begin_all(endpoint, args, nowait, msg);
	if (ret || !args->records_ptr)
		return ret;
	return take_records(endpoint, args, nowait);
}
