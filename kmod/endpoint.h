/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Endpoints: files over a link. An endpoint has slots for regions, operations
 * (as many as its depth), and a queue of records for read(). Nothing is
 * allocated for an operation.
 *
 * Life
 * ----
 * NEW -> LISTENING or CONNECTING -> CONNECTED -> CLOSED, as the uapi header
 * tells, and CONNECTING -> NEW when a CONNECT that is waited for fails. What a
 * listening endpoint takes in is an endpoint without a file (a child) until
 * ACCEPT; who takes a child off its lists has to close it. endpoint_close() is
 * the end of the file, or of a child without one: after it nobody reaches memory
 * through the endpoint.
 *
 * Locks, outermost first
 * ----------------------
 *   bind_lock -> (regions' and maps' locks)
 *   bind_lock -> endpoint->lock -> queue_lock
 *   read_lock -> queue_lock
 *   link->poll_lock -> queue_lock
 *   a listener's queue_lock and its child's are never held together
 *   endpoints_lock: leaf
 * endpoint->lock is what the callback of a watched region, and the end of a
 * link, take: so no map is made under it, and nobody who has it waits for the
 * end of a link. bind_lock may be held for both.
 */
#ifndef PEERLANE_ENDPOINT_H
#define PEERLANE_ENDPOINT_H

#include <linux/poll.h>

#include "ioctl.h"
#include "link.h"
#include "peerlane.h"

struct io_uring_cmd;
struct iov_iter;
struct kiocb;

#define ENDPOINT_FLUSHES	4	/* outstanding, on all lanes */

struct endpoint_slot {
	struct peerlane_endpoint *endpoint;
	struct region_watch watch;
	u32 index;
	/* protected by endpoint->lock */
	struct peerlane_region *region;	/* a user of it; NULL: empty */
	struct link_map *map;		/* NULL: not needed yet, or no more */
	u64 offset;
	u64 length;
	bool read_only;
	bool revoked;
	atomic_t users;			/* operations */
};

/* What makes a record. */
struct endpoint_node {
	struct list_head node;		/* queue_lock */
	u32 type;			/* enum peerlane_record_type */
};

/* An operation, from SUBMIT until its record is read. */
struct endpoint_op {
	struct link_op op;		/* not of a FLUSH, which has parts */
	struct endpoint_node node;
	struct peerlane_endpoint *endpoint;
	struct endpoint_slot *slot;	/* or NULL */
	u64 cookie;
	int status;
	u32 lane;
	bool quiet;
	atomic_t parts;			/* of a FLUSH, not done */
};

/* A FLUSH on one lane. */
struct endpoint_flush {
	struct link_op op;
	struct list_head node;		/* queue_lock */
	struct endpoint_op *whole;
};

struct endpoint_notice {
	struct endpoint_node node;
	struct link_notice notice;
};

/* An exposure of the peer's. */
struct endpoint_grant {
	struct endpoint_node exposed;
	struct endpoint_node withdrawn;
	struct list_head node;		/* queue_lock */
	struct link_grant *grant;	/* a reference */
};

struct peerlane_endpoint {
	/* immutable after publish */
	struct kref ref;
	u64 id;
	struct net *net;
	u64 charged;			/* bytes, to settings.uid */
	struct pid *opener;
	char comm[PEERLANE_COMM_LEN];
	struct link_settings settings;
	bool has_label;			/* by its user */
	u32 slot_count;
	struct peerlane_region *near;	/* a user of it, or NULL */
	struct endpoint_slot *slots;
	struct endpoint_op *ops;
	struct endpoint_flush *flushes;
	struct endpoint_notice *notices;
	struct list_head node;		/* endpoints_lock */

	struct mutex bind_lock;		/* slots are filled, emptied, mapped */
	struct rw_semaphore lock;
	/* protected by lock; link: that of a CONNECT which fails goes again */
	struct link *link;	/* the same for good once state is CONNECTED */
	struct link_listener *listener;
	union link_address address;	/* it listens at */
	u32 backlog;

	spinlock_t queue_lock;
	/* protected by queue_lock */
	u32 state;			/* endpoint_state() outside */
	int status;
	char reason[PEERLANE_REASON_LEN];
	struct list_head free_ops;
	struct list_head free_flushes;
	struct list_head free_notices;
	struct list_head grants;	/* endpoint_grant */
	struct list_head records;	/* endpoint_node */
	u32 record_count;		/* READ_ONCE outside */
	u32 outstanding;		/* operations not done; READ_ONCE outside */
	u32 free_count;			/* of free_ops; READ_ONCE outside */
	bool was_up;
	bool connect_waits;	/* a CONNECT takes in how it ends */
	bool connect_failed;	/* READ_ONCE outside; and it has not yet */
	u32 path;			/* enum peerlane_path, to near */
	bool told_end;			/* DISCONNECTED was read */
	struct endpoint_node connected;
	struct endpoint_node disconnected;
	struct list_head pending;	/* children that are not up */
	struct list_head ready;		/* children for ACCEPT */
	u32 children;

	struct peerlane_endpoint *parent;	/* of a child; a reference */
	struct list_head child_node;	/* parent->queue_lock */
	struct work_struct reap;

	struct mutex read_lock;		/* one reader at a time */
	wait_queue_head_t wait;

	atomic64_t bytes_put;
	atomic64_t bytes_get;
	atomic64_t ops_done;
	atomic64_t ops_failed;
};

extern const struct file_operations peerlane_endpoint_fops;
extern struct workqueue_struct *endpoint_work_queue;

/*
 * Also without a lock: what was written before a state is seen with it. So who
 * finds CONNECTED has the link, and who finds CLOSED the reason.
 */
static inline u32 endpoint_state(const struct peerlane_endpoint *endpoint)
{
	/* Pairs with the release in endpoint_set_state(). */
	return smp_load_acquire(&endpoint->state);
}

/* queue_lock held. */
static inline void endpoint_set_state(struct peerlane_endpoint *endpoint, u32 state)
{
	/* Pairs with the acquire in endpoint_state(). */
	smp_store_release(&endpoint->state, state);
}

/* The file that the call was made on. */
static inline struct peerlane_endpoint *endpoint_of(struct peerlane_call *call)
{
	return call->file->private_data;
}

/* ---- endpoint.c: life ---- */

int endpoint_init(void);
void endpoint_exit(void);
/* One reference, for a file or a child's list. @parent: the listener, or NULL. */
struct peerlane_endpoint *
endpoint_new(const struct peerlane_endpoint_create *args,
	     struct peerlane_endpoint *parent, struct peerlane_msg *msg);
struct file *endpoint_file(struct peerlane_endpoint *endpoint);
/* Nobody has seen it: its end is none of the endpoint's. */
void endpoint_file_detach(struct file *file);
/* Ends everything and puts the caller's reference. May wait. */
void endpoint_close(struct peerlane_endpoint *endpoint);
/* Ends the connection; the file goes on. */
void endpoint_disconnect(struct peerlane_endpoint *endpoint);
void endpoint_get(struct peerlane_endpoint *endpoint);
void endpoint_put(struct peerlane_endpoint *endpoint);
u32 endpoint_records(struct net *net, bool all,
		     struct peerlane_endpoint_record *records, u32 room);
void endpoint_record(struct peerlane_endpoint *endpoint,
		     struct peerlane_endpoint_record *record);

/* -ENOTCONN with a text unless it is CONNECTED. */
int endpoint_connected(struct peerlane_endpoint *endpoint,
		       struct peerlane_msg *msg);

/* ---- endpoint_charge.c: what the user pays ---- */

extern const struct link_purse endpoint_purse;

int endpoint_charge(struct peerlane_endpoint *endpoint, struct peerlane_msg *msg);
/* If it was. */
void endpoint_uncharge(struct peerlane_endpoint *endpoint);

/* ---- endpoint_connect.c ---- */

/* In endpoint->link, not connected. Or ERR_PTR: no memory, or none for the user. */
struct link *endpoint_make_link(struct peerlane_endpoint *endpoint,
				struct peerlane_msg *msg);
bool endpoint_is_address(const union link_address *address, bool may_be_none);
int endpoint_connect(struct peerlane_endpoint *endpoint,
		     const struct peerlane_endpoint_address *args, bool wait,
		     struct peerlane_msg *msg);

/* ---- endpoint_listen.c ---- */

int endpoint_listen(struct peerlane_endpoint *endpoint,
		    struct peerlane_endpoint_address *args,
		    struct peerlane_msg *msg);
/* NEW again. */
void endpoint_unlisten(struct peerlane_endpoint *endpoint);
/* A child that is the caller's, or ERR_PTR. */
struct peerlane_endpoint *endpoint_accept(struct peerlane_endpoint *endpoint,
					  bool wait, struct peerlane_msg *msg);
/* Back to its lists. */
void endpoint_unaccept(struct peerlane_endpoint *endpoint,
		       struct peerlane_endpoint *child);
void endpoint_child_up(struct peerlane_endpoint *child);
void endpoint_child_down(struct peerlane_endpoint *child);
void endpoint_reap_work(struct work_struct *work);
void endpoint_close_children(struct peerlane_endpoint *endpoint);

/* ---- endpoint_slot.c ---- */

int endpoint_bind(struct peerlane_endpoint *endpoint,
		  struct peerlane_endpoint_bind *args,
		  struct peerlane_msg *msg);
/* As if it had not been bound, unless it is in use by now. */
void endpoint_unbind(struct peerlane_endpoint *endpoint, u32 index);
/* A map for the link's device. */
int endpoint_map(struct peerlane_endpoint *endpoint, u32 index,
		 struct peerlane_msg *msg);
/* endpoint->lock held. 0; -EAGAIN: endpoint_map() is needed first. */
int endpoint_slot_usable(struct peerlane_endpoint *endpoint, u32 index,
			 struct endpoint_slot **slot, struct peerlane_msg *msg);
/* The link has ended. */
void endpoint_unmap_all(struct peerlane_endpoint *endpoint);
void endpoint_unbind_all(struct peerlane_endpoint *endpoint);
int endpoint_expose(struct peerlane_endpoint *endpoint,
		    struct peerlane_endpoint_expose *args,
		    struct peerlane_msg *msg);

/* ---- endpoint_op.c ---- */

int endpoint_ops_init(struct peerlane_endpoint *endpoint);
void endpoint_ops_free(struct peerlane_endpoint *endpoint);

/* ---- endpoint_submit.c ---- */

/* @nowait: -EAGAIN if nothing could begin without a wait. */
int endpoint_submit(struct peerlane_endpoint *endpoint,
		    struct peerlane_endpoint_submit *args, bool nowait,
		    struct peerlane_msg *msg);

/* ---- endpoint_uring.c ---- */

int endpoint_uring_cmd(struct io_uring_cmd *cmd, unsigned int flags);

/* ---- endpoint_queue.c: records ---- */

/* queue_lock held. */
void endpoint_queue(struct peerlane_endpoint *endpoint,
		    struct endpoint_node *node);
/* Before a wait for records. */
void endpoint_hear(struct peerlane_endpoint *endpoint);
void endpoint_wake(struct peerlane_endpoint *endpoint, __poll_t events);
/* Bytes, 0: none, -EFAULT, or -EAGAIN: another reads, and @nowait. */
ssize_t endpoint_read_records(struct peerlane_endpoint *endpoint,
			      struct iov_iter *to, bool nowait);
ssize_t endpoint_read(struct kiocb *iocb, struct iov_iter *to);
__poll_t endpoint_poll(struct file *file, poll_table *table);
/* What the link tells. */
void endpoint_op_done(struct link_work *work);
void endpoint_op_ended(struct endpoint_op *op, int status);
void endpoint_notice(struct link *link, void *owner,
		     const struct link_notice *notice);
int endpoint_exposed(struct link *link, void *owner, struct link_grant *grant);
void endpoint_withdrawn(struct link *link, void *owner,
			struct link_grant *grant);
void endpoint_room(struct link *link, void *owner);
void endpoint_op_free(struct endpoint_op *op);
/* The file is gone: what nobody reads any more. */
void endpoint_drop_records(struct peerlane_endpoint *endpoint);

/* ---- ioctl_endpoint.c ---- */

long peerlane_endpoint_ioctl(struct file *file, unsigned int cmd,
			     unsigned long arg);
/* SUBMIT: operations begun, or -errno. */
int peerlane_endpoint_submit_call(struct file *file, void __user *user,
				  bool nowait);

#endif /* PEERLANE_ENDPOINT_H */
