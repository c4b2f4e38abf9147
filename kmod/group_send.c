// SPDX-License-Identifier: GPL-2.0
/* Segments out, results in: what a group does over its links. */
#include <linux/kref.h>

#include "group.h"

/* ---- operations ---- */

static void count_task(struct peerlane_group *group, const struct group_task *task)
{
	lockdep_assert_held(&group->queue_lock);
	if (task->status) {
		group->ops_failed++;
	} else {
		group->ops_done++;
		group->bytes_received +=
			group_call_receive_bytes(&group->streams.shape,
						 &task->op.call,
						 group->join.rank);
	}
	WRITE_ONCE(group->outstanding, group->outstanding - 1);
}

/* Nobody reads or writes its memory any more. */
static void complete_task(struct peerlane_group *group, struct group_task *task)
{
	lockdep_assert_held(&group->queue_lock);
	if (task->send)
		task->send->users--;
	if (task->receive)
		task->receive->users--;
	group_learn(group, task);
	count_task(group, task);
	group_queue_record(group, &task->record);
}


void group_task_over(struct group_task *task, int status)
{
	task->over = true;
	task->status = status;
	if (!task->posts)
		complete_task(task->group, task);
}

/* ---- out ---- */

static void post_done(struct group_post *post, int status)
{
	struct group_peer *peer = container_of(post->pipe, struct group_peer,
					       pipe);
	struct peerlane_group *group = peer->group;
	struct group_task *task = post->owner;
	bool wake;

	spin_lock(&group->queue_lock);
	post->busy = false;
	group_stream_read(&group->streams, &task->op, peer->index);
	task->posts--;
	wake = task->over && !task->posts;
	if (wake)
		complete_task(group, task);
	spin_unlock(&group->queue_lock);
	if (wake)
		group_wake(group, EPOLLIN | EPOLLOUT);
	if (!status)	/* else the link has ended, and takes nothing */
		group_pump(group);
}

static void fill_part(const struct group_task *task,
		      const struct group_segment *segment, u32 peer,
		      struct group_part *part)
{
	u32 rank = task->group->join.rank;

	part->seq = task->op.seq;
	part->call = task->op.call;
	if (group_contributes(segment, rank))
		part->bytes = segment->bytes;
	if (!task->receive || !segment->bytes || !group_receives(segment, rank))
		return;
	part->token = group_view(task->receive, peer)->token;
	part->offset = task->receive_offset + segment->receive;
}

/* The place in the pool that n has. */
static void fill_put(struct group_peer *peer, const struct group_task *task,
		     const struct group_segment *segment, u64 n,
		     struct link_op *op)
{
	const struct group_join *join = &peer->group->join;

	op->code = PEERLANE_OP_PUT;
	op->map = group_view(task->send, peer->index)->map;
	op->local = task->send->offset + task->send_offset + segment->send;
	op->length = segment->bytes;
	op->remote = n % join->window * join->segment;
	op->grant = peer->pool;
	kref_get(&peer->pool->ref);
}

static bool send_one(struct group_peer *peer)
{
	struct peerlane_group *group = peer->group;
	struct group_message message = { .type = GROUP_MESSAGE_SEGMENT };
	struct group_part *part = &message.part;
	struct group_stream *stream = &group->streams.of[peer->index];
	struct group_post *post = &peer->posts[stream->sent % group->join.window];
	struct group_segment segment;
	struct group_task *task;
	struct group_op *op;

	lockdep_assert_held(&group->queue_lock);
	/* Its result may come before the device has given it back. */
	if (post->busy || !group_stream_next(&group->streams, peer->index,
					     &part->n, &op, &part->index,
					     &segment))
		return false;
	task = group_task(op);
	fill_part(task, &segment, peer->index, part);
	group_post_init(post, &message, post_done);
	if (part->bytes)
		fill_put(peer, task, &segment, part->n, &post->op);
	post->busy = true;
	post->owner = task;
	task->posts++;
	group->segments++;
	group->bytes_sent += part->bytes;
	group_pipe_add(&peer->pipe, post);
	/* Replicated, and this was the last that the others wait for. */
	if (group_stream_is_over(op))
		group_task_over(task, 0);
	return true;
}

/* Their slots are known to all aggregators; in order. */
static void start_tasks(struct peerlane_group *group)
{
	struct group_op *op, *next;
	struct group_task *task;

	list_for_each_entry_safe(op, next, &group->waiting, node) {
		task = group_task(op);
		if (task->receive && task->receive->ready < group->peer_count)
			return;
		if (!group_choose_way(group, task))
			return;
		list_del_init(&op->node);
		group_stream_add(&group->streams, op);
	}
}

/* Peers that got something. Ranks do not all begin with the same. */
static u64 send_all(struct peerlane_group *group)
{
	u32 i, peer, count = group->peer_count;
	u64 peers = 0;

	for (i = 0; i < count; i++) {
		peer = (i + group->join.rank) % count;
		while (send_one(&group->peers[peer]))
			peers |= 1ULL << peer;
	}
	return peers;
}

void group_pump(struct peerlane_group *group)
{
	u64 peers = 0;
	u32 i;

	spin_lock(&group->queue_lock);
	if (group->state == PEERLANE_GROUP_JOINED) {
		start_tasks(group);
		peers = send_all(group);
		if (group_tune_ask(group))
			peers |= 1;
	}
	spin_unlock(&group->queue_lock);
	for (i = 0; peers; i++, peers >>= 1)
		if (peers & 1)
			group_pipe_push(&group->peers[i].pipe);
}

/* ---- in ---- */

static bool result(struct group_peer *peer, const struct group_message *message)
{
	struct peerlane_group *group = peer->group;
	struct group_op *done = NULL;
	int ret = 0;

	spin_lock(&group->queue_lock);
	/* Nothing waits for one yet, or after the end began. */
	if (group->state == PEERLANE_GROUP_JOINED)
		ret = group_stream_result(&group->streams, peer->index,
					  message->result.n,
					  message->result.seq, &done);
	else if (group->state < PEERLANE_GROUP_JOINED)
		ret = -EPROTO;
	if (!ret && done)
		group_task_over(group_task(done), 0);
	spin_unlock(&group->queue_lock);
	if (done || READ_ONCE(group->leaving))
		group_wake(group, EPOLLIN | EPOLLOUT);
	group_pump(group);
	return !ret;
}

/* Both the word and the pool are needed; queue_lock held. */
static void note_welcome(struct group_peer *peer)
{
	struct peerlane_group *group = peer->group;

	lockdep_assert_held(&group->queue_lock);
	if (!peer->welcome || !peer->pool)
		return;
	group->welcomes++;
	if (group->welcomes == group->peer_count)
		queue_work(group_joins, &group->join_work);
}

static bool welcome(struct group_peer *peer)
{
	struct peerlane_group *group = peer->group;
	bool first;

	spin_lock(&group->queue_lock);
	first = !peer->welcome;
	peer->welcome = true;
	if (first)
		note_welcome(peer);
	spin_unlock(&group->queue_lock);
	return first;
}

static bool message_in(struct link *link, void *owner, u32 lane, const void *data,
		       u32 length)
{
	struct group_peer *peer = owner;
	struct group_message message;

	if (group_message_decode(&message, data, length))
		return false;
	switch (message.type) {
	case GROUP_MESSAGE_WELCOME:
		return welcome(peer);
	case GROUP_MESSAGE_READY:
		if (group_slot_ready(peer, message.token))
			group_pump(peer->group);
		return true;
	case GROUP_MESSAGE_RESULT:
		return result(peer, &message);
	case GROUP_MESSAGE_PROBE:
		return group_probe_back(peer, message.probe);
	case GROUP_MESSAGE_TUNE:
		return group_tuned(peer, &message.tune);
	case GROUP_MESSAGE_ABORT:
		group_end(peer->group, &message.fault, 0, NULL, peer);
		return true;
	default:
		return false;
	}
}

static bool is_pool(const struct group_peer *peer, const struct link_grant *grant)
{
	const struct group_join *join = &peer->group->join;

	return grant->value == GROUP_POOL_VALUE && !peer->pool &&
	       grant->rights == PEERLANE_RIGHT_WRITE &&
	       grant->geometry.length == (u64)join->window * join->segment;
}

static int exposed(struct link *link, void *owner, struct link_grant *grant)
{
	struct group_peer *peer = owner;
	bool fine;

	spin_lock(&peer->group->queue_lock);
	fine = is_pool(peer, grant);
	if (fine) {
		peer->pool = grant;
		note_welcome(peer);
	}
	spin_unlock(&peer->group->queue_lock);
	if (fine)
		return 0;
	link_grant_put(grant);
	return -EPROTO;
}

static void withdrawn(struct link *link, void *owner, struct link_grant *grant)
{
	link_kill(link, -EPROTO, -ECANCELED, "the aggregator took its pool away");
}

static void room(struct link *link, void *owner)
{
	struct group_peer *peer = owner;

	group_pipe_push(&peer->pipe);
}

/* ---- life of a link ---- */

static void nothing(struct group_post *post, int status)
{
}

static void came_up(struct link *link, void *owner)
{
	struct group_peer *peer = owner;
	struct group_message message = {
		.type = GROUP_MESSAGE_JOIN,
		.join = peer->group->join,
	};

	message.join.index = peer->index;
	spin_lock(&peer->group->queue_lock);
	peer->up = true;
	spin_unlock(&peer->group->queue_lock);
	group_post_init(&peer->first, &message, nothing);
	group_pipe_add(&peer->pipe, &peer->first);
	group_pipe_push(&peer->pipe);
}

static void lane_left(struct link *link, void *owner, u32 lane)
{
	group_lane_event(owner, lane);
}

static void went_down(struct link *link, void *owner)
{
	struct group_peer *peer = owner;
	struct peerlane_group *group = peer->group;
	struct group_fault fault = { .cause = group_cause_of_end(link),
				     .rank = U32_MAX, .other = U32_MAX };
	char text[PEERLANE_GROUP_TEXT_LEN];
	struct link_info info = {};

	link_info(link, &info);
	snprintf(text, sizeof(text), "aggregator %u (%pISpc): %s", peer->index,
		 &info.peer, link_reason(link));
	group_end(group, &fault, link_status(link), text, peer);
	group_pipe_end(&peer->pipe);
	spin_lock(&group->queue_lock);
	peer->down = true;
	WRITE_ONCE(group->downs, group->downs + 1);
	spin_unlock(&group->queue_lock);
	wake_up_all(&group->wait);
}

const struct link_owner_ops group_link_ops = {
	.up		= came_up,
	.message	= message_in,
	.exposed	= exposed,
	.withdrawn	= withdrawn,
	.room		= room,
	.lane_left	= lane_left,
	.down		= went_down,
};
