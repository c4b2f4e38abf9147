/* SPDX-License-Identifier: GPL-2.0 */
/* Endpoints of the library with canned answers: a connection is a TCP one. */
#ifndef FAKE_ENDPOINT_H
#define FAKE_ENDPOINT_H

#include "fake.h"

#pragma GCC visibility push(hidden)

enum { FAKE_SLOTS = 4, FAKE_EXPOSURES = 4, FAKE_NOTICES = 16384 };

struct peerlane_region {
	char *base;
	size_t length;
	bool own;
};

struct span {
	char *base;
	uint64_t length;
	uint64_t token;
	uint32_t rights;
};

struct peerlane_endpoint {
	int fd;
	uint8_t secret[PEERLANE_SECRET];
	uint32_t depth;
	uint32_t outstanding;
	bool ended;
	struct span slots[FAKE_SLOTS];
	struct span exposures[FAKE_EXPOSURES];
	struct peerlane_notice notices[FAKE_NOTICES];
	size_t first, count;	/* of @notices that wait */
	char *in, *out;		/* bytes that came, that are to go */
	size_t in_used, in_room, out_used, out_room;
};

enum { WIRE_EXPOSED, WIRE_PUT, WIRE_GET, WIRE_DATA, WIRE_DONE, WIRE_FLUSH };

struct wire {
	uint32_t kind;
	uint32_t flags;
	uint32_t slot;
	int32_t status;
	uint64_t offset, length, token, remote_offset, cookie, value;
};

void wire_send(struct peerlane_endpoint *endpoint, const struct wire *wire,
	       const void *data);
/*
 * Move what can be moved; wait up to @timeout ms for something, -1 for ever.
 * Returns -EINTR after a signal.
 */
int wire_move(struct peerlane_endpoint *endpoint, int timeout);
void wire_notice(struct peerlane_endpoint *endpoint,
		 const struct peerlane_notice *notice);

#pragma GCC visibility pop

#endif /* FAKE_ENDPOINT_H */
