// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* What an event of netlink says of a group. */
#include <errno.h>
#include <netlink/attr.h>
#include <string.h>

#include "flow.h"

int pl_group_event_parse(struct nlattr *nest, struct peerlane_event_group *group)
{
	struct nlattr *tb[PEERLANE_A_GROUP_MAX + 1];

	memset(group, 0, sizeof(*group));
	if (nla_parse_nested(tb, PEERLANE_A_GROUP_MAX, nest, NULL) < 0)
		return -EPROTO;
	group->group = pl_flow_number(tb[PEERLANE_A_GROUP_NUMBER]);
	group->id = pl_flow_number(tb[PEERLANE_A_GROUP_FILE]);
	group->at_aggregator = tb[PEERLANE_A_GROUP_AT_AGGREGATOR];
	group->ranks = (uint32_t)pl_flow_number(tb[PEERLANE_A_GROUP_RANKS]);
	group->rank = (uint32_t)pl_flow_number(tb[PEERLANE_A_GROUP_RANK]);
	group->cause = (uint32_t)pl_flow_number(tb[PEERLANE_A_GROUP_CAUSE]);
	group->status = -(int32_t)(pl_flow_number(tb[PEERLANE_A_GROUP_ERROR]) &
				   0xffff);
	group->fault_rank =
		(uint32_t)pl_flow_number(tb[PEERLANE_A_GROUP_FAULT_RANK]);
	group->aggregator =
		(uint32_t)pl_flow_number(tb[PEERLANE_A_GROUP_AGGREGATOR]);
	group->lane = (uint32_t)pl_flow_number(tb[PEERLANE_A_GROUP_LANE]);
	group->delay = pl_flow_number(tb[PEERLANE_A_GROUP_DELAY]);
	pl_netlink_text(tb[PEERLANE_A_GROUP_LABEL], group->label,
			sizeof(group->label));
	pl_netlink_text(tb[PEERLANE_A_GROUP_REASON], group->reason,
			sizeof(group->reason));
	if (!group->cause)
		group->fault_rank = PEERLANE_NOBODY;
	return 0;
}
