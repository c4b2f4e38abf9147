// SPDX-License-Identifier: GPL-2.0
/* Members of an aggregator that speak for blocks of ranks. */
#include <errno.h>
#include <stdlib.h>

#include "tap.h"

#include "group_table.h"

enum { F32 = 1, F64, F16, BF16, I8, I16, I32, I64, U8, U16, U32, U64 };
enum { SUM = 1, AVG };

/* 7 ranks in blocks of 2: members for ranks 0, 2, 4 and 6, or of those the last two */
static const struct group_shape shape = {
	.size = 7, .aggregators = 1, .segment = 4096, .is_tree = true,
};
static const struct group_members all = { 4, 0, 2 }, last = { 2, 2, 2 };

static struct group_segment plan(u8 kind, u8 type, u32 root, u64 count, u64 index)
{
	bool sums = kind == GROUP_ALL_REDUCE || kind == GROUP_REDUCE ||
		    kind == GROUP_REDUCE_SCATTER;
	const struct group_call call = {
		.kind = kind, .type = type, .root = root, .count = count,
		.op = sums ? SUM : 0,
	};
	struct group_segment segment;

	CHECK_INT(group_call_check(&shape, &call), 0);
	group_plan_segment(&shape, &call, 0, index, &segment);
	return segment;
}

/* ---- what is planned ---- */

static void partial_sums_fit_a_segment(void)
{
	static const u8 types[] = { F32, F64, F16, BF16, I8, I16, U64 };
	static const u32 partial[] = { 4, 8, 4, 4, 1, 2, 8 };
	static const u32 sizes[] = { 4, 8, 2, 2, 1, 2, 8 };
	struct group_segment segment;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		segment = plan(GROUP_ALL_REDUCE, types[i], 0, 10000, 0);
		CHECK_INT(segment.elements, 4096 / partial[i]);
		CHECK_INT(segment.partial, 4096);
		CHECK_INT(segment.bytes, segment.elements * sizes[i]);
	}
}

static void what_is_not_summed_up_stays_as_it_is(void)
{
	struct group_segment segment = plan(GROUP_BROADCAST, F16, 5, 10000, 0);

	CHECK_INT(segment.elements, 1024);
	CHECK_INT(segment.bytes, 2048);
	CHECK_INT(segment.partial, 2048);
	CHECK_INT(plan(GROUP_BARRIER, 0, 0, 0, 0).partial, 0);
}

static void a_tree_is_never_replicated(void)
{
	const struct group_shape square = {
		.size = 3, .aggregators = 3, .segment = 4096, .is_tree = true,
	};
	struct group_call call = { .kind = GROUP_BARRIER,
				   .way = GROUP_WAY_REPLICATED };

	CHECK(!group_may_replicate(&square, &call));
	CHECK_INT(group_call_check(&square, &call), -EINVAL);
}

/* ---- who gives and gets ---- */

static u32 bits(bool (*does)(const struct group_members *members, u32 index,
			     const struct group_segment *segment),
		const struct group_members *members,
		const struct group_segment *segment)
{
	u32 i, found = 0;

	for (i = 0; i < members->count; i++)
		found |= (u32)does(members, i, segment) << i;
	return found;
}

static void the_member_of_a_rank_gives_or_gets(void)
{
	struct group_segment segment = plan(GROUP_BROADCAST, I32, 5, 10, 0);

	CHECK_INT(bits(group_member_contributes, &all, &segment), 4);
	CHECK_INT(bits(group_member_receives, &all, &segment), 11);
	CHECK_INT(bits(group_member_contributes, &last, &segment), 1);
	CHECK_INT(bits(group_member_receives, &last, &segment), 2);
	segment = plan(GROUP_REDUCE, I32, 6, 10, 0);
	CHECK_INT(bits(group_member_contributes, &all, &segment), 15);
	CHECK_INT(bits(group_member_receives, &all, &segment), 8);
	CHECK_INT(bits(group_member_receives, &last, &segment), 2);
	segment = plan(GROUP_ALL_GATHER, I32, 0, 10, 3);	/* rank 3's */
	CHECK_INT(bits(group_member_contributes, &all, &segment), 2);
	CHECK_INT(bits(group_member_contributes, &last, &segment), 0);
	CHECK_INT(bits(group_member_receives, &last, &segment), 3);
}

/* ---- what they say ---- */

static struct group_table table;
static void *memory;

static void begin(const struct group_members *members)
{
	memory = calloc(1, group_table_size(members->count, 2));
	group_table_init(&table, memory, &shape, members, 0, 2);
}

/* avg of f16: 100 elements, which are f32 between aggregators */
static struct group_part make_part(void)
{
	return (struct group_part){
		.call = { GROUP_ALL_REDUCE, F16, AVG, 0, 100 },
		.bytes = 400, .token = 1,
	};
}

static int say(u32 member, struct group_part part, struct group_fault *fault)
{
	return group_table_contribute(&table, member, &part, 1000, fault);
}

static void they_give_partial_sums(void)
{
	struct group_part part = make_part();
	struct group_fault fault;

	begin(&last);
	CHECK_INT(say(0, part, &fault), 0);
	CHECK_INT(say(1, part, &fault), 1);
	free(memory);
	begin(&last);
	part.bytes = 200;
	CHECK_INT(say(1, part, &fault), -EPROTO);
	CHECK_INT(fault.rank, 6);
	free(memory);
}

static void who_differs_is_named_by_its_rank(void)
{
	struct group_part part = make_part();
	struct group_fault fault;

	begin(&last);
	CHECK_INT(say(0, part, &fault), 0);
	part.call.count = 99;
	part.bytes = 396;
	CHECK_INT(say(1, part, &fault), -EBADE);
	CHECK_INT(fault.cause, GROUP_CAUSE_MISMATCH);
	CHECK_INT(fault.rank, 6);
	CHECK_INT(fault.other, 4);
	CHECK_INT(fault.field, GROUP_FIELD_COUNT);
	free(memory);
}

/* The last block has one rank. */
static void who_is_late_is_counted_with_its_block(void)
{
	struct group_part part = make_part();
	struct group_fault fault;

	begin(&all);
	CHECK_INT(say(0, part, &fault), 0);
	CHECK_INT(say(2, part, &fault), 0);
	CHECK(!group_table_late(&table, 1000, 1, &fault));
	CHECK(group_table_late(&table, 1001, 1, &fault));
	CHECK_INT(fault.cause, GROUP_CAUSE_LATE);
	CHECK_INT(fault.rank, 2);
	CHECK_INT(fault.missing, 3);
	free(memory);
}

/* Others wait for what nobody, somebody, or everybody came to. */
static void who_came_last_is_the_slow_one(void)
{
	struct group_part part = make_part();
	struct group_fault fault;

	begin(&last);
	CHECK(!group_table_slow(&table, 0, &fault));
	CHECK_INT(say(0, part, &fault), 0);
	CHECK(group_table_slow(&table, 0, &fault));
	CHECK_INT(fault.rank, 6);
	CHECK_INT(fault.missing, 1);
	CHECK_INT(group_table_contribute(&table, 1, &part, 999, &fault), 1);
	CHECK(group_table_slow(&table, 0, &fault));
	CHECK_INT(fault.cause, GROUP_CAUSE_LATE);
	CHECK_INT(fault.rank, 4);
	CHECK(!group_table_slow(&table, 1, &fault));
	free(memory);
}

static void its_height_is_that_of_the_way_up(void)
{
	CHECK_INT(group_tree_height(1, 1, 2), 1);
	CHECK_INT(group_tree_height(2, 1, 2), 1);
	CHECK_INT(group_tree_height(3, 1, 2), 2);
	CHECK_INT(group_tree_height(8, 1, 2), 3);
	CHECK_INT(group_tree_height(9, 1, 2), 4);
	CHECK_INT(group_tree_height(9, 2, 2), 3);
	CHECK_INT(group_tree_height(1024, 1, 32), 2);
	CHECK_INT(group_tree_height(1024, 1, 1024), 1);
}

static const struct tap_case cases[] = {
	TAP_CASE(partial_sums_fit_a_segment),
	TAP_CASE(what_is_not_summed_up_stays_as_it_is),
	TAP_CASE(a_tree_is_never_replicated),
	TAP_CASE(the_member_of_a_rank_gives_or_gets),
	TAP_CASE(they_give_partial_sums),
	TAP_CASE(who_differs_is_named_by_its_rank),
	TAP_CASE(who_is_late_is_counted_with_its_block),
	TAP_CASE(who_came_last_is_the_slow_one),
	TAP_CASE(its_height_is_that_of_the_way_up),
};

int main(void)
{
	return TAP_RUN(cases);
}
