/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The aggregator above, of one group: to it this one is a member, which speaks
 * for all ranks of its block. It says what they say, with what they sum up to.
 *
 * Life
 * ----
 * Made with the group, which it counts as a link of; its end is the group's. It
 * says JOIN when it is connected, and exposes its memory when all its members are
 * there: WELCOME, and READY, are for all of them.
 */
#ifndef PEERLANE_AGGREGATOR_PARENT_H
#define PEERLANE_AGGREGATOR_PARENT_H

#include "aggregator.h"

struct aggregator_parent {
	/* immutable */
	struct aggregator_group *group;
	struct group_members members;	/* all of that height */
	u32 index;			/* this one's among them */
	struct link_settings settings;
	struct group_pipe pipe;
	struct group_post *posts;	/* window */
	struct group_post first;	/* JOIN */
	struct group_post last;		/* LEAVE or ABORT */
	struct work_struct begin;
	struct work_struct step;
	/* protected by aggregator->lock */
	struct link *link;		/* NULL: none yet; set once */
	struct link_map *map;		/* READ_ONCE outside */
	bool down;
	bool exposed;
	/* protected by group->lock */
	bool up;
	bool told;			/* it knows of the end */
	bool welcome;
	bool is_asked;
	struct link_grant *pool;	/* a reference */
	u64 token;			/* of our memory; 0: not exposed */
	u64 ready;			/* that it knows */
	struct group_fault question;
};

/* ---- aggregator_parent.c ---- */

/* Bytes of kernel memory, and what it is made of; aggregator->lock held. */
u64 aggregator_parent_cost(const struct group_join *shape);
int aggregator_parent_new(struct aggregator_group *group);
void aggregator_parent_begin(struct aggregator_parent *parent);
/* Something that JOIN waits for may have come. Any context. */
void aggregator_parent_step(struct aggregator_parent *parent);
/* aggregator->lock held: the group ended by @fault. */
void aggregator_parent_tell(struct aggregator_parent *parent,
			    const struct group_fault *fault);
void aggregator_parent_kill(struct aggregator_parent *parent);
/* Its link is down, or there was none. */
void aggregator_parent_free(struct aggregator_parent *parent);

/* ---- aggregator_tree.c: places of such a group ---- */

/* In the pool: what goes up, and comes back. */
u64 aggregator_above(const struct aggregator_group *group, u64 n);
/* The place is FULL: it is up, or < 0 as of reduce_cpu_plan(). */
int aggregator_send_up(struct aggregator_place *place,
		       const struct group_part *part,
		       const struct group_segment *segment);
/* It is back: where the result is. */
int aggregator_take_down(struct aggregator_place *place,
			 const struct group_call *call,
			 const struct group_segment *segment, u64 *source);
/* RESULT. False: nothing waits for that. */
bool aggregator_came_down(struct aggregator_parent *parent, u64 n, u64 seq);
/* aggregator->lock held: it answers, but has had no result for @ns. */
bool aggregator_parent_is_stuck(struct aggregator_parent *parent, u64 ns);

#endif /* PEERLANE_AGGREGATOR_PARENT_H */
