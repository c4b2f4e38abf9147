// SPDX-License-Identifier: GPL-2.0
/* What a hostile peer says: nonsense, too much, too little. See hostile_test.c. */
#include "victim.h"

/* ---- what it says ---- */

struct word {
	const char *what;
	struct link_message message;
	int length;		/* 0: all of it */
	int at, value;		/* a byte to be changed, if at is not 0 */
	bool fine;		/* nothing is wrong with it */
};

#define SAY(t, ...) { .type = LINK_MESSAGE_##t, __VA_ARGS__ }
#define EXPOSE(...) SAY(EXPOSE, .token = 1, .length = 100, .first = 100,	\
			.chunk = 4096, .chunks = 1, .count = 1, .rights = 3, __VA_ARGS__)

static void nonsense_ends_only_its_own_connection(void)
{
	static const struct word words[] = {
		{ "one byte", SAY(PING), .length = 1 },
		{ "15 bytes", SAY(PING), .length = 15 },
		{ "another version", SAY(PING), .at = -1, .value = 9 },
		{ "type 0", SAY(PING), .at = 1, .value = 0 },
		{ "type 9", SAY(PING), .at = 1, .value = 9 },
		{ "type 255", SAY(PING), .at = 1, .value = 255 },
		{ "half a NOTIFY", SAY(NOTIFY), .length = 20 },
		{ "half a WITHDRAW", SAY(WITHDRAW), .length = 16 },
		{ "half an EXPOSE", EXPOSE(), .length = 71 },
		{ "an EXPOSE without its key", EXPOSE(), .length = 83 },
		{ "credit for what was never sent", SAY(CREDIT, .control = 1000) },
		{ "credit of 2^31", SAY(CREDIT, .control = 1U << 31), .fine = true },
		{ "notices that were never sent", SAY(CREDIT, .notify = 1) },
		{ "exposures that were never made", SAY(CREDIT, .grants = 1) },
		{ "an answer to no FLUSH", SAY(FLUSHED) },
		{ "an end of no exposure", SAY(WITHDRAW, .token = 5) },
		{ "token 0", EXPOSE(.token = 0) },
		{ "length 0", EXPOSE(.length = 0) },
		{ "no chunks", EXPOSE(.chunks = 0) },
		{ "no keys in it", EXPOSE(.count = 0) },
		{ "the second key first", EXPOSE(.length = 4196, .chunks = 2, .index = 1) },
		{ "too many chunks", EXPOSE(.chunks = 2) },
		{ "2^32 - 1 chunks", EXPOSE(.length = 0xfffffffeULL * 4096 + 100,
					    .chunks = UINT32_MAX) },
		{ "2^21 chunks", EXPOSE(.length = (1ULL << 21) * 4096 - 4096 + 100,
					.chunks = 1 << 21) },
		{ "all addresses", EXPOSE(.length = -1ULL, .first = -1ULL), .fine = true },
		{ "a first one longer than all", EXPOSE(.first = 101) },
		{ "chunks of nothing", EXPOSE(.length = 200, .chunks = 2, .chunk = 0) },
		{ "rights of the future", EXPOSE(.rights = -1U), .fine = true },
		{ "a PONG that nobody asked for", SAY(PONG), .fine = true },
		{ "a FLUSH of nothing", SAY(FLUSH, .token = 9, .value = 4), .fine = true },
		{ "no rights", EXPOSE(.rights = 0), .fine = true },
	};
	struct victim victim = victim_begin(SETTINGS());
	struct hostile hostile;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		const struct word *word = &words[i];
		struct link_message message = word->message, credit = SAY(CREDIT);
		u8 data[LINK_MESSAGE_MAX] = {};
		u32 length = link_message_encode(&message, data);
		int status;

		if (!take_in(&victim, &hostile))
			break;
		if (word->at)
			data[word->at < 0 ? 0 : word->at] = word->value;
		hostile_send(&hostile, data, word->length ?: (int)length);
		usleep(100000);
		if (word->fine) {
			if (hostile_say(&hostile, &credit) != IBV_WC_SUCCESS ||
			    ep_info(victim.side.ep).state != PEERLANE_ENDPOINT_CONNECTED)
				printf("# refused, which may be: %s: %s\n", word->what,
				       ep_info(victim.side.ep).reason);
		} else {
			status = ep_end(victim.side.ep);
			if (status != -EPROTO)
				printf("# %s: %d, %s\n", word->what, status,
				       ep_info(victim.side.ep).reason);
			CHECK(status == -EPROTO || status == -ENOBUFS);
		}
		CHECK(is_untouched(&victim.side));
		drop(&victim, &hostile);
		if (i % 8 == 0)
			check_bystander();
	}
	victim_end(&victim);
}

static void a_message_that_is_too_long_ends_its_connection(void)
{
	struct victim victim = victim_begin(SETTINGS());
	static u8 data[8192];
	struct hostile hostile;
	const u32 lengths[] = { LINK_MESSAGE_MAX + 1, 4096, 8192 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		if (!take_in(&victim, &hostile))
			break;
		hostile_send(&hostile, data, lengths[i]);
		CHECK(ep_end(victim.side.ep) < 0);
		CHECK(is_untouched(&victim.side));
		drop(&victim, &hostile);
	}
	victim_end(&victim);
}

#define FUZZ_SECONDS	15
#define FUZZ_MESSAGES	10

/* On a slow machine for longer, until it has been one at all. */
static bool is_fuzzing(double seconds, int messages)
{
	return seconds < FUZZ_SECONDS ||
	       (messages <= FUZZ_MESSAGES && seconds < 10 * FUZZ_SECONDS);
}

/* Bytes of messages that are changed at random, one connection after another. */
static void fuzzed_messages_hurt_nobody(void)
{
	struct victim victim = victim_begin(SETTINGS(.timeout_ms = 5000));
	struct hostile hostile;
	unsigned int seed = time(NULL);
	double begin = now();
	int messages = 0, connections = 0;

	printf("# seed %u\n", seed);
	srand(seed);
	while (is_fuzzing(now() - begin, messages) &&
	       take_in(&victim, &hostile)) {
		int k, b;

		connections++;
		if (rand() % 2)
			expose(&victim, &hostile, BOTH);
		for (k = 0; k < 30; k++) {
			struct link_message message = {
				.type = 1 + rand() % 8, .flags = rand() % 2,
				.control = hostile.control,
				.token = rand() % 3, .length = 1 + rand() % 5000,
				.first = 1 + rand() % 5000, .chunk = 4096,
				.chunks = 1 + rand() % 3, .count = 1 + rand() % 3,
				.index = rand() % 2, .rights = rand() % 4,
				.value = rand(), .offset = rand() % 100000,
			};
			u8 data[LINK_MESSAGE_MAX] = {};
			u32 length;

			length = link_message_encode(&message, data);
			for (b = rand() % 3; b; b--)
				data[rand() % length] = rand();
			if (rand() % 8 == 0)
				length = rand() % (LINK_MESSAGE_MAX + 1);
			if (hostile_send(&hostile, data, length) != IBV_WC_SUCCESS)
				break;
			messages++;
		}
		CHECK(is_untouched(&victim.side));
		drop(&victim, &hostile);
		if (connections % 16 == 0)
			check_bystander();
	}
	printf("# %d messages by %d connections\n", messages, connections);
	CHECK(messages > FUZZ_MESSAGES);
	victim_end(&victim);
}

/* ---- too much, too little ---- */

static void a_flood_of_notices_ends_the_connection(void)
{
	struct victim victim = victim_begin(SETTINGS(.notify_depth = 8));
	struct link_message message = SAY(NOTIFY);
	struct hostile hostile;
	int i;

	if (take_in(&victim, &hostile)) {
		for (i = 0; i < 2000; i++)
			if (hostile_say(&hostile, &message) != IBV_WC_SUCCESS)
				break;
		CHECK(i < 2000);
		/* Those within its rights are there, and then the end. */
		for (i = 0; i < 8; i++)
			ep_next(victim.side.ep, i ? PEERLANE_RECORD_NOTIFY :
				PEERLANE_RECORD_CONNECTED);
		CHECK(ep_end(victim.side.ep) < 0);
	}
	drop(&victim, &hostile);
	victim_end(&victim);
}

static void floods_of_other_messages_end_or_are_borne(void)
{
	static const u8 types[] = { LINK_MESSAGE_PING, LINK_MESSAGE_CREDIT,
				    LINK_MESSAGE_FLUSH, LINK_MESSAGE_EXPOSE };
	struct victim victim = victim_begin(SETTINGS(.timeout_ms = 5000));
	struct hostile hostile;
	size_t t;
	int i;

	for (t = 0; t < ARRAY_SIZE(types); t++) {
		if (!take_in(&victim, &hostile))
			break;
		for (i = 1; i < 1500; i++) {
			struct link_message message = {
				.type = types[t], .token = i, .length = 100,
				.first = 100, .chunk = 4096, .chunks = 1, .count = 1,
				.rights = 3,
			};

			if (hostile_say(&hostile, &message) != IBV_WC_SUCCESS)
				break;
		}
		printf("# type %u: %d of them, %s\n", types[t], i,
		       ep_info(victim.side.ep).reason);
		CHECK(ep_info(victim.side.ep).granted <= 1024);
		CHECK(is_untouched(&victim.side));
		check_bystander();
		drop(&victim, &hostile);
	}
	victim_end(&victim);
}

/* Each exposure of 2^19 keys: the memory for that has an end. */
static void a_flood_of_keys_is_bounded(void)
{
	struct victim victim = victim_begin(SETTINGS());
	struct hostile hostile;
	long before = 0, after;
	int i;

	if (take_in(&victim, &hostile)) {
		before = atol(strstr(read_text("/proc/meminfo"), "MemFree:") + 8);
		for (i = 1; i < 64; i++) {
			struct link_message message = EXPOSE(.token = i,
				.length = (1ULL << 31) - 4096 + 100, .chunks = 1 << 19);

			if (hostile_say(&hostile, &message) != IBV_WC_SUCCESS)
				break;
			usleep(20000);
			if (ep_info(victim.side.ep).state == PEERLANE_ENDPOINT_CLOSED)
				break;
		}
		CHECK(i < 10);
		after = atol(strstr(read_text("/proc/meminfo"), "MemFree:") + 8);
		printf("# %d exposures, %ld KiB, %s\n", i, before - after,
		       ep_info(victim.side.ep).reason);
		CHECK(before - after < 64 * 1024);
		CHECK(ep_end(victim.side.ep) < 0);
	}
	drop(&victim, &hostile);
	victim_end(&victim);
}

/* Its device acknowledges everything, and nobody says a word. */
static void silence_ends_with_the_timeout(void)
{
	struct victim victim = victim_begin(SETTINGS(.timeout_ms = 2000));
	struct hostile hostile;
	double begin;

	if (take_in(&victim, &hostile)) {
		begin = now();
		CHECK_INT(ep_end(victim.side.ep), -ETIMEDOUT);
		printf("# after %.1f s\n", now() - begin);
		CHECK(now() - begin > 0.5 && now() - begin < 4);
		CHECK_HAS(ep_info(victim.side.ep).reason, "2000 ms");
	}
	drop(&victim, &hostile);
	victim_end(&victim);
}

/* It answers PINGs but no FLUSH. */
static void an_unanswered_flush_ends_with_the_timeout(void)
{
	struct victim victim = victim_begin(SETTINGS(.timeout_ms = 3000));
	struct link_message message, give = EXPOSE(.rights = PEERLANE_RIGHT_WRITE);
	struct hostile hostile;
	double begin;

	if (take_in(&victim, &hostile)) {
		struct peerlane_op ops[2] = { OP(PUT, .length = 8, .token = 1),
					      OP(FLUSH, .cookie = 7) };
		struct peerlane_record record = {};

		give.chunk_at[0].rkey = hostile.mr->rkey;
		give.chunk_at[0].iova = (uintptr_t)hostile.memory;
		CHECK_INT(hostile_say(&hostile, &give), IBV_WC_SUCCESS);
		ep_find(victim.side.ep, PEERLANE_RECORD_EXPOSED);
		begin = now();
		CHECK_INT(ep_begin(victim.side.ep, ops, 2), 2);
		while (now() - begin < 10) {
			struct link_message pong = SAY(PONG);

			if (hostile_hear(&hostile, &message, 0.05) &&
			    message.type == LINK_MESSAGE_PING)
				hostile_say(&hostile, &pong);
			if (ep_info(victim.side.ep).state == PEERLANE_ENDPOINT_CLOSED)
				break;
		}
		CHECK(now() - begin < 6);
		while (record.cookie != 7)
			record = ep_find(victim.side.ep, PEERLANE_RECORD_DONE);
		CHECK_INT(record.status, -ETIMEDOUT);
		CHECK_INT(ep_end(victim.side.ep), -ETIMEDOUT);
		CHECK_HAS(ep_info(victim.side.ep).reason, "3000 ms");
	}
	drop(&victim, &hostile);
	victim_end(&victim);
}

/* It gives keys that are none, and the operation says so. */
static void keys_that_are_none_fail_the_operation(void)
{
	struct victim victim = victim_begin(SETTINGS());
	struct link_message give = EXPOSE();
	struct hostile hostile;

	if (take_in(&victim, &hostile)) {
		give.chunk_at[0].rkey = 0xdeadbeef;
		CHECK_INT(hostile_say(&hostile, &give), IBV_WC_SUCCESS);
		ep_find(victim.side.ep, PEERLANE_RECORD_EXPOSED);
		CHECK_INT(ep_do(victim.side.ep, OP(PUT, .length = 8, .token = 1)), -EACCES);
		CHECK(ep_end(victim.side.ep) < 0);
	}
	drop(&victim, &hostile);
	victim_end(&victim);
}

/*
 * A write that takes a receive, in which an earlier message of its own is: that
 * is not dealt with once more.
 */
/*
 * False: just then the victim had no receive left, as a busy machine gives them
 * again late. That ends the hostile one's side alone.
 */
static bool write_imm_arrives(struct victim *victim, struct hostile *hostile)
{
	struct link_message message = expose(victim, hostile, BOTH);
	struct link_message pong = SAY(PONG);
	int i, status = IBV_WC_SUCCESS;

	/* More than there are receives, so that each has had one. */
	for (i = 0; i < 64 && status == IBV_WC_SUCCESS; i++)
		status = hostile_say(hostile, &pong);
	if (status == IBV_WC_SUCCESS) {
		CHECK_INT(ep_info(victim->side.ep).state,
			  PEERLANE_ENDPOINT_CONNECTED);
		status = hostile_write_imm(hostile, message.chunk_at[0].rkey,
					   message.chunk_at[0].iova, 64);
	}
	return status != IBV_WC_RNR_RETRY_EXC_ERR;
}

static void a_write_with_immediate_data_is_no_message(void)
{
	struct victim victim = victim_begin(SETTINGS(.notify_depth = 1));
	bool arrived = false;
	struct hostile hostile;
	int i;

	for (i = 0; i < 5 && !arrived && take_in(&victim, &hostile); i++) {
		arrived = write_imm_arrives(&victim, &hostile);
		if (arrived) {
			CHECK(WAIT_FOR(ep_info(victim.side.ep).state ==
				       PEERLANE_ENDPOINT_CLOSED, PATIENCE));
			CHECK_INT(ep_info(victim.side.ep).status, -EPROTO);
		}
		drop(&victim, &hostile);
	}
	CHECK(arrived);
	victim_end(&victim);
}

/*
 * As many as may be unanswered, always: its next one may be here before the
 * device has said that the answer arrived.
 */
static void flushes_one_after_another_are_answered(void)
{
	struct victim victim = victim_begin(SETTINGS());
	struct link_message message, ask = SAY(FLUSH);
	struct hostile hostile;
	int i, answers = 0;

	if (take_in(&victim, &hostile)) {
		ask.token = expose(&victim, &hostile, BOTH).token;
		for (i = 0; i < 4; i++)
			CHECK_INT(hostile_say(&hostile, &ask), IBV_WC_SUCCESS);
		while (answers < 3000 && !tap.bad) {
			if (!CHECK(hostile_hear_of(&hostile, LINK_MESSAGE_FLUSHED,
						   &message, PATIENCE)))
				break;
			answers++;
			CHECK_INT(hostile_say(&hostile, &ask), IBV_WC_SUCCESS);
		}
		printf("# %d answers, %s\n", answers, ep_info(victim.side.ep).reason);
		CHECK_INT(ep_info(victim.side.ep).state, PEERLANE_ENDPOINT_CONNECTED);
	}
	drop(&victim, &hostile);
	victim_end(&victim);
}

/* It has ended a key, and has not told yet: a FLUSH does not reach for it. */
static void a_flush_needs_no_key(void)
{
	struct victim victim = victim_begin(SETTINGS());
	struct link_message message, give = EXPOSE(), answer = SAY(FLUSHED);
	struct hostile hostile;

	if (take_in(&victim, &hostile)) {
		struct ibv_mr *mr = ibv_reg_mr(hostile.pd, hostile.memory, 4096,
					       IBV_ACCESS_LOCAL_WRITE |
					       IBV_ACCESS_REMOTE_WRITE |
					       IBV_ACCESS_REMOTE_READ);

		give.chunk_at[0].rkey = mr->rkey;
		give.chunk_at[0].iova = (uintptr_t)hostile.memory;
		CHECK_INT(hostile_say(&hostile, &give), IBV_WC_SUCCESS);
		ep_find(victim.side.ep, PEERLANE_RECORD_EXPOSED);
		CHECK_INT(ep_do(victim.side.ep, OP(PUT, .length = 8, .token = 1)), 0);
		CHECK_INT(ibv_dereg_mr(mr), 0);
		CHECK_INT(ep_begin(victim.side.ep, &OP(FLUSH), 1), 1);
		CHECK(hostile_hear_of(&hostile, LINK_MESSAGE_FLUSH, &message, PATIENCE));
		CHECK_INT(hostile_say(&hostile, &answer), IBV_WC_SUCCESS);
		CHECK_INT(ep_find(victim.side.ep, PEERLANE_RECORD_DONE).status, 0);
		CHECK_INT(ep_info(victim.side.ep).state, PEERLANE_ENDPOINT_CONNECTED);
	}
	drop(&victim, &hostile);
	victim_end(&victim);
}

/* It has no receives: that is its own fault, and nothing waits for it. */
static void nobody_waits_for_receives(void)
{
	struct victim victim = victim_begin(SETTINGS(.timeout_ms = 3000));
	struct link_hello hello = hostile_hello();
	u8 data[LINK_HELLO_SIZE];
	struct hostile hostile;
	double begin = now();

	link_hello_encode(&hello, data);
	if (CHECK_INT(hostile_connect(&hostile, own_address(), victim.port, data,
				      sizeof(data), -1), 0)) {
		victim.side.ep = ep_accept(victim.listener);
		ep_begin(victim.side.ep, &OP(NOTIFY), 1);
		CHECK(ep_end(victim.side.ep) < 0);
		CHECK(now() - begin < 8);
	}
	drop(&victim, &hostile);
	victim_end(&victim);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(nonsense_ends_only_its_own_connection),
		TAP_CASE(a_message_that_is_too_long_ends_its_connection),
		TAP_CASE(fuzzed_messages_hurt_nobody),
		TAP_CASE(a_flood_of_notices_ends_the_connection),
		TAP_CASE(floods_of_other_messages_end_or_are_borne),
		TAP_CASE(a_flood_of_keys_is_bounded),
		TAP_CASE(silence_ends_with_the_timeout),
		TAP_CASE(an_unanswered_flush_ends_with_the_timeout),
		TAP_CASE(keys_that_are_none_fail_the_operation),
		TAP_CASE(a_write_with_immediate_data_is_no_message),
		TAP_CASE(flushes_one_after_another_are_answered),
		TAP_CASE(a_flush_needs_no_key),
		TAP_CASE(nobody_waits_for_receives),
	};

	srand(time(NULL));
	hostile_init();
	return HARNESS_RUN(cases);
}
