// SPDX-License-Identifier: GPL-2.0
/* Puts or gets, as many at once as the depth allows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define COOKIE_FLUSH	UINT64_MAX

/**
 * struct flood - one size
 * @run: what for
 * @works: the next list
 * @sent: when work of each cookie was begun, ns
 * @free: cookies that are not in use; the first @free_count
 * @ring: places in a half
 * @posted: begun so far
 * @told: of them, known to have ended
 * @begin: ns
 * @end: ns, 0 not by time
 */
struct flood {
	struct bench_run *run;
	struct peerlane_work works[BENCH_LIST_MOST];
	uint64_t sent[BENCH_DEPTH_MOST];
	uint32_t free[BENCH_DEPTH_MOST];
	uint32_t free_count;
	uint32_t depth, list, quiet;
	uint64_t ring;
	uint64_t posted;
	uint64_t told;
	uint64_t begin;
	uint64_t end;
};

/* ---- shared with bench_lat.c ---------------------------------------------------- */

void bench_fail(struct bench_run *run, int error)
{
	if (run->figures.error)
		return;
	run->figures.error = error;
	run->failed = bench_link_reason(run->link, error);
}

void bench_fail_work(struct bench_run *run, int status)
{
	if (run->figures.error || !status)
		return;
	run->figures.error = status;
	if (run->link->has_ended)
		run->failed = bench_link_reason(run->link, status);
	else
		run->failed = format_text("an operation failed: %s (%s)",
					  strerror(-status),
					  strerrorname_np(-status));
}

void bench_fail_interrupted(struct bench_run *run)
{
	if (bench_interrupts <= run->is_client || run->figures.error)
		return;
	run->figures.error = -EINTR;
	run->failed = format_text("interrupted");
}

uint64_t bench_covered(uint64_t half, uint64_t size, uint64_t ops)
{
	uint64_t ring = half / size;

	return (ops < ring ? ops : ring) * size;
}

int bench_flush(struct bench_link *link)
{
	const struct peerlane_work work = {
		.code = PEERLANE_WORK_FLUSH, .cookie = COOKIE_FLUSH,
	};
	struct peerlane_batch batch = { .works = &work, .count = 1 };
	struct peerlane_notice notice;
	bool done = false;
	int status = 0, error;

	batch.timeout = -1;
	batch.wait = 1;
	while (!done) {
		batch.notices.buffer = link->buffer;
		batch.notices.size = sizeof(link->buffer);
		error = bench_link_submit(link, &batch);
		if (error == -EINTR)
			continue;
		if (error)
			return error;
		if (batch.begun)
			batch.count = 0;
		while (peerlane_notice_next(&batch.notices, &notice)) {
			if (notice.type != PEERLANE_NOTICE_DONE) {
				bench_link_keep(link, &notice);
			} else if (notice.cookie == COOKIE_FLUSH) {
				status = notice.status;
				done = true;
			}
		}
		if (link->has_ended && !done)
			return -ENOTCONN;
	}
	return status;
}

/* ---- the next list ---------------------------------------------------------------- */

static uint64_t outstanding(const struct flood *flood)
{
	return flood->posted - flood->told;
}

static uint64_t left(const struct flood *flood)
{
	uint64_t wanted = flood->run->what->iterations;

	if (flood->run->figures.error || bench_interrupts)
		return 0;
	if (!flood->end)
		return wanted - flood->posted;
	return bench_now() < flood->end ? UINT64_MAX : 0;
}

/* Lists are whole but for the last: it is what was asked for. */
static uint32_t how_many(const struct flood *flood, uint64_t most)
{
	uint64_t next = most < flood->list ? most : flood->list;

	return next <= flood->depth - outstanding(flood) ? (uint32_t)next : 0;
}

static void prepare(struct flood *flood, uint32_t count, bool last)
{
	const struct bench_message *what = flood->run->what;
	uint64_t half = flood->run->link->data.half;
	bool put = what->test == BENCH_PUT;
	uint64_t now = bench_now();
	uint32_t i;

	for (i = 0; i < count; i++) {
		struct peerlane_work *work = &flood->works[i];
		uint64_t number = flood->posted + i;
		uint64_t place = number % flood->ring * what->size;

		work->cookie = flood->quiet ? number :
			       flood->free[--flood->free_count];
		work->offset = place + (put ? 0 : half);
		work->remote_offset = place + (put ? half : 0);
		work->flags = flood->quiet && (number + 1) % flood->quiet &&
			      !(last && i + 1 == count) ?
			      PEERLANE_WORK_QUIET : 0;
		flood->sent[work->cookie % BENCH_DEPTH_MOST] = now;
	}
}

static void take_done(struct flood *flood, const struct peerlane_notice *notice,
		      uint64_t now)
{
	uint64_t ns = now - flood->sent[notice->cookie % BENCH_DEPTH_MOST];

	if (notice->status)
		bench_fail_work(flood->run, notice->status);
	else
		latency_add(flood->run->latency, ns);
	if (flood->quiet) {
		/* One lane: all before it have ended, too. */
		if (notice->cookie >= flood->told)
			flood->told = notice->cookie + 1;
	} else {
		flood->free[flood->free_count++] = (uint32_t)notice->cookie;
		flood->told++;
	}
}

static void take_all(struct flood *flood, struct peerlane_notices *notices)
{
	struct peerlane_notice notice;
	uint64_t now = bench_now();

	while (peerlane_notice_next(notices, &notice)) {
		if (notice.type == PEERLANE_NOTICE_DONE)
			take_done(flood, &notice, now);
		else
			bench_link_keep(flood->run->link, &notice);
	}
	if (flood->run->link->has_ended && !flood->run->figures.error)
		bench_fail_work(flood->run, -ENOTCONN);
}

/* ---- calls ------------------------------------------------------------------------- */

static uint32_t flags_of(const struct flood *flood)
{
	return flood->run->what->flags & BENCH_BUSY_POLL ?
	       PEERLANE_BATCH_BUSY_POLL : 0;
}

static int call(struct flood *flood, uint32_t count, uint32_t wait,
		uint32_t *begun)
{
	struct bench_link *link = flood->run->link;
	struct peerlane_batch batch = {
		.works = flood->works, .count = count, .wait = wait,
		.flags = flags_of(flood), .timeout = -1,
		.notices = { .buffer = link->buffer,
			     .size = sizeof(link->buffer) },
	};
	int error = bench_link_submit(link, &batch);

	*begun = error ? 0 : batch.begun;
	/* A signal ends the wait, with an error or without. */
	if (wait && !batch.notices.used)
		bench_fail_interrupted(flood->run);
	if (!error)
		take_all(flood, &batch.notices);
	return error;
}

/* The same in two calls, as one would do without a call for both */
static int call_twice(struct flood *flood, uint32_t count, uint32_t wait,
		      uint32_t *begun)
{
	struct bench_link *link = flood->run->link;
	struct peerlane_batch batch = {
		.works = flood->works, .count = count,
	};
	uint32_t none;
	int error = 0;

	*begun = 0;
	if (count)
		error = bench_link_submit(link, &batch);
	if (!error)
		*begun = batch.begun;
	return error || !wait ? error : call(flood, 0, wait, &none);
}

static int go(struct flood *flood, uint32_t count, uint32_t wait)
{
	bool twice = flood->run->what->flags & BENCH_SEPARATE;
	uint32_t begun = 0;
	int error;

	error = (twice ? call_twice : call)(flood, count, wait, &begun);
	flood->posted += begun;
	for (uint32_t i = begun; i < count && !flood->quiet; i++)
		flood->free[flood->free_count++] =
			(uint32_t)flood->works[i].cookie;
	return error;
}

/*
 * A quarter of the depth at once: who is woken for each operation is woken often,
 * and three quarters keep the fabric busy.
 */
static uint32_t how_many_to_wait_for(const struct flood *flood, uint64_t after)
{
	uint32_t wait = flood->depth / 4;

	if (flood->quiet || !wait)
		return 1;
	if (wait < flood->list)
		wait = flood->list;
	return after < wait ? (uint32_t)after : wait;
}

/* Fill the depth, then wait until the next list has room. False: it is over. */
static bool step(struct flood *flood)
{
	uint64_t most = left(flood);
	uint32_t count = how_many(flood, most);
	uint64_t after = outstanding(flood) + count;
	uint32_t wait = 0;
	int error;

	if (!count && !after)
		return false;
	if (most <= count || flood->depth - after < flood->list)
		wait = how_many_to_wait_for(flood, after);
	if (count)
		prepare(flood, count, most <= count);
	error = go(flood, count, wait);
	/* No room here or at the peer: there is after the next notice. */
	if (error == -EAGAIN && outstanding(flood))
		error = go(flood, 0, 1);
	if (error == -EINTR)
		bench_fail_interrupted(flood->run);
	else if (error)
		bench_fail(flood->run, error);
	if (flood->run->figures.error == -EINTR ||
	    (flood->run->figures.error && error))
		return false;
	bench_progress(flood->run, flood->begin, flood->told);
	return !flood->run->link->has_ended;
}

/* ---- one size ----------------------------------------------------------------------- */

static void set_up(struct flood *flood, struct bench_run *run)
{
	const struct bench_message *what = run->what;
	struct bench_link *link = run->link;

	memset(flood, 0, sizeof(*flood));
	flood->run = run;
	flood->depth = what->depth;
	flood->list = what->list;
	flood->quiet = what->quiet > 1 ? what->quiet : 0;
	flood->ring = link->data.half / what->size;
	flood->free_count = flood->depth;
	for (uint32_t i = 0; i < flood->depth; i++)
		flood->free[i] = flood->depth - 1 - i;
	for (uint32_t i = 0; i < flood->list; i++)
		flood->works[i] = (struct peerlane_work){
			.code = what->test == BENCH_PUT ? PEERLANE_WORK_PUT :
							  PEERLANE_WORK_GET,
			.slot = BENCH_SLOT_DATA, .length = what->size,
			.token = link->peer_data,
		};
	flood->begin = bench_now();
	if (what->duration)
		flood->end = flood->begin +
			     (uint64_t)what->duration * 1000000000;
}

void bench_flood(struct bench_run *run)
{
	struct flood *flood = must(malloc(sizeof(*flood)));
	uint64_t calls = run->link->calls;
	int error;

	set_up(flood, run);
	while (step(flood))
		;
	if (!run->figures.error && run->what->flags & BENCH_FLUSH) {
		error = bench_flush(run->link);
		if (error)
			bench_fail(run, error);
	}
	run->figures.ns = bench_now() - flood->begin;
	run->figures.ops = flood->told;
	run->figures.bytes = flood->told * run->what->size;
	run->figures.calls = run->link->calls - calls;
	bench_progress_end(run);
	free(flood);
}
