// SPDX-License-Identifier: GPL-2.0
/* Calls on group files, and those of control that are about groups. */
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/nsproxy.h>
#include <net/net_namespace.h>

#include "group.h"

/* ---- on control ---- */

static int install(struct peerlane_call *call, struct peerlane_group *group)
{
	struct peerlane_group_create *args = &call->args.group_create;
	struct file *file = group_file(group);
	int ret;

	if (IS_ERR(file)) {
		group_close(group);
		return PTR_ERR(file);
	}
	ret = peerlane_install(call, sizeof(*args), &args->out_fd, file);
	if (ret)
		fput(file);	/* closes it */
	return ret;
}

int peerlane_group_create(struct peerlane_call *call)
{
	struct peerlane_group_create *args = &call->args.group_create;
	struct peerlane_group *group;

	group = group_new(args, &call->msg);
	if (IS_ERR(group))
		return PTR_ERR(group);
	args->out_id = group->id;
	return install(call, group);
}

static u32 records(void *records, u32 room)
{
	struct net *net = current->nsproxy->net_ns;

	return group_records(net, ns_capable(net->user_ns, CAP_NET_ADMIN),
			     records, room);
}

static u32 lanes(void *records, u32 room)
{
	struct net *net = current->nsproxy->net_ns;

	return group_lanes(net, ns_capable(net->user_ns, CAP_NET_ADMIN), records,
			   room);
}

int peerlane_group_lanes(struct peerlane_call *call)
{
	return peerlane_list(call, lanes, sizeof(struct peerlane_lane_info),
			     offsetofend(struct peerlane_lane_info, qpn));
}

#define INFO_MIN	offsetofend(struct peerlane_group_info, text)

int peerlane_group_list(struct peerlane_call *call)
{
	return peerlane_list(call, records, sizeof(struct peerlane_group_info),
			     INFO_MIN);
}

/* ---- on group files ---- */

static int bind(struct peerlane_call *call)
{
	struct peerlane_endpoint_bind *args = &call->args.endpoint_bind;
	int ret = peerlane_probe(call, sizeof(*args));

	if (!ret)
		ret = group_bind(group_of(call), args, &call->msg);
	if (ret)
		return ret;
	ret = peerlane_respond(call, sizeof(*args));
	if (ret && args->region_fd != -1)
		group_unbind(group_of(call), args->slot);
	return ret;
}

static int join(struct peerlane_call *call)
{
	return group_join(group_of(call), &call->args.group_join,
			  !(call->file->f_flags & O_NONBLOCK), &call->msg);
}

static int submit(struct peerlane_call *call)
{
	struct peerlane_group_submit *args = &call->args.group_submit;
	int ret = peerlane_probe(call, sizeof(*args));

	if (!ret)
		ret = group_submit(group_of(call), args, &call->msg);
	return ret ? ret : peerlane_respond(call, sizeof(*args));
}

static int leave(struct peerlane_call *call)
{
	group_leave(group_of(call));
	return 0;
}

static int info(struct peerlane_call *call)
{
	struct peerlane_group_info record;

	group_info(group_of(call), &record);
	return peerlane_list_one(call, &record, sizeof(record), INFO_MIN);
}

#define BASE PEERLANE_CMD_GROUP_BIND
static const struct peerlane_command group_commands[] = {
	COMMAND(PEERLANE_IOC_GROUP_BIND, peerlane_endpoint_bind, out_length,
		PEERLANE_BIND_READ_ONLY, bind),
	COMMAND(PEERLANE_IOC_GROUP_JOIN, peerlane_group_join, reserved3, 0, join),
	COMMAND(PEERLANE_IOC_GROUP_SUBMIT, peerlane_group_submit, timeout_ns, 0,
		submit),
	COMMAND(PEERLANE_IOC_GROUP_LEAVE, peerlane_group_leave, reserved, 0,
		leave),
	COMMAND(PEERLANE_IOC_GROUP_INFO, peerlane_list, record_size, 0, info),
};
#undef BASE

long peerlane_group_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return peerlane_dispatch(file, cmd, arg, group_commands,
				 ARRAY_SIZE(group_commands),
				 PEERLANE_CMD_GROUP_BIND);
}
