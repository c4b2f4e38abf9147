// SPDX-License-Identifier: GPL-2.0
/*
 * Segments of a group with an aggregator above: what a block of members sums up
 * to goes up, in the type of accumulators, and what comes back is all ranks'. Its
 * last step is done where the ranks are.
 *
 * What comes back replaces what went up, which is not read any more: the parent
 * has reduced it. The place goes on when it is back, and the device has let go of
 * what went up, so that the next one for this place has a message to go with.
 */
#include <linux/ktime.h>

#include "aggregator_parent.h"
#include "reduce_cpu.h"

/* Behind the members' places and the results. */
u64 aggregator_above(const struct aggregator_group *group, u64 n)
{
	return aggregator_place_of(group, group->members.count + 1, n);
}

/* ---- up ---- */

static int sum_block(struct aggregator_place *place, const struct group_call *call,
		     u32 elements)
{
	struct aggregator_group *group = place->group;
	struct group_call own = *call;
	struct reduce_work work = {
		.to = aggregator_in_pool(group, aggregator_above(group, place->n)),
		.from = place->from,
		.count = group->members.count,
		.length = elements,
	};
	struct reduce reduce;
	int ret;

	aggregator_between(group, &own);
	ret = reduce_cpu_plan(&reduce, own.type, own.op, group->shape.size,
			      group->shape.block);
	if (ret)
		return ret;
	aggregator_find_sources(place);
	reduce_cpu_run(&reduce, REDUCE_STEP_FIRST, &work, NULL);
	return 0;
}

/* It is back, and its message may be used again. */
static void go_on(struct aggregator_place *place, const struct group_post *post)
{
	struct aggregator_group *group = place->group;

	lockdep_assert_held(&group->lock);
	if (!place->is_back || post->busy || group->ended)
		return;
	queue_work(aggregator_reducers, &place->work);
}

static void sent(struct group_post *post, int status)
{
	struct aggregator_parent *parent = post->owner;
	struct aggregator_group *group = parent->group;

	spin_lock(&group->lock);
	post->busy = false;
	go_on(&group->places[post->index], post);
	spin_unlock(&group->lock);
}

bool aggregator_came_down(struct aggregator_parent *parent, u64 n, u64 seq)
{
	struct aggregator_group *group = parent->group;
	u32 index = n % group->shape.window;
	struct aggregator_place *place = &group->places[index];
	bool fine;

	spin_lock(&group->lock);
	fine = place->is_above && place->n == n && !group->ended &&
	       group_table_place(&group->table, n)->told[0].part.seq == seq;
	if (fine) {
		place->is_above = false;
		place->is_back = true;
		go_on(place, &parent->posts[index]);
	}
	fine |= group->ended;
	spin_unlock(&group->lock);
	return fine;
}

/* As this one's parent sees it. */
static void fill_part(const struct aggregator_parent *parent,
		      const struct group_segment *segment,
		      struct group_part *part)
{
	const struct group_members *members = &parent->members;
	const struct group_join *shape = &parent->group->shape;

	part->bytes = group_member_contributes(members, parent->index, segment) ?
		      group_member_bytes(members, segment) : 0;
	part->token = 0;
	part->offset = 0;
	if (!segment->bytes ||
	    !group_member_receives(members, parent->index, segment))
		return;
	part->token = parent->token;
	part->offset = part->n % shape->window * shape->segment;
}

static void fill_put(const struct aggregator_parent *parent, u64 source,
		     const struct group_part *part, struct link_op *op)
{
	const struct group_join *shape = &parent->group->shape;

	op->code = PEERLANE_OP_PUT;
	op->map = READ_ONCE(parent->map);
	op->local = source;
	op->length = part->bytes;
	op->remote = part->n % shape->window * shape->segment;
	op->grant = parent->pool;
	kref_get(&parent->pool->ref);
}

static void send(struct aggregator_place *place, u64 source,
		 const struct group_part *part)
{
	struct aggregator_group *group = place->group;
	struct aggregator_parent *parent = group->parent;
	struct group_post *post = &parent->posts[part->n % group->shape.window];
	const struct group_message message = {
		.type = GROUP_MESSAGE_SEGMENT,
		.part = *part,
	};

	group_post_init(post, &message, sent);
	spin_lock(&group->lock);
	if (group->ended) {
		spin_unlock(&group->lock);
		return;
	}
	if (part->bytes)
		fill_put(parent, source, part, &post->op);
	post->busy = true;
	place->is_above = true;
	place->above_since = ktime_get_ns();
	group_pipe_add(&parent->pipe, post);
	spin_unlock(&group->lock);
	group_pipe_push(&parent->pipe);
}

int aggregator_send_up(struct aggregator_place *place,
		       const struct group_part *part,
		       const struct group_segment *segment)
{
	struct aggregator_group *group = place->group;
	u64 source = aggregator_above(group, place->n);
	struct group_part own = *part;
	int ret = 0;

	fill_part(group->parent, segment, &own);
	if (segment->contributor != GROUP_ALL)
		source = aggregator_place_of(group, aggregator_holder(group, segment),
					     place->n);
	else if (own.bytes)
		ret = sum_block(place, &own.call, segment->elements);
	if (!ret)
		send(place, source, &own);
	return ret;
}

/* ---- down ---- */

/* The last step of all, from what all ranks sum up to. */
static int finish(struct aggregator_place *place, const struct group_call *call,
		  u32 elements)
{
	struct aggregator_group *group = place->group;
	const void *sum = aggregator_in_pool(group,
					     aggregator_above(group, place->n));
	struct reduce_work work = {
		.to = aggregator_in_pool(group, aggregator_result_of(group, place->n)),
		.from = &sum,
		.count = 1,
		.length = elements,
	};
	struct reduce reduce;
	int ret;

	ret = reduce_cpu_plan(&reduce, call->type, call->op, group->shape.size,
			      group->shape.block);
	if (!ret)
		reduce_cpu_run(&reduce, REDUCE_STEP_FINISH, &work, NULL);
	return ret;
}

/* Else what came down is the result. */
static bool has_last_step(const struct aggregator_group *group,
			  const struct group_call *call)
{
	return group->members.unit == 1 &&
	       (call->op == PEERLANE_REDUCE_AVG ||
		reduce_accumulator_size(call->type) != reduce_size(call->type));
}

int aggregator_take_down(struct aggregator_place *place,
			 const struct group_call *call,
			 const struct group_segment *segment, u64 *source)
{
	struct aggregator_group *group = place->group;
	const struct aggregator_parent *parent = group->parent;

	*source = aggregator_above(group, place->n);
	if (!segment->bytes || segment->contributor != GROUP_ALL ||
	    !group_member_receives(&parent->members, parent->index, segment) ||
	    !has_last_step(group, call))
		return 0;
	*source = aggregator_result_of(group, place->n);
	return finish(place, call, segment->elements);
}

/* ---- how long ---- */

bool aggregator_parent_is_stuck(struct aggregator_parent *parent, u64 ns)
{
	struct aggregator_group *group = parent->group;
	const struct aggregator_place *place;
	bool stuck = false;
	u64 now;
	u32 i;

	lockdep_assert_held(&group->aggregator->lock);
	spin_lock(&group->lock);
	/* Not before: nothing that is looked at is later than this. */
	now = ktime_get_ns();
	for (i = 0; i < group->shape.window && !stuck; i++) {
		place = &group->places[i];
		stuck = (place->is_above || place->is_back) &&
			now - place->above_since > ns;
	}
	spin_unlock(&group->lock);
	return stuck;
}
