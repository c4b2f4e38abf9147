// SPDX-License-Identifier: GPL-2.0
/* The parts of the command that know no library, terminal or socket. */
#include <stdint.h>
#include <stdlib.h>

#include "tap.h"

#include "../../utils/histogram.h"
#include "../../utils/openmetrics.h"
#include "../../utils/rate.h"
#include "../../utils/top_state.h"
#include "../../utils/units.h"
#include "../../utils/utf8.h"

/* ---- rates -------------------------------------------------------------- */

static void rate_known(void)
{
	struct rate rate = rate_of(1000, 3000, 500000000);

	CHECK_INT(rate.state, RATE_KNOWN);
	CHECK_INT(rate.delta, 2000);
	CHECK_INT(rate.per_second, 4000);
	CHECK_INT(rate_of(7, 7, 1).per_second, 0);
	CHECK_INT(rate_of(0, 1, 1999999999).per_second, 1);
	CHECK_INT(rate_of(0, 1, 2000000001).per_second, 0);
}

static void rate_without_time(void)
{
	CHECK_INT(rate_of(1, 5, 0).state, RATE_UNKNOWN);
}

static void rate_of_a_reset_counter(void)
{
	CHECK_INT(rate_of(5, 1, 1000).state, RATE_RESET);
	CHECK_INT(rate_of(UINT64_MAX, 0, 0).state, RATE_RESET);
}

static void rate_does_not_overflow(void)
{
	CHECK(rate_of(0, UINT64_MAX, 1).per_second == UINT64_MAX);
	CHECK(rate_of(0, UINT64_MAX, 1000000000).per_second == UINT64_MAX);
	CHECK(rate_of(0, UINT64_MAX, UINT64_MAX).per_second == 1000000000);
}

static void shares(void)
{
	CHECK_INT(rate_share(0, 0), 0);
	CHECK_INT(rate_share(1, 3), 3333);
	CHECK_INT(rate_share(2, 3), 6667);
	CHECK_INT(rate_share(5, 5), 10000);
	CHECK(rate_share(UINT64_MAX, UINT64_MAX) == 10000);
	CHECK(rate_share(UINT64_MAX, 1) == UINT64_MAX);
}

/* ---- units -------------------------------------------------------------- */

static const char *text(void (*make)(char *, uint64_t), uint64_t value)
{
	static char buffer[UNITS_ROOM];

	make(buffer, value);
	return buffer;
}

static void units_of_bits(void)
{
	CHECK_STR(text(units_bits, 0), "0b/s");
	CHECK_STR(text(units_bits, 1), "8b/s");
	CHECK_STR(text(units_bits, 125), "1.00kb/s");
	CHECK_STR(text(units_bits, 1249999), "9.99Mb/s");
	CHECK_STR(text(units_bits, 12500000000ULL), "100Gb/s");
	CHECK_STR(text(units_bits, UINT64_MAX), "147Eb/s");
}

static void units_of_time(void)
{
	CHECK_STR(text(units_ns, 0), "0ns");
	CHECK_STR(text(units_ns, 640), "640ns");
	CHECK_STR(text(units_ns, 1000), "1us");
	CHECK_STR(text(units_ns, 1234), "1.23us");
	CHECK_STR(text(units_ns, 45678901), "45.6ms");
	CHECK_STR(text(units_ns, UINT64_MAX), "18446744073s");
	CHECK_STR(text(units_age, 59999), "59s");
	CHECK_STR(text(units_age, 60000), "1m");
	CHECK_STR(text(units_age, 11100000), "3h05m");
	CHECK_STR(text(units_age, 1047600000), "12d3h");
	CHECK_STR(text(units_percent, 0), "0");
	CHECK_STR(text(units_percent, 5), "0.05%");
	CHECK_STR(text(units_percent, 1234), "12.34%");
}

/* ---- histograms --------------------------------------------------------- */

enum { BUCKETS = 384 };

/* As in the specification of the netlink family. */
static uint64_t edge(uint32_t i)
{
	return i < 32 ? UINT64_C(64) * i :
			(uint64_t)(16 + i % 16) << (5 + i / 16);
}

static uint32_t counts[BUCKETS];

static const struct histogram fine = { counts, BUCKETS, edge };

static void clear(void)
{
	memset(counts, 0, sizeof(counts));
}

static void histogram_empty(void)
{
	struct histogram_row rows[HISTOGRAM_ROWS];

	clear();
	CHECK_INT(histogram_rows(&fine, rows), 0);
	CHECK_INT(histogram_samples(&fine), 0);
	CHECK_INT(histogram_sum(&fine), 0);
}

static void histogram_of_powers_of_two(void)
{
	struct histogram_row rows[HISTOGRAM_ROWS];

	clear();
	counts[33] = 5;		/* 2176 ns */
	counts[47] = 2;		/* 3968 ns */
	counts[64] = 1;		/* 8192 ns */
	CHECK_INT(histogram_rows(&fine, rows), 3);
	CHECK_INT(rows[0].low, 2048);
	CHECK_INT(rows[0].high, 4096);
	CHECK_INT(rows[0].samples, 7);
	CHECK_INT(rows[1].samples, 0);
	CHECK_INT(rows[2].low, 8192);
	CHECK_INT(rows[2].high, 16384);
	CHECK_INT(rows[2].samples, 1);
}

static void histogram_at_both_ends(void)
{
	struct histogram_row rows[HISTOGRAM_ROWS];
	size_t count;

	clear();
	counts[0] = 1;
	counts[BUCKETS - 1] = UINT32_MAX;
	count = histogram_rows(&fine, rows);
	CHECK_INT(rows[0].low, 0);
	CHECK_INT(rows[0].high, 64);
	CHECK_INT(rows[1].high, 128);
	CHECK(rows[count - 1].high == UINT64_MAX);
	CHECK_INT(rows[count - 1].samples, UINT32_MAX);
	CHECK_INT(histogram_samples(&fine), 4294967296LL);
}

static void histogram_below_edges(void)
{
	static const uint64_t edges[] = { 64, 2048, 4096, 1 << 20 };
	uint64_t below[4];

	clear();
	counts[0] = 1;
	counts[31] = 2;
	counts[32] = 4;
	counts[47] = 8;
	counts[48] = 16;
	counts[383] = 32;
	histogram_below(&fine, edges, below, 4);
	CHECK_INT(below[0], 1);
	CHECK_INT(below[1], 3);
	CHECK_INT(below[2], 15);
	CHECK_INT(below[3], 31);
}

static void histogram_bars(void)
{
	CHECK_INT(histogram_bar(0, 10, 40), 0);
	CHECK_INT(histogram_bar(1, 1000000, 40), 1);
	CHECK_INT(histogram_bar(10, 10, 40), 40);
	CHECK_INT(histogram_bar(5, 10, 40), 20);
	CHECK_INT(histogram_bar(0, 0, 40), 0);
	CHECK(histogram_bar(UINT64_MAX, UINT64_MAX, 40) == 40);
}

/* ---- metrics ------------------------------------------------------------ */

static char *written(enum om_format format, void (*write)(struct om_writer *))
{
	struct om_writer writer;
	char *buffer = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&buffer, &size);

	om_begin(&writer, stream, format);
	write(&writer);
	om_end(&writer);
	fclose(stream);
	return buffer;
}

static const struct om_label one_label[] = { { "a", "b" } };
static const struct om_labels with_one = { one_label, 1 };
static const struct om_labels with_none = { NULL, 0 };

static void counter(struct om_writer *writer)
{
	om_family(writer, OM_COUNTER, "x_bytes", "bytes", "A\\b\n.");
	om_sample(writer, with_one, UINT64_MAX);
	om_family(writer, OM_INFO, "x", NULL, "I.");
	om_sample(writer, with_none, 1);
}

static void metrics_openmetrics(void)
{
	char *got = written(OM_OPENMETRICS, counter);

	CHECK_STR(got, "# HELP x_bytes A\\\\b\\n.\n"
		       "# TYPE x_bytes counter\n"
		       "# UNIT x_bytes bytes\n"
		       "x_bytes_total{a=\"b\"} 18446744073709551615\n"
		       "# HELP x I.\n"
		       "# TYPE x info\n"
		       "x_info 1\n"
		       "# EOF\n");
	free(got);
}

static void metrics_prometheus(void)
{
	char *got = written(OM_PROMETHEUS, counter);

	CHECK_STR(got, "# HELP x_bytes_total A\\\\b\\n.\n"
		       "# TYPE x_bytes_total counter\n"
		       "x_bytes_total{a=\"b\"} 18446744073709551615\n"
		       "# HELP x_info I.\n"
		       "# TYPE x_info gauge\n"
		       "x_info 1\n");
	free(got);
}

static void quantity(struct om_writer *writer)
{
	static const uint64_t edges[] = { 1024, 1000000000 };
	static const uint64_t below[] = { 1, 2 };
	const struct om_histogram histogram = {
		edges, below, 2, 3, 5000000001ULL
	};

	om_family(writer, OM_HISTOGRAM, "r_seconds", "seconds", "R.");
	om_histogram(writer, with_one, &histogram);
}

static void metrics_histogram(void)
{
	char *got = written(OM_OPENMETRICS, quantity);

	CHECK_HAS(got, "\nr_seconds_bucket{a=\"b\",le=\"1.024e-06\"} 1\n"
		       "r_seconds_bucket{a=\"b\",le=\"1.0\"} 2\n"
		       "r_seconds_bucket{a=\"b\",le=\"+Inf\"} 3\n"
		       "r_seconds_count{a=\"b\"} 3\n"
		       "r_seconds_sum{a=\"b\"} 5.000000001\n# EOF\n");
	free(got);
}

static void escaped(const char *from, const char *to)
{
	char *got = om_escape(from);

	CHECK_STR(got, to);
	free(got);
}

static void metrics_escapes(void)
{
	escaped("", "");
	escaped("a\"b\\c\nd", "a\\\"b\\\\c\\nd");
	escaped("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
	escaped("\xff\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	escaped("\033[2J\x7f\xc2\x9b",
		"\xef\xbf\xbd[2J\xef\xbf\xbd\xef\xbf\xbd");
}

static void metrics_names(void)
{
	char name[12];

	CHECK(om_name("SDMAIdInt1,32", name, sizeof(name)));
	CHECK_STR(name, "SDMAIdInt1");
	CHECK(om_name("__a..b__", name, sizeof(name)));
	CHECK_STR(name, "a_b");
	CHECK(om_name("9x", name, sizeof(name)));
	CHECK_STR(name, "_9x");
	CHECK(!om_name("\xff.,", name, sizeof(name)));
	CHECK_STR(name, "");
}

static void characters(void)
{
	size_t length;

	CHECK_INT(utf8_decode((const unsigned char *)"\xe2\x82\xac", &length),
		  0x20ac);
	CHECK_INT(length, 3);
	CHECK_INT(utf8_decode((const unsigned char *)"\xe2\x82", &length), -1);
	CHECK_INT(length, 1);
	CHECK_INT(utf8_decode((const unsigned char *)"\xed\xa0\x80", &length),
		  -1);
}

/* ---- keys --------------------------------------------------------------- */

static const struct top_state fresh = {
	.sort_count = 3, .page = 10, .rows = 25
};

static void keys_sort(void)
{
	struct top_state state = fresh;

	CHECK_INT(top_key(&state, 's'), TOP_DRAW);
	CHECK_INT(state.sort, 1);
	top_key(&state, 's');
	top_key(&state, 's');
	CHECK_INT(state.sort, 0);
	top_key(&state, 'S');
	CHECK_INT(state.sort, 2);
	top_key(&state, 'r');
	CHECK(state.reversed);
}

static void keys_end_and_pause(void)
{
	struct top_state state = fresh;

	CHECK_INT(top_key(&state, 'q'), TOP_QUIT);
	CHECK_INT(top_key(&state, 3), TOP_QUIT);
	CHECK_INT(top_key(&state, 'p'), TOP_DRAW);
	CHECK(state.paused);
	CHECK_INT(top_key(&state, ' '), TOP_IGNORE);
	CHECK_INT(top_key(&state, 'p'), TOP_READ);
	CHECK_INT(top_key(&state, 'z'), TOP_IGNORE);
}

static void keys_move(void)
{
	struct top_state state = fresh;

	top_key(&state, TOP_KEY_UP);
	CHECK_INT(state.first, 0);
	top_key(&state, TOP_KEY_PAGE_DOWN);
	top_key(&state, TOP_KEY_PAGE_DOWN);
	CHECK_INT(state.first, 15);
	top_key(&state, TOP_KEY_DOWN);
	CHECK_INT(state.first, 15);
	state.rows = 4;
	top_clamp(&state);
	CHECK_INT(state.first, 0);
	state.page = 0;
	top_key(&state, TOP_KEY_PAGE_DOWN);
	CHECK(state.first <= state.rows);
}

static void keys_find(void)
{
	struct top_state state = fresh;

	top_key(&state, '/');
	CHECK(state.typing);
	top_key(&state, 'q');	/* a letter like any other now */
	top_key(&state, 'p');
	CHECK_STR(state.find, "qp");
	CHECK(!state.paused);
	top_key(&state, TOP_KEY_BACKSPACE);
	CHECK_STR(state.find, "q");
	CHECK_INT(top_key(&state, 0x1b5), TOP_IGNORE);
	top_key(&state, '\n');
	CHECK(!state.typing);
	CHECK_STR(state.find, "q");
	top_key(&state, 27);
	CHECK_STR(state.find, "");
	top_key(&state, '/');
	for (int i = 0; i < 200; i++)
		top_key(&state, 'x');
	CHECK_INT(strlen(state.find), sizeof(state.find) - 1);
}

static const struct tap_case cases[] = {
	TAP_CASE(rate_known), TAP_CASE(rate_without_time),
	TAP_CASE(rate_of_a_reset_counter), TAP_CASE(rate_does_not_overflow),
	TAP_CASE(shares), TAP_CASE(units_of_bits), TAP_CASE(units_of_time),
	TAP_CASE(histogram_empty), TAP_CASE(histogram_of_powers_of_two),
	TAP_CASE(histogram_at_both_ends), TAP_CASE(histogram_below_edges),
	TAP_CASE(histogram_bars), TAP_CASE(metrics_openmetrics),
	TAP_CASE(metrics_prometheus), TAP_CASE(metrics_histogram),
	TAP_CASE(metrics_escapes), TAP_CASE(metrics_names),
	TAP_CASE(characters), TAP_CASE(keys_sort),
	TAP_CASE(keys_end_and_pause), TAP_CASE(keys_move),
	TAP_CASE(keys_find),
};

int main(void)
{
	return TAP_RUN(cases);
}
