// SPDX-License-Identifier: GPL-2.0
/* What an aggregator knows: who contributed to what, and what is nonsense. */
#include "group_table_make.h"

/* ---- places ---- */

static void the_last_one_fills_it(void)
{
	struct group_place *place;

	begin();
	place = group_table_place(&table, 0);
	CHECK_INT(place->state, GROUP_PLACE_EMPTY);
	CHECK_INT(contribute(2, 0, 1), 0);
	CHECK_INT(place->state, GROUP_PLACE_FILLING);
	CHECK_INT(contribute(0, 0, 2), 0);
	CHECK_INT(contribute(4, 0, 3), 0);
	CHECK_INT(contribute(1, 0, 4), 0);
	CHECK_INT(contribute(3, 0, 5), 1);
	CHECK_INT(place->state, GROUP_PLACE_FULL);
	CHECK_INT(place->n, 0);
	CHECK_INT(place->first, 2);
	CHECK_INT(place->first_at, 1);
	CHECK_INT(place->last_at, 5);
	CHECK_INT(place->told[4].part.token, TOKEN);
	CHECK_INT(place->told[4].at, 3);
	end();
}

static void a_place_is_used_again(void)
{
	u64 n;

	begin();
	for (n = 0; n < 10; n++) {
		CHECK_INT(contribute_all(n, n), 1);
		CHECK_INT(group_table_place(&table, n)->n, n);
		group_table_done(&table, n);
		CHECK_INT(group_table_place(&table, n)->state, GROUP_PLACE_EMPTY);
	}
	end();
}

static void any_order_within_the_window(void)
{
	begin();
	CHECK_INT(contribute_all(2, 1), 1);
	CHECK_INT(contribute_all(0, 2), 1);
	CHECK_INT(contribute_all(1, 3), 1);
	/* and they are done in any order */
	group_table_done(&table, 1);
	CHECK_INT(contribute_all(4, 4), 1);
	group_table_done(&table, 2);
	group_table_done(&table, 0);
	CHECK_INT(contribute_all(3, 5), 1);
	CHECK_INT(contribute_all(5, 6), 1);
	end();
}

static void one_that_came_before_changes_nothing(void)
{
	struct group_part other = make_part(0);

	begin();
	CHECK_INT(contribute(1, 0, 10), 0);
	other.token = 5;
	other.call.count = 3;
	CHECK_INT(say(1, &other), 0);
	CHECK_INT(group_table_place(&table, 0)->count, 1);
	CHECK_INT(group_table_place(&table, 0)->odd, 0);
	CHECK_INT(group_table_place(&table, 0)->told[1].part.token, TOKEN);
	CHECK_INT(table.stats[1].segments, 1);
	end();
}

/* A lane that failed may say some again, but not for ever. */
static void who_only_repeats_is_refused(void)
{
	u64 n, i;

	begin();
	for (n = 0; n < 2; n++) {
		CHECK_INT(contribute(1, n, 10), 0);
		for (i = 0; i < GROUP_REPEATS_MAX; i++)
			CHECK_INT(contribute(1, n, 11), 0);
	}
	CHECK_INT(contribute(2, 0, 12), 0);
	CHECK_INT(contribute(1, 0, 13), -EPROTO);
	CHECK_INT(fault.cause, GROUP_CAUSE_PROTOCOL);
	CHECK_INT(fault.rank, 1);
	end();
}

static void one_of_a_full_place_changes_nothing(void)
{
	begin();
	CHECK_INT(contribute_all(0, 1), 1);
	CHECK_INT(contribute(0, 0, 2), 0);
	CHECK_INT(contribute(SIZE - 1, 0, 2), 0);
	CHECK_INT(group_table_place(&table, 0)->state, GROUP_PLACE_FULL);
	end();
}

static void one_that_is_done_changes_nothing(void)
{
	begin();
	CHECK_INT(contribute_all(0, 1), 1);
	group_table_done(&table, 0);
	CHECK_INT(contribute(3, 0, 2), 0);
	CHECK_INT(group_table_place(&table, 0)->state, GROUP_PLACE_EMPTY);
	CHECK(!group_table_is_busy(&table));
	end();
}

static void check_protocol(u32 rank, u64 seq)
{
	CHECK_INT(fault.cause, GROUP_CAUSE_PROTOCOL);
	CHECK_INT(fault.rank, rank);
	CHECK_INT(fault.seq, seq);
	memset(&fault, 0, sizeof(fault));
}

static void beyond_the_window_is_an_error(void)
{
	begin();
	CHECK_INT(contribute(2, WINDOW - 1, 1), 0);
	CHECK_INT(contribute(2, WINDOW, 1), -EPROTO);
	check_protocol(2, 0);
	/* one round more than the place waits for */
	CHECK_INT(contribute(2, WINDOW - 1 + WINDOW, 1), -EPROTO);
	check_protocol(2, 0);
	CHECK_INT(contribute(2, U64_MAX, 1), -EPROTO);
	check_protocol(2, 0);
	/* full is not done */
	CHECK_INT(contribute_all(0, 1), 1);
	CHECK_INT(contribute(4, WINDOW, 1), -EPROTO);
	check_protocol(4, 0);
	end();
}

/* ---- what may not be said ---- */

#define SAY_WITH(rank, field, value) ({ \
	struct group_part with = make_part(0); \
	with.field = (value); \
	say(rank, &with); \
})

static void segments_of_others_are_refused(void)
{
	begin();
	/* that of aggregator 0 */
	CHECK_INT(SAY_WITH(3, index, 0), -EPROTO);
	check_protocol(3, 0);
	CHECK_INT(SAY_WITH(3, seq, 5), -EPROTO);
	check_protocol(3, 5);
	/* 98 segments: no such one */
	CHECK_INT(SAY_WITH(3, index, 99), -EPROTO);
	CHECK_INT(SAY_WITH(3, index, U64_MAX), -EPROTO);
	CHECK_INT(group_table_is_busy(&table), 0);
	end();
}

static void bytes_are_those_of_the_plan(void)
{
	begin();
	CHECK_INT(SAY_WITH(0, bytes, 4095), -EPROTO);
	CHECK_INT(SAY_WITH(0, bytes, 4097), -EPROTO);
	CHECK_INT(SAY_WITH(0, bytes, 0), -EPROTO);
	CHECK_INT(SAY_WITH(0, bytes, U32_MAX), -EPROTO);
	CHECK_INT(SAY_WITH(0, bytes, 4096), 0);
	end();
}

static void a_receiver_says_where(void)
{
	begin();
	CHECK_INT(SAY_WITH(0, token, 0), -EPROTO);
	check_protocol(0, 0);
	end();
}

static void calls_of_nonsense_are_refused(void)
{
	begin();
	CHECK_INT(SAY_WITH(1, call.kind, 0), -EPROTO);
	CHECK_INT(SAY_WITH(1, call.kind, 255), -EPROTO);
	CHECK_INT(SAY_WITH(1, call.type, 0), -EPROTO);
	CHECK_INT(SAY_WITH(1, call.type, 255), -EPROTO);
	CHECK_INT(SAY_WITH(1, call.op, 0), -EPROTO);
	CHECK_INT(SAY_WITH(1, call.root, 1), -EPROTO);
	CHECK_INT(SAY_WITH(1, call.count, U64_MAX), -EPROTO);
	check_protocol(1, 0);
	CHECK_INT(group_table_is_busy(&table), 0);
	end();
}

/* Who has none of the data says so with 0 bytes, and who gets none needs no place. */
static void who_gives_nothing_comes_too(void)
{
	struct group_part part = make_part(0);
	u32 rank;

	begin();
	part.call = (struct group_call){ GROUP_BROADCAST, U8, 0, 3, 10000 };
	for (rank = 0; rank < SIZE; rank++) {
		part.bytes = rank == 3 ? 0 : 4096;
		CHECK_INT(say(rank, &part), -EPROTO);
		part.bytes = rank == 3 ? 4096 : 0;
		part.token = rank == 3 ? 0 : TOKEN;
		CHECK_INT(say(rank, &part), rank == SIZE - 1);
	}
	end();
}

static void empty_segments_need_no_place(void)
{
	struct group_part part = {
		.call = { .kind = GROUP_BARRIER }, .seq = 1,
	};
	u32 rank;

	begin();
	for (rank = 0; rank < SIZE; rank++)
		CHECK_INT(say(rank, &part), rank == SIZE - 1);
	end();
}

/* ---- what is left ---- */

static void it_is_busy_until_all_is_done(void)
{
	begin();
	CHECK(!group_table_is_busy(&table));
	CHECK_INT(contribute(0, 1, 1), 0);
	CHECK(group_table_is_busy(&table));
	CHECK_INT(contribute_all(0, 1), 1);
	group_table_done(&table, 0);
	CHECK(group_table_is_busy(&table));
	end();
}

/* All places and ranks are in the memory that was asked for. */
static void memory_is_enough(void)
{
	static const u32 sizes[] = { 1, 2, 33, GROUP_RANKS_MAX };
	static const u32 windows[] = { 1, 7, GROUP_WINDOW_MAX };
	struct group_shape large = { .aggregators = 1, .segment = 4096 };
	u32 i, window;

	for (i = 0; i < ARRAY_SIZE(sizes) * ARRAY_SIZE(windows); i++) {
		large.size = sizes[i % ARRAY_SIZE(sizes)];
		window = windows[i / ARRAY_SIZE(sizes)];
		memory = calloc(1, group_table_size(large.size, window));
		group_table_init(&table, memory, &large,
				 &(struct group_members){ large.size, 0, 1 }, 0, window);
		table.places[window - 1].told[large.size - 1].at = 1;
		table.stats[large.size - 1].late[GROUP_LATENESS_BUCKETS - 1] = 1;
		free(memory);
	}
	CHECK(true);
}

static const struct tap_case cases[] = {
	TAP_CASE(the_last_one_fills_it),
	TAP_CASE(a_place_is_used_again),
	TAP_CASE(any_order_within_the_window),
	TAP_CASE(one_that_came_before_changes_nothing),
	TAP_CASE(who_only_repeats_is_refused),
	TAP_CASE(one_of_a_full_place_changes_nothing),
	TAP_CASE(one_that_is_done_changes_nothing),
	TAP_CASE(beyond_the_window_is_an_error),
	TAP_CASE(segments_of_others_are_refused),
	TAP_CASE(bytes_are_those_of_the_plan),
	TAP_CASE(a_receiver_says_where),
	TAP_CASE(calls_of_nonsense_are_refused),
	TAP_CASE(who_gives_nothing_comes_too),
	TAP_CASE(empty_segments_need_no_place),
	TAP_CASE(it_is_busy_until_all_is_done),
	TAP_CASE(memory_is_enough),
};

int main(void)
{
	return TAP_RUN(cases);
}
