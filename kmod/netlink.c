// SPDX-License-Identifier: GPL-2.0
/* Family "peerlane"; see Documentation/netlink/specs/peerlane.yaml. */
#include <linux/rwsem.h>

#include "netlink.h"

static const struct genl_multicast_group groups[] = {
	[PEERLANE_EVENTS] = { .name = PEERLANE_MCGRP_EVENTS },
	[PEERLANE_GROUPS] = {
		.name = PEERLANE_MCGRP_GROUPS,
		.flags = PEERLANE_MCGRP_ADMIN,
	},
};

static const struct genl_ops operations[] = {
	{
		.cmd = PEERLANE_CMD_INFO_GET,
		.doit = peerlane_info_get,
	}, {
		.cmd = PEERLANE_CMD_FLOW_GET,
		.doit = peerlane_flow_get,
		.start = peerlane_flow_dump_start,
		.dumpit = peerlane_flow_dump,
		.done = peerlane_flow_dump_done,
		.policy = peerlane_flow_get_policy,
		.maxattr = PEERLANE_A_FLOW_WITH_HISTOGRAM,
	}, {
		.cmd = PEERLANE_CMD_FLOW_SET,
		.doit = peerlane_flow_set,
		.policy = peerlane_flow_set_policy,
		.maxattr = PEERLANE_A_FLOW_FILTER,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = PEERLANE_CMD_FLOW_RESET,
		.start = peerlane_flow_reset_start,
		.dumpit = peerlane_flow_dump,
		.done = peerlane_flow_dump_done,
		.policy = peerlane_flow_reset_policy,
		.maxattr = PEERLANE_A_FLOW_WITH_HISTOGRAM,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = PEERLANE_CMD_OBSERVE_GET,
		.dumpit = peerlane_observe_dump,
	}, {
		.cmd = PEERLANE_CMD_OBSERVE_SET,
		.doit = peerlane_observe_set,
		.policy = peerlane_observe_policy,
		.maxattr = PEERLANE_A_OBSERVE_MAX,
		.flags = GENL_ADMIN_PERM,
	}, {
		.cmd = PEERLANE_CMD_LIMIT_SET,
		.doit = peerlane_limit_set,
		.policy = peerlane_limit_policy,
		.maxattr = PEERLANE_A_LIMIT_MAX,
		.flags = GENL_ADMIN_PERM,
	},
};

struct genl_family peerlane_family __ro_after_init = {
	.name = PEERLANE_FAMILY_NAME,
	.version = PEERLANE_FAMILY_VERSION,
	.netnsok = true,
	.parallel_ops = true,
	.ops = operations,
	.n_ops = ARRAY_SIZE(operations),
	.resv_start_op = PEERLANE_CMD_INFO_GET,
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
	.module = THIS_MODULE,
};

/* An event that is on its way while the family goes has nowhere to go. */
static DECLARE_RWSEM(family_lock);
static bool family_is_there;

struct sk_buff *peerlane_reply_new(struct genl_info *info, size_t room,
				   void **header)
{
	struct sk_buff *skb = genlmsg_new(room, GFP_KERNEL);

	if (!skb)
		return NULL;
	*header = genlmsg_put_reply(skb, info, &peerlane_family, 0,
				    info->genlhdr->cmd);
	if (*header)
		return skb;
	nlmsg_free(skb);
	return NULL;
}

/* ---- events ---- */

int peerlane_put_event(struct sk_buff *skb, u32 kind, u64 sequence, u64 time,
		       u32 share)
{
	if (nla_put_u32(skb, PEERLANE_A_EVENT_KIND, kind) ||
	    flow_put_u64(skb, PEERLANE_A_EVENT_SEQUENCE, sequence,
			 PEERLANE_A_EVENT_PAD) ||
	    flow_put_u64(skb, PEERLANE_A_EVENT_TIME, time,
			 PEERLANE_A_EVENT_PAD))
		return -EMSGSIZE;
	return flow_put_u32(skb, PEERLANE_A_EVENT_SHARE, share);
}

int peerlane_netlink_multicast(struct net *net, struct sk_buff *skb,
			       enum peerlane_mcgrp group)
{
	int ret = 0;

	down_read(&family_lock);
	if (family_is_there)
		ret = genlmsg_multicast_netns(&peerlane_family, net, skb, 0,
					      group, GFP_KERNEL);
	else
		nlmsg_free(skb);
	up_read(&family_lock);
	/* Nobody listens, or a reader is too slow, which it is told itself. */
	return ret == -ESRCH || ret == -ENOBUFS ? 0 : ret;
}

bool peerlane_netlink_has_listeners(struct net *net, enum peerlane_mcgrp group)
{
	return genl_has_listeners(&peerlane_family, net, group);
}

static int put_event(struct sk_buff *skb,
		     const struct flow_event_record *record,
		     const struct flow_snapshot *snapshot)
{
	struct nlattr *nest;

	if (peerlane_put_event(skb, record->kind, record->sequence,
			       record->time, record->share))
		return -EMSGSIZE;
	nest = nla_nest_start(skb, PEERLANE_A_EVENT_FLOW);
	if (!nest || flow_put(skb, snapshot, false))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int peerlane_netlink_event(struct flow_table *table,
			   const struct flow_event_record *record,
			   const struct flow_snapshot *snapshot)
{
	struct sk_buff *skb;
	void *header;

	skb = genlmsg_new(FLOW_PUT_MAX + NLMSG_GOODSIZE / 4, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	header = genlmsg_put(skb, 0, 0, &peerlane_family, 0,
			     PEERLANE_CMD_EVENT_NTF);
	if (!header || put_event(skb, record, snapshot)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return peerlane_netlink_multicast(table->net, skb, PEERLANE_EVENTS);
}

int peerlane_netlink_init(void)
{
	int ret = genl_register_family(&peerlane_family);

	if (!ret)
		family_is_there = true;
	return ret;
}

void peerlane_netlink_exit(void)
{
	down_write(&family_lock);
	family_is_there = false;
	up_write(&family_lock);
	genl_unregister_family(&peerlane_family);
}
