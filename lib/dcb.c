// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* How an interface treats priorities, by rtnetlink. */
#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <string.h>

#include "ethtool.h"
#include "netlink.h"

/* Selectors of the table of applications, and of what is trusted */
#define SEL_ETHERTYPE	1
#define SEL_DSCP	5
#define SEL_PCP		255
/* Came with 6.2; headers may be older. */
#define ATTR_TRUST_TABLE	11
#define ATTR_TRUST		3
#define ATTR_MOST		ATTR_TRUST_TABLE

static void read_pfc(struct peerlane_dcb_info *info, const struct nlattr *attr)
{
	struct ieee_pfc pfc;
	int i;

	if (!attr || nla_len(attr) < (int)sizeof(pfc))
		return;
	memcpy(&pfc, nla_data(attr), sizeof(pfc));
	info->have_pfc = true;
	info->pfc_enabled = pfc.pfc_en;
	info->pfc_max = pfc.pfc_cap;
	info->delay = pfc.delay;
	for (i = 0; i < PEERLANE_PRIORITIES; i++) {
		info->requests[i] = pfc.requests[i];
		info->indications[i] = pfc.indications[i];
	}
}

static void read_ets(struct peerlane_dcb_info *info, const struct nlattr *attr)
{
	struct ieee_ets ets;

	if (!attr || nla_len(attr) < (int)sizeof(ets))
		return;
	memcpy(&ets, nla_data(attr), sizeof(ets));
	info->have_ets = true;
	memcpy(info->prio_tc, ets.prio_tc, sizeof(info->prio_tc));
	memcpy(info->tc_bandwidth, ets.tc_tx_bw, sizeof(info->tc_bandwidth));
	memcpy(info->tc_tsa, ets.tc_tsa, sizeof(info->tc_tsa));
}

/* Where several entries name one thing the highest priority counts. */
static void read_app(struct peerlane_dcb_info *info, const struct nlattr *attr)
{
	struct dcb_app app;

	if (nla_len(attr) < (int)sizeof(app))
		return;
	memcpy(&app, nla_data(attr), sizeof(app));
	if (app.priority >= PEERLANE_PRIORITIES)
		return;
	if (app.selector == SEL_ETHERTYPE && !app.protocol &&
	    app.priority > info->default_prio)
		info->default_prio = app.priority;
	if (app.selector != SEL_DSCP || app.protocol >= 64)
		return;
	info->have_dscp = true;
	if (app.priority > info->dscp_prio[app.protocol])
		info->dscp_prio[app.protocol] = (int8_t)app.priority;
}

static void read_apps(struct peerlane_dcb_info *info, struct nlattr *table)
{
	struct nlattr *each;
	int left;

	if (!table)
		return;
	nla_for_each_nested(each, table, left)
		if (nla_type(each) == DCB_ATTR_IEEE_APP)
			read_app(info, each);
}

/* The first selector of the table is the first that is looked at. */
static void read_trust(struct peerlane_dcb_info *info, struct nlattr *table)
{
	struct nlattr *each;
	int left;

	if (!table)
		return;
	nla_for_each_nested(each, table, left) {
		if (nla_type(each) != ATTR_TRUST || nla_len(each) < 1)
			continue;
		if (nla_get_u8(each) == SEL_DSCP)
			info->trust = PEERLANE_TRUST_DSCP;
		else if (nla_get_u8(each) == SEL_PCP)
			info->trust = PEERLANE_TRUST_PCP;
		return;
	}
}

static int on_answer(struct nlmsghdr *hdr, void *arg)
{
	struct peerlane_dcb_info *info = arg;
	struct nlattr *tb[ATTR_MOST + 1], *ieee;

	ieee = nlmsg_find_attr(hdr, sizeof(struct dcbmsg), DCB_ATTR_IEEE);
	if (!ieee || nla_parse_nested(tb, ATTR_MOST, ieee, NULL) < 0)
		return 0;
	read_pfc(info, tb[DCB_ATTR_IEEE_PFC]);
	read_ets(info, tb[DCB_ATTR_IEEE_ETS]);
	read_apps(info, tb[DCB_ATTR_IEEE_APP_TABLE]);
	read_trust(info, tb[ATTR_TRUST_TABLE]);
	return 0;
}

static struct nl_msg *question(const char *netdev)
{
	struct dcbmsg head = { .cmd = DCB_CMD_IEEE_GET };
	struct nl_msg *msg;

	msg = nlmsg_alloc_simple(RTM_GETDCB, NLM_F_REQUEST | NLM_F_ACK);
	if (!msg)
		return NULL;
	if (nlmsg_append(msg, &head, sizeof(head), NLMSG_ALIGNTO) < 0 ||
	    nla_put_string(msg, DCB_ATTR_IFNAME, netdev) < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

static int ask(const char *netdev, struct peerlane_dcb_info *info)
{
	struct nl_sock *socket;
	struct nl_msg *msg;
	int ret;

	ret = pl_netlink_open(NETLINK_ROUTE, &socket, netdev);
	if (ret)
		return ret;
	msg = question(netdev);
	if (msg)
		ret = pl_netlink_ask(socket, msg, on_answer, info, NULL,
				     netdev);
	else
		ret = pl_fail(ENOMEM, "%s", netdev);
	pl_netlink_close(socket);
	return ret;
}

int peerlane_dcb_query(const char *netdev, struct peerlane_dcb_info *info)
{
	struct peerlane_dcb_info found = { .default_prio = -1 };
	struct peerlane_netdev_info device;
	int ret;

	pl_clear();
	ret = pl_netdev_get(netdev, &device);
	if (ret)
		return ret;
	memset(found.dscp_prio, -1, sizeof(found.dscp_prio));
	ret = ask(netdev, &found);
	/* A kernel without DCB does not know the message at all. */
	if (ret == -EOPNOTSUPP)
		return pl_fail_text(EOPNOTSUPP, "%s: driver %s or the kernel has no DCB",
				    netdev, *device.driver ? device.driver : "?");
	if (ret)
		return ret;
	*info = found;
	return 0;
}
