// SPDX-License-Identifier: GPL-2.0
/* What workers and aggregators say: to bytes, and back with checks. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "group_wire.h"

/* ---- bytes ---- */

struct writer {
	u8 *data;
	u32 at;
};

static void put(struct writer *writer, u64 value, u32 bytes)
{
	for (; bytes; bytes--, value >>= 8)
		writer->data[writer->at++] = (u8)value;
}

/* The caller has looked at the length. */
struct reader {
	const u8 *data;
	u32 at;
	bool is_bad;		/* something reserved was not 0 */
};

static u64 get(struct reader *reader, u32 bytes)
{
	u64 value = 0;
	u32 i;

	for (i = 0; i < bytes; i++)
		value |= (u64)reader->data[reader->at++] << (8 * i);
	return value;
}

static void get_reserved(struct reader *reader, u32 bytes)
{
	reader->is_bad |= get(reader, bytes) != 0;
}

/* ---- encoding ---- */

static void put_join(struct writer *writer, const struct group_join *join)
{
	put(writer, join->group, 8);
	put(writer, join->rank, 4);
	put(writer, join->size, 4);
	put(writer, join->aggregators, 4);
	put(writer, join->index, 4);
	put(writer, join->segment, 4);
	put(writer, join->window, 4);
	put(writer, join->block, 4);
	put(writer, join->timeout_ms, 4);
	put(writer, join->placement, 4);
	put(writer, join->unit, 4);
}

static void put_part(struct writer *writer, const struct group_part *part)
{
	put(writer, part->n, 8);
	put(writer, part->seq, 8);
	put(writer, part->call.kind, 1);
	put(writer, part->call.type, 1);
	put(writer, part->call.op, 1);
	put(writer, part->call.way, 1);
	put(writer, part->call.root, 4);
	put(writer, part->call.count, 8);
	put(writer, part->index, 8);
	put(writer, part->bytes, 4);
	put(writer, 0, 4);
	put(writer, part->token, 8);
	put(writer, part->offset, 8);
}

static void put_fault(struct writer *writer, const struct group_fault *fault)
{
	put(writer, fault->cause, 4);
	put(writer, fault->rank, 4);
	put(writer, fault->other, 4);
	put(writer, fault->missing, 4);
	put(writer, fault->seq, 8);
	put(writer, fault->field, 4);
	put(writer, 0, 4);
	put(writer, fault->value, 8);
	put(writer, fault->expected, 8);
}

static void put_tune(struct writer *writer, const struct group_tune *tune)
{
	const struct group_cost *cost = &tune->cost;
	u32 i;

	put(writer, tune->round, 4);
	put(writer, cost->alpha, 4);
	put(writer, cost->own, 4);
	put(writer, cost->beta, 4);
	put(writer, cost->gamma, 4);
	for (i = 0; i < GROUP_WAYS; i++)
		put(writer, cost->ratio[i], 4);
	put(writer, cost->colocated, 4);
}

u32 group_message_encode(const struct group_message *message, u8 *data)
{
	struct writer writer = { .data = data };

	put(&writer, GROUP_MAGIC, 4);
	put(&writer, GROUP_VERSION, 1);
	put(&writer, message->type, 1);
	put(&writer, 0, 2);
	switch (message->type) {
	case GROUP_MESSAGE_JOIN:
		put_join(&writer, &message->join);
		break;
	case GROUP_MESSAGE_READY:
		put(&writer, message->token, 8);
		break;
	case GROUP_MESSAGE_SEGMENT:
		put_part(&writer, &message->part);
		break;
	case GROUP_MESSAGE_RESULT:
		put(&writer, message->result.n, 8);
		put(&writer, message->result.seq, 8);
		break;
	case GROUP_MESSAGE_ABORT:
		put_fault(&writer, &message->fault);
		break;
	case GROUP_MESSAGE_PROBE:
		put(&writer, message->probe, 8);
		break;
	case GROUP_MESSAGE_TUNE:
		put_tune(&writer, &message->tune);
		break;
	}
	return writer.at;
}

/* ---- decoding ---- */

#define HEAD_SIZE	8

/* 0: no such message */
static u32 size_of(u32 type)
{
	switch (type) {
	case GROUP_MESSAGE_WELCOME:
	case GROUP_MESSAGE_LEAVE:
		return HEAD_SIZE;
	case GROUP_MESSAGE_READY:
	case GROUP_MESSAGE_PROBE:
		return HEAD_SIZE + 8;
	case GROUP_MESSAGE_RESULT:
		return HEAD_SIZE + 16;
	case GROUP_MESSAGE_TUNE:
		return HEAD_SIZE + 32;
	case GROUP_MESSAGE_JOIN:
	case GROUP_MESSAGE_ABORT:
		return HEAD_SIZE + 48;
	case GROUP_MESSAGE_SEGMENT:
		return HEAD_SIZE + 64;
	}
	return 0;
}

static bool is_within(u32 value, u32 low, u32 high)
{
	return value >= low && value <= high;
}

/* A rank of a tree, or an aggregator with blocks of blocks below it. */
static bool unit_is_good(const struct group_join *join)
{
	u64 unit = 1;

	if (join->placement != GROUP_PLACEMENT_TREE)
		return !join->unit;
	while (unit < join->unit)
		unit *= join->block;
	return unit == join->unit && !(join->rank % join->unit) &&
	       (unit == 1 || unit < join->size);
}

static bool get_join(struct group_join *join, struct reader *reader)
{
	join->group = get(reader, 8);
	join->rank = (u32)get(reader, 4);
	join->size = (u32)get(reader, 4);
	join->aggregators = (u32)get(reader, 4);
	join->index = (u32)get(reader, 4);
	join->segment = (u32)get(reader, 4);
	join->window = (u32)get(reader, 4);
	join->block = (u32)get(reader, 4);
	join->timeout_ms = (u32)get(reader, 4);
	join->placement = (u32)get(reader, 4);
	join->unit = (u32)get(reader, 4);
	return join->group &&
	       is_within(join->size, 1, GROUP_RANKS_MAX) &&
	       join->rank < join->size &&
	       is_within(join->aggregators, 1, GROUP_AGGREGATORS_MAX) &&
	       join->index < join->aggregators &&
	       is_within(join->segment, GROUP_SEGMENT_MIN, GROUP_SEGMENT_MAX) &&
	       !(join->segment & (join->segment - 1)) &&
	       is_within(join->window, 1, GROUP_WINDOW_MAX) &&
	       is_within(join->block, 2, GROUP_RANKS_MAX) &&
	       is_within(join->timeout_ms, 1, GROUP_TIMEOUT_MAX) &&
	       join->placement <= GROUP_PLACEMENT_LAST && unit_is_good(join);
}

static bool get_part(struct group_part *part, struct reader *reader)
{
	part->n = get(reader, 8);
	part->seq = get(reader, 8);
	part->call.kind = (u8)get(reader, 1);
	part->call.type = (u8)get(reader, 1);
	part->call.op = (u8)get(reader, 1);
	part->call.way = (u8)get(reader, 1);
	part->call.root = (u32)get(reader, 4);
	part->call.count = get(reader, 8);
	part->index = get(reader, 8);
	part->bytes = (u32)get(reader, 4);
	get_reserved(reader, 4);
	part->token = get(reader, 8);
	part->offset = get(reader, 8);
	return part->bytes <= GROUP_SEGMENT_MAX &&
	       part->offset <= GROUP_OFFSET_MAX &&
	       (part->token || !part->offset);
}

static bool is_rank(u32 rank)
{
	return rank < GROUP_RANKS_MAX || rank == GROUP_NOBODY;
}

static bool fault_is_sane(const struct group_fault *fault)
{
	bool is_mismatch = fault->cause == GROUP_CAUSE_MISMATCH;

	return is_within(fault->cause, GROUP_CAUSE_LEFT, GROUP_CAUSE_BLOCK) &&
	       is_rank(fault->rank) && is_rank(fault->other) &&
	       fault->missing <= GROUP_RANKS_MAX &&
	       is_within(fault->field, is_mismatch ? GROUP_FIELD_KIND : 0,
			 is_mismatch ? GROUP_FIELD_WAY : 0);
}

static bool get_fault(struct group_fault *fault, struct reader *reader)
{
	fault->cause = (u32)get(reader, 4);
	fault->rank = (u32)get(reader, 4);
	fault->other = (u32)get(reader, 4);
	fault->missing = (u32)get(reader, 4);
	fault->seq = get(reader, 8);
	fault->field = (u32)get(reader, 4);
	get_reserved(reader, 4);
	fault->value = get(reader, 8);
	fault->expected = get(reader, 8);
	return fault_is_sane(fault);
}

static bool cost_is_sane(const struct group_cost *cost)
{
	u32 i;

	for (i = 0; i < GROUP_WAYS; i++)
		if (cost->ratio[i] > GROUP_COST_RATIO_MAX)
			return false;
	return cost->alpha <= GROUP_COST_LATENCY_MAX &&
	       cost->own <= GROUP_COST_LATENCY_MAX &&
	       cost->beta <= GROUP_COST_BYTE_MAX &&
	       cost->gamma <= GROUP_COST_BYTE_MAX && cost->colocated <= 1;
}

static bool get_tune(struct group_tune *tune, struct reader *reader)
{
	struct group_cost *cost = &tune->cost;
	u32 i;

	tune->round = (u32)get(reader, 4);
	cost->alpha = (u32)get(reader, 4);
	cost->own = (u32)get(reader, 4);
	cost->beta = (u32)get(reader, 4);
	cost->gamma = (u32)get(reader, 4);
	for (i = 0; i < GROUP_WAYS; i++)
		cost->ratio[i] = (u32)get(reader, 4);
	cost->colocated = (u32)get(reader, 4);
	return cost_is_sane(cost);
}

static bool get_rest(struct group_message *message, struct reader *reader)
{
	switch (message->type) {
	case GROUP_MESSAGE_JOIN:
		return get_join(&message->join, reader);
	case GROUP_MESSAGE_READY:
		message->token = get(reader, 8);
		return message->token;
	case GROUP_MESSAGE_PROBE:
		message->probe = get(reader, 8);
		return message->probe;
	case GROUP_MESSAGE_TUNE:
		return get_tune(&message->tune, reader);
	case GROUP_MESSAGE_SEGMENT:
		return get_part(&message->part, reader);
	case GROUP_MESSAGE_RESULT:
		message->result.n = get(reader, 8);
		message->result.seq = get(reader, 8);
		return true;
	case GROUP_MESSAGE_ABORT:
		return get_fault(&message->fault, reader);
	}
	return true;
}

/* Magic, version and type have the same place in all versions. */
int group_message_decode(struct group_message *message, const u8 *data,
			 u32 length)
{
	struct reader reader = { .data = data };
	u8 version;

	if (length < HEAD_SIZE || get(&reader, 4) != GROUP_MAGIC)
		return -EPROTO;
	version = (u8)get(&reader, 1);
	message->type = (u8)get(&reader, 1);
	if (version != GROUP_VERSION)
		return message->type == GROUP_MESSAGE_JOIN ? -EPROTONOSUPPORT :
							     -EPROTO;
	get_reserved(&reader, 2);
	if (length != size_of(message->type) || !get_rest(message, &reader) ||
	    reader.is_bad)
		return -EPROTO;
	return 0;
}

/* ---- text ---- */

static const char *kind_name(u64 kind)
{
	static const char * const names[] = {
		[GROUP_ALL_REDUCE] = "all-reduce",
		[GROUP_REDUCE_SCATTER] = "reduce-scatter",
		[GROUP_ALL_GATHER] = "all-gather",
		[GROUP_REDUCE] = "reduce",
		[GROUP_BROADCAST] = "broadcast",
		[GROUP_BARRIER] = "barrier",
	};

	return kind && kind < ARRAY_SIZE(names) ? names[kind] : "nothing known";
}

static const char *field_name(u32 field)
{
	static const char * const names[] = {
		[GROUP_FIELD_TYPE] = "type",
		[GROUP_FIELD_OP] = "op",
		[GROUP_FIELD_ROOT] = "root",
		[GROUP_FIELD_COUNT] = "count",
		[GROUP_FIELD_SEQ] = "at operation",
		[GROUP_FIELD_INDEX] = "at segment",
		[GROUP_FIELD_WAY] = "way",
	};

	return field < ARRAY_SIZE(names) && names[field] ? names[field] :
							   "something else,";
}

static int mismatch_text(const struct group_fault *fault, char *text,
			 size_t size)
{
	const char *name = field_name(fault->field);

	if (fault->field == GROUP_FIELD_KIND)
		return snprintf(text, size, "rank %u called %s, rank %u %s",
				fault->rank, kind_name(fault->value),
				fault->other, kind_name(fault->expected));
	return snprintf(text, size, "rank %u %s %s %llu, rank %u %s %llu",
			fault->rank,
			fault->field < GROUP_FIELD_SEQ ||
			fault->field == GROUP_FIELD_WAY ? "called" : "is", name,
			fault->value, fault->other, name, fault->expected);
}

static const char *cause_text(u32 cause)
{
	static const char * const texts[] = {
		[GROUP_CAUSE_NONE] = "has no fault",
		[GROUP_CAUSE_LEFT] = "left with operations open",
		[GROUP_CAUSE_DEAD] = "is dead",
		[GROUP_CAUSE_REVOKED] = "has its region revoked",
		[GROUP_CAUSE_PROTOCOL] = "said what may not be said",
		[GROUP_CAUSE_CLOSED] = "lost an aggregator, which ended",
		[GROUP_CAUSE_SHAPE] = "joined another shape of group",
		[GROUP_CAUSE_TAKEN] = "is there already",
		[GROUP_CAUSE_FULL] = "found no memory left",
		[GROUP_CAUSE_UNABLE] = "asked for what an aggregator cannot compute",
		[GROUP_CAUSE_BLOCK] = "is of another block of ranks than those of its aggregator",
	};

	return cause < ARRAY_SIZE(texts) && texts[cause] ? texts[cause] :
							   "failed";
}

int group_fault_text(const struct group_fault *fault, char *text, size_t size)
{
	switch (fault->cause) {
	case GROUP_CAUSE_MISMATCH:
		return mismatch_text(fault, text, size);
	case GROUP_CAUSE_LATE:
		return snprintf(text, size,
				"rank %u is late in operation %llu, %u missing",
				fault->rank, fault->seq, fault->missing);
	case GROUP_CAUSE_JOIN:
		return snprintf(text, size, "rank %u did not join, %u missing",
				fault->rank, fault->missing);
	}
	if (fault->rank == GROUP_NOBODY && fault->cause == GROUP_CAUSE_DEAD)
		return snprintf(text, size,
				"an aggregator is dead, or cannot be reached");
	if (fault->rank == GROUP_NOBODY)
		return snprintf(text, size, "the group %s",
				cause_text(fault->cause));
	if (fault->missing == 1)
		return snprintf(text, size, "the aggregator of rank %u %s",
				fault->rank, cause_text(fault->cause));
	if (fault->missing)
		return snprintf(text, size, "the aggregator of ranks %u .. %u %s",
				fault->rank, fault->rank + fault->missing - 1,
				cause_text(fault->cause));
	return snprintf(text, size, "rank %u %s", fault->rank,
			cause_text(fault->cause));
}
