// SPDX-License-Identifier: GPL-2.0
/* peerlane bench: what of it is pure. */
#include <stdlib.h>

#include "tap.h"

#include "../../utils/bench_options.h"
#include "../../utils/histogram.h"
#include "../../utils/latency.h"

/* ---- times ---------------------------------------------------------------- */

static struct latency latency;

/* Each time lies in its bucket, and buckets follow each other. */
static void latency_buckets(void)
{
	uint32_t i;

	CHECK_INT(latency_edge(0), 0);
	for (i = 0; i < LATENCY_BUCKETS - 1; i++) {
		CHECK(latency_edge(i) < latency_edge(i + 1));
		CHECK_INT(latency_bucket(latency_edge(i)), i);
		CHECK_INT(latency_bucket(latency_edge(i + 1) - 1), i);
	}
	CHECK_INT(latency_bucket(UINT64_MAX), LATENCY_BUCKETS - 1);
}

/* As struct histogram wants it */
static void latency_powers_of_two_are_edges(void)
{
	int shift;

	for (shift = 0; shift < 42; shift++) {
		uint64_t value = UINT64_C(1) << shift;

		CHECK_INT(latency_edge(latency_bucket(value)), value);
	}
}

static void latency_is_precise(void)
{
	uint64_t value;

	for (value = 100; value < 1000000000; value = value * 5 / 4) {
		latency_reset(&latency);
		latency_add(&latency, value);
		latency_add(&latency, 10 * value);
		CHECK(latency_percentile(&latency, 500000) * 1000 >=
		      value * 984);
		CHECK(latency_percentile(&latency, 500000) * 1000 <=
		      value * 1016);
	}
}

static void latency_without_samples(void)
{
	latency_reset(&latency);
	CHECK_INT(latency_percentile(&latency, 500000), 0);
	CHECK_INT(latency_mean(&latency), 0);
	CHECK_INT(latency.min, 0);
	CHECK_INT(latency.max, 0);
}

static void latency_of_one_sample(void)
{
	latency_reset(&latency);
	latency_add(&latency, 123457);
	CHECK_INT(latency_percentile(&latency, 0), 123457);
	CHECK_INT(latency_percentile(&latency, 500000), 123457);
	CHECK_INT(latency_percentile(&latency, 1000000), 123457);
	CHECK_INT(latency_mean(&latency), 123457);
}

static void latency_percentiles(void)
{
	uint64_t i;

	latency_reset(&latency);
	for (i = 1; i <= 60; i++)
		latency_add(&latency, i);
	CHECK_INT(latency.min, 1);
	CHECK_INT(latency.max, 60);
	CHECK_INT(latency_percentile(&latency, 500000), 30);
	CHECK_INT(latency_percentile(&latency, 990000), 60);
	CHECK_INT(latency_percentile(&latency, 100000), 6);
	CHECK_INT(latency_mean(&latency), 30);
}

static void latency_of_a_long_wait(void)
{
	latency_reset(&latency);
	latency_add(&latency, UINT64_MAX / 2);
	CHECK(latency_percentile(&latency, 500000) == UINT64_MAX / 2);
}

static void latency_as_a_histogram(void)
{
	const struct histogram fine = {
		latency.counts, LATENCY_BUCKETS, latency_edge
	};
	struct histogram_row rows[HISTOGRAM_ROWS];

	latency_reset(&latency);
	latency_add(&latency, 5);
	latency_add(&latency, 1000);
	latency_add(&latency, 1023);
	CHECK_INT(histogram_rows(&fine, rows), 8);
	CHECK_INT(rows[0].low, 4);
	CHECK_INT(rows[0].samples, 1);
	CHECK_INT(rows[7].low, 512);
	CHECK_INT(rows[7].high, 1024);
	CHECK_INT(rows[7].samples, 2);
}

/* ---- sizes ---------------------------------------------------------------- */

static void sizes(void)
{
	static const struct {
		const char *text;
		uint64_t size;
	} rows[] = {
		{ "1", 1 }, { "4096", 4096 }, { "64k", 65536 }, { "64K", 65536 },
		{ "1m", 1048576 }, { "2M", 2097152 }, { "1g", 1073741824 },
		{ "0001", 1 },
	};
	uint64_t size;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK(bench_parse_size(rows[i].text, &size));
		CHECK_INT(size, rows[i].size);
	}
}

static void sizes_that_are_none(void)
{
	static const char *const rows[] = {
		"", "0", "0k", "-1", "+1", " 1", "1 ", "k", "1kk", "1kb", "1.5k",
		"2g", "1073741825", "99999999999999999999", "0x10", "1t", "4096,",
		"18446744073709551615g", "1\xeb",
	};
	uint64_t size = 77;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!CHECK(!bench_parse_size(rows[i], &size)))
			printf("# %s\n", rows[i]);
	CHECK_INT(size, 77);
}

/* ---- options -------------------------------------------------------------- */

static struct bench_options got;
static char reason[BENCH_REASON];

/* @line has one blank between words. */
static bool parse(enum bench_test test, const char *line)
{
	static char copy[600];
	char *words[64] = { "bench" }, *rest = copy, *word;
	int count = 1;

	snprintf(copy, sizeof(copy), "%s", line);
	reason[0] = '\0';
	while ((word = strsep(&rest, " ")))
		if (*word)
			words[count++] = word;
	return bench_options_parse(&got, test, count, words, reason);
}

static void options_by_default(void)
{
	CHECK(parse(BENCH_GET, ""));
	CHECK_INT(got.test, BENCH_GET);
	CHECK(!got.peer && !got.device && !got.secret);
	CHECK_INT(got.port, BENCH_PORT);
	bench_default_sizes(&got);
	CHECK_INT(got.size_count, 1);
	CHECK_INT(got.sizes[0], 65536);
	CHECK(parse(BENCH_LAT, ""));
	bench_default_sizes(&got);
	CHECK_INT(got.sizes[0], 8);
}

static void options_short(void)
{
	CHECK(parse(BENCH_PUT, "10.0.0.2 -s 4096,64k -n 10 -q 4 -t 64 -l 8 -p 99 -b -d rxe0 -j"));
	CHECK_STR(got.peer, "10.0.0.2");
	CHECK_INT(got.size_count, 2);
	CHECK_INT(got.sizes[1], 65536);
	CHECK_INT(got.iterations, 10);
	CHECK_INT(got.lanes, 4);
	CHECK_INT(got.depth, 64);
	CHECK_INT(got.list, 8);
	CHECK_INT(got.port, 99);
	CHECK(got.both && got.json);
	CHECK_STR(got.rdma_device, "rxe0");
}

static void options_long(void)
{
	CHECK(parse(BENCH_PUT, "--device gpu0 --flush --busy-poll --check --histogram --separate --quiet 16 --source 10.0.0.1 --timeout 100 --secret x --duration 3 host --pretty"));
	CHECK_STR(got.device, "gpu0");
	CHECK(got.flush && got.busy_poll && got.check && got.histogram);
	CHECK(got.separate && got.pretty);
	CHECK_INT(got.quiet, 16);
	CHECK_STR(got.source, "10.0.0.1");
	CHECK_INT(got.timeout, 100);
	CHECK_STR(got.secret, "x");
	CHECK_INT(got.duration, 3);
	CHECK_STR(got.peer, "host");
}

static void options_host_memory_is_the_last_word(void)
{
	CHECK(parse(BENCH_PUT, "--device gpu0 --host"));
	CHECK(!got.device);
}

static void options_all_sizes(void)
{
	CHECK(parse(BENCH_PUT, "-a"));
	bench_default_sizes(&got);
	CHECK_INT(got.size_count, 23);
	CHECK_INT(got.sizes[0], 2);
	CHECK_INT(got.sizes[22], 8388608);
}

static void options_out_of_range(void)
{
	static const char *const rows[] = {
		"-n 0", "-n x", "-n -1", "-n 4294967296", "-D 0", "-D 86401",
		"-q 0", "-q 17", "-t 0", "-t 4097", "-l 0", "-l 1025", "-p 0",
		"-p 65536", "--timeout 99", "--timeout 600001", "--quiet 0",
		"-s 0", "-s ,", "-s 1,,2", "-s 4096x",
		"-s 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!CHECK(!parse(BENCH_PUT, rows[i]) && *reason))
			printf("# %s\n", rows[i]);
}

static void options_unknown(void)
{
	CHECK(!parse(BENCH_PUT, "-x"));
	CHECK_HAS(reason, "option \"-x\" is unknown");
	CHECK(!parse(BENCH_PUT, "--nonsense"));
	CHECK_HAS(reason, "option \"--nonsense\" is unknown");
	CHECK(!parse(BENCH_PUT, "-s"));
	CHECK_HAS(reason, "option \"-s\" needs a value");
}

static void options_two_hosts(void)
{
	CHECK(!parse(BENCH_PUT, "a b"));
	CHECK_STR(reason, "one host is enough, not \"b\"");
}

/* A reason has an end, whatever was typed. */
static void options_long_words(void)
{
	char line[500];

	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	memcpy(line, "-n ", 3);
	CHECK(!parse(BENCH_PUT, line));
	CHECK(strlen(reason) < BENCH_REASON - 1);
	memcpy(line, "--x", 3);
	CHECK(!parse(BENCH_PUT, line));
	CHECK(strlen(reason) < BENCH_REASON - 1);
}

static void options_that_exclude_each_other(void)
{
	CHECK(!parse(BENCH_PUT, "-n 5 -D 5"));
	CHECK(!parse(BENCH_PUT, "-a -s 5"));
	CHECK(!parse(BENCH_PUT, "--poll-memory"));
	CHECK(!parse(BENCH_GET, "--flush"));
	CHECK(!parse(BENCH_LAT, "-b"));
	CHECK(!parse(BENCH_LAT, "-q 2"));
	CHECK(!parse(BENCH_LAT, "-l 2"));
	CHECK(!parse(BENCH_LAT, "-t 2"));
	CHECK(!parse(BENCH_LAT, "--quiet 2"));
	CHECK(!parse(BENCH_LAT, "--poll-memory -D 1"));
	CHECK(!parse(BENCH_LAT, "--poll-memory --flush"));
	CHECK(!parse(BENCH_PUT, "--quiet 2 -q 2"));
	CHECK(parse(BENCH_LAT, "--flush -D 1"));
	CHECK(parse(BENCH_LAT, "--poll-memory -n 5"));
}

static const struct tap_case cases[] = {
	TAP_CASE(latency_buckets), TAP_CASE(latency_powers_of_two_are_edges),
	TAP_CASE(latency_is_precise), TAP_CASE(latency_without_samples),
	TAP_CASE(latency_of_one_sample), TAP_CASE(latency_percentiles),
	TAP_CASE(latency_of_a_long_wait), TAP_CASE(latency_as_a_histogram),
	TAP_CASE(sizes), TAP_CASE(sizes_that_are_none),
	TAP_CASE(options_by_default), TAP_CASE(options_short),
	TAP_CASE(options_long), TAP_CASE(options_host_memory_is_the_last_word),
	TAP_CASE(options_all_sizes), TAP_CASE(options_out_of_range),
	TAP_CASE(options_unknown), TAP_CASE(options_two_hosts),
	TAP_CASE(options_long_words),
	TAP_CASE(options_that_exclude_each_other),
};

int main(void)
{
	return TAP_RUN(cases);
}
