// SPDX-License-Identifier: GPL-2.0
/* What one user holds: bytes on each device, and numbers of things. */
#include <linux/cred.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "peerlane.h"

struct charge {
	struct list_head node;
	const void *what;	/* device, or struct peerlane_countable */
	kuid_t uid;
	u64 amount;
};

static LIST_HEAD(charges);
static DEFINE_MUTEX(charge_lock);	/* protects charges */

static struct charge *find(const void *what, kuid_t uid)
{
	struct charge *charge;

	lockdep_assert_held(&charge_lock);
	list_for_each_entry(charge, &charges, node)
		if (charge->what == what && uid_eq(charge->uid, uid))
			return charge;
	return NULL;
}

static struct charge *find_or_add(const void *what, kuid_t uid)
{
	struct charge *charge = find(what, uid);

	if (charge)
		return charge;
	charge = kzalloc(sizeof(*charge), GFP_KERNEL);
	if (!charge)
		return NULL;
	charge->what = what;
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

/* 0, -EDQUOT or -ENOMEM without a text; @held: before it. */
static int charge(const void *what, kuid_t uid, u64 amount, u64 limit, u64 *held)
{
	struct charge *charge;
	int ret = 0;

	mutex_lock(&charge_lock);
	charge = find_or_add(what, uid);
	if (!charge) {
		ret = -ENOMEM;
		goto out;
	}
	*held = charge->amount;
	if (limit && (amount > limit || *held > limit - amount))
		ret = -EDQUOT;
	else
		charge->amount += amount;
	drop_if_empty(charge);
out:
	mutex_unlock(&charge_lock);
	return ret;
}

static void uncharge(const void *what, kuid_t uid, u64 amount)
{
	struct charge *charge;

	mutex_lock(&charge_lock);
	charge = find(what, uid);
	if (!WARN_ON_ONCE(!charge || charge->amount < amount)) {
		charge->amount -= amount;
		drop_if_empty(charge);
	}
	mutex_unlock(&charge_lock);
}

/* ---- bytes ---- */

int peerlane_charge(const struct peerlane_device *dev, kuid_t uid, u64 amount,
		    u64 limit, struct peerlane_msg *msg)
{
	u64 held;
	int ret = charge(dev, uid, amount, limit, &held);

	if (ret == -EDQUOT)
		return peerlane_refuse(msg, ret,
				       "this user holds %llu bytes of %s and asks for %llu more, the limit is %llu (user_limit of the device)",
				       held, peerlane_device_name(dev), amount,
				       limit);
	if (ret)
		return peerlane_refuse(msg, ret, "no memory for accounting");
	return 0;
}

void peerlane_uncharge(const struct peerlane_device *dev, kuid_t uid, u64 amount)
{
	uncharge(dev, uid, amount);
}

/* ---- numbers ---- */

int peerlane_count(const struct peerlane_countable *what, kuid_t uid, u64 amount,
		   u64 limit, struct peerlane_msg *msg)
{
	u64 held;
	int ret = charge(what, uid, amount, limit, &held);

	if (ret == -EDQUOT)
		return peerlane_refuse(msg, ret,
				       "this user has %llu %s and asks for %llu more, the limit is %llu (module parameter %s)",
				       held, what->nouns, amount, limit,
				       what->parameter);
	if (ret)
		return peerlane_refuse(msg, ret, "no memory for accounting");
	return 0;
}

void peerlane_uncount(const struct peerlane_countable *what, kuid_t uid,
		      u64 amount)
{
	uncharge(what, uid, amount);
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
