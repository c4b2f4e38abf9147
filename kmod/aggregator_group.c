// SPDX-License-Identifier: GPL-2.0
/* Groups at an aggregator: made, formed, failed, and gone. */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/slab.h>

#include "aggregator.h"
#include "peerlane_netlink.h"
#include "reduce_cpu.h"

#define GRACE	(2 * HZ)	/* for ranks to close, after they were told */

/* ---- memory ---- */

static void group_free(struct aggregator_group *group)
{
	kvfree(group->memory);
	kvfree(group->places);
	kvfree(group->scratch);
	kvfree(group->from);
	kvfree(group->ranks);
	kfree(group);
}

/* The most that a reduction of these takes. */
static size_t scratch_size(const struct group_join *shape)
{
	struct reduce reduce;

	if (reduce_cpu_plan(&reduce, PEERLANE_TYPE_U64, PEERLANE_REDUCE_SUM,
			    shape->size, shape->block))
		return 0;
	return ALIGN(reduce_scratch_size(&reduce, shape->size), 64);
}

static int make_places(struct aggregator_group *group)
{
	const struct group_join *shape = &group->shape;
	size_t scratch = scratch_size(shape);
	struct aggregator_place *place;
	u32 i;

	group->places = kvcalloc(shape->window, sizeof(*group->places),
				 GFP_KERNEL_ACCOUNT);
	group->from = kvcalloc((size_t)shape->window * shape->size,
			       sizeof(*group->from), GFP_KERNEL_ACCOUNT);
	group->scratch = kvzalloc(max_t(size_t, scratch * shape->window, 1),
				  GFP_KERNEL_ACCOUNT);
	if (!group->places || !group->from || !group->scratch)
		return -ENOMEM;
	for (i = 0; i < shape->window; i++) {
		place = &group->places[i];
		place->group = group;
		place->scratch = group->scratch + i * scratch;
		place->from = group->from + (size_t)i * shape->size;
		INIT_WORK(&place->work, aggregator_place_work);
	}
	return 0;
}

static int make_memory(struct aggregator_group *group)
{
	const struct group_join *join = &group->shape;
	const struct group_shape shape = {
		.size = join->size,
		.aggregators = join->aggregators,
		.segment = join->segment,
	};

	group->ranks = kvcalloc(join->size, sizeof(*group->ranks),
				GFP_KERNEL_ACCOUNT);
	group->memory = kvzalloc(group_table_size(join->size, join->window),
				 GFP_KERNEL_ACCOUNT);
	if (!group->ranks || !group->memory)
		return -ENOMEM;
	group_table_init(&group->table, group->memory, &shape, join->index,
			 join->window);
	return make_places(group);
}

/* Also of what each rank has for its results. */
static u64 memory_cost(const struct group_join *shape)
{
	u64 place = sizeof(struct aggregator_place) + scratch_size(shape) +
		    shape->size * sizeof(void *);

	return sizeof(struct aggregator_group) +
	       group_table_size(shape->size, shape->window) +
	       shape->size * (u64)sizeof(struct aggregator_rank *) +
	       shape->window * place +
	       (u64)shape->size * shape->window * sizeof(struct group_post);
}

/*
 * First what says whether it may be: a rank that finds the pool full, again and
 * again, costs no memory to be wiped.
 */
static int take_memory(struct aggregator_group *group)
{
	struct peerlane_aggregator *aggregator = group->aggregator;
	int ret = -ENOSPC;

	lockdep_assert_held(&aggregator->lock);
	if (!aggregator_pool_take(aggregator, group))
		return ret;
	group->charged = memory_cost(&group->shape);
	ret = aggregator_charge_bytes(aggregator, group->charged, NULL);
	if (ret)
		goto err_pool;
	ret = make_memory(group);
	if (!ret)
		return 0;
	aggregator_uncharge_bytes(aggregator, group->charged);
err_pool:
	aggregator_pool_give(aggregator, group);
	return ret;
}

/* ---- the end ---- */

static void kill_links(struct aggregator_group *group, bool all)
{
	struct aggregator_rank *rank;
	u32 i;

	lockdep_assert_held(&group->aggregator->lock);
	for (i = 0; i < group->shape.size; i++) {
		rank = group->ranks[i];
		if (rank && (all || READ_ONCE(rank->left)))
			link_kill(rank->link, -ECONNRESET, -ECANCELED,
				  "its group ended");
	}
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
	for (i = 0; i < group->shape.size; i++) {
		rank = group->ranks[i];
		if (rank && !rank->down && !READ_ONCE(rank->left))
			aggregator_tell(rank, &group->fault);
	}
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
	last = group->left == group->shape.size;
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
	for (i = 0; i < group->shape.size; i++)
		if (group->ranks[i])
			aggregator_rank_free(group->ranks[i]);
	mutex_lock(&aggregator->lock);
	count_end(group);
	mutex_unlock(&aggregator->lock);
	aggregator_record(aggregator, PEERLANE_AGGREGATOR_RECORD_ENDED, group,
			  group_cause_errno(group->fault.cause));
	aggregator_event(group, PEERLANE_EVENT_KIND_GROUP_ENDED);
	group_free(group);
	aggregator_put(aggregator);
}

/* Its link is down. */
void aggregator_detach(struct aggregator_rank *rank)
{
	struct aggregator_group *group = rank->group;
	struct peerlane_aggregator *aggregator = group->aggregator;

	aggregator_fail_rank(rank, group_cause_of_end(rank->link));
	mutex_lock(&aggregator->lock);
	group->live--;
	/* Else the end's work is still to come, and does it. */
	if (!group->live && group->told)
		queue_work(aggregator_queue, &group->reap);
	mutex_unlock(&aggregator->lock);
}

/* ---- JOIN ---- */

static struct aggregator_group *find(struct peerlane_aggregator *aggregator,
				     u64 id)
{
	struct aggregator_group *group;

	lockdep_assert_held(&aggregator->lock);
	list_for_each_entry(group, &aggregator->groups, node)
		if (group->shape.group == id)
			return group;
	return NULL;
}

static bool same_shape(const struct group_join *one, const struct group_join *other)
{
	return one->size == other->size && one->block == other->block &&
	       one->aggregators == other->aggregators &&
	       one->index == other->index && one->segment == other->segment &&
	       one->window == other->window &&
	       one->timeout_ms == other->timeout_ms &&
	       one->placement == other->placement;
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
	group->bytes = ((u64)join->size + 1) * join->window * join->segment;
	spin_lock_init(&group->lock);
	INIT_WORK(&group->end_work, end_work);
	INIT_DELAYED_WORK(&group->grace, grace_work);
	INIT_WORK(&group->reap, reap_work);
	if (take_memory(group)) {
		group_free(group);
		return NULL;
	}
	kref_get(&aggregator->ref);
	WRITE_ONCE(aggregator->group_count, aggregator->group_count + 1);
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
	fault->cause = 0;
	if (READ_ONCE(group->ended))
		fault_of(group, fault);
	else if (!same_shape(&group->shape, join))
		fault->cause = GROUP_CAUSE_SHAPE;
	else if (group->ranks[join->rank])
		fault->cause = GROUP_CAUSE_TAKEN;
}

static void enter(struct aggregator_group *group, struct aggregator_rank *rank)
{
	struct peerlane_aggregator *aggregator = group->aggregator;

	list_del_init(&rank->node);
	aggregator->stranger_count--;
	group->ranks[rank->join.rank] = rank;
	group->live++;
	/* Pairs with the acquire of callbacks. */
	smp_store_release(&rank->group, group);
}

int aggregator_attach(struct aggregator_rank *rank, struct group_fault *fault)
{
	struct peerlane_aggregator *aggregator = rank->aggregator;
	const struct group_join *join = &rank->join;
	struct aggregator_group *group = find(aggregator, join->group);
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

static void form(struct aggregator_group *group)
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
	for (i = 0; i < group->shape.size; i++) {
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
	group->joined++;
	if (group->joined == group->shape.size && !READ_ONCE(group->ended))
		form(group);
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
		.rank = index,
		.is_there = rank && !rank->down,
	};
	memcpy(record->late, stats->late, sizeof(record->late));
	spin_unlock(&group->lock);
	memcpy(record->peer, &info.peer, sizeof(record->peer));
}

/* How many there are; 0: no such group. */
u32 aggregator_ranks(struct peerlane_aggregator *aggregator, u64 id,
		     struct peerlane_rank_record *records, u32 room)
{
	struct aggregator_group *group;
	u32 i, count = 0;

	mutex_lock(&aggregator->lock);
	group = find(aggregator, id);
	if (group && !READ_ONCE(group->ended)) {
		count = group->shape.size;
		for (i = 0; i < min(count, room); i++)
			fill_rank(group, i, &records[i]);
	}
	mutex_unlock(&aggregator->lock);
	return count;
}
