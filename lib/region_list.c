// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* All regions of this node and who holds them. */
#include <string.h>

#include "private.h"

static void from_record(struct peerlane_region_info *info,
			const struct peerlane_region_record *record)
{
	memset(info, 0, sizeof(*info));
	info->id = record->id;
	info->length = record->length;
	info->dev_offset = record->dev_offset;
	info->uid = record->uid;
	info->pid = record->pid;
	info->mapper_pid = record->mapper_pid;
	info->kind = record->kind;
	info->state = record->state;
	info->memtype = PEERLANE_MEMTYPE_NONE;
	info->exports = record->exports;
	info->attachments = record->attachments;
	info->mappings = record->mappings;
	info->pinned_units = record->pinned_units;
	info->numa_node = -1;
	pl_text_copy(info->comm, record->comm, sizeof(info->comm));
	pl_text_copy(info->mapper_comm, record->mapper_comm,
		  sizeof(info->mapper_comm));
	pl_text_copy(info->device, record->device, sizeof(info->device));
}

static void convert(void *info, const void *record)
{
	from_record(info, record);
}

int peerlane_region_list(struct peerlane_region_info **infos, size_t *count)
{
	static const struct pl_list list = {
		.request = PEERLANE_IOC_REGION_LIST,
		.record_size = sizeof(struct peerlane_region_record),
		.info_size = sizeof(struct peerlane_region_info),
		.what = "list of regions",
		.convert = convert,
	};

	return pl_list(&list, infos, count);
}
