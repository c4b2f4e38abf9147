// SPDX-License-Identifier: GPL-2.0
/*
 * stream serve COUNT			answer COUNT callers, until they leave
 * stream [OPTIONS] call ADDRESS...	keep RDMA writes going to each ADDRESS
 *
 *	-q N	queue pairs to each address (2)		-s N	bytes of a write (8192)
 *	-t S	seconds that are measured (5)		-w S	before that (1)
 *	-c N	traffic class				-b IP	serve at this address only
 *
 * A caller says "ready", waits for a line on stdin, and in the end says
 * "bytes <arrived while it measured> in <microseconds>".  It sleeps while it has
 * nothing to do, for whoever spins takes the processor from rxe's own threads.
 * RDMA_DEV and RDMA_GID choose the device.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORT 18700
#define MAX_CALLS 64
#define MAX_QPS 16
/* Seconds after the measurement, in which others may still measure. */
#define TAIL 1

struct options {
	int qps;
	int length;
	double seconds;
	double warmup;
	int tclass;
	const char *at;
};

/* What one side tells the other. */
struct greeting {
	union ibv_gid gid;
	uint64_t addr;
	uint32_t rkey;
	uint32_t qps;
	uint32_t qpn[MAX_QPS];
};

struct conn {
	int tcp;
	struct ibv_qp *qp[MAX_QPS];
	struct greeting us, them;
};

static struct ibv_context *context;
static struct ibv_comp_channel *channel;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static struct conn conns[MAX_CALLS];

static void __attribute__((format(printf, 1, 2), noreturn))
die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "stream: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	exit(1);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static uint8_t gid_index(void)
{
	const char *text = getenv("RDMA_GID");

	return text ? (uint8_t)atoi(text) : 0;
}

/* ---- the device ----------------------------------------------------------- */

static void open_device(void)
{
	const char *name = getenv("RDMA_DEV");
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (int i = 0; list && list[i] && !context; i++)
		if (!name || !strcmp(ibv_get_device_name(list[i]), name))
			context = ibv_open_device(list[i]);
	if (!context)
		die("no RDMA device %s", name ? name : "at all");
	ibv_free_device_list(list);
}

static void set_up(const struct options *options)
{
	size_t length = (size_t)options->length;
	void *memory = aligned_alloc(4096, (length + 4095) / 4096 * 4096);

	open_device();
	pd = ibv_alloc_pd(context);
	channel = ibv_create_comp_channel(context);
	if (!pd || !channel || !memory)
		die("out of resources: %s", strerror(errno));
	cq = ibv_create_cq(context, MAX_CALLS * MAX_QPS, NULL, channel, 0);
	mr = ibv_reg_mr(pd, memory, length,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!cq || !mr)
		die("no completion queue or memory region: %s",
		    strerror(errno));
}

static struct ibv_qp *make_qp(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	if (!qp || ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				 IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		die("no queue pair: %s", strerror(errno));
	return qp;
}

static void connect_qp(struct ibv_qp *qp, const struct greeting *them, int k,
		       const struct options *options)
{
	struct ibv_port_attr port;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.dest_qp_num = them->qpn[k],
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .dgid = them->gid, .hop_limit = 16,
				      .traffic_class = (uint8_t)options->tclass,
				      .sgid_index = gid_index() } },
	};

	if (ibv_query_port(context, 1, &port))
		die("no port");
	attr.path_mtu = port.active_mtu;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			  IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		die("queue pair to RTR: %s", strerror(errno));
	/* A queue of seconds is no loss: 8 s until a packet is sent again. */
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 21,
				     .retry_cnt = 7, .rnr_retry = 7,
				     .max_rd_atomic = 1 };
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
			  IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			  IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC))
		die("queue pair to RTS: %s", strerror(errno));
}

/* ---- calls ---------------------------------------------------------------- */

static void swap(struct conn *conn)
{
	ssize_t size = sizeof(conn->us);

	if (send(conn->tcp, &conn->us, sizeof(conn->us), MSG_NOSIGNAL) != size ||
	    recv(conn->tcp, &conn->them, sizeof(conn->them), MSG_WAITALL) != size)
		die("the other side is gone: %s", strerror(errno));
}

static void make_conn(struct conn *conn, int qps)
{
	conn->us.addr = (uintptr_t)mr->addr;
	conn->us.rkey = mr->rkey;
	conn->us.qps = (uint32_t)qps;
	if (ibv_query_gid(context, 1, gid_index(), &conn->us.gid))
		die("no GID %d", gid_index());
	for (int k = 0; k < qps; k++) {
		conn->qp[k] = make_qp();
		conn->us.qpn[k] = conn->qp[k]->qp_num;
	}
}

static int dial(const char *address)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(PORT) };

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		die("not an address: %s", address);
	for (int try = 0; try < 300; try++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (!connect(fd, (struct sockaddr *)&to, sizeof(to)))
			return fd;
		close(fd);
		usleep(200000);
	}
	die("%s does not answer", address);
}

static void call(struct conn *conn, const char *address,
		 const struct options *options)
{
	char byte;

	conn->tcp = dial(address);
	make_conn(conn, options->qps);
	swap(conn);
	for (int k = 0; k < options->qps; k++)
		connect_qp(conn->qp[k], &conn->them, k, options);
	if (recv(conn->tcp, &byte, 1, 0) != 1)
		die("%s is not ready", address);
}

static void answer(struct conn *conn, int listener,
		   const struct options *options)
{
	conn->tcp = accept(listener, NULL, NULL);
	if (conn->tcp < 0 ||
	    recv(conn->tcp, &conn->them, sizeof(conn->them),
		 MSG_WAITALL | MSG_PEEK) != sizeof(conn->them) ||
	    conn->them.qps > MAX_QPS)
		die("nobody called: %s", strerror(errno));
	make_conn(conn, (int)conn->them.qps);
	swap(conn);
	for (int k = 0; k < (int)conn->us.qps; k++)
		connect_qp(conn->qp[k], &conn->them, k, options);
	if (send(conn->tcp, "r", 1, MSG_NOSIGNAL) != 1)
		die("the caller is gone");
}

static void serve(int count, const struct options *options)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(PORT) };
	struct timeval patience = { .tv_sec = 90 };
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	char byte;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &patience,
		   sizeof(patience));
	if (options->at && inet_pton(AF_INET, options->at, &at.sin_addr) != 1)
		die("not an address: %s", options->at);
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) ||
	    listen(listener, MAX_CALLS))
		die("cannot listen: %s", strerror(errno));
	for (int i = 0; i < count; i++)
		answer(&conns[i], listener, options);
	for (int i = 0; i < count; i++)
		if (recv(conns[i].tcp, &byte, 1, 0) < 0)
			die("a caller broke off: %s", strerror(errno));
}

/* ---- traffic -------------------------------------------------------------- */

static void post(uint64_t id, const struct options *options)
{
	struct conn *conn = &conns[id / MAX_QPS];
	struct ibv_sge sge = { (uintptr_t)mr->addr,
			       (uint32_t)options->length, mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = id, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { conn->them.addr, conn->them.rkey },
	}, *bad;

	if (ibv_post_send(conn->qp[id % MAX_QPS], &wr, &bad))
		die("post_send: %s", strerror(errno));
}

/* The completions there are, or those that come within 100 ms. */
static int wait_completions(struct ibv_wc *wc, int room)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	struct ibv_cq *which;
	void *unused;
	int n = ibv_poll_cq(cq, room, wc);

	if (n)
		return n;
	if (ibv_req_notify_cq(cq, 0))
		die("req_notify_cq");
	/* What came before the request is not announced. */
	n = ibv_poll_cq(cq, room, wc);
	if (n || poll(&fd, 1, 100) != 1)
		return n;
	if (ibv_get_cq_event(channel, &which, &unused))
		die("get_cq_event: %s", strerror(errno));
	ibv_ack_cq_events(which, 1);
	return 0;
}

static void stream(int count, const struct options *options)
{
	double begin = now() + options->warmup;
	double end = begin + options->seconds;
	uint64_t bytes = 0;
	struct ibv_wc wc[16];
	double at;

	for (int i = 0; i < count * options->qps; i++)
		post((uint64_t)(i / options->qps * MAX_QPS + i % options->qps),
		     options);
	while ((at = now()) < end + TAIL) {
		int n = wait_completions(wc, 16);

		if (n < 0)
			die("poll_cq");
		for (int i = 0; i < n; i++) {
			if (wc[i].status != IBV_WC_SUCCESS)
				die("completion: %s",
				    ibv_wc_status_str(wc[i].status));
			if (at >= begin && at < end)
				bytes += (uint64_t)options->length;
			post(wc[i].wr_id, options);
		}
	}
	printf("bytes %llu in %.0f\n", (unsigned long long)bytes,
	       options->seconds * 1e6);
}

static void call_all(int count, char **addresses, const struct options *options)
{
	char line[80];

	if (count < 1 || count > MAX_CALLS)
		die("1 to %d addresses", MAX_CALLS);
	for (int i = 0; i < count; i++)
		call(&conns[i], addresses[i], options);
	printf("ready\n");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		die("nobody said go");
	stream(count, options);
}

int main(int argc, char **argv)
{
	struct options options = { .qps = 2, .length = 8192, .seconds = 5,
				   .warmup = 1 };
	int opt;

	while ((opt = getopt(argc, argv, "q:s:t:w:c:b:")) != -1) {
		switch (opt) {
		case 'q':
			options.qps = atoi(optarg);
			break;
		case 's':
			options.length = atoi(optarg);
			break;
		case 't':
			options.seconds = atof(optarg);
			break;
		case 'w':
			options.warmup = atof(optarg);
			break;
		case 'c':
			options.tclass = atoi(optarg);
			break;
		case 'b':
			options.at = optarg;
			break;
		default:
			die("see the top of stream.c");
		}
	}
	if (options.qps < 1 || options.qps > MAX_QPS || options.length < 1 ||
	    argc - optind < 2)
		die("see the top of stream.c");
	set_up(&options);
	if (!strcmp(argv[optind], "serve"))
		serve(atoi(argv[optind + 1]), &options);
	else
		call_all(argc - optind - 1, argv + optind + 1, &options);
	return 0;
}
