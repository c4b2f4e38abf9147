// SPDX-License-Identifier: GPL-2.0
/*
 * roce_dump CAPTURE: what the module's parser makes of each frame of a capture
 * file (pcap, not pcapng), one line of name=value each.
 */
#include <arpa/inet.h>
#include <err.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roce_parse.h"

/* Of the pcap format: times in microseconds, this machine's order of bytes */
#define MAGIC		0xa1b2c3d4
#define LINK_ETHERNET	1

struct file_header {
	u32 magic;
	u16 major, minor;
	u32 zone, accuracy, snaplen, link;
};

struct record_header {
	u32 seconds, fraction, bytes, length;
};

static FILE *open_capture(const char *name)
{
	struct file_header header;
	FILE *file = fopen(name, "rb");

	if (!file)
		err(2, "%s", name);
	if (fread(&header, sizeof(header), 1, file) != 1)
		errx(2, "%s: no capture", name);
	if (header.magic != MAGIC || header.link != LINK_ETHERNET)
		errx(2, "%s: no pcap file of Ethernet, from a machine like this",
		     name);
	return file;
}

/* In memory of its own, which ends where the packet does; NULL at the end. */
static u8 *next_packet(FILE *file, u32 *bytes)
{
	struct record_header header;
	u8 *packet;

	if (fread(&header, sizeof(header), 1, file) != 1)
		return NULL;
	*bytes = header.bytes;
	if (!*bytes || *bytes > 1 << 20)
		errx(2, "a packet of %u bytes", *bytes);
	packet = malloc(*bytes);
	if (!packet)
		err(2, "memory");
	if (fread(packet, *bytes, 1, file) != 1)
		errx(2, "the last packet is cut");
	return packet;
}

static void print_address(const char *name, const struct roce_packet *roce,
			  const union roce_address *address)
{
	char text[INET6_ADDRSTRLEN];
	int family = roce->is_v6 ? AF_INET6 : AF_INET;

	inet_ntop(family, address->byte + (roce->is_v6 ? 0 : 12), text,
		  sizeof(text));
	printf(" %s=%s", name, text);
}

static void print_headers(const struct roce_packet *roce)
{
	if (roce->has & ROCE_HAS_DETH)
		printf(" qkey=%u sqpn=%u", roce->qkey, roce->sqpn);
	if (roce->has & ROCE_HAS_RETH)
		printf(" va=%llu rkey=%u dma_length=%u",
		       (unsigned long long)roce->va, roce->rkey,
		       roce->dma_length);
	if (roce->has & ROCE_HAS_AETH)
		printf(" aeth_syndrome=%u aeth_msn=%u", roce->aeth_syndrome,
		       roce->aeth_msn);
	if (roce->has & ROCE_HAS_IMM)
		printf(" imm=%u", roce->imm);
	if (roce->has & ROCE_HAS_IETH)
		printf(" ieth_rkey=%u", roce->ieth_rkey);
	if (roce->has & ROCE_HAS_XRCETH)
		printf(" srqn=%u", roce->srqn);
	if (roce->has & ROCE_HAS_ATOMIC)
		printf(" atomic=1");
}

static void print_packet(const struct roce_packet *roce)
{
	print_address("saddr", roce, &roce->saddr);
	print_address("daddr", roce, &roce->daddr);
	printf(" sport=%u ecn=%u dscp=%u length=%u", roce->sport, roce->ecn,
	       roce->dscp, roce->length);
	printf(" opcode=%u solicited=%u migrated=%u pad=%u tver=%u pkey=%u",
	       roce->opcode, roce->solicited, roce->migrated, roce->pad,
	       roce->tver, roce->pkey);
	printf(" fecn=%u becn=%u dqpn=%u ack_request=%u psn=%u", roce->fecn,
	       roce->becn, roce->dqpn, roce->ack_request, roce->psn);
	printf(" payload=%u payload_offset=%u", roce->payload,
	       roce->payload_offset);
	print_headers(roce);
}

int main(int argc, char **argv)
{
	static const char *const verdicts[] = {
		"packet", "other", "fragment", "truncated", "malformed",
	};
	struct roce_packet roce;
	enum roce_verdict verdict;
	u32 count, bytes;
	u8 *packet;
	FILE *file;

	if (argc != 2)
		errx(2, "usage: roce_dump CAPTURE");
	file = open_capture(argv[1]);
	for (count = 1; (packet = next_packet(file, &bytes)); count++) {
		verdict = roce_parse_ethernet(packet, bytes, &roce);
		free(packet);
		printf("frame=%u verdict=%s", count, verdicts[verdict]);
		if (verdict == ROCE_PACKET)
			print_packet(&roce);
		printf("\n");
	}
	fclose(file);
	return 0;
}
