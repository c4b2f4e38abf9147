// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* The module's family of generic netlink: found by its name. */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <string.h>

#include "flow.h"
#include "genl.h"

#define WHAT "flow statistics"

static struct nl_msg *message(uint16_t family, uint8_t command, uint8_t version,
			      int flags)
{
	struct genlmsghdr head = { .cmd = command, .version = version };
	struct nl_msg *msg;

	msg = nlmsg_alloc_simple(family, NLM_F_REQUEST | flags);
	if (!msg)
		return NULL;
	if (nlmsg_append(msg, &head, sizeof(head), NLMSG_ALIGNTO) < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

struct nl_msg *pl_genl_msg(const struct pl_genl *genl, uint8_t command,
			   int flags)
{
	return message(genl->family, command, PEERLANE_FAMILY_VERSION, flags);
}

int pl_genl_parse(struct nlmsghdr *hdr, struct nlattr **tb, int max)
{
	return nlmsg_parse(hdr, GENL_HDRLEN, tb, max, NULL) < 0 ? -EPROTO : 0;
}

static void read_group(struct nlattr *group, struct pl_genl *genl)
{
	struct nlattr *tb[CTRL_ATTR_MCAST_GRP_MAX + 1];
	char name[GENL_NAMSIZ] = "";

	if (nla_parse_nested(tb, CTRL_ATTR_MCAST_GRP_MAX, group, NULL) < 0)
		return;
	pl_netlink_text(tb[CTRL_ATTR_MCAST_GRP_NAME], name, sizeof(name));
	if (!strcmp(name, PEERLANE_MCGRP_EVENTS))
		genl->events =
			pl_netlink_number(tb[CTRL_ATTR_MCAST_GRP_ID], 0);
	else if (!strcmp(name, PEERLANE_MCGRP_GROUPS))
		genl->groups =
			pl_netlink_number(tb[CTRL_ATTR_MCAST_GRP_ID], 0);
}

static int family_row(struct nlmsghdr *hdr, void *arg)
{
	struct nlattr *tb[CTRL_ATTR_MAX + 1], *group;
	struct pl_genl *genl = arg;
	int left;

	if (pl_genl_parse(hdr, tb, CTRL_ATTR_MAX))
		return 0;
	if (tb[CTRL_ATTR_FAMILY_ID])
		genl->family = (uint16_t)pl_flow_number(tb[CTRL_ATTR_FAMILY_ID]);
	if (!tb[CTRL_ATTR_MCAST_GROUPS])
		return 0;
	nla_for_each_nested(group, tb[CTRL_ATTR_MCAST_GROUPS], left)
		read_group(group, genl);
	return 0;
}

static int resolve(struct pl_genl *genl)
{
	struct nl_msg *msg;
	int ret;

	msg = message(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, NLM_F_ACK);
	if (msg && nla_put_string(msg, CTRL_ATTR_FAMILY_NAME,
				  PEERLANE_FAMILY_NAME) < 0) {
		nlmsg_free(msg);
		msg = NULL;
	}
	ret = pl_genl_ask(genl, msg, family_row, genl, NULL, WHAT);
	if (!ret && genl->family)
		return 0;
	if (ret && ret != -ENOENT)
		return ret;
	return pl_fail_text(ENOENT, WHAT ": the module is not loaded");
}

int pl_genl_open(struct pl_genl *genl)
{
	struct pl_genl found = { 0 };
	int ret;

	ret = pl_netlink_open(NETLINK_GENERIC, &found.socket, WHAT);
	if (ret)
		return ret;
	ret = resolve(&found);
	if (ret) {
		pl_netlink_close(found.socket);
		return ret;
	}
	*genl = found;
	return 0;
}

void pl_genl_close(struct pl_genl *genl)
{
	pl_netlink_close(genl->socket);
	genl->socket = NULL;
}

int pl_genl_ask(struct pl_genl *genl, struct nl_msg *msg, pl_netlink_row row,
		void *arg, bool *interrupted, const char *what)
{
	if (!msg)
		return pl_fail(ENOMEM, "%s", what);
	return pl_netlink_ask(genl->socket, msg, row, arg, interrupted, what);
}
