// SPDX-License-Identifier: GPL-2.0
/* peerlane bench: how fast this node reaches another one's memory. */
#include <stdlib.h>
#include <string.h>

#include "bench_reduce.h"

void bench_print_options(void)
{
	fputs("\nWithout HOST it waits for the other side. What is measured is said by the\n"
	      "side that connects:\n"
	      "\n"
	      "  -s, --size SIZES       bytes, as 4096,64k,1m; 64k, and 8 for lat\n"
	      "  -a, --all              sizes from 2 to 8m\n"
	      "  -n, --iters N          operations of each size; 1000\n"
	      "  -D, --duration SECONDS instead of -n\n"
	      "  -q, --lanes N          queue pairs; 1\n"
	      "  -t, --depth N          operations at once; 128\n"
	      "  -l, --list N           operations that are begun by one call; 1\n"
	      "  -b, --bidirectional    both sides at once\n"
	      "      --flush            until the data is in the peer's memory\n"
	      "      --busy-poll        wait actively\n"
	      "      --separate         begin and wait in two calls\n"
	      "      --quiet N          tell only each Nth operation's end; one lane\n"
	      "      --poll-memory      lat: look at memory for the answer, not for notices\n"
	      "      --check            compare all bytes afterwards\n"
	      "      --histogram        of times\n"
	      "  -j, --json, --pretty   as JSON\n"
	      "\n"
	      "Of each side:\n"
	      "\n"
	      "      --device NAME      memory of /dev/peerlane/NAME\n"
	      "      --host             memory of the host; this is the default\n"
	      "  -d, --rdma-device NAME the one to use, where the route leaves a choice\n"
	      "      --source ADDRESS   local address\n"
	      "  -p, --port PORT        18516\n"
	      "      --secret WORDS     the same on both sides; also PEERLANE_SECRET\n"
	      "      --timeout MS       after which a peer is dead\n",
	      stdout);
	reduce_print_options();
}

static int bench(enum bench_test test, int argc, char **argv)
{
	char **words = must(calloc((size_t)argc + 2, sizeof(*words)));
	struct bench_options wanted;
	char reason[BENCH_REASON];
	int status;

	words[0] = (char []){ "bench" };
	if (argc)
		memcpy(words + 1, argv, (size_t)argc * sizeof(*words));
	if (!bench_options_parse(&wanted, test, argc + 1, words, reason)) {
		status = usage_error("%s", reason);
	} else if (wanted.help) {
		bench_print_options();
		status = STATUS_OK;
	} else {
		options.json |= wanted.json;
		options.pretty |= wanted.pretty;
		bench_default_sizes(&wanted);
		status = wanted.peer ? bench_client(&wanted) :
				       bench_serve(&wanted);
	}
	free(words);
	return status;
}

static int bench_put(int argc, char **argv)
{
	return bench(BENCH_PUT, argc, argv);
}

static int bench_get(int argc, char **argv)
{
	return bench(BENCH_GET, argc, argv);
}

static int bench_latency(int argc, char **argv)
{
	return bench(BENCH_LAT, argc, argv);
}

const struct command bench_commands[] = {
	{ "put", bench_put, "[HOST] [OPTIONS]",
	  "write into the memory of HOST; without HOST, wait for the other side" },
	{ "get", bench_get, "[HOST] [OPTIONS]", "read from it" },
	{ "lat", bench_latency, "[HOST] [OPTIONS]",
	  "one small write there, one back" },
	{ "allreduce", bench_reduce, "--rank R --size N --aggregator ADDRESS... [OPTIONS]",
	  "one rank of a group that sums up" },
};

const size_t bench_command_count = ARRAY_SIZE(bench_commands);
