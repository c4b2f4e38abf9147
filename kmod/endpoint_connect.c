// SPDX-License-Identifier: GPL-2.0
/* CONNECT, and what the link tells of its life. */
#include <linux/sched/signal.h>
#include <net/net_namespace.h>

#include "endpoint.h"

static void came_up(struct link *link, void *owner)
{
	struct peerlane_endpoint *endpoint = owner;
	u32 path = PEERLANE_PATH_UNKNOWN;

	if (endpoint->near)
		path = link_path_to(link, endpoint->near);
	spin_lock(&endpoint->queue_lock);
	WRITE_ONCE(endpoint->was_up, true);
	endpoint->connect_waits = false;
	endpoint->path = path;
	endpoint_set_state(endpoint, PEERLANE_ENDPOINT_CONNECTED);
	endpoint_queue(endpoint, &endpoint->connected);
	spin_unlock(&endpoint->queue_lock);
	endpoint_wake(endpoint, EPOLLIN | EPOLLOUT);
	if (endpoint->parent)
		endpoint_child_up(endpoint);
}

/* Who begins operations has the lock: their records come before the last one. */
static void went_down(struct link *link, void *owner)
{
	struct peerlane_endpoint *endpoint = owner;
	bool waits;

	down_write(&endpoint->lock);
	spin_lock(&endpoint->queue_lock);
	endpoint->status = link_status(link);
	strscpy(endpoint->reason, link_reason(link), sizeof(endpoint->reason));
	waits = endpoint->connect_waits;
	if (waits) {
		WRITE_ONCE(endpoint->connect_failed, true);
	} else {
		endpoint_set_state(endpoint, PEERLANE_ENDPOINT_CLOSED);
		endpoint_queue(endpoint, &endpoint->disconnected);
	}
	spin_unlock(&endpoint->queue_lock);
	up_write(&endpoint->lock);
	/* Nobody makes another map from here on; but who waits may connect again. */
	if (!waits)
		endpoint_unmap_all(endpoint);
	endpoint_wake(endpoint, EPOLLIN | EPOLLHUP);
	if (endpoint->parent)
		endpoint_child_down(endpoint);
}

static void is_gone(struct link *link, void *owner)
{
	endpoint_put(owner);
}

static const struct link_owner_ops link_ops = {
	.up		= came_up,
	.notice		= endpoint_notice,
	.exposed	= endpoint_exposed,
	.withdrawn	= endpoint_withdrawn,
	.room		= endpoint_room,
	.down		= went_down,
	.gone		= is_gone,
};

/* Until ->gone the link has a reference, and so the user's count the endpoint. */
struct link *endpoint_make_link(struct peerlane_endpoint *endpoint,
				struct peerlane_msg *msg)
{
	const struct link_settings *settings = &endpoint->settings;
	struct link *link;
	int ret;

	ret = link_charge(settings, 1, msg);
	if (ret)
		return ERR_PTR(ret);
	/* First: its time begins, and may be up, in there. */
	endpoint_get(endpoint);
	link = link_new(endpoint->net, settings, &link_ops, endpoint, msg);
	if (IS_ERR(link)) {
		link_uncharge(settings, 1);
		endpoint_put(endpoint);
		return link;
	}
	endpoint->link = link;
	return link;
}

/* ---- CONNECT ---- */

/* Nothing but an address; @may_be_none: or nothing at all. */
bool endpoint_is_address(const union link_address *address, bool may_be_none)
{
	size_t size;

	if (address->any.sa_family == AF_INET)
		size = offsetof(struct sockaddr_in, __pad);
	else if (address->any.sa_family == AF_INET6)
		size = sizeof(address->in6);
	else
		size = may_be_none ? 0 : SIZE_MAX;
	return size != SIZE_MAX &&
	       !memchr_inv((const u8 *)address + size, 0, sizeof(*address) - size);
}

static int begin(struct peerlane_endpoint *endpoint, struct peerlane_msg *msg)
{
	struct link *link;
	bool fresh;

	lockdep_assert_held_write(&endpoint->lock);
	spin_lock(&endpoint->queue_lock);
	fresh = endpoint->state == PEERLANE_ENDPOINT_NEW;
	if (fresh)
		endpoint_set_state(endpoint, PEERLANE_ENDPOINT_CONNECTING);
	endpoint->connect_waits |= fresh;
	spin_unlock(&endpoint->queue_lock);
	if (!fresh)
		return peerlane_refuse(msg, -EISCONN,
				       "connected, listening or closed already");
	link = endpoint_make_link(endpoint, msg);
	if (!IS_ERR(link))
		return 0;
	spin_lock(&endpoint->queue_lock);
	endpoint->connect_waits = false;
	endpoint_set_state(endpoint, PEERLANE_ENDPOINT_NEW);
	spin_unlock(&endpoint->queue_lock);
	return PTR_ERR(link);
}

static bool has_ended(struct peerlane_endpoint *endpoint)
{
	return endpoint_state(endpoint) != PEERLANE_ENDPOINT_CONNECTING ||
	       READ_ONCE(endpoint->connect_failed);
}

/* False: it has failed already, which the caller has to tell. */
static bool goes_on_alone(struct peerlane_endpoint *endpoint)
{
	bool alone;

	spin_lock(&endpoint->queue_lock);
	endpoint->connect_waits = false;
	alone = !endpoint->connect_failed;
	spin_unlock(&endpoint->queue_lock);
	return alone;
}

/*
 * The error. As if nothing had been tried, so that another address can be: but
 * not if the endpoint was closed meanwhile.
 */
static int failed(struct peerlane_endpoint *endpoint, struct peerlane_msg *msg)
{
	struct link *link = NULL;
	int ret;

	down_write(&endpoint->lock);
	spin_lock(&endpoint->queue_lock);
	ret = peerlane_refuse(msg, endpoint->status, "%s", endpoint->reason);
	if (endpoint->connect_failed) {
		swap(link, endpoint->link);
		WRITE_ONCE(endpoint->connect_failed, false);
		endpoint->status = 0;
		endpoint->reason[0] = '\0';
		endpoint_set_state(endpoint, PEERLANE_ENDPOINT_NEW);
	}
	spin_unlock(&endpoint->queue_lock);
	up_write(&endpoint->lock);
	if (link)
		link_put(link);
	return ret;
}

static int wait_connected(struct peerlane_endpoint *endpoint,
			  struct peerlane_msg *msg)
{
	if (wait_event_interruptible(endpoint->wait, has_ended(endpoint)) &&
	    goes_on_alone(endpoint))
		return -EINTR;	/* as connect(2): it goes on */
	if (endpoint_state(endpoint) == PEERLANE_ENDPOINT_CONNECTED)
		return 0;
	return failed(endpoint, msg);
}

int endpoint_connect(struct peerlane_endpoint *endpoint,
		     const struct peerlane_endpoint_address *args, bool wait,
		     struct peerlane_msg *msg)
{
	union link_address source, to;
	int ret;

	memcpy(&source, args->source, sizeof(source));
	memcpy(&to, args->address, sizeof(to));
	if (!endpoint_is_address(&to, false) ||
	    !endpoint_is_address(&source, true))
		return peerlane_refuse(msg, -EINVAL,
				       "neither an IPv4 nor an IPv6 address, or more than that");
	down_write(&endpoint->lock);
	ret = begin(endpoint, msg);
	up_write(&endpoint->lock);
	if (ret)
		return ret;
	link_choose_source(endpoint->net, endpoint->settings.device,
			   endpoint->near, &to, &source);
	ret = link_connect(endpoint->link, &source, &to, msg);
	if (ret) {
		link_kill(endpoint->link, ret, ret, "%s", msg->text);
		link_wait_ended(endpoint->link);
		return failed(endpoint, msg);
	}
	if (wait)
		return wait_connected(endpoint, msg);
	return goes_on_alone(endpoint) ? -EINPROGRESS : failed(endpoint, msg);
}
