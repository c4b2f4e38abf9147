// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hostile.h"
#include "link_wire.c"

#define SECONDS 20

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

struct link_hello hostile_hello(void)
{
	struct link_hello hello = {
		.id = ((u64)rand() << 32 | rand()) + 1, .notify = 64, .grants = 64,
		.timeout_ms = 20000, .lanes = 1,
	};

	memcpy(hello.secret, "sixteen of these", sizeof(hello.secret));
	return hello;
}

/* ---- events ---- */

/* The event's number, or -errno; what it has is kept. */
static int next_event(struct hostile *hostile, struct rdma_cm_id **id)
{
	struct pollfd pollfd = { .fd = hostile->channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	int number;

	if (poll(&pollfd, 1, SECONDS * 1000) != 1)
		return -ETIME;
	if (rdma_get_cm_event(hostile->channel, &event))
		return -errno;
	number = event->event;
	if (id)
		*id = event->id;
	hostile->private_length = 0;
	if (event->param.conn.private_data) {
		hostile->private_length = event->param.conn.private_data_len;
		memcpy(hostile->private_data, event->param.conn.private_data,
		       hostile->private_length);
	}
	rdma_ack_cm_event(event);
	return number;
}

static int expect(struct hostile *hostile, int event)
{
	int got = next_event(hostile, NULL);

	if (got == event)
		return 0;
	if (got == RDMA_CM_EVENT_REJECTED) {
		hostile->refusal = link_refusal_decode(hostile->private_data,
						       hostile->private_length);
		return -ECONNREFUSED;
	}
	return got < 0 ? got : -EPROTO;
}

/* ---- queues ---- */

static int post_receive(struct hostile *hostile, u32 index)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)hostile->memory + HOSTILE_MEMORY +
			index * LINK_MESSAGE_MAX,
		.length = LINK_MESSAGE_MAX, .lkey = hostile->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = index, .sg_list = &sge, .num_sge = 1 }, *bad;

	return -ibv_post_recv(hostile->id->qp, &wr, &bad);
}

static int make_queues(struct hostile *hostile)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = 64, .max_recv_wr = HOSTILE_RECEIVES,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	size_t size = HOSTILE_MEMORY + HOSTILE_RECEIVES * LINK_MESSAGE_MAX;
	u32 i;

	hostile->pd = ibv_alloc_pd(hostile->id->verbs);
	hostile->cq = ibv_create_cq(hostile->id->verbs, 512, NULL, NULL, 0);
	if (!hostile->pd || !hostile->cq ||
	    posix_memalign((void **)&hostile->memory, 4096, size))
		return -ENOMEM;
	memset(hostile->memory, 0x66, size);
	hostile->mr = ibv_reg_mr(hostile->pd, hostile->memory, size,
				 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				 IBV_ACCESS_REMOTE_READ);
	init.send_cq = init.recv_cq = hostile->cq;
	if (!hostile->mr || rdma_create_qp(hostile->id, hostile->pd, &init))
		return -ENOMEM;
	for (i = 0; i < hostile->receives; i++)
		if (post_receive(hostile, i))
			return -ENOMEM;
	return 0;
}

static struct rdma_conn_param conn_param(const struct hostile *hostile,
					 const void *private_data, u8 length)
{
	return (struct rdma_conn_param){
		.private_data = private_data, .private_data_len = length,
		.responder_resources = 16, .initiator_depth = 16,
		.retry_count = 7, .rnr_retry_count = hostile->slow ? 7 : 0,
	};
}

/* ---- connect ---- */

static int resolve(struct hostile *hostile, const char *ip, u16 port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
	int ret;

	inet_pton(AF_INET, ip, &to.sin_addr);
	if (rdma_resolve_addr(hostile->id, NULL, (void *)&to, 5000))
		return -errno;
	ret = expect(hostile, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (!ret && rdma_resolve_route(hostile->id, 5000))
		ret = -errno;
	return ret ? ret : expect(hostile, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static int begin(struct hostile *hostile, const char *ip, u16 port,
		 const void *private_data, u8 length, int receives)
{
	struct rdma_conn_param param;
	int ret;

	memset(hostile, 0, sizeof(*hostile));
	param = conn_param(hostile, private_data, length);
	hostile->receives = receives < 0 ? 0 : receives ?: HOSTILE_RECEIVES;
	hostile->channel = rdma_create_event_channel();
	if (!hostile->channel ||
	    rdma_create_id(hostile->channel, &hostile->id, NULL, RDMA_PS_TCP))
		return -errno;
	/* 8 times 67 ms: it knows soon when nobody answers any more. */
	rdma_set_option(hostile->id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT,
			&(u8){ 14 }, 1);
	ret = resolve(hostile, ip, port);
	if (!ret)
		ret = make_queues(hostile);
	if (!ret && rdma_connect(hostile->id, &param))
		ret = -errno;
	return ret;
}

int hostile_connect(struct hostile *hostile, const char *ip, u16 port,
		    const void *private_data, u8 length, int receives)
{
	int ret = begin(hostile, ip, port, private_data, length, receives);

	if (!ret)
		ret = expect(hostile, RDMA_CM_EVENT_ESTABLISHED);
	if (!ret)
		link_hello_decode(&hostile->answer, hostile->private_data,
				  hostile->private_length);
	return ret;
}

int hostile_connect_well(struct hostile *hostile, const char *ip, u16 port,
			 const struct link_hello *hello)
{
	struct link_hello honest = hostile_hello();
	u8 data[LINK_HELLO_SIZE];

	link_hello_encode(hello ? hello : &honest, data);
	return hostile_connect(hostile, ip, port, data, sizeof(data), 0);
}

int hostile_ask_only(struct hostile *hostile, const char *ip, u16 port,
		     const struct link_hello *hello)
{
	u8 data[LINK_HELLO_SIZE];

	link_hello_encode(hello, data);
	return begin(hostile, ip, port, data, sizeof(data), 0);
}

void hostile_end(struct hostile *hostile)
{
	if (hostile->id) {
		if (hostile->id->qp)
			rdma_destroy_qp(hostile->id);
		if (hostile->mr)
			ibv_dereg_mr(hostile->mr);
		if (hostile->cq)
			ibv_destroy_cq(hostile->cq);
		if (hostile->pd)
			ibv_dealloc_pd(hostile->pd);
		rdma_destroy_id(hostile->id);
	}
	if (hostile->listener)
		rdma_destroy_id(hostile->listener);
	if (hostile->channel)
		rdma_destroy_event_channel(hostile->channel);
	free(hostile->memory);
	memset(hostile, 0, sizeof(*hostile));
}

/* ---- listen ---- */

int hostile_listen(struct hostile *hostile, const char *ip, u16 port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };

	memset(hostile, 0, sizeof(*hostile));
	hostile->receives = HOSTILE_RECEIVES;
	inet_pton(AF_INET, ip, &at.sin_addr);
	hostile->channel = rdma_create_event_channel();
	if (!hostile->channel ||
	    rdma_create_id(hostile->channel, &hostile->listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(hostile->listener, (void *)&at) ||
	    rdma_listen(hostile->listener, 8))
		return -errno;
	return 0;
}

int hostile_wait(struct hostile *hostile)
{
	int ret = next_event(hostile, &hostile->id);

	if (ret != RDMA_CM_EVENT_CONNECT_REQUEST)
		return ret < 0 ? ret : -EPROTO;
	return link_hello_decode(&hostile->answer, hostile->private_data,
				 hostile->private_length);
}

int hostile_accept(struct hostile *hostile, const void *private_data, u8 length)
{
	struct rdma_conn_param param = conn_param(hostile, private_data, length);
	int ret = make_queues(hostile);

	if (!ret && rdma_accept(hostile->id, &param))
		ret = -errno;
	return ret;
}

int hostile_established(struct hostile *hostile)
{
	return expect(hostile, RDMA_CM_EVENT_ESTABLISHED);
}

int hostile_reject(struct hostile *hostile, const void *private_data, u8 length)
{
	return rdma_reject(hostile->id, private_data, length) ? -errno : 0;
}

void hostile_init(void)
{
	rdma_get_devices(NULL);
}

/* ---- requests ---- */

/* Receives that come while a request is waited for are dealt with later. */
static void keep(struct hostile *hostile, const struct ibv_wc *wc)
{
	if (hostile->heard_in - hostile->heard_out < HOSTILE_HEARD)
		hostile->heard[hostile->heard_in++ % HOSTILE_HEARD] =
			(u64)wc->wr_id << 32 | (wc->status ? 0 : wc->byte_len + 1);
}

/* The other has ended it: an answer is not to be waited for. */
static bool has_ended(struct hostile *hostile)
{
	struct pollfd pollfd = { .fd = hostile->channel->fd, .events = POLLIN };

	return poll(&pollfd, 1, 0) == 1;
}

static int complete(struct hostile *hostile)
{
	double begin = seconds_now(), end = begin + SECONDS;
	struct ibv_wc wc;

	while (seconds_now() < end) {
		if (ibv_poll_cq(hostile->cq, 1, &wc) != 1) {
			if (seconds_now() > begin + 1 && has_ended(hostile))
				return -ENOTCONN;
			usleep(200);
			continue;
		}
		if (wc.wr_id == UINT32_MAX)
			return wc.status;
		keep(hostile, &wc);
	}
	return -ETIME;
}

static int post(struct hostile *hostile, struct ibv_send_wr *wr, u32 length)
{
	struct ibv_sge sge = { .addr = (uintptr_t)hostile->memory,
			       .length = length, .lkey = hostile->mr->lkey };
	struct ibv_send_wr *bad;
	int ret;

	wr->wr_id = UINT32_MAX;
	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	ret = ibv_post_send(hostile->id->qp, wr, &bad);
	return ret ? -ret : complete(hostile);
}

int hostile_send(struct hostile *hostile, const void *data, u32 length)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };

	memcpy(hostile->memory, data, length);
	return post(hostile, &wr, length);
}

int hostile_say(struct hostile *hostile, struct link_message *message)
{
	u8 data[LINK_MESSAGE_MAX];
	u32 length;

	if (!message->control)
		message->control = hostile->control;
	if (!message->notify)
		message->notify = hostile->owner;
	length = link_message_encode(message, data);
	return hostile_send(hostile, data, length);
}

int hostile_write(struct hostile *hostile, u32 rkey, u64 at, u32 length)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE,
				  .wr.rdma = { .rkey = rkey, .remote_addr = at } };

	return post(hostile, &wr, length);
}

int hostile_write_imm(struct hostile *hostile, u32 rkey, u64 at, u32 length)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
				  .wr.rdma = { .rkey = rkey, .remote_addr = at } };

	return post(hostile, &wr, length);
}

int hostile_read(struct hostile *hostile, u32 rkey, u64 at, u32 length)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_READ,
				  .wr.rdma = { .rkey = rkey, .remote_addr = at } };

	return post(hostile, &wr, length);
}

/* ---- what is heard ---- */

static bool take(struct hostile *hostile, u64 what, struct link_message *message)
{
	u32 index = what >> 32, length = (u32)what;
	bool good;

	if (!length)
		return false;
	hostile->last_length = length - 1;
	memcpy(hostile->last, hostile->memory + HOSTILE_MEMORY +
	       index * LINK_MESSAGE_MAX, hostile->last_length);
	good = !link_message_decode(message, hostile->last, hostile->last_length);
	post_receive(hostile, index);
	if (good && message->type == LINK_MESSAGE_OWNER)
		hostile->owner++;
	else if (good && message->type != LINK_MESSAGE_NOTIFY &&
		 message->type != LINK_MESSAGE_FLUSH &&
		 message->type != LINK_MESSAGE_FLUSHED)
		hostile->control++;
	return good;
}

bool hostile_hear(struct hostile *hostile, struct link_message *message,
		  double seconds)
{
	double end = seconds_now() + seconds;
	struct ibv_wc wc;

	do {
		if (hostile->heard_out != hostile->heard_in)
			return take(hostile, hostile->heard[hostile->heard_out++ %
							    HOSTILE_HEARD], message);
		if (ibv_poll_cq(hostile->cq, 1, &wc) == 1)
			keep(hostile, &wc);
		else
			usleep(1000);
	} while (seconds_now() < end);
	return false;
}

bool hostile_hear_of(struct hostile *hostile, u8 type,
		     struct link_message *message, double seconds)
{
	while (hostile_hear(hostile, message, seconds))
		if (message->type == type)
			return true;
	return false;
}
