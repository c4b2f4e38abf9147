// SPDX-License-Identifier: GPL-2.0
/* Who has contributed to which segment, who was late, and who called what. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "group_table.h"

/* ---- memory ---- */

size_t group_table_size(u32 members, u32 window)
{
	return window * (sizeof(struct group_place) +
			 members * sizeof(struct group_told)) +
	       members * sizeof(struct group_rank_stats);
}

void group_table_init(struct group_table *table, void *memory,
		      const struct group_shape *shape,
		      const struct group_members *members, u32 index, u32 window)
{
	struct group_place *places = memory;
	struct group_told *told = (void *)(places + window);
	u32 i;

	*table = (struct group_table){
		.shape = *shape, .members = *members,
		.index = index, .window = window,
		.places = places,
		.stats = (void *)(told + (size_t)window * members->count),
	};
	for (i = 0; i < window; i++, told += members->count) {
		places[i].n = i;
		places[i].told = told;
	}
}

struct group_place *group_table_place(struct group_table *table, u64 n)
{
	return &table->places[n % table->window];
}

/* ---- mismatch ---- */

/* 0: the same; else the first enum group_field that differs */
static u32 differs(const struct group_part *one, const struct group_part *other)
{
	/* Calls of different operations may well differ. */
	if (one->seq != other->seq)
		return GROUP_FIELD_SEQ;
	if (one->call.kind != other->call.kind)
		return GROUP_FIELD_KIND;
	if (one->call.type != other->call.type)
		return GROUP_FIELD_TYPE;
	if (one->call.op != other->call.op)
		return GROUP_FIELD_OP;
	if (one->call.root != other->call.root)
		return GROUP_FIELD_ROOT;
	if (one->call.count != other->call.count)
		return GROUP_FIELD_COUNT;
	if (one->call.way != other->call.way)
		return GROUP_FIELD_WAY;
	return one->index != other->index ? GROUP_FIELD_INDEX : 0;
}

static u64 value_of(const struct group_part *part, u32 field)
{
	switch (field) {
	case GROUP_FIELD_KIND:
		return part->call.kind;
	case GROUP_FIELD_TYPE:
		return part->call.type;
	case GROUP_FIELD_OP:
		return part->call.op;
	case GROUP_FIELD_ROOT:
		return part->call.root;
	case GROUP_FIELD_COUNT:
		return part->call.count;
	case GROUP_FIELD_WAY:
		return part->call.way;
	case GROUP_FIELD_SEQ:
		return part->seq;
	}
	return part->index;
}

/* Ranks that said the same as @rank */
static u32 count_alike(const struct group_table *table,
		       const struct group_place *place, u32 rank)
{
	u32 i, count = 0;

	for (i = 0; i < table->members.count; i++)
		if (place->told[i].is_there &&
		    !differs(&place->told[i].part, &place->told[rank].part))
			count++;
	return count;
}

/* The lowest rank of those that said what most did. */
static u32 find_most(const struct group_table *table,
		     const struct group_place *place)
{
	u32 rank, count, most = 0, most_rank = place->first;

	/* No later one can be of a larger part than what is left. */
	for (rank = 0; rank < table->members.count && most * 2 < place->count;
	     rank++) {
		if (!place->told[rank].is_there)
			continue;
		count = count_alike(table, place, rank);
		if (count <= most)
			continue;
		most = count;
		most_rank = rank;
	}
	return most_rank;
}

/* The lowest rank that is there, or is not, and differs from @other if given. */
static u32 find_rank(const struct group_table *table,
		     const struct group_place *place, bool is_there, u32 other)
{
	const struct group_told *told = place->told;
	u32 i;

	for (i = 0; i < table->members.count; i++)
		if (told[i].is_there == is_there &&
		    (!is_there || differs(&told[i].part, &told[other].part)))
			return i;
	return GROUP_NOBODY;
}

static void set_mismatch(const struct group_table *table,
			 const struct group_place *place,
			 struct group_fault *fault)
{
	u32 other = find_most(table, place);
	u32 rank = find_rank(table, place, true, other);
	const struct group_part *odd = &place->told[rank].part;
	const struct group_part *good = &place->told[other].part;
	u32 field = differs(odd, good);

	*fault = (struct group_fault){
		.cause = GROUP_CAUSE_MISMATCH,
		.rank = group_member_rank(&table->members, rank),
		.other = group_member_rank(&table->members, other),
		.seq = min(odd->seq, good->seq), .field = field,
		.value = value_of(odd, field),
		.expected = value_of(good, field),
	};
}

/* ---- lateness ---- */

static u32 bucket_of(u64 ns)
{
	u32 bucket = 0;

	while (ns >>= 1)
		bucket++;
	return min_t(u32, bucket, GROUP_LATENESS_BUCKETS - 1);
}

static void count_part(struct group_table *table,
		       const struct group_place *place, u32 rank)
{
	const struct group_told *told = &place->told[rank];
	struct group_rank_stats *stats = &table->stats[rank];
	/* Who has the clock may read it before he has the lock. */
	u64 late = told->at > place->first_at ? told->at - place->first_at : 0;

	stats->segments++;
	stats->bytes += told->part.bytes;
	stats->late_total += late;
	stats->late_max = max(stats->late_max, late);
	stats->late[bucket_of(late)]++;
	if (place->count == table->members.count)
		stats->last++;
}

/* ---- contributions ---- */

/* Nothing that is said is used before this has looked at it. */
static bool part_is_good(const struct group_table *table, u32 rank,
			 const struct group_part *part)
{
	const struct group_members *members = &table->members;
	const struct group_shape *shape = &table->shape;
	struct group_segment segment;
	u32 bytes = 0;

	if (group_call_check(shape, &part->call) ||
	    part->index >= group_plan_segments(shape, &part->call))
		return false;
	group_plan_segment(shape, &part->call, part->seq, part->index, &segment);
	if (segment.aggregator != table->index)
		return false;
	if (group_member_contributes(members, rank, &segment))
		bytes = group_member_bytes(members, &segment);
	if (part->bytes != bytes)
		return false;
	return part->token || !segment.bytes ||
	       !group_member_receives(members, rank, &segment);
}

static void tell(struct group_table *table, struct group_place *place, u32 rank,
		 const struct group_part *part, u64 now)
{
	struct group_told *told = &place->told[rank];

	*told = (struct group_told){ .part = *part, .at = now, .is_there = true };
	if (!place->count++) {
		place->state = GROUP_PLACE_FILLING;
		place->first = rank;
		place->first_at = now;
	} else if (differs(part, &place->told[place->first].part)) {
		place->odd++;
	}
	place->last_at = now;
	count_part(table, place, rank);
}

static int blame(const struct group_table *table, u32 rank,
		 const struct group_part *part, struct group_fault *fault)
{
	*fault = (struct group_fault){
		.cause = GROUP_CAUSE_PROTOCOL,
		.rank = group_member_rank(&table->members, rank),
		.other = GROUP_NOBODY, .seq = part->seq,
	};
	return -EPROTO;
}

int group_table_contribute(struct group_table *table, u32 rank,
			   const struct group_part *part, u64 now,
			   struct group_fault *fault)
{
	struct group_place *place = group_table_place(table, part->n);

	/* What is said again after a lane failed is one window, perhaps twice. */
	if (part->n < place->n ||
	    (part->n == place->n && place->told[rank].is_there))
		return ++table->stats[rank].repeats <= GROUP_REPEATS_MAX ? 0 :
		       blame(table, rank, part, fault);
	if (part->n > place->n || !part_is_good(table, rank, part))
		return blame(table, rank, part, fault);
	table->stats[rank].repeats = 0;
	tell(table, place, rank, part, now);
	if (place->count < table->members.count)
		return 0;
	/* It stays FILLING: nobody shall use it. */
	if (place->odd) {
		set_mismatch(table, place, fault);
		return -EBADE;
	}
	place->state = GROUP_PLACE_FULL;
	return 1;
}

void group_table_done(struct group_table *table, u64 n)
{
	struct group_place *place = group_table_place(table, n);
	u32 i;

	for (i = 0; i < table->members.count; i++)
		place->told[i].is_there = false;
	place->state = GROUP_PLACE_EMPTY;
	place->count = 0;
	place->odd = 0;
	place->n += table->window;
}

/* ---- what is left ---- */

static const struct group_place *find_oldest(const struct group_table *table)
{
	const struct group_place *place, *oldest = NULL;
	u32 i;

	for (i = 0; i < table->window; i++) {
		place = &table->places[i];
		if (place->state == GROUP_PLACE_FILLING &&
		    (!oldest || place->first_at < oldest->first_at))
			oldest = place;
	}
	return oldest;
}

static u32 count_missing(const struct group_table *table,
			 const struct group_place *place)
{
	u32 i, rank, count = 0;

	for (i = 0; i < table->members.count; i++) {
		rank = group_member_rank(&table->members, i);
		if (!place->told[i].is_there)
			count += min(table->members.unit, table->shape.size - rank);
	}
	return count;
}

bool group_table_late(const struct group_table *table, u64 now, u64 limit,
		      struct group_fault *fault)
{
	const struct group_place *place = find_oldest(table);

	if (!place || now < place->first_at || now - place->first_at < limit)
		return false;
	if (place->odd) {
		set_mismatch(table, place, fault);
		return true;
	}
	*fault = (struct group_fault){
		.cause = GROUP_CAUSE_LATE, .other = GROUP_NOBODY,
		.rank = group_member_rank(&table->members,
					  find_rank(table, place, false, 0)),
		.missing = count_missing(table, place),
		.seq = place->told[place->first].part.seq,
	};
	return true;
}

static u32 find_last(const struct group_table *table,
		     const struct group_place *place)
{
	u32 i, last = 0;

	for (i = 1; i < table->members.count; i++)
		if (place->told[i].at > place->told[last].at)
			last = i;
	return last;
}

bool group_table_slow(const struct group_table *table, u64 seq,
		      struct group_fault *fault)
{
	const struct group_place *place;
	u32 i;

	if (group_table_late(table, U64_MAX, 0, fault))
		return true;
	for (i = 0; i < table->window; i++) {
		place = &table->places[i];
		if (place->state != GROUP_PLACE_FULL ||
		    place->told[0].part.seq != seq)
			continue;
		*fault = (struct group_fault){
			.cause = GROUP_CAUSE_LATE, .other = GROUP_NOBODY,
			.rank = group_member_rank(&table->members,
						  find_last(table, place)),
			.missing = 1, .seq = seq,
		};
		return true;
	}
	return false;
}

bool group_table_is_busy(const struct group_table *table)
{
	u32 i;

	for (i = 0; i < table->window; i++)
		if (table->places[i].state != GROUP_PLACE_EMPTY)
			return true;
	return false;
}
