// SPDX-License-Identifier: GPL-2.0
/* The side that connects, says what is wanted, and prints what came of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define ITERATIONS	1000
#define DEPTH		128

struct client {
	const struct bench_options *options;
	struct bench_link *link;
	struct bench_row *rows;
	size_t done;
	uint64_t wrong;
};

/* ---- what is asked for -------------------------------------------------------------- */

static uint64_t largest(const struct bench_options *asked)
{
	uint64_t size = 0;

	for (size_t i = 0; i < asked->size_count; i++)
		if (asked->sizes[i] > size)
			size = asked->sizes[i];
	return size;
}

static uint32_t flags_of(const struct bench_options *asked)
{
	return (asked->both ? BENCH_BOTH : 0) |
	       (asked->check ? BENCH_CHECK : 0) |
	       (asked->busy_poll ? BENCH_BUSY_POLL : 0) |
	       (asked->separate ? BENCH_SEPARATE : 0) |
	       (asked->poll_memory ? BENCH_POLL_MEMORY : 0) |
	       (asked->flush ? BENCH_FLUSH : 0);
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static struct bench_message make(const struct bench_options *asked,
				 enum bench_message_type type)
{
	struct bench_message message = {
		.type = type, .test = asked->test, .half = largest(asked),
		.duration = asked->duration, .flags = flags_of(asked),
		.depth = asked->depth ? asked->depth : DEPTH,
		.list = asked->list ? asked->list : 1,
		.quiet = asked->quiet,
	};

	message.list = smaller(message.list, message.depth);
	message.quiet = smaller(message.quiet, message.depth);
	if (!asked->duration)
		message.iterations = asked->iterations ? asked->iterations :
							   ITERATIONS;
	return message;
}

/* ---- talk ------------------------------------------------------------------------------ */

/* Send @message, which becomes the answer. Errors are told; the exit status. */
static int ask(struct bench_link *link, struct bench_message *message,
	       enum bench_message_type wanted)
{
	int error = bench_link_send(link, message);

	if (!error)
		error = bench_link_receive(link, message, 1);
	if (error)
		return bench_link_error(link, error);
	if (message->type == BENCH_REFUSED)
		return usage_error("the other side: %s", message->text);
	if (message->type != wanted)
		return usage_error("the other side is another version of peerlane bench");
	return STATUS_OK;
}

static int greet(struct client *client)
{
	struct bench_message message = make(client->options, BENCH_HELLO);
	int error, status = bench_link_data(client->link,
					    client->options->device,
					    message.half);

	if (!status)
		status = ask(client->link, &message, BENCH_READY);
	if (status)
		return status;
	error = bench_link_wait_exposed(client->link);
	if (error)
		return bench_link_error(client->link, error);
	if (client->link->peer_data_length < 2 * client->link->data.half)
		return usage_error("the other side has less memory than asked for");
	return STATUS_OK;
}

/* ---- one size -------------------------------------------------------------------------- */

static void fill(struct client *client, const struct bench_message *start)
{
	const struct bench_memory *data = &client->link->data;

	if (client->options->poll_memory)
		memset(data->map + data->half, 0, start->size);
	if (!client->options->check)
		return;
	bench_pattern_fill(data, 0, data->half, start->seed);
	bench_pattern_spoil(data, data->half, data->half, start->seed);
}

static bool is_received(const struct bench_options *asked)
{
	return asked->test == BENCH_GET || asked->both ||
	       (asked->test == BENCH_LAT && !asked->flush &&
		!asked->poll_memory);
}

static void verify(struct client *client, const struct bench_message *start,
		   struct bench_row *row)
{
	const struct bench_memory *data = &client->link->data;
	uint64_t ops = client->options->test == BENCH_PUT ? row->peer.ops :
							    row->own.ops;

	if (!client->options->check || !is_received(client->options))
		return;
	if (client->options->test == BENCH_LAT)
		ops = ops ? 1 : 0;
	row->own.wrong = bench_pattern_wrong(data, data->half,
					     bench_covered(data->half,
							   start->size, ops),
					     start->seed);
}

static int flush_for_check(struct client *client, struct bench_run *run)
{
	int error = 0;

	if (client->options->check && client->options->test == BENCH_PUT &&
	    !run->figures.error)
		error = bench_flush(client->link);
	return error ? bench_link_error(client->link, error) : STATUS_OK;
}

static int tell_failure(struct bench_run *run)
{
	int status = STATUS_OK;

	if (run->failed)
		status = usage_error("%s", run->failed);
	free((void *)(uintptr_t)run->failed);
	return status;
}

static int measure(struct client *client, uint64_t size, struct bench_row *row)
{
	struct bench_message start = make(client->options, BENCH_START);
	struct bench_message message;
	struct bench_run run = {
		.link = client->link, .what = &start, .is_client = true,
		.latency = &row->latency,
	};
	struct bench_cost cost;
	int status;

	start.size = size;
	start.seed = bench_now();
	fill(client, &start);
	message = start;
	status = ask(client->link, &message, BENCH_GO);
	if (status)
		return status;
	cost = bench_cost_now();
	(start.test == BENCH_LAT ? bench_lat : bench_flood)(&run);
	cost = bench_cost_since(&cost);
	run.figures.process = cost.process;
	run.figures.node = cost.node;
	row->size = size;
	row->own = run.figures;
	if (run.figures.ops)
		client->done++;
	status = tell_failure(&run);
	if (!status)
		status = flush_for_check(client, &run);
	if (status)
		return status;
	message = start;
	message.type = BENCH_STOP;
	message.figures = run.figures;
	status = ask(client->link, &message, BENCH_RESULT);
	if (status)
		return status;
	row->peer = message.figures;
	if (row->peer.error)
		return usage_error("the other side: %s", message.text);
	verify(client, &start, row);
	client->wrong += row->own.wrong + row->peer.wrong;
	return STATUS_OK;
}

static int measure_all(struct client *client)
{
	int status = greet(client);

	for (size_t i = 0; i < client->options->size_count; i++) {
		if (status || bench_interrupts)
			break;
		status = measure(client, client->options->sizes[i],
				 &client->rows[client->done]);
	}
	return status;
}

static int verdict(const struct client *client, int status)
{
	if (status)
		return status;
	if (client->wrong) {
		note("%ju bytes are wrong", (uintmax_t)client->wrong);
		return STATUS_FINDING;
	}
	return bench_interrupts ? STATUS_INCOMPLETE : STATUS_OK;
}

int bench_client(const struct bench_options *wanted)
{
	struct client client = {
		.options = wanted,
		.link = must(calloc(1, sizeof(*client.link))),
		.rows = must(calloc(wanted->size_count, sizeof(*client.rows))),
	};
	struct bench_message bye = { .type = BENCH_BYE };
	int status = bench_link_open(client.link, wanted);

	if (!status)
		status = measure_all(&client);
	/* He that waits for more is not left to wonder. */
	if (client.link->endpoint && client.link->peer_control &&
	    !client.link->has_ended && !bench_link_send(client.link, &bye))
		bench_link_linger(client.link);
	if (client.done || (!status && options.json))
		bench_report(wanted, client.link->peer, client.rows,
			     client.done);
	bench_link_close(client.link);
	free(client.link);
	free(client.rows);
	return verdict(&client, status);
}
