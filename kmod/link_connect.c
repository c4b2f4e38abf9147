// SPDX-License-Identifier: GPL-2.0
/*
 * Connecting, from the side that begins, and what happens to a lane later. The
 * first lane learns from the answer how many there will be.
 */
#include <linux/random.h>

#include "link_cm.h"

/* ---- addresses and hellos ---- */

void link_address_copy(union link_address *to, const struct sockaddr_storage *from)
{
	memset(to, 0, sizeof(*to));
	if (from->ss_family == AF_INET)
		memcpy(&to->in, from, sizeof(to->in));
	else if (from->ss_family == AF_INET6)
		memcpy(&to->in6, from, sizeof(to->in6));
}

void link_hello_fill(const struct link *link, u32 lane, struct link_hello *hello)
{
	lockdep_assert_held(&link->mutex);
	*hello = (struct link_hello){
		.id = link->id,
		.notify = link->settings.notify,
		.grants = link->settings.grants,
		.keys = link->settings.keys,
		.timeout_ms = link->settings.timeout_ms,
		.lane = lane,
		.lanes = link->lane_count,
		.service = link->settings.service,
	};
	memcpy(hello->secret, link->settings.secret, LINK_SECRET_SIZE);
}

void link_hello_take(struct link *link, const struct link_hello *hello)
{
	lockdep_assert_held(&link->mutex);
	spin_lock(&link->lock);
	link->notify.limit = hello->notify;
	link->exposures.limit = hello->grants;
	if (hello->keys) {
		/*
		 * Each has a key. One that is withdrawn counts there until that
		 * is read, which the number of exposures tells, that of keys not.
		 */
		link->exposures.limit = min(hello->grants, hello->keys);
		link->key_limit = min(link->settings.keys, hello->keys);
	}
	spin_unlock(&link->lock);
}

/* ---- one lane ---- */

static u32 resolve_ms(const struct link *link)
{
	return min(link->settings.timeout_ms, 5000U);
}

static int add_lane(struct link *link, u32 index, const union link_address *source,
		    const union link_address *to)
{
	struct rdma_cm_id *id;
	struct link_lane *lane;
	int ret;

	lane = link_lane_new(link, index);
	if (!lane)
		return -ENOMEM;
	id = rdma_create_id(link->net, link_lane_event, lane, RDMA_PS_TCP,
			    IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	lane->id = id;
	lane->state = LANE_RESOLVING;
	ret = rdma_resolve_addr(id, source->any.sa_family ?
				(struct sockaddr *)source : NULL,
				(struct sockaddr *)to, resolve_ms(link));
	return ret;
}

/* The device is known. */
static int resolved(struct link_lane *lane, struct peerlane_msg *msg)
{
	struct link *link = lane->link;
	const char *name = dev_name(&lane->id->device->dev);
	int ret;

	if (link->settings.device[0] && strcmp(link->settings.device, name))
		return peerlane_refuse(msg, -ENETUNREACH,
				       "the route goes by RDMA device %s, not by %s",
				       name, link->settings.device);
	ret = link_lane_open(lane, msg);
	if (ret)
		return ret;
	ret = rdma_resolve_route(lane->id, resolve_ms(link));
	if (ret)
		return peerlane_refuse(msg, ret, "no route: error %d", ret);
	return 0;
}

static int connect(struct link_lane *lane, struct peerlane_msg *msg)
{
	u8 data[LINK_HELLO_SIZE];
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = sizeof(data),
	};
	struct link_hello hello;
	int ret;

	link_hello_fill(lane->link, lane->index, &hello);
	link_hello_encode(&hello, data);
	link_conn_param(lane->link, &param);
	lane->state = LANE_CONNECTING;
	ret = rdma_connect_locked(lane->id, &param);
	memzero_explicit(data, sizeof(data));
	memzero_explicit(&hello, sizeof(hello));
	if (ret)
		return peerlane_refuse(msg, ret,
				       "cannot ask for a connection: error %d",
				       ret);
	return 0;
}

/* The first lane stands: the others follow. */
static int add_others(struct link *link, const struct rdma_conn_param *param,
		      struct peerlane_msg *msg)
{
	struct rdma_addr *route = &link->lanes[0]->id->route.addr;
	union link_address source, peer;
	struct link_hello hello;
	u32 i;
	int ret;

	ret = link_hello_decode(&hello, param->private_data,
				param->private_data_len);
	if (ret || hello.id != link->id || hello.lanes > link->lane_count)
		return peerlane_refuse(msg, -EPROTO,
				       "the peer's answer makes no sense");
	link_hello_take(link, &hello);
	WRITE_ONCE(link->lane_count, hello.lanes);
	link_address_copy(&source, &route->src_addr);
	link_address_copy(&peer, &route->dst_addr);
	link_set_addresses(link, &source, &peer);
	source.in.sin_port = 0;		/* the same place in IPv6 */
	for (i = 1; i < hello.lanes; i++) {
		ret = add_lane(link, i, &source, &peer);
		if (ret)
			return peerlane_refuse(msg, ret,
					       "cannot make lane %u: error %d",
					       i, ret);
	}
	return 0;
}

static int established(struct link_lane *lane, const struct rdma_conn_param *param,
		       struct peerlane_msg *msg)
{
	struct link *link = lane->link;
	int ret = 0;

	if (link->is_active)
		link_sinks_limit(lane, param);
	if (link->is_active && !lane->index)
		ret = add_others(link, param, msg);
	if (!ret)
		link_lane_established(lane);
	return ret;
}

/* ---- refusals ---- */

static const char *const refusals[] = {
	[LINK_REFUSAL_VERSION]	= "it speaks another version",
	[LINK_REFUSAL_SECRET]	= "its secret is another",
	[LINK_REFUSAL_BACKLOG]	= "too many connections wait for its ACCEPT",
	[LINK_REFUSAL_LIMIT]	= "a limit of its user is reached",
	[LINK_REFUSAL_LANE]	= "it does not know this connection (any more)",
	[LINK_REFUSAL_MEMORY]	= "it is short of memory",
	[LINK_REFUSAL_DEVICE]	= "its RDMA device does not suit",
	[LINK_REFUSAL_SERVICE]	= "endpoints listen for endpoints only, aggregators for ranks of groups",
};

static void rejected(struct link_lane *lane, struct rdma_cm_event *event)
{
	const u8 *data;
	u8 length = 0;
	u32 refusal = LINK_REFUSAL_NONE;

	data = rdma_consumer_reject_data(lane->id, event, &length);
	if (data)
		refusal = link_refusal_decode(data, length);
	if (refusal && refusal < ARRAY_SIZE(refusals))
		link_kill(lane->link, -ECONNREFUSED, -ECONNREFUSED,
			  "the peer refused: %s", refusals[refusal]);
	else
		link_kill(lane->link, -ECONNREFUSED, -ECONNREFUSED,
			  "nobody listens there, or it is no endpoint: %s",
			  rdma_reject_msg(lane->id, event->status));
}

/* ---- events ---- */

static int error_of(const struct rdma_cm_event *event, int fallback)
{
	return event->status < 0 && event->status > -MAX_ERRNO ?
	       event->status : fallback;
}

/* What ends the link, and tells why. */
static void end_of(struct link_lane *lane, struct rdma_cm_event *event)
{
	struct link *link = lane->link;
	int error;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
		error = error_of(event, -EHOSTUNREACH);
		link_kill(link, error, error,
			  "no way to that address by an RDMA device: error %d",
			  error);
		break;
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		error = error_of(event, -EHOSTUNREACH);
		link_kill(link, error, error, "the peer does not answer");
		break;
	case RDMA_CM_EVENT_REJECTED:
		rejected(lane, event);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		link_kill(link, -ENETDOWN, -ENETDOWN, "RDMA device %s is gone",
			  dev_name(&lane->id->device->dev));
		break;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		link_kill(link, -ENETDOWN, -ENETDOWN,
			  "the address moved to another device");
		break;
	default:
		link_kill(link, -ECONNRESET, -ECONNRESET, "the peer closed");
		break;
	}
}

static int go_on(struct link_lane *lane, struct rdma_cm_event *event,
		 struct peerlane_msg *msg)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return resolved(lane, msg);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return connect(lane, msg);
	case RDMA_CM_EVENT_ESTABLISHED:
		return established(lane, &event->param.conn, msg);
	default:
		return 0;
	}
}

static bool goes_on(enum rdma_cm_event_type event)
{
	return event == RDMA_CM_EVENT_ADDR_RESOLVED ||
	       event == RDMA_CM_EVENT_ROUTE_RESOLVED ||
	       event == RDMA_CM_EVENT_ESTABLISHED ||
	       event == RDMA_CM_EVENT_TIMEWAIT_EXIT;
}

/* The id is the link's, whose end destroys it: never from here. */
int link_lane_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct link_lane *lane = id->context;
	struct link *link = lane->link;
	struct peerlane_msg msg = {};
	int ret = 0;

	if (!goes_on(event->event)) {
		end_of(lane, event);
		return 0;
	}
	mutex_lock(&link->mutex);
	if (link_alive(link))
		ret = go_on(lane, event, &msg);
	mutex_unlock(&link->mutex);
	if (ret)
		link_kill(link, ret, ret, "%s", msg.text);
	return 0;
}

/* ---- begin ---- */

int link_connect(struct link *link, const union link_address *source,
		 const union link_address *to, struct peerlane_msg *msg)
{
	int ret;

	mutex_lock(&link->mutex);
	link->is_active = true;
	do {
		get_random_bytes(&link->id, sizeof(link->id));
	} while (!link->id);
	link_set_addresses(link, &link->local, to);
	ret = link_alive(link) ? add_lane(link, 0, source, to) : -ECANCELED;
	mutex_unlock(&link->mutex);
	if (ret)
		return peerlane_refuse(msg, ret,
				       "no RDMA device has a way to that address: error %d",
				       ret);
	return 0;
}
