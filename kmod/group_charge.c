// SPDX-License-Identifier: GPL-2.0
/*
 * What group files cost their user: their number, and memory, for as much as
 * their settings allow. What there is for each aggregator is taken by JOIN, for
 * all at once: it joins all of them or none. A link that is made keeps its charge
 * as long as it lives, which may be longer than the file.
 */
#include <linux/module.h>

#include "group.h"

static unsigned int user_groups = 1024;
module_param(user_groups, uint, 0644);
MODULE_PARM_DESC(user_groups,
		 "group files one user may have; 0: no limit (default 1024)");

static unsigned long long user_group_bytes = 16ULL << 30;
module_param(user_group_bytes, ullong, 0644);
MODULE_PARM_DESC(user_group_bytes,
		 "bytes of kernel memory for group files and their connections one user may have; 0: no limit (default 16 GiB)");

static const struct peerlane_countable files = {
	.nouns		= "group files",
	.parameter	= "user_groups",
};

static const struct peerlane_countable bytes = {
	.nouns		= "bytes of group files",
	.parameter	= "user_group_bytes",
};

const struct link_purse group_purse = {
	.bytes	= &bytes,
	.limit	= &user_group_bytes,
};

static int charge_bytes(struct peerlane_group *group, u64 amount,
			struct peerlane_msg *msg)
{
	int ret = peerlane_count(&bytes, group->uid, amount,
				 READ_ONCE(user_group_bytes), msg);

	if (!ret)
		group->charged += amount;
	return ret;
}

static void uncharge_bytes(struct peerlane_group *group, u64 amount)
{
	peerlane_uncount(&bytes, group->uid, amount);
	group->charged -= amount;
}

/* ---- the file ---- */

int group_charge(struct peerlane_group *group, struct peerlane_msg *msg)
{
	u64 amount = sizeof(*group) +
		     group->slot_count * (u64)sizeof(*group->slots) +
		     group->depth * (u64)sizeof(*group->tasks);
	int ret;

	ret = peerlane_count(&files, group->uid, 1, READ_ONCE(user_groups), msg);
	if (ret)
		return ret;
	ret = charge_bytes(group, amount, msg);
	if (ret)
		peerlane_uncount(&files, group->uid, 1);
	return ret;
}

void group_uncharge(struct peerlane_group *group)
{
	if (!group->charged)
		return;
	uncharge_bytes(group, group->charged);
	peerlane_uncount(&files, group->uid, 1);
}

/* ---- JOIN ---- */

static u64 join_cost(const struct peerlane_group *group, u32 count)
{
	u32 window = group->join.window;

	return count * (u64)sizeof(*group->peers) +
	       (u64)group->slot_count * count * sizeof(*group->views) +
	       (u64)window * count * sizeof(*group->posts) +
	       group_streams_size(count, window);
}

int group_charge_join(struct peerlane_group *group, u32 count,
		      struct peerlane_msg *msg)
{
	u64 amount = join_cost(group, count);
	int ret = charge_bytes(group, amount, msg);

	if (ret)
		return ret;
	ret = link_charge(&group->settings, count, msg);
	if (ret)
		uncharge_bytes(group, amount);
	return ret;
}

void group_uncharge_join(struct peerlane_group *group, u32 count)
{
	link_uncharge(&group->settings, count);
	uncharge_bytes(group, join_cost(group, count));
}
