// SPDX-License-Identifier: GPL-2.0
/*
 * Hostile aggregators in a tree: one that says it has a block of ranks, and one
 * that says it is the root. The honest ones are ranks 0 and 1 of four.
 */
#include "hostile_scene.h"
#include "tree.h"

#define RANKS	4
#define HONEST	2
#define LATE_MS	1500
#define LINK_MS	5000
#define HONEST_SETTINGS(...) GROUP_SETTINGS(.ranks = RANKS, .block = 2,	\
	.segment = SMALL, .window = WINDOW,				\
	.placement = PEERLANE_PLACEMENT_TREE, __VA_ARGS__)

/* The honest leaf and its two ranks are below the root, or the liar. */
struct stage {
	struct tree tree;
	struct liar liar;
};

static void join_honest(struct stage *stage, uint32_t leaf,
			struct peerlane_group_create args)
{
	struct world *world = &stage->tree.world;
	uint32_t i;

	world->ranks = HONEST;
	for (i = 0; i < HONEST; i++) {
		args.rank = i;
		world->pages[i] = pages_new(LENGTH);
		world->rank[i] = group_create(args);
		CHECK_INT(group_bind(world->rank[i], 0, world->pages[i].region, 0), 0);
		set_nonblock(world->rank[i], true);
		CHECK_INT(group_join(world->rank[i], world->addresses[leaf], 1),
			  -EINPROGRESS);
		set_nonblock(world->rank[i], false);
	}
}

static bool honest_have_joined(struct stage *stage)
{
	bool good = true;
	uint32_t i;

	for (i = 0; i < HONEST; i++)
		good &= group_next(stage->tree.world.rank[i],
				   PEERLANE_GROUP_RECORD_JOINED).type ==
			PEERLANE_GROUP_RECORD_JOINED;
	return good;
}

static void begin_all(struct stage *stage)
{
	const struct peerlane_group_op op = GROUP_OP(BARRIER);
	uint32_t i;

	for (i = 0; i < HONEST; i++)
		CHECK_INT(group_begin(stage->tree.world.rank[i], &op, 1), 1);
}

static void check_honest(struct stage *stage, uint32_t cause, uint32_t rank,
			 const char *words)
{
	struct peerlane_group_record record;
	uint32_t i;

	for (i = 0; i < HONEST; i++) {
		record = group_find(stage->tree.world.rank[i],
				    PEERLANE_GROUP_RECORD_ENDED);
		CHECK_INT(record.cause, cause);
		CHECK_INT(record.rank, rank);
		CHECK_HAS(group_info(stage->tree.world.rank[i]).text, words);
	}
}

static void stage_end(struct stage *stage)
{
	uint32_t i;
	int fd;

	liar_end(&stage->liar);
	world_leave(&stage->tree.world);
	for (i = 0; i < stage->tree.world.aggregators; i++) {
		fd = stage->tree.world.aggregator[i].fd;
		CHECK(WAIT_FOR(!aggregator_info(fd).links, PATIENCE));
		CHECK_INT(aggregator_info(fd).groups, 0);
		CHECK_INT(aggregator_info(fd).pool_used, 0);
	}
	world_end(&stage->tree.world);
}

/* ---- below ---- */

static struct group_join join_of_block(uint32_t timeout_ms)
{
	struct group_join join = join_of(0x1234, 2, RANKS);

	join.block = 2;
	join.segment = SMALL;
	join.timeout_ms = timeout_ms;
	join.placement = GROUP_PLACEMENT_TREE;
	join.unit = 2;
	return join;
}

/* The liar has joined for ranks 2 and 3. */
static bool stage_below(struct stage *stage, uint32_t timeout_ms)
{
	const struct peerlane_group_create settings =
		HONEST_SETTINGS(.op_timeout_ms = timeout_ms);
	struct group_message word;
	int root, leaf;

	memset(stage, 0, sizeof(*stage));
	root = tree_add(&stage->tree, -1, MIB,
			AGGREGATOR_SETTINGS(.timeout_ms = LINK_MS));
	leaf = tree_add(&stage->tree, root, MIB, AGGREGATOR_SETTINGS());
	join_honest(stage, (uint32_t)leaf, settings);
	return liar_connect(&stage->liar, &stage->tree.world.aggregator[root], 64) &&
	       CHECK_INT(liar_say(&stage->liar,
				  WORD(JOIN, .join = join_of_block(timeout_ms))),
			 IBV_WC_SUCCESS) &&
	       CHECK(liar_hear(&stage->liar, ANY_EXPOSURE, &word, PATIENCE)) &&
	       CHECK_INT(liar_expose(&stage->liar, POOL_TOKEN, POOL_AT, WINDOW * SMALL,
				     POOL_VALUE, PEERLANE_RIGHT_WRITE),
			 IBV_WC_SUCCESS) &&
	       CHECK(liar_hear(&stage->liar, GROUP_MESSAGE_WELCOME, &word, PATIENCE)) &&
	       honest_have_joined(stage);
}

static void one_that_goes_is_named_with_its_ranks(void)
{
	struct stage stage;

	if (stage_below(&stage, 20000)) {
		begin_all(&stage);
		liar_end(&stage.liar);
		memset(&stage.liar, 0, sizeof(stage.liar));
		check_honest(&stage, PEERLANE_GROUP_CAUSE_DEAD, 2,
			     "the aggregator of ranks 2 .. 3 is dead");
		CHECK_INT(group_info(stage.tree.world.rank[0]).fault_missing, 2);
	}
	stage_end(&stage);
}

static void one_that_says_who_is_late_is_believed(void)
{
	struct group_message word;
	struct stage stage;

	if (stage_below(&stage, LATE_MS)) {
		begin_all(&stage);
		CHECK(liar_hear(&stage.liar, GROUP_MESSAGE_ABORT, &word, PATIENCE));
		CHECK_INT(word.fault.cause, GROUP_CAUSE_LATE);
		CHECK_INT(word.fault.rank, 2);
		CHECK_INT(word.fault.missing, 2);
		word.fault.rank = 3;
		word.fault.missing = 1;
		liar_say(&stage.liar, word);
		check_honest(&stage, PEERLANE_GROUP_CAUSE_LATE, 3,
			     "rank 3 is late in operation 0, 1 missing");
	}
	stage_end(&stage);
}

/* It answers PINGs all the time. */
static void one_that_does_not_say_who_is_late_is_named(void)
{
	struct group_message word;
	struct stage stage;

	if (stage_below(&stage, LATE_MS)) {
		begin_all(&stage);
		CHECK(liar_hear(&stage.liar, GROUP_MESSAGE_ABORT, &word, PATIENCE));
		liar_hear(&stage.liar, GROUP_MESSAGE_WELCOME, &word,
			  LINK_MS / 1000.0 + 2);
		check_honest(&stage, PEERLANE_GROUP_CAUSE_LATE, 2,
			     "rank 2 is late in operation 0, 2 missing");
	}
	stage_end(&stage);
}

static void one_that_speaks_for_no_block_is_not_heard(void)
{
	struct group_message word = WORD(JOIN, .join = join_of_block(20000));
	struct stage stage = {};
	int root = tree_add(&stage.tree, -1, MIB, AGGREGATOR_SETTINGS());

	word.join.unit = 3;
	if (liar_connect(&stage.liar, &stage.tree.world.aggregator[root], 64)) {
		liar_say(&stage.liar, word);
		CHECK(!liar_hear(&stage.liar, ANY_EXPOSURE, &word, 1));
		CHECK(WAIT_FOR(!aggregator_info(stage.tree.world.aggregator[root].fd).links,
			       PATIENCE));
	}
	stage_end(&stage);
}

/* ---- above ---- */

/* The leaf has said JOIN to the liar; @join_ms: its time for joining */
static bool stage_above(struct stage *stage, uint32_t join_ms)
{
	struct peerlane_aggregator_create args =
		AGGREGATOR_SETTINGS(.timeout_ms = LINK_MS,
				    .join_timeout_ms = join_ms);
	struct group_message word;
	int leaf;

	memset(stage, 0, sizeof(*stage));
	if (!CHECK_INT(hostile_listen(&stage->liar.hostile, own_address(), PORT), 0))
		return false;
	put_address(args.parent, own_address(), PORT);
	leaf = tree_add(&stage->tree, -1, MIB, args);
	join_honest(stage, (uint32_t)leaf, HONEST_SETTINGS(.op_timeout_ms = LATE_MS));
	return CHECK_INT(hostile_wait(&stage->liar.hostile), 0) &&
	       take_in(&stage->liar.hostile) &&
	       CHECK(liar_hear(&stage->liar, GROUP_MESSAGE_JOIN, &word, PATIENCE)) &&
	       CHECK_INT(word.join.rank, 0) && CHECK_INT(word.join.unit, 2) &&
	       CHECK_INT(word.join.size, RANKS);
}

static void say_pool(struct stage *stage, uint32_t places)
{
	CHECK_INT(liar_expose(&stage->liar, POOL_TOKEN, POOL_AT, places * SMALL,
			      POOL_VALUE, PEERLANE_RIGHT_WRITE), IBV_WC_SUCCESS);
}

static bool all_joined_above(struct stage *stage)
{
	struct group_message word;

	if (!stage_above(stage, 20000))
		return false;
	say_pool(stage, WINDOW);
	if (!CHECK(liar_hear(&stage->liar, ANY_EXPOSURE, &word, PATIENCE)))
		return false;
	CHECK_INT(liar_say(&stage->liar,
			   WORD(READY, .token = stage->liar.exposed.token)),
		  IBV_WC_SUCCESS);
	CHECK_INT(liar_say(&stage->liar, WORD(WELCOME)), IBV_WC_SUCCESS);
	return honest_have_joined(stage);
}

static void a_pool_of_another_size_is_refused(void)
{
	struct stage stage;

	if (stage_above(&stage, 20000)) {
		say_pool(&stage, WINDOW + 1);
		check_honest(&stage, PEERLANE_GROUP_CAUSE_PROTOCOL,
			     PEERLANE_RANK_NONE, "the group said what may not be said");
	}
	stage_end(&stage);
}

static void a_result_that_nobody_waits_for_is_refused(void)
{
	struct group_message word;
	struct stage stage;

	if (all_joined_above(&stage)) {
		begin_all(&stage);
		CHECK(liar_hear(&stage.liar, GROUP_MESSAGE_SEGMENT, &word, PATIENCE));
		CHECK_INT(word.part.n, 0);
		liar_say(&stage.liar, WORD(RESULT, .result = { WINDOW, 0 }));
		check_honest(&stage, PEERLANE_GROUP_CAUSE_PROTOCOL,
			     PEERLANE_RANK_NONE, "may not be said");
	}
	stage_end(&stage);
}

static void a_result_is_taken_once(void)
{
	struct group_message word;
	struct stage stage;
	uint32_t i;

	if (all_joined_above(&stage)) {
		begin_all(&stage);
		CHECK(liar_hear(&stage.liar, GROUP_MESSAGE_SEGMENT, &word, PATIENCE));
		liar_say(&stage.liar, WORD(RESULT, .result = { 0, 0 }));
		for (i = 0; i < HONEST; i++)
			CHECK_INT(group_next(stage.tree.world.rank[i],
					     PEERLANE_GROUP_RECORD_DONE).status, 0);
		liar_say(&stage.liar, WORD(RESULT, .result = { 0, 0 }));
		check_honest(&stage, PEERLANE_GROUP_CAUSE_PROTOCOL,
			     PEERLANE_RANK_NONE, "may not be said");
	}
	stage_end(&stage);
}

static void one_that_says_no_welcome_is_given_up(void)
{
	struct group_message word;
	struct stage stage;

	if (stage_above(&stage, 1000)) {
		say_pool(&stage, WINDOW);
		liar_hear(&stage.liar, GROUP_MESSAGE_WELCOME, &word, 4);
		check_honest(&stage, PEERLANE_GROUP_CAUSE_DEAD, PEERLANE_RANK_NONE,
			     "an aggregator is dead");
	}
	stage_end(&stage);
}

/* Two of the operation's times, and one of the link's */
static void one_that_has_no_result_is_given_up(void)
{
	struct group_message word;
	struct stage stage;

	if (all_joined_above(&stage)) {
		begin_all(&stage);
		liar_hear(&stage.liar, GROUP_MESSAGE_WELCOME, &word,
			  (2 * LATE_MS + LINK_MS) / 1000.0 + 3);
		check_honest(&stage, PEERLANE_GROUP_CAUSE_DEAD, PEERLANE_RANK_NONE, "");
	}
	stage_end(&stage);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(one_that_goes_is_named_with_its_ranks),
		TAP_CASE(one_that_says_who_is_late_is_believed),
		TAP_CASE(one_that_does_not_say_who_is_late_is_named),
		TAP_CASE(one_that_speaks_for_no_block_is_not_heard),
		TAP_CASE(a_pool_of_another_size_is_refused),
		TAP_CASE(a_result_that_nobody_waits_for_is_refused),
		TAP_CASE(a_result_is_taken_once),
		TAP_CASE(one_that_says_no_welcome_is_given_up),
		TAP_CASE(one_that_has_no_result_is_given_up),
	};

	hostile_init();
	return HARNESS_RUN(cases);
}
