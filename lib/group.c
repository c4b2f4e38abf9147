// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Groups: one rank made, given memory, ended. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "group.h"

static const char what[] = "a group";

/* ---- options ---------------------------------------------------------------- */

static int check(const struct peerlane_group_options *options)
{
	if (pl_is_zero(options->secret, sizeof(options->secret)))
		return pl_fail_text(EINVAL, "a group needs the secret of its aggregators, and zero is none");
	if (!options->group)
		return pl_fail_text(EINVAL, "a group needs a number, the same on all ranks");
	if (options->rank >= options->ranks)
		return pl_fail_text(EINVAL, "rank %u of %u ranks: ranks are counted from 0",
				    options->rank, options->ranks);
	return 0;
}

static int to_create(const struct peerlane_group_options *options,
		     struct peerlane_group_create *arg)
{
	int ret = check(options);

	if (ret)
		return ret;
	memcpy(arg->secret, options->secret, sizeof(arg->secret));
	arg->group = options->group;
	arg->rank = options->rank;
	arg->ranks = options->ranks;
	arg->segment = options->segment;
	arg->window = options->window;
	arg->block = options->block;
	arg->lanes = options->lanes;
	arg->depth = options->depth;
	arg->slots = options->slots;
	arg->timeout_ms = options->timeout;
	arg->op_timeout_ms = options->operation_timeout;
	arg->join_timeout_ms = options->join_timeout;
	arg->near_fd = options->nearest_to ? options->nearest_to->fd : -1;
	arg->placement = options->placement;
	arg->out_fd = -1;
	ret = pl_options_text(arg->rdma_device, sizeof(arg->rdma_device),
			      options->rdma_device, "RDMA device", what);
	if (!ret)
		ret = pl_options_text(arg->label, sizeof(arg->label),
				      options->label, "label", what);
	return ret;
}

/* ---- made and ended ----------------------------------------------------------- */

/* Waits have deadlines, which no change of the date may move. */
static void init_locks(struct peerlane_group *group)
{
	pthread_condattr_t attributes;

	pthread_mutex_init(&group->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&group->read, &attributes);
	pthread_condattr_destroy(&attributes);
}

static int open_group(struct peerlane_group_create *arg)
{
	int ret, fd = pl_open_control();

	if (fd < 0)
		return fd;
	ret = pl_ioctl(fd, PEERLANE_IOC_GROUP_CREATE, arg, sizeof(*arg), NULL,
		       "group");
	pl_close(fd);
	return ret;
}

static int set_nonblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return pl_fail(errno, "group");
	return 0;
}

int peerlane_group_create(const struct peerlane_group_options *options,
			  struct peerlane_group **group)
{
	struct peerlane_group_create arg = { 0 };
	struct peerlane_group_options own;
	struct peerlane_group *new;
	int ret;

	pl_clear();
	ret = pl_options(&own, sizeof(own), options, options->size,
			 offsetof(struct peerlane_group_options, segment), what);
	if (!ret)
		ret = to_create(&own, &arg);
	if (ret)
		return ret;
	new = calloc(1, sizeof(*new));
	if (!new)
		return pl_fail(ENOMEM, "group");
	ret = open_group(&arg);
	if (!ret && own.nonblock)
		ret = set_nonblock(arg.out_fd);
	if (ret) {
		pl_close(arg.out_fd);
		free(new);
		return ret;
	}
	new->fd = arg.out_fd;
	new->id = arg.out_id;
	init_locks(new);
	*group = new;
	return 0;
}

int peerlane_group_fd(const struct peerlane_group *group)
{
	return group->fd;
}

uint64_t peerlane_group_id(const struct peerlane_group *group)
{
	return group->id;
}

int peerlane_group_leave(const struct peerlane_group *group)
{
	struct peerlane_group_leave arg = { 0 };

	pl_clear();
	return pl_ioctl(group->fd, PEERLANE_IOC_GROUP_LEAVE, &arg, sizeof(arg),
			NULL, "leave");
}

void peerlane_group_close(struct peerlane_group *group)
{
	if (!group)
		return;
	pl_close(group->fd);
	pthread_cond_destroy(&group->read);
	pthread_mutex_destroy(&group->lock);
	free(group->tasks);
	free(group);
}

/* ---- memory -------------------------------------------------------------------- */

int peerlane_group_bind(const struct peerlane_group *group, uint32_t slot,
			const struct peerlane_region *region, uint64_t offset,
			uint64_t length, bool read_only, uint64_t *bound)
{
	struct peerlane_endpoint_bind arg = { 0 };
	int ret;

	pl_clear();
	arg.flags = read_only ? PEERLANE_BIND_READ_ONLY : 0;
	arg.slot = slot;
	arg.region_fd = region->fd;
	arg.offset = offset;
	arg.length = length;
	ret = pl_ioctl(group->fd, PEERLANE_IOC_GROUP_BIND, &arg, sizeof(arg),
		       NULL, "slot %u", slot);
	if (!ret && bound)
		*bound = arg.out_length;
	return ret;
}

int peerlane_group_unbind(const struct peerlane_group *group, uint32_t slot)
{
	struct peerlane_endpoint_bind arg = { 0 };

	pl_clear();
	arg.slot = slot;
	arg.region_fd = -1;
	return pl_ioctl(group->fd, PEERLANE_IOC_GROUP_BIND, &arg, sizeof(arg),
			NULL, "slot %u", slot);
}
