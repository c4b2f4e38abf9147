// SPDX-License-Identifier: GPL-2.0
/* A peer that does not keep to the rules while a connection is made. */
#include "victim.h"

/* ---- as the one that calls ---- */

struct greeting {
	const char *what;
	int at, value;		/* a byte of the private data that is changed */
	int length;		/* 0: as it should be */
	u32 refusal;
};

static void wrong_greetings_are_refused(void)
{
	static const struct greeting greetings[] = {
		{ "no private data", 0, 'e', -1, LINK_REFUSAL_VERSION },
		{ "magic", 0, 0, 0, LINK_REFUSAL_VERSION },
		{ "version 2", 4, 2, 0, LINK_REFUSAL_VERSION },
		{ "version 0", 4, 0, 0, LINK_REFUSAL_VERSION },
		{ "no lanes", 6, 0, 0, LINK_REFUSAL_VERSION },
		{ "17 lanes", 6, 17, 0, LINK_REFUSAL_VERSION },
		{ "lane 1 of 1", 5, 1, 0, LINK_REFUSAL_VERSION },
		{ "lane 255", 5, 255, 0, LINK_REFUSAL_VERSION },
		{ "secret", 16, 0, 0, LINK_REFUSAL_SECRET },
		{ "last byte of the secret", 31, 0, 0, LINK_REFUSAL_SECRET },
	};
	struct victim victim = victim_begin(SETTINGS());
	struct hostile hostile;
	size_t i;

	set_nonblock(victim.listener, true);
	for (i = 0; i < ARRAY_SIZE(greetings); i++) {
		struct link_hello hello = hostile_hello();
		u8 data[LINK_HELLO_SIZE];
		int ret;

		link_hello_encode(&hello, data);
		data[greetings[i].at] = greetings[i].value;
		ret = hostile_connect(&hostile, own_address(), victim.port, data,
				      greetings[i].length < 0 ? 0 : sizeof(data), 0);
		if (ret != -ECONNREFUSED || hostile.refusal != greetings[i].refusal)
			printf("# %s: %d, %u\n", greetings[i].what, ret, hostile.refusal);
		CHECK_INT(ret, -ECONNREFUSED);
		CHECK_INT(hostile.refusal, greetings[i].refusal);
		hostile_end(&hostile);
		CHECK_INT(ep_accept(victim.listener), -EAGAIN);
	}
	victim_end(&victim);
}

static void zeroes_in_a_greeting_are_refused(void)
{
	struct victim victim = victim_begin(SETTINGS());
	struct link_hello hello;
	struct hostile hostile;
	int i;

	for (i = 0; i < 3; i++) {
		hello = hostile_hello();
		if (i == 0)
			hello.id = 0;
		else if (i == 1)
			hello.notify = 0;
		else
			hello.timeout_ms = 0;
		CHECK_INT(hostile_connect_well(&hostile, own_address(), victim.port,
					       &hello), -ECONNREFUSED);
		hostile_end(&hostile);
	}
	victim_end(&victim);
}

/* Random bytes behind the magic: 100 times. */
static void any_greeting_is_refused_or_taken(void)
{
	struct victim victim = victim_begin(SETTINGS(.timeout_ms = 1000));
	struct link_hello hello = hostile_hello();
	struct hostile hostile;
	u8 data[56];
	int i, k, ret, callee;

	set_nonblock(victim.listener, true);
	for (i = 0; i < 60; i++) {
		hello.id++;
		link_hello_encode(&hello, data);
		for (k = 0; k < 1 + rand() % 4; k++)
			data[rand() % LINK_HELLO_SIZE] = rand();
		ret = hostile_connect(&hostile, own_address(), victim.port, data,
				      rand() % 57, 0);
		CHECK(!ret || ret == -ECONNREFUSED);
		hostile_end(&hostile);
	}
	while ((callee = ep_accept(victim.listener)) >= 0)
		close(callee);
	victim_end(&victim);
}

/* A lane of a connection that nobody has. */
static void further_lanes_need_a_first(void)
{
	struct victim victim = victim_begin(SETTINGS(.lanes = 4));
	struct link_hello hello = hostile_hello();
	struct hostile hostile, again;

	hello.lanes = 4;
	hello.lane = 2;
	CHECK_INT(hostile_connect_well(&hostile, own_address(), victim.port, &hello),
		  -ECONNREFUSED);
	CHECK_INT(hostile.refusal, LINK_REFUSAL_LANE);
	hostile_end(&hostile);
	/* Or come twice. */
	hello.lane = 0;
	CHECK_INT(hostile_connect_well(&hostile, own_address(), victim.port, &hello), 0);
	CHECK_INT(hostile.answer.lanes, 4);
	hello.lane = 1;
	CHECK_INT(hostile_connect_well(&again, own_address(), victim.port, &hello), 0);
	hostile_end(&again);
	CHECK_INT(hostile_connect_well(&again, own_address(), victim.port, &hello),
		  -ECONNREFUSED);
	hostile_end(&again);
	hostile_end(&hostile);
	victim_end(&victim);
}

/* Who only asks holds a place until the timeout, and no longer. */
static void who_only_asks_is_forgotten(void)
{
	struct peerlane_endpoint_create settings = SETTINGS(.timeout_ms = 2000);
	struct victim victim = { .side = { -1, -1 } };
	struct link_hello hello = hostile_hello();
	struct hostile hostile;
	int ep, ret;
	double begin;

	bystander = pair_new(LENGTH);
	bystander_token = open_all(&bystander.b, &bystander.a);
	victim.listener = ep_create(&settings);
	victim.port = ep_listen_at(victim.listener, own_address(), 0, 1);
	CHECK_INT(hostile_ask_only(&hostile, own_address(), victim.port, &hello), 0);
	usleep(300000);
	begin = now();
	do {
		ep = ep_new();
		ret = ep_connect(ep, victim.port);
		close(ep);
		usleep(100000);
	} while (ret && now() - begin < PATIENCE);
	CHECK_INT(ret, 0);
	printf("# after %.1f s\n", now() - begin);
	CHECK(now() - begin < 8);
	hostile_end(&hostile);
	victim_end(&victim);
}

/* ---- as the one that listens ---- */

/* An endpoint that calls the hostile one, which has heard it. */
static int call_hostile(struct hostile *hostile, uint32_t lanes)
{
	struct peerlane_endpoint_create settings = SETTINGS(.timeout_ms = 4000,
							    .lanes = lanes);
	int ep = ep_create(&settings);

	CHECK_INT(hostile_listen(hostile, own_address(), 18999), 0);
	set_nonblock(ep, true);
	CHECK_INT(ep_connect(ep, 18999), -EINPROGRESS);
	CHECK_INT(hostile_wait(hostile), 0);
	CHECK_INT(hostile->answer.lanes, lanes);
	return ep;
}

static void check_refused(struct hostile *hostile, int ep, int status, const char *why)
{
	CHECK_INT(ep_end(ep), status);
	CHECK_HAS(ep_info(ep).reason, why);
	close(ep);
	hostile_end(hostile);
}

static void wrong_answers_are_refused(void)
{
	struct victim victim = victim_begin(SETTINGS());
	struct hostile hostile;
	struct link_hello hello;
	u8 data[LINK_HELLO_SIZE];
	int kind, ep;

	for (kind = 0; kind < 6; kind++) {
		ep = call_hostile(&hostile, 2);
		hello = hostile.answer;
		if (kind == 0)
			hello.id++;
		else if (kind == 1)
			hello.lanes = 3;
		else if (kind == 2)
			hello.lanes = 0;
		else if (kind == 3)
			hello.notify = 0;
		link_hello_encode(&hello, data);
		if (kind == 4)
			data[4] = LINK_VERSION + 1;
		CHECK_INT(hostile_accept(&hostile, data, kind == 5 ? 0 : sizeof(data)), 0);
		check_refused(&hostile, ep, -EPROTO, "no sense");
	}
	victim_end(&victim);
}

static void any_refusal_is_understood(void)
{
	struct victim victim = victim_begin(SETTINGS());
	u8 data[40] = {};
	struct hostile hostile;
	int ep = call_hostile(&hostile, 1);

	CHECK_INT(hostile_reject(&hostile, NULL, 0), 0);
	check_refused(&hostile, ep, -ECONNREFUSED, "no endpoint");
	ep = call_hostile(&hostile, 1);
	CHECK_INT(hostile_reject(&hostile, data, sizeof(data)), 0);
	check_refused(&hostile, ep, -ECONNREFUSED, "no endpoint");
	ep = call_hostile(&hostile, 1);
	link_refusal_encode(200, data);
	CHECK_INT(hostile_reject(&hostile, data, LINK_REFUSAL_SIZE), 0);
	check_refused(&hostile, ep, -ECONNREFUSED, "no endpoint");
	victim_end(&victim);
}

/* It promises a second lane, and does not take it. */
static void a_lane_that_never_comes_ends_with_the_timeout(void)
{
	struct victim victim = victim_begin(SETTINGS());
	struct hostile hostile;
	u8 data[LINK_HELLO_SIZE];
	double begin = now();
	int ep = call_hostile(&hostile, 2);

	link_hello_encode(&hostile.answer, data);
	CHECK_INT(hostile_accept(&hostile, data, sizeof(data)), 0);
	CHECK_INT(ep_end(ep), -ETIMEDOUT);
	CHECK(now() - begin < 10);
	close(ep);
	hostile_end(&hostile);
	victim_end(&victim);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(wrong_greetings_are_refused),
		TAP_CASE(zeroes_in_a_greeting_are_refused),
		TAP_CASE(any_greeting_is_refused_or_taken),
		TAP_CASE(further_lanes_need_a_first),
		TAP_CASE(who_only_asks_is_forgotten),
		TAP_CASE(wrong_answers_are_refused),
		TAP_CASE(any_refusal_is_understood),
		TAP_CASE(a_lane_that_never_comes_ends_with_the_timeout),
	};

	srand(time(NULL));
	hostile_init();
	return HARNESS_RUN(cases);
}
