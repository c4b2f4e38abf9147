// SPDX-License-Identifier: GPL-2.0
/* What one user holds: number of regions, and bytes on each device. */
#include <linux/cred.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "peerlane.h"

struct charge {
	struct list_head node;
	const struct peerlane_device *dev;	/* NULL: regions */
	kuid_t uid;
	u64 amount;
};

static LIST_HEAD(charges);
static DEFINE_MUTEX(charge_lock);	/* protects charges */

static struct charge *find(const struct peerlane_device *dev, kuid_t uid)
{
	struct charge *charge;

	lockdep_assert_held(&charge_lock);
	list_for_each_entry(charge, &charges, node)
		if (charge->dev == dev && uid_eq(charge->uid, uid))
			return charge;
	return NULL;
}

static struct charge *find_or_add(const struct peerlane_device *dev, kuid_t uid)
{
	struct charge *charge = find(dev, uid);

	if (charge)
		return charge;
	charge = kzalloc(sizeof(*charge), GFP_KERNEL);
	if (!charge)
		return NULL;
	charge->dev = dev;
	charge->uid = uid;
	list_add(&charge->node, &charges);
	return charge;
}

static void drop_if_empty(struct charge *charge)
{
	lockdep_assert_held(&charge_lock);
	if (charge->amount)
		return;
	list_del(&charge->node);
	kfree(charge);
}

static int refuse_over(const struct peerlane_device *dev, u64 held, u64 amount,
		       u64 limit, struct peerlane_msg *msg)
{
	if (!dev)
		return peerlane_refuse(msg, -EDQUOT,
				       "this user has %llu regions, the limit is %llu (module parameter user_regions)",
				       held, limit);
	return peerlane_refuse(msg, -EDQUOT,
			       "this user holds %llu bytes of %s and asks for %llu more, the limit is %llu (user_limit of the device)",
			       held, peerlane_device_name(dev), amount, limit);
}

int peerlane_charge(const struct peerlane_device *dev, kuid_t uid, u64 amount,
		    u64 limit, struct peerlane_msg *msg)
{
	struct charge *charge;
	u64 held = 0;
	int ret = 0;

	mutex_lock(&charge_lock);
	charge = find_or_add(dev, uid);
	if (!charge) {
		ret = peerlane_refuse(msg, -ENOMEM, "no memory for accounting");
		goto out;
	}
	held = charge->amount;
	if (limit && (amount > limit || held > limit - amount))
		ret = -EDQUOT;
	else
		charge->amount += amount;
	drop_if_empty(charge);
out:
	mutex_unlock(&charge_lock);
	if (ret == -EDQUOT)
		refuse_over(dev, held, amount, limit, msg);
	return ret;
}

u64 peerlane_charged(void)
{
	struct charge *charge;
	u64 sum = 0;

	mutex_lock(&charge_lock);
	list_for_each_entry(charge, &charges, node)
		sum += charge->amount;
	mutex_unlock(&charge_lock);
	return sum;
}

void peerlane_uncharge(const struct peerlane_device *dev, kuid_t uid, u64 amount)
{
	struct charge *charge;

	mutex_lock(&charge_lock);
	charge = find(dev, uid);
	if (!WARN_ON_ONCE(!charge || charge->amount < amount)) {
		charge->amount -= amount;
		drop_if_empty(charge);
	}
	mutex_unlock(&charge_lock);
}
