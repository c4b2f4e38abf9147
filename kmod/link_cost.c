// SPDX-License-Identifier: GPL-2.0
/* What a link may need of the kernel's memory. */
#include "link_core.h"

/* Of a driver, for one entry of its queues; the larger ones of those seen. */
#define SEND_ENTRY	256
#define RECEIVE_ENTRY	64
#define COMPLETION	64

static u64 lane_cost(u32 sends, u32 receives, u32 message)
{
	u64 send = message + sizeof(struct link_request) + SEND_ENTRY +
		   COMPLETION;
	u64 receive = message + sizeof(struct link_receive) + RECEIVE_ENTRY +
		      COMPLETION;

	return sizeof(struct link_lane) + LINK_BATCH * sizeof(struct link_wr) +
	       sends * send + receives * receive;
}

u64 link_cost(const struct link_settings *settings)
{
	u32 sends = link_sends_wanted(settings);
	u32 receives = link_receives_wanted(settings);

	/* The peer's exposures are kept here, ours are counted as memory keys. */
	return sizeof(struct link) +
	       settings->grants * (u64)sizeof(struct link_grant) +
	       settings->keys * (u64)sizeof(struct link_chunk) +
	       lane_cost(sends, receives, LINK_MESSAGE_MAX) +
	       (settings->lanes - 1) *
	       lane_cost(sends, receives, LINK_MESSAGE_SMALL);
}
