/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What two kernels say to each other: private data while connecting, and
 * messages (SENDs) on a connection. All numbers are little-endian. Pure.
 *
 * Counters in the head of each message go up only, modulo 2^32.
 */
#ifndef PEERLANE_LINK_WIRE_H
#define PEERLANE_LINK_WIRE_H

#include <linux/kernel.h>

#define LINK_MAGIC		0x706c6e65U
#define LINK_VERSION		1
#define LINK_SECRET_SIZE	16
#define LINK_HELLO_SIZE		48	/* of the 56 bytes of a request */
#define LINK_REFUSAL_SIZE	8
#define LINK_LANES_MAX		16

/* No message is longer; on lanes other than the first, and for NOTIFY */
#define LINK_MESSAGE_MAX	512
#define LINK_MESSAGE_SMALL	64
#define LINK_MESSAGE_MEDIUM	128	/* instead, for links with OWNER messages */
#define LINK_OWNER_MAX		88	/* payload of one */
#define LINK_CHUNKS_PER_MESSAGE	36

/* Why a connection is refused; for texts. */
enum link_refusal {
	LINK_REFUSAL_NONE	= 0,
	LINK_REFUSAL_VERSION	= 1,
	LINK_REFUSAL_SECRET	= 2,
	LINK_REFUSAL_BACKLOG	= 3,
	LINK_REFUSAL_LIMIT	= 4,
	LINK_REFUSAL_LANE	= 5,
	LINK_REFUSAL_MEMORY	= 6,
	LINK_REFUSAL_DEVICE	= 7,
	LINK_REFUSAL_SERVICE	= 8,
};

/* What a link is for. */
enum link_service {
	LINK_SERVICE_ENDPOINT	= 0,
	LINK_SERVICE_GROUP	= 1,
};

/**
 * struct link_hello - private data of a request, and of its answer
 * @id: random number of the connection, the same on all lanes
 * @secret: of the request; zero in the answer
 * @notify: NOTIFY messages that may be unread at the sender of this
 * @grants: exposures that it keeps of the other
 * @keys: memory keys of those; 0: it does not tell
 * @timeout_ms: after which it gives up
 * @lane: which one this is
 * @lanes: how many are wanted; of the answer: how many there will be
 * @service: enum link_service
 */
struct link_hello {
	u64 id;
	u8 secret[LINK_SECRET_SIZE];
	u32 notify;
	u32 grants;
	u32 keys;
	u32 timeout_ms;
	u8 lane;
	u8 lanes;
	u8 service;
};

void link_hello_encode(const struct link_hello *hello,
		       u8 data[LINK_HELLO_SIZE]);
/* 0; -EPROTO: none of ours or nonsense; -EPROTONOSUPPORT: another version */
int link_hello_decode(struct link_hello *hello, const u8 *data, u32 length);

void link_refusal_encode(u32 refusal, u8 data[LINK_REFUSAL_SIZE]);
/* LINK_REFUSAL_NONE if it is none of ours. */
u32 link_refusal_decode(const u8 *data, u32 length);

enum link_message_type {
	LINK_MESSAGE_CREDIT	= 1,	/* only the head */
	LINK_MESSAGE_NOTIFY	= 2,
	LINK_MESSAGE_EXPOSE	= 3,
	LINK_MESSAGE_WITHDRAW	= 4,
	LINK_MESSAGE_PING	= 5,
	LINK_MESSAGE_PONG	= 6,
	LINK_MESSAGE_FLUSH	= 7,
	LINK_MESSAGE_FLUSHED	= 8,
	LINK_MESSAGE_OWNER	= 9,
	LINK_MESSAGE_LEFT	= 10,	/* only on links that fail over */
};

/* NOTIFY: the sender has no credit left, and wants the next soon. */
#define LINK_MESSAGE_HUNGRY	(1U << 0)

struct link_chunk {
	u32 rkey;
	u64 iova;
};

/**
 * struct link_message - any message
 * @type: enum link_message_type
 * @flags: LINK_MESSAGE_HUNGRY
 * @control: EXPOSE and WITHDRAW messages that the sender has dealt with
 * @notify: NOTIFY messages that its user has read
 * @grants: exposures that it has forgotten since they were withdrawn
 * @token: EXPOSE, WITHDRAW, NOTIFY, FLUSH
 * @length: EXPOSE, NOTIFY; OWNER: bytes of @data
 * @value: EXPOSE, NOTIFY; FLUSH, FLUSHED: a number that is given back
 * @offset: FLUSH: byte that was written last
 * @rights: EXPOSE: PEERLANE_RIGHT_*
 * @chunks: EXPOSE: keys of it, each of @chunk bytes, but the first of @first
 * @first: EXPOSE
 * @chunk: EXPOSE
 * @index: EXPOSE: the first key in this message
 * @count: EXPOSE: keys in this message
 * @chunk_at: EXPOSE: of those
 * @data: OWNER: its payload
 * @lane: LEFT: whose queue pair is in error at the sender, and drained
 * @owners: LEFT: OWNER messages that ever came by it
 * @controls: LEFT: the others that ever did, but LEFT
 */
struct link_message {
	u8 type;
	u8 flags;
	u32 control;
	u32 notify;
	u32 grants;
	u64 token;
	u64 length;
	u64 value;
	u64 offset;
	u32 rights;
	u32 chunks;
	u64 first;
	u64 chunk;
	u32 index;
	u32 count;
	union {
		struct link_chunk chunk_at[LINK_CHUNKS_PER_MESSAGE];
		u8 data[LINK_OWNER_MAX];
		struct {
			u32 lane;
			u32 owners;
			u32 controls;
		};
	};
};

/*
 * Bytes of it. @data has LINK_MESSAGE_MAX, or _SMALL if it is no EXPOSE and _MEDIUM
 * if it is an OWNER.
 */
u32 link_message_encode(const struct link_message *message, u8 *data);
/* 0 or -EPROTO. The same for what the other kernel may not say. */
int link_message_decode(struct link_message *message, const u8 *data,
			u32 length);

#endif /* PEERLANE_LINK_WIRE_H */
