/* SPDX-License-Identifier: GPL-2.0 */
/* An HTTP server with one page. Knows nothing of what is on it. */
#ifndef PEERLANE_METRICS_HTTP_H
#define PEERLANE_METRICS_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#define HTTP_ADDRESS	"127.0.0.1"
#define HTTP_PORT	"9797"

/* The page in the wanted format, freed by the server. */
typedef char *(*http_page)(bool openmetrics, size_t *length);

/*
 * Serve GET /metrics at @where ("ADDRESS:PORT", "[ADDRESS]:PORT", "ADDRESS",
 * ":PORT" or NULL) until SIGINT or SIGTERM. Returns the exit status.
 */
int http_serve(const char *where, http_page page);

#endif /* PEERLANE_METRICS_HTTP_H */
