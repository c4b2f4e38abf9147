// SPDX-License-Identifier: GPL-2.0
/* The queue pair of a lane: made, stopped, drained, freed. */
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "link_core.h"

#define READS_AT_ONCE	16
#define RETRIES		7

struct link_lane *link_lane_new(struct link *link, u32 index)
{
	struct link_lane *lane = kzalloc(sizeof(*lane), GFP_KERNEL_ACCOUNT);

	lockdep_assert_held(&link->mutex);
	if (!lane)
		return NULL;
	lane->link = link;
	lane->index = index;
	spin_lock_init(&lane->lock);
	INIT_WORK(&lane->leave, link_leave_work);
	INIT_LIST_HEAD(&lane->pending);
	INIT_LIST_HEAD(&lane->posted);
	INIT_LIST_HEAD(&lane->waiting);
	link->lanes[index] = lane;
	if (!index)
		link->control_lane = lane;
	return lane;
}

/* ---- memory ---- */

/* It may have to stand in for the first. */
static bool is_control_after(const struct link_lane *lane)
{
	return lane->link->settings.service == LINK_SERVICE_GROUP;
}

static u32 message_size(const struct link_lane *lane)
{
	if (!lane->index || is_control_after(lane))
		return LINK_MESSAGE_MAX;
	return lane->link->ops->message ? LINK_MESSAGE_MEDIUM :
					  LINK_MESSAGE_SMALL;
}

static u32 receives(const struct link_lane *lane)
{
	if (!lane->index || is_control_after(lane))
		return lane->link->rq_size;
	return min(lane->link->settings.notify + 2 * LINK_FLUSHES,
		   lane->link->rq_size);
}

static int make_queues(struct link_lane *lane)
{
	u32 i, sq_size = lane->link->sq_size;

	lane->wrs = kcalloc(LINK_BATCH, sizeof(*lane->wrs), GFP_KERNEL_ACCOUNT);
	lane->requests = kvcalloc(sq_size, sizeof(*lane->requests),
				  GFP_KERNEL_ACCOUNT);
	lane->receive = kvcalloc(receives(lane), sizeof(*lane->receive),
				 GFP_KERNEL_ACCOUNT);
	if (!lane->wrs || !lane->requests || !lane->receive)
		return -ENOMEM;
	for (i = 0; i < sq_size; i++) {
		lane->requests[i].cqe.done = link_send_done;
		lane->requests[i].lane = lane;
	}
	for (i = 0; i < receives(lane); i++) {
		lane->receive[i].cqe.done = link_receive_done;
		lane->receive[i].lane = lane;
		lane->receive[i].index = i;
	}
	return 0;
}

static int make_buffers(struct link_lane *lane)
{
	struct ib_device *dev = lane->link->dev;
	int ret;

	ret = link_buffers_init(&lane->sends, dev, lane->link->sq_size,
				message_size(lane), DMA_TO_DEVICE);
	if (!ret)
		ret = link_buffers_init(&lane->receives, dev, receives(lane),
					message_size(lane), DMA_FROM_DEVICE);
	return ret;
}

/* ---- queue pair ---- */

/* Interrupt context. */
static void qp_event(struct ib_event *event, void *context)
{
	struct link_lane *lane = context;

	if (event->event == IB_EVENT_COMM_EST ||
	    event->event == IB_EVENT_SQ_DRAINED ||
	    event->event == IB_EVENT_QP_LAST_WQE_REACHED)
		return;
	/* It is to be in error. */
	if (READ_ONCE(lane->leaving))
		return;
	link_kill(lane->link, -ECONNRESET, -ECONNRESET, "queue pair: %s",
		  ib_event_msg(event->event));
}

static int make_qp(struct link_lane *lane)
{
	struct link *link = lane->link;
	const struct ib_device_attr *attrs = &link->dev->attrs;
	struct ib_qp_init_attr init = {
		.event_handler	= qp_event,
		.qp_context	= lane,
		.send_cq	= link_lane_cq(link, lane->index),
		.recv_cq	= link_lane_cq(link, lane->index),
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
	};
	int ret;

	lane->sges = clamp(attrs->max_send_sge, 1, LINK_SGES);
	lane->read_sges = clamp(attrs->max_sge_rd, 1, (int)lane->sges);
	/* One more for the drain. */
	init.cap.max_send_wr = link->sq_size + 1;
	init.cap.max_recv_wr = receives(lane) + 1;
	init.cap.max_send_sge = lane->sges;
	init.cap.max_recv_sge = 1;
	ret = rdma_create_qp(lane->id, link->pd, &init);
	if (ret)
		return ret;
	lane->qp = lane->id->qp;
	lane->qpn = lane->qp->qp_num;
	lane->has_qp = true;
	atomic_inc(&link_totals.lanes);
	return 0;
}

int link_lane_post_receive(struct link_lane *lane, u32 index)
{
	struct ib_sge sge = {
		.addr = link_buffer_dma(&lane->receives, index),
		.length = lane->receives.size,
		.lkey = lane->link->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &lane->receive[index].cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_recv(lane->qp, &wr, NULL);
}

static int post_receives(struct link_lane *lane)
{
	u32 i;
	int ret = 0;

	for (i = 0; !ret && i < receives(lane); i++)
		ret = link_lane_post_receive(lane, i);
	return ret;
}

/* What was made is freed by the end of the link. */
int link_lane_open(struct link_lane *lane, struct peerlane_msg *msg)
{
	int ret;

	lockdep_assert_held(&lane->link->mutex);
	ret = link_device_open(lane->link, lane->id->device, msg);
	if (ret)
		return ret;
	ret = make_queues(lane);
	if (!ret)
		ret = make_buffers(lane);
	if (!ret && lane->link->is_iwarp)
		ret = link_sinks_init(lane);
	if (!ret)
		ret = make_qp(lane);
	if (!ret)
		ret = post_receives(lane);
	if (ret)
		return peerlane_refuse(msg, ret,
				       "RDMA device %s gives no queue pair: error %d",
				       dev_name(&lane->link->dev->dev), ret);
	rdma_set_ack_timeout(lane->id,
			     link_ack_timeout(lane->link->settings.timeout_ms));
	return 0;
}

void link_conn_param(struct link *link, struct rdma_conn_param *param)
{
	const struct ib_device_attr *attrs = &link->dev->attrs;

	param->responder_resources = clamp(attrs->max_qp_rd_atom, 1,
					   READS_AT_ONCE);
	param->initiator_depth = clamp(attrs->max_qp_init_rd_atom, 1,
				       READS_AT_ONCE);
	param->retry_count = RETRIES;
	/* A receive is there for each message that may come. */
	param->rnr_retry_count = 0;
}

void link_lane_established(struct link_lane *lane)
{
	lockdep_assert_held(&lane->link->mutex);
	if (lane->state == LANE_ESTABLISHED)
		return;
	lane->state = LANE_ESTABLISHED;
	lane->link->established++;
	spin_lock(&lane->lock);
	lane->open = link_alive(lane->link);
	spin_unlock(&lane->lock);
	if (lane->link->established == lane->link->lane_count)
		link_set_up(lane->link);
}

/*
 * Of the side that accepts: the CM may tell it later than the first message
 * comes, which the peer sends when all of its lanes are established.
 */
void link_all_established(struct link *link)
{
	u32 i;

	mutex_lock(&link->mutex);
	for (i = 0; i < link->lane_count; i++)
		if (link->lanes[i] && link->lanes[i]->state == LANE_CONNECTING)
			link_lane_established(link->lanes[i]);
	mutex_unlock(&link->mutex);
}

/* ---- end ---- */

void link_lane_stop(struct link_lane *lane)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	spin_lock(&lane->lock);
	lane->open = false;
	lane->stopped = true;
	spin_unlock(&lane->lock);
	cancel_work_sync(&lane->leave);
	if (!lane->has_qp)
		return;
	if (lane->state >= LANE_CONNECTING)
		rdma_disconnect(lane->id);
	ib_modify_qp(lane->qp, &attr, IB_QP_STATE);
}

void link_lane_drain(struct link_lane *lane)
{
	if (lane->has_qp)
		ib_drain_qp(lane->qp);
}

void link_lane_free_qp(struct link_lane *lane)
{
	struct ib_device *dev = lane->link->dev;

	if (lane->has_qp) {
		rdma_destroy_qp(lane->id);
		atomic_dec(&link_totals.lanes);
	}
	lane->has_qp = false;
	if (!dev)
		return;
	link_sinks_free(lane);
	link_buffers_free(&lane->sends, dev);
	link_buffers_free(&lane->receives, dev);
}

void link_lane_free(struct link_lane *lane)
{
	if (!lane)
		return;
	kvfree(lane->receive);
	kvfree(lane->requests);
	kfree(lane->wrs);
	kfree(lane);
}
