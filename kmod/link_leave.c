// SPDX-License-Identifier: GPL-2.0
/*
 * A lane that fails is left, on links of groups, as long as another one lives.
 *
 *   live -> leaving -> left
 * Leaving, it takes no more requests. Its queue pair is moved to ERR and drained;
 * then the peer is told by another lane (LEFT), with how many messages came by this
 * one, and does the same. Who has both, the end of its own queue pair and the
 * peer's word, knows that nothing is under way on the old path any more, and which
 * messages arrived by it, each after its PUT. Those are done, whatever the device
 * said of them. The others are done again by other lanes, from their beginning. So
 * each arrives once, and memory that is the owner's again is not written again.
 *
 * Memory keys are begun and ended by requests of the control lane. Of those that
 * were under way on a lane that fails nobody can tell whether they were done, so
 * they end the link.
 */
#include <linux/bitops.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>

#include "link_core.h"

/* ---- begin ---- */

/* False: it is the last one. */
static bool begin(struct link_lane *lane, u32 cause)
{
	struct link *link = lane->link;
	unsigned long rest;

	lockdep_assert_held(&lane->lock);
	spin_lock(&link->lock);
	rest = link->live & ~BIT(lane->index);
	if (rest) {
		WRITE_ONCE(link->live, rest);
		WRITE_ONCE(link->leaving, link->leaving + 1);
	}
	if (rest && link->control_lane == lane)
		/* Pairs with the acquire in link_control(). */
		smp_store_release(&link->control_lane, link->lanes[__ffs(rest)]);
	spin_unlock(&link->lock);
	if (!rest)
		return false;
	lane->open = false;
	WRITE_ONCE(lane->leaving, true);
	lane->leaving_since = jiffies;
	lane->left_at = ktime_get_boottime_ns();
	lane->cause = cause;
	/* It may have gone by this one. */
	WRITE_ONCE(link->ping_out, false);
	return true;
}

/* Stopped: the end of the link does it all. */
static void go_on(struct link_lane *lane)
{
	lockdep_assert_held(&lane->lock);
	if (!lane->stopped)
		queue_work(link_life_queue, &lane->leave);
}

bool link_lane_leave(struct link_lane *lane, u32 cause)
{
	bool may;

	if (!link_fails_over(lane->link) || link_state(lane->link) != LINK_UP)
		return false;
	spin_lock(&lane->lock);
	may = lane->leaving;
	if (!may && begin(lane, cause)) {
		may = true;
		go_on(lane);
	}
	spin_unlock(&lane->lock);
	return may;
}

/* ---- which ---- */

static bool is_idle(struct link_lane *lane)
{
	bool idle;

	spin_lock(&lane->lock);
	idle = lane->open && lane->head == lane->tail;
	spin_unlock(&lane->lock);
	return idle;
}

/* Something that says whether the peer's device is there. */
static void probe(struct link_lane *lane)
{
	struct link_message message = { .type = LINK_MESSAGE_CREDIT };

	spin_lock(&lane->lock);
	if (lane->open && link_lane_room(lane) &&
	    link_take_control(lane->link, LINK_CONTROL_RESERVE))
		link_lane_send(lane, &message);
	link_lane_flush(lane);
	spin_unlock(&lane->lock);
}

static void probe_others(struct link *link, const struct link_lane *but)
{
	unsigned long live = READ_ONCE(link->live);
	u32 i;

	for_each_set_bit(i, &live, LINK_LANES_MAX)
		if (link->lanes[i] != but && is_idle(link->lanes[i]))
			probe(link->lanes[i]);
}

/* Since it last did something another lane did, later on. */
static bool others_go_on(struct link_lane *lane, unsigned long margin)
{
	bool later;

	spin_lock(&lane->lock);
	later = time_after(READ_ONCE(lane->link->alive_at),
			   lane->progress + margin);
	spin_unlock(&lane->lock);
	return later;
}

void link_leave_stuck(struct link *link, unsigned long limit)
{
	unsigned long live = READ_ONCE(link->live);
	struct link_lane *lane;
	bool was_suspect;
	u32 i;

	if (!link_fails_over(link) || hweight_long(live) < 2)
		return;
	for_each_set_bit(i, &live, LINK_LANES_MAX) {
		lane = link->lanes[i];
		if (link_lane_is_stuck(lane, limit / 4))
			probe_others(link, lane);
		was_suspect = lane->suspect;
		lane->suspect = link_lane_is_stuck(lane, limit * 3 / 8) &&
				others_go_on(lane, limit / 4);
		/* Twice: of two that were held up one is always the first. */
		if (lane->suspect && was_suspect)
			link_lane_leave(lane, PEERLANE_LANE_CAUSE_SILENT);
	}
}

/* ---- the peer's word, and ours ---- */

int link_left_in(struct link_lane *lane, const struct link_message *message)
{
	struct link *link = lane->link;
	struct link_lane *which;

	lockdep_assert_held(&link->poll_lock);
	if (!link_fails_over(link) || message->lane >= link_lanes(link) ||
	    message->lane == lane->index)
		return -EPROTO;
	which = link->lanes[message->lane];
	if (!link_lane_leave(which, PEERLANE_LANE_CAUSE_PEER)) {
		link_kill(link, -ECONNRESET, -ECONNRESET,
			  "the last lane broke");
		return 0;
	}
	spin_lock(&which->lock);
	if (!which->told) {
		which->peer_owners = message->owners;
		which->peer_controls = message->controls;
		which->told = true;
		go_on(which);
	}
	spin_unlock(&which->lock);
	return 0;
}

void link_left_pump(struct link_lane *lane)
{
	struct link *link = lane->link;
	struct link_message message = { .type = LINK_MESSAGE_LEFT };
	struct link_lane *which;
	u32 i;

	lockdep_assert_held(&lane->lock);
	for_each_set_bit(i, &link->untold, LINK_LANES_MAX) {
		if (!link_lane_room(lane))
			return;
		/* Pairs with the barrier in tell(): what came is counted. */
		if (!test_and_clear_bit(i, &link->untold))
			continue;
		which = link->lanes[i];
		message.lane = i;
		message.owners = which->owners_in;	/* drained: the last word */
		message.controls = which->controls_in;
		link_lane_send(lane, &message);
		link->told_by[i] = lane->index + 1;
	}
}

/* Also what was said by this lane, and perhaps not heard. */
static void tell(struct link_lane *lane)
{
	struct link *link = lane->link;
	u32 i;

	/* Pairs with the test in link_left_pump(). */
	smp_mb__before_atomic();
	set_bit(lane->index, &link->untold);
	for (i = 0; i < link_lanes(link); i++)
		if (link->told_by[i] == lane->index + 1)
			set_bit(i, &link->untold);
	link_lane_kick(link_control(link));
}

/* ---- end ---- */

/* What did not arrive is of what the peer has not dealt with. */
static bool may_be_lost(struct link *link, u32 controls)
{
	bool may;

	spin_lock(&link->lock);
	may = controls <= link->control.sent - link->control.done;
	spin_unlock(&link->lock);
	return may;
}

/* False: the link dies, or is dead, and its end takes care of all. */
static bool may_replay(struct link_lane *lane)
{
	struct link *link = lane->link;

	lockdep_assert_held(&lane->lock);
	if (!link_alive(link))
		return false;
	if ((s32)((u32)lane->owners_out - lane->peer_owners) < 0 ||
	    !may_be_lost(link, lane->controls_out - lane->peer_controls)) {
		link_kill(link, -EPROTO, -ECANCELED,
			  "a message from the peer: that cannot be all that came");
		return false;
	}
	if ((s32)(lane->key_end - lane->tail) > 0) {
		link_kill(link, -ETIMEDOUT, -ETIMEDOUT,
			  "lane %u failed with memory keys under way",
			  lane->index);
		return false;
	}
	return true;
}

/* What arrived is done; what did not, and what was not sent, goes to others. */
static void replay(struct link_lane *lane, struct list_head *posted,
		   struct list_head *pending)
{
	struct link_work *work, *next;
	LIST_HEAD(done);
	u32 count = 0;

	list_for_each_entry_safe(work, next, posted, node) {
		if (link_op_is_of(work, lane->peer_owners)) {
			list_move_tail(&work->node, &done);
			continue;
		}
		list_del_init(&work->node);
		link_op_again(lane->link, work);
		count++;
	}
	list_for_each_entry_safe(work, next, pending, node) {
		list_del_init(&work->node);
		link_op_again(lane->link, work);
	}
	spin_lock(&lane->lock);
	lane->replayed = count;
	spin_unlock(&lane->lock);
	link_call_done(&done);
}

/* The peer will never have dealt with what did not arrive. */
static void settle(struct link_lane *lane)
{
	struct link *link = lane->link;

	spin_lock(&link->lock);
	link->control.sent -= lane->controls_out - lane->peer_controls;
	WRITE_ONCE(link->leaving, link->leaving - 1);
	spin_unlock(&link->lock);
}

static void finish(struct link_lane *lane)
{
	struct link *link = lane->link;
	LIST_HEAD(posted);
	LIST_HEAD(pending);
	bool may;

	mutex_lock(&link->poll_lock);
	spin_lock(&lane->lock);
	may = !lane->left && may_replay(lane);
	if (may) {
		list_splice_init(&lane->posted, &posted);
		list_splice_init(&lane->pending, &pending);
		WRITE_ONCE(lane->left, true);
	}
	spin_unlock(&lane->lock);
	if (may) {
		settle(lane);
		replay(lane, &posted, &pending);
		link->ops->room(link, link->owner);
		if (link->ops->lane_left)
			link->ops->lane_left(link, link->owner, lane->index);
	}
	mutex_unlock(&link->poll_lock);
	if (may)
		link_push(link, READ_ONCE(link->live));
}

void link_leave_work(struct work_struct *work)
{
	struct link_lane *lane = container_of(work, struct link_lane, leave);
	bool told;

	if (!lane->drained) {
		link_lane_drain(lane);
		lane->drained = true;
		tell(lane);
	}
	spin_lock(&lane->lock);
	told = lane->told;
	spin_unlock(&lane->lock);
	if (told)
		finish(lane);
}
