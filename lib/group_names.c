// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Names of what groups do and how they end, and figures of lateness. Pure. */
#include <peerlane.h>

#include <string.h>

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static const char *name(const char *const *names, size_t count, uint32_t i)
{
	return i < count && names[i] ? names[i] : "unknown";
}

static uint32_t find(const char *const *names, size_t count, const char *word)
{
	uint32_t i;

	for (i = 1; i < count; i++)
		if (!strcmp(names[i], word))
			return i;
	return 0;
}

const char *peerlane_collective_name(uint32_t kind)
{
	static const char *const names[] = {
		[PEERLANE_ALL_REDUCE] = "all-reduce",
		[PEERLANE_REDUCE_SCATTER] = "reduce-scatter",
		[PEERLANE_ALL_GATHER] = "all-gather",
		[PEERLANE_REDUCE] = "reduce",
		[PEERLANE_BROADCAST] = "broadcast",
		[PEERLANE_BARRIER] = "barrier",
	};

	return name(names, COUNT(names), kind);
}

static const char *const elements[] = {
	[PEERLANE_F32] = "f32", [PEERLANE_F64] = "f64", [PEERLANE_F16] = "f16",
	[PEERLANE_BF16] = "bf16", [PEERLANE_I8] = "i8", [PEERLANE_I16] = "i16",
	[PEERLANE_I32] = "i32", [PEERLANE_I64] = "i64", [PEERLANE_U8] = "u8",
	[PEERLANE_U16] = "u16", [PEERLANE_U32] = "u32", [PEERLANE_U64] = "u64",
};

const char *peerlane_element_name(uint32_t type)
{
	return name(elements, COUNT(elements), type);
}

uint32_t peerlane_element_find(const char *word)
{
	return find(elements, COUNT(elements), word);
}

uint32_t peerlane_element_size(uint32_t type)
{
	static const uint8_t sizes[] = {
		[PEERLANE_F32] = 4, [PEERLANE_F64] = 8, [PEERLANE_F16] = 2,
		[PEERLANE_BF16] = 2, [PEERLANE_I8] = 1, [PEERLANE_I16] = 2,
		[PEERLANE_I32] = 4, [PEERLANE_I64] = 8, [PEERLANE_U8] = 1,
		[PEERLANE_U16] = 2, [PEERLANE_U32] = 4, [PEERLANE_U64] = 8,
	};

	return type < COUNT(sizes) ? sizes[type] : 0;
}

static const char *const combinations[] = {
	[PEERLANE_SUM] = "sum", [PEERLANE_AVG] = "avg", [PEERLANE_MIN] = "min",
	[PEERLANE_MAX] = "max", [PEERLANE_PROD] = "prod",
	[PEERLANE_BAND] = "band", [PEERLANE_BOR] = "bor",
	[PEERLANE_BXOR] = "bxor",
};

const char *peerlane_combination_name(uint32_t op)
{
	return name(combinations, COUNT(combinations), op);
}

uint32_t peerlane_combination_find(const char *word)
{
	return find(combinations, COUNT(combinations), word);
}

static const char *const places[] = {
	[PEERLANE_PLACE_AUTO] = "auto",
	[PEERLANE_PLACE_DEDICATED] = "dedicated",
	[PEERLANE_PLACE_COLOCATED] = "colocated",
	[PEERLANE_PLACE_REPLICATED] = "replicated",
	[PEERLANE_PLACE_TREE] = "tree",
};

const char *peerlane_place_name(uint32_t place)
{
	return name(places, COUNT(places), place);
}

uint32_t peerlane_place_find(const char *word)
{
	uint32_t found = find(places, COUNT(places), word);

	return found || !strcmp(word, places[0]) ? found : UINT32_MAX;
}

const char *peerlane_ending_name(uint32_t cause)
{
	static const char *const names[] = {
		[PEERLANE_ENDING_NONE] = "none",
		[PEERLANE_ENDING_LEFT] = "left",
		[PEERLANE_ENDING_DEAD] = "dead",
		[PEERLANE_ENDING_LATE] = "late",
		[PEERLANE_ENDING_MISMATCH] = "mismatch",
		[PEERLANE_ENDING_REVOKED] = "revoked",
		[PEERLANE_ENDING_PROTOCOL] = "protocol",
		[PEERLANE_ENDING_CLOSED] = "closed",
		[PEERLANE_ENDING_SHAPE] = "shape",
		[PEERLANE_ENDING_TAKEN] = "taken",
		[PEERLANE_ENDING_FULL] = "full",
		[PEERLANE_ENDING_JOIN] = "join",
		[PEERLANE_ENDING_UNABLE] = "unable",
		[PEERLANE_ENDING_BLOCK] = "block",
	};

	return name(names, COUNT(names), cause);
}

const char *peerlane_group_state_name(uint32_t state)
{
	static const char *const names[] = {
		"new", "joining", "joined", "ending", "ended",
	};

	return name(names, COUNT(names), state);
}

const char *peerlane_lane_cause_name(uint32_t cause)
{
	static const char *const names[] = {
		"none", "unanswered", "silent", "peer",
	};

	return name(names, COUNT(names), cause);
}

const char *peerlane_lane_state_name(uint32_t state)
{
	static const char *const names[] = {
		"none", "live", "leaving", "left",
	};

	return name(names, COUNT(names), state);
}

/* ---- lateness ------------------------------------------------------------------ */

/* The sample of that rank is in the bucket; buckets are powers of two. */
uint64_t peerlane_lateness_percentile(const uint32_t late[PEERLANE_LATENESS],
				      uint32_t millionths)
{
	uint64_t samples = 0, wanted;
	uint32_t i;

	for (i = 0; i < PEERLANE_LATENESS; i++)
		samples += late[i];
	if (!samples)
		return 0;
	if (millionths > 1000000)
		millionths = 1000000;
	wanted = (samples * millionths + 999999) / 1000000;
	if (!wanted)
		wanted = 1;
	for (i = 0; late[i] < wanted; i++)
		wanted -= late[i];
	return i ? (UINT64_C(1) << i) + (UINT64_C(1) << i) / 2 : 0;
}
