// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Aggregators: made with their memory, and what they tell. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "group.h"

static const char what[] = "an aggregator";

#define EQUAL(own, kernel) _Static_assert((int)(own) == (int)(kernel), #own)
EQUAL(PEERLANE_AGGREGATOR_FORMED, PEERLANE_AGGREGATOR_RECORD_FORMED);
EQUAL(PEERLANE_AGGREGATOR_ENDED, PEERLANE_AGGREGATOR_RECORD_ENDED);
EQUAL(PEERLANE_AGGREGATOR_CLOSED, PEERLANE_AGGREGATOR_RECORD_CLOSED);

/* ---- memory --------------------------------------------------------------------- */

static int map_pool(struct peerlane_aggregator *aggregator, uint64_t memory)
{
	uint64_t page = pl_page_size();
	void *pool;

	if (!memory || memory > SIZE_MAX - page)
		return pl_fail_text(EINVAL, "an aggregator needs memory, and %llu bytes is none",
				    (unsigned long long)memory);
	memory = (memory + page - 1) / page * page;
	pool = mmap(NULL, (size_t)memory, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pool == MAP_FAILED)
		return pl_fail(errno, "%llu bytes for an aggregator",
			       (unsigned long long)memory);
	/* Wishes: fewer and larger pieces, and no copies for children. */
	madvise(pool, (size_t)memory, MADV_HUGEPAGE);
	madvise(pool, (size_t)memory, MADV_DONTFORK);
	aggregator->pool = pool;
	aggregator->pool_size = (size_t)memory;
	return 0;
}

/* ---- made and ended --------------------------------------------------------------- */

static int to_create(const struct peerlane_aggregator_options *options,
		     struct peerlane_aggregator_create *arg)
{
	int ret;

	if (pl_is_zero(options->secret, sizeof(options->secret)))
		return pl_fail_text(EINVAL, "an aggregator needs a secret, and zero is none");
	memcpy(arg->secret, options->secret, sizeof(arg->secret));
	arg->backlog = options->backlog;
	arg->max_groups = options->max_groups;
	arg->timeout_ms = options->timeout;
	arg->join_timeout_ms = options->join_timeout;
	arg->parent_lanes = options->parent_lanes;
	arg->out_fd = -1;
	ret = pl_options_text(arg->rdma_device, sizeof(arg->rdma_device),
			      options->rdma_device, "RDMA device", what);
	if (!ret && options->parent && *options->parent)
		ret = pl_aggregator_address(options->parent, arg->parent);
	return ret ? ret : pl_aggregator_local(options->address, arg->address);
}

static int open_once(int control, struct peerlane_aggregator_create *arg)
{
	char text[PEERLANE_PEER_TEXT];

	pl_endpoint_address(arg->address, text);
	return pl_ioctl(control, PEERLANE_IOC_AGGREGATOR_CREATE, arg,
			sizeof(*arg), NULL, "aggregator at %s", text);
}

static bool is_everywhere(const struct peerlane_aggregator_options *options)
{
	return !options->address || !*options->address ||
	       *options->address == ':';
}

static int open_aggregator(const struct peerlane_aggregator_options *options,
			   struct peerlane_aggregator_create *arg)
{
	int ret, control = pl_open_control();

	if (control < 0)
		return control;
	ret = open_once(control, arg);
	/* A machine without IPv6 */
	if (is_everywhere(options) &&
	    (ret == -EAFNOSUPPORT || ret == -EADDRNOTAVAIL)) {
		pl_any_address_4(arg->address, pl_endpoint_port(arg->address));
		ret = open_once(control, arg);
	}
	pl_close(control);
	return ret;
}

static int create(struct peerlane_aggregator *aggregator,
		  const struct peerlane_aggregator_options *options)
{
	struct peerlane_aggregator_create arg = { 0 };
	struct peerlane_region *region = NULL;
	int ret;

	ret = to_create(options, &arg);
	if (!ret)
		ret = map_pool(aggregator, options->memory);
	if (!ret)
		ret = peerlane_region_host(aggregator->pool,
					   aggregator->pool_size, false,
					   &region);
	if (ret)
		return ret;
	arg.pool_fd = region->fd;
	ret = open_aggregator(options, &arg);
	/* The kernel keeps the pages as long as it needs them. */
	peerlane_region_free(region);
	if (!ret)
		aggregator->fd = arg.out_fd;
	return ret;
}

static void let_go(struct peerlane_aggregator *aggregator)
{
	pl_close(aggregator->fd);
	if (aggregator->pool)
		munmap(aggregator->pool, aggregator->pool_size);
	free(aggregator);
}

int peerlane_aggregator_create(const struct peerlane_aggregator_options *options,
			       struct peerlane_aggregator **aggregator)
{
	struct peerlane_aggregator_options own;
	struct peerlane_aggregator *new;
	int ret;

	pl_clear();
	ret = pl_options(&own, sizeof(own), options, options->size,
			 offsetof(struct peerlane_aggregator_options, backlog),
			 what);
	if (ret)
		return ret;
	new = calloc(1, sizeof(*new));
	if (!new)
		return pl_fail(ENOMEM, "aggregator");
	new->fd = -1;
	ret = create(new, &own);
	if (ret) {
		let_go(new);
		return ret;
	}
	pl_clear();
	*aggregator = new;
	return 0;
}

int peerlane_aggregator_fd(const struct peerlane_aggregator *aggregator)
{
	return aggregator->fd;
}

void peerlane_aggregator_close(struct peerlane_aggregator *aggregator)
{
	if (aggregator)
		let_go(aggregator);
}

/* ---- what it tells ------------------------------------------------------------------- */

/* Records of other kernels are shorter or longer: what is missing is zero. */
static int from_record(struct peerlane_aggregator_event *event,
		       const char *bytes, size_t got)
{
	struct peerlane_aggregator_record record = { 0 };

	memcpy(&record, bytes, got < sizeof(record) ? got : sizeof(record));
	if (got < offsetof(struct peerlane_aggregator_record, group) ||
	    record.size > got)
		return pl_fail_text(EPROTO, "aggregator: a record of %zu bytes",
				    got);
	event->type = record.type;
	event->status = record.status;
	event->group = record.group;
	event->rank = record.rank;
	event->cause = record.cause;
	event->ranks = record.ranks;
	event->lost = record.lost;
	return 0;
}

int peerlane_aggregator_next(const struct peerlane_aggregator *aggregator,
			     int timeout,
			     struct peerlane_aggregator_event *event)
{
	struct pollfd file = { .fd = aggregator->fd, .events = POLLIN };
	struct peerlane_aggregator_record room;
	ssize_t size;
	int ret;

	pl_clear();
	ret = poll(&file, 1, timeout);
	if (ret < 0)
		return pl_fail(errno, "aggregator");
	if (!ret)
		return pl_fail_text(EAGAIN, "aggregator: nothing came in time");
	/* It may be over, and all that was told of it taken. */
	if (!(file.revents & POLLIN))
		return pl_fail_text(ENOTCONN, "aggregator: it takes nobody in any more");
	size = read(aggregator->fd, &room, sizeof(room));
	if (size < 0)
		return pl_fail(errno, "aggregator");
	return from_record(event, (const char *)&room, (size_t)size);
}
