/* SPDX-License-Identifier: GPL-2.0 */
/* What an aggregator is to be, as said on the command line. Pure. */
#ifndef PEERLANE_AGGREGATOR_OPTIONS_H
#define PEERLANE_AGGREGATOR_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { AGGREGATOR_REASON = 160 };

/*
 * @listen: address and port, or NULL
 * @rdma_device, @secret, @parent: or NULL
 * @memory: bytes
 * @max_groups, @backlog, @timeout, @join_timeout, @parent_lanes: 0 by default
 */
struct aggregator_options {
	const char *listen;
	const char *rdma_device;
	const char *secret;
	const char *parent;
	uint64_t memory;
	uint32_t max_groups;
	uint32_t backlog;
	uint32_t timeout;
	uint32_t join_timeout;
	uint32_t parent_lanes;
	bool json;
	bool pretty;
	bool human;
	bool help;
};

/*
 * @argv has what follows the name of the command, and a place in front. False:
 * @reason says what is wrong.
 */
bool aggregator_options_parse(struct aggregator_options *options, int argc,
			      char **argv, char reason[AGGREGATOR_REASON]);

#endif /* PEERLANE_AGGREGATOR_OPTIONS_H */
