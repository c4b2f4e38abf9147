// SPDX-License-Identifier: GPL-2.0
/* An endpoint is a file: of several processes, and handed from one to another. */
#include <sys/socket.h>

#include "endpoint.h"

static void use_and_leave(void *arg)
{
	const struct pair *pair = arg;

	CHECK_INT(ep_do(pair->a.ep, OP(NOTIFY, .value = 3)), 0);
}

/* It is a file: it lives as long as anyone has it. */
static void a_fork_shares_it(void)
{
	struct pair pair = pair_new(0);

	in_child(use_and_leave, &pair);
	CHECK_INT(ep_next(pair.b.ep, PEERLANE_RECORD_NOTIFY).value, 3);
	CHECK_INT(ep_do(pair.a.ep, OP(NOTIFY, .value = 4)), 0);
	CHECK_INT(ep_next(pair.b.ep, PEERLANE_RECORD_NOTIFY).value, 4);
	pair_end(&pair);
}

static void outlive(void *arg)
{
	const struct pair *pair = arg;

	usleep(500000);
	CHECK_INT(ep_do(pair->a.ep, OP(NOTIFY, .value = 5)), 0);
}

static void a_fork_keeps_it(void)
{
	struct pair pair = pair_new(0);
	pid_t pid = spawn(outlive, &pair);

	close(pair.a.ep);
	pair.a.ep = -1;
	CHECK_INT(ep_next(pair.b.ep, PEERLANE_RECORD_NOTIFY).value, 5);
	CHECK_INT(reap(pid, 30), 0);
	CHECK_INT(ep_end(pair.b.ep), -ECONNRESET);
	pair_end(&pair);
}

static void send_file(int socket, int fd)
{
	char room[CMSG_SPACE(sizeof(int))] = {}, byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1,
			      .msg_control = room, .msg_controllen = sizeof(room) };
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	CHECK_INT(sendmsg(socket, &msg, 0), 1);
}

static int receive_file(int socket)
{
	char room[CMSG_SPACE(sizeof(int))] = {}, byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1,
			      .msg_control = room, .msg_controllen = sizeof(room) };
	int fd;

	CHECK_INT(recvmsg(socket, &msg, MSG_CMSG_CLOEXEC), 1);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

static void a_socket_hands_it_over(void)
{
	struct pair pair = pair_new(0);
	int sockets[2];

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	send_file(sockets[0], pair.a.ep);
	close(pair.a.ep);
	usleep(200000);
	pair.a.ep = receive_file(sockets[1]);
	CHECK_INT(ep_do(pair.a.ep, OP(NOTIFY, .value = 8)), 0);
	CHECK_INT(ep_next(pair.b.ep, PEERLANE_RECORD_NOTIFY).value, 8);
	/* And one that nobody ever takes out ends with the socket. */
	send_file(sockets[0], pair.a.ep);
	close(pair.a.ep);
	pair.a.ep = -1;
	close(sockets[0]);
	close(sockets[1]);
	CHECK_INT(ep_end(pair.b.ep), -ECONNRESET);
	pair_end(&pair);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(a_fork_shares_it),
		TAP_CASE(a_fork_keeps_it),
		TAP_CASE(a_socket_hands_it_over),
	};

	return HARNESS_RUN(cases);
}
