/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of "peerlane flow" share, and those of events and metrics. */
#ifndef PEERLANE_FLOW_H
#define PEERLANE_FLOW_H

#include "cli.h"
#include "rate.h"

/* ---- which flows (flow_query.c) ------------------------------------------ */

/* Groups of words that a command takes. */
enum {
	WORDS_FILTER = 1 << 0,	/* dev, src, qpn, ..., congested: by the kernel */
	WORDS_LOCAL = 1 << 1,	/* pid, dev of RDMA: by this host's queue pairs */
	WORDS_ORDER = 1 << 2,	/* sort by, top */
	WORDS_TIME = 1 << 3,	/* interval, count, once */
	WORDS_TIMEOUT = 1 << 4,
	WORDS_COUNT = 1 << 5,	/* count alone */
	WORDS_ALL = 1 << 6,	/* all: no filter on purpose */
	WORDS_CURRENT = 1 << 7,	/* current */
};

struct flow_query {
	struct peerlane_flow_filter filter;
	uint32_t given;		/* which words there were */
	int32_t pid;		/* 0 any */
	const char *rdma;	/* RDMA device, NULL any */
	bool sorted;		/* by @sort, the largest first; else by address */
	uint32_t sort;
	uint32_t top;		/* 0 all */
	uint64_t interval_ns;
	uint64_t count;		/* 0 no end */
	bool once;		/* one whole interval */
	bool current;		/* begin with what is so already */
	uint64_t timeout_ns;	/* 0 none */
};

/* Returns the exit status; what is wrong has been said then. */
int flow_query_parse(int argc, char **argv, unsigned int words,
		     struct flow_query *query);
/* Some word said which flows are meant. */
bool flow_query_selects(const struct flow_query *query);
/* A counter by name or beginning of one. */
int flow_parse_counter(const char *word, uint32_t *counter);
int parse_number(const char *what, const char *word, uint64_t least,
		 uint64_t most, uint64_t *number);
/* "2", "0.5": seconds to ns. */
int parse_seconds(const char *word, uint64_t *ns);

/* ---- flows that were read (flow_set.c) ----------------------------------- */

struct flow_set {
	struct peerlane_flow_info *infos;	/* in the order of their keys */
	struct peerlane_flow_qp *qps;		/* one each */
	size_t *order;				/* in which they are shown */
	size_t count;
	size_t shown;				/* of @order, after a cut */
	bool incomplete;
	char *no_processes;			/* why they are not known */
	uint64_t when;				/* CLOCK_MONOTONIC, ns */
	uint64_t joined;			/* when @qps were asked for */
};

/*
 * Read what @query asks for. @previous, or NULL, spares the search for processes
 * of flows that it has. Returns 0 or a negative errno of the library.
 */
int flow_set_read(const struct flow_query *query,
		  const struct flow_set *previous, struct flow_set *set);
void flow_set_free(struct flow_set *set);
const struct peerlane_flow_info *
flow_set_find(const struct flow_set *set, const struct peerlane_flow_key *key);
int flow_key_compare(const struct peerlane_flow_key *a,
		     const struct peerlane_flow_key *b);
uint64_t monotonic_ns(void);

/* ---- one flow as it is shown (flow_row.c) -------------------------------- */

struct flow_row {
	const struct peerlane_flow_info *info;
	const struct peerlane_flow_qp *qp;
	const struct peerlane_flow_info *before;	/* NULL: seen once */
	uint64_t elapsed_ns;
	bool live;	/* what happened in @elapsed_ns, else since ever */
};

enum flow_column {
	FLOW_SOURCE, FLOW_DESTINATION, FLOW_TYPE, FLOW_PROCESS, FLOW_STATE,
	FLOW_RATE, FLOW_PACKETS, FLOW_BYTES, FLOW_CE, FLOW_CNP, FLOW_NAK,
	FLOW_RNR, FLOW_RETX, FLOW_LOST, FLOW_P50, FLOW_P99, FLOW_LABEL,
	FLOW_COLUMNS,
};

enum { FLOW_CELL = 112 };

/* The row of flow order[@i] of @set, with its past in @previous (or NULL). */
struct flow_row flow_row_of(const struct flow_set *set, size_t i,
			    const struct flow_set *previous, bool live);
const char *flow_title(enum flow_column column, bool live);
bool flow_column_right(enum flow_column column);
/* What a column of numbers has; unknown where it would show "-". */
enum rate_state flow_value(const struct flow_row *row, enum flow_column column,
			   uint64_t *value);
/* Its text, empty if unknown; not yet safe for a terminal. */
enum tint flow_cell(const struct flow_row *row, enum flow_column column,
		    bool human, char to[FLOW_CELL]);
void flow_end_text(const uint8_t address[16], uint32_t qpn, char to[64]);

/* ---- output (flow_json.c, flow_print.c, flow_show.c) ---------------------- */

struct json_object *flow_json(const struct flow_row *row,
			      const uint32_t *histogram);
void flow_print_json(const struct flow_set *set,
		     const struct flow_set *previous, bool live);
void flow_print_table(const struct flow_set *set,
		      const struct flow_set *previous, bool live);
/* Says on stderr what is missing from @set; returns the exit status. */
int flow_report(const struct flow_set *set);

/* A number in a structure of the library, 32 or 64 bits wide. */
struct flow_field {
	const char *name;
	size_t size;
	size_t offset;
};

#define FLOW_FIELD(type, member) { \
	#member, sizeof(((struct type *)0)->member), \
	offsetof(struct type, member) }

uint64_t flow_field_value(const void *structure, const struct flow_field *field);

/* ---- commands ----------------------------------------------------------- */

int flow_show(int argc, char **argv);
int flow_watch(int argc, char **argv);
int flow_top(int argc, char **argv);
int flow_label(int argc, char **argv);
int flow_reset(int argc, char **argv);
int flow_pair(int argc, char **argv);
int flow_observe(int argc, char **argv);
int flow_limit(int argc, char **argv);
int flow_stats(int argc, char **argv);
int flow_tcp(int argc, char **argv);

/* The loop of "flow watch" (top falls back on it). */
int flow_watch_query(const struct flow_query *query);

#endif /* PEERLANE_FLOW_H */
