// SPDX-License-Identifier: GPL-2.0
/* The link to the aggregator above: see aggregator_parent.h. */
#include <linux/kref.h>
#include <linux/slab.h>

#include "aggregator_parent.h"
#include "link_map.h"

/* ---- memory ---- */

u64 aggregator_parent_cost(const struct group_join *shape)
{
	return sizeof(struct aggregator_parent) +
	       (u64)shape->window * sizeof(struct group_post);
}

static void set_link(struct aggregator_parent *parent)
{
	const struct peerlane_aggregator *aggregator = parent->group->aggregator;
	const struct group_join *shape = &parent->group->shape;
	struct link_settings *settings = &parent->settings;

	*settings = aggregator->settings;
	settings->lanes = aggregator->parent_lanes;
	settings->depth = 2 * shape->window;
	settings->notify = 2 * shape->window + 16;
	settings->grants = 4;		/* its pool */
}

static void set_members(struct aggregator_parent *parent)
{
	const struct aggregator_group *group = parent->group;
	const struct group_join *shape = &group->shape;
	struct group_members *members = &parent->members;

	members->unit = group->members.unit * shape->block;
	members->count = (shape->size - 1) / members->unit + 1;
	parent->index = group->members.first / shape->block;
}

static void begin_work(struct work_struct *work);
static void step_work(struct work_struct *work);

int aggregator_parent_new(struct aggregator_group *group)
{
	struct aggregator_parent *parent;
	u32 i, window = group->shape.window;
	int ret = -ENOMEM;

	parent = kzalloc(sizeof(*parent), GFP_KERNEL_ACCOUNT);
	if (!parent)
		return ret;
	parent->posts = kvcalloc(window, sizeof(*parent->posts),
				 GFP_KERNEL_ACCOUNT);
	if (!parent->posts)
		goto err_free;
	parent->group = group;
	set_members(parent);
	set_link(parent);
	INIT_WORK(&parent->begin, begin_work);
	INIT_WORK(&parent->step, step_work);
	group_pipe_init(&parent->pipe, NULL);
	for (i = 0; i < window; i++) {
		parent->posts[i].owner = parent;
		parent->posts[i].index = i;
	}
	ret = link_charge(&parent->settings, 1, NULL);
	if (ret)
		goto err_posts;
	group->parent = parent;
	return 0;

err_posts:
	kvfree(parent->posts);
err_free:
	kfree(parent);
	return ret;
}

void aggregator_parent_free(struct aggregator_parent *parent)
{
	cancel_work_sync(&parent->begin);
	cancel_work_sync(&parent->step);
	if (parent->link) {
		link_wait_ended(parent->link);
		link_put(parent->link);
	}
	if (parent->pool)
		link_grant_put(parent->pool);
	kvfree(parent->posts);
	kfree(parent);
}

/* ---- JOIN ---- */

static void fail(struct aggregator_parent *parent, u32 cause)
{
	const struct group_fault fault = {
		.cause = cause, .rank = GROUP_NOBODY, .other = GROUP_NOBODY,
	};

	aggregator_fail(parent->group, &fault, NULL);
}

static const struct link_owner_ops parent_ops;

/* NULL: there is none, and will not be. */
static struct link *make_link(struct aggregator_parent *parent)
{
	struct aggregator_group *group = parent->group;
	struct peerlane_aggregator *aggregator = group->aggregator;
	struct link *link = NULL;

	lockdep_assert_held(&aggregator->lock);
	if (READ_ONCE(group->ended)) {
		link_uncharge(&parent->settings, 1);
	} else {
		link = link_new(aggregator->net, &parent->settings, &parent_ops,
				parent, NULL);
		if (IS_ERR(link)) {
			link_uncharge(&parent->settings, 1);
			fail(parent, GROUP_CAUSE_FULL);
			link = NULL;
		}
	}
	if (!link) {
		aggregator_link_gone(group);
		return NULL;
	}
	parent->pipe.link = link;
	parent->link = link;
	return link;
}

static void begin_work(struct work_struct *work)
{
	struct aggregator_parent *parent = container_of(work,
							struct aggregator_parent,
							begin);
	struct peerlane_aggregator *aggregator = parent->group->aggregator;
	union link_address source = {};
	struct peerlane_msg msg = {};
	struct link *link;
	int ret;

	mutex_lock(&aggregator->lock);
	link = make_link(parent);
	mutex_unlock(&aggregator->lock);
	if (!link)
		return;
	link_choose_source(aggregator->net, parent->settings.device,
			   aggregator->pool.region, &aggregator->parent, &source);
	ret = link_connect(link, &source, &aggregator->parent, &msg);
	if (ret)
		link_kill(link, ret, ret, "%s", msg.text);
}

void aggregator_parent_begin(struct aggregator_parent *parent)
{
	lockdep_assert_held(&parent->group->aggregator->lock);
	parent->group->live++;
	queue_work(aggregator_queue, &parent->begin);
}

/* All are there, and so is the parent's memory. */
static bool may_expose(struct aggregator_parent *parent)
{
	struct aggregator_group *group = parent->group;
	bool may;

	lockdep_assert_held(&group->aggregator->lock);
	spin_lock(&group->lock);
	may = parent->pool && !group->ended;
	spin_unlock(&group->lock);
	return may && !parent->down && !parent->exposed &&
	       group->joined == group->members.count;
}

static int expose(struct aggregator_parent *parent)
{
	struct aggregator_group *group = parent->group;
	const struct link_exposure exposure = {
		.map = parent->map,
		.offset = aggregator_above(group, 0),
		.length = (u64)group->shape.window * group->shape.segment,
		.value = GROUP_POOL_VALUE,
		.rights = PEERLANE_RIGHT_WRITE,
	};
	u64 token;
	int ret;

	ret = link_expose(parent->link, &exposure, &token, NULL);
	if (ret)
		return ret;
	spin_lock(&group->lock);
	parent->token = token;
	spin_unlock(&group->lock);
	return 0;
}

static struct link_map *map_pool(struct aggregator_parent *parent)
{
	struct ib_device *dev = link_device_get(parent->link);
	struct link_map *map;

	if (!dev)
		return NULL;
	map = link_map_get(parent->group->aggregator->pool.region, dev, NULL);
	link_device_put(parent->link);
	return IS_ERR(map) ? NULL : map;
}

/* It takes long: no lock is held. */
static void show_memory(struct aggregator_parent *parent)
{
	struct peerlane_aggregator *aggregator = parent->group->aggregator;
	struct link_map *map;
	bool may;

	mutex_lock(&aggregator->lock);
	may = may_expose(parent);
	mutex_unlock(&aggregator->lock);
	if (!may)
		return;
	map = map_pool(parent);
	mutex_lock(&aggregator->lock);
	may = map && may_expose(parent);
	if (may) {
		WRITE_ONCE(parent->map, map);
		parent->exposed = true;
	}
	if (!may || expose(parent))
		fail(parent, link_state(parent->link) == LINK_UP ?
			     GROUP_CAUSE_FULL : group_cause_of_end(parent->link));
	mutex_unlock(&aggregator->lock);
	if (!may && map)
		link_map_put(map);
}

static bool may_form(struct aggregator_parent *parent)
{
	struct aggregator_group *group = parent->group;
	bool may;

	spin_lock(&group->lock);
	may = parent->welcome && parent->token &&
	      parent->ready == parent->token && !group->formed && !group->ended;
	spin_unlock(&group->lock);
	return may;
}

static bool take_question(struct aggregator_parent *parent,
			  struct group_fault *question)
{
	struct aggregator_group *group = parent->group;
	bool is_asked;

	spin_lock(&group->lock);
	is_asked = parent->is_asked && !group->ended;
	parent->is_asked = false;
	*question = parent->question;
	spin_unlock(&group->lock);
	return is_asked;
}

static void step_work(struct work_struct *work)
{
	struct aggregator_parent *parent = container_of(work,
							struct aggregator_parent,
							step);
	struct peerlane_aggregator *aggregator = parent->group->aggregator;
	struct group_fault question;

	show_memory(parent);
	mutex_lock(&aggregator->lock);
	if (take_question(parent, &question))
		aggregator_accuse(parent->group, &question);
	if (may_form(parent))
		aggregator_form(parent->group);
	mutex_unlock(&aggregator->lock);
}

void aggregator_parent_step(struct aggregator_parent *parent)
{
	queue_work(aggregator_queue, &parent->step);
}

/* ---- what it says ---- */

/*
 * It waits for somebody of ours, and does not know for whom: so it names the first.
 * Another one is somebody's answer.
 */
static bool is_question(const struct aggregator_parent *parent,
			const struct group_fault *fault)
{
	return (fault->cause == GROUP_CAUSE_LATE ||
		fault->cause == GROUP_CAUSE_JOIN) &&
	       fault->rank == group_member_rank(&parent->members, parent->index);
}

static bool aborted(struct aggregator_parent *parent,
		    const struct group_fault *fault)
{
	struct aggregator_group *group = parent->group;
	bool is_asked = is_question(parent, fault);

	spin_lock(&group->lock);
	if (is_asked) {
		parent->is_asked = true;
		parent->question = *fault;
	} else {
		parent->told = true;
	}
	spin_unlock(&group->lock);
	if (is_asked)
		aggregator_parent_step(parent);
	else
		aggregator_fail(group, fault, NULL);
	return true;
}

static bool welcome(struct aggregator_parent *parent)
{
	struct aggregator_group *group = parent->group;
	bool first;

	spin_lock(&group->lock);
	first = !parent->welcome;
	parent->welcome = true;
	spin_unlock(&group->lock);
	aggregator_parent_step(parent);
	return first;
}

static bool ready(struct aggregator_parent *parent, u64 token)
{
	struct aggregator_group *group = parent->group;

	spin_lock(&group->lock);
	parent->ready = token;
	spin_unlock(&group->lock);
	aggregator_parent_step(parent);
	return true;
}

static bool message_in(struct link *link, void *owner, u32 lane, const void *data,
		       u32 length)
{
	struct aggregator_parent *parent = owner;
	struct group_message message;

	if (group_message_decode(&message, data, length))
		return false;
	switch (message.type) {
	case GROUP_MESSAGE_WELCOME:
		return welcome(parent);
	case GROUP_MESSAGE_READY:
		return ready(parent, message.token);
	case GROUP_MESSAGE_RESULT:
		return aggregator_came_down(parent, message.result.n,
					    message.result.seq);
	case GROUP_MESSAGE_ABORT:
		return aborted(parent, &message.fault);
	default:
		return false;
	}
}

static bool is_pool(const struct aggregator_parent *parent,
		    const struct link_grant *grant)
{
	const struct group_join *shape = &parent->group->shape;

	return grant->value == GROUP_POOL_VALUE && !parent->pool &&
	       grant->rights == PEERLANE_RIGHT_WRITE &&
	       grant->geometry.length == (u64)shape->window * shape->segment;
}

static int exposed(struct link *link, void *owner, struct link_grant *grant)
{
	struct aggregator_parent *parent = owner;
	struct aggregator_group *group = parent->group;
	bool fine;

	spin_lock(&group->lock);
	fine = is_pool(parent, grant);
	if (fine)
		parent->pool = grant;
	spin_unlock(&group->lock);
	if (fine) {
		aggregator_parent_step(parent);
		return 0;
	}
	link_grant_put(grant);
	return -EPROTO;
}

static void withdrawn(struct link *link, void *owner, struct link_grant *grant)
{
	link_kill(link, -EPROTO, -ECANCELED, "the aggregator took its pool away");
}

static void room(struct link *link, void *owner)
{
	struct aggregator_parent *parent = owner;

	group_pipe_push(&parent->pipe);
}

/* ---- life of the link ---- */

static void nothing(struct group_post *post, int status)
{
}

static void came_up(struct link *link, void *owner)
{
	struct aggregator_parent *parent = owner;
	struct aggregator_group *group = parent->group;
	struct group_message message = {
		.type = GROUP_MESSAGE_JOIN,
		.join = group->shape,
	};

	message.join.unit = parent->members.unit;
	message.join.rank = group_member_rank(&parent->members, parent->index);
	spin_lock(&group->lock);
	parent->up = true;
	spin_unlock(&group->lock);
	group_post_init(&parent->first, &message, nothing);
	group_pipe_add(&parent->pipe, &parent->first);
	group_pipe_push(&parent->pipe);
}

static void went_down(struct link *link, void *owner)
{
	struct aggregator_parent *parent = owner;
	struct peerlane_aggregator *aggregator = parent->group->aggregator;
	struct link_map *map = NULL;

	fail(parent, group_cause_of_end(link));
	group_pipe_end(&parent->pipe);
	mutex_lock(&aggregator->lock);
	parent->down = true;
	swap(map, parent->map);
	mutex_unlock(&aggregator->lock);
	if (map)
		link_map_put(map);
	mutex_lock(&aggregator->lock);
	aggregator_link_gone(parent->group);
	mutex_unlock(&aggregator->lock);
}

static const struct link_owner_ops parent_ops = {
	.up		= came_up,
	.message	= message_in,
	.exposed	= exposed,
	.withdrawn	= withdrawn,
	.room		= room,
	.down		= went_down,
};

/* ---- the end ---- */

void aggregator_parent_kill(struct aggregator_parent *parent)
{
	lockdep_assert_held(&parent->group->aggregator->lock);
	if (parent->link)
		link_kill(parent->link, -ECONNRESET, -ECANCELED,
			  "its group ended");
}

void aggregator_parent_tell(struct aggregator_parent *parent,
			    const struct group_fault *fault)
{
	struct aggregator_group *group = parent->group;
	struct group_message message = {
		.type = fault->cause ? GROUP_MESSAGE_ABORT : GROUP_MESSAGE_LEAVE,
	};
	bool may;

	lockdep_assert_held(&group->aggregator->lock);
	if (fault->cause)
		message.fault = *fault;
	spin_lock(&group->lock);
	may = parent->up && !parent->told;
	spin_unlock(&group->lock);
	if (!may || parent->down) {
		aggregator_parent_kill(parent);
		return;
	}
	group_post_init(&parent->last, &message, nothing);
	group_pipe_add(&parent->pipe, &parent->last);
	group_pipe_push(&parent->pipe);
}
