/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* What launchers put into the environment, and lists of aggregators. Pure. */
#ifndef PEERLANE_LAUNCH_PARSE_H
#define PEERLANE_LAUNCH_PARSE_H

#include <peerlane.h>

#define PL_LAUNCH_REASON	192
#define PL_LAUNCH_JOB		512
#define PL_HOST_MAX		256

/* getenv(), or what a test has in its place; @name is set or NULL comes back */
struct pl_environment {
	const char *(*get)(void *context, const char *name);
	void *context;
};

/*
 * Sets launcher, rank and ranks, or leaves them empty. False: what is said is
 * nonsense, and @reason has why.
 */
bool pl_launch_rank(const struct pl_environment *environment,
		    struct peerlane_launch *launch,
		    char reason[PL_LAUNCH_REASON]);

/* What the launcher calls the job, the same on all its ranks; or empty. */
void pl_launch_job(const struct pl_environment *environment,
		   const char *launcher, char job[PL_LAUNCH_JOB]);

/* Decimal or 0x..., and nothing else */
bool pl_parse_number(const char *text, uint64_t most, uint64_t *value);

/*
 * The next word of a list apart by commas, blanks and ends of lines; what
 * follows '#' to the end of its line is none. Returns its length, 0 at the end;
 * *@at is moved behind it.
 */
size_t pl_list_word(const char **at, const char **word);

/*
 * "host", "host:port", "[address]:port", "address" also of IPv6, ":port", whose
 * host is empty. @port stays as it is where none is said. False: it is none.
 */
bool pl_parse_address(const char *word, size_t length, char host[PL_HOST_MAX],
		      uint16_t *port);

#endif /* PEERLANE_LAUNCH_PARSE_H */
