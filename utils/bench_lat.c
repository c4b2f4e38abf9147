// SPDX-License-Identifier: GPL-2.0
/*
 * One put at a time: there and back, each side answering the other's; or, with
 * a flush, until it is in the peer's memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* In the value that goes with a put: no answer is wanted after this one. */
#define LAST		(UINT64_C(1) << 63)
#define SPINS		(1U << 20)

struct lat {
	struct bench_run *run;
	uint64_t count;		/* round trips so far */
	uint64_t begin;
	uint64_t end;		/* ns, 0 not by time */
	bool done;		/* what was waited for with a flush */
};

/* ---- notices --------------------------------------------------------------------- */

static void take(struct lat *lat, const struct peerlane_notice *notice)
{
	struct bench_link *link = lat->run->link;

	if (notice->type == PEERLANE_NOTICE_DONE) {
		lat->done = true;
		bench_fail_work(lat->run, notice->status);
	} else {
		bench_link_keep(link, notice);
	}
	if (link->has_ended && !lat->run->figures.error)
		bench_fail_work(lat->run, -ENOTCONN);
}

/* Begin @count of @works, then wait for a notice if @wait. */
static void call(struct lat *lat, const struct peerlane_work *works,
		 uint32_t count, bool wait)
{
	struct bench_link *link = lat->run->link;
	struct peerlane_batch batch = {
		.works = works, .count = count, .wait = wait, .timeout = -1,
		.flags = lat->run->what->flags & BENCH_BUSY_POLL ?
			 PEERLANE_BATCH_BUSY_POLL : 0,
		.notices = { .buffer = link->buffer,
			     .size = sizeof(link->buffer) },
	};
	struct peerlane_notice notice;
	int error;

	do {
		error = bench_link_submit(link, &batch);
		/* The peer has yet to read what came before. */
	} while (error == -EAGAIN || (error == -EINTR && count));
	/* A signal ends the wait, with an error or without. */
	if (error == -EINTR || (wait && !batch.notices.used))
		bench_fail_interrupted(lat->run);
	else if (error)
		bench_fail(lat->run, error);
	while (!error && peerlane_notice_next(&batch.notices, &notice))
		take(lat, &notice);
}

/* ---- there and back, told by notices ------------------------------------------------ */

static struct peerlane_work make_put(const struct lat *lat)
{
	const struct bench_link *link = lat->run->link;

	return (struct peerlane_work){
		.code = PEERLANE_WORK_PUT, .flags = PEERLANE_WORK_QUIET,
		.slot = BENCH_SLOT_DATA, .length = lat->run->what->size,
		.token = link->peer_data, .remote_offset = link->data.half,
	};
}

static bool is_last(const struct lat *lat)
{
	uint64_t wanted = lat->run->what->iterations;

	return bench_interrupts ||
	       (lat->end ? bench_now() >= lat->end : lat->count + 1 >= wanted);
}

static void wait_ping(struct lat *lat)
{
	while (!lat->run->link->has_ping && !lat->run->figures.error)
		call(lat, NULL, 0, true);
	lat->run->link->has_ping = false;
}

static void call_out(struct lat *lat, const struct peerlane_work *put, bool wait)
{
	if (lat->run->what->flags & BENCH_SEPARATE) {
		call(lat, put, 1, false);
		if (wait && !lat->run->figures.error &&
		    !lat->run->link->has_ping)
			call(lat, NULL, 0, true);
	} else {
		call(lat, put, 1, wait);
	}
}

static void ping(struct lat *lat)
{
	struct peerlane_work put = make_put(lat);
	bool last = false;
	uint64_t begin;

	put.flags |= PEERLANE_WORK_NOTIFYING;
	while (!last && !lat->run->figures.error) {
		bench_progress(lat->run, lat->begin, lat->count);
		last = is_last(lat);
		put.value = ++lat->count | (last ? LAST : 0);
		begin = bench_now();
		call_out(lat, &put, true);
		wait_ping(lat);
		if (!lat->run->figures.error)
			latency_add(lat->run->latency,
				    (bench_now() - begin) / 2);
	}
}

static void pong(struct lat *lat)
{
	struct peerlane_work put = make_put(lat);

	put.flags |= PEERLANE_WORK_NOTIFYING;
	wait_ping(lat);
	while (!lat->run->figures.error) {
		bool last = lat->run->link->ping & LAST;

		put.value = ++lat->count;
		call_out(lat, &put, !last);
		if (last)
			break;
		wait_ping(lat);
	}
}

/* ---- there and back, seen in memory ------------------------------------------------- */

static volatile unsigned char *byte_at(const struct lat *lat, bool incoming)
{
	const struct bench_memory *data = &lat->run->link->data;

	return (volatile unsigned char *)data->map +
	       (incoming ? data->half : 0) + lat->run->what->size - 1;
}

/* Now and then the kernel is asked whether there will ever be an answer. */
static bool wait_byte(struct lat *lat, unsigned char wanted)
{
	volatile unsigned char *byte = byte_at(lat, true);

	while (!lat->run->figures.error) {
		for (uint32_t i = 0; i < SPINS; i++)
			if (*byte == wanted)
				return true;
		call(lat, NULL, 0, false);
		bench_fail_interrupted(lat->run);
	}
	return false;
}

static void put_byte(struct lat *lat, const struct peerlane_work *put)
{
	unsigned char value = (unsigned char)lat->count;

	peerlane_copy_to((char *)(uintptr_t)byte_at(lat, false), &value, 1);
	call(lat, put, 1, false);
}

static void ping_memory(struct lat *lat)
{
	const struct peerlane_work put = make_put(lat);
	uint64_t begin;

	while (lat->count < lat->run->what->iterations &&
	       !lat->run->figures.error) {
		lat->count++;
		begin = bench_now();
		put_byte(lat, &put);
		if (wait_byte(lat, (unsigned char)lat->count))
			latency_add(lat->run->latency,
				    (bench_now() - begin) / 2);
	}
}

static void pong_memory(struct lat *lat)
{
	const struct peerlane_work put = make_put(lat);

	while (lat->count < lat->run->what->iterations &&
	       !lat->run->figures.error) {
		lat->count++;
		if (wait_byte(lat, (unsigned char)lat->count))
			put_byte(lat, &put);
	}
}

/* ---- until it is there ----------------------------------------------------------------- */

static void put_and_flush(struct lat *lat)
{
	struct peerlane_work works[2] = {
		make_put(lat), { .code = PEERLANE_WORK_FLUSH },
	};
	bool last = false;
	uint64_t begin;

	while (!last && !lat->run->figures.error) {
		bench_progress(lat->run, lat->begin, lat->count);
		last = is_last(lat);
		lat->count++;
		lat->done = false;
		begin = bench_now();
		call(lat, works, 2, true);
		while (!lat->done && !lat->run->figures.error)
			call(lat, NULL, 0, true);
		if (!lat->run->figures.error)
			latency_add(lat->run->latency, bench_now() - begin);
	}
}

void bench_lat(struct bench_run *run)
{
	const struct bench_message *what = run->what;
	struct lat lat = { .run = run, .begin = bench_now() };
	uint64_t calls = run->link->calls;

	if (what->duration)
		lat.end = lat.begin + (uint64_t)what->duration * 1000000000;
	if (what->flags & BENCH_FLUSH)
		put_and_flush(&lat);
	else if (what->flags & BENCH_POLL_MEMORY)
		(run->is_client ? ping_memory : pong_memory)(&lat);
	else
		(run->is_client ? ping : pong)(&lat);
	run->figures.ns = bench_now() - lat.begin;
	bench_progress_end(run);
	/* There and back is one, and it is the client's. */
	run->figures.ops = run->is_client ? run->latency->samples : 0;
	run->figures.bytes = run->figures.ops * what->size;
	run->figures.calls = run->link->calls - calls;
}
