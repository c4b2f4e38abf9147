/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of "peerlane bench" share.
 *
 *  client                                server
 *  HELLO what is wanted             ──►
 *                                   ◄──  READY, or REFUSED and why
 *  START the next size              ──►
 *                                   ◄──  GO
 *       operations; of both sides with -b and for lat
 *  STOP                             ──►
 *                                   ◄──  RESULT what it took there
 *  ... the next size, or BYE        ──►
 *
 * Messages are puts into a page that both sides expose to each other. Each side
 * has one region for data: sent and read from is the first half, received and
 * written to the second.
 */
#ifndef PEERLANE_BENCH_H
#define PEERLANE_BENCH_H

#include <signal.h>

#include "bench_options.h"
#include "cli.h"
#include "latency.h"

enum { BENCH_SLOT_CONTROL = 0, BENCH_SLOT_DATA = 1 };

/* ---- memory (bench_memory.c) ----------------------------------------------- */

struct bench_memory {
	struct peerlane_region *region;
	void *pages;		/* the process's own, else NULL */
	char *map;		/* where the CPU finds it */
	uint64_t half;		/* bytes */
};

/* Errors are told; returns the exit status. */
int bench_memory_open(struct bench_memory *memory, const char *device,
		      uint64_t half);
void bench_memory_close(struct bench_memory *memory);

void bench_pattern_fill(const struct bench_memory *memory, uint64_t offset,
			uint64_t length, uint64_t seed);
void bench_pattern_spoil(const struct bench_memory *memory, uint64_t offset,
			 uint64_t length, uint64_t seed);
/* How many bytes are not what they should be */
uint64_t bench_pattern_wrong(const struct bench_memory *memory,
			     uint64_t offset, uint64_t length, uint64_t seed);

/* ---- what it costs (bench_cost.c) -------------------------------------------- */

/* @process: CPU time of this process, ns; @node: of the whole node */
struct bench_cost {
	uint64_t process;
	uint64_t node;
};

uint64_t bench_now(void);
struct bench_cost bench_cost_now(void);
struct bench_cost bench_cost_since(const struct bench_cost *begin);

/* ---- messages and connection (bench_link.c) ---------------------------------- */

enum bench_message_type {
	BENCH_HELLO = 1, BENCH_READY, BENCH_REFUSED, BENCH_START, BENCH_GO,
	BENCH_STOP, BENCH_RESULT, BENCH_BYE,
};

#define BENCH_BOTH		(1U << 0)
#define BENCH_CHECK		(1U << 1)
#define BENCH_BUSY_POLL		(1U << 2)
#define BENCH_SEPARATE		(1U << 3)
#define BENCH_POLL_MEMORY	(1U << 4)
#define BENCH_FLUSH		(1U << 5)

/* What one side saw of one size; @error: negative errno */
struct bench_figures {
	uint64_t ns;
	uint64_t ops;
	uint64_t bytes;
	uint64_t calls;
	uint64_t process;
	uint64_t node;
	uint64_t wrong;
	int32_t error;
	uint32_t reserved;
};

struct bench_message {
	uint32_t magic;
	uint32_t version;
	uint32_t type;
	uint32_t test;
	uint32_t flags;
	uint32_t duration;
	uint32_t depth;
	uint32_t list;
	uint32_t quiet;
	uint32_t reserved;
	uint64_t half;
	uint64_t size;
	uint64_t iterations;
	uint64_t seed;
	struct bench_figures figures;
	char text[128];
};

struct bench_link {
	struct peerlane_endpoint *endpoint;
	struct bench_memory control;
	struct bench_memory data;
	uint64_t control_token, peer_control;
	uint64_t data_token, peer_data;
	uint64_t peer_data_length;
	uint64_t calls;		/* of the kernel, for work and notices */
	bool has_message;
	bool has_ping;		/* a put to the data came with @ping */
	bool has_ended;
	uint64_t ping;
	char peer[PEERLANE_PEER_TEXT];
	uint64_t buffer[BENCH_DEPTH_MOST * PEERLANE_NOTICE_ROOM / 8];
};

/* SIGINTs so far */
extern volatile sig_atomic_t bench_interrupts;

/* Wait for a peer, or connect. Errors are told; returns the exit status. */
int bench_link_open(struct bench_link *link, const struct bench_options *asked);
void bench_link_close(struct bench_link *link);
/* Memory for data, shown to the peer. Errors are told; the exit status. */
int bench_link_data(struct bench_link *link, const char *device, uint64_t half);

/* Tell why the connection is no more, or the library's reason; exit status. */
int bench_link_error(struct bench_link *link, int error);
/* The same as text, freed by the caller */
char *bench_link_reason(struct bench_link *link, int error);
/* Wait a little for the peer to close. */
void bench_link_linger(struct bench_link *link);

/* These four: 0 or a negative errno with the library's reason. */
int bench_link_send(struct bench_link *link, struct bench_message *message);
/* Waits; a signal ends it once there were more than @patience of them. */
int bench_link_receive(struct bench_link *link, struct bench_message *message,
		       int patience);
/* As peerlane_endpoint_submit(), with the link's buffer and counted */
int bench_link_submit(struct bench_link *link, struct peerlane_batch *batch);
int bench_link_wait_exposed(struct bench_link *link);

/* A notice that is not of work: kept in the link. */
void bench_link_keep(struct bench_link *link,
		     const struct peerlane_notice *notice);

/* ---- one size (bench_flood.c, bench_lat.c) ------------------------------------ */

struct bench_run {
	struct bench_link *link;
	const struct bench_message *what;
	bool is_client;
	struct latency *latency;
	struct bench_figures figures;
	const char *failed;	/* why, or NULL: a copy, freed by the caller */
	uint64_t progress;	/* when it was told last, 0 not yet */
};

void bench_flood(struct bench_run *run);
void bench_lat(struct bench_run *run);
/* The bytes that were written, from the beginning of the half */
uint64_t bench_covered(uint64_t half, uint64_t size, uint64_t ops);

/* Now and then, how far it is, for who looks on; and the line is empty again. */
void bench_progress(struct bench_run *run, uint64_t begin, uint64_t ops);
void bench_progress_end(struct bench_run *run);

/* Remember @error and the library's reason, if it is the first. */
void bench_fail(struct bench_run *run, int error);
/* A call was interrupted: once ends politely what can be, twice at once. */
void bench_fail_interrupted(struct bench_run *run);
/* From a notice of work */
void bench_fail_work(struct bench_run *run, int status);
/* All puts so far are in the peer's memory. */
int bench_flush(struct bench_link *link);

/* ---- both sides (bench_client.c, bench_serve.c) -------------------------------- */

int bench_client(const struct bench_options *asked);
int bench_serve(const struct bench_options *asked);

/* ---- results (bench_report.c) --------------------------------------------------- */

struct bench_row {
	uint64_t size;
	struct bench_figures own, peer;
	struct latency latency;
};

void bench_report(const struct bench_options *asked, const char *peer,
		  const struct bench_row *rows, size_t count);

#endif /* PEERLANE_BENCH_H */
