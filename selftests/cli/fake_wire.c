// SPDX-License-Identifier: GPL-2.0
/* What the kernels of two nodes do for an endpoint, done over TCP. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fake_endpoint.h"

static void append(char **to, size_t *used, size_t *room, const void *from,
		   size_t size)
{
	if (*used + size > *room) {
		*room = 2 * (*used + size);
		*to = realloc(*to, *room);
		if (!*to)
			abort();
	}
	if (size)
		memcpy(*to + *used, from, size);
	*used += size;
}

static void drop(char *from, size_t *used, size_t size)
{
	*used -= size;
	memmove(from, from + size, *used);
}

void wire_notice(struct peerlane_endpoint *endpoint,
		 const struct peerlane_notice *notice)
{
	if (endpoint->count == FAKE_NOTICES)
		abort();
	endpoint->notices[(endpoint->first + endpoint->count++) % FAKE_NOTICES] =
		*notice;
}

void wire_send(struct peerlane_endpoint *endpoint, const struct wire *wire,
	       const void *data)
{
	append(&endpoint->out, &endpoint->out_used, &endpoint->out_room, wire,
	       sizeof(*wire));
	if (data)
		append(&endpoint->out, &endpoint->out_used, &endpoint->out_room,
		       data, wire->length);
}

static char *reached(struct peerlane_endpoint *endpoint,
		     const struct wire *wire, uint32_t right)
{
	for (int i = 0; i < FAKE_EXPOSURES; i++) {
		const struct span *span = &endpoint->exposures[i];

		if (span->token == wire->token && wire->token &&
		    span->rights & right && wire->length <= span->length &&
		    wire->remote_offset <= span->length - wire->length)
			return span->base + wire->remote_offset;
	}
	return NULL;
}

static void answer(struct peerlane_endpoint *endpoint, const struct wire *wire,
		   uint32_t kind, const void *data, int32_t status)
{
	struct wire back = *wire;

	back.kind = kind;
	back.status = status;
	wire_send(endpoint, &back, data);
}

static void be_put(struct peerlane_endpoint *endpoint, const struct wire *wire,
		   const char *data)
{
	char *to = reached(endpoint, wire, PEERLANE_MAY_WRITE);

	if (to && wire->length)
		memcpy(to, data, wire->length);
	if (to && wire->length > 1000 && scene("corrupt"))
		to[wire->length / 2] ^= 1;
	answer(endpoint, wire, WIRE_DONE, NULL, to ? 0 : -EACCES);
	if (to && wire->flags & PEERLANE_WORK_NOTIFYING)
		wire_notice(endpoint, &(struct peerlane_notice){
			.type = PEERLANE_NOTICE_NOTIFY, .token = wire->token,
			.length = wire->length, .value = wire->value });
}

static void be_done(struct peerlane_endpoint *endpoint, const struct wire *wire)
{
	endpoint->outstanding--;
	if (wire->flags & PEERLANE_WORK_QUIET && !wire->status)
		return;
	wire_notice(endpoint, &(struct peerlane_notice){
		.type = PEERLANE_NOTICE_DONE, .status = wire->status,
		.cookie = wire->cookie, .length = wire->length });
}

static void take(struct peerlane_endpoint *endpoint, const struct wire *wire,
		 const char *data)
{
	char *from;

	switch (wire->kind) {
	case WIRE_EXPOSED:
		wire_notice(endpoint, &(struct peerlane_notice){
			.type = PEERLANE_NOTICE_EXPOSED, .token = wire->token,
			.length = wire->length, .value = wire->value });
		break;
	case WIRE_PUT:
		be_put(endpoint, wire, data);
		break;
	case WIRE_GET:
		from = reached(endpoint, wire, PEERLANE_MAY_READ);
		answer(endpoint, wire, from ? WIRE_DATA : WIRE_DONE, from,
		       from ? 0 : -EACCES);
		break;
	case WIRE_DATA:
		memcpy(endpoint->slots[wire->slot].base + wire->offset, data,
		       wire->length);
		be_done(endpoint, wire);
		break;
	case WIRE_DONE:
		be_done(endpoint, wire);
		break;
	default:
		answer(endpoint, wire, WIRE_DONE, NULL, 0);
	}
}

/* One whole message, if there is one */
static bool take_next(struct peerlane_endpoint *endpoint)
{
	struct wire wire;
	size_t size = sizeof(wire);

	if (endpoint->in_used < size)
		return false;
	memcpy(&wire, endpoint->in, size);
	if (wire.kind == WIRE_PUT || wire.kind == WIRE_DATA)
		size += wire.length;
	if (endpoint->in_used < size)
		return false;
	take(endpoint, &wire, endpoint->in + sizeof(wire));
	drop(endpoint->in, &endpoint->in_used, size);
	return true;
}

static void end(struct peerlane_endpoint *endpoint)
{
	endpoint->ended = true;
	wire_notice(endpoint, &(struct peerlane_notice){
		.type = PEERLANE_NOTICE_DISCONNECTED, .status = -ECONNRESET });
}

static bool flush(struct peerlane_endpoint *endpoint)
{
	ssize_t size = send(endpoint->fd, endpoint->out, endpoint->out_used,
			    MSG_DONTWAIT | MSG_NOSIGNAL);

	if (size > 0)
		drop(endpoint->out, &endpoint->out_used, (size_t)size);
	return size >= 0 || errno == EAGAIN;
}

static bool receive(struct peerlane_endpoint *endpoint)
{
	static char buffer[1 << 20];
	ssize_t size = recv(endpoint->fd, buffer, sizeof(buffer), MSG_DONTWAIT);

	if (size > 0)
		append(&endpoint->in, &endpoint->in_used, &endpoint->in_room,
		       buffer, (size_t)size);
	return size > 0 || (size < 0 && errno == EAGAIN);
}

int wire_move(struct peerlane_endpoint *endpoint, int timeout)
{
	struct pollfd file = { .fd = endpoint->fd, .events = POLLIN };
	bool good = true;

	if (endpoint->ended)
		return 0;
	if (endpoint->out_used)
		good = flush(endpoint);
	if (endpoint->out_used)
		file.events |= POLLOUT;
	if (good && poll(&file, 1, timeout) < 0)
		return -EINTR;
	if (good && file.revents & POLLOUT)
		good = flush(endpoint);
	if (good && file.revents & (POLLIN | POLLHUP | POLLERR))
		good = receive(endpoint);
	while (take_next(endpoint))
		;
	if (good && endpoint->out_used)
		good = flush(endpoint);
	if (!good)
		end(endpoint);
	return 0;
}
