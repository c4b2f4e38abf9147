// SPDX-License-Identifier: GPL-2.0
/*
 * What links may need of the kernel's memory, and who pays for it. The charge is
 * taken before one is made, when neither its device nor the peer's number of
 * lanes is known; what these do not need is given back.
 */
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

struct needs {
	u32 lanes;
	bool sinks;
	bool pool;
};

static u64 cost_of(const struct link_settings *settings, const struct needs *needs)
{
	u32 sends = link_sends_wanted(settings);
	u32 receives = link_receives_wanted(settings);
	/* Those of endpoints never stand in for the first. */
	u32 further = settings->service == LINK_SERVICE_ENDPOINT ?
		      LINK_MESSAGE_SMALL : LINK_MESSAGE_MAX;

	/* The peer's exposures are kept here, ours are counted as memory keys. */
	return sizeof(struct link) +
	       settings->grants * (u64)sizeof(struct link_grant) +
	       settings->keys * (u64)sizeof(struct link_chunk) +
	       lane_cost(sends, receives, LINK_MESSAGE_MAX) +
	       (needs->lanes - 1) * lane_cost(sends, receives, further) +
	       (needs->sinks ? needs->lanes * link_sinks_cost() : 0) +
	       (needs->pool ? link_pool_cost() : 0);
}

u64 link_cost(const struct link_settings *settings)
{
	const struct needs most = { settings->lanes, true, true };

	return cost_of(settings, &most);
}

int link_charge(const struct link_settings *settings, u32 count,
		struct peerlane_msg *msg)
{
	const struct link_purse *purse = settings->purse;

	return peerlane_count(purse->bytes, settings->uid,
			      count * link_cost(settings),
			      READ_ONCE(*purse->limit), msg);
}

static void give_back(const struct link_settings *settings, u64 amount)
{
	if (amount)
		peerlane_uncount(settings->purse->bytes, settings->uid, amount);
}

void link_uncharge(const struct link_settings *settings, u32 count)
{
	give_back(settings, count * link_cost(settings));
}

void link_charge_less(struct link *link)
{
	const struct needs needs = {
		.lanes = link->lane_count,
		.sinks = link->is_iwarp,
		.pool = !ib_uses_virt_dma(link->dev),
	};
	u64 cost = cost_of(&link->settings, &needs);

	lockdep_assert_held(&link->mutex);
	give_back(&link->settings, link->charged - cost);
	link->charged = cost;
}

void link_charge_end(struct link *link)
{
	give_back(&link->settings, link->charged);
}
