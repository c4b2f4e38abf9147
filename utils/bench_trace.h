/* SPDX-License-Identifier: GPL-2.0 */
/* Operations of one rank as a timeline that Perfetto and Chrome open. */
#ifndef PEERLANE_BENCH_TRACE_H
#define PEERLANE_BENCH_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct trace_slice - one operation; all times are of the monotonic clock, ns
 * @bytes: that a rank gives
 * @begin: before it is submitted
 * @submitted: when that was done
 * @end: when its end was told
 */
struct trace_slice {
	uint64_t bytes;
	uint64_t begin;
	uint64_t submitted;
	uint64_t end;
};

struct trace {
	FILE *file;
	struct trace_slice *slices;
	size_t count;
	size_t room;
	uint64_t left_out;	/* beyond the most that are kept */
};

/* Whose they are */
struct trace_owner {
	uint64_t group;
	uint32_t rank;
	uint32_t ranks;
	const char *what;	/* they do */
};

/* Returns the exit status; what is wrong has been said then. */
int trace_open(struct trace *trace, const char *path);
void trace_add(struct trace *trace, const struct trace_slice *slice);
/* Write what there is, and let go of it. */
int trace_close(struct trace *trace, const struct trace_owner *owner);

#endif /* PEERLANE_BENCH_TRACE_H */
