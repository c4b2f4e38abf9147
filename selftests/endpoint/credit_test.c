// SPDX-License-Identifier: GPL-2.0
/* Room and credit, what records tell, and FLUSH. */
#include "endpoint.h"

#define LENGTH	(64 * PAGE)
#define RECORD	sizeof(struct peerlane_record)

static bool is_readable(int ep)
{
	struct pollfd pollfd = { .fd = ep, .events = POLLIN };

	return poll(&pollfd, 1, 0) == 1 && (pollfd.revents & POLLIN);
}

/* ---- room ---- */

static void depth_is_what_may_be_outstanding(void)
{
	struct pair pair = pair_of(SETTINGS(.depth = 4), SETTINGS(), LENGTH);
	uint64_t token = open_all(&pair.b, &pair.a);
	struct peerlane_op ops[6];
	int i;

	for (i = 0; i < 6; i++)
		ops[i] = OP(PUT, .length = 100, .token = token, .cookie = i);
	CHECK_INT(ep_info(pair.a.ep).depth, 4);
	CHECK_INT(ep_begin(pair.a.ep, ops, 6), 4);
	CHECK(WAIT_FOR(!ep_info(pair.a.ep).outstanding, PATIENCE));
	/* A record that is not read takes its room. */
	CHECK_INT(ep_begin(pair.a.ep, ops, 1), -EAGAIN);
	CHECK_HAS(text, "4");
	CHECK_INT(ep_next(pair.a.ep, PEERLANE_RECORD_DONE).cookie, 0);
	CHECK_INT(ep_begin(pair.a.ep, ops + 4, 2), 1);
	for (i = 1; i < 5; i++)
		CHECK_INT(ep_next(pair.a.ep, PEERLANE_RECORD_DONE).cookie, i);
	pair_end(&pair);
}

static void a_quiet_one_leaves_no_record(void)
{
	struct pair pair = pair_of(SETTINGS(.depth = 4), SETTINGS(), LENGTH);
	uint64_t token = open_all(&pair.b, &pair.a);
	struct peerlane_op op = OP(PUT, .flags = PEERLANE_OP_F_QUIET, .length = 100,
				   .token = token);
	int i;

	for (i = 0; i < 50; i++)
		CHECK(WAIT_FOR(ep_begin(pair.a.ep, &op, 1) == 1, PATIENCE));
	/* It needs room, too. */
	CHECK(WAIT_FOR(ep_info(pair.a.ep).outstanding < 4, PATIENCE));
	CHECK_INT(ep_do(pair.a.ep, OP(FLUSH)), 0);
	CHECK(WAIT_FOR(!ep_info(pair.a.ep).outstanding, PATIENCE));
	CHECK(!is_readable(pair.a.ep));
	CHECK_INT(ep_info(pair.a.ep).ops_done, 51);
	CHECK_INT(ep_info(pair.a.ep).bytes_put, 5000);
	pair_end(&pair);
}

static void notices_are_as_many_as_the_peer_can_keep(void)
{
	struct pair pair = pair_of(SETTINGS(), SETTINGS(.notify_depth = 4), LENGTH);
	uint64_t token = open_all(&pair.b, &pair.a);
	struct peerlane_op op = OP(NOTIFY, .flags = PEERLANE_OP_F_QUIET);
	struct peerlane_op put = OP(PUT, .flags = PEERLANE_OP_F_QUIET |
				    PEERLANE_OP_F_NOTIFY, .length = 1, .token = token);
	int i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < 4; i++)
			CHECK_INT(ep_begin(pair.a.ep, i % 2 ? &op : &put, 1), 1);
		CHECK_INT(ep_begin(pair.a.ep, &op, 1), -EAGAIN);
		CHECK_HAS(text, "NOTIFY");
		CHECK_INT(ep_begin(pair.a.ep, &put, 1), -EAGAIN);
		/* What needs none goes on. */
		CHECK_INT(ep_do(pair.a.ep, OP(PUT, .length = 1, .token = token)), 0);
		usleep(300000);
		CHECK_INT(ep_begin(pair.a.ep, &op, 1), -EAGAIN);
		for (i = 0; i < 4; i++)
			ep_next(pair.b.ep, PEERLANE_RECORD_NOTIFY);
		CHECK(WAIT_FOR(ep_begin(pair.a.ep, &op, 1) == 1, PATIENCE));
		ep_next(pair.b.ep, PEERLANE_RECORD_NOTIFY);
		usleep(300000);
	}
	pair_end(&pair);
}

/* Both are out of credit, and each waits for the other's. */
static void notices_of_both_sides_do_not_block_each_other(void)
{
	struct pair pair = pair_of(SETTINGS(.notify_depth = 1),
				   SETTINGS(.notify_depth = 1), 0);
	struct peerlane_op op = OP(NOTIFY, .flags = PEERLANE_OP_F_QUIET);
	int i;

	for (i = 0; i < 100; i++) {
		CHECK(WAIT_FOR(ep_begin(pair.a.ep, &op, 1) == 1, PATIENCE));
		CHECK(WAIT_FOR(ep_begin(pair.b.ep, &op, 1) == 1, PATIENCE));
		ep_next(pair.a.ep, PEERLANE_RECORD_NOTIFY);
		ep_next(pair.b.ep, PEERLANE_RECORD_NOTIFY);
	}
	pair_end(&pair);
}

/* ---- what they tell ---- */

static void a_notice_comes_after_its_data(void)
{
	struct pair pair = pair_of(SETTINGS(.lanes = 4), SETTINGS(.lanes = 4), LENGTH);
	uint64_t token = open_all(&pair.b, &pair.a);
	struct peerlane_record record;
	uint32_t i, bad = 0, lanes = lanes_for(4);

	for (i = 1; i <= 400; i++) {
		uint32_t length = i % 3 ? LENGTH : 4 + i;
		struct peerlane_op op = OP(PUT, .flags = PEERLANE_OP_F_NOTIFY |
			PEERLANE_OP_F_QUIET | PEERLANE_OP_F_LANE, .length = length,
			.token = token, .value = i, .lane = i % lanes);

		memcpy(pair.a.mem + length - 4, &i, 4);
		CHECK_INT(ep_begin(pair.a.ep, &op, 1), 1);
		record = ep_next(pair.b.ep, PEERLANE_RECORD_NOTIFY);
		bad += !!memcmp(pair.b.mem + length - 4, &i, 4);
		CHECK_INT(record.value, i);
		CHECK_INT(record.length, length);
		CHECK(record.token == token);
		CHECK_INT(record.lane, i % lanes);
		if (tap.bad)
			break;
	}
	CHECK_INT(bad, 0);
	pair_end(&pair);
}

static void a_done_record_tells_its_operation(void)
{
	struct pair pair = pair_of(SETTINGS(.lanes = 3), SETTINGS(.lanes = 3), LENGTH);
	uint64_t token = open_all(&pair.b, &pair.a);
	struct peerlane_record record;
	struct peerlane_op op = OP(PUT, .flags = PEERLANE_OP_F_LANE, .length = 77,
				   .token = token, .cookie = -5ULL,
				   .lane = lanes_for(3) - 1);

	CHECK_INT(ep_begin(pair.a.ep, &op, 1), 1);
	record = ep_next(pair.a.ep, PEERLANE_RECORD_DONE);
	CHECK_INT(record.size, RECORD);
	CHECK_INT(record.status, 0);
	CHECK(record.cookie == -5ULL);
	CHECK_INT(record.length, 77);
	CHECK_INT(record.lane, op.lane);
	op.lane = lanes_for(3);
	CHECK_INT(ep_begin(pair.a.ep, &op, 1), -EINVAL);
	pair_end(&pair);
}

static void an_exposed_record_tells_all(void)
{
	struct pair pair = pair_new(LENGTH);
	struct peerlane_record record;
	uint64_t token = 0;

	CHECK_INT(ep_expose_as(pair.b.ep, 0, PEERLANE_RIGHT_READ, 123, 4567,
			       0xfeedULL << 32, &token), 0);
	record = ep_next(pair.a.ep, PEERLANE_RECORD_EXPOSED);
	CHECK(record.token == token);
	CHECK_INT(record.length, 4567);
	CHECK_INT(record.value, 0xfeedLL << 32);
	CHECK_INT(record.rights, PEERLANE_RIGHT_READ);
	CHECK_INT(ep_info(pair.a.ep).granted, 1);
	CHECK_INT(ep_info(pair.b.ep).exposed, 1);
	CHECK_INT(ep_withdraw(pair.b.ep, token), 0);
	record = ep_next(pair.a.ep, PEERLANE_RECORD_WITHDRAWN);
	CHECK(record.token == token);
	CHECK(WAIT_FOR(!ep_info(pair.a.ep).granted, PATIENCE));
	CHECK_INT(ep_info(pair.b.ep).exposed, 0);
	CHECK_INT(ep_info(pair.b.ep).keys, 0);
	pair_end(&pair);
}

/* ---- FLUSH ---- */

static void a_flush_comes_back(void)
{
	struct pair pair = pair_of(SETTINGS(.lanes = 16), SETTINGS(.lanes = 16), LENGTH);
	uint64_t readable = open_all(&pair.b, &pair.a);
	uint64_t writable = open_part(&pair.b, &pair.a, PEERLANE_RIGHT_WRITE, 5, 100);
	struct peerlane_op op = OP(PUT, .flags = PEERLANE_OP_F_QUIET |
				   PEERLANE_OP_F_LANE, .length = 50);
	int i;

	CHECK_INT(ep_do(pair.a.ep, OP(FLUSH)), 0);
	for (i = 0; i < 64; i++) {
		op.token = i % 2 ? readable : writable;
		op.lane = i % lanes_for(16);
		op.offset = i;
		memset(pair.a.mem + i, i, 50);
		CHECK(WAIT_FOR(ep_begin(pair.a.ep, &op, 1) == 1, PATIENCE));
		CHECK_INT(ep_do(pair.a.ep, OP(FLUSH)), 0);
		CHECK(!memcmp(pair.b.mem + (i % 2 ? 0 : 5), pair.a.mem + i, 50));
	}
	pair_end(&pair);
}

static void many_flushes_have_to_wait(void)
{
	struct pair pair = pair_of(SETTINGS(.lanes = 3), SETTINGS(.lanes = 3), LENGTH);
	uint64_t token = open_part(&pair.b, &pair.a, PEERLANE_RIGHT_WRITE, 0, LENGTH);
	struct peerlane_op ops[128];
	int i, begun;

	for (i = 0; i < 128; i++)
		ops[i] = i % 2 ? OP(FLUSH, .cookie = i) :
			 OP(PUT, .length = 3000, .token = token, .cookie = i);
	for (i = 0; i < 128; i += begun) {
		begun = ep_begin(pair.a.ep, ops + i, 128 - i);
		if (begun == -EAGAIN)
			begun = 0;
		if (!CHECK(begun >= 0))
			break;
		if (i + begun < 128)
			CHECK_INT(ep_next(pair.a.ep, PEERLANE_RECORD_DONE).status, 0);
	}
	CHECK(WAIT_FOR(!ep_info(pair.a.ep).outstanding, PATIENCE));
	CHECK_INT(ep_info(pair.a.ep).ops_done, 128);
	CHECK_INT(ep_info(pair.a.ep).ops_failed, 0);
	pair_end(&pair);
}

/* What was flushed may have been withdrawn meanwhile: nothing to wait for. */
static void a_flush_of_what_was_withdrawn_comes_back(void)
{
	struct pair pair = pair_new(LENGTH);
	uint64_t token = open_all(&pair.b, &pair.a);
	uint64_t other = open_part(&pair.b, &pair.a, PEERLANE_RIGHT_WRITE, 0, 9);

	CHECK_INT(ep_do(pair.a.ep, OP(PUT, .length = 9, .token = token)), 0);
	CHECK_INT(ep_do(pair.a.ep, OP(PUT, .length = 9, .token = other)), 0);
	CHECK_INT(ep_withdraw(pair.b.ep, token), 0);
	CHECK_INT(ep_withdraw(pair.b.ep, other), 0);
	ep_find(pair.a.ep, PEERLANE_RECORD_WITHDRAWN);
	ep_find(pair.a.ep, PEERLANE_RECORD_WITHDRAWN);
	CHECK_INT(ep_do(pair.a.ep, OP(FLUSH)), 0);
	pair_end(&pair);
}

/* Its key has ended, and the peer does not know yet. */
static void a_flush_beside_a_withdrawal_comes_back(void)
{
	struct pair pair = pair_new(LENGTH);
	int i;

	for (i = 0; i < 100 && !tap.bad; i++) {
		uint64_t token = open_all(&pair.b, &pair.a);

		CHECK_INT(ep_do(pair.a.ep, OP(PUT, .length = 9, .token = token)), 0);
		CHECK_INT(ep_withdraw(pair.b.ep, token), 0);
		CHECK_INT(ep_begin(pair.a.ep, &OP(FLUSH), 1), 1);
		CHECK_INT(ep_find(pair.a.ep, PEERLANE_RECORD_DONE).status, 0);
		/* It may have been read before. */
		CHECK(WAIT_FOR(ep_info(pair.a.ep).granted == 0 ||
			       ep_read(pair.a.ep, &(struct peerlane_record){ 0 }, 0),
			       PATIENCE));
	}
	CHECK_INT(ep_info(pair.a.ep).state, PEERLANE_ENDPOINT_CONNECTED);
	CHECK_STR(ep_info(pair.a.ep).reason, "");
	pair_end(&pair);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(depth_is_what_may_be_outstanding),
		TAP_CASE(a_quiet_one_leaves_no_record),
		TAP_CASE(notices_are_as_many_as_the_peer_can_keep),
		TAP_CASE(notices_of_both_sides_do_not_block_each_other),
		TAP_CASE(a_notice_comes_after_its_data),
		TAP_CASE(a_done_record_tells_its_operation),
		TAP_CASE(an_exposed_record_tells_all),
		TAP_CASE(a_flush_comes_back),
		TAP_CASE(many_flushes_have_to_wait),
		TAP_CASE(a_flush_of_what_was_withdrawn_comes_back),
		TAP_CASE(a_flush_beside_a_withdrawal_comes_back),
	};

	return HARNESS_RUN(cases);
}
