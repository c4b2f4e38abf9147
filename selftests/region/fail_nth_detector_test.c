// SPDX-License-Identifier: GPL-2.0
/* Whether the sweeps notice anything: failures come, and mistakes are seen. */
#include <sys/epoll.h>
#include <sys/utsname.h>

#include "fail_nth.h"

static bool is_ready(void)
{
	if (fail_file < 0)
		SKIP(FAIL_UNAVAILABLE);
	return fail_file >= 0;
}

/* The result of @run when its first allocation or copy fails. */
static int first_failure_of(int (*run)(void))
{
	int ret;

	fail_arm(1);
	ret = run();
	CHECK_INT(fail_disarm(), 0);
	return ret;
}

/* ---- failures come ---- */

static int make_epoll(void)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int ask_name(void)
{
	struct utsname name;

	return uname(&name) ? -errno : 0;
}

static char *fresh_page;

static int take_page(void)
{
	return madvise(fresh_page, PAGE, MADV_POPULATE_WRITE) ? -errno : 0;
}

static void an_object_fails(void)
{
	if (is_ready())
		CHECK_INT(first_failure_of(make_epoll), -ENOMEM);
}

static void a_copy_fails(void)
{
	if (is_ready())
		CHECK_INT(first_failure_of(ask_name), -EFAULT);
}

static void a_page_fails(void)
{
	if (!is_ready())
		return;
	fresh_page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK_INT(first_failure_of(take_page), -ENOMEM);
	CHECK_INT(take_page(), 0);
	munmap(fresh_page, PAGE);
}

static void nothing_fails_afterwards(void)
{
	int fd, i;

	if (!is_ready())
		return;
	first_failure_of(make_epoll);
	for (i = 0; i < 10; i++) {
		fd = make_epoll();
		CHECK(fd >= 0);
		close(fd);
		CHECK_INT(ask_name(), 0);
	}
}

static void failures_are_counted(void)
{
	int fd;

	if (!is_ready())
		return;
	/* The text of kstrtouint() and read() is not ours to count. */
	CHECK(fail_points(make_epoll, &fd) >= 2);
	CHECK(fd >= 0);
	close(fd);
}

static void peerlane_fails(void)
{
	if (is_ready())
		CHECK_INT(first_failure_of(open_device), -ENOMEM);
}

/* ---- mistakes are seen ---- */

static void close_result(int ret)
{
	if (ret >= 0)
		close(ret);
}

/* Runs a sweep that has to find something; what it prints is no failure. */
static void is_seen(const struct fail_step *step)
{
	int bad = tap.bad;

	if (!is_ready())
		return;
	fail_patience = 1;
	printf("# a mistake, made on purpose:\n");
	fail_sweep(step);
	fail_patience = LIMBO_SECONDS;
	if (tap.bad == bad)
		tap.bad++;
	else
		tap.bad = bad;
}

static int leaked = -1;

static int open_and_leak(void)
{
	if (leaked < 0)
		leaked = open_device();
	return leaked;
}

static void leave_open(int ret)
{
	(void)ret;
}

static void a_region_left_is_seen(void)
{
	is_seen(&(struct fail_step){
		.name = __func__, .run = open_and_leak, .end = leave_open,
	});
	if (leaked >= 0)
		close(leaked);
	leaked = -1;
}

static int strange_refusal(void)
{
	int fd = make_epoll();

	return fd < 0 ? -EXDEV : fd;
}

static void a_strange_errno_is_seen(void)
{
	is_seen(&(struct fail_step){
		.name = __func__, .run = strange_refusal, .end = close_result,
	});
}

static int wrong_text(void)
{
	int fd = make_epoll();

	if (fd < 0)
		strcpy(text, "two\nlines");
	return fd;
}

static void a_bad_text_is_seen(void)
{
	is_seen(&(struct fail_step){
		.name = __func__, .run = wrong_text, .end = close_result,
	});
}

static int refuse_always(void)
{
	int fd = make_epoll();

	close_result(fd);
	return -ENOMEM;
}

static void a_step_that_never_passes_is_seen(void)
{
	is_seen(&(struct fail_step){
		.name = __func__, .run = refuse_always,
	});
}

static int do_nothing(void)
{
	return 0;
}

static void a_step_without_failures_is_seen(void)
{
	is_seen(&(struct fail_step){ .name = __func__, .run = do_nothing });
}

static void a_hidden_failure_is_seen(void)
{
	is_seen(&(struct fail_step){
		.name = __func__, .run = make_epoll, .end = close_result,
		.hidden = true,
	});
}

static const struct tap_case cases[] = {
	TAP_CASE(an_object_fails),
	TAP_CASE(a_copy_fails),
	TAP_CASE(a_page_fails),
	TAP_CASE(nothing_fails_afterwards),
	TAP_CASE(failures_are_counted),
	TAP_CASE(peerlane_fails),
	TAP_CASE(a_region_left_is_seen),
	TAP_CASE(a_strange_errno_is_seen),
	TAP_CASE(a_bad_text_is_seen),
	TAP_CASE(a_step_that_never_passes_is_seen),
	TAP_CASE(a_step_without_failures_is_seen),
	TAP_CASE(a_hidden_failure_is_seen),
};

int main(void)
{
	return FAIL_RUN(cases);
}
