// SPDX-License-Identifier: GPL-2.0
/*
 * A rank that does not keep to the rules, and one of the module's beside it in
 * the same group. That one is told who it was, and why; another group of the
 * same aggregator goes on, and its sums stay right.
 */
#include "hostile_victim.h"

/* ---- honest ---- */

static struct group_message sum_word(uint64_t token)
{
	return WORD(SEGMENT, .part = {
		.call = { GROUP_ALL_REDUCE, PEERLANE_TYPE_I32, PEERLANE_REDUCE_SUM,
			  0, COUNT },
		.bytes = 4 * COUNT, .token = token });
}

/* First that it can: else the rest would show nothing. */
static void an_honest_one_gets_the_sum(void)
{
	struct group_message word;
	struct victim victim;
	struct liar *liar = &victim.liar;
	int k, wrong = 0, *got;

	if (bystander_begin() && victim_new(&victim)) {
		const struct link_chunk *pool = &liar->exposed.chunk_at[0];

		CHECK_INT(liar->exposed.length, WINDOW * SEGMENT);
		CHECK_INT(liar_expose(liar, 5, 16384, 4 * COUNT, 0,
				      PEERLANE_RIGHT_WRITE), IBV_WC_SUCCESS);
		CHECK(liar_hear(liar, GROUP_MESSAGE_READY, &word, PATIENCE));
		CHECK(word.token == 5);
		for (k = 0; k < COUNT; k++) {
			((int *)liar->hostile.memory)[k] = 10 * k;
			((int *)victim.pages.mem)[k] = k;
		}
		CHECK_INT(group_begin(victim.fd, &SUM(COUNT), 1), 1);
		CHECK_INT(hostile_write(&liar->hostile, pool->rkey, pool->iova,
					4 * COUNT), IBV_WC_SUCCESS);
		CHECK_INT(liar_say(liar, sum_word(5)), IBV_WC_SUCCESS);
		CHECK(liar_hear(liar, GROUP_MESSAGE_RESULT, &word, PATIENCE));
		CHECK_INT(group_next(victim.fd, PEERLANE_GROUP_RECORD_DONE).status, 0);
		got = (int *)(liar->hostile.memory + 16384);
		for (k = 0; k < COUNT; k++)
			wrong += got[k] != 11 * k;
		CHECK_INT(wrong, 0);
	}
	victim_end(&victim);
	bystander_end();
}

/* ---- nonsense ---- */

struct nonsense {
	const char *what;
	struct group_message word;
	int at, value;		/* a byte that is changed; at < 0: none */
	int length;		/* more, or less */
};

#define PART(...) WORD(SEGMENT, .part = { .call.kind = GROUP_BARRIER, __VA_ARGS__ })
#define FAULT(...) WORD(ABORT, .fault = { .cause = GROUP_CAUSE_DEAD, __VA_ARGS__ })

static const struct nonsense sayings[] = {
	{ "magic", WORD(LEAVE), 0, 0 },
	{ "version 2", WORD(LEAVE), 4, 2 },
	{ "type 0", WORD(LEAVE), 5, 0 },
	{ "type 8", WORD(LEAVE), 5, 8 },
	{ "reserved", WORD(LEAVE), 6, 1 },
	{ "a byte too many", WORD(LEAVE), -1, 0, 1 },
	{ "a byte too few", PART(), -1, 0, -1 },
	{ "nothing", WORD(LEAVE), -1, 0, -8 },
	{ "a second JOIN", WORD(JOIN, .join = { GROUP, 1, 2, 1, 0, SEGMENT, WINDOW,
						GROUP_RANKS_MAX, 20000 }), -1 },
	{ "WELCOME", WORD(WELCOME), -1 },
	{ "READY", WORD(READY, .token = 1), -1 },
	{ "RESULT", WORD(RESULT), -1 },
	{ "beyond the window", PART(.n = WINDOW), -1 },
	{ "far beyond it", PART(.n = -1ULL), -1 },
	{ "no kind", PART(.call.kind = 0), -1 },
	{ "kind 7", PART(.call.kind = 7), -1 },
	{ "a barrier with a type", PART(.call.type = 1), -1 },
	{ "a barrier with a root", PART(.call.root = 1), -1 },
	{ "a segment that is none", PART(.index = 1), -1 },
	{ "bytes of a barrier", PART(.bytes = 4), -1 },
	{ "all bytes there are", PART(.bytes = -1U), -1 },
	{ "an offset without a token", PART(.offset = 1), -1 },
	{ "an offset beyond all memory", PART(.token = 1, .offset = -1ULL), -1 },
	{ "no type", PART(.call = { GROUP_ALL_REDUCE, 0, 1, 0, 1 }, .bytes = 4,
			  .token = 1), -1 },
	{ "a sum of more than there is", PART(.call = { GROUP_ALL_REDUCE, 2, 1, 0, -1ULL },
					      .bytes = SEGMENT, .token = 1), -1 },
	{ "a sum without bytes", PART(.call = { GROUP_ALL_REDUCE, 2, 1, 0, 1 },
				      .token = 1), -1 },
	{ "a sum without a place", PART(.call = { GROUP_ALL_REDUCE, 2, 1, 0, 1 },
					.bytes = 4), -1 },
	{ "xor of floats", PART(.call = { GROUP_ALL_REDUCE, 1, 8, 0, 1 }, .bytes = 4,
				.token = 1), -1 },
	{ "a way that is none", PART(.call.way = 2), -1 },
	{ "replicated, at one of one", PART(.call.way = 1), -1 },
	{ "TUNE where nothing is chosen", WORD(TUNE), -1 },
	{ "a PROBE of no number", WORD(PROBE), -1 },
	{ "no cause", FAULT(.cause = 0), -1 },
	{ "a cause of the future", FAULT(.cause = 14), -1 },
	{ "rank 1024", FAULT(.rank = 1024), -1 },
	{ "a field of no mismatch", FAULT(.field = 1), -1 },
	{ "a mismatch of no field", FAULT(.cause = GROUP_CAUSE_MISMATCH), -1 },
	{ "more missing than there are", FAULT(.missing = 1025), -1 },
};

static void say_nonsense(struct liar *liar, const struct nonsense *saying)
{
	uint8_t data[LINK_OWNER_MAX] = {};
	int length = group_message_encode(&saying->word, data) + saying->length;

	if (saying->at >= 0)
		data[saying->at] = saying->value;
	liar_send(liar, data, length);
}

static void who_talks_nonsense_is_blamed(void)
{
	struct victim victim;
	size_t i;

	if (!bystander_begin())
		return;
	for (i = 0; i < ARRAY_SIZE(sayings) && tap.bad < 4; i++) {
		if (victim_new(&victim)) {
			say_nonsense(&victim.liar, &sayings[i]);
			check_blamed(&victim, sayings[i].what);
		}
		victim_end(&victim);
		if (i % 8 == 0)
			check_bystander();
	}
	bystander_end();
}

#define FUZZ_SECONDS	15
#define FUZZ_WORDS	10

/* On a slow machine for longer, until it has been one at all. */
static bool is_fuzzing(double seconds, int words)
{
	return seconds < FUZZ_SECONDS ||
	       (words <= FUZZ_WORDS && seconds < 10 * FUZZ_SECONDS);
}

static struct group_message any_word(void)
{
	static const uint8_t types[] = {
		GROUP_MESSAGE_SEGMENT, GROUP_MESSAGE_SEGMENT, GROUP_MESSAGE_SEGMENT,
		GROUP_MESSAGE_JOIN, GROUP_MESSAGE_LEAVE, GROUP_MESSAGE_ABORT,
		GROUP_MESSAGE_RESULT, GROUP_MESSAGE_READY,
	};
	struct group_message word = { .type = types[rand() % ARRAY_SIZE(types)] };

	if (word.type == GROUP_MESSAGE_SEGMENT)
		word.part = (struct group_part){
			.n = rand() % 3, .seq = rand() % 3, .index = rand() % 2,
			.call = { 1 + rand() % 6, rand() % 13, rand() % 9, rand() % 2,
				  rand() % 2000 },
			.bytes = rand() % 2 * 4 * (rand() % 2000), .token = rand() % 2,
		};
	if (word.type == GROUP_MESSAGE_ABORT)
		word.fault = (struct group_fault){
			.cause = rand() % 14, .rank = rand() % 3, .seq = rand(),
		};
	return word;
}

/* True: it can go on. */
static bool say_fuzzed(struct liar *liar)
{
	uint8_t data[LINK_OWNER_MAX] = {};
	struct group_message word = any_word();
	uint32_t length = group_message_encode(&word, data);
	int changes;

	for (changes = rand() % 3; changes; changes--)
		data[rand() % length] = rand();
	if (rand() % 8 == 0)
		length = rand() % (LINK_OWNER_MAX + 1);
	return liar_send(liar, data, length) == IBV_WC_SUCCESS;
}

/* One rank after another, while another group of theirs computes. */
static void fuzzed_words_hurt_nobody(void)
{
	unsigned int seed = time(NULL);
	int words = 0, ranks = 0, i;
	struct victim victim;
	double begin = now();

	printf("# seed %u\n", seed);
	srand(seed);
	if (!bystander_begin())
		return;
	while (is_fuzzing(now() - begin, words) && !tap.bad) {
		if (victim_new(&victim)) {
			CHECK_INT(group_begin(victim.fd, &SUM(COUNT), 1), 1);
			for (i = 0; i < 10 && say_fuzzed(&victim.liar); i++)
				words++;
		}
		victim_end(&victim);
		check_bystander();
		ranks++;
	}
	printf("# %d words of %d ranks\n", words, ranks);
	CHECK(words > FUZZ_WORDS);
	bystander_end();
}

/* What it says is fine, but there is no such memory. */
static void a_place_that_was_not_exposed_is_blamed(void)
{
	static const struct {
		uint64_t token, offset;
		uint32_t rights;
	} places[] = {
		{ 6, 0, PEERLANE_RIGHT_WRITE },		/* another token */
		{ 5, 1, PEERLANE_RIGHT_WRITE },		/* across its end */
		{ 5, 1ULL << 62, PEERLANE_RIGHT_WRITE },
		{ 5, 0, PEERLANE_RIGHT_READ },
	};
	struct group_message word;
	struct victim victim;
	size_t i;

	if (!bystander_begin())
		return;
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		if (victim_new(&victim)) {
			liar_expose(&victim.liar, 5, 16384, 4 * COUNT, 0, places[i].rights);
			CHECK(liar_hear(&victim.liar, GROUP_MESSAGE_READY, &word, PATIENCE));
			CHECK_INT(group_begin(victim.fd, &SUM(COUNT), 1), 1);
			word = sum_word(places[i].token);
			word.part.offset = places[i].offset;
			liar_say(&victim.liar, word);
			check_blamed(&victim, "a place");
		}
		victim_end(&victim);
	}
	bystander_end();
}

static void who_only_repeats_is_blamed(void)
{
	struct victim victim;
	int i;

	if (bystander_begin() && victim_new(&victim)) {
		for (i = 0; i < 2 * GROUP_REPEATS_MAX; i++)
			if (liar_say(&victim.liar, barrier_word(0)) != IBV_WC_SUCCESS)
				break;
		printf("# %d times\n", i);
		CHECK(i >= GROUP_REPEATS_MAX);
		check_blamed(&victim, "again and again");
	}
	victim_end(&victim);
	bystander_end();
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(an_honest_one_gets_the_sum),
		TAP_CASE(who_talks_nonsense_is_blamed),
		TAP_CASE(a_place_that_was_not_exposed_is_blamed),
		TAP_CASE(who_only_repeats_is_blamed),
		TAP_CASE(fuzzed_words_hurt_nobody),
	};

	hostile_init();
	return HARNESS_RUN(cases);
}
