// SPDX-License-Identifier: GPL-2.0
/* Group files: birth, end, and the list of them. */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "compat.h"
#include "group.h"

#define DAY_MS	86400000U

static unsigned int group_depth = 4096;
module_param(group_depth, uint, 0644);
MODULE_PARM_DESC(group_depth,
		 "operations that a rank of a group may have outstanding (default 4096)");

static unsigned int group_keys = 65536;
module_param(group_keys, uint, 0644);
MODULE_PARM_DESC(group_keys,
		 "memory keys for the slots of one rank, to each aggregator, each of up to 2 MiB (default 65536)");

static LIST_HEAD(groups);		/* in order of id */
static DEFINE_MUTEX(groups_lock);	/* protects groups */
static u64 last_id;			/* groups_lock */

struct workqueue_struct *group_queue;
struct workqueue_struct *group_joins;

/* ---- settings ---- */

static int take_shape(struct peerlane_group *group,
		      const struct peerlane_group_create *args,
		      struct peerlane_msg *msg)
{
	static const struct group_number segment = {
		"segment", GROUP_SEGMENT_MIN, 65536, GROUP_SEGMENT_MAX };
	static const struct group_number window = {
		"window", 1, 8, GROUP_WINDOW_MAX };
	static const struct group_number block = {
		"block", 2, GROUP_RANKS_MAX, GROUP_RANKS_MAX };
	struct group_join *join = &group->join;
	int ret;

	if (!args->group)
		return peerlane_refuse(msg, -EINVAL, "the group's number is 0");
	if (!args->ranks || args->ranks > GROUP_RANKS_MAX ||
	    args->rank >= args->ranks)
		return peerlane_refuse(msg, -EINVAL,
				       "rank %u of %u: there are 1 .. %u ranks",
				       args->rank, args->ranks, GROUP_RANKS_MAX);
	ret = group_take_number(args->segment, &segment, &join->segment, msg);
	if (!ret)
		ret = group_take_number(args->window, &window, &join->window,
					msg);
	if (!ret && !is_power_of_2(join->segment))
		ret = peerlane_refuse(msg, -EINVAL,
				      "segment %u is no power of two",
				      join->segment);
	if (args->placement > PEERLANE_PLACEMENT_TREE)
		return peerlane_refuse(msg, -EOPNOTSUPP, "unknown placement %u",
				       args->placement);
	join->placement = args->placement;
	join->unit = args->placement == PEERLANE_PLACEMENT_TREE;
	join->group = args->group;
	join->rank = args->rank;
	join->size = args->ranks;
	if (!ret)
		ret = group_take_number(args->block, &block, &join->block, msg);
	return ret;
}

static int take_limits(struct peerlane_group *group,
		       const struct peerlane_group_create *args,
		       struct peerlane_msg *msg)
{
	const struct group_number depth = {
		"depth", 1, 128, clamp(READ_ONCE(group_depth), 1U, 1U << 16) };
	static const struct group_number lanes = {
		"lanes", 1, 1, LINK_LANES_MAX };
	static const struct group_number slots = {
		"slots", 1, 16, GROUP_SLOTS_MAX };
	int ret;

	ret = group_take_number(args->depth, &depth, &group->depth, msg);
	if (!ret)
		ret = group_take_number(args->lanes, &lanes,
					&group->settings.lanes, msg);
	if (!ret)
		ret = group_take_number(args->slots, &slots, &group->slot_count,
					msg);
	return ret;
}

static int take_times(struct peerlane_group *group,
		      const struct peerlane_group_create *args,
		      struct peerlane_msg *msg)
{
	static const struct group_number link = {
		"timeout_ms", 100, 5000, 600000 };
	static const struct group_number op = {
		"op_timeout_ms", 100, 60000, GROUP_TIMEOUT_MAX };
	static const struct group_number join = {
		"join_timeout_ms", 100, 120000, DAY_MS };
	int ret;

	ret = group_take_number(args->timeout_ms, &link,
				&group->settings.timeout_ms, msg);
	if (!ret)
		ret = group_take_number(args->op_timeout_ms, &op,
					&group->join.timeout_ms, msg);
	if (!ret)
		ret = group_take_number(args->join_timeout_ms, &join,
					&group->join_timeout_ms, msg);
	return ret;
}

static int take_link(struct peerlane_group *group,
		     const struct peerlane_group_create *args,
		     struct peerlane_msg *msg)
{
	struct link_settings *settings = &group->settings;
	int ret;

	settings->service = LINK_SERVICE_GROUP;
	settings->uid = current_euid();
	settings->purse = &group_purse;
	settings->depth = 2 * group->join.window;
	settings->notify = 2 * group->join.window + group->slot_count + 16;
	settings->grants = 4;		/* its pool */
	settings->keys = READ_ONCE(group_keys);
	ret = group_take_secret(args->secret, settings->secret, msg);
	if (!ret)
		ret = group_take_text(args->rdma_device,
				      sizeof(args->rdma_device),
				      settings->device, "rdma_device", msg);
	if (!ret)
		ret = group_take_text(args->label, sizeof(args->label),
				      settings->label, "label", msg);
	return ret;
}

static int take_near(struct peerlane_group *group, int fd,
		     struct peerlane_msg *msg)
{
	struct peerlane_region *near;
	struct file *file;

	if (fd == -1)
		return 0;
	file = fget(fd);
	near = file ? peerlane_region_of(file) : NULL;
	if (near)
		peerlane_region_get_user(near);
	if (file)
		fput(file);
	group->near = near;
	if (near)
		return 0;
	return peerlane_refuse(msg, -EBADF, "near_fd %d is not a region", fd);
}

static int take_settings(struct peerlane_group *group,
			 const struct peerlane_group_create *args,
			 struct peerlane_msg *msg)
{
	int ret;

	ret = take_shape(group, args, msg);
	if (!ret)
		ret = take_limits(group, args, msg);
	if (!ret)
		ret = take_times(group, args, msg);
	if (!ret)
		ret = take_link(group, args, msg);
	if (!ret)
		ret = take_near(group, args->near_fd, msg);
	return ret;
}

/* ---- birth ---- */

static void init(struct peerlane_group *group)
{
	mutex_init(&group->bind_lock);
	mutex_init(&group->expose_lock);
	mutex_init(&group->read_lock);
	spin_lock_init(&group->queue_lock);
	init_waitqueue_head(&group->wait);
	INIT_LIST_HEAD(&group->node);
	INIT_LIST_HEAD(&group->waiting);
	INIT_LIST_HEAD(&group->free_tasks);
	INIT_LIST_HEAD(&group->records);
	INIT_WORK(&group->join_work, group_join_work);
	INIT_WORK(&group->end_work, group_end_work);
	INIT_WORK(&group->tuning.probe_work, group_probe_work);
	INIT_DELAYED_WORK(&group->join_late, group_late_work);
	INIT_DELAYED_WORK(&group->watch, group_watch_work);
	group->joined.type = PEERLANE_GROUP_RECORD_JOINED;
	group->ended.type = PEERLANE_GROUP_RECORD_ENDED;
	group->fault.rank = U32_MAX;
	group->fault.other = U32_MAX;
	group->net = get_net(current->nsproxy->net_ns);
	group->uid = current_euid();
	group->opener = get_pid(task_tgid(current));
	get_task_comm(group->comm, current->group_leader);
}

static int make_parts(struct peerlane_group *group)
{
	u32 i;

	group->slots = kvcalloc(group->slot_count, sizeof(*group->slots),
				GFP_KERNEL_ACCOUNT);
	group->tasks = kvcalloc(group->depth, sizeof(*group->tasks),
				GFP_KERNEL_ACCOUNT);
	if (!group->slots || !group->tasks)
		return -ENOMEM;
	for (i = 0; i < group->slot_count; i++) {
		group->slots[i].group = group;
		group->slots[i].index = i;
	}
	for (i = 0; i < group->depth; i++) {
		group->tasks[i].group = group;
		group->tasks[i].record.type = PEERLANE_GROUP_RECORD_DONE;
		list_add_tail(&group->tasks[i].record.node, &group->free_tasks);
	}
	group->free_count = group->depth;
	return 0;
}

static void publish(struct peerlane_group *group)
{
	char *label = group->settings.label;

	mutex_lock(&groups_lock);
	group->id = ++last_id;
	if (!label[0])
		snprintf(label, sizeof(group->settings.label),
			 "rank %u group %llu", group->join.rank, group->id);
	list_add_tail(&group->node, &groups);
	mutex_unlock(&groups_lock);
}

static void free_parts(struct peerlane_group *group)
{
	if (group->near)
		peerlane_region_put_user(group->near);
	kvfree(group->slots);
	kvfree(group->tasks);
	group_uncharge(group);
	put_pid(group->opener);
	put_net(group->net);
	kfree_sensitive(group);
}

struct peerlane_group *group_new(const struct peerlane_group_create *args,
				 struct peerlane_msg *msg)
{
	struct peerlane_group *group;
	int ret;

	group = kzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	if (!group)
		return ERR_PTR(-ENOMEM);
	init(group);
	ret = take_settings(group, args, msg);
	if (!ret)
		ret = group_charge(group, msg);
	if (!ret)
		ret = make_parts(group);
	if (ret) {
		free_parts(group);
		return ERR_PTR(ret);
	}
	publish(group);
	return group;
}

static int release(struct inode *inode, struct file *file)
{
	group_close(file->private_data);
	return 0;
}

static const struct file_operations group_fops = {
	.owner		= THIS_MODULE,
	.release	= release,
	.read		= group_read,
	.poll		= group_poll,
	.unlocked_ioctl	= peerlane_group_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.llseek		= PEERLANE_NO_LLSEEK,
};

struct file *group_file(struct peerlane_group *group)
{
	return anon_inode_getfile("[peerlane-group]", &group_fops, group, O_RDWR);
}

/* ---- end ---- */

static bool is_quiet(struct peerlane_group *group)
{
	bool quiet = true;
	u32 i;

	spin_lock(&group->queue_lock);
	for (i = 0; group->state == PEERLANE_GROUP_JOINED && quiet &&
	     i < group->peer_count; i++)
		quiet = group->streams.of[i].sent == group->streams.of[i].back;
	spin_unlock(&group->queue_lock);
	return quiet;
}

/*
 * What was replicated is complete here with the own aggregator's result, while
 * others may still wait for somebody's data: to them that would be a rank that
 * left in the middle.
 */
static void wait_quiet(struct peerlane_group *group)
{
	WRITE_ONCE(group->leaving, true);
	wait_event_timeout(group->wait,
			   READ_ONCE(group->outstanding) || is_quiet(group),
			   msecs_to_jiffies(group->settings.timeout_ms));
}

void group_leave(struct peerlane_group *group)
{
	struct group_fault fault = {};
	bool busy;

	wait_quiet(group);
	/* Others may go on to the next round, which needs a word of all. */
	group_tune_hurry(group);
	spin_lock(&group->queue_lock);
	busy = group->outstanding;
	spin_unlock(&group->queue_lock);
	fault = group_own_fault(group, busy ? GROUP_CAUSE_LEFT :
					      GROUP_CAUSE_NONE);
	if (!busy)
		fault.rank = PEERLANE_RANK_NONE;
	group_end(group, &fault, busy ? -ECANCELED : 0,
		  busy ? "this rank left with operations open" :
			 "this rank left", NULL);
	wait_event(group->wait,
		   group_state(group) == PEERLANE_GROUP_ENDED);
	/* The end's work may still be at its wake-up. */
	flush_work(&group->end_work);
}

void group_close(struct peerlane_group *group)
{
	mutex_lock(&groups_lock);
	list_del_init(&group->node);
	mutex_unlock(&groups_lock);
	group_leave(group);
	cancel_delayed_work_sync(&group->join_late);
	cancel_work_sync(&group->join_work);
	cancel_work_sync(&group->tuning.probe_work);
	/* After what begins it. */
	cancel_delayed_work_sync(&group->watch);
	group_unbind_all(group);
	group_unjoin(group);
	free_parts(group);
}

/* ---- list ---- */

static void fill_counters(struct peerlane_group *group,
			  struct peerlane_group_info *info)
{
	lockdep_assert_held(&group->queue_lock);
	info->ops_done = group->ops_done;
	info->ops_failed = group->ops_failed;
	info->bytes_sent = group->bytes_sent;
	info->bytes_received = group->bytes_received;
	info->segments = group->segments;
	info->outstanding = group->outstanding;
}

static void fill_fault(struct peerlane_group *group,
		       struct peerlane_group_info *info)
{
	lockdep_assert_held(&group->queue_lock);
	info->state = group->state;
	info->status = group->status;
	info->fault_value = group->fault.value;
	info->fault_expected = group->fault.expected;
	info->fault_seq = group->fault.seq;
	info->fault_cause = group->fault.cause;
	info->fault_rank = group->fault.rank;
	info->fault_other = group->fault.other;
	info->fault_missing = group->fault.missing;
	info->fault_field = group->fault.field;
	strscpy(info->text, group->text, sizeof(info->text));
}

void group_info(struct peerlane_group *group, struct peerlane_group_info *info)
{
	u32 i;

	*info = (struct peerlane_group_info){
		.id = group->id,
		.group = group->join.group,
		.uid = from_kuid_munged(current_user_ns(), group->uid),
		.pid = pid_vnr(group->opener),
		.rank = group->join.rank,
		.ranks = group->join.size,
		.aggregators = READ_ONCE(group->peer_count),
		.segment = group->join.segment,
		.window = group->join.window,
		.block = group->join.block,
		.lanes = group->settings.lanes,
		.depth = group->depth,
	};
	memcpy(info->comm, group->comm, sizeof(info->comm));
	strscpy(info->label, group->settings.label, sizeof(info->label));
	info->lanes_left = group_lanes_left(group);
	for (i = 0; i < group->slot_count; i++)
		info->slots += !!READ_ONCE(group->slots[i].region);
	spin_lock(&group->queue_lock);
	fill_counters(group, info);
	fill_fault(group, info);
	group_tune_info(group, info);
	spin_unlock(&group->queue_lock);
}

static bool may_see(const struct peerlane_group *group, const struct net *net,
		    bool all)
{
	return net_eq(group->net, net) &&
	       (all || uid_eq(group->uid, current_euid()));
}

u32 group_records(struct net *net, bool all, struct peerlane_group_info *records,
		  u32 room)
{
	struct peerlane_group *group;
	u32 count = 0;

	mutex_lock(&groups_lock);
	list_for_each_entry(group, &groups, node) {
		if (!may_see(group, net, all))
			continue;
		if (count < room)
			group_info(group, &records[count]);
		count++;
	}
	mutex_unlock(&groups_lock);
	return count;
}

u32 group_lanes(struct net *net, bool all, struct peerlane_lane_info *records,
		u32 room)
{
	struct peerlane_group *group;
	u32 count = 0;

	mutex_lock(&groups_lock);
	list_for_each_entry(group, &groups, node)
		if (may_see(group, net, all))
			count = group_lanes_of(group, records, room, count);
	mutex_unlock(&groups_lock);
	return count;
}

/* ---- module ---- */

int group_init(void)
{
	group_queue = alloc_workqueue("peerlane_group", WQ_UNBOUND, 0);
	if (!group_queue)
		return -ENOMEM;
	group_joins = alloc_workqueue("peerlane_group_join", WQ_UNBOUND,
				      WQ_UNBOUND_MAX_ACTIVE);
	if (group_joins)
		return 0;
	destroy_workqueue(group_queue);
	return -ENOMEM;
}

void group_exit(void)
{
	destroy_workqueue(group_joins);
	destroy_workqueue(group_queue);
}
