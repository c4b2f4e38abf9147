// SPDX-License-Identifier: GPL-2.0
/* Endpoints of one node, from birth to end. */
#include "endpoint.h"
#include "fail_nth.h"

#define LENGTH	(3 * UNIT)

static struct pair pair;
static int ep = -1, other = -1, made = -1, port;
static uint64_t token;

static void close_all(int ret)
{
	int *const files[] = { &ep, &other, &made };
	size_t i;

	(void)ret;
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		if (*files[i] >= 0)
			close(*files[i]);
		*files[i] = -1;
	}
	pair_end(&pair);
	pair = (struct pair){ { -1, -1 }, { -1, -1 } };
}

static bool begin_none(void)
{
	close_all(0);
	return true;
}

static bool begin_new(void)
{
	close_all(0);
	ep = ep_new();
	pair.a.region = new_region(LENGTH);
	pair.a.mem = map(pair.a.region, LENGTH);
	pair.a.length = LENGTH;
	return ep >= 0 && pair.a.region >= 0;
}

static bool begin_listener(void)
{
	close_all(0);
	other = ep_new();
	ep = ep_new();
	port = ep_listen(other);
	return port > 0;
}

static bool begin_caller(void)
{
	return begin_listener() && !ep_connect(ep, port) &&
	       WAIT_FOR(poll(&(struct pollfd){ .fd = other, .events = POLLIN }, 1, 0) == 1,
			PATIENCE);
}

static bool begin_pair(void)
{
	close_all(0);
	pair = pair_new(LENGTH);
	return pair.b.ep >= 0;
}

static bool begin_exposed(void)
{
	if (!begin_pair())
		return false;
	token = open_all(&pair.b, &pair.a);
	return token;
}

static bool begin_unbound(void)
{
	return begin_exposed() && !ep_bind(pair.a.ep, 0, -1);
}

/* ---- one call each ---- */

static int create(void)
{
	return made = ep_new();
}

static int bind_slot(void)
{
	return ep_bind(ep, 1, pair.a.region);
}

static void end_bind(int ret)
{
	CHECK_INT(ep_info(ep).slots, ret >= 0);
	close_all(ret);
}

static int listen_at(void)
{
	return ep_listen(ep);
}

/* It can be tried again. */
static void end_listen(int ret)
{
	if (ret < 0)
		CHECK(ep_listen(ep) > 0);
	CHECK_INT(ep_info(ep).state, PEERLANE_ENDPOINT_LISTENING);
	close_all(ret);
}

static int connect_to(void)
{
	return ep_connect(ep, port);
}

static void end_connect(int ret)
{
	uint32_t state = ep_info(ep).state;

	CHECK(ret >= 0 ? state == PEERLANE_ENDPOINT_CONNECTED :
	      state == PEERLANE_ENDPOINT_CLOSED || state == PEERLANE_ENDPOINT_NEW);
	close_all(ret);
}

static int accept_one(void)
{
	return made = ep_accept(other);
}

/* It was not lost. */
static void end_accept(int ret)
{
	if (ret < 0)
		made = ep_accept(other);
	CHECK(made >= 0);
	ep_next(made, PEERLANE_RECORD_CONNECTED);
	close_all(ret);
}

static int bind_connected(void)
{
	return ep_bind(pair.a.ep, 0, pair.a.region);
}

static void end_bind_connected(int ret)
{
	if (ret < 0)
		CHECK_INT(ep_bind(pair.a.ep, 0, pair.a.region), 0);
	CHECK_INT(ep_do(pair.a.ep, OP(PUT, .length = 5, .token = token)), 0);
	close_all(ret);
}

static int expose(void)
{
	return ep_expose_as(pair.b.ep, 0, BOTH, 100, LENGTH - 100, 0, &token);
}

static void end_expose(int ret)
{
	struct peerlane_endpoint_record info = ep_info(pair.b.ep);

	CHECK_INT(info.exposed, ret >= 0);
	CHECK_INT(info.keys, ret >= 0 ? 3 : 0);
	if (ret < 0)
		CHECK_INT(expose(), 0);
	while (ep_find(pair.a.ep, PEERLANE_RECORD_EXPOSED).token != token && !tap.bad)
		;
	CHECK_INT(ep_do(pair.a.ep, OP(PUT, .length = LENGTH - 100, .token = token)), 0);
	close_all(ret);
}

static int withdraw(void)
{
	return ep_withdraw(pair.b.ep, token);
}

static void end_withdraw(int ret)
{
	if (ret < 0)
		CHECK_INT(withdraw(), 0);
	CHECK_INT(ep_info(pair.b.ep).keys, 0);
	close_all(ret);
}

static int submit(void)
{
	struct peerlane_op ops[] = {
		OP(PUT, .length = LENGTH, .token = token, .cookie = 1),
		OP(GET, .length = 5, .token = token, .cookie = 2),
		OP(FLUSH, .cookie = 3), OP(NOTIFY, .cookie = 4),
	};

	return ep_begin(pair.a.ep, ops, ARRAY_SIZE(ops));
}

/*
 * As many records as were begun, and none of them failed. A call whose answer
 * could not be written has begun them all the same.
 */
static void end_submit(int ret)
{
	int begun = 0;

	CHECK(WAIT_FOR(!ep_info(pair.a.ep).outstanding, PATIENCE));
	CHECK_INT(ep_info(pair.a.ep).ops_failed, 0);
	begun = ep_info(pair.a.ep).ops_done;
	CHECK(ret < 0 ? !begun || begun == 4 : begun == ret);
	for (; begun; begun--)
		CHECK_INT(ep_next(pair.a.ep, PEERLANE_RECORD_DONE).status, 0);
	CHECK_INT(ep_do(pair.a.ep, OP(NOTIFY)), 0);
	close_all(ret);
}

static bool begin_records(void)
{
	return begin_pair() && !ep_do(pair.a.ep, OP(NOTIFY, .value = 1)) &&
	       !ep_do(pair.a.ep, OP(NOTIFY, .value = 2)) &&
	       WAIT_FOR(poll(&(struct pollfd){ .fd = pair.b.ep, .events = POLLIN }, 1, 0) == 1,
			PATIENCE);
}

static int read_one(void)
{
	struct peerlane_record record;

	return read(pair.b.ep, &record, sizeof(record)) < 0 ? -errno : 0;
}

static void end_read(int ret)
{
	if (ret < 0)
		CHECK_INT(ep_next(pair.b.ep, PEERLANE_RECORD_NOTIFY).value, 1);
	CHECK_INT(ep_next(pair.b.ep, PEERLANE_RECORD_NOTIFY).value, 2);
	close_all(ret);
}

static int disconnect(void)
{
	return ep_disconnect(pair.a.ep);
}

/* ---- cases ---- */

static void creating(void)
{
	FAIL_SWEEP(.begin = begin_none, .run = create, .end = close_all);
}

static void binding(void)
{
	FAIL_SWEEP(.begin = begin_new, .run = bind_slot, .end = end_bind);
}

static void listening(void)
{
	FAIL_SWEEP(.begin = begin_new, .run = listen_at, .end = end_listen,
		   .foreign = true);
}

static void connecting(void)
{
	FAIL_SWEEP(.begin = begin_listener, .run = connect_to, .end = end_connect,
		   .foreign = true);
}

static void accepting(void)
{
	FAIL_SWEEP(.begin = begin_caller, .run = accept_one, .end = end_accept);
}

static void binding_when_connected(void)
{
	FAIL_SWEEP(.begin = begin_unbound, .run = bind_connected,
		   .end = end_bind_connected, .foreign = true);
}

static void exposing(void)
{
	FAIL_SWEEP(.begin = begin_pair, .run = expose, .end = end_expose,
		   .foreign = true);
}

static void withdrawing(void)
{
	FAIL_SWEEP(.begin = begin_exposed, .run = withdraw, .end = end_withdraw);
}

static void submitting(void)
{
	FAIL_SWEEP(.begin = begin_exposed, .run = submit, .end = end_submit);
}

static void reading(void)
{
	FAIL_SWEEP(.begin = begin_records, .run = read_one, .end = end_read);
}

static void disconnecting(void)
{
	FAIL_SWEEP(.begin = begin_exposed, .run = disconnect, .end = close_all);
}

static const struct tap_case cases[] = {
	TAP_CASE(creating),
	TAP_CASE(binding),
	TAP_CASE(listening),
	TAP_CASE(connecting),
	TAP_CASE(accepting),
	TAP_CASE(binding_when_connected),
	TAP_CASE(exposing),
	TAP_CASE(withdrawing),
	TAP_CASE(submitting),
	TAP_CASE(reading),
	TAP_CASE(disconnecting),
};

int main(void)
{
	pair = (struct pair){ { -1, -1 }, { -1, -1 } };
	fail_open();
	return HARNESS_RUN(cases);
}
