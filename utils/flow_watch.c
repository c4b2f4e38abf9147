// SPDX-License-Identifier: GPL-2.0
/* peerlane flow watch: what happens, interval by interval. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flow.h"

/* To a time, not for a time: what reading takes does not add up. */
static void sleep_until(uint64_t ns)
{
	const struct timespec at = {
		.tv_sec = (time_t)(ns / 1000000000),
		.tv_nsec = (long)(ns % 1000000000),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) ==
	       EINTR)
		;
}

static void print_header(const struct flow_set *set,
			 const struct flow_set *previous)
{
	size_t congested = 0;

	for (size_t i = 0; i < set->count; i++)
		congested += set->infos[i].congested;
	if (previous)
		printf("interval %.2fs", (double)(set->when - previous->when) / 1e9);
	else
		printf("interval -");
	printf("  flows %zu  congested %zu\n", set->count, congested);
}

static void print_set(const struct flow_set *set,
		      const struct flow_set *previous)
{
	if (options.json) {
		flow_print_json(set, previous, true);
	} else {
		print_header(set, previous);
		flow_print_table(set, previous, true);
	}
	fflush(stdout);
}

/* Packets that got into no flow since the last time are told each time. */
static void report_missed(uint64_t *known)
{
	struct peerlane_flow_stats stats;
	uint64_t missed;

	if (peerlane_flow_stats(&stats))
		return;
	missed = stats.missed_full + stats.missed_memory;
	if (missed > *known)
		note("%ju more packets are in no flow", (uintmax_t)(missed - *known));
	*known = missed;
}

struct watch {
	const struct flow_query *query;
	struct flow_set previous;
	bool have_previous;
	uint64_t missed;
	uint64_t printed;
	int status;
};

static int watch_step(struct watch *watch)
{
	const struct flow_set *previous =
		watch->have_previous ? &watch->previous : NULL;
	struct flow_set set;
	int error = flow_set_read(watch->query, previous, &set);

	if (error)
		return library_error(error);
	if (previous || !watch->query->once) {
		print_set(&set, previous);
		watch->printed++;
	}
	if (!previous || set.incomplete)
		watch->status = flow_report(&set);
	if (previous)
		report_missed(&watch->missed);
	flow_set_free(&watch->previous);
	watch->previous = set;
	watch->have_previous = true;
	return STATUS_OK;
}

int flow_watch_query(const struct flow_query *query)
{
	struct watch watch = { .query = query };
	struct peerlane_flow_stats stats;
	uint64_t end = query->once ? 1 : query->count;
	uint64_t next = monotonic_ns();
	int status;

	if (!peerlane_flow_stats(&stats))
		watch.missed = stats.missed_full + stats.missed_memory;
	while (!(status = watch_step(&watch))) {
		if ((end && watch.printed >= end) || ferror(stdout))
			break;
		next += query->interval_ns;
		if (next < monotonic_ns())	/* reading takes longer */
			next = monotonic_ns();
		sleep_until(next);
	}
	flow_set_free(&watch.previous);
	return status ? status : watch.status;
}

int flow_watch(int argc, char **argv)
{
	struct flow_query query;
	int status = flow_query_parse(argc, argv,
				      WORDS_FILTER | WORDS_LOCAL | WORDS_ORDER |
				      WORDS_TIME, &query);

	return status ? status : flow_watch_query(&query);
}
