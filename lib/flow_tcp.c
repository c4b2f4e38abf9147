// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * iWARP runs over TCP: what the kernel's TCP knows of its connections. Software
 * iWARP has sockets of its own, which sock_diag shows among all others; they
 * are found by addresses and ports.
 */
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netlink/msg.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

#define WHAT	"TCP connections"

/* States but TCP_LISTEN and TCP_CLOSE, which have no peer: linux/tcp_states.h */
#define STATES	(0xfff & ~(1U << 10) & ~(1U << 7))

struct found {
	struct peerlane_tcp_flow *list;
	size_t count;
};

/* Addresses and ports are what a connection begins with. */
static int by_ends(const void *left, const void *right)
{
	return memcmp(left, right, offsetof(struct peerlane_tcp_flow, device));
}

static void put_address(uint8_t address[16], const uint32_t *from, int family)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	memcpy(address, mapped, sizeof(mapped));
	if (family == AF_INET)
		memcpy(address + 12, from, 4);
	else
		memcpy(address, from, 16);
}

static int socket_row(struct nlmsghdr *hdr, void *arg)
{
	struct found *found = arg;
	struct peerlane_tcp_flow key = { 0 }, *flow;
	struct inet_diag_msg row;
	struct nlattr *attr;

	if (nlmsg_datalen(hdr) < (int)sizeof(row))
		return 0;
	memcpy(&row, nlmsg_data(hdr), sizeof(row));
	key.sport = ntohs(row.id.idiag_sport);
	key.dport = ntohs(row.id.idiag_dport);
	put_address(key.saddr, row.id.idiag_src, row.idiag_family);
	put_address(key.daddr, row.id.idiag_dst, row.idiag_family);
	flow = bsearch(&key, found->list, found->count, sizeof(key), by_ends);
	attr = nlmsg_find_attr(hdr, sizeof(row), INET_DIAG_INFO);
	if (!flow || !attr)
		return 0;
	flow->has_tcp = true;
	flow->state = row.idiag_state;
	pl_flow_tcp_info(flow, nla_data(attr), (size_t)nla_len(attr));
	return 0;
}

static int ask(struct nl_sock *socket, uint8_t family, struct found *found)
{
	struct inet_diag_req_v2 request = {
		.sdiag_family = family,
		.sdiag_protocol = IPPROTO_TCP,
		.idiag_ext = 1U << (INET_DIAG_INFO - 1),
		.idiag_states = STATES,
	};
	struct nl_msg *msg = nlmsg_alloc_simple(SOCK_DIAG_BY_FAMILY,
						NLM_F_REQUEST | NLM_F_DUMP);

	if (!msg)
		return pl_fail(ENOMEM, WHAT);
	if (nlmsg_append(msg, &request, sizeof(request), NLMSG_ALIGNTO) < 0) {
		nlmsg_free(msg);
		return pl_fail(ENOMEM, WHAT);
	}
	return pl_netlink_ask(socket, msg, socket_row, found, NULL, WHAT);
}

static int add_tcp(struct found *found)
{
	struct nl_sock *socket;
	int ret;

	ret = pl_netlink_open(NETLINK_SOCK_DIAG, &socket, WHAT);
	if (ret)
		return ret;
	ret = ask(socket, AF_INET, found);
	if (!ret)
		ret = ask(socket, AF_INET6, found);
	/* A kernel may have no IPv6, or no module that knows TCP. */
	if (ret == -ENOENT || ret == -EOPNOTSUPP) {
		pl_clear();
		ret = 0;
	}
	pl_netlink_close(socket);
	return ret;
}

int peerlane_flow_tcp(struct peerlane_tcp_flow **list, size_t *count)
{
	struct found found = { 0 };
	int ret;

	pl_clear();
	ret = pl_flow_cm_list(&found.list, &found.count);
	if (ret)
		return ret;
	if (found.count) {
		qsort(found.list, found.count, sizeof(*found.list), by_ends);
		ret = add_tcp(&found);
	}
	if (ret) {
		free(found.list);
		return ret;
	}
	*list = found.list;
	*count = found.count;
	return 0;
}
