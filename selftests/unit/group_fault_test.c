// SPDX-License-Identifier: GPL-2.0
/* Who is named: who called another thing, and who was late. */
#include "group_table_make.h"

/* ---- mismatch ---- */

/* Ranks of @odd say @part, the others the usual. */
static int say_apart(u32 odd, const struct group_part *part)
{
	const struct group_part usual = make_part(0);
	u32 rank;
	int got = 0;

	for (rank = 0; rank < SIZE; rank++) {
		CHECK_INT(got, 0);
		got = say(rank, odd >> rank & 1 ? part : &usual);
	}
	return got;
}

static void check_mismatch(u32 odd, const struct group_part *part, u32 field,
			   u64 value, u64 expected)
{
	begin();
	CHECK_INT(say_apart(1U << odd, part), -EBADE);
	CHECK_INT(fault.cause, GROUP_CAUSE_MISMATCH);
	CHECK_INT(fault.rank, odd);
	CHECK_INT(fault.other, odd ? 0 : 1);
	CHECK_INT(fault.field, field);
	CHECK_INT(fault.value, value);
	CHECK_INT(fault.expected, expected);
	CHECK_INT(fault.seq, 0);
	/* nobody takes it for good */
	CHECK(group_table_place(&table, 0)->state != GROUP_PLACE_FULL);
	end();
}

static void the_odd_kind_is_named(void)
{
	struct group_part part = make_part(0);
	u32 odd;

	part.call.kind = GROUP_REDUCE;
	for (odd = 0; odd < SIZE; odd++)
		check_mismatch(odd, &part, GROUP_FIELD_KIND, GROUP_REDUCE,
			       GROUP_ALL_REDUCE);
}

static void the_odd_type_is_named(void)
{
	struct group_part part = make_part(0);
	u32 odd;

	part.call.type = F32;
	for (odd = 0; odd < SIZE; odd++)
		check_mismatch(odd, &part, GROUP_FIELD_TYPE, F32, I32);
}

static void the_odd_op_is_named(void)
{
	struct group_part part = make_part(0);
	u32 odd;

	part.call.op = MAX;
	for (odd = 0; odd < SIZE; odd++)
		check_mismatch(odd, &part, GROUP_FIELD_OP, MAX, SUM);
}

static void the_odd_count_is_named(void)
{
	struct group_part part = make_part(0);
	u32 odd;

	part.call.count--;
	for (odd = 0; odd < SIZE; odd++)
		check_mismatch(odd, &part, GROUP_FIELD_COUNT, 99999, 100000);
}

/* Its operation before had fewer segments. */
static void the_odd_operation_is_named(void)
{
	struct group_part part = make_part(0);
	u32 odd;

	part.seq = 1;
	part.index = 0;
	part.call.count = 5;
	part.bytes = 20;
	for (odd = 0; odd < SIZE; odd++)
		check_mismatch(odd, &part, GROUP_FIELD_SEQ, 1, 0);
}

static void the_odd_segment_is_named(void)
{
	struct group_part part = make_part(1);
	u32 odd;

	part.n = 0;
	for (odd = 0; odd < SIZE; odd++)
		check_mismatch(odd, &part, GROUP_FIELD_INDEX, 3, 1);
}

static void the_odd_root_is_named(void)
{
	struct group_part part = make_part(0);
	u32 rank;

	begin();
	part.call.kind = GROUP_REDUCE;
	for (rank = 0; rank < SIZE; rank++) {
		part.call.root = rank == 2 ? 1 : 4;
		CHECK_INT(say(rank, &part), rank == SIZE - 1 ? -EBADE : 0);
	}
	CHECK_INT(fault.rank, 2);
	CHECK_INT(fault.field, GROUP_FIELD_ROOT);
	CHECK_INT(fault.value, 1);
	CHECK_INT(fault.expected, 4);
	end();
}

static void most_are_right(void)
{
	struct group_part part = make_part(0);

	part.call.count = 99998;
	begin();
	CHECK_INT(say_apart(0x13, &part), -EBADE);	/* 0, 1 and 4 */
	CHECK_INT(fault.rank, 2);
	CHECK_INT(fault.other, 0);
	CHECK_INT(fault.value, 100000);
	end();
}

/* All different, and two pairs */
static void of_parts_alike_the_lowest_rank_is_right(void)
{
	static const u64 pairs[SIZE] = { 0, 1, 2, 1, 2 };
	struct group_part part = make_part(0);
	u32 rank;

	begin();
	for (rank = 0; rank < SIZE; rank++) {
		part.call.count = 50000 + rank;
		CHECK_INT(say(rank, &part), rank == SIZE - 1 ? -EBADE : 0);
	}
	CHECK_INT(fault.rank, 1);
	CHECK_INT(fault.other, 0);
	end();
	begin();
	for (rank = SIZE; rank-- > 0;) {
		part.call.count = 50000 + pairs[rank];
		CHECK_INT(say(rank, &part), rank ? 0 : -EBADE);
	}
	CHECK_INT(fault.other, 1);
	CHECK_INT(fault.rank, 0);
	CHECK_INT(fault.expected, 50001);
	end();
}

/* ---- lateness ---- */

static void lateness_is_counted(void)
{
	const struct group_rank_stats *stats;

	begin();
	CHECK_INT(contribute(2, 0, 1000), 0);
	CHECK_INT(contribute(0, 0, 1001), 0);
	CHECK_INT(contribute(1, 0, 1000 + 1023), 0);
	CHECK_INT(contribute(4, 0, 1000 + 1024), 0);
	CHECK_INT(contribute(3, 0, 1000 + (1ULL << 50)), 1);
	stats = table.stats;
	CHECK_INT(stats[2].late[0], 1);
	CHECK_INT(stats[0].late[0], 1);
	CHECK_INT(stats[1].late[9], 1);
	CHECK_INT(stats[4].late[10], 1);
	CHECK_INT(stats[3].late[GROUP_LATENESS_BUCKETS - 1], 1);
	CHECK_INT(stats[3].late_max, 1ULL << 50);
	CHECK_INT(stats[3].last, 1);
	CHECK_INT(stats[4].last, 0);
	CHECK_INT(stats[4].bytes, 4096);
	group_table_done(&table, 0);
	/* and summed */
	CHECK_INT(contribute(0, 1, 5000), 0);
	CHECK_INT(contribute(4, 1, 5001), 0);
	CHECK_INT(stats[4].late_total, 1025);
	CHECK_INT(stats[4].late_max, 1024);
	CHECK_INT(stats[4].segments, 2);
	CHECK_INT(stats[4].bytes, 8192);
	end();
}

/* The clock was read before the lock was had. */
static void earlier_than_the_first_is_not_late(void)
{
	begin();
	CHECK_INT(contribute(0, 0, 1000), 0);
	CHECK_INT(contribute(1, 0, 999), 0);
	CHECK_INT(table.stats[1].late_max, 0);
	CHECK_INT(table.stats[1].late[0], 1);
	CHECK(!group_table_late(&table, 999, 0, &fault));
	end();
}

static void the_missing_rank_is_named(void)
{
	begin();
	CHECK(!group_table_late(&table, 1ULL << 40, 0, &fault));
	CHECK_INT(contribute(0, 0, 1000), 0);
	CHECK_INT(contribute(4, 0, 1010), 0);
	CHECK_INT(contribute(1, 0, 1020), 0);
	CHECK(!group_table_late(&table, 1099, 100, &fault));
	CHECK(group_table_late(&table, 1100, 100, &fault));
	CHECK_INT(fault.cause, GROUP_CAUSE_LATE);
	CHECK_INT(fault.rank, 2);
	CHECK_INT(fault.missing, 2);
	CHECK_INT(fault.other, GROUP_NOBODY);
	CHECK_INT(fault.field, 0);
	end();
}

static void the_oldest_place_decides(void)
{
	begin();
	CHECK_INT(contribute(0, 1, 2000), 0);
	CHECK_INT(contribute(0, 0, 3000), 0);
	CHECK_INT(contribute(1, 1, 3000), 0);
	CHECK(group_table_late(&table, 5000, 2500, &fault));
	CHECK_INT(fault.rank, 2);
	CHECK_INT(fault.missing, 3);
	end();
}

static void full_places_are_not_late(void)
{
	begin();
	CHECK_INT(contribute_all(0, 1000), 1);
	CHECK(!group_table_late(&table, 9000, 1, &fault));
	end();
}

static void who_is_there_and_odd_is_named_first(void)
{
	struct group_part part = make_part(0);

	begin();
	part.call.count--;
	CHECK_INT(contribute(0, 0, 1000), 0);
	CHECK_INT(say(3, &part), 0);
	CHECK_INT(contribute(4, 0, 1000), 0);
	CHECK(group_table_late(&table, 9000, 100, &fault));
	CHECK_INT(fault.cause, GROUP_CAUSE_MISMATCH);
	CHECK_INT(fault.rank, 3);
	CHECK_INT(fault.other, 0);
	end();
}

static const struct tap_case cases[] = {
	TAP_CASE(the_odd_kind_is_named),
	TAP_CASE(the_odd_type_is_named),
	TAP_CASE(the_odd_op_is_named),
	TAP_CASE(the_odd_count_is_named),
	TAP_CASE(the_odd_operation_is_named),
	TAP_CASE(the_odd_segment_is_named),
	TAP_CASE(the_odd_root_is_named),
	TAP_CASE(most_are_right),
	TAP_CASE(of_parts_alike_the_lowest_rank_is_right),
	TAP_CASE(lateness_is_counted),
	TAP_CASE(earlier_than_the_first_is_not_late),
	TAP_CASE(the_missing_rank_is_named),
	TAP_CASE(the_oldest_place_decides),
	TAP_CASE(full_places_are_not_late),
	TAP_CASE(who_is_there_and_odd_is_named_first),
};

int main(void)
{
	return TAP_RUN(cases);
}
