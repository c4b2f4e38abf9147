// SPDX-License-Identifier: GPL-2.0
/* What an aggregator is to be, as said on the command line. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "aggregator_options.h"
#include "number.h"

#define MEMORY_LEAST	UINT64_C(65536)
#define MEMORY_MOST	(UINT64_C(1) << 44)

enum {
	OPTION_MAX_GROUPS = 256, OPTION_BACKLOG, OPTION_TIMEOUT,
	OPTION_JOIN_TIMEOUT, OPTION_SECRET, OPTION_PRETTY, OPTION_HUMAN,
	OPTION_PARENT, OPTION_PARENT_LANES,
};

static const struct option long_options[] = {
	{ "listen", required_argument, NULL, 'l' },
	{ "memory", required_argument, NULL, 'm' },
	{ "rdma-device", required_argument, NULL, 'd' },
	{ "device", required_argument, NULL, 'd' },
	{ "secret", required_argument, NULL, OPTION_SECRET },
	{ "max-groups", required_argument, NULL, OPTION_MAX_GROUPS },
	{ "backlog", required_argument, NULL, OPTION_BACKLOG },
	{ "timeout", required_argument, NULL, OPTION_TIMEOUT },
	{ "join-timeout", required_argument, NULL, OPTION_JOIN_TIMEOUT },
	{ "parent", required_argument, NULL, OPTION_PARENT },
	{ "parent-lanes", required_argument, NULL, OPTION_PARENT_LANES },
	{ "json", no_argument, NULL, 'j' },
	{ "pretty", no_argument, NULL, OPTION_PRETTY },
	{ "human", no_argument, NULL, OPTION_HUMAN },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static bool refuse(char reason[AGGREGATOR_REASON], const char *what,
		   const char *value)
{
	snprintf(reason, AGGREGATOR_REASON, "%s, not \"%.60s\"", what, value);
	return false;
}

static bool take_number(uint32_t *to, const char *value, uint32_t low,
			uint32_t high, const char *what,
			char reason[AGGREGATOR_REASON])
{
	uint64_t number;

	if (!number_parse(value, low, high, &number))
		return refuse(reason, what, value);
	*to = (uint32_t)number;
	return true;
}

static bool take_text(const char **to, const char *value,
		      char reason[AGGREGATOR_REASON])
{
	*to = value;
	return *value ? true : refuse(reason, "an option's value is empty",
				      value);
}

static bool take_memory(uint64_t *to, const char *value,
			char reason[AGGREGATOR_REASON])
{
	if (number_parse_size(value, MEMORY_MOST, to) && *to >= MEMORY_LEAST)
		return true;
	return refuse(reason, "--memory is a size such as 256m or 4g, of at least 64k",
		      value);
}

static bool take_flag(struct aggregator_options *options, int option)
{
	if (option == 'j')
		options->json = true;
	else if (option == 'h')
		options->help = true;
	else if (option == OPTION_HUMAN)
		options->human = true;
	else
		options->pretty = true;
	return true;
}

static bool take(struct aggregator_options *options, int option,
		 const char *value, char reason[AGGREGATOR_REASON])
{
	switch (option) {
	case 'l':
		return take_text(&options->listen, value, reason);
	case 'd':
		return take_text(&options->rdma_device, value, reason);
	case OPTION_SECRET:
		return take_text(&options->secret, value, reason);
	case OPTION_PARENT:
		return take_text(&options->parent, value, reason);
	case OPTION_PARENT_LANES:
		return take_number(&options->parent_lanes, value, 1, 16,
				   "--parent-lanes is a number from 1 to 16",
				   reason);
	case 'm':
		return take_memory(&options->memory, value, reason);
	case OPTION_MAX_GROUPS:
		return take_number(&options->max_groups, value, 1, 65536,
				   "--max-groups is a number from 1 to 65536",
				   reason);
	case OPTION_BACKLOG:
		return take_number(&options->backlog, value, 1, 1024,
				   "--backlog is a number from 1 to 1024",
				   reason);
	case OPTION_TIMEOUT:
		return take_number(&options->timeout, value, 100, 600000,
				   "--timeout is ms from 100 to 600000", reason);
	case OPTION_JOIN_TIMEOUT:
		return take_number(&options->join_timeout, value, 100, 86400000,
				   "--join-timeout is ms from 100 to 86400000",
				   reason);
	default:
		return take_flag(options, option);
	}
}

bool aggregator_options_parse(struct aggregator_options *options, int argc,
			      char **argv, char reason[AGGREGATOR_REASON])
{
	int found;

	memset(options, 0, sizeof(*options));
	optind = 0;	/* begin anew */
	opterr = 0;
	while ((found = getopt_long(argc, argv, ":l:m:d:jh", long_options,
				    NULL)) != -1) {
		if (found == '?' || found == ':') {
			snprintf(reason, AGGREGATOR_REASON, found == ':' ?
				 "option \"%.60s\" needs a value" :
				 "option \"%.60s\" is unknown or ambiguous, try \"peerlane aggregator help\"",
				 argv[optind - 1]);
			return false;
		}
		if (!take(options, found, optarg, reason))
			return false;
	}
	if (optind < argc)
		return refuse(reason, "an aggregator has only options",
			      argv[optind]);
	if (options->memory || options->help)
		return true;
	snprintf(reason, AGGREGATOR_REASON,
		 "how much memory? --memory SIZE; a group of n ranks takes (n + 1) * 512k by default");
	return false;
}
