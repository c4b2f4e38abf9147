/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* Shared by the files of buckets. */
#ifndef PEERLANE_BUCKET_PRIVATE_H
#define PEERLANE_BUCKET_PRIVATE_H

#include "private.h"

/**
 * struct pl_bucket_part - one bucket
 * @offset: bytes from the first tensor
 * @count: elements
 * @tensors: that it has
 * @missing: that are not ready
 * @has_ended: its end was told
 * @status: and was this: 0 or a negative errno
 */
struct pl_bucket_part {
	uint64_t offset;
	uint64_t count;
	uint32_t tensors;
	uint32_t missing;
	bool has_ended;
	int status;
};

/**
 * struct pl_bucket_layout - where tensors are
 * @places: of each of the options' tensors
 * @parts: @count buckets
 * @bytes: of all
 */
struct pl_bucket_layout {
	struct peerlane_bucket_place *places;
	struct pl_bucket_part *parts;
	uint32_t count;
	uint64_t bytes;
};

/* bucket_layout.c: what is zero is as it is by default then */
int pl_bucket_options(struct peerlane_bucket_options *own,
		      const struct peerlane_bucket_options *options);
int pl_bucket_layout(const struct peerlane_bucket_options *own,
		     struct pl_bucket_layout *layout);
void pl_bucket_layout_free(struct pl_bucket_layout *layout);

/*
 * bucket_agree.c: all ranks have the same; an operation of all. @own: NULL if this
 * rank's were refused
 */
int pl_bucket_agree(struct peerlane_group *group,
		    const struct peerlane_bucket_options *own);
uint64_t pl_bucket_fingerprint(const struct peerlane_bucket_options *own);
/* The first of @ranks that is not as most are; @ranks: none */
uint32_t pl_bucket_odd(const uint64_t *fingerprints, uint32_t ranks);

#endif /* PEERLANE_BUCKET_PRIVATE_H */
