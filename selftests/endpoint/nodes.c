// SPDX-License-Identifier: GPL-2.0
/*
 * nodes [-a ADDRESS] [CASE...]: the same cases on two nodes, in step. Node 2
 * listens; node 1, which is given node 2's address, calls. With --host-hook
 * selftests/verbs/hook, so that memory is looked at from outside.
 */
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>

#include "nodes.h"

#define GUARD	64
#define CANARY	0xa5

/* ---- data ---- */

struct place {
	uint64_t length, local, remote;
};

static const struct place places[] = {
	{ 1, 5, 70001 }, { 4095, 1, 4095 }, { 4097, 13, 2097133 },
	{ 65535, 4096, 8192 }, { 65537, 777, 12345 }, { 40000, 77, 99999 },
	{ 4 << 20, 2097151, 4095 }, { (2 << 20) + 1, 100, (6 << 20) - 1 },
};

static int own_node(void)
{
	return is_caller() ? 1 : 2;
}

/* Behind the BAR of node @node lies what it should. */
static void check_outside(int node, uint64_t offset, const struct place *place,
			  uint64_t at, uint64_t seed)
{
	CHECK_INT(host_says("pattern-check %d 0 %llu %llu %llu %d", node,
			    (unsigned long long)(offset + at),
			    (unsigned long long)place->length,
			    (unsigned long long)seed, GUARD), 0);
}

/* Looked at by the host, who knows nothing of endpoints. */
static void data_is_seen_from_outside(void)
{
	uint64_t token, theirs, offset, seed;
	struct side side = side_new(SETTINGS(.lanes = 2), 16 * MIB, &token);
	size_t i;

	offset = region_info(side.region).out_dev_offset;
	theirs = exchange(offset);
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		const struct place *place = &places[i];

		/* First what the caller puts, then what he gets. */
		memset(side.mem, CANARY, 16 * MIB);
		seed = 100 + i;
		if (is_caller())
			fill(side.mem + place->local, place->length, seed);
		in_step();
		if (is_caller()) {
			CHECK_INT(ep_do(side.ep, OP(PUT, .offset = place->local,
				.length = place->length, .token = token,
				.remote_offset = place->remote)), 0);
			CHECK_INT(ep_do(side.ep, OP(FLUSH)), 0);
			check_outside(2, theirs, place, place->remote, seed);
		}
		in_step();
		memset(side.mem, CANARY, 16 * MIB);
		if (!is_caller())
			CHECK_INT(host_says("pattern-fill 2 0 %llu %llu %llu",
				(unsigned long long)(offset + place->remote),
				(unsigned long long)place->length,
				(unsigned long long)seed + 50), 0);
		in_step();
		if (is_caller()) {
			CHECK_INT(ep_do(side.ep, OP(GET, .offset = place->local,
				.length = place->length, .token = token,
				.remote_offset = place->remote)), 0);
			check_outside(1, offset, place, place->local, seed + 50);
		}
		in_step();
	}
	side_end(&side);
}

static void a_canary_would_be_missed(void)
{
	uint64_t token, offset;
	struct side side = side_new(SETTINGS(), MIB, &token);
	struct place place = { 100, 0, 0 };

	offset = region_info(side.region).out_dev_offset;
	memset(side.mem, CANARY, MIB);
	fill(side.mem + 5000, 100, 9);
	check_outside(own_node(), offset, &place, 5000, 9);
	CHECK_INT(host_says("flip %d 0 %llu", own_node(),
			    (unsigned long long)offset + 5099), 0);
	CHECK_INT(host_says("pattern-check %d 0 %llu 100 9 64", own_node(),
			    (unsigned long long)offset + 5000), 3);
	in_step();
	side_end(&side);
}

static void a_put_of_64_mib_arrives(void)
{
	struct place place = { 64 * MIB, 0, 0 };
	uint64_t token, offset, theirs;
	struct side side = side_new(SETTINGS(.lanes = 4), 64 * MIB + 2 * PAGE, &token);

	offset = region_info(side.region).out_dev_offset;
	theirs = exchange(offset);
	memset(side.mem, CANARY, 64 * MIB + 2 * PAGE);
	in_step();
	if (is_caller()) {
		CHECK_INT(host_says("pattern-fill 1 0 %llu %llu 64",
				    (unsigned long long)offset + 1,
				    (unsigned long long)place.length), 0);
		CHECK_INT(ep_do(side.ep, OP(PUT, .offset = 1, .length = place.length,
					    .token = token, .remote_offset = 4097)), 0);
		check_outside(2, theirs, &place, 4097, 64);
	}
	in_step();
	side_end(&side);
}

/* ---- connecting ---- */

static void ipv6_connects_two_nodes(void)
{
	const char *ip = getenv("ADDRESS_6_2");
	int ep = endpoint_at(SETTINGS(.lanes = 2), ip);

	greet(ep);
	in_step();
	close(ep);
}

static void refusals_reach_the_other_node(void)
{
	struct peerlane_endpoint_create args = SETTINGS();
	int listener = -1, ep;

	if (!is_caller()) {
		listener = ep_new();
		CHECK_INT(ep_listen_at(listener, "0.0.0.0", PORT, 1), PORT);
	}
	in_step();
	if (is_caller()) {
		int full[1];

		args.secret[3] ^= 0x80;
		ep = ep_create(&args);
		CHECK_INT(ep_connect_to(ep, peer, PORT), -ECONNREFUSED);
		CHECK_HAS(text, "secret");
		close(ep);
		ep = ep_new();
		CHECK_INT(ep_connect_to(ep, peer, PORT + 1), -ECONNREFUSED);
		CHECK_HAS(text, "nobody listens");
		close(ep);
		full[0] = ep_new();
		CHECK_INT(ep_connect_to(full[0], peer, PORT), 0);
		ep = ep_new();
		CHECK_INT(ep_connect_to(ep, peer, PORT), -ECONNREFUSED);
		CHECK_HAS(text, "ACCEPT");
		close(ep);
		close(full[0]);
	}
	in_step();
	if (!is_caller())
		close(listener);
}

/* ---- ends ---- */

/* PUTs until it fails, or for so many seconds: the error. */
/* Between two puts the end is found by the next call, which does not say why. */
static int put_on(struct side *side, uint64_t token, double seconds)
{
	double end = now() + seconds;
	int ret = 0;

	while (!ret && now() < end) {
		ret = ep_do(side->ep, OP(PUT, .length = 64 * 1024, .token = token));
		if (ret == -ENOTCONN)
			ret = ep_info(side->ep).status;
	}
	return ret;
}

static void accept_and_wait(void *arg)
{
	int listener = *(int *)arg, ep = ep_accept(listener), region;
	uint64_t token;

	region = new_region(MIB);
	CHECK_INT(ep_bind(ep, 0, region), 0);
	CHECK_INT(ep_expose_as(ep, 0, BOTH, 0, MIB, 0, &token), 0);
	pause();
}

static void a_killed_process_is_a_reset_at_the_other_node(void)
{
	struct peerlane_record record;
	int ep = -1, listener = -1;
	pid_t pid = 0;

	if (!is_caller()) {
		listener = ep_new();
		CHECK_INT(ep_listen_at(listener, "0.0.0.0", PORT, 0), PORT);
		pid = spawn(accept_and_wait, &listener);
	}
	in_step();
	if (is_caller()) {
		struct side side = { ep_new(), -1, NULL, 0 };
		uint64_t token;

		ep = side.ep;
		CHECK_INT(ep_connect_to(ep, peer, PORT), 0);
		side_memory(&side, DEVICES "gpu0", MIB);
		token = ep_find(ep, PEERLANE_RECORD_EXPOSED).token;
		in_step();
		CHECK(put_on(&side, token, 60) < 0);
		while (ep_read(ep, &record, PATIENCE) == 1)
			if (record.type == PEERLANE_RECORD_DISCONNECTED)
				CHECK_INT(record.status, -ECONNRESET);
		CHECK_INT(ep_info(ep).status, -ECONNRESET);
		side_end(&side);
	} else {
		in_step();
		usleep(500000);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		close(listener);
	}
	in_step();
}

/* Shorter than the timeout: nobody notices. */
static void a_short_outage_is_survived(void)
{
	uint64_t token;
	struct side side = side_new(SETTINGS(.timeout_ms = 20000), MIB, &token);

	if (!is_caller()) {
		usleep(500000);
		CHECK_INT(system("ip link set eth0 down"), 0);
		usleep(1500000);
		CHECK_INT(system("ip link set eth0 up"), 0);
	} else {
		CHECK_INT(put_on(&side, token, 6), 0);
	}
	in_step();
	CHECK_INT(ep_info(side.ep).state, PEERLANE_ENDPOINT_CONNECTED);
	greet(side.ep);
	in_step();
	side_end(&side);
}

/* Longer: both know in time, and neither can tell who it was. */
static void a_long_outage_times_out(void)
{
	uint64_t token;
	struct side side = side_new(SETTINGS(.timeout_ms = 3000), MIB, &token);
	double begin;
	int ret;

	if (!is_caller()) {
		usleep(500000);
		CHECK_INT(host_says("link-down"), 0);
	}
	begin = now();
	if (is_caller()) {
		/* Half a second more, until the cable is out. */
		ret = put_on(&side, token, 15);
		CHECK_INT(ret, -ETIMEDOUT);
	}
	ret = ep_end(side.ep);
	printf("# after %.1f s: %s\n", now() - begin, ep_info(side.ep).reason);
	CHECK_INT(ret, -ETIMEDOUT);
	CHECK(now() - begin < 6);
	if (!is_caller()) {
		sleep(2);
		CHECK_INT(host_says("link-up"), 0);
	}
	in_step();
	side_end(&side);
}

/* Nobody has anything to say, and the cable is out all the same. */
static void an_outage_is_noticed_by_the_idle(void)
{
	struct side side = side_new(SETTINGS(.timeout_ms = 2000), 0, NULL);
	double begin = now();

	in_step();
	if (!is_caller())
		CHECK_INT(host_says("link-down"), 0);
	CHECK_INT(ep_end(side.ep), -ETIMEDOUT);
	CHECK(now() - begin < 6);
	if (!is_caller()) {
		sleep(3);
		CHECK_INT(host_says("link-up"), 0);
	}
	in_step();
	side_end(&side);
}

/* Idle for several timeouts, and still there. */
static void idle_ones_live_on(void)
{
	struct side side = side_new(SETTINGS(.timeout_ms = 1000), 0, NULL);

	sleep(4);
	in_step();
	CHECK_INT(ep_info(side.ep).state, PEERLANE_ENDPOINT_CONNECTED);
	greet(side.ep);
	in_step();
	side_end(&side);
}

static void the_device_of_one_node_goes(void)
{
	uint64_t token;
	struct side side = side_new(SETTINGS(.timeout_ms = 3000), MIB, &token);
	const char *device = getenv("RDMA_DEV") ?: "rxe0";
	char command[96];
	double begin = now();
	int ret;

	if (is_caller()) {
		ret = put_on(&side, token, 20);
		printf("# %d: %s\n", ret, ep_info(side.ep).reason);
		CHECK(ret == -ECONNRESET || ret == -ETIMEDOUT);
		ret = ep_end(side.ep);
		CHECK(ret == -ECONNRESET || ret == -ETIMEDOUT);
	} else {
		usleep(500000);
		snprintf(command, sizeof(command), "rdma link delete %s", device);
		CHECK_INT(system(command), 0);
		CHECK_INT(ep_end(side.ep), -ENETDOWN);
		snprintf(command, sizeof(command),
			 "rdma link add %s type %.3s netdev eth0", device, device);
		CHECK_INT(system(command), 0);
	}
	CHECK(now() - begin < 10);
	in_step();
	side_end(&side);
	side = side_new(SETTINGS(), MIB, &token);
	CHECK_INT(ep_do(side.ep, OP(PUT, .length = MIB, .token = token)), 0);
	in_step();
	side_end(&side);
}

/* ---- what others see of it ---- */

static int lines(const char *command)
{
	FILE *pipe = popen(command, "r");
	int n = -1;

	if (pipe && fscanf(pipe, "%d", &n) != 1)
		n = -1;
	if (pipe)
		pclose(pipe);
	return n;
}

/* Each lane is a flow in either direction, with the label. */
static void flows_have_the_label(void)
{
	struct peerlane_endpoint_create settings = SETTINGS(.lanes = 3);
	uint64_t token;
	struct side side;
	char command[160];
	int i, n = 0;

	CHECK_INT(system("peerlane flow observe local on"), 0);
	snprintf(settings.label, sizeof(settings.label), "job %d", 6 + own_node());
	side = side_new(settings, MIB, &token);
	for (i = 0; i < 3; i++)
		CHECK_INT(ep_do(side.ep, OP(PUT, .flags = PEERLANE_OP_F_LANE,
					    .length = 200000, .token = token,
					    .lane = i)), 0);
	in_step();
	snprintf(command, sizeof(command),
		 "peerlane flow list label 'job %d' | grep -c 10.77", 6 + own_node());
	/* It is given to them now and then. */
	WAIT_FOR((n = lines(command)) == 6, 15);
	printf("# %d flows\n", n);
	if (n != 6)
		CHECK_INT(system("peerlane flow list | sed 's/^/# /'"), 0);
	CHECK_INT(n, 6);
	in_step();
	side_end(&side);
	CHECK_INT(system("peerlane flow observe local off"), 0);
	CHECK_INT(system("peerlane flow reset >/dev/null"), 0);
}

/* Last, and the caller's alone, as node 2 does not live to report it. */
static void a_node_without_power_times_out(void)
{
	uint64_t token;
	struct side side = side_new(SETTINGS(.timeout_ms = 3000), MIB, &token);
	double begin;

	CHECK_INT(put_on(&side, token, 0.5), 0);
	CHECK_INT(host_says("node-kill 2"), 0);
	begin = now();
	CHECK_INT(put_on(&side, token, 15), -ETIMEDOUT);
	CHECK_INT(ep_end(side.ep), -ETIMEDOUT);
	printf("# after %.1f s\n", now() - begin);
	CHECK(now() - begin < 5);
	side_end(&side);
}

/* Node 2's part in it; returns what is to be the exit status. */
static int lose_power(void)
{
	uint64_t token;

	side_new(SETTINGS(.timeout_ms = 3000), MIB, &token);
	sleep(60);
	printf("Bail out! the power was not cut\n");
	return 1;
}

static const struct tap_case cases[] = {
	TAP_CASE(data_is_seen_from_outside),
	TAP_CASE(a_canary_would_be_missed),
	TAP_CASE(a_put_of_64_mib_arrives),
	TAP_CASE(ipv6_connects_two_nodes),
	TAP_CASE(refusals_reach_the_other_node),
	TAP_CASE(a_killed_process_is_a_reset_at_the_other_node),
	TAP_CASE(a_short_outage_is_survived),
	TAP_CASE(a_long_outage_times_out),
	TAP_CASE(an_outage_is_noticed_by_the_idle),
	TAP_CASE(idle_ones_live_on),
	TAP_CASE(the_device_of_one_node_goes),
	TAP_CASE(flows_have_the_label),
	TAP_CASE(a_node_without_power_times_out),
};

/* Those that are named, or all. */
static size_t choose(struct tap_case *chosen, char **names, int count)
{
	size_t i, n = 0;
	int k;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		for (k = 0; k < count && strcmp(names[k], cases[i].name); k++)
			;
		if (!count || k < count)
			chosen[n++] = cases[i];
	}
	return n;
}

int main(int argc, char **argv)
{
	struct tap_case chosen[ARRAY_SIZE(cases)];
	bool loses_power;
	int option, ret;
	size_t count;

	signal(SIGPIPE, SIG_IGN);
	while ((option = getopt(argc, argv, "a:")) == 'a')
		peer = optarg;
	control = peer ? call_control() : answer_control();
	if (control < 0) {
		printf("Bail out! no way to the other node\n");
		return 1;
	}
	setsockopt(control, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	count = choose(chosen, argv + optind, argc - optind);
	loses_power = !is_caller() && count &&
		      chosen[count - 1].run == a_node_without_power_times_out;
	ret = tap_run(chosen, count - loses_power);
	return loses_power ? lose_power() : ret;
}
