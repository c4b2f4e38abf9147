// SPDX-License-Identifier: GPL-2.0
/* Calls on endpoint files, and those of control that are about endpoints. */
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "compat.h"
#include "endpoint.h"

/* ---- on control ---- */

static int install(struct peerlane_call *call, u32 size, __s32 *out_fd,
		   struct peerlane_endpoint *endpoint,
		   void (*undo)(struct peerlane_call *call,
				struct peerlane_endpoint *endpoint))
{
	struct file *file = endpoint_file(endpoint);
	int ret;

	if (IS_ERR(file)) {
		undo(call, endpoint);
		return PTR_ERR(file);
	}
	ret = peerlane_install(call, size, out_fd, file);
	if (!ret)
		return 0;
	/* The file must not close what is put back. */
	endpoint_file_detach(file);
	fput(file);
	undo(call, endpoint);
	return ret;
}

static void undo_create(struct peerlane_call *call,
			struct peerlane_endpoint *endpoint)
{
	endpoint_close(endpoint);
}

int peerlane_endpoint_create(struct peerlane_call *call)
{
	struct peerlane_endpoint_create *args = &call->args.endpoint_create;
	struct peerlane_endpoint *endpoint;

	if (args->reserved2)
		return peerlane_refuse(&call->msg, -EOPNOTSUPP,
				       "reserved2 is not 0");
	endpoint = endpoint_new(args, NULL, &call->msg);
	if (IS_ERR(endpoint))
		return PTR_ERR(endpoint);
	args->out_id = endpoint->id;
	return install(call, sizeof(*args), &args->out_fd, endpoint, undo_create);
}

static u32 records(void *records, u32 room)
{
	struct net *net = current->nsproxy->net_ns;

	return endpoint_records(net, ns_capable(net->user_ns, CAP_NET_ADMIN),
				records, room);
}

int peerlane_endpoint_list(struct peerlane_call *call)
{
	return peerlane_list(call, records,
			     sizeof(struct peerlane_endpoint_record),
			     offsetofend(struct peerlane_endpoint_record, reason));
}

/* ---- on endpoint files ---- */

static bool may_wait(const struct peerlane_call *call)
{
	return !(call->file->f_flags & O_NONBLOCK);
}

static int listen(struct peerlane_call *call)
{
	struct peerlane_endpoint_address *args = &call->args.endpoint_address;
	int ret = endpoint_listen(endpoint_of(call), args, &call->msg);

	if (ret)
		return ret;
	ret = peerlane_respond(call, sizeof(*args));
	if (ret)
		endpoint_unlisten(endpoint_of(call));
	return ret;
}

static int connect(struct peerlane_call *call)
{
	const struct peerlane_endpoint_address *args = &call->args.endpoint_address;

	if (args->backlog)
		return peerlane_refuse(&call->msg, -EINVAL,
				       "CONNECT takes no backlog");
	return endpoint_connect(endpoint_of(call), args, may_wait(call),
				&call->msg);
}

static void undo_accept(struct peerlane_call *call,
			struct peerlane_endpoint *child)
{
	endpoint_unaccept(endpoint_of(call), child);
}

static int accept(struct peerlane_call *call)
{
	struct peerlane_endpoint_accept *args = &call->args.endpoint_accept;
	struct peerlane_endpoint_record record;
	struct peerlane_endpoint *child;

	if (args->reserved2 || args->reserved3)
		return peerlane_refuse(&call->msg, -EOPNOTSUPP,
				       "reserved2 or reserved3 is not 0");
	child = endpoint_accept(endpoint_of(call), may_wait(call), &call->msg);
	if (IS_ERR(child))
		return PTR_ERR(child);
	endpoint_record(child, &record);
	args->out_id = child->id;
	memcpy(args->out_address, record.peer, sizeof(args->out_address));
	return install(call, sizeof(*args), &args->out_fd, child, undo_accept);
}

static int bind(struct peerlane_call *call)
{
	struct peerlane_endpoint_bind *args = &call->args.endpoint_bind;
	int ret = peerlane_probe(call, sizeof(*args));

	if (!ret)
		ret = endpoint_bind(endpoint_of(call), args, &call->msg);
	if (ret)
		return ret;
	ret = peerlane_respond(call, sizeof(*args));
	if (ret && args->region_fd != -1)
		endpoint_unbind(endpoint_of(call), args->slot);
	return ret;
}

static int expose(struct peerlane_call *call)
{
	struct peerlane_endpoint_expose *args = &call->args.endpoint_expose;
	int ret = endpoint_expose(endpoint_of(call), args, &call->msg);

	if (ret)
		return ret;
	ret = peerlane_respond(call, sizeof(*args));
	/* Nobody here would know how to end it. */
	if (ret)
		link_withdraw(endpoint_of(call)->link, args->out_token, NULL);
	return ret;
}

static int withdraw(struct peerlane_call *call)
{
	struct peerlane_endpoint *endpoint = endpoint_of(call);
	int ret = endpoint_connected(endpoint, &call->msg);

	if (ret)
		return ret;
	return link_withdraw(endpoint->link, call->args.endpoint_withdraw.token,
			     &call->msg);
}

static int submit(struct peerlane_call *call)
{
	struct peerlane_endpoint_submit *args = &call->args.endpoint_submit;
	int ret = peerlane_probe(call, sizeof(*args));

	if (!ret)
		ret = endpoint_submit(endpoint_of(call), args, call->nowait,
				      &call->msg);
	return ret ? ret : peerlane_respond(call, sizeof(*args));
}

static int disconnect(struct peerlane_call *call)
{
	endpoint_disconnect(endpoint_of(call));
	return 0;
}

static int info(struct peerlane_call *call)
{
	struct peerlane_endpoint_record record;

	endpoint_record(endpoint_of(call), &record);
	return peerlane_list_one(call, &record, sizeof(record),
				 offsetofend(struct peerlane_endpoint_record,
					     reason));
}

#define BASE PEERLANE_CMD_ENDPOINT_LISTEN
static const struct peerlane_command endpoint_commands[] = {
	COMMAND(PEERLANE_IOC_ENDPOINT_LISTEN, peerlane_endpoint_address, backlog,
		0, listen),
	COMMAND(PEERLANE_IOC_ENDPOINT_CONNECT, peerlane_endpoint_address,
		backlog, 0, connect),
	COMMAND(PEERLANE_IOC_ENDPOINT_ACCEPT, peerlane_endpoint_accept,
		reserved3, 0, accept),
	COMMAND(PEERLANE_IOC_ENDPOINT_BIND, peerlane_endpoint_bind, out_length,
		PEERLANE_BIND_READ_ONLY, bind),
	COMMAND(PEERLANE_IOC_ENDPOINT_EXPOSE, peerlane_endpoint_expose,
		out_token, 0, expose),
	COMMAND(PEERLANE_IOC_ENDPOINT_WITHDRAW, peerlane_endpoint_withdraw,
		token, 0, withdraw),
	COMMAND(PEERLANE_IOC_ENDPOINT_SUBMIT, peerlane_endpoint_submit,
		timeout_ns, PEERLANE_SUBMIT_BUSY_POLL, submit),
	COMMAND(PEERLANE_IOC_ENDPOINT_DISCONNECT, peerlane_endpoint_disconnect,
		reserved, 0, disconnect),
	COMMAND(PEERLANE_IOC_ENDPOINT_INFO, peerlane_list, record_size, 0, info),
};

int peerlane_endpoint_submit_call(struct file *file, void __user *user,
				  bool nowait)
{
	const unsigned int index = _IOC_NR(PEERLANE_IOC_ENDPOINT_SUBMIT) - BASE;
	struct peerlane_call *call = kzalloc(sizeof(*call), GFP_KERNEL);
	int ret;

	if (!call)
		return -ENOMEM;
	call->file = file;
	call->user = user;
	call->nowait = nowait;
	ret = peerlane_run(call, &endpoint_commands[index]);
	if (!ret)
		ret = call->args.endpoint_submit.out_count;
	kfree(call);
	return ret;
}
#undef BASE

long peerlane_endpoint_ioctl(struct file *file, unsigned int cmd,
			     unsigned long arg)
{
	return peerlane_dispatch(file, cmd, arg, endpoint_commands,
				 ARRAY_SIZE(endpoint_commands),
				 PEERLANE_CMD_ENDPOINT_LISTEN);
}
