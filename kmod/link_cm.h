/* SPDX-License-Identifier: GPL-2.0 */
/* What both sides of connecting share. */
#ifndef PEERLANE_LINK_CM_H
#define PEERLANE_LINK_CM_H

#include "link_core.h"

/* Handler of lanes; the context is the lane. */
int link_lane_event(struct rdma_cm_id *id, struct rdma_cm_event *event);

/* link->mutex held. */
void link_hello_fill(const struct link *link, u32 lane,
		     struct link_hello *hello);
/* What the peer told of itself. */
void link_hello_take(struct link *link, const struct link_hello *hello);

static inline size_t link_address_size(const union link_address *address)
{
	return address->any.sa_family == AF_INET6 ? sizeof(address->in6) :
						    sizeof(address->in);
}

void link_address_copy(union link_address *to, const struct sockaddr_storage *from);

#endif /* PEERLANE_LINK_CM_H */
