/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of groups by their ioctls alone: aggregators and ranks of one process
 * on one node, over the node's own address.
 *
 * Calls return 0 (or a file, or a number) or -errno, as those of harness.h.
 */
#ifndef SELFTESTS_GROUP_H
#define SELFTESTS_GROUP_H

#include <peerlane_reduce.h>

#include "endpoint.h"

#define RANKS_MAX	8
#define AGGREGATORS_MAX	8
#define POOL		(8 * MIB)
#define SEGMENT		65536

#define GROUP_SETTINGS(...) ((struct peerlane_group_create){		\
	.near_fd = -1, .secret = "sixteen of these", .group = 0x1234,	\
	.timeout_ms = TIMEOUT_MS, .op_timeout_ms = 20000,		\
	.segment = SEGMENT, __VA_ARGS__ })
#define AGGREGATOR_SETTINGS(...) ((struct peerlane_aggregator_create){	\
	.secret = "sixteen of these", .timeout_ms = TIMEOUT_MS,		\
	.join_timeout_ms = 20000, __VA_ARGS__ })
#define GROUP_OP(_kind, ...) ((struct peerlane_group_op){		\
	.kind = PEERLANE_GROUP_##_kind, __VA_ARGS__ })

/* ---- host memory ---- */

struct pages {
	int region;
	char *mem;
	size_t length;
};

static inline struct pages pages_new(size_t length)
{
	struct pages pages = { .length = length };
	int control = open_control();

	pages.mem = mmap(NULL, length, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pages.region = pin_host(control, pages.mem, length, 0);
	CHECK(pages.region >= 0);
	close(control);
	return pages;
}

static inline struct pages pages_of_device(const char *device, size_t length)
{
	struct pages pages = { .length = length };

	pages.region = open(device, O_RDWR | O_CLOEXEC);
	CHECK_INT(region_alloc(pages.region, length), 0);
	pages.mem = map(pages.region, length);
	CHECK(pages.mem != MAP_FAILED);
	return pages;
}

static inline void pages_end(struct pages *pages)
{
	close(pages->region);
	munmap(pages->mem, pages->length);
}

/* ---- aggregators ---- */

struct aggregator {
	int fd;
	uint8_t address[PEERLANE_ADDRESS_LEN];
	struct pages pool;
};

static inline int aggregator_create(struct peerlane_aggregator_create *args)
{
	int control = open_control();
	int ret = CALL(control, AGGREGATOR_CREATE, args);

	close(control);
	return ret ? ret : args->out_fd;
}

static inline struct aggregator
aggregator_of(struct peerlane_aggregator_create args, size_t pool)
{
	struct aggregator aggregator = { .pool = pages_new(pool) };

	put_address(args.address, own_address(), 0);
	args.pool_fd = aggregator.pool.region;
	aggregator.fd = aggregator_create(&args);
	CHECK(aggregator.fd >= 0);
	memcpy(aggregator.address, args.out_address, sizeof(args.out_address));
	return aggregator;
}

static inline void aggregator_end(struct aggregator *aggregator)
{
	if (aggregator->fd >= 0)
		close(aggregator->fd);
	pages_end(&aggregator->pool);
}

static inline struct peerlane_aggregator_info aggregator_info(int fd)
{
	struct peerlane_aggregator_info record = {};
	struct peerlane_list args = {
		.array_ptr = (uintptr_t)&record, .count = 1,
		.record_size = sizeof(record),
	};

	CHECK_INT(CALL(fd, AGGREGATOR_INFO, &args), 0);
	return record;
}

/* ---- ranks ---- */

static inline int group_create(struct peerlane_group_create args)
{
	int control = open_control();
	int ret = CALL(control, GROUP_CREATE, &args);

	close(control);
	return ret ? ret : args.out_fd;
}

static inline int group_bind(int fd, uint32_t slot, int region, uint32_t flags)
{
	struct peerlane_endpoint_bind args = {
		.flags = flags, .slot = slot, .region_fd = region,
	};

	return CALL(fd, GROUP_BIND, &args);
}

static inline int group_join(int fd, const void *addresses, uint32_t count)
{
	struct peerlane_group_join args = {
		.addresses_ptr = (uintptr_t)addresses, .count = count,
	};

	return CALL(fd, GROUP_JOIN, &args);
}

static inline int group_leave(int fd)
{
	struct peerlane_group_leave args = {};

	return CALL(fd, GROUP_LEAVE, &args);
}

static inline struct peerlane_group_info group_info(int fd)
{
	struct peerlane_group_info record = {};
	struct peerlane_list args = {
		.array_ptr = (uintptr_t)&record, .count = 1,
		.record_size = sizeof(record),
	};

	CHECK_INT(CALL(fd, GROUP_INFO, &args), 0);
	return record;
}

/* How many began, or -errno. */
static inline int group_begin(int fd, const struct peerlane_group_op *ops,
			      uint32_t count)
{
	struct peerlane_group_submit args = {
		.ops_ptr = (uintptr_t)ops, .count = count,
		.op_size = sizeof(*ops),
	};
	int ret = CALL(fd, GROUP_SUBMIT, &args);

	return ret ? ret : (int)args.out_count;
}

/* 1, 0: none in that time or the end, or -errno. */
static inline int group_read(int fd, struct peerlane_group_record *record,
			     double seconds)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	ssize_t got;

	memset(record, 0, sizeof(*record));
	if (poll(&pollfd, 1, (int)(seconds * 1000)) != 1)
		return 0;
	got = read(fd, record, sizeof(*record));
	return got < 0 ? -errno : got == sizeof(*record);
}

static inline struct peerlane_group_record group_next(int fd, uint16_t type)
{
	struct peerlane_group_record record;

	CHECK_INT(group_read(fd, &record, PATIENCE), 1);
	CHECK_INT(record.type, type);
	return record;
}

/* What comes before is left out. */
static inline struct peerlane_group_record group_find(int fd, uint16_t type)
{
	struct peerlane_group_record record;

	while (group_read(fd, &record, PATIENCE) == 1)
		if (record.type == type)
			return record;
	CHECK(!"the record did not come");
	return (struct peerlane_group_record){};
}

/* ---- all of them ---- */

struct world {
	uint32_t ranks;
	uint32_t aggregators;
	struct aggregator aggregator[AGGREGATORS_MAX];
	uint8_t addresses[AGGREGATORS_MAX][PEERLANE_ADDRESS_LEN];
	/* Or each rank has its own: so many, the first ones of these */
	uint32_t ways;
	uint8_t way[RANKS_MAX][2][PEERLANE_ADDRESS_LEN];
	int rank[RANKS_MAX];
	struct pages pages[RANKS_MAX];	/* in slot 0 */
};

static inline void world_aggregators(struct world *world, uint32_t count, size_t pool)
{
	uint32_t i;

	world->aggregators = count;
	for (i = 0; i < count; i++) {
		world->aggregator[i] = aggregator_of(AGGREGATOR_SETTINGS(), pool);
		memcpy(world->addresses[i], world->aggregator[i].address,
		       PEERLANE_ADDRESS_LEN);
	}
}

/* Ranks' memory is in turns of one BAR, the other, and the host. */
static inline struct pages memory_of(uint32_t rank, size_t length)
{
	if (rank % 3 == 2)
		return pages_new(length);
	return pages_of_device(rank % 3 ? second_device() : DEVICES "gpu0", length);
}

static inline bool world_join(struct world *world, struct peerlane_group_create args,
			      size_t length)
{
	bool good = true;
	uint32_t i;

	for (i = 0; i < world->ranks; i++) {
		args.rank = i;
		args.ranks = world->ranks;
		world->rank[i] = group_create(args);
		world->pages[i] = memory_of(i, length);
		good &= CHECK(world->rank[i] >= 0);
		good &= CHECK_INT(group_bind(world->rank[i], 0,
					     world->pages[i].region, 0), 0);
		set_nonblock(world->rank[i], true);
		good &= CHECK_INT(world->ways ?
				  group_join(world->rank[i], world->way[i],
					     world->ways) :
				  group_join(world->rank[i], world->addresses,
					     world->aggregators), -EINPROGRESS);
		set_nonblock(world->rank[i], false);
	}
	for (i = 0; good && i < world->ranks; i++)
		good &= group_next(world->rank[i],
				   PEERLANE_GROUP_RECORD_JOINED).type ==
			PEERLANE_GROUP_RECORD_JOINED;
	for (i = 0; !good && i < world->ranks; i++)
		printf("# rank %u: %s\n", i, group_info(world->rank[i]).text);
	return good;
}

static inline bool world_of(struct world *world, uint32_t ranks,
			    uint32_t aggregators, size_t length,
			    struct peerlane_group_create args)
{
	*world = (struct world){ .ranks = ranks };
	world_aggregators(world, aggregators, POOL);
	return world_join(world, args, length);
}

static inline bool world_new(struct world *world, uint32_t ranks,
			     uint32_t aggregators, size_t length)
{
	return world_of(world, ranks, aggregators, length, GROUP_SETTINGS());
}

static inline void world_leave(struct world *world)
{
	uint32_t i;

	for (i = 0; i < world->ranks; i++) {
		if (world->rank[i] >= 0)
			close(world->rank[i]);
		pages_end(&world->pages[i]);
	}
	world->ranks = 0;
}

static inline void world_end(struct world *world)
{
	uint32_t i;

	world_leave(world);
	for (i = 0; i < world->aggregators; i++)
		aggregator_end(&world->aggregator[i]);
}

/* The same call of all ranks, done on all: the first status that is not 0. */
static inline int world_do(struct world *world, struct peerlane_group_op op)
{
	struct peerlane_group_record record;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < world->ranks; i++)
		if (!CHECK_INT(group_begin(world->rank[i], &op, 1), 1)) {
			printf("# rank %u: %s\n", i, text);
			return -EINVAL;
		}
	for (i = 0; i < world->ranks; i++) {
		record = group_next(world->rank[i], PEERLANE_GROUP_RECORD_DONE);
		if (!ret)
			ret = record.status;
		if (record.type != PEERLANE_GROUP_RECORD_DONE) {
			printf("# rank %u: %s\n", i,
			       group_info(world->rank[i]).text);
			return -ENODATA;
		}
		CHECK_INT(record.cookie, op.cookie);
	}
	return ret;
}

#endif /* SELFTESTS_GROUP_H */
