/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Aggregators: files that listen for ranks of groups, and reduce what they send
 * in a pool of memory, which is a region of host pages.
 *
 * Life of a group
 * ---------------
 * Made by the first JOIN, formed by the last. aggregator_fail() begins its end,
 * from any context; only the first call counts. All ranks are told why; each
 * closes, or is closed after a while. When all of their links are down nobody
 * reads or writes the group's part of the pool, and it is given back.
 *
 * Locks, outermost first
 * ----------------------
 *   listener->lock -> aggregator->lock -> group->lock -> pipe->lock
 *   link->poll_lock -> group->lock
 *   aggregators_lock: leaf but for aggregator->lock
 *   aggregator->record_lock: leaf
 * aggregator->lock is a mutex, not taken under a poll_lock: nobody who has it
 * waits for a link.
 */
#ifndef PEERLANE_AGGREGATOR_H
#define PEERLANE_AGGREGATOR_H

#include <linux/poll.h>

#include "group_link.h"
#include "group_table.h"
#include "ioctl.h"
#include "link.h"
#include "peerlane.h"

#define AGGREGATOR_RECORDS	256

struct aggregator_group;
struct aggregator_parent;
struct peerlane_aggregator;

/* Memory of all groups. */
struct aggregator_pool {
	struct peerlane_region *region;	/* a user of it */
	struct region_watch watch;
	bool is_watched;
	bool has_dma;			/* aggregator->lock */
	void *base;			/* of the CPU */
	u64 bytes;
	u64 used;			/* aggregator->lock */
};

/* A connection: a rank of a group, once it has joined. */
struct aggregator_rank {
	struct peerlane_aggregator *aggregator;	/* a reference */
	struct list_head node;		/* aggregator->lock: strangers, or members */
	struct link *link;
	struct group_pipe pipe;
	unsigned long born;		/* jiffies; then when JOIN was dealt with */
	atomic_t answers;		/* on their way, without those to probes */
	atomic_t probes;		/* answers to them on their way */
	bool said_join;			/* link->poll_lock */
	bool joining;			/* JOIN is being dealt with; READ_ONCE */
	struct group_join join;		/* from said_join on */
	struct work_struct join_work;
	struct work_struct ready_work;
	struct work_struct reap;
	/* protected by aggregator->lock */
	struct aggregator_group *group;	/* set once; acquire outside */
	u32 index;			/* in group->ranks; set before it */
	struct link_map *map;
	bool down;
	bool ready;			/* all that it speaks for have joined */
	bool asked;			/* it knows that it is to blame */
	/* protected by group->lock */
	bool left;			/* its end is no death */
	bool tuned;			/* it said TUNE of this round */
	struct group_post *results;	/* window */
	struct group_post welcome;
	struct group_post last;		/* ABORT */
};

/* Place of a segment: from complete until its results are out. */
struct aggregator_place {
	struct aggregator_group *group;
	struct work_struct work;
	u64 n;				/* that the work is for */
	void *scratch;			/* of the reduction; the work's */
	const void **from;		/* of each rank; the work's */
	/* protected by group->lock */
	u32 pending;			/* results on their way */
	u64 since;			/* ns: the last of them went out */
	bool due;			/* the next is complete, and waits for those */
	bool is_above;			/* it is with the parent */
	u64 above_since;		/* ns */
	bool is_back;			/* from there */
	struct aggregator_rank *deferred;	/* gets its result last */
};

/* A round of TUNE, of the ranks' numbers. */
struct aggregator_tuning {
	u32 round;
	u32 count;			/* ranks that are there */
	u64 since;			/* ns: the first of them came */
	struct group_cost cost;
};

struct aggregator_group {
	struct list_head node;		/* aggregator->lock */
	struct peerlane_aggregator *aggregator;	/* a reference */
	struct group_join shape;	/* of the first JOIN */
	struct group_members members;
	bool has_parent;
	struct aggregator_parent *parent;	/* or NULL */
	u64 offset;			/* in the pool */
	u64 bytes;
	u64 charged;			/* bytes beside the pool */
	unsigned long born;		/* jiffies */
	void *memory;			/* of table */
	struct aggregator_place *places;	/* window */
	void *scratch;
	const void **from;
	/* protected by aggregator->lock */
	struct aggregator_rank **ranks;	/* size */
	u32 joined;
	u32 live;			/* links that are not down, also the parent's */
	bool told;			/* all ranks were, of the end */
	struct aggregator_rank *asked;	/* for whom it waits, or NULL */
	unsigned long asked_at;		/* jiffies */
	struct group_fault question;

	spinlock_t lock;
	/* protected by lock */
	struct group_table table;
	bool formed;
	bool ended;
	struct group_fault fault;
	u32 left;			/* ranks */
	u32 first_left;
	u64 left_at;			/* ns */
	struct aggregator_tuning tuning;
	struct group_late late;
	u32 gamma;			/* ps for a byte; READ_ONCE */

	struct work_struct end_work;
	struct delayed_work grace;	/* links are ended after it */
	struct work_struct reap;
};

struct peerlane_aggregator {
	/* immutable after publish */
	struct kref ref;
	u64 id;
	struct net *net;
	kuid_t uid;
	struct pid *opener;
	char comm[PEERLANE_COMM_LEN];
	struct link_settings settings;
	u32 backlog;
	u32 max_groups;
	u32 join_timeout_ms;
	union link_address address;
	union link_address parent;	/* or nothing */
	u32 parent_lanes;
	struct list_head node;		/* aggregators_lock */

	struct mutex lock;
	/* protected by lock */
	struct link_listener *listener;
	struct aggregator_pool pool;
	struct list_head groups;
	struct list_head strangers;	/* aggregator_rank without a group */
	u32 group_count;		/* READ_ONCE outside */
	u32 stranger_count;
	u32 rank_count;			/* all; READ_ONCE outside */
	int status;			/* READ_ONCE outside; 0: it takes ranks in */
	u64 formed;
	u64 failed;
	u64 refused;

	spinlock_t record_lock;
	/* protected by record_lock */
	struct peerlane_aggregator_record records[AGGREGATOR_RECORDS];
	u32 first_record;
	u32 record_count;		/* READ_ONCE outside */
	u32 lost;

	struct delayed_work tick;
	struct mutex read_lock;		/* one reader at a time */
	wait_queue_head_t wait;		/* records, and the end of ranks and groups */
	atomic64_t segments;
	atomic64_t bytes;
};

/* Whose it is in group->ranks; beyond the members: of another block. */
static inline u32 aggregator_member(const struct aggregator_group *group,
				    const struct group_join *join)
{
	return join->rank / group->members.unit - group->members.first;
}

extern struct workqueue_struct *aggregator_queue;	/* life */
extern struct workqueue_struct *aggregator_reducers;

static inline struct peerlane_aggregator *aggregator_of(struct peerlane_call *call)
{
	return call->file->private_data;
}

/* ---- aggregator.c ---- */

int aggregator_init(void);
void aggregator_exit(void);
struct peerlane_aggregator *
aggregator_new(const struct peerlane_aggregator_create *args,
	       struct peerlane_msg *msg);
struct file *aggregator_file(struct peerlane_aggregator *aggregator);
void aggregator_close(struct peerlane_aggregator *aggregator);
void aggregator_put(struct peerlane_aggregator *aggregator);
/* Ends all groups and links, and waits for that. */
void aggregator_stop(struct peerlane_aggregator *aggregator, int status);
void aggregator_info(struct peerlane_aggregator *aggregator,
		     struct peerlane_aggregator_info *info);
u32 aggregator_records(struct net *net, bool all,
		       struct peerlane_aggregator_info *records, u32 room);

/* ---- aggregator_charge.c: what its maker pays ---- */

extern const struct link_purse aggregator_purse;

int aggregator_charge(struct peerlane_aggregator *aggregator,
		      struct peerlane_msg *msg);
void aggregator_uncharge(struct peerlane_aggregator *aggregator);
int aggregator_charge_bytes(struct peerlane_aggregator *aggregator, u64 amount,
			    struct peerlane_msg *msg);
void aggregator_uncharge_bytes(struct peerlane_aggregator *aggregator, u64 amount);

/* ---- aggregator_pool.c ---- */

int aggregator_pool_open(struct peerlane_aggregator *aggregator, int fd,
			 struct peerlane_msg *msg);
void aggregator_pool_close(struct peerlane_aggregator *aggregator);
/* aggregator->lock held. False: there is no such part. */
bool aggregator_pool_take(struct peerlane_aggregator *aggregator,
			  struct aggregator_group *group);

/* And it is on the list of groups no more; nobody reaches the part. */
void aggregator_pool_give(struct peerlane_aggregator *aggregator,
			  struct aggregator_group *group);

/* ---- aggregator_memory.c ---- */

/* aggregator->lock held. It is on the list of groups then; else nothing of it is left. */
int aggregator_take_memory(struct aggregator_group *group);
/* What is not of the pool, and the group */
void aggregator_group_free(struct aggregator_group *group);

/* ---- aggregator_rank.c ---- */

extern const struct link_listener_ops aggregator_listener_ops;
/* aggregator->lock held: those that never said who they are. */
void aggregator_kill_strangers(struct peerlane_aggregator *aggregator, bool all);
/* It is down. */
void aggregator_rank_free(struct aggregator_rank *rank);
/* Its end is told by this message. */
void aggregator_tell(struct aggregator_rank *rank,
		     const struct group_fault *fault);

/* 0, or -ENOMEM; the message goes as there is room. Not too many at once. */
int aggregator_answer(struct aggregator_rank *rank,
		      const struct group_message *message);

/* ---- aggregator_group.c ---- */

/*
 * aggregator->lock held. 0: it is in @rank->join's group, which may have been
 * made for it; else the cause why not is in @fault.
 */
int aggregator_attach(struct aggregator_rank *rank, struct group_fault *fault);
/* It can be sent to. */
void aggregator_joined(struct aggregator_rank *rank);
/* aggregator->lock held: all have joined, everywhere. */
void aggregator_form(struct aggregator_group *group);
/* aggregator->lock held: one that counts in group->live is down. */
void aggregator_link_gone(struct aggregator_group *group);
void aggregator_detach(struct aggregator_rank *rank);
/* Any context; group->lock not held. @teller knows, or is to blame; or NULL */
void aggregator_fail(struct aggregator_group *group,
		     const struct group_fault *fault,
		     struct aggregator_rank *teller);
void aggregator_fail_rank(struct aggregator_rank *rank, u32 cause);
void aggregator_left(struct aggregator_rank *rank);
u32 aggregator_ranks(struct peerlane_aggregator *aggregator, u64 group,
		     struct peerlane_rank_record *records, u32 room);

/* ---- aggregator_event.c: what netlink's readers are told ---- */

/* @kind: GROUP_FORMED, or GROUP_ENDED, which is final */
void aggregator_event(const struct aggregator_group *group, u32 kind);
void aggregator_lane_event(const struct aggregator_rank *rank, u32 lane);
/* aggregator->lock held, group->lock not: who is late again and again? */
void aggregator_late_events(struct aggregator_group *group);

/* ---- aggregator_time.c ---- */

/* aggregator->lock held: who is late? */
void aggregator_look_after(struct aggregator_group *group);
/* aggregator->lock held: one of ours is. Who? */
void aggregator_accuse(struct aggregator_group *group,
		       const struct group_fault *question);

/* ---- aggregator_tune.c ---- */

/* aggregator->lock held; the group is about to form. */
void aggregator_measure(struct aggregator_group *group);
/* All ranks' segments of @bytes */
void aggregator_reduced(struct aggregator_group *group, u32 bytes, u64 ns);
void aggregator_tune(struct aggregator_rank *rank, const struct group_tune *tune);
/* As aggregator_result_is_late() */
bool aggregator_tune_is_late(struct aggregator_group *group, u64 now, u64 limit,
			     struct group_fault *fault);

/* ---- aggregator_place.c ---- */

/* In the pool: what a member has given; behind that of the last is the result. */
u64 aggregator_place_of(const struct aggregator_group *group, u32 index, u64 n);
u64 aggregator_result_of(const struct aggregator_group *group, u64 n);
void *aggregator_in_pool(const struct aggregator_group *group, u64 offset);
/* Into place->from */
void aggregator_find_sources(struct aggregator_place *place);
/* @call as it is to be done with what members give. */
void aggregator_between(const struct aggregator_group *group,
			struct group_call *call);

/* Which member has what is not all's; beyond them: none of this aggregator. */
static inline u32 aggregator_holder(const struct aggregator_group *group,
				    const struct group_segment *segment)
{
	return segment->contributor / group->members.unit - group->members.first;
}

/* What is in the ranks' places, into that of results; as reduce_cpu_plan(). */
int aggregator_reduce(struct aggregator_place *place,
		      const struct group_call *call, u32 elements);

void aggregator_segment(struct aggregator_rank *rank,
			const struct group_part *part);
void aggregator_place_work(struct work_struct *work);
/* group->lock held; the group has formed and has not ended. */
bool aggregator_result_is_late(struct aggregator_group *group, u64 now, u64 limit,
			       struct group_fault *fault);

/* ---- aggregator_queue.c: records ---- */

void aggregator_record(struct peerlane_aggregator *aggregator, u32 type,
		       const struct aggregator_group *group, int status);
ssize_t aggregator_read(struct file *file, char __user *to, size_t size,
			loff_t *offset);
__poll_t aggregator_poll(struct file *file, poll_table *table);

/* ---- ioctl_aggregator.c ---- */

long peerlane_aggregator_ioctl(struct file *file, unsigned int cmd,
			       unsigned long arg);

#endif /* PEERLANE_AGGREGATOR_H */
