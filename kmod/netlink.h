/* SPDX-License-Identifier: GPL-2.0 */
/* The generic netlink family: shared by netlink*.c. */
#ifndef PEERLANE_NETLINK_H
#define PEERLANE_NETLINK_H

#include <net/genetlink.h>

#include "compat.h"
#include "flow.h"
#include "peerlane_group.h"

/* ---- netlink.c ---- */

enum peerlane_mcgrp {
	PEERLANE_EVENTS,
	PEERLANE_GROUPS,
};

extern struct genl_family peerlane_family;

/**
 * struct flow_event_record - what happened
 * @kind: enum peerlane_event_kind
 * @share: of packets, in millionths
 * @sequence: number in this namespace
 * @time: ns since boot
 * @key: which flow
 */
struct flow_event_record {
	u32 kind;
	u32 share;
	u64 sequence;
	u64 time;
	struct flow_key key;
};

/* Sends an event. Negative if a reader may have missed it. May sleep. */
int peerlane_netlink_event(struct flow_table *table,
			   const struct flow_event_record *record,
			   const struct flow_snapshot *snapshot);

/* What an event of any kind has. */
int peerlane_put_event(struct sk_buff *skb, u32 kind, u64 sequence, u64 time,
		       u32 share);
/* Takes @skb. Negative if a reader may have missed it. May sleep. */
int peerlane_netlink_multicast(struct net *net, struct sk_buff *skb,
			       enum peerlane_mcgrp group);
/* The family is there. */
bool peerlane_netlink_has_listeners(struct net *net, enum peerlane_mcgrp group);

/* ---- netlink_group.c: events of groups ---- */

/**
 * struct group_event_record - what happened to a group
 * @kind: enum peerlane_event_kind
 * @share: RANK_LATE: of the time, in millionths
 * @sequence: number in this namespace; filled in
 * @time: ns since boot; filled in
 * @group: its number
 * @file: number of the rank's file or the aggregator's
 * @delay_ns: RANK_LATE: of the rank, on average
 * @at_aggregator: it is an aggregator that tells
 * @ranks: of the group
 * @rank: that is meant
 * @cause: GROUP_ENDED: enum peerlane_group_cause; LANE_LEFT: peerlane_lane_cause
 * @status: GROUP_ENDED: negative errno, or 0
 * @fault_rank: of a cause, or PEERLANE_RANK_NONE
 * @aggregator: index in the group
 * @lane: index in the link
 * @label: of the file's flows
 * @reason: GROUP_ENDED, in words, or empty
 */
struct group_event_record {
	u32 kind;
	u32 share;
	u64 sequence;
	u64 time;
	u64 group;
	u64 file;
	u64 delay_ns;
	bool at_aggregator;
	u32 ranks;
	u32 rank;
	u32 cause;
	s32 status;
	u32 fault_rank;
	u32 aggregator;
	u32 lane;
	char label[PEERLANE_ENDPOINT_LABEL_LEN];
	char reason[PEERLANE_GROUP_TEXT_LEN];
};

int peerlane_group_events_init(void);
void peerlane_group_events_exit(void);
/* Any context but interrupts; the caller holds @net. */
void peerlane_group_event(struct net *net, const struct group_event_record *record);
/* The last one's number */
u64 peerlane_group_events(struct net *net);

/* ---- netlink_policy.c: by operation ---- */

extern const struct nla_policy
peerlane_flow_get_policy[PEERLANE_A_FLOW_WITH_HISTOGRAM + 1];
extern const struct nla_policy
peerlane_flow_set_policy[PEERLANE_A_FLOW_FILTER + 1];
extern const struct nla_policy
peerlane_flow_reset_policy[PEERLANE_A_FLOW_WITH_HISTOGRAM + 1];
extern const struct nla_policy
peerlane_filter_policy[PEERLANE_A_FILTER_MAX + 1];
extern const struct nla_policy peerlane_min_policy[PEERLANE_A_MIN_MAX + 1];
extern const struct nla_policy
peerlane_observe_policy[PEERLANE_A_OBSERVE_MAX + 1];
extern const struct nla_policy peerlane_limit_policy[PEERLANE_A_LIMIT_MAX + 1];
/* That it has no attribute which only the other kind of request takes. */
int peerlane_flow_get_check(struct nlattr **attrs, bool is_dump,
			    struct netlink_ext_ack *extack);

/* ---- netlink_put.c ---- */

/* No flow's attributes are longer, without and with histogram. */
#define FLOW_PUT_MAX		1024
#define FLOW_PUT_HISTOGRAM_MAX	(FLOW_PUT_MAX + PEERLANE_RTT_BUCKETS * sizeof(u32))

int flow_put(struct sk_buff *skb, const struct flow_snapshot *snapshot,
	     bool with_histogram);
/* Attributes that are zero are left out. @pad: number of the pad attribute. */
int flow_put_u32(struct sk_buff *skb, int type, u32 value);
int flow_put_u64(struct sk_buff *skb, int type, u64 value, int pad);

/* ---- netlink_filter.c ---- */

#define FLOW_MINIMUMS	8

/**
 * struct flow_filter - which flows are meant
 * @has: bit PEERLANE_A_FILTER_* for each that is given
 * @ifindex: device they are counted at
 * @at: enum peerlane_point they are counted at
 * @address: of either end
 * @saddr: source address
 * @daddr: destination address
 * @qpn: of either end
 * @transport: enum peerlane_transport
 * @label: name
 * @minimums: how many of @min
 * @min: counters and their least values
 * @top_by: enum peerlane_counter
 * @top: how many of them, 0 = all in any order
 */
struct flow_filter {
	u32 has;
	u32 ifindex;
	u32 at;
	union roce_address address;
	union roce_address saddr;
	union roce_address daddr;
	u32 qpn;
	u32 transport;
	char label[PEERLANE_LABEL_MAX + 1];
	u32 minimums;
	struct {
		u32 counter;
		u64 value;
	} min[FLOW_MINIMUMS];
	u32 top_by;
	u32 top;
};

/* @nest may be NULL: everything is meant. */
int flow_filter_parse(struct flow_filter *filter, const struct nlattr *nest,
		      struct netlink_ext_ack *extack);
int flow_address_parse(union roce_address *address, const struct nlattr *attr,
		       struct netlink_ext_ack *extack);
/* A copy of a flow that is meant; false if it is not, or gone. RCU is held. */
bool flow_filter_take(const struct flow_filter *filter,
		      struct flow_table *table, struct peerlane_flow *flow,
		      struct flow_snapshot *snapshot);
u64 flow_counter(const struct flow_snapshot *snapshot, u32 counter);

/* ---- netlink_flow.c, netlink_dump.c, netlink_set.c, netlink_config.c ---- */

int peerlane_key_parse(struct flow_key *key, struct genl_info *info);
int peerlane_flow_get(struct sk_buff *skb, struct genl_info *info);
int peerlane_flow_set(struct sk_buff *skb, struct genl_info *info);
int peerlane_flow_dump_start(struct netlink_callback *cb);
int peerlane_flow_reset_start(struct netlink_callback *cb);
int peerlane_flow_dump(struct sk_buff *skb, struct netlink_callback *cb);
int peerlane_flow_dump_done(struct netlink_callback *cb);
int peerlane_info_get(struct sk_buff *skb, struct genl_info *info);
int peerlane_observe_dump(struct sk_buff *skb, struct netlink_callback *cb);
int peerlane_observe_set(struct sk_buff *skb, struct genl_info *info);
int peerlane_limit_set(struct sk_buff *skb, struct genl_info *info);

/* An answer with @room for attributes; NULL when short of memory. */
struct sk_buff *peerlane_reply_new(struct genl_info *info, size_t room,
				   void **header);

#endif /* PEERLANE_NETLINK_H */
