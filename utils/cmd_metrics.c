// SPDX-License-Identifier: GPL-2.0
/* peerlane metrics: counters for monitoring systems. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flow.h"
#include "metrics.h"
#include "metrics_http.h"
#include "metrics_select.h"

/* ---- the page ------------------------------------------------------------ */

static void print_flag(struct om_writer *writer, const char *source, bool value)
{
	const struct om_label label = { "source", source };

	om_sample(writer, (struct om_labels){ &label, 1 }, value);
}

/* The last families, so that they can tell of all others. */
static void print_scrape(struct om_writer *writer,
			 const struct metrics_result *result, uint64_t begin)
{
	const struct om_label versions[] = {
		{ "version", PEERLANE_VERSION }, { "library", peerlane_version() },
	};

	om_family(writer, OM_GAUGE, "peerlane_scrape_error", NULL,
		  "Whether this source could not be read.");
	print_flag(writer, "flows", result->failed_flows);
	print_flag(writer, "ports", result->failed_ports);
	om_family(writer, OM_GAUGE, "peerlane_scrape_incomplete", NULL,
		  "Whether flows may be missing or be counted twice.");
	om_sample(writer, (struct om_labels){ 0 }, result->incomplete);
	om_family(writer, OM_GAUGE, "peerlane_scrape_duration_seconds",
		  "seconds", "How long reading took.");
	om_sample_seconds(writer, (struct om_labels){ 0 },
			  monotonic_ns() - begin);
	om_family(writer, OM_INFO, "peerlane_build", NULL, "Versions.");
	om_sample(writer, (struct om_labels){ versions, 2 }, 1);
}

enum source { SOURCE_FLOWS, SOURCE_PORTS, SOURCES };

/* The same complaint is made once, not at each scrape. */
static void complain(enum source source, int error, int *status)
{
	static char *last[SOURCES];
	char **known = &last[source];
	char *reason = error ? library_reason(error) : NULL;

	if (reason && (!*known || strcmp(*known, reason)))
		*status = library_error(error);
	else if (reason)
		*status = STATUS_ERROR;
	free(*known);
	*known = reason;
}

char *metrics_page(const struct metrics_options *wanted,
		   enum om_format format, size_t *length,
		   struct metrics_result *result)
{
	uint64_t begin = monotonic_ns();
	struct om_writer writer;
	char *text = NULL;
	FILE *stream = must(open_memstream(&text, length));
	int error;

	memset(result, 0, sizeof(*result));
	om_begin(&writer, stream, format);
	error = metrics_ports(&writer);
	result->failed_ports = error;
	complain(SOURCE_PORTS, error, &result->status);
	error = metrics_flows(&writer, wanted, result);
	result->failed_flows = error;
	complain(SOURCE_FLOWS, error, &result->status);
	if (result->incomplete && !result->status)
		result->status = STATUS_INCOMPLETE;
	print_scrape(&writer, result, begin);
	om_end(&writer);
	if (fclose(stream))
		must(NULL);
	return text;
}

/* ---- words -------------------------------------------------------------- */

struct words {
	struct metrics_options wanted;
	enum om_format format;
	uint64_t interval_ns;		/* 0 once */
	const char *where;		/* path, or address */
};

static int parse_format(const char *word, enum om_format *format)
{
	static const char *const names[] = {
		[OM_OPENMETRICS] = "openmetrics", [OM_PROMETHEUS] = "prometheus"
	};
	int found = match_table("format", word, names, ARRAY_SIZE(names),
				sizeof(names[0]));

	if (found < 0)
		return STATUS_ERROR;
	*format = (enum om_format)found;
	return STATUS_OK;
}

static int parse_by(const char *word, uint32_t *counter)
{
	int status = flow_parse_counter(word, counter);

	if (!status && *counter >= PEERLANE_COUNTERS)
		return usage_error("flows cannot be ordered by %s here", word);
	return status;
}

static int parse_value(int key, const char *word, struct words *words)
{
	uint64_t number = 0;
	int status;

	switch (key) {
	case 0:
		status = parse_number("top", word, 1, METRICS_FLOWS_MAX,
				      &number);
		words->wanted.flows = (uint32_t)number;
		return status;
	case 1:
		return parse_by(word, &words->wanted.by);
	case 2:
		return parse_format(word, &words->format);
	default:
		return parse_seconds(word, &words->interval_ns);
	}
}

/* The first word is where it goes if @has_where and it is none of the others. */
static int parse(int argc, char **argv, bool has_where, size_t keys,
		 struct words *words)
{
	static const char *const names[] = { "top", "by", "format", "interval" };

	words->wanted.flows = METRICS_FLOWS;
	words->wanted.by = PEERLANE_COUNT_BYTES;
	if (has_where && argc) {
		words->where = argv[0];
		argc--;
		argv++;
	}
	for (int i = 0; i < argc; i += 2) {
		int found = match_table("word", argv[i], names, keys,
					sizeof(names[0]));
		int status;

		if (found < 0)
			return STATUS_ERROR;
		if (i + 1 == argc)
			return usage_error("\"%s\" needs a value", names[found]);
		status = parse_value(found, argv[i + 1], words);
		if (status)
			return status;
	}
	return STATUS_OK;
}

/* ---- commands ----------------------------------------------------------- */

static int metrics_print(int argc, char **argv)
{
	struct words words = { .format = OM_OPENMETRICS };
	struct metrics_result result;
	size_t length;
	char *text;
	int status = parse(argc, argv, false, 3, &words);

	if (status)
		return status;
	text = metrics_page(&words.wanted, words.format, &length, &result);
	fwrite(text, 1, length, stdout);
	free(text);
	return result.status;
}

static int write_once(const struct words *words)
{
	struct metrics_result result;
	size_t length;
	char *text = metrics_page(&words->wanted, words->format, &length,
				  &result);
	int status = metrics_textfile(words->where, text, length);

	free(text);
	return status ? status : result.status;
}

/* Each time anew, whatever happened before: a full disk may be empty again. */
static _Noreturn void write_again(struct words *words)
{
	const struct timespec pause = {
		.tv_sec = (time_t)(words->interval_ns / 1000000000),
		.tv_nsec = (long)(words->interval_ns % 1000000000),
	};

	words->wanted.state = metrics_state_new();
	for (;;) {
		write_once(words);
		nanosleep(&pause, NULL);
	}
}

static int metrics_to_file(int argc, char **argv)
{
	struct words words = { .format = OM_PROMETHEUS };
	int status = parse(argc, argv, true, 4, &words);

	if (status)
		return status;
	if (!words.where)
		return usage_error("metrics textfile needs a path");
	if (words.interval_ns)
		write_again(&words);
	return write_once(&words);
}

/*
 * What a scraper may cost is bounded: within a second the same page is given
 * again.
 */
static struct {
	struct words words;
	char *text[2];
	size_t length[2];
	uint64_t made[2];
} server;

static char *serve_page(bool openmetrics, size_t *length)
{
	static const uint64_t fresh_ns = 1000000000;
	enum om_format format = openmetrics ? OM_OPENMETRICS : OM_PROMETHEUS;
	uint64_t now = monotonic_ns();
	struct metrics_result result;

	if (!server.text[format] || now - server.made[format] >= fresh_ns) {
		free(server.text[format]);
		server.text[format] = metrics_page(&server.words.wanted, format,
						   &server.length[format],
						   &result);
		server.made[format] = monotonic_ns();
	}
	*length = server.length[format];
	return memcpy(must(malloc(*length + 1)), server.text[format], *length);
}

static int metrics_serve(int argc, char **argv)
{
	bool has_where = argc && strpbrk(argv[0], "0123456789.:");
	int status = parse(argc, argv, has_where, 2, &server.words);

	if (status)
		return status;
	server.words.wanted.state = metrics_state_new();
	status = http_serve(server.words.where, serve_page);
	metrics_state_free(server.words.wanted.state);
	free(server.text[0]);
	free(server.text[1]);
	return status;
}

#define WHICH	"[top N] [by COUNTER]"

const struct command metrics_commands[] = {
	{ "print", metrics_print, WHICH " [format { openmetrics | prometheus }]",
	  "to standard output" },
	{ "textfile", metrics_to_file,
	  "PATH " WHICH " [format { openmetrics | prometheus }] [interval SECONDS]",
	  "to a file, for a collector that reads files" },
	{ "serve", metrics_serve, "[ADDRESS][:PORT] " WHICH,
	  "by HTTP, at " HTTP_ADDRESS ":" HTTP_PORT "/metrics" },
};

const size_t metrics_command_count = ARRAY_SIZE(metrics_commands);
