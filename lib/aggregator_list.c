// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Aggregators of this node, and who was late in their groups. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "group.h"

_Static_assert(PEERLANE_LATENESS == PEERLANE_LATENESS_BUCKETS, "");

#define RANKS_MOST	1024

/* ---- counts ----------------------------------------------------------------------- */

static void from_info(struct peerlane_aggregator_status *status,
		      const struct peerlane_aggregator_info *info)
{
	memset(status, 0, sizeof(*status));
	status->id = info->id;
	status->pool_bytes = info->pool_bytes;
	status->pool_used = info->pool_used;
	status->segments = info->segments;
	status->bytes = info->bytes;
	status->formed = info->formed;
	status->failed = info->failed;
	status->refused = info->refused;
	status->uid = info->uid;
	status->pid = info->pid;
	status->groups = info->groups;
	status->max_groups = info->max_groups;
	status->links = info->links;
	status->status = info->status;
	pl_text_copy(status->comm, info->comm, sizeof(status->comm));
	pl_endpoint_address(info->address, status->address);
	if (!pl_is_zero(info->parent, sizeof(info->parent)))
		pl_endpoint_address(info->parent, status->parent);
	status->tree_groups = info->tree_groups;
	pl_text_copy(status->rdma_device, info->rdma_device,
		     sizeof(status->rdma_device));
}

static int query(int fd, struct peerlane_aggregator_info *info)
{
	struct peerlane_list arg = { 0 };
	int ret;

	memset(info, 0, sizeof(*info));
	arg.array_ptr = (uintptr_t)info;
	arg.count = 1;
	arg.record_size = sizeof(*info);
	ret = pl_ioctl(fd, PEERLANE_IOC_AGGREGATOR_INFO, &arg, sizeof(arg),
		       NULL, "aggregator");
	if (!ret && arg.count != 1)
		ret = pl_fail_text(EPROTO, "aggregator: the kernel says %u records in room for 1",
				   arg.count);
	return ret;
}

int peerlane_aggregator_query(const struct peerlane_aggregator *aggregator,
			      struct peerlane_aggregator_status *status)
{
	struct peerlane_aggregator_info info;
	int ret;

	pl_clear();
	ret = query(aggregator->fd, &info);
	if (!ret)
		from_info(status, &info);
	return ret;
}

static void convert(void *status, const void *info)
{
	from_info(status, info);
}

int peerlane_aggregator_list(struct peerlane_aggregator_status **statuses,
			     size_t *count)
{
	static const struct pl_list list = {
		.request = PEERLANE_IOC_AGGREGATOR_LIST,
		.record_size = sizeof(struct peerlane_aggregator_info),
		.info_size = sizeof(struct peerlane_aggregator_status),
		.what = "list of aggregators",
		.convert = convert,
	};

	return pl_list(&list, statuses, count);
}

/* ---- ranks ---------------------------------------------------------------------------- */

static void from_rank(struct peerlane_rank_status *status,
		      const struct peerlane_rank_record *record)
{
	status->segments = record->segments;
	status->bytes = record->bytes;
	status->late_total = record->late_total_ns;
	status->late_max = record->late_max_ns;
	status->last = record->last;
	status->rank = record->rank;
	status->is_there = record->is_there;
	pl_endpoint_address(record->peer, status->peer);
	memcpy(status->late, record->late, sizeof(status->late));
}

static int read_ranks(int fd, uint64_t group,
		      struct peerlane_rank_record *records, uint32_t *count)
{
	struct peerlane_aggregator_ranks arg = {
		.array_ptr = (uintptr_t)records, .count = RANKS_MOST,
		.record_size = sizeof(*records), .group = group,
	};
	int ret = pl_ioctl(fd, PEERLANE_IOC_AGGREGATOR_RANKS, &arg, sizeof(arg),
			   NULL, "ranks of group %llu",
			   (unsigned long long)group);

	if (!ret && arg.count > RANKS_MOST)
		ret = pl_fail_text(EPROTO, "ranks of group %llu: the kernel says %u records in room for %d",
				   (unsigned long long)group, arg.count,
				   RANKS_MOST);
	if (!ret)
		*count = arg.count;
	return ret;
}

int peerlane_aggregator_ranks(const struct peerlane_aggregator *aggregator,
			      uint64_t group,
			      struct peerlane_rank_status **list, size_t *count)
{
	struct peerlane_rank_record *records;
	struct peerlane_rank_status *out = NULL;
	uint32_t n = 0, i;
	int ret;

	pl_clear();
	records = calloc(RANKS_MOST, sizeof(*records));
	if (!records)
		return pl_fail(ENOMEM, "ranks of a group");
	ret = read_ranks(aggregator->fd, group, records, &n);
	if (!ret && n) {
		out = calloc(n, sizeof(*out));
		if (!out)
			ret = pl_fail(ENOMEM, "ranks of a group");
	}
	for (i = 0; !ret && i < n; i++)
		from_rank(&out[i], &records[i]);
	free(records);
	if (ret)
		return ret;
	*list = out;
	*count = n;
	return 0;
}

/* ---- another process's ------------------------------------------------------------------- */

static int find_process(uint64_t id, int32_t *pid)
{
	struct peerlane_aggregator_status *list;
	size_t count, i;
	int ret = peerlane_aggregator_list(&list, &count);

	if (ret)
		return ret;
	*pid = 0;
	for (i = 0; i < count && !*pid; i++)
		if (list[i].id == id)
			*pid = list[i].pid;
	free(list);
	return *pid > 0 ? 0 : pl_fail_text(ENOENT, "no aggregator %llu, or its process is not seen from here",
					   (unsigned long long)id);
}

static bool is_aggregator(const char *folder, const char *name)
{
	char path[320], link[64];
	ssize_t length;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	length = readlink(path, link, sizeof(link) - 1);
	link[length > 0 ? length : 0] = '\0';
	return strstr(link, "[peerlane-aggregator]");
}

/* That file of the process, if it is the one of @id; else a negative errno */
static int take_file(int process, const char *name, uint64_t id)
{
	struct peerlane_aggregator_info info;
	int fd = (int)syscall(SYS_pidfd_getfd, process, atoi(name), 0);

	if (fd < 0)
		return pl_fail(errno, "file of aggregator %llu",
			       (unsigned long long)id);
	if (!query(fd, &info) && info.id == id)
		return fd;
	pl_close(fd);
	return pl_fail_text(ENOENT, "aggregator %llu has gone",
			    (unsigned long long)id);
}

static int search(int process, int32_t pid, uint64_t id)
{
	int fd = pl_fail_text(ENOENT, "aggregator %llu has gone",
			      (unsigned long long)id);
	struct dirent *entry;
	char folder[40];
	DIR *dir;

	snprintf(folder, sizeof(folder), "/proc/%d/fd", pid);
	dir = opendir(folder);
	if (!dir)
		return pl_fail(errno, "%s", folder);
	while (fd < 0 && (entry = readdir(dir)))
		if (is_aggregator(folder, entry->d_name))
			fd = take_file(process, entry->d_name, id);
	closedir(dir);
	return fd;
}

static int file_of(uint64_t id)
{
	int process, fd, ret;
	int32_t pid;

	ret = find_process(id, &pid);
	if (ret)
		return ret;
	process = (int)syscall(SYS_pidfd_open, pid, 0);
	if (process < 0)
		return pl_fail(errno, "process %d", pid);
	fd = search(process, pid, id);
	pl_close(process);
	return fd;
}

int peerlane_aggregator_open(uint64_t id, struct peerlane_aggregator **aggregator)
{
	struct peerlane_aggregator *new;
	int fd;

	pl_clear();
	fd = file_of(id);
	if (fd < 0)
		return fd;
	new = calloc(1, sizeof(*new));
	if (!new) {
		pl_close(fd);
		return pl_fail(ENOMEM, "aggregator");
	}
	pl_clear();
	new->fd = fd;
	*aggregator = new;
	return 0;
}
