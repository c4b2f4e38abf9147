// SPDX-License-Identifier: GPL-2.0
/* What workers and aggregators say: each word there and back, and no other. */
#include <errno.h>

#include "tap.h"

#include "group_wire.h"

/* ---- messages that are good ---- */

static const struct group_message good_join = {
	.type = GROUP_MESSAGE_JOIN,
	.join = {
		.group = 0x8877665544332211, .rank = 3, .size = 5,
		.aggregators = 4, .index = 2, .segment = 65536, .window = 16,
		.block = 32, .timeout_ms = 30000,
		.placement = GROUP_PLACEMENT_REPLICATED,
	},
};

static const struct group_message good_part = {
	.type = GROUP_MESSAGE_SEGMENT,
	.part = {
		.n = 0x0102030405060708, .seq = 0x1112131415161718,
		.call = {
			.kind = GROUP_REDUCE, .type = 7, .op = 8,
			.root = 0x21222324, .count = 0x3132333435363738,
			.way = GROUP_WAY_REPLICATED,
		},
		.index = 0x4142434445464748, .bytes = 0x00123456,
		.token = 0x5152535455565758, .offset = 0x2162636465666768,
	},
};

static const struct group_message good_fault = {
	.type = GROUP_MESSAGE_ABORT,
	.fault = {
		.cause = GROUP_CAUSE_MISMATCH, .rank = 3, .other = 1,
		.missing = 7, .seq = 0x0102030405060708,
		.field = GROUP_FIELD_COUNT, .value = 0x1112131415161718,
		.expected = 0x2122232425262728,
	},
};

static const struct group_message others[] = {
	{ .type = GROUP_MESSAGE_WELCOME },
	{ .type = GROUP_MESSAGE_READY, .token = 0x0102030405060708 },
	{ .type = GROUP_MESSAGE_RESULT,
	  .result = { .n = 0x0102030405060708, .seq = 0x1112131415161718 } },
	{ .type = GROUP_MESSAGE_LEAVE },
	{ .type = GROUP_MESSAGE_PROBE, .probe = 0x0102030405060708 },
	{ .type = GROUP_MESSAGE_TUNE, .tune = {
		.round = 0x01020304,
		.cost = { 0x11121314, 0x21222324, 0x00031323, 0x00041424,
			  { 0x1112, 0x2122 }, 1 },
	} },
};

static const struct group_message *good_message(u32 i)
{
	static const struct group_message * const list[] = {
		&good_join, &good_part, &good_fault, &others[0], &others[1],
		&others[2], &others[3], &others[4], &others[5],
	};

	return i < ARRAY_SIZE(list) ? list[i] : NULL;
}

/* ---- there and back ---- */

static void check_join(const struct group_join *got, const struct group_join *join)
{
	CHECK_INT(got->group, join->group);
	CHECK_INT(got->rank, join->rank);
	CHECK_INT(got->size, join->size);
	CHECK_INT(got->aggregators, join->aggregators);
	CHECK_INT(got->index, join->index);
	CHECK_INT(got->segment, join->segment);
	CHECK_INT(got->window, join->window);
	CHECK_INT(got->block, join->block);
	CHECK_INT(got->timeout_ms, join->timeout_ms);
	CHECK_INT(got->placement, join->placement);
	CHECK_INT(got->unit, join->unit);
}

static void check_part(const struct group_part *got, const struct group_part *part)
{
	CHECK_INT(got->n, part->n);
	CHECK_INT(got->seq, part->seq);
	CHECK_INT(got->call.kind, part->call.kind);
	CHECK_INT(got->call.type, part->call.type);
	CHECK_INT(got->call.op, part->call.op);
	CHECK_INT(got->call.root, part->call.root);
	CHECK_INT(got->call.count, part->call.count);
	CHECK_INT(got->call.way, part->call.way);
	CHECK_INT(got->index, part->index);
	CHECK_INT(got->bytes, part->bytes);
	CHECK_INT(got->token, part->token);
	CHECK_INT(got->offset, part->offset);
}

static void check_fault(const struct group_fault *got,
			const struct group_fault *fault)
{
	CHECK_INT(got->cause, fault->cause);
	CHECK_INT(got->rank, fault->rank);
	CHECK_INT(got->other, fault->other);
	CHECK_INT(got->missing, fault->missing);
	CHECK_INT(got->seq, fault->seq);
	CHECK_INT(got->field, fault->field);
	CHECK_INT(got->value, fault->value);
	CHECK_INT(got->expected, fault->expected);
}

static struct group_message there_and_back(const struct group_message *message,
					   u32 size)
{
	struct group_message got = {};
	u8 data[GROUP_MESSAGE_MAX];

	memset(data, 0xff, sizeof(data));
	CHECK_INT(group_message_encode(message, data), size);
	CHECK_INT(group_message_decode(&got, data, size), 0);
	CHECK_INT(got.type, message->type);
	return got;
}

static void join_comes_back(void)
{
	struct group_message got = there_and_back(&good_join, 56);

	check_join(&got.join, &good_join.join);
}

static void tune_comes_back(void)
{
	const struct group_cost *cost = &others[5].tune.cost;
	struct group_message got = there_and_back(&others[5], 40);

	CHECK_INT(got.tune.round, others[5].tune.round);
	CHECK_INT(got.tune.cost.alpha, cost->alpha);
	CHECK_INT(got.tune.cost.own, cost->own);
	CHECK_INT(got.tune.cost.beta, cost->beta);
	CHECK_INT(got.tune.cost.gamma, cost->gamma);
	CHECK_INT(got.tune.cost.ratio[0], cost->ratio[0]);
	CHECK_INT(got.tune.cost.ratio[1], cost->ratio[1]);
	CHECK_INT(got.tune.cost.colocated, cost->colocated);
	got = there_and_back(&others[4], 16);
	CHECK_INT(got.probe, others[4].probe);
}

static void segment_comes_back(void)
{
	struct group_message got = there_and_back(&good_part, GROUP_MESSAGE_MAX);

	check_part(&got.part, &good_part.part);
}

static void abort_comes_back(void)
{
	struct group_message got = there_and_back(&good_fault, 56);

	check_fault(&got.fault, &good_fault.fault);
}

static void small_words_come_back(void)
{
	struct group_message got;

	there_and_back(&others[0], 8);
	got = there_and_back(&others[1], 16);
	CHECK_INT(got.token, 0x0102030405060708);
	got = there_and_back(&others[2], 24);
	CHECK_INT(got.result.n, 0x0102030405060708);
	CHECK_INT(got.result.seq, 0x1112131415161718);
	there_and_back(&others[3], 8);
}

/* As Documentation/group-protocol.md has it */
static void bytes_have_their_place(void)
{
	static const u8 want[GROUP_MESSAGE_MAX] = {
		'p', 'l', 'g', 'r', 1, 4, 0, 0,
		0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01,
		0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
		4, 7, 8, 1, 0x24, 0x23, 0x22, 0x21,
		0x38, 0x37, 0x36, 0x35, 0x34, 0x33, 0x32, 0x31,
		0x48, 0x47, 0x46, 0x45, 0x44, 0x43, 0x42, 0x41,
		0x56, 0x34, 0x12, 0x00, 0, 0, 0, 0,
		0x58, 0x57, 0x56, 0x55, 0x54, 0x53, 0x52, 0x51,
		0x68, 0x67, 0x66, 0x65, 0x64, 0x63, 0x62, 0x21,
	};
	u8 data[GROUP_MESSAGE_MAX];

	group_message_encode(&good_part, data);
	CHECK(!memcmp(data, want, sizeof(want)));
}

/* ---- refusals ---- */

static int decode_with(const struct group_message *message)
{
	struct group_message got;
	u8 data[GROUP_MESSAGE_MAX];

	return group_message_decode(&got, data,
				    group_message_encode(message, data));
}

/* The message with one byte changed */
static int decode_changed(const struct group_message *message, u32 at, u8 value)
{
	struct group_message got;
	u8 data[GROUP_MESSAGE_MAX];
	u32 size = group_message_encode(message, data);

	data[at] = value;
	return group_message_decode(&got, data, size);
}

static void check_lengths(const struct group_message *message)
{
	u8 data[GROUP_MESSAGE_MAX + 2] = {};
	u32 size = group_message_encode(message, data);
	struct group_message got;
	u32 length;

	for (length = 0; length <= sizeof(data); length++)
		CHECK_INT(group_message_decode(&got, data, length),
			  length == size ? 0 : -EPROTO);
}

static void another_length_is_refused(void)
{
	u32 i;

	for (i = 0; good_message(i); i++)
		check_lengths(good_message(i));
}

static void another_magic_is_refused(void)
{
	u32 i, at;

	for (i = 0; good_message(i); i++)
		for (at = 0; at < 4; at++)
			CHECK_INT(decode_changed(good_message(i), at, 0), -EPROTO);
}

static void another_version_of_join_is_told_apart(void)
{
	u32 i;

	CHECK_INT(decode_changed(&good_join, 4, 2), -EPROTONOSUPPORT);
	CHECK_INT(decode_changed(&good_join, 4, 0), -EPROTONOSUPPORT);
	for (i = 1; good_message(i); i++)
		CHECK_INT(decode_changed(good_message(i), 4, 2), -EPROTO);
}

static void unknown_words_are_refused(void)
{
	u32 type;

	for (type = 0; type < 256; type++)
		if (type != GROUP_MESSAGE_WELCOME && type != GROUP_MESSAGE_LEAVE)
			CHECK_INT(decode_changed(&others[0], 5, (u8)type), -EPROTO);
}

static void reserved_bytes_are_zero(void)
{
	u32 i;

	for (i = 0; good_message(i); i++) {
		CHECK_INT(decode_changed(good_message(i), 6, 1), -EPROTO);
		CHECK_INT(decode_changed(good_message(i), 7, 0x80), -EPROTO);
	}
	for (i = 52; i < 56; i++)	/* the unit, of a tree only */
		CHECK_INT(decode_changed(&good_join, i, 1), -EPROTO);
	for (i = 52; i < 56; i++)
		CHECK_INT(decode_changed(&good_part, i, 1), -EPROTO);
	for (i = 36; i < 40; i++)
		CHECK_INT(decode_changed(&good_fault, i, 1), -EPROTO);
}

/* ---- limits ---- */

#define JOIN_WITH(field, value) ({ \
	struct group_message with = good_join; \
	with.join.field = (value); \
	decode_with(&with); \
})

static void shapes_of_nonsense_are_refused(void)
{
	CHECK_INT(JOIN_WITH(group, 0), -EPROTO);
	CHECK_INT(JOIN_WITH(rank, 4), 0);
	CHECK_INT(JOIN_WITH(rank, 5), -EPROTO);
	CHECK_INT(JOIN_WITH(rank, U32_MAX), -EPROTO);
	CHECK_INT(JOIN_WITH(size, 0), -EPROTO);
	CHECK_INT(JOIN_WITH(size, GROUP_RANKS_MAX), 0);
	CHECK_INT(JOIN_WITH(size, GROUP_RANKS_MAX + 1), -EPROTO);
	CHECK_INT(JOIN_WITH(aggregators, 0), -EPROTO);
	CHECK_INT(JOIN_WITH(aggregators, GROUP_AGGREGATORS_MAX), 0);
	CHECK_INT(JOIN_WITH(aggregators, GROUP_AGGREGATORS_MAX + 1), -EPROTO);
	CHECK_INT(JOIN_WITH(index, 3), 0);
	CHECK_INT(JOIN_WITH(index, 4), -EPROTO);
	CHECK_INT(JOIN_WITH(placement, GROUP_PLACEMENT_LAST + 1), -EPROTO);
}

/* Of 5 ranks in blocks of 2 */
static int join_of_tree(u32 rank, u32 unit)
{
	struct group_message message = good_join;

	message.join.placement = GROUP_PLACEMENT_TREE;
	message.join.block = 2;
	message.join.rank = rank;
	message.join.unit = unit;
	return decode_with(&message);
}

static void units_are_blocks_of_blocks(void)
{
	CHECK_INT(JOIN_WITH(unit, 1), -EPROTO);	/* it is no tree */
	CHECK_INT(join_of_tree(3, 0), -EPROTO);
	CHECK_INT(join_of_tree(3, 1), 0);
	CHECK_INT(join_of_tree(2, 2), 0);
	CHECK_INT(join_of_tree(3, 2), -EPROTO);
	CHECK_INT(join_of_tree(0, 3), -EPROTO);
	CHECK_INT(join_of_tree(4, 4), 0);
	CHECK_INT(join_of_tree(2, 4), -EPROTO);
	CHECK_INT(join_of_tree(0, 8), -EPROTO);	/* that is all of them */
	CHECK_INT(join_of_tree(0, U32_MAX), -EPROTO);
	CHECK_INT(join_of_tree(0, 1U << 31), -EPROTO);
}

#define COST_WITH(field, value) ({ \
	struct group_message with = others[5]; \
	with.tune.cost.field = (value); \
	decode_with(&with); \
})

static void costs_of_nonsense_are_refused(void)
{
	struct group_message none = { .type = GROUP_MESSAGE_PROBE };

	CHECK_INT(COST_WITH(alpha, GROUP_COST_LATENCY_MAX), 0);
	CHECK_INT(COST_WITH(alpha, GROUP_COST_LATENCY_MAX + 1), -EPROTO);
	CHECK_INT(COST_WITH(own, GROUP_COST_LATENCY_MAX + 1), -EPROTO);
	CHECK_INT(COST_WITH(beta, GROUP_COST_BYTE_MAX), 0);
	CHECK_INT(COST_WITH(beta, GROUP_COST_BYTE_MAX + 1), -EPROTO);
	CHECK_INT(COST_WITH(gamma, GROUP_COST_BYTE_MAX + 1), -EPROTO);
	CHECK_INT(COST_WITH(ratio[0], GROUP_COST_RATIO_MAX), 0);
	CHECK_INT(COST_WITH(ratio[0], GROUP_COST_RATIO_MAX + 1), -EPROTO);
	CHECK_INT(COST_WITH(ratio[1], GROUP_COST_RATIO_MAX + 1), -EPROTO);
	CHECK_INT(COST_WITH(colocated, 2), -EPROTO);
	CHECK_INT(decode_with(&none), -EPROTO);
}

static void memory_of_nonsense_is_refused(void)
{
	CHECK_INT(JOIN_WITH(segment, 0), -EPROTO);
	CHECK_INT(JOIN_WITH(segment, GROUP_SEGMENT_MIN), 0);
	CHECK_INT(JOIN_WITH(segment, GROUP_SEGMENT_MIN / 2), -EPROTO);
	CHECK_INT(JOIN_WITH(segment, 3 * GROUP_SEGMENT_MIN), -EPROTO);
	CHECK_INT(JOIN_WITH(segment, GROUP_SEGMENT_MAX), 0);
	CHECK_INT(JOIN_WITH(segment, GROUP_SEGMENT_MAX * 2), -EPROTO);
	CHECK_INT(JOIN_WITH(window, 0), -EPROTO);
	CHECK_INT(JOIN_WITH(window, 1), 0);
	CHECK_INT(JOIN_WITH(window, GROUP_WINDOW_MAX), 0);
	CHECK_INT(JOIN_WITH(window, GROUP_WINDOW_MAX + 1), -EPROTO);
	CHECK_INT(JOIN_WITH(block, 1), -EPROTO);
	CHECK_INT(JOIN_WITH(block, 2), 0);
	CHECK_INT(JOIN_WITH(block, GROUP_RANKS_MAX + 1), -EPROTO);
	CHECK_INT(JOIN_WITH(timeout_ms, 0), -EPROTO);
	CHECK_INT(JOIN_WITH(timeout_ms, GROUP_TIMEOUT_MAX), 0);
	CHECK_INT(JOIN_WITH(timeout_ms, GROUP_TIMEOUT_MAX + 1), -EPROTO);
}

#define PART_WITH(field, value) ({ \
	struct group_message with = good_part; \
	with.part.field = (value); \
	decode_with(&with); \
})

static void places_beyond_memory_are_refused(void)
{
	struct group_message nowhere = good_part;

	CHECK_INT(PART_WITH(bytes, GROUP_SEGMENT_MAX), 0);
	CHECK_INT(PART_WITH(bytes, GROUP_SEGMENT_MAX + 1), -EPROTO);
	CHECK_INT(PART_WITH(bytes, U32_MAX), -EPROTO);
	CHECK_INT(PART_WITH(offset, GROUP_OFFSET_MAX), 0);
	CHECK_INT(PART_WITH(offset, GROUP_OFFSET_MAX + 1), -EPROTO);
	CHECK_INT(PART_WITH(offset, U64_MAX), -EPROTO);
	/* nowhere has no offset */
	CHECK_INT(PART_WITH(token, 0), -EPROTO);
	nowhere.part.token = 0;
	nowhere.part.offset = 0;
	CHECK_INT(decode_with(&nowhere), 0);
}

static void ready_has_a_token(void)
{
	struct group_message message = { .type = GROUP_MESSAGE_READY };

	CHECK_INT(decode_with(&message), -EPROTO);
}

#define FAULT_WITH(name, value_) ({ \
	struct group_message with = good_fault; \
	with.fault.name = (value_); \
	decode_with(&with); \
})

static void faults_of_nonsense_are_refused(void)
{
	CHECK_INT(FAULT_WITH(cause, GROUP_CAUSE_NONE), -EPROTO);
	CHECK_INT(FAULT_WITH(cause, GROUP_CAUSE_BLOCK), -EPROTO);	/* with a field */
	CHECK_INT(FAULT_WITH(cause, GROUP_CAUSE_BLOCK + 1), -EPROTO);
	CHECK_INT(FAULT_WITH(rank, GROUP_RANKS_MAX), -EPROTO);
	CHECK_INT(FAULT_WITH(rank, GROUP_NOBODY), 0);
	CHECK_INT(FAULT_WITH(other, GROUP_RANKS_MAX), -EPROTO);
	CHECK_INT(FAULT_WITH(other, GROUP_NOBODY), 0);
	CHECK_INT(FAULT_WITH(missing, GROUP_RANKS_MAX + 1), -EPROTO);
	CHECK_INT(FAULT_WITH(field, 0), -EPROTO);
	CHECK_INT(FAULT_WITH(field, GROUP_FIELD_WAY), 0);
	CHECK_INT(FAULT_WITH(field, GROUP_FIELD_WAY + 1), -EPROTO);
	/* a field is of a mismatch only */
	CHECK_INT(FAULT_WITH(cause, GROUP_CAUSE_DEAD), -EPROTO);
}

/* ---- texts ---- */

#define TEXT(...) ({ \
	const struct group_fault fault = { __VA_ARGS__ }; \
	group_fault_text(&fault, text, sizeof(text)); \
	text; \
})

static void texts_name_ranks_and_values(void)
{
	char text[128];

	CHECK_STR(TEXT(.cause = GROUP_CAUSE_MISMATCH, .rank = 3,
		       .field = GROUP_FIELD_COUNT, .value = 409598,
		       .expected = 409600),
		  "rank 3 called count 409598, rank 0 count 409600");
	CHECK_STR(TEXT(.cause = GROUP_CAUSE_MISMATCH, .rank = 3, .other = 1,
		       .field = GROUP_FIELD_KIND, .value = GROUP_BARRIER,
		       .expected = GROUP_ALL_REDUCE),
		  "rank 3 called barrier, rank 1 all-reduce");
	CHECK_STR(TEXT(.cause = GROUP_CAUSE_MISMATCH, .rank = 3,
		       .field = GROUP_FIELD_SEQ, .value = 5, .expected = 4),
		  "rank 3 is at operation 5, rank 0 at operation 4");
	CHECK_STR(TEXT(.cause = GROUP_CAUSE_LATE, .rank = 2, .missing = 1,
		       .seq = 9), "rank 2 is late in operation 9, 1 missing");
	CHECK_STR(TEXT(.cause = GROUP_CAUSE_DEAD, .rank = 6), "rank 6 is dead");
	CHECK_STR(TEXT(.cause = GROUP_CAUSE_DEAD, .rank = 6, .missing = 2),
		  "the aggregator of ranks 6 .. 7 is dead");
	CHECK_STR(TEXT(.cause = GROUP_CAUSE_DEAD, .rank = 6, .missing = 1),
		  "the aggregator of rank 6 is dead");
	CHECK_STR(TEXT(.cause = GROUP_CAUSE_DEAD, .rank = GROUP_NOBODY),
		  "an aggregator is dead, or cannot be reached");
	CHECK_STR(TEXT(.cause = GROUP_CAUSE_CLOSED, .rank = GROUP_NOBODY),
		  "the group lost an aggregator, which ended");
}

/* Also of what decode would refuse */
static void texts_fit(void)
{
	struct group_fault fault = {
		.rank = U32_MAX - 1, .other = U32_MAX, .missing = U32_MAX,
		.seq = U64_MAX, .value = U64_MAX, .expected = U64_MAX,
	};
	char text[8];
	int length;

	for (fault.cause = 0; fault.cause < 16; fault.cause++)
		for (fault.field = 0; fault.field < 16; fault.field++) {
			length = group_fault_text(&fault, text, sizeof(text));
			CHECK(length > 0 && length < 128);
			CHECK_INT(text[sizeof(text) - 1], 0);
		}
}

static const struct tap_case cases[] = {
	TAP_CASE(join_comes_back),
	TAP_CASE(tune_comes_back),
	TAP_CASE(segment_comes_back),
	TAP_CASE(abort_comes_back),
	TAP_CASE(small_words_come_back),
	TAP_CASE(bytes_have_their_place),
	TAP_CASE(another_length_is_refused),
	TAP_CASE(another_magic_is_refused),
	TAP_CASE(another_version_of_join_is_told_apart),
	TAP_CASE(unknown_words_are_refused),
	TAP_CASE(reserved_bytes_are_zero),
	TAP_CASE(shapes_of_nonsense_are_refused),
	TAP_CASE(units_are_blocks_of_blocks),
	TAP_CASE(costs_of_nonsense_are_refused),
	TAP_CASE(memory_of_nonsense_is_refused),
	TAP_CASE(places_beyond_memory_are_refused),
	TAP_CASE(ready_has_a_token),
	TAP_CASE(faults_of_nonsense_are_refused),
	TAP_CASE(texts_name_ranks_and_values),
	TAP_CASE(texts_fit),
};

int main(void)
{
	return TAP_RUN(cases);
}
