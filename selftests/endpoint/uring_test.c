// SPDX-License-Identifier: GPL-2.0
/* SUBMIT, read and poll by io_uring. */
#include "uring.h"

#define LENGTH	(64 * PAGE)
#define RECORD	sizeof(struct peerlane_record)

/* A ring; false: the kernel has no io_uring, and the case is to be skipped. */
static bool have_ring(struct uring *ring, unsigned int flags)
{
	int ret = uring_new(ring, flags);

	if (ret == -ENOSYS)
		SKIP("the kernel has no io_uring");
	else
		CHECK_INT(ret, 0);
	return !ret;
}

static bool none_yet(struct uring *ring)
{
	struct io_uring_cqe cqe;

	usleep(300000);
	return !uring_peek(ring, &cqe);
}

/* ---- SUBMIT ---- */

static void a_submit_completes_with_the_count(void)
{
	struct uring ring;
	struct pair pair;
	struct peerlane_op ops[2];
	uint64_t token;

	if (!have_ring(&ring, 0))
		return;
	pair = pair_new(LENGTH);
	token = open_all(&pair.b, &pair.a);
	memset(pair.a.mem, 'u', 3000);
	ops[0] = OP(PUT, .length = 3000, .token = token, .cookie = 1);
	ops[1] = OP(FLUSH, .cookie = 2);
	CHECK_INT(uring_begin(&ring, pair.a.ep, ops, 2), 2);
	CHECK_INT(ep_next(pair.a.ep, PEERLANE_RECORD_DONE).cookie, 1);
	CHECK_INT(ep_next(pair.a.ep, PEERLANE_RECORD_DONE).cookie, 2);
	CHECK(!memcmp(pair.b.mem, pair.a.mem, 3000));
	pair_end(&pair);
	uring_end(&ring);
}

/* There is a completion as soon as it is handed over: no worker is asked. */
static void a_submit_that_does_not_wait_is_done_at_once(void)
{
	struct uring ring;
	struct pair pair;
	struct io_uring_cqe cqe;
	struct peerlane_op op = OP(NOTIFY, .flags = PEERLANE_OP_F_QUIET);
	struct peerlane_endpoint_submit args = submit_args(&op, 1);
	int i, late = 0;

	if (!have_ring(&ring, 0))
		return;
	pair = pair_new(0);
	for (i = 0; i < 100; i++) {
		uring_issue(&ring, submit_sqe(pair.a.ep, &args, i));
		if (*ring.cq_head == *ring.cq_tail) {
			late++;
			CHECK_INT(uring_wait(&ring, i), 1);
			continue;
		}
		CHECK(uring_peek(&ring, &cqe));
		CHECK_INT(cqe.res, 1);
		CHECK_INT(cqe.user_data, i);
		ep_next(pair.b.ep, PEERLANE_RECORD_NOTIFY);
	}
	/* A lock may have been held by another. */
	printf("# %d of 100 were late\n", late);
	CHECK(late < 10);
	pair_end(&pair);
	uring_end(&ring);
}

static void errors_are_those_of_the_ioctl(void)
{
	struct uring ring;
	struct pair pair;
	struct peerlane_op ops[2] = { OP(NOTIFY), OP(NOTIFY, .lane = 5) };
	int ep;

	if (!have_ring(&ring, 0))
		return;
	pair = pair_new(LENGTH);
	ops[1].op = PEERLANE_OP_PUT;
	CHECK_INT(uring_begin(&ring, pair.a.ep, ops, 2), 1);
	CHECK_INT(uring_begin(&ring, pair.a.ep, ops + 1, 1), -EINVAL);
	CHECK_HAS(text, "lane 5");
	ops[1] = OP(PUT, .length = 1, .token = 4711);
	CHECK_INT(uring_begin(&ring, pair.a.ep, ops + 1, 1), -EACCES);
	CHECK_HAS(text, "token");
	ep = ep_new();
	CHECK_INT(uring_begin(&ring, ep, ops, 1), -ENOTCONN);
	close(ep);
	CHECK_INT(uring_submit(&ring, pair.a.ep, NULL), -EFAULT);
	pair_end(&pair);
	uring_end(&ring);
}

static void what_is_unknown_is_refused(void)
{
	struct peerlane_endpoint_submit args = submit_args(NULL, 0);
	struct io_uring_sqe sqe;
	struct uring ring;
	int ep;

	if (!have_ring(&ring, 0))
		return;
	ep = ep_new();
	sqe = submit_sqe(ep, &args, 1);
	sqe.cmd_op = PEERLANE_IOC_ENDPOINT_INFO;
	uring_issue(&ring, sqe);
	CHECK_INT(uring_wait(&ring, 1), -ENOTTY);
	sqe = submit_sqe(ep, &args, 2);
	sqe.cmd[15] = 1;
	uring_issue(&ring, sqe);
	CHECK_INT(uring_wait(&ring, 2), -EOPNOTSUPP);
	args.reserved = 1;
	CHECK_INT(uring_submit(&ring, ep, &args), -EOPNOTSUPP);
	CHECK_HAS(text, "reserved");
	close(ep);
	uring_end(&ring);
}

static void a_full_queue_is_eagain(void)
{
	struct uring ring;
	struct pair pair;
	struct peerlane_op ops[3] = { OP(FLUSH), OP(FLUSH), OP(FLUSH) };

	if (!have_ring(&ring, 0))
		return;
	pair = pair_of(SETTINGS(.depth = 2), SETTINGS(), 0);
	CHECK_INT(uring_begin(&ring, pair.a.ep, ops, 3), 2);
	CHECK_INT(uring_begin(&ring, pair.a.ep, ops, 1), -EAGAIN);
	CHECK_HAS(text, "2 operations");
	ep_next(pair.a.ep, PEERLANE_RECORD_DONE);
	CHECK_INT(uring_begin(&ring, pair.a.ep, ops, 1), 1);
	pair_end(&pair);
	uring_end(&ring);
}

/* Bound before there was a device to map it for: that takes a worker. */
static void the_first_use_of_a_slot_works(void)
{
	struct peerlane_endpoint_create args = SETTINGS();
	struct pair pair = { .b.region = -1 };
	struct peerlane_op op = OP(GET, .length = 100);
	struct uring ring;
	int listener, port, ret;

	if (!have_ring(&ring, 0))
		return;
	listener = ep_new();
	port = ep_listen(listener);
	pair.a.ep = ep_create(&args);
	side_memory(&pair.a, DEVICES "gpu0", LENGTH);
	/* The end of an earlier ring may interrupt it: it goes on. */
	ret = ep_connect(pair.a.ep, port);
	CHECK(!ret || ret == -EINTR);
	pair.b.ep = ep_accept(listener);
	side_memory(&pair.b, second_device(), LENGTH);
	op.token = open_all(&pair.b, &pair.a);
	memset(pair.b.mem, 'm', 100);
	CHECK_INT(uring_begin(&ring, pair.a.ep, &op, 1), 1);
	CHECK_INT(ep_find(pair.a.ep, PEERLANE_RECORD_DONE).status, 0);
	CHECK(!memcmp(pair.a.mem, pair.b.mem, 100));
	close(listener);
	pair_end(&pair);
	uring_end(&ring);
}

/* ---- with a wait ---- */

static void a_wait_completes_with_the_records(void)
{
	struct peerlane_op ops[3] = { OP(FLUSH, .cookie = 1), OP(FLUSH, .cookie = 2),
				      OP(NOTIFY, .cookie = 3) };
	struct peerlane_endpoint_submit args = submit_args(ops, 3);
	struct peerlane_record records[8];
	struct uring ring;
	struct pair pair;

	if (!have_ring(&ring, 0))
		return;
	pair = pair_new(0);
	args.wait = 3;
	args.records_ptr = (uintptr_t)records;
	args.records_len = sizeof(records);
	CHECK_INT(uring_submit(&ring, pair.a.ep, &args), 3);
	CHECK_INT(args.out_count, 3);
	CHECK_INT(args.out_records_len, 3 * RECORD);
	CHECK_INT(records[0].type, PEERLANE_RECORD_DONE);
	pair_end(&pair);
	uring_end(&ring);
}

static void who_waits_keeps_nobody_else(void)
{
	struct peerlane_endpoint_submit args = submit_args(NULL, 0);
	struct peerlane_op op = OP(NOTIFY, .flags = PEERLANE_OP_F_QUIET);
	struct peerlane_record record = {};
	struct uring ring;
	struct pair pair;

	if (!have_ring(&ring, 0))
		return;
	pair = pair_new(0);
	args.wait = 1;
	args.records_ptr = (uintptr_t)&record;
	args.records_len = RECORD;
	uring_issue(&ring, submit_sqe(pair.a.ep, &args, 5));
	CHECK(none_yet(&ring));
	CHECK_INT(uring_begin(&ring, pair.b.ep, &op, 1), 1);
	CHECK_INT(uring_wait(&ring, 5), 0);
	CHECK_INT(record.type, PEERLANE_RECORD_NOTIFY);
	pair_end(&pair);
	uring_end(&ring);
}

/* Two completions, of the cancel and of what it ends, in any order. */
static void a_wait_can_be_cancelled(void)
{
	struct peerlane_op op = OP(NOTIFY, .flags = PEERLANE_OP_F_QUIET);
	struct peerlane_endpoint_submit args = submit_args(&op, 1);
	struct peerlane_record record = {};
	struct io_uring_cqe cqe = {};
	struct uring ring;
	struct pair pair;
	int i;

	if (!have_ring(&ring, 0))
		return;
	pair = pair_new(0);
	args.wait = 1;
	args.records_ptr = (uintptr_t)&record;
	args.records_len = RECORD;
	uring_issue(&ring, submit_sqe(pair.a.ep, &args, 5));
	ep_next(pair.b.ep, PEERLANE_RECORD_NOTIFY);
	CHECK(none_yet(&ring));
	uring_issue(&ring, (struct io_uring_sqe){ .opcode = IORING_OP_ASYNC_CANCEL,
						  .addr = 5, .user_data = 6 });
	for (i = 0; i < 2; i++) {
		if (!CHECK(WAIT_FOR(uring_peek(&ring, &cqe), PATIENCE)))
			break;
		if (cqe.user_data == 5)
			CHECK_INT(cqe.res, 1);
	}
	CHECK_INT(args.out_count, 1);
	CHECK_INT(args.out_records_len, 0);
	pair_end(&pair);
	uring_end(&ring);
}

static void waits(void *arg)
{
	struct pair *pair = arg;
	struct peerlane_endpoint_submit args = submit_args(NULL, 0);
	struct peerlane_record record;
	struct uring ring;

	close(pair->b.ep);
	CHECK_INT(uring_new(&ring, 0), 0);
	args.wait = 1;
	args.records_ptr = (uintptr_t)&record;
	args.records_len = RECORD;
	uring_issue(&ring, submit_sqe(pair->a.ep, &args, 5));
	CHECK(none_yet(&ring));
}

/* The ring, its worker, and with them the last user of the endpoint. */
static void the_end_of_the_process_ends_its_wait(void)
{
	struct uring ring;
	struct pair pair;
	pid_t pid;

	if (!have_ring(&ring, 0))
		return;
	uring_end(&ring);
	pair = pair_new(0);
	pid = spawn(waits, &pair);
	close(pair.a.ep);
	pair.a.ep = -1;
	CHECK_INT(reap(pid, 60), 0);
	CHECK_INT(ep_end(pair.b.ep), -ECONNRESET);
	pair_end(&pair);
}

/* ---- read and poll ---- */

static void a_read_completes_when_there_is_a_record(void)
{
	struct peerlane_op op = OP(NOTIFY, .flags = PEERLANE_OP_F_QUIET, .value = 9);
	struct peerlane_record record = {};
	struct uring ring;
	struct pair pair;
	int i;

	if (!have_ring(&ring, 0))
		return;
	pair = pair_new(0);
	for (i = 0; i < 50; i++) {
		uring_issue(&ring, (struct io_uring_sqe){
			.opcode = IORING_OP_READ, .fd = pair.a.ep, .off = -1,
			.addr = (uintptr_t)&record, .len = RECORD, .user_data = i });
		if (!i)
			CHECK(none_yet(&ring));
		op.value = i;
		CHECK_INT(ep_begin(pair.b.ep, &op, 1), 1);
		if (!CHECK_INT(uring_wait(&ring, i), RECORD))
			break;
		CHECK_INT(record.type, PEERLANE_RECORD_NOTIFY);
		CHECK_INT(record.value, i);
	}
	pair_end(&pair);
	uring_end(&ring);
}

static void a_read_ends_with_the_connection(void)
{
	struct peerlane_record record = {};
	struct io_uring_sqe sqe;
	struct uring ring;
	struct pair pair;

	if (!have_ring(&ring, 0))
		return;
	pair = pair_new(0);
	sqe = (struct io_uring_sqe){ .opcode = IORING_OP_READ, .fd = pair.a.ep,
				     .off = -1, .addr = (uintptr_t)&record,
				     .len = RECORD, .user_data = 1 };
	uring_issue(&ring, sqe);
	CHECK(none_yet(&ring));
	CHECK_INT(ep_disconnect(pair.b.ep), 0);
	CHECK_INT(uring_wait(&ring, 1), RECORD);
	CHECK_INT(record.type, PEERLANE_RECORD_DISCONNECTED);
	uring_issue(&ring, sqe);
	CHECK_INT(uring_wait(&ring, 1), 0);
	pair_end(&pair);
	uring_end(&ring);
}

static void a_poll_completes_when_there_is_a_record(void)
{
	struct peerlane_op op = OP(NOTIFY, .flags = PEERLANE_OP_F_QUIET);
	struct uring ring;
	struct pair pair;

	if (!have_ring(&ring, 0))
		return;
	pair = pair_new(0);
	uring_issue(&ring, (struct io_uring_sqe){ .opcode = IORING_OP_POLL_ADD,
		.fd = pair.a.ep, .poll32_events = POLLIN, .user_data = 3 });
	CHECK(none_yet(&ring));
	CHECK_INT(ep_begin(pair.b.ep, &op, 1), 1);
	CHECK(uring_wait(&ring, 3) & POLLIN);
	pair_end(&pair);
	uring_end(&ring);
}

/*
 * Such a ring looks for completions itself, which there is no way to. Later kernels
 * do not ask that of files that have none.
 */
static void a_ring_that_polls_is_refused_or_told(void)
{
	struct uring ring;
	struct pair pair;
	struct peerlane_op op = OP(NOTIFY);
	int ret;

	if (!have_ring(&ring, IORING_SETUP_IOPOLL))
		return;
	pair = pair_new(0);
	ret = uring_begin(&ring, pair.a.ep, &op, 1);
	CHECK(ret == -EOPNOTSUPP || ret == 1);
	pair_end(&pair);
	uring_end(&ring);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(a_submit_completes_with_the_count),
		TAP_CASE(a_submit_that_does_not_wait_is_done_at_once),
		TAP_CASE(errors_are_those_of_the_ioctl),
		TAP_CASE(what_is_unknown_is_refused),
		TAP_CASE(a_full_queue_is_eagain),
		TAP_CASE(the_first_use_of_a_slot_works),
		TAP_CASE(a_wait_completes_with_the_records),
		TAP_CASE(who_waits_keeps_nobody_else),
		TAP_CASE(a_wait_can_be_cancelled),
		TAP_CASE(the_end_of_the_process_ends_its_wait),
		TAP_CASE(a_read_completes_when_there_is_a_record),
		TAP_CASE(a_read_ends_with_the_connection),
		TAP_CASE(a_poll_completes_when_there_is_a_record),
		TAP_CASE(a_ring_that_polls_is_refused_or_told),
	};

	return HARNESS_RUN(cases);
}
