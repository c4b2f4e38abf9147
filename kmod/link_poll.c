// SPDX-License-Identifier: GPL-2.0
/*
 * Completions. They are looked at by one at a time: the work that the device's
 * interrupt queues, or a caller who has nothing better to do than to wait.
 */
#include <linux/jiffies.h>

#include "link_core.h"

#define BATCH	16
#define BUDGET	256

/* ---- requests ---- */

static int status_of(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_REM_ACCESS_ERR:
		return -EACCES;
	case IB_WC_RETRY_EXC_ERR:
		return -ETIMEDOUT;
	case IB_WC_WR_FLUSH_ERR:
		return -ECONNRESET;
	case IB_WC_LOC_PROT_ERR:
	case IB_WC_LOC_ACCESS_ERR:
		return -EFAULT;
	default:
		return -EIO;
	}
}

/* The work that request @number is of. */
static struct link_work *find_work(struct link_lane *lane, u32 number)
{
	struct link_work *work;

	lockdep_assert_held(&lane->lock);
	list_for_each_entry(work, &lane->posted, node)
		if ((s32)(work->end - number) >= 0)
			return work;
	return list_first_entry_or_null(&lane->pending, struct link_work, node);
}

/* While connecting the CM does it, and tells why after it. */
static void flushed(struct link_lane *lane)
{
	struct link *link = lane->link;

	if (link_state(link) == LINK_UP && !READ_ONCE(lane->leaving))
		link_kill(link, -ECONNRESET, -ECONNRESET, "the connection broke");
}

void link_request_failed(struct link_lane *lane, struct link_work *work,
			 u32 number, enum ib_wc_status status)
{
	int error = status_of(status);

	/* Those after the first that failed were only given back. */
	if (status == IB_WC_WR_FLUSH_ERR) {
		flushed(lane);
		return;
	}
	/* Only the path is to blame. */
	if (status == IB_WC_RETRY_EXC_ERR &&
	    link_lane_leave(lane, PEERLANE_LANE_CAUSE_UNANSWERED))
		return;
	spin_lock(&lane->lock);
	lane->open = false;
	if (!work)
		work = find_work(lane, number);
	if (work && !work->status)
		work->status = error;
	spin_unlock(&lane->lock);
	link_kill(lane->link, error,
		  error == -ETIMEDOUT ? error : -ECANCELED,
		  "an operation failed: %s", ib_wc_status_msg(status));
}

/* Works whose last request is back. */
static void take_done(struct link_lane *lane, struct list_head *done)
{
	struct link_work *work, *next;

	lockdep_assert_held(&lane->lock);
	list_for_each_entry_safe(work, next, &lane->posted, node) {
		if ((s32)(work->end - lane->tail) >= 0)
			return;
		work->back = true;
		if (work->waits && list_empty(&lane->waiting))
			lane->waiting_since = jiffies;
		list_move_tail(&work->node, work->waits ? &lane->waiting : done);
	}
}

void link_lane_back(struct link_lane *lane, u32 number, u64 bytes,
		    struct list_head *done)
{
	lockdep_assert_held(&lane->lock);
	/* A read by siw tells after what was posted behind it. */
	if ((s32)(number - lane->tail) >= 0) {
		lane->tail = number + 1;
		lane->bytes_back = bytes;
		if ((s32)(lane->key_end - lane->tail) < 0)
			lane->key_end = lane->tail;	/* or it would be far behind */
	}
	lane->progress = jiffies;
	take_done(lane, done);
}

void link_work_told(struct link_lane *lane, struct link_work *work,
		    struct list_head *done)
{
	lockdep_assert_held(&lane->lock);
	lane->waiting_since = jiffies;
	if (!--work->waits && work->back)
		list_move_tail(&work->node, done);
}

void link_call_done(struct list_head *done)
{
	struct link_work *work, *next;

	list_for_each_entry_safe(work, next, done, node) {
		list_del_init(&work->node);
		work->done(work);
	}
}

void link_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct link_request *request = container_of(wc->wr_cqe,
						    struct link_request, cqe);
	struct link_lane *lane = request->lane;
	struct link *link = lane->link;
	LIST_HEAD(done);

	if (wc->status != IB_WC_SUCCESS) {
		link_request_failed(lane, NULL, request->number, wc->status);
		return;
	}
	if (request->is_ping)
		WRITE_ONCE(link->ping_at, jiffies);
	WRITE_ONCE(link->alive_at, jiffies);
	link_steer_sample(lane, request);
	spin_lock(&lane->lock);
	link_lane_back(lane, request->number, request->bytes, &done);
	link_lane_pump(lane);
	spin_unlock(&lane->lock);
	link_call_done(&done);
}

/* ---- works without a completion of their own ---- */

void link_sweep_later(struct link_lane *lane)
{
	lockdep_assert_held(&lane->lock);
	lane->sweep = true;
	WRITE_ONCE(lane->link->sweep, true);
	queue_work(link_poll_queue, &lane->link->poll_work);
}

static void sweep_lane(struct link_lane *lane)
{
	LIST_HEAD(done);

	spin_lock(&lane->lock);
	if (lane->sweep && lane->open)
		take_done(lane, &done);
	lane->sweep = false;
	spin_unlock(&lane->lock);
	link_call_done(&done);
}

static void sweep(struct link *link)
{
	u32 i;

	lockdep_assert_held(&link->poll_lock);
	if (!READ_ONCE(link->sweep))
		return;
	WRITE_ONCE(link->sweep, false);
	for (i = 0; i < link_lanes(link); i++)
		sweep_lane(link->lanes[i]);
}

/* ---- receives ---- */

/* Read before the receive is there again, and only then dealt with. */
static int read_message(struct link_lane *lane, u32 index, u32 length)
{
	struct link *link = lane->link;
	u64 dma = link_buffer_dma(&lane->receives, index);
	int ret;

	ib_dma_sync_single_for_cpu(link->dev, dma, lane->receives.size,
				   DMA_FROM_DEVICE);
	ret = link_message_decode(&link->in, link_buffer(&lane->receives, index),
				  min(length, lane->receives.size));
	ib_dma_sync_single_for_device(link->dev, dma, lane->receives.size,
				      DMA_FROM_DEVICE);
	return ret;
}

/*
 * A message, and no more: a write with immediate data takes a receive too, which
 * then has the bytes of an earlier message.
 */
static bool is_plain(const struct ib_wc *wc)
{
	return wc->opcode == IB_WC_RECV &&
	       !(wc->wc_flags & (IB_WC_WITH_IMM | IB_WC_WITH_INVALIDATE));
}

static bool is_told_up(const struct link *link)
{
	/* Pairs with the release in link_set_up(). */
	return smp_load_acquire(&link->told_up);
}

/*
 * The first messages may come before the CM has told that the link is up. The
 * side that began waits, as it has to learn from the answer first.
 */
static int wait_up(struct link *link)
{
	if (is_told_up(link))
		return 0;
	if (!link->is_active)
		link_all_established(link);
	else
		wait_event(link->not_connecting,
			   is_told_up(link) || link_state(link) > LINK_UP);
	return is_told_up(link) ? 0 : -EPROTO;
}

/* One that is being left needs no more, and may not take it. */
static int give_back(struct link_lane *lane, u32 index)
{
	int ret = 0;

	if (!READ_ONCE(lane->leaving))
		ret = link_lane_post_receive(lane, index);
	return READ_ONCE(lane->leaving) ? 0 : ret;
}

/* @what: tells of an -EPROTO */
static int take_message(struct link_lane *lane, const struct link_receive *receive,
			const struct ib_wc *wc, const char **what)
{
	int ret = wait_up(lane->link);

	*what = "it came before the connection";
	if (ret)
		return ret;
	*what = "it is of no kind that is sent";
	if (!is_plain(wc))
		return -EPROTO;
	*what = "it makes no sense";
	ret = read_message(lane, receive->index, wc->byte_len);
	if (!ret)
		ret = give_back(lane, receive->index);
	if (ret)
		return ret;
	*what = "it may not be said now";
	return link_message_in(lane, &lane->link->in);
}

void link_receive_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct link_receive *receive = container_of(wc->wr_cqe,
						    struct link_receive, cqe);
	struct link_lane *lane = receive->lane;
	struct link *link = lane->link;
	const char *what;
	int ret;

	if (wc->status == IB_WC_WR_FLUSH_ERR) {
		flushed(lane);
		return;
	}
	if (wc->status != IB_WC_SUCCESS) {
		link_kill(link, -ECONNRESET, -ECONNRESET,
			  "the connection broke: %s",
			  ib_wc_status_msg(wc->status));
		return;
	}
	if (!link_alive(link))
		return;
	WRITE_ONCE(link->heard, jiffies);
	WRITE_ONCE(link->alive_at, jiffies);
	ret = take_message(lane, receive, wc, &what);
	if (ret)
		link_kill(link, ret, -ECANCELED, "a message from the peer: %s",
			  ret == -EPROTO ? what : "no room for it");
}

/* ---- who looks ---- */

void link_cq_event(struct ib_cq *cq, void *context)
{
	struct link *link = context;

	/* Who looks all the time sees it, and has the work done at his end. */
	if (!atomic_read(&link->spinners)) {
		queue_work(link_poll_queue, &link->poll_work);
		return;
	}
	WRITE_ONCE(link->stirred, true);
	if (wq_has_sleeper(&link->dozers))
		wake_up(&link->dozers);
}

/* Completions handled, at most @budget or a little more. */
static u32 handle_cq(struct ib_cq *cq, u32 budget)
{
	struct ib_wc wcs[BATCH];
	u32 count = 0;
	int i, got;

	while (count < budget) {
		got = ib_poll_cq(cq, BATCH, wcs);
		for (i = 0; i < got; i++)
			wcs[i].wr_cqe->done(cq, &wcs[i]);
		if (got < BATCH)
			return count + max(got, 0);
		count += got;
	}
	return count;
}

/* The most of any: each has a budget of its own, so that none starves. */
static u32 handle(struct link *link, u32 budget)
{
	u32 i, most = 0;

	lockdep_assert_held(&link->poll_lock);
	sweep(link);
	for (i = 0; i < link->cq_count; i++)
		most = max(most, handle_cq(link->cqs[i], budget));
	return most;
}

/* Interrupts from now on. True: something came before. */
static bool request_events(struct link *link)
{
	bool missed = false;
	u32 i;

	lockdep_assert_held(&link->poll_lock);
	for (i = 0; i < link->cq_count; i++)
		missed |= ib_req_notify_cq(link->cqs[i], IB_CQ_NEXT_COMP |
					   IB_CQ_REPORT_MISSED_EVENTS) > 0;
	return missed;
}

void link_poll_work(struct work_struct *work)
{
	struct link *link = container_of(work, struct link, poll_work);
	bool again;

	mutex_lock(&link->poll_lock);
	again = handle(link, BUDGET) >= BUDGET;
	/* Not while somebody looks all the time. */
	if (!again && link->cq_count && !atomic_read(&link->spinners)) {
		WRITE_ONCE(link->deaf, false);
		again = request_events(link);
	}
	mutex_unlock(&link->poll_lock);
	if (again)
		queue_work(link_poll_queue, &link->poll_work);
}

bool link_poll_now(struct link *link)
{
	if (!mutex_trylock(&link->poll_lock))
		return false;
	handle(link, BATCH);
	mutex_unlock(&link->poll_lock);
	return true;
}

void link_spin_begin(struct link *link)
{
	atomic_inc(&link->spinners);
}

/* Unless he looks again very soon, as one does who waits for answers. */
void link_spin_end(struct link *link)
{
	mutex_lock(&link->poll_lock);
	WRITE_ONCE(link->deaf, true);
	atomic_dec(&link->spinners);
	if (link->cq_count)	/* else the work is not to be begun any more */
		queue_delayed_work(link_poll_queue, &link->listen_work, 1);
	mutex_unlock(&link->poll_lock);
}

/* ---- who sleeps, but looks himself when woken ---- */

void link_doze_begin(struct link *link, struct wait_queue_entry *entry)
{
	link_spin_begin(link);
	init_waitqueue_entry(entry, current);
	add_wait_queue(&link->dozers, entry);
	WRITE_ONCE(link->stirred, true);	/* so that he looks, and listens */
}

bool link_is_stirred(const struct link *link)
{
	return READ_ONCE(link->stirred);
}

void link_look(struct link *link)
{
	mutex_lock(&link->poll_lock);
	/* An event from now on is of what may come after the look. */
	WRITE_ONCE(link->stirred, false);
	if (handle(link, BUDGET) >= BUDGET || request_events(link))
		WRITE_ONCE(link->stirred, true);
	mutex_unlock(&link->poll_lock);
}

void link_doze_end(struct link *link, struct wait_queue_entry *entry)
{
	remove_wait_queue(&link->dozers, entry);
	mutex_lock(&link->poll_lock);
	atomic_dec(&link->spinners);
	WRITE_ONCE(link->deaf, false);
	if (request_events(link))	/* false if they are going: no work then */
		queue_work(link_poll_queue, &link->poll_work);
	mutex_unlock(&link->poll_lock);
}

void link_listen_work(struct work_struct *work)
{
	struct link *link = container_of(to_delayed_work(work), struct link,
					 listen_work);

	link_poll_work(&link->poll_work);
}

void link_hear(struct link *link)
{
	if (!READ_ONCE(link->deaf))
		return;
	mutex_lock(&link->poll_lock);
	if (link->cq_count)
		queue_work(link_poll_queue, &link->poll_work);
	mutex_unlock(&link->poll_lock);
}
