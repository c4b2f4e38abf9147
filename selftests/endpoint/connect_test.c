// SPDX-License-Identifier: GPL-2.0
/* Finding each other: addresses, secrets, backlogs. */
#include <pthread.h>
#include <sys/time.h>

#include "endpoint.h"

/* As it was before a CONNECT that failed. */
static void check_new(int ep)
{
	struct peerlane_endpoint_record info = ep_info(ep);
	struct peerlane_record unused;

	CHECK_INT(info.state, PEERLANE_ENDPOINT_NEW);
	CHECK_INT(info.status, 0);
	CHECK_STR(info.reason, "");
	CHECK_STR(info.rdma_device, "");
	CHECK_INT(ep_read(ep, &unused, 0), 0);
}

static int connect_status(struct peerlane_endpoint_create caller, uint16_t port)
{
	int ep = ep_create(&caller), ret = ep_connect(ep, port);

	if (ret) {
		char why[PEERLANE_MSG_MAX];

		strcpy(why, text);
		check_new(ep);
		strcpy(text, why);
	}
	close(ep);
	return ret;
}

/* ---- addresses ---- */

static void both_know_the_addresses(void)
{
	struct peerlane_endpoint_accept args = {};
	int listener = ep_new(), port = ep_listen_at(listener, "0.0.0.0", 0, 0);
	int caller = ep_new();
	struct peerlane_endpoint_record ours, theirs;
	uint8_t want[PEERLANE_ADDRESS_LEN];

	CHECK(port > 0);
	CHECK_INT(ep_connect(caller, port), 0);
	CHECK_INT(CALL(listener, ENDPOINT_ACCEPT, &args), 0);
	ours = ep_info(caller);
	theirs = ep_info(args.out_fd);
	put_address(want, own_address(), port);
	CHECK(!memcmp(ours.peer, want, sizeof(want)));
	CHECK(!memcmp(theirs.local, want, sizeof(want)));
	CHECK(!memcmp(theirs.peer, ours.local, sizeof(want)));
	CHECK(!memcmp(theirs.peer, args.out_address, sizeof(want)));
	CHECK_INT(theirs.id, args.out_id);
	CHECK_STR(ours.rdma_device, getenv("RDMA_DEV") ?: "rxe0");
	CHECK_STR(theirs.rdma_device, getenv("RDMA_DEV") ?: "rxe0");
	close(args.out_fd);
	close(caller);
	close(listener);
}

static void over_ipv6(const char *listen_at, const char *to)
{
	int listener = ep_new(), port = ep_listen_at(listener, listen_at, 0, 0);
	int caller = ep_new(), callee;
	uint8_t want[PEERLANE_ADDRESS_LEN];

	CHECK(port > 0);
	CHECK_INT(ep_connect_to(caller, to, port), 0);
	callee = ep_accept(listener);
	CHECK(callee >= 0);
	put_address(want, to, port);
	CHECK(!memcmp(ep_info(caller).peer, want, sizeof(want)));
	CHECK(!memcmp(ep_info(callee).local, want, sizeof(want)));
	CHECK_INT(ep_do(caller, OP(NOTIFY, .value = 6)), 0);
	CHECK_INT(ep_find(callee, PEERLANE_RECORD_NOTIFY).value, 6);
	close(callee);
	close(caller);
	close(listener);
}

static void ipv6_connects(void)
{
	const char *to = getenv("ADDRESS_6");

	if (!to) {
		SKIP("no IPv6 address");
		return;
	}
	over_ipv6(to, to);
	over_ipv6("::", to);
}

static void a_source_can_be_named(void)
{
	struct peerlane_endpoint_address args = {};
	int listener = ep_new(), port = ep_listen(listener), caller = ep_new();

	put_address(args.address, own_address(), port);
	put_address(args.source, "203.0.113.9", 0);
	CHECK_INT(CALL(caller, ENDPOINT_CONNECT, &args), -EADDRNOTAVAIL);
	close(caller);
	caller = ep_new();
	put_address(args.source, own_address(), 0);
	CHECK_INT(CALL(caller, ENDPOINT_CONNECT, &args), 0);
	close(caller);
	close(listener);
}

static void a_place_without_a_device_cannot_be_reached(void)
{
	int ret = connect_status(SETTINGS(), 1);
	int ep = ep_new();

	CHECK_INT(ret, -ECONNREFUSED);
	ret = ep_connect_to(ep, "127.0.0.1", 7);
	CHECK(ret == -ENODEV || ret == -ENETUNREACH || ret == -EHOSTUNREACH ||
	      ret == -ECONNREFUSED || ret == -EADDRNOTAVAIL);
	CHECK(text[0]);
	check_new(ep);
	close(ep);
}

static void an_unreachable_address_fails_in_time(void)
{
	struct peerlane_endpoint_create args = SETTINGS(.timeout_ms = 3000);
	int ep = ep_create(&args);
	double begin = now();
	char unused[32];
	int ret;

	snprintf(unused, sizeof(unused), "%s", own_address());
	strcpy(strrchr(unused, '.'), ".77");	/* on the link, and nobody's */
	ret = ep_connect_to(ep, unused, 7);
	CHECK(ret == -ETIMEDOUT || ret == -EHOSTUNREACH);
	CHECK(now() - begin < 6);
	CHECK(text[0]);
	printf("# %s after %.1f s\n", text, now() - begin);
	check_new(ep);
	close(ep);
}

static void nobody_listens(void)
{
	CHECK_INT(connect_status(SETTINGS(), 17), -ECONNREFUSED);
	CHECK_HAS(text, "nobody listens");
}

/* One after another, as the addresses of a name, with what was bound before. */
static void another_address_can_be_tried(void)
{
	int listener = ep_new(), port = ep_listen(listener), region = new_region(PAGE);
	int caller = ep_new(), callee, i;

	CHECK_INT(ep_bind(caller, 3, region), 0);
	for (i = 0; i < 3; i++) {
		CHECK_INT(ep_connect(caller, 17), -ECONNREFUSED);
		CHECK(ep_connect_to(caller, "127.0.0.1", port) < 0);
		check_new(caller);
	}
	if (CHECK_INT(ep_connect(caller, port), 0)) {
		callee = ep_accept(listener);
		ep_next(caller, PEERLANE_RECORD_CONNECTED);
		CHECK_INT(ep_bind(caller, 3, region), -EBUSY);
		CHECK_INT(ep_do(caller, OP(NOTIFY, .value = 9)), 0);
		CHECK_INT(ep_find(callee, PEERLANE_RECORD_NOTIFY).value, 9);
		CHECK_INT(ep_disconnect(caller), 0);
		CHECK_INT(ep_end(caller), -ECANCELED);
		CHECK_INT(ep_connect(caller, port), -EISCONN);
		close(callee);
	}
	close(caller);
	close(listener);
	close(region);
}

static void one_that_could_not_connect_can_listen(void)
{
	int ep = ep_new(), caller = ep_new(), port;

	CHECK_INT(ep_connect(ep, 17), -ECONNREFUSED);
	port = ep_listen(ep);
	CHECK(port > 0);
	CHECK_INT(ep_connect(caller, port), 0);
	close(caller);
	close(ep);
}

/* ---- secrets and names ---- */

static void another_secret_is_refused(void)
{
	int listener = ep_new(), port = ep_listen(listener), last;
	struct peerlane_endpoint_create args = SETTINGS();

	for (last = 0; last < 16; last += 5) {
		args = SETTINGS();
		args.secret[last] ^= 1;
		CHECK_INT(connect_status(args, port), -ECONNREFUSED);
		CHECK_HAS(text, "secret");
	}
	set_nonblock(listener, true);
	CHECK_INT(ep_accept(listener), -EAGAIN);
	CHECK_INT(connect_status(SETTINGS(), port), 0);
	close(listener);
}

static void another_device_is_refused(void)
{
	int listener = ep_new(), port = ep_listen(listener);

	CHECK(connect_status(SETTINGS(.rdma_device = "rxe9"), port) < 0);
	CHECK_HAS(text, "rxe9");
	CHECK_INT(connect_status(SETTINGS(.rdma_device = "rxe0"), port),
		  strcmp(getenv("RDMA_DEV") ?: "rxe0", "rxe0") ? -ENETUNREACH : 0);
	close(listener);
}

/* As far as CREATE says: the listener's device is named too. */
static void a_listener_has_a_device_too(void)
{
	struct peerlane_endpoint_create args = SETTINGS(.rdma_device = "rxe9");
	int listener = ep_create(&args), port = ep_listen(listener);

	if (port > 0) {
		CHECK_INT(connect_status(SETTINGS(), port), -ECONNREFUSED);
		CHECK_HAS(text, "device");
	}
	close(listener);
}

static void the_smaller_number_of_lanes_is_taken(void)
{
	struct pair pair = pair_of(SETTINGS(.lanes = 5), SETTINGS(.lanes = 3), 0);

	CHECK_INT(ep_info(pair.a.ep).lanes, 3);
	CHECK_INT(ep_info(pair.b.ep).lanes, 3);
	pair_end(&pair);
	pair = pair_of(SETTINGS(.lanes = 2), SETTINGS(.lanes = 16), 0);
	CHECK_INT(ep_info(pair.a.ep).lanes, 2);
	CHECK_INT(ep_info(pair.b.ep).lanes, 2);
	pair_end(&pair);
}

static void what_is_accepted_has_the_listeners_settings(void)
{
	struct pair pair = pair_of(SETTINGS(.label = "caller", .depth = 3),
				   SETTINGS(.label = "job 7", .depth = 9, .slots = 2), 0);
	int region = new_region(PAGE);
	char label[32];

	CHECK_STR(ep_info(pair.a.ep).label, "caller");
	CHECK_STR(ep_info(pair.b.ep).label, "job 7");
	CHECK_INT(ep_info(pair.b.ep).depth, 9);
	CHECK_INT(ep_bind(pair.b.ep, 1, region), 0);
	CHECK_INT(ep_bind(pair.b.ep, 2, region), -EINVAL);
	close(region);
	pair_end(&pair);
	pair = pair_new(0);
	snprintf(label, sizeof(label), "endpoint %llu",
		 (unsigned long long)ep_info(pair.a.ep).id);
	CHECK_STR(ep_info(pair.a.ep).label, label);
	pair_end(&pair);
}

/* ---- ways to wait ---- */

static void connect_need_not_wait(void)
{
	int listener = ep_new(), port = ep_listen(listener), caller = ep_new();

	set_nonblock(caller, true);
	CHECK_INT(ep_connect(caller, port), -EINPROGRESS);
	CHECK_INT(ep_connect(caller, port), -EISCONN);
	ep_next(caller, PEERLANE_RECORD_CONNECTED);
	close(caller);
	caller = ep_new();
	set_nonblock(caller, true);
	CHECK_INT(ep_connect(caller, 17), -EINPROGRESS);
	CHECK_INT(ep_next(caller, PEERLANE_RECORD_DISCONNECTED).status, -ECONNREFUSED);
	CHECK_INT(ep_info(caller).status, -ECONNREFUSED);
	close(caller);
	close(listener);
}

static void nothing(int number)
{
	(void)number;
}

/* As connect(2): it goes on. */
static void a_signal_does_not_end_connect(void)
{
	struct sigaction action = { .sa_handler = nothing };
	struct itimerval soon = { .it_value.tv_usec = 300000 };
	struct peerlane_endpoint_create args = SETTINGS(.timeout_ms = 3000);
	int ep = ep_create(&args), ret;
	char unused[32];

	snprintf(unused, sizeof(unused), "%s", own_address());
	strcpy(strrchr(unused, '.'), ".77");
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	CHECK_INT(ep_connect_to(ep, unused, 7), -EINTR);
	CHECK_INT(ep_info(ep).state, PEERLANE_ENDPOINT_CONNECTING);
	ret = ep_end(ep);
	CHECK(ret == -ETIMEDOUT || ret == -EHOSTUNREACH);
	close(ep);
}

/* Closed in the middle of it, at several moments. */
static void connect_can_be_given_up(void)
{
	int listener = ep_new(), port = ep_listen(listener), i, callee;

	set_nonblock(listener, true);
	for (i = 0; i < 20; i++) {
		int caller = ep_new();

		set_nonblock(caller, true);
		CHECK_INT(ep_connect(caller, port), -EINPROGRESS);
		usleep(i * 2000);
		if (i % 2)
			CHECK_INT(ep_disconnect(caller), 0);
		close(caller);
		while ((callee = ep_accept(listener)) >= 0)
			close(callee);
		CHECK_INT(callee, -EAGAIN);
	}
	close(listener);
}

static void accept_need_not_wait(void)
{
	struct pollfd pollfd;
	int listener = ep_new(), port = ep_listen(listener), caller = ep_new(), callee;

	pollfd = (struct pollfd){ .fd = listener, .events = POLLIN };
	set_nonblock(listener, true);
	CHECK_INT(ep_accept(listener), -EAGAIN);
	CHECK_INT(poll(&pollfd, 1, 0), 0);
	CHECK_INT(ep_connect(caller, port), 0);
	CHECK_INT(poll(&pollfd, 1, PATIENCE * 1000), 1);
	CHECK_INT(pollfd.revents, POLLIN);
	callee = ep_accept(listener);
	CHECK(callee >= 0);
	CHECK(!(fcntl(callee, F_GETFL) & O_NONBLOCK));
	CHECK_INT(poll(&pollfd, 1, 0), 0);
	close(callee);
	close(caller);
	close(listener);
}

static void *end_later(void *arg)
{
	struct peerlane_endpoint_disconnect args = { .size = sizeof(args) };

	usleep(300000);
	call_raw(*(int *)arg, PEERLANE_IOC_ENDPOINT_DISCONNECT, &args);
	return NULL;
}

static void a_waiting_accept_ends_with_the_listener(void)
{
	int listener = ep_new(), ret;
	pthread_t thread;

	CHECK(ep_listen(listener) > 0);
	pthread_create(&thread, NULL, end_later, &listener);
	ret = ep_accept(listener);
	CHECK(ret == -ENOTCONN || ret == -EINVAL);
	pthread_join(thread, NULL);
	close(listener);
}

static void a_waiting_connect_ends_with_a_disconnect(void)
{
	struct peerlane_endpoint_create args = SETTINGS();
	int ep = ep_create(&args);
	double begin = now();
	pthread_t thread;
	char unused[32];

	snprintf(unused, sizeof(unused), "%s", own_address());
	strcpy(strrchr(unused, '.'), ".77");
	pthread_create(&thread, NULL, end_later, &ep);
	CHECK(ep_connect_to(ep, unused, 7) < 0);
	CHECK(now() - begin < 10);
	pthread_join(thread, NULL);
	/* The end is one for good, whoever waited. */
	CHECK_INT(ep_info(ep).state, PEERLANE_ENDPOINT_CLOSED);
	CHECK_INT(ep_end(ep), -ECANCELED);
	close(ep);
}

static void the_backlog_is_what_waits(void)
{
	int listener = ep_new(), port, callers[4], i, callee;

	port = ep_listen_at(listener, own_address(), 0, 2);
	for (i = 0; i < 2; i++) {
		callers[i] = ep_new();
		CHECK_INT(ep_connect(callers[i], port), 0);
	}
	CHECK_INT(connect_status(SETTINGS(), port), -ECONNREFUSED);
	CHECK_HAS(text, "ACCEPT");
	callee = ep_accept(listener);
	callers[2] = ep_new();
	CHECK_INT(ep_connect(callers[2], port), 0);
	CHECK_INT(connect_status(SETTINGS(), port), -ECONNREFUSED);
	/* Those that nobody took end with the listener, the other lives. */
	close(listener);
	CHECK_INT(ep_end(callers[1]), -ECONNRESET);
	CHECK_INT(ep_end(callers[2]), -ECONNRESET);
	CHECK_INT(ep_do(callers[0], OP(NOTIFY)), 0);
	close(callee);
	for (i = 0; i < 3; i++)
		close(callers[i]);
}

/* Who has gone before he was taken is taken nevertheless, or not at all. */
static void who_has_gone_may_be_taken(void)
{
	int listener = ep_new(), port = ep_listen(listener), caller = ep_new(), callee;

	CHECK_INT(ep_connect(caller, port), 0);
	close(caller);
	usleep(300000);
	set_nonblock(listener, true);
	callee = ep_accept(listener);
	if (callee >= 0) {
		CHECK_INT(ep_end(callee), -ECONNRESET);
		close(callee);
	} else {
		CHECK_INT(callee, -EAGAIN);
	}
	close(listener);
}

static void many_come_at_once(void)
{
	int listener = ep_new(), port = ep_listen_at(listener, own_address(), 0, 64);
	int callers[32], callee, i;

	for (i = 0; i < 32; i++) {
		struct peerlane_endpoint_create args = SETTINGS(.depth = 8,
								.notify_depth = 8);

		callers[i] = ep_create(&args);
		set_nonblock(callers[i], true);
		CHECK_INT(ep_connect(callers[i], port), -EINPROGRESS);
	}
	for (i = 0; i < 32; i++) {
		callee = ep_accept(listener);
		CHECK(callee >= 0);
		ep_next(callee, PEERLANE_RECORD_CONNECTED);
		close(callee);
	}
	for (i = 0; i < 32; i++) {
		ep_next(callers[i], PEERLANE_RECORD_CONNECTED);
		CHECK_INT(ep_end(callers[i]), -ECONNRESET);
		close(callers[i]);
	}
	close(listener);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(both_know_the_addresses),
		TAP_CASE(ipv6_connects),
		TAP_CASE(a_source_can_be_named),
		TAP_CASE(a_place_without_a_device_cannot_be_reached),
		TAP_CASE(an_unreachable_address_fails_in_time),
		TAP_CASE(nobody_listens),
		TAP_CASE(another_address_can_be_tried),
		TAP_CASE(one_that_could_not_connect_can_listen),
		TAP_CASE(another_secret_is_refused),
		TAP_CASE(another_device_is_refused),
		TAP_CASE(a_listener_has_a_device_too),
		TAP_CASE(the_smaller_number_of_lanes_is_taken),
		TAP_CASE(what_is_accepted_has_the_listeners_settings),
		TAP_CASE(connect_need_not_wait),
		TAP_CASE(a_signal_does_not_end_connect),
		TAP_CASE(connect_can_be_given_up),
		TAP_CASE(accept_need_not_wait),
		TAP_CASE(a_waiting_accept_ends_with_the_listener),
		TAP_CASE(a_waiting_connect_ends_with_a_disconnect),
		TAP_CASE(the_backlog_is_what_waits),
		TAP_CASE(who_has_gone_may_be_taken),
		TAP_CASE(many_come_at_once),
	};

	return HARNESS_RUN(cases);
}
