// SPDX-License-Identifier: GPL-2.0
/* Endpoints and memory of the library with canned answers. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fake_endpoint.h"

/* ---- memory ---------------------------------------------------------------- */

static int make_region(char *base, size_t length, bool own,
		       struct peerlane_region **region)
{
	*region = calloc(1, sizeof(**region));
	**region = (struct peerlane_region){ base, length, own };
	return 0;
}

int peerlane_region_host(void *addr, size_t length, bool read_only,
			 struct peerlane_region **region)
{
	if (scene("memlock"))
		return refuse(ENOMEM, "8192 bytes of host memory: RLIMIT_MEMLOCK is 0 (ENOMEM)");
	(void)read_only;
	return make_region(addr, length, false, region);
}

int peerlane_region_alloc(const char *device, size_t length,
			  struct peerlane_region **region)
{
	if (strcmp(device, "gpu0"))
		return refuse(ENODEV, "no memory device gpu9 (ENODEV)");
	return make_region(calloc(1, length), length, true, region);
}

int peerlane_region_map(struct peerlane_region *region, void **addr)
{
	*addr = region->base;
	return 0;
}

void peerlane_region_free(struct peerlane_region *region)
{
	if (region && region->own)
		free(region->base);
	free(region);
}

void peerlane_copy_to(void *dst, const void *src, size_t length)
{
	memcpy(dst, src, length);
}

void peerlane_copy_from(void *dst, const void *src, size_t length)
{
	memcpy(dst, src, length);
}

/* ---- connection ------------------------------------------------------------- */

int peerlane_endpoint_secret(const char *text, uint8_t secret[PEERLANE_SECRET])
{
	if (!*text)
		return refuse(EINVAL, "a secret cannot be made of nothing (EINVAL)");
	memset(secret, 0, PEERLANE_SECRET);
	memcpy(secret, text, strnlen(text, PEERLANE_SECRET));
	return 0;
}

static struct peerlane_endpoint *make(int fd, const uint8_t *secret,
				      uint32_t depth)
{
	struct peerlane_endpoint *endpoint = calloc(1, sizeof(*endpoint));
	const int on = 1;

	endpoint->fd = fd;
	endpoint->depth = depth;
	memcpy(endpoint->secret, secret, PEERLANE_SECRET);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return endpoint;
}

int peerlane_endpoint_create(const struct peerlane_endpoint_options *options,
			     struct peerlane_endpoint **endpoint)
{
	int error = common_failure();

	if (error)
		return error;
	*endpoint = make(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
			 options->secret, options->depth ? options->depth : 128);
	return 0;
}

static struct sockaddr_in local(uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
}

int peerlane_endpoint_listen(const struct peerlane_endpoint *endpoint,
			     const char *host, uint16_t port, uint32_t backlog,
			     uint16_t *taken)
{
	struct sockaddr_in address = local(port);

	(void)host;
	if (bind(endpoint->fd, (void *)&address, sizeof(address)) ||
	    listen(endpoint->fd, (int)backlog))
		return refuse(EADDRINUSE, "listen: Address already in use (EADDRINUSE)");
	*taken = port;
	return 0;
}

int peerlane_endpoint_accept(const struct peerlane_endpoint *listener,
			     struct peerlane_endpoint **endpoint,
			     char peer[PEERLANE_PEER_TEXT])
{
	uint8_t secret[PEERLANE_SECRET];
	char good;
	int fd;

	for (;;) {
		fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			return refuse(EINTR, "accept: Interrupted system call (EINTR)");
		good = recv(fd, secret, sizeof(secret), MSG_WAITALL) ==
		       sizeof(secret) &&
		       !memcmp(secret, listener->secret, sizeof(secret));
		if (send(fd, &good, 1, MSG_NOSIGNAL) == 1 && good)
			break;
		close(fd);
	}
	*endpoint = make(fd, secret, listener->depth);
	strcpy(peer, "10.0.0.1:4711");
	return 0;
}

int peerlane_endpoint_connect(const struct peerlane_endpoint *endpoint,
			      const char *host, uint16_t port,
			      const char *source)
{
	struct sockaddr_in address = local(port);
	char good = 0;

	(void)host;
	(void)source;
	if (connect(endpoint->fd, (void *)&address, sizeof(address)))
		return refuse(ECONNREFUSED, "connection to 10.0.0.2: nobody listens there (ECONNREFUSED)");
	if (send(endpoint->fd, endpoint->secret, PEERLANE_SECRET,
		 MSG_NOSIGNAL) != PEERLANE_SECRET ||
	    recv(endpoint->fd, &good, 1, MSG_WAITALL) != 1 || !good)
		return refuse(ECONNREFUSED, "connection to 10.0.0.2: the peer has another secret (ECONNREFUSED)");
	return 0;
}

void peerlane_endpoint_close(struct peerlane_endpoint *endpoint)
{
	if (!endpoint)
		return;
	while (endpoint->out_used && !endpoint->ended)
		wire_move(endpoint, 100);
	close(endpoint->fd);
	free(endpoint->in);
	free(endpoint->out);
	free(endpoint);
}

int peerlane_endpoint_bind(const struct peerlane_endpoint *endpoint,
			   uint32_t slot, const struct peerlane_region *region,
			   uint64_t offset, uint64_t length, bool read_only,
			   uint64_t *bound)
{
	struct peerlane_endpoint *own = (void *)(uintptr_t)endpoint;

	(void)offset;
	(void)length;
	(void)read_only;
	(void)bound;
	own->slots[slot] = (struct span){ region->base, region->length, 0, 0 };
	return 0;
}

int peerlane_endpoint_expose(const struct peerlane_endpoint *endpoint,
			     uint32_t slot, uint64_t offset, uint64_t length,
			     uint32_t rights, uint64_t value, uint64_t *token)
{
	struct peerlane_endpoint *own = (void *)(uintptr_t)endpoint;
	struct wire wire = {
		.kind = WIRE_EXPOSED, .length = length, .value = value,
		.token = 1000 + slot,
	};

	own->exposures[slot] = (struct span){
		own->slots[slot].base + offset, length, wire.token, rights,
	};
	*token = wire.token;
	wire_send(own, &wire, NULL);
	return 0;
}

/* ---- work -------------------------------------------------------------------- */

static void begin(struct peerlane_endpoint *endpoint,
		  const struct peerlane_work *work)
{
	struct wire wire = {
		.flags = work->flags, .slot = work->slot,
		.offset = work->offset, .length = work->length,
		.token = work->token, .remote_offset = work->remote_offset,
		.cookie = work->cookie, .value = work->value,
	};

	endpoint->outstanding++;
	wire.kind = work->code == PEERLANE_WORK_PUT ? WIRE_PUT :
		    work->code == PEERLANE_WORK_GET ? WIRE_GET : WIRE_FLUSH;
	wire_send(endpoint, &wire, wire.kind == WIRE_PUT ?
		  endpoint->slots[work->slot].base + work->offset : NULL);
}

static void take(struct peerlane_endpoint *endpoint,
		 struct peerlane_notices *notices)
{
	size_t room = notices->size / sizeof(struct peerlane_notice), n = 0;
	struct peerlane_notice *to = notices->buffer;

	for (; to && n < room && endpoint->count; n++) {
		to[n] = endpoint->notices[endpoint->first];
		endpoint->first = (endpoint->first + 1) % FAKE_NOTICES;
		endpoint->count--;
	}
	notices->used = n * sizeof(*to);
	notices->next = 0;
}

int peerlane_endpoint_submit(const struct peerlane_endpoint *endpoint,
			     struct peerlane_batch *batch)
{
	struct peerlane_endpoint *own = (void *)(uintptr_t)endpoint;

	batch->begun = 0;
	if (own->ended)
		return refuse(ENOTCONN, "submit: not connected (ENOTCONN)");
	while (batch->begun < batch->count && own->outstanding < own->depth)
		begin(own, &batch->works[batch->begun++]);
	if (batch->count && !batch->begun)
		return refuse(EAGAIN, "submit: no room (EAGAIN)");
	wire_move(own, 0);
	while (own->count < batch->wait && !own->ended)
		if (wire_move(own, -1))
			break;
	if (own->count < batch->wait && !own->ended && !batch->begun)
		return refuse(EINTR, "submit: Interrupted system call (EINTR)");
	take(own, &batch->notices);
	return 0;
}

int peerlane_endpoint_wait(const struct peerlane_endpoint *endpoint,
			   int timeout, struct peerlane_notices *notices)
{
	struct peerlane_endpoint *own = (void *)(uintptr_t)endpoint;
	struct pollfd file = { .fd = own->fd, .events = POLLIN };

	wire_move(own, 0);
	if (!own->count && !own->out_used && poll(&file, 1, timeout) < 0)
		return refuse(EINTR, "wait: Interrupted system call (EINTR)");
	while (!own->count && !own->ended)
		if (wire_move(own, timeout))
			return refuse(EINTR, "wait: Interrupted system call (EINTR)");
	if (!own->count)
		return refuse(ENOTCONN, "wait: the connection has ended (ENOTCONN)");
	take(own, notices);
	return 0;
}

bool peerlane_notice_next(struct peerlane_notices *notices,
			  struct peerlane_notice *notice)
{
	if (notices->next + sizeof(*notice) > notices->used)
		return false;
	memcpy(notice, (char *)notices->buffer + notices->next, sizeof(*notice));
	notices->next += sizeof(*notice);
	return true;
}

/* ---- lists -------------------------------------------------------------------- */

const char *peerlane_endpoint_state_name(uint32_t state)
{
	static const char *const names[] = {
		"new", "listening", "connecting", "connected", "closed"
	};

	return name_of(names, 5, state);
}

static const struct peerlane_endpoint_info infos[] = {
	{ .id = 1, .state = 1, .lanes = 1, .depth = 128, .pid = 4242,
	  .comm = "train", .local = "[::]:18516", .label = "endpoint 1" },
	{ .id = 2, .bytes_put = 1073741824, .bytes_get = 4096,
	  .ops_done = 16385, .state = 3, .lanes = 4, .depth = 256,
	  .outstanding = 64, .slots = 2, .exposed = 1, .granted = 1, .keys = 3,
	  .path = 1, .pid = 4242, .comm = "train", .local = "10.0.0.1:18516",
	  .peer = "10.0.0.2:40001", .rdma_device = "mlx5_0",
	  .label = "layer 3" },
	{ .id = 18446744073709551615ULL, .bytes_put = 9007199254740993ULL,
	  .ops_failed = 64, .uid = 4242424, .state = 4, .status = -ETIMEDOUT,
	  .local = "[2001:db8::1]:18516", .peer = "[2001:db8::2]:65535",
	  .rdma_device = "rxe0", .label = "layer 4",
	  .reason = "the peer did not answer for 5000 ms" },
};

static const struct peerlane_endpoint_info hostile = {
	.id = 1, .state = 99, .path = 99, .status = 4000, .pid = -1,
	.comm = "\033[2J\033]0;x", .local = "a\nb", .peer = "\302\23331m",
	.rdma_device = "r\txe0", .label = { "0123456789abcdef0123456789abcdef" },
	.reason = "\377\300\257gr\303\274\303\237e\360",
};

int peerlane_endpoint_query(const struct peerlane_endpoint *endpoint,
			    struct peerlane_endpoint_info *info)
{
	(void)endpoint;
	*info = infos[2];
	return 0;
}

int peerlane_endpoint_list(struct peerlane_endpoint_info **list, size_t *count)
{
	int error = common_failure();

	if (error)
		return error;
	if (scene("hostile"))
		return copy_out(list, count, &hostile, sizeof(hostile), 1);
	return copy_out(list, count, infos, sizeof(infos[0]),
			scene("empty") ? 0 : 3);
}
