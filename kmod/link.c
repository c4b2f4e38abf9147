// SPDX-License-Identifier: GPL-2.0
/* Links: birth, liveness and end. The lifetime is told in link.h. */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "link_core.h"

struct workqueue_struct *link_poll_queue;
struct workqueue_struct *link_life_queue;
static struct workqueue_struct *leave_queue;

/* ---- state ---- */

enum link_state link_state(const struct link *link)
{
	return READ_ONCE(link->state);
}

int link_status(const struct link *link)
{
	return READ_ONCE(link->status);
}

const char *link_reason(const struct link *link)
{
	return link->reason;
}

u32 link_lanes(const struct link *link)
{
	return READ_ONCE(link->lane_count);
}

static __printf(4, 0)
bool begin_end(struct link *link, int status, int others, const char *fmt,
		      va_list args)
{
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&link->state_lock, flags);
	first = link->state <= LINK_UP;
	if (first) {
		WRITE_ONCE(link->status, status);
		link->others = others;
		vscnprintf(link->reason, sizeof(link->reason), fmt, args);
		WRITE_ONCE(link->state, LINK_DYING);
	}
	spin_unlock_irqrestore(&link->state_lock, flags);
	wake_up_all(&link->not_connecting);
	return first;
}

void link_kill(struct link *link, int status, int others, const char *fmt, ...)
{
	va_list args;
	bool first;

	va_start(args, fmt);
	first = begin_end(link, status, others, fmt, args);
	va_end(args);
	if (!first)
		return;
	link_get(link);
	queue_work(link_life_queue, &link->end);
}

void link_set_up(struct link *link)
{
	unsigned long flags;
	bool up;

	lockdep_assert_held(&link->mutex);
	spin_lock(&link->lock);
	link->lanes_up = link->lane_count;
	WRITE_ONCE(link->live, GENMASK(link->lane_count - 1, 0));
	spin_unlock(&link->lock);
	spin_lock_irqsave(&link->state_lock, flags);
	up = link->state == LINK_CONNECTING;
	if (up) {
		link->was_up = true;
		WRITE_ONCE(link->state, LINK_UP);
	}
	spin_unlock_irqrestore(&link->state_lock, flags);
	WRITE_ONCE(link->heard, jiffies);
	WRITE_ONCE(link->alive_at, jiffies);
	if (!up)
		return;
	link->ops->up(link, link->owner);
	/* Pairs with the acquire in is_told_up(): the owner knows. */
	smp_store_release(&link->told_up, true);
	wake_up_all(&link->not_connecting);
}

void link_wait_ended(struct link *link)
{
	wait_for_completion(&link->ended);
}

void link_wait_dead(struct link *link)
{
	wait_for_completion(&link->dead);
}

void link_set_addresses(struct link *link, const union link_address *local,
			const union link_address *peer)
{
	lockdep_assert_held(&link->mutex);
	spin_lock(&link->lock);
	link->local = *local;
	link->peer = *peer;
	spin_unlock(&link->lock);
}

/* Not the mutex: who connects has it, for as long as that takes. */
void link_info(struct link *link, struct link_info *info)
{
	info->lanes = link_lanes(link);
	spin_lock(&link->lock);
	info->local = link->local;
	info->peer = link->peer;
	memcpy(info->device, link->device, sizeof(info->device));
	info->exposed = link->exposed;
	info->granted = link->granted;
	info->keys = link->key_count;
	spin_unlock(&link->lock);
}

void link_wait_settled(struct link *link)
{
	wait_for_completion(&link->settled);
}

struct ib_device *link_device_get(struct link *link)
{
	mutex_lock(&link->dev_lock);
	if (link_state(link) == LINK_UP)
		return link->dev;
	mutex_unlock(&link->dev_lock);
	return NULL;
}

void link_device_put(struct link *link)
{
	mutex_unlock(&link->dev_lock);
}

/* ---- liveness ---- */

static unsigned long lease_period(const struct link *link)
{
	return clamp(msecs_to_jiffies(link->settings.timeout_ms) / 8, 1UL,
		     (unsigned long)HZ);
}

/* A little less than was promised, as we look now and then only. */
static unsigned long patience(const struct link *link)
{
	unsigned long timeout = msecs_to_jiffies(link->settings.timeout_ms);

	return timeout - min(timeout / 8, timeout - 1);
}

/* The device has had a request for too long. */
bool link_lane_is_stuck(struct link_lane *lane, unsigned long limit)
{
	bool stuck;

	spin_lock(&lane->lock);
	if (lane->leaving) {
		stuck = !lane->left &&
			time_after(jiffies, lane->leaving_since + limit);
		spin_unlock(&lane->lock);
		return stuck;
	}
	stuck = lane->head != lane->tail &&
		time_after(jiffies, lane->progress + limit);
	stuck |= lane->reads && time_after(jiffies, lane->read_since + limit);
	stuck |= !list_empty(&lane->waiting) &&
		 time_after(jiffies, lane->waiting_since + limit);
	spin_unlock(&lane->lock);
	return stuck;
}

/* What one lane does not move others may, unless the peer is dead. */
static bool lane_is_fatal(struct link *link, struct link_lane *lane,
			  unsigned long limit)
{
	bool has_others = link_fails_over(link) &&
			  hweight_long(READ_ONCE(link->live)) > 1;
	bool silent = time_after(jiffies, READ_ONCE(link->alive_at) + limit);

	/* Not even the word that it is left was acknowledged. */
	if (silent && READ_ONCE(lane->leaving) && !READ_ONCE(lane->left))
		return true;
	if (has_others && !READ_ONCE(lane->leaving) && !silent)
		return false;
	return link_lane_is_stuck(lane, limit);
}

static bool is_stuck(struct link *link)
{
	unsigned long limit = patience(link);
	u32 i;

	for (i = 0; i < link->lane_count; i++)
		if (lane_is_fatal(link, link->lanes[i], limit))
			return true;
	/* Its device may be alive without it. */
	return READ_ONCE(link->ping_out) &&
	       time_after(jiffies, READ_ONCE(link->ping_at) + limit * 3 / 4) &&
	       time_after(jiffies, READ_ONCE(link->heard) + limit * 3 / 4);
}

static void look_after(struct link *link)
{
	unsigned long timeout = msecs_to_jiffies(link->settings.timeout_ms);

	link_leave_stuck(link, patience(link));
	if (is_stuck(link)) {
		link_kill(link, -ETIMEDOUT, -ETIMEDOUT,
			  "the peer did not answer for %u ms",
			  link->settings.timeout_ms);
		return;
	}
	link_label_flows(link);
	/* Who was woken to look may not be let to run. */
	if (READ_ONCE(link->stirred))
		queue_work(link_poll_queue, &link->poll_work);
	if (READ_ONCE(link->ping_out) ||
	    time_before(jiffies, READ_ONCE(link->heard) + timeout / 4))
		return;
	WRITE_ONCE(link->ping_at, jiffies);
	WRITE_ONCE(link->ping_out, true);
	link_urge(link, LINK_SEND_PING);
}

static void lease_work(struct work_struct *work)
{
	struct link *link = container_of(to_delayed_work(work), struct link,
					 lease);

	if (link_state(link) == LINK_UP)
		look_after(link);
	else if (time_after(jiffies, link->born +
			    msecs_to_jiffies(link->settings.timeout_ms)))
		/* Not before: a refusal may be on its way. */
		link_kill(link, -ETIMEDOUT, -ETIMEDOUT,
			  "no connection within %u ms",
			  link->settings.timeout_ms);
	if (link_alive(link))
		queue_delayed_work(link_life_queue, &link->lease,
				   lease_period(link));
}

/* ---- end ---- */

static void stop_lanes(struct link *link)
{
	u32 i;

	/* Who was setting up a lane is done; nobody begins another. */
	mutex_lock(&link->mutex);
	mutex_unlock(&link->mutex);
	cancel_delayed_work_sync(&link->lease);
	for (i = 0; i < LINK_LANES_MAX; i++)
		if (link->lanes[i])
			link_lane_stop(link->lanes[i]);
	for (i = 0; i < LINK_LANES_MAX; i++)
		if (link->lanes[i])
			link_lane_drain(link->lanes[i]);
}

/* The device has nothing of ours any more: not even keys. */
static void abort_all(struct link *link)
{
	u32 i;

	link_keys_abort(link);
	mutex_lock(&link->poll_lock);
	for (i = 0; i < LINK_LANES_MAX; i++)
		if (link->lanes[i])
			link_lane_abort(link->lanes[i], link->others);
	mutex_unlock(&link->poll_lock);
}

static void tell_down(struct link *link)
{
	complete_all(&link->settled);
	link->ops->down(link, link->owner);
	link_grants_free(link);
}

static void leave_device(struct link *link)
{
	u32 i;

	/* Who took the device before is done with it; nobody takes it again. */
	mutex_lock(&link->dev_lock);
	mutex_unlock(&link->dev_lock);
	for (i = 0; i < LINK_LANES_MAX; i++)
		if (link->lanes[i])
			link_lane_free_qp(link->lanes[i]);
	link_device_close(link);
	/* Last: while one is there, the CM keeps the device. */
	for (i = 0; i < LINK_LANES_MAX; i++)
		if (link->lanes[i] && link->lanes[i]->id)
			rdma_destroy_id(link->lanes[i]->id);
}

static void leave_work(struct work_struct *work)
{
	struct link *link = container_of(work, struct link, leave);

	stop_lanes(link);
	abort_all(link);
	if (link->was_up)
		tell_down(link);
	leave_device(link);
	WRITE_ONCE(link->state, LINK_DEAD);
	if (link->ops->gone)
		link->ops->gone(link, link->owner);
	complete_all(&link->ended);
	complete_all(&link->dead);
	link_put(link);
}

/* Those that may wait long for the CM have a queue of their own. */
static void end_work(struct work_struct *work)
{
	struct link *link = container_of(work, struct link, end);

	if (link->was_up) {
		leave_work(&link->leave);
		return;
	}
	tell_down(link);
	complete_all(&link->ended);
	queue_work(leave_queue, &link->leave);
}

static void link_free(struct kref *ref)
{
	struct link *link = container_of(ref, struct link, ref);
	u32 i;

	cancel_delayed_work_sync(&link->tell);
	for (i = 0; i < LINK_LANES_MAX; i++)
		link_lane_free(link->lanes[i]);
	link_charge_end(link);
	put_net(link->net);
	kfree_sensitive(link);
}

void link_get(struct link *link)
{
	kref_get(&link->ref);
}

void link_put(struct link *link)
{
	kref_put(&link->ref, link_free);
}

/* ---- birth ---- */

static void init(struct link *link)
{
	kref_init(&link->ref);
	mutex_init(&link->mutex);
	mutex_init(&link->dev_lock);
	mutex_init(&link->keys_lock);
	mutex_init(&link->poll_lock);
	init_waitqueue_head(&link->not_connecting);
	init_waitqueue_head(&link->dozers);
	spin_lock_init(&link->state_lock);
	spin_lock_init(&link->lock);
	INIT_LIST_HEAD(&link->listener_node);
	INIT_LIST_HEAD(&link->node);
	INIT_LIST_HEAD(&link->keys);
	INIT_LIST_HEAD(&link->key_work);
	hash_init(link->grants);
	INIT_WORK(&link->poll_work, link_poll_work);
	INIT_DELAYED_WORK(&link->listen_work, link_listen_work);
	INIT_DELAYED_WORK(&link->lease, lease_work);
	INIT_DELAYED_WORK(&link->tell, link_tell_work);
	INIT_WORK(&link->end, end_work);
	INIT_WORK(&link->leave, leave_work);
	init_completion(&link->settled);
	init_completion(&link->ended);
	init_completion(&link->dead);
	link->control.limit = LINK_CONTROL_CREDITS;
	link->born = jiffies;
	link->heard = jiffies;
}

struct link *link_new(struct net *net, const struct link_settings *settings,
		      const struct link_owner_ops *ops, void *owner,
		      struct peerlane_msg *msg)
{
	struct link *link = kzalloc(sizeof(*link), GFP_KERNEL_ACCOUNT);

	if (!link)
		return ERR_PTR(peerlane_refuse(msg, -ENOMEM,
					       "no memory for a connection"));
	init(link);
	link->net = get_net(net);
	link->settings = *settings;
	link->charged = link_cost(settings);
	link->ops = ops;
	link->owner = owner;
	link->lane_count = settings->lanes;
	link->key_limit = settings->keys;
	queue_delayed_work(link_life_queue, &link->lease, lease_period(link));
	return link;
}

/* ---- module ---- */

int link_init(void)
{
	int ret = -ENOMEM;

	link_poll_queue = alloc_workqueue("peerlane_link",
					  WQ_UNBOUND | WQ_HIGHPRI, 0);
	if (!link_poll_queue)
		return ret;
	/* Ends wait for completions, which the other queue looks at. */
	link_life_queue = alloc_workqueue("peerlane_link_life", WQ_UNBOUND, 0);
	if (!link_life_queue)
		goto err_poll;
	leave_queue = alloc_workqueue("peerlane_link_leave", WQ_UNBOUND, 0);
	if (!leave_queue)
		goto err_life;
	ret = link_device_init();
	if (ret)
		goto err_leave;
	return 0;

err_leave:
	destroy_workqueue(leave_queue);
err_life:
	destroy_workqueue(link_life_queue);
err_poll:
	destroy_workqueue(link_poll_queue);
	return ret;
}

void link_exit(void)
{
	link_device_exit();
	destroy_workqueue(link_life_queue);
	destroy_workqueue(leave_queue);		/* which the former fills */
	destroy_workqueue(link_poll_queue);
}
