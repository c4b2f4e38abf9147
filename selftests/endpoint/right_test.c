// SPDX-License-Identifier: GPL-2.0
/*
 * What a peer may not do, and that nothing is left of it: no byte is touched
 * and nobody else is hurt. And the fence: when a call has returned, nobody
 * reaches the memory any more.
 */
#include <pthread.h>

#include "endpoint.h"

#define LENGTH	(2 * MIB)
#define CANARY	0xa5

static bool is_canary(const char *mem, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (mem[i] != (char)CANARY) {
			printf("# byte %zu is %#x\n", i, (unsigned char)mem[i]);
			return false;
		}
	return true;
}

static bool is_alive(struct pair *pair)
{
	return !ep_do(pair->a.ep, OP(NOTIFY)) && !ep_do(pair->b.ep, OP(NOTIFY));
}

/* The refusal is the offender's, and his connection lives. */
static void refused(struct pair *pair, struct peerlane_op op, int error)
{
	CHECK_INT(ep_begin(pair->a.ep, &op, 1), error);
	CHECK_HAS(text, "token");
}

static void guessed_tokens_are_refused(void)
{
	struct pair pair = pair_new(LENGTH);
	uint64_t token;
	int bit;

	memset(pair.b.mem, CANARY, LENGTH);
	token = open_all(&pair.b, &pair.a);
	for (bit = 0; bit < 64; bit++)
		refused(&pair, OP(PUT, .length = 1, .token = token ^ 1ULL << bit), -EACCES);
	refused(&pair, OP(PUT, .length = 1, .token = token + 1), -EACCES);
	refused(&pair, OP(PUT, .length = 1), -EACCES);
	refused(&pair, OP(GET, .length = 1, .token = -1ULL), -EACCES);
	refused(&pair, OP(GET, .token = 1), -EACCES);
	CHECK(is_canary(pair.b.mem, LENGTH));
	CHECK(is_alive(&pair));
	pair_end(&pair);
}

static void tokens_are_random(void)
{
	struct pair pair = pair_new(PAGE);
	uint64_t all = -1ULL, any = 0, token, last = 0;
	int i;

	for (i = 0; i < 64; i++) {
		token = open_all(&pair.b, &pair.a);
		all &= token;
		any |= token;
		CHECK(token != last && token - last > 1000);
		last = token;
	}
	CHECK(!all && any == -1ULL);
	pair_end(&pair);
}

static void nothing_beyond_the_range_is_reached(void)
{
	struct pair pair = pair_new(LENGTH);
	uint64_t token;

	memset(pair.b.mem, CANARY, LENGTH);
	token = open_part(&pair.b, &pair.a, BOTH, 100, 1000);
	refused(&pair, OP(PUT, .length = 1001, .token = token), -EACCES);
	refused(&pair, OP(PUT, .length = 1, .token = token, .remote_offset = 1000), -EACCES);
	refused(&pair, OP(PUT, .token = token, .remote_offset = 1001), -EACCES);
	refused(&pair, OP(GET, .length = 2, .token = token, .remote_offset = 999), -EACCES);
	refused(&pair, OP(GET, .length = 1, .token = token, .remote_offset = 1ULL << 40),
		-EACCES);
	CHECK(is_canary(pair.b.mem, LENGTH));
	CHECK_INT(ep_do(pair.a.ep, OP(PUT, .length = 1000, .token = token)), 0);
	CHECK_INT(ep_do(pair.a.ep, OP(PUT, .token = token, .remote_offset = 1000)), 0);
	CHECK(is_canary(pair.b.mem, 100));
	CHECK(is_canary(pair.b.mem + 1100, LENGTH - 1100));
	CHECK(is_alive(&pair));
	pair_end(&pair);
}

/* Keys are of several sizes: as long as each, one byte less, one more. */
static void each_length_has_its_keys(void)
{
	static const uint64_t pages[] = { 1, 8, 64, 512 };
	struct pair pair = pair_new(4 * MIB);
	uint64_t token, length, i;

	for (i = 0; i < 3 * ARRAY_SIZE(pages) && !tap.bad; i++) {
		length = pages[i / 3] * PAGE - 1 + i % 3;
		token = open_part(&pair.b, &pair.a, BOTH, PAGE - 1, length);
		pair.a.mem[0] = 'a' + i;
		pair.b.mem[PAGE + length - 1] = '.';
		CHECK_INT(ep_put(pair.a.ep, OP(PUT, .length = 1, .token = token)), 0);
		CHECK_INT(ep_put(pair.a.ep, OP(PUT, .length = 1, .token = token,
					       .remote_offset = length - 1)), 0);
		CHECK_INT(pair.b.mem[PAGE - 1], 'a' + i);
		CHECK_INT(pair.b.mem[PAGE + length - 2], 'a' + i);
		CHECK_INT(pair.b.mem[PAGE + length - 1], '.');
		CHECK_INT(ep_withdraw(pair.b.ep, token), 0);
		ep_find(pair.a.ep, PEERLANE_RECORD_WITHDRAWN);
	}
	pair_end(&pair);
}

static void rights_are_what_was_given(void)
{
	struct pair pair = pair_new(LENGTH);
	uint64_t reads, writes;

	memset(pair.b.mem, CANARY, LENGTH);
	reads = open_part(&pair.b, &pair.a, PEERLANE_RIGHT_READ, 0, LENGTH);
	writes = open_part(&pair.b, &pair.a, PEERLANE_RIGHT_WRITE, 0, LENGTH);
	refused(&pair, OP(PUT, .length = 1, .token = reads), -EACCES);
	CHECK_HAS(text, "write");
	refused(&pair, OP(GET, .length = 1, .token = writes), -EACCES);
	CHECK_HAS(text, "read");
	refused(&pair, OP(PUT, .token = reads), -EACCES);
	CHECK(is_canary(pair.b.mem, LENGTH));
	CHECK_INT(ep_do(pair.a.ep, OP(GET, .length = 9, .token = reads)), 0);
	CHECK_INT(ep_do(pair.a.ep, OP(PUT, .length = 9, .token = writes)), 0);
	CHECK(is_alive(&pair));
	pair_end(&pair);
}

static void a_withdrawn_token_is_no_key(void)
{
	struct pair pair = pair_new(LENGTH);
	uint64_t token = open_all(&pair.b, &pair.a), other;
	struct peerlane_op op = OP(PUT, .length = 1, .token = token);
	int ret;

	memset(pair.b.mem, CANARY, LENGTH);
	other = open_part(&pair.b, &pair.a, BOTH, 0, 1);
	CHECK_INT(ep_withdraw(pair.b.ep, token), 0);
	CHECK_INT(ep_withdraw(pair.b.ep, token), -ENOKEY);
	/* It is told, but not yet read. */
	CHECK(WAIT_FOR(poll(&(struct pollfd){ .fd = pair.a.ep, .events = POLLIN },
			    1, 0) == 1, PATIENCE));
	refused(&pair, op, -ENOKEY);
	CHECK_HAS(text, "withdrew");
	CHECK(ep_next(pair.a.ep, PEERLANE_RECORD_WITHDRAWN).token == token);
	ret = ep_begin(pair.a.ep, &op, 1);
	CHECK(ret == -ENOKEY || ret == -EACCES);
	CHECK(is_canary(pair.b.mem, LENGTH));
	/* The other one, of the same memory, stays. */
	CHECK_INT(ep_do(pair.a.ep, OP(PUT, .length = 1, .token = other)), 0);
	CHECK(is_alive(&pair));
	pair_end(&pair);
}

static void a_token_is_for_one_connection(void)
{
	struct pair one = pair_new(LENGTH), two = pair_new(LENGTH);
	uint64_t token = open_all(&one.b, &one.a);

	memset(one.b.mem, CANARY, LENGTH);
	refused(&two, OP(PUT, .length = 1, .token = token), -EACCES);
	CHECK_INT(ep_withdraw(two.b.ep, token), -ENOKEY);
	CHECK(is_canary(one.b.mem, LENGTH));
	CHECK_INT(ep_do(one.a.ep, OP(PUT, .length = 1, .token = token)), 0);
	pair_end(&one);
	CHECK(is_alive(&two));
	pair_end(&two);
}

/* ---- the fence ---- */

/* Writes, as fast as it can, until there is nobody any more. */
struct writer {
	struct pair pair;	/* a puts into b */
	uint64_t token;
	uint16_t op;
	pthread_t thread;
	volatile bool stop;
};

static void *write_on(void *arg)
{
	struct writer *writer = arg;
	struct peerlane_record records[32];
	struct peerlane_op ops[8];
	struct peerlane_endpoint_submit args;
	int i, ret;

	for (i = 0; i < 8; i++)
		ops[i] = (struct peerlane_op){ .op = writer->op,
			.offset = i * 100000, .length = 99999,
			.token = writer->token, .remote_offset = i * 100000 };
	while (!writer->stop) {
		/* Not by CALL(): text is the main thread's. */
		args = (struct peerlane_endpoint_submit){ .size = sizeof(args),
			.ops_ptr = (uintptr_t)ops, .count = 8,
			.op_size = sizeof(ops[0]), .wait = 1,
			.records_ptr = (uintptr_t)records,
			.records_len = sizeof(records), .timeout_ns = 100000000 };
		ret = call_raw(writer->pair.a.ep, PEERLANE_IOC_ENDPOINT_SUBMIT, &args);
		if (ret == -EAGAIN) {
			args.count = 0;
			ret = call_raw(writer->pair.a.ep, PEERLANE_IOC_ENDPOINT_SUBMIT, &args);
		}
		if (ret)
			break;
	}
	return NULL;
}

static struct writer begin_writer(uint16_t op)
{
	struct writer writer = { .pair = pair_of(SETTINGS(.lanes = 2, .depth = 32),
						 SETTINGS(.lanes = 2), LENGTH),
				 .op = op };

	writer.token = open_all(&writer.pair.b, &writer.pair.a);
	return writer;
}

static void run_writer(struct writer *writer)
{
	memset(writer->pair.a.mem, 0x11, LENGTH);
	memset(writer->pair.b.mem, 0x22, LENGTH);
	CHECK_INT(pthread_create(&writer->thread, NULL, write_on, writer), 0);
	usleep(100000 + rand() % 100000);
}

/* The memory is mine again. Nobody may write it from here. */
static void check_fence(char *mem)
{
	memset(mem, CANARY, LENGTH);
	usleep(250000);
	CHECK(is_canary(mem, LENGTH));
}

static void end_writer(struct writer *writer)
{
	writer->stop = true;
	pthread_join(writer->thread, NULL);
	pair_end(&writer->pair);
}

#define ROUNDS 6

static void withdraw_is_a_fence(void)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		struct writer writer = begin_writer(PEERLANE_OP_PUT);

		run_writer(&writer);
		CHECK_INT(ep_withdraw(writer.pair.b.ep, writer.token), 0);
		check_fence(writer.pair.b.mem);
		end_writer(&writer);
	}
}

static void disconnect_is_a_fence(void)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		struct writer writer = begin_writer(PEERLANE_OP_PUT);

		run_writer(&writer);
		CHECK_INT(ep_disconnect(writer.pair.b.ep), 0);
		check_fence(writer.pair.b.mem);
		end_writer(&writer);
	}
}

static void close_is_a_fence(void)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		struct writer writer = begin_writer(PEERLANE_OP_PUT);

		run_writer(&writer);
		close(writer.pair.b.ep);
		writer.pair.b.ep = -1;
		check_fence(writer.pair.b.mem);
		end_writer(&writer);
	}
}

/* What was asked for by a GET may still be on its way. */
static void disconnect_is_a_fence_for_gets(void)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		struct writer writer = begin_writer(PEERLANE_OP_GET);

		run_writer(&writer);
		CHECK_INT(ep_disconnect(writer.pair.a.ep), 0);
		check_fence(writer.pair.a.mem);
		end_writer(&writer);
	}
}

/* A GET that ended with an error has ended. */
static void an_error_is_a_fence(void)
{
	struct peerlane_record record;
	int i, k;

	for (i = 0; i < ROUNDS; i++) {
		struct pair pair = pair_of(SETTINGS(.lanes = 2), SETTINGS(.lanes = 2), LENGTH);
		uint64_t token = open_all(&pair.b, &pair.a);
		struct peerlane_op ops[16];

		for (k = 0; k < 16; k++)
			ops[k] = OP(GET, .offset = k * 100000, .length = 99999,
				    .token = token, .remote_offset = k * 100000);
		memset(pair.b.mem, 0x33, LENGTH);
		CHECK_INT(ep_begin(pair.a.ep, ops, 16), 16);
		usleep(rand() % 20000);
		close(pair.b.ep);
		pair.b.ep = -1;
		for (k = 0; k < 16; k++) {
			record = ep_next(pair.a.ep, PEERLANE_RECORD_DONE);
			if (record.status)
				break;
		}
		check_fence(pair.a.mem);
		pair_end(&pair);
	}
}

static void *withdraw_beside(void *arg)
{
	struct writer *writer = arg;
	struct peerlane_endpoint_withdraw args = { .size = sizeof(args),
						   .token = writer->token };

	call_raw(writer->pair.b.ep, PEERLANE_IOC_ENDPOINT_WITHDRAW, &args);
	return NULL;
}

/*
 * Somebody withdraws, which takes its time, as much is on its way before it. A
 * revocation that comes meanwhile waits for the same.
 */
static void revocation_is_a_fence_beside_a_withdrawal(void)
{
	int i, k;

	for (i = 0; i < ROUNDS; i++) {
		struct writer writer = begin_writer(PEERLANE_OP_PUT);
		struct pair *pair = &writer.pair;
		char *mem = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		int host = pin_host(-1, mem, LENGTH, 0);
		uint64_t back = open_all(&pair->a, &pair->b);
		struct peerlane_op ops[32];
		pthread_t thread;

		CHECK_INT(ep_bind(pair->b.ep, 1, host), 0);
		CHECK_INT(ep_expose_as(pair->b.ep, 1, BOTH, 0, LENGTH, 0, &writer.token), 0);
		ep_find(pair->a.ep, PEERLANE_RECORD_EXPOSED);
		run_writer(&writer);
		for (k = 0; k < 32; k++)
			ops[k] = OP(PUT, .flags = PEERLANE_OP_F_QUIET | PEERLANE_OP_F_LANE,
				    .length = LENGTH, .token = back);
		ep_begin(pair->b.ep, ops, 32);
		pthread_create(&thread, NULL, withdraw_beside, &writer);
		usleep(1000 + rand() % 5000);
		CHECK_INT(region_revoke(host), 0);
		check_fence(mem);
		pthread_join(thread, NULL);
		close(host);
		end_writer(&writer);
		munmap(mem, LENGTH);
	}
}

/* The peer's memory is another's when the region is gone: it is given to somebody. */
static void a_closed_region_is_not_written(void)
{
	struct writer writer = begin_writer(PEERLANE_OP_PUT);

	run_writer(&writer);
	CHECK_INT(region_revoke(writer.pair.b.region), 0);
	writer.pair.b.length = LENGTH;
	munmap(writer.pair.b.mem, LENGTH);
	close(writer.pair.b.region);
	writer.pair.b.region = open(second_device(), O_RDWR | O_CLOEXEC);
	/* All of the device, so that what it had is among it. */
	CHECK(WAIT_FOR(!region_alloc(writer.pair.b.region, 60 * MIB), PATIENCE));
	writer.pair.b.mem = map(writer.pair.b.region, 60 * MIB);
	writer.pair.b.length = 60 * MIB;
	memset(writer.pair.b.mem, CANARY, 60 * MIB);
	usleep(300000);
	CHECK(is_canary(writer.pair.b.mem, 60 * MIB));
	end_writer(&writer);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(guessed_tokens_are_refused),
		TAP_CASE(tokens_are_random),
		TAP_CASE(nothing_beyond_the_range_is_reached),
		TAP_CASE(each_length_has_its_keys),
		TAP_CASE(rights_are_what_was_given),
		TAP_CASE(a_withdrawn_token_is_no_key),
		TAP_CASE(a_token_is_for_one_connection),
		TAP_CASE(withdraw_is_a_fence),
		TAP_CASE(disconnect_is_a_fence),
		TAP_CASE(close_is_a_fence),
		TAP_CASE(disconnect_is_a_fence_for_gets),
		TAP_CASE(an_error_is_a_fence),
		TAP_CASE(revocation_is_a_fence_beside_a_withdrawal),
		TAP_CASE(a_closed_region_is_not_written),
	};

	srand(time(NULL));
	return HARNESS_RUN(cases);
}
