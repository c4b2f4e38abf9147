// SPDX-License-Identifier: GPL-2.0
/* What a group at an aggregator takes: a part of the pool, and of the kernel's memory. */
#include <linux/slab.h>

#include "aggregator_parent.h"
#include "reduce_cpu.h"

void aggregator_group_free(struct aggregator_group *group)
{
	kvfree(group->memory);
	kvfree(group->places);
	kvfree(group->scratch);
	kvfree(group->from);
	kvfree(group->ranks);
	kfree(group);
}

/* The most that a reduction of these takes. */
static size_t scratch_size(const struct aggregator_group *group)
{
	u32 count = group->members.count;
	struct reduce reduce;

	if (reduce_cpu_plan(&reduce, PEERLANE_TYPE_U64, PEERLANE_REDUCE_SUM,
			    count, group->shape.block))
		return 0;
	return ALIGN(reduce_scratch_size(&reduce, count), 64);
}

static int make_places(struct aggregator_group *group)
{
	const struct group_join *shape = &group->shape;
	size_t scratch = scratch_size(group);
	u32 count = group->members.count;
	struct aggregator_place *place;
	u32 i;

	group->places = kvcalloc(shape->window, sizeof(*group->places),
				 GFP_KERNEL_ACCOUNT);
	group->from = kvcalloc((size_t)shape->window * count,
			       sizeof(*group->from), GFP_KERNEL_ACCOUNT);
	group->scratch = kvzalloc(max_t(size_t, scratch * shape->window, 1),
				  GFP_KERNEL_ACCOUNT);
	if (!group->places || !group->from || !group->scratch)
		return -ENOMEM;
	for (i = 0; i < shape->window; i++) {
		place = &group->places[i];
		place->group = group;
		place->scratch = group->scratch + i * scratch;
		place->from = group->from + (size_t)i * count;
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
		.is_tree = join->placement == GROUP_PLACEMENT_TREE,
	};
	u32 count = group->members.count;

	group->ranks = kvcalloc(count, sizeof(*group->ranks),
				GFP_KERNEL_ACCOUNT);
	group->memory = kvzalloc(group_table_size(count, join->window),
				 GFP_KERNEL_ACCOUNT);
	if (!group->ranks || !group->memory)
		return -ENOMEM;
	group_table_init(&group->table, group->memory, &shape, &group->members,
			 join->index, join->window);
	return make_places(group);
}

/* Also of what each rank has for its results. */
static u64 memory_cost(const struct aggregator_group *group)
{
	const struct group_join *shape = &group->shape;
	u64 count = group->members.count;
	u64 place = sizeof(struct aggregator_place) + scratch_size(group) +
		    count * sizeof(void *);

	return sizeof(struct aggregator_group) +
	       group_table_size(group->members.count, shape->window) +
	       count * sizeof(struct aggregator_rank *) +
	       shape->window * place +
	       (group->has_parent ? aggregator_parent_cost(shape) : 0) +
	       count * shape->window * sizeof(struct group_post);
}

/*
 * First what says whether it may be: a rank that finds the pool full, again and
 * again, costs no memory to be wiped.
 */
int aggregator_take_memory(struct aggregator_group *group)
{
	struct peerlane_aggregator *aggregator = group->aggregator;
	int ret = -ENOSPC;

	lockdep_assert_held(&aggregator->lock);
	if (!aggregator_pool_take(aggregator, group))
		return ret;
	group->charged = memory_cost(group);
	ret = aggregator_charge_bytes(aggregator, group->charged, NULL);
	if (ret)
		goto err_pool;
	ret = make_memory(group);
	if (!ret && group->has_parent)
		ret = aggregator_parent_new(group);
	if (!ret)
		return 0;
	aggregator_uncharge_bytes(aggregator, group->charged);
err_pool:
	aggregator_pool_give(aggregator, group);
	return ret;
}
