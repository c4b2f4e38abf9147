/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Buckets: many tensors, summed up by few operations while others are computed.
 * The rules of <peerlane.h> hold.
 */
#ifndef LIBPEERLANE_BUCKET_H
#define LIBPEERLANE_BUCKET_H

#include <peerlane/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct peerlane_group;
struct peerlane_bucket;

#define PEERLANE_BUCKET_TENSORS	(1U << 20)	/* at most */

/**
 * struct peerlane_bucket_options - tensors that are summed up again and again
 * @size: sizeof(struct peerlane_bucket_options)
 * @counts: elements of each tensor, in the order in which they usually become
 *	ready; read by the call only
 * @tensors: how many there are, 1 to PEERLANE_BUCKET_TENSORS
 * @type: enum peerlane_element, of all
 * @op: enum peerlane_combination; 0: PEERLANE_AVG
 * @align: bytes, a power of two: each tensor begins at a multiple of it, counted
 *	from the first one; 0: they lie one behind the other. What is between them
 *	is summed up too, and undefined afterwards
 * @bytes: a bucket is full with so many or more; 0: 25 MiB. A bucket has whole
 *	tensors: one more if that makes it full, so a large one may be alone
 * @first_bytes: the same of the first bucket, so that something is under way
 *	early; 0: as @bytes
 * @send_slot: where the tensors are, from @send_offset on
 * @receive_slot: where the results go, from @receive_offset on; in place where
 *	both are the same
 * @send_offset: bytes
 * @receive_offset: bytes
 * @cookie: of the first bucket's operation; those of the others follow
 *
 * All of it is the same on all ranks, but for slots, offsets and cookie.
 */
struct peerlane_bucket_options {
	size_t size;
	const uint64_t *counts;
	uint32_t tensors;
	uint32_t type;
	uint32_t op;
	uint32_t align;
	uint64_t bytes;
	uint64_t first_bytes;
	uint32_t send_slot;
	uint32_t receive_slot;
	uint64_t send_offset;
	uint64_t receive_offset;
	uint64_t cookie;
};

/**
 * struct peerlane_bucket_place - where a tensor is
 * @offset: bytes, from the first tensor
 * @bucket: that it is summed up with, from 0
 */
struct peerlane_bucket_place {
	uint64_t offset;
	uint32_t bucket;
};

/**
 * peerlane_bucket_layout() - how tensors are placed, before there is a group
 * @options: type, counts, alignment and sizes; the rest is not looked at
 * @places: filled, one of each tensor; may be NULL
 * @bytes: set: from the first tensor to the end of the last one
 * @buckets: set: how many there are
 *
 * Return: 0; -EINVAL @options; -EOVERFLOW more bytes than 64 bits can say;
 * -E2BIG @options has what this library does not know; -ENOMEM.
 */
PEERLANE_API int
peerlane_bucket_layout(const struct peerlane_bucket_options *options,
		       struct peerlane_bucket_place *places, uint64_t *bytes,
		       uint32_t *buckets);

/**
 * peerlane_bucket_create() - agree with all other ranks about tensors
 * @group: joined; stays the caller's, and is closed later than @bucket
 * @options: see there
 * @bucket: set; released with peerlane_bucket_close()
 *
 * All ranks call it, as if it was an operation: it is one, an all-gather by
 * which they compare what each was told. A slot has to be free meanwhile, and a
 * few pages are charged to RLIMIT_MEMLOCK. A rank whose @options are refused takes
 * part all the same, so that the others hear of it. Return: 0; -EBADE a rank was
 * told something else, or what was refused there, and peerlane_strerror() names it;
 * -ENOSPC no slot is free; as
 * peerlane_bucket_layout(), peerlane_region_host() and peerlane_group_run().
 */
PEERLANE_API int
peerlane_bucket_create(struct peerlane_group *group,
		       const struct peerlane_bucket_options *options,
		       struct peerlane_bucket **bucket);

/**
 * peerlane_bucket_ready() - this rank's part of a tensor is complete
 * @bucket: of it
 * @tensor: its index, from 0
 *
 * Ranks may say so in different order: the operations of full buckets are begun
 * in the buckets' order, each as soon as the ones before are, and nothing is
 * waited for. Until peerlane_bucket_wait() or _finish() returns 0 the memory
 * belongs to the group. Between the first of these calls and the end of
 * peerlane_bucket_finish(), nobody else begins operations of the group: which
 * of them came first would not be the same on all ranks. If the group has no
 * room, the operation is begun by one of the next calls. Return: 0; -EINVAL no
 * such tensor; -EALREADY it is ready; as peerlane_group_submit() otherwise: the
 * tensor is ready, the next call tries again.
 */
PEERLANE_API int peerlane_bucket_ready(struct peerlane_bucket *bucket,
				       uint32_t tensor);

/**
 * peerlane_bucket_wait() - until the result of a tensor is there
 * @bucket: of it
 * @tensor: its index
 * @timeout: ms; -1 none
 *
 * For who goes on with one while others are under way. Return: 0; -EINVAL no
 * such tensor; -ENODATA its bucket, or one before, has a tensor that is not
 * ready: all of it is waited for by peerlane_bucket_finish(); as
 * peerlane_group_wait() and _submit().
 */
PEERLANE_API int peerlane_bucket_wait(struct peerlane_bucket *bucket,
				      uint32_t tensor, int timeout);

/**
 * peerlane_bucket_finish() - until all results are there
 * @bucket: all tensors of it are ready
 * @timeout: ms, for all of it; -1 none: the group's own timeouts end it
 *
 * After 0 no tensor is ready, for the next round. After an operation's error,
 * which is that of the group, none of the operations is under way any more.
 * Return: 0; the operation's error, with its reason; -ENOTCONN the group is over,
 * also if a tensor is not ready; -ENODATA a tensor is not ready, and nothing has
 * changed; -EAGAIN not in time, -EINTR a signal came: it
 * goes on, and is called again; as peerlane_group_submit().
 */
PEERLANE_API int peerlane_bucket_finish(struct peerlane_bucket *bucket,
					int timeout);

/**
 * peerlane_bucket_close() - let go of it; @bucket may be NULL
 *
 * Operations that are under way go on until the group is closed.
 */
PEERLANE_API void peerlane_bucket_close(struct peerlane_bucket *bucket);

#ifdef __cplusplus
}
#endif

#endif /* LIBPEERLANE_BUCKET_H */
