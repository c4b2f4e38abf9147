// SPDX-License-Identifier: GPL-2.0
/*
 * What happens to groups, as events. They are noted in any context, and told from
 * a work item. Users make groups as often as they like, and peers end them: what
 * comes too fast is counted and not told, which a reader knows by the numbers.
 */
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <net/netns/generic.h>

#include "netlink.h"

#define EVENTS_WAITING	512
#define EVENTS_BURST	512		/* in EVENTS_INTERVAL */
#define EVENTS_INTERVAL	(5 * HZ)
#define EVENT_ROOM	768

struct group_event {
	struct list_head node;
	struct group_event_record record;
};

/* What a namespace has. */
struct group_events {
	struct net *net;
	struct ratelimit_state pace;
	struct work_struct work;
	spinlock_t lock;
	/* protected by lock */
	struct list_head list;
	u32 waiting;
	u64 sequence;			/* READ_ONCE outside */
};

static unsigned int group_events_id __read_mostly;

static struct group_events *events_of(struct net *net)
{
	return net_generic(net, group_events_id);
}

u64 peerlane_group_events(struct net *net)
{
	struct group_events *events = events_of(net);

	/* Who asks takes the rest for lost: what is known by then has to be told. */
	flush_work(&events->work);
	return READ_ONCE(events->sequence);
}

/* ---- one, as attributes ---- */

static int put_flag(struct sk_buff *skb, int type, bool is_set)
{
	return is_set ? nla_put_flag(skb, type) : 0;
}

static int put_text(struct sk_buff *skb, int type, const char *text)
{
	return *text ? nla_put_string(skb, type, text) : 0;
}

static int put_numbers(struct sk_buff *skb,
		       const struct group_event_record *record)
{
	const struct {
		int type;
		u32 value;
	} numbers[] = {
		{ PEERLANE_A_GROUP_RANKS, record->ranks },
		{ PEERLANE_A_GROUP_RANK, record->rank },
		{ PEERLANE_A_GROUP_CAUSE, record->cause },
		{ PEERLANE_A_GROUP_ERROR, (u32)-record->status },
		{ PEERLANE_A_GROUP_FAULT_RANK, record->fault_rank },
		{ PEERLANE_A_GROUP_AGGREGATOR, record->aggregator },
		{ PEERLANE_A_GROUP_LANE, record->lane },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (flow_put_u32(skb, numbers[i].type, numbers[i].value))
			return -EMSGSIZE;
	return 0;
}

static int put_group(struct sk_buff *skb, const struct group_event_record *record)
{
	struct nlattr *nest = nla_nest_start(skb, PEERLANE_A_EVENT_GROUP);

	if (!nest ||
	    flow_put_u64(skb, PEERLANE_A_GROUP_NUMBER, record->group,
			 PEERLANE_A_GROUP_PAD) ||
	    flow_put_u64(skb, PEERLANE_A_GROUP_FILE, record->file,
			 PEERLANE_A_GROUP_PAD) ||
	    flow_put_u64(skb, PEERLANE_A_GROUP_DELAY, record->delay_ns,
			 PEERLANE_A_GROUP_PAD) ||
	    put_flag(skb, PEERLANE_A_GROUP_AT_AGGREGATOR,
		     record->at_aggregator) ||
	    put_numbers(skb, record) ||
	    put_text(skb, PEERLANE_A_GROUP_LABEL, record->label) ||
	    put_text(skb, PEERLANE_A_GROUP_REASON, record->reason))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static void tell(struct net *net, const struct group_event_record *record)
{
	struct sk_buff *skb = genlmsg_new(EVENT_ROOM, GFP_KERNEL);
	void *header = NULL;

	if (!skb)
		return;		/* the numbers say so */
	header = genlmsg_put(skb, 0, 0, &peerlane_family, 0,
			     PEERLANE_CMD_EVENT_NTF);
	if (!header ||
	    peerlane_put_event(skb, record->kind, record->sequence,
			       record->time, record->share) ||
	    put_group(skb, record)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, header);
	peerlane_netlink_multicast(net, skb, PEERLANE_GROUPS);
}

/* ---- the queue ---- */

static void tell_all(struct work_struct *work)
{
	struct group_events *events = container_of(work, struct group_events,
						   work);
	struct group_event *event, *next;
	LIST_HEAD(list);

	spin_lock_bh(&events->lock);
	list_splice_init(&events->list, &list);
	events->waiting = 0;
	spin_unlock_bh(&events->lock);
	list_for_each_entry_safe(event, next, &list, node) {
		tell(events->net, &event->record);
		kfree(event);
		cond_resched();
	}
}

/* NULL: nobody would hear it, or there is no memory. */
static struct group_event *new_event(struct group_events *events,
				     const struct group_event_record *record)
{
	struct group_event *event;

	if (!peerlane_netlink_has_listeners(events->net, PEERLANE_GROUPS))
		return NULL;
	event = kmalloc(sizeof(*event), GFP_ATOMIC | __GFP_NOWARN);
	if (!event)
		return NULL;
	event->record = *record;
	event->record.time = ktime_get_boottime_ns();
	return event;
}

void peerlane_group_event(struct net *net, const struct group_event_record *record)
{
	struct group_events *events = events_of(net);
	struct group_event *event = new_event(events, record);
	bool is_waiting = false;

	spin_lock_bh(&events->lock);
	WRITE_ONCE(events->sequence, events->sequence + 1);
	/* Our lock, as it counts one as too much if it finds its own taken. */
	if (event && events->waiting < EVENTS_WAITING &&
	    __ratelimit(&events->pace)) {
		event->record.sequence = events->sequence;
		list_add_tail(&event->node, &events->list);
		events->waiting++;
		is_waiting = true;
	}
	spin_unlock_bh(&events->lock);
	if (is_waiting)
		queue_work(peerlane_unbound_wq(), &events->work);
	else
		kfree(event);
}

/* ---- namespaces ---- */

static int __net_init events_init(struct net *net)
{
	struct group_events *events = events_of(net);

	events->net = net;
	ratelimit_state_init(&events->pace, EVENTS_INTERVAL, EVENTS_BURST);
	/* It would say in the log how many were not told. */
	ratelimit_set_flags(&events->pace, RATELIMIT_MSG_ON_RELEASE);
	INIT_WORK(&events->work, tell_all);
	spin_lock_init(&events->lock);
	INIT_LIST_HEAD(&events->list);
	return 0;
}

/* Groups hold their namespace: no more are to come. */
static void __net_exit events_exit(struct net *net)
{
	struct group_events *events = events_of(net);

	flush_work(&events->work);
	cancel_work_sync(&events->work);
}

static struct pernet_operations events_ops = {
	.init = events_init,
	.exit = events_exit,
	.id = &group_events_id,
	.size = sizeof(struct group_events),
};

int peerlane_group_events_init(void)
{
	return register_pernet_subsys(&events_ops);
}

void peerlane_group_events_exit(void)
{
	unregister_pernet_subsys(&events_ops);
}
