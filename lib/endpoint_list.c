// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Endpoints of this node, and how they fare. */
#include <errno.h>
#include <string.h>

#include "endpoint.h"

static void from_record(struct peerlane_endpoint_info *info,
			const struct peerlane_endpoint_record *record)
{
	memset(info, 0, sizeof(*info));
	info->id = record->id;
	info->bytes_put = record->bytes_put;
	info->bytes_get = record->bytes_get;
	info->ops_done = record->ops_done;
	info->ops_failed = record->ops_failed;
	info->uid = record->uid;
	info->pid = record->pid;
	info->state = record->state;
	info->status = record->status;
	info->lanes = record->lanes;
	info->depth = record->depth;
	info->outstanding = record->outstanding;
	info->slots = record->slots;
	info->exposed = record->exposed;
	info->granted = record->granted;
	info->keys = record->keys;
	info->path = record->path;
	pl_text_copy(info->comm, record->comm, sizeof(info->comm));
	pl_endpoint_address(record->local, info->local);
	pl_endpoint_address(record->peer, info->peer);
	pl_text_copy(info->rdma_device, record->rdma_device,
		  sizeof(info->rdma_device));
	pl_text_copy(info->label, record->label, sizeof(info->label));
	pl_text_copy(info->reason, record->reason, sizeof(info->reason));
}

int pl_endpoint_info(int fd, struct peerlane_endpoint_record *record)
{
	return pl_info(fd, PEERLANE_IOC_ENDPOINT_INFO, record, sizeof(*record));
}

int peerlane_endpoint_query(const struct peerlane_endpoint *endpoint,
			    struct peerlane_endpoint_info *info)
{
	struct peerlane_endpoint_record record;
	int ret;

	pl_clear();
	ret = pl_endpoint_info(endpoint->fd, &record);
	if (!ret)
		from_record(info, &record);
	return ret;
}

static void convert(void *info, const void *record)
{
	from_record(info, record);
}

int peerlane_endpoint_list(struct peerlane_endpoint_info **infos, size_t *count)
{
	static const struct pl_list list = {
		.request = PEERLANE_IOC_ENDPOINT_LIST,
		.record_size = sizeof(struct peerlane_endpoint_record),
		.info_size = sizeof(struct peerlane_endpoint_info),
		.what = "list of endpoints",
		.convert = convert,
	};

	return pl_list(&list, infos, count);
}

const char *peerlane_endpoint_state_name(uint32_t state)
{
	static const char *const names[] = {
		[PEERLANE_ENDPOINT_NEW] = "new",
		[PEERLANE_ENDPOINT_LISTENING] = "listening",
		[PEERLANE_ENDPOINT_CONNECTING] = "connecting",
		[PEERLANE_ENDPOINT_CONNECTED] = "connected",
		[PEERLANE_ENDPOINT_CLOSED] = "closed",
	};

	return state < sizeof(names) / sizeof(names[0]) ? names[state] :
							   "unknown";
}
