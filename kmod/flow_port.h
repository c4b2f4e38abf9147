/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which flows between two nodes share a UDP source port, and to which of them an
 * answer may belong. Pure: the caller has the lock and the clock, and knows the
 * flows.
 *
 * A port may be that of several connections, so that two flows which alone have
 * it need not be one connection: the others may not have been seen yet, or what
 * was known of them had to make room. So a guess needs an answer that fits
 * exactly one of all that have the port, and all have to be known: whoever waits
 * for a partner tells again now and then, and until all had time to (@hold), an
 * entry that took the place of another is partial.
 */
#ifndef PEERLANE_FLOW_PORT_H
#define PEERLANE_FLOW_PORT_H

#include <linux/types.h>

#define FLOW_PORT_WAYS	4
#define FLOW_PORT_FLOWS	4

/* What a flow is to one that looks for its partner. */
enum flow_port_fit {
	FLOW_PORT_GONE,		/* not there, or not waiting for a guess */
	FLOW_PORT_OTHER,	/* cannot be meant */
	FLOW_PORT_FITS,
	FLOW_PORT_TAKEN,	/* fits, but is another one's partner by a guess */
};

/**
 * struct flow_port - who has one port between two nodes
 * @tag: of the nodes and the port, 0 = nobody
 * @used: tick of the last who told
 * @since: tick since which all had time to tell
 * @qpn: of the flows each way, 0 = none
 * @is_partial: until @since is long enough ago
 * @is_contested: two flows have claimed the same partner
 */
struct flow_port {
	u64 tag;
	u32 used;
	u32 since;
	u32 qpn[2][FLOW_PORT_FLOWS];
	bool is_partial;
	bool is_contested;
};

/**
 * struct flow_port_set - ports that share their room
 * @port: these
 * @lost_at: tick at which one in use had to make room
 * @has_lost: one had to
 */
struct flow_port_set {
	struct flow_port port[FLOW_PORT_WAYS];
	u32 lost_at;
	bool has_lost;
};

/**
 * struct flow_ports - all of them
 * @sets: of the caller, zeros at first
 * @mask: number of sets - 1
 * @hold: ticks within which who waits tells again
 */
struct flow_ports {
	struct flow_port_set *sets;
	u32 mask;
	u32 hold;
};

/**
 * struct flow_port_seeker - a flow that looks for its partner
 * @side: which way it goes, 0 or 1
 * @qpn: its own
 * @fit: what the flow to @qpn is to it, of its own side or of the other. Of its
 *	own, one that fits is one from which an answer would not tell it apart
 * @part: that flow has no partner by a guess any more
 * @context: for these two
 */
struct flow_port_seeker {
	u32 side;
	u32 qpn;
	enum flow_port_fit (*fit)(void *context, bool own_side, u32 qpn);
	void (*part)(void *context, bool own_side, u32 qpn);
	void *context;
};

/* QPN of the partner, or 0. */
u32 flow_port_partner(struct flow_ports *ports, u64 tag, u32 now,
		      const struct flow_port_seeker *seeker);

#endif /* PEERLANE_FLOW_PORT_H */
