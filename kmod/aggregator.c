// SPDX-License-Identifier: GPL-2.0
/* Aggregators: birth, end, and the list of them. */
#include <linux/anon_inodes.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "aggregator.h"
#include "compat.h"

#define TICK_MS		100
#define NOTIFY		64	/* messages of a rank that may be under way */

static bool aggregator_allowed;
module_param_named(aggregator, aggregator_allowed, bool, 0644);
MODULE_PARM_DESC(aggregator,
		 "may aggregators be made on this machine? (default 0)");

static unsigned int aggregator_groups = 1024;
module_param(aggregator_groups, uint, 0644);
MODULE_PARM_DESC(aggregator_groups,
		 "groups that one aggregator may serve at once (default 1024)");

static unsigned int aggregator_threads;
module_param(aggregator_threads, uint, 0444);
MODULE_PARM_DESC(aggregator_threads,
		 "segments that are reduced at once; 0: one for each CPU (default 0)");

static unsigned int aggregator_keys = 65536;
module_param(aggregator_keys, uint, 0644);
MODULE_PARM_DESC(aggregator_keys,
		 "memory keys of one rank's slots that an aggregator keeps, each of up to 2 MiB (default 65536)");

static LIST_HEAD(aggregators);		/* in order of id */
static DEFINE_MUTEX(aggregators_lock);	/* protects aggregators */
static u64 last_id;			/* aggregators_lock */

struct workqueue_struct *aggregator_queue;
struct workqueue_struct *aggregator_reducers;

/* ---- settings ---- */

static int take_numbers(struct peerlane_aggregator *aggregator,
			const struct peerlane_aggregator_create *args,
			struct peerlane_msg *msg)
{
	static const struct group_number backlog = { "backlog", 1, 64, 1024 };
	const struct group_number groups = {
		"max_groups", 1, 64, max(READ_ONCE(aggregator_groups), 1U) };
	static const struct group_number link = {
		"timeout_ms", 100, 5000, 600000 };
	static const struct group_number join = {
		"join_timeout_ms", 100, 60000, 86400000 };
	static const struct group_number lanes = {
		"parent_lanes", 1, 1, LINK_LANES_MAX };
	int ret;

	ret = group_take_number(args->backlog, &backlog, &aggregator->backlog,
				msg);
	if (!ret)
		ret = group_take_number(args->max_groups, &groups,
					&aggregator->max_groups, msg);
	if (!ret)
		ret = group_take_number(args->timeout_ms, &link,
					&aggregator->settings.timeout_ms, msg);
	if (!ret)
		ret = group_take_number(args->join_timeout_ms, &join,
					&aggregator->join_timeout_ms, msg);
	if (!ret)
		ret = group_take_number(args->parent_lanes, &lanes,
					&aggregator->parent_lanes, msg);
	return ret;
}

static int take_settings(struct peerlane_aggregator *aggregator,
			 const struct peerlane_aggregator_create *args,
			 struct peerlane_msg *msg)
{
	struct link_settings *settings = &aggregator->settings;
	int ret;

	settings->service = LINK_SERVICE_GROUP;
	settings->uid = current_euid();
	settings->purse = &aggregator_purse;
	settings->lanes = LINK_LANES_MAX;	/* as many as a rank wants */
	settings->depth = 16;
	settings->notify = NOTIFY;
	settings->grants = 1024;
	settings->keys = READ_ONCE(aggregator_keys);
	ret = take_numbers(aggregator, args, msg);
	if (!ret)
		ret = group_take_secret(args->secret, settings->secret, msg);
	if (!ret)
		ret = group_take_text(args->rdma_device,
				      sizeof(args->rdma_device),
				      settings->device, "rdma_device", msg);
	if (!ret)
		ret = group_take_address(args->address, false,
					 &aggregator->address, msg);
	if (!ret)
		ret = group_take_address(args->parent, true,
					 &aggregator->parent, msg);
	return ret;
}

/* ---- time ---- */

static void tick_work(struct work_struct *work)
{
	struct peerlane_aggregator *aggregator;
	struct aggregator_group *group;

	aggregator = container_of(to_delayed_work(work),
				  struct peerlane_aggregator, tick);
	mutex_lock(&aggregator->lock);
	list_for_each_entry(group, &aggregator->groups, node)
		aggregator_look_after(group);
	aggregator_kill_strangers(aggregator, false);
	mutex_unlock(&aggregator->lock);
	queue_delayed_work(aggregator_queue, &aggregator->tick,
			   msecs_to_jiffies(TICK_MS));
}

/* ---- birth ---- */

static void init(struct peerlane_aggregator *aggregator)
{
	kref_init(&aggregator->ref);
	mutex_init(&aggregator->lock);
	mutex_init(&aggregator->read_lock);
	spin_lock_init(&aggregator->record_lock);
	init_waitqueue_head(&aggregator->wait);
	INIT_LIST_HEAD(&aggregator->node);
	INIT_LIST_HEAD(&aggregator->groups);
	INIT_LIST_HEAD(&aggregator->strangers);
	INIT_DELAYED_WORK(&aggregator->tick, tick_work);
	aggregator->net = get_net(current->nsproxy->net_ns);
	aggregator->uid = current_euid();
	aggregator->opener = get_pid(task_tgid(current));
	get_task_comm(aggregator->comm, current->group_leader);
}

static void publish(struct peerlane_aggregator *aggregator)
{
	char *label = aggregator->settings.label;

	mutex_lock(&aggregators_lock);
	aggregator->id = ++last_id;
	snprintf(label, sizeof(aggregator->settings.label), "aggregator %llu",
		 aggregator->id);
	list_add_tail(&aggregator->node, &aggregators);
	mutex_unlock(&aggregators_lock);
}

static void aggregator_free(struct kref *ref)
{
	struct peerlane_aggregator *aggregator;

	aggregator = container_of(ref, struct peerlane_aggregator, ref);
	put_pid(aggregator->opener);
	put_net(aggregator->net);
	kfree_sensitive(aggregator);
}

void aggregator_put(struct peerlane_aggregator *aggregator)
{
	kref_put(&aggregator->ref, aggregator_free);
}

/* The pool may have been revoked before there was a listener to end. */
static int listen(struct peerlane_aggregator *aggregator, struct peerlane_msg *msg)
{
	struct link_listener *listener;
	int status;

	/* A connection may have several lanes that wait at once. */
	listener = link_listen(aggregator->net, &aggregator->address,
			       &aggregator->settings,
			       aggregator->backlog + LINK_LANES_MAX,
			       &aggregator_listener_ops, aggregator, msg);
	if (IS_ERR(listener))
		return PTR_ERR(listener);
	mutex_lock(&aggregator->lock);
	status = aggregator->status;
	if (!status)
		aggregator->listener = listener;
	mutex_unlock(&aggregator->lock);
	if (!status)
		return 0;
	link_listener_free(listener);
	return peerlane_refuse(msg, status, "the pool was revoked");
}

struct peerlane_aggregator *
aggregator_new(const struct peerlane_aggregator_create *args,
	       struct peerlane_msg *msg)
{
	struct peerlane_aggregator *aggregator;
	int ret;

	if (!READ_ONCE(aggregator_allowed))
		return ERR_PTR(peerlane_refuse(msg, -EPERM,
					       "this machine takes no aggregators (module parameter aggregator is 0)"));
	aggregator = kzalloc(sizeof(*aggregator), GFP_KERNEL_ACCOUNT);
	if (!aggregator)
		return ERR_PTR(-ENOMEM);
	init(aggregator);
	ret = take_settings(aggregator, args, msg);
	if (!ret)
		ret = aggregator_charge(aggregator, msg);
	if (ret) {
		aggregator_put(aggregator);
		return ERR_PTR(ret);
	}
	publish(aggregator);
	ret = aggregator_pool_open(aggregator, args->pool_fd, msg);
	if (!ret)
		ret = listen(aggregator, msg);
	if (ret) {
		aggregator_close(aggregator);
		return ERR_PTR(ret);
	}
	queue_delayed_work(aggregator_queue, &aggregator->tick,
			   msecs_to_jiffies(TICK_MS));
	return aggregator;
}

static int release(struct inode *inode, struct file *file)
{
	aggregator_close(file->private_data);
	return 0;
}

static const struct file_operations aggregator_fops = {
	.owner		= THIS_MODULE,
	.release	= release,
	.read		= aggregator_read,
	.poll		= aggregator_poll,
	.unlocked_ioctl	= peerlane_aggregator_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.llseek		= PEERLANE_NO_LLSEEK,
};

struct file *aggregator_file(struct peerlane_aggregator *aggregator)
{
	return anon_inode_getfile("[peerlane-aggregator]", &aggregator_fops,
				  aggregator, O_RDWR);
}

/* ---- end ---- */

static struct link_listener *begin_stop(struct peerlane_aggregator *aggregator,
					int status)
{
	const struct group_fault fault = {
		.cause = GROUP_CAUSE_CLOSED,
		.rank = GROUP_NOBODY,
		.other = GROUP_NOBODY,
	};
	struct link_listener *listener = NULL;
	struct aggregator_group *group;

	mutex_lock(&aggregator->lock);
	if (!aggregator->status)
		WRITE_ONCE(aggregator->status, status);
	swap(listener, aggregator->listener);
	list_for_each_entry(group, &aggregator->groups, node)
		aggregator_fail(group, &fault, NULL);
	aggregator_kill_strangers(aggregator, true);
	mutex_unlock(&aggregator->lock);
	return listener;
}

static bool is_empty(struct peerlane_aggregator *aggregator)
{
	return !READ_ONCE(aggregator->group_count) &&
	       !READ_ONCE(aggregator->rank_count);
}

void aggregator_stop(struct peerlane_aggregator *aggregator, int status)
{
	struct link_listener *listener = begin_stop(aggregator, status);

	/* It waits for those that are coming in, who are refused. */
	if (listener)
		link_listener_free(listener);
	wait_event(aggregator->wait, is_empty(aggregator));
	if (status == -ENODEV)
		aggregator_record(aggregator, PEERLANE_AGGREGATOR_RECORD_CLOSED,
				  NULL, status);
}

void aggregator_close(struct peerlane_aggregator *aggregator)
{
	mutex_lock(&aggregators_lock);
	list_del_init(&aggregator->node);
	mutex_unlock(&aggregators_lock);
	aggregator_stop(aggregator, -ESHUTDOWN);
	cancel_delayed_work_sync(&aggregator->tick);
	aggregator_pool_close(aggregator);
	aggregator_uncharge(aggregator);
	aggregator_put(aggregator);
}

/* ---- list ---- */

void aggregator_info(struct peerlane_aggregator *aggregator,
		     struct peerlane_aggregator_info *info)
{
	const struct aggregator_group *group;

	*info = (struct peerlane_aggregator_info){
		.id = aggregator->id,
		.segments = atomic64_read(&aggregator->segments),
		.bytes = atomic64_read(&aggregator->bytes),
		.uid = from_kuid_munged(current_user_ns(), aggregator->uid),
		.pid = pid_vnr(aggregator->opener),
		.max_groups = aggregator->max_groups,
	};
	memcpy(info->comm, aggregator->comm, sizeof(info->comm));
	memcpy(info->address, &aggregator->address, sizeof(info->address));
	strscpy(info->rdma_device, aggregator->settings.device,
		sizeof(info->rdma_device));
	memcpy(info->parent, &aggregator->parent, sizeof(info->parent));
	mutex_lock(&aggregator->lock);
	list_for_each_entry(group, &aggregator->groups, node)
		info->tree_groups += group->has_parent;
	info->pool_bytes = aggregator->pool.bytes;
	info->pool_used = aggregator->pool.used;
	info->formed = aggregator->formed;
	info->failed = aggregator->failed;
	info->refused = aggregator->refused;
	info->groups = aggregator->group_count;
	info->links = aggregator->rank_count;
	info->status = aggregator->status;
	mutex_unlock(&aggregator->lock);
}

u32 aggregator_records(struct net *net, bool all,
		       struct peerlane_aggregator_info *records, u32 room)
{
	struct peerlane_aggregator *aggregator;
	u32 count = 0;

	mutex_lock(&aggregators_lock);
	list_for_each_entry(aggregator, &aggregators, node) {
		if (!net_eq(aggregator->net, net) ||
		    (!all && !uid_eq(aggregator->uid, current_euid())))
			continue;
		if (count < room)
			aggregator_info(aggregator, &records[count]);
		count++;
	}
	mutex_unlock(&aggregators_lock);
	return count;
}

/* ---- module ---- */

int aggregator_init(void)
{
	u32 threads = min(aggregator_threads ?: num_online_cpus(),
			  (u32)WQ_MAX_ACTIVE);

	aggregator_queue = alloc_workqueue("peerlane_aggregator", WQ_UNBOUND, 0);
	if (!aggregator_queue)
		return -ENOMEM;
	aggregator_reducers = alloc_workqueue("peerlane_reduce", WQ_UNBOUND,
					      threads);
	if (aggregator_reducers)
		return 0;
	destroy_workqueue(aggregator_queue);
	return -ENOMEM;
}

void aggregator_exit(void)
{
	destroy_workqueue(aggregator_reducers);
	destroy_workqueue(aggregator_queue);
}
