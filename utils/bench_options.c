// SPDX-License-Identifier: GPL-2.0
/* What a measurement is to be, as said on the command line. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_options.h"
#include "number.h"

#define ALL_SMALLEST	2
#define ALL_LARGEST	(UINT64_C(1) << 23)

/* Options that have no letter */
enum {
	OPTION_HOST = 256, OPTION_DEVICE, OPTION_SECRET, OPTION_FLUSH,
	OPTION_BUSY_POLL, OPTION_CHECK, OPTION_HISTOGRAM, OPTION_SEPARATE,
	OPTION_POLL_MEMORY, OPTION_PRETTY, OPTION_TIMEOUT, OPTION_SOURCE,
	OPTION_QUIET,
};

static const struct option long_options[] = {
	{ "size", required_argument, NULL, 's' },
	{ "all", no_argument, NULL, 'a' },
	{ "iters", required_argument, NULL, 'n' },
	{ "duration", required_argument, NULL, 'D' },
	{ "lanes", required_argument, NULL, 'q' },
	{ "bidirectional", no_argument, NULL, 'b' },
	{ "depth", required_argument, NULL, 't' },
	{ "list", required_argument, NULL, 'l' },
	{ "port", required_argument, NULL, 'p' },
	{ "rdma-device", required_argument, NULL, 'd' },
	{ "device", required_argument, NULL, OPTION_DEVICE },
	{ "host", no_argument, NULL, OPTION_HOST },
	{ "source", required_argument, NULL, OPTION_SOURCE },
	{ "secret", required_argument, NULL, OPTION_SECRET },
	{ "flush", no_argument, NULL, OPTION_FLUSH },
	{ "busy-poll", no_argument, NULL, OPTION_BUSY_POLL },
	{ "check", no_argument, NULL, OPTION_CHECK },
	{ "histogram", no_argument, NULL, OPTION_HISTOGRAM },
	{ "separate", no_argument, NULL, OPTION_SEPARATE },
	{ "poll-memory", no_argument, NULL, OPTION_POLL_MEMORY },
	{ "quiet", required_argument, NULL, OPTION_QUIET },
	{ "timeout", required_argument, NULL, OPTION_TIMEOUT },
	{ "json", no_argument, NULL, 'j' },
	{ "pretty", no_argument, NULL, OPTION_PRETTY },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* ---- numbers ------------------------------------------------------------- */

bool bench_parse_size(const char *text, uint64_t *size)
{
	return number_parse_size(text, BENCH_SIZE_MOST, size);
}

static bool parse_sizes(struct bench_options *options, const char *text)
{
	char *copy = strdup(text), *rest = copy, *word;
	bool good = copy != NULL;

	while (good && (word = strsep(&rest, ",")))
		good = options->size_count < BENCH_SIZES &&
		       bench_parse_size(word,
					&options->sizes[options->size_count++]);
	free(copy);
	return good;
}

/* ---- options -------------------------------------------------------------- */

static bool refuse(char reason[BENCH_REASON], const char *what,
		   const char *value)
{
	snprintf(reason, BENCH_REASON, "%s, not \"%.60s\"", what, value);
	return false;
}

struct numeric {
	int option;
	uint64_t low, high;
	const char *what;
};

static const struct numeric numerics[] = {
	{ 'n', 1, UINT32_MAX, "-n is a number of operations" },
	{ 'D', 1, 86400, "-D is a number of seconds up to 86400" },
	{ 'q', 1, BENCH_LANES, "-q is a number of lanes from 1 to 16" },
	{ 't', 1, BENCH_DEPTH_MOST, "-t is a depth from 1 to 4096" },
	{ 'l', 1, BENCH_LIST_MOST, "-l is a number of operations from 1 to 1024" },
	{ 'p', 1, UINT16_MAX, "-p is a port from 1 to 65535" },
	{ OPTION_QUIET, 1, BENCH_DEPTH_MOST, "--quiet is a number from 1 to 4096" },
	{ OPTION_TIMEOUT, 100, 600000, "--timeout is ms from 100 to 600000" },
};

static void set_number(struct bench_options *options, int option,
		       uint64_t value)
{
	switch (option) {
	case 'n':
		options->iterations = value;
		break;
	case 'D':
		options->duration = (uint32_t)value;
		break;
	case 'q':
		options->lanes = (uint32_t)value;
		break;
	case 't':
		options->depth = (uint32_t)value;
		break;
	case 'l':
		options->list = (uint32_t)value;
		break;
	case 'p':
		options->port = (uint16_t)value;
		break;
	case OPTION_QUIET:
		options->quiet = (uint32_t)value;
		break;
	default:
		options->timeout = (uint32_t)value;
	}
}

static bool take_numeric(struct bench_options *options, int option,
			 const char *value, char reason[BENCH_REASON])
{
	const struct numeric *numeric = numerics;
	uint64_t number;

	while (numeric->option != option)
		numeric++;
	if (!number_parse(value, numeric->low, numeric->high, &number))
		return refuse(reason, numeric->what, value);
	set_number(options, option, number);
	return true;
}

static bool *flag_of(struct bench_options *options, int option)
{
	switch (option) {
	case 'a':
		return &options->all_sizes;
	case 'b':
		return &options->both;
	case 'j':
		return &options->json;
	case 'h':
		return &options->help;
	case OPTION_FLUSH:
		return &options->flush;
	case OPTION_BUSY_POLL:
		return &options->busy_poll;
	case OPTION_CHECK:
		return &options->check;
	case OPTION_HISTOGRAM:
		return &options->histogram;
	case OPTION_SEPARATE:
		return &options->separate;
	case OPTION_POLL_MEMORY:
		return &options->poll_memory;
	case OPTION_PRETTY:
		return &options->pretty;
	default:
		return NULL;
	}
}

static const char **text_of(struct bench_options *options, int option)
{
	switch (option) {
	case 'd':
		return &options->rdma_device;
	case OPTION_DEVICE:
		return &options->device;
	case OPTION_SOURCE:
		return &options->source;
	case OPTION_SECRET:
		return &options->secret;
	default:
		return NULL;
	}
}

static bool take(struct bench_options *options, int option, const char *value,
		 char reason[BENCH_REASON])
{
	bool *flag = flag_of(options, option);
	const char **text = text_of(options, option);

	if (flag) {
		*flag = true;
		return true;
	}
	if (text) {
		*text = value;
		return *value ? true : refuse(reason, "an option's value is empty",
					      value);
	}
	if (option == OPTION_HOST) {
		options->device = NULL;
		return true;
	}
	if (option == 's') {
		if (parse_sizes(options, value))
			return true;
		return refuse(reason, "-s is up to 32 sizes such as 4096,64k,1m of at most 1g",
			      value);
	}
	return take_numeric(options, option, value, reason);
}

/* ---- what does not go together -------------------------------------------- */

static const char *contradiction(const struct bench_options *options)
{
	if (options->iterations && options->duration)
		return "-n and -D exclude each other";
	if (options->all_sizes && options->size_count)
		return "-a and -s exclude each other";
	if (options->quiet > 1 && options->lanes > 1)
		return "--quiet needs one lane, where work ends in order";
	if (options->test != BENCH_LAT)
		return options->poll_memory ? "--poll-memory is of lat" :
		       options->flush && options->test == BENCH_GET ?
		       "--flush is of put and lat" : NULL;
	if (options->both || options->lanes || options->depth || options->list ||
	    options->quiet)
		return "lat has one operation at a time: no -b, -q, -t, -l, --quiet";
	if (options->poll_memory && options->duration)
		return "--poll-memory needs -n, as the peer has to know the last one";
	if (options->poll_memory && options->flush)
		return "--poll-memory and --flush exclude each other";
	return NULL;
}

static bool unknown(char reason[BENCH_REASON], int found, const char *word)
{
	snprintf(reason, BENCH_REASON, found == ':' ?
		 "option \"%.60s\" needs a value" :
		 "option \"%.60s\" is unknown or ambiguous, try \"peerlane bench help\"",
		 word);
	return false;
}

bool bench_options_parse(struct bench_options *options, enum bench_test test,
			 int argc, char **argv, char reason[BENCH_REASON])
{
	const char *wrong;
	int found;

	memset(options, 0, sizeof(*options));
	options->test = test;
	options->port = BENCH_PORT;
	optind = 0;	/* begin anew */
	opterr = 0;
	while ((found = getopt_long(argc, argv, ":s:an:D:q:bt:l:p:d:jh",
				    long_options, NULL)) != -1) {
		if (found == '?' || found == ':')
			return unknown(reason, found, argv[optind - 1]);
		if (!take(options, found, optarg, reason))
			return false;
	}
	if (optind < argc)
		options->peer = argv[optind++];
	if (optind < argc)
		return refuse(reason, "one host is enough", argv[optind]);
	wrong = contradiction(options);
	if (wrong)
		snprintf(reason, BENCH_REASON, "%s", wrong);
	return !wrong;
}

void bench_default_sizes(struct bench_options *options)
{
	uint64_t size;

	if (options->size_count)
		return;
	if (!options->all_sizes) {
		options->sizes[0] = options->test == BENCH_LAT ? 8 : 65536;
		options->size_count = 1;
		return;
	}
	for (size = ALL_SMALLEST; size <= ALL_LARGEST; size *= 2)
		options->sizes[options->size_count++] = size;
}
