// SPDX-License-Identifier: GPL-2.0
/*
 * How operations are cut into segments: of small shapes all, byte by byte (in
 * elements: no offset is within one), and of huge ones the ends.
 */
#include <errno.h>

#include "tap.h"

#include "group_plan.h"

enum { F32 = 1, F64, F16, BF16, I8, I16, I32, I64, U8, U16, U32, U64 };
enum { SUM = 1, AVG, MIN, MAX, PROD, BAND, BOR, BXOR };

#define SIZE_MOST	9
#define COUNT_MOST	1100
#define NOBODY		99

static u32 size_of(u8 type)
{
	static const u32 sizes[] = { 0, 4, 8, 2, 2, 1, 2, 4, 8, 1, 2, 4, 8 };

	return sizes[type];
}

static struct group_call make_call(u8 kind, u8 type, u32 root, u64 count)
{
	bool reduces = kind == GROUP_ALL_REDUCE || kind == GROUP_REDUCE ||
		       kind == GROUP_REDUCE_SCATTER;
	bool has_root = kind == GROUP_REDUCE || kind == GROUP_BROADCAST;

	return (struct group_call){
		.kind = kind, .count = kind == GROUP_BARRIER ? 0 : count,
		.type = kind == GROUP_BARRIER ? 0 : type,
		.op = reduces ? SUM : 0, .root = has_root ? root : 0,
	};
}

/* ---- who should get what: the plain way ---- */

/* What is at an element of a rank's result: whose, and which of what he gives */
struct source {
	u32 rank;		/* GROUP_ALL: that of all */
	u64 element;
};

static u64 want_elements(const struct group_call *call, u32 size, u32 rank)
{
	switch (call->kind) {
	case GROUP_ALL_GATHER:
		return call->count * size;
	case GROUP_REDUCE:
		return rank == call->root ? call->count : 0;
	case GROUP_BROADCAST:
		return rank != call->root ? call->count : 0;
	}
	return call->count;
}

static struct source want_source(const struct group_call *call, u32 rank, u64 at)
{
	switch (call->kind) {
	case GROUP_ALL_GATHER:
		return (struct source){ (u32)(at / call->count), at % call->count };
	case GROUP_BROADCAST:
		return (struct source){ call->root, at };
	case GROUP_REDUCE_SCATTER:
		return (struct source){ GROUP_ALL, rank * call->count + at };
	}
	return (struct source){ GROUP_ALL, at };
}

/* ---- who does get what ---- */

static struct source got[SIZE_MOST][SIZE_MOST * COUNT_MOST];
static u8 given[SIZE_MOST][SIZE_MOST * COUNT_MOST];

struct look {
	const struct group_shape *shape;
	const struct group_call *call;
	u32 size;		/* of an element */
	bool is_good;
};

static void must(struct look *look, bool good, const char *what)
{
	if (good || !look->is_good)
		return;
	look->is_good = false;
	printf("# kind %u type %u count %llu root %u, %u ranks, %u aggregators, segment %u: %s\n",
	       look->call->kind, look->call->type, look->call->count,
	       look->call->root, look->shape->size, look->shape->aggregators,
	       look->shape->segment, what);
}

static void receive(struct look *look, const struct group_segment *segment,
		    u32 rank)
{
	u64 first = segment->receive / look->size;
	struct source *at;
	u32 i;

	must(look, segment->receive + segment->bytes <=
	     group_call_receive_bytes(look->shape, look->call, rank),
	     "a result ends beyond the receiver's memory");
	for (i = 0; i < segment->elements && look->is_good; i++) {
		at = &got[rank][first + i];
		must(look, at->rank == NOBODY, "an element comes twice");
		at->rank = segment->contributor;
		at->element = segment->send / look->size + i;
	}
}

static void give(struct look *look, const struct group_segment *segment, u32 rank)
{
	u64 first = segment->send / look->size;
	u32 i;

	must(look, segment->send + segment->bytes <=
	     group_call_send_bytes(look->shape, look->call, rank),
	     "a contribution ends beyond the giver's memory");
	for (i = 0; i < segment->elements && look->is_good; i++)
		must(look, !given[rank][first + i]++, "an element goes twice");
}

static void take_segment(struct look *look, u64 seq, u64 index)
{
	struct group_segment segment;
	u32 rank;

	group_plan_segment(look->shape, look->call, seq, index, &segment);
	must(look, segment.aggregator == (seq + index) % look->shape->aggregators,
	     "another aggregator");
	must(look, segment.aggregator ==
	     group_plan_aggregator(look->shape, seq, index), "two aggregators");
	must(look, segment.bytes <= look->shape->segment, "a segment is large");
	must(look, segment.bytes == segment.elements * look->size, "not whole");
	must(look, !!segment.bytes == !!look->call->count, "an empty segment");
	must(look, segment.send % look->size == 0 &&
	     segment.receive % look->size == 0, "not aligned");
	for (rank = 0; rank < look->shape->size && look->is_good; rank++) {
		if (group_receives(&segment, rank))
			receive(look, &segment, rank);
		if (group_contributes(&segment, rank))
			give(look, &segment, rank);
	}
}

static void check_results(struct look *look, u32 rank)
{
	u64 count = want_elements(look->call, look->shape->size, rank);
	struct source want;
	u64 i;

	must(look, group_call_receive_bytes(look->shape, look->call, rank) ==
	     count * look->size, "bytes to be received");
	for (i = 0; i < count && look->is_good; i++) {
		want = want_source(look->call, rank, i);
		must(look, got[rank][i].rank == want.rank, "of another rank");
		must(look, got[rank][i].element == want.element,
		     "another element");
	}
}

static void check_given(struct look *look, u32 rank)
{
	u64 count = group_call_send_bytes(look->shape, look->call, rank) /
		    look->size;
	u64 i;

	for (i = 0; i < count && look->is_good; i++)
		must(look, given[rank][i] == 1, "an element does not go");
}

static void forget(const struct group_shape *shape, const struct group_call *call)
{
	u32 rank;
	u64 i;

	for (rank = 0; rank < shape->size; rank++)
		for (i = 0; i < shape->size * call->count; i++) {
			got[rank][i].rank = NOBODY;
			given[rank][i] = 0;
		}
}

static bool check_call(const struct group_shape *shape,
		       const struct group_call *call)
{
	struct look look = {
		.shape = shape, .call = call, .is_good = true,
		.size = call->type ? size_of(call->type) : 1,
	};
	u64 segments = group_plan_segments(shape, call), i;
	u32 rank;

	forget(shape, call);
	must(&look, !group_call_check(shape, call), "refused");
	must(&look, segments >= 1, "no segment");
	for (i = 0; i < segments && look.is_good; i++)
		take_segment(&look, call->count + 3, i);
	for (rank = 0; rank < shape->size && look.is_good; rank++) {
		check_results(&look, rank);
		check_given(&look, rank);
	}
	return CHECK(look.is_good);
}

/* ---- all small ones ---- */

static const u8 types[] = { U8, F16, I32, F64 };

/* Root first, last, in the middle */
static bool check_kinds(const struct group_shape *shape, u64 count)
{
	struct group_call call;
	bool good = true;
	u32 i;
	u8 kind;

	for (kind = GROUP_ALL_REDUCE; kind <= GROUP_BARRIER; kind++)
		for (i = 0; i < ARRAY_SIZE(types) && good; i++) {
			call = make_call(kind, types[i],
					 (u32)(count % shape->size), count);
			good = check_call(shape, &call);
		}
	return good;
}

static void check_all(u32 segment, bool is_tree, u64 from, u64 to)
{
	struct group_shape shape = { .segment = segment, .is_tree = is_tree };
	u64 count;

	for (shape.size = 1; shape.size <= SIZE_MOST; shape.size++)
		for (shape.aggregators = 1; shape.aggregators <= 5;
		     shape.aggregators++)
			for (count = from; count <= to; count++)
				if (!check_kinds(&shape, count))
					return;
}

static void check_small(u32 segment, u64 from, u64 to)
{
	check_all(segment, false, from, to);
	check_all(segment, true, from, to);
}

static void each_element_once_in_one_segment(void)
{
	check_small(4096, 0, 50);
}

/* The same arithmetic with more of them; elements do not end with it. */
static void each_element_once_in_many_segments(void)
{
	check_small(8, 0, 50);
	check_small(24, 0, 50);
	check_small(64, 0, 50);
}

static void each_element_once_where_segments_end(void)
{
	check_small(4096, 511, 513);
	check_small(4096, 1023, 1025);
}

/* Each by the one before it */
static void check_first(const struct group_shape *shape, u64 seq)
{
	u32 a, first;

	for (a = 0; a < shape->aggregators; a++) {
		first = group_plan_first(shape, seq, a);
		CHECK(first < shape->aggregators);
		CHECK_INT(group_plan_aggregator(shape, seq, first), a);
	}
}

static void the_first_segment_of_an_aggregator(void)
{
	struct group_shape shape = { .size = 3, .segment = 4096 };
	u64 seq;

	for (shape.aggregators = 1; shape.aggregators < 8; shape.aggregators++) {
		for (seq = 0; seq < 20; seq++)
			check_first(&shape, seq);
		check_first(&shape, U64_MAX);
	}
}

/* All are busy from the first window on. */
static void blocks_are_interleaved(void)
{
	const struct group_shape shape = { 4, 2, 4096 };
	const struct group_call call = make_call(GROUP_ALL_GATHER, U8, 0, 10000);
	struct group_segment segment;
	u32 i;

	for (i = 0; i < 8; i++) {
		group_plan_segment(&shape, &call, 0, i, &segment);
		CHECK_INT(segment.contributor, i % 4);
		CHECK_INT(segment.send, i / 4 * 4096);
		CHECK_INT(segment.receive, i % 4 * 10000 + i / 4 * 4096);
	}
}

static void a_barrier_is_one_empty_segment(void)
{
	const struct group_shape shape = { 5, 3, 4096 };
	const struct group_call call = make_call(GROUP_BARRIER, 0, 0, 0);
	struct group_segment segment;

	CHECK_INT(group_plan_segments(&shape, &call), 1);
	group_plan_segment(&shape, &call, 7, 0, &segment);
	CHECK_INT(segment.bytes, 0);
	CHECK_INT(segment.aggregator, 1);
	CHECK_INT(segment.contributor, GROUP_ALL);
	CHECK_INT(segment.receiver, GROUP_ALL);
}

static void count_0_is_as_a_barrier(void)
{
	const struct group_shape shape = { 5, 3, 4096 };
	struct group_segment segment;
	struct group_call call;
	u8 kind;

	for (kind = GROUP_ALL_REDUCE; kind < GROUP_BARRIER; kind++) {
		call = make_call(kind, I32, 2, 0);
		CHECK_INT(group_plan_segments(&shape, &call), 1);
		group_plan_segment(&shape, &call, 0, 0, &segment);
		CHECK_INT(segment.bytes, 0);
		CHECK_INT(segment.contributor, GROUP_ALL);
		CHECK_INT(segment.receiver, GROUP_ALL);
	}
}

static void who_broadcasts_gets_nothing(void)
{
	const struct group_shape shape = { 3, 1, 4096 };
	const struct group_call call = make_call(GROUP_BROADCAST, I32, 1, 10);
	struct group_segment segment;

	group_plan_segment(&shape, &call, 0, 0, &segment);
	CHECK(group_receives(&segment, 0));
	CHECK(!group_receives(&segment, 1));
	CHECK(group_receives(&segment, 2));
	CHECK_INT(group_call_receive_bytes(&shape, &call, 1), 0);
	CHECK_INT(group_call_send_bytes(&shape, &call, 1), 40);
	CHECK_INT(group_call_send_bytes(&shape, &call, 2), 0);
}

/* ---- huge ones ---- */

/* The last segment ends where the memory does. */
static void check_end(const struct group_shape *shape,
		      const struct group_call *call)
{
	u64 segments = group_plan_segments(shape, call);
	struct group_segment segment;
	u32 rank = shape->size - 1;

	CHECK_INT(group_call_check(shape, call), 0);
	group_plan_segment(shape, call, U64_MAX, segments - 1, &segment);
	CHECK(segment.bytes && segment.bytes <= shape->segment);
	if (group_receives(&segment, rank))
		CHECK_INT(segment.receive + segment.bytes,
			  group_call_receive_bytes(shape, call, rank));
	if (group_contributes(&segment, rank))
		CHECK_INT(segment.send + segment.bytes,
			  group_call_send_bytes(shape, call, rank));
}

/* The largest count, and that one more is too many */
static void check_most(const struct group_shape *shape, u8 kind, u8 type)
{
	bool has_blocks = kind == GROUP_ALL_GATHER ||
			  kind == GROUP_REDUCE_SCATTER;
	u64 most = S64_MAX;
	struct group_call call;

	most = most / size_of(type) / (has_blocks ? shape->size : 1);
	call = make_call(kind, type, shape->size - 1, most);
	check_end(shape, &call);
	call.count = most + 1;
	CHECK_INT(group_call_check(shape, &call), -EOVERFLOW);
	call.count = U64_MAX;
	CHECK_INT(group_call_check(shape, &call), -EOVERFLOW);
	/* would be few bytes, modulo 2^64 */
	call.count = 1ULL << 63;
	CHECK_INT(group_call_check(shape, &call), -EOVERFLOW);
}

static void the_most_elements(void)
{
	static const struct group_shape shapes[] = {
		{ 1, 1, 4096 }, { 3, 2, 4096 }, { 7, 7, 65536 },
		{ GROUP_RANKS_MAX, GROUP_AGGREGATORS_MAX, GROUP_SEGMENT_MAX },
	};
	u8 kind, type;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++)
		for (kind = GROUP_ALL_REDUCE; kind < GROUP_BARRIER; kind++)
			for (type = F32; type <= U64; type++)
				check_most(&shapes[i], kind, type);
}

static void more_than_4_gib(void)
{
	const struct group_shape shape = { 3, 2, 1U << 20 };
	const struct group_call call = make_call(GROUP_ALL_GATHER, I64, 0,
						 (1ULL << 30) + 1);
	struct group_segment segment;

	CHECK_INT(group_plan_segments(&shape, &call), 3 * 8193);
	group_plan_segment(&shape, &call, 0, 3 * 8192 + 2, &segment);
	CHECK_INT(segment.send, 8ULL << 30);
	CHECK_INT(segment.receive, 2 * ((8ULL << 30) + 8) + (8ULL << 30));
	CHECK_INT(segment.bytes, 8);
}

static const struct tap_case cases[] = {
	TAP_CASE(each_element_once_in_one_segment),
	TAP_CASE(each_element_once_in_many_segments),
	TAP_CASE(each_element_once_where_segments_end),
	TAP_CASE(the_first_segment_of_an_aggregator),
	TAP_CASE(blocks_are_interleaved),
	TAP_CASE(a_barrier_is_one_empty_segment),
	TAP_CASE(count_0_is_as_a_barrier),
	TAP_CASE(who_broadcasts_gets_nothing),
	TAP_CASE(the_most_elements),
	TAP_CASE(more_than_4_gib),
};

int main(void)
{
	return TAP_RUN(cases);
}
