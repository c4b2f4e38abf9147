// SPDX-License-Identifier: GPL-2.0
/*
 * How it ends: each operation that began completes exactly once, nothing hangs,
 * and nothing is left.
 */
#include <pthread.h>

#include "endpoint.h"

#define LENGTH	(4 * MIB)
#define OPS	64
#define BYTES	60000

/* OPS of them, in flight. */
static void begin_many(int ep, uint64_t token, uint16_t op)
{
	struct peerlane_op ops[OPS];
	int i;

	for (i = 0; i < OPS; i++)
		ops[i] = (struct peerlane_op){ .op = op, .offset = i * BYTES,
			.length = BYTES, .token = token,
			.remote_offset = i * BYTES, .cookie = i };
	CHECK_INT(ep_begin(ep, ops, OPS), OPS);
}

/* Each once; then the end, whose status is returned. */
static int each_once(int ep, int *failed)
{
	struct peerlane_record record;
	char seen[OPS] = {};
	int count = 0, i;

	*failed = 0;
	for (;;) {
		if (!CHECK_INT(ep_read(ep, &record, PATIENCE), 1))
			return -1;
		if (record.type == PEERLANE_RECORD_DISCONNECTED)
			break;
		if (record.type != PEERLANE_RECORD_DONE)
			continue;
		if (!CHECK(record.cookie < OPS))
			continue;
		CHECK_INT(seen[record.cookie]++, 0);
		count++;
		if (record.status)
			*failed = record.status;
		else
			CHECK_INT(record.length, BYTES);
	}
	CHECK_INT(count, OPS);
	for (i = 0; i < OPS; i++)
		CHECK_INT(seen[i], 1);
	CHECK_INT(ep_info(ep).outstanding, 0);
	CHECK_INT(read(ep, &record, sizeof(record)), 0);
	return record.status;
}

static struct pair begin_pair(uint64_t *token)
{
	struct pair pair = pair_of(SETTINGS(.lanes = 3), SETTINGS(.lanes = 3), LENGTH);

	*token = open_all(&pair.b, &pair.a);
	return pair;
}

static void disconnect_completes_each_once(void)
{
	int round, failed;

	for (round = 0; round < 4; round++) {
		uint64_t token;
		struct pair pair = begin_pair(&token);

		begin_many(pair.a.ep, token,
			   round % 2 ? PEERLANE_OP_PUT : PEERLANE_OP_GET);
		usleep(round * 3000);
		CHECK_INT(ep_disconnect(pair.a.ep), 0);
		CHECK_INT(each_once(pair.a.ep, &failed), -ECANCELED);
		CHECK(!failed || failed == -ECANCELED);
		CHECK_INT(ep_end(pair.b.ep), -ECONNRESET);
		pair_end(&pair);
	}
}

static void an_end_of_the_peer_completes_each_once(void)
{
	int round, failed;

	for (round = 0; round < 4; round++) {
		uint64_t token;
		struct pair pair = begin_pair(&token);

		begin_many(pair.a.ep, token,
			   round % 2 ? PEERLANE_OP_PUT : PEERLANE_OP_GET);
		usleep(round * 3000);
		if (round < 2)
			CHECK_INT(ep_disconnect(pair.b.ep), 0);
		else
			close(pair.b.ep);
		if (round >= 2)
			pair.b.ep = -1;
		CHECK_INT(each_once(pair.a.ep, &failed), -ECONNRESET);
		if (failed && failed != -ECONNRESET)
			printf("# an operation ended with %d\n", failed);
		CHECK(!failed || failed == -ECONNRESET);
		CHECK_HAS(ep_info(pair.a.ep).reason, "peer");
		pair_end(&pair);
	}
}

/* Both at once, and with operations in both directions. */
static void both_sides_may_end_it(void)
{
	int round, failed;

	for (round = 0; round < 6; round++) {
		uint64_t token, back;
		struct pair pair = begin_pair(&token);

		back = open_all(&pair.a, &pair.b);
		begin_many(pair.a.ep, token, PEERLANE_OP_PUT);
		begin_many(pair.b.ep, back, PEERLANE_OP_GET);
		usleep(round * 2000);
		CHECK_INT(ep_disconnect(pair.a.ep), 0);
		CHECK_INT(ep_disconnect(pair.b.ep), 0);
		each_once(pair.a.ep, &failed);
		each_once(pair.b.ep, &failed);
		pair_end(&pair);
	}
}

static void close_waits_for_nobody(void)
{
	uint64_t token;
	struct pair pair = begin_pair(&token);
	double begin = now();

	begin_many(pair.a.ep, token, PEERLANE_OP_GET);
	close(pair.a.ep);
	pair.a.ep = -1;
	CHECK(now() - begin < 10);
	CHECK_INT(ep_end(pair.b.ep), -ECONNRESET);
	pair_end(&pair);
}

/* ---- revocation ---- */

static void a_revoked_region_ends_its_operations(void)
{
	int round, failed;

	for (round = 0; round < 3; round++) {
		uint64_t token;
		struct pair pair = begin_pair(&token);
		int status;

		begin_many(pair.a.ep, token,
			   round % 2 ? PEERLANE_OP_PUT : PEERLANE_OP_GET);
		CHECK_INT(region_revoke(pair.a.region), 0);
		status = each_once(pair.a.ep, &failed);
		CHECK(status == -ENODEV || !failed);
		CHECK(!failed || failed == -ENODEV);
		pair_end(&pair);
	}
}

/* Idle: only the slot is gone. */
static void a_revoked_region_ends_its_slot(void)
{
	struct pair pair = pair_new(LENGTH);
	uint64_t token = open_all(&pair.b, &pair.a), of_a = open_all(&pair.a, &pair.b);
	int other = new_region(PAGE);

	CHECK_INT(ep_bind(pair.a.ep, 1, other), 0);
	CHECK_INT(ep_do(pair.a.ep, OP(PUT, .length = 9, .token = token)), 0);
	CHECK_INT(region_revoke(pair.a.region), 0);
	CHECK_INT(ep_begin(pair.a.ep, &OP(PUT, .length = 9, .token = token), 1), -ENODEV);
	CHECK_HAS(text, "revoked");
	CHECK(ep_find(pair.b.ep, PEERLANE_RECORD_WITHDRAWN).token == of_a);
	CHECK_INT(ep_withdraw(pair.a.ep, of_a), -ENOKEY);
	CHECK_INT(ep_expose_as(pair.a.ep, 0, BOTH, 0, 1, 0, &of_a), -ENODEV);
	CHECK_INT(ep_do(pair.a.ep, OP(PUT, .slot = 1, .length = 9, .token = token)), 0);
	CHECK_INT(ep_bind(pair.a.ep, 0, -1), 0);
	CHECK_INT(ep_bind(pair.a.ep, 0, other), 0);
	CHECK_INT(ep_do(pair.a.ep, OP(PUT, .length = 9, .token = token)), 0);
	close(other);
	pair_end(&pair);
}

/* The exposed one: who writes it hears that it is gone. */
static void a_revoked_region_ends_its_exposures(void)
{
	uint64_t token;
	struct pair pair = begin_pair(&token);
	int failed, status;

	begin_many(pair.a.ep, token, PEERLANE_OP_PUT);
	CHECK_INT(region_revoke(pair.b.region), 0);
	CHECK_INT(ep_info(pair.b.ep).keys, 0);
	usleep(500000);
	if (ep_info(pair.a.ep).state == PEERLANE_ENDPOINT_CONNECTED) {
		/* All of them were done before. */
		CHECK(ep_find(pair.a.ep, PEERLANE_RECORD_WITHDRAWN).token == token);
	} else {
		status = each_once(pair.a.ep, &failed);
		CHECK(status == -ECONNRESET || status == -EACCES || status == -ENOKEY);
		CHECK(failed == -ECONNRESET || failed == -EACCES ||
		      failed == -ENOKEY || failed == -ECANCELED);
		printf("# ended with %d, an operation with %d\n", status, failed);
	}
	pair_end(&pair);
}

/* ---- processes ---- */

struct killed {
	uint16_t port;
	uint64_t token;
	int region;
};

/* Puts until it is killed. */
static void put_for_ever(void *arg)
{
	struct killed *killed = arg;
	int ep = ep_new(), region = new_region(MIB);
	struct peerlane_record record;
	struct peerlane_op op;

	alarm(120);
	if (ep_connect(ep, killed->port))
		return;
	CHECK_INT(ep_bind(ep, 0, region), 0);
	record = ep_find(ep, PEERLANE_RECORD_EXPOSED);
	op = OP(PUT, .length = MIB, .token = record.token);
	for (;;)
		if (ep_begin(ep, &op, 1) < 0 || tap.bad)
			ep_read(ep, &record, 1);
}

static void a_killed_process_resets_its_peer(void)
{
	int listener = ep_new(), round;
	struct killed killed = { .port = ep_listen(listener) };

	set_nonblock(listener, true);
	for (round = 0; round < 12; round++) {
		pid_t pid = spawn(put_for_ever, &killed);
		struct pollfd pollfd = { .fd = listener, .events = POLLIN };
		struct side side = { .ep = -1 };
		uint64_t token;

		if (!CHECK_INT(poll(&pollfd, 1, PATIENCE * 1000), 1))
			break;
		side.ep = ep_accept(listener);
		side_memory(&side, second_device(), LENGTH);
		CHECK_INT(ep_expose_as(side.ep, 0, BOTH, 0, LENGTH, 0, &token), 0);
		usleep(rand() % 300000);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		CHECK_INT(ep_end(side.ep), -ECONNRESET);
		side_end(&side);
	}
	close(listener);
}

/* At any moment, also while it connects, exposes, or ends. */
static void kills_at_any_moment_leave_nothing(void)
{
	int listener = ep_new(), round, ep;
	struct killed killed = { .port = ep_listen(listener) };

	set_nonblock(listener, true);
	for (round = 0; round < 50; round++) {
		pid_t pid = spawn(put_for_ever, &killed);
		uint64_t token;

		usleep(rand() % 60000);
		ep = ep_accept(listener);
		if (ep >= 0) {
			struct side side = { .ep = ep };
			int bound = side_memory_bound(&side, second_device(), MIB);

			/* It may be of one that was killed before it was accepted. */
			CHECK(!bound || bound == -ENOTCONN);
			ep_expose_as(ep, 0, BOTH, 0, MIB, 0, &token);
			usleep(rand() % 30000);
			kill(pid, SIGKILL);
			side_end(&side);
		}
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	close(listener);
}

/* ---- again and again ---- */

static long slab_kib(void)
{
	const char *line = strstr(read_text("/proc/meminfo"), "SUnreclaim:");

	return line ? atol(line + 11) : 0;
}

static void connections_leave_nothing(void)
{
	long before = 0, after;
	int i;

	for (i = 0; i < 200; i++) {
		struct pair pair = pair_new(0);

		if (i == 100)
			before = slab_kib();
		if (i % 3 == 0)
			CHECK_INT(ep_disconnect(pair.b.ep), 0);
		pair_end(&pair);
		if (tap.bad)
			break;
	}
	sleep(1);
	after = slab_kib();
	printf("# unreclaimable slabs: %ld KiB, then %ld\n", before, after);
	/* 20 KiB a connection would be 2 MiB. */
	CHECK(after - before < 2048);
}

/* ---- the device ---- */

static void shell(const char *command)
{
	CHECK_INT(system(command), 0);
}

static void *delete_later(void *arg)
{
	char command[64];

	usleep(20000);
	snprintf(command, sizeof(command), "rdma link delete %s", (char *)arg);
	shell(command);
	return NULL;
}

static void the_device_may_go(void)
{
	char *device = getenv("RDMA_DEV") ?: "rxe0", command[96];
	int listener = ep_new(), port = ep_listen(listener), new, failed;
	uint64_t token;
	struct pair pair = begin_pair(&token);
	pthread_t thread;
	double begin;

	pthread_create(&thread, NULL, delete_later, device);
	begin_many(pair.a.ep, token, PEERLANE_OP_PUT);
	pthread_join(thread, NULL);
	begin = now();
	CHECK_INT(each_once(pair.a.ep, &failed), -ENETDOWN);
	CHECK(!failed || failed == -ENETDOWN);
	CHECK_INT(ep_end(pair.b.ep), -ENETDOWN);
	CHECK(now() - begin < 10);
	CHECK_HAS(ep_info(pair.b.ep).reason, "gone");
	CHECK_INT(ep_begin(pair.a.ep, &OP(NOTIFY), 1), -ENOTCONN);
	CHECK_HAS(text, device);
	CHECK_STR(ep_info(pair.a.ep).rdma_device, "");
	pair_end(&pair);
	/* The listener hears of it, or listens on when there is one again. */
	CHECK(WAIT_FOR(ep_info(listener).state == PEERLANE_ENDPOINT_CLOSED, 10));
	new = ep_new();
	CHECK(ep_connect(new, port) < 0);
	printf("# without a device: %s\n", text);
	close(new);
	close(listener);
	snprintf(command, sizeof(command), "rdma link add %s type %.3s netdev eth0",
		 device, device);
	shell(command);
	pair = pair_new(LENGTH);
	CHECK_INT(ep_do(pair.a.ep, OP(PUT, .length = LENGTH,
				      .token = open_all(&pair.b, &pair.a))), 0);
	pair_end(&pair);
}

/* Not connected yet, or not any more. */
static void the_device_may_go_at_any_moment(void)
{
	char *device = getenv("RDMA_DEV") ?: "rxe0", command[96];
	int round, eps[8], i;

	for (round = 0; round < 4; round++) {
		int listener = ep_new(), port = ep_listen(listener);
		bool begun[8];
		pthread_t thread;

		for (i = 0; i < 8; i++) {
			eps[i] = ep_new();
			set_nonblock(eps[i], true);
		}
		pthread_create(&thread, NULL, delete_later, device);
		for (i = 0; i < 8; i++) {
			begun[i] = ep_connect(eps[i], port) == -EINPROGRESS;
			usleep(round * 2000);
			if (i % 3 == 2)
				close(eps[i]);
		}
		pthread_join(thread, NULL);
		for (i = 0; i < 8; i++)
			if (i % 3 != 2) {
				CHECK(!begun[i] || ep_end(eps[i]) < 0);
				close(eps[i]);
			}
		close(listener);
		snprintf(command, sizeof(command), "rdma link add %s type %.3s netdev eth0",
			 device, device);
		shell(command);
	}
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(disconnect_completes_each_once),
		TAP_CASE(an_end_of_the_peer_completes_each_once),
		TAP_CASE(both_sides_may_end_it),
		TAP_CASE(close_waits_for_nobody),
		TAP_CASE(a_revoked_region_ends_its_operations),
		TAP_CASE(a_revoked_region_ends_its_slot),
		TAP_CASE(a_revoked_region_ends_its_exposures),
		TAP_CASE(a_killed_process_resets_its_peer),
		TAP_CASE(kills_at_any_moment_leave_nothing),
		TAP_CASE(connections_leave_nothing),
		TAP_CASE(the_device_may_go),
		TAP_CASE(the_device_may_go_at_any_moment),
	};

	srand(time(NULL));
	return HARNESS_RUN(cases);
}
