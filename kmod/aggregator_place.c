// SPDX-License-Identifier: GPL-2.0
/*
 * Segments: told by all ranks, reduced, and sent to who wants them.
 *
 * The place of contributions is free for the next segment from the moment that
 * its rank has the RESULT; so of one that is sent straight from there the rank
 * gets it last. The place of results is free when all have left.
 */
#include <linux/ktime.h>

#include "aggregator_parent.h"
#include "range.h"
#include "reduce_cpu.h"

/* ---- where ---- */

u64 aggregator_place_of(const struct aggregator_group *group, u32 rank, u64 n)
{
	const struct group_join *shape = &group->shape;

	return group->offset + ((u64)rank * shape->window + n % shape->window) *
	       shape->segment;
}

u64 aggregator_result_of(const struct aggregator_group *group, u64 n)
{
	return aggregator_place_of(group, group->members.count, n);
}

void *aggregator_in_pool(const struct aggregator_group *group, u64 offset)
{
	return group->aggregator->pool.base + offset;
}

/* ---- in ---- */

/* True: it is complete, and its place is free. group->lock held. */
static bool begin(struct aggregator_group *group, u64 n)
{
	struct aggregator_place *place = &group->places[n % group->shape.window];

	lockdep_assert_held(&group->lock);
	place->n = n;
	if (!place->pending)
		return true;
	place->due = true;
	return false;
}

/* 0; 1: a work has to begin; < 0: @fault. group->lock held. */
static int take(struct aggregator_rank *rank, const struct group_part *part,
		struct group_fault *fault)
{
	struct aggregator_group *group = rank->group;
	int ret;

	lockdep_assert_held(&group->lock);
	fault->rank = rank->join.rank;
	fault->other = GROUP_NOBODY;
	fault->cause = GROUP_CAUSE_PROTOCOL;
	if (group->ended)
		return 0;
	if (!group->formed || rank->left)
		return -EPROTO;
	if (group->left) {
		fault->cause = GROUP_CAUSE_LEFT;
		fault->rank = group->first_left;
		return -ECONNABORTED;
	}
	ret = group_table_contribute(&group->table, rank->index, part,
				     ktime_get_ns(), fault);
	return ret > 0 ? begin(group, part->n) : ret;
}

void aggregator_segment(struct aggregator_rank *rank, const struct group_part *part)
{
	struct aggregator_group *group = rank->group;
	struct group_fault fault = {};
	int ret;

	atomic64_add(part->bytes, &group->aggregator->bytes);
	spin_lock(&group->lock);
	ret = take(rank, part, &fault);
	spin_unlock(&group->lock);
	if (ret > 0)
		queue_work(aggregator_reducers,
			   &group->places[part->n % group->shape.window].work);
	else if (ret < 0)
		aggregator_fail(group, &fault, NULL);
}

/* ---- out ---- */

/* group->lock held; the caller pushes. */
static void send_result(struct aggregator_place *place,
			struct aggregator_rank *rank)
{
	struct group_post *post;

	lockdep_assert_held(&place->group->lock);
	post = &rank->results[place->n % place->group->shape.window];
	post->busy = true;
	place->since = ktime_get_ns();
	place->pending++;
	group_pipe_add(&rank->pipe, post);
}

/* The rank whose place was sent from may have it again. */
static struct aggregator_rank *take_deferred(struct aggregator_place *place)
{
	struct aggregator_rank *rank = place->deferred;

	lockdep_assert_held(&place->group->lock);
	place->deferred = NULL;
	if (!rank)
		return NULL;
	send_result(place, rank);
	return rank;
}

static void result_done(struct group_post *post, int status)
{
	struct aggregator_rank *rank = post->owner, *next = NULL;
	struct aggregator_group *group = rank->group;
	struct aggregator_place *place = &group->places[post->index];
	bool work = false;

	spin_lock(&group->lock);
	post->busy = false;
	place->pending--;
	if (!place->pending) {
		next = take_deferred(place);
		work = !next && place->due;
		if (work)
			place->due = false;
	}
	if (work && group->ended)
		work = false;
	/* Before the reaper may look: it waits for works after all links. */
	if (work)
		queue_work(aggregator_reducers, &place->work);
	spin_unlock(&group->lock);
	if (next)
		group_pipe_push(&next->pipe);
}

/*
 * A rank that lets no result go out holds up the others, who are not late: it
 * answers PINGs, but gives back no credit.
 */
bool aggregator_result_is_late(struct aggregator_group *group, u64 now, u64 limit,
			       struct group_fault *fault)
{
	u32 i, r;

	lockdep_assert_held(&group->lock);
	for (i = 0; i < group->shape.window; i++) {
		if (!group->places[i].pending || now - group->places[i].since < limit)
			continue;
		for (r = 0; r < group->members.count; r++)
			if (group->ranks[r]->results[i].busy)
				break;
		if (r == group->members.count)
			continue;
		*fault = (struct group_fault){ .cause = GROUP_CAUSE_LATE,
					       .rank = group->ranks[r]->join.rank,
					       .missing = 1,
					       .other = GROUP_NOBODY };
		return true;
	}
	return false;
}

/* Where the rank wants it. */
static int find_grant(struct aggregator_rank *rank, const struct group_part *part,
		      u32 bytes, struct link_grant **found)
{
	struct link_grant *grant = link_grant_find(rank->link, part->token);

	if (!grant)
		return -EPROTO;
	if (READ_ONCE(grant->withdrawn) ||
	    !(grant->rights & PEERLANE_RIGHT_WRITE) ||
	    peerlane_range_wraps(part->offset, bytes) ||
	    !peerlane_range_within(part->offset, bytes, grant->geometry.length)) {
		link_grant_put(grant);
		return -EPROTO;
	}
	*found = grant;
	return 0;
}

static int fill_result(struct aggregator_rank *rank, const struct group_part *part,
		       const struct group_segment *segment, u64 source)
{
	const struct group_message message = {
		.type = GROUP_MESSAGE_RESULT,
		.result.n = part->n,
		.result.seq = part->seq,
	};
	struct group_post *post = &rank->results[part->n % rank->join.window];
	const struct group_members *members = &rank->group->members;
	u32 bytes = group_member_bytes(members, segment);
	struct link_op *op = &post->op;

	group_post_init(post, &message, result_done);
	if (!segment->bytes ||
	    !group_member_receives(members, rank->index, segment))
		return 0;
	op->code = PEERLANE_OP_PUT;
	op->map = READ_ONCE(rank->map);
	op->local = source;
	op->remote = part->offset;
	op->length = bytes;
	return find_grant(rank, part, bytes, &op->grant);
}

static void unfill(struct aggregator_group *group, u64 n, u32 count)
{
	struct group_post *post;
	u32 i;

	for (i = 0; i < count; i++) {
		post = &group->ranks[i]->results[n % group->shape.window];
		if (post->op.grant)
			link_grant_put(post->op.grant);
		post->op.grant = NULL;
	}
}

/* 0, or -EPROTO: that of rank @bad. */
static int fill_all(struct aggregator_group *group,
		    const struct group_segment *segment, u64 n, u64 source,
		    u32 *bad)
{
	const struct group_place *told = group_table_place(&group->table, n);
	u32 i;
	int ret;

	for (i = 0; i < group->members.count; i++) {
		ret = fill_result(group->ranks[i], &told->told[i].part, segment,
				  source);
		if (!ret)
			continue;
		unfill(group, n, i);
		*bad = group->ranks[i]->join.rank;
		return ret;
	}
	return 0;
}

/* From here the ranks may send the next for this place. */
static bool send_all(struct aggregator_place *place, u32 deferred)
{
	struct aggregator_group *group = place->group;
	struct aggregator_rank *rank;
	u64 n = place->n;
	u32 i;

	spin_lock(&group->lock);
	if (group->ended) {
		spin_unlock(&group->lock);
		return false;
	}
	atomic64_inc(&group->aggregator->segments);
	group_table_done(&group->table, n);
	for (i = 0; i < group->members.count; i++) {
		rank = group->ranks[i];
		if (i == deferred) {
			place->deferred = rank;
			continue;
		}
		send_result(place, rank);
	}
	if (!place->pending)
		take_deferred(place);
	spin_unlock(&group->lock);
	for (i = 0; i < group->members.count; i++)
		group_pipe_push(&group->ranks[i]->pipe);
	return true;
}

/* ---- the sum ---- */

/* Between aggregators what is summed up is neither rounded nor divided. */
void aggregator_between(const struct aggregator_group *group,
			struct group_call *call)
{
	if (group->members.unit == 1)
		return;
	if (reduce_accumulator_size(call->type) != reduce_size(call->type))
		call->type = PEERLANE_TYPE_F32;
	if (call->op == PEERLANE_REDUCE_AVG)
		call->op = PEERLANE_REDUCE_SUM;
}

void aggregator_find_sources(struct aggregator_place *place)
{
	const struct aggregator_group *group = place->group;
	u32 i;

	for (i = 0; i < group->members.count; i++)
		place->from[i] = aggregator_in_pool(group,
			aggregator_place_of(group, i, place->n));
}

int aggregator_reduce(struct aggregator_place *place,
		      const struct group_call *call, u32 elements)
{
	struct aggregator_group *group = place->group;
	struct group_call own = *call;
	struct reduce_work work = {
		.to = aggregator_in_pool(group,
					 aggregator_result_of(group, place->n)),
		.from = place->from,
		.count = group->members.count,
		.length = elements,
	};
	struct reduce reduce;
	int ret;

	aggregator_between(group, &own);
	ret = reduce_cpu_plan(&reduce, own.type, own.op, group->members.count,
			      group->shape.block);
	if (ret)
		return ret;
	aggregator_find_sources(place);
	reduce_cpu_run(&reduce, REDUCE_STEP_ALL, &work, place->scratch);
	return 0;
}

/* Where the result is, made of all that the members gave. */
static int reduce(struct aggregator_place *place, const struct group_call *call,
		  const struct group_segment *segment, u64 *source)
{
	u64 begin = ktime_get_ns();
	int ret;

	*source = aggregator_result_of(place->group, place->n);
	if (!segment->bytes || segment->contributor != GROUP_ALL)
		return 0;
	ret = aggregator_reduce(place, call, segment->elements);
	aggregator_reduced(place->group, segment->bytes, ktime_get_ns() - begin);
	return ret;
}

/* True: it is what came from above. */
static bool is_back(struct aggregator_place *place)
{
	bool back;

	spin_lock(&place->group->lock);
	back = place->is_back;
	place->is_back = false;
	spin_unlock(&place->group->lock);
	return back;
}

/* 0: the result is at @source; 1: it is still to come; < 0 */
static int find_result(struct aggregator_place *place,
		       const struct group_part *part,
		       const struct group_segment *segment, u64 *source)
{
	if (!place->group->parent)
		return reduce(place, &part->call, segment, source);
	if (is_back(place))
		return aggregator_take_down(place, &part->call, segment, source);
	return aggregator_send_up(place, part, segment) ?: 1;
}

/* The place is FULL: what is told of it stays. */
static void deal_with(struct aggregator_place *place)
{
	struct aggregator_group *group = place->group;
	struct group_fault fault = { .cause = GROUP_CAUSE_PROTOCOL,
				     .rank = GROUP_NOBODY,
				     .other = GROUP_NOBODY };
	const struct group_part *part;
	struct group_segment segment;
	u32 deferred = GROUP_NOBODY;
	u64 source;
	int ret;

	part = &group_table_place(&group->table, place->n)->told[0].part;
	group_plan_segment(&group->table.shape, &part->call, part->seq,
			   part->index, &segment);
	ret = find_result(place, part, &segment, &source);
	if (ret > 0)
		return;
	/* Calls were checked: floats, where the FPU may not be used. */
	if (ret)
		fault.cause = GROUP_CAUSE_UNABLE;
	if (segment.bytes && segment.contributor != GROUP_ALL)
		deferred = aggregator_holder(group, &segment);
	if (deferred < group->members.count)
		source = aggregator_place_of(group, deferred, place->n);
	if (!ret)
		ret = fill_all(group, &segment, place->n, source, &fault.rank);
	if (ret)
		aggregator_fail(group, &fault, NULL);
	else if (!send_all(place, deferred))
		unfill(group, place->n, group->members.count);
}

void aggregator_place_work(struct work_struct *work)
{
	struct aggregator_place *place = container_of(work,
						      struct aggregator_place,
						      work);

	if (!READ_ONCE(place->group->ended))
		deal_with(place);
}
