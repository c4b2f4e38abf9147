/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RoCE v2 packets, from bytes. Pure: no kernel call, no memory of earlier
 * packets; what is read is always inside the bytes given. Layouts are those of
 * the InfiniBand architecture specification, volume 1, chapter 9 and annex A17.
 */
#ifndef PEERLANE_ROCE_PARSE_H
#define PEERLANE_ROCE_PARSE_H

#include <linux/types.h>
#include <asm/byteorder.h>

#define ROCE_UDP_PORT		4791
#define ROCE_PSN_MASK		0xffffff
#define ROCE_QPN_MASK		0xffffff
#define ROCE_QPN_CM		1	/* general services, QP1 */

/* Longest run of headers that the parser looks at, from the IP header on. */
#define ROCE_HEADERS_MAX	192

enum roce_verdict {
	ROCE_PACKET,		/* a RoCE v2 packet; struct roce_packet is filled */
	ROCE_OTHER,		/* anything else */
	ROCE_FRAGMENT,		/* an IP fragment of UDP: never parsed */
	ROCE_TRUNCATED,		/* RoCE, but headers are cut off */
	ROCE_MALFORMED,		/* RoCE, but no valid headers */
};

/* First three bits of the opcode. */
enum roce_transport {
	ROCE_RC = 0,
	ROCE_UC = 1,
	ROCE_RD = 2,
	ROCE_UD = 3,
	ROCE_CNP = 4,
	ROCE_XRC = 5,
	/* 6 and 7: defined by the manufacturer */
};

/* Last five bits of the opcode. */
enum roce_operation {
	ROCE_SEND_FIRST = 0x00,
	ROCE_SEND_MIDDLE = 0x01,
	ROCE_SEND_LAST = 0x02,
	ROCE_SEND_LAST_IMM = 0x03,
	ROCE_SEND_ONLY = 0x04,
	ROCE_SEND_ONLY_IMM = 0x05,
	ROCE_WRITE_FIRST = 0x06,
	ROCE_WRITE_MIDDLE = 0x07,
	ROCE_WRITE_LAST = 0x08,
	ROCE_WRITE_LAST_IMM = 0x09,
	ROCE_WRITE_ONLY = 0x0a,
	ROCE_WRITE_ONLY_IMM = 0x0b,
	ROCE_READ_REQUEST = 0x0c,
	ROCE_READ_RESPONSE_FIRST = 0x0d,
	ROCE_READ_RESPONSE_MIDDLE = 0x0e,
	ROCE_READ_RESPONSE_LAST = 0x0f,
	ROCE_READ_RESPONSE_ONLY = 0x10,
	ROCE_ACK = 0x11,
	ROCE_ATOMIC_ACK = 0x12,
	ROCE_COMPARE_SWAP = 0x13,
	ROCE_FETCH_ADD = 0x14,
	ROCE_RESYNC = 0x15,
	ROCE_SEND_LAST_INV = 0x16,
	ROCE_SEND_ONLY_INV = 0x17,
	ROCE_FLUSH = 0x1c,
	ROCE_ATOMIC_WRITE = 0x1d,
};

/* Annex A17.9.3; 0x80 is what other fabrics use. */
#define ROCE_OPCODE_CNP		0x81
#define ROCE_OPCODE_CNP_OTHER	0x80

#define ROCE_OPCODE(transport, operation)	((transport) << 5 | (operation))

/* Which of the headers after the BTH are there. */
#define ROCE_HAS_DETH		0x01
#define ROCE_HAS_RETH		0x02
#define ROCE_HAS_AETH		0x04
#define ROCE_HAS_IMM		0x08
#define ROCE_HAS_XRCETH		0x10
#define ROCE_HAS_IETH		0x20
#define ROCE_HAS_ATOMIC		0x40	/* AtomicETH or AtomicAckETH */

/* Class of an AETH's syndrome, bits 6 and 5. */
enum roce_aeth {
	ROCE_AETH_ACK = 0,
	ROCE_AETH_RNR = 1,
	ROCE_AETH_RESERVED = 2,
	ROCE_AETH_NAK = 3,
};

enum roce_nak {
	ROCE_NAK_SEQUENCE = 0,
	ROCE_NAK_INVALID = 1,
	ROCE_NAK_ACCESS = 2,
	ROCE_NAK_OPERATIONAL = 3,
	ROCE_NAK_INVALID_RD = 4,
};

/* An address; IPv4 is mapped into IPv6 (::ffff:a.b.c.d). Network order. */
union roce_address {
	__be32 word[4];
	u8 byte[16];
};

/**
 * struct roce_packet - what one packet says; host order unless told
 * @saddr: source address
 * @daddr: destination address
 * @dqpn: destination QPN, 24 bits
 * @psn: packet sequence number, 24 bits
 * @length: bytes of the IP packet, its header included, as its header says
 * @payload: bytes of RDMA payload, without pad and ICRC
 * @payload_offset: where the payload begins, from the IP header on; it may lie
 *	beyond the bytes that were given
 * @sport: UDP source port
 * @pkey: partition key
 * @opcode: of the BTH, see ROCE_OPCODE()
 * @has: ROCE_HAS_*
 * @ecn: ECN bits of the IP header, 3 = congestion experienced
 * @dscp: of the IP header
 * @is_v6: the packet is IPv6
 * @solicited: solicited event
 * @migrated: migration state
 * @fecn: forward congestion bit of the BTH
 * @becn: backward congestion bit of the BTH
 * @ack_request: an acknowledgement is asked for
 * @pad: pad bytes, 0 to 3
 * @aeth_syndrome: of the AETH
 * @aeth_msn: message sequence number of the AETH, 24 bits
 * @sqpn: source QPN, of the DETH
 * @qkey: of the DETH
 * @va: address in the RETH
 * @rkey: of the RETH
 * @dma_length: bytes asked for or announced by the RETH
 * @imm: immediate data, as a number
 * @ieth_rkey: key to invalidate
 * @srqn: of the XRCETH
 */
struct roce_packet {
	union roce_address saddr;
	union roce_address daddr;
	u32 dqpn;
	u32 psn;
	u32 length;
	u32 payload;
	u16 payload_offset;
	u16 sport;
	u16 pkey;
	u8 opcode;
	/* Bytes of the packet that are kept as they come, which is quicker. */
	union {
		u8 bth_flags;
		struct {
#ifdef __LITTLE_ENDIAN_BITFIELD
			u8 tver : 4, pad : 2, migrated : 1, solicited : 1;
#else
			u8 solicited : 1, migrated : 1, pad : 2, tver : 4;
#endif
		};
	};
	union {
		u8 bth_congestion;
		struct {
#ifdef __LITTLE_ENDIAN_BITFIELD
			u8 resv6a : 6, becn : 1, fecn : 1;
#else
			u8 fecn : 1, becn : 1, resv6a : 6;
#endif
		};
	};
	union {
		u8 bth_ack;
		struct {
#ifdef __LITTLE_ENDIAN_BITFIELD
			u8 resv7 : 7, ack_request : 1;
#else
			u8 ack_request : 1, resv7 : 7;
#endif
		};
	};
	union {
		u8 ip_tos;
		struct {
#ifdef __LITTLE_ENDIAN_BITFIELD
			u8 ecn : 2, dscp : 6;
#else
			u8 dscp : 6, ecn : 2;
#endif
		};
	};
	bool is_v6;
	u8 has;
	u8 aeth_syndrome;
	u32 aeth_msn;
	u32 sqpn;
	u32 qkey;
	u64 va;
	u32 rkey;
	u32 dma_length;
	u32 imm;
	u32 ieth_rkey;
	u32 srqn;
};

/*
 * The packet whose IP header begins at @ip, of which @avail bytes are there.
 * @packet is written only where the answer is ROCE_PACKET, and then only fields
 * of headers that the packet has (@has) are meaningful.
 */
enum roce_verdict roce_parse_ip(const void *ip, u32 avail,
				struct roce_packet *packet);

/* The same from the Ethernet header on; up to two VLAN tags are skipped. */
enum roce_verdict roce_parse_ethernet(const void *frame, u32 avail,
				      struct roce_packet *packet);

/*
 * Microseconds that an RNR NAK asks to wait, by the low five bits of its
 * syndrome (table "encoding for RNR NAK timer field" of the specification).
 */
u32 roce_rnr_timer_us(u8 code);

static inline enum roce_transport roce_transport(const struct roce_packet *packet)
{
	return packet->opcode >> 5;
}

static inline enum roce_operation roce_operation(const struct roce_packet *packet)
{
	return packet->opcode & 0x1f;
}

#endif /* PEERLANE_ROCE_PARSE_H */
