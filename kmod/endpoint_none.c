// SPDX-License-Identifier: GPL-2.0
/* In place of endpoints and groups, for kernels without the RDMA connection manager. */
#include "aggregator.h"
#include "endpoint.h"
#include "group.h"

static int none(struct peerlane_call *call)
{
	return peerlane_refuse(&call->msg, -EOPNOTSUPP,
			       "this kernel has no RDMA connection manager (CONFIG_INFINIBAND_ADDR_TRANS), and so no endpoints and groups");
}

int peerlane_endpoint_create(struct peerlane_call *call)
{
	return none(call);
}

int peerlane_endpoint_list(struct peerlane_call *call)
{
	return none(call);
}

void peerlane_link_counts(struct peerlane_link_counts *counts)
{
	*counts = (struct peerlane_link_counts){};
}

int peerlane_group_create(struct peerlane_call *call)
{
	return none(call);
}

int peerlane_group_list(struct peerlane_call *call)
{
	return none(call);
}

int peerlane_group_lanes(struct peerlane_call *call)
{
	return none(call);
}

int peerlane_aggregator_create(struct peerlane_call *call)
{
	return none(call);
}

int peerlane_aggregator_list(struct peerlane_call *call)
{
	return none(call);
}

int endpoint_init(void)
{
	return 0;
}

void endpoint_exit(void)
{
}

int group_init(void)
{
	return 0;
}

void group_exit(void)
{
}

int aggregator_init(void)
{
	return 0;
}

void aggregator_exit(void)
{
}
