// SPDX-License-Identifier: GPL-2.0
#include "roce_send.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static struct {
	int fd;
	struct sockaddr_storage from;
	int tos;
} last = { .fd = -1 };

int roce_namespace(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd, ret;

	roce_done();
	if (unshare(CLONE_NEWNET))
		return -1;
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0)
		return -1;
	ret = ioctl(fd, SIOCSIFFLAGS, &lo);
	close(fd);
	return ret;
}

static socklen_t address(const char *text, uint16_t port,
			 struct sockaddr_storage *out)
{
	struct sockaddr_in6 *six = (void *)out;
	struct sockaddr_in *four = (void *)out;

	memset(out, 0, sizeof(*out));
	if (text && strchr(text, ':')) {
		six->sin6_family = AF_INET6;
		six->sin6_port = htons(port);
		inet_pton(AF_INET6, text, &six->sin6_addr);
		return sizeof(*six);
	}
	four->sin_family = AF_INET;
	four->sin_port = htons(port);
	inet_pton(AF_INET, text ? text : "127.0.0.1", &four->sin_addr);
	return sizeof(*four);
}

int roce_sink(void)
{
	struct sockaddr_storage any;
	socklen_t size = address("::", ROCE_PORT, &any);
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || !bind(fd, (void *)&any, size))
		return fd;
	close(fd);
	return -1;
}

static uint8_t *put(uint8_t *at, uint32_t value, int bytes)
{
	while (bytes--)
		*at++ = (uint8_t)(value >> (8 * bytes));
	return at;
}

/* From the base transport header to the checksum, which nobody looks at */
static size_t transport(const struct roce *packet, uint8_t *data)
{
	uint8_t *at = data;

	at = put(at, packet->opcode, 1);
	at = put(at, 0, 1);
	at = put(at, 0xffff, 2);
	at = put(at, packet->opcode == ROCE_CNP ? 0x40 : 0, 1);
	at = put(at, packet->qpn, 3);
	at = put(at, packet->ask ? 0x80 : 0, 1);
	at = put(at, packet->psn, 3);
	if (packet->opcode == ROCE_WRITE_ONLY) {
		memset(at, 0, 16 + 64);
		put(at + 12, 64, 4);
		at += 16 + 64;
	} else if (packet->opcode == ROCE_ACK) {
		at = put(at, 0, 4);
	} else {
		memset(at, 0, 16);
		at += 16;
	}
	return (size_t)(put(at, 0, 4) - data);
}

size_t roce_bytes(const struct roce *packet, uint8_t *data)
{
	size_t size = transport(packet, data + 8) + 8;

	put(data, packet->sport ? packet->sport : ROCE_SPORT, 2);
	put(data + 2, ROCE_PORT, 2);
	put(data + 4, (uint32_t)size, 2);
	put(data + 6, 0, 2);
	return size;
}

void roce_done(void)
{
	if (last.fd >= 0)
		close(last.fd);
	last.fd = -1;
}

static int from(const struct roce *packet)
{
	uint16_t port = packet->sport ? packet->sport : ROCE_SPORT;
	struct sockaddr_storage own;
	socklen_t size = address(packet->from, port, &own);
	int one = 1, tos = packet->tos;

	if (last.fd >= 0 && last.tos == tos &&
	    !memcmp(&last.from, &own, sizeof(own)))
		return last.fd;
	roce_done();
	last.from = own;
	last.tos = tos;
	last.fd = socket(own.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (last.fd < 0)
		return -1;
	setsockopt(last.fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (own.ss_family == AF_INET)
		setsockopt(last.fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
	else
		setsockopt(last.fd, IPPROTO_IPV6, IPV6_TCLASS, &tos,
			   sizeof(tos));
	if (bind(last.fd, (void *)&own, size))
		roce_done();
	return last.fd;
}

int roce_send(const struct roce *packet)
{
	struct sockaddr_storage peer;
	socklen_t length = address(packet->to, ROCE_PORT, &peer);
	uint8_t data[128];
	size_t size = transport(packet, data);
	int fd = from(packet);

	if (fd < 0)
		return -1;
	return sendto(fd, data, size, 0, (void *)&peer, length) ==
	       (ssize_t)size ? 0 : -1;
}

int roce_send_many(struct roce packet, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		if (roce_send(&packet))
			return -1;
		packet.psn = (packet.psn + 1) & 0xffffff;
	}
	return 0;
}
