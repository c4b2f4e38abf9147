// SPDX-License-Identifier: GPL-2.0
/* How groups end: who is named, on whom, how soon, and what is left of it. */
#include <pthread.h>

#include "group.h"

#define LENGTH	(4 * MIB)
#define SOON	10.0	/* seconds; emulation on a busy machine is slow */

#define SUM(_count, ...) GROUP_OP(ALL_REDUCE,				\
	.type = PEERLANE_TYPE_I32, .op = PEERLANE_REDUCE_SUM,		\
	.count = _count, .receive_offset = LENGTH / 2, __VA_ARGS__)

/* All but @but, within that time, for the same reason. */
static void check_ended(struct world *world, uint32_t but, int status,
			uint32_t cause, uint32_t rank)
{
	struct peerlane_group_record record;
	struct peerlane_group_info info;
	double begin = now();
	uint32_t i;

	for (i = 0; i < world->ranks; i++) {
		if (i == but)
			continue;
		record = group_find(world->rank[i], PEERLANE_GROUP_RECORD_ENDED);
		info = group_info(world->rank[i]);
		printf("# rank %u after %.1f s: %s\n", i, now() - begin, info.text);
		CHECK_INT(record.status, status);
		CHECK_INT(record.cause, cause);
		CHECK_INT(record.rank, rank);
		CHECK_INT(info.state, PEERLANE_GROUP_ENDED);
		CHECK_INT(read(world->rank[i], &record, sizeof(record)), 0);
	}
	CHECK(now() - begin < SOON);
}

static void begin(struct world *world, uint32_t rank, struct peerlane_group_op op)
{
	if (!CHECK_INT(group_begin(world->rank[rank], &op, 1), 1))
		printf("# %s\n", text);
}

/* The pool is free again, soon. */
static void check_empty(struct world *world)
{
	uint32_t i;

	for (i = 0; i < world->aggregators; i++) {
		int fd = world->aggregator[i].fd;

		CHECK(WAIT_FOR(!aggregator_info(fd).groups, SOON));
		CHECK_INT(aggregator_info(fd).pool_used, 0);
		CHECK(WAIT_FOR(!aggregator_info(fd).links, SOON));
	}
}

/* ---- by the ranks ---- */

static void all_leave(void)
{
	struct world world;
	uint32_t i;

	if (world_new(&world, 3, 2, LENGTH)) {
		CHECK_INT(world_do(&world, SUM(100)), 0);
		for (i = 0; i < 3; i++)
			CHECK_INT(group_leave(world.rank[i]), 0);
		check_ended(&world, RANKS_MAX, 0, PEERLANE_GROUP_CAUSE_NONE,
			    PEERLANE_RANK_NONE);
		check_empty(&world);
	}
	world_end(&world);
}

static void a_mismatch_is_named_on_all(void)
{
	struct world world;

	if (world_new(&world, 3, 1, LENGTH)) {
		begin(&world, 0, SUM(100));
		begin(&world, 1, SUM(101));
		begin(&world, 2, SUM(100));
		check_ended(&world, RANKS_MAX, -EBADE,
			    PEERLANE_GROUP_CAUSE_MISMATCH, 1);
		CHECK_HAS(group_info(world.rank[0]).text, "101");
		check_empty(&world);
	}
	world_end(&world);
}

static void a_late_rank_is_named_on_all(void)
{
	struct peerlane_group_create settings = GROUP_SETTINGS(.op_timeout_ms = 1000);
	struct world world;

	if (world_of(&world, 3, 2, LENGTH, settings)) {
		begin(&world, 0, SUM(100));
		begin(&world, 1, SUM(100));
		check_ended(&world, RANKS_MAX, -ETIMEDOUT,
			    PEERLANE_GROUP_CAUSE_LATE, 2);
	}
	world_end(&world);
}

static void who_leaves_is_named(void)
{
	struct world world;

	if (world_new(&world, 3, 2, LENGTH)) {
		begin(&world, 0, SUM(100));
		begin(&world, 1, SUM(100));
		usleep(300000);
		close(world.rank[2]);
		world.rank[2] = -1;
		check_ended(&world, 2, -ECONNABORTED, PEERLANE_GROUP_CAUSE_LEFT,
			    2);
		check_empty(&world);
	}
	world_end(&world);
}

static void a_revoked_region_is_named_on_all(void)
{
	struct world world;

	if (world_new(&world, 3, 2, LENGTH)) {
		begin(&world, 0, SUM(100));
		usleep(300000);
		CHECK_INT(region_revoke(world.pages[1].region), 0);
		check_ended(&world, RANKS_MAX, -ENODEV,
			    PEERLANE_GROUP_CAUSE_REVOKED, 1);
		check_empty(&world);
	}
	world_end(&world);
}

/* ---- a process ---- */

struct child {
	struct world *world;
	struct peerlane_group_create args;
};

static void be_rank(void *arg)
{
	struct child *child = arg;
	struct pages pages = pages_new(LENGTH);
	int fd = group_create(child->args);
	struct peerlane_group_op op = SUM(100);

	group_bind(fd, 0, pages.region, 0);
	group_join(fd, child->world->addresses, child->world->aggregators);
	group_begin(fd, &op, 1);
	pause();
}

static void a_killed_rank_is_named_on_all(void)
{
	struct world world = { .ranks = 2 };
	struct child child = {
		&world, GROUP_SETTINGS(.rank = 2, .ranks = 3),
	};
	struct peerlane_group_create args = GROUP_SETTINGS(.ranks = 3);
	uint32_t i;
	pid_t pid;

	world_aggregators(&world, 2, POOL);
	pid = spawn(be_rank, &child);
	for (i = 0; i < 2; i++) {
		args.rank = i;
		world.rank[i] = group_create(args);
		world.pages[i] = memory_of(i, LENGTH);
		CHECK_INT(group_bind(world.rank[i], 0, world.pages[i].region, 0), 0);
		set_nonblock(world.rank[i], true);
		CHECK_INT(group_join(world.rank[i], world.addresses, 2), -EINPROGRESS);
		set_nonblock(world.rank[i], false);
	}
	for (i = 0; i < 2; i++)
		group_next(world.rank[i], PEERLANE_GROUP_RECORD_JOINED);
	begin(&world, 0, SUM(100));
	usleep(500000);
	kill(pid, SIGKILL);
	reap(pid, PATIENCE);
	check_ended(&world, RANKS_MAX, -ECONNABORTED, PEERLANE_GROUP_CAUSE_LEFT, 2);
	check_empty(&world);
	world_end(&world);
}

/* ---- by the aggregators ---- */

static void a_closed_aggregator_ends_it_for_all(void)
{
	struct world world;

	if (world_new(&world, 3, 2, LENGTH)) {
		begin(&world, 0, SUM(100));
		usleep(300000);
		close(world.aggregator[1].fd);
		world.aggregator[1].fd = -1;
		check_ended(&world, RANKS_MAX, -ESHUTDOWN,
			    PEERLANE_GROUP_CAUSE_CLOSED, PEERLANE_RANK_NONE);
		world.aggregators = 1;
		check_empty(&world);
		world.aggregators = 2;
	}
	world_end(&world);
}

static void a_revoked_pool_ends_it_for_all(void)
{
	struct world world;

	if (world_new(&world, 2, 1, LENGTH)) {
		CHECK_INT(region_revoke(world.aggregator[0].pool.region), 0);
		check_ended(&world, RANKS_MAX, -ESHUTDOWN,
			    PEERLANE_GROUP_CAUSE_CLOSED, PEERLANE_RANK_NONE);
		CHECK_INT(aggregator_info(world.aggregator[0].fd).status, -ENODEV);
	}
	world_end(&world);
}

/* ---- joining ---- */

static int join_alone(struct world *world, struct peerlane_group_create args)
{
	int fd = group_create(args), ret;

	ret = group_join(fd, world->addresses, world->aggregators);
	printf("# %s\n", text);
	close(fd);
	return ret;
}

static void joins_are_refused(void)
{
	struct world world = {};
	struct aggregator small;

	world_aggregators(&world, 1, POOL);
	small = aggregator_of(AGGREGATOR_SETTINGS(.join_timeout_ms = 1000),
			      3 * 8 * SEGMENT);
	CHECK_INT(join_alone(&world, GROUP_SETTINGS(.ranks = 2,
		.secret = "another 16 bytes")), -ECONNREFUSED);
	memcpy(world.addresses[0], small.address, PEERLANE_ADDRESS_LEN);
	CHECK_INT(join_alone(&world, GROUP_SETTINGS(.ranks = 3)), -ENOSPC);
	CHECK_INT(join_alone(&world, GROUP_SETTINGS(.ranks = 2)), -ETIMEDOUT);
	CHECK_INT(join_alone(&world, GROUP_SETTINGS(.ranks = 2,
		.join_timeout_ms = 300)), -ETIMEDOUT);
	CHECK(WAIT_FOR(!aggregator_info(small.fd).links, SOON));
	CHECK_INT(aggregator_info(small.fd).pool_used, 0);
	aggregator_end(&small);
	world_end(&world);
}

/* The first link cannot even be begun, so there is no other to wait for. */
static double join_from_nowhere(struct world *world)
{
	int fd = group_create(GROUP_SETTINGS(.ranks = 2));
	struct peerlane_group_join args = {
		.addresses_ptr = (uintptr_t)world->addresses, .count = 2,
	};
	double begin = now(), end;

	put_address(args.source, "10.99.0.1", 0);
	CHECK(CALL(fd, GROUP_JOIN, &args) < 0);
	end = now();
	CHECK_INT(group_info(fd).state, PEERLANE_GROUP_ENDED);
	close(fd);
	return end - begin;
}

static double least_of(double a, double b)
{
	return a < b ? a : b;
}

/* A machine may be slow, but not in the same way each time. */
static void a_join_that_stops_early_waits_for_no_other(void)
{
	unsigned long long before = charged();
	struct world world = {};
	double least = SOON;
	int i;

	world_aggregators(&world, 2, POOL);
	for (i = 0; i < 5; i++)
		least = least_of(least, join_from_nowhere(&world));
	printf("# %.3f s, %s\n", least, text);
	CHECK(least < 0.4);
	world_end(&world);
	CHECK(WAIT_FOR(charged() == before, PATIENCE));
}

static void rank_and_shape_are_compared(void)
{
	struct world world = { .ranks = 0 };
	struct peerlane_group_create args = GROUP_SETTINGS(.ranks = 2);
	int first;

	world_aggregators(&world, 1, POOL);
	first = group_create(args);
	set_nonblock(first, true);
	CHECK_INT(group_join(first, world.addresses, 1), -EINPROGRESS);
	CHECK(WAIT_FOR(aggregator_info(world.aggregator[0].fd).groups == 1, SOON));
	CHECK_INT(join_alone(&world, GROUP_SETTINGS(.ranks = 2)), -EEXIST);
	CHECK_INT(join_alone(&world, GROUP_SETTINGS(.ranks = 2, .rank = 1,
						    .window = 4)), -EBADE);
	close(first);
	check_empty(&world);
	world_end(&world);
}

static void endpoints_and_groups_do_not_meet(void)
{
	struct world world = {};
	int listener = ep_new(), port = ep_listen(listener), fd;
	struct sockaddr_in to;

	put_address(world.addresses[0], own_address(), port);
	world.aggregators = 1;
	CHECK_INT(join_alone(&world, GROUP_SETTINGS(.ranks = 1)), -ECONNREFUSED);
	CHECK_HAS(text, "endpoints listen for endpoints");
	close(listener);
	world_aggregators(&world, 1, POOL);
	memcpy(&to, world.addresses[0], sizeof(to));
	fd = ep_new();
	CHECK_INT(ep_connect(fd, ntohs(to.sin_port)), -ECONNREFUSED);
	CHECK_HAS(text, "endpoints listen for endpoints");
	close(fd);
	world_end(&world);
}

static void a_hundred_groups(void)
{
	struct world world = {};
	struct peerlane_group_create args = GROUP_SETTINGS();
	uint32_t i;

	world_aggregators(&world, 1, POOL);
	for (i = 0; i < 100 && !tap.bad; i++) {
		world.ranks = 2;
		args.group = 1000 + i;
		if (world_join(&world, args, LENGTH))
			CHECK_INT(world_do(&world, SUM(1000)), 0);
		world_leave(&world);
	}
	check_empty(&world);
	CHECK_INT(aggregator_info(world.aggregator[0].fd).formed, 100);
	CHECK_INT(aggregator_info(world.aggregator[0].fd).failed, 0);
	world_end(&world);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(all_leave),
		TAP_CASE(a_mismatch_is_named_on_all),
		TAP_CASE(a_late_rank_is_named_on_all),
		TAP_CASE(who_leaves_is_named),
		TAP_CASE(a_revoked_region_is_named_on_all),
		TAP_CASE(a_killed_rank_is_named_on_all),
		TAP_CASE(a_closed_aggregator_ends_it_for_all),
		TAP_CASE(a_revoked_pool_ends_it_for_all),
		TAP_CASE(joins_are_refused),
		TAP_CASE(a_join_that_stops_early_waits_for_no_other),
		TAP_CASE(rank_and_shape_are_compared),
		TAP_CASE(endpoints_and_groups_do_not_meet),
		TAP_CASE(a_hundred_groups),
	};

	return HARNESS_RUN(cases);
}
