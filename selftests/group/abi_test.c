// SPDX-License-Identifier: GPL-2.0
/* What holds for every command of groups and aggregators, and their limits. */
#include <stddef.h>

#include "group.h"

#define ROOM	512

/* A group that has joined, alone, and its aggregator. */
struct scene {
	struct world world;
	int control;
	int fresh;		/* has not joined */
};

static void scene_new(struct scene *scene)
{
	world_new(&scene->world, 1, 1, MIB);
	scene->control = open_control();
	scene->fresh = group_create(GROUP_SETTINGS(.ranks = 1, .group = 77));
}

static void scene_end(struct scene *scene)
{
	close(scene->fresh);
	close(scene->control);
	world_end(&scene->world);
}

enum where { ON_CONTROL, ON_FRESH, ON_JOINED, ON_AGGREGATOR };

static const struct command {
	const char *name;
	unsigned int cmd;
	uint32_t size;
	enum where where;
} commands[] = {
#define COMMAND(_name, _struct, _where)					\
	{ #_name, PEERLANE_IOC_##_name, sizeof(struct peerlane_##_struct), _where }
	COMMAND(GROUP_CREATE, group_create, ON_CONTROL),
	COMMAND(AGGREGATOR_CREATE, aggregator_create, ON_CONTROL),
	COMMAND(GROUP_LIST, list, ON_CONTROL),
	COMMAND(AGGREGATOR_LIST, list, ON_CONTROL),
	COMMAND(GROUP_BIND, endpoint_bind, ON_JOINED),
	COMMAND(GROUP_JOIN, group_join, ON_FRESH),
	COMMAND(GROUP_SUBMIT, group_submit, ON_JOINED),
	COMMAND(GROUP_LEAVE, group_leave, ON_FRESH),
	COMMAND(GROUP_INFO, list, ON_JOINED),
	COMMAND(AGGREGATOR_INFO, list, ON_AGGREGATOR),
	COMMAND(AGGREGATOR_RANKS, aggregator_ranks, ON_AGGREGATOR),
};

static int file_of(struct scene *scene, enum where where)
{
	switch (where) {
	case ON_CONTROL:
		return scene->control;
	case ON_FRESH:
		return scene->fresh;
	case ON_JOINED:
		return scene->world.rank[0];
	default:
		return scene->world.aggregator[0].fd;
	}
}

static void check_command(struct scene *scene, const struct command *command)
{
	_Alignas(8) char args[ROOM] = {};

	struct peerlane_hdr *hdr = (void *)args;
	int fd = file_of(scene, command->where);
	int bad = tap.bad;

	CHECK_INT(call_raw(fd, command->cmd, NULL), -EFAULT);
	hdr->size = sizeof(*hdr) - 4;
	CHECK_INT(call_raw(fd, command->cmd, args), -EINVAL);
	hdr->size = command->size + 8;
	args[command->size] = 1;
	CHECK_INT(call_raw(fd, command->cmd, args), -E2BIG);
	args[command->size] = 0;
	hdr->size = PAGE + 8;
	CHECK_INT(call_raw(fd, command->cmd, args), -E2BIG);
	hdr->size = command->size;
	hdr->flags = 1U << 31;
	CHECK_INT(call_raw(fd, command->cmd, args), -EOPNOTSUPP);
	hdr->flags = 0;
	hdr->reserved = 1;
	CHECK_INT(call_raw(fd, command->cmd, args), -EOPNOTSUPP);
	CHECK_INT(call_raw(fd, PEERLANE_IOC_REGION_ALLOC, args), -ENOTTY);
	if (tap.bad != bad)
		printf("# of %s\n", command->name);
}

static void every_command_keeps_the_rules(void)
{
	struct scene scene;
	size_t i;

	scene_new(&scene);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		check_command(&scene, &commands[i]);
	scene_end(&scene);
}

/* ---- values ---- */

static void create_checks_its_values(void)
{
	CHECK_INT(group_create(GROUP_SETTINGS(.ranks = 1, .secret = "")), -EINVAL);
	CHECK_INT(group_create(GROUP_SETTINGS(.ranks = 1, .group = 0)), -EINVAL);
	CHECK_INT(group_create(GROUP_SETTINGS(.ranks = 0)), -EINVAL);
	CHECK_INT(group_create(GROUP_SETTINGS(.ranks = 1, .rank = 1)), -EINVAL);
	CHECK_INT(group_create(GROUP_SETTINGS(.ranks = 1025)), -EINVAL);
	CHECK_INT(group_create(GROUP_SETTINGS(.ranks = 1, .segment = 5000)), -EINVAL);
	CHECK_INT(group_create(GROUP_SETTINGS(.ranks = 1, .segment = 8 << 20)), -EINVAL);
	CHECK_INT(group_create(GROUP_SETTINGS(.ranks = 1, .window = 257)), -EINVAL);
	CHECK_INT(group_create(GROUP_SETTINGS(.ranks = 1, .block = 1)), -EINVAL);
	CHECK_INT(group_create(GROUP_SETTINGS(.ranks = 1, .lanes = 17)), -EINVAL);
	CHECK_INT(group_create(GROUP_SETTINGS(.ranks = 1, .depth = 1 << 17)), -EINVAL);
	CHECK_INT(group_create(GROUP_SETTINGS(.ranks = 1, .slots = 257)), -EINVAL);
	CHECK_INT(group_create(GROUP_SETTINGS(.ranks = 1, .timeout_ms = 1)), -EINVAL);
	CHECK_INT(group_create(GROUP_SETTINGS(.ranks = 1, .near_fd = 0)), -EBADF);
	CHECK_INT(group_create(GROUP_SETTINGS(.ranks = 1, .placement = 5)),
		  -EOPNOTSUPP);
}

static int create_at(struct peerlane_aggregator_create args, int pool)
{
	put_address(args.address, own_address(), 0);
	args.pool_fd = pool;
	return aggregator_create(&args);
}

static void aggregators_check_their_values(void)
{
	struct pages pages = pages_new(MIB);
	struct pages bar = pages_of_device(DEVICES "gpu0", MIB);
	struct peerlane_aggregator_create none = AGGREGATOR_SETTINGS(
		.pool_fd = pages.region);

	CHECK_INT(create_at(AGGREGATOR_SETTINGS(.secret = ""), pages.region), -EINVAL);
	CHECK_INT(create_at(AGGREGATOR_SETTINGS(.backlog = 1025), pages.region),
		  -EINVAL);
	CHECK_INT(create_at(AGGREGATOR_SETTINGS(.max_groups = 1025), pages.region),
		  -EINVAL);
	CHECK_INT(create_at(AGGREGATOR_SETTINGS(.parent = { 1, 2, 3 }), pages.region),
		  -EINVAL);
	CHECK_INT(create_at(AGGREGATOR_SETTINGS(.parent_lanes = 17), pages.region),
		  -EINVAL);
	CHECK_INT(create_at(AGGREGATOR_SETTINGS(), 0), -EBADF);
	CHECK_INT(create_at(AGGREGATOR_SETTINGS(), bar.region), -EOPNOTSUPP);
	CHECK_INT(aggregator_create(&none), -EINVAL);
	pages_end(&bar);
	pages_end(&pages);
}

static void aggregators_have_to_be_allowed(void)
{
	struct pages pages = pages_new(MIB);

	CHECK_INT(write_text(PARAMETERS "aggregator", "0"), 0);
	CHECK_INT(create_at(AGGREGATOR_SETTINGS(), pages.region), -EPERM);
	CHECK_HAS(text, "module parameter aggregator");
	CHECK_INT(write_text(PARAMETERS "aggregator", "1"), 0);
	pages_end(&pages);
}

static void users_have_limits(void)
{
	struct pages pages = pages_new(MIB);
	int one, two;

	CHECK_INT(write_text(PARAMETERS "user_groups", "1"), 0);
	one = group_create(GROUP_SETTINGS(.ranks = 1));
	CHECK(one >= 0);
	CHECK_INT(group_create(GROUP_SETTINGS(.ranks = 1)), -EDQUOT);
	close(one);
	two = group_create(GROUP_SETTINGS(.ranks = 1));
	CHECK(two >= 0);
	close(two);
	CHECK_INT(write_text(PARAMETERS "user_groups", "1024"), 0);
	CHECK_INT(write_text(PARAMETERS "user_aggregators", "1"), 0);
	one = create_at(AGGREGATOR_SETTINGS(), pages.region);
	CHECK(one >= 0);
	CHECK_INT(create_at(AGGREGATOR_SETTINGS(), pages.region), -EDQUOT);
	close(one);
	CHECK_INT(write_text(PARAMETERS "user_aggregators", "64"), 0);
	pages_end(&pages);
}

/* All links or none: the file is as before, and joins when there is room. */
static void links_count_against_the_bytes(void)
{
	unsigned long long before = parameter("user_group_bytes"), alone;
	struct scene scene;

	scene_new(&scene);
	alone = charged();
	set_parameter("user_group_bytes", 1);
	CHECK_INT(group_create(GROUP_SETTINGS(.ranks = 1)), -EDQUOT);
	CHECK_HAS(text, "user_group_bytes");
	CHECK_INT(group_join(scene.fresh, scene.world.addresses, 1), -EDQUOT);
	CHECK_HAS(text, "user_group_bytes");
	CHECK_INT(charged(), alone);
	CHECK_INT(group_info(scene.fresh).state, PEERLANE_GROUP_NEW);
	set_parameter("user_group_bytes", before);
	CHECK_INT(before, 16ULL << 30);
	scene_end(&scene);
	CHECK(WAIT_FOR(!charged(), PATIENCE));
}

static void ranks_count_for_the_maker_of_the_aggregator(void)
{
	unsigned long long before = parameter("user_aggregator_bytes");
	struct pages pages = pages_new(MIB);
	struct scene scene;
	int fd;

	scene_new(&scene);
	set_parameter("user_aggregator_bytes", 1);
	CHECK_INT(create_at(AGGREGATOR_SETTINGS(), pages.region), -EDQUOT);
	CHECK_HAS(text, "user_aggregator_bytes");
	fd = group_create(GROUP_SETTINGS(.ranks = 1, .group = 99));
	CHECK_INT(group_join(fd, scene.world.addresses, 1), -ECONNREFUSED);
	CHECK_HAS(text, "limit");
	close(fd);
	set_parameter("user_aggregator_bytes", before);
	fd = group_create(GROUP_SETTINGS(.ranks = 1, .group = 99));
	CHECK_INT(group_join(fd, scene.world.addresses, 1), 0);
	close(fd);
	scene_end(&scene);
	pages_end(&pages);
	CHECK(WAIT_FOR(!charged(), PATIENCE));
}

static void join_checks_its_values(void)
{
	uint8_t address[PEERLANE_ADDRESS_LEN] = {};
	struct scene scene;

	scene_new(&scene);
	CHECK_INT(group_join(scene.fresh, address, 0), -EINVAL);
	CHECK_INT(group_join(scene.fresh, address, 65), -EINVAL);
	CHECK_INT(group_join(scene.fresh, address, 1), -EINVAL);
	CHECK_INT(group_join(scene.fresh, NULL, 1), -EFAULT);
	CHECK_INT(group_join(scene.world.rank[0], scene.world.addresses, 1),
		  -EISCONN);
	CHECK_INT(group_leave(scene.fresh), 0);
	CHECK_INT(group_join(scene.fresh, scene.world.addresses, 1), -EISCONN);
	scene_end(&scene);
}

static int submit(int fd, struct peerlane_group_op op)
{
	return group_begin(fd, &op, 1);
}

#define REDUCE(...) GROUP_OP(ALL_REDUCE, .type = PEERLANE_TYPE_I32,	\
	.op = PEERLANE_REDUCE_SUM, .count = 10, __VA_ARGS__)

static void submit_checks_its_values(void)
{
	struct scene scene;
	int fd;

	scene_new(&scene);
	fd = scene.world.rank[0];
	CHECK_INT(submit(scene.fresh, REDUCE()), -ENOTCONN);
	CHECK_INT(submit(fd, REDUCE(.kind = 0)), -EOPNOTSUPP);
	CHECK_INT(submit(fd, REDUCE(.kind = 7)), -EOPNOTSUPP);
	CHECK_INT(submit(fd, REDUCE(.flags = 1)), -EOPNOTSUPP);
	CHECK_INT(submit(fd, REDUCE(.type = 0)), -EINVAL);
	CHECK_INT(submit(fd, REDUCE(.type = 13)), -EINVAL);
	CHECK_INT(submit(fd, REDUCE(.op = 0)), -EINVAL);
	CHECK_INT(submit(fd, REDUCE(.op = 9)), -EINVAL);
	CHECK_INT(submit(fd, REDUCE(.type = PEERLANE_TYPE_F32,
				    .op = PEERLANE_REDUCE_BAND)), -EINVAL);
	CHECK_INT(submit(fd, REDUCE(.root = 1)), -EINVAL);
	CHECK_INT(submit(fd, REDUCE(.count = UINT64_MAX)), -EOVERFLOW);
	CHECK_INT(submit(fd, REDUCE(.count = MIB / 4 + 1)), -EINVAL);
	CHECK_INT(submit(fd, REDUCE(.send_slot = 1)), -EINVAL);
	CHECK_INT(submit(fd, REDUCE(.receive_slot = 16)), -EINVAL);
	CHECK_INT(submit(fd, REDUCE(.send_offset = UINT64_MAX)), -EOVERFLOW);
	CHECK_INT(submit(fd, REDUCE(.receive_offset = MIB - 36)), -EINVAL);
	CHECK_INT(submit(fd, REDUCE(.receive_offset = 4)), -EINVAL);
	CHECK_HAS(text, "overlap");
	CHECK_INT(submit(fd, GROUP_OP(BARRIER, .count = 1)), -EINVAL);
	CHECK_INT(world_do(&scene.world, REDUCE()), 0);
	scene_end(&scene);
}

/* What was begun would be told nobody. */
static void without_an_answer_nothing_begins(void)
{
	struct peerlane_group_op op = GROUP_OP(BARRIER);
	struct peerlane_group_submit *args = mmap(NULL, PAGE,
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct scene scene;
	int fd;

	scene_new(&scene);
	fd = scene.world.rank[0];
	*args = (struct peerlane_group_submit){
		.size = sizeof(*args), .ops_ptr = (uintptr_t)&op, .count = 1,
		.op_size = sizeof(op),
	};
	CHECK_INT(mprotect(args, PAGE, PROT_READ), 0);
	CHECK_INT(call_raw(fd, PEERLANE_IOC_GROUP_SUBMIT, args), -EFAULT);
	usleep(500000);
	CHECK_INT(group_info(fd).outstanding, 0);
	CHECK_INT(group_info(fd).ops_done, 0);
	munmap(args, PAGE);
	scene_end(&scene);
}

static void slots_that_are_read_only_only_send(void)
{
	struct scene scene;
	int fd;

	scene_new(&scene);
	fd = scene.world.rank[0];
	CHECK_INT(group_bind(fd, 0, scene.world.pages[0].region, 0), -EBUSY);
	CHECK_INT(group_bind(fd, 1, -1, 0), -EINVAL);
	CHECK_INT(group_bind(fd, 99, -1, 0), -EINVAL);
	CHECK_INT(group_bind(fd, 1, 0, 0), -EBADF);
	CHECK_INT(group_bind(fd, 1, scene.world.pages[0].region,
			     PEERLANE_BIND_READ_ONLY), 0);
	CHECK_INT(submit(fd, REDUCE(.receive_slot = 1)), -EPERM);
	CHECK_INT(world_do(&scene.world, REDUCE(.send_slot = 1,
						.receive_offset = 4096)), 0);
	CHECK_INT(group_bind(fd, 1, -1, 0), 0);
	CHECK_INT(submit(fd, REDUCE(.send_slot = 1)), -EINVAL);
	scene_end(&scene);
}

static void reads_and_polls(void)
{
	struct peerlane_group_record record;
	struct scene scene;
	int fd;

	scene_new(&scene);
	fd = scene.world.rank[0];
	CHECK_INT(read(fd, &record, sizeof(record) - 1) < 0 ? -errno : 0, -EINVAL);
	set_nonblock(fd, true);
	CHECK_INT(read(fd, &record, sizeof(record)) < 0 ? -errno : 0, -EAGAIN);
	submit(fd, GROUP_OP(BARRIER));
	WAIT_FOR(group_info(fd).ops_done == 1, PATIENCE);
	CHECK_INT(read(fd, (void *)PAGE, sizeof(record)) < 0 ? -errno : 0, -EFAULT);
	CHECK_INT(read(fd, &record, sizeof(record)), sizeof(record));
	CHECK_INT(record.type, PEERLANE_GROUP_RECORD_DONE);
	scene_end(&scene);
}

static void aggregators_tell_of_groups(void)
{
	struct peerlane_aggregator_record record = {};
	struct scene scene;
	int fd;

	scene_new(&scene);
	fd = scene.world.aggregator[0].fd;
	CHECK_INT(read(fd, &record, sizeof(record)), sizeof(record));
	CHECK_INT(record.type, PEERLANE_AGGREGATOR_RECORD_FORMED);
	CHECK_INT(record.group, 0x1234);
	CHECK_INT(group_leave(scene.world.rank[0]), 0);
	CHECK_INT(read(fd, &record, sizeof(record)), sizeof(record));
	CHECK_INT(record.type, PEERLANE_AGGREGATOR_RECORD_ENDED);
	CHECK_INT(record.status, 0);
	scene_end(&scene);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(every_command_keeps_the_rules),
		TAP_CASE(create_checks_its_values),
		TAP_CASE(aggregators_check_their_values),
		TAP_CASE(aggregators_have_to_be_allowed),
		TAP_CASE(users_have_limits),
		TAP_CASE(links_count_against_the_bytes),
		TAP_CASE(ranks_count_for_the_maker_of_the_aggregator),
		TAP_CASE(join_checks_its_values),
		TAP_CASE(submit_checks_its_values),
		TAP_CASE(without_an_answer_nothing_begins),
		TAP_CASE(slots_that_are_read_only_only_send),
		TAP_CASE(reads_and_polls),
		TAP_CASE(aggregators_tell_of_groups),
	};

	return HARNESS_RUN(cases);
}
