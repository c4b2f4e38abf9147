// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "flow_traffic.h"

#define ROCE_PORT	4791
#define OTHER_PORT	4790
#define PSN_MASK	0xffffff
#define PORTS		16384		/* source ports of one address */
#define FIRST_QPN	0x100
#define BACK_QPN	0x800000	/* of the other direction */

#define ACK_REQUEST	0x80000000U
#define PMTU		256

enum {
	WRITE_FIRST	= 0x06,
	WRITE_MIDDLE	= 0x07,
	WRITE_LAST	= 0x08,
	SEND_ONLY	= 0x04,
	ACK		= 0x11,
};

struct bth {
	uint8_t opcode;
	uint8_t flags;
	uint16_t pkey;
	uint32_t qpn;
	uint32_t psn;
} __attribute__((packed));

struct packet {
	struct iphdr ip;
	struct udphdr udp;
	struct bth bth;
	uint8_t rest[PMTU + 16 + 4];
} __attribute__((packed));

/* One end's packets, which differ in addresses and numbers. */
struct side {
	int fd;
	struct packet packet[BATCH];
	struct sockaddr_in to[BATCH];
	struct iovec vec[BATCH];
	struct mmsghdr msg[BATCH];
};

const char *const pattern_names[PATTERNS] = { "sends", "messages", "other" };

static struct side requests, answers;
static uint32_t psn;

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "flows: ");
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, "\n");
	va_end(ap);
	exit(1);
}

uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- sockets ---- */

/* Takes what arrives, and drops it as early as a socket can. */
static void sink(uint16_t port)
{
	struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog program = { .len = 1, .filter = &nothing };
	struct sockaddr_in any = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
				 sizeof(program)) ||
	    bind(fd, (struct sockaddr *)&any, sizeof(any)))
		die("port %u: %s", port, strerror(errno));
}

/* Sockets belong to the group that their maker is in then. */
static void join(const char *group)
{
	char path[128];
	FILE *file;

	mkdir(group, 0755);
	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	file = fopen(path, "w");
	if (!file || fprintf(file, "%d", getpid()) < 0 || fclose(file))
		die("%s: %s", path, strerror(errno));
}

static int open_node(const char *group)
{
	int size = 4 << 20;
	int fd;

	join(group);
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size,
				 sizeof(size)))
		die("raw socket: %s", strerror(errno));
	sink(ROCE_PORT);
	sink(OTHER_PORT);
	return fd;
}

void traffic_open(const char *peer)
{
	int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int there = open(peer, O_RDONLY | O_CLOEXEC);

	requests.fd = open_node(TRAFFIC_CGROUP);
	if (here < 0 || there < 0 || setns(there, CLONE_NEWNET))
		die("%s: %s", peer, strerror(errno));
	answers.fd = open_node("/sys/fs/cgroup");
	if (setns(here, CLONE_NEWNET))
		die("back from %s: %s", peer, strerror(errno));
	close(here);
	close(there);
}

/* ---- packets ---- */

static uint32_t address_a(void)
{
	return inet_addr("10.90.0.1");
}

/* b has as many addresses as are needed. */
static uint32_t address_b(uint32_t flow)
{
	return htonl(ntohl(inet_addr("10.91.0.0")) + flow / PORTS);
}

static void write_packet(struct side *side, unsigned int i, uint32_t flow,
			 bool is_answer)
{
	struct packet *packet = &side->packet[i];
	uint32_t qpn = FIRST_QPN + flow;

	memset(packet, 0, sizeof(*packet));
	packet->ip.version = 4;
	packet->ip.ihl = 5;
	packet->ip.ttl = 64;
	packet->ip.tos = 2;		/* ECT(0) */
	packet->ip.protocol = IPPROTO_UDP;
	packet->ip.saddr = is_answer ? address_b(flow) : address_a();
	packet->ip.daddr = is_answer ? address_a() : address_b(flow);
	packet->udp.source = htons((uint16_t)(65536 - PORTS + flow % PORTS));
	packet->bth.pkey = 0xffff;
	packet->bth.qpn = htonl(is_answer ? qpn | BACK_QPN : qpn);
	side->to[i].sin_family = AF_INET;
	side->to[i].sin_addr.s_addr = packet->ip.daddr;
	side->vec[i].iov_base = packet;
	side->msg[i].msg_hdr.msg_name = &side->to[i];
	side->msg[i].msg_hdr.msg_namelen = sizeof(side->to[i]);
	side->msg[i].msg_hdr.msg_iov = &side->vec[i];
	side->msg[i].msg_hdr.msg_iovlen = 1;
}

/* What all packets of a batch have in common. @rest: behind the BTH. */
static void set_packets(struct side *side, uint16_t port, uint8_t opcode,
			uint32_t psn_word, size_t rest)
{
	const size_t length = sizeof(struct packet) - PMTU - 20 + rest;
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		struct packet *packet = &side->packet[i];

		packet->ip.tot_len = htons((uint16_t)length);
		packet->udp.dest = htons(port);
		packet->udp.len = htons((uint16_t)(length - sizeof(packet->ip)));
		packet->bth.opcode = opcode;
		packet->bth.psn = htonl(psn_word);
		side->vec[i].iov_len = length;
	}
}

static void send_packets(struct side *side, unsigned int count)
{
	unsigned int done = 0;
	int ret;

	while (done < count) {
		ret = sendmmsg(side->fd, side->msg + done, count - done, 0);
		if (ret < 0 && errno != ENOBUFS && errno != EAGAIN)
			die("sendmmsg: %s", strerror(errno));
		done += ret > 0 ? (unsigned int)ret : 0;
	}
}

void traffic_select(uint32_t step)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		write_packet(&requests, i, i * step, false);
		write_packet(&answers, i, i * step, true);
	}
}

/* ---- what is sent ---- */

static void request(uint16_t port, uint8_t opcode, bool ask, size_t rest)
{
	set_packets(&requests, port, opcode,
		    (psn & PSN_MASK) | (ask ? ACK_REQUEST : 0), rest);
	send_packets(&requests, BATCH);
	psn++;
}

static void answer(uint16_t port)
{
	set_packets(&answers, port, ACK, (psn - 1) & PSN_MASK, 8);
	send_packets(&answers, BATCH);
}

unsigned int traffic_round(enum pattern pattern)
{
	uint16_t port = pattern == OTHER ? OTHER_PORT : ROCE_PORT;
	int i;

	if (pattern != MESSAGES) {
		request(port, SEND_ONLY, true, 64 + 4);
		answer(port);
		return 2 * BATCH;
	}
	request(port, WRITE_FIRST, false, 16 + PMTU + 4);
	for (i = 0; i < 2; i++)
		request(port, WRITE_MIDDLE, false, PMTU + 4);
	request(port, WRITE_LAST, true, PMTU + 4);
	answer(port);
	return 5 * BATCH;
}

void traffic_fill(uint32_t begin, uint32_t end)
{
	static struct side side;
	uint32_t flow;
	unsigned int i;

	side.fd = requests.fd;
	for (flow = begin; flow < end; flow += i) {
		for (i = 0; i < BATCH && flow + i < end; i++)
			write_packet(&side, i, flow + i, false);
		set_packets(&side, ROCE_PORT, SEND_ONLY, 0, 4);
		send_packets(&side, i);
	}
}
