// SPDX-License-Identifier: GPL-2.0
/* peerlane flow: RDMA flows and how they fare. */
#include <stdlib.h>
#include <string.h>

#include "flow.h"

static int flow_list(int argc, char **argv)
{
	struct flow_query query;
	struct flow_set set;
	int status = flow_query_parse(argc, argv,
				      WORDS_FILTER | WORDS_LOCAL | WORDS_ORDER,
				      &query);
	int error;

	if (status)
		return status;
	error = flow_set_read(&query, NULL, &set);
	if (error)
		return library_error(error);
	if (options.json)
		flow_print_json(&set, NULL, false);
	else
		flow_print_table(&set, NULL, false);
	status = flow_report(&set);
	flow_set_free(&set);
	return status;
}

#define FILTER	"[FILTER]..."
#define ORDER	"[sort by COUNTER] [top N]"
#define TIME	"[interval SECONDS] [count N] [once]"

const struct command flow_commands[] = {
	{ "list", flow_list, FILTER " " ORDER, "flows, one a line" },
	{ "show", flow_show, FILTER " " ORDER,
	  "flows in full, with their round trips" },
	{ "watch", flow_watch, FILTER " " ORDER " " TIME,
	  "what happens, interval by interval" },
	{ "top", flow_top, FILTER " [interval SECONDS]",
	  "the same on the whole screen" },
	{ "label", flow_label, "{ set LABEL | clear } { FILTER... | all }",
	  "name flows" },
	{ "reset", flow_reset, "[FILTER... | all]",
	  "set counters to zero, print what they were" },
	{ "pair", flow_pair, "", "tell the kernel both ends of this node's flows" },
	{ "observe", flow_observe, "[local { on | off } | dev NAME { on | off }]",
	  "where packets are looked at" },
	{ "limit", flow_limit,
	  "[idle-timeout SECONDS] [threshold-on SHARE] [threshold-off SHARE] [calm-windows N]",
	  "when flows are forgotten, and congested" },
	{ "stats", flow_stats, "", "counts and limits of all flows together" },
	{ "tcp", flow_tcp, "", "connections of iWARP" },
};

const size_t flow_command_count = ARRAY_SIZE(flow_commands);
