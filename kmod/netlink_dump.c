// SPDX-License-Identifier: GPL-2.0
/*
 * Dumps of flows.
 *
 * Buckets do not move, records are put in at a bucket's head and stay in place,
 * so a dump goes on behind the record it told of last. Only when that one is
 * gone, or was made anew at another place, is it not known which of its bucket
 * were told: then the dump is marked as interrupted.
 */
#include <linux/slab.h>
#include <linux/sort.h>
#include <net/sock.h>

#include "compat.h"
#include "netlink.h"
#include "flow_find.h"

struct top_entry {
	u64 value;
	struct flow_key key;
};

/**
 * struct flow_dump - where a dump is
 * @filter: what is wanted
 * @table: of the namespace
 * @reset: counters are set to zero
 * @with_histogram: histograms are wanted
 * @bucket: the next, or the next place of @top
 * @has_last: @last was told, of @bucket
 * @last: key of the last one told
 * @last_made: its first_seen. A record goes after a second of silence at the
 *	earliest, so one that was made anew has a later one.
 * @top: heap, then ordered; NULL if all are wanted
 * @top_count: how many are in it
 * @snapshot: too large for a stack
 */
struct flow_dump {
	struct flow_filter filter;
	struct flow_table *table;
	bool reset;
	bool with_histogram;
	u32 bucket;
	bool has_last;
	struct flow_key last;
	u32 last_made;
	struct top_entry *top;
	u32 top_count;
	struct flow_snapshot snapshot;
};

static struct flow_dump *dump_of(struct netlink_callback *cb)
{
	return (struct flow_dump *)cb->args[0];
}

/* ---- begin and end ---- */

static int dump_begin(struct netlink_callback *cb, bool reset)
{
	struct nlattr **attrs = peerlane_dump_attrs(cb);
	struct flow_dump *dump;
	int ret;

	/* Anybody may begin as many as he has sockets. */
	dump = kvzalloc(sizeof(*dump), GFP_KERNEL_ACCOUNT);
	if (!dump)
		return -ENOMEM;
	dump->table = flow_table_of(sock_net(cb->skb->sk));
	dump->reset = reset;
	dump->with_histogram = attrs[PEERLANE_A_FLOW_WITH_HISTOGRAM];
	/* A reset's policy has no others. */
	ret = reset ? 0 : peerlane_flow_get_check(attrs, true, cb->extack);
	if (!ret)
		ret = flow_filter_parse(&dump->filter,
					attrs[PEERLANE_A_FLOW_FILTER],
					cb->extack);
	if (!ret && reset && dump->filter.top) {
		NL_SET_ERR_MSG_ATTR(cb->extack, attrs[PEERLANE_A_FLOW_FILTER],
				    "top is not for a reset");
		ret = -EINVAL;
	}
	if (!ret && dump->filter.top) {
		dump->top = kvcalloc(dump->filter.top, sizeof(*dump->top),
				     GFP_KERNEL_ACCOUNT);
		ret = dump->top ? 0 : -ENOMEM;
	}
	if (ret) {
		kvfree(dump);
		return ret;
	}
	cb->args[0] = (long)dump;
	/* Other than zero, or consistency is not looked at. */
	cb->seq = 1;
	cb->min_dump_alloc = (u16)(FLOW_PUT_HISTOGRAM_MAX + NLMSG_HDRLEN +
				   GENL_HDRLEN);
	return 0;
}

int peerlane_flow_dump_start(struct netlink_callback *cb)
{
	return dump_begin(cb, false);
}

int peerlane_flow_reset_start(struct netlink_callback *cb)
{
	return dump_begin(cb, true);
}

int peerlane_flow_dump_done(struct netlink_callback *cb)
{
	struct flow_dump *dump = dump_of(cb);

	kvfree(dump->top);
	kvfree(dump);
	return 0;
}

/* ---- one flow ---- */

static bool has_room(const struct sk_buff *skb, const struct flow_dump *dump)
{
	size_t size = dump->with_histogram ? FLOW_PUT_HISTOGRAM_MAX
					   : FLOW_PUT_MAX;

	return skb_tailroom(skb) >= size + NLMSG_HDRLEN + GENL_HDRLEN;
}

static int put_message(struct sk_buff *skb, struct netlink_callback *cb,
		       const struct flow_dump *dump)
{
	u8 command = dump->reset ? PEERLANE_CMD_FLOW_RESET
				 : PEERLANE_CMD_FLOW_GET;
	void *header;

	header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
			     cb->nlh->nlmsg_seq, &peerlane_family, NLM_F_MULTI,
			     command);
	if (!header)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, header);
	if (flow_put(skb, &dump->snapshot, dump->with_histogram)) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

/*
 * There is room for it. What a reset reads must be what it sets to zero, so the
 * filter is asked first, and what changes in between is in the answer.
 */
static int tell(struct sk_buff *skb, struct netlink_callback *cb,
		struct flow_dump *dump, struct peerlane_flow *flow)
{
	struct flow_snapshot *snapshot = &dump->snapshot;

	if (!flow_filter_take(&dump->filter, dump->table, flow, snapshot))
		return 0;
	if (dump->reset &&
	    !flow_snapshot_take(dump->table, flow, true, snapshot))
		return 0;
	return put_message(skb, cb, dump);
}

/* ---- all of them ---- */

static struct peerlane_flow *first_of(struct netlink_callback *cb,
				      struct flow_dump *dump)
{
	struct peerlane_flow *flow;

	flow = rcu_dereference(dump->table->buckets[dump->bucket]);
	if (!dump->has_last)
		return flow;
	for (; flow; flow = rcu_dereference(flow->next))
		if (flow->first_seen == dump->last_made &&
		    !memcmp(&flow->key, &dump->last, sizeof(dump->last)))
			return rcu_dereference(flow->next);
	cb->seq++;
	return NULL;
}

/* Returns 1 if the bucket was told to its end. */
static int tell_bucket(struct sk_buff *skb, struct netlink_callback *cb,
		       struct flow_dump *dump)
{
	struct peerlane_flow *flow;
	int ret = 1;

	rcu_read_lock();
	for (flow = first_of(cb, dump); flow;
	     flow = rcu_dereference(flow->next)) {
		ret = has_room(skb, dump) ? tell(skb, cb, dump, flow)
					  : -EMSGSIZE;
		if (ret)
			break;
		dump->has_last = true;
		dump->last = flow->key;
		dump->last_made = flow->first_seen;
		ret = 1;
	}
	rcu_read_unlock();
	return ret;
}

static int dump_all(struct sk_buff *skb, struct netlink_callback *cb,
		    struct flow_dump *dump)
{
	int ret;

	for (; dump->bucket <= dump->table->mask; dump->bucket++) {
		ret = tell_bucket(skb, cb, dump);
		if (ret < 0)
			return skb->len ? (int)skb->len : ret;
		dump->has_last = false;
		cond_resched();
	}
	return (int)skb->len;
}

/* ---- the first few ---- */

static void sift_down(struct flow_dump *dump, u32 at)
{
	struct top_entry *top = dump->top;
	u32 child;

	for (; 2 * at + 1 < dump->top_count; at = child) {
		child = 2 * at + 1;
		if (child + 1 < dump->top_count &&
		    top[child + 1].value < top[child].value)
			child++;
		if (top[at].value <= top[child].value)
			return;
		swap(top[at], top[child]);
	}
}

static void sift_up(struct flow_dump *dump, u32 at)
{
	struct top_entry *top = dump->top;

	for (; at && top[(at - 1) / 2].value > top[at].value; at = (at - 1) / 2)
		swap(top[at], top[(at - 1) / 2]);
}

/* The least of those kept so far is at the top of the heap. */
static void keep(struct flow_dump *dump, u64 value, const struct flow_key *key)
{
	if (dump->top_count < dump->filter.top) {
		dump->top[dump->top_count].value = value;
		dump->top[dump->top_count].key = *key;
		sift_up(dump, dump->top_count++);
		return;
	}
	if (value <= dump->top[0].value)
		return;
	dump->top[0].value = value;
	dump->top[0].key = *key;
	sift_down(dump, 0);
}

static void rank_bucket(struct flow_dump *dump, u32 bucket)
{
	struct flow_snapshot *snapshot = &dump->snapshot;
	struct peerlane_flow *flow;

	rcu_read_lock();
	for (flow = rcu_dereference(dump->table->buckets[bucket]); flow;
	     flow = rcu_dereference(flow->next))
		if (flow_filter_take(&dump->filter, dump->table, flow, snapshot))
			keep(dump, flow_counter(snapshot, dump->filter.top_by),
			     &flow->key);
	rcu_read_unlock();
}

static int more_first(const void *a, const void *b)
{
	const struct top_entry *one = a, *other = b;

	if (one->value == other->value)
		return memcmp(&one->key, &other->key, sizeof(one->key));
	return one->value > other->value ? -1 : 1;
}

static void rank(struct flow_dump *dump)
{
	u32 i;

	for (i = 0; i <= dump->table->mask; i++) {
		rank_bucket(dump, i);
		cond_resched();
	}
	sort(dump->top, dump->top_count, sizeof(*dump->top), more_first, NULL);
	dump->has_last = true;
}

static int tell_ranked(struct sk_buff *skb, struct netlink_callback *cb,
		       struct flow_dump *dump, const struct flow_key *key)
{
	struct peerlane_flow *flow;
	int ret = 0;

	if (!has_room(skb, dump))
		return -EMSGSIZE;
	rcu_read_lock();
	flow = flow_find(dump->table, &key->saddr, &key->daddr, key->qpn);
	if (flow && flow_snapshot_take(dump->table, flow, false,
				       &dump->snapshot))
		ret = put_message(skb, cb, dump);
	rcu_read_unlock();
	return ret;
}

static int dump_top(struct sk_buff *skb, struct netlink_callback *cb,
		    struct flow_dump *dump)
{
	int ret;

	if (!dump->has_last)
		rank(dump);
	for (; dump->bucket < dump->top_count; dump->bucket++) {
		ret = tell_ranked(skb, cb, dump, &dump->top[dump->bucket].key);
		if (ret)
			return skb->len ? (int)skb->len : ret;
	}
	return (int)skb->len;
}

int peerlane_flow_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct flow_dump *dump = dump_of(cb);

	if (!dump->table)
		return 0;
	return dump->top ? dump_top(skb, cb, dump) : dump_all(skb, cb, dump);
}
