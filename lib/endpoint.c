// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Endpoints: made, given memory, shown to the peer, ended. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoint.h"

int pl_endpoint_new(int fd, uint64_t id, struct peerlane_endpoint **endpoint)
{
	struct peerlane_endpoint *new = calloc(1, sizeof(*new));

	if (!new)
		return pl_fail(ENOMEM, "endpoint");
	new->fd = fd;
	new->id = id;
	*endpoint = new;
	return 0;
}

/* ---- options -------------------------------------------------------------- */

static const char what[] = "an endpoint";

static int to_create(const struct peerlane_endpoint_options *options,
		     struct peerlane_endpoint_create *arg)
{
	int ret;

	if (pl_is_zero(options->secret, sizeof(options->secret)))
		return pl_fail_text(EINVAL, "an endpoint needs a secret, and zero is none");
	memcpy(arg->secret, options->secret, sizeof(arg->secret));
	arg->lanes = options->lanes;
	arg->depth = options->depth;
	arg->notify_depth = options->notify_depth;
	arg->slots = options->slots;
	arg->timeout_ms = options->timeout;
	arg->near_fd = options->nearest_to ? options->nearest_to->fd : -1;
	arg->out_fd = -1;
	ret = pl_options_text(arg->rdma_device, sizeof(arg->rdma_device),
			      options->rdma_device, "RDMA device", what);
	if (!ret)
		ret = pl_options_text(arg->label, sizeof(arg->label),
				      options->label, "label", what);
	return ret;
}

static int set_nonblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return pl_fail(errno, "endpoint");
	return 0;
}

/* ---- made and ended ------------------------------------------------------- */

int peerlane_endpoint_create(const struct peerlane_endpoint_options *options,
			     struct peerlane_endpoint **endpoint)
{
	struct peerlane_endpoint_create arg = { 0 };
	struct peerlane_endpoint_options own;
	int fd, ret;

	pl_clear();
	ret = pl_options(&own, sizeof(own), options, options->size,
			 offsetof(struct peerlane_endpoint_options, lanes),
			 what);
	if (!ret)
		ret = to_create(&own, &arg);
	if (ret)
		return ret;
	fd = pl_open_control();
	if (fd < 0)
		return fd;
	ret = pl_ioctl(fd, PEERLANE_IOC_ENDPOINT_CREATE, &arg, sizeof(arg),
		       NULL, "endpoint");
	pl_close(fd);
	if (ret)
		return ret;
	if (own.nonblock)
		ret = set_nonblock(arg.out_fd);
	if (!ret)
		ret = pl_endpoint_new(arg.out_fd, arg.out_id, endpoint);
	if (ret)
		pl_close(arg.out_fd);
	return ret;
}

int peerlane_endpoint_from_fd(int fd, struct peerlane_endpoint **endpoint)
{
	struct peerlane_endpoint_record record;
	struct peerlane_endpoint *new;
	int ret;

	pl_clear();
	ret = pl_endpoint_info(fd, &record);
	if (ret == -ENOTTY)
		return pl_fail_text(EBADF, "fd %d is not an endpoint", fd);
	if (!ret)
		ret = pl_endpoint_new(fd, record.id, &new);
	if (ret)
		return ret;
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) {
		free(new);
		return pl_fail(errno, "fd %d", fd);
	}
	*endpoint = new;
	return 0;
}

int peerlane_endpoint_fd(const struct peerlane_endpoint *endpoint)
{
	return endpoint->fd;
}

uint64_t peerlane_endpoint_id(const struct peerlane_endpoint *endpoint)
{
	return endpoint->id;
}

void peerlane_endpoint_close(struct peerlane_endpoint *endpoint)
{
	if (!endpoint)
		return;
	pl_close(endpoint->fd);
	free(endpoint);
}

int peerlane_endpoint_disconnect(const struct peerlane_endpoint *endpoint)
{
	struct peerlane_endpoint_disconnect arg = { 0 };

	pl_clear();
	return pl_ioctl(endpoint->fd, PEERLANE_IOC_ENDPOINT_DISCONNECT, &arg,
			sizeof(arg), NULL, "disconnect");
}

/* ---- memory ---------------------------------------------------------------- */

int peerlane_endpoint_bind(const struct peerlane_endpoint *endpoint,
			   uint32_t slot, const struct peerlane_region *region,
			   uint64_t offset, uint64_t length, bool read_only,
			   uint64_t *bound)
{
	struct peerlane_endpoint_bind arg = { 0 };
	int ret;

	pl_clear();
	arg.flags = read_only ? PEERLANE_BIND_READ_ONLY : 0;
	arg.slot = slot;
	arg.region_fd = region->fd;
	arg.offset = offset;
	arg.length = length;
	ret = pl_ioctl(endpoint->fd, PEERLANE_IOC_ENDPOINT_BIND, &arg,
		       sizeof(arg), NULL, "slot %u", slot);
	if (!ret && bound)
		*bound = arg.out_length;
	return ret;
}

int peerlane_endpoint_unbind(const struct peerlane_endpoint *endpoint,
			     uint32_t slot)
{
	struct peerlane_endpoint_bind arg = { 0 };

	pl_clear();
	arg.slot = slot;
	arg.region_fd = -1;
	return pl_ioctl(endpoint->fd, PEERLANE_IOC_ENDPOINT_BIND, &arg,
			sizeof(arg), NULL, "slot %u", slot);
}

int peerlane_endpoint_expose(const struct peerlane_endpoint *endpoint,
			     uint32_t slot, uint64_t offset, uint64_t length,
			     uint32_t rights, uint64_t value, uint64_t *token)
{
	struct peerlane_endpoint_expose arg = { 0 };
	int ret;

	pl_clear();
	arg.slot = slot;
	arg.rights = rights;
	arg.offset = offset;
	arg.length = length;
	arg.value = value;
	ret = pl_ioctl(endpoint->fd, PEERLANE_IOC_ENDPOINT_EXPOSE, &arg,
		       sizeof(arg), NULL, "exposure of slot %u", slot);
	if (!ret && token)
		*token = arg.out_token;
	return ret;
}

int peerlane_endpoint_withdraw(const struct peerlane_endpoint *endpoint,
			       uint64_t token)
{
	struct peerlane_endpoint_withdraw arg = { 0 };

	pl_clear();
	arg.token = token;
	return pl_ioctl(endpoint->fd, PEERLANE_IOC_ENDPOINT_WITHDRAW, &arg,
			sizeof(arg), NULL, "withdrawal");
}
