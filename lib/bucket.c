// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Buckets: begun in their order when they are full, and waited for. */
#include <errno.h>
#include <stdlib.h>

#include "bucket.h"
#include "clock.h"

/**
 * struct peerlane_bucket - one rank's tensors
 * @group: the caller's
 * @options: complete; its counts are the caller's, and not used any more
 * @layout: of them
 * @is_ready: of each tensor
 * @missing: tensors that are not ready
 * @begun: buckets whose operation was begun
 * @error: of the first of them that ended with one: a negative errno, or 0
 * @why: its words
 */
struct peerlane_bucket {
	struct peerlane_group *group;
	struct peerlane_bucket_options options;
	struct pl_bucket_layout layout;
	bool *is_ready;
	uint32_t missing;
	uint32_t begun;
	int error;
	char why[PL_TEXT_MAX];
};

/* ---- made and ended ------------------------------------------------------------ */

/* Nothing is ready. */
static void begin_round(struct peerlane_bucket *bucket)
{
	uint32_t i;

	for (i = 0; i < bucket->layout.count; i++) {
		struct pl_bucket_part *part = &bucket->layout.parts[i];

		part->missing = part->tensors;
		part->has_ended = false;
		part->status = 0;
	}
	memset(bucket->is_ready, 0,
	       bucket->options.tensors * sizeof(*bucket->is_ready));
	bucket->missing = bucket->options.tensors;
	bucket->begun = 0;
	bucket->error = 0;
}

void peerlane_bucket_close(struct peerlane_bucket *bucket)
{
	if (!bucket)
		return;
	pl_bucket_layout_free(&bucket->layout);
	free(bucket->is_ready);
	free(bucket);
}

static int understand(struct peerlane_bucket *bucket,
		      const struct peerlane_bucket_options *options)
{
	int ret = pl_bucket_options(&bucket->options, options);

	if (!ret)
		ret = pl_bucket_layout(&bucket->options, &bucket->layout);
	if (ret)
		return ret;
	bucket->is_ready = calloc(bucket->options.tensors,
				  sizeof(*bucket->is_ready));
	if (!bucket->is_ready)
		return pl_fail(ENOMEM, "buckets");
	begin_round(bucket);
	return 0;
}

/* Others wait for this rank's word, also where that is a refusal. */
static int fill(struct peerlane_bucket *bucket,
		const struct peerlane_bucket_options *options)
{
	int ret = understand(bucket, options);
	char text[PL_TEXT_MAX];

	if (!ret)
		return pl_bucket_agree(bucket->group, &bucket->options);
	pl_text_keep(text);
	pl_bucket_agree(bucket->group, NULL);
	pl_text_put(text);
	return ret;
}

int peerlane_bucket_create(struct peerlane_group *group,
			   const struct peerlane_bucket_options *options,
			   struct peerlane_bucket **bucket)
{
	struct peerlane_bucket *new;
	int ret;

	pl_clear();
	new = calloc(1, sizeof(*new));
	if (!new)
		return pl_fail(ENOMEM, "buckets");
	new->group = group;
	ret = fill(new, options);
	if (ret) {
		peerlane_bucket_close(new);
		return ret;
	}
	new->options.counts = NULL;
	*bucket = new;
	return 0;
}

/* ---- one bucket ------------------------------------------------------------------ */

static uint64_t cookie_of(const struct peerlane_bucket *bucket, uint32_t index)
{
	return bucket->options.cookie + index;
}

static int begin_one(struct peerlane_bucket *bucket, uint32_t index)
{
	const struct peerlane_bucket_options *options = &bucket->options;
	const struct pl_bucket_part *part = &bucket->layout.parts[index];
	const struct peerlane_collective sum = {
		.kind = PEERLANE_ALL_REDUCE, .type = (uint8_t)options->type,
		.op = (uint8_t)options->op, .count = part->count,
		.send_slot = options->send_slot,
		.receive_slot = options->receive_slot,
		.send_offset = options->send_offset + part->offset,
		.receive_offset = options->receive_offset + part->offset,
		.cookie = cookie_of(bucket, index),
	};

	return peerlane_group_submit(bucket->group, &sum, 1, NULL);
}

static int fail_again(const struct peerlane_bucket *bucket)
{
	pl_text_put(bucket->why);
	return bucket->error;
}

/* The first one is the reason for all that come after it, until the next round. */
static void keep_error(struct peerlane_bucket *bucket, int error)
{
	if (bucket->error)
		return;
	bucket->error = error;
	pl_text_keep(bucket->why);
}

/* Its end is told once: what comes later finds it remembered here. */
static int wait_one(struct peerlane_bucket *bucket, uint32_t index, int timeout)
{
	struct pl_bucket_part *part = &bucket->layout.parts[index];
	int ret;

	if (part->has_ended)
		return part->status ? fail_again(bucket) : 0;
	ret = peerlane_group_wait(bucket->group, cookie_of(bucket, index),
				  timeout);
	if (ret == -EAGAIN || ret == -EINTR)
		return ret;
	part->has_ended = true;
	part->status = ret;
	if (ret)
		keep_error(bucket, ret);
	return ret;
}

/* ---- all in order ------------------------------------------------------------------ */

/* The oldest one that is under way, or how many were begun */
static uint32_t oldest(const struct peerlane_bucket *bucket)
{
	uint32_t i = 0;

	while (i < bucket->begun && bucket->layout.parts[i].has_ended)
		i++;
	return i;
}

/*
 * Begin what is full, of the first @count. Where the group has no room, an end
 * that was not taken yet may be what takes it up: wait for the oldest one.
 */
static int begin_full(struct peerlane_bucket *bucket, uint32_t count,
		      int64_t end)
{
	uint32_t index;
	int ret;

	if (bucket->error)
		return fail_again(bucket);
	while (bucket->begun < count &&
	       !bucket->layout.parts[bucket->begun].missing) {
		ret = begin_one(bucket, bucket->begun);
		index = oldest(bucket);
		if (ret == -EAGAIN && index < bucket->begun)
			ret = wait_one(bucket, index, pl_clock_left_ms(end));
		else if (!ret)
			bucket->begun++;
		/* The group is over, also for tensors that are not ready. */
		if (ret == -ENOTCONN)
			keep_error(bucket, ret);
		if (ret)
			return ret;
	}
	return 0;
}

static int check_tensor(const struct peerlane_bucket *bucket, uint32_t tensor)
{
	if (tensor < bucket->options.tensors)
		return 0;
	return pl_fail_text(EINVAL, "there is no tensor %u: they are counted from 0 to %u",
			    tensor, bucket->options.tensors - 1);
}

int peerlane_bucket_ready(struct peerlane_bucket *bucket, uint32_t tensor)
{
	int ret;

	pl_clear();
	ret = check_tensor(bucket, tensor);
	if (ret)
		return ret;
	if (bucket->is_ready[tensor])
		return pl_fail_text(EALREADY, "tensor %u is ready already, this round",
				    tensor);
	bucket->is_ready[tensor] = true;
	bucket->missing--;
	bucket->layout.parts[bucket->layout.places[tensor].bucket].missing--;
	ret = begin_full(bucket, bucket->layout.count, pl_clock_end(0));
	/* Without room, or interrupted: one of the next calls does it. */
	if (ret && ret != -EAGAIN && ret != -EINTR)
		return ret;
	pl_clear();
	return 0;
}

static int not_ready(const struct peerlane_bucket *bucket)
{
	uint32_t i = 0;

	while (bucket->is_ready[i])
		i++;
	return pl_fail_text(ENODATA, "tensor %u of %u is not ready", i,
			    bucket->options.tensors);
}

int peerlane_bucket_wait(struct peerlane_bucket *bucket, uint32_t tensor,
			 int timeout)
{
	int64_t end = pl_clock_end(timeout);
	uint32_t index;
	int ret;

	pl_clear();
	ret = check_tensor(bucket, tensor);
	if (ret)
		return ret;
	index = bucket->layout.places[tensor].bucket;
	if (bucket->begun <= index)
		ret = begin_full(bucket, index + 1, end);
	if (ret)
		return ret;
	/* The first tensor that is missing is in this one, or one before. */
	if (bucket->begun <= index)
		return not_ready(bucket);
	return wait_one(bucket, index, pl_clock_left_ms(end));
}

/* Also behind an error: so that nobody writes the memory any more. */
static int wait_all(struct peerlane_bucket *bucket, int64_t end)
{
	uint32_t i;
	int ret;

	for (i = oldest(bucket); i < bucket->begun; i++) {
		ret = wait_one(bucket, i, pl_clock_left_ms(end));
		if (ret == -EAGAIN || ret == -EINTR)
			return ret;
	}
	return bucket->error ? fail_again(bucket) : 0;
}

int peerlane_bucket_finish(struct peerlane_bucket *bucket, int timeout)
{
	int64_t end = pl_clock_end(timeout);
	char text[PL_TEXT_MAX];
	int ret, ended;

	pl_clear();
	if (bucket->missing && !bucket->error)
		return not_ready(bucket);
	ret = begin_full(bucket, bucket->layout.count, end);
	if (ret == -EAGAIN || ret == -EINTR)
		return ret;
	pl_text_keep(text);
	ended = wait_all(bucket, end);
	if (ended == -EAGAIN || ended == -EINTR)
		return ended;
	/* An operation's error says why the next could not be begun. */
	if (!ended)
		pl_text_put(text);
	ret = ended ? ended : ret;
	/* What could not be begun is tried again, unless the group is over. */
	if (!ret || bucket->error)
		begin_round(bucket);
	return ret;
}
