// SPDX-License-Identifier: GPL-2.0
/* Calls on aggregator files, and those of control that are about aggregators. */
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "aggregator.h"

/* ---- on control ---- */

static int install(struct peerlane_call *call,
		   struct peerlane_aggregator *aggregator)
{
	struct peerlane_aggregator_create *args = &call->args.aggregator_create;
	struct file *file = aggregator_file(aggregator);
	int ret;

	if (IS_ERR(file)) {
		aggregator_close(aggregator);
		return PTR_ERR(file);
	}
	ret = peerlane_install(call, sizeof(*args), &args->out_fd, file);
	if (ret)
		fput(file);	/* closes it */
	return ret;
}

int peerlane_aggregator_create(struct peerlane_call *call)
{
	struct peerlane_aggregator_create *args = &call->args.aggregator_create;
	struct peerlane_aggregator *aggregator;

	aggregator = aggregator_new(args, &call->msg);
	if (IS_ERR(aggregator))
		return PTR_ERR(aggregator);
	args->out_id = aggregator->id;
	memcpy(args->out_address, &aggregator->address,
	       sizeof(args->out_address));
	return install(call, aggregator);
}

static u32 records(void *records, u32 room)
{
	struct net *net = current->nsproxy->net_ns;

	return aggregator_records(net, ns_capable(net->user_ns, CAP_NET_ADMIN),
				  records, room);
}

#define INFO_MIN	offsetofend(struct peerlane_aggregator_info, rdma_device)

int peerlane_aggregator_list(struct peerlane_call *call)
{
	return peerlane_list(call, records,
			     sizeof(struct peerlane_aggregator_info), INFO_MIN);
}

/* ---- on aggregator files ---- */

static int info(struct peerlane_call *call)
{
	struct peerlane_aggregator_info record;

	aggregator_info(aggregator_of(call), &record);
	return peerlane_list_one(call, &record, sizeof(record), INFO_MIN);
}

/* The leading part of the struct is that of a list. */
static int ranks(struct peerlane_call *call)
{
	struct peerlane_aggregator_ranks *args = &call->args.aggregator_ranks;
	const u32 size = sizeof(struct peerlane_rank_record);
	struct peerlane_rank_record *found;
	u32 count, room = min_t(u32, args->count, GROUP_RANKS_MAX);
	int ret;

	BUILD_BUG_ON(offsetof(struct peerlane_aggregator_ranks, group) !=
		     sizeof(struct peerlane_list));
	found = kvcalloc(max(room, 1U), size, GFP_KERNEL_ACCOUNT);
	if (!found)
		return -ENOMEM;
	count = aggregator_ranks(aggregator_of(call), args->group, found, room);
	if (count)
		ret = peerlane_list_answer(call, found, room, count, size, size);
	else
		ret = peerlane_refuse(&call->msg, -ENOENT,
				      "there is no group %#llx", args->group);
	kvfree(found);
	return ret;
}

#define BASE PEERLANE_CMD_AGGREGATOR_INFO
static const struct peerlane_command aggregator_commands[] = {
	COMMAND(PEERLANE_IOC_AGGREGATOR_INFO, peerlane_list, record_size, 0,
		info),
	COMMAND(PEERLANE_IOC_AGGREGATOR_RANKS, peerlane_aggregator_ranks, group,
		0, ranks),
};
#undef BASE

long peerlane_aggregator_ioctl(struct file *file, unsigned int cmd,
			       unsigned long arg)
{
	return peerlane_dispatch(file, cmd, arg, aggregator_commands,
				 ARRAY_SIZE(aggregator_commands),
				 PEERLANE_CMD_AGGREGATOR_INFO);
}
