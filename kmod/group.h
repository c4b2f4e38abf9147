/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Group files: one rank of a group, with a link to each of its aggregators.
 *
 * Life
 * ----
 * NEW -> JOINING -> JOINED -> ENDING -> ENDED. group_end() begins the end, from
 * any context; only the first call counts. The end's work says goodbye, ends all
 * links, and when nobody reaches our memory any more it completes what is left.
 *
 * Locks, outermost first
 * ----------------------
 *   bind_lock -> (regions' and maps' locks)
 *   bind_lock -> expose_lock -> (the link's locks for exposures)
 *   bind_lock -> queue_lock; read_lock -> queue_lock
 *   link->poll_lock -> expose_lock -> queue_lock -> pipe->lock
 *   groups_lock: leaf
 * The callback of a watched region takes expose_lock and queue_lock, and waits
 * for links: who holds expose_lock waits for neither. The end's work takes
 * bind_lock; whoever holds it does not wait for the end.
 */
#ifndef PEERLANE_GROUP_H
#define PEERLANE_GROUP_H

#include <linux/poll.h>

#include "group_link.h"
#include "group_stream.h"
#include "ioctl.h"
#include "link.h"
#include "peerlane.h"

#define GROUP_PEERS_MAX		64
#define GROUP_SLOTS_MAX		256

struct group_slot {
	struct peerlane_group *group;
	struct region_watch watch;
	u32 index;
	/* bind_lock; its callback's: expose_lock */
	struct peerlane_region *region;	/* a user of it; NULL: empty */
	u64 offset;
	u64 length;
	bool read_only;
	/* protected by expose_lock */
	bool revoked;			/* READ_ONCE outside */
	/* protected by queue_lock */
	bool mapped;			/* for all links */
	u32 ready;			/* aggregators that know it */
	u32 users;			/* operations */
};

/* A slot as one aggregator sees it. queue_lock; changed with expose_lock too */
struct group_view {
	struct link_map *map;
	u64 token;			/* 0: not exposed */
	bool ready;
};

/* What makes a record. */
struct group_node {
	struct list_head node;		/* queue_lock */
	u32 type;			/* enum peerlane_group_record_type */
};

/* An operation, from SUBMIT until its record is read. queue_lock */
struct group_task {
	struct group_op op;
	u64 since;			/* ns: it was sent, alone; 0: not alone */
	struct group_node record;
	struct peerlane_group *group;	/* immutable */
	u64 cookie;
	struct group_slot *send;	/* or NULL */
	struct group_slot *receive;	/* or NULL */
	u64 send_offset;
	u64 receive_offset;
	u32 posts;			/* under way */
	bool over;			/* no segment is to come */
	int status;
};

/* One aggregator. */
struct group_peer {
	struct peerlane_group *group;
	u32 index;
	struct link *link;		/* NULL: none yet; set once */
	struct group_pipe pipe;
	/* protected by queue_lock */
	bool up;
	bool down;
	bool welcome;
	bool told_fault;		/* it knows that the group ends */
	struct link_grant *pool;	/* a reference */
	u64 watched;			/* results, of all before it */
	unsigned long watched_since;	/* jiffies */
	struct group_post *posts;	/* window */
	struct group_post first;	/* JOIN */
	u64 probe;			/* the last one's number */
	u64 probe_back;			/* ns: when it came; READ_ONCE */
	struct group_post last;		/* LEAVE or ABORT */
};

/*
 * AUTO, where there is a choice: what is known, and what all ranks agreed on.
 * queue_lock
 */
struct group_tuning {
	bool is_on;
	struct group_cost cost;		/* agreed on */
	struct group_cost measured;	/* of this rank, for the next round */
	u32 rounds;			/* that are over */
	u32 probed;			/* the round that @measured is for */
	bool probing;			/* probe_work is to say @probed */
	struct work_struct probe_work;
	struct group_limit limit;
	bool asked;			/* for the next one */
	unsigned long asked_at;		/* jiffies */
	struct group_task *alone;	/* nothing else was under way with it */
	struct group_post post;		/* TUNE */
	struct group_post probe;
	struct group_slot *source;	/* of the probe's data, or NULL */
};

struct peerlane_group {
	/* immutable after publish */
	u64 id;
	struct net *net;
	kuid_t uid;
	struct pid *opener;
	char comm[PEERLANE_COMM_LEN];
	struct link_settings settings;
	struct group_join join;		/* aggregators and index by JOIN */
	u32 depth;
	u32 slot_count;
	u32 join_timeout_ms;
	struct peerlane_region *near;	/* a user of it, or NULL */
	struct group_slot *slots;
	struct group_task *tasks;
	struct list_head node;		/* groups_lock */

	struct mutex bind_lock;
	struct mutex expose_lock;
	u64 charged;			/* bytes, to uid; bind_lock once published */

	/* made by JOIN under bind_lock; published with peer_count */
	u32 peer_count;			/* READ_ONCE outside */
	u32 link_count;			/* begun: JOIN may stop early; READ_ONCE */
	struct group_peer *peers;
	struct group_view *views;	/* [slot][peer] */
	struct group_post *posts;	/* of all peers */
	void *stream_memory;

	spinlock_t queue_lock;
	/* protected by queue_lock */
	u32 state;			/* group_state() outside */
	int status;
	struct group_fault fault;
	char text[PEERLANE_GROUP_TEXT_LEN];
	struct group_streams streams;
	struct list_head waiting;	/* group_op: for their slots, in order */
	struct list_head free_tasks;	/* group_node */
	u32 free_count;			/* READ_ONCE outside */
	u32 outstanding;		/* READ_ONCE outside */
	struct list_head records;	/* group_node */
	u32 record_count;		/* READ_ONCE outside */
	bool told_end;			/* ENDED was read */
	struct group_node joined;
	struct group_node ended;
	u32 welcomes;
	u32 downs;			/* READ_ONCE outside */
	u64 ops_done;
	u64 ops_failed;
	u64 bytes_sent;
	u64 bytes_received;
	u64 segments;
	u64 ops_replicated;
	struct group_tuning tuning;
	bool leaving;			/* it waits for RESULTs; READ_ONCE */

	struct work_struct join_work;
	struct work_struct end_work;
	struct delayed_work join_late;
	struct delayed_work watch;
	struct mutex read_lock;		/* one reader at a time */
	wait_queue_head_t wait;
};

extern struct workqueue_struct *group_queue;
/* What waits for answers of peers: nobody's end has to wait for such. */
extern struct workqueue_struct *group_joins;

/*
 * Also without a lock: what was written before a state is seen with it. So who
 * finds JOINED has the peers and the streams, and who finds the end its text.
 */
static inline u32 group_state(const struct peerlane_group *group)
{
	/* Pairs with the release in group_set_state(). */
	return smp_load_acquire(&group->state);
}

/* queue_lock held. */
static inline void group_set_state(struct peerlane_group *group, u32 state)
{
	/* Pairs with the acquire in group_state(). */
	smp_store_release(&group->state, state);
}

static inline struct peerlane_group *group_of(struct peerlane_call *call)
{
	return call->file->private_data;
}

static inline struct group_view *group_view(const struct group_slot *slot,
					    u32 peer)
{
	struct peerlane_group *group = slot->group;

	return &group->views[slot->index * group->peer_count + peer];
}

static inline struct group_task *group_task(struct group_op *op)
{
	return container_of(op, struct group_task, op);
}

/* ---- group.c: birth and end ---- */

int group_init(void);
void group_exit(void);
struct peerlane_group *group_new(const struct peerlane_group_create *args,
				 struct peerlane_msg *msg);
struct file *group_file(struct peerlane_group *group);
/* LEAVE: returns when it is ENDED. */
void group_leave(struct peerlane_group *group);
void group_close(struct peerlane_group *group);
u32 group_records(struct net *net, bool all, struct peerlane_group_info *records,
		  u32 room);
u32 group_lanes(struct net *net, bool all, struct peerlane_lane_info *records,
		u32 room);
void group_info(struct peerlane_group *group, struct peerlane_group_info *info);

/* ---- group_lane.c ---- */

/* Lanes of all links, that were left. */
u32 group_lanes_left(struct peerlane_group *group);
/* Adds those of one file, which does not go, behind @count others. */
u32 group_lanes_of(struct peerlane_group *group, struct peerlane_lane_info *records,
		   u32 room, u32 count);

/* ---- group_charge.c: what the user pays ---- */

extern const struct link_purse group_purse;

int group_charge(struct peerlane_group *group, struct peerlane_msg *msg);
/* If it was. */
void group_uncharge(struct peerlane_group *group);
/* For so many aggregators, and a link to each; group_uncharge() ends the former. */
int group_charge_join(struct peerlane_group *group, u32 count,
		      struct peerlane_msg *msg);
void group_uncharge_join(struct peerlane_group *group, u32 count);

/* ---- group_end.c ---- */

/*
 * Any context; queue_lock is not held. @status 0: as the cause has it. @text
 * NULL: as the fault has it. @teller: who knows it already, or NULL.
 */
void group_end(struct peerlane_group *group, const struct group_fault *fault,
	       int status, const char *text, struct group_peer *teller);
void group_end_work(struct work_struct *work);
void group_late_work(struct work_struct *work);
/* -ENOTCONN with a text unless it is JOINED. */
int group_joined(struct peerlane_group *group, struct peerlane_msg *msg);
/* The end began: nobody is to be told any more. */
bool group_links_down(struct peerlane_group *group);
/* Of this rank's own doing. */
struct group_fault group_own_fault(const struct peerlane_group *group, u32 cause);

/* ---- group_event.c: what netlink's readers are told ---- */

/* @kind: GROUP_FORMED, or GROUP_ENDED once the fault is set */
void group_event(struct peerlane_group *group, u32 kind);
void group_lane_event(struct group_peer *peer, u32 lane);

/* ---- group_join.c ---- */

int group_join(struct peerlane_group *group,
	       const struct peerlane_group_join *args, bool wait,
	       struct peerlane_msg *msg);
void group_join_work(struct work_struct *work);
void group_unjoin(struct peerlane_group *group);

/* ---- group_slot.c ---- */

int group_bind(struct peerlane_group *group, struct peerlane_endpoint_bind *args,
	       struct peerlane_msg *msg);
void group_unbind(struct peerlane_group *group, u32 index);
/* bind_lock held. All that are bound, to all aggregators. */
int group_expose_all(struct peerlane_group *group, struct peerlane_msg *msg);
/* READY. False: no such token. */
bool group_slot_ready(struct group_peer *peer, u64 token);
/* All links are down. */
void group_unmap_all(struct peerlane_group *group);
void group_unbind_all(struct peerlane_group *group);

/* ---- group_send.c ---- */

/* Whatever may go now. */
void group_pump(struct peerlane_group *group);
/* queue_lock held. */
void group_task_over(struct group_task *task, int status);
extern const struct link_owner_ops group_link_ops;

/* ---- group_tune.c ---- */

/* bind_lock held, all are exposed: how far away is who? */
void group_measure(struct peerlane_group *group);
bool group_probe_back(struct group_peer *peer, u64 number);
void group_probe_work(struct work_struct *work);
/* TUNE of the next round, if it is due, goes with what is known. */
void group_tune_hurry(struct peerlane_group *group);
/* queue_lock held. True: TUNE is to be pushed, to the first peer. */
bool group_tune_ask(struct peerlane_group *group);
bool group_tuned(struct group_peer *peer, const struct group_tune *tune);
/*
 * queue_lock held. The next operation is @task: false, it has to wait. Else it
 * has its way, and goes.
 */
bool group_choose_way(struct peerlane_group *group, struct group_task *task);
/* queue_lock held: it is complete. */
void group_learn(struct peerlane_group *group, struct group_task *task);
/* queue_lock held: an answer is due for longer than a rank has patience. */
bool group_tune_is_stuck(struct peerlane_group *group, unsigned int patience_ms);
/* queue_lock held. */
void group_tune_info(struct peerlane_group *group,
		     struct peerlane_group_info *info);

/* ---- group_submit.c ---- */

int group_submit(struct peerlane_group *group, struct peerlane_group_submit *args,
		 struct peerlane_msg *msg);

/* ---- group_watch.c ---- */

/* queue_lock held. It has joined; until it ends, aggregators are looked after. */
void group_watch(struct peerlane_group *group);
/* After which an aggregator that has not said anything is given up. */
unsigned int group_patience_ms(const struct peerlane_group *group);
void group_watch_work(struct work_struct *work);

/* ---- group_queue.c: records ---- */

/* queue_lock held. */
void group_queue_record(struct peerlane_group *group, struct group_node *node);
void group_wake(struct peerlane_group *group, __poll_t events);
ssize_t group_read_records(struct peerlane_group *group, void __user *to,
			   size_t size);
ssize_t group_read(struct file *file, char __user *to, size_t size,
		   loff_t *offset);
__poll_t group_poll(struct file *file, poll_table *table);

/* ---- ioctl_group.c ---- */

long peerlane_group_ioctl(struct file *file, unsigned int cmd,
			  unsigned long arg);

#endif /* PEERLANE_GROUP_H */
