// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Connections of iWARP devices, as connection management tells them. */
#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netlink/msg.h>
#include <rdma/rdma_netlink.h>
#include <stdlib.h>
#include <string.h>

#include "attr.h"
#include "flow.h"
#include "nldev.h"

#define WHAT	"connections of iWARP"

/* A kernel that answers without end is not followed. */
#define MOST	(1U << 20)

struct flows {
	struct peerlane_tcp_flow *list;
	size_t count, room;
	const char *device;
};

static struct peerlane_tcp_flow *new_entry(struct flows *flows)
{
	struct peerlane_tcp_flow *list;

	list = pl_grow(flows->list, flows->count, &flows->room, sizeof(*list),
		       (struct pl_growth){ 16, MOST });
	if (!list)
		return NULL;
	flows->list = list;
	memset(&flows->list[flows->count], 0, sizeof(*flows->list));
	return &flows->list[flows->count++];
}

/* Return: false where it is no address of TCP, or none yet. */
static bool read_address(const struct nlattr *attr, uint8_t address[16],
			 uint16_t *port)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct sockaddr_storage any = { 0 };
	struct sockaddr_in6 *six = (void *)&any;
	struct sockaddr_in *four = (void *)&any;
	size_t size;

	if (!attr)
		return false;
	size = (size_t)nla_len(attr);
	memcpy(&any, nla_data(attr), size < sizeof(any) ? size : sizeof(any));
	if (any.ss_family == AF_INET) {
		memcpy(address, mapped, sizeof(mapped));
		memcpy(address + 12, &four->sin_addr, 4);
		*port = ntohs(four->sin_port);
	} else if (any.ss_family == AF_INET6) {
		memcpy(address, &six->sin6_addr, 16);
		*port = ntohs(six->sin6_port);
	}
	return *port != 0;
}

static void fill(struct peerlane_tcp_flow *flow, struct nlattr **tb)
{
	struct nlattr *user = tb[RDMA_NLDEV_ATTR_RES_KERN_NAME];

	flow->lqpn = pl_netlink_number(tb[RDMA_NLDEV_ATTR_RES_LQPN], 0);
	flow->pid = (int32_t)pl_netlink_number(tb[RDMA_NLDEV_ATTR_RES_PID], 0);
	pl_netlink_text(user, flow->comm, sizeof(flow->comm));
	if (!user && flow->pid > 0)
		pl_process_name(flow->pid, flow->comm, sizeof(flow->comm));
}

/* Only what has two ends: listeners have one. */
static int entry(struct nlattr *nest, struct flows *flows)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	struct peerlane_tcp_flow one = { 0 }, *flow;

	if (nla_parse_nested(tb, RDMA_NLDEV_ATTR_MAX - 1, nest, NULL) < 0 ||
	    !read_address(tb[RDMA_NLDEV_ATTR_RES_SRC_ADDR], one.saddr,
			  &one.sport) ||
	    !read_address(tb[RDMA_NLDEV_ATTR_RES_DST_ADDR], one.daddr,
			  &one.dport))
		return 0;
	flow = new_entry(flows);
	if (!flow)
		return pl_fail(ENOMEM, WHAT);
	*flow = one;
	pl_copy_text(flow->device, flows->device, sizeof(flow->device));
	fill(flow, tb);
	return 0;
}

static int table(struct nlmsghdr *hdr, void *arg)
{
	struct nlattr *nest, *each;
	int left, ret = 0;

	nest = nlmsg_find_attr(hdr, 0, RDMA_NLDEV_ATTR_RES_CM_ID);
	if (!nest)
		return 0;
	nla_for_each_nested(each, nest, left) {
		ret = entry(each, arg);
		if (ret)
			break;
	}
	return ret;
}

static int device_flows(struct nl_sock *socket, const struct pl_nldev *device,
			struct flows *flows)
{
	struct nl_msg *msg = pl_nldev_msg(RDMA_NLDEV_CMD_RES_CM_ID_GET,
					  NLM_F_DUMP);

	if (!msg)
		return pl_fail(ENOMEM, WHAT);
	nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, device->index);
	flows->device = device->name;
	return pl_netlink_ask(socket, msg, table, flows, NULL, WHAT);
}

static int all_flows(struct nl_sock *socket, struct flows *flows)
{
	struct pl_nldev *devices;
	size_t count, i;
	int ret;

	ret = pl_nldev_list(socket, &devices, &count);
	if (ret)
		return ret;
	for (i = 0; !ret && i < count; i++) {
		if (strcmp(devices[i].protocol, "iw"))
			continue;
		ret = device_flows(socket, &devices[i], flows);
		/* One that goes meanwhile has none. */
		if (ret && ret != -ENOMEM) {
			pl_clear();
			ret = 0;
		}
	}
	free(devices);
	return ret;
}

int pl_flow_cm_list(struct peerlane_tcp_flow **list, size_t *count)
{
	struct flows flows = { 0 };
	struct nl_sock *socket;
	int ret;

	ret = pl_nldev_open(&socket);
	if (ret)
		return ret;
	if (socket) {
		ret = all_flows(socket, &flows);
		pl_netlink_close(socket);
	}
	if (ret) {
		free(flows.list);
		return ret;
	}
	*list = flows.list;
	*count = flows.count;
	return 0;
}
