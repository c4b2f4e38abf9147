/* SPDX-License-Identifier: GPL-2.0 */
/* Lookup of a flow: what each packet goes through, so all of it inline. */
#ifndef PEERLANE_FLOW_FIND_H
#define PEERLANE_FLOW_FIND_H

#include <linux/jhash.h>

#include "flow.h"

static inline bool flow_is_v4(const union roce_address *address)
{
	return address->word[2] == htonl(0xffff) &&
	       !(address->word[0] | address->word[1]);
}

/*
 * The QPN comes last: beside the seed, what it adds could be taken off the
 * address again, and many flows made to meet in one bucket.
 */
static noinline u32 __maybe_unused
flow_hash_v6(const union roce_address *saddr, const union roce_address *daddr,
	     u32 qpn, u32 seed)
{
	seed = jhash2((__force const u32 *)saddr->word, 4, seed);
	seed = jhash2((__force const u32 *)daddr->word, 4, seed);
	return jhash_1word(qpn, seed);
}

/*
 * Of each word by a factor that nobody knows, the upper halves of the products
 * are as good as random for any two that differ; the lower halves keep words in
 * a row, as QPNs are, from falling into steps. A third of jhash.
 */
static __always_inline u32 flow_hash_v4(const struct flow_table *table,
					__be32 saddr, __be32 daddr, u32 qpn)
{
	u64 sum = (__force u32)saddr * table->secret[0] +
		  (__force u32)daddr * table->secret[1] +
		  qpn * table->secret[2];

	return (u32)sum ^ (u32)(sum >> 32);
}

/*
 * Without the transport, which a CNP does not tell. Both addresses are looked
 * at: an IPv6 packet may have one that is mapped, and all of the other counts.
 */
static __always_inline u32 flow_hash(const struct flow_table *table,
			    const union roce_address *saddr,
			    const union roce_address *daddr, u32 qpn)
{
	qpn &= ROCE_QPN_MASK;
	if (likely(flow_is_v4(saddr) && flow_is_v4(daddr)))
		return flow_hash_v4(table, saddr->word[3], daddr->word[3], qpn);
	return flow_hash_v6(saddr, daddr, qpn, table->seed);
}

static __always_inline u64 flow_address_half(const union roce_address *address,
					     u32 half)
{
	u64 value;

	/* One load: addresses are aligned to less. */
	memcpy(&value, &address->word[2 * half], sizeof(value));
	return value;
}

static __always_inline bool flow_address_equal(const union roce_address *a,
					       const union roce_address *b)
{
	return !((flow_address_half(a, 0) ^ flow_address_half(b, 0)) |
		 (flow_address_half(a, 1) ^ flow_address_half(b, 1)));
}

static inline bool flow_qpn_equal(u32 have, u32 want)
{
	u32 differ = (have ^ want) & ~FLOW_KEY_V4;

	if ((want >> FLOW_TRANSPORT_SHIFT & FLOW_TRANSPORT_MASK) == ROCE_CNP)
		differ &= ROCE_QPN_MASK;
	return !differ;
}

/*
 * @qpn has the transport in its upper 8 bits; ROCE_CNP is any. RCU is held, or
 * the bucket's lock.
 */
static __always_inline struct peerlane_flow *
flow_find(struct flow_table *table, const union roce_address *saddr,
	  const union roce_address *daddr, u32 qpn)
{
	u32 hash = flow_hash(table, saddr, daddr, qpn);
	struct peerlane_flow *flow;

	for (flow = rcu_dereference_check(table->buckets[hash & table->mask], 1);
	     flow; flow = rcu_dereference_check(flow->next, 1))
		if (flow_qpn_equal(flow->key.qpn, qpn) &&
		    flow_address_equal(&flow->key.daddr, daddr) &&
		    flow_address_equal(&flow->key.saddr, saddr))
			return flow;
	return NULL;
}

/* The same for IPv4 and a @transport that is known, in the upper 8 bits. */
static __always_inline struct peerlane_flow *
flow_find_v4(struct flow_table *table, __be32 saddr, __be32 daddr, u32 qpn,
	     u32 transport)
{
	u32 hash = flow_hash_v4(table, saddr, daddr, qpn);
	struct peerlane_flow *flow;

	qpn |= transport | FLOW_KEY_V4;

	for (flow = rcu_dereference_check(table->buckets[hash & table->mask], 1);
	     likely(flow); flow = rcu_dereference_check(flow->next, 1))
		if (likely(flow->key.qpn == qpn) &&
		    likely(flow->key.daddr.word[3] == daddr &&
			   flow->key.saddr.word[3] == saddr))
			return flow;
	return NULL;
}

/* On its way out: not to be changed. The lock is held. */
static inline bool flow_is_dead(const struct peerlane_flow *flow)
{
	lockdep_assert_held(&flow->lock);
	return unlikely(flow->state.point == FLOW_DEAD);
}

/* Numbers seen at one point say nothing about what arrives at another, or later. */
static inline void flow_move(struct peerlane_flow *flow, u8 at)
{
	lockdep_assert_held(&flow->lock);
	flow->state.point = at;
	flow->state.has_request = 0;
	flow->state.has_response = 0;
	flow->state.has_marker = 0;
}

#endif /* PEERLANE_FLOW_FIND_H */
