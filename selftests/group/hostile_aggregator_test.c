// SPDX-License-Identifier: GPL-2.0
/*
 * An aggregator that does not keep to the rules, and a rank of the module's: it
 * ends, soon, and tells why; its memory is as it was.
 */
#include <pthread.h>

#include "hostile_scene.h"

#define SOON		10.0	/* seconds; emulation on a busy machine is slow */
#define BARRIER()	GROUP_OP(BARRIER)
#define SUM(_count)	GROUP_OP(ALL_REDUCE, .type = PEERLANE_TYPE_I32,	\
	.op = PEERLANE_REDUCE_SUM, .count = _count, .receive_offset = LENGTH / 2)

/* ---- honest ---- */

/* A sum of four is begun, and its SEGMENT is here. */
static bool hear_segment(struct scene *scene, struct group_message *word)
{
	return CHECK_INT(group_begin(scene->fd, &SUM(4), 1), 1) &&
	       CHECK(liar_hear(&scene->liar, GROUP_MESSAGE_SEGMENT, word, PATIENCE));
}

/* First that it can: else the rest would show nothing. */
static void an_honest_one_is_believed(void)
{
	struct scene scene;
	const struct link_chunk *slot = &scene.liar.exposed.chunk_at[0];
	struct group_message word;

	if (scene_joined(&scene)) {
		ready(&scene);
		if (hear_segment(&scene, &word)) {
			CHECK_INT(word.part.bytes, 16);
			CHECK(word.part.token == scene.liar.exposed.token);
			CHECK_INT(scene.liar.hostile.memory[POOL_AT + 15], CANARY);
			memset(scene.liar.hostile.memory, 0x77, 16);
			CHECK_INT(hostile_write(&scene.liar.hostile, slot->rkey,
						slot->iova + word.part.offset, 16),
				  IBV_WC_SUCCESS);
			result(&scene, 0, 0);
		}
		CHECK_INT(group_next(scene.fd, PEERLANE_GROUP_RECORD_DONE).status, 0);
		CHECK_INT(scene.pages.mem[LENGTH / 2 + 15], 0x77);
		memset(scene.pages.mem + LENGTH / 2, CANARY, 16);
	}
	scene_end(&scene);
}

/* READY again, and for what is not there, is no READY for another. */
static void ready_counts_once(void)
{
	struct group_message word;
	struct scene scene;

	if (scene_joined(&scene)) {
		liar_say(&scene.liar, WORD(READY, .token = scene.liar.exposed.token + 1));
		CHECK_INT(group_begin(scene.fd, &SUM(4), 1), 1);
		CHECK(!liar_hear(&scene.liar, GROUP_MESSAGE_SEGMENT, &word, 0.5));
		ready(&scene);
		ready(&scene);
		CHECK(liar_hear(&scene.liar, GROUP_MESSAGE_SEGMENT, &word, PATIENCE));
		result(&scene, 0, 0);
		CHECK_INT(group_next(scene.fd, PEERLANE_GROUP_RECORD_DONE).status, 0);
	}
	scene_end(&scene);
}

/* ---- nonsense ---- */

static const struct nonsense {
	const char *what;
	struct group_message word;
	int at, value;		/* a byte that is changed; at < 0: none */
	int length;		/* more, or less */
} sayings[] = {
	{ "magic", WORD(WELCOME), 0, 0 },
	{ "version 2", WORD(READY, .token = 1), 4, 2 },
	{ "type 0", WORD(LEAVE), 5, 0 },
	{ "type 255", WORD(LEAVE), 5, 255 },
	{ "reserved", WORD(WELCOME), 7, 1 },
	{ "a byte too many", WORD(RESULT), -1, 0, 1 },
	{ "a byte too few", WORD(RESULT), -1, 0, -1 },
	{ "nothing", WORD(WELCOME), -1, 0, -8 },
	{ "JOIN", WORD(JOIN, .join = { 1, 0, 1, 1, 0, SMALL, 1, 2, 1 }), -1 },
	{ "SEGMENT", WORD(SEGMENT, .part.call.kind = GROUP_BARRIER), -1 },
	{ "LEAVE", WORD(LEAVE), -1 },
	{ "a second WELCOME", WORD(WELCOME), -1 },
	{ "READY of no token", WORD(READY), -1 },
	{ "RESULT of nothing", WORD(RESULT), -1 },
	{ "RESULT of a later one", WORD(RESULT, .result = { WINDOW, 0 }), -1 },
	{ "RESULT of the last there can be", WORD(RESULT, .result = { -1ULL, -1ULL }), -1 },
	{ "no cause", WORD(ABORT), -1 },
	{ "a cause of the future", WORD(ABORT, .fault.cause = 14), -1 },
	{ "rank 1024", WORD(ABORT, .fault = { .cause = 2, .rank = 1024 }), -1 },
	{ "other 1024", WORD(ABORT, .fault = { .cause = 2, .other = 1024 }), -1 },
	{ "1025 missing", WORD(ABORT, .fault = { .cause = 3, .missing = 1025 }), -1 },
	{ "field 9", WORD(ABORT, .fault = { .cause = 4, .field = 9 }), -1 },
	{ "PROBE that was not asked", WORD(PROBE, .probe = 5), -1 },
	{ "TUNE that was not asked", WORD(TUNE), -1 },
};

static void nonsense_is_blamed_on_the_aggregator(void)
{
	struct scene scene;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sayings) && tap.bad < 4; i++) {
		const struct nonsense *saying = &sayings[i];
		uint8_t data[LINK_OWNER_MAX] = {};
		int length = group_message_encode(&saying->word, data) + saying->length;

		if (saying->at >= 0)
			data[saying->at] = saying->value;
		if (scene_joined(&scene)) {
			liar_send(&scene.liar, data, length);
			check_blamed(&scene, saying->what);
		}
		scene_end(&scene);
	}
}

static void a_result_before_it_joined_is_refused(void)
{
	struct scene scene;

	if (scene_of(&scene, SETTINGS_OF())) {
		result(&scene, 0, 0);
		check_blamed(&scene, "early");
	}
	scene_end(&scene);
}

static void a_result_counts_once(void)
{
	struct group_message word;
	struct scene scene;

	if (scene_joined(&scene)) {
		ready(&scene);
		if (hear_segment(&scene, &word)) {
			result(&scene, 0, 0);
			result(&scene, 0, 0);
		}
		CHECK_INT(group_next(scene.fd, PEERLANE_GROUP_RECORD_DONE).status, 0);
		check_blamed(&scene, "twice");
	}
	scene_end(&scene);
}

static void a_result_of_another_operation_completes_none(void)
{
	struct group_message word;
	struct scene scene;

	if (scene_joined(&scene)) {
		ready(&scene);
		if (hear_segment(&scene, &word))
			result(&scene, 0, 1);
		CHECK_INT(group_next(scene.fd, PEERLANE_GROUP_RECORD_DONE).status, -EPROTO);
		check_blamed(&scene, "another");
	}
	scene_end(&scene);
}

/* ---- the pool ---- */

static void a_pool_that_is_none_is_refused(void)
{
	static const struct {
		uint64_t length, value;
		uint32_t rights;
	} pools[] = {
		{ WINDOW * SMALL, POOL_VALUE + 1, PEERLANE_RIGHT_WRITE },
		{ WINDOW * SMALL - 1, POOL_VALUE, PEERLANE_RIGHT_WRITE },
		{ WINDOW * SMALL + 1, POOL_VALUE, PEERLANE_RIGHT_WRITE },
		{ WINDOW * SMALL, POOL_VALUE, PEERLANE_RIGHT_READ },
		{ WINDOW * SMALL, POOL_VALUE, BOTH },
	};
	struct scene scene;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pools); i++) {
		if (scene_of(&scene, SETTINGS_OF())) {
			liar_expose(&scene.liar, POOL_TOKEN, POOL_AT, pools[i].length,
				    pools[i].value, pools[i].rights);
			check_blamed(&scene, "a pool");
		}
		scene_end(&scene);
	}
}

static void a_second_pool_is_refused(void)
{
	struct scene scene;

	if (scene_joined(&scene)) {
		liar_expose(&scene.liar, POOL_TOKEN + 1, POOL_AT, WINDOW * SMALL,
			    POOL_VALUE, PEERLANE_RIGHT_WRITE);
		check_blamed(&scene, "a second pool");
	}
	scene_end(&scene);
}

static void a_pool_that_is_taken_away_ends_it(void)
{
	struct link_message message = {
		.type = LINK_MESSAGE_WITHDRAW, .token = POOL_TOKEN,
	};
	struct scene scene;

	if (scene_joined(&scene)) {
		hostile_say(&scene.liar.hostile, &message);
		check_blamed(&scene, "withdrawn");
	}
	scene_end(&scene);
}

/* ---- ABORT ---- */

static void every_cause_is_passed_on(void)
{
	static const int errors[] = {
		-ECONNABORTED, -ECONNRESET, -ETIMEDOUT, -EBADE, -ENODEV, -EPROTO,
		-ESHUTDOWN, -EBADE, -EEXIST, -ENOSPC, -ETIMEDOUT, -EOPNOTSUPP,
	};
	struct peerlane_group_info info;
	struct scene scene;
	uint32_t cause;

	for (cause = 1; cause <= ARRAY_SIZE(errors); cause++) {
		if (scene_joined(&scene)) {
			uint32_t rank = cause % 2 ? GROUP_RANKS_MAX - 1 : PEERLANE_RANK_NONE;
			struct group_message word = WORD(ABORT, .fault = {
				.cause = cause, .rank = rank,
				.other = PEERLANE_RANK_NONE, .missing = GROUP_RANKS_MAX,
				.field = cause == GROUP_CAUSE_MISMATCH ? 7 : 0,
				.seq = -1ULL, .value = -1ULL, .expected = -1ULL });

			/* It may be gone before the device knows that this arrived. */
			liar_say(&scene.liar, word);
			check_ended(&scene, cause, rank, errors[cause - 1], "ABORT");
			info = group_info(scene.fd);
			CHECK(info.fault_seq == -1ULL && info.fault_value == -1ULL);
			CHECK(strnlen(info.text, sizeof(info.text)) < sizeof(info.text));
		}
		scene_end(&scene);
	}
}

/* ---- silence ---- */

/* It lives, but not all ranks join. */
static void joining_ends_with_its_timeout(void)
{
	struct peerlane_group_create settings = SETTINGS_OF(.join_timeout_ms = 1500);
	struct group_message word;
	struct scene scene;
	double begin;

	if (scene_of(&scene, settings)) {
		begin = now();
		liar_hear(&scene.liar, GROUP_MESSAGE_ABORT, &word, 4);
		check_ended(&scene, PEERLANE_GROUP_CAUSE_JOIN, PEERLANE_RANK_NONE,
			    -ETIMEDOUT, "joining");
		CHECK(now() - begin < SOON);
	}
	scene_end(&scene);
}

/* Its device acknowledges everything, and nobody says a word. */
static void silence_ends_with_the_timeout(void)
{
	struct peerlane_group_create settings = SETTINGS_OF(.timeout_ms = 2000);
	struct scene scene;
	double begin;

	if (scene_of(&scene, settings)) {
		begin = now();
		check_ended(&scene, PEERLANE_GROUP_CAUSE_DEAD, PEERLANE_RANK_NONE,
			    -ETIMEDOUT, "silence");
		CHECK_HAS(group_info(scene.fd).text, "2000 ms");
		CHECK(now() - begin < SOON);
	}
	scene_end(&scene);
}

/* It answers every ping, and has no results. */
static void one_that_does_nothing_is_given_up(void)
{
	struct peerlane_group_create settings = SETTINGS_OF(.timeout_ms = 1000,
							    .op_timeout_ms = 1000);
	struct peerlane_group_op op = BARRIER();
	struct group_message word;
	struct scene scene;
	double begin;

	if (scene_of(&scene, settings) && welcome(&scene, WINDOW)) {
		begin = now();
		CHECK_INT(group_begin(scene.fd, &op, 1), 1);
		/* Answers pings meanwhile; no word of that type comes. */
		liar_hear(&scene.liar, GROUP_MESSAGE_ABORT, &word, 2);
		CHECK_INT(group_info(scene.fd).state, PEERLANE_GROUP_JOINED);
		while (group_info(scene.fd).state == PEERLANE_GROUP_JOINED &&
		       now() - begin < SOON)
			liar_hear(&scene.liar, GROUP_MESSAGE_ABORT, &word, 0.2);
		printf("# after %.1f s\n", now() - begin);
		check_ended(&scene, PEERLANE_GROUP_CAUSE_DEAD, PEERLANE_RANK_NONE,
			    -ETIMEDOUT, "nothing done");
		CHECK_HAS(group_info(scene.fd).text, "no result for 3000 ms");
	}
	scene_end(&scene);
}

/* ---- slowness ---- */

struct unbinding {
	int fd;
	volatile double seconds;	/* 0: not yet */
};

static void *unbind(void *arg)
{
	struct unbinding *unbinding = arg;
	struct peerlane_endpoint_bind args = { .size = sizeof(args), .region_fd = -1 };
	double begin = now();

	call_raw(unbinding->fd, PEERLANE_IOC_GROUP_BIND, &args);
	unbinding->seconds = now() - begin + 0.001;
	return NULL;
}

#define FEW	16		/* that it takes at once */

/*
 * It takes some messages now and then, so that the lane goes on, and behind all
 * of them is what ends the keys of the slot.
 */
static void a_slow_one_does_not_hold_up_unbinding(void)
{
	struct peerlane_group_create settings = SETTINGS_OF(.timeout_ms = 2000,
							    .window = MANY,
							    .depth = MANY);
	struct peerlane_group_op ops[MANY];
	struct scene scene = { .receives = FEW };
	struct link_message message;
	struct unbinding unbinding = {};
	pthread_t thread;
	double begin;
	int i;

	for (i = 0; i < MANY; i++)
		ops[i] = BARRIER();
	if (scene_join(&scene, settings) && welcome(&scene, MANY)) {
		CHECK_INT(group_begin(scene.fd, ops, MANY), MANY);
		unbinding.fd = scene.fd;
		pthread_create(&thread, NULL, unbind, &unbinding);
		begin = now();
		while (!unbinding.seconds && now() - begin < 15) {
			liar_answer(&scene.liar);
			for (i = 0; i < FEW; i++)
				hostile_hear(&scene.liar.hostile, &message, 0);
			usleep(500000);
		}
		printf("# after %.1f s: %s\n", unbinding.seconds,
		       group_info(scene.fd).text);
		CHECK(unbinding.seconds && unbinding.seconds < 6);
		CHECK_HAS(group_info(scene.fd).text, "too slow to end its keys");
		liar_end(&scene.liar);
		pthread_join(thread, NULL);
	}
	scene_end(&scene);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(an_honest_one_is_believed),
		TAP_CASE(ready_counts_once),
		TAP_CASE(nonsense_is_blamed_on_the_aggregator),
		TAP_CASE(a_result_before_it_joined_is_refused),
		TAP_CASE(a_result_counts_once),
		TAP_CASE(a_result_of_another_operation_completes_none),
		TAP_CASE(a_pool_that_is_none_is_refused),
		TAP_CASE(a_second_pool_is_refused),
		TAP_CASE(a_pool_that_is_taken_away_ends_it),
		TAP_CASE(every_cause_is_passed_on),
		TAP_CASE(joining_ends_with_its_timeout),
		TAP_CASE(silence_ends_with_the_timeout),
		TAP_CASE(one_that_does_nothing_is_given_up),
		TAP_CASE(a_slow_one_does_not_hold_up_unbinding),
	};

	hostile_init();
	return HARNESS_RUN(cases);
}
