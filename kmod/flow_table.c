// SPDX-License-Identifier: GPL-2.0
/* The records of flows: made, found room for, swept, freed. */
#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/ktime.h>

#include "compat.h"
#include "flow.h"
#include "flow_find.h"

/* How far a search for room goes, so that a packet's cost stays bounded. */
#define ROOM_BUCKETS	1024
#define ROOM_FLOWS	128
#define ROOM_TRIES	2
/*
 * A bucket takes that many, and a few times its share where there are more
 * flows than buckets. By chance none comes near it.
 */
#define CHAIN_MAX	64
#define CHAIN_SHARES	4
/* Walks for totals, until none was disturbed. */
#define TOTAL_TRIES	3
/* A larger table is swept in parts. */
#define SWEEP_ALL	65536
#define SWEEP_PARTS	16

static unsigned int max_flows = 262144;
module_param(max_flows, uint, 0644);
MODULE_PARM_DESC(max_flows,
		 "Most RDMA flows counted, in all network namespaces together, 256 bytes each (default 262144)");

static struct kmem_cache *flow_cache;
static atomic_t all_flows = ATOMIC_INIT(0);

/* ---- one record ---- */

u32 flow_idle_ms(const struct peerlane_flow *flow)
{
	/* last_seen may be a little ahead: it is read without the lock. */
	s32 ticks = (s32)((u32)jiffies - READ_ONCE(flow->last_seen));

	return ticks > 0 ? jiffies_to_msecs((unsigned long)ticks) : 0;
}

static struct rcu_head *rcu_head_of(struct peerlane_flow *flow)
{
	BUILD_BUG_ON(sizeof(flow->state.room) < sizeof(struct rcu_head));
	return (struct rcu_head *)flow->state.room;
}

static void free_after_grace(struct rcu_head *head)
{
	kmem_cache_free(flow_cache,
			(void *)head - offsetof(struct peerlane_flow, state.room));
}

/* Returns whether it was congested. */
static bool release(struct flow_table *table, struct peerlane_flow *flow)
{
	struct flow_rtt *rtt;
	bool congested;
	u16 label;

	spin_lock_bh(&flow->lock);
	rtt = flow->state.rtt;
	flow->state.rtt = NULL;
	label = flow->label;
	flow->label = 0;
	congested = flow->state.congested;
	if (congested)
		atomic_dec(&table->congested);
	flow_count(table, FLOW_PAST_PACKETS, flow->state.packets);
	flow_count(table, FLOW_PAST_BYTES, flow->state.bytes);
	flow->state.point = FLOW_DEAD;
	spin_unlock_bh(&flow->lock);

	flow_histogram_free(rtt);
	flow_label_put(table, label);
	atomic_dec(&table->count);
	atomic_dec(&all_flows);
	call_rcu(rcu_head_of(flow), free_after_grace);
	return congested;
}

static spinlock_t *bucket_lock(struct flow_table *table, u32 hash)
{
	return &table->bucket_locks[hash % FLOW_BUCKET_LOCKS];
}

static bool unlink(struct flow_table *table, struct peerlane_flow *flow)
{
	u32 hash = flow_hash(table, &flow->key.saddr, &flow->key.daddr,
			     flow->key.qpn);
	spinlock_t *lock = bucket_lock(table, hash);
	struct peerlane_flow __rcu **link = &table->buckets[hash & table->mask];
	struct peerlane_flow *at;

	spin_lock_bh(lock);
	while ((at = rcu_dereference_protected(*link, lockdep_is_held(lock)))) {
		if (at == flow) {
			rcu_assign_pointer(*link,
					   rcu_dereference_protected(flow->next, lockdep_is_held(lock)));
			break;
		}
		link = &at->next;
	}
	spin_unlock_bh(lock);
	return at;
}

/* Of several who want to, one does and gets true. RCU is held. */
bool flow_remove(struct flow_table *table, struct peerlane_flow *flow,
		 enum flow_missed why)
{
	if (!unlink(table, flow))
		return false;
	flow_count(table, why, 1);
	/* There will be no calm windows to end it. */
	if (release(table, flow))
		flow_event_add(table, FLOW_CHANGE_OFF, 0, &flow->key);
	return true;
}

/* ---- room ---- */

/*
 * The flow that was silent longest, of the next ROOM_FLOWS; NULL if all are
 * busy. Where few flows are in many buckets these are what bounds it.
 */
static struct peerlane_flow *longest_idle(struct flow_table *table)
{
	u32 bucket = (u32)atomic_read(&table->hand);
	struct peerlane_flow *flow, *oldest = NULL;
	u32 i, seen = 0, idle, longest = FLOW_EVICT_MS;

	for (i = 0; i < ROOM_BUCKETS && seen < ROOM_FLOWS; i++) {
		flow = rcu_dereference(table->buckets[(bucket + i) & table->mask]);
		for (; flow && seen < ROOM_FLOWS;
		     flow = rcu_dereference(flow->next), seen++) {
			idle = flow_idle_ms(flow);
			if (idle < longest)
				continue;
			longest = idle;
			oldest = flow;
		}
	}
	atomic_add((int)i, &table->hand);
	return oldest;
}

/* A search that failed is not made again in the same tick: it costs a packet. */
static bool make_room(struct flow_table *table)
{
	struct peerlane_flow *idle;
	int tries;

	if (READ_ONCE(table->full_at) == (u32)jiffies)
		return false;
	for (tries = 0; tries < ROOM_TRIES; tries++) {
		idle = longest_idle(table);
		if (!idle)
			break;
		/* The room of one that somebody else removes is his. */
		if (flow_remove(table, idle, FLOW_EVICTED))
			return true;
	}
	WRITE_ONCE(table->full_at, (u32)jiffies);
	return false;
}

/* Counts the new flow in, at the cost of an idle one if need be. */
static bool take_room(struct flow_table *table)
{
	if ((u32)atomic_inc_return(&all_flows) <= READ_ONCE(max_flows) ||
	    make_room(table))
		return true;
	atomic_dec(&all_flows);
	return false;
}

static struct peerlane_flow *new_flow(const struct flow_key *key)
{
	struct peerlane_flow *flow;

	flow = kmem_cache_zalloc(flow_cache, GFP_ATOMIC | __GFP_NOWARN);
	if (!flow)
		return NULL;
	flow->key = *key;
	if (flow_is_v4(&key->saddr) && flow_is_v4(&key->daddr))
		flow->key.qpn |= FLOW_KEY_V4;
	spin_lock_init(&flow->lock);
	flow->first_seen = (u32)ktime_get_boottime_seconds();
	flow->last_seen = (u32)jiffies;
	return flow;
}

/*
 * Whether somebody found out which flows meet in that bucket: each packet would
 * walk along them. Its lock is held.
 */
static bool is_crowded(struct flow_table *table, u32 bucket)
{
	u32 share = (u32)atomic_read(&table->count) / (table->mask + 1);
	u32 left = CHAIN_MAX + CHAIN_SHARES * share;
	struct peerlane_flow *flow;

	for (flow = rcu_dereference_check(table->buckets[bucket], 1);
	     flow && left; flow = rcu_dereference_check(flow->next, 1))
		left--;
	return !left;
}

struct peerlane_flow *flow_make(struct flow_table *table,
				const struct flow_key *key, bool *is_new)
{
	u32 hash = flow_hash(table, &key->saddr, &key->daddr, key->qpn);
	struct peerlane_flow __rcu **bucket = &table->buckets[hash & table->mask];
	spinlock_t *lock = bucket_lock(table, hash);
	struct peerlane_flow *flow, *made;

	*is_new = false;
	if (!take_room(table)) {
		flow_count(table, FLOW_MISSED_FULL, 1);
		return NULL;
	}
	made = new_flow(key);
	if (!made) {
		atomic_dec(&all_flows);
		flow_count(table, FLOW_MISSED_MEMORY, 1);
		return NULL;
	}
	spin_lock_bh(lock);
	flow = flow_find(table, &key->saddr, &key->daddr, key->qpn);
	if (!flow && !is_crowded(table, hash & table->mask)) {
		RCU_INIT_POINTER(made->next,
				 rcu_dereference_protected(*bucket, lockdep_is_held(lock)));
		rcu_assign_pointer(*bucket, made);
		atomic_inc(&table->count);
		*is_new = true;
	}
	spin_unlock_bh(lock);
	if (*is_new) {
		flow_count(table, FLOW_CREATED, 1);
		return made;
	}
	kmem_cache_free(flow_cache, made);
	atomic_dec(&all_flows);
	if (!flow)
		flow_count(table, FLOW_MISSED_FULL, 1);
	return flow;
}

/* ---- sweep ---- */

/* A flow that stopped while it was congested gets no packet to tell that. */
static void judge_silent(struct flow_table *table, struct peerlane_flow *flow)
{
	enum flow_change change = FLOW_CHANGE_NONE;
	u32 share = 0;

	if (!READ_ONCE(flow->state.signals) && !flow->state.congested)
		return;
	spin_lock_bh(&flow->lock);
	if (!flow_is_dead(flow))
		change = flow_close_windows(table, flow, &share);
	spin_unlock_bh(&flow->lock);
	flow_event_add(table, change, share, &flow->key);
}

static void sweep_bucket(struct flow_table *table, u32 bucket)
{
	struct peerlane_flow *flow;

	/* Most of them, where there are few flows. */
	if (!rcu_access_pointer(table->buckets[bucket]))
		return;
	rcu_read_lock();
	for (flow = rcu_dereference(table->buckets[bucket]); flow;
	     flow = rcu_dereference(flow->next)) {
		if (flow_idle_ms(flow) > READ_ONCE(table->idle_ms))
			flow_remove(table, flow, FLOW_EXPIRED);
		else
			judge_silent(table, flow);
	}
	rcu_read_unlock();
}

static void sweep(struct work_struct *work)
{
	struct flow_table *table = container_of(to_delayed_work(work),
						struct flow_table, sweep);
	u32 i, buckets = table->mask + 1;

	if (atomic_read(&table->count) > SWEEP_ALL &&
	    !atomic_read(&table->congested))
		buckets /= SWEEP_PARTS;
	for (i = 0; i < buckets; i++) {
		sweep_bucket(table, table->sweep_at);
		table->sweep_at = (table->sweep_at + 1) & table->mask;
		cond_resched();
	}
	queue_delayed_work(peerlane_unbound_wq(), &table->sweep,
			   msecs_to_jiffies(FLOW_WINDOW_MS));
}

/* ---- the table ---- */

static void set_defaults(struct flow_table *table)
{
	table->idle_ms = 600 * MSEC_PER_SEC;
	table->limits.threshold_on = 10000;
	table->limits.threshold_off = 1000;
	table->limits.calm_windows = 3;
}

struct flow_table *flow_table_new(struct net *net)
{
	u32 i, buckets = roundup_pow_of_two(clamp_t(u32, max_flows, 1024, 1 << 22));
	struct flow_table *table;

	table = kvzalloc(sizeof(*table), GFP_KERNEL);
	if (!table)
		return NULL;
	table->buckets = kvcalloc(buckets, sizeof(*table->buckets), GFP_KERNEL);
	table->counts = alloc_percpu(struct flow_counts);
	if (!table->buckets || !table->counts || flow_pairs_init(table, buckets))
		goto err;
	table->mask = buckets - 1;
	table->seed = get_random_u32();
	get_random_bytes(table->secret, sizeof(table->secret));
	for (i = 0; i < FLOW_BUCKET_LOCKS; i++)
		spin_lock_init(&table->bucket_locks[i]);
	xa_init_flags(&table->labels, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	table->net = net;
	set_defaults(table);
	flow_events_init(table);
	INIT_DELAYED_WORK(&table->sweep, sweep);
	queue_delayed_work(peerlane_unbound_wq(), &table->sweep,
			   msecs_to_jiffies(FLOW_WINDOW_MS));
	return table;

err:
	free_percpu(table->counts);
	kvfree(table->buckets);
	kvfree(table);
	return NULL;
}

static void remove_all(struct flow_table *table)
{
	struct peerlane_flow *flow;
	u32 i;

	for (i = 0; i <= table->mask; i++) {
		rcu_read_lock();
		while ((flow = rcu_dereference(table->buckets[i])))
			if (unlink(table, flow))
				release(table, flow);
		rcu_read_unlock();
		cond_resched();
	}
}

/* Nothing is seen there any more, so none that is elsewhere comes to be there. */
void flow_forget_point(struct flow_table *table, u8 at)
{
	struct peerlane_flow *flow;
	u32 i;

	for (i = 0; i <= table->mask; i++) {
		rcu_read_lock();
		for (flow = rcu_dereference(table->buckets[i]); flow;
		     flow = rcu_dereference(flow->next)) {
			if (READ_ONCE(flow->state.point) != at)
				continue;
			spin_lock_bh(&flow->lock);
			if (flow->state.point == at)
				flow_move(flow, FLOW_AT_NONE);
			spin_unlock_bh(&flow->lock);
		}
		rcu_read_unlock();
		cond_resched();
	}
}

/* Nothing is observed any more, and nobody reads. */
void flow_table_free(struct flow_table *table)
{
	cancel_delayed_work_sync(&table->sweep);
	flow_events_exit(table);
	remove_all(table);
	flow_labels_free(table);
	flow_pairs_exit(table);
	free_percpu(table->counts);
	kvfree(table->buckets);
	kvfree(table);
}

/* ---- numbers ---- */

static void sum_counts(const struct flow_table *table, struct flow_counts *sum)
{
	const struct flow_counts *counts;
	int cpu, i;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		counts = per_cpu_ptr(table->counts, cpu);
		for (i = 0; i < FLOW_COUNTS; i++)
			sum->count[i] += READ_ONCE(counts->count[i]);
	}
}

static void sum_flows(const struct flow_table *table, u64 *packets, u64 *bytes)
{
	struct peerlane_flow *flow;
	u32 i;

	*packets = 0;
	*bytes = 0;
	for (i = 0; i <= table->mask; i++) {
		rcu_read_lock();
		for (flow = rcu_dereference(table->buckets[i]); flow;
		     flow = rcu_dereference(flow->next)) {
			/* Not between the steps of a reset */
			spin_lock_bh(&flow->lock);
			if (!flow_is_dead(flow)) {
				*packets += flow->state.packets;
				*bytes += flow->state.bytes;
			}
			spin_unlock_bh(&flow->lock);
		}
		rcu_read_unlock();
		cond_resched();
	}
}

static u64 never_back(atomic64_t *told, u64 value)
{
	s64 old = atomic64_read(told);

	while ((u64)old < value)
		if (atomic64_try_cmpxchg(told, &old, (s64)value))
			return value;
	return (u64)old;
}

/*
 * What a flow had when it was forgotten or reset would be in both sums, were the
 * past asked last. Asked first, it may be in neither, for a reader who has been
 * told more already: so, if no walk goes undisturbed, he is told that again.
 */
void flow_totals(struct flow_table *table, struct flow_counts *sum,
		 u64 *packets, u64 *bytes)
{
	u64 past_packets, past_bytes;
	int tries = TOTAL_TRIES;

	sum_counts(table, sum);
	do {
		past_packets = sum->count[FLOW_PAST_PACKETS];
		past_bytes = sum->count[FLOW_PAST_BYTES];
		sum_flows(table, packets, bytes);
		sum_counts(table, sum);
	} while (sum->count[FLOW_PAST_BYTES] != past_bytes && --tries);
	*packets = never_back(&table->told.packets, *packets + past_packets);
	*bytes = never_back(&table->told.bytes, *bytes + past_bytes);
}

u32 flow_max_flows(void)
{
	return READ_ONCE(max_flows);
}

u32 flow_all_flows(void)
{
	return (u32)atomic_read(&all_flows);
}

int flow_cache_init(void)
{
	/* Four cache lines; debug kernels have larger locks. */
	BUILD_BUG_ON(!IS_ENABLED(CONFIG_DEBUG_SPINLOCK) &&
		     !IS_ENABLED(CONFIG_DEBUG_LOCK_ALLOC) &&
		     !IS_ENABLED(CONFIG_PREEMPT_RT) &&
		     sizeof(struct peerlane_flow) > 256);
	flow_cache = kmem_cache_create("peerlane_flow",
				       sizeof(struct peerlane_flow), 0,
				       SLAB_HWCACHE_ALIGN, NULL);
	return flow_cache ? 0 : -ENOMEM;
}

void flow_cache_exit(void)
{
	rcu_barrier();
	kmem_cache_destroy(flow_cache);
}
