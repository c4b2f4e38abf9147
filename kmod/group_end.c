// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a group file: the first cause wins. Who still can be told is told
 * why, and closes; then all links are ended, and only when they are down, so
 * that nobody reads or writes our memory, the operations are completed.
 */
#include <linux/jiffies.h>

#include "group.h"
#include "peerlane_netlink.h"

#define GOODBYE		(HZ / 2)	/* for aggregators to close */

struct group_fault group_own_fault(const struct peerlane_group *group, u32 cause)
{
	return (struct group_fault){ .cause = cause, .rank = group->join.rank,
				     .other = U32_MAX };
}

int group_joined(struct peerlane_group *group, struct peerlane_msg *msg)
{
	u32 state = group_state(group);

	if (state == PEERLANE_GROUP_JOINED)
		return 0;
	if (state < PEERLANE_GROUP_JOINED)
		return peerlane_refuse(msg, -ENOTCONN, "not joined");
	return peerlane_refuse(msg, -ENOTCONN, "the group ended: %s",
			       group->text);
}

static void describe(struct peerlane_group *group, const char *text)
{
	lockdep_assert_held(&group->queue_lock);
	if (text)
		strscpy(group->text, text, sizeof(group->text));
	else
		group_fault_text(&group->fault, group->text,
				 sizeof(group->text));
}

void group_end(struct peerlane_group *group, const struct group_fault *fault,
	       int status, const char *text, struct group_peer *teller)
{
	bool first;

	spin_lock(&group->queue_lock);
	first = group->state < PEERLANE_GROUP_ENDING;
	if (first) {
		group->fault = *fault;
		group->status = status ?: group_cause_errno(fault->cause);
		describe(group, text);
		group_set_state(group, PEERLANE_GROUP_ENDING);
	}
	if (teller)
		teller->told_fault = true;
	spin_unlock(&group->queue_lock);
	if (!first)
		return;
	queue_work(group_queue, &group->end_work);
	group_wake(group, EPOLLIN | EPOLLHUP);
}

void group_late_work(struct work_struct *work)
{
	struct peerlane_group *group;
	struct group_fault fault = { .cause = GROUP_CAUSE_JOIN, .rank = U32_MAX,
				     .other = U32_MAX };

	group = container_of(to_delayed_work(work), struct peerlane_group,
			     join_late);
	if (group_state(group) == PEERLANE_GROUP_JOINING)
		group_end(group, &fault, 0, "no aggregator said within the join timeout that all ranks have joined",
			  NULL);
}

/* ---- goodbye ---- */

/* All that there are: where JOIN stopped early no more are to come. */
bool group_links_down(struct peerlane_group *group)
{
	return READ_ONCE(group->downs) == READ_ONCE(group->link_count);
}

static void last_done(struct group_post *post, int status)
{
}

/* True: a word is on its way, and it is going to close. */
static bool tell(struct peerlane_group *group, struct group_peer *peer)
{
	struct group_message message = {
		.type = group->fault.cause ? GROUP_MESSAGE_ABORT :
					     GROUP_MESSAGE_LEAVE,
	};
	bool may;

	if (group->fault.cause)
		message.fault = group->fault;
	spin_lock(&group->queue_lock);
	may = peer->up && !peer->down && !peer->told_fault;
	spin_unlock(&group->queue_lock);
	if (!may)
		return false;
	group_post_init(&peer->last, &message, last_done);
	group_pipe_add(&peer->pipe, &peer->last);
	group_pipe_push(&peer->pipe);
	return true;
}

static void say_goodbye(struct peerlane_group *group)
{
	struct group_peer *peer;
	u32 i;

	for (i = 0; i < group->peer_count; i++) {
		peer = &group->peers[i];
		if (peer->link && !tell(group, peer))
			link_kill(peer->link, -ECANCELED, -ECANCELED,
				  "closed by this side");
	}
	wait_event_timeout(group->wait, group_links_down(group), GOODBYE);
}

static void end_links(struct peerlane_group *group)
{
	struct link *link;
	u32 i;

	for (i = 0; i < group->peer_count; i++) {
		link = group->peers[i].link;
		if (link)
			link_kill(link, -ECANCELED, -ECANCELED,
				  "closed by this side");
	}
	for (i = 0; i < group->peer_count; i++)
		if (group->peers[i].link)
			link_wait_ended(group->peers[i].link);
}

/* ---- what is left ---- */

static void abort_tasks(struct peerlane_group *group)
{
	int status = group->status ?: -ECANCELED;
	struct group_op *op, *next;

	lockdep_assert_held(&group->queue_lock);
	if (group->stream_memory)
		while ((op = group_stream_abort(&group->streams)))
			group_task_over(group_task(op), status);
	list_for_each_entry_safe(op, next, &group->waiting, node) {
		list_del_init(&op->node);
		op->seq = group->streams.next_seq++;
		group_task_over(group_task(op), status);
	}
}

void group_end_work(struct work_struct *work)
{
	struct peerlane_group *group = container_of(work, struct peerlane_group,
						    end_work);

	/* Who was joining, or exposing, is done; nobody begins again. */
	mutex_lock(&group->bind_lock);
	mutex_unlock(&group->bind_lock);
	/* One that was never to be joined is no event. */
	if (group->peer_count)
		group_event(group, PEERLANE_EVENT_KIND_GROUP_ENDED);
	say_goodbye(group);
	end_links(group);
	mutex_lock(&group->bind_lock);
	group_unmap_all(group);
	mutex_unlock(&group->bind_lock);
	spin_lock(&group->queue_lock);
	abort_tasks(group);
	spin_unlock(&group->queue_lock);
	/* Who pushes just now may have one that its link did not take. */
	wait_event(group->wait, !READ_ONCE(group->outstanding));
	spin_lock(&group->queue_lock);
	group_queue_record(group, &group->ended);
	group_set_state(group, PEERLANE_GROUP_ENDED);
	spin_unlock(&group->queue_lock);
	wake_up_all(&group->wait);
}
