// SPDX-License-Identifier: GPL-2.0
/* What may be done when: states, slots, descriptors of others. */
#include "endpoint.h"

#define LENGTH	(4 * PAGE)

static struct peerlane_op notify(void)
{
	return OP(NOTIFY);
}

static int begin_notify(int ep)
{
	struct peerlane_op op = notify();

	return ep_begin(ep, &op, 1);
}

/* ---- states ---- */

static void a_new_one_is_not_connected(void)
{
	int ep = ep_new(), region = new_region(LENGTH);
	struct peerlane_endpoint_record info = ep_info(ep);
	uint64_t token;

	CHECK_INT(info.state, PEERLANE_ENDPOINT_NEW);
	CHECK_INT(info.status, 0);
	CHECK_INT(ep_bind(ep, 0, region), 0);
	CHECK_INT(begin_notify(ep), -ENOTCONN);
	CHECK_HAS(text, "not connected");
	CHECK_INT(ep_expose_as(ep, 0, BOTH, 0, 1, 0, &token), -ENOTCONN);
	CHECK_INT(ep_withdraw(ep, 1), -ENOTCONN);
	CHECK_INT(ep_accept(ep), -EINVAL);
	CHECK_HAS(text, "listen");
	close(ep);
	close(region);
}

static void a_listening_one_neither_connects_nor_submits(void)
{
	int ep = ep_new(), port = ep_listen(ep);

	CHECK(port > 0);
	CHECK_INT(ep_info(ep).state, PEERLANE_ENDPOINT_LISTENING);
	CHECK_INT(port_of(ep_info(ep).local), port);
	CHECK_INT(ep_listen(ep), -EISCONN);
	CHECK_INT(ep_connect(ep, port), -EISCONN);
	CHECK_INT(begin_notify(ep), -ENOTCONN);
	close(ep);
}

static void a_connected_one_does_not_connect_again(void)
{
	struct pair pair = pair_new(0);

	CHECK_INT(ep_info(pair.a.ep).state, PEERLANE_ENDPOINT_CONNECTED);
	CHECK_INT(ep_info(pair.b.ep).state, PEERLANE_ENDPOINT_CONNECTED);
	CHECK_INT(ep_connect(pair.a.ep, 1), -EISCONN);
	CHECK_INT(ep_listen(pair.a.ep), -EISCONN);
	CHECK_INT(ep_connect(pair.b.ep, 1), -EISCONN);
	CHECK_INT(ep_accept(pair.b.ep), -EINVAL);
	pair_end(&pair);
}

static void a_closed_one_stays_closed(void)
{
	struct pair pair = pair_new(0);
	struct peerlane_endpoint_record info;

	CHECK_INT(ep_disconnect(pair.a.ep), 0);
	info = ep_info(pair.a.ep);
	CHECK_INT(info.state, PEERLANE_ENDPOINT_CLOSED);
	CHECK_INT(info.status, -ECANCELED);
	CHECK_HAS(info.reason, "this side");
	CHECK_INT(begin_notify(pair.a.ep), -ENOTCONN);
	CHECK_HAS(text, "this side");
	CHECK_INT(ep_connect(pair.a.ep, 1), -EISCONN);
	CHECK_INT(ep_listen(pair.a.ep), -EISCONN);
	CHECK_INT(ep_withdraw(pair.a.ep, 1), -ENOTCONN);
	CHECK_INT(ep_disconnect(pair.a.ep), 0);
	CHECK_INT(ep_end(pair.a.ep), -ECANCELED);
	CHECK_INT(ep_end(pair.b.ep), -ECONNRESET);
	info = ep_info(pair.b.ep);
	CHECK_INT(info.state, PEERLANE_ENDPOINT_CLOSED);
	CHECK_INT(info.status, -ECONNRESET);
	CHECK_HAS(info.reason, "peer");
	CHECK_INT(begin_notify(pair.b.ep), -ENOTCONN);
	pair_end(&pair);
}

static void a_new_one_can_be_ended(void)
{
	int ep = ep_new();

	CHECK_INT(ep_disconnect(ep), 0);
	CHECK_INT(ep_info(ep).state, PEERLANE_ENDPOINT_CLOSED);
	CHECK_INT(ep_end(ep), -ECANCELED);
	CHECK_INT(ep_listen(ep), -EISCONN);
	close(ep);
}

/* Its port is free at once. */
static void a_listening_one_can_be_ended(void)
{
	int ep = ep_new(), other = ep_new(), port = ep_listen(ep);

	CHECK_INT(ep_listen_at(other, own_address(), port, 0), -EADDRINUSE);
	CHECK_INT(ep_disconnect(ep), 0);
	CHECK_INT(ep_accept(ep), -ENOTCONN);
	CHECK_INT(ep_end(ep), -ECANCELED);
	CHECK_INT(ep_listen_at(other, own_address(), port, 0), port);
	close(ep);
	close(other);
}

/* ---- addresses ---- */

static void addresses_are_checked(void)
{
	struct peerlane_endpoint_address args = {};
	int ep = ep_new();

	CHECK_INT(CALL(ep, ENDPOINT_LISTEN, &args), -EINVAL);
	CHECK_INT(CALL(ep, ENDPOINT_CONNECT, &args), -EINVAL);
	args.address[0] = 1;	/* AF_UNIX */
	CHECK_INT(CALL(ep, ENDPOINT_LISTEN, &args), -EINVAL);
	CHECK_INT(CALL(ep, ENDPOINT_CONNECT, &args), -EINVAL);
	put_address(args.address, own_address(), 1);
	args.backlog = 1;
	CHECK_INT(CALL(ep, ENDPOINT_CONNECT, &args), -EINVAL);
	CHECK_HAS(text, "backlog");
	args.backlog = 0;
	args.source[0] = 1;
	CHECK_INT(CALL(ep, ENDPOINT_LISTEN, &args), -EINVAL);
	CHECK_INT(CALL(ep, ENDPOINT_CONNECT, &args), -EINVAL);
	CHECK_INT(ep_info(ep).state, PEERLANE_ENDPOINT_NEW);
	close(ep);
}

/* "the rest zero": a program of tomorrow may mean something by it */
static void the_rest_of_an_address_is_zero(void)
{
	struct peerlane_endpoint_address args = {};
	int ep = ep_new();

	put_address(args.address, own_address(), 0);
	args.address[PEERLANE_ADDRESS_LEN - 1] = 1;
	CHECK_INT(CALL(ep, ENDPOINT_LISTEN, &args), -EINVAL);
	close(ep);
}

static void foreign_addresses_are_not_listened_at(void)
{
	int ep = ep_new();

	CHECK_INT(ep_listen_at(ep, "203.0.113.5", 0, 0), -EADDRNOTAVAIL);
	CHECK(text[0]);
	CHECK_INT(ep_info(ep).state, PEERLANE_ENDPOINT_NEW);
	/* The failure leaves it as it was. */
	CHECK(ep_listen(ep) > 0);
	close(ep);
}

/* ---- slots ---- */

static void a_slot_takes_one_region(void)
{
	int ep = ep_new(), region = new_region(LENGTH);

	CHECK_INT(ep_bind(ep, 3, region), 0);
	CHECK_INT(ep_bind(ep, 3, region), -EBUSY);
	CHECK_HAS(text, "slot 3");
	CHECK_INT(ep_info(ep).slots, 1);
	CHECK_INT(ep_bind(ep, 3, -1), 0);
	CHECK_INT(ep_bind(ep, 3, -1), -EINVAL);
	CHECK_INT(ep_info(ep).slots, 0);
	CHECK_INT(ep_bind(ep, 3, region), 0);
	close(ep);
	close(region);
}

static void a_slot_keeps_its_region(void)
{
	struct pair pair = pair_new(LENGTH);
	struct peerlane_op op;
	uint64_t token = open_all(&pair.b, &pair.a);

	close(pair.a.region);
	fill(pair.a.mem, LENGTH, 1);
	munmap(pair.a.mem, LENGTH);
	op = OP(PUT, .length = LENGTH, .token = token);
	CHECK_INT(ep_put(pair.a.ep, op), 0);
	CHECK_INT(fill_differs(pair.b.mem, LENGTH, 1), -1);
	pair.a.region = -1;
	pair_end(&pair);
}

static void only_regions_go_into_slots(void)
{
	int ep = ep_new(), control = open_control(), empty = open_device();

	CHECK_INT(ep_bind(ep, 0, control), -EBADF);
	CHECK_INT(ep_bind(ep, 0, STDOUT_FILENO), -EBADF);
	CHECK_INT(ep_bind(ep, 0, 999), -EBADF);
	CHECK_INT(ep_bind(ep, 0, -2), -EBADF);
	CHECK_INT(ep_bind(ep, 0, empty), -ENODATA);
	close(ep);
	close(control);
	close(empty);
}

static void parts_of_regions_are_checked(void)
{
	int ep = ep_new(), region = new_region(LENGTH);

	CHECK_INT(ep_bind_part(ep, 0, region, 1, PAGE, 0), -EINVAL);
	CHECK_INT(ep_bind_part(ep, 0, region, 0, 1, 0), -EINVAL);
	CHECK_INT(ep_bind_part(ep, 0, region, 0, LENGTH + PAGE, 0), -EINVAL);
	CHECK_INT(ep_bind_part(ep, 0, region, LENGTH, 0, 0), -EINVAL);
	CHECK_INT(ep_bind_part(ep, 0, region, LENGTH, PAGE, 0), -EINVAL);
	CHECK_INT(ep_bind_part(ep, 0, region, -PAGE, 2 * PAGE, 0), -EOVERFLOW);
	CHECK_INT(ep_bind_part(ep, 0, region, LENGTH - PAGE, 0, 0), 0);
	CHECK_INT(ep_info(ep).slots, 1);
	close(ep);
	close(region);
}

static void a_revoked_region_is_not_bound(void)
{
	int ep = ep_new(), region = new_region(LENGTH);

	CHECK_INT(region_revoke(region), 0);
	CHECK_INT(ep_bind(ep, 0, region), -ENODEV);
	close(ep);
	close(region);
}

/* Another's memory is not written through a file that may only be read. */
static void a_file_for_reading_is_bound_for_reading(void)
{
	struct pair pair = pair_new(LENGTH);
	uint64_t theirs = open_all(&pair.b, &pair.a), token;
	struct peerlane_op op = OP(GET, .slot = 1, .length = 1, .token = theirs);
	char path[64];
	int reader;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", pair.a.region);
	reader = open(path, O_RDONLY | O_CLOEXEC);
	if (reader < 0) {	/* no such thing for device nodes: a new region */
		SKIP("a region file cannot be opened a second time");
		pair_end(&pair);
		return;
	}
	if (region_info(reader).out_state == PEERLANE_STATE_EMPTY)
		CHECK_INT(region_alloc(reader, LENGTH), 0);
	CHECK_INT(ep_bind(pair.a.ep, 1, reader), -EPERM);
	CHECK_HAS(text, "READ_ONLY");
	CHECK_INT(ep_bind_part(pair.a.ep, 1, reader, 0, 0,
			       PEERLANE_BIND_READ_ONLY), 0);
	CHECK_INT(ep_begin(pair.a.ep, &op, 1), -EPERM);
	CHECK_HAS(text, "slot 1");
	CHECK_INT(ep_expose_as(pair.a.ep, 1, PEERLANE_RIGHT_WRITE, 0, 1, 0,
			       &token), -EPERM);
	CHECK_INT(ep_expose_as(pair.a.ep, 1, PEERLANE_RIGHT_READ, 0, 1, 0,
			       &token), 0);
	op.op = PEERLANE_OP_PUT;
	CHECK_INT(ep_do(pair.a.ep, op), 0);
	close(reader);
	pair_end(&pair);
}

static void a_slot_for_reading_is_only_read(void)
{
	struct pair pair = pair_new(LENGTH);
	uint64_t theirs = open_all(&pair.b, &pair.a), token;
	struct peerlane_op op = OP(GET, .slot = 1, .length = 1, .token = theirs);

	CHECK_INT(ep_bind_part(pair.a.ep, 1, pair.a.region, 0, 0,
			       PEERLANE_BIND_READ_ONLY), 0);
	CHECK_INT(ep_begin(pair.a.ep, &op, 1), -EPERM);
	CHECK_INT(ep_expose_as(pair.a.ep, 1, BOTH, 0, 1, 0, &token), -EPERM);
	/* The same memory by another slot may be written. */
	op.slot = 0;
	CHECK_INT(ep_do(pair.a.ep, op), 0);
	pair_end(&pair);
}

static void host_memory_for_reading_is_only_read(void)
{
	struct pair pair = pair_new(LENGTH);
	uint64_t theirs = open_all(&pair.b, &pair.a), token;
	char *mem = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	int host = pin_host(-1, mem, LENGTH, PEERLANE_PIN_READ_ONLY);
	struct peerlane_op op = OP(GET, .slot = 1, .length = 1, .token = theirs);
	int ret;

	CHECK(host >= 0);
	ret = ep_bind_part(pair.a.ep, 1, host, 0, 0, 0);
	if (ret)
		CHECK_INT(ep_bind_part(pair.a.ep, 1, host, 0, 0,
				       PEERLANE_BIND_READ_ONLY), 0);
	CHECK_INT(ep_begin(pair.a.ep, &op, 1), -EPERM);
	CHECK_INT(ep_expose_as(pair.a.ep, 1, BOTH, 0, 1, 0, &token), -EPERM);
	fill(mem, LENGTH, 3);
	op = OP(PUT, .slot = 1, .length = LENGTH, .token = theirs);
	CHECK_INT(ep_put(pair.a.ep, op), 0);
	CHECK_INT(fill_differs(pair.b.mem, LENGTH, 3), -1);
	close(host);
	munmap(mem, LENGTH);
	pair_end(&pair);
}

static void a_slot_in_use_is_not_emptied(void)
{
	struct pair pair = pair_new(LENGTH);
	uint64_t token = open_all(&pair.a, &pair.b);

	CHECK_INT(ep_bind(pair.a.ep, 0, -1), -EBUSY);
	CHECK_INT(ep_withdraw(pair.a.ep, token), 0);
	CHECK_INT(ep_bind(pair.a.ep, 0, -1), 0);
	CHECK_INT(ep_bind(pair.a.ep, 0, pair.a.region), 0);
	pair_end(&pair);
}

/* ---- operations that are wrong in themselves ---- */

static void wrong_operations_are_refused_with_a_text(void)
{
	struct pair pair = pair_new(LENGTH);
	uint64_t token = open_all(&pair.b, &pair.a);
	const struct {
		struct peerlane_op op;
		int error;
		const char *why;
	} wrong[] = {
		{ { .op = 0 }, -EOPNOTSUPP, "operation 0" },
		{ { .op = 5 }, -EOPNOTSUPP, "operation 5" },
		{ { .op = 0xffff }, -EOPNOTSUPP, "operation 65535" },
		{ OP(PUT, .flags = 1 << 3), -EOPNOTSUPP, "flags" },
		{ OP(GET, .flags = PEERLANE_OP_F_NOTIFY), -EOPNOTSUPP, "flags" },
		{ OP(FLUSH, .flags = PEERLANE_OP_F_NOTIFY), -EOPNOTSUPP, "flags" },
		{ OP(PUT, .reserved = 1), -EOPNOTSUPP, "reserved" },
		{ OP(PUT, .lane = 1), -EINVAL, "lane 1" },
		{ OP(PUT, .lane = 1, .flags = PEERLANE_OP_F_LANE), -EINVAL, "lane 1" },
		{ OP(PUT, .slot = 1), -EINVAL, "slot 1" },
		{ OP(PUT, .slot = 16), -EINVAL, "slot 16" },
		{ OP(PUT, .slot = UINT32_MAX), -EINVAL, "slot" },
		{ OP(PUT, .length = LENGTH + 1), -EINVAL, "slot 0" },
		{ OP(PUT, .offset = LENGTH, .length = 1), -EINVAL, "slot 0" },
		{ OP(PUT, .offset = LENGTH + 1), -EINVAL, "slot 0" },
		{ OP(PUT, .offset = -1ULL, .length = 2), -EOVERFLOW, "overflow" },
		{ OP(PUT, .remote_offset = -1ULL, .length = 2), -EOVERFLOW, "overflow" },
		{ OP(GET, .offset = LENGTH - 1, .length = 2), -EINVAL, "slot 0" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct peerlane_op op = wrong[i].op;
		int ret;

		op.token = token;
		ret = ep_begin(pair.a.ep, &op, 1);
		if (ret != wrong[i].error)
			printf("# row %zu: %s\n", i, text);
		CHECK_INT(ret, wrong[i].error);
		CHECK_HAS(text, wrong[i].why);
	}
	CHECK_INT(ep_info(pair.a.ep).outstanding, 0);
	CHECK_INT(ep_do(pair.a.ep, OP(PUT, .token = token, .length = LENGTH)), 0);
	pair_end(&pair);
}

static void wrong_exposures_are_refused_with_a_text(void)
{
	struct pair pair = pair_new(LENGTH);
	uint64_t token;

	CHECK_INT(ep_expose_as(pair.a.ep, 0, 0, 0, 1, 0, &token), -EINVAL);
	CHECK_HAS(text, "rights");
	CHECK_INT(ep_expose_as(pair.a.ep, 0, 4, 0, 1, 0, &token), -EOPNOTSUPP);
	CHECK_INT(ep_expose_as(pair.a.ep, 0, BOTH, 0, 0, 0, &token), -EINVAL);
	CHECK_INT(ep_expose_as(pair.a.ep, 0, BOTH, 0, LENGTH + 1, 0, &token), -EINVAL);
	CHECK_INT(ep_expose_as(pair.a.ep, 0, BOTH, LENGTH, 1, 0, &token), -EINVAL);
	CHECK_INT(ep_expose_as(pair.a.ep, 0, BOTH, -1ULL, 2, 0, &token), -EOVERFLOW);
	CHECK_HAS(text, "overflow");
	CHECK_INT(ep_expose_as(pair.a.ep, 1, BOTH, 0, 1, 0, &token), -EINVAL);
	CHECK_HAS(text, "slot 1");
	CHECK_INT(ep_expose_as(pair.a.ep, 99, BOTH, 0, 1, 0, &token), -EINVAL);
	CHECK_INT(ep_withdraw(pair.a.ep, 0), -ENOKEY);
	CHECK_INT(ep_withdraw(pair.a.ep, 12345), -ENOKEY);
	CHECK_INT(ep_info(pair.a.ep).exposed, 0);
	CHECK_INT(ep_info(pair.a.ep).keys, 0);
	pair_end(&pair);
}

/* A token is the name for the peer: not for who gave it. */
static void a_token_is_withdrawn_by_who_gave_it(void)
{
	struct pair pair = pair_new(LENGTH);
	uint64_t token = open_all(&pair.a, &pair.b);

	CHECK_INT(ep_withdraw(pair.b.ep, token), -ENOKEY);
	CHECK_INT(ep_do(pair.b.ep, OP(PUT, .length = 1, .token = token)), 0);
	CHECK_INT(ep_begin(pair.a.ep, &OP(PUT, .length = 1, .token = token), 1),
		  -EACCES);
	pair_end(&pair);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(a_new_one_is_not_connected),
		TAP_CASE(a_listening_one_neither_connects_nor_submits),
		TAP_CASE(a_connected_one_does_not_connect_again),
		TAP_CASE(a_closed_one_stays_closed),
		TAP_CASE(a_new_one_can_be_ended),
		TAP_CASE(a_listening_one_can_be_ended),
		TAP_CASE(addresses_are_checked),
		TAP_CASE(the_rest_of_an_address_is_zero),
		TAP_CASE(foreign_addresses_are_not_listened_at),
		TAP_CASE(a_slot_takes_one_region),
		TAP_CASE(a_slot_keeps_its_region),
		TAP_CASE(only_regions_go_into_slots),
		TAP_CASE(parts_of_regions_are_checked),
		TAP_CASE(a_revoked_region_is_not_bound),
		TAP_CASE(a_file_for_reading_is_bound_for_reading),
		TAP_CASE(a_slot_for_reading_is_only_read),
		TAP_CASE(host_memory_for_reading_is_only_read),
		TAP_CASE(a_slot_in_use_is_not_emptied),
		TAP_CASE(wrong_operations_are_refused_with_a_text),
		TAP_CASE(wrong_exposures_are_refused_with_a_text),
		TAP_CASE(a_token_is_withdrawn_by_who_gave_it),
	};

	return HARNESS_RUN(cases);
}
