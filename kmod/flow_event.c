// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion that begins or ends. It is found where packets are counted, and
 * told from a work item, since a message takes longer than a packet may.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/slab.h>

#include "compat.h"
#include "flow.h"
#include "flow_find.h"
#include "netlink.h"

struct flow_event {
	struct list_head node;
	struct flow_event_record record;
};

static void send_one(struct flow_table *table, struct flow_event *event,
		     struct flow_snapshot *snapshot)
{
	const struct flow_key *key = &event->record.key;
	struct peerlane_flow *flow;
	bool found = false;

	rcu_read_lock();
	flow = flow_find(table, &key->saddr, &key->daddr, key->qpn);
	if (flow)
		found = flow_snapshot_take(table, flow, false, snapshot);
	rcu_read_unlock();
	if (!found) {
		/* Forgotten since: that it was this one is still told. */
		memset(snapshot, 0, offsetof(struct flow_snapshot, rtt));
		snapshot->key = *key;
		snapshot->first_seen = (u32)ktime_get_boottime_seconds();
		snapshot->last_seen = (u32)jiffies;
	}
	if (peerlane_netlink_event(table, &event->record, snapshot))
		flow_count(table, FLOW_EVENTS_LOST, 1);
}

static void send_events(struct work_struct *work)
{
	struct flow_table *table = container_of(work, struct flow_table,
						event_work);
	struct flow_event *event, *next;
	struct flow_snapshot *snapshot;
	LIST_HEAD(list);

	spin_lock_bh(&table->event_lock);
	list_splice_init(&table->events, &list);
	table->events_waiting = 0;
	spin_unlock_bh(&table->event_lock);

	snapshot = kmalloc(sizeof(*snapshot), GFP_KERNEL);
	list_for_each_entry_safe(event, next, &list, node) {
		if (snapshot)
			send_one(table, event, snapshot);
		else
			flow_count(table, FLOW_EVENTS_LOST, 1);
		kfree(event);
		cond_resched();
	}
	kfree(snapshot);
}

static struct flow_event *new_event(enum flow_change change, u32 share,
				    const struct flow_key *key)
{
	struct flow_event *event;

	event = kmalloc(sizeof(*event), GFP_ATOMIC | __GFP_NOWARN);
	if (!event)
		return NULL;
	event->record.kind = change == FLOW_CHANGE_ON ?
			     PEERLANE_EVENT_KIND_CONGESTION_ON :
			     PEERLANE_EVENT_KIND_CONGESTION_OFF;
	event->record.time = ktime_get_boottime_ns();
	event->record.share = share;
	event->record.key = *key;
	return event;
}

void flow_event_add(struct flow_table *table, enum flow_change change,
		    u32 share, const struct flow_key *key)
{
	struct flow_event *event;
	bool is_waiting = false;

	if (likely(change == FLOW_CHANGE_NONE))
		return;
	event = new_event(change, share, key);
	spin_lock_bh(&table->event_lock);
	/* Also for one that is lost: so the reader knows. */
	WRITE_ONCE(table->event_sequence, table->event_sequence + 1);
	if (event && table->events_waiting < FLOW_EVENTS_MAX) {
		event->record.sequence = table->event_sequence;
		list_add_tail(&event->node, &table->events);
		table->events_waiting++;
		is_waiting = true;
	}
	spin_unlock_bh(&table->event_lock);
	if (is_waiting) {
		queue_work(peerlane_unbound_wq(), &table->event_work);
		return;
	}
	kfree(event);
	flow_count(table, FLOW_EVENTS_LOST, 1);
}

void flow_events_init(struct flow_table *table)
{
	spin_lock_init(&table->event_lock);
	INIT_LIST_HEAD(&table->events);
	INIT_WORK(&table->event_work, send_events);
}

void flow_events_exit(struct flow_table *table)
{
	/* Sends what waits. */
	flush_work(&table->event_work);
	cancel_work_sync(&table->event_work);
}
