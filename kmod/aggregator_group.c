// SPDX-License-Identifier: GPL-2.0
/* Groups at an aggregator: made, formed, failed, and gone. */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/slab.h>

#include "aggregator.h"
#include "aggregator_parent.h"
#include "peerlane_netlink.h"

#define GRACE	(2 * HZ)	/* for ranks to close, after they were told */

/* ---- the end ---- */

static void kill_links(struct aggregator_group *group, bool all)
{
	struct aggregator_rank *rank;
	u32 i;

	lockdep_assert_held(&group->aggregator->lock);
	for (i = 0; i < group->members.count; i++) {
		rank = group->ranks[i];
		if (rank && (all || rank->asked || READ_ONCE(rank->left)))
			link_kill(rank->link, -ECONNRESET, -ECANCELED,
				  "its group ended");
	}
	if (group->parent && all)
		aggregator_parent_kill(group->parent);
}

static void grace_work(struct work_struct *work)
{
	struct aggregator_group *group;

	group = container_of(to_delayed_work(work), struct aggregator_group,
			     grace);
	mutex_lock(&group->aggregator->lock);
	kill_links(group, true);
	mutex_unlock(&group->aggregator->lock);
}

/* Nobody joins any more. */
static void end_work(struct work_struct *work)
{
	struct aggregator_group *group = container_of(work,
						      struct aggregator_group,
						      end_work);
	struct peerlane_aggregator *aggregator = group->aggregator;
	struct aggregator_rank *rank;
	u32 i;

	mutex_lock(&aggregator->lock);
	for (i = 0; i < group->members.count; i++) {
		rank = group->ranks[i];
		if (rank && !rank->down && !rank->asked && !READ_ONCE(rank->left))
			aggregator_tell(rank, &group->fault);
	}
	if (group->parent)
		aggregator_parent_tell(group->parent, &group->fault);
	kill_links(group, false);
	group->told = true;
	if (group->live)
		queue_delayed_work(aggregator_queue, &group->grace, GRACE);
	else
		queue_work(aggregator_queue, &group->reap);
	mutex_unlock(&aggregator->lock);
}

void aggregator_fail(struct aggregator_group *group,
		     const struct group_fault *fault,
		     struct aggregator_rank *teller)
{
	bool first;

	spin_lock(&group->lock);
	first = !group->ended;
	if (first)
		group->fault = *fault;
	if (teller)
		WRITE_ONCE(teller->left, true);
	WRITE_ONCE(group->ended, true);
	spin_unlock(&group->lock);
	if (first)
		queue_work(aggregator_queue, &group->end_work);
}

void aggregator_fail_rank(struct aggregator_rank *rank, u32 cause)
{
	const struct group_fault fault = {
		.cause = cause,
		.rank = rank->join.rank,
		.other = GROUP_NOBODY,
		.missing = rank->join.unit > 1 ?
			   min(rank->join.unit,
			       rank->join.size - rank->join.rank) : 0,
	};

	/* Who left may go down. */
	if (cause == GROUP_CAUSE_DEAD && READ_ONCE(rank->left))
		return;
	aggregator_fail(rank->group, &fault, NULL);
}

void aggregator_left(struct aggregator_rank *rank)
{
	struct aggregator_group *group = rank->group;
	struct group_fault fault = { .rank = rank->join.rank,
				     .other = GROUP_NOBODY };
	bool last;

	spin_lock(&group->lock);
	WRITE_ONCE(rank->left, true);
	if (!group->left++) {
		group->first_left = rank->join.rank;
		group->left_at = ktime_get_ns();
	}
	last = group->left == group->members.count;
	if (!group->formed || group_table_is_busy(&group->table))
		fault.cause = GROUP_CAUSE_LEFT;
	spin_unlock(&group->lock);
	if (last || fault.cause)
		aggregator_fail(group, &fault, rank);
}

static void count_end(struct aggregator_group *group)
{
	struct peerlane_aggregator *aggregator = group->aggregator;

	lockdep_assert_held(&aggregator->lock);
	aggregator_pool_give(aggregator, group);
	aggregator_uncharge_bytes(aggregator, group->charged);
	WRITE_ONCE(aggregator->group_count, aggregator->group_count - 1);
	if (group->fault.cause)
		aggregator->failed++;
}

/* All links are down, so no post is under way that is not being pushed. */
static void reap_work(struct work_struct *work)
{
	struct aggregator_group *group = container_of(work,
						      struct aggregator_group,
						      reap);
	struct peerlane_aggregator *aggregator = group->aggregator;
	u32 i;

	flush_work(&group->end_work);
	cancel_delayed_work_sync(&group->grace);
	for (i = 0; i < group->shape.window; i++)
		cancel_work_sync(&group->places[i].work);
	for (i = 0; i < group->members.count; i++)
		if (group->ranks[i])
			aggregator_rank_free(group->ranks[i]);
	if (group->parent)
		aggregator_parent_free(group->parent);
	mutex_lock(&aggregator->lock);
	count_end(group);
	mutex_unlock(&aggregator->lock);
	aggregator_record(aggregator, PEERLANE_AGGREGATOR_RECORD_ENDED, group,
			  group_cause_errno(group->fault.cause));
	aggregator_event(group, PEERLANE_EVENT_KIND_GROUP_ENDED);
	aggregator_group_free(group);
	aggregator_put(aggregator);
}

/* Its link is down. */
void aggregator_detach(struct aggregator_rank *rank)
{
	struct aggregator_group *group = rank->group;
	struct peerlane_aggregator *aggregator = group->aggregator;

	aggregator_fail_rank(rank, group_cause_of_end(rank->link));
	mutex_lock(&aggregator->lock);
	aggregator_link_gone(group);
	mutex_unlock(&aggregator->lock);
}

void aggregator_link_gone(struct aggregator_group *group)
{
	lockdep_assert_held(&group->aggregator->lock);
	group->live--;
	/* Else the end's work is still to come, and does it. */
	if (!group->live && group->told)
		queue_work(aggregator_queue, &group->reap);
}

/* ---- JOIN ---- */

/*
 * An aggregator that is named by several addresses has a group of each number, and
 * of a tree it may be at several heights.
 */
static bool is_of(const struct aggregator_group *group,
		  const struct group_join *join)
{
	return group->shape.group == join->group &&
	       group->shape.index == join->index &&
	       (!group->shape.unit || !join->unit ||
		group->shape.unit == join->unit);
}

static struct aggregator_group *find(struct peerlane_aggregator *aggregator,
				     const struct group_join *join)
{
	struct aggregator_group *group;

	lockdep_assert_held(&aggregator->lock);
	list_for_each_entry(group, &aggregator->groups, node)
		if (is_of(group, join))
			return group;
	return NULL;
}

static bool same_shape(const struct group_join *one, const struct group_join *other)
{
	return one->size == other->size && one->block == other->block &&
	       one->aggregators == other->aggregators &&
	       one->segment == other->segment && one->window == other->window &&
	       one->timeout_ms == other->timeout_ms &&
	       one->placement == other->placement && one->unit == other->unit;
}

/* All, or if there is an aggregator above, who is of @join's block. */
static void set_members(struct aggregator_group *group,
			const struct group_join *join)
{
	struct group_members *members = &group->members;
	u32 block;

	members->unit = max(join->unit, 1U);
	members->count = (join->size - 1) / members->unit + 1;
	group->has_parent = join->unit && members->count > join->block &&
			    group->aggregator->parent.any.sa_family;
	if (!group->has_parent)
		return;
	block = join->rank / members->unit / join->block;
	members->first = block * join->block;
	members->count = min(join->block, members->count - members->first);
}

static struct aggregator_group *group_new(struct peerlane_aggregator *aggregator,
					  const struct group_join *join)
{
	struct aggregator_group *group;

	lockdep_assert_held(&aggregator->lock);
	if (aggregator->group_count >= aggregator->max_groups)
		return NULL;
	group = kzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	if (!group)
		return NULL;
	group->aggregator = aggregator;
	group->shape = *join;
	group->born = jiffies;
	set_members(group, join);
	/* Also for results, and for what is on its way up and down. */
	group->bytes = ((u64)group->members.count + 1 + group->has_parent) *
		       join->window * join->segment;
	spin_lock_init(&group->lock);
	INIT_WORK(&group->end_work, end_work);
	INIT_DELAYED_WORK(&group->grace, grace_work);
	INIT_WORK(&group->reap, reap_work);
	if (aggregator_take_memory(group)) {
		aggregator_group_free(group);
		return NULL;
	}
	kref_get(&aggregator->ref);
	WRITE_ONCE(aggregator->group_count, aggregator->group_count + 1);
	if (group->parent)
		aggregator_parent_begin(group->parent);
	return group;
}

/* As its ranks were told. If all left, nobody is to blame. */
static void fault_of(struct aggregator_group *group, struct group_fault *fault)
{
	spin_lock(&group->lock);
	*fault = group->fault;
	spin_unlock(&group->lock);
	if (!fault->cause)
		*fault = (struct group_fault){ .cause = GROUP_CAUSE_CLOSED,
					       .rank = GROUP_NOBODY,
					       .other = GROUP_NOBODY };
}

/* @fault->cause 0: it may join. */
static void find_fault(struct aggregator_group *group,
		       const struct group_join *join, struct group_fault *fault)
{
	u32 index = aggregator_member(group, join);

	fault->cause = 0;
	if (READ_ONCE(group->ended))
		fault_of(group, fault);
	else if (!same_shape(&group->shape, join))
		fault->cause = GROUP_CAUSE_SHAPE;
	else if (index >= group->members.count)
		fault->cause = GROUP_CAUSE_BLOCK;
	else if (group->ranks[index])
		fault->cause = GROUP_CAUSE_TAKEN;
}

static void enter(struct aggregator_group *group, struct aggregator_rank *rank)
{
	struct peerlane_aggregator *aggregator = group->aggregator;

	list_del_init(&rank->node);
	aggregator->stranger_count--;
	rank->index = aggregator_member(group, &rank->join);
	group->ranks[rank->index] = rank;
	group->live++;
	/* Pairs with the acquire of callbacks. */
	smp_store_release(&rank->group, group);
}

int aggregator_attach(struct aggregator_rank *rank, struct group_fault *fault)
{
	struct peerlane_aggregator *aggregator = rank->aggregator;
	const struct group_join *join = &rank->join;
	struct aggregator_group *group = find(aggregator, join);
	u32 i;

	if (group) {
		find_fault(group, join, fault);
		if (fault->cause)
			return 1;
	}
	fault->cause = GROUP_CAUSE_FULL;
	rank->results = kvcalloc(join->window, sizeof(*rank->results),
				 GFP_KERNEL_ACCOUNT);
	if (!rank->results)
		return 1;
	if (!group)
		group = group_new(aggregator, join);
	if (!group)
		return 1;	/* results are freed with the rank */
	for (i = 0; i < join->window; i++) {
		rank->results[i].owner = rank;
		rank->results[i].index = i;
	}
	enter(group, rank);
	return 0;
}

static void welcome_done(struct group_post *post, int status)
{
}

void aggregator_form(struct aggregator_group *group)
{
	const struct group_message message = { .type = GROUP_MESSAGE_WELCOME };
	struct peerlane_aggregator *aggregator = group->aggregator;
	struct aggregator_rank *rank;
	u32 i;

	lockdep_assert_held(&aggregator->lock);
	aggregator_measure(group);
	spin_lock(&group->lock);
	group->formed = true;
	spin_unlock(&group->lock);
	aggregator->formed++;
	for (i = 0; i < group->members.count; i++) {
		rank = group->ranks[i];
		group_post_init(&rank->welcome, &message, welcome_done);
		group_pipe_add(&rank->pipe, &rank->welcome);
		group_pipe_push(&rank->pipe);
	}
	aggregator_record(aggregator, PEERLANE_AGGREGATOR_RECORD_FORMED, group,
			  0);
	aggregator_event(group, PEERLANE_EVENT_KIND_GROUP_FORMED);
}

void aggregator_joined(struct aggregator_rank *rank)
{
	struct aggregator_group *group = rank->group;
	struct peerlane_aggregator *aggregator = group->aggregator;

	mutex_lock(&aggregator->lock);
	group->joined += !rank->ready;
	rank->ready = true;
	if (group->joined == group->members.count && !READ_ONCE(group->ended) &&
	    !READ_ONCE(group->formed)) {
		if (group->parent)
			aggregator_parent_step(group->parent);
		else
			aggregator_form(group);
	}
	mutex_unlock(&aggregator->lock);
}

/* ---- statistics ---- */

static void fill_rank(struct aggregator_group *group, u32 index,
		      struct peerlane_rank_record *record)
{
	struct aggregator_rank *rank = group->ranks[index];
	const struct group_rank_stats *stats = &group->table.stats[index];
	struct link_info info = {};

	BUILD_BUG_ON(sizeof(stats->late) != sizeof(record->late));
	if (rank)
		link_info(rank->link, &info);
	spin_lock(&group->lock);
	*record = (struct peerlane_rank_record){
		.segments = stats->segments,
		.bytes = stats->bytes,
		.late_total_ns = stats->late_total,
		.late_max_ns = stats->late_max,
		.last = stats->last,
		.rank = group_member_rank(&group->members, index),
		.is_there = rank && !rank->down,
	};
	memcpy(record->late, stats->late, sizeof(record->late));
	spin_unlock(&group->lock);
	memcpy(record->peer, &info.peer, sizeof(record->peer));
}

/* Of those that one group has here, the first that goes on. */
static struct aggregator_group *first_of(struct peerlane_aggregator *aggregator,
					 u64 id)
{
	struct aggregator_group *group;

	lockdep_assert_held(&aggregator->lock);
	list_for_each_entry(group, &aggregator->groups, node)
		if (group->shape.group == id && !READ_ONCE(group->ended))
			return group;
	return NULL;
}

/* How many there are; 0: no such group. */
u32 aggregator_ranks(struct peerlane_aggregator *aggregator, u64 id,
		     struct peerlane_rank_record *records, u32 room)
{
	struct aggregator_group *group;
	u32 i, count = 0;

	mutex_lock(&aggregator->lock);
	group = first_of(aggregator, id);
	if (group) {
		count = group->members.count;
		for (i = 0; i < min(count, room); i++)
			fill_rank(group, i, &records[i]);
	}
	mutex_unlock(&aggregator->lock);
	return count;
}
