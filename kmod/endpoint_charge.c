// SPDX-License-Identifier: GPL-2.0
/*
 * What endpoints cost their user: their number, and memory, for as much as their
 * settings allow. The file's is taken when one is made. The connection's is the
 * link's, as it may live longer: CONNECT may be refused for it. A listener's user
 * pays for what comes in.
 */
#include <linux/module.h>

#include "endpoint.h"

static unsigned int user_endpoints = 1024;
module_param(user_endpoints, uint, 0644);
MODULE_PARM_DESC(user_endpoints,
		 "endpoints one user may have; 0: no limit (default 1024)");

static unsigned long long user_endpoint_bytes = 4ULL << 30;
module_param(user_endpoint_bytes, ullong, 0644);
MODULE_PARM_DESC(user_endpoint_bytes,
		 "bytes of kernel memory for endpoints and their connections one user may have; 0: no limit (default 4 GiB)");

static const struct peerlane_countable endpoints = {
	.nouns		= "endpoints",
	.parameter	= "user_endpoints",
};

static const struct peerlane_countable bytes = {
	.nouns		= "bytes of endpoints",
	.parameter	= "user_endpoint_bytes",
};

const struct link_purse endpoint_purse = {
	.bytes	= &bytes,
	.limit	= &user_endpoint_bytes,
};

static u64 cost(const struct peerlane_endpoint *endpoint)
{
	const struct link_settings *settings = &endpoint->settings;
	u64 flushes = settings->lanes * ENDPOINT_FLUSHES;

	return sizeof(*endpoint) +
	       endpoint->slot_count * (u64)sizeof(*endpoint->slots) +
	       settings->depth * (u64)sizeof(*endpoint->ops) +
	       flushes * sizeof(*endpoint->flushes) +
	       settings->notify * (u64)sizeof(*endpoint->notices) +
	       settings->grants * (u64)sizeof(struct endpoint_grant);
}

int endpoint_charge(struct peerlane_endpoint *endpoint, struct peerlane_msg *msg)
{
	kuid_t uid = endpoint->settings.uid;
	u64 amount = cost(endpoint);
	int ret;

	ret = peerlane_count(&endpoints, uid, 1, READ_ONCE(user_endpoints), msg);
	if (ret)
		return ret;
	ret = peerlane_count(&bytes, uid, amount, READ_ONCE(user_endpoint_bytes),
			     msg);
	if (ret) {
		peerlane_uncount(&endpoints, uid, 1);
		return ret;
	}
	endpoint->charged = amount;
	return 0;
}

void endpoint_uncharge(struct peerlane_endpoint *endpoint)
{
	if (!endpoint->charged)
		return;
	peerlane_uncount(&bytes, endpoint->settings.uid, endpoint->charged);
	peerlane_uncount(&endpoints, endpoint->settings.uid, 1);
	endpoint->charged = 0;
}
