// SPDX-License-Identifier: GPL-2.0
/* The side that waits for another and does what that one asks for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct server {
	const struct bench_options *options;
	struct bench_link *link;
	uint64_t sizes;		/* that were measured */
};

static const char *const tests[] = {
	[BENCH_PUT] = "put", [BENCH_GET] = "get", [BENCH_LAT] = "lat",
};

/* ---- what is asked for is not believed ------------------------------------------------ */

static const char *wrong_with(const struct bench_message *message)
{
	if (message->test >= ARRAY_SIZE(tests))
		return "there is no such test";
	if (!message->half || message->half > BENCH_SIZE_MOST)
		return "that size is out of range";
	if (message->type == BENCH_HELLO)
		return NULL;
	if (!message->size || message->size > message->half)
		return "that size is out of range";
	if (!message->depth || message->depth > BENCH_DEPTH_MOST ||
	    !message->list || message->list > message->depth ||
	    message->list > BENCH_LIST_MOST || message->quiet > message->depth)
		return "that depth or list is out of range";
	if (!message->duration == !message->iterations)
		return "neither operations nor a duration are given";
	return NULL;
}

static int answer(struct server *server, struct bench_message *message,
		  enum bench_message_type type)
{
	int error;

	message->type = type;
	error = bench_link_send(server->link, message);
	return error ? bench_link_error(server->link, error) : STATUS_OK;
}

static int refuse(struct server *server, struct bench_message *message,
		  const char *why)
{
	snprintf(message->text, sizeof(message->text), "%s", why);
	usage_error("refused: %s", why);
	answer(server, message, BENCH_REFUSED);
	return STATUS_ERROR;
}

static int hello(struct server *server, struct bench_message *message)
{
	const char *wrong = wrong_with(message);
	int status;

	if (!wrong && server->link->data.region)
		wrong = "there is memory already";
	if (wrong)
		return refuse(server, message, wrong);
	status = bench_link_data(server->link, server->options->device,
				 message->half);
	if (status) {
		char *reason = library_reason(-EIO);

		snprintf(message->text, sizeof(message->text), "%s", reason);
		free(reason);
		answer(server, message, BENCH_REFUSED);
		return status;
	}
	return answer(server, message, BENCH_READY);
}

/* ---- one size --------------------------------------------------------------------------- */

static bool is_active(const struct bench_message *what)
{
	return what->flags & BENCH_BOTH ||
	       (what->test == BENCH_LAT && !(what->flags & BENCH_FLUSH));
}

static void fill(struct server *server, const struct bench_message *what)
{
	const struct bench_memory *data = &server->link->data;

	if (what->flags & BENCH_CHECK) {
		bench_pattern_fill(data, 0, data->half, what->seed);
		bench_pattern_spoil(data, data->half, data->half, what->seed);
	} else if (what->flags & BENCH_POLL_MEMORY) {
		memset(data->map + data->half, 0, what->size);
	}
}

static void act(struct server *server, struct bench_run *run)
{
	int error;

	if (!is_active(run->what))
		return;
	(run->what->test == BENCH_LAT ? bench_lat : bench_flood)(run);
	if (run->figures.error || run->what->test != BENCH_PUT ||
	    !(run->what->flags & BENCH_CHECK))
		return;
	error = bench_flush(server->link);
	if (error)
		bench_fail(run, error);
}

/* @stop says how much has been written here, or has to have been read. */
static uint64_t count_wrong(struct server *server,
			    const struct bench_message *what,
			    const struct bench_message *stop,
			    const struct bench_run *run)
{
	const struct bench_memory *data = &server->link->data;
	uint64_t ops = stop->figures.ops;

	if (!(what->flags & BENCH_CHECK) || what->flags & BENCH_POLL_MEMORY)
		return 0;
	if (what->test == BENCH_GET)
		ops = run->figures.ops;
	if (what->test == BENCH_LAT)
		ops = ops ? 1 : 0;
	return bench_pattern_wrong(data, data->half,
				   bench_covered(data->half, what->size, ops),
				   what->seed);
}

static int result(struct server *server, struct bench_run *run,
		  struct bench_message *stop)
{
	stop->figures = run->figures;
	snprintf(stop->text, sizeof(stop->text), "%s",
		 run->failed ? run->failed : "");
	free((void *)(uintptr_t)run->failed);
	server->sizes++;
	return answer(server, stop, BENCH_RESULT);
}

static int start(struct server *server, struct bench_message *message)
{
	const struct bench_message what = *message;
	struct latency *latency;
	struct bench_run run = { .link = server->link, .what = &what };
	const char *wrong = wrong_with(message);
	struct bench_cost cost;
	int error, status;

	if (!wrong && (!server->link->data.region ||
		       what.half > server->link->data.half))
		wrong = "there is no memory for that";
	if (wrong)
		return refuse(server, message, wrong);
	fill(server, &what);
	status = answer(server, message, BENCH_GO);
	if (status)
		return status;
	latency = must(calloc(1, sizeof(*latency)));
	run.latency = latency;
	cost = bench_cost_now();
	act(server, &run);
	error = bench_link_receive(server->link, message, 0);
	cost = bench_cost_since(&cost);
	free(latency);
	if (error)
		return bench_link_error(server->link, error);
	if (message->type != BENCH_STOP)
		return refuse(server, message, "that was not to come now");
	run.figures.process = cost.process;
	run.figures.node = cost.node;
	run.figures.wrong = count_wrong(server, &what, message, &run);
	return result(server, &run, message);
}

/* ---- all sizes ---------------------------------------------------------------------------- */

static int serve(struct server *server)
{
	struct bench_message message;
	int error, status = STATUS_OK;

	while (!status) {
		error = bench_link_receive(server->link, &message, 0);
		if (error)
			return bench_link_error(server->link, error);
		switch (message.type) {
		case BENCH_HELLO:
			status = hello(server, &message);
			break;
		case BENCH_START:
			status = start(server, &message);
			break;
		case BENCH_BYE:
			return STATUS_OK;
		default:
			return refuse(server, &message,
				      "another version of peerlane bench");
		}
	}
	return status;
}

int bench_serve(const struct bench_options *wanted)
{
	struct server server = {
		.options = wanted,
		.link = must(calloc(1, sizeof(*server.link))),
	};
	int status = bench_link_open(server.link, wanted);

	if (!status)
		status = serve(&server);
	if (!status)
		note("%s has measured %ju sizes", server.link->peer,
		     (uintmax_t)server.sizes);
	bench_link_close(server.link);
	free(server.link);
	return status;
}
