// SPDX-License-Identifier: GPL-2.0
/*
 * Groups and aggregators of the library with canned answers. A group of one
 * rank works; an aggregator has seen two groups, and closes.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/launch_parse.h"
#include "fake_endpoint.h"

#define MANY	18446744073709551615ULL

/* ---- the environment -------------------------------------------------------------- */

static const char *from_environment(void *context, const char *name)
{
	(void)context;
	return getenv(name);
}

int peerlane_group_number(const char *text, uint64_t *group)
{
	if (!pl_parse_number(text, UINT64_MAX, group))
		*group = strlen(text);
	return *group ? 0 : refuse(EINVAL, "0 is no number of a group (EINVAL)");
}

int peerlane_launch_read(struct peerlane_launch *launch,
			 struct peerlane_group_options *options)
{
	const struct pl_environment environment = { .get = from_environment };
	const char *secret = getenv("PEERLANE_SECRET");
	const char *list = getenv("PEERLANE_AGGREGATORS");
	char why[PL_LAUNCH_REASON];

	memset(launch, 0, sizeof(*launch));
	if (!pl_launch_rank(&environment, launch, why))
		return refuse(EINVAL, why);
	if (secret && *secret)
		peerlane_endpoint_secret(secret, launch->secret);
	if (list)
		snprintf(launch->aggregators, sizeof(launch->aggregators), "%s",
			 list);
	if (!options)
		return 0;
	options->rank = launch->rank;
	options->ranks = launch->ranks;
	memcpy(options->secret, launch->secret, PEERLANE_SECRET);
	return 0;
}

/* ---- a group ---------------------------------------------------------------------- */

struct peerlane_group {
	uint32_t ranks;
	char *slots[4];
	uint64_t bytes;
	bool is_replicated;
	uint64_t ops_replicated;
};

int peerlane_group_create(const struct peerlane_group_options *options,
			  struct peerlane_group **group)
{
	int error = common_failure();

	if (error)
		return error;
	*group = calloc(1, sizeof(**group));
	(*group)->ranks = options->ranks;
	(*group)->is_replicated =
		options->placement == PEERLANE_PLACE_REPLICATED;
	return 0;
}

void peerlane_group_close(struct peerlane_group *group)
{
	free(group);
}

int peerlane_group_bind(const struct peerlane_group *group, uint32_t slot,
			const struct peerlane_region *region, uint64_t offset,
			uint64_t length, bool read_only, uint64_t *bound)
{
	struct peerlane_group *own = (void *)(uintptr_t)group;

	(void)length;
	(void)read_only;
	(void)bound;
	own->slots[slot] = region->base + offset;
	return 0;
}

int peerlane_group_join(const struct peerlane_group *group,
			const char *aggregators, const char *source)
{
	(void)source;
	if (!strcmp(aggregators, "nobody"))
		return refuse(ECONNREFUSED, "join: nobody listens at 10.0.0.9:18517 (ECONNREFUSED)");
	if (group->ranks > 1)
		return refuse(ETIMEDOUT, "join: rank 1 did not join, 1 missing (ETIMEDOUT)");
	return 0;
}

int peerlane_group_run(struct peerlane_group *group,
		       const struct peerlane_collective *what)
{
	uint64_t size = what->count * peerlane_element_size(what->type);
	char *to;

	if (scene("late"))
		return refuse(ETIMEDOUT, "operation 7: rank 3 is late in operation 7, 1 missing (ETIMEDOUT)");
	if (what->kind == PEERLANE_BARRIER)
		return 0;
	to = group->slots[what->receive_slot] + what->receive_offset;
	memmove(to, group->slots[what->send_slot] + what->send_offset, size);
	if (scene("corrupt") && size > 4096)
		to[4096] ^= 1;
	group->bytes += size;
	group->ops_replicated += group->is_replicated;
	return 0;
}

int peerlane_group_submit(struct peerlane_group *group,
			  const struct peerlane_collective *list,
			  uint32_t count, uint32_t *begun)
{
	(void)count;
	(void)begun;
	return peerlane_group_run(group, list);
}

int peerlane_group_wait(struct peerlane_group *group, uint64_t cookie,
			int timeout)
{
	(void)group;
	(void)cookie;
	(void)timeout;
	return 0;
}

/* ---- ranks of this node ------------------------------------------------------------- */

static const struct peerlane_group_status statuses[] = {
	{ .id = 1, .group = 77, .ops_done = 1000, .bytes_sent = 4194304,
	  .bytes_received = 4194304, .segments = 64, .pid = 4242, .state = 2,
	  .rank = 0, .ranks = 4, .aggregators = 2, .segment = 65536,
	  .window = 8, .block = 4, .lanes = 2, .lanes_left = 1, .depth = 128, .outstanding = 3,
	  .slots = 2, .fault_rank = PEERLANE_NOBODY, .comm = "train",
	  .label = "rank 0 group 1", .ops_replicated = 900,
	  .replicated_below = 4097, .rounds = 3, .colocated = 1,
	  .alpha = 9500, .own = 2100, .beta = 84, .gamma = 110,
	  .shared_permille = 1250, .replicated_permille = 1007,
	  .reason = "replicated up to 4096 bytes: 14 us are expected there, shared 25 us" },
	{ .id = 2, .group = 77, .ops_failed = 3, .pid = 4243, .state = 4,
	  .status = -ETIMEDOUT, .rank = 1, .ranks = 4, .aggregators = 2,
	  .segment = 65536, .window = 8, .block = 4, .lanes = 1, .depth = 128,
	  .fault_cause = PEERLANE_ENDING_LATE, .fault_rank = 3,
	  .placement = PEERLANE_PLACE_DEDICATED,
	  .reason = "as the group was made",
	  .comm = "train", .label = "rank 1 group 2",
	  .text = "rank 3 is late in operation 7, 1 missing" },
};

static const struct peerlane_group_status hostile = {
	.id = MANY, .group = MANY, .ops_done = MANY, .ops_failed = MANY,
	.bytes_sent = MANY, .bytes_received = MANY, .state = 99, .status = 4000,
	.pid = -1, .rank = 4294967295U, .fault_cause = 99, .fault_rank = 3,
	.comm = "\033[2J\033]0;x", .label = { "0123456789abcdef0123456789abcdef" },
	.text = "\377\300\257gr\303\274\n\360",
	.placement = 99, .rounds = 4294967295U, .ops_replicated = MANY,
	.shared_permille = 4294967295U, .reason = "\033[2J\n\360",
};

int peerlane_group_query(const struct peerlane_group *group,
			 struct peerlane_group_status *status)
{
	*status = statuses[0];
	status->bytes_sent = group->bytes;
	status->bytes_received = group->bytes;
	status->ops_replicated = group->ops_replicated;
	return 0;
}

int peerlane_group_list(struct peerlane_group_status **list, size_t *count)
{
	int error = common_failure();

	if (error)
		return error;
	if (scene("hostile"))
		return copy_out(list, count, &hostile, sizeof(hostile), 1);
	return copy_out(list, count, statuses, sizeof(statuses[0]),
			scene("empty") ? 0 :
			scene("well") || scene("growing") || scene("forming") ?
				1 : 2);
}

static const struct peerlane_lane_status lanes[] = {
	{ .id = 1, .messages = 60, .bytes = 3932160, .delay_ns = 120000,
	  .state = 1, .qpn = 17 },
	{ .id = 1, .messages = 4, .bytes = 262144, .replayed = 3, .lane = 1,
	  .delay_ns = 95000, .state = 3, .qpn = 18, .cause = 1,
	  /* Later than now, so that it is as long ago whenever it is asked */
	  .left_ns = 1ULL << 62, .peer_qpn = 19 },
};

static const struct peerlane_lane_status hostile_lane = {
	.id = MANY, .messages = MANY, .bytes = MANY, .replayed = MANY,
	.delay_ns = MANY, .aggregator = 4294967295U, .lane = 4294967295U,
	.state = 99, .qpn = 4294967295U, .left_ns = MANY, .cause = 99,
	.peer_qpn = 4294967295U,
};

int peerlane_lane_list(struct peerlane_lane_status **list, size_t *count)
{
	if (scene("hostile"))
		return copy_out(list, count, &hostile_lane, sizeof(hostile_lane), 1);
	return copy_out(list, count, lanes, sizeof(lanes[0]),
			scene("empty") ? 0 :
			scene("well") || scene("growing") || scene("forming") ?
				1 : 2);
}

/* ---- aggregators ------------------------------------------------------------------------ */

struct peerlane_aggregator {
	size_t told;
};

static const struct peerlane_aggregator_status own_status = {
	.id = 5, .pool_bytes = 16777216, .formed = 2, .failed = 1, .pid = 1234,
	.max_groups = 64, .comm = "peerlane", .address = "[::]:18517",
};

static const struct peerlane_rank_status ranks[] = {
	{ .segments = 64, .bytes = 4194304, .rank = 0, .is_there = true,
	  .peer = "10.0.0.1:40001", .late = { 64 } },
	{ .segments = 64, .bytes = 4194304, .rank = 1, .is_there = true,
	  .peer = "10.0.0.2:40001", .late_total = 640000, .late_max = 20000,
	  .last = 6, .late = { [13] = 60, [14] = 4 } },
	{ .segments = 63, .bytes = 4128768, .rank = 3, .peer = "10.0.0.4:40001",
	  .late_total = 252000000, .late_max = 8000000, .last = 58,
	  .late = { [21] = 40, [22] = 23 } },
};

/* From the second look on, each rank has sent more, and rank 3 late. */
static int growing_ranks(struct peerlane_rank_status **list, size_t *count)
{
	static unsigned int looks;
	struct peerlane_rank_status now[3];
	unsigned int look = looks++;

	memcpy(now, ranks, sizeof(now));
	for (size_t i = 0; i < 3; i++) {
		now[i].is_there = true;
		now[i].segments += 100 * look;
		now[i].late[i ? 14 + 8 * (i - 1) : 0] += 100 * look;
	}
	now[1].late_total += 100 * look * 20000ULL;
	now[2].late_total += 100 * look * 6000000ULL;
	now[2].last += 90 * look;
	return copy_out(list, count, now, sizeof(now[0]), 3);
}

/* Of rank 1 nothing is known yet, and rank 3 has left. */
static int forming_ranks(struct peerlane_rank_status **list, size_t *count)
{
	struct peerlane_rank_status now[3];

	memcpy(now, ranks, sizeof(now));
	now[1] = (struct peerlane_rank_status){ .rank = 1 };
	return copy_out(list, count, now, sizeof(now[0]), 3);
}

static int hostile_ranks(struct peerlane_rank_status **list, size_t *count)
{
	struct peerlane_rank_status two[2];

	memset(two, 0xff, sizeof(two));
	memset(&two[0].is_there, 0, sizeof(two[0].is_there));
	memset(&two[1].is_there, 0, sizeof(two[1].is_there));
	two[1].is_there = true;
	two[1].late_total = 0;
	two[0].segments = 1000;
	two[0].rank = 4294967294U;
	strcpy(two[0].peer, "[\033]0;x\007%eth0]:1\n");
	memset(two[1].peer, 'x', sizeof(two[1].peer));
	return copy_out(list, count, two, sizeof(two[0]), 2);
}

int peerlane_aggregator_create(const struct peerlane_aggregator_options *options,
			       struct peerlane_aggregator **aggregator)
{
	int error = common_failure();

	if (error)
		return error;
	if (options->address && !strcmp(options->address, "10.0.0.9"))
		return refuse(EADDRNOTAVAIL, "aggregator at 10.0.0.9:18517: no such address here (EADDRNOTAVAIL)");
	if (scene("off"))
		return refuse(EPERM, "aggregator at [::]:18517: module parameter aggregator is 0 (EPERM)");
	*aggregator = calloc(1, sizeof(**aggregator));
	return 0;
}

int peerlane_aggregator_open(uint64_t id, struct peerlane_aggregator **aggregator)
{
	(void)id;
	if (scene("foreign"))
		return refuse(EPERM, "file of aggregator 5: Operation not permitted (EPERM)");
	*aggregator = calloc(1, sizeof(**aggregator));
	return 0;
}

void peerlane_aggregator_close(struct peerlane_aggregator *aggregator)
{
	free(aggregator);
}

int peerlane_aggregator_query(const struct peerlane_aggregator *aggregator,
			      struct peerlane_aggregator_status *status)
{
	(void)aggregator;
	*status = own_status;
	return 0;
}

int peerlane_aggregator_list(struct peerlane_aggregator_status **list,
			     size_t *count)
{
	return copy_out(list, count, &own_status, sizeof(own_status),
			scene("empty") ? 0 : 1);
}

int peerlane_aggregator_ranks(const struct peerlane_aggregator *aggregator,
			      uint64_t group, struct peerlane_rank_status **list,
			      size_t *count)
{
	(void)aggregator;
	if (group != 77 && !scene("hostile"))
		return refuse(ENOENT, "ranks of group 78: there is no such group (ENOENT)");
	if (scene("growing"))
		return growing_ranks(list, count);
	if (scene("forming"))
		return forming_ranks(list, count);
	if (scene("hostile"))
		return hostile_ranks(list, count);
	return copy_out(list, count, ranks, sizeof(ranks[0]),
			scene("well") ? 2 : 3);
}

static const struct peerlane_aggregator_event events[] = {
	{ .type = PEERLANE_AGGREGATOR_FORMED, .group = 77, .ranks = 4,
	  .rank = PEERLANE_NOBODY },
	{ .type = PEERLANE_AGGREGATOR_FORMED, .group = 78, .ranks = 2,
	  .rank = PEERLANE_NOBODY },
	{ .type = PEERLANE_AGGREGATOR_ENDED, .group = 77, .ranks = 4, .rank = 3,
	  .status = -ETIMEDOUT, .cause = PEERLANE_ENDING_LATE },
	{ .type = PEERLANE_AGGREGATOR_ENDED, .group = 78, .ranks = 2,
	  .rank = PEERLANE_NOBODY },
	{ .type = PEERLANE_AGGREGATOR_CLOSED, .status = -ENODEV,
	  .rank = PEERLANE_NOBODY },
};

int peerlane_aggregator_next(const struct peerlane_aggregator *aggregator,
			     int timeout, struct peerlane_aggregator_event *event)
{
	struct peerlane_aggregator *own = (void *)(uintptr_t)aggregator;

	if (scene("waiting")) {
		poll(NULL, 0, timeout);
		return refuse(EINTR, "aggregator: Interrupted system call (EINTR)");
	}
	*event = events[own->told++];
	event->lost = scene("incomplete") && own->told == 3 ? 9 : 0;
	return 0;
}
