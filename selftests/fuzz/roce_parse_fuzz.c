// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes for the module's parser of RoCE packets. The first bit of them says
 * whether an Ethernet or an IP header comes first. What is read must be within
 * them, and what is said of them must be within its limits. The short way for
 * plain packets must say the same, or nothing.
 */
#include <linux/types.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "roce_plain.h"

#define MUST(what) \
	do { \
		if (!(what)) \
			abort(); \
	} while (0)

static const struct roce_packet untouched = { .psn = 0x5a5a5a5a };

static void check_packet(const struct roce_packet *packet, u32 bytes)
{
	u32 headers = packet->payload_offset;

	MUST(packet->psn <= ROCE_PSN_MASK);
	MUST(packet->dqpn <= ROCE_QPN_MASK);
	MUST(!(packet->has & ROCE_HAS_DETH) || packet->sqpn <= ROCE_QPN_MASK);
	MUST(!(packet->has & ROCE_HAS_XRCETH) || packet->srqn <= ROCE_QPN_MASK);
	MUST(!(packet->has & ROCE_HAS_AETH) || packet->aeth_msn <= 0xffffff);
	MUST(!packet->tver);
	/* The headers were there, and payload, pad and ICRC fit behind them. */
	MUST(headers <= bytes);
	MUST(headers >= (packet->is_v6 ? 60 : 40));
	MUST(headers + packet->payload + packet->pad + 4 <= packet->length);
	MUST(packet->length <= (packet->is_v6 ? 65575 : 65535));
}

static void check_again(const void *bytes, u32 count,
			const struct roce_packet *packet)
{
	struct roce_packet again = untouched;

	MUST(roce_parse_ip(bytes, count, &again) == ROCE_PACKET);
	MUST(!memcmp(&again, packet, sizeof(again)));
}

static void check_same(const struct roce_plain *plain,
		       const struct roce_packet *packet)
{
	__be32 saddr = roce_plain_saddr(plain), daddr = roce_plain_daddr(plain);
	bool is_ack = !(plain->kind & ROCE_PLAIN_REQUEST);

	MUST(!memcmp(&saddr, &packet->saddr.word[3], 4));
	MUST(!memcmp(&daddr, &packet->daddr.word[3], 4));
	MUST(roce_plain_length(plain) == packet->length);
	MUST(roce_plain_tos(plain) == packet->ip_tos);
	MUST(roce_plain_sport(plain) == packet->sport);
	MUST(roce_plain_opcode(plain) == packet->opcode);
	MUST(roce_plain_qpn(plain) == packet->dqpn);
	MUST(roce_plain_transport(plain) >> 24 == roce_transport(packet));
	MUST(!packet->pad);
	MUST(roce_plain_psn(plain) == packet->psn);
	MUST(roce_plain_asks(plain) == packet->ack_request);
	MUST(plain->payload == packet->payload);
	MUST((plain->kind & ROCE_PLAIN_LEAST) == packet->payload_offset - 16);
	MUST(!packet->is_v6 && !packet->bth_congestion);
	MUST(is_ack == !!(packet->has & ROCE_HAS_AETH));
	MUST(!is_ack || !(packet->aeth_syndrome & 0x60));
}

static void check_plain(const u8 *ip, u32 count, enum roce_verdict verdict,
			const struct roce_packet *packet)
{
	struct roce_plain plain;

	if (count < ROCE_PLAIN_BYTES || ip[0] != 0x45)
		return;
	if (!roce_plain_is_roce(ip))
		MUST(verdict == (roce_plain_is_fragment(ip) ? ROCE_FRAGMENT :
							      ROCE_OTHER));
	else if (roce_plain_parse(ip, count, &plain) &&
		 (plain.kind & ROCE_PLAIN_REQUEST || roce_plain_is_ack(&plain))) {
		MUST(verdict == ROCE_PACKET);
		check_same(&plain, packet);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct roce_packet packet = untouched;
	enum roce_verdict verdict;
	bool is_frame;

	if (!size || size > 65536)
		return -1;
	is_frame = *data++ & 1;
	size--;
	verdict = is_frame ? roce_parse_ethernet(data, size, &packet) :
			     roce_parse_ip(data, size, &packet);
	MUST(verdict <= ROCE_MALFORMED);
	if (!is_frame)
		check_plain(data, size, verdict, &packet);
	if (verdict != ROCE_PACKET) {
		MUST(!memcmp(&packet, &untouched, sizeof(packet)));
		return 0;
	}
	check_packet(&packet, size);
	/* All that was needed are the headers; the same bytes say the same. */
	if (!is_frame)
		check_again(data, packet.payload_offset, &packet);
	return 0;
}
