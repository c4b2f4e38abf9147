// SPDX-License-Identifier: GPL-2.0
/*
 * Buckets of tensors: that ranks agree about them, in which order they are begun,
 * and what becomes of errors.
 */
#include "lib_fake_group.h"

#include "bucket.h"

#define COOKIE	1000

static const uint64_t four[] = { 10, 20, 30, 40 };

#define OPTIONS(...) ((struct peerlane_bucket_options){			\
	.size = sizeof(struct peerlane_bucket_options), .counts = four,	\
	.tensors = 4, .type = PEERLANE_F32, .cookie = COOKIE, __VA_ARGS__ })

/* ---- agreeing ------------------------------------------------------------------- */

static struct peerlane_group_info status;
static uint64_t *prints;
static uint64_t others, told;

static void fill_status(void *arg)
{
	const struct peerlane_list *list = arg;

	memcpy((void *)(uintptr_t)list->array_ptr, &status, sizeof(status));
}

static void fill_pin(void *arg)
{
	struct peerlane_pin_host *pin = arg;

	pin->out_fd = next_fd;
	prints = (void *)(uintptr_t)pin->addr;
}

/* Ranks 1 and on say what @others is; 0: the same as rank 0 */
static void fill_gather(void *arg)
{
	uint32_t i;

	fill_submit(arg);
	told = prints[0];
	for (i = 1; i < status.ranks; i++)
		prints[i] = others ? others : prints[0];
}

/* What create() asks of the kernel; @slots are taken. */
static void plan_agree(uint32_t ranks, int slots)
{
	status = (struct peerlane_group_info){ .ranks = ranks };
	fake_ioctl(PEERLANE_IOC_GROUP_INFO, 0, .fill = fill_status);
	next_fd = fake_file(0);
	fake_ioctl(PEERLANE_IOC_PIN_HOST, 0, .fill = fill_pin);
	fake_info(PEERLANE_KIND_HOST, PEERLANE_STATE_ACTIVE, 0, 4096);
	while (slots--)
		fake_ioctl(PEERLANE_IOC_GROUP_BIND, 0, EBUSY);
	fake_ioctl(PEERLANE_IOC_GROUP_BIND, 0);
	plan(1);
	fake.calls[fake.planned - 1].fill = fill_gather;
	done(UINT64_MAX, 0);
	fake_ioctl(PEERLANE_IOC_GROUP_BIND, 0);
}

static struct peerlane_bucket *bucket;

static int create(struct peerlane_bucket_options options)
{
	return peerlane_bucket_create(group, &options, &bucket);
}

static void ranks_agree_in_a_free_slot(void)
{
	begin();
	others = 0;
	plan_agree(3, 2);
	CHECK_INT(create(OPTIONS()), 0);
	CHECK_INT(script[7].op.kind, PEERLANE_GROUP_ALL_GATHER);
	CHECK_INT(script[7].op.count, 1);
	CHECK_INT(script[7].op.send_slot, 2);
	CHECK_INT(script[7].op.receive_slot, 2);
	CHECK_INT(fake.seen[8].bind.region_fd, -1);
	peerlane_bucket_close(bucket);
	end();
}

static void a_rank_with_other_tensors_is_named(void)
{
	bucket = NULL;
	begin();
	others = 12345;
	plan_agree(3, 0);
	CHECK_INT(create(OPTIONS()), -EBADE);
	CHECK_HAS(peerlane_strerror(), "rank 0 was told other tensors than rank 1");
	CHECK(!bucket);
	plan_agree(2, 0);
	CHECK_INT(create(OPTIONS()), -EBADE);
	CHECK_HAS(peerlane_strerror(), "rank 1 was told other tensors than rank 0");
	others = 0;
	end();
}

static void no_free_slot_is_said(void)
{
	begin();
	status = (struct peerlane_group_info){ .ranks = 2 };
	fake_ioctl(PEERLANE_IOC_GROUP_INFO, 0, .fill = fill_status);
	next_fd = fake_file(0);
	fake_ioctl(PEERLANE_IOC_PIN_HOST, 0, .fill = fill_pin);
	fake_info(PEERLANE_KIND_HOST, PEERLANE_STATE_ACTIVE, 0, 4096);
	fake_ioctl(PEERLANE_IOC_GROUP_BIND, 0, EBUSY);
	fake_ioctl(PEERLANE_IOC_GROUP_BIND, 0, EINVAL);
	CHECK_INT(create(OPTIONS()), -ENOSPC);
	CHECK_HAS(peerlane_strerror(), "all 1 slots");
	end();
}

static void a_failing_kernel_leaves_nothing(void)
{
	begin();
	fake_ioctl(PEERLANE_IOC_GROUP_INFO, 0, EIO);
	CHECK_INT(create(OPTIONS()), -EIO);
	status = (struct peerlane_group_info){ .ranks = 2 };
	fake_ioctl(PEERLANE_IOC_GROUP_INFO, 0, .fill = fill_status);
	fake_ioctl(PEERLANE_IOC_PIN_HOST, 0, ENOMEM, "RLIMIT_MEMLOCK");
	CHECK_INT(create(OPTIONS()), -ENOMEM);
	fake_ioctl(PEERLANE_IOC_GROUP_INFO, 0, .fill = fill_status);
	next_fd = fake_file(0);
	fake_ioctl(PEERLANE_IOC_PIN_HOST, 0, .fill = fill_pin);
	fake_info(PEERLANE_KIND_HOST, PEERLANE_STATE_ACTIVE, 0, 4096);
	fake_ioctl(PEERLANE_IOC_GROUP_BIND, 0);
	fake_ioctl(PEERLANE_IOC_GROUP_SUBMIT, 0, ENOTCONN, "not joined");
	fake_ioctl(PEERLANE_IOC_GROUP_BIND, 0);
	CHECK_INT(create(OPTIONS()), -ENOTCONN);
	CHECK_HAS(peerlane_strerror(), "not joined");
	for (int i = 1; i <= 4; i++) {
		fake.calloc_fail = i;
		if (i > 1)	/* the others hear of it */
			plan_agree(2, 0);
		CHECK_INT(create(OPTIONS()), -ENOMEM);
	}
	end();
}

static void what_is_refused_here_is_told_to_all(void)
{
	begin();
	others = 12345;
	told = 1;
	plan_agree(2, 0);
	CHECK_INT(create(OPTIONS(.align = 3)), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "alignment 3");
	CHECK_INT(told, 0);
	others = 0;
	end();
}

/* ---- one after another -------------------------------------------------------------- */

/* Three buckets: of tensors 0 and 1, 2, and 3 */
static void begin_three(void)
{
	begin();
	plan_agree(2, 0);
	CHECK_INT(create(OPTIONS(.bytes = 120, .send_slot = 3, .receive_slot = 4,
				 .send_offset = 4096, .receive_offset = 8192)), 0);
}

static void end_three(void)
{
	peerlane_bucket_close(bucket);
	end();
}

static int ready(uint32_t tensor)
{
	return peerlane_bucket_ready(bucket, tensor);
}

static void ready_begins(uint32_t tensor, int calls)
{
	while (calls--)
		plan(1);
	CHECK_INT(ready(tensor), 0);
	CHECK_INT(fake.played, fake.planned);
}

static void all_ready(void)
{
	ready_begins(0, 0);
	ready_begins(1, 1);
	ready_begins(2, 1);
	ready_begins(3, 1);
}

static void a_full_bucket_is_begun_at_once(void)
{
	const struct peerlane_group_op *op;

	begin_three();
	ready_begins(1, 0);
	ready_begins(0, 1);
	op = &script[fake.played - 1].op;
	CHECK_INT(op->kind, PEERLANE_GROUP_ALL_REDUCE);
	CHECK_INT(op->type, PEERLANE_F32);
	CHECK_INT(op->op, PEERLANE_AVG);
	CHECK_INT(op->count, 30);
	CHECK_INT(op->send_slot, 3);
	CHECK_INT(op->receive_slot, 4);
	CHECK_INT(op->send_offset, 4096);
	CHECK_INT(op->receive_offset, 8192);
	CHECK_INT(op->cookie, COOKIE);
	ready_begins(2, 1);
	op = &script[fake.played - 1].op;
	CHECK_INT(op->count, 30);
	CHECK_INT(op->send_offset, 4096 + 120);
	CHECK_INT(op->receive_offset, 8192 + 120);
	CHECK_INT(op->cookie, COOKIE + 1);
	end_three();
}

static void buckets_keep_their_order(void)
{
	int first;

	begin_three();
	ready_begins(3, 0);
	ready_begins(2, 0);
	ready_begins(0, 0);
	first = fake.played;
	ready_begins(1, 3);
	for (int i = 0; i < 3; i++)
		CHECK_INT(script[first + i].op.cookie, COOKIE + i);
	end_three();
}

static void finish_waits_for_all(void)
{
	begin_three();
	for (int round = 0; round < 2; round++) {
		all_ready();
		plan(0);
		done(COOKIE + 2, 0);
		done(COOKIE, 0);
		plan(0);
		done(COOKIE + 1, 0);
		CHECK_INT(peerlane_bucket_finish(bucket, -1), 0);
		CHECK_STR(peerlane_strerror(), "");
	}
	end_three();
}

static void one_may_be_waited_for(void)
{
	begin_three();
	CHECK_INT(peerlane_bucket_wait(bucket, 0, -1), -ENODATA);
	CHECK_HAS(peerlane_strerror(), "tensor 0 of 4 is not ready");
	CHECK_INT(peerlane_bucket_wait(bucket, 4, -1), -EINVAL);
	ready_begins(0, 0);
	ready_begins(1, 1);
	plan(0);
	CHECK_INT(peerlane_bucket_wait(bucket, 1, 0), -EAGAIN);
	plan(0);
	done(COOKIE, 0);
	CHECK_INT(peerlane_bucket_wait(bucket, 1, -1), 0);
	/* told once, known from then on */
	CHECK_INT(peerlane_bucket_wait(bucket, 0, -1), 0);
	CHECK_INT(peerlane_bucket_wait(bucket, 3, -1), -ENODATA);
	ready_begins(2, 1);
	ready_begins(3, 1);
	plan(0);
	done(COOKIE + 1, 0);
	done(COOKIE + 2, 0);
	CHECK_INT(peerlane_bucket_finish(bucket, -1), 0);
	end_three();
}

/* ---- what goes wrong ------------------------------------------------------------------ */

static void tensors_are_ready_once(void)
{
	begin_three();
	ready_begins(0, 0);
	CHECK_INT(ready(0), -EALREADY);
	CHECK_INT(ready(4), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "from 0 to 3");
	CHECK_INT(peerlane_bucket_finish(bucket, -1), -ENODATA);
	CHECK_HAS(peerlane_strerror(), "tensor 1 of 4 is not ready");
	/* and nothing has changed */
	ready_begins(1, 1);
	end_three();
}

static void without_room_it_is_begun_later(void)
{
	begin_three();
	ready_begins(0, 0);
	ready_begins(1, 1);
	/* no room, and the first has not ended */
	fake_ioctl(PEERLANE_IOC_GROUP_SUBMIT, 0, EAGAIN, "no room");
	plan(0);
	CHECK_INT(ready(2), 0);
	CHECK_STR(peerlane_strerror(), "");
	/* no room, but it has; then there is some for one more */
	fake_ioctl(PEERLANE_IOC_GROUP_SUBMIT, 0, EAGAIN, "no room");
	plan(0);
	done(COOKIE, 0);
	plan(1);
	fake_ioctl(PEERLANE_IOC_GROUP_SUBMIT, 0, EAGAIN, "no room");
	plan(0);
	CHECK_INT(ready(3), 0);
	/* in the end it is waited for */
	fake_ioctl(PEERLANE_IOC_GROUP_SUBMIT, 0, EAGAIN, "no room");
	plan(0);
	done(COOKIE + 1, 0);
	plan(1);
	plan(0);
	done(COOKIE + 2, 0);
	CHECK_INT(peerlane_bucket_finish(bucket, -1), 0);
	CHECK_INT(fake.seen[fake.played - 4].collect.timeout_ns, 0);
	CHECK_INT(fake.seen[fake.played - 3].collect.timeout_ns, -1);
	end_three();
}

static void room_that_others_have_is_not_waited_for(void)
{
	begin_three();
	ready_begins(0, 0);
	fake_ioctl(PEERLANE_IOC_GROUP_SUBMIT, 0, EAGAIN, "no room");
	CHECK_INT(ready(1), 0);
	fake_ioctl(PEERLANE_IOC_GROUP_SUBMIT, 0, EAGAIN, "no room");
	CHECK_INT(peerlane_bucket_wait(bucket, 0, -1), -EAGAIN);
	CHECK_STR(peerlane_strerror(), "submit: no room (EAGAIN)");
	end_three();
}

static void finish_can_be_called_again(void)
{
	begin_three();
	all_ready();
	plan(0);
	CHECK_INT(peerlane_bucket_finish(bucket, 0), -EAGAIN);
	plan(0);
	done(COOKIE, 0);
	plan(0);
	CHECK_INT(peerlane_bucket_finish(bucket, -1), -EINTR);
	plan(0);
	done(COOKIE + 1, 0);
	done(COOKIE + 2, 0);
	CHECK_INT(peerlane_bucket_finish(bucket, -1), 0);
	end_three();
}

static void fill_words(void *arg)
{
	strcpy(status.text, "rank 3 is late in operation 1100");
	fill_status(arg);
}

/* All are waited for, though the first has failed. */
static void an_error_ends_all_of_them(void)
{
	begin_three();
	all_ready();
	plan(0);
	done(COOKIE, -ETIMEDOUT);
	fake_ioctl(PEERLANE_IOC_GROUP_INFO, 0, .fill = fill_words);
	plan(0);
	done(COOKIE + 1, -ETIMEDOUT);
	fake_ioctl(PEERLANE_IOC_GROUP_INFO, 0, EIO);
	plan(0);
	done(COOKIE + 2, -ETIMEDOUT);
	fake_ioctl(PEERLANE_IOC_GROUP_INFO, 0, EIO);
	CHECK_INT(peerlane_bucket_finish(bucket, -1), -ETIMEDOUT);
	CHECK_STR(peerlane_strerror(),
		  "operation 1100: rank 3 is late in operation 1100 (ETIMEDOUT)");
	end_three();
}

static void an_error_is_not_forgotten(void)
{
	begin_three();
	ready_begins(0, 0);
	ready_begins(1, 1);
	plan(0);
	done(COOKIE, -ECONNRESET);
	fake_ioctl(PEERLANE_IOC_GROUP_INFO, 0, .fill = fill_words);
	CHECK_INT(peerlane_bucket_wait(bucket, 0, -1), -ECONNRESET);
	CHECK_INT(peerlane_bucket_wait(bucket, 1, -1), -ECONNRESET);
	CHECK_HAS(peerlane_strerror(), "rank 3");
	/* nothing is begun behind it */
	CHECK_INT(ready(2), -ECONNRESET);
	CHECK_INT(peerlane_bucket_finish(bucket, -1), -ECONNRESET);
	CHECK_HAS(peerlane_strerror(), "rank 3");
	end_three();
}

static void a_group_that_is_over_counts_more_than_a_tensor_that_is_missing(void)
{
	begin_three();
	ready_begins(0, 0);
	fake_ioctl(PEERLANE_IOC_GROUP_SUBMIT, 0, ENOTCONN,
		   "the group ended: rank 2 left");
	CHECK_INT(ready(1), -ENOTCONN);
	CHECK_INT(peerlane_bucket_finish(bucket, -1), -ENOTCONN);
	CHECK_HAS(peerlane_strerror(), "rank 2");
	end_three();
}

static void what_cannot_be_begun_is_tried_again(void)
{
	begin_three();
	ready_begins(0, 0);
	fake_ioctl(PEERLANE_IOC_GROUP_SUBMIT, 0, EINVAL, "slot 3 is empty");
	CHECK_INT(ready(1), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "slot 3 is empty");
	ready_begins(2, 2);
	fake_ioctl(PEERLANE_IOC_GROUP_SUBMIT, 0, ENODEV, "gone");
	CHECK_INT(ready(3), -ENODEV);
	/* those that were begun are waited for */
	fake_ioctl(PEERLANE_IOC_GROUP_SUBMIT, 0, ENODEV, "gone");
	plan(0);
	done(COOKIE, 0);
	done(COOKIE + 1, 0);
	CHECK_INT(peerlane_bucket_finish(bucket, -1), -ENODEV);
	CHECK_HAS(peerlane_strerror(), "gone");
	plan(1);
	plan(0);
	done(COOKIE + 2, 0);
	CHECK_INT(peerlane_bucket_finish(bucket, -1), 0);
	end_three();
}

static const struct tap_case cases[] = {
	TAP_CASE(ranks_agree_in_a_free_slot),
	TAP_CASE(a_rank_with_other_tensors_is_named),
	TAP_CASE(no_free_slot_is_said), TAP_CASE(a_failing_kernel_leaves_nothing),
	TAP_CASE(a_full_bucket_is_begun_at_once),
	TAP_CASE(buckets_keep_their_order), TAP_CASE(finish_waits_for_all),
	TAP_CASE(one_may_be_waited_for), TAP_CASE(tensors_are_ready_once),
	TAP_CASE(without_room_it_is_begun_later),
	TAP_CASE(what_is_refused_here_is_told_to_all),
	TAP_CASE(room_that_others_have_is_not_waited_for),
	TAP_CASE(finish_can_be_called_again),
	TAP_CASE(an_error_ends_all_of_them), TAP_CASE(an_error_is_not_forgotten),
	TAP_CASE(a_group_that_is_over_counts_more_than_a_tensor_that_is_missing),
	TAP_CASE(what_cannot_be_begun_is_tried_again),
};

int main(void)
{
	return TAP_RUN(cases);
}
