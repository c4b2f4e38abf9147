// SPDX-License-Identifier: GPL-2.0
/* Private data and messages of a connection: to bytes, and back with checks. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "link_wire.h"

/* ---- bytes ---- */

struct writer {
	u8 *data;
	u32 at;
};

static void put(struct writer *writer, u64 value, u32 bytes)
{
	for (; bytes; bytes--, value >>= 8)
		writer->data[writer->at++] = (u8)value;
}

struct reader {
	const u8 *data;
	u32 at;
};

/* The caller has looked at the length. */
static u64 get(struct reader *reader, u32 bytes)
{
	u64 value = 0;
	u32 i;

	for (i = 0; i < bytes; i++)
		value |= (u64)reader->data[reader->at++] << (8 * i);
	return value;
}

/* ---- private data ---- */

void link_hello_encode(const struct link_hello *hello, u8 data[LINK_HELLO_SIZE])
{
	struct writer writer = { .data = data };

	put(&writer, LINK_MAGIC, 4);
	put(&writer, LINK_VERSION, 1);
	put(&writer, hello->lane, 1);
	put(&writer, hello->lanes, 1);
	put(&writer, hello->service, 1);
	put(&writer, hello->id, 8);
	memcpy(data + writer.at, hello->secret, LINK_SECRET_SIZE);
	writer.at += LINK_SECRET_SIZE;
	put(&writer, hello->notify, 4);
	put(&writer, hello->grants, 4);
	put(&writer, hello->timeout_ms, 4);
	put(&writer, hello->keys, 4);
}

static bool hello_is_sane(const struct link_hello *hello)
{
	return hello->lanes && hello->lanes <= LINK_LANES_MAX &&
	       hello->lane < hello->lanes && hello->id && hello->notify &&
	       hello->timeout_ms;
}

int link_hello_decode(struct link_hello *hello, const u8 *data, u32 length)
{
	struct reader reader = { .data = data };

	if (length < 5 || get(&reader, 4) != LINK_MAGIC)
		return -EPROTO;
	if (get(&reader, 1) != LINK_VERSION)
		return -EPROTONOSUPPORT;
	if (length < LINK_HELLO_SIZE)
		return -EPROTO;
	hello->lane = (u8)get(&reader, 1);
	hello->lanes = (u8)get(&reader, 1);
	hello->service = (u8)get(&reader, 1);
	hello->id = get(&reader, 8);
	memcpy(hello->secret, data + reader.at, LINK_SECRET_SIZE);
	reader.at += LINK_SECRET_SIZE;
	hello->notify = (u32)get(&reader, 4);
	hello->grants = (u32)get(&reader, 4);
	hello->timeout_ms = (u32)get(&reader, 4);
	hello->keys = (u32)get(&reader, 4);
	return hello_is_sane(hello) ? 0 : -EPROTO;
}

void link_refusal_encode(u32 refusal, u8 data[LINK_REFUSAL_SIZE])
{
	struct writer writer = { .data = data };

	put(&writer, LINK_MAGIC, 4);
	put(&writer, LINK_VERSION, 1);
	put(&writer, refusal, 1);
	put(&writer, 0, 2);
}

/* The place of the code is the same in every version. */
u32 link_refusal_decode(const u8 *data, u32 length)
{
	struct reader reader = { .data = data };

	if (length < LINK_REFUSAL_SIZE || get(&reader, 4) != LINK_MAGIC)
		return LINK_REFUSAL_NONE;
	reader.at++;
	return (u32)get(&reader, 1);
}

/* ---- messages ---- */

#define HEAD_SIZE	16
#define EXPOSE_SIZE	(HEAD_SIZE + 56)
#define CHUNK_SIZE	12

static void put_expose(struct writer *writer, const struct link_message *message)
{
	u32 i;

	put(writer, message->token, 8);
	put(writer, message->length, 8);
	put(writer, message->value, 8);
	put(writer, message->first, 8);
	put(writer, message->chunk, 8);
	put(writer, message->rights, 4);
	put(writer, message->chunks, 4);
	put(writer, message->index, 4);
	put(writer, message->count, 4);
	for (i = 0; i < message->count; i++) {
		put(writer, message->chunk_at[i].rkey, 4);
		put(writer, message->chunk_at[i].iova, 8);
	}
}

static void put_owner(struct writer *writer, const struct link_message *message)
{
	put(writer, message->length, 4);
	memcpy(writer->data + writer->at, message->data, message->length);
	writer->at += message->length;
}

u32 link_message_encode(const struct link_message *message, u8 *data)
{
	struct writer writer = { .data = data };

	put(&writer, LINK_VERSION, 1);
	put(&writer, message->type, 1);
	put(&writer, message->flags, 1);
	put(&writer, 0, 1);
	put(&writer, message->control, 4);
	put(&writer, message->notify, 4);
	put(&writer, message->grants, 4);
	switch (message->type) {
	case LINK_MESSAGE_EXPOSE:
		put_expose(&writer, message);
		break;
	case LINK_MESSAGE_NOTIFY:
		put(&writer, message->token, 8);
		put(&writer, message->length, 8);
		put(&writer, message->value, 8);
		break;
	case LINK_MESSAGE_FLUSH:
		put(&writer, message->token, 8);
		put(&writer, message->offset, 8);
		put(&writer, message->value, 8);
		break;
	case LINK_MESSAGE_OWNER:
		put_owner(&writer, message);
		break;
	case LINK_MESSAGE_WITHDRAW:
		put(&writer, message->token, 8);
		break;
	case LINK_MESSAGE_FLUSHED:
		put(&writer, message->value, 8);
		break;
	case LINK_MESSAGE_LEFT:
		put(&writer, message->lane, 4);
		put(&writer, message->owners, 4);
		put(&writer, message->controls, 4);
		break;
	}
	return writer.at;
}

/* Without chunks; 0: no such message */
static u32 size_of(u32 type)
{
	switch (type) {
	case LINK_MESSAGE_CREDIT:
	case LINK_MESSAGE_PING:
	case LINK_MESSAGE_PONG:
		return HEAD_SIZE;
	case LINK_MESSAGE_NOTIFY:
	case LINK_MESSAGE_FLUSH:
		return HEAD_SIZE + 24;
	case LINK_MESSAGE_WITHDRAW:
	case LINK_MESSAGE_FLUSHED:
		return HEAD_SIZE + 8;
	case LINK_MESSAGE_EXPOSE:
		return EXPOSE_SIZE;
	case LINK_MESSAGE_OWNER:
		return HEAD_SIZE + 4;
	case LINK_MESSAGE_LEFT:
		return HEAD_SIZE + 12;
	}
	return 0;
}

/* No memory is larger, and sums of two of these do not wrap. */
#define LENGTH_MAX	((u64)1 << 62)

/* The keys have exactly the bytes of the exposure. */
static bool chunks_fit(const struct link_message *message)
{
	u64 rest;

	if (!message->token || !message->length || !message->chunks ||
	    !message->first || message->first > message->length ||
	    message->length > LENGTH_MAX || message->chunk > LENGTH_MAX)
		return false;
	rest = message->length - message->first;
	if (!rest)
		return message->chunks == 1;
	if (!message->chunk || message->first > message->chunk)
		return false;
	return message->chunks - 1 == (rest - 1) / message->chunk + 1;
}

static int get_expose(struct link_message *message, struct reader *reader,
		      u32 length)
{
	u32 i;

	message->token = get(reader, 8);
	message->length = get(reader, 8);
	message->value = get(reader, 8);
	message->first = get(reader, 8);
	message->chunk = get(reader, 8);
	message->rights = (u32)get(reader, 4);
	message->chunks = (u32)get(reader, 4);
	message->index = (u32)get(reader, 4);
	message->count = (u32)get(reader, 4);
	if (!chunks_fit(message) || !message->count ||
	    message->count > LINK_CHUNKS_PER_MESSAGE ||
	    length < EXPOSE_SIZE + message->count * CHUNK_SIZE ||
	    message->index >= message->chunks ||
	    message->count > message->chunks - message->index)
		return -EPROTO;
	for (i = 0; i < message->count; i++) {
		message->chunk_at[i].rkey = (u32)get(reader, 4);
		message->chunk_at[i].iova = get(reader, 8);
	}
	return 0;
}

static int get_owner(struct link_message *message, struct reader *reader,
		     u32 length)
{
	message->length = get(reader, 4);
	if (message->length > LINK_OWNER_MAX ||
	    message->length > length - reader->at)
		return -EPROTO;
	memcpy(message->data, reader->data + reader->at, message->length);
	return 0;
}

static int get_rest(struct link_message *message, struct reader *reader,
		    u32 length)
{
	switch (message->type) {
	case LINK_MESSAGE_EXPOSE:
		return get_expose(message, reader, length);
	case LINK_MESSAGE_OWNER:
		return get_owner(message, reader, length);
	case LINK_MESSAGE_NOTIFY:
		message->token = get(reader, 8);
		message->length = get(reader, 8);
		message->value = get(reader, 8);
		break;
	case LINK_MESSAGE_FLUSH:
		message->token = get(reader, 8);
		message->offset = get(reader, 8);
		message->value = get(reader, 8);
		break;
	case LINK_MESSAGE_WITHDRAW:
		message->token = get(reader, 8);
		break;
	case LINK_MESSAGE_FLUSHED:
		message->value = get(reader, 8);
		break;
	case LINK_MESSAGE_LEFT:
		message->lane = (u32)get(reader, 4);
		message->owners = (u32)get(reader, 4);
		message->controls = (u32)get(reader, 4);
		return message->lane < LINK_LANES_MAX ? 0 : -EPROTO;
	}
	return 0;
}

int link_message_decode(struct link_message *message, const u8 *data, u32 length)
{
	struct reader reader = { .data = data };
	u32 size;

	if (length < HEAD_SIZE || get(&reader, 1) != LINK_VERSION)
		return -EPROTO;
	message->type = (u8)get(&reader, 1);
	message->flags = (u8)get(&reader, 1);
	reader.at++;
	message->control = (u32)get(&reader, 4);
	message->notify = (u32)get(&reader, 4);
	message->grants = (u32)get(&reader, 4);
	size = size_of(message->type);
	if (!size || length < size)
		return -EPROTO;
	return get_rest(message, &reader, length);
}
