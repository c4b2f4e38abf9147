// SPDX-License-Identifier: GPL-2.0
/* Threads that use an endpoint at once, and then its end in the middle of it. */
#include <pthread.h>

#include "endpoint.h"

#define LENGTH	(4 * MIB)

struct crowd {
	struct pair pair;
	uint64_t token;
	volatile bool stop;
};

static void *submit_on(void *arg)
{
	struct crowd *crowd = arg;
	struct peerlane_op op = OP(PUT, .flags = PEERLANE_OP_F_NOTIFY, .length = 5000,
				   .token = crowd->token);
	struct peerlane_record records[8];
	struct peerlane_endpoint_submit args = { .size = sizeof(args),
		.ops_ptr = (uintptr_t)&op, .count = 1, .op_size = sizeof(op),
		.records_ptr = (uintptr_t)records, .records_len = sizeof(records) };

	while (!crowd->stop)
		call_raw(crowd->pair.a.ep, PEERLANE_IOC_ENDPOINT_SUBMIT, &args);
	return NULL;
}

static void *read_on(void *arg)
{
	struct crowd *crowd = arg;
	struct peerlane_record records[4];

	while (!crowd->stop) {
		struct pollfd pollfd = { .fd = crowd->pair.b.ep, .events = POLLIN };

		if (poll(&pollfd, 1, 50) == 1 &&
		    read(crowd->pair.b.ep, records, sizeof(records)) <= 0)
			usleep(1000);
	}
	return NULL;
}

static void *expose_on(void *arg)
{
	struct crowd *crowd = arg;

	while (!crowd->stop) {
		struct peerlane_endpoint_expose expose = { .size = sizeof(expose),
			.rights = BOTH, .offset = 5, .length = 3 * MIB };
		struct peerlane_endpoint_withdraw end = { .size = sizeof(end) };

		if (call_raw(crowd->pair.b.ep, PEERLANE_IOC_ENDPOINT_EXPOSE, &expose)) {
			usleep(1000);
			continue;
		}
		end.token = expose.out_token;
		call_raw(crowd->pair.b.ep, PEERLANE_IOC_ENDPOINT_WITHDRAW, &end);
	}
	return NULL;
}

static void *bind_on(void *arg)
{
	struct crowd *crowd = arg;

	while (!crowd->stop) {
		struct peerlane_endpoint_bind bind = { .size = sizeof(bind),
			.slot = 1, .region_fd = crowd->pair.a.region };

		call_raw(crowd->pair.a.ep, PEERLANE_IOC_ENDPOINT_BIND, &bind);
		bind.region_fd = -1;
		call_raw(crowd->pair.a.ep, PEERLANE_IOC_ENDPOINT_BIND, &bind);
	}
	return NULL;
}

static void *look_on(void *arg)
{
	struct crowd *crowd = arg;
	static struct peerlane_endpoint_record records[16];
	int control = open_control();

	while (!crowd->stop) {
		struct peerlane_list list = { .size = sizeof(list), .count = 16,
			.array_ptr = (uintptr_t)records, .record_size = sizeof(records[0]) };

		call_raw(control, PEERLANE_IOC_ENDPOINT_LIST, &list);
		usleep(1000);
	}
	close(control);
	return NULL;
}

/* All of it at once, and then the end in the middle of it. */
static void threads_at_once_end_well(void)
{
	void *(*const runs[])(void *arg) = { submit_on, submit_on, read_on, expose_on,
					     bind_on, look_on };
	int round;

	for (round = 0; round < 4; round++) {
		struct crowd crowd = { .pair = pair_of(SETTINGS(.lanes = 2),
						       SETTINGS(.lanes = 2), LENGTH) };
		pthread_t threads[ARRAY_SIZE(runs)];
		size_t i;

		crowd.token = open_all(&crowd.pair.b, &crowd.pair.a);
		for (i = 0; i < ARRAY_SIZE(runs); i++)
			pthread_create(&threads[i], NULL, runs[i], &crowd);
		usleep(1000000);
		if (!round)
			CHECK_INT(ep_info(crowd.pair.a.ep).state,
				  PEERLANE_ENDPOINT_CONNECTED);
		if (round == 1)
			CHECK_INT(region_revoke(crowd.pair.a.region), 0);
		else if (round == 2)
			CHECK_INT(region_revoke(crowd.pair.b.region), 0);
		CHECK_INT(ep_disconnect(round % 2 ? crowd.pair.a.ep : crowd.pair.b.ep), 0);
		usleep(100000);
		crowd.stop = true;
		for (i = 0; i < ARRAY_SIZE(runs); i++)
			pthread_join(threads[i], NULL);
		pair_end(&crowd.pair);
	}
}

static void *flush_on(void *arg)
{
	struct crowd *crowd = arg;
	struct peerlane_op ops[2] = { OP(FLUSH), OP(NOTIFY) };
	struct peerlane_endpoint_submit args = { .size = sizeof(args),
		.ops_ptr = (uintptr_t)ops, .count = 2, .op_size = sizeof(ops[0]) };

	while (!crowd->stop)
		call_raw(crowd->pair.a.ep, PEERLANE_IOC_ENDPOINT_SUBMIT, &args);
	return NULL;
}

/* Whatever somebody begins meanwhile. */
static void the_last_record_is_that_of_the_end(void)
{
	struct peerlane_endpoint_create args = SETTINGS(.lanes = 16, .depth = 1024,
							.notify_depth = 16);
	int round;

	for (round = 0; round < 40 && !tap.bad; round++) {
		struct crowd crowd = { .pair = pair_of(args, args, 0) };
		pthread_t threads[3];
		size_t i;

		for (i = 0; i < ARRAY_SIZE(threads); i++)
			pthread_create(&threads[i], NULL, flush_on, &crowd);
		usleep(rand() % 20000);
		CHECK_INT(ep_disconnect(round % 2 ? crowd.pair.a.ep : crowd.pair.b.ep), 0);
		if (!(round % 2))
			CHECK(WAIT_FOR(ep_info(crowd.pair.a.ep).state ==
				       PEERLANE_ENDPOINT_CLOSED, PATIENCE));
		usleep(20000);
		crowd.stop = true;
		for (i = 0; i < ARRAY_SIZE(threads); i++)
			pthread_join(threads[i], NULL);
		CHECK(ep_end(crowd.pair.a.ep) < 0);
		CHECK_INT(ep_info(crowd.pair.a.ep).outstanding, 0);
		pair_end(&crowd.pair);
	}
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(threads_at_once_end_well),
		TAP_CASE(the_last_record_is_that_of_the_end),
	};

	srand(time(NULL));
	return HARNESS_RUN(cases);
}
