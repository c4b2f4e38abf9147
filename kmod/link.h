/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A link: a reliable connection to the kernel of another node over one RDMA
 * device, of one queue pair (lane) or several. It moves memory and small
 * messages, and knows nothing of who uses it: the owner gives callbacks.
 *
 * Life
 * ----
 *   CONNECTING -> UP -> DYING -> DEAD, or CONNECTING -> DYING -> DEAD
 * link_kill() begins the end, from any context, once. The work of the end then
 * moves all queue pairs to ERR, waits until the device has given back every
 * request (so that nobody reads or writes memory on behalf of one), ends the
 * keys, completes what was outstanding, tells the owner (->down) and frees what
 * belongs to the device. One that never was UP has nothing of that but the
 * last: its owner is told at once, and the rest goes on behind his back, as the
 * CM may take long (siw connects within it, for as long as TCP tries).
 *
 * Callbacks
 * ---------
 * One after another for a link, in process context, with link->poll_lock held
 * except ->down and ->gone. After ->down there is only ->gone. They may take
 * locks but not wait for anything of the link.
 */
#ifndef PEERLANE_LINK_H
#define PEERLANE_LINK_H

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/list.h>
#include <linux/peerlane.h>
#include <linux/socket.h>
#include <linux/uidgid.h>

#include <uapi/peerlane.h>

#include "link_math.h"
#include "link_wire.h"

struct ib_device;
struct link;
struct link_key;
struct link_listener;
struct link_map;
struct net;
struct peerlane_countable;
struct peerlane_msg;
struct peerlane_region;

enum link_state {
	LINK_CONNECTING,
	LINK_UP,
	LINK_DYING,
	LINK_DEAD,
};

/* A socket address of ours or the peer's. */
union link_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* What of a user's links are counted as: a text of charge.c, and its limit. */
struct link_purse {
	const struct peerlane_countable *bytes;
	const unsigned long long *limit;	/* a module parameter; 0: none */
};

struct link_settings {
	kuid_t uid;		/* who pays for links and memory keys */
	const struct link_purse *purse;
	u8 secret[LINK_SECRET_SIZE];
	u32 lanes;
	u32 depth;		/* operations that the owner has at once */
	u32 notify;		/* NOTIFYs that may be unread here */
	u32 grants;		/* exposures of the peer's kept here */
	u32 keys;		/* memory keys for exposures */
	u32 timeout_ms;
	u8 service;		/* enum link_service: the peer's is the same */
	char device[PEERLANE_RDMA_NAME_LEN];	/* or empty */
	char label[PEERLANE_ENDPOINT_LABEL_LEN];
};

/**
 * struct link_work - something that is done when its last request is
 * @node: in a lane
 * @end: its last request's number
 * @waits: answers of the peer's that are still to come
 * @back: all of its requests are
 * @status: 0 or a negative errno
 * @done: called once, as a callback of the link
 */
struct link_work {
	struct list_head node;
	u32 end;
	u32 waits;
	bool back;
	int status;
	void (*done)(struct link_work *work);
};

/**
 * struct link_grant - an exposure of the peer's, to us
 * @node: in the hash of the link
 * @ref: references
 * @token: its name
 * @value: for the owner
 * @rights: PEERLANE_RIGHT_*
 * @geometry: of the keys
 * @chunks: how many keys
 * @known: how many were told
 * @withdrawn: it is not to be used any more
 * @touched: lanes that have written since their last flush
 * @last: a byte that was written
 * @owner: the owner's
 * @rcu: to free it
 * @chunk_at: the keys
 */
struct link_grant {
	struct hlist_node node;
	struct kref ref;
	u64 token;
	u64 value;
	u32 rights;
	struct link_geometry geometry;
	u32 chunks;
	u32 known;
	bool withdrawn;
	unsigned long touched;
	u64 last;
	struct link *link;
	void *owner;
	struct rcu_head rcu;
	struct link_chunk chunk_at[];
};

/* link_op: nothing but an OWNER message */
#define LINK_OP_MESSAGE		128

/**
 * struct link_op - one operation
 * @work: for @done of the owner
 * @code: enum peerlane_op_code or LINK_OP_MESSAGE
 * @notify: PUT: a NOTIFY follows
 * @message_length: PUT: an OWNER message follows; MESSAGE
 * @quiet: nobody waits for this one: fewer interrupts
 * @lane: by which it goes
 * @map: PUT, GET: local memory
 * @local: first byte in it
 * @grant: PUT, GET: the peer's memory
 * @remote: first byte in it
 * @length: bytes
 * @value: of the NOTIFY
 * @message: its payload, which stays until it is done
 * @posted: bytes whose request is with the device
 * @number: of its OWNER message among its lane's
 */
struct link_op {
	struct link_work work;
	u8 code;
	bool notify;
	bool quiet;
	bool began;
	u8 lane;
	u8 message_length;
	struct link_map *map;
	u64 local;
	struct link_grant *grant;
	u64 remote;
	u64 length;
	u64 value;
	const void *message;
	u64 posted;
	u32 number;
	u32 begin;
	u32 cursor;
};

struct link_notice {
	u64 token;
	u64 length;
	u64 value;
	u32 lane;
};

struct link_owner_ops {
	void (*up)(struct link *link, void *owner);
	void (*notice)(struct link *link, void *owner,
		       const struct link_notice *notice);
	/* @grant has a reference for the owner; 0, or the link dies of it */
	int (*exposed)(struct link *link, void *owner, struct link_grant *grant);
	void (*withdrawn)(struct link *link, void *owner,
			  struct link_grant *grant);
	/*
	 * An OWNER message; NULL, as ->notice may be: there are none. False: it
	 * makes no sense, and the link dies of it. Its credit is given back.
	 */
	bool (*message)(struct link *link, void *owner, u32 lane,
			const void *data, u32 length);
	/* Credit came back: there may be room for more. */
	void (*room)(struct link *link, void *owner);
	/* A lane was left, and others have its operations. Or NULL */
	void (*lane_left)(struct link *link, void *owner, u32 lane);
	/* All are completed, and nobody reaches memory through the link. */
	void (*down)(struct link *link, void *owner);
	/* Nothing of it is left: the owner need not live on for it. Or NULL. */
	void (*gone)(struct link *link, void *owner);
};

/* ---- link.c: life ---- */

int link_init(void);
void link_exit(void);
/*
 * Not connected; one reference, or ERR_PTR. It takes over the charge for one
 * link, which the caller has to have: see link_charge().
 */
struct link *link_new(struct net *net, const struct link_settings *settings,
		      const struct link_owner_ops *ops, void *owner,
		      struct peerlane_msg *msg);
void link_get(struct link *link);
void link_put(struct link *link);
/*
 * Any context. @status is what the link died of, @others that of operations
 * which did not fail themselves. Only the first call counts.
 */
__printf(4, 5)
void link_kill(struct link *link, int status, int others, const char *fmt, ...);
/* Sleeps until the owner was told; of one that was UP, until it is DEAD. */
void link_wait_ended(struct link *link);
/* Sleeps until it is DEAD, after ->gone: for as long as the CM takes. */
void link_wait_dead(struct link *link);
/* Sleeps until nothing reaches memory through it. */
void link_wait_settled(struct link *link);
/*
 * The device, which does not go before the put. NULL, and no put: the link ends
 * or has none yet. May sleep.
 */
struct ib_device *link_device_get(struct link *link);
void link_device_put(struct link *link);
enum link_state link_state(const struct link *link);
/* What it died of; the text is valid from then on. */
int link_status(const struct link *link);
const char *link_reason(const struct link *link);

struct link_info {
	u32 lanes;
	u32 exposed;
	u32 granted;
	u32 keys;
	union link_address local;
	union link_address peer;
	char device[PEERLANE_RDMA_NAME_LEN];
};

struct link_lane_info {
	u32 state;		/* enum peerlane_lane_state */
	u32 qpn;
	u64 messages;		/* of the owner's, posted */
	u64 bytes;
	u64 replayed;
	u64 delay_ns;
	u64 left_ns;		/* since boot; 0: live */
	u32 cause;		/* enum peerlane_lane_cause; 0: live */
	u32 peer_qpn;		/* 0: not known yet */
};

/* False: there is no such lane, or the link never was up. Waits for nobody. */
bool link_lane_info(struct link *link, u32 index, struct link_lane_info *info);
/* Waits for nobody. */
void link_info(struct link *link, struct link_info *info);
u32 link_lanes(const struct link *link);

/* ---- link_device.c: all links in numbers, for tests ---- */

struct peerlane_link_counts {
	u32 links;
	u32 lanes;
	u32 keys;
	u32 pooled;			/* of keys */
};

void peerlane_link_counts(struct peerlane_link_counts *counts);

/* ---- link_cost.c ---- */

/*
 * Links are paid for from birth until nothing is left of them, which may be long
 * after their owner let go: so each has its own charge, of what its settings
 * allow. 0, -EDQUOT or -ENOMEM with a text.
 */
int link_charge(const struct link_settings *settings, u32 count,
		struct peerlane_msg *msg);
/* For those that were not made. */
void link_uncharge(const struct link_settings *settings, u32 count);

/* ---- link_bind.c: regions in slots ---- */

/* The file of region_fd, of which the caller has a reference; or ERR_PTR of BIND. */
struct file *link_bind_file(const struct peerlane_endpoint_bind *args,
			    struct peerlane_msg *msg);
/* Fills in @out_length. 0, or an error of BIND with its text. May sleep. */
int link_bind_part(struct peerlane_region *region,
		   struct peerlane_endpoint_bind *args, struct peerlane_msg *msg);

/* ---- link_choose.c: which RDMA device ---- */

/*
 * Fills in @source, if it is none yet: an address of the device @name, unless
 * it is empty, or of the one nearest to @near, unless it is NULL. May sleep.
 */
void link_choose_source(struct net *net, const char *name,
			struct peerlane_region *near,
			const union link_address *to, union link_address *source);
/* enum peerlane_path; in ->up only. */
u32 link_path_to(struct link *link, struct peerlane_region *region);

/* ---- link_connect.c, link_listen.c ---- */

/* Begins; ->up or ->down tells the end. */
int link_connect(struct link *link, const union link_address *source,
		 const union link_address *to, struct peerlane_msg *msg);

/*
 * A connection comes in. Returns a link of link_new() whose owner is told of
 * everything, with a reference for the caller, or NULL and @refusal.
 */
struct link_listener_ops {
	struct link *(*incoming)(void *owner, u32 *refusal);
	/* Its device is gone: nothing comes in any more. */
	void (*down)(void *owner);
};

/* @address gets the port that was taken. */
struct link_listener *link_listen(struct net *net, union link_address *address,
				  const struct link_settings *settings,
				  int backlog,
				  const struct link_listener_ops *ops,
				  void *owner, struct peerlane_msg *msg);
/* No callback after it. The links that came in live on. */
void link_listener_free(struct link_listener *listener);

/* ---- link_lane.c, link_op.c, link_steer.c: operations ---- */

/* The live lane that is soonest done with another operation. */
u32 link_pick_lane(const struct link *link);
/*
 * Takes over @op, zeroed but for what is the caller's, until its ->done, which
 * has to call link_op_end(). link_push() of each lane used has to follow. Another
 * lane gets it if that one is left. False: the link has ended.
 */
bool link_submit(struct link *link, struct link_op *op);
void link_op_end(struct link *link, const struct link_op *op);
void link_push(struct link *link, unsigned long lanes);
/* One NOTIFY or OWNER to be sent; false: the peer has no room. */
bool link_take_notify_credit(struct link *link);
void link_give_back_notify_credit(struct link *link);
/* The owner's user has read @count of them. */
void link_notices_read(struct link *link, u32 count);
/* Look for completions now; false: another does. */
bool link_poll_now(struct link *link);
void link_spin_begin(struct link *link);
void link_spin_end(struct link *link);
/*
 * Who waits for records may be woken by completions, and look at them himself, so
 * that no worker has to run in between. @entry is his own. He sleeps only if
 * link_is_stirred() is false once his state is set; if not, he has to link_look().
 */
void link_doze_begin(struct link *link, struct wait_queue_entry *entry);
bool link_is_stirred(const struct link *link);
void link_look(struct link *link);
void link_doze_end(struct link *link, struct wait_queue_entry *entry);
/* Before the caller sleeps: somebody has to look for completions. */
void link_hear(struct link *link);

/* ---- link_key.c: exposures of ours ---- */

/* The map and its region stay until ->ended, after which nobody reaches it. */
struct link_exposure {
	struct link_map *map;
	u64 offset;
	u64 length;
	u64 value;
	u32 rights;
	u32 slot;			/* the owner's */
};

int link_expose(struct link *link, const struct link_exposure *exposure,
		u64 *token, struct peerlane_msg *msg);
/* Sleeps until the keys are invalid. -ENOKEY: there is none. */
int link_withdraw(struct link *link, u64 token, struct peerlane_msg *msg);
/* The same, but ends the link if it takes longer than the link's timeout. */
void link_withdraw_in_time(struct link *link, u64 token);
/*
 * The same for all with that slot, soon: ends the link if it does not go
 * otherwise.
 */
void link_withdraw_slot(struct link *link, u32 slot);
bool link_slot_exposed(struct link *link, u32 slot);

/* ---- link_grant.c: exposures of the peer's ---- */

/* With a reference; NULL: unknown. */
struct link_grant *link_grant_find(struct link *link, u64 token);
void link_grant_put(struct link_grant *grant);
/* The owner's user knows that it is withdrawn. */
void link_grant_forget(struct link *link, struct link_grant *grant);

#endif /* PEERLANE_LINK_H */
