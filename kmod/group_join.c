// SPDX-License-Identifier: GPL-2.0
/* JOIN: a link to each aggregator, and what is made for them. */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "group.h"
#include "peerlane_netlink.h"

/* ---- memory ---- */

static void init_peers(struct peerlane_group *group, u32 count)
{
	u32 i, k, window = group->join.window;
	struct group_peer *peer;

	for (i = 0; i < count; i++) {
		peer = &group->peers[i];
		peer->group = group;
		peer->index = i;
		peer->posts = &group->posts[(size_t)i * window];
		for (k = 0; k < window; k++)
			peer->posts[k].owner = peer;
	}
}

static int make_memory(struct peerlane_group *group, u32 count)
{
	const struct group_join *join = &group->join;
	const struct group_shape shape = {
		.size = join->size,
		.aggregators = count,
		.segment = join->segment,
		.is_tree = join->placement == GROUP_PLACEMENT_TREE,
	};

	group->peers = kvcalloc(count, sizeof(*group->peers), GFP_KERNEL_ACCOUNT);
	group->views = kvcalloc((size_t)group->slot_count * count,
				sizeof(*group->views), GFP_KERNEL_ACCOUNT);
	group->posts = kvcalloc((size_t)join->window * count,
				sizeof(*group->posts), GFP_KERNEL_ACCOUNT);
	group->stream_memory = kvzalloc(group_streams_size(count, join->window),
					GFP_KERNEL_ACCOUNT);
	if (!group->peers || !group->views || !group->posts ||
	    !group->stream_memory)
		return -ENOMEM;
	group_streams_init(&group->streams, group->stream_memory, &shape,
			   join->rank, join->window);
	group->tuning.is_on = join->placement == GROUP_PLACEMENT_AUTO &&
			      count == join->size && count > 1;
	init_peers(group, count);
	return 0;
}

static void free_memory(struct peerlane_group *group)
{
	kvfree(group->peers);
	kvfree(group->views);
	kvfree(group->posts);
	kvfree(group->stream_memory);
	group->peers = NULL;
	group->views = NULL;
	group->posts = NULL;
	group->stream_memory = NULL;
}

/* All links are dead, or none was made. */
void group_unjoin(struct peerlane_group *group)
{
	u32 i;

	for (i = 0; i < group->peer_count; i++) {
		if (group->peers[i].pool)
			link_grant_put(group->peers[i].pool);
		if (group->peers[i].link)
			link_put(group->peers[i].link);
	}
	free_memory(group);
}

/* ---- links ---- */

static int copy_addresses(const struct peerlane_group_join *args,
			  union link_address *to, struct peerlane_msg *msg)
{
	const u8 __user *from = u64_to_user_ptr(args->addresses_ptr);
	u8 address[PEERLANE_ADDRESS_LEN];
	u32 i;
	int ret = 0;

	for (i = 0; !ret && i < args->count; i++, from += sizeof(address)) {
		if (copy_from_user(address, from, sizeof(address)))
			return peerlane_refuse(msg, -EFAULT,
					       "addresses_ptr cannot be read");
		ret = group_take_address(address, false, &to[i], msg);
	}
	return ret;
}

/* Its end, also a failure here, is told by ->down. */
static int connect(struct group_peer *peer, const union link_address *from,
		   const union link_address *to, struct peerlane_msg *msg)
{
	struct peerlane_group *group = peer->group;
	union link_address source = *from;
	struct link *link;
	int ret;

	/* First: its time begins, and may be up, in there. */
	group_pipe_init(&peer->pipe, NULL);
	link = link_new(group->net, &group->settings, &group_link_ops, peer, msg);
	if (IS_ERR(link))
		return PTR_ERR(link);
	peer->pipe.link = link;
	WRITE_ONCE(group->link_count, group->link_count + 1);
	/* Pairs with the end of the group, and a revocation, which kill it. */
	smp_store_release(&peer->link, link);
	link_choose_source(group->net, group->settings.device, group->near, to,
			   &source);
	ret = link_connect(link, &source, to, msg);
	if (ret)
		link_kill(link, ret, ret, "%s", msg->text);
	return ret;
}

static bool is_joining(struct peerlane_group *group)
{
	return group_state(group) == PEERLANE_GROUP_JOINING;
}

static void connect_all(struct peerlane_group *group,
			const union link_address *source,
			const union link_address *to, struct peerlane_msg *msg)
{
	struct group_fault fault = { .cause = GROUP_CAUSE_DEAD, .rank = U32_MAX,
				     .other = U32_MAX };
	u32 i;
	int ret = 0;

	for (i = 0; !ret && i < group->peer_count && is_joining(group); i++)
		ret = connect(&group->peers[i], source, &to[i], msg);
	link_uncharge(&group->settings, group->peer_count - group->link_count);
	if (ret)
		group_end(group, &fault, ret, msg->text, NULL);
}

/* ---- JOIN ---- */

static void give_memory(struct peerlane_group *group, u32 count)
{
	free_memory(group);
	group_uncharge_join(group, count);
}

static int take_memory(struct peerlane_group *group, u32 count,
		       struct peerlane_msg *msg)
{
	int ret = group_charge_join(group, count, msg);

	if (ret)
		return ret;
	if (!make_memory(group, count))
		return 0;
	give_memory(group, count);
	return peerlane_refuse(msg, -ENOMEM, "no memory for %u aggregators",
			       count);
}

static int begin(struct peerlane_group *group, u32 count,
		 struct peerlane_msg *msg)
{
	bool fresh;
	int ret;

	lockdep_assert_held(&group->bind_lock);
	if (group_state(group) != PEERLANE_GROUP_NEW)
		return peerlane_refuse(msg, -EISCONN,
				       "joined, joining or ended already");
	ret = take_memory(group, count, msg);
	if (ret)
		return ret;
	spin_lock(&group->queue_lock);
	fresh = group->state == PEERLANE_GROUP_NEW;
	if (fresh) {
		WRITE_ONCE(group->peer_count, count);
		group_set_state(group, PEERLANE_GROUP_JOINING);
	}
	spin_unlock(&group->queue_lock);
	if (fresh)
		return 0;
	give_memory(group, count);
	return peerlane_refuse(msg, -ENOTCONN, "ended meanwhile");
}

static int join(struct peerlane_group *group,
		const struct peerlane_group_join *args,
		const union link_address *to, struct peerlane_msg *msg)
{
	union link_address source;
	int ret;

	ret = group_take_address(args->source, true, &source, msg);
	if (ret)
		return ret;
	mutex_lock(&group->bind_lock);
	ret = begin(group, args->count, msg);
	if (!ret) {
		group->join.aggregators = args->count;
		queue_delayed_work(group_queue, &group->join_late,
				   msecs_to_jiffies(group->join_timeout_ms));
		connect_all(group, &source, to, msg);
	}
	mutex_unlock(&group->bind_lock);
	return ret;
}

static bool has_joined(struct peerlane_group *group)
{
	u32 state = group_state(group);

	return state == PEERLANE_GROUP_JOINED || state == PEERLANE_GROUP_ENDED;
}

static int wait_joined(struct peerlane_group *group, struct peerlane_msg *msg)
{
	if (wait_event_interruptible(group->wait, has_joined(group)))
		return -EINTR;	/* as connect(2): it goes on */
	if (group_state(group) == PEERLANE_GROUP_JOINED)
		return 0;
	return peerlane_refuse(msg, group->status ?: -ECANCELED, "%s",
			       group->text);
}

/* Each rank has an aggregator of its number. */
static int check_placement(const struct peerlane_group *group, u32 count,
			   struct peerlane_msg *msg)
{
	u32 placement = group->join.placement;

	if ((placement != GROUP_PLACEMENT_COLOCATED &&
	     placement != GROUP_PLACEMENT_REPLICATED) ||
	    count == group->join.size)
		return 0;
	return peerlane_refuse(msg, -EINVAL,
			       "%s: %u ranks take as many aggregators, not %u",
			       placement == GROUP_PLACEMENT_REPLICATED ?
			       "replicated" : "colocated",
			       group->join.size, count);
}

int group_join(struct peerlane_group *group,
	       const struct peerlane_group_join *args, bool wait,
	       struct peerlane_msg *msg)
{
	union link_address *to;
	int ret;

	if (args->reserved2 || args->reserved3)
		return peerlane_refuse(msg, -EOPNOTSUPP,
				       "reserved2 or reserved3 is not 0");
	if (!args->count || args->count > GROUP_PEERS_MAX)
		return peerlane_refuse(msg, -EINVAL,
				       "count %u is not of 1 .. %u", args->count,
				       GROUP_PEERS_MAX);
	ret = check_placement(group, args->count, msg);
	if (ret)
		return ret;
	to = kcalloc(args->count, sizeof(*to), GFP_KERNEL);
	if (!to)
		return -ENOMEM;
	ret = copy_addresses(args, to, msg);
	if (!ret)
		ret = join(group, args, to, msg);
	kfree(to);
	if (ret)
		return ret;
	return wait ? wait_joined(group, msg) : -EINPROGRESS;
}

/* All aggregators say that all are there. */
void group_join_work(struct work_struct *work)
{
	struct peerlane_group *group = container_of(work, struct peerlane_group,
						    join_work);
	struct group_fault fault = group_own_fault(group, GROUP_CAUSE_REVOKED);
	struct peerlane_msg msg = {};
	bool formed = false;
	int ret;

	mutex_lock(&group->bind_lock);
	ret = group_expose_all(group, &msg);
	if (!ret && group->tuning.is_on)
		group_measure(group);
	spin_lock(&group->queue_lock);
	if (!ret && group->state == PEERLANE_GROUP_JOINING) {
		group_set_state(group, PEERLANE_GROUP_JOINED);
		group_queue_record(group, &group->joined);
		group_watch(group);
		formed = true;
	}
	spin_unlock(&group->queue_lock);
	/* Before the end, which waits for bind_lock, is told. */
	if (formed)
		group_event(group, PEERLANE_EVENT_KIND_GROUP_FORMED);
	mutex_unlock(&group->bind_lock);
	if (ret == -ENOTCONN)
		fault = (struct group_fault){ .cause = GROUP_CAUSE_DEAD,
					      .rank = GROUP_NOBODY,
					      .other = GROUP_NOBODY };
	else if (ret && ret != -ENODEV)
		fault.cause = GROUP_CAUSE_FULL;
	if (ret)
		group_end(group, &fault, ret, msg.text, NULL);
	group_wake(group, EPOLLIN | EPOLLOUT);
	group_pump(group);
}
