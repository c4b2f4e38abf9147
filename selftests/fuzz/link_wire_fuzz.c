// SPDX-License-Identifier: GPL-2.0
/*
 * What the other kernel may say: private data and messages, of any bytes.
 * Nothing is read beyond them; what is understood means one thing only; and the
 * keys of an exposure are as many as its bytes need, since by them an array is
 * indexed.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "link_math.h"
#include "link_wire.h"

#define MUST(what) do { if (!(what)) __builtin_trap(); } while (0)

static void check_key(const struct link_message *message,
		      const struct link_geometry *geometry, u64 offset)
{
	u64 index = link_geometry_index(geometry, offset);
	u64 begin, left;

	MUST(index < message->chunks);
	begin = link_geometry_begin(geometry, index);
	left = link_geometry_left(geometry, offset);
	MUST(begin <= offset && left && left <= geometry->length - offset);
	MUST(offset - begin + left <= (index ? geometry->chunk : geometry->first));
}

static void check_expose(const struct link_message *message)
{
	struct link_geometry geometry = {
		.length = message->length, .first = message->first,
		.chunk = message->chunk,
	};

	MUST(message->count && message->count <= LINK_CHUNKS_PER_MESSAGE);
	MUST((u64)message->index + message->count <= message->chunks);
	check_key(message, &geometry, 0);
	check_key(message, &geometry, message->length - 1);
	check_key(message, &geometry, message->first - 1);
	if (message->first < message->length)
		check_key(message, &geometry, message->first);
	check_key(message, &geometry, message->value % message->length);
	/* The last key has something of it. */
	MUST(link_geometry_index(&geometry, message->length - 1) ==
	     message->chunks - 1);
}

static void check_message(const u8 *data, u32 length)
{
	static struct link_message message, again;
	u8 bytes[LINK_MESSAGE_MAX];
	u32 size;

	memset(&message, 0, sizeof(message));
	memset(&again, 0, sizeof(again));
	if (link_message_decode(&message, data, length))
		return;
	if (message.type == LINK_MESSAGE_EXPOSE)
		check_expose(&message);
	size = link_message_encode(&message, bytes);
	MUST(size <= length && size <= LINK_MESSAGE_MAX);
	MUST(size <= LINK_MESSAGE_SMALL || message.type == LINK_MESSAGE_EXPOSE ||
	     (message.type == LINK_MESSAGE_OWNER && size <= LINK_MESSAGE_MEDIUM));
	MUST(!link_message_decode(&again, bytes, size));
	MUST(!memcmp(&message, &again, sizeof(message)));
}

static void check_hello(const u8 *data, u32 length)
{
	struct link_hello hello = {}, again = {};
	u8 bytes[LINK_HELLO_SIZE];

	link_refusal_decode(data, length);
	if (link_hello_decode(&hello, data, length))
		return;
	MUST(hello.lanes && hello.lanes <= LINK_LANES_MAX && hello.lane < hello.lanes);
	MUST(hello.id && hello.notify && hello.timeout_ms);
	link_hello_encode(&hello, bytes);
	MUST(!link_hello_decode(&again, bytes, sizeof(bytes)));
	MUST(!memcmp(&hello, &again, sizeof(hello)));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 *copy;

	if (size > LINK_MESSAGE_MAX)
		return 0;
	/* Exactly so long: a byte more is found. */
	copy = malloc(size ?: 1);
	memcpy(copy, data, size);
	check_message(copy, (u32)size);
	check_hello(copy, (u32)size);
	free(copy);
	return 0;
}
