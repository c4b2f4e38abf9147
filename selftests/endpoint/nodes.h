/* SPDX-License-Identifier: GPL-2.0 */
/* Two nodes that take the same cases in step, and connect endpoints. */
#ifndef SELFTESTS_ENDPOINT_NODES_H
#define SELFTESTS_ENDPOINT_NODES_H

#include "endpoint.h"

#define PORT	18710		/* of endpoints; the one before it is ours */

static const char *peer;	/* node 1: the other's address; node 2: NULL */
static int control = -1;	/* TCP between the two */

static inline bool is_caller(void)
{
	return peer;
}

/* ---- in step ---- */

static inline int tcp_socket(const char *ip, struct sockaddr_in *in)
{
	*in = (struct sockaddr_in){ .sin_family = AF_INET,
				    .sin_port = htons(PORT - 1) };
	if (ip)
		inet_pton(AF_INET, ip, &in->sin_addr);
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static inline int call_control(void)
{
	struct sockaddr_in in;
	int fd, try;

	for (try = 0; try < 300; try++) {
		fd = tcp_socket(peer, &in);
		if (!connect(fd, (void *)&in, sizeof(in)))
			return fd;
		close(fd);
		usleep(200000);
	}
	return -1;
}

static inline int answer_control(void)
{
	struct sockaddr_in in;
	int listener = tcp_socket(NULL, &in), fd, one = 1;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (void *)&in, sizeof(in)) || listen(listener, 1))
		return -1;
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	close(listener);
	return fd;
}

/* Gives the other a number, and returns his. */
static inline uint64_t exchange(uint64_t number)
{
	struct pollfd pollfd = { .fd = control, .events = POLLIN };
	uint64_t theirs = 0;

	if (write(control, &number, sizeof(number)) != sizeof(number) ||
	    poll(&pollfd, 1, 120000) != 1 ||
	    recv(control, &theirs, sizeof(theirs), MSG_WAITALL) != sizeof(theirs)) {
		printf("Bail out! the other node does not answer\n");
		exit(1);
	}
	return theirs;
}

static inline void in_step(void)
{
	exchange(0);
}

/* ---- connect ---- */

/* A busy machine may need more than one try within a short timeout. */
static inline int call_peer(struct peerlane_endpoint_create *args, const char *ip)
{
	int ep, ret, try = 0;

	for (;;) {
		ep = ep_create(args);
		ret = ep_connect_to(ep, ip, PORT);
		if (ret != -ETIMEDOUT || ++try == 5)
			break;
		printf("# once more: %s\n", text);
		close(ep);
	}
	CHECK_INT(ret, 0);
	return ep;
}

/* One that has not gone again. */
static inline int await_peer(int listener)
{
	struct pollfd pollfd = { .fd = listener, .events = POLLIN };
	int ep = -1;

	while (CHECK_INT(poll(&pollfd, 1, 60000), 1)) {
		ep = ep_accept(listener);
		usleep(200000);
		if (ep < 0 || ep_info(ep).state == PEERLANE_ENDPOINT_CONNECTED)
			break;
		close(ep);
	}
	return ep;
}

static inline int endpoint_at(struct peerlane_endpoint_create args, const char *ip)
{
	int ep = -1, listener = -1;

	if (!is_caller()) {
		listener = ep_create(&args);
		CHECK_INT(ep_listen_at(listener, ip ?: "0.0.0.0", PORT, 0), PORT);
	}
	in_step();
	if (is_caller()) {
		ep = call_peer(&args, ip ?: peer);
	} else {
		ep = await_peer(listener);
		close(listener);
	}
	ep_next(ep, PEERLANE_RECORD_CONNECTED);
	return ep;
}

/* Each hears of the other. Quiet, as a DONE might come after the other's word. */
static inline void greet(int ep)
{
	CHECK_INT(ep_begin(ep, &OP(NOTIFY, .flags = PEERLANE_OP_F_QUIET,
				   .value = is_caller() ? 1 : 2), 1), 1);
	CHECK_INT(ep_find(ep, PEERLANE_RECORD_NOTIFY).value, is_caller() ? 2 : 1);
}

/* Connected; with memory, if @length is not 0, that is exposed to the other. */
static inline struct side side_new(struct peerlane_endpoint_create args,
				   size_t length, uint64_t *token)
{
	struct side side = { endpoint_at(args, NULL), -1, NULL, 0 };
	uint64_t ours;

	if (!length)
		return side;
	side_memory(&side, DEVICES "gpu0", length);
	CHECK_INT(ep_expose_as(side.ep, 0, BOTH, 0, length, 0, &ours), 0);
	*token = ep_find(side.ep, PEERLANE_RECORD_EXPOSED).token;
	CHECK(exchange(ours) == *token);
	return side;
}

#endif /* SELFTESTS_ENDPOINT_NODES_H */
