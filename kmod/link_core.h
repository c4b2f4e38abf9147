/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A link from inside.
 *
 * Locks, outermost first
 * ----------------------
 *   listener->lock -> link->mutex: connecting; the CM's handler lock is outside
 *   link->poll_lock -> link->mutex
 *   link->poll_lock -> (the owner's) -> lane->lock -> link->lock
 *   links_lock, link->state_lock: leaves; the latter is taken in interrupts
 * poll_lock is a mutex: completions are looked at in process context, one after
 * another. link->lock and lane->lock are spinlocks that are never taken in
 * interrupts. The work of the end takes no lock while it waits for the device.
 */
#ifndef PEERLANE_LINK_CORE_H
#define PEERLANE_LINK_CORE_H

#include <linux/completion.h>
#include <linux/hashtable.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "link.h"
#include "link_lane.h"
#include "peerlane.h"

#define LINK_BATCH		16	/* requests handed over at once */
#define LINK_SQ_RESERVE		8	/* requests that operations leave free */
#define LINK_WINDOW		(4U << 20)	/* bytes at the device, a lane */
#define LINK_REQUEST_MAX	(1U << 30)	/* bytes of one request */
/*
 * Messages on the first lane, all but NOTIFY and FLUSH, that the peer may not
 * have dealt with. The last ones are for CREDITs which say that much was dealt
 * with here, so that two who wait for each other's word both get it.
 */
#define LINK_CONTROL_CREDITS	32
#define LINK_CONTROL_RESERVE	3
#define LINK_CONTROL_TELL	(LINK_CONTROL_CREDITS / 2)
#define LINK_KEY_PAGES		512
#define LINK_SINKS		16	/* reads at once by iWARP, a lane */
#define LINK_POOL_ROOM		8	/* memory regions kept, of a size */
#define LINK_REASON		PEERLANE_REASON_LEN

enum link_urgent {
	LINK_SEND_ANSWER,	/* CREDIT, as the peer may run out of it */
	LINK_SEND_CREDIT,
	LINK_SEND_PING,
	LINK_SEND_PONG,
};

/* Invalid memory regions of verbs, for the next exposures. */
struct link_pool {
	struct ib_mr *at[LINK_KEY_SIZES][LINK_POOL_ROOM];
	u32 count[LINK_KEY_SIZES];
};

struct link {
	/* immutable */
	struct kref ref;
	struct net *net;
	struct link_settings settings;
	const struct link_owner_ops *ops;
	void *owner;

	struct mutex mutex;
	/* protected by mutex */
	u64 id;			/* the same on both sides */
	bool is_active;
	u32 lane_count;		/* READ_ONCE outside */
	u32 established;
	struct link_lane *lanes[LINK_LANES_MAX];
	u64 charged;		/* bytes, to settings.uid */
	struct list_head listener_node;	/* listener->lock */
	/* and lock: either will do to read them */
	union link_address local;
	union link_address peer;
	char device[PEERLANE_RDMA_NAME_LEN];	/* of dev, or empty */

	/* set with the first lane, gone with the last */
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_cq *cqs[LINK_LANES_MAX];
	u32 cq_count;		/* 0 with poll_lock held: they are going */
	u32 cq_lanes;		/* that share one */
	u32 sq_size;		/* of a lane; a power of two */
	u32 rq_size;
	u32 key_pages;		/* of one memory key */
	bool is_iwarp;
	bool repeats_keys;	/* of requests sent again; see link_keys_pump() */
	struct list_head node;	/* links_lock */

	struct mutex dev_lock;		/* the owner has the device */
	struct mutex keys_lock;		/* memory keys are made or freed */
	struct link_pool pool;		/* keys_lock */

	struct mutex poll_lock;	/* completions */
	struct link_message in;	/* poll_lock */
	struct work_struct poll_work;
	struct delayed_work listen_work;
	atomic_t spinners;
	wait_queue_head_t dozers;	/* who are spinners, too */
	bool stirred;		/* completions since they looked */
	bool deaf;		/* after one: completions make no interrupts */
	bool sweep;

	unsigned long untold;	/* lanes: LEFT is to be sent; bits, atomic */
	u8 told_by[LINK_LANES_MAX];	/* lane that did, and 1; that lane's lock */

	bool told_up;		/* to the owner */
	wait_queue_head_t not_connecting;	/* any more, and it was told */
	spinlock_t state_lock;
	/* protected by state_lock */
	enum link_state state;	/* READ_ONCE outside */
	bool was_up;		/* does not change once it is DYING */
	int status;
	int others;
	char reason[LINK_REASON];

	spinlock_t lock;
	/* protected by lock */
	struct link_credit notify;
	struct link_credit control;
	struct link_credit exposures;
	bool hungry;		/* the peer waits for NOTIFY credit */
	u32 notify_read;	/* by our user, ever */
	u32 notify_told;
	u32 control_done;	/* the peer's messages dealt with */
	u32 control_told;
	u32 lanes_up;		/* once UP */
	unsigned long live;	/* lanes that are not left; READ_ONCE outside */
	u32 leaving;		/* lanes, not left yet; READ_ONCE outside */
	u32 grants_forgotten;
	u32 grants_told;
	u32 granted;
	u32 grant_chunks;
	struct list_head keys;
	u32 key_count;		/* memory keys of all */
	u32 key_limit;		/* ours, and what the peer keeps */
	u32 exposed;
	DECLARE_HASHTABLE(grants, 6);

	/* of the first that is live; changes with its lock held: link_control() */
	struct link_lane *control_lane;
	unsigned long urgent;		/* enum link_urgent; bits, atomic */
	/* its lock */
	struct list_head key_work;	/* link_key with something to do */

	unsigned long born;		/* jiffies */
	unsigned long heard;		/* jiffies; READ_ONCE */
	unsigned long alive_at;		/* jiffies: also of its device; READ_ONCE */
	unsigned long ping_at;		/* jiffies, lease work and poll */
	bool ping_out;
	struct delayed_work lease;
	struct delayed_work tell;
	struct work_struct end;
	struct work_struct leave;
	struct completion settled;
	struct completion ended;
	struct completion dead;
};

/*
 * Lanes of endpoints have operations that cannot be done again. A queue pair of
 * iWARP that is to be in error aborts its TCP connection, which the peer takes
 * for the end before it can be told.
 */
static inline bool link_fails_over(const struct link *link)
{
	return !link->is_iwarp &&
	       link->settings.service == LINK_SERVICE_GROUP &&
	       link->lane_count > 1;
}

/* Messages that are no lane's own, and keys, go by it. NULL: no lane yet */
static inline struct link_lane *link_control(const struct link *link)
{
	/* Pairs with the release in link_leave.c: what its lock protected. */
	return smp_load_acquire(&link->control_lane);
}

/* Entries of a completion queue: two more for the drains. */
static inline u32 link_lane_completions(const struct link *link)
{
	return link->sq_size + link->rq_size + 4;
}

static inline struct ib_cq *link_lane_cq(const struct link *link, u32 lane)
{
	return link->cqs[lane / link->cq_lanes];
}

extern struct workqueue_struct *link_poll_queue;
extern struct workqueue_struct *link_life_queue;

/* Of all links: for tests. */
struct link_totals {
	atomic_t links;		/* on a device */
	atomic_t lanes;		/* queue pairs */
	atomic_t keys;		/* memory regions of verbs, of exposures */
	atomic_t pooled;	/* of them, not in use */
};

extern struct link_totals link_totals;

/* ---- link.c ---- */

static inline bool link_alive(const struct link *link)
{
	return READ_ONCE(link->state) <= LINK_UP;
}

/* The device, or the peer's leaving, has had something of it for so long. */
bool link_lane_is_stuck(struct link_lane *lane, unsigned long limit);
/* link->mutex held, all lanes established. */
void link_set_up(struct link *link);
/* link->mutex held. */
void link_set_addresses(struct link *link, const union link_address *local,
			const union link_address *peer);

/* ---- link_device.c ---- */

int link_device_init(void);
void link_device_exit(void);
/* PD and CQs on @dev. link->mutex held. */
int link_device_open(struct link *link, struct ib_device *dev,
		     struct peerlane_msg *msg);
/* No lane is left. */
void link_device_close(struct link *link);

/* Entries of a lane's queues, if the device has as many. */
u32 link_sends_wanted(const struct link_settings *settings);
u32 link_receives_wanted(const struct link_settings *settings);

/* ---- link_cost.c ---- */

/* Of a driver, for a memory region of so many pages; the larger of those seen. */
static inline u64 link_mr_cost(u32 pages)
{
	return 512 + pages * 24ULL;
}

/* Bytes of kernel memory at most, beside memory keys. */
u64 link_cost(const struct link_settings *settings);
/* The device and the number of lanes are known. link->mutex held. */
void link_charge_less(struct link *link);
/* Nothing is left of it. */
void link_charge_end(struct link *link);

/* ---- link_choose.c ---- */

int link_choose_add(struct ib_device *dev);
void link_choose_remove(struct ib_device *dev);

/* ---- link_qp.c ---- */

/* A lane without a queue pair; link->mutex held. */
struct link_lane *link_lane_new(struct link *link, u32 index);
/* Queue pair and receives, for lane->id. link->mutex held. */
int link_lane_open(struct link_lane *lane, struct peerlane_msg *msg);
/* No posts after it; queue pair in ERR. */
void link_lane_stop(struct link_lane *lane);
/* Stopped: wait until the device has given everything back. */
void link_lane_drain(struct link_lane *lane);
/* Drained. */
void link_lane_free_qp(struct link_lane *lane);
void link_lane_free(struct link_lane *lane);
/* link->mutex held. Also when it is told again. */
void link_lane_established(struct link_lane *lane);
/* A message came: the peer's lanes are all established. */
void link_all_established(struct link *link);
void link_conn_param(struct link *link, struct rdma_conn_param *param);
int link_lane_post_receive(struct link_lane *lane, u32 index);

/* ---- link_lane.c ---- */

/* lane->lock held for all. */
static inline u32 link_lane_room(const struct link_lane *lane)
{
	return lane->link->sq_size - (lane->head - lane->tail);
}

/* The next request of the chain, zeroed; there is room for it. */
struct link_wr *link_lane_next(struct link_lane *lane);
/* Its number; @signal: with a completion. Accounts it. */
u32 link_lane_add(struct link_lane *lane, struct link_wr *wr, u64 bytes,
		  bool signal);
/* Hand over what is in the chain. */
void link_lane_flush(struct link_lane *lane);
/* A message as the next request; the head is filled in. */
u32 link_lane_send(struct link_lane *lane, struct link_message *message);

void link_lane_pump(struct link_lane *lane);
/* Takes lane->lock. */
void link_lane_kick(struct link_lane *lane);
/* All that is left ends. poll_lock held, the lane is drained. */
void link_lane_abort(struct link_lane *lane, int status);

/* ---- link_leave.c: a lane that fails ---- */

void link_leave_work(struct work_struct *work);
/*
 * Any process context. True: its operations are going to be done by others.
 * False: there are none, and the caller has to end the link. @cause: enum
 * peerlane_lane_cause, of the first call
 */
bool link_lane_leave(struct link_lane *lane, u32 cause);
/* Those that move nothing for long while others do. */
void link_leave_stuck(struct link *link, unsigned long limit);
/* LEFT came. 0, or the link dies of it. */
int link_left_in(struct link_lane *lane, const struct link_message *message);
/* LEFT to be sent. The control lane's lock held. */
void link_left_pump(struct link_lane *lane);

/* ---- link_steer.c: which lane ---- */

/* A request that was last of its chain is back. poll_lock held. */
void link_steer_sample(struct link_lane *lane, const struct link_request *request);

/* ---- link_op.c ---- */

/* To another lane, from its beginning. */
void link_op_again(struct link *link, struct link_work *work);
/* Among the first @owners messages that were posted by its lane? */
bool link_op_is_of(struct link_work *work, u32 owners);

/* Post as much of the lane's operations as there is room for. Lock held. */
void link_ops_pump(struct link_lane *lane);

/* The peer's memory of the next request. */
void link_op_remote(struct link_wr *wr, const struct link_op *op);

/* ---- link_sink.c: iWARP only ---- */

/* As many reads at once as both sides' values allow. link->mutex held. */
void link_sinks_limit(struct link_lane *lane, const struct rdma_conn_param *param);
/* Bytes of kernel memory, at most, for those of one lane. */
u64 link_sinks_cost(void);
int link_sinks_init(struct link_lane *lane);
void link_sinks_free(struct link_lane *lane);
/* Post a read; returns its bytes, 0: not now. Lock held. */
u64 link_sink_read(struct link_lane *lane, struct link_op *op, u64 length);

/* ---- link_flush.c ---- */

/* True: its last request is posted. Lock held. */
bool link_flush_post(struct link_lane *lane, struct link_op *op);
/* Answers to the peer. Lock held. */
void link_answers_pump(struct link_lane *lane);
int link_flush_in(struct link_lane *lane, const struct link_message *message);

/* ---- link_poll.c ---- */

/* Lock held for these three; what is done is to be called without it. */
void link_sweep_later(struct link_lane *lane);
/* The requests until @number are, but for reads by iWARP. */
void link_lane_back(struct link_lane *lane, u32 number, u64 bytes,
		    struct list_head *done);
/* One of the answers that it waits for came. */
void link_work_told(struct link_lane *lane, struct link_work *work,
		    struct list_head *done);
void link_call_done(struct list_head *done);
/* @work: that the request is of; NULL: is to be found. */
void link_request_failed(struct link_lane *lane, struct link_work *work,
			 u32 number, enum ib_wc_status status);

void link_cq_event(struct ib_cq *cq, void *context);
void link_poll_work(struct work_struct *work);
void link_listen_work(struct work_struct *work);
void link_send_done(struct ib_cq *cq, struct ib_wc *wc);
void link_receive_done(struct ib_cq *cq, struct ib_wc *wc);

/* ---- link_message.c ---- */

/* Urgent messages of the control lane, whose lock is held. */
void link_messages_pump(struct link_lane *lane);
void link_urge(struct link *link, enum link_urgent what);
void link_tell_work(struct work_struct *work);
/* poll_lock held. 0, or the link dies of it. */
int link_message_in(struct link_lane *lane, const struct link_message *message);

/* ---- link_key.c ---- */

/* The control lane's lock held. lane->draining: only link_keys_pump() may go on. */
void link_keys_register(struct link_lane *lane);
void link_keys_pump(struct link_lane *lane);
/* Queue pairs are drained. */
void link_keys_abort(struct link *link);
/* One that the peer can reach, with a reference; NULL: none. */
struct link_key *link_key_use(struct link *link, u64 token);
void link_key_unuse(struct link_key *key);
/* An entry for one byte of it; false: there is none. */
bool link_key_sge(const struct link_key *key, struct ib_sge *sge);
/* May a message of the control lane go out? Takes the credit. */
bool link_take_control(struct link *link, u32 reserve);

/* ---- link_pool.c ---- */

/* Bytes of kernel memory, at most, for what one keeps. */
u64 link_pool_cost(void);
/* keys_lock held for all below. @size: see link_key_size(). Or ERR_PTR. */
struct ib_mr *link_pool_get(struct link *link, u32 size);
/* @invalid: known to be, or never was valid. */
void link_pool_put(struct link *link, struct ib_mr *mr, u32 size, bool invalid);
void link_pool_drain(struct link *link);

/* ---- link_label.c ---- */

void link_label_flows(struct link *link);

/* ---- link_grant.c ---- */

int link_grant_in(struct link *link, const struct link_message *message);
int link_grant_out(struct link *link, u64 token);
void link_grants_free(struct link *link);

#endif /* PEERLANE_LINK_CORE_H */
