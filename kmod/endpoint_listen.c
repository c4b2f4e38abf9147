// SPDX-License-Identifier: GPL-2.0
/*
 * LISTEN and ACCEPT. A connection that comes in is an endpoint without a file,
 * on the listener's list of pending ones and, once it is up, of ready ones.
 */
#include <linux/sched/signal.h>

#include "endpoint.h"

/* ---- children ---- */

/* With a link that is not connected; or ERR_PTR. */
static struct peerlane_endpoint *make_child(struct peerlane_endpoint *parent)
{
	struct peerlane_endpoint *child = endpoint_new(NULL, parent, NULL);
	struct link *link;

	if (IS_ERR(child))
		return child;
	child->state = PEERLANE_ENDPOINT_CONNECTING;
	link = endpoint_make_link(child, NULL);
	if (!IS_ERR(link))
		return child;
	endpoint_close(child);
	return ERR_CAST(link);
}

/*
 * Its link may have ended before that, as its time began with it: who was told
 * found the child on no list. Puts the caller's reference.
 */
static void look_again(struct peerlane_endpoint *child, const struct link *link)
{
	if (link_state(link) > LINK_UP)
		endpoint_child_down(child);
	endpoint_put(child);
}

static struct link *incoming(void *owner, u32 *refusal)
{
	struct peerlane_endpoint *parent = owner, *child;
	struct link *link;
	bool room;

	spin_lock(&parent->queue_lock);
	room = parent->children < parent->backlog &&
	       parent->state == PEERLANE_ENDPOINT_LISTENING;
	if (room)
		parent->children++;
	spin_unlock(&parent->queue_lock);
	*refusal = LINK_REFUSAL_BACKLOG;
	if (!room)
		return NULL;

	*refusal = LINK_REFUSAL_LIMIT;
	child = make_child(parent);
	link = IS_ERR(child) ? NULL : child->link;
	if (link) {
		/* Who takes the child off the list may end it at once. */
		link_get(link);
		endpoint_get(child);
	}
	spin_lock(&parent->queue_lock);
	if (link)
		list_add_tail(&child->child_node, &parent->pending);
	else
		parent->children--;
	spin_unlock(&parent->queue_lock);
	if (link)
		look_again(child, link);
	return link;
}

void endpoint_child_up(struct peerlane_endpoint *child)
{
	struct peerlane_endpoint *parent = child->parent;

	spin_lock(&parent->queue_lock);
	if (!list_empty(&child->child_node))
		list_move_tail(&child->child_node, &parent->ready);
	spin_unlock(&parent->queue_lock);
	endpoint_wake(parent, EPOLLIN);
}

/* One that never was up: nobody is going to take it. */
void endpoint_child_down(struct peerlane_endpoint *child)
{
	if (child->was_up)
		return;
	endpoint_get(child);
	if (!queue_work(endpoint_work_queue, &child->reap))
		endpoint_put(child);
}

/* True: it was on a list, and is the caller's to close. */
static bool claim(struct peerlane_endpoint *child)
{
	struct peerlane_endpoint *parent = child->parent;
	bool listed;

	spin_lock(&parent->queue_lock);
	listed = !list_empty(&child->child_node);
	if (listed) {
		list_del_init(&child->child_node);
		parent->children--;
	}
	spin_unlock(&parent->queue_lock);
	return listed;
}

void endpoint_reap_work(struct work_struct *work)
{
	struct peerlane_endpoint *child;

	child = container_of(work, struct peerlane_endpoint, reap);
	if (claim(child))
		endpoint_close(child);
	endpoint_put(child);
}

static struct peerlane_endpoint *first_child(struct peerlane_endpoint *parent,
					     bool pending)
{
	struct peerlane_endpoint *child;

	spin_lock(&parent->queue_lock);
	child = list_first_entry_or_null(&parent->ready,
					 struct peerlane_endpoint, child_node);
	if (!child && pending)
		child = list_first_entry_or_null(&parent->pending,
						 struct peerlane_endpoint,
						 child_node);
	if (child) {
		list_del_init(&child->child_node);
		parent->children--;
	}
	spin_unlock(&parent->queue_lock);
	return child;
}

void endpoint_close_children(struct peerlane_endpoint *endpoint)
{
	struct peerlane_endpoint *child;

	while ((child = first_child(endpoint, true)))
		endpoint_close(child);
}

/* ---- LISTEN ---- */

static void went_down(void *owner)
{
	struct peerlane_endpoint *endpoint = owner;

	spin_lock(&endpoint->queue_lock);
	if (endpoint->state == PEERLANE_ENDPOINT_CLOSED) {
		spin_unlock(&endpoint->queue_lock);
		return;
	}
	endpoint->status = -ENETDOWN;
	strscpy(endpoint->reason, "the RDMA device of the address is gone",
		sizeof(endpoint->reason));
	endpoint_set_state(endpoint, PEERLANE_ENDPOINT_CLOSED);
	endpoint_queue(endpoint, &endpoint->disconnected);
	spin_unlock(&endpoint->queue_lock);
	endpoint_wake(endpoint, EPOLLIN | EPOLLHUP);
}

static const struct link_listener_ops listener_ops = {
	.incoming	= incoming,
	.down		= went_down,
};

static int begin(struct peerlane_endpoint *endpoint, u32 backlog,
		 struct peerlane_msg *msg)
{
	int ret = 0;

	spin_lock(&endpoint->queue_lock);
	if (endpoint->state != PEERLANE_ENDPOINT_NEW)
		ret = -EISCONN;
	else
		endpoint_set_state(endpoint, PEERLANE_ENDPOINT_LISTENING);
	endpoint->backlog = backlog;
	spin_unlock(&endpoint->queue_lock);
	if (ret)
		return peerlane_refuse(msg, ret,
				       "connected, listening or closed already");
	return 0;
}

/* Nothing came of it. */
static void unbegin(struct peerlane_endpoint *endpoint)
{
	spin_lock(&endpoint->queue_lock);
	if (endpoint->state == PEERLANE_ENDPOINT_LISTENING)
		endpoint_set_state(endpoint, PEERLANE_ENDPOINT_NEW);
	spin_unlock(&endpoint->queue_lock);
}

/* False: it was closed meanwhile. */
static bool publish(struct peerlane_endpoint *endpoint,
		    struct link_listener *listener,
		    const union link_address *address)
{
	bool open;

	down_write(&endpoint->lock);
	open = endpoint_state(endpoint) == PEERLANE_ENDPOINT_LISTENING;
	if (open) {
		endpoint->listener = listener;
		endpoint->address = *address;
	}
	up_write(&endpoint->lock);
	return open;
}

static int listen(struct peerlane_endpoint *endpoint, union link_address *address,
		  u32 backlog, struct peerlane_msg *msg)
{
	struct link_listener *listener;
	int ret;

	ret = begin(endpoint, backlog, msg);
	if (ret)
		return ret;
	/* A connection may have several lanes that wait at once. */
	listener = link_listen(endpoint->net, address, &endpoint->settings,
			       backlog + LINK_LANES_MAX, &listener_ops, endpoint,
			       msg);
	if (IS_ERR(listener)) {
		unbegin(endpoint);
		return PTR_ERR(listener);
	}
	if (publish(endpoint, listener, address))
		return 0;
	link_listener_free(listener);
	endpoint_close_children(endpoint);
	return peerlane_refuse(msg, -ENOTCONN, "closed meanwhile");
}

int endpoint_listen(struct peerlane_endpoint *endpoint,
		    struct peerlane_endpoint_address *args,
		    struct peerlane_msg *msg)
{
	union link_address address;
	int ret;

	memcpy(&address, args->address, sizeof(address));
	if (!endpoint_is_address(&address, false))
		return peerlane_refuse(msg, -EINVAL,
				       "neither an IPv4 nor an IPv6 address, or more than that");
	if (memchr_inv(args->source, 0, sizeof(args->source)))
		return peerlane_refuse(msg, -EINVAL, "LISTEN takes no source");
	if (args->backlog > 1024)
		return peerlane_refuse(msg, -EINVAL, "backlog %u is more than 1024",
				       args->backlog);
	ret = listen(endpoint, &address, args->backlog ?: 16, msg);
	memcpy(args->out_address, &address, sizeof(args->out_address));
	return ret;
}

void endpoint_unlisten(struct peerlane_endpoint *endpoint)
{
	struct link_listener *listener;

	down_write(&endpoint->lock);
	listener = endpoint->listener;
	endpoint->listener = NULL;
	memset(&endpoint->address, 0, sizeof(endpoint->address));
	up_write(&endpoint->lock);
	if (!listener)	/* closed meanwhile */
		return;
	link_listener_free(listener);
	unbegin(endpoint);
	endpoint_close_children(endpoint);
}

/* ---- ACCEPT ---- */

static bool is_listening(struct peerlane_endpoint *endpoint)
{
	return endpoint_state(endpoint) == PEERLANE_ENDPOINT_LISTENING;
}

static bool something_came(struct peerlane_endpoint *endpoint)
{
	return !is_listening(endpoint) || !list_empty_careful(&endpoint->ready);
}

struct peerlane_endpoint *endpoint_accept(struct peerlane_endpoint *endpoint,
					  bool wait, struct peerlane_msg *msg)
{
	struct peerlane_endpoint *child;
	int ret;

	while (is_listening(endpoint)) {
		child = first_child(endpoint, false);
		if (child)
			return child;
		if (!wait)
			return ERR_PTR(-EAGAIN);
		/* Restarted: io_uring interrupts its tasks for work of its own. */
		ret = wait_event_interruptible(endpoint->wait,
					       something_came(endpoint));
		if (ret)
			return ERR_PTR(ret);
	}
	if (endpoint_state(endpoint) == PEERLANE_ENDPOINT_CLOSED)
		return ERR_PTR(peerlane_refuse(msg, -ENOTCONN, "closed: %s",
					       endpoint->reason));
	return ERR_PTR(peerlane_refuse(msg, -EINVAL, "the endpoint does not listen"));
}

void endpoint_unaccept(struct peerlane_endpoint *endpoint,
		       struct peerlane_endpoint *child)
{
	bool listed;

	spin_lock(&endpoint->queue_lock);
	listed = endpoint->state == PEERLANE_ENDPOINT_LISTENING;
	if (listed) {
		list_add(&child->child_node, &endpoint->ready);
		endpoint->children++;
	}
	spin_unlock(&endpoint->queue_lock);
	if (!listed)
		endpoint_close(child);
}
