// SPDX-License-Identifier: GPL-2.0
/* Calls that take struct peerlane_list. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "ioctl.h"

static int copy_records(const struct peerlane_list *args, const void *records,
			u32 count, u32 size)
{
	char __user *to = u64_to_user_ptr(args->array_ptr);
	u32 i, part = min(size, args->record_size);

	for (i = 0; i < count; i++, to += args->record_size) {
		if (copy_to_user(to, records + (size_t)i * size, part))
			return -EFAULT;
		if (clear_user(to + part, args->record_size - part))
			return -EFAULT;
	}
	return 0;
}

/*
 * The room is for what there is now, not for what the caller has: he may say 4
 * billion. Taken again if by then there was more, and he has room for it.
 */
static void *snapshot(u32 limit, peerlane_records_fn get, u32 size, u32 *room, u32 *count)
{
	void *records = NULL;

	*count = get(NULL, 0);
	do {
		kvfree(records);
		*room = min(limit, *count + *count / 8 + 16);
		records = kvmalloc_array(max(*room, 1U), size,
					 GFP_KERNEL_ACCOUNT);
		if (!records)
			return NULL;
		*count = get(records, *room);
	} while (*count > *room && *room < limit);
	return records;
}

static int check(struct peerlane_call *call, u32 min_size)
{
	const struct peerlane_list *args = &call->args.list;

	if (args->record_size < min_size || args->record_size > PAGE_SIZE)
		return peerlane_refuse(&call->msg, -EINVAL,
				       "record_size %u, the first release has %u",
				       args->record_size, min_size);
	return 0;
}

/* @records: as many as there is room for, of @count. */
static int answer(struct peerlane_call *call, const void *records, u32 room,
		  u32 count, u32 size)
{
	struct peerlane_list *args = &call->args.list;
	int ret = -EMSGSIZE;

	if (count <= room)
		ret = copy_records(args, records, count, size);
	if (ret == -EFAULT)
		return peerlane_refuse(&call->msg, ret,
				       "array_ptr cannot be written");
	args->count = count;
	if (peerlane_respond(call, sizeof(*args)))
		return -EFAULT;
	if (ret)
		return peerlane_refuse(&call->msg, ret,
				       "there are %u records", count);
	return 0;
}

int peerlane_list(struct peerlane_call *call, peerlane_records_fn get, u32 size,
		  u32 min_size)
{
	u32 room, count;
	void *records;
	int ret = check(call, min_size);

	if (ret)
		return ret;
	records = snapshot(call->args.list.count, get, size, &room, &count);
	if (!records)
		return -ENOMEM;
	ret = answer(call, records, room, count, size);
	kvfree(records);
	return ret;
}

int peerlane_list_answer(struct peerlane_call *call, const void *records,
			 u32 room, u32 count, u32 size, u32 min_size)
{
	int ret = check(call, min_size);

	return ret ? ret : answer(call, records, room, count, size);
}

int peerlane_list_one(struct peerlane_call *call, const void *record, u32 size,
		      u32 min_size)
{
	int ret = check(call, min_size);

	return ret ? ret : answer(call, record, call->args.list.count, 1, size);
}
