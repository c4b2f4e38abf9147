// SPDX-License-Identifier: GPL-2.0
/*
 * Reading by iWARP: the peer answers with writes, so what is read into needs a
 * memory key by which it may write, and which it is told. There is one for each
 * read that is under way; it is registered before the read, and the read's end
 * makes it invalid.
 *
 * Nothing is fenced, and never are there more reads than the peer answers at
 * once: siw would answer none of the peer's while it waited, and two that wait
 * so for each other wait for ever. In return siw tells of a read after what was
 * posted behind it: so reads count for themselves (link_work->waits).
 */
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "link_core.h"
#include "link_map.h"

#define REQUESTS	2	/* register, read */

struct link_sink {
	struct ib_cqe cqe;
	struct link_lane *lane;
	struct ib_mr *mr;
	struct link_work *work;		/* that the read is of */
	u32 number;
	u64 bytes;		/* of all until this one */
};

void link_sinks_limit(struct link_lane *lane, const struct rdma_conn_param *param)
{
	lockdep_assert_held(&lane->link->mutex);
	/* Drivers do not agree which of them is whose. */
	lane->read_limit = clamp_t(u32, min(param->initiator_depth,
					    param->responder_resources),
				   1, LINK_SINKS);
	/*
	 * The answers of siw are the pages themselves, which TCP keeps after the
	 * end of a connection: as few as may be.
	 */
	if (ib_uses_virt_dma(lane->id->device))
		lane->read_limit = 1;
}

static void read_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct link_sink *sink = container_of(wc->wr_cqe, struct link_sink, cqe);
	struct link_lane *lane = sink->lane;
	LIST_HEAD(done);

	if (wc->status != IB_WC_SUCCESS) {
		link_request_failed(lane, sink->work, sink->number, wc->status);
		return;
	}
	spin_lock(&lane->lock);
	lane->reads--;
	lane->read_since = jiffies;
	link_work_told(lane, sink->work, &done);
	link_lane_back(lane, sink->number, sink->bytes, &done);
	link_lane_pump(lane);
	spin_unlock(&lane->lock);
	link_call_done(&done);
}

u64 link_sinks_cost(void)
{
	return LINK_SINKS * (sizeof(struct link_sink) +
			     link_mr_cost(LINK_KEY_PAGES)) +
	       LINK_KEY_PAGES * sizeof(struct scatterlist);
}

int link_sinks_init(struct link_lane *lane)
{
	struct link *link = lane->link;
	struct ib_mr *mr;
	u32 i;

	lane->sinks = kcalloc(LINK_SINKS, sizeof(*lane->sinks),
			      GFP_KERNEL_ACCOUNT);
	lane->sink_sg = kmalloc_array(link->key_pages, sizeof(*lane->sink_sg),
				      GFP_KERNEL_ACCOUNT);
	if (!lane->sinks || !lane->sink_sg)
		return -ENOMEM;
	for (i = 0; i < LINK_SINKS; i++) {
		mr = ib_alloc_mr(link->pd, IB_MR_TYPE_MEM_REG, link->key_pages);
		if (IS_ERR(mr))
			return PTR_ERR(mr);
		lane->sinks[i].mr = mr;
		lane->sinks[i].lane = lane;
		lane->sinks[i].cqe.done = read_done;
	}
	return 0;
}

void link_sinks_free(struct link_lane *lane)
{
	u32 i;

	for (i = 0; lane->sinks && i < LINK_SINKS; i++)
		if (lane->sinks[i].mr)
			ib_dereg_mr(lane->sinks[i].mr);
	kfree(lane->sinks);
	kfree(lane->sink_sg);
	lane->sinks = NULL;
	lane->sink_sg = NULL;
}

/* They are used, and end, in turn. NULL: as many as may be are under way. */
static struct link_sink *next_sink(struct link_lane *lane)
{
	if (lane->reads >= lane->read_limit)
		return NULL;
	return &lane->sinks[lane->sink_next % LINK_SINKS];
}

/* Bytes that a key can have from there on. */
static u64 limit(const struct link_lane *lane, const struct link_op *op)
{
	u64 at = op->local + op->posted;

	return ((u64)lane->link->key_pages << PAGE_SHIFT) - offset_in_page(at);
}

static bool map_sink(struct link_lane *lane, struct link_sink *sink,
		     const struct link_op *op, u64 length)
{
	struct ib_mr *mr = sink->mr;
	int count;

	count = link_map_keysg(op->map, op->local + op->posted, length,
			       lane->sink_sg, lane->link->key_pages);
	if (count <= 0 ||
	    ib_map_mr_sg(mr, lane->sink_sg, count, NULL, PAGE_SIZE) != count)
		return false;
	/* Says nothing of where the memory is. */
	mr->iova = (mr->iova & ~PAGE_MASK) | 1ULL << 32;
	ib_update_fast_reg_key(mr, (u8)(mr->rkey + 1));
	return true;
}

static void post_register(struct link_lane *lane, struct ib_mr *mr)
{
	struct link_wr *wr = link_lane_next(lane);

	wr->send.opcode = IB_WR_REG_MR;
	wr->reg.mr = mr;
	wr->reg.key = mr->rkey;
	wr->reg.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	link_lane_add(lane, wr, 0, false);
}

static void post_read(struct link_lane *lane, struct link_sink *sink,
		      struct link_op *op, u64 length)
{
	struct link_wr *wr = link_lane_next(lane);

	link_op_remote(wr, op);
	wr->sges[0].addr = sink->mr->iova;
	wr->sges[0].length = length;
	wr->sges[0].lkey = sink->mr->lkey;
	wr->send.opcode = IB_WR_RDMA_READ_WITH_INV;
	wr->send.ex.invalidate_rkey = sink->mr->lkey;
	wr->send.sg_list = wr->sges;
	wr->send.num_sge = 1;
	sink->number = link_lane_add(lane, wr, length, true);
	sink->bytes = lane->bytes_posted;
	/* Its place in the queue may be another's before it tells. */
	wr->send.wr_cqe = &sink->cqe;
}

/*
 * siw sends little of a registered memory from its own copy, and takes the wrong
 * part of it where that crosses a page (7.2, siw_try_1seg()).
 */
#define SIW_COPIES	32

static u64 within_page(const struct link_op *op, u64 length)
{
	u64 at = op->grant->chunk_at[0].iova + op->remote + op->posted;

	if (length > SIW_COPIES)
		return length;
	return min_t(u64, length, SZ_4K - (at & (SZ_4K - 1)));
}

u64 link_sink_read(struct link_lane *lane, struct link_op *op, u64 length)
{
	struct link_sink *sink = next_sink(lane);

	lockdep_assert_held(&lane->lock);
	if (!sink || link_lane_room(lane) <= LINK_SQ_RESERVE + REQUESTS)
		return 0;
	length = within_page(op, min(length, limit(lane, op)));
	if (!map_sink(lane, sink, op, length)) {
		link_kill(lane->link, -EIO, -EIO, "no memory key to read with");
		return 0;
	}
	post_register(lane, sink->mr);
	post_read(lane, sink, op, length);
	sink->work = &op->work;
	lane->sink_next++;
	/* PINGs behind it may come back: progress is none of a read's. */
	if (!lane->reads)
		lane->read_since = jiffies;
	lane->reads++;
	op->work.waits++;
	op->work.end = sink->number;
	return length;
}
