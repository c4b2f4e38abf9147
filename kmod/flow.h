/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flows: private types.
 *
 * A table belongs to a network namespace and lives as long. It is made when
 * something is first observed there. Its buckets do not move: what is found in
 * one stays in it, so that a dump can go on where it was.
 *
 * Lookup is by RCU. A record is changed under its own lock; it is taken out of
 * its bucket under the bucket's lock, then marked dead under its own, then freed
 * after a grace period. Who has found a record looks at the mark after taking
 * the lock. Addresses, transport and QPN never change.
 *
 * Locks, all taken with bottom halves off, outermost first:
 *   bucket; pairs_lock -> flow -> label; event_lock
 * No two of a kind are held together. config_lock is a mutex
 * around all of these; the RTNL is outside of it.
 */
#ifndef PEERLANE_FLOW_H
#define PEERLANE_FLOW_H

#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include "flow_port.h"
#include "flow_window.h"

#define FLOW_BUCKET_LOCKS	256
#define FLOW_LABELS_MAX		4096
#define FLOW_PAIR_SLOTS		8192
#define FLOW_EVENTS_MAX		4096

/* A window of rates and thresholds. */
#define FLOW_WINDOW_MS		1000

/* Silence at its point after which a flow may be counted at another one. */
#define FLOW_MOVE_MS		1000
/* Silence after which a flow may be forgotten to make room. */
#define FLOW_EVICT_MS		1000

/* Values of flow_state.point: the first device is FLOW_AT_DEVICE. */
enum flow_at {
	FLOW_AT_NONE,
	FLOW_AT_OUT,
	FLOW_AT_IN,
	FLOW_AT_DEVICE,
};

/**
 * struct flow_key - which flow
 * @saddr: source address
 * @daddr: destination address
 * @qpn: destination QPN, and the transport in the upper 8 bits; in a record also
 *	%FLOW_KEY_V4
 */
struct flow_key {
	union roce_address saddr;
	union roce_address daddr;
	u32 qpn;
};

#define FLOW_TRANSPORT_SHIFT	24
#define FLOW_TRANSPORT_MASK	7
/* Both addresses are IPv4, so that their last words tell all. */
#define FLOW_KEY_V4		0x80000000U

static inline u32 flow_key_qpn(const struct flow_key *key)
{
	return key->qpn & ROCE_QPN_MASK;
}

static inline u32 flow_key_transport(const struct flow_key *key)
{
	return key->qpn >> FLOW_TRANSPORT_SHIFT & FLOW_TRANSPORT_MASK;
}

/**
 * struct peerlane_flow - record of one flow
 * @next: in its bucket
 * @key: which
 * @lock: of all that follows
 * @first_seen: seconds since boot
 * @last_seen: jiffies, lower 32 bits
 * @peer_qpn: where the other direction goes; enum peerlane_pairing in the upper
 *	8 bits, 0 = not known: the rest tells when it was looked for, see flow_seek.h
 * @label: number of its label, 0 = none
 * @sport: UDP source port of the last packet
 * @state: counters
 */
struct peerlane_flow {
	struct peerlane_flow __rcu *next;
	struct flow_key key;
	spinlock_t lock;
	u32 first_seen;
	u32 last_seen;
	u32 peer_qpn;
	u16 label;
	u16 sport;
	struct flow_state state;
};

/* flow_state.point of a record that is out of its bucket. */
#define FLOW_DEAD	0xff

/* What did not become part of a flow. */
enum flow_missed {
	FLOW_MISSED_FULL,
	FLOW_MISSED_MEMORY,
	FLOW_MISSED_HISTOGRAM,
	FLOW_FRAGMENTS,
	FLOW_TRUNCATED,
	FLOW_MALFORMED,
	FLOW_AGGREGATED,
	FLOW_ELSEWHERE,
	FLOW_CREATED,
	FLOW_EXPIRED,
	FLOW_EVICTED,
	FLOW_EVENTS_LOST,
	/* of flows that are gone or were reset */
	FLOW_PAST_PACKETS,
	FLOW_PAST_BYTES,
	FLOW_COUNTS,
};

struct flow_counts {
	u64 count[FLOW_COUNTS];
};

struct flow_label {
	refcount_t users;
	char text[PEERLANE_LABEL_MAX + 1];
};

struct flow_pair_slot;
struct netlink_ext_ack;

/**
 * struct flow_told - totals that readers were told, so that none goes back
 * @packets: of all flows
 * @bytes: of all flows
 */
struct flow_told {
	atomic64_t packets;
	atomic64_t bytes;
};

/**
 * struct flow_table - flows of one network namespace
 * @buckets: RCU lists
 * @mask: number of buckets - 1
 * @secret: of the hash
 * @seed: of other hashes
 * @bucket_locks: a bucket's is the one of its lower bits
 * @count: records in buckets
 * @congested: of them, how many are
 * @limits: of congestion
 * @idle_ms: silence after which a flow is forgotten
 * @window_at: tick at which the window began that a packet last came in
 * @hand: bucket at which the next search for room begins
 * @full_at: tick of the last search that failed
 * @sweep_at: bucket at which the next sweep begins
 * @sweep: forgets what is idle
 * @counts: per CPU
 * @pairs_lock: of @pairs and @ports
 * @pairs: what is known of connections without a flow yet
 * @ports: which flows have one UDP source port
 * @ports_key: of a hash of these
 * @labels: struct flow_label by number; its own lock guards them
 * @told: the largest totals so far
 * @event_lock: of the next three
 * @events: not yet sent, struct flow_event, in the order of their numbers
 * @events_waiting: how many
 * @event_sequence: of the last event
 * @event_work: sends them
 * @net: the namespace, not counted
 */
struct flow_table {
	struct peerlane_flow __rcu **buckets;
	u64 secret[3];
	u32 mask;
	u32 window_at;
	u32 seed;
	spinlock_t bucket_locks[FLOW_BUCKET_LOCKS];
	atomic_t count;
	atomic_t congested;
	struct flow_limits limits;
	u32 idle_ms;
	atomic_t hand;
	u32 full_at;
	u32 sweep_at;
	struct delayed_work sweep;
	struct flow_counts __percpu *counts;
	spinlock_t pairs_lock;
	struct flow_pair_slot *pairs;
	struct flow_ports ports;
	siphash_key_t ports_key;
	struct xarray labels;
	struct flow_told told;
	spinlock_t event_lock;
	struct list_head events;
	u32 events_waiting;
	u64 event_sequence;
	struct work_struct event_work;
	struct net *net;
};

struct flow_observer;
struct flow_local;

/**
 * struct flow_net - what a namespace has
 * @table: or NULL while nothing was observed; set once, under @config_lock
 * @config_lock: of all of it, and of what is set in the table
 * @local: the hooks of software RDMA, or NULL if it is not observed
 * @observers: devices that are observed
 */
struct flow_net {
	struct flow_table *table;
	struct mutex config_lock;
	struct flow_local *local;
	struct flow_observer *observers[PEERLANE_DEVICE_MAX];
};

/* From boot on: jiffies begin so that their lower half soon wraps. */
static inline u32 flow_window_of(u32 ticks)
{
	return (ticks - (u32)INITIAL_JIFFIES) / HZ;
}

/* ---- flow_net.c ---- */

struct flow_net *flow_net_of(struct net *net);
/* The table, or NULL. */
struct flow_table *flow_table_of(struct net *net);
/* Makes the table if there is none, or NULL. @config_lock is held. */
struct flow_table *flow_table_need(struct net *net);
int peerlane_flows_init(void);
void peerlane_flows_exit(void);

/* ---- flow_table.c ---- */

int flow_cache_init(void);
void flow_cache_exit(void);
struct flow_table *flow_table_new(struct net *net);
void flow_table_free(struct flow_table *table);
u32 flow_max_flows(void);
u32 flow_all_flows(void);

/* Makes one, or finds it made since; NULL, and counted, if there is no room. */
struct peerlane_flow *flow_make(struct flow_table *table,
				const struct flow_key *key, bool *is_new);
bool flow_remove(struct flow_table *table, struct peerlane_flow *flow,
		 enum flow_missed why);
u32 flow_idle_ms(const struct peerlane_flow *flow);
/* Flows that were counted at that point are counted nowhere. */
void flow_forget_point(struct flow_table *table, u8 at);
/* Sums of all CPUs; packets and bytes of flows past and present. */
void flow_totals(struct flow_table *table, struct flow_counts *sum,
		 u64 *packets, u64 *bytes);

static inline void flow_count(struct flow_table *table, enum flow_missed what,
			      u64 by)
{
	this_cpu_add(table->counts->count[what], by);
}

/* ---- flow_histogram.c ---- */

struct flow_rtt *flow_histogram_new(void);
void flow_histogram_free(struct flow_rtt *rtt);
u32 flow_histograms(void);
u32 flow_max_histograms(void);

/* ---- flow_packet.c ---- */

/* A packet, seen at @at (enum flow_at). RCU read lock held, any context. */
void flow_see(struct flow_table *table, const struct roce_packet *packet,
	      u8 at);
/* Closes the windows that have ended since the last packet. Lock is held. */
enum flow_change flow_close_windows(struct flow_table *table,
				    struct peerlane_flow *flow, u32 *share);
struct flow_clock flow_clock_now(void);
u32 flow_windows_since(u32 then);
/*
 * What was sent to @qpn of @saddr is acknowledged to @daddr, up to @psn. @qpn has
 * the transport in its upper 8 bits. Bottom halves are off.
 */
void flow_acknowledge(struct flow_table *table, __be32 saddr, __be32 daddr,
		      u32 qpn, u32 psn);

/* ---- flow_skb.c ---- */

/* The IP header is @offset bytes into the data. The rest as flow_see(). */
void flow_see_skb(struct flow_table *table, const struct sk_buff *skb,
		  u32 offset, u8 at);

/* ---- flow_pair.c ---- */

int flow_pairs_init(struct flow_table *table, u32 buckets);
void flow_pairs_exit(struct flow_table *table);
/* A new flow: what is known of its other direction. RCU is held. */
void flow_pair_new(struct flow_table *table, struct peerlane_flow *flow);
/* The management message @message, as far as @length bytes of it are there. */
void flow_pair_message(struct flow_table *table,
		       const struct roce_packet *packet, const u8 *message,
		       u32 length);
/* Both directions, as far as they have flows. */
void flow_pair_set(struct flow_table *table, struct peerlane_flow *flow,
		   u32 qpn, enum peerlane_pairing how);
void flow_pair_clear(struct flow_table *table, struct peerlane_flow *flow);
/* The same if it was only guessed; it may be guessed again at once, or later. */
void flow_pair_part(struct flow_table *table, struct peerlane_flow *flow);
void flow_pair_doubt(struct flow_table *table, struct peerlane_flow *flow);
/* The key of the other direction; false if it is not known. */
bool flow_reverse_key(const struct flow_key *key, u32 peer_qpn,
		      struct flow_key *reverse);

/* Whether that peer_qpn names one. */
static inline bool flow_is_paired(u32 peer_qpn)
{
	return peer_qpn > ROCE_QPN_MASK;
}

/* ---- flow_seek.c ---- */

/*
 * A flow that is not paired has a packet, which is an answer to the request @psn
 * or is a request itself. Not each one is looked at. RCU is held, and no lock.
 */
void flow_seek(struct flow_table *table, struct peerlane_flow *flow, u16 sport,
	       bool is_answer, u32 psn);

/* ---- flow_label.c ---- */

/* Number of the label with one more user; 0 for "", or a negative errno. */
int flow_label_get(struct flow_table *table, const char *text);
/* One more user of a label that has one. False if it cannot have more. */
bool flow_label_hold(struct flow_table *table, u16 label);
void flow_label_put(struct flow_table *table, u16 label);
/* Its text, or "". */
void flow_label_text(struct flow_table *table, u16 label,
		     char text[PEERLANE_LABEL_MAX + 1]);
void flow_labels_free(struct flow_table *table);

/* ---- flow_snapshot.c ---- */

/**
 * struct flow_snapshot - a flow at one time, and the other direction a little
 * earlier or later
 * @key: which
 * @state: counters; its pointer to the histogram is NULL
 * @first_seen: as in the record
 * @last_seen: as in the record
 * @peer_qpn: as in the record
 * @sport: as in the record
 * @has_rtt: there is a round trip
 * @has_reverse: the other direction is known and seen
 * @ifindex: of the device, or 0
 * @label: or ""
 * @reverse: the other direction, if has_reverse
 * @rtt: copy of the histogram, if has_rtt
 */
struct flow_snapshot {
	struct flow_key key;
	struct flow_state state;
	u32 first_seen;
	u32 last_seen;
	u32 peer_qpn;
	u16 sport;
	bool has_rtt;
	bool has_reverse;
	u32 ifindex;
	char label[PEERLANE_LABEL_MAX + 1];
	struct flow_state reverse;
	struct flow_rtt rtt;
};

/* RCU is held. False if the flow is gone. */
bool flow_snapshot_take(struct flow_table *table, struct peerlane_flow *flow,
			bool reset, struct flow_snapshot *snapshot);
/* Bytes and packets a second, as of now. */
void flow_snapshot_rates(const struct flow_snapshot *snapshot, u64 *bytes,
			 u64 *packets);

/* ---- flow_event.c ---- */

void flow_events_init(struct flow_table *table);
void flow_events_exit(struct flow_table *table);
void flow_event_add(struct flow_table *table, enum flow_change change,
		    u32 share, const struct flow_key *key);

/* ---- flow_observe.c ---- */

int flow_observe_init(void);
void flow_observe_exit(void);
int flow_observe_local(struct net *net, bool on,
		       struct netlink_ext_ack *extack);
int flow_observe_device(struct net *net, u32 ifindex, bool on,
			struct netlink_ext_ack *extack);
bool flow_observes_local(struct net *net);
/* Interface of a point (enum flow_at), 0 if it is none or gone. */
u32 flow_observer_ifindex(struct net *net, u8 at);
void flow_observe_end(struct net *net);

/* ---- netlink*.c ---- */

int peerlane_netlink_init(void);
void peerlane_netlink_exit(void);

#endif /* PEERLANE_FLOW_H */
