// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"

/* What a queue pair has to know of the other. */
struct address {
	union ibv_gid gid;
	uint32_t qpn;
	uint32_t psn;
};

void die(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	printf("Bail out! ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	exit(1);
}

static uint8_t gid_index(void)
{
	const char *text = getenv("RDMA_GID");

	return text ? (uint8_t)atoi(text) : 0;
}

/* ---- TCP ---------------------------------------------------------------- */

static int wait_for_call(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(PORT) };
	struct timeval patience = { .tv_sec = 60 };
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1, fd;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &patience,
		   sizeof(patience));
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) ||
	    listen(listener, 1))
		die("cannot listen: %s", strerror(errno));
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		die("nobody called: %s", strerror(errno));
	close(listener);
	return fd;
}

static int call(const char *address)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(PORT) };
	int try, fd;

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		die("not an address: %s", address);
	for (try = 0; try < 300; try++) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (!connect(fd, (struct sockaddr *)&to, sizeof(to)))
			return fd;
		close(fd);
		usleep(200000);
	}
	die("%s does not answer", address);
}

void peer_swap(struct peer *peer, const void *mine, void *theirs,
	       size_t length)
{
	char *at = theirs;
	size_t got = 0;
	ssize_t n;

	if (send(peer->tcp, mine, length, MSG_NOSIGNAL) != (ssize_t)length)
		die("the other side is gone: %s", strerror(errno));
	while (got < length) {
		n = recv(peer->tcp, at + got, length - got, 0);
		if (n <= 0)
			die("the other side is gone: %s",
			    n ? strerror(errno) : "it closed");
		got += (size_t)n;
	}
}

void peer_sync(struct peer *peer)
{
	char mine = 's', theirs = 0;

	peer_swap(peer, &mine, &theirs, 1);
	if (theirs != 's')
		die("out of step with the other side");
}

/* ---- the queue pair ----------------------------------------------------- */

static struct ibv_context *open_device(void)
{
	const char *name = getenv("RDMA_DEV");
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;
	int i;

	for (i = 0; list && list[i] && !context; i++)
		if (!name || !strcmp(ibv_get_device_name(list[i]), name))
			context = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	if (!context)
		die("no RDMA device %s", name ? name : "at all");
	return context;
}

static void make(struct peer *peer)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	peer->context = open_device();
	peer->pd = ibv_alloc_pd(peer->context);
	peer->cq = ibv_create_cq(peer->context, 32, NULL, NULL, 0);
	if (!peer->pd || !peer->cq)
		die("no protection domain or completion queue");
	init.send_cq = peer->cq;
	init.recv_cq = peer->cq;
	peer->qp = ibv_create_qp(peer->pd, &init);
	if (!peer->qp)
		die("no queue pair: %s", strerror(errno));
}

static void to_init(struct peer *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE |
				   IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};

	if (ibv_modify_qp(peer->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		die("queue pair to INIT: %s", strerror(errno));
}

static void to_rtr(struct peer *peer, const struct address *them)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = them->qpn,
		.rq_psn = them->psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .dgid = them->gid, .hop_limit = 8,
				      .sgid_index = gid_index() } },
	};

	if (ibv_modify_qp(peer->qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			  IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		die("queue pair to RTR: %s", strerror(errno));
}

static void to_rts(struct peer *peer, const struct address *us)
{
	/* Patient: emulated nodes on a busy machine answer late. */
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = us->psn,
		.timeout = 17,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	if (ibv_modify_qp(peer->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
			  IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			  IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC))
		die("queue pair to RTS: %s", strerror(errno));
}

void peer_meet(struct peer *peer, const char *address)
{
	struct timeval patience = { .tv_sec = 120 };
	struct address us = { .psn = 0x1234 }, them;

	peer->is_target = !address;
	make(peer);
	peer->tcp = address ? call(address) : wait_for_call();
	setsockopt(peer->tcp, SOL_SOCKET, SO_RCVTIMEO, &patience,
		   sizeof(patience));
	us.qpn = peer->qp->qp_num;
	if (ibv_query_gid(peer->context, 1, gid_index(), &us.gid))
		die("no GID %d", gid_index());
	peer_swap(peer, &us, &them, sizeof(us));
	to_init(peer);
	to_rtr(peer, &them);
	to_rts(peer, &us);
	peer_sync(peer);
}

void peer_part(struct peer *peer)
{
	ibv_destroy_qp(peer->qp);
	ibv_destroy_cq(peer->cq);
	if (ibv_dealloc_pd(peer->pd))
		die("the protection domain is still in use");
	ibv_close_device(peer->context);
	close(peer->tcp);
}

void peer_post_recv(struct peer *peer, const struct ibv_sge *sge, int count)
{
	struct ibv_recv_wr wr = { .sg_list = (struct ibv_sge *)sge,
				  .num_sge = count }, *bad;

	if (ibv_post_recv(peer->qp, &wr, &bad))
		die("post_recv: %s", strerror(errno));
}

void peer_post_send(struct peer *peer, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	wr->send_flags |= IBV_SEND_SIGNALED;
	if (ibv_post_send(peer->qp, wr, &bad))
		die("post_send: %s", strerror(errno));
}

void peer_wait(struct peer *peer, struct ibv_wc *wc)
{
	time_t end = time(NULL) + 60;
	int n;

	while (!(n = ibv_poll_cq(peer->cq, 1, wc))) {
		if (time(NULL) >= end)
			die("no completion within 60 s");
		usleep(200);	/* rxe's own threads need the CPU */
	}
	if (n < 0 || wc->status != IBV_WC_SUCCESS)
		die("completion: %s",
		    n < 0 ? "poll failed" : ibv_wc_status_str(wc->status));
}
