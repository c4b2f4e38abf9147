// SPDX-License-Identifier: GPL-2.0
/* What a link has on its RDMA device, and the end of a device. */
#include <linux/slab.h>

#include "link_core.h"
#include "link_map.h"

static LIST_HEAD(links);		/* with something on a device */
static DEFINE_SPINLOCK(links_lock);	/* protects links */
static DECLARE_WAIT_QUEUE_HEAD(links_gone);

struct link_totals link_totals;

void peerlane_link_counts(struct peerlane_link_counts *counts)
{
	counts->links = atomic_read(&link_totals.links);
	counts->lanes = atomic_read(&link_totals.lanes);
	counts->keys = atomic_read(&link_totals.keys);
	counts->pooled = atomic_read(&link_totals.pooled);
}

/* ---- removal ---- */

static int client_add(struct ib_device *dev)
{
	return link_choose_add(dev);
}

/* One that is alive, with a reference, or NULL. */
static struct link *find_on(const struct ib_device *dev)
{
	struct link *link, *found = NULL;

	spin_lock(&links_lock);
	list_for_each_entry(link, &links, node) {
		if (link->dev != dev || !link_alive(link))
			continue;
		found = link;
		link_get(found);
		break;
	}
	spin_unlock(&links_lock);
	return found;
}

/* A condition to wait for: without a reference, whose put may sleep. */
static bool none_on(const struct ib_device *dev)
{
	struct link *link;
	bool none = true;

	spin_lock(&links_lock);
	list_for_each_entry(link, &links, node)
		none &= link->dev != dev;
	spin_unlock(&links_lock);
	return none;
}

/* The CM tells the links too, but perhaps after this. */
static void client_remove(struct ib_device *dev, void *data)
{
	struct link *link;

	link_choose_remove(dev);
	while ((link = find_on(dev))) {
		link_kill(link, -ENETDOWN, -ENETDOWN,
			  "RDMA device %s is gone", dev_name(&dev->dev));
		link_put(link);
	}
	wait_event(links_gone, none_on(dev));
	link_map_drain(dev);
}

static struct ib_client client = {
	.name	= "peerlane",
	.add	= client_add,
	.remove	= client_remove,
};

int link_device_init(void)
{
	return ib_register_client(&client);
}

void link_device_exit(void)
{
	ib_unregister_client(&client);
}

/* ---- what a link has ---- */

static void cq_failed(struct ib_event *event, void *context)
{
	link_kill(context, -EIO, -EIO, "completion queue: %s",
		  ib_event_msg(event->event));
}

/* For so many lanes. */
static int make_cq(struct link *link, struct ib_device *dev, u32 lanes)
{
	struct ib_cq_init_attr attr = {
		.cqe = lanes * link_lane_completions(link),
		.comp_vector = ((u32)link->id + link->cq_count) %
			       dev->num_comp_vectors,
	};
	struct ib_cq *cq;

	cq = ib_create_cq(dev, link_cq_event, cq_failed, link, &attr);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	link->cqs[link->cq_count++] = cq;
	return ib_req_notify_cq(cq, IB_CQ_NEXT_COMP) < 0 ? -EIO : 0;
}

/*
 * As few as a device's limit allows: what is looked at for one lane is looked
 * at for all.
 */
static int make_cqs(struct link *link, struct ib_device *dev)
{
	u32 left, lanes = link->lane_count;
	int ret = 0;

	link->cq_lanes = min_t(u32, lanes, dev->attrs.max_cqe /
			       link_lane_completions(link));
	for (left = lanes; !ret && left; left -= min(left, link->cq_lanes))
		ret = make_cq(link, dev, min(left, link->cq_lanes));
	return ret;
}

u32 link_sends_wanted(const struct link_settings *settings)
{
	return roundup_pow_of_two(clamp(2 * settings->depth + 32, 64U, 512U));
}

u32 link_receives_wanted(const struct link_settings *settings)
{
	/* One lane may have to tell of all others. */
	u32 lefts = settings->service == LINK_SERVICE_GROUP ? LINK_LANES_MAX : 0;

	return settings->notify + LINK_CONTROL_CREDITS + 2 * LINK_FLUSHES + lefts;
}

static void choose_sizes(struct link *link, const struct ib_device *dev)
{
	u32 most = min(dev->attrs.max_qp_wr - 2, 1 << 15);
	u32 others = link_receives_wanted(&link->settings) -
		     link->settings.notify;

	link->sq_size = rounddown_pow_of_two(min(link_sends_wanted(&link->settings),
						 most));
	link->rq_size = min(link_receives_wanted(&link->settings), most);
	/* No more is promised than there are receives for. */
	link->settings.notify = min(link->settings.notify,
				    link->rq_size - others);
	link->key_pages = min_t(u32, dev->attrs.max_fast_reg_page_list_len,
				LINK_KEY_PAGES);
}

/* A lane cannot be spread over several completion queues. */
static int check_sizes(const struct link *link, const struct ib_device *dev,
		       struct peerlane_msg *msg)
{
	u32 need = link_lane_completions(link);

	if (need <= (u32)dev->attrs.max_cqe)
		return 0;
	return peerlane_refuse(msg, -ENOSPC,
			       "RDMA device %s has completion queues of %d entries, a lane with depth %u and notify_depth %u needs %u",
			       dev_name(&dev->dev), dev->attrs.max_cqe,
			       link->settings.depth, link->settings.notify, need);
}

static int check(const struct ib_device *dev, struct peerlane_msg *msg)
{
	if (!(dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) ||
	    !dev->attrs.max_fast_reg_page_list_len)
		return peerlane_refuse(msg, -EOPNOTSUPP,
				       "RDMA device %s has no fast registration",
				       dev_name(&dev->dev));
	if (dev->attrs.max_qp_wr < 128)
		return peerlane_refuse(msg, -EOPNOTSUPP,
				       "RDMA device %s has queues of %d entries only",
				       dev_name(&dev->dev), dev->attrs.max_qp_wr);
	/* A message and a byte of memory behind it: see link_flush.c. */
	if (dev->attrs.max_send_sge < 2)
		return peerlane_refuse(msg, -EOPNOTSUPP,
				       "RDMA device %s takes %d entry in a request, 2 are needed",
				       dev_name(&dev->dev),
				       dev->attrs.max_send_sge);
	return 0;
}

static void set_name(struct link *link, const char *name)
{
	spin_lock(&link->lock);
	strscpy(link->device, name, sizeof(link->device));
	spin_unlock(&link->lock);
}

int link_device_open(struct link *link, struct ib_device *dev,
		     struct peerlane_msg *msg)
{
	int ret;

	lockdep_assert_held(&link->mutex);
	if (link->dev)
		return link->dev == dev ? 0 :
			peerlane_refuse(msg, -EXDEV,
					"lanes would go by two RDMA devices, %s and %s",
					dev_name(&link->dev->dev),
					dev_name(&dev->dev));
	ret = check(dev, msg);
	if (ret)
		return ret;
	link->dev = dev;
	set_name(link, dev_name(&dev->dev));
	spin_lock(&links_lock);
	list_add(&link->node, &links);
	spin_unlock(&links_lock);
	atomic_inc(&link_totals.links);
	link->is_iwarp = rdma_protocol_iwarp(dev, rdma_start_port(dev));
	link->repeats_keys = dev->ops.driver_id == RDMA_DRIVER_RXE;
	/*
	 * siw answers a READ without another look at the key: only what comes
	 * by the same lane as its end is over by then.
	 */
	if (link->is_iwarp && ib_uses_virt_dma(dev))
		WRITE_ONCE(link->lane_count, 1);
	link_charge_less(link);
	choose_sizes(link, dev);
	ret = check_sizes(link, dev, msg);
	if (ret)
		return ret;
	link->pd = ib_alloc_pd(dev, 0);
	if (IS_ERR(link->pd)) {
		ret = PTR_ERR(link->pd);
		link->pd = NULL;
	}
	if (!ret)
		ret = make_cqs(link, dev);
	if (ret)	/* the end frees what there is */
		return peerlane_refuse(msg, ret,
				       "RDMA device %s gives no queues: error %d",
				       dev_name(&dev->dev), ret);
	return 0;
}

void link_device_close(struct link *link)
{
	u32 i, count;

	if (!link->dev)
		return;
	mutex_lock(&link->poll_lock);
	count = link->cq_count;
	link->cq_count = 0;	/* who looks for completions finds nothing */
	mutex_unlock(&link->poll_lock);
	for (i = 0; i < count; i++)
		ib_destroy_cq(link->cqs[i]);
	cancel_delayed_work_sync(&link->listen_work);
	cancel_work_sync(&link->poll_work);
	if (link->pd)
		ib_dealloc_pd(link->pd);
	spin_lock(&links_lock);
	list_del_init(&link->node);
	spin_unlock(&links_lock);
	atomic_dec(&link_totals.links);
	mutex_lock(&link->mutex);
	link->dev = NULL;
	set_name(link, "");
	mutex_unlock(&link->mutex);
	wake_up_all(&links_gone);
}
