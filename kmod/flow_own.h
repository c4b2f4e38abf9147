/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PEERLANE_FLOW_OWN_H
#define PEERLANE_FLOW_OWN_H

#include "roce_parse.h"

struct net;

/* A reliable connection of ours: IPv4 addresses are mapped ones. */
struct flow_own {
	union roce_address local;
	union roce_address peer;
	u32 local_qpn;
	u32 peer_qpn;
};

/*
 * Both directions, as far as they have flows by now and no name. To be called
 * again from time to time, as flows come and go. May sleep.
 */
void flow_own_label(struct net *net, const struct flow_own *own,
		    const char *text);

#endif /* PEERLANE_FLOW_OWN_H */
