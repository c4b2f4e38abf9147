// SPDX-License-Identifier: GPL-2.0
/* Which calls of MPI are for a group, and how they go through a buffer. */
#include "tap.h"

#include <limits.h>
#include <stdlib.h>

#include "choose.h"
#include "piece.h"

/* ---- types and operations ------------------------------------------------------ */

static void elements(void)
{
	CHECK_INT(shim_element(SHIM_SIGNED, 1), PEERLANE_I8);
	CHECK_INT(shim_element(SHIM_SIGNED, 8), PEERLANE_I64);
	CHECK_INT(shim_element(SHIM_UNSIGNED, 2), PEERLANE_U16);
	CHECK_INT(shim_element(SHIM_UNSIGNED, 4), PEERLANE_U32);
	CHECK_INT(shim_element(SHIM_FLOAT, 4), PEERLANE_F32);
	CHECK_INT(shim_element(SHIM_FLOAT, 8), PEERLANE_F64);
	CHECK_INT(shim_element(SHIM_BYTE, 1), PEERLANE_U8);
}

static void no_elements(void)
{
	static const int sizes[] = { -1, 0, 3, 10, 12, 16, INT_MAX };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int class = SHIM_OTHER; class <= SHIM_BYTE; class++)
			CHECK_INT(shim_element(class, sizes[i]), 0);
	CHECK_INT(shim_element(SHIM_FLOAT, 2), 0);
	CHECK_INT(shim_element(SHIM_OTHER, 4), 0);
	CHECK_INT(shim_element(SHIM_BYTE + 1, 4), 0);
}

static void operations(void)
{
	for (uint8_t op = PEERLANE_SUM; op <= PEERLANE_BXOR; op++) {
		bool is_of_bits = op >= PEERLANE_BAND;
		bool is_known = op != PEERLANE_AVG;

		CHECK_INT(shim_reduces(SHIM_SIGNED, 4, op), is_known);
		CHECK_INT(shim_reduces(SHIM_UNSIGNED, 8, op), is_known);
		CHECK_INT(shim_reduces(SHIM_FLOAT, 8, op),
			  is_known && !is_of_bits);
		CHECK_INT(shim_reduces(SHIM_BYTE, 1, op), is_of_bits);
		CHECK(!shim_reduces(SHIM_FLOAT, 16, op));
		CHECK(!shim_reduces(SHIM_OTHER, 4, op));
	}
	CHECK(!shim_reduces(SHIM_SIGNED, 4, 0));
	CHECK(!shim_reduces(SHIM_SIGNED, 4, PEERLANE_BXOR + 1));
}

static void bytes(void)
{
	CHECK_INT(shim_bytes(3, 8), 24);
	CHECK_INT(shim_bytes(0, 8), 0);
	CHECK_INT(shim_bytes(-1, 8), 0);
	CHECK_INT(shim_bytes(1, -8), 0);
	CHECK_INT(shim_bytes(INT_MAX, 1), INT_MAX);
	CHECK_INT(shim_bytes(INT_MAX, 2), 0);
	CHECK_INT(shim_bytes(INT_MAX, INT_MAX), 0);
}

static void gathered(void)
{
	CHECK(shim_gathers(1, 1));
	CHECK(shim_gathers(SHIM_GATHERED / 4, 4));
	CHECK(!shim_gathers(SHIM_GATHERED / 4 + 1, 4));
	CHECK(shim_gathers(SHIM_GATHERED / 3, 3));
	CHECK(!shim_gathers(SHIM_GATHERED / 3 + 1, 3));
	CHECK(!shim_gathers(INT_MAX, INT_MAX));
	CHECK(!shim_gathers(0, 4));
	CHECK(!shim_gathers(1, 0));
}

/* ---- the environment -------------------------------------------------------------- */

static const char *said_name, *said_value;
static uint64_t limit = UINT64_MAX;

static char *get(const char *name)
{
	return strcmp(name, said_name) ? NULL : (char *)(uintptr_t)said_value;
}

static bool say(const char *name, const char *value,
		struct shim_settings *settings)
{
	char reason[SHIM_REASON] = "";
	bool good;

	said_name = name;
	said_value = value;
	good = shim_settings(settings, get, limit, reason);
	CHECK(good || strstr(reason, name));
	return good;
}

static void families(void)
{
	static const char open[] = "Open MPI v4.1.4, package: Debian OpenMPI";

	CHECK(shim_is_alike("Open MPI", open));
	CHECK(!shim_is_alike("MPICH", open));
	CHECK(shim_is_alike("MPICH", "MPICH Version:\t4.0.2"));
	CHECK(shim_is_alike("MPICH", "Intel(R) MPI Library 2021.9 for Linux"));
	CHECK(!shim_is_alike("Open MPI", "MPICH Version:\t4.0.2"));
	CHECK(!shim_is_alike("Open MPI", "Open"));
}

static void asked_or_not(void)
{
	char *nothing[] = { NULL };
	char *others[] = { "PATH=/bin", "PEERLANE=1", "LD_PRELOAD=PEERLANE_", "", NULL };
	char *one[] = { "PATH=/bin", "PEERLANE_MPI_VERBOSE=", NULL };

	CHECK(!shim_is_asked(nothing));
	CHECK(!shim_is_asked(others));
	CHECK(shim_is_asked(one));
}

static void nothing_is_said(void)
{
	struct shim_settings settings;

	CHECK(say("PEERLANE_MPI_BUFFER", "", &settings));
	CHECK_INT(settings.buffer, 16 << 20);
	CHECK_INT(settings.verbose, 0);
	CHECK_INT(settings.operation_timeout, 86400000);
}

/* @limit gives a buffer of @buffer, unless that is said. */
static void check_limit(uint64_t bytes, uint64_t buffer)
{
	struct shim_settings settings;

	limit = bytes;
	CHECK(say("PEERLANE_MPI_BUFFER", "", &settings));
	CHECK_INT(settings.buffer, buffer);
	CHECK_INT(settings.operation_timeout, 86400000);
	CHECK(!say("PEERLANE_MPI_BUFFER", "k", &settings));
	CHECK_INT(settings.buffer, buffer);
	CHECK(say("PEERLANE_MPI_BUFFER", "32m", &settings));
	CHECK_INT(settings.buffer, 32 << 20);
	limit = UINT64_MAX;
}

static void a_limit(void)
{
	check_limit(UINT64_MAX, 16 << 20);
	check_limit(32 << 20, 16 << 20);
	check_limit(8 << 20, 4 << 20);
	check_limit(64 << 10, 64 << 10);
	check_limit(0, 64 << 10);
}

static void sizes_and_numbers(void)
{
	struct shim_settings settings;

	CHECK(say("PEERLANE_MPI_BUFFER", "65536", &settings));
	CHECK_INT(settings.buffer, 65536);
	CHECK(say("PEERLANE_MPI_BUFFER", "64K", &settings));
	CHECK_INT(settings.buffer, 65536);
	CHECK(say("PEERLANE_MPI_BUFFER", "2g", &settings));
	CHECK_INT(settings.buffer, INT64_C(2) << 30);
	CHECK(say("PEERLANE_MPI_VERBOSE", "2", &settings));
	CHECK_INT(settings.verbose, 2);
	CHECK(say("PEERLANE_MPI_TIMEOUT", "100", &settings));
	CHECK_INT(settings.timeout, 100);
}

static void nonsense(void)
{
	static const char *const words[] = {
		"64kk", "k", "-1", " 65536", "65536 ", "0", "65535", "1t",
		"99999999999999999999", "1099511627776g", "0x10000",
	};
	struct shim_settings settings;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		CHECK(!say("PEERLANE_MPI_BUFFER", words[i], &settings));
		CHECK_INT(settings.buffer, 16 << 20);
	}
	CHECK(!say("PEERLANE_MPI_TIMEOUT", "1k", &settings));
	CHECK(!say("PEERLANE_MPI_VERBOSE", "yes", &settings));
}

/* ---- pieces ---------------------------------------------------------------------------- */

#define RANKS	3
#define COUNT	10
#define ROOM	(RANKS * 4 * sizeof(uint16_t) + 1)	/* 4 of each block */

static uint16_t outside[RANKS * COUNT], result[RANKS * COUNT];
static char *buffer;

static struct shim_job job_of(uint8_t kind, uint32_t root)
{
	for (uint16_t i = 0; i < RANKS * COUNT; i++) {
		outside[i] = i;
		result[i] = 999;
	}
	return (struct shim_job){ .kind = kind, .type = PEERLANE_U16,
				  .root = root, .count = COUNT,
				  .give = outside, .get = result };
}

/* What is filled in lies where the operation sends from, block by block. */
static void check_filled(const struct shim_plan *plan,
			 const struct shim_piece *piece)
{
	const char *at = buffer + piece->what.send_offset;
	uint16_t value;

	for (uint32_t b = 0; b < plan->gives; b++)
		for (uint64_t i = 0; i < piece->count; i++) {
			memcpy(&value, at, sizeof(value));
			CHECK_INT(value, b * COUNT + piece->first + i);
			at += sizeof(value);
		}
}

static void give_result(const struct shim_plan *plan,
			const struct shim_piece *piece)
{
	char *at = buffer + piece->what.receive_offset;

	for (uint32_t b = 0; b < plan->gets; b++)
		for (uint64_t i = 0; i < piece->count; i++) {
			uint16_t value = (uint16_t)(500 + b * COUNT +
						    piece->first + i);

			memcpy(at, &value, sizeof(value));
			at += sizeof(value);
		}
}

static void go_through(const struct shim_job *job, uint32_t rank)
{
	struct shim_plan plan = shim_plan(job, rank, RANKS, ROOM);
	uint64_t sum = 0;

	buffer = malloc(2 * ROOM);
	for (uint64_t i = 0; i < plan.pieces; i++) {
		struct shim_piece piece = shim_piece(job, &plan, rank, i,
						     i % 2 * ROOM);

		CHECK_INT(piece.what.count, piece.count);
		shim_fill(job, &plan, &piece, buffer);
		check_filled(&plan, &piece);
		give_result(&plan, &piece);
		shim_drain(job, &plan, &piece, buffer);
		sum += piece.count;
	}
	CHECK_INT(sum, COUNT);
	for (uint32_t i = 0; i < RANKS * COUNT; i++)
		CHECK_INT(result[i], i < plan.gets * COUNT ? 500 + i : 999);
	free(buffer);
}

static void each_kind(void)
{
	for (uint8_t kind = PEERLANE_ALL_REDUCE; kind < PEERLANE_BARRIER; kind++)
		for (uint32_t rank = 0; rank < RANKS; rank++) {
			struct shim_job job = job_of(kind, 1);

			go_through(&job, rank);
		}
}

/* Otherwise ranks would call different counts. */
static void pieces_are_alike_on_all_ranks(void)
{
	for (uint8_t kind = PEERLANE_ALL_REDUCE; kind <= PEERLANE_BARRIER; kind++) {
		struct shim_job job = job_of(kind, 2);
		struct shim_plan first = shim_plan(&job, 0, RANKS, ROOM);

		for (uint32_t rank = 1; rank < RANKS; rank++) {
			struct shim_plan plan = shim_plan(&job, rank, RANKS, ROOM);

			CHECK_INT(plan.most, first.most);
			CHECK_INT(plan.pieces, first.pieces);
		}
	}
}

static void in_place_is_this_ranks_part(void)
{
	struct shim_job job = job_of(PEERLANE_ALL_GATHER, 0);
	struct shim_plan plan = shim_plan(&job, 2, RANKS, ROOM);
	struct shim_piece piece = shim_piece(&job, &plan, 2, 0, 100);

	CHECK_INT(piece.what.receive_offset, 100);
	CHECK_INT(piece.what.send_offset, 100 + 2 * 4 * 2);
	job.kind = PEERLANE_REDUCE_SCATTER;
	plan = shim_plan(&job, 2, RANKS, ROOM);
	piece = shim_piece(&job, &plan, 2, 0, 100);
	CHECK_INT(piece.what.send_offset, 100);
	CHECK_INT(piece.what.receive_offset, 100 + 2 * 4 * 2);
}

static void a_barrier_has_no_data(void)
{
	struct shim_job job = { .kind = PEERLANE_BARRIER };
	struct shim_plan plan = shim_plan(&job, 1, RANKS, ROOM);
	struct shim_piece piece = shim_piece(&job, &plan, 1, 0, ROOM);

	CHECK_INT(plan.pieces, 1);
	CHECK_INT(piece.what.kind, PEERLANE_BARRIER);
	CHECK_INT(piece.what.type | piece.what.op, 0);
	CHECK_INT(piece.what.count + piece.what.send_offset +
		  piece.what.receive_offset, 0);
	shim_fill(&job, &plan, &piece, NULL);
	shim_drain(&job, &plan, &piece, NULL);
}

static const struct tap_case cases[] = {
	TAP_CASE(elements),
	TAP_CASE(no_elements),
	TAP_CASE(operations),
	TAP_CASE(bytes),
	TAP_CASE(gathered),
	TAP_CASE(families),
	TAP_CASE(asked_or_not),
	TAP_CASE(nothing_is_said),
	TAP_CASE(a_limit),
	TAP_CASE(sizes_and_numbers),
	TAP_CASE(nonsense),
	TAP_CASE(each_kind),
	TAP_CASE(pieces_are_alike_on_all_ranks),
	TAP_CASE(in_place_is_this_ranks_part),
	TAP_CASE(a_barrier_has_no_data),
};

int main(void)
{
	return TAP_RUN(cases);
}
