// SPDX-License-Identifier: GPL-2.0
/*
 * Which RDMA device a connection goes by. A device is chosen by the source
 * address: of those whose own interface the route leads out of, the one that
 * was named, or the nearest to some memory. If there is none, the route alone
 * decides; so it does with IPv6, and with iWARP, whose devices do not tell
 * their addresses.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <net/route.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>

#include "link_core.h"
#include "link_path.h"

struct device_entry {
	struct ib_device *dev;
	struct list_head node;
};

static LIST_HEAD(devices);
static DEFINE_MUTEX(devices_lock);	/* protects devices, and keeps them there */

/* ---- the devices that there are ---- */

int link_choose_add(struct ib_device *dev)
{
	struct device_entry *entry = kmalloc(sizeof(*entry), GFP_KERNEL);

	if (!entry)
		return -ENOMEM;
	entry->dev = dev;
	mutex_lock(&devices_lock);
	list_add_tail(&entry->node, &devices);
	mutex_unlock(&devices_lock);
	return 0;
}

void link_choose_remove(struct ib_device *dev)
{
	struct device_entry *entry, *next;

	mutex_lock(&devices_lock);
	list_for_each_entry_safe(entry, next, &devices, node) {
		if (entry->dev != dev)
			continue;
		list_del(&entry->node);
		kfree(entry);
	}
	mutex_unlock(&devices_lock);
}

/* ---- the source address ---- */

struct choice {
	struct net *net;
	const union link_address *to;
	struct peerlane_region *near;	/* or NULL */
	bool found;
	struct link_path path;
	__be32 source;
};

static bool leads_out_of(const struct choice *choice, __be32 source, int ifindex)
{
	struct flowi4 flow = {
		.daddr = choice->to->in.sin_addr.s_addr,
		.saddr = source,
	};
	struct rtable *route = ip_route_output_key(choice->net, &flow);
	bool leads;

	if (IS_ERR(route))
		return false;
	leads = route->dst.dev->ifindex == ifindex;
	ip_rt_put(route);
	return leads;
}

/* Of an interface in the namespace; 0: none. */
static int interface_of(const struct choice *choice,
			const struct ib_gid_attr *attr)
{
	struct net_device *netdev;
	int ifindex = 0;

	rcu_read_lock();
	netdev = rdma_read_gid_attr_ndev_rcu(attr);
	if (!IS_ERR(netdev) && net_eq(dev_net(netdev), choice->net))
		ifindex = netdev->ifindex;
	rcu_read_unlock();
	return ifindex;
}

static bool has_source(const struct choice *choice,
		       const struct ib_gid_attr *attr, __be32 *source)
{
	const struct in6_addr *address = (const struct in6_addr *)&attr->gid;
	int ifindex = interface_of(choice, attr);

	if (!ifindex || !ipv6_addr_v4mapped(address))
		return false;
	*source = address->s6_addr32[3];
	return leads_out_of(choice, *source, ifindex);
}

static bool find_source(const struct choice *choice, struct ib_device *dev,
			__be32 *source)
{
	const struct ib_gid_attr *attr;
	bool found = false;
	u32 port;
	int i;

	rdma_for_each_port(dev, port) {
		for (i = 0; !found && i < dev->port_data[port].immutable.gid_tbl_len; i++) {
			attr = rdma_get_gid_attr(dev, port, i);
			if (IS_ERR(attr))
				continue;
			found = has_source(choice, attr, source);
			rdma_put_gid_attr(attr);
		}
	}
	return found;
}

static void try(struct choice *choice, struct ib_device *dev)
{
	struct link_path path = {};
	__be32 source;

	if (!rdma_dev_access_netns(dev, choice->net) ||
	    !find_source(choice, dev, &source))
		return;
	if (choice->near)
		link_path_of(choice->near, dev, &path);
	if (choice->found && !link_path_nearer(&path, &choice->path))
		return;
	choice->found = true;
	choice->path = path;
	choice->source = source;
}

void link_choose_source(struct net *net, const char *name,
			struct peerlane_region *near,
			const union link_address *to, union link_address *source)
{
	struct choice choice = { .net = net, .to = to, .near = near };
	struct device_entry *entry;

	if (source->any.sa_family || to->any.sa_family != AF_INET ||
	    (!name[0] && !near))
		return;
	mutex_lock(&devices_lock);
	list_for_each_entry(entry, &devices, node)
		if (!name[0] || !strcmp(name, dev_name(&entry->dev->dev)))
			try(&choice, entry->dev);
	mutex_unlock(&devices_lock);
	if (!choice.found)
		return;
	source->in.sin_family = AF_INET;
	source->in.sin_addr.s_addr = choice.source;
}

/* ---- what came of it ---- */

u32 link_path_to(struct link *link, struct peerlane_region *region)
{
	struct link_path path = {};

	if (link->dev)
		link_path_of(region, link->dev, &path);
	return path.path;
}
