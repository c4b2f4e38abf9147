/* SPDX-License-Identifier: GPL-2.0 */
/* Arithmetic of a connection: chunks, credits, signals, timers. Pure. */
#ifndef PEERLANE_LINK_MATH_H
#define PEERLANE_LINK_MATH_H

#include <linux/kernel.h>

/**
 * struct link_geometry - how an exposure is cut into keys
 * @length: of all
 * @first: bytes of the first key, less than the others' if it begins within one
 * @chunk: bytes of each other
 */
struct link_geometry {
	u64 length;
	u64 first;
	u64 chunk;
};

/* Keys of @pages pages each, the first one beginning at @offset. */
static inline struct link_geometry
link_geometry_make(u64 offset, u64 length, u32 pages, u32 page_shift)
{
	u64 chunk = (u64)pages << page_shift;
	u64 within = offset & (((u64)1 << page_shift) - 1);
	u64 first = chunk - within;

	return (struct link_geometry){
		.length = length,
		.first = first < length ? first : length,
		.chunk = chunk,
	};
}

static inline u64 link_geometry_chunks(const struct link_geometry *geometry)
{
	u64 rest = geometry->length - geometry->first;

	return 1 + (rest ? (rest - 1) / geometry->chunk + 1 : 0);
}

/* First byte of key @index. */
static inline u64 link_geometry_begin(const struct link_geometry *geometry,
				      u64 index)
{
	return index ? geometry->first + (index - 1) * geometry->chunk : 0;
}

/* Key that has byte @offset, which is within. */
static inline u64 link_geometry_index(const struct link_geometry *geometry,
				      u64 offset)
{
	if (offset < geometry->first)
		return 0;
	return 1 + (offset - geometry->first) / geometry->chunk;
}

/* Bytes from @offset to the end of its key. */
static inline u64 link_geometry_left(const struct link_geometry *geometry,
				     u64 offset)
{
	u64 index = link_geometry_index(geometry, offset);
	u64 end = link_geometry_begin(geometry, index + 1);

	return (end < geometry->length ? end : geometry->length) - offset;
}

/* Keys are of a few sizes: of 1, 8, 64 or 512 pages. */
#define LINK_KEY_SIZES	4

static inline u32 link_key_size_pages(u32 size)
{
	return 1U << 3 * size;
}

/* The smallest that has @pages, which is no more than the largest has. */
static inline u32 link_key_size(u32 pages)
{
	u32 size = 0;

	while (size < LINK_KEY_SIZES - 1 && link_key_size_pages(size) < pages)
		size++;
	return size;
}

/**
 * struct link_credit - what may be sent to the peer
 * @limit: unanswered ones that it has room for
 * @sent: so far
 * @done: the peer has dealt with, by its last word
 */
struct link_credit {
	u32 limit;
	u32 sent;
	u32 done;
};

static inline u32 link_credit_left(const struct link_credit *credit)
{
	return credit->limit - (credit->sent - credit->done);
}

/* Lanes overtake each other: an older word is none. */
static inline bool link_credit_is_old(const struct link_credit *credit, u32 done)
{
	return (s32)(done - credit->done) < 0;
}

/* The peer says that it has dealt with @done. False: it cannot have. */
static inline bool link_credit_may_be(const struct link_credit *credit, u32 done)
{
	return link_credit_is_old(credit, done) ||
	       done - credit->done <= credit->sent - credit->done;
}

/* False, as above: nothing has changed. */
static inline bool link_credit_return(struct link_credit *credit, u32 done)
{
	if (!link_credit_may_be(credit, done))
		return false;
	if (!link_credit_is_old(credit, done))
		credit->done = done;
	return true;
}

/* Completions that are asked for: not of each small request. */
#define LINK_SIGNAL_BYTES	(64U << 10)
#define LINK_SIGNAL_REQUESTS	16

static inline bool link_wants_signal(u32 requests, u64 bytes)
{
	return requests >= LINK_SIGNAL_REQUESTS || bytes >= LINK_SIGNAL_BYTES;
}

/*
 * Exponent of a local ACK timeout (4.096 us << n) of which eight, the tries of
 * one request, are no longer than @timeout_ms.
 */
static inline u8 link_ack_timeout(u32 timeout_ms)
{
	u64 ns = (u64)timeout_ms * 1000000 / 8;
	u8 exponent = 1;

	while (exponent < 31 && (4096ULL << (exponent + 1)) <= ns)
		exponent++;
	return exponent;
}

#endif /* PEERLANE_LINK_MATH_H */
