// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* RDMA devices, as rdma netlink tells them. */
#include <errno.h>
#include <linux/netlink.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdlib.h>
#include <string.h>

#include "nldev.h"

/* Nobody has more; a kernel that answers without end is not followed. */
#define DEVICES_MOST	4096

struct devices {
	struct pl_nldev *list;
	size_t count, room;
};

int pl_nldev_open(struct nl_sock **socket)
{
	int ret = pl_netlink_open(NETLINK_RDMA, socket, "RDMA devices");

	if (ret != -EPROTONOSUPPORT)
		return ret;
	pl_clear();
	*socket = NULL;
	return 0;
}

struct nl_msg *pl_nldev_msg(uint32_t command, int flags)
{
	int type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, (int)command);

	return nlmsg_alloc_simple(type, NLM_F_REQUEST | flags);
}

static int grow(struct devices *devices)
{
	struct pl_nldev *list;

	list = pl_grow(devices->list, devices->count, &devices->room,
		       sizeof(*list), (struct pl_growth){ 16, DEVICES_MOST });
	if (!list)
		return pl_fail(ENOMEM, "list of RDMA devices");
	devices->list = list;
	return 0;
}

static int device_row(struct nlmsghdr *hdr, void *arg)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	struct devices *devices = arg;
	struct pl_nldev *device;
	int ret;

	if (nlmsg_parse(hdr, 0, tb, RDMA_NLDEV_ATTR_MAX - 1, NULL) < 0 ||
	    !tb[RDMA_NLDEV_ATTR_DEV_INDEX] || !tb[RDMA_NLDEV_ATTR_DEV_NAME])
		return 0;
	ret = grow(devices);
	if (ret)
		return ret;
	device = &devices->list[devices->count++];
	memset(device, 0, sizeof(*device));
	device->index = pl_netlink_number(tb[RDMA_NLDEV_ATTR_DEV_INDEX], 0);
	device->ports = pl_netlink_number(tb[RDMA_NLDEV_ATTR_PORT_INDEX], 0);
	pl_netlink_text(tb[RDMA_NLDEV_ATTR_DEV_NAME], device->name,
			sizeof(device->name));
	pl_netlink_text(tb[RDMA_NLDEV_ATTR_DEV_PROTOCOL], device->protocol,
			sizeof(device->protocol));
	return 0;
}

int pl_nldev_list(struct nl_sock *socket, struct pl_nldev **list, size_t *count)
{
	struct devices devices = { 0 };
	struct nl_msg *msg;
	int ret;

	msg = pl_nldev_msg(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	if (!msg)
		return pl_fail(ENOMEM, "list of RDMA devices");
	ret = pl_netlink_ask(socket, msg, device_row, &devices, NULL,
			     "list of RDMA devices");
	if (ret) {
		free(devices.list);
		return ret;
	}
	*list = devices.list;
	*count = devices.count;
	return 0;
}

/* What a single answer says, if it comes at all. */
struct facts {
	int type;
	uint32_t number;
	uint32_t second_type;
	char text[64];
	bool have;
};

static int fact_row(struct nlmsghdr *hdr, void *arg)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	struct facts *facts = arg;

	if (nlmsg_parse(hdr, 0, tb, RDMA_NLDEV_ATTR_MAX - 1, NULL) < 0)
		return 0;
	facts->have = tb[facts->type] != NULL;
	facts->number = pl_netlink_number(tb[facts->type], 0);
	if (facts->second_type)
		pl_netlink_text(tb[facts->second_type], facts->text,
				sizeof(facts->text));
	return 0;
}

/* A device that does not answer is one of which less is known. */
static void ask(struct nl_sock *socket, struct nl_msg *msg, struct facts *facts)
{
	if (pl_netlink_ask(socket, msg, fact_row, facts, NULL, "RDMA device")) {
		facts->have = false;
		pl_clear();
	}
}

uint32_t pl_nldev_driver(struct nl_sock *socket, uint32_t index)
{
	struct facts facts = { .type = RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID };
	struct nl_msg *msg = pl_nldev_msg(RDMA_NLDEV_CMD_GET_CHARDEV,
					  NLM_F_ACK);

	if (!msg)
		return 0;
	nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	nla_put_string(msg, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs");
	ask(socket, msg, &facts);
	return facts.have ? facts.number : 0;
}

void pl_nldev_netdev(struct nl_sock *socket, uint32_t index, uint32_t port,
		     int *ifindex, char *name, size_t size)
{
	struct facts facts = { .type = RDMA_NLDEV_ATTR_NDEV_INDEX,
			       .second_type = RDMA_NLDEV_ATTR_NDEV_NAME };
	struct nl_msg *msg = pl_nldev_msg(RDMA_NLDEV_CMD_PORT_GET, NLM_F_ACK);

	if (!msg)
		return;
	nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	ask(socket, msg, &facts);
	if (!facts.have)
		return;
	*ifindex = (int)facts.number;
	memcpy(name, facts.text, size < sizeof(facts.text) ? size :
						sizeof(facts.text));
	name[size - 1] = '\0';
}

int pl_nldev_netns_shared(struct nl_sock *socket)
{
	struct facts facts = { .type = RDMA_NLDEV_SYS_ATTR_NETNS_MODE };
	struct nl_msg *msg = pl_nldev_msg(RDMA_NLDEV_CMD_SYS_GET, NLM_F_ACK);

	if (!msg)
		return -1;
	ask(socket, msg, &facts);
	return facts.have ? facts.number != 0 : -1;
}
