// SPDX-License-Identifier: GPL-2.0
/* Who holds what: the list of regions, and who mapped each. */
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/user_namespace.h>

#include "peerlane.h"
#include "region_list.h"

static LIST_HEAD(regions);		/* in order of id */
static DEFINE_MUTEX(regions_lock);	/* protects regions */

void peerlane_region_publish(struct peerlane_region *region)
{
	struct peerlane_region *other;

	mutex_lock(&regions_lock);
	/* Ids are drawn before this lock: two openers may come in crossed. */
	list_for_each_entry_reverse(other, &regions, node)
		if (other->id < region->id)
			break;
	list_add(&region->node, &other->node);
	mutex_unlock(&regions_lock);
}

static void drop_mappers(struct peerlane_region *region)
{
	int i;

	for (i = 0; i < PEERLANE_MAPPERS; i++)
		put_pid(region->mappers[i].tgid);
}

void peerlane_region_unpublish(struct peerlane_region *region)
{
	mutex_lock(&regions_lock);
	list_del(&region->node);
	mutex_unlock(&regions_lock);
	drop_mappers(region);
}

/* ---- mappers ---- */

static bool known_mapper(const struct peerlane_region *region,
			 const struct pid *tgid)
{
	int i;

	lockdep_assert_held(&region->mappers_lock);
	for (i = 0; i < PEERLANE_MAPPERS; i++)
		if (region->mappers[i].tgid == tgid)
			return true;
	return false;
}

static bool is_alive(struct pid *tgid)
{
	bool alive;

	rcu_read_lock();
	alive = pid_task(tgid, PIDTYPE_TGID);
	rcu_read_unlock();
	return alive;
}

/* A free one, else of one who has ended, else in turn. */
static struct peerlane_mapper *pick_slot(struct peerlane_region *region)
{
	int i;

	for (i = 0; i < PEERLANE_MAPPERS; i++)
		if (!region->mappers[i].tgid)
			return &region->mappers[i];
	for (i = 0; i < PEERLANE_MAPPERS; i++)
		if (!is_alive(region->mappers[i].tgid))
			return &region->mappers[i];
	return &region->mappers[region->next_mapper++ % PEERLANE_MAPPERS];
}

/*
 * Pins carry no owner. Whoever mapped or faulted may have pinned, also when he
 * has unmapped since: so an entry stays until others push it out. Children that
 * come and go, as workers do, do not push out a parent who has pinned.
 */
void peerlane_region_note_mapper(struct peerlane_region *region)
{
	struct pid *tgid = task_tgid(current), *old = NULL;
	struct peerlane_mapper *slot;

	spin_lock(&region->mappers_lock);
	if (!known_mapper(region, tgid)) {
		slot = pick_slot(region);
		region->last_mapper = slot - region->mappers;
		old = slot->tgid;
		slot->tgid = get_pid(tgid);
		get_task_comm(slot->comm, current->group_leader);
	}
	spin_unlock(&region->mappers_lock);
	put_pid(old);
}

void peerlane_region_mappers(struct peerlane_region *region, char *text,
			     size_t size)
{
	size_t used = 0;
	int i;

	text[0] = '\0';
	spin_lock(&region->mappers_lock);
	for (i = 0; i < PEERLANE_MAPPERS; i++) {
		const struct peerlane_mapper *mapper = &region->mappers[i];

		if (!mapper->tgid)
			continue;
		used += scnprintf(text + used, size - used, "%s%*pE[%d]",
				  used ? ", " : "",
				  (int)strnlen(mapper->comm, sizeof(mapper->comm)),
				  mapper->comm, pid_nr(mapper->tgid));
	}
	spin_unlock(&region->mappers_lock);
	if (!used)
		strscpy(text, "nobody", size);
}

void peerlane_region_kill_mappers(struct peerlane_region *region)
{
	int i;

	spin_lock(&region->mappers_lock);
	for (i = 0; i < PEERLANE_MAPPERS; i++)
		if (region->mappers[i].tgid)
			kill_pid(region->mappers[i].tgid, SIGKILL, 1);
	spin_unlock(&region->mappers_lock);
}

static void record_mapper(struct peerlane_region *region,
			  struct peerlane_region_record *record)
{
	const struct peerlane_mapper *last;

	spin_lock(&region->mappers_lock);
	last = &region->mappers[region->last_mapper];
	if (last->tgid) {
		record->mapper_pid = pid_vnr(last->tgid);
		memcpy(record->mapper_comm, last->comm,
		       sizeof(record->mapper_comm));
	}
	spin_unlock(&region->mappers_lock);
}

/* ---- snapshots ---- */

static bool has_memory_in_limbo(u32 state)
{
	return state == PEERLANE_STATE_REVOKED || state == PEERLANE_STATE_LIMBO;
}

static void fill_record(struct peerlane_region *region,
			struct peerlane_region_record *record)
{
	memset(record, 0, sizeof(*record));
	record->id = region->id;
	record->uid = from_kuid_munged(current_user_ns(), region->uid);
	record->pid = pid_vnr(region->opener);
	memcpy(record->comm, region->comm, sizeof(record->comm));
	record->kind = region->kind->kind(region);
	record->exports = atomic_read(&region->nr_exports);
	record->attachments = atomic_read(&region->attachments);
	record->mappings = atomic_read(&region->mappings);
	if (region->dev)
		strscpy(record->device, peerlane_device_name(region->dev),
			sizeof(record->device));
	record_mapper(region, record);
	record->state = READ_ONCE(region->state);

	/* The writer may be wiping gigabytes: then tell what needs no lock. */
	if (!down_read_trylock(&region->lock))
		return;
	record->state = region->state;
	record->length = region->length;
	record->dev_offset = region->offset;
	/* The lock keeps limbo from giving the pages back while we look. */
	if (has_memory_in_limbo(region->state))
		record->pinned_units = region->kind->pinned(region);
	up_read(&region->lock);
}

u32 peerlane_region_records(struct peerlane_region_record *records, u32 room)
{
	/* A filter, no permission asked for: nothing to audit. */
	bool all = ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
	struct peerlane_region *region;
	u32 count = 0;

	mutex_lock(&regions_lock);
	list_for_each_entry(region, &regions, node) {
		if (!all && !uid_eq(region->uid, current_euid()))
			continue;
		if (count < room)
			fill_record(region, &records[count]);
		count++;
	}
	mutex_unlock(&regions_lock);
	return count;
}

void peerlane_region_info(struct peerlane_region *region,
			  struct peerlane_region_status *info)
{
	info->out_id = region->id;
	info->out_kind = region->kind->kind(region);
	info->out_memtype = region->dev ? region->dev->memtype :
					  PEERLANE_MEMTYPE_NONE;
	info->out_numa_node = region->dev ? dev_to_node(&region->dev->dev) : -1;
	info->out_exports = atomic_read(&region->nr_exports);
	info->out_attachments = atomic_read(&region->attachments);
	info->out_mappings = atomic_read(&region->mappings);
	memset(info->out_device, 0, sizeof(info->out_device));
	if (region->dev)
		strscpy(info->out_device, peerlane_device_name(region->dev),
			sizeof(info->out_device));

	down_read(&region->lock);
	info->out_state = region->state;
	info->out_length = region->length;
	info->out_dev_offset = region->offset;
	info->out_caps = region->state == PEERLANE_STATE_ACTIVE ?
			 region->kind->caps(region) : 0;
	up_read(&region->lock);
}
