// SPDX-License-Identifier: GPL-2.0
/* Each limit of endpoints, at its edge. */
#include "endpoint.h"

/* It can be made, and says so of itself; or is refused with that text. */
static void made(struct peerlane_endpoint_create args)
{
	int ep = ep_create(&args);

	if (ep < 0)
		printf("# %s\n", text);
	CHECK(ep >= 0);
	CHECK(args.out_id > 0);
	close(ep);
}

static void refused(struct peerlane_endpoint_create args, const char *why)
{
	CHECK_INT(ep_create(&args), -EINVAL);
	CHECK_HAS(text, why);
}

static void lanes_end_at_16(void)
{
	made(SETTINGS(.lanes = 1));
	made(SETTINGS(.lanes = 16));
	refused(SETTINGS(.lanes = 17), "lanes");
	refused(SETTINGS(.lanes = UINT32_MAX), "lanes");
}

static void depth_ends_at_the_parameter(void)
{
	unsigned int most = parameter("endpoint_depth");

	CHECK_INT(most, 4096);
	made(SETTINGS(.depth = most));
	refused(SETTINGS(.depth = most + 1), "depth");
	made(SETTINGS(.notify_depth = most));
	refused(SETTINGS(.notify_depth = most + 1), "notify_depth");
	set_parameter("endpoint_depth", 10);
	made(SETTINGS(.depth = 10, .notify_depth = 10));
	refused(SETTINGS(.depth = 11), "depth");
	/* What is asked for by 0 is what there can be. */
	made(SETTINGS());
	set_parameter("endpoint_depth", most);
}

static void slots_end_at_1024(void)
{
	int ep;
	struct peerlane_endpoint_create args = SETTINGS(.slots = 1024);
	int region = new_region(PAGE);

	refused(SETTINGS(.slots = 1025), "slots");
	ep = ep_create(&args);
	CHECK_INT(ep_bind(ep, 1023, region), 0);
	CHECK_INT(ep_bind(ep, 1024, region), -EINVAL);
	CHECK_HAS(text, "slot 1024");
	CHECK_INT(ep_bind(ep, UINT32_MAX, region), -EINVAL);
	close(ep);
	close(region);
}

static void there_are_16_slots_by_default(void)
{
	int ep = ep_new(), region = new_region(PAGE);

	CHECK_INT(ep_bind(ep, 15, region), 0);
	CHECK_INT(ep_bind(ep, 16, region), -EINVAL);
	close(ep);
	close(region);
}

static void the_timeout_is_from_100_ms_to_10_minutes(void)
{
	made(SETTINGS(.timeout_ms = 100));
	made(SETTINGS(.timeout_ms = 600000));
	made(SETTINGS(.timeout_ms = 0));
	refused(SETTINGS(.timeout_ms = 99), "timeout_ms");
	refused(SETTINGS(.timeout_ms = 600001), "timeout_ms");
}

static void a_secret_is_needed(void)
{
	struct peerlane_endpoint_create args = SETTINGS();

	memset(args.secret, 0, sizeof(args.secret));
	refused(args, "secret");
	args.secret[15] = 1;
	made(args);
}

static void texts_have_to_end(void)
{
	struct peerlane_endpoint_create args = SETTINGS();

	memset(args.label, 'x', sizeof(args.label));
	refused(args, "label");
	args.label[31] = '\0';
	made(args);
	memset(args.rdma_device, 'x', sizeof(args.rdma_device));
	refused(args, "rdma_device");
}

static void near_fd_is_a_region_or_nothing(void)
{
	int region = new_region(PAGE), control = open_control();
	struct peerlane_endpoint_create args = SETTINGS(.near_fd = region);
	int ep = ep_create(&args);

	CHECK(ep >= 0);
	CHECK(ep_info(ep).path <= PEERLANE_PATH_NONE);
	close(ep);
	args.near_fd = control;
	CHECK_INT(ep_create(&args), -EBADF);
	args.near_fd = 999;
	CHECK_INT(ep_create(&args), -EBADF);
	args.near_fd = -2;
	CHECK_INT(ep_create(&args), -EBADF);
	close(region);
	close(control);
}

static void backlogs_end_at_1024(void)
{
	int ep = ep_new();

	CHECK_INT(ep_listen_at(ep, own_address(), 0, 1025), -EINVAL);
	CHECK_HAS(text, "backlog");
	CHECK(ep_listen_at(ep, own_address(), 0, 1024) > 0);
	close(ep);
}

static int submit_raw(int ep, struct peerlane_endpoint_submit args)
{
	return CALL(ep, ENDPOINT_SUBMIT, &args);
}

static void a_batch_ends_at_4096(void)
{
	static struct peerlane_op ops[4097];
	struct pair pair = pair_new(0);
	struct batch batch = { .ops = ops, .count = 4097 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ops); i++)
		ops[i] = OP(FLUSH, .flags = PEERLANE_OP_F_QUIET);
	CHECK_INT(ep_submit(pair.a.ep, &batch), -EINVAL);
	CHECK_HAS(text, "4097");
	batch.count = 4096;
	CHECK_INT(ep_submit(pair.a.ep, &batch), 0);
	CHECK(batch.begun > 0);
	pair_end(&pair);
}

static void an_op_may_grow_but_not_shrink(void)
{
	_Alignas(8) char room[PAGE + 8] = {};
	struct pair pair = pair_new(0);
	struct peerlane_endpoint_submit args = {
		.ops_ptr = (uintptr_t)room, .count = 1, .op_size = sizeof(struct peerlane_op),
	};

	*(struct peerlane_op *)room = OP(NOTIFY, .flags = PEERLANE_OP_F_QUIET);
	CHECK_INT(submit_raw(pair.a.ep, args), 0);
	args.op_size = sizeof(struct peerlane_op) - 1;
	CHECK_INT(submit_raw(pair.a.ep, args), -EINVAL);
	CHECK_HAS(text, "op_size");
	args.op_size = 0;
	CHECK_INT(submit_raw(pair.a.ep, args), -EINVAL);
	args.op_size = PAGE;
	CHECK_INT(submit_raw(pair.a.ep, args), 0);
	args.op_size = PAGE + 8;
	CHECK_INT(submit_raw(pair.a.ep, args), -EINVAL);
	args.op_size = 128;
	room[127] = 1;
	CHECK_INT(submit_raw(pair.a.ep, args), -E2BIG);
	pair_end(&pair);
}

/* Less than one record cannot be waited for, and is no error. */
static void little_room_for_records(void)
{
	char room[2 * sizeof(struct peerlane_record)];
	struct pair pair = pair_new(0);
	struct peerlane_op op = OP(NOTIFY);
	struct peerlane_endpoint_submit args = {
		.size = sizeof(args), .ops_ptr = (uintptr_t)&op, .count = 1,
		.op_size = sizeof(op), .records_ptr = (uintptr_t)room,
		.records_len = sizeof(struct peerlane_record) - 1,
		.wait = 100, .timeout_ns = -1,
	};

	memset(room, 0x5a, sizeof(room));
	CHECK_INT(call_raw(pair.a.ep, PEERLANE_IOC_ENDPOINT_SUBMIT, &args), 0);
	CHECK_INT(args.out_count, 1);
	CHECK_INT(args.out_records_len, 0);
	CHECK_INT(room[0], 0x5a);
	args.count = 0;
	args.records_len = sizeof(struct peerlane_record) + 1;
	CHECK_INT(call_raw(pair.a.ep, PEERLANE_IOC_ENDPOINT_SUBMIT, &args), 0);
	CHECK_INT(args.out_records_len, sizeof(struct peerlane_record));
	CHECK_INT(room[sizeof(struct peerlane_record)], 0x5a);
	pair_end(&pair);
}

/* What was begun would be told nobody. */
static void without_an_answer_nothing_begins(void)
{
	struct pair pair = pair_new(PAGE);
	struct peerlane_op op = OP(NOTIFY, .cookie = 7);
	struct peerlane_endpoint_submit *args;
	struct peerlane_endpoint_bind *bind;
	struct peerlane_record record;
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	args = page;
	*args = (struct peerlane_endpoint_submit){
		.size = sizeof(*args), .ops_ptr = (uintptr_t)&op, .count = 1,
		.op_size = sizeof(op),
	};
	CHECK_INT(mprotect(page, PAGE, PROT_READ), 0);
	CHECK_INT(call_raw(pair.a.ep, PEERLANE_IOC_ENDPOINT_SUBMIT, page), -EFAULT);
	CHECK_INT(ep_info(pair.a.ep).outstanding, 0);
	CHECK_INT(ep_read(pair.a.ep, &record, 0.5), 0);
	CHECK_INT(mprotect(page, PAGE, PROT_READ | PROT_WRITE), 0);
	bind = page;
	*bind = (struct peerlane_endpoint_bind){
		.size = sizeof(*bind), .region_fd = -1,
	};
	CHECK_INT(mprotect(page, PAGE, PROT_READ), 0);
	CHECK_INT(call_raw(pair.a.ep, PEERLANE_IOC_ENDPOINT_BIND, page), -EFAULT);
	CHECK_INT(ep_info(pair.a.ep).slots, 1);
	munmap(page, PAGE);
	pair_end(&pair);
}

static void keys_end_at_the_parameter(void)
{
	unsigned int before = parameter("endpoint_keys");
	struct pair pair;
	uint64_t token;

	set_parameter("endpoint_keys", 2);
	pair = pair_new(8 * MIB);
	set_parameter("endpoint_keys", before);
	CHECK_INT(ep_expose_as(pair.a.ep, 0, BOTH, 0, 8 * MIB, 0, &token), -EDQUOT);
	CHECK_HAS(text, "endpoint_keys");
	CHECK_INT(ep_info(pair.a.ep).exposed, 0);
	open_part(&pair.a, &pair.b, BOTH, 0, 1);
	token = open_part(&pair.a, &pair.b, BOTH, PAGE, 1);
	CHECK_INT(ep_info(pair.a.ep).keys, 2);
	CHECK_INT(ep_expose_as(pair.a.ep, 0, BOTH, 0, 1, 0, &(uint64_t){ 0 }), -EDQUOT);
	/* The peer keeps it until it has read that. */
	CHECK_INT(ep_withdraw(pair.a.ep, token), 0);
	CHECK_INT(ep_expose_as(pair.a.ep, 0, BOTH, 0, 1, 0, &token), -EAGAIN);
	CHECK_HAS(text, "has not read");
	usleep(300000);
	CHECK_INT(ep_info(pair.a.ep).state, PEERLANE_ENDPOINT_CONNECTED);
	ep_next(pair.b.ep, PEERLANE_RECORD_WITHDRAWN);
	CHECK(WAIT_FOR(!ep_expose_as(pair.a.ep, 0, BOTH, 0, 1, 0, &token), PATIENCE));
	CHECK(ep_find(pair.b.ep, PEERLANE_RECORD_EXPOSED).token == token);
	pair_end(&pair);
}

/* 1024 of them are kept by the peer. A withdrawn one counts until that is read. */
static void exposures_end_at_1024(void)
{
	struct pair pair = pair_new(PAGE);
	uint64_t token = 0, other;
	struct peerlane_record record;
	int i, ret = 0;

	for (i = 0; i < 1024 && !ret; i++)
		ret = ep_expose_as(pair.a.ep, 0, BOTH, i, 1, i, &token);
	CHECK_INT(ret, 0);
	CHECK_INT(ep_expose_as(pair.a.ep, 0, BOTH, 0, 1, 0, &other), -EAGAIN);
	for (i = 0; i < 1024; i++) {
		record = ep_next(pair.b.ep, PEERLANE_RECORD_EXPOSED);
		if (!CHECK_INT(record.value, i))
			break;
	}
	CHECK_INT(ep_info(pair.b.ep).granted, 1024);
	CHECK_INT(ep_withdraw(pair.a.ep, token), 0);
	CHECK_INT(ep_expose_as(pair.a.ep, 0, BOTH, 0, 1, 0, &other), -EAGAIN);
	ep_next(pair.b.ep, PEERLANE_RECORD_WITHDRAWN);
	CHECK(WAIT_FOR(!ep_expose_as(pair.a.ep, 0, BOTH, 0, 1, 0, &other), PATIENCE));
	pair_end(&pair);
}

/* As many notices as may be, unread; and operations. */
static void the_greatest_depths_are_real(void)
{
	static struct peerlane_op ops[4096];
	struct pair pair = pair_of(SETTINGS(.depth = 4096, .notify_depth = 4096),
				   SETTINGS(.depth = 4096, .notify_depth = 4096), 0);
	int i, begun = 0, got;

	for (i = 0; i < 4096; i++)
		ops[i] = OP(NOTIFY, .value = i, .cookie = i);
	while (begun < 4096) {
		got = ep_begin(pair.a.ep, ops + begun, 4096 - begun);
		if (!CHECK(got > 0))
			break;
		begun += got;
	}
	CHECK_INT(begun, 4096);
	CHECK_INT(ep_begin(pair.a.ep, ops, 1), -EAGAIN);
	for (i = 0; i < 4096; i++)
		if (!CHECK_INT(ep_next(pair.b.ep, PEERLANE_RECORD_NOTIFY).value, i))
			break;
	for (i = 0; i < 4096; i++)
		if (!CHECK_INT(ep_next(pair.a.ep, PEERLANE_RECORD_DONE).cookie, i))
			break;
	pair_end(&pair);
}

/* By each lane of each side. */
static void lanes_carry(struct pair *pair, uint32_t lanes)
{
	uint32_t i;

	for (i = 0; i < 2 * lanes && !tap.bad; i++) {
		struct side *from = i % 2 ? &pair->a : &pair->b;
		struct side *to = i % 2 ? &pair->b : &pair->a;

		CHECK_INT(ep_do(from->ep, OP(NOTIFY, .flags = PEERLANE_OP_F_LANE,
					     .lane = i / 2, .value = i)), 0);
		CHECK_INT(ep_next(to->ep, PEERLANE_RECORD_NOTIFY).value, i);
	}
}

/*
 * More completions than a queue of rxe has (32767): 7 lanes fit into one, so 8
 * are the edge.
 */
static void all_that_is_greatest_works(void)
{
	static const uint32_t lanes[] = { 7, 8, 16 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lanes); i++) {
		struct peerlane_endpoint_create args = SETTINGS(.lanes = lanes[i],
			.depth = 4096, .notify_depth = 4096);
		int listener = ep_create(&args), port = ep_listen(listener);
		struct pair pair = { { ep_create(&args), -1 }, { -1, -1 } };

		if (CHECK_INT(ep_connect(pair.a.ep, port), 0)) {
			pair.b.ep = ep_accept(listener);
			ep_next(pair.a.ep, PEERLANE_RECORD_CONNECTED);
			ep_next(pair.b.ep, PEERLANE_RECORD_CONNECTED);
			CHECK_INT(ep_info(pair.a.ep).lanes, lanes[i]);
			CHECK_INT(ep_info(pair.b.ep).lanes, lanes[i]);
			lanes_carry(&pair, lanes[i]);
		} else {
			printf("# %u lanes: %s\n", lanes[i], text);
		}
		pair_end(&pair);
		close(listener);
	}
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(lanes_end_at_16),
		TAP_CASE(depth_ends_at_the_parameter),
		TAP_CASE(slots_end_at_1024),
		TAP_CASE(there_are_16_slots_by_default),
		TAP_CASE(the_timeout_is_from_100_ms_to_10_minutes),
		TAP_CASE(a_secret_is_needed),
		TAP_CASE(texts_have_to_end),
		TAP_CASE(near_fd_is_a_region_or_nothing),
		TAP_CASE(backlogs_end_at_1024),
		TAP_CASE(a_batch_ends_at_4096),
		TAP_CASE(an_op_may_grow_but_not_shrink),
		TAP_CASE(little_room_for_records),
		TAP_CASE(without_an_answer_nothing_begins),
		TAP_CASE(keys_end_at_the_parameter),
		TAP_CASE(exposures_end_at_1024),
		TAP_CASE(the_greatest_depths_are_real),
		TAP_CASE(all_that_is_greatest_works),
	};

	return HARNESS_RUN(cases);
}
