// SPDX-License-Identifier: GPL-2.0
/* Flows, once for each network namespace. */
#include <net/netns/generic.h>

#include "flow.h"
#include "netlink.h"

static unsigned int flow_net_id __read_mostly;

struct flow_net *flow_net_of(struct net *net)
{
	return net_generic(net, flow_net_id);
}

struct flow_table *flow_table_of(struct net *net)
{
	/* Pairs with the release in flow_table_need(). */
	return smp_load_acquire(&flow_net_of(net)->table);
}

struct flow_table *flow_table_need(struct net *net)
{
	struct flow_net *flows = flow_net_of(net);
	struct flow_table *table;

	lockdep_assert_held(&flows->config_lock);
	if (flows->table)
		return flows->table;
	table = flow_table_new(net);
	if (!table)
		return NULL;
	/* Pairs with the acquire in flow_table_of(): made before it is seen. */
	smp_store_release(&flows->table, table);
	return table;
}

static int __net_init flow_net_init(struct net *net)
{
	mutex_init(&flow_net_of(net)->config_lock);
	return 0;
}

static void __net_exit flow_net_exit(struct net *net)
{
	struct flow_net *flows = flow_net_of(net);

	flow_observe_end(net);
	if (flows->table)
		flow_table_free(flows->table);
	mutex_destroy(&flows->config_lock);
}

static struct pernet_operations flow_net_ops = {
	.init = flow_net_init,
	.exit = flow_net_exit,
	.id = &flow_net_id,
	.size = sizeof(struct flow_net),
};

int peerlane_flows_init(void)
{
	int ret;

	ret = flow_cache_init();
	if (ret)
		return ret;
	ret = register_pernet_subsys(&flow_net_ops);
	if (ret)
		goto err_cache;
	ret = flow_observe_init();
	if (ret)
		goto err_pernet;
	ret = peerlane_group_events_init();
	if (ret)
		goto err_observe;
	ret = peerlane_netlink_init();
	if (ret)
		goto err_events;
	return 0;

err_events:
	peerlane_group_events_exit();
err_observe:
	flow_observe_exit();
err_pernet:
	unregister_pernet_subsys(&flow_net_ops);
err_cache:
	flow_cache_exit();
	return ret;
}

void peerlane_flows_exit(void)
{
	peerlane_netlink_exit();
	peerlane_group_events_exit();
	flow_observe_exit();
	unregister_pernet_subsys(&flow_net_ops);
	flow_cache_exit();
}
