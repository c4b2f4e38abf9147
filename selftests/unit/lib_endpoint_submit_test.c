// SPDX-License-Identifier: GPL-2.0
/* Work of endpoints, and what is told of it, also by a kernel that is wrong. */
#include "lib_fake.h"

#include <sys/eventfd.h>

static struct peerlane_endpoint_submit answer;

static void fill_submit(void *arg)
{
	struct peerlane_endpoint_submit *submit = arg;

	submit->out_count = answer.out_count;
	submit->out_records_len = answer.out_records_len;
}

static void plan(uint32_t begun, uint32_t filled)
{
	answer.out_count = begun;
	answer.out_records_len = filled;
	fake_ioctl(PEERLANE_IOC_ENDPOINT_SUBMIT,
		   sizeof(struct peerlane_endpoint_submit),
		   .fill = fill_submit);
}

static void submit_and_wait(void)
{
	struct peerlane_work works[3] = { { .code = PEERLANE_WORK_PUT } };
	struct peerlane_endpoint *endpoint;
	uint64_t buffer[24];
	struct peerlane_batch batch = {
		.works = works, .count = 3, .wait = 2,
		.flags = PEERLANE_BATCH_BUSY_POLL, .timeout = -1,
		.notices = { .buffer = buffer, .size = sizeof(buffer),
			     .used = 1, .next = 1 },
	};

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	plan(2, 96);
	CHECK_INT(peerlane_endpoint_submit(endpoint, &batch), 0);
	CHECK_INT(batch.begun, 2);
	CHECK_INT(batch.notices.used, 96);
	CHECK_INT(batch.notices.next, 0);
	CHECK_INT(fake.seen[1].submit.ops_ptr, (uintptr_t)works);
	CHECK_INT(fake.seen[1].submit.count, 3);
	CHECK_INT(fake.seen[1].submit.op_size, sizeof(struct peerlane_op));
	CHECK_INT(fake.seen[1].submit.wait, 2);
	CHECK_INT(fake.seen[1].submit.flags, PEERLANE_SUBMIT_BUSY_POLL);
	CHECK_INT(fake.seen[1].submit.records_ptr, (uintptr_t)buffer);
	CHECK_INT(fake.seen[1].submit.records_len, sizeof(buffer));
	CHECK_INT(fake.seen[1].submit.timeout_ns, -1);
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static void submit_without_room_for_notices(void)
{
	struct peerlane_work work = { .code = PEERLANE_WORK_FLUSH };
	struct peerlane_batch batch = {
		.works = &work, .count = 1, .notices = { .size = 100 },
	};
	struct peerlane_endpoint *endpoint;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	plan(1, 0);
	CHECK_INT(peerlane_endpoint_submit(endpoint, &batch), 0);
	CHECK_INT(fake.seen[1].submit.records_ptr, 0);
	CHECK_INT(fake.seen[1].submit.records_len, 0);
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

/* Whoever waits may want to stop. */
static void submit_is_not_repeated_after_a_signal(void)
{
	struct peerlane_batch batch = { .begun = 7 };
	struct peerlane_endpoint *endpoint;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	fake_ioctl(PEERLANE_IOC_ENDPOINT_SUBMIT, 0, EINTR);
	CHECK_INT(peerlane_endpoint_submit(endpoint, &batch), -EINTR);
	CHECK_INT(batch.begun, 7);
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static void submit_refused(void)
{
	struct peerlane_batch batch = { .begun = 7 };
	struct peerlane_endpoint *endpoint;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	fake_ioctl(PEERLANE_IOC_ENDPOINT_SUBMIT, 0, EINVAL,
		   "operation 0: slot 9 of 4", .fill = fill_submit);
	CHECK_INT(peerlane_endpoint_submit(endpoint, &batch), -EINVAL);
	CHECK_STR(peerlane_strerror(),
		  "submit: operation 0: slot 9 of 4 (EINVAL)");
	CHECK_INT(batch.begun, 7);
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

/* What the kernel says does not lead out of the caller's memory. */
static void submit_of_a_kernel_that_is_wrong(void)
{
	struct peerlane_work work = { .code = PEERLANE_WORK_PUT };
	uint64_t buffer[8];
	struct peerlane_batch batch = {
		.works = &work, .count = 1,
		.notices = { .buffer = buffer, .size = sizeof(buffer) },
	};
	struct peerlane_endpoint *endpoint;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	plan(2, 0);
	CHECK_INT(peerlane_endpoint_submit(endpoint, &batch), -EPROTO);
	plan(1, sizeof(buffer) + 1);
	CHECK_INT(peerlane_endpoint_submit(endpoint, &batch), -EPROTO);
	CHECK_INT(batch.begun, 0);
	CHECK_INT(batch.notices.used, 0);
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static struct peerlane_op seen_op;

static void keep_op(void *arg)
{
	struct peerlane_endpoint_submit *submit = arg;

	CHECK_INT(submit->count, 1);
	CHECK_INT(submit->wait, 0);
	memcpy(&seen_op, (void *)(uintptr_t)submit->ops_ptr, sizeof(seen_op));
	submit->out_count = answer.out_count;
}

static void plan_one(void)
{
	answer.out_count = 1;
	fake_ioctl(PEERLANE_IOC_ENDPOINT_SUBMIT, 0, .fill = keep_op);
}

static void check_moved(uint16_t code)
{
	CHECK_INT(seen_op.op, code);
	CHECK_INT(seen_op.flags, 0);
	CHECK_INT(seen_op.slot, 1);
	CHECK_INT(seen_op.offset, 2);
	CHECK_INT(seen_op.length, 3);
	CHECK_INT(seen_op.token, 4);
	CHECK_INT(seen_op.remote_offset, 5);
	CHECK_INT(seen_op.cookie, 6);
	CHECK_INT(seen_op.lane, 0);
	CHECK_INT(seen_op.reserved, 0);
}

static void one_at_a_time(void)
{
	struct peerlane_endpoint *endpoint;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	plan_one();
	CHECK_INT(peerlane_endpoint_put(endpoint, 1, 2, 3, 4, 5, 6), 0);
	check_moved(PEERLANE_OP_PUT);
	plan_one();
	CHECK_INT(peerlane_endpoint_get(endpoint, 1, 2, 3, 4, 5, 6), 0);
	check_moved(PEERLANE_OP_GET);
	plan_one();
	CHECK_INT(peerlane_endpoint_flush(endpoint, 8), 0);
	CHECK_INT(seen_op.op, PEERLANE_OP_FLUSH);
	CHECK_INT(seen_op.cookie, 8);
	plan_one();
	CHECK_INT(peerlane_endpoint_notify(endpoint, 9, 10), 0);
	CHECK_INT(seen_op.op, PEERLANE_OP_NOTIFY);
	CHECK_INT(seen_op.value, 9);
	CHECK_INT(seen_op.cookie, 10);
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static void one_for_which_there_is_no_room(void)
{
	struct peerlane_endpoint *endpoint;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	fake_ioctl(PEERLANE_IOC_ENDPOINT_SUBMIT, 0, EAGAIN);
	CHECK_INT(peerlane_endpoint_flush(endpoint, 0), -EAGAIN);
	plan(0, 0);
	CHECK_INT(peerlane_endpoint_flush(endpoint, 0), -EAGAIN);
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

/* ---- notices ------------------------------------------------------------- */

static struct peerlane_notices of(void *buffer, size_t used)
{
	return (struct peerlane_notices){
		.buffer = buffer, .size = used, .used = used,
	};
}

static struct peerlane_record record(uint16_t size)
{
	return (struct peerlane_record){
		.size = size, .type = PEERLANE_RECORD_NOTIFY, .status = -5,
		.cookie = 1, .token = 2, .length = 3, .value = 4, .rights = 5,
		.lane = 6,
	};
}

static void notice(void)
{
	struct peerlane_record one = record(sizeof(one));
	struct peerlane_notices notices = of(&one, sizeof(one));
	struct peerlane_notice got = { 0 };

	CHECK(peerlane_notice_next(&notices, &got));
	CHECK_INT(got.type, PEERLANE_NOTICE_NOTIFY);
	CHECK_INT(got.status, -5);
	CHECK_INT(got.cookie, 1);
	CHECK_INT(got.token, 2);
	CHECK_INT(got.length, 3);
	CHECK_INT(got.value, 4);
	CHECK_INT(got.rights, 5);
	CHECK_INT(got.lane, 6);
	got.type = 99;
	CHECK(!peerlane_notice_next(&notices, &got));
	CHECK_INT(got.type, 99);
}

/* Of a newer kernel, whose records are larger, and an older one's */
static void notices_of_other_sizes(void)
{
	char buffer[200] = "";
	struct peerlane_notices notices = of(buffer, 64 + 24 + 48);
	struct peerlane_record longer = record(64), shorter = record(24);
	struct peerlane_record plain = record(48);
	struct peerlane_notice got;

	memcpy(buffer, &longer, sizeof(longer));
	memcpy(buffer + 64, &shorter, 24);
	memcpy(buffer + 88, &plain, sizeof(plain));
	CHECK(peerlane_notice_next(&notices, &got));
	CHECK_INT(got.lane, 6);
	CHECK(peerlane_notice_next(&notices, &got));
	CHECK_INT(got.token, 2);
	CHECK_INT(got.length, 0);
	CHECK_INT(got.lane, 0);
	CHECK(peerlane_notice_next(&notices, &got));
	CHECK_INT(got.lane, 6);
	CHECK(!peerlane_notice_next(&notices, &got));
}

/* Exactly as much memory as there is said to be: the sanitizer looks. */
static bool reads(const void *bytes, size_t used)
{
	void *exact = malloc(used ? used : 1);
	struct peerlane_notices notices = of(exact, used);
	struct peerlane_notice got;
	bool ret;

	memcpy(exact, bytes, used);
	ret = peerlane_notice_next(&notices, &got);
	CHECK(notices.next <= used);
	if (!ret)
		CHECK(!peerlane_notice_next(&notices, &got));
	free(exact);
	return ret;
}

static void notices_that_are_cut(void)
{
	struct peerlane_record one = record(sizeof(one));
	size_t used;

	for (used = 0; used < sizeof(one); used++)
		CHECK(!reads(&one, used));
	CHECK(reads(&one, sizeof(one)));
}

static void notices_of_hostile_sizes(void)
{
	struct peerlane_record one;
	size_t size;

	for (size = 0; size < 8; size++) {
		one = record((uint16_t)size);
		CHECK(!reads(&one, sizeof(one)));
	}
	for (size = 8; size <= sizeof(one); size++) {
		one = record((uint16_t)size);
		CHECK(reads(&one, sizeof(one)));
	}
	one = record(sizeof(one) + 1);
	CHECK(!reads(&one, sizeof(one)));
	one = record(UINT16_MAX);
	CHECK(!reads(&one, sizeof(one)));
}

/* A caller that has made a mess of its own struct */
static void notices_that_are_more_than_the_buffer(void)
{
	struct peerlane_record one = record(sizeof(one));
	struct peerlane_notices notices = of(&one, sizeof(one));
	struct peerlane_notice got;

	notices.used = 1000;
	CHECK(peerlane_notice_next(&notices, &got));
	CHECK(!peerlane_notice_next(&notices, &got));
	notices.next = SIZE_MAX;
	CHECK(!peerlane_notice_next(&notices, &got));
}

static void notice_names(void)
{
	CHECK_STR(peerlane_notice_name(PEERLANE_NOTICE_DONE), "done");
	CHECK_STR(peerlane_notice_name(PEERLANE_NOTICE_DISCONNECTED),
		  "disconnected");
	CHECK_STR(peerlane_notice_name(0), "unknown");
	CHECK_STR(peerlane_notice_name(7), "unknown");
}

/* ---- waiting -------------------------------------------------------------- */

static void wait_takes_what_is_there(void)
{
	struct peerlane_record two[2] = { record(48), record(48) };
	struct peerlane_endpoint *endpoint;
	uint64_t buffer[64];
	struct peerlane_notices notices = {
		.buffer = buffer, .size = sizeof(buffer), .next = 5,
	};
	int fd;

	fake_reset();
	fd = fake_file(0);
	CHECK_INT(write(fd, two, sizeof(two)), sizeof(two));
	lseek(fd, 0, SEEK_SET);
	endpoint = fake_endpoint(fd);
	CHECK_INT(peerlane_endpoint_wait(endpoint, 0, &notices), 0);
	CHECK_INT(notices.used, sizeof(two));
	CHECK_INT(notices.next, 0);
	/* and that was the last one */
	CHECK_INT(peerlane_endpoint_wait(endpoint, 0, &notices), -ENOTCONN);
	CHECK_HAS(peerlane_strerror(), "last notice was taken");
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static void wait_in_vain(void)
{
	struct peerlane_endpoint *endpoint;
	uint64_t buffer[8];
	struct peerlane_notices notices = {
		.buffer = buffer, .size = sizeof(buffer), .used = 3,
	};

	fake_reset();
	endpoint = fake_endpoint(eventfd(0, EFD_CLOEXEC));
	CHECK_INT(peerlane_endpoint_wait(endpoint, 1, &notices), -EAGAIN);
	CHECK_INT(notices.used, 3);
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static const struct tap_case cases[] = {
	TAP_CASE(submit_and_wait), TAP_CASE(submit_without_room_for_notices),
	TAP_CASE(submit_is_not_repeated_after_a_signal),
	TAP_CASE(submit_refused), TAP_CASE(submit_of_a_kernel_that_is_wrong),
	TAP_CASE(one_at_a_time), TAP_CASE(one_for_which_there_is_no_room),
	TAP_CASE(notice), TAP_CASE(notices_of_other_sizes),
	TAP_CASE(notices_that_are_cut), TAP_CASE(notices_of_hostile_sizes),
	TAP_CASE(notices_that_are_more_than_the_buffer),
	TAP_CASE(notice_names), TAP_CASE(wait_takes_what_is_there),
	TAP_CASE(wait_in_vain),
};

int main(void)
{
	return TAP_RUN(cases);
}
