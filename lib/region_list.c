// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* All regions of this node and who holds them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"

/* memcpy() of a text field that ends in NUL whatever came */
static void text_copy(char *to, const char *from, size_t size)
{
	memcpy(to, from, size);
	to[size - 1] = '\0';
}

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
	text_copy(info->comm, record->comm, sizeof(info->comm));
	text_copy(info->mapper_comm, record->mapper_comm,
		  sizeof(info->mapper_comm));
	text_copy(info->device, record->device, sizeof(info->device));
}

int peerlane_region_list(struct peerlane_region_info **infos, size_t *count)
{
	struct peerlane_region_info *out = NULL;
	struct peerlane_region_record *records;
	void *array;
	size_t n, i;
	int ret;

	pl_clear();
	ret = pl_list(PEERLANE_IOC_REGION_LIST, sizeof(*records),
		      "list of regions", &array, &n);
	if (ret)
		return ret;
	records = array;
	if (n) {
		out = calloc(n, sizeof(*out));
		if (!out) {
			free(records);
			return pl_fail(ENOMEM, "list of regions");
		}
	}
	for (i = 0; i < n; i++)
		from_record(&out[i], &records[i]);
	free(records);
	*infos = out;
	*count = n;
	return 0;
}
