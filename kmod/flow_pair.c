// SPDX-License-Identifier: GPL-2.0
/*
 * Which two flows are the two directions of one connection. A reliable
 * connection's packets have no source QPN, so it is learned, best first, from
 * what the user tells, from connection management messages, or guessed from the
 * UDP source port, which many senders derive from both QPNs, see flow_seek.c.
 *
 * What is learned before a flow is there waits in slots, one for each value of
 * a hash: the newer takes the place of the older, so that nobody can make them
 * grow.
 */
#include <linux/jhash.h>
#include <linux/slab.h>

#include "flow.h"
#include "flow_find.h"
#include "flow_seek.h"

enum slot_kind {
	SLOT_NONE,
	SLOT_REQUEST,	/* id: of the connection; low: who asks; qpn: his */
	SLOT_KNOWN,	/* id: QPN; from low to high; qpn: of the peer */
};

struct flow_pair_slot {
	u32 kind;
	u32 id;
	union roce_address low;
	union roce_address high;
	u32 qpn;
};

/* Connection management: MAD header, then the message. */
#define MAD_HEADER		24
#define MAD_CLASS		1
#define MAD_CLASS_CM		0x07
#define MAD_ATTRIBUTE		16
#define CM_REQUEST		0x0010
#define CM_REPLY		0x0013
#define CM_LOCAL_ID		(MAD_HEADER + 0)
#define CM_REPLY_REMOTE_ID	(MAD_HEADER + 4)
#define CM_REQUEST_QPN		(MAD_HEADER + 32)
#define CM_REPLY_QPN		(MAD_HEADER + 12)
#define CM_NEEDED		(MAD_HEADER + 36)

static u32 be32_at(const u8 *at)
{
	return (u32)at[0] << 24 | (u32)at[1] << 16 | (u32)at[2] << 8 | at[3];
}

static u32 be24_at(const u8 *at)
{
	return be32_at(at) >> 8;
}

int flow_pairs_init(struct flow_table *table, u32 buckets)
{
	spin_lock_init(&table->pairs_lock);
	table->pairs = kvcalloc(FLOW_PAIR_SLOTS, sizeof(*table->pairs),
				GFP_KERNEL);
	if (table->pairs && !flow_seek_init(table, buckets))
		return 0;
	kvfree(table->pairs);
	return -ENOMEM;
}

void flow_pairs_exit(struct flow_table *table)
{
	flow_seek_exit(table);
	kvfree(table->pairs);
}

static bool is_connected(u32 transport)
{
	return transport == ROCE_RC || transport == ROCE_UC ||
	       transport == ROCE_XRC;
}

/* ---- slots ---- */

/* The slot for that; what is in it may be something else. */
static struct flow_pair_slot *slot_of(struct flow_table *table,
				      const struct flow_pair_slot *wanted)
{
	u32 hash = jhash_2words(wanted->kind, wanted->id, table->seed);

	lockdep_assert_held(&table->pairs_lock);
	hash = jhash2((__force const u32 *)wanted->low.word, 4, hash);
	hash = jhash2((__force const u32 *)wanted->high.word, 4, hash);
	return &table->pairs[hash % FLOW_PAIR_SLOTS];
}

static bool slot_is(const struct flow_pair_slot *slot,
		    const struct flow_pair_slot *wanted)
{
	return slot->kind == wanted->kind && slot->id == wanted->id &&
	       flow_address_equal(&slot->low, &wanted->low) &&
	       flow_address_equal(&slot->high, &wanted->high);
}

static void slot_put(struct flow_table *table,
		     const struct flow_pair_slot *value)
{
	spin_lock_bh(&table->pairs_lock);
	*slot_of(table, value) = *value;
	spin_unlock_bh(&table->pairs_lock);
}

static bool slot_get(struct flow_table *table, struct flow_pair_slot *value)
{
	struct flow_pair_slot *slot;
	bool found;

	spin_lock_bh(&table->pairs_lock);
	slot = slot_of(table, value);
	found = slot_is(slot, value);
	if (found)
		*value = *slot;
	spin_unlock_bh(&table->pairs_lock);
	return found;
}

/* ---- flows that are there ---- */

bool flow_reverse_key(const struct flow_key *key, u32 peer_qpn,
		      struct flow_key *reverse)
{
	reverse->saddr = key->daddr;
	reverse->daddr = key->saddr;
	reverse->qpn = (peer_qpn & ROCE_QPN_MASK) | (key->qpn & ~ROCE_QPN_MASK);
	return peer_qpn >> FLOW_TRANSPORT_SHIFT != PEERLANE_PAIRING_NONE;
}

/* Unless a source better than @over has told. */
static void replace_peer(struct peerlane_flow *flow, u32 qpn,
			 enum peerlane_pairing how, enum peerlane_pairing over)
{
	spin_lock_bh(&flow->lock);
	if (over >= flow->peer_qpn >> FLOW_TRANSPORT_SHIFT) {
		flow->peer_qpn = qpn | (u32)how << FLOW_TRANSPORT_SHIFT;
		flow->state.has_marker = 0;
	}
	spin_unlock_bh(&flow->lock);
}

static void set_peer(struct peerlane_flow *flow, u32 qpn,
		     enum peerlane_pairing how)
{
	replace_peer(flow, qpn, how, how);
}

static struct peerlane_flow *other_direction(struct flow_table *table,
					     struct peerlane_flow *flow, u32 qpn)
{
	struct flow_key key;

	flow_reverse_key(&flow->key, qpn, &key);
	return flow_find(table, &key.saddr, &key.daddr, key.qpn);
}

void flow_pair_set(struct flow_table *table, struct peerlane_flow *flow,
		   u32 qpn, enum peerlane_pairing how)
{
	struct peerlane_flow *other = other_direction(table, flow, qpn);

	set_peer(flow, qpn, how);
	if (other)
		set_peer(other, flow_key_qpn(&flow->key), how);
}

/* @left: what they are left with, of those who seek */
static void clear(struct flow_table *table, struct peerlane_flow *flow,
		  enum peerlane_pairing over, u32 left)
{
	u32 qpn = READ_ONCE(flow->peer_qpn);
	struct peerlane_flow *other;

	if (!flow_is_paired(qpn))
		return;
	other = other_direction(table, flow, qpn);
	replace_peer(flow, left, PEERLANE_PAIRING_NONE, over);
	if (other && (READ_ONCE(other->peer_qpn) & ROCE_QPN_MASK) ==
	    flow_key_qpn(&flow->key))
		replace_peer(other, left, PEERLANE_PAIRING_NONE, over);
}

void flow_pair_clear(struct flow_table *table, struct peerlane_flow *flow)
{
	clear(table, flow, PEERLANE_PAIRING_USER, 0);
}

void flow_pair_part(struct flow_table *table, struct peerlane_flow *flow)
{
	clear(table, flow, PEERLANE_PAIRING_PORT, 0);
}

void flow_pair_doubt(struct flow_table *table, struct peerlane_flow *flow)
{
	clear(table, flow, PEERLANE_PAIRING_PORT, flow_sought((u32)jiffies));
}

/* ---- by connection management ---- */

void flow_pair_new(struct flow_table *table, struct peerlane_flow *flow)
{
	struct flow_pair_slot known = {
		.kind = SLOT_KNOWN,
		.id = flow_key_qpn(&flow->key),
		.low = flow->key.saddr,
		.high = flow->key.daddr,
	};

	if (is_connected(flow_key_transport(&flow->key)) &&
	    slot_get(table, &known))
		flow_pair_set(table, flow, known.qpn, PEERLANE_PAIRING_CM);
}

/* From @saddr to @qpn of @daddr goes what comes from @peer. */
static void learn(struct flow_table *table, const union roce_address *saddr,
		  const union roce_address *daddr, u32 qpn, u32 peer)
{
	static const u8 transports[] = { ROCE_RC, ROCE_UC, ROCE_XRC };
	struct flow_pair_slot known = {
		.kind = SLOT_KNOWN,
		.id = qpn,
		.low = *saddr,
		.high = *daddr,
		.qpn = peer,
	};
	struct peerlane_flow *flow;
	unsigned int i;

	slot_put(table, &known);
	for (i = 0; i < ARRAY_SIZE(transports); i++) {
		flow = flow_find(table, saddr, daddr,
				 qpn | (u32)transports[i] << FLOW_TRANSPORT_SHIFT);
		if (flow)
			set_peer(flow, peer, PEERLANE_PAIRING_CM);
	}
}

static void see_request(struct flow_table *table,
			const struct roce_packet *packet, const u8 *message)
{
	struct flow_pair_slot request = {
		.kind = SLOT_REQUEST,
		.id = be32_at(message + CM_LOCAL_ID),
		.low = packet->saddr,
		.high = packet->daddr,
		.qpn = be24_at(message + CM_REQUEST_QPN),
	};

	slot_put(table, &request);
}

static void see_reply(struct flow_table *table,
		      const struct roce_packet *packet, const u8 *message)
{
	struct flow_pair_slot request = {
		.kind = SLOT_REQUEST,
		.id = be32_at(message + CM_REPLY_REMOTE_ID),
		.low = packet->daddr,
		.high = packet->saddr,
	};
	u32 qpn = be24_at(message + CM_REPLY_QPN);

	if (!slot_get(table, &request))
		return;
	learn(table, &packet->daddr, &packet->saddr, qpn, request.qpn);
	learn(table, &packet->saddr, &packet->daddr, request.qpn, qpn);
}

void flow_pair_message(struct flow_table *table,
		       const struct roce_packet *packet, const u8 *message,
		       u32 length)
{
	if (length < CM_NEEDED || message[MAD_CLASS] != MAD_CLASS_CM)
		return;
	switch (be32_at(message + MAD_ATTRIBUTE) >> 16) {
	case CM_REQUEST:
		see_request(table, packet, message);
		break;
	case CM_REPLY:
		see_reply(table, packet, message);
		break;
	}
}
