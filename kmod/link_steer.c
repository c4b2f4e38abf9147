// SPDX-License-Identifier: GPL-2.0
/*
 * Which lane an operation goes by: the one that is soonest done with it, by what
 * it has to do and the time that its requests took of late.
 *
 * A lane that is slow gets less and less, down to nothing. So one that is idle and
 * was not measured for a while gets the next operation, whatever it was like: so it
 * is found that a path has recovered, at the price of one operation each time.
 */
#include <linux/bitops.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>

#include "link_core.h"

#define OP_COST		4096		/* bytes that an operation weighs */
#define PROBE		(HZ / 10)
#define WEIGHT		8		/* of what was, beside one of what is */

void link_steer_sample(struct link_lane *lane, const struct link_request *request)
{
	u64 delay;

	if (!request->since)
		return;
	delay = max(ktime_get_ns() - request->since, 1ULL);
	if (lane->delay)
		delay = div_u64(lane->delay * (WEIGHT - 1) + delay, WEIGHT);
	WRITE_ONCE(lane->delay, delay);
	WRITE_ONCE(lane->sampled, jiffies);
}

/* One that does not answer at all has no delay that could be measured. */
static u64 delay_of(const struct link_lane *lane, u64 load)
{
	unsigned long waits = jiffies - READ_ONCE(lane->progress);
	u64 delay = READ_ONCE(lane->delay);

	if (load && (long)waits > 1)
		delay = max(delay, jiffies64_to_nsecs(waits));
	return delay;
}

u32 link_pick_lane(const struct link *link)
{
	unsigned long live = READ_ONCE(link->live);
	u32 i, best = live ? __ffs(live) : 0;
	const struct link_lane *lane;
	u64 load, cost, least = U64_MAX;

	if (hweight_long(live) < 2)
		return best;
	for_each_set_bit(i, &live, LINK_LANES_MAX) {
		lane = link->lanes[i];
		load = atomic64_read(&lane->load);
		if (!load && time_after(jiffies,
					READ_ONCE(lane->sampled) + PROBE))
			return i;
		cost = (load + OP_COST) / 1024 * max(delay_of(lane, load), 1ULL);
		if (cost < least) {
			least = cost;
			best = i;
		}
	}
	return best;
}

bool link_lane_info(struct link *link, u32 index, struct link_lane_info *info)
{
	struct link_lane *lane;
	u32 lanes;

	spin_lock(&link->lock);
	lanes = link->lanes_up;
	spin_unlock(&link->lock);
	if (index >= lanes)
		return false;
	lane = link->lanes[index];
	spin_lock(&lane->lock);
	*info = (struct link_lane_info){
		.state = lane->left ? PEERLANE_LANE_LEFT :
			 lane->leaving ? PEERLANE_LANE_LEAVING :
					 PEERLANE_LANE_LIVE,
		.qpn = lane->qpn,
		.messages = lane->owners_out,
		.bytes = lane->bytes_posted,
		.replayed = lane->replayed,
		.delay_ns = READ_ONCE(lane->delay),
		.left_ns = lane->left_at,
		.cause = lane->cause,
		.peer_qpn = lane->peer_qpn,
	};
	spin_unlock(&lane->lock);
	return true;
}
