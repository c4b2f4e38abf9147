// SPDX-License-Identifier: GPL-2.0
/* The links of an aggregator: who comes in, what he says, and his end. */
#include <linux/jiffies.h>
#include <linux/kref.h>
#include <linux/slab.h>

#include "aggregator.h"
#include "link_map.h"

#define PROBES	4

static struct aggregator_group *group_of_rank(const struct aggregator_rank *rank)
{
	/* Pairs with the release in aggregator_attach(). */
	return smp_load_acquire(&rank->group);
}

static void nothing(struct group_post *post, int status)
{
}

void aggregator_tell(struct aggregator_rank *rank, const struct group_fault *fault)
{
	const struct group_message message = {
		.type = GROUP_MESSAGE_ABORT,
		.fault = *fault,
	};

	group_post_init(&rank->last, &message, nothing);
	group_pipe_add(&rank->pipe, &rank->last);
	group_pipe_push(&rank->pipe);
}

static void answer_done(struct group_post *post, int status)
{
	struct aggregator_rank *rank = post->owner;

	atomic_dec(&rank->answers);
	kfree(post);
}

static void probe_done(struct group_post *post, int status)
{
	struct aggregator_rank *rank = post->owner;

	atomic_dec(&rank->probes);
	kfree(post);
}

/* One that takes no answers may not ask for ever. */
static int answer(struct aggregator_rank *rank,
		  const struct group_message *message, atomic_t *under_way,
		  int most, void (*done)(struct group_post *post, int status))
{
	struct group_post *post = NULL;

	if (atomic_read(under_way) < most)
		post = kzalloc(sizeof(*post), GFP_KERNEL_ACCOUNT);
	if (!post)
		return -ENOMEM;
	atomic_inc(under_way);
	post->owner = rank;
	group_post_init(post, message, done);
	group_pipe_add(&rank->pipe, post);
	group_pipe_push(&rank->pipe);
	return 0;
}

int aggregator_answer(struct aggregator_rank *rank,
		      const struct group_message *message)
{
	return answer(rank, message, &rank->answers,
		      (int)rank->aggregator->settings.grants, answer_done);
}

/* It asks again when it has the answer, of which the end may be told later. */
static int answer_probe(struct aggregator_rank *rank,
			const struct group_message *message)
{
	return answer(rank, message, &rank->probes, PROBES, probe_done);
}

/* ---- JOIN ---- */

static struct link_map *map_pool(struct aggregator_rank *rank)
{
	struct ib_device *dev = link_device_get(rank->link);
	struct link_map *map;

	if (!dev)
		return NULL;
	map = link_map_get(rank->aggregator->pool.region, dev, NULL);
	link_device_put(rank->link);
	return IS_ERR(map) ? NULL : map;
}

/* Its part of the pool, and nothing else. */
static int expose(struct aggregator_rank *rank)
{
	const struct group_join *join = &rank->join;
	u64 bytes = (u64)join->window * join->segment;
	const struct link_exposure exposure = {
		.map = rank->map,
		.offset = rank->group->offset + rank->index * bytes,
		.length = bytes,
		.value = GROUP_POOL_VALUE,
		.rights = PEERLANE_RIGHT_WRITE,
	};
	u64 token;

	return link_expose(rank->link, &exposure, &token, NULL);
}

/* aggregator->lock held, so that the map stays. 0: attached; > 0: it is refused; < 0: it has ended. */
static int let_in(struct aggregator_rank *rank, struct link_map *map,
		  struct group_fault *fault)
{
	struct peerlane_aggregator *aggregator = rank->aggregator;
	int ret;

	lockdep_assert_held(&aggregator->lock);
	if (rank->down)
		return -ENOTCONN;
	fault->cause = aggregator->status ? GROUP_CAUSE_CLOSED : GROUP_CAUSE_FULL;
	ret = aggregator->status || !map ? 1 : aggregator_attach(rank, fault);
	WRITE_ONCE(rank->joining, false);
	rank->born = jiffies;
	if (ret)
		aggregator->refused++;
	else
		rank->map = map;
	if (!ret && expose(rank))
		aggregator_fail_rank(rank, link_state(rank->link) == LINK_UP ?
				     GROUP_CAUSE_FULL :
				     group_cause_of_end(rank->link));
	return ret;
}

static void join_work(struct work_struct *work)
{
	struct aggregator_rank *rank = container_of(work, struct aggregator_rank,
						    join_work);
	struct group_fault fault = { .rank = rank->join.rank,
				     .other = GROUP_NOBODY };
	struct link_map *map = map_pool(rank);
	int ret;

	mutex_lock(&rank->aggregator->lock);
	ret = let_in(rank, map, &fault);
	mutex_unlock(&rank->aggregator->lock);
	if (ret && map)
		link_map_put(map);
	if (ret > 0)
		aggregator_tell(rank, &fault);
	/* Who speaks for others says later that they have joined. */
	if (ret || rank->join.unit > 1)
		return;
	aggregator_joined(rank);
}

static void ready_work(struct work_struct *work)
{
	aggregator_joined(container_of(work, struct aggregator_rank, ready_work));
}

/* ---- what it says ---- */

static bool join(struct aggregator_rank *rank, const struct group_join *join)
{
	if (rank->said_join)
		return false;
	rank->said_join = true;
	rank->join = *join;
	WRITE_ONCE(rank->joining, true);
	queue_work(aggregator_queue, &rank->join_work);
	return true;
}

/* He may know this much of our version, and wait for an answer. */
static bool join_otherwise(struct aggregator_rank *rank)
{
	const struct group_fault fault = { .cause = GROUP_CAUSE_PROTOCOL,
					   .rank = GROUP_NOBODY,
					   .other = GROUP_NOBODY };

	if (rank->said_join)
		return false;
	rank->said_join = true;
	aggregator_tell(rank, &fault);
	return true;
}

static bool member_says(struct aggregator_rank *rank,
			const struct group_message *message)
{
	struct aggregator_group *group = group_of_rank(rank);

	/* Whose JOIN is not dealt with yet may only go. */
	if (!group)
		return message->type == GROUP_MESSAGE_LEAVE ||
		       message->type == GROUP_MESSAGE_ABORT;
	switch (message->type) {
	case GROUP_MESSAGE_SEGMENT:
		aggregator_segment(rank, &message->part);
		return true;
	case GROUP_MESSAGE_PROBE:
		return !answer_probe(rank, message);
	case GROUP_MESSAGE_TUNE:
		aggregator_tune(rank, &message->tune);
		return true;
	case GROUP_MESSAGE_LEAVE:
		aggregator_left(rank);
		return true;
	case GROUP_MESSAGE_ABORT:
		aggregator_fail(group, &message->fault, rank);
		return true;
	}
	aggregator_fail_rank(rank, GROUP_CAUSE_PROTOCOL);
	return true;
}

static bool message_in(struct link *link, void *owner, u32 lane, const void *data,
		       u32 length)
{
	struct aggregator_rank *rank = owner;
	struct group_message message;
	bool fine;
	int ret;

	ret = group_message_decode(&message, data, length);
	if (ret)
		return ret == -EPROTONOSUPPORT && join_otherwise(rank);
	if (message.type == GROUP_MESSAGE_JOIN)
		return join(rank, &message.join);
	fine = rank->said_join && member_says(rank, &message);
	/* It knows, and waits for this. */
	if (message.type == GROUP_MESSAGE_LEAVE ||
	    message.type == GROUP_MESSAGE_ABORT)
		link_kill(link, -ECONNRESET, -ECANCELED, "it left");
	return fine;
}

/* A slot of its: results may go there from now on. */
static int exposed(struct link *link, void *owner, struct link_grant *grant)
{
	struct aggregator_rank *rank = owner;
	const struct group_message message = {
		.type = GROUP_MESSAGE_READY,
		.token = grant->token,
	};

	link_grant_put(grant);
	if (group_of_rank(rank) && rank->join.unit > 1)
		queue_work(aggregator_queue, &rank->ready_work);
	return aggregator_answer(rank, &message);
}

static void withdrawn(struct link *link, void *owner, struct link_grant *grant)
{
	/* For the one that is put by it. */
	kref_get(&grant->ref);
	link_grant_forget(link, grant);
}

static void lane_left(struct link *link, void *owner, u32 lane)
{
	aggregator_lane_event(owner, lane);
}

static void room(struct link *link, void *owner)
{
	struct aggregator_rank *rank = owner;

	group_pipe_push(&rank->pipe);
}

/* ---- life ---- */

static void came_up(struct link *link, void *owner)
{
}

static void went_down(struct link *link, void *owner)
{
	struct aggregator_rank *rank = owner;
	struct aggregator_group *group = group_of_rank(rank);
	struct peerlane_aggregator *aggregator = rank->aggregator;
	struct link_map *map = NULL;

	if (group)
		aggregator_fail_rank(rank, group_cause_of_end(link));
	group_pipe_end(&rank->pipe);
	mutex_lock(&aggregator->lock);
	rank->down = true;
	swap(map, rank->map);
	if (!rank->group)
		queue_work(aggregator_queue, &rank->reap);
	mutex_unlock(&aggregator->lock);
	if (map)
		link_map_put(map);
	/* It may have got one meanwhile, which the lock tells. */
	if (rank->group)
		aggregator_detach(rank);
}

static const struct link_owner_ops rank_ops = {
	.up		= came_up,
	.message	= message_in,
	.exposed	= exposed,
	.withdrawn	= withdrawn,
	.room		= room,
	.lane_left	= lane_left,
	.down		= went_down,
};

/* Not on a list, or the last to know it. */
void aggregator_rank_free(struct aggregator_rank *rank)
{
	struct peerlane_aggregator *aggregator = rank->aggregator;

	cancel_work_sync(&rank->join_work);
	cancel_work_sync(&rank->ready_work);
	link_wait_ended(rank->link);
	link_put(rank->link);
	kvfree(rank->results);
	aggregator_uncharge_bytes(aggregator, sizeof(*rank));
	mutex_lock(&aggregator->lock);
	WRITE_ONCE(aggregator->rank_count, aggregator->rank_count - 1);
	mutex_unlock(&aggregator->lock);
	wake_up_all(&aggregator->wait);
	aggregator_put(aggregator);
	kfree(rank);
}

/* Of one that never was in a group. */
static void reap_work(struct work_struct *work)
{
	struct aggregator_rank *rank = container_of(work, struct aggregator_rank,
						    reap);
	struct peerlane_aggregator *aggregator = rank->aggregator;

	mutex_lock(&aggregator->lock);
	list_del(&rank->node);
	aggregator->stranger_count--;
	mutex_unlock(&aggregator->lock);
	aggregator_rank_free(rank);
}

void aggregator_kill_strangers(struct peerlane_aggregator *aggregator, bool all)
{
	unsigned long patience = msecs_to_jiffies(aggregator->settings.timeout_ms);
	struct aggregator_rank *rank;

	lockdep_assert_held(&aggregator->lock);
	/* It is not their time that a JOIN takes here. */
	list_for_each_entry(rank, &aggregator->strangers, node)
		if (all || (!READ_ONCE(rank->joining) &&
			    time_after(jiffies, rank->born + patience)))
			link_kill(rank->link, -ETIMEDOUT, -ETIMEDOUT,
				  "it did not join");
}

/* ---- who comes in ---- */

static int rank_charge(struct peerlane_aggregator *aggregator)
{
	const u64 own = sizeof(struct aggregator_rank);
	int ret = aggregator_charge_bytes(aggregator, own, NULL);

	if (ret)
		return ret;
	ret = link_charge(&aggregator->settings, 1, NULL);
	if (ret)
		aggregator_uncharge_bytes(aggregator, own);
	return ret;
}

static struct aggregator_rank *rank_new(struct peerlane_aggregator *aggregator)
{
	struct aggregator_rank *rank = kzalloc(sizeof(*rank), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!rank)
		return ERR_PTR(-ENOMEM);
	ret = rank_charge(aggregator);
	if (ret)
		goto err_free;
	rank->aggregator = aggregator;
	rank->born = jiffies;
	INIT_WORK(&rank->join_work, join_work);
	INIT_WORK(&rank->ready_work, ready_work);
	INIT_WORK(&rank->reap, reap_work);
	group_pipe_init(&rank->pipe, NULL);
	rank->link = link_new(aggregator->net, &aggregator->settings, &rank_ops,
			      rank, NULL);
	if (IS_ERR(rank->link)) {
		ret = PTR_ERR(rank->link);
		goto err_uncharge;
	}
	rank->pipe.link = rank->link;
	kref_get(&aggregator->ref);
	return rank;

err_uncharge:
	link_uncharge(&aggregator->settings, 1);
	aggregator_uncharge_bytes(aggregator, sizeof(*rank));
err_free:
	kfree(rank);
	return ERR_PTR(ret);
}

static struct link *incoming(void *owner, u32 *refusal)
{
	struct peerlane_aggregator *aggregator = owner;
	struct aggregator_rank *rank = NULL;
	struct link *link = NULL;

	mutex_lock(&aggregator->lock);
	*refusal = LINK_REFUSAL_BACKLOG;
	if (!aggregator->status &&
	    aggregator->stranger_count < aggregator->backlog) {
		rank = rank_new(aggregator);
		*refusal = rank == ERR_PTR(-EDQUOT) ? LINK_REFUSAL_LIMIT :
						      LINK_REFUSAL_MEMORY;
	}
	if (!IS_ERR_OR_NULL(rank)) {
		/* Who ends strangers may do so at once. */
		link = rank->link;
		link_get(link);
		list_add_tail(&rank->node, &aggregator->strangers);
		aggregator->stranger_count++;
		WRITE_ONCE(aggregator->rank_count, aggregator->rank_count + 1);
	}
	mutex_unlock(&aggregator->lock);
	return link;
}

static void listener_down(void *owner)
{
	struct peerlane_aggregator *aggregator = owner;
	bool first;

	mutex_lock(&aggregator->lock);
	first = !aggregator->status;
	if (first)
		WRITE_ONCE(aggregator->status, -ENETDOWN);
	mutex_unlock(&aggregator->lock);
	if (first)
		aggregator_record(aggregator, PEERLANE_AGGREGATOR_RECORD_CLOSED,
				  NULL, -ENETDOWN);
}

const struct link_listener_ops aggregator_listener_ops = {
	.incoming	= incoming,
	.down		= listener_down,
};
