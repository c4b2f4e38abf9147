// SPDX-License-Identifier: GPL-2.0
/*
 * The partner of a flow by the UDP source port, which is the same in both
 * directions: one whose requests its answers can be to, where no other is.
 */
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/slab.h>

#include "flow_find.h"
#include "flow_plain.h"
#include "flow_seek.h"

/* Who waits for a partner tells each window that has a packet; so long at most. */
#define HOLD_MS		5000
/* Ports for so many buckets of flows: most flows are paired otherwise, or soon. */
#define SET_BUCKETS	32

int flow_seek_init(struct flow_table *table, u32 buckets)
{
	u32 sets = buckets / SET_BUCKETS;

	get_random_bytes(&table->ports_key, sizeof(table->ports_key));
	table->ports.sets = kvcalloc(sets, sizeof(*table->ports.sets),
				     GFP_KERNEL);
	table->ports.mask = sets - 1;
	table->ports.hold = (u32)msecs_to_jiffies(HOLD_MS);
	return table->ports.sets ? 0 : -ENOMEM;
}

void flow_seek_exit(struct flow_table *table)
{
	kvfree(table->ports.sets);
}

/**
 * struct seek - what a flow seeks its partner by
 * @table: where
 * @flow: it
 * @state: a copy
 * @psn: of its answer
 * @is_answer: it has one
 * @sport: UDP source port
 */
struct seek {
	struct flow_table *table;
	struct peerlane_flow *flow;
	struct flow_state state;
	u32 psn;
	bool is_answer;
	u16 sport;
};

static bool goes_up(const struct flow_key *key)
{
	return memcmp(&key->saddr, &key->daddr, sizeof(key->saddr)) < 0;
}

/* Of a hash that nobody can make meet another. Never 0. */
static u64 tag_of(const struct seek *seek)
{
	const struct flow_key *key = &seek->flow->key;
	bool up = goes_up(key);
	struct {
		union roce_address low;
		union roce_address high;
		u32 transport;
		u32 sport;
	} __aligned(8) who = {
		.low = up ? key->saddr : key->daddr,
		.high = up ? key->daddr : key->saddr,
		.transport = flow_key_transport(key),
		.sport = seek->sport,
	};

	return siphash(&who, sizeof(who), &seek->table->ports_key) | 1;
}

/* ---- what others are to it ---- */

static struct peerlane_flow *flow_to(const struct seek *seek, bool own_side,
				     u32 qpn)
{
	const struct flow_key *key = &seek->flow->key;

	qpn |= key->qpn & ~ROCE_QPN_MASK;
	if (own_side)
		return flow_find(seek->table, &key->saddr, &key->daddr, qpn);
	return flow_find(seek->table, &key->daddr, &key->saddr, qpn);
}

/*
 * Who is silent for long waits for no answer; who is paired by something better
 * than a guess is nobody else's partner.
 */
static bool is_seeking(const struct seek *seek, const struct peerlane_flow *flow)
{
	return !flow_is_dead(flow) && flow->sport == seek->sport &&
	       flow->peer_qpn >> FLOW_TRANSPORT_SHIFT <= PEERLANE_PAIRING_PORT &&
	       flow_idle_ms(flow) <= HOLD_MS;
}

/* Whether there may be an answer that fits both. */
static bool are_alike(const struct flow_state *a, const struct flow_state *b)
{
	s32 ahead = psn_ahead(a->next_request, b->next_request);
	u32 back = max(flow_window_back(a), flow_window_back(b));

	return a->has_request && b->has_request && (u32)abs(ahead) < back;
}

static bool may_be(const struct seek *seek, const struct peerlane_flow *flow,
		   bool own_side)
{
	/* No answers: who else is there decides. */
	if (flow_key_transport(&flow->key) == ROCE_UC)
		return true;
	if (own_side)
		return !seek->is_answer && are_alike(&seek->state, &flow->state);
	return seek->is_answer && flow_is_asked(&flow->state, seek->psn);
}

static bool is_taken(const struct seek *seek, const struct peerlane_flow *flow)
{
	return flow_is_paired(flow->peer_qpn) &&
	       (flow->peer_qpn & ROCE_QPN_MASK) != flow_key_qpn(&seek->flow->key);
}

static enum flow_port_fit fit(void *context, bool own_side, u32 qpn)
{
	const struct seek *seek = context;
	struct peerlane_flow *flow = flow_to(seek, own_side, qpn);
	enum flow_port_fit found = FLOW_PORT_GONE;

	if (!flow)
		return FLOW_PORT_GONE;
	spin_lock(&flow->lock);
	if (is_seeking(seek, flow)) {
		found = FLOW_PORT_OTHER;
		if (may_be(seek, flow, own_side))
			found = is_taken(seek, flow) ? FLOW_PORT_TAKEN :
						       FLOW_PORT_FITS;
	}
	spin_unlock(&flow->lock);
	return found;
}

static void part(void *context, bool own_side, u32 qpn)
{
	const struct seek *seek = context;
	struct peerlane_flow *flow = flow_to(seek, own_side, qpn);

	if (flow)
		flow_pair_part(seek->table, flow);
}

/* ---- seeking ---- */

static bool is_due(u32 sought, u32 by, u32 now)
{
	return !flow_is_paired(sought) &&
	       (!(sought & by) ||
		(sought & FLOW_SOUGHT_WINDOW) != flow_sought_window(now));
}

/* Once a window, so that the lock that all share is seldom taken. */
static bool begin(struct seek *seek, u32 now)
{
	u32 by = seek->is_answer ? FLOW_SOUGHT_BY_ANSWER :
				   FLOW_SOUGHT_BY_REQUEST;
	struct peerlane_flow *flow = seek->flow;
	bool due;

	if (!is_due(READ_ONCE(flow->peer_qpn), by, now))
		return false;
	spin_lock_bh(&flow->lock);
	due = !flow_is_dead(flow) && is_due(flow->peer_qpn, by, now);
	if (due) {
		if ((flow->peer_qpn & FLOW_SOUGHT_WINDOW) !=
		    flow_sought_window(now))
			flow->peer_qpn = flow_sought_window(now);
		flow->peer_qpn |= by;
		seek->state = flow->state;
	}
	spin_unlock_bh(&flow->lock);
	return due;
}

noinline void flow_seek(struct flow_table *table, struct peerlane_flow *flow,
			u16 sport, bool is_answer, u32 psn)
{
	struct seek seek = {
		.table = table,
		.flow = flow,
		.psn = psn,
		.is_answer = is_answer,
		.sport = sport,
	};
	struct flow_port_seeker seeker = {
		.side = goes_up(&flow->key),
		.qpn = flow_key_qpn(&flow->key),
		.fit = fit,
		.part = part,
		.context = &seek,
	};
	u32 now = (u32)jiffies, partner;

	if (!begin(&seek, now))
		return;
	spin_lock_bh(&table->pairs_lock);
	partner = flow_port_partner(&table->ports, tag_of(&seek), now, &seeker);
	if (partner)
		flow_pair_set(table, flow, partner, PEERLANE_PAIRING_PORT);
	spin_unlock_bh(&table->pairs_lock);
}
