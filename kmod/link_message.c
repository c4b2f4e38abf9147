// SPDX-License-Identifier: GPL-2.0
/*
 * Messages between the kernels, and the credit for them. All but NOTIFY, OWNER and
 * FLUSH go by the first lane that is live.
 */
#include <linux/bitops.h>
#include <linux/jiffies.h>

#include "link_core.h"

#define TELL_DELAY_MS	10	/* of credit, which often goes with an answer */

/* ---- out ---- */

bool link_take_control(struct link *link, u32 reserve)
{
	bool there;

	spin_lock(&link->lock);
	there = link_credit_left(&link->control) > reserve;
	if (there)
		link->control.sent++;
	spin_unlock(&link->lock);
	return there;
}

static const struct {
	u8 type;
	u8 reserve;
} urgent_messages[] = {
	[LINK_SEND_ANSWER]	= { LINK_MESSAGE_CREDIT, 0 },
	[LINK_SEND_CREDIT]	= { LINK_MESSAGE_CREDIT, LINK_CONTROL_RESERVE },
	[LINK_SEND_PING]	= { LINK_MESSAGE_PING, LINK_CONTROL_RESERVE },
	[LINK_SEND_PONG]	= { LINK_MESSAGE_PONG, LINK_CONTROL_RESERVE },
};

/* False: no room, or no credit for it now. */
static bool send_urgent(struct link_lane *lane, enum link_urgent what)
{
	struct link *link = lane->link;
	struct link_message message = { .type = urgent_messages[what].type };
	u32 number;

	if (!link_lane_room(lane) ||
	    !link_take_control(link, urgent_messages[what].reserve))
		return false;
	number = link_lane_send(lane, &message);
	if (what == LINK_SEND_PING)
		lane->requests[number & (link->sq_size - 1)].is_ping = true;
	return true;
}

void link_messages_pump(struct link_lane *lane)
{
	unsigned long *urgent = &lane->link->urgent;
	u32 what;

	lockdep_assert_held(&lane->lock);
	for (what = 0; READ_ONCE(*urgent) && what < ARRAY_SIZE(urgent_messages);
	     what++)
		/* Cleared first: it may be wanted again meanwhile. */
		if (test_and_clear_bit(what, urgent) && !send_urgent(lane, what))
			set_bit(what, urgent);
}

void link_urge(struct link *link, enum link_urgent what)
{
	struct link_lane *lane = link_control(link), *kicked = NULL;

	if (!lane)
		return;
	set_bit(what, &link->urgent);
	/* It may become another one while the bit is not seen yet. */
	for (; lane != kicked; lane = link_control(link)) {
		link_lane_kick(lane);
		kicked = lane;
	}
}

/* ---- credit for NOTIFY ---- */

bool link_take_notify_credit(struct link *link)
{
	bool there;

	spin_lock(&link->lock);
	there = link_credit_left(&link->notify) > 0;
	if (there)
		link->notify.sent++;
	spin_unlock(&link->lock);
	return there;
}

void link_give_back_notify_credit(struct link *link)
{
	spin_lock(&link->lock);
	link->notify.sent--;
	spin_unlock(&link->lock);
}

void link_notices_read(struct link *link, u32 count)
{
	u32 untold;
	bool due;

	spin_lock(&link->lock);
	link->notify_read += count;
	untold = link->notify_read - link->notify_told;
	due = untold && (link->hungry || untold > link->settings.notify / 4);
	if (due)
		link->hungry = false;
	spin_unlock(&link->lock);
	if (due)
		link_urge(link, LINK_SEND_CREDIT);
	else if (untold && link_alive(link))
		queue_delayed_work(link_life_queue, &link->tell,
				   msecs_to_jiffies(TELL_DELAY_MS));
}

/* Until now no other message went that told it. */
void link_tell_work(struct work_struct *work)
{
	struct link *link = container_of(to_delayed_work(work), struct link,
					 tell);
	bool due;

	spin_lock(&link->lock);
	due = link->notify_read != link->notify_told;
	spin_unlock(&link->lock);
	if (due)
		link_urge(link, LINK_SEND_CREDIT);
}

/* ---- in ---- */

/* All of what it says, or nothing: no credit is used of a peer that lies. */
static bool take_credits(struct link *link, const struct link_message *message)
{
	lockdep_assert_held(&link->lock);
	if (!link_credit_may_be(&link->control, message->control) ||
	    !link_credit_may_be(&link->notify, message->notify) ||
	    !link_credit_may_be(&link->exposures, message->grants))
		return false;
	link_credit_return(&link->control, message->control);
	link_credit_return(&link->notify, message->notify);
	link_credit_return(&link->exposures, message->grants);
	return true;
}

static int read_head(struct link *link, const struct link_message *message)
{
	bool fine, more;

	spin_lock(&link->lock);
	more = message->notify != link->notify.done ||
	       message->control != link->control.done ||
	       message->grants != link->exposures.done;
	fine = take_credits(link, message);
	spin_unlock(&link->lock);
	if (!fine)
		return -EPROTO;
	if (more) {
		link_lane_kick(link_control(link));
		link->ops->room(link, link->owner);
	}
	return 0;
}

static void note_hunger(struct link *link, const struct link_message *message)
{
	if (!(message->flags & LINK_MESSAGE_HUNGRY))
		return;
	spin_lock(&link->lock);
	link->hungry = true;
	spin_unlock(&link->lock);
}

/* The owner keeps nothing of it, so there is room for another. */
static int owner_message(struct link_lane *lane,
			 const struct link_message *message)
{
	struct link *link = lane->link;

	if (!link->ops->message)
		return -EPROTO;
	lane->owners_in++;
	note_hunger(link, message);
	link_notices_read(link, 1);
	return link->ops->message(link, link->owner, lane->index, message->data,
				  message->length) ? 0 : -EPROTO;
}

static void notice(struct link_lane *lane, const struct link_message *message)
{
	struct link *link = lane->link;
	struct link_notice notice = {
		.token = message->token,
		.length = message->length,
		.value = message->value,
		.lane = lane->index,
	};

	note_hunger(link, message);
	link->ops->notice(link, link->owner, &notice);
	/* What was read before it was known that they wait for it. */
	link_notices_read(link, 0);
}

static int control(struct link *link, const struct link_message *message)
{
	switch (message->type) {
	case LINK_MESSAGE_EXPOSE:
		return link_grant_in(link, message);
	case LINK_MESSAGE_WITHDRAW:
		return link_grant_out(link, message->token);
	case LINK_MESSAGE_PING:
		link_urge(link, LINK_SEND_PONG);
		break;
	case LINK_MESSAGE_PONG:
		WRITE_ONCE(link->ping_out, false);
		break;
	}
	return 0;
}

/* The peer may send as many again as were dealt with. */
static void control_done(struct link *link)
{
	bool due;

	spin_lock(&link->lock);
	link->control_done++;
	due = link->control_done - link->control_told >= LINK_CONTROL_TELL;
	spin_unlock(&link->lock);
	if (due)
		link_urge(link, LINK_SEND_ANSWER);
}

int link_message_in(struct link_lane *lane, const struct link_message *message)
{
	struct link *link = lane->link;
	int ret;

	lockdep_assert_held(&link->poll_lock);
	ret = read_head(link, message);
	if (ret)
		return ret;
	switch (message->type) {
	case LINK_MESSAGE_NOTIFY:
		if (!link->ops->notice)
			return -EPROTO;
		notice(lane, message);
		return 0;
	case LINK_MESSAGE_OWNER:
		return owner_message(lane, message);
	case LINK_MESSAGE_FLUSH:
	case LINK_MESSAGE_FLUSHED:
		return link_fails_over(link) ? -EPROTO :
					       link_flush_in(lane, message);
	case LINK_MESSAGE_LEFT:
		return link_left_in(lane, message);
	}
	if (lane->index && !link_fails_over(link))
		return -EPROTO;
	lane->controls_in++;
	ret = control(link, message);
	if (!ret)
		control_done(link);
	return ret;
}
