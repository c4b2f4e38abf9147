// SPDX-License-Identifier: GPL-2.0
/* SUBMIT: operations are taken in, and records waited for. */
#include <linux/ktime.h>
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "group.h"
#include "range.h"
#include "reduce.h"

#define MAX_OPS	4096

/* One operation on its way in. */
struct group_request {
	struct peerlane_group_op args;
	struct group_call call;
	u64 send_bytes;
	u64 receive_bytes;
	struct group_slot *send;
	struct group_slot *receive;
};

/* ---- what it is ---- */

static int check_form(const struct group_request *request,
		      struct peerlane_msg *msg)
{
	const struct peerlane_group_op *args = &request->args;

	if (args->kind < PEERLANE_GROUP_ALL_REDUCE ||
	    args->kind > PEERLANE_GROUP_BARRIER)
		return peerlane_refuse(msg, -EOPNOTSUPP, "unknown kind %u",
				       args->kind);
	if (args->flags)
		return peerlane_refuse(msg, -EOPNOTSUPP, "unknown flags %#x",
				       args->flags);
	return 0;
}

static int check_call(struct peerlane_group *group,
		      struct group_request *request, struct peerlane_msg *msg)
{
	const struct group_shape *shape = &group->streams.shape;
	const struct peerlane_group_op *args = &request->args;
	u32 rank = group->join.rank;
	int ret = check_form(request, msg);

	if (ret)
		return ret;
	request->call = (struct group_call){
		.kind = args->kind,
		.type = args->type,
		.op = args->op,
		.root = args->root,
		.count = args->count,
	};
	ret = group_call_check(shape, &request->call);
	if (ret == -EOVERFLOW)
		return peerlane_refuse(msg, ret, "count %llu is too much",
				       args->count);
	if (ret)
		return peerlane_refuse(msg, ret,
				       "kind %u, type %u, op %u and root %u do not go together",
				       args->kind, args->type, args->op,
				       args->root);
	request->send_bytes = group_call_send_bytes(shape, &request->call, rank);
	request->receive_bytes = group_call_receive_bytes(shape, &request->call,
							  rank);
	return 0;
}

/* ---- where it is; queue_lock held ---- */

static int check_slot(struct peerlane_group *group, u32 index, u64 offset,
		      u64 length, struct group_slot **found,
		      struct peerlane_msg *msg)
{
	struct group_slot *slot;

	if (!length)
		return 0;
	if (index >= group->slot_count)
		return peerlane_refuse(msg, -EINVAL, "slot %u: the group has %u",
				       index, group->slot_count);
	slot = &group->slots[array_index_nospec(index, group->slot_count)];
	if (READ_ONCE(slot->revoked))
		return peerlane_refuse(msg, -ENODEV,
				       "the region of slot %u is revoked", index);
	if (!slot->mapped)
		return peerlane_refuse(msg, -EINVAL, "slot %u is empty", index);
	if (peerlane_range_wraps(offset, length))
		return peerlane_refuse(msg, -EOVERFLOW,
				       "offset + length overflows");
	if (!peerlane_range_within(offset, length, slot->length))
		return peerlane_refuse(msg, -EINVAL,
				       "[%#llx, + %#llx) is beyond the %#llx bytes of slot %u",
				       offset, length, slot->length, index);
	*found = slot;
	return 0;
}

/* In place each byte of the result replaces what was given for it. */
static bool is_in_place(const struct peerlane_group *group,
			const struct group_request *request)
{
	u64 send = request->args.send_offset;
	u64 receive = request->args.receive_offset;
	u32 rank = group->join.rank;

	switch (request->call.kind) {
	case GROUP_ALL_GATHER:
		return send == receive + rank * request->send_bytes;
	case GROUP_REDUCE_SCATTER:
		return receive == send + rank * request->receive_bytes;
	default:
		return send == receive;
	}
}

static int check_overlap(const struct peerlane_group *group,
			 const struct group_request *request,
			 struct peerlane_msg *msg)
{
	u64 send = request->args.send_offset;
	u64 receive = request->args.receive_offset;

	if (!request->send || request->send != request->receive ||
	    send >= receive + request->receive_bytes ||
	    receive >= send + request->send_bytes ||
	    is_in_place(group, request))
		return 0;
	return peerlane_refuse(msg, -EINVAL,
			       "send and receive overlap, and are not in place");
}

static int check_slots(struct peerlane_group *group,
		       struct group_request *request, struct peerlane_msg *msg)
{
	const struct peerlane_group_op *args = &request->args;
	int ret;

	ret = check_slot(group, args->send_slot, args->send_offset,
			 request->send_bytes, &request->send, msg);
	if (!ret)
		ret = check_slot(group, args->receive_slot,
				 args->receive_offset, request->receive_bytes,
				 &request->receive, msg);
	if (!ret && request->receive && request->receive->read_only)
		ret = peerlane_refuse(msg, -EPERM, "slot %u is for reading only",
				      args->receive_slot);
	return ret ?: check_overlap(group, request, msg);
}

/* ---- in ---- */

static int take_task(struct peerlane_group *group, struct group_task **task,
		     struct peerlane_msg *msg)
{
	struct group_node *node;

	node = list_first_entry_or_null(&group->free_tasks, struct group_node,
					node);
	if (!node)
		return peerlane_refuse(msg, -EAGAIN,
				       "%u operations are outstanding, or their records unread",
				       group->depth);
	list_del_init(&node->node);
	WRITE_ONCE(group->free_count, group->free_count - 1);
	WRITE_ONCE(group->outstanding, group->outstanding + 1);
	*task = container_of(node, struct group_task, record);
	return 0;
}

static void fill_task(struct group_task *task, const struct group_request *request)
{
	const struct peerlane_group_op *args = &request->args;

	task->op = (struct group_op){ .call = request->call };
	task->cookie = args->cookie;
	task->send = request->send;
	task->receive = request->receive;
	task->send_offset = args->send_offset;
	task->receive_offset = args->receive_offset;
	task->posts = 0;
	task->over = false;
	task->status = 0;
	if (task->send)
		task->send->users++;
	if (task->receive)
		task->receive->users++;
}

static int add(struct peerlane_group *group, struct group_request *request,
	       struct peerlane_msg *msg)
{
	struct group_task *task;
	int ret;

	lockdep_assert_held(&group->queue_lock);
	ret = group_joined(group, msg);
	if (!ret)
		ret = check_slots(group, request, msg);
	if (!ret)
		ret = take_task(group, &task, msg);
	if (ret)
		return ret;
	fill_task(task, request);
	list_add_tail(&task->op.node, &group->waiting);
	return 0;
}

static int begin_one(struct peerlane_group *group,
		     const struct peerlane_group_submit *args, u32 index,
		     struct peerlane_msg *msg)
{
	void __user *from = u64_to_user_ptr(args->ops_ptr) +
			    (size_t)index * args->op_size;
	struct group_request request = {};
	int ret;

	ret = copy_struct_from_user(&request.args, sizeof(request.args), from,
				    args->op_size);
	if (!ret)
		ret = group_joined(group, msg);
	if (!ret)
		ret = check_call(group, &request, msg);
	if (ret)
		return ret;
	spin_lock(&group->queue_lock);
	ret = add(group, &request, msg);
	spin_unlock(&group->queue_lock);
	return ret;
}

static int begin_all(struct peerlane_group *group,
		     struct peerlane_group_submit *args,
		     struct peerlane_msg *msg)
{
	int ret = 0;

	for (; !ret && args->out_count < args->count; args->out_count += !ret) {
		ret = begin_one(group, args, args->out_count, msg);
		cond_resched();
	}
	group_pump(group);
	return args->out_count ? 0 : ret;
}

/* ---- the wait ---- */

static bool is_enough(struct peerlane_group *group, u32 wait)
{
	return READ_ONCE(group->record_count) >= wait ||
	       READ_ONCE(group->told_end) ||
	       group_state(group) == PEERLANE_GROUP_ENDED;
}

static void wait_records(struct peerlane_group *group,
			 const struct peerlane_group_submit *args)
{
	u32 wait = min_t(u32, args->wait,
			 args->records_len /
			 sizeof(struct peerlane_group_record));

	if (is_enough(group, wait))
		return;
	wait_event_interruptible_hrtimeout(group->wait, is_enough(group, wait),
					   args->timeout_ns < 0 ? KTIME_MAX :
					   ns_to_ktime(args->timeout_ns));
}

int group_submit(struct peerlane_group *group, struct peerlane_group_submit *args,
		 struct peerlane_msg *msg)
{
	ssize_t got;
	int ret;

	if (args->count > MAX_OPS)
		return peerlane_refuse(msg, -EINVAL, "count %u is more than %u",
				       args->count, MAX_OPS);
	if (args->count &&
	    (args->op_size < offsetofend(struct peerlane_group_op, cookie) ||
	     args->op_size > PAGE_SIZE))
		return peerlane_refuse(msg, -EINVAL, "op_size %u", args->op_size);
	args->out_count = 0;
	args->out_records_len = 0;
	ret = begin_all(group, args, msg);
	if (ret || !args->records_ptr)
		return ret;
	wait_records(group, args);
	got = group_read_records(group, u64_to_user_ptr(args->records_ptr),
				 args->records_len);
	/* What was begun has to be told, whatever comes of the records. */
	if (got < 0)
		return args->out_count ? 0 : got;
	args->out_records_len = got;
	return 0;
}
