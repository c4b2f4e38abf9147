// SPDX-License-Identifier: GPL-2.0
/*
 * What aggregators cost their maker: their number, and memory, also for who comes
 * in: the connections of ranks, and what their groups need beside the pool.
 */
#include <linux/module.h>

#include "aggregator.h"

static unsigned int user_aggregators = 64;
module_param(user_aggregators, uint, 0644);
MODULE_PARM_DESC(user_aggregators,
		 "aggregators one user may have; 0: no limit (default 64)");

static unsigned long long user_aggregator_bytes = 16ULL << 30;
module_param(user_aggregator_bytes, ullong, 0644);
MODULE_PARM_DESC(user_aggregator_bytes,
		 "bytes of kernel memory for aggregators and the connections of their ranks one user may have; 0: no limit (default 16 GiB)");

static const struct peerlane_countable aggregators = {
	.nouns		= "aggregators",
	.parameter	= "user_aggregators",
};

static const struct peerlane_countable bytes = {
	.nouns		= "bytes of aggregators",
	.parameter	= "user_aggregator_bytes",
};

const struct link_purse aggregator_purse = {
	.bytes	= &bytes,
	.limit	= &user_aggregator_bytes,
};

int aggregator_charge_bytes(struct peerlane_aggregator *aggregator, u64 amount,
			    struct peerlane_msg *msg)
{
	return peerlane_count(&bytes, aggregator->uid, amount,
			      READ_ONCE(user_aggregator_bytes), msg);
}

void aggregator_uncharge_bytes(struct peerlane_aggregator *aggregator, u64 amount)
{
	peerlane_uncount(&bytes, aggregator->uid, amount);
}

int aggregator_charge(struct peerlane_aggregator *aggregator,
		      struct peerlane_msg *msg)
{
	int ret;

	ret = peerlane_count(&aggregators, aggregator->uid, 1,
			     READ_ONCE(user_aggregators), msg);
	if (ret)
		return ret;
	ret = aggregator_charge_bytes(aggregator, sizeof(*aggregator), msg);
	if (ret)
		peerlane_uncount(&aggregators, aggregator->uid, 1);
	return ret;
}

void aggregator_uncharge(struct peerlane_aggregator *aggregator)
{
	aggregator_uncharge_bytes(aggregator, sizeof(*aggregator));
	peerlane_uncount(&aggregators, aggregator->uid, 1);
}
