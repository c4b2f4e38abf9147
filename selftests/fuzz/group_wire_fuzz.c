// SPDX-License-Identifier: GPL-2.0
/*
 * What a worker or an aggregator may say: of any bytes. What is understood has
 * one form only. Segments that are understood go to an aggregator's table, one
 * rank byte and message after another: what it takes is within all memory.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "group_table.h"
#include "group_wire.h"

#define MUST(what) do { if (!(what)) __builtin_trap(); } while (0)

#define SIZE	3
#define WINDOW	2
#define STEP	(1 + GROUP_MESSAGE_MAX)

static const struct group_shape shape = { SIZE, 2, GROUP_SEGMENT_MIN };

static bool decode(struct group_message *message, const u8 *data, u32 length)
{
	/* Exactly so long: a byte more is found. */
	u8 *copy = malloc(length ?: 1);
	u8 bytes[GROUP_MESSAGE_MAX];
	bool is_good;

	memcpy(copy, data, length);
	is_good = !group_message_decode(message, copy, length);
	if (is_good) {
		MUST(group_message_encode(message, bytes) == length);
		MUST(!memcmp(bytes, copy, length));
	}
	free(copy);
	return is_good;
}

static void check_fault(const struct group_fault *fault)
{
	char text[128];
	int length = group_fault_text(fault, text, sizeof(text));

	MUST(length > 0 && (size_t)length < sizeof(text));
	MUST(strlen(text) == (size_t)length);
}

/* What the table took, as the aggregator will use it */
static void check_taken(u32 rank, const struct group_part *part)
{
	struct group_segment segment;

	MUST(!group_call_check(&shape, &part->call));
	MUST(part->index < group_plan_segments(&shape, &part->call));
	group_plan_segment(&shape, &part->call, part->seq, part->index, &segment);
	MUST(segment.aggregator == 0 && segment.bytes <= shape.segment);
	MUST(segment.send + segment.bytes <= S64_MAX);
	MUST(segment.receive + segment.bytes <= S64_MAX);
	MUST(!group_contributes(&segment, rank) || part->bytes == segment.bytes);
	if (group_contributes(&segment, rank))
		MUST(segment.send + segment.bytes <=
		     group_call_send_bytes(&shape, &part->call, rank));
	if (group_receives(&segment, rank))
		MUST(segment.receive + segment.bytes <=
		     group_call_receive_bytes(&shape, &part->call, rank));
}

static void check_full(struct group_table *table, u64 n)
{
	struct group_place *place = group_table_place(table, n);
	u32 rank;

	MUST(place->state == GROUP_PLACE_FULL && place->n == n);
	for (rank = 0; rank < SIZE; rank++) {
		MUST(place->told[rank].is_there);
		MUST(!memcmp(&place->told[rank].part.call,
			     &place->told[0].part.call, sizeof(struct group_call)));
	}
	group_table_done(table, n);
}

/* One that came before may not be the one that is kept. */
static void check_kept(struct group_table *table, u32 rank, u64 n)
{
	struct group_place *place = group_table_place(table, n);

	if (place->n == n && place->told[rank].is_there)
		check_taken(rank, &place->told[rank].part);
}

static void check_words(struct group_table *table, const u8 *data, size_t size)
{
	struct group_message message;
	struct group_fault fault;
	u32 rank;
	int got;

	for (; size >= STEP; data += STEP, size -= STEP) {
		memset(&message, 0, sizeof(message));
		rank = *data % SIZE;
		if (!decode(&message, data + 1, GROUP_MESSAGE_MAX))
			return;
		memset(&fault, 0xff, sizeof(fault));
		got = group_table_contribute(table, rank, &message.part, size,
					     &fault);
		if (got >= 0)
			check_kept(table, rank, message.part.n);
		if (got == 1)
			check_full(table, message.part.n);
		if (got >= 0)
			continue;
		MUST(fault.rank < SIZE);
		check_fault(&fault);
		return;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct group_message message = {};
	struct group_table table;
	void *memory = calloc(1, group_table_size(SIZE, WINDOW));

	group_table_init(&table, memory, &shape,
			 &(struct group_members){ SIZE, 0, 1 }, 0, WINDOW);
	if (size <= GROUP_MESSAGE_MAX && decode(&message, data, (u32)size) &&
	    message.type == GROUP_MESSAGE_ABORT)
		check_fault(&message.fault);
	check_words(&table, data, size);
	free(memory);
	return 0;
}
