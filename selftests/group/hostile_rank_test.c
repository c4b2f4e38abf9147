// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile rank: how it joins, what it reaches of the pool, and for how long it
 * can hold up the others.
 */
#include "hostile_victim.h"

/* ---- joining ---- */

static void a_segment_before_all_are_there_is_blamed(void)
{
	struct group_message word = {};
	struct liar liar;

	if (bystander_begin() && join_as(&liar, join_of(GROUP, 1, 2), 64)) {
		CHECK_INT(liar_say(&liar, barrier_word(0)), IBV_WC_SUCCESS);
		CHECK(liar_hear(&liar, GROUP_MESSAGE_ABORT, &word, SOON));
		CHECK_INT(word.fault.cause, GROUP_CAUSE_PROTOCOL);
		CHECK_INT(word.fault.rank, 1);
	}
	liar_end(&liar);
	bystander_end();
}

/* Rank 1 does not close, so that the group is not gone yet. */
static void who_joins_one_that_ended_is_told_whose_fault_it_was(void)
{
	struct group_message word;
	struct victim victim;
	struct liar again = {};

	if (bystander_begin() && victim_new(&victim) &&
	    liar_connect(&again, aggregator(), 64)) {
		CHECK_INT(group_begin(victim.fd, &BARRIER(), 1), 1);
		word = barrier_word(0);
		word.part.seq = 7;
		CHECK_INT(liar_say(&victim.liar, word), IBV_WC_SUCCESS);
		CHECK(liar_hear(&victim.liar, GROUP_MESSAGE_ABORT, &word, SOON));
		liar_say(&again, WORD(JOIN, .join = join_of(GROUP, 0, 2)));
		CHECK(liar_hear(&again, GROUP_MESSAGE_ABORT, &word, SOON));
		CHECK_INT(word.fault.cause, GROUP_CAUSE_MISMATCH);
		CHECK_INT(word.fault.rank, 1);
		CHECK_INT(word.fault.other, 0);
		CHECK_INT(word.fault.field, GROUP_FIELD_SEQ);
		CHECK_INT(word.fault.value, 7);
	}
	liar_end(&again);
	victim_end(&victim);
	bystander_end();
}

static void a_join_of_another_version_is_answered(void)
{
	struct group_message word = WORD(JOIN, .join = join_of(GROUP, 0, 1));
	uint8_t data[GROUP_MESSAGE_MAX];
	uint32_t length = group_message_encode(&word, data);
	struct liar liar;

	data[4] = 2;
	if (bystander_begin() && liar_connect(&liar, aggregator(), 64)) {
		CHECK_INT(liar_send(&liar, data, length), IBV_WC_SUCCESS);
		CHECK(liar_hear(&liar, GROUP_MESSAGE_ABORT, &word, SOON));
		CHECK_INT(word.fault.cause, GROUP_CAUSE_PROTOCOL);
		CHECK(word.fault.rank == PEERLANE_RANK_NONE);
	}
	liar_end(&liar);
	bystander_end();
}

/* Of a link of one lane none may be left; others are not there. */
static void a_lane_that_is_not_there_is_not_left(void)
{
	static const uint32_t lanes[] = { 0, 1, LINK_LANES_MAX - 1 };
	struct link_message left = { .type = LINK_MESSAGE_LEFT };
	struct victim victim;
	size_t i;

	if (!bystander_begin())
		return;
	for (i = 0; i < ARRAY_SIZE(lanes); i++) {
		left.lane = lanes[i];
		if (victim_new(&victim)) {
			hostile_say(&victim.liar.hostile, &left);
			check_ended(victim.fd, PEERLANE_GROUP_CAUSE_PROTOCOL, 1,
				    -EPROTO, "left");
		}
		victim_end(&victim);
	}
	bystander_end();
}

/* ---- reaching for the pool ---- */

/* He is told so, or thrown out before he could be. */
static bool is_denied(int status)
{
	return status == IBV_WC_REM_ACCESS_ERR || status == -ENOTCONN;
}

static void the_pool_beyond_the_own_part_is_not_reached(void)
{
	static const struct {
		int64_t from;
		uint32_t length;
		bool read;
	} reaches[] = {
		{ -1, 1 }, { WINDOW * SEGMENT, 1 }, { WINDOW * SEGMENT - 1, 2 },
		{ -WINDOW * SEGMENT, 8 }, { 0, 8, true },
	};
	char *before = malloc(POOL);
	struct victim victim;
	size_t i;
	int ret;

	if (!bystander_begin())
		return;
	memcpy(before, aggregator()->pool.mem, POOL);
	for (i = 0; i < ARRAY_SIZE(reaches); i++) {
		if (victim_new(&victim)) {
			const struct link_message *pool = &victim.liar.exposed;
			struct hostile *hostile = &victim.liar.hostile;
			uint64_t at = pool->chunk_at[0].iova + reaches[i].from;
			uint32_t key = pool->chunk_at[0].rkey;

			CHECK_INT(pool->chunks, 1);
			memset(hostile->memory, 0x66, 16);
			ret = reaches[i].read ?
				hostile_read(hostile, key, at, reaches[i].length) :
				hostile_write(hostile, key, at, reaches[i].length);
			if (!CHECK(is_denied(ret)))
				printf("# %zu: %d\n", i, ret);
			CHECK_INT(hostile->memory[0], 0x66);
			check_ended(victim.fd, PEERLANE_GROUP_CAUSE_DEAD, 1,
				    -ECONNRESET, "reached");
		}
		victim_end(&victim);
	}
	CHECK(!memcmp(before, aggregator()->pool.mem, POOL));
	free(before);
	bystander_end();
}

static void another_ranks_part_is_not_reached(void)
{
	struct group_join join = join_of(GROUP + 1, 1, 2);
	struct link_chunk part;
	struct victim victim;
	struct liar owner;

	if (bystander_begin() && victim_new(&victim) && join_as(&owner, join, 64)) {
		part = owner.exposed.chunk_at[0];
		CHECK(is_denied(hostile_write(&victim.liar.hostile, part.rkey, part.iova, 8)));
		check_ended(victim.fd, PEERLANE_GROUP_CAUSE_DEAD, 1, -ECONNRESET, "thief");
		CHECK_INT(hostile_write(&owner.hostile, part.rkey, part.iova, 8),
			  IBV_WC_SUCCESS);
	}
	liar_end(&owner);
	victim_end(&victim);
	bystander_end();
}

/* The next group may have its part of the pool. */
static void after_the_end_the_pool_is_not_reached(void)
{
	struct victim victim;
	struct link_chunk part;

	if (bystander_begin() && victim_new(&victim)) {
		part = victim.liar.exposed.chunk_at[0];
		CHECK_INT(hostile_write(&victim.liar.hostile, part.rkey, part.iova, 8),
			  IBV_WC_SUCCESS);
		close(victim.fd);
		victim.fd = -1;
		liar_say(&victim.liar, barrier_word(0));
		CHECK(WAIT_FOR(aggregator_info(aggregator()->fd).groups == 1, SOON));
		CHECK(hostile_write(&victim.liar.hostile, part.rkey, part.iova, 8) !=
		      IBV_WC_SUCCESS);
	}
	victim_end(&victim);
	bystander_end();
}

/* ---- time ---- */

/* Its result cannot be sent, but that of the other rank is. */
static void who_gives_back_no_credit_is_late(void)
{
	struct peerlane_group_create settings = SETTINGS_OF(.op_timeout_ms = 1500);
	struct victim victim;

	if (bystander_begin() && victim_of(&victim, settings, 1)) {
		victim.liar.mute = true;
		CHECK_INT(group_begin(victim.fd, &BARRIER(), 1), 1);
		CHECK_INT(liar_say(&victim.liar, barrier_word(0)), IBV_WC_SUCCESS);
		CHECK_INT(group_next(victim.fd, PEERLANE_GROUP_RECORD_DONE).status, 0);
		check_ended(victim.fd, PEERLANE_GROUP_CAUSE_LATE, 1, -ETIMEDOUT, "mute");
	}
	victim_end(&victim);
	bystander_end();
}

/* One that was stopped: its node answers, and it does not leave. */
static void a_group_that_is_half_left_gives_back_its_pool(void)
{
	struct peerlane_group_create settings = SETTINGS_OF(.op_timeout_ms = 1000);
	struct group_message word = {};
	struct victim victim;

	if (bystander_begin() && victim_of(&victim, settings, 64)) {
		CHECK_INT(group_leave(victim.fd), 0);
		CHECK(liar_hear(&victim.liar, GROUP_MESSAGE_ABORT, &word, SOON));
		CHECK_INT(word.fault.cause, GROUP_CAUSE_LEFT);
		CHECK_INT(word.fault.rank, 0);
		CHECK(WAIT_FOR(aggregator_info(aggregator()->fd).groups == 1, SOON));
		CHECK_INT(aggregator_info(aggregator()->fd).pool_used, 3 * WINDOW * SEGMENT);
	}
	victim_end(&victim);
	bystander_end();
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(a_segment_before_all_are_there_is_blamed),
		TAP_CASE(who_joins_one_that_ended_is_told_whose_fault_it_was),
		TAP_CASE(a_join_of_another_version_is_answered),
		TAP_CASE(a_lane_that_is_not_there_is_not_left),
		TAP_CASE(the_pool_beyond_the_own_part_is_not_reached),
		TAP_CASE(another_ranks_part_is_not_reached),
		TAP_CASE(after_the_end_the_pool_is_not_reached),
		TAP_CASE(who_gives_back_no_credit_is_late),
		TAP_CASE(a_group_that_is_half_left_gives_back_its_pool),
	};

	hostile_init();
	return HARNESS_RUN(cases);
}
