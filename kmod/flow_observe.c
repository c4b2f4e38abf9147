// SPDX-License-Identifier: GPL-2.0
/*
 * Where packets are seen. Hooks are there only while something is observed, so
 * that packets cost nothing else: netfilter's static keys see to that.
 *
 * Software RDMA passes LOCAL_OUT and LOCAL_IN like all UDP, last in both: what
 * was sent, and what is delivered. Mirrored packets have the hardware address of
 * somebody else and never get to those hooks, so they are taken at a device's
 * ingress.
 */
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netlink.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "flow.h"
#include "flow_quick.h"

#define VLAN_TAGS_MAX	2

/* ---- software RDMA ---- */

#define LOCAL_HOOKS	4

struct flow_local {
	struct nf_hook_ops ops[LOCAL_HOOKS];
};

static unsigned int out_hook(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	flow_quick_see(priv, skb, 0, FLOW_AT_OUT);
	return NF_ACCEPT;
}

static unsigned int in_hook(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state)
{
	flow_quick_see(priv, skb, 0, FLOW_AT_IN);
	return NF_ACCEPT;
}

static const struct nf_hook_ops local_hooks[LOCAL_HOOKS] = {
	{
		.hook = out_hook,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP_PRI_LAST,
	}, {
		.hook = in_hook,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP_PRI_LAST,
	}, {
		.hook = out_hook,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP6_PRI_LAST,
	}, {
		.hook = in_hook,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP6_PRI_LAST,
	},
};

static int local_begin(struct net *net, struct flow_net *flows,
		       struct netlink_ext_ack *extack)
{
	struct flow_table *table = flow_table_need(net);
	struct flow_local *local;
	int i, ret;

	local = kzalloc(sizeof(*local), GFP_KERNEL);
	if (!table || !local) {
		kfree(local);
		NL_SET_ERR_MSG(extack, "short of memory for the table");
		return -ENOMEM;
	}
	for (i = 0; i < LOCAL_HOOKS; i++) {
		local->ops[i] = local_hooks[i];
		local->ops[i].priv = table;
	}
	ret = nf_register_net_hooks(net, local->ops, LOCAL_HOOKS);
	if (ret) {
		kfree(local);
		NL_SET_ERR_MSG(extack, "the kernel refused the netfilter hooks");
		return ret;
	}
	flows->local = local;
	return 0;
}

/* Packets may be in the hooks until the next grace period. */
static void local_end(struct net *net, struct flow_net *flows)
{
	struct flow_local *local = flows->local;

	flows->local = NULL;
	nf_unregister_net_hooks(net, local->ops, LOCAL_HOOKS);
	synchronize_rcu();
	flow_forget_point(local->ops[0].priv, FLOW_AT_OUT);
	flow_forget_point(local->ops[0].priv, FLOW_AT_IN);
	kfree(local);
}

int flow_observe_local(struct net *net, bool on, struct netlink_ext_ack *extack)
{
	struct flow_net *flows = flow_net_of(net);
	int ret = 0;

	mutex_lock(&flows->config_lock);
	if (on && flows->local) {
		NL_SET_ERR_MSG(extack, "software RDMA is observed already");
		ret = -EEXIST;
	} else if (on) {
		ret = local_begin(net, flows, extack);
	} else if (flows->local) {
		local_end(net, flows);
	} else {
		NL_SET_ERR_MSG(extack, "software RDMA is not observed");
		ret = -ESRCH;
	}
	mutex_unlock(&flows->config_lock);
	return ret;
}

bool flow_observes_local(struct net *net)
{
	return READ_ONCE(flow_net_of(net)->local);
}

/* ---- devices ---- */

struct flow_observer {
	struct nf_hook_ops ops;
	struct flow_table *table;
	u8 at;
};

#ifdef CONFIG_NETFILTER_INGRESS

/* The receive path has taken one tag off, if the device had not. */
static bool find_ip(const struct sk_buff *skb, u32 *offset)
{
	__be16 protocol = skb->protocol;
	const struct vlan_hdr *tag;
	struct vlan_hdr room;
	int tags;

	*offset = 0;
	for (tags = 0; eth_type_vlan(protocol) && tags < VLAN_TAGS_MAX; tags++) {
		tag = skb_header_pointer(skb, *offset, sizeof(room), &room);
		if (!tag)
			return false;
		protocol = tag->h_vlan_encapsulated_proto;
		*offset += VLAN_HLEN;
	}
	return protocol == htons(ETH_P_IP) || protocol == htons(ETH_P_IPV6);
}

static unsigned int device_hook(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state)
{
	struct flow_observer *observer = priv;
	u32 offset;

	if (find_ip(skb, &offset))
		flow_quick_see(observer->table, skb, offset, observer->at);
	return NF_ACCEPT;
}

static int find_observer(const struct flow_net *flows,
			 const struct net_device *dev)
{
	int i;

	for (i = 0; i < PEERLANE_DEVICE_MAX; i++)
		if (flows->observers[i] && flows->observers[i]->ops.dev == dev)
			return i;
	return -ESRCH;
}

static int free_place(const struct flow_net *flows)
{
	int i;

	for (i = 0; i < PEERLANE_DEVICE_MAX; i++)
		if (!flows->observers[i])
			return i;
	return -ENOSPC;
}

static int device_begin(struct net *net, struct flow_net *flows,
			struct net_device *dev, struct netlink_ext_ack *extack)
{
	struct flow_observer *observer;
	int place = free_place(flows);
	int ret = -ENOMEM;

	if (place < 0) {
		NL_SET_ERR_MSG(extack, "16 devices are observed in this namespace, which is the most");
		return place;
	}
	observer = kzalloc(sizeof(*observer), GFP_KERNEL);
	if (observer)
		observer->table = flow_table_need(net);
	if (!observer || !observer->table) {
		NL_SET_ERR_MSG(extack, "short of memory for the table");
		goto err;
	}
	observer->at = (u8)(FLOW_AT_DEVICE + place);
	observer->ops = (struct nf_hook_ops){
		.hook = device_hook,
		.priv = observer,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		.priority = INT_MIN,
		.dev = dev,
	};
	ret = nf_register_net_hook(net, &observer->ops);
	if (ret) {
		NL_SET_ERR_MSG(extack, "the kernel refused the ingress hook");
		goto err;
	}
	/* Filled before flow_observer_ifindex() sees it. */
	smp_store_release(&flows->observers[place], observer);
	return 0;

err:
	kfree(observer);
	return ret;
}

static void device_end(struct net *net, struct flow_net *flows, int place)
{
	struct flow_observer *observer = flows->observers[place];

	nf_unregister_net_hook(net, &observer->ops);
	WRITE_ONCE(flows->observers[place], NULL);
	/* For packets in the hook, and readers of the place. */
	synchronize_net();
	/* The next device in that place is another. */
	flow_forget_point(observer->table, observer->at);
	kfree(observer);
}

static int device_change(struct net *net, struct net_device *dev, bool on,
			 struct netlink_ext_ack *extack)
{
	struct flow_net *flows = flow_net_of(net);
	int place = find_observer(flows, dev);

	if (on && place >= 0) {
		NL_SET_ERR_MSG(extack, "the device is observed already");
		return -EEXIST;
	}
	if (on)
		return device_begin(net, flows, dev, extack);
	if (place < 0) {
		NL_SET_ERR_MSG(extack, "the device is not observed");
		return -ESRCH;
	}
	device_end(net, flows, place);
	return 0;
}

int flow_observe_device(struct net *net, u32 ifindex, bool on,
			struct netlink_ext_ack *extack)
{
	struct flow_net *flows = flow_net_of(net);
	struct net_device *dev;
	int ret = -ENODEV;

	rtnl_lock();
	mutex_lock(&flows->config_lock);
	dev = __dev_get_by_index(net, (int)ifindex);
	if (dev)
		ret = device_change(net, dev, on, extack);
	else
		NL_SET_ERR_MSG(extack, "no such network device in this namespace");
	mutex_unlock(&flows->config_lock);
	rtnl_unlock();
	return ret;
}

/* A device that goes, or goes to another namespace, is not observed any more. */
static int device_event(struct notifier_block *block, unsigned long event,
			void *data)
{
	struct net_device *dev = netdev_notifier_info_to_dev(data);
	struct net *net = dev_net(dev);
	struct flow_net *flows = flow_net_of(net);
	int place;

	if (event != NETDEV_UNREGISTER)
		return NOTIFY_DONE;
	mutex_lock(&flows->config_lock);
	place = find_observer(flows, dev);
	if (place >= 0)
		device_end(net, flows, place);
	mutex_unlock(&flows->config_lock);
	return NOTIFY_DONE;
}

static struct notifier_block device_notifier = {
	.notifier_call = device_event,
};

int flow_observe_init(void)
{
	return register_netdevice_notifier(&device_notifier);
}

void flow_observe_exit(void)
{
	unregister_netdevice_notifier(&device_notifier);
}

#else /* !CONFIG_NETFILTER_INGRESS */

static void device_end(struct net *net, struct flow_net *flows, int place)
{
}

int flow_observe_device(struct net *net, u32 ifindex, bool on,
			struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG(extack, "the kernel is built without CONFIG_NETFILTER_INGRESS");
	return -EOPNOTSUPP;
}

int flow_observe_init(void)
{
	return 0;
}

void flow_observe_exit(void)
{
}

#endif

u32 flow_observer_ifindex(struct net *net, u8 at)
{
	struct flow_observer *observer = NULL;
	u32 ifindex = 0;

	rcu_read_lock();
	if (at >= FLOW_AT_DEVICE && at < FLOW_AT_DEVICE + PEERLANE_DEVICE_MAX)
		observer = READ_ONCE(flow_net_of(net)->observers[at - FLOW_AT_DEVICE]);
	if (observer)
		ifindex = (u32)observer->ops.dev->ifindex;
	rcu_read_unlock();
	return ifindex;
}

void flow_observe_end(struct net *net)
{
	struct flow_net *flows = flow_net_of(net);
	int i;

	mutex_lock(&flows->config_lock);
	if (flows->local)
		local_end(net, flows);
	for (i = 0; i < PEERLANE_DEVICE_MAX; i++)
		if (flows->observers[i])
			device_end(net, flows, i);
	mutex_unlock(&flows->config_lock);
}
