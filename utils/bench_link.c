// SPDX-License-Identifier: GPL-2.0
/* The connection of a measurement, and the messages of both sides. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "group.h"

#define MAGIC		0x706c6265U	/* both sides have the same byte order */
#define VERSION		1
#define VALUE_CONTROL	UINT64_C(0x62656e6368000001)
#define VALUE_DATA	UINT64_C(0x62656e6368000002)
#define COOKIE_CONTROL	UINT64_MAX
#define PAGE		4096U
#define LINGER		3000	/* ms */

volatile sig_atomic_t bench_interrupts;

/* ---- notices ------------------------------------------------------------------- */

void bench_link_keep(struct bench_link *link,
		     const struct peerlane_notice *notice)
{
	switch (notice->type) {
	case PEERLANE_NOTICE_NOTIFY:
		if (notice->token == link->control_token) {
			link->has_message = true;
		} else if (notice->token == link->data_token) {
			link->has_ping = true;
			link->ping = notice->value;
		}
		break;
	case PEERLANE_NOTICE_EXPOSED:
		if (notice->value == VALUE_CONTROL) {
			link->peer_control = notice->token;
		} else if (notice->value == VALUE_DATA) {
			link->peer_data = notice->token;
			link->peer_data_length = notice->length;
		}
		break;
	case PEERLANE_NOTICE_DISCONNECTED:
		link->has_ended = true;
		break;
	}
}

int bench_link_submit(struct bench_link *link, struct peerlane_batch *batch)
{
	link->calls++;
	batch->begun = 0;
	batch->notices.used = 0;
	batch->notices.next = 0;
	return peerlane_endpoint_submit(link->endpoint, batch);
}

/* The connection's end is why work fails, whatever its own error is. */
char *bench_link_reason(struct bench_link *link, int error)
{
	char *reason = library_reason(error);
	struct peerlane_endpoint_info info;

	if (!link->endpoint ||
	    peerlane_endpoint_query(link->endpoint, &info) || !*info.reason)
		return reason;
	free(reason);
	if (info.status < 0)
		error = info.status;
	return format_text("%s (%s)", info.reason, strerrorname_np(-error));
}

int bench_link_error(struct bench_link *link, int error)
{
	char *reason;

	if (!link->has_ended)
		return library_error(error);
	reason = bench_link_reason(link, error);
	usage_error("%s", reason);
	free(reason);
	return STATUS_ERROR;
}

/* More notices. 0, or a negative errno. */
static int take(struct bench_link *link, int timeout,
		struct peerlane_notices *notices)
{
	*notices = (struct peerlane_notices){
		.buffer = link->buffer, .size = sizeof(link->buffer),
	};
	return peerlane_endpoint_wait(link->endpoint, timeout, notices);
}

/*
 * That a put has ended says nothing of the far side, and neither does it of the
 * notice there, which is lost if the connection goes too early.
 */
void bench_link_linger(struct bench_link *link)
{
	struct peerlane_notices notices;
	struct peerlane_notice notice;

	while (!link->has_ended && !take(link, LINGER, &notices))
		while (peerlane_notice_next(&notices, &notice))
			bench_link_keep(link, &notice);
}

static int take_and_keep(struct bench_link *link, int patience)
{
	struct peerlane_notices notices;
	struct peerlane_notice notice;
	int error = link->has_ended ? -ENOTCONN : take(link, -1, &notices);

	if (error == -EINTR && bench_interrupts <= patience)
		return 0;
	while (!error && peerlane_notice_next(&notices, &notice))
		bench_link_keep(link, &notice);
	return error;
}

/* Until the peer has exposed what it said by @token */
static int wait_token(struct bench_link *link, const uint64_t *token)
{
	int error = 0;

	while (!error && !*token)
		error = take_and_keep(link, 0);
	return error;
}

int bench_link_wait_exposed(struct bench_link *link)
{
	return wait_token(link, &link->peer_data);
}

/* ---- messages ------------------------------------------------------------------- */

/* Until the put of a message has ended; its page is used again. */
static int wait_sent(struct bench_link *link)
{
	struct peerlane_notices notices;
	struct peerlane_notice notice;
	bool done = false;
	int status = 0, error;

	while (!done) {
		error = take(link, -1, &notices);
		if (error == -EINTR)
			continue;
		if (error)
			return error;
		while (peerlane_notice_next(&notices, &notice)) {
			if (notice.type != PEERLANE_NOTICE_DONE) {
				bench_link_keep(link, &notice);
			} else if (notice.cookie == COOKIE_CONTROL) {
				done = true;
				status = notice.status;
			}
		}
	}
	return status;
}

int bench_link_send(struct bench_link *link, struct bench_message *message)
{
	const struct peerlane_work work = {
		.code = PEERLANE_WORK_PUT, .flags = PEERLANE_WORK_NOTIFYING,
		.slot = BENCH_SLOT_CONTROL, .length = sizeof(*message),
		.token = link->peer_control, .cookie = COOKIE_CONTROL,
	};
	struct peerlane_batch batch = { .works = &work, .count = 1 };
	int error;

	message->magic = MAGIC;
	message->version = VERSION;
	memcpy(link->control.map, message, sizeof(*message));
	do
		error = peerlane_endpoint_submit(link->endpoint, &batch);
	while (error == -EINTR);
	return error ? error : wait_sent(link);
}

int bench_link_receive(struct bench_link *link, struct bench_message *message,
		       int patience)
{
	int error = 0;

	while (!error && !link->has_message)
		error = take_and_keep(link, patience);
	if (error)
		return error;
	link->has_message = false;
	memcpy(message, link->control.map + PAGE, sizeof(*message));
	message->text[sizeof(message->text) - 1] = '\0';
	if (message->magic == MAGIC && message->version == VERSION)
		return 0;
	message->type = 0;
	return 0;
}

/* ---- connection ------------------------------------------------------------------ */

static void count_interrupt(int signal)
{
	(void)signal;
	bench_interrupts++;
}

/* Waits are to end by it. */
static void catch_interrupts(void)
{
	struct sigaction action = { .sa_handler = count_interrupt };

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/*
 * From the command line, where other users see it, from the environment, or
 * made up by the one who waits, for the one who connects.
 */
static int find_secret(const struct bench_options *asked, const char **words,
		       bool *made)
{
	const char *given = getenv("PEERLANE_SECRET");

	*words = asked->secret ? asked->secret : given;
	*made = false;
	if (*words && **words)
		return STATUS_OK;
	if (asked->peer)
		return usage_error("a secret is needed: the one that the other side prints, by --secret or PEERLANE_SECRET");
	*words = secret_random();
	*made = true;
	if (!*words)
		return usage_error("no random numbers for a secret: %s",
				   strerror(errno));
	return STATUS_OK;
}

static int create(const struct bench_options *asked, const char *words,
		  struct peerlane_endpoint **endpoint)
{
	struct peerlane_endpoint_options wanted = {
		.size = sizeof(wanted),
		.lanes = asked->peer && asked->lanes ? asked->lanes :
			 asked->peer ? 1 : BENCH_LANES,
		.depth = asked->depth,
		.timeout = asked->timeout,
		.rdma_device = asked->rdma_device,
		.label = "peerlane bench",
	};
	int error = peerlane_endpoint_secret(words, wanted.secret);

	if (!error)
		error = peerlane_endpoint_create(&wanted, endpoint);
	return error ? library_error(error) : STATUS_OK;
}

static int accept_one(struct bench_link *link,
		      const struct bench_options *asked, const char *words,
		      bool made)
{
	struct peerlane_endpoint *listener;
	uint16_t port;
	int error, status = create(asked, words, &listener);

	if (status)
		return status;
	error = peerlane_endpoint_listen(listener, asked->source,
					 asked->port, 1, &port);
	if (!error && made)
		note("waiting at port %u with the secret %s", port, words);
	else if (!error)
		note("waiting at port %u", port);
	if (!error)
		error = peerlane_endpoint_accept(listener, &link->endpoint,
						 link->peer);
	status = error ? library_error(error) : STATUS_OK;
	peerlane_endpoint_close(listener);
	return status;
}

static int connect_one(struct bench_link *link,
		       const struct bench_options *asked, const char *words)
{
	int error, status = create(asked, words, &link->endpoint);

	if (status)
		return status;
	error = peerlane_endpoint_connect(link->endpoint, asked->peer,
					  asked->port, asked->source);
	snprintf(link->peer, sizeof(link->peer), "%.60s", asked->peer);
	return error ? library_error(error) : STATUS_OK;
}

/* A page for each direction; the peer reaches only the one for its messages. */
static int open_control(struct bench_link *link)
{
	int error, status = bench_memory_open(&link->control, NULL, PAGE);

	if (status)
		return status;
	error = peerlane_endpoint_bind(link->endpoint, BENCH_SLOT_CONTROL,
				       link->control.region, 0, 0, false, NULL);
	if (!error)
		error = peerlane_endpoint_expose(link->endpoint,
						 BENCH_SLOT_CONTROL, PAGE, PAGE,
						 PEERLANE_MAY_WRITE,
						 VALUE_CONTROL,
						 &link->control_token);
	if (!error)
		error = wait_token(link, &link->peer_control);
	return error ? bench_link_error(link, error) : STATUS_OK;
}

int bench_link_open(struct bench_link *link, const struct bench_options *asked)
{
	const char *words;
	bool made;
	int status = find_secret(asked, &words, &made);

	if (status)
		return status;
	catch_interrupts();
	status = asked->peer ? connect_one(link, asked, words) :
				 accept_one(link, asked, words, made);
	return status ? status : open_control(link);
}

int bench_link_data(struct bench_link *link, const char *device, uint64_t half)
{
	int error, status = bench_memory_open(&link->data, device, half);

	if (status)
		return status;
	error = peerlane_endpoint_bind(link->endpoint, BENCH_SLOT_DATA,
				       link->data.region, 0, 0, false, NULL);
	if (!error)
		error = peerlane_endpoint_expose(link->endpoint,
						 BENCH_SLOT_DATA, 0,
						 2 * link->data.half,
						 PEERLANE_MAY_READ |
						 PEERLANE_MAY_WRITE, VALUE_DATA,
						 &link->data_token);
	return error ? bench_link_error(link, error) : STATUS_OK;
}

void bench_link_close(struct bench_link *link)
{
	peerlane_endpoint_close(link->endpoint);
	bench_memory_close(&link->data);
	bench_memory_close(&link->control);
}
