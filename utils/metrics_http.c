// SPDX-License-Identifier: GPL-2.0
/*
 * An HTTP server with one page, by libmicrohttpd. One thread, few connections
 * with little memory each, all with a time limit: a scraper needs no more, and
 * nobody else can hold it up for long.
 */
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "metrics_http.h"

enum {
	CONNECTIONS = 16,
	CONNECTION_BYTES = 16 << 10,
	CONNECTION_SECONDS = 10,
	WAIT_MS = 500,
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

/* ---- answers ------------------------------------------------------------ */

/* @text is freed with the response. */
static enum MHD_Result answer(struct MHD_Connection *connection,
			      unsigned int code, char *text, size_t length,
			      const char *type)
{
	enum MHD_Result result;
	struct MHD_Response *response =
		MHD_create_response_from_buffer(length, text,
						MHD_RESPMEM_MUST_FREE);

	if (!response) {
		free(text);
		return MHD_NO;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
					"GET, HEAD");
	result = MHD_queue_response(connection, code, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection,
			      unsigned int code, const char *text)
{
	return answer(connection, code, must(strdup(text)), strlen(text),
		      "text/plain; charset=utf-8");
}

static enum MHD_Result answer_page(struct MHD_Connection *connection,
				   http_page page)
{
	const char *accept = MHD_lookup_connection_value(connection,
							 MHD_HEADER_KIND,
							 MHD_HTTP_HEADER_ACCEPT);
	bool openmetrics = accept && strstr(accept, "application/openmetrics-text");
	size_t length;
	char *text = page(openmetrics, &length);

	return answer(connection, MHD_HTTP_OK, text, length,
		      openmetrics ?
		      "application/openmetrics-text; version=1.0.0; charset=utf-8" :
		      "text/plain; version=0.0.4; charset=utf-8");
}

static enum MHD_Result handle(void *page, struct MHD_Connection *connection,
			      const char *url, const char *method,
			      const char *version, const char *upload,
			      size_t *upload_size, void **seen)
{
	(void)version;
	(void)upload;
	if (!*seen) {		/* the headers; a body may follow */
		*seen = page;
		return MHD_YES;
	}
	if (*upload_size) {	/* is not looked at */
		*upload_size = 0;
		return MHD_YES;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD))
		return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
			      "only GET\n");
	if (strcmp(url, "/metrics"))
		return refuse(connection, MHD_HTTP_NOT_FOUND,
			      "only /metrics is here\n");
	return answer_page(connection, *(http_page *)page);
}

/* ---- where -------------------------------------------------------------- */

/* "ADDRESS:PORT" in its parts, which lie in @copy; what is left out stays. */
static bool split(char *copy, const char **address, const char **port)
{
	char *colon = strrchr(copy, ':');
	char *close = NULL;

	if (*copy == '[') {
		close = strchr(copy, ']');
		if (!close || (close[1] && close[1] != ':'))
			return false;
		*close = '\0';
		copy++;
		colon = close[1] ? close + 1 : NULL;
	} else if (colon && strchr(copy, ':') != colon) {
		colon = NULL;	/* IPv6 without brackets */
	}
	if (colon) {
		*colon = '\0';
		*port = colon + 1;
	}
	if (*copy)
		*address = copy;
	return **port;
}

/* The address of @where, freed with freeaddrinfo(), or NULL, which is reported. */
static struct addrinfo *resolve(const char *where)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
	};
	char *copy = must(strdup(where ? where : ""));
	const char *address = HTTP_ADDRESS;
	const char *port = HTTP_PORT;
	struct addrinfo *list = NULL;

	if (!split(copy, &address, &port) ||
	    getaddrinfo(address, port, &hints, &list)) {
		usage_error("\"%s\" is no ADDRESS:PORT", where ? where : "");
		list = NULL;
	}
	free(copy);
	return list;
}

static void report_where(struct MHD_Daemon *daemon, const struct addrinfo *at)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
	char host[64] = "?";

	getnameinfo(at->ai_addr, at->ai_addrlen, host, sizeof(host), NULL, 0,
		    NI_NUMERICHOST);
	note(at->ai_family == AF_INET6 ? "serving http://[%s]:%u/metrics" :
					 "serving http://%s:%u/metrics",
	     host, info ? info->port : 0);
}

static struct MHD_Daemon *start(const struct addrinfo *at, http_page *page)
{
	unsigned int flags = MHD_USE_EPOLL;

	if (at->ai_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	errno = 0;
	return MHD_start_daemon(flags, 0, NULL, NULL, handle, page,
				MHD_OPTION_SOCK_ADDR, at->ai_addr,
				MHD_OPTION_CONNECTION_LIMIT,
				(unsigned int)CONNECTIONS,
				MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				(size_t)CONNECTION_BYTES,
				MHD_OPTION_CONNECTION_TIMEOUT,
				(unsigned int)CONNECTION_SECONDS,
				MHD_OPTION_LISTENING_ADDRESS_REUSE, 1U,
				MHD_OPTION_END);
}

int http_serve(const char *where, http_page page)
{
	const struct sigaction action = { .sa_handler = stop };
	struct addrinfo *at = resolve(where);
	struct MHD_Daemon *daemon;

	if (!at)
		return STATUS_ERROR;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	daemon = start(at, &page);
	if (daemon)
		report_where(daemon, at);
	else
		usage_error("cannot listen at %s: %s",
			    where ? where : HTTP_ADDRESS ":" HTTP_PORT,
			    errno ? strerror(errno) : "out of memory");
	freeaddrinfo(at);
	if (!daemon)
		return STATUS_ERROR;
	while (!stopped)
		if (MHD_run_wait(daemon, WAIT_MS) != MHD_YES)
			break;
	MHD_stop_daemon(daemon);
	return stopped ? STATUS_OK : STATUS_ERROR;
}
