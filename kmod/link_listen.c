// SPDX-License-Identifier: GPL-2.0
/*
 * Listening. The first lane of a connection makes a link, the others find it by
 * its number. A link leaves the listener when it is up or ends.
 */
#include <crypto/algapi.h>
#include <linux/slab.h>
#include <rdma/ib_cm.h>

#include "compat.h"
#include "link_cm.h"

struct link_listener {
	struct link_settings settings;
	const struct link_listener_ops *ops;
	void *owner;
	struct rdma_cm_id *id;
	atomic_t has_id;
	struct work_struct gone;

	struct mutex lock;
	/* protected by lock */
	struct list_head links;		/* with a reference each */
};

/* ---- refusal ---- */

static int refuse(struct rdma_cm_id *id, u32 refusal)
{
	u8 data[LINK_REFUSAL_SIZE];

	link_refusal_encode(refusal, data);
	rdma_reject(id, data, sizeof(data), IB_CM_REJ_CONSUMER_DEFINED);
	return -ECONNREFUSED;	/* the CM destroys the id */
}

static u32 check(const struct link_listener *listener,
		 const struct rdma_cm_id *id, struct link_hello *hello,
		 const struct rdma_conn_param *param)
{
	const char *device = listener->settings.device;
	int ret = -EPROTO;

	if (param->private_data)
		ret = link_hello_decode(hello, param->private_data,
					param->private_data_len);
	if (ret)
		return LINK_REFUSAL_VERSION;
	if (crypto_memneq(hello->secret, listener->settings.secret,
			  LINK_SECRET_SIZE))
		return LINK_REFUSAL_SECRET;
	if (hello->service != listener->settings.service)
		return LINK_REFUSAL_SERVICE;
	if (device[0] && strcmp(device, dev_name(&id->device->dev)))
		return LINK_REFUSAL_DEVICE;
	return LINK_REFUSAL_NONE;
}

/* ---- one lane ---- */

static int accept_lane(struct link_lane *lane, const struct rdma_conn_param *theirs)
{
	u8 data[LINK_HELLO_SIZE];
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = sizeof(data),
	};
	struct link_hello hello;

	link_hello_fill(lane->link, lane->index, &hello);
	memset(hello.secret, 0, sizeof(hello.secret));
	link_hello_encode(&hello, data);
	link_conn_param(lane->link, &param);
	param.responder_resources = min(param.responder_resources,
					theirs->responder_resources);
	param.initiator_depth = min(param.initiator_depth,
				    theirs->initiator_depth);
	link_sinks_limit(lane, &param);
	lane->state = LANE_CONNECTING;
	return rdma_accept(lane->id, &param);
}

/*
 * From where the lane has the id it is the link's, also on failure: then the
 * link dies of it.
 */
static u32 take_lane(struct link *link, struct rdma_cm_id *id,
		     const struct link_hello *hello,
		     const struct rdma_conn_param *param)
{
	struct link_lane *lane;
	struct peerlane_msg msg = {};
	int ret;

	lockdep_assert_held(&link->mutex);
	if (!link_alive(link) || hello->lane >= link->lane_count ||
	    link->lanes[hello->lane])
		return LINK_REFUSAL_LANE;
	lane = link_lane_new(link, hello->lane);
	if (!lane)
		return LINK_REFUSAL_MEMORY;
	lane->id = id;
	id->context = lane;
	id->event_handler = link_lane_event;
	ret = link_lane_open(lane, &msg);
	if (!ret)
		ret = accept_lane(lane, param);
	if (ret)
		link_kill(link, ret, ret, "%s",
			  msg.text[0] ? msg.text : "cannot accept a lane");
	return LINK_REFUSAL_NONE;
}

/* ---- first lane: a new link ---- */

static u32 take_first(struct link_listener *listener, struct rdma_cm_id *id,
		      const struct link_hello *hello,
		      const struct rdma_conn_param *param)
{
	u32 refusal = LINK_REFUSAL_LIMIT;
	union link_address local, peer;
	struct link *link;

	lockdep_assert_held(&listener->lock);
	link = listener->ops->incoming(listener->owner, &refusal);
	if (!link)
		return refusal;
	mutex_lock(&link->mutex);
	link->id = hello->id;
	WRITE_ONCE(link->lane_count,
		   min3((u32)hello->lanes, listener->settings.lanes, link->lane_count));
	link_hello_take(link, hello);
	link_address_copy(&local, &id->route.addr.src_addr);
	link_address_copy(&peer, &id->route.addr.dst_addr);
	link_set_addresses(link, &local, &peer);
	/* With the reference of ->incoming(). */
	list_add_tail(&link->listener_node, &listener->links);
	refusal = take_lane(link, id, hello, param);
	mutex_unlock(&link->mutex);
	if (refusal)
		link_kill(link, -ECONNRESET, -ECONNRESET, "no first lane");
	return refusal;
}

/* ---- further lanes ---- */

static bool same_host(const union link_address *a, const union link_address *b)
{
	if (a->any.sa_family != b->any.sa_family)
		return false;
	if (a->any.sa_family == AF_INET)
		return a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
	return ipv6_addr_equal(&a->in6.sin6_addr, &b->in6.sin6_addr);
}

static u32 take_further(struct link_listener *listener, struct rdma_cm_id *id,
			const struct link_hello *hello,
			const struct rdma_conn_param *param)
{
	union link_address peer;
	struct link *link;
	u32 refusal = LINK_REFUSAL_LANE;

	lockdep_assert_held(&listener->lock);
	link_address_copy(&peer, &id->route.addr.dst_addr);
	list_for_each_entry(link, &listener->links, listener_node) {
		if (link->id != hello->id || !same_host(&peer, &link->peer))
			continue;
		mutex_lock(&link->mutex);
		refusal = take_lane(link, id, hello, param);
		mutex_unlock(&link->mutex);
		break;
	}
	return refusal;
}

/* ---- those that need to wait no more ---- */

static bool waits(const struct link *link)
{
	return link_state(link) == LINK_CONNECTING;
}

/* @all: also those that wait. */
static void sweep(struct link_listener *listener, bool all)
{
	struct link *link, *next;

	lockdep_assert_held(&listener->lock);
	list_for_each_entry_safe(link, next, &listener->links, listener_node) {
		if (!all && waits(link))
			continue;
		list_del_init(&link->listener_node);
		link_put(link);
	}
}

/* ---- events ---- */

static int request(struct link_listener *listener, struct rdma_cm_id *id,
		   const struct rdma_conn_param *param)
{
	struct link_hello hello;
	u32 refusal;

	refusal = check(listener, id, &hello, param);
	if (refusal)
		return refuse(id, refusal);
	mutex_lock(&listener->lock);
	sweep(listener, false);
	if (hello.lane)
		refusal = take_further(listener, id, &hello, param);
	else
		refusal = take_first(listener, id, &hello, param);
	mutex_unlock(&listener->lock);
	return refusal ? refuse(id, refusal) : 0;
}

static int listener_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct link_listener *listener = id->context;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return request(listener, id, &event->param.conn);
	/* Of an address; a wildcard listener loses a part, and is not told. */
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
		queue_work(link_life_queue, &listener->gone);
	return 0;
}

/* Once: by the end of the device, or of the listener. */
static void destroy_id(struct link_listener *listener)
{
	if (atomic_xchg(&listener->has_id, 0))
		rdma_destroy_id(listener->id);
}

static void gone_work(struct work_struct *work)
{
	struct link_listener *listener = container_of(work, struct link_listener,
						      gone);

	destroy_id(listener);
	listener->ops->down(listener->owner);
}

/* ---- begin and end ---- */

static int listen(struct link_listener *listener, struct net *net,
		  union link_address *address, int backlog)
{
	int ret;

	listener->id = rdma_create_id(net, listener_event, listener,
				      RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(listener->id))
		return PTR_ERR(listener->id);
	ret = rdma_bind_addr(listener->id, &address->any);
	if (!ret)
		ret = rdma_listen(listener->id, backlog);
	if (ret)
		rdma_destroy_id(listener->id);
	else
		link_address_copy(address, &listener->id->route.addr.src_addr);
	return ret;
}

struct link_listener *link_listen(struct net *net, union link_address *address,
				  const struct link_settings *settings,
				  int backlog,
				  const struct link_listener_ops *ops,
				  void *owner, struct peerlane_msg *msg)
{
	struct link_listener *listener;
	int ret;

	listener = kzalloc(sizeof(*listener), GFP_KERNEL_ACCOUNT);
	if (!listener)
		return ERR_PTR(-ENOMEM);
	listener->settings = *settings;
	listener->ops = ops;
	listener->owner = owner;
	mutex_init(&listener->lock);
	INIT_LIST_HEAD(&listener->links);
	INIT_WORK(&listener->gone, gone_work);
	atomic_set(&listener->has_id, 1);
	ret = listen(listener, net, address, backlog);
	if (!ret)
		return listener;
	kfree_sensitive(listener);
	return ERR_PTR(peerlane_refuse(msg, ret, "cannot listen there: error %d",
				       ret));
}

void link_listener_free(struct link_listener *listener)
{
	destroy_id(listener);
	cancel_work_sync(&listener->gone);
	mutex_lock(&listener->lock);
	sweep(listener, true);
	mutex_unlock(&listener->lock);
	mutex_destroy(&listener->lock);
	kfree_sensitive(listener);
}
