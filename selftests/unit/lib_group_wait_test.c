// SPDX-License-Identifier: GPL-2.0
/*
 * Operations of groups: begun, and waited for by cookie, by several threads and
 * with a kernel that is wrong.
 */
#include "lib_fake_group.h"

#include <pthread.h>
#include <time.h>

static int submit(uint64_t cookie)
{
	const struct peerlane_collective what = {
		.kind = PEERLANE_ALL_REDUCE, .type = PEERLANE_F32,
		.op = PEERLANE_SUM, .count = 4, .cookie = cookie,
	};

	return peerlane_group_submit(group, &what, 1, NULL);
}

static void begun(uint64_t cookie)
{
	plan(1);
	CHECK_INT(submit(cookie), 0);
}

/* ---- one thread ------------------------------------------------------------------------ */

static void submit_and_wait(void)
{
	begin();
	begun(5);
	CHECK_INT(fake.seen[1].collect.count, 1);
	CHECK_INT(fake.seen[1].collect.op_size, sizeof(struct peerlane_group_op));
	CHECK_INT(fake.seen[1].collect.records_ptr, 0);
	plan(0);
	done(5, 0);
	CHECK_INT(peerlane_group_wait(group, 5, -1), 0);
	CHECK_STR(peerlane_strerror(), "");
	CHECK_INT(fake.seen[2].collect.count, 0);
	CHECK_INT(fake.seen[2].collect.wait, 1);
	CHECK_INT(fake.seen[2].collect.timeout_ns, -1);
	/* once only */
	CHECK_INT(peerlane_group_wait(group, 5, -1), -ENOENT);
	end();
}

static void others_are_kept(void)
{
	struct peerlane_group_event event;

	begin();
	begun(1);
	begun(2);
	begun(3);
	plan(0);
	done(3, 0);
	done(1, 0);
	done(2, 0);
	CHECK_INT(peerlane_group_wait(group, 2, -1), 0);
	/* no call for what is there */
	CHECK_INT(peerlane_group_next(group, 0, &event), 0);
	CHECK_INT(event.type, PEERLANE_GROUP_EVENT_DONE);
	CHECK_INT(event.cookie, 3);
	CHECK_INT(event.sequence, 103);
	CHECK_INT(event.rank, PEERLANE_NOBODY);
	CHECK_INT(peerlane_group_test(group, 1), 0);
	end();
}

static void not_yet(void)
{
	begin();
	begun(1);
	plan(0);
	CHECK_INT(peerlane_group_test(group, 1), -EAGAIN);
	CHECK_INT(fake.seen[2].collect.timeout_ns, 0);
	/* there was time left: a signal */
	plan(0);
	CHECK_INT(peerlane_group_wait(group, 1, 100000), -EINTR);
	CHECK(fake.seen[3].collect.timeout_ns > 90000000000LL);
	CHECK(fake.seen[3].collect.timeout_ns <= 100000000000LL);
	plan(0);
	done(1, 0);
	CHECK_INT(peerlane_group_test(group, 1), 0);
	end();
}

static void fill_info(void *arg)
{
	struct peerlane_list *list = arg;
	struct peerlane_group_info *info = (void *)(uintptr_t)list->array_ptr;

	strcpy(info->text, "rank 3 is late in operation 105, 1 missing");
}

static void a_failure_has_its_reason(void)
{
	begin();
	begun(5);
	begun(6);
	plan(0);
	done(5, -ETIMEDOUT);
	done(6, -ETIMEDOUT);
	fake_ioctl(PEERLANE_IOC_GROUP_INFO, 0, .fill = fill_info);
	CHECK_INT(peerlane_group_wait(group, 5, -1), -ETIMEDOUT);
	CHECK_STR(peerlane_strerror(), "operation 105: rank 3 is late in operation 105, 1 missing (ETIMEDOUT)");
	/* also without words of the kernel */
	fake_ioctl(PEERLANE_IOC_GROUP_INFO, 0, EIO);
	CHECK_INT(peerlane_group_wait(group, 6, -1), -ETIMEDOUT);
	CHECK_STR(peerlane_strerror(), "operation 106, rank 3: Connection timed out (ETIMEDOUT)");
	end();
}

static void the_end_of_a_group(void)
{
	struct peerlane_group_event event;

	begin();
	begun(1);
	begun(2);
	plan(0);
	tell(PEERLANE_GROUP_RECORD_JOINED, 0, 0);
	done(1, 0);
	tell(PEERLANE_GROUP_RECORD_ENDED, 0, -ECONNRESET);
	CHECK_INT(peerlane_group_wait(group, 1, -1), 0);
	/* a kernel that forgot one: it is not waited for */
	fake_ioctl(PEERLANE_IOC_GROUP_INFO, 0, EIO);
	CHECK_INT(peerlane_group_wait(group, 2, -1), -ECONNRESET);
	CHECK_INT(peerlane_group_next(group, -1, &event), 0);
	CHECK_INT(event.type, PEERLANE_GROUP_EVENT_JOINED);
	CHECK_INT(peerlane_group_next(group, -1, &event), 0);
	CHECK_INT(event.type, PEERLANE_GROUP_EVENT_ENDED);
	CHECK_INT(event.status, -ECONNRESET);
	CHECK_INT(event.rank, 3);
	CHECK_INT(event.cause, PEERLANE_ENDING_LATE);
	CHECK_INT(peerlane_group_next(group, -1, &event), -ENOTCONN);
	end();
}

static void cookies_are_names(void)
{
	struct peerlane_collective two[2] = {
		{ .kind = PEERLANE_BARRIER, .cookie = 1 },
		{ .kind = PEERLANE_BARRIER, .cookie = 1 },
	};
	uint32_t count = 77;

	begin();
	CHECK_INT(peerlane_group_submit(group, two, 2, &count), -EEXIST);
	CHECK_INT(count, 77);
	begun(1);
	CHECK_INT(submit(1), -EEXIST);
	CHECK_HAS(peerlane_strerror(), "cookie 1 ");
	plan(0);
	done(1, 0);
	CHECK_INT(peerlane_group_wait(group, 1, -1), 0);
	begun(1);
	end();
}

static void some_are_not_begun(void)
{
	struct peerlane_collective three[3] = {
		{ .kind = PEERLANE_BARRIER, .cookie = 1 },
		{ .kind = PEERLANE_BARRIER, .cookie = 2 },
		{ .kind = PEERLANE_BARRIER, .cookie = 3 },
	};
	uint32_t count = 0;

	begin();
	plan(2);
	CHECK_INT(peerlane_group_submit(group, three, 3, &count), 0);
	CHECK_INT(count, 2);
	CHECK_INT(peerlane_group_test(group, 3), -ENOENT);
	plan(0);
	CHECK_INT(peerlane_group_test(group, 2), -EAGAIN);
	fake_ioctl(PEERLANE_IOC_GROUP_SUBMIT, 0, EAGAIN, "no room");
	CHECK_INT(submit(3), -EAGAIN);
	CHECK_STR(peerlane_strerror(), "submit: no room (EAGAIN)");
	CHECK_INT(peerlane_group_test(group, 3), -ENOENT);
	CHECK_INT(peerlane_group_submit(group, three, 4097, &count), -EINVAL);
	end();
}

static void run_is_one_call(void)
{
	const struct peerlane_collective what = {
		.kind = PEERLANE_BARRIER, .cookie = 9,
	};

	begin();
	plan(1);
	done(9, 0);
	CHECK_INT(peerlane_group_run(group, &what), 0);
	CHECK_INT(fake.seen[1].collect.count, 1);
	CHECK_INT(fake.seen[1].collect.wait, 1);
	CHECK_INT(fake.seen[1].collect.timeout_ns, -1);
	fake_ioctl(PEERLANE_IOC_GROUP_SUBMIT, 0, ENOTCONN, "not joined");
	CHECK_INT(peerlane_group_run(group, &what), -ENOTCONN);
	CHECK_INT(peerlane_group_test(group, 9), -ENOENT);
	/* a signal: it can still be waited for */
	plan(1);
	plan(0);
	CHECK_INT(peerlane_group_run(group, &what), -EINTR);
	plan(0);
	done(9, 0);
	CHECK_INT(peerlane_group_wait(group, 9, -1), 0);
	end();
}

/* ---- a kernel that is wrong, or another one ----------------------------------------------- */

static void records_that_are_wrong(void)
{
	begin();
	begun(1);
	plan(0);
	done(77, 0);			/* nobody's */
	tell(99, 1, 0);			/* of a type to come */
	plan(0);
	CHECK_INT(peerlane_group_test(group, 1), -EAGAIN);
	plan(2);
	CHECK_INT(submit(2), -EPROTO);
	plan(0);
	script[fake.planned - 1].bytes = 100000;
	CHECK_INT(peerlane_group_test(group, 1), -EPROTO);
	end();
}

/* Longer and shorter ones, and such as lead nowhere */
static void records_of_other_sizes(void)
{
	static const uint16_t sizes[] = { 0, 7, 200 };
	struct peerlane_group_record record;
	int call;
	size_t i;

	begin();
	begun(1);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		plan(0);
		done(1, 0);
		call = fake.planned - 1;
		memcpy(script[call].records, &sizes[i], sizeof(sizes[i]));
		plan(0);
		CHECK_INT(peerlane_group_test(group, 1), -EAGAIN);
	}
	plan(0);
	call = fake.planned - 1;
	memset(&record, 0, sizeof(record));
	record.size = 64;
	record.type = 50;
	memcpy(script[call].records, &record, sizeof(record));
	record.size = 16;
	record.type = PEERLANE_GROUP_RECORD_DONE;
	record.cookie = 1;
	memcpy(script[call].records + 64, &record, 16);
	script[call].bytes = 80;
	CHECK_INT(peerlane_group_test(group, 1), 0);
	end();
}

/* ---- threads ---------------------------------------------------------------------------------- */

static pthread_barrier_t in_kernel;
static int other_result;

/* While the first thread is in the kernel, the second one begins to wait. */
static void fill_slowly(void *arg)
{
	const struct timespec time = { .tv_nsec = 100000000 };

	pthread_barrier_wait(&in_kernel);
	nanosleep(&time, NULL);
	fill_submit(arg);
}

static void *wait_for_two(void *arg)
{
	pthread_barrier_wait(&in_kernel);
	other_result = peerlane_group_wait(group, 2, -1);
	return arg;
}

static void one_reads_for_all(void)
{
	pthread_t thread;

	begin();
	begun(1);
	begun(2);
	script[fake.planned].begun = 0;
	script[fake.planned].bytes = 0;
	fake_ioctl(PEERLANE_IOC_GROUP_SUBMIT, 0, .fill = fill_slowly);
	done(2, 0);
	done(1, 0);
	pthread_barrier_init(&in_kernel, NULL, 2);
	CHECK(!pthread_create(&thread, NULL, wait_for_two, NULL));
	CHECK_INT(peerlane_group_wait(group, 1, -1), 0);
	pthread_join(thread, NULL);
	CHECK_INT(other_result, 0);
	pthread_barrier_destroy(&in_kernel);
	end();
}

static void *wait_shortly(void *arg)
{
	pthread_barrier_wait(&in_kernel);
	other_result = peerlane_group_wait(group, 2, 10);
	return arg;
}

/* Who does not read himself has his time too. */
static void who_is_read_for_may_give_up(void)
{
	pthread_t thread;

	begin();
	begun(1);
	begun(2);
	script[fake.planned].begun = 0;
	script[fake.planned].bytes = 0;
	fake_ioctl(PEERLANE_IOC_GROUP_SUBMIT, 0, .fill = fill_slowly);
	done(1, 0);
	pthread_barrier_init(&in_kernel, NULL, 2);
	CHECK(!pthread_create(&thread, NULL, wait_shortly, NULL));
	CHECK_INT(peerlane_group_wait(group, 1, -1), 0);
	pthread_join(thread, NULL);
	CHECK_INT(other_result, -EAGAIN);
	pthread_barrier_destroy(&in_kernel);
	end();
}

static const struct tap_case cases[] = {
	TAP_CASE(submit_and_wait), TAP_CASE(others_are_kept),
	TAP_CASE(not_yet), TAP_CASE(a_failure_has_its_reason),
	TAP_CASE(the_end_of_a_group), TAP_CASE(cookies_are_names),
	TAP_CASE(some_are_not_begun), TAP_CASE(run_is_one_call),
	TAP_CASE(records_that_are_wrong), TAP_CASE(records_of_other_sizes),
	TAP_CASE(one_reads_for_all), TAP_CASE(who_is_read_for_may_give_up),
};

int main(void)
{
	return TAP_RUN(cases);
}
