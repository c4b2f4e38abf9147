// SPDX-License-Identifier: GPL-2.0
/* The connection's flows in the flow table have its label. */
#include "flow_own.h"
#include "link_core.h"

static void take_address(union roce_address *to, const union link_address *from)
{
	memset(to, 0, sizeof(*to));
	if (from->any.sa_family == AF_INET6) {
		memcpy(to, &from->in6.sin6_addr, sizeof(*to));
		return;
	}
	to->word[2] = htonl(0xffff);
	to->word[3] = from->in.sin_addr.s_addr;
}

static bool peer_qpn(struct link_lane *lane, u32 *qpn)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	if (!lane->peer_qpn) {
		if (ib_query_qp(lane->qp, &attr, IB_QP_DEST_QPN, &init))
			return false;
		lane->peer_qpn = attr.dest_qp_num;
	}
	*qpn = lane->peer_qpn;
	return true;
}

/* The link is up, and its end waits for the caller. */
void link_label_flows(struct link *link)
{
	struct flow_own own = {};
	struct link_lane *lane;
	u32 i;

	if (link->is_iwarp || !link->settings.label[0])
		return;
	take_address(&own.local, &link->local);
	take_address(&own.peer, &link->peer);
	for (i = 0; i < link->lane_count; i++) {
		lane = link->lanes[i];
		own.local_qpn = lane->qp->qp_num;
		if (peer_qpn(lane, &own.peer_qpn))
			flow_own_label(link->net, &own, link->settings.label);
	}
}
