// SPDX-License-Identifier: GPL-2.0
/* Figures of collective operations, values to check with, and command lines. */
#include "tap.h"

#include <stdint.h>
#include <stdlib.h>

#include "../../utils/aggregator_options.h"
#include "../../utils/bench_reduce_options.h"
#include "../../utils/collective.h"
#include "../../utils/lateness.h"

/* ---- figures ------------------------------------------------------------------ */

static bool near(double got, double want)
{
	return got > want * 0.999999 && got < want * 1.000001;
}

static void bandwidth(void)
{
	/* 1 GB in 1 s */
	CHECK(near(collective_algbw(1000000000, 1000000000), 1));
	CHECK(collective_algbw(5, 0) == 0);
	CHECK(near(collective_busbw(PEERLANE_ALL_REDUCE, 4, 8, 1), 12));
	CHECK(near(collective_busbw(PEERLANE_ALL_REDUCE, 2, 8, 1), 8));
	CHECK(near(collective_busbw(PEERLANE_REDUCE_SCATTER, 4, 8, 1), 6));
	CHECK(near(collective_busbw(PEERLANE_ALL_GATHER, 4, 8, 1), 6));
	CHECK(near(collective_busbw(PEERLANE_REDUCE, 4, 8, 1), 8));
	CHECK(near(collective_busbw(PEERLANE_BROADCAST, 4, 8, 1), 8));
	CHECK(collective_busbw(PEERLANE_BARRIER, 4, 8, 1) == 0);
	CHECK(collective_busbw(PEERLANE_ALL_REDUCE, 1, 8, 1) == 0);
	CHECK(collective_busbw(PEERLANE_ALL_REDUCE, 0, 8, 1) == 0);
}

/* ---- values -------------------------------------------------------------------- */

static void every_type_keeps_small_numbers(void)
{
	uint64_t memory[4];
	uint32_t type;
	int value;

	for (type = 1; type <= 12; type++)
		for (value = 0; value < 128; value++) {
			memset(memory, 0xff, sizeof(memory));
			collective_put(memory, type, 3, value);
			if (!CHECK(collective_get(memory, type, 3) == value))
				printf("# type %u, %d\n", type, value);
		}
}

static void halves(void)
{
	static const struct {
		double value;
		uint16_t f16, bf16;
	} rows[] = {
		{ 0, 0, 0 }, { 1, 0x3c00, 0x3f80 }, { 1.5, 0x3e00, 0x3fc0 },
		{ 2, 0x4000, 0x4000 }, { 65504, 0x7bff, 0x4780 },
		{ 2049, 0x6800, 0x4500 }, { 2051, 0x6802, 0x4500 },
		{ 257, 0x5c04, 0x4380 }, { 0.5, 0x3800, 0x3f00 },
	};
	uint16_t got;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		collective_put(&got, PEERLANE_F16, 0, rows[i].value);
		CHECK_INT(got, rows[i].f16);
		collective_put(&got, PEERLANE_BF16, 0, rows[i].value);
		CHECK_INT(got, rows[i].bf16);
	}
	/* what spoilt memory has is no number, or none that is expected */
	got = 0xffff;
	CHECK(!(collective_get(&got, PEERLANE_F16, 0) == 0));
	CHECK(!(collective_get(&got, PEERLANE_BF16, 0) == 0));
}

static void integers_wrap(void)
{
	int8_t small;
	uint8_t plain;

	collective_put(&small, PEERLANE_I8, 0, 200);
	CHECK_INT(small, -56);
	CHECK(collective_get(&small, PEERLANE_I8, 0) == -56);
	collective_put(&plain, PEERLANE_U8, 0, 300);
	CHECK(collective_get(&plain, PEERLANE_U8, 0) == 44);
}

static double given(uint32_t op, uint32_t rank, uint64_t index)
{
	return collective_given(op, 3, rank, index);
}

static void expected_is_what_the_given_make(void)
{
	uint64_t i;

	for (i = 0; i < 3 * COLLECTIVE_PERIOD; i++) {
		CHECK(collective_expected(PEERLANE_I32, PEERLANE_SUM, 3, i) ==
		      given(PEERLANE_SUM, 0, i) + given(PEERLANE_SUM, 1, i) +
		      given(PEERLANE_SUM, 2, i));
		CHECK(collective_expected(PEERLANE_I32, PEERLANE_PROD, 3, i) ==
		      given(PEERLANE_PROD, 0, i) * given(PEERLANE_PROD, 1, i) *
		      given(PEERLANE_PROD, 2, i));
		CHECK(collective_expected(PEERLANE_U8, PEERLANE_BXOR, 3, i) ==
		      ((int)given(PEERLANE_BXOR, 0, i) ^
		       (int)given(PEERLANE_BXOR, 1, i) ^
		       (int)given(PEERLANE_BXOR, 2, i)));
		CHECK(collective_expected(PEERLANE_F64, PEERLANE_AVG, 1, i) ==
		      collective_given(PEERLANE_AVG, 1, 0, i));
	}
}

static void averages_are_rounded_once(void)
{
	uint64_t i;
	double sum;

	for (i = 0; i < COLLECTIVE_PERIOD; i++) {
		sum = collective_expected(PEERLANE_F64, PEERLANE_SUM, 3, i);
		CHECK(collective_expected(PEERLANE_F32, PEERLANE_AVG, 3, i) ==
		      (double)((float)sum / 3.0F));
		CHECK(collective_expected(PEERLANE_I16, PEERLANE_AVG, 3, i) ==
		      (int)sum / 3);
	}
}

/* What of another rank, or from elsewhere, is not taken for right. */
static void values_tell_places_apart(void)
{
	static const uint64_t shifts[] = { 1, 4, 1024, 16384, 65536, 1048576 };
	size_t s;
	int same, i;

	for (s = 0; s < sizeof(shifts) / sizeof(shifts[0]); s++) {
		for (same = 0, i = 0; i < 1000; i++)
			same += given(PEERLANE_SUM, 0, i) ==
				given(PEERLANE_SUM, 0, i + shifts[s]);
		CHECK(same < 500);
	}
	for (i = 0; i < 1000; i++)
		CHECK(given(PEERLANE_SUM, 0, i) != given(PEERLANE_SUM, 1, i));
}

/* ---- command lines ------------------------------------------------------------------ */

static char *words[64];
static char copy[6000];

static int split(const char *line)
{
	char *rest = copy, *word;
	int count = 1;

	snprintf(copy, sizeof(copy), "%s", line);
	words[0] = copy + sizeof(copy) - 1;
	while ((word = strsep(&rest, " ")))
		if (*word)
			words[count++] = word;
	words[count] = NULL;
	return count;
}

static struct reduce_options reduce;
static char reason[REDUCE_REASON];

static bool parse(const char *line)
{
	int count = split(line);

	return reduce_options_parse(&reduce, count, words, reason);
}

static void reduce_by_default(void)
{
	CHECK(parse(""));
	CHECK_INT(reduce.rank, -1);
	CHECK_INT(reduce.ranks, 0);
	CHECK_INT(reduce.from, 1048576);
	CHECK_INT(reduce.to, 1048576);
	CHECK_INT(reduce.type, PEERLANE_F32);
	CHECK_INT(reduce.op, PEERLANE_SUM);
	CHECK_STR(reduce.aggregators, "");
	CHECK_INT(reduce_next_size(&reduce, 0), 1048576);
	CHECK_INT(reduce_next_size(&reduce, 1048576), 0);
}

static void reduce_with_all(void)
{
	CHECK(parse("--rank 1 --size 4 -a a:1 --aggregator b,c d -b 8 -e 1k -f 4 -n 7 -w 0 --type bf16 --op max --in-place --check --device gpu0 -d rxe0 --source s --secret x --group g --segment 4k --window 9 --block 2 -q 3 --timeout 100 --op-timeout 200 --join-timeout 300 -j"));
	CHECK_INT(reduce.rank, 1);
	CHECK_INT(reduce.ranks, 4);
	CHECK_STR(reduce.aggregators, "a:1,b,c,d");
	CHECK_INT(reduce.iterations, 7);
	CHECK_INT(reduce.warmups, 0);
	CHECK_INT(reduce.type, PEERLANE_BF16);
	CHECK_INT(reduce.op, PEERLANE_MAX);
	CHECK(reduce.in_place && reduce.check && reduce.json);
	CHECK_STR(reduce.device, "gpu0");
	CHECK_STR(reduce.rdma_device, "rxe0");
	CHECK_INT(reduce.segment, 4096);
	CHECK_INT(reduce.window, 9);
	CHECK_INT(reduce.block, 2);
	CHECK_INT(reduce.lanes, 3);
	CHECK_INT(reduce.timeout, 100);
	CHECK_INT(reduce.operation_timeout, 200);
	CHECK_INT(reduce.join_timeout, 300);
	CHECK_INT(reduce_next_size(&reduce, 0), 8);
	CHECK_INT(reduce_next_size(&reduce, 8), 32);
	CHECK_INT(reduce_next_size(&reduce, 256), 1024);
	CHECK_INT(reduce_next_size(&reduce, 512), 0);
}

static void sizes_come_to_an_end(void)
{
	uint64_t bytes = 0;
	int count = 0;

	CHECK(parse("-b 4 -e 16g"));
	while ((bytes = reduce_next_size(&reduce, bytes)))
		count++;
	CHECK_INT(count, 33);
}

static void aggregators_have_an_end(void)
{
	char line[5200];

	memset(line, 'x', sizeof(line));
	memcpy(line, "-a ", 3);
	line[PEERLANE_AGGREGATORS_TEXT + 1] = '\0';
	CHECK(parse(line));
	strcat(line, " y");
	CHECK(!parse(line));
	CHECK(strlen(reason) < REDUCE_REASON - 1);
}

static void aggregator_lines(void)
{
	struct aggregator_options got;
	char why[AGGREGATOR_REASON];
	int count = split("-l [::1]:5 --memory 4g --max-groups 2 --join-timeout 100 -d rxe0 --device rxe1");

	CHECK(aggregator_options_parse(&got, count, words, why));
	CHECK_STR(got.listen, "[::1]:5");
	CHECK(got.memory == UINT64_C(4) << 30);
	CHECK_INT(got.max_groups, 2);
	CHECK_INT(got.join_timeout, 100);
	CHECK_STR(got.rdma_device, "rxe1");
	count = split("--memory 1");
	CHECK(!aggregator_options_parse(&got, count, words, why));
	count = split("");
	CHECK(!aggregator_options_parse(&got, count, words, why));
	CHECK_HAS(why, "how much memory?");
}

/* ---- words --------------------------------------------------------------------------- */

static void who_was_late(void)
{
	struct peerlane_rank_status ranks[3] = {
		{ .rank = 0, .segments = 10, .late_total = 10, .last = 1 },
		{ .rank = 1, .segments = 10, .late_total = 12, .last = 1 },
		{ .rank = 7, .segments = 10, .late_total = 20000000, .last = 8,
		  .late_max = 4000000, .late = { [20] = 10 } },
	};
	char said[LATENESS_WORDS];

	lateness_words(ranks, 3, said);
	CHECK_STR(said, "rank 7 was late: last to 80% of the segments, half of them by more than 1.57ms, at most by 4ms");
	lateness_words(ranks, 2, said);
	CHECK_STR(said, "no rank was later than the others");
	lateness_words(ranks, 1, said);
	CHECK_STR(said, "one rank is never late");
	memset(ranks, 0, sizeof(ranks));
	lateness_words(ranks, 3, said);
	CHECK_STR(said, "no data came");
	/* as large as can be */
	memset(ranks, 0xff, sizeof(ranks));
	lateness_words(ranks, 3, said);
	CHECK_STR(said, "no rank was later than the others");
}

static void how_it_ended(void)
{
	char said[LATENESS_WORDS];
	uint32_t cause;

	ending_words(PEERLANE_ENDING_LATE, 3, said);
	CHECK_STR(said, "rank 3 did not come to an operation in time");
	ending_words(PEERLANE_ENDING_NONE, PEERLANE_NOBODY, said);
	CHECK_STR(said, "all ranks left");
	ending_words(PEERLANE_ENDING_JOIN, PEERLANE_NOBODY, said);
	CHECK_STR(said, "a rank did not join in time");
	for (cause = 0; cause < 20; cause++)
		ending_words(cause, UINT32_MAX - 1, said);
	CHECK_STR(said, "rank 4294967294 ended the group");
}

static const struct tap_case cases[] = {
	TAP_CASE(bandwidth), TAP_CASE(every_type_keeps_small_numbers),
	TAP_CASE(halves), TAP_CASE(integers_wrap),
	TAP_CASE(expected_is_what_the_given_make),
	TAP_CASE(averages_are_rounded_once), TAP_CASE(values_tell_places_apart),
	TAP_CASE(reduce_by_default), TAP_CASE(reduce_with_all),
	TAP_CASE(sizes_come_to_an_end), TAP_CASE(aggregators_have_an_end),
	TAP_CASE(aggregator_lines), TAP_CASE(who_was_late),
	TAP_CASE(how_it_ended),
};

int main(void)
{
	return TAP_RUN(cases);
}
