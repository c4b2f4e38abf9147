/* SPDX-License-Identifier: GPL-2.0 */
/* RoCE v2 packets made by hand, sent as UDP, in a network namespace of its own. */
#ifndef ROCE_SEND_H
#define ROCE_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROCE_WRITE_ONLY		0x0a
#define ROCE_ACK		0x11
#define ROCE_CNP		0x81
#define ROCE_PORT		4791
/* Bytes of an IPv4 packet of WRITE ONLY with 64 bytes of payload */
#define ROCE_WRITE_BYTES	(20 + 8 + 12 + 16 + 64 + 4)
#define ROCE_SPORT		0xc123

/**
 * struct roce - one packet
 * @from: as text; NULL 127.0.0.1
 * @to: as text; NULL 127.0.0.1
 * @opcode: of the base transport header
 * @qpn: it goes to
 * @psn: its number
 * @ask: an acknowledgement is wanted
 * @tos: byte of the IP header: 3 is "congestion experienced"
 * @sport: UDP source port; 0 ROCE_SPORT
 */
struct roce {
	const char *from, *to;
	uint8_t opcode;
	uint32_t qpn;
	uint32_t psn;
	bool ask;
	uint8_t tos;
	uint16_t sport;
};

/* A new network namespace with "lo" up. Return: 0 or -1. */
int roce_namespace(void);
/* Nobody answers what is sent, and nobody refuses it. Return: a file, or -1. */
int roce_sink(void);
/* Return: 0 or -1. */
int roce_send(const struct roce *packet);
/* UDP and what is in it; @size has room for 128. Return: bytes. */
size_t roce_bytes(const struct roce *packet, uint8_t *data);
/* @packet @count times, its number counted up. Return: 0 or -1. */
int roce_send_many(struct roce packet, int count);
/* Close the sockets that sending keeps. */
void roce_done(void);

#endif /* ROCE_SEND_H */
