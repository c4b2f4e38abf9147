/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of "peerlane metrics" share. */
#ifndef PEERLANE_METRICS_H
#define PEERLANE_METRICS_H

#include "cli.h"
#include "openmetrics.h"

enum {
	METRICS_FLOWS = 50,		/* flows with rows of their own */
	METRICS_FLOWS_MAX = 1000,
};

struct metrics_state;

struct metrics_options {
	uint32_t flows;
	uint32_t by;			/* counter that orders them */
	struct metrics_state *state;	/* of a run with several scrapes, or NULL */
};

/* What could not be read; the page says so and the rest is still there. */
struct metrics_result {
	int status;			/* worst of them, as an exit status */
	bool failed_flows;
	bool failed_ports;
	bool incomplete;		/* flows are missing */
};

/*
 * All metrics as a page, freed by the caller. Complaints go to stderr, but from
 * one scrape to the next the same one only once.
 */
char *metrics_page(const struct metrics_options *wanted,
		   enum om_format format, size_t *length,
		   struct metrics_result *result);

/* The families of one source (metrics_flow.c, metrics_port.c): 0 or an errno. */
int metrics_flows(struct om_writer *writer,
		  const struct metrics_options *wanted,
		  struct metrics_result *result);
int metrics_ports(struct om_writer *writer);

/* A whole file takes the place of @path. Returns the exit status. */
int metrics_textfile(const char *path, const char *text, size_t length);

#endif /* PEERLANE_METRICS_H */
