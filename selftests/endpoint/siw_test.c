// SPDX-License-Identifier: GPL-2.0
/*
 * What is so with siw only: it connects by TCP while it has the connection, for
 * as long as TCP tries. Nobody else waits for that.
 */
#include "endpoint.h"

#define PORT	7

/*
 * Of the link, known to be at a station that there is not: nothing comes back.
 * No socket that does not accept, as lockdep has something to say of siw and the
 * end of such a one (7.2).
 */
static const char *silent_address(void)
{
	static char address[32];

	snprintf(address, sizeof(address), "%s", own_address());
	strcpy(strrchr(address, '.'), ".78");
	return address;
}

static void neighbour(const char *word, const char *rest)
{
	char command[128];

	snprintf(command, sizeof(command), "ip neigh %s %s dev eth0 %s", word,
		 silent_address(), rest);
	CHECK_INT(system(command), 0);
}

static void begin_silence(void)
{
	neighbour("replace", "lladdr 02:00:00:00:00:78 nud permanent");
}

/* TCP hears soon that there is no such station. */
static void end_silence(void)
{
	neighbour("del", "");
}

/* One that connects to nobody: it hangs in TCP. */
static int call_nobody(void)
{
	int ep = ep_new();

	begin_silence();
	set_nonblock(ep, true);
	CHECK_INT(ep_connect_to(ep, silent_address(), PORT), -EINPROGRESS);
	usleep(500000);
	CHECK_INT(ep_info(ep).state, PEERLANE_ENDPOINT_CONNECTING);
	return ep;
}

static void info_does_not_wait_for_tcp(void)
{
	uint8_t want[PEERLANE_ADDRESS_LEN];
	double begin = now();
	int ep = call_nobody();

	put_address(want, silent_address(), PORT);
	CHECK(!memcmp(ep_info(ep).peer, want, sizeof(want)));
	CHECK_STR(ep_info(ep).rdma_device, getenv("RDMA_DEV") ?: "rxe0");
	CHECK(now() - begin < 3);
	end_silence();
	close(ep);
}

static void close_does_not_wait_for_tcp(void)
{
	double begin = now();
	int ep = call_nobody();

	close(ep);
	CHECK(now() - begin < 3);
	end_silence();
}

static void disconnect_does_not_wait_for_tcp(void)
{
	double begin = now();
	int ep = call_nobody();

	CHECK_INT(ep_disconnect(ep), 0);
	CHECK_INT(ep_end(ep), -ECANCELED);
	CHECK(now() - begin < 3);
	end_silence();
	close(ep);
}

static void the_timeout_does_not_wait_for_tcp(void)
{
	struct peerlane_endpoint_create args = SETTINGS(.timeout_ms = 2000);
	int ep = ep_create(&args), listener = ep_new(), port = ep_listen(listener);
	double begin = now();

	begin_silence();
	CHECK_INT(ep_connect_to(ep, silent_address(), PORT), -ETIMEDOUT);
	CHECK(now() - begin < 6);
	CHECK_INT(ep_info(ep).state, PEERLANE_ENDPOINT_NEW);
	end_silence();
	/* The CM begins nothing else until TCP has given up. */
	CHECK(WAIT_FOR(!ep_connect(ep, port), PATIENCE));
	close(listener);
	close(ep);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(info_does_not_wait_for_tcp),
		TAP_CASE(close_does_not_wait_for_tcp),
		TAP_CASE(disconnect_does_not_wait_for_tcp),
		TAP_CASE(the_timeout_does_not_wait_for_tcp),
	};

	return HARNESS_RUN(cases);
}
