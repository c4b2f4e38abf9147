// SPDX-License-Identifier: GPL-2.0
/* The send queue of a lane: chains of requests, and what is still to be sent. */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/string.h>

#include "link_core.h"

struct link_wr *link_lane_next(struct link_lane *lane)
{
	struct link_wr *wr;

	lockdep_assert_held(&lane->lock);
	if (lane->chain == LINK_BATCH)
		link_lane_flush(lane);
	wr = &lane->wrs[lane->chain];
	memset(wr, 0, offsetof(struct link_wr, sges));
	return wr;
}

/* The device alone does it. */
static bool is_local(const struct link_wr *wr)
{
	return wr->send.opcode == IB_WR_REG_MR ||
	       wr->send.opcode == IB_WR_LOCAL_INV;
}

u32 link_lane_add(struct link_lane *lane, struct link_wr *wr, u64 bytes,
		  bool signal)
{
	u32 number = lane->head++;
	struct link_request *request;

	lockdep_assert_held(&lane->lock);
	request = &lane->requests[number & (lane->link->sq_size - 1)];
	lane->bytes_posted += bytes;
	request->number = number;
	request->bytes = lane->bytes_posted;
	request->is_ping = false;
	request->since = 0;
	if (!is_local(wr))
		lane->wire_end = lane->head;
	lane->quiet++;
	lane->quiet_bytes += bytes;
	if (signal || link_wants_signal(lane->quiet, lane->quiet_bytes)) {
		wr->send.send_flags |= IB_SEND_SIGNALED;
		lane->quiet = 0;
		lane->quiet_bytes = 0;
	}
	if (number == lane->tail)
		lane->progress = jiffies;
	wr->send.wr_cqe = &request->cqe;
	if (lane->chain)
		lane->wrs[lane->chain - 1].send.next = &wr->send;
	lane->chain++;
	return number;
}

/* The last one always tells: else nobody might learn of the rest. */
void link_lane_flush(struct link_lane *lane)
{
	struct link_wr *last;
	int ret;

	lockdep_assert_held(&lane->lock);
	if (!lane->chain)
		return;
	last = &lane->wrs[lane->chain - 1];
	last->send.send_flags |= IB_SEND_SIGNALED;
	last->send.next = NULL;
	lane->quiet = 0;
	lane->quiet_bytes = 0;
	lane->chain = 0;
	if (!lane->open)
		return;
	lane->requests[(lane->head - 1) & (lane->link->sq_size - 1)].since =
		ktime_get_ns();
	ret = ib_post_send(lane->qp, &lane->wrs[0].send, NULL);
	if (!ret)
		return;
	lane->open = false;
	link_kill(lane->link, -EIO, -EIO, "the queue pair takes no request: error %d",
		  ret);
}

/* What the peer should know by now goes with each message. */
static void fill_head(struct link *link, struct link_message *message)
{
	spin_lock(&link->lock);
	message->control = link->control_done;
	message->notify = link->notify_read;
	message->grants = link->grants_forgotten;
	link->control_told = message->control;
	link->notify_told = message->notify;
	link->grants_told = message->grants;
	spin_unlock(&link->lock);
}

u32 link_lane_send(struct link_lane *lane, struct link_message *message)
{
	struct link *link = lane->link;
	u32 place = lane->head & (link->sq_size - 1);
	struct link_wr *wr = link_lane_next(lane);
	u64 dma = link_buffer_dma(&lane->sends, place);

	if (message->type == LINK_MESSAGE_OWNER)
		lane->owners_out++;
	else if (message->type != LINK_MESSAGE_LEFT)
		lane->controls_out++;
	fill_head(link, message);
	wr->sges[0].addr = dma;
	wr->sges[0].length = link_message_encode(message,
						 link_buffer(&lane->sends, place));
	wr->sges[0].lkey = link->pd->local_dma_lkey;
	ib_dma_sync_single_for_device(link->dev, dma, wr->sges[0].length,
				      DMA_TO_DEVICE);
	wr->send.opcode = IB_WR_SEND;
	wr->send.sg_list = wr->sges;
	wr->send.num_sge = 1;
	return link_lane_add(lane, wr, wr->sges[0].length, false);
}

void link_lane_pump(struct link_lane *lane)
{
	lockdep_assert_held(&lane->lock);
	if (!lane->open)
		return;
	if (lane == link_control(lane->link)) {
		link_left_pump(lane);
		link_keys_register(lane);
		if (!lane->draining)
			link_messages_pump(lane);
		link_keys_pump(lane);
	}
	if (!lane->draining) {
		link_answers_pump(lane);
		link_ops_pump(lane);
	}
	link_lane_flush(lane);
}

void link_lane_kick(struct link_lane *lane)
{
	spin_lock(&lane->lock);
	link_lane_pump(lane);
	spin_unlock(&lane->lock);
}

/* ---- end ---- */

static void abort_list(struct list_head *list, int status)
{
	struct link_work *work, *next;

	list_for_each_entry_safe(work, next, list, node) {
		list_del_init(&work->node);
		if (!work->status)
			work->status = status;
		work->done(work);
	}
}

void link_lane_abort(struct link_lane *lane, int status)
{
	LIST_HEAD(left);

	lockdep_assert_held(&lane->link->poll_lock);
	spin_lock(&lane->lock);
	lane->ended = true;
	list_splice_tail_init(&lane->waiting, &left);
	list_splice_tail_init(&lane->posted, &left);
	list_splice_tail_init(&lane->pending, &left);
	spin_unlock(&lane->lock);
	abort_list(&left, status);
}
