// SPDX-License-Identifier: GPL-2.0
/* What a measurement of a group is to be, as said on the command line. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "bench_reduce_options.h"
#include "number.h"

#define ITERATIONS	20
#define WARMUPS		5

enum {
	OPTION_RANK = 256, OPTION_SIZE, OPTION_TYPE, OPTION_OP, OPTION_IN_PLACE,
	OPTION_DEVICE, OPTION_HOST, OPTION_SOURCE, OPTION_SECRET, OPTION_GROUP,
	OPTION_SEGMENT, OPTION_WINDOW, OPTION_BLOCK, OPTION_TIMEOUT,
	OPTION_OP_TIMEOUT, OPTION_JOIN_TIMEOUT, OPTION_PRETTY, OPTION_CHECK,
	OPTION_TRACE, OPTION_PLACEMENT,
};

static const struct option long_options[] = {
	{ "rank", required_argument, NULL, OPTION_RANK },
	{ "size", required_argument, NULL, OPTION_SIZE },
	{ "aggregator", required_argument, NULL, 'a' },
	{ "min-bytes", required_argument, NULL, 'b' },
	{ "max-bytes", required_argument, NULL, 'e' },
	{ "factor", required_argument, NULL, 'f' },
	{ "iters", required_argument, NULL, 'n' },
	{ "warmup", required_argument, NULL, 'w' },
	{ "type", required_argument, NULL, OPTION_TYPE },
	{ "op", required_argument, NULL, OPTION_OP },
	{ "in-place", no_argument, NULL, OPTION_IN_PLACE },
	{ "check", no_argument, NULL, OPTION_CHECK },
	{ "device", required_argument, NULL, OPTION_DEVICE },
	{ "host", no_argument, NULL, OPTION_HOST },
	{ "rdma-device", required_argument, NULL, 'd' },
	{ "source", required_argument, NULL, OPTION_SOURCE },
	{ "secret", required_argument, NULL, OPTION_SECRET },
	{ "group", required_argument, NULL, OPTION_GROUP },
	{ "placement", required_argument, NULL, OPTION_PLACEMENT },
	{ "segment", required_argument, NULL, OPTION_SEGMENT },
	{ "window", required_argument, NULL, OPTION_WINDOW },
	{ "block", required_argument, NULL, OPTION_BLOCK },
	{ "lanes", required_argument, NULL, 'q' },
	{ "timeout", required_argument, NULL, OPTION_TIMEOUT },
	{ "op-timeout", required_argument, NULL, OPTION_OP_TIMEOUT },
	{ "join-timeout", required_argument, NULL, OPTION_JOIN_TIMEOUT },
	{ "trace", required_argument, NULL, OPTION_TRACE },
	{ "json", no_argument, NULL, 'j' },
	{ "pretty", no_argument, NULL, OPTION_PRETTY },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static bool refuse(char reason[REDUCE_REASON], const char *what,
		   const char *value)
{
	snprintf(reason, REDUCE_REASON, "%s, not \"%.60s\"", what, value);
	return false;
}

/* ---- numbers ------------------------------------------------------------------- */

struct numeric {
	int option;
	uint32_t low, high;
	const char *what;
};

static const struct numeric numerics[] = {
	{ OPTION_RANK, 0, 1023, "--rank is a number from 0 to 1023" },
	{ OPTION_SIZE, 1, 1024, "--size is a number of ranks from 1 to 1024" },
	{ 'f', 2, 1024, "-f is a factor from 2 to 1024" },
	{ 'n', 1, 1000000000, "-n is a number of operations" },
	{ 'w', 0, 1000000000, "-w is a number of operations" },
	{ 'q', 1, 16, "-q is a number of lanes from 1 to 16" },
	{ OPTION_WINDOW, 1, 256, "--window is a number from 1 to 256" },
	{ OPTION_BLOCK, 2, 1024, "--block is a number from 2 to 1024" },
	{ OPTION_TIMEOUT, 100, 600000, "--timeout is ms from 100 to 600000" },
	{ OPTION_OP_TIMEOUT, 100, 86400000,
	  "--op-timeout is ms from 100 to 86400000" },
	{ OPTION_JOIN_TIMEOUT, 100, 86400000,
	  "--join-timeout is ms from 100 to 86400000" },
};

static uint32_t *number_of(struct reduce_options *options, int option)
{
	switch (option) {
	case OPTION_SIZE:
		return &options->ranks;
	case 'f':
		return &options->factor;
	case 'n':
		return &options->iterations;
	case 'w':
		return &options->warmups;
	case 'q':
		return &options->lanes;
	case OPTION_WINDOW:
		return &options->window;
	case OPTION_BLOCK:
		return &options->block;
	case OPTION_TIMEOUT:
		return &options->timeout;
	case OPTION_OP_TIMEOUT:
		return &options->operation_timeout;
	default:
		return &options->join_timeout;
	}
}

static bool take_numeric(struct reduce_options *options, int option,
			 const char *value, char reason[REDUCE_REASON])
{
	const struct numeric *numeric = numerics;
	uint64_t number;

	while (numeric->option != option)
		numeric++;
	if (!number_parse(value, numeric->low, numeric->high, &number))
		return refuse(reason, numeric->what, value);
	if (option == OPTION_RANK)
		options->rank = (int64_t)number;
	else
		*number_of(options, option) = (uint32_t)number;
	return true;
}

static bool take_segment(struct reduce_options *options, const char *value,
			 char reason[REDUCE_REASON])
{
	uint64_t bytes;

	if (!number_parse_size(value, 4U << 20, &bytes) || bytes < 4096 ||
	    bytes & (bytes - 1))
		return refuse(reason, "--segment is a power of two from 4k to 4m",
			      value);
	options->segment = (uint32_t)bytes;
	return true;
}

/* ---- words -------------------------------------------------------------------------- */

static bool add_aggregator(struct reduce_options *options, const char *value,
			   char reason[REDUCE_REASON])
{
	size_t used = strlen(options->aggregators);
	size_t room = sizeof(options->aggregators) - used;

	if (!*value || strlen(value) + 2 > room)
		return refuse(reason, "--aggregator is an address, and up to 64 of them",
			      value);
	snprintf(options->aggregators + used, room, "%s%s", used ? "," : "",
		 value);
	return true;
}

static const char **text_of(struct reduce_options *options, int option)
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
	case OPTION_GROUP:
		return &options->group;
	case OPTION_TRACE:
		return &options->trace;
	default:
		return NULL;
	}
}

static bool *flag_of(struct reduce_options *options, int option)
{
	switch (option) {
	case 'j':
		return &options->json;
	case 'h':
		return &options->help;
	case OPTION_IN_PLACE:
		return &options->in_place;
	case OPTION_CHECK:
		return &options->check;
	case OPTION_PRETTY:
		return &options->pretty;
	default:
		return NULL;
	}
}

static bool take_bytes(struct reduce_options *options, int option,
		       const char *value, char reason[REDUCE_REASON])
{
	uint64_t *to = option == 'b' ? &options->from : &options->to;

	if (number_parse_size(value, REDUCE_BYTES_MOST, to))
		return true;
	return refuse(reason, option == 'b' ?
		      "-b is a size such as 8, 64k or 1m of at most 16g" :
		      "-e is a size such as 8, 64k or 1m of at most 16g", value);
}

static bool take_name(uint32_t *to, uint32_t found, const char *what,
		      const char *value, char reason[REDUCE_REASON])
{
	*to = found;
	return found ? true : refuse(reason, what, value);
}

static bool take_placement(struct reduce_options *options, const char *value,
			   char reason[REDUCE_REASON])
{
	options->placement = peerlane_place_find(value);
	return options->placement != UINT32_MAX ? true :
	       refuse(reason, "--placement is auto, dedicated, colocated, replicated or tree",
		      value);
}

static bool take_text(struct reduce_options *options, int option,
		      const char *value, char reason[REDUCE_REASON])
{
	const char **text = text_of(options, option);

	if (!text)
		return take_numeric(options, option, value, reason);
	*text = value;
	return *value ? true : refuse(reason, "an option's value is empty",
				      value);
}

static bool take(struct reduce_options *options, int option, const char *value,
		 char reason[REDUCE_REASON])
{
	bool *flag = flag_of(options, option);

	if (flag) {
		*flag = true;
		return true;
	}
	switch (option) {
	case OPTION_HOST:
		options->device = NULL;
		return true;
	case 'a':
		return add_aggregator(options, value, reason);
	case 'b':
	case 'e':
		return take_bytes(options, option, value, reason);
	case OPTION_PLACEMENT:
		return take_placement(options, value, reason);
	case OPTION_SEGMENT:
		return take_segment(options, value, reason);
	case OPTION_TYPE:
		return take_name(&options->type, peerlane_element_find(value),
				 "--type is f32, f64, f16, bf16, i8 to i64 or u8 to u64",
				 value, reason);
	case OPTION_OP:
		return take_name(&options->op, peerlane_combination_find(value),
				 "--op is sum, avg, min, max, prod, band, bor or bxor",
				 value, reason);
	default:
		return take_text(options, option, value, reason);
	}
}

/* ---- what does not go together ------------------------------------------------------- */

static const char *contradiction(struct reduce_options *options)
{
	uint32_t element = peerlane_element_size(options->type);

	if (!options->to)
		options->to = options->from;
	if (options->to < options->from)
		return "-e is less than -b";
	if (options->from < element)
		return "-b is less than one element of that type";
	if (options->ranks && options->rank >= (int64_t)options->ranks)
		return "--rank is below --size: ranks are counted from 0";
	if ((options->rank < 0) != !options->ranks)
		return "--rank and --size are given both or not at all";
	if (options->op >= PEERLANE_BAND && options->type <= PEERLANE_BF16)
		return "band, bor and bxor are of integers";
	return NULL;
}

bool reduce_options_parse(struct reduce_options *options, int argc, char **argv,
			  char reason[REDUCE_REASON])
{
	const char *wrong;
	int found;

	memset(options, 0, sizeof(*options));
	options->rank = -1;
	options->from = 1048576;
	options->factor = 2;
	options->iterations = ITERATIONS;
	options->warmups = WARMUPS;
	options->type = PEERLANE_F32;
	options->op = PEERLANE_SUM;
	optind = 0;	/* begin anew */
	opterr = 0;
	while ((found = getopt_long(argc, argv, ":a:b:e:f:n:w:d:q:jh",
				    long_options, NULL)) != -1) {
		if (found == '?' || found == ':') {
			snprintf(reason, REDUCE_REASON, found == ':' ?
				 "option \"%.60s\" needs a value" :
				 "option \"%.60s\" is unknown or ambiguous, try \"peerlane bench allreduce --help\"",
				 argv[optind - 1]);
			return false;
		}
		if (!take(options, found, optarg, reason))
			return false;
	}
	for (; optind < argc; optind++)
		if (!add_aggregator(options, argv[optind], reason))
			return false;
	wrong = contradiction(options);
	if (wrong)
		snprintf(reason, REDUCE_REASON, "%s", wrong);
	return !wrong;
}

uint64_t reduce_next_size(const struct reduce_options *options, uint64_t bytes)
{
	if (!bytes)
		return options->from;
	if (bytes > options->to / options->factor)
		return 0;
	return bytes * options->factor;
}
