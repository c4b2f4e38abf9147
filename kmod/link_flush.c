// SPDX-License-Identifier: GPL-2.0
/*
 * FLUSH: what was written to the peer's memory by a lane has arrived there.
 *
 * The acknowledgement of a write says that the peer's device has it, not that
 * it is in the memory. A read does not pass writes on the way to the memory: so
 * the peer's kernel is asked, for each exposure that was written, by the same
 * lane. It sends an answer of which the last byte is fetched by its device from
 * that memory. That is the first byte of the exposure, always: so much a peer
 * who may only write could learn of it by a kernel of his own.
 *
 * A read of our own would spare the peer's kernel the work, but by a key that
 * the peer may be ending right now, of which he has not told yet: that would
 * break the connection.
 */
#include <linux/bitops.h>
#include <linux/hashtable.h>

#include "link_core.h"

/* ---- ours ---- */

static bool ask(struct link_lane *lane, struct link_op *op,
		const struct link_grant *grant)
{
	struct link_message message = {
		.type = LINK_MESSAGE_FLUSH,
		.token = grant->token,
		.offset = READ_ONCE(grant->last),
	};

	if (lane->flushes_out - lane->flushes_in == LINK_FLUSHES)
		return false;
	lane->flushes[lane->flushes_out++ % LINK_FLUSHES] = &op->work;
	op->work.waits++;
	op->work.end = link_lane_send(lane, &message);
	return true;
}

/* False: no room now. */
static bool flush_grant(struct link_lane *lane, struct link_op *op,
			struct link_grant *grant)
{
	if (link_lane_room(lane) <= LINK_SQ_RESERVE)
		return false;
	if (!ask(lane, op, grant))
		return false;
	clear_bit(lane->index, &grant->touched);
	return true;
}

/* One that was written since its last flush, with a reference. */
static struct link_grant *next_touched(struct link_lane *lane, u32 *bucket)
{
	struct link *link = lane->link;
	struct link_grant *grant;

	spin_lock(&link->lock);
	for (; *bucket < HASH_SIZE(link->grants); (*bucket)++) {
		hlist_for_each_entry(grant, &link->grants[*bucket], node) {
			if (!test_bit(lane->index, &grant->touched))
				continue;
			kref_get(&grant->ref);
			spin_unlock(&link->lock);
			return grant;
		}
	}
	spin_unlock(&link->lock);
	return NULL;
}

bool link_flush_post(struct link_lane *lane, struct link_op *op)
{
	struct link_grant *grant;
	bool done = true;

	lockdep_assert_held(&lane->lock);
	while (done) {
		grant = next_touched(lane, &op->cursor);
		if (!grant)
			return true;
		/* Withdrawn: there is nothing more to be read by it. */
		if (READ_ONCE(grant->withdrawn))
			clear_bit(lane->index, &grant->touched);
		else
			done = flush_grant(lane, op, grant);
		link_grant_put(grant);
	}
	return false;
}

static int answered(struct link_lane *lane)
{
	LIST_HEAD(done);
	int ret = 0;

	spin_lock(&lane->lock);
	if (lane->flushes_out == lane->flushes_in) {
		ret = -EPROTO;
	} else {
		link_work_told(lane, lane->flushes[lane->flushes_in++ %
						   LINK_FLUSHES], &done);
		link_lane_pump(lane);
	}
	spin_unlock(&lane->lock);
	link_call_done(&done);
	return ret;
}

/* ---- the peer's ---- */

/* They are sent in order: this is the oldest. */
static void answer_sent(struct link_work *work)
{
	struct link_answer *answer = container_of(work, struct link_answer, work);
	struct link_lane *lane = answer->lane;
	struct link_key *key = answer->key;

	spin_lock(&lane->lock);
	lane->answers_out++;
	link_lane_pump(lane);	/* a question may have waited for it */
	spin_unlock(&lane->lock);
	if (key)
		link_key_unuse(key);
}

/* The last byte comes from the memory that was written, unless that is ending. */
static void post_answer(struct link_lane *lane, struct link_answer *answer,
			const struct link_question *question)
{
	struct link_message message = {
		.type = LINK_MESSAGE_FLUSHED,
		.value = question->value,
	};
	struct link_wr *wr;

	answer->lane = lane;
	answer->key = link_key_use(lane->link, question->token);
	answer->work = (struct link_work){ .done = answer_sent };
	answer->work.end = link_lane_send(lane, &message);
	wr = &lane->wrs[lane->chain - 1];
	if (answer->key && link_key_sge(answer->key, &wr->sges[1]))
		wr->send.num_sge = 2;
	wr->send.send_flags |= IB_SEND_SIGNALED;
	list_add_tail(&answer->work.node, &lane->posted);
}

void link_answers_pump(struct link_lane *lane)
{
	lockdep_assert_held(&lane->lock);
	while (lane->asked_out != lane->asked_in &&
	       lane->answers_in - lane->answers_out < LINK_FLUSHES &&
	       link_lane_room(lane))
		post_answer(lane, &lane->answers[lane->answers_in++ % LINK_FLUSHES],
			    &lane->asked[lane->asked_out++ % LINK_FLUSHES]);
}

/*
 * The peer has no more of them than it has no answer to. It may have an answer
 * before its device's acknowledgement of that is seen here: so questions wait
 * apart from answers under way.
 */
static int asked(struct link_lane *lane, const struct link_message *message)
{
	int ret = 0;

	spin_lock(&lane->lock);
	if (lane->asked_in - lane->asked_out == LINK_FLUSHES) {
		ret = -EPROTO;
	} else {
		lane->asked[lane->asked_in++ % LINK_FLUSHES] =
			(struct link_question){ .token = message->token,
						.value = message->value };
		link_lane_pump(lane);
	}
	spin_unlock(&lane->lock);
	return ret;
}

int link_flush_in(struct link_lane *lane, const struct link_message *message)
{
	if (message->type == LINK_MESSAGE_FLUSHED)
		return answered(lane);
	return asked(lane, message);
}
