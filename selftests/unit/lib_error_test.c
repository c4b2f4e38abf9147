// SPDX-License-Identifier: GPL-2.0
/* The line that says why. */
#include "lib_fake.h"

#include <pthread.h>

static void empty_at_first(void)
{
	CHECK_STR(peerlane_strerror(), "");
}

static void forms(void)
{
	CHECK_INT(pl_fail(ENOSPC, "16 bytes of %s", "gpu0"), -ENOSPC);
	CHECK_STR(peerlane_strerror(),
		  "16 bytes of gpu0: No space left on device (ENOSPC)");
	CHECK_INT(pl_fail_text(EINVAL, "no %d", 3), -EINVAL);
	CHECK_STR(peerlane_strerror(), "no 3 (EINVAL)");
	CHECK_INT(pl_fail_text(524, "x"), -524);
	CHECK_STR(peerlane_strerror(), "x (ENOTSUPP)");
	CHECK_INT(pl_fail_text(4000, "x"), -4000);
	CHECK_STR(peerlane_strerror(), "x (errno 4000)");
	pl_clear();
	CHECK_STR(peerlane_strerror(), "");
}

/* The errno is there for scripts also when the reason is cut. */
static void long_text(void)
{
	char name[2000];

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	pl_fail_text(EINVAL, "%s", name);
	CHECK(strlen(peerlane_strerror()) < PL_TEXT_MAX);
	CHECK_HAS(peerlane_strerror(), " (EINVAL)");
	pl_fail(EINVAL, "%s", name);
	CHECK(strlen(peerlane_strerror()) < PL_TEXT_MAX);
	CHECK_HAS(peerlane_strerror(), " (EINVAL)");
}

static void one_line(void)
{
	pl_fail_text(EINVAL, "two\nlines\tand\x7f\n");
	CHECK_STR(peerlane_strerror(), "two lines and (EINVAL)");
	pl_fail_text(EINVAL, "\n\n");
	CHECK_STR(peerlane_strerror(), " (EINVAL)");
	/* other languages' letters stay */
	pl_fail_text(EINVAL, "gr\xc3\xbc\xc3\x9f");
	CHECK_STR(peerlane_strerror(), "gr\xc3\xbc\xc3\x9f (EINVAL)");
}

static void *other(void *arg)
{
	bool *good = arg;

	*good = !strcmp(peerlane_strerror(), "");
	pl_fail_text(EIO, "other");
	*good = *good && !strcmp(peerlane_strerror(), "other (EIO)");
	return NULL;
}

static void per_thread(void)
{
	pthread_t thread;
	bool good = false;

	pl_fail_text(EINVAL, "mine");
	CHECK_INT(pthread_create(&thread, NULL, other, &good), 0);
	CHECK_INT(pthread_join(thread, NULL), 0);
	CHECK(good);
	CHECK_STR(peerlane_strerror(), "mine (EINVAL)");
}

static void cleared_by_success(void)
{
	struct peerlane_device_info *list;
	size_t count;

	fake_reset();
	pl_fail_text(EINVAL, "old");
	fake_ioctl(PEERLANE_IOC_DEVICE_LIST, sizeof(struct peerlane_list),
		   .copy = &(struct peerlane_list){ .count = 0 });
	CHECK_INT(peerlane_device_list(&list, &count), 0);
	CHECK_STR(peerlane_strerror(), "");
	fake_finish();
}

/* free() on the way out of a failure must not take the reason away. */
static void kept_by_free(void)
{
	struct peerlane_region *region;

	fake_reset();
	region = fake_region(0, 4096);
	fake_ioctl(PEERLANE_IOC_REGION_REVOKE, 0, EBUSY, "revoked already");
	CHECK_INT(peerlane_region_revoke(region), -EBUSY);
	errno = 77;
	peerlane_region_free(region);
	peerlane_region_free(NULL);
	CHECK_INT(errno, 77);
	CHECK_STR(peerlane_strerror(), "revoke: revoked already (EBUSY)");
	fake_finish();
}

static void version(void)
{
	CHECK_STR(peerlane_version(), PEERLANE_VERSION);
}

static const struct tap_case cases[] = {
	TAP_CASE(empty_at_first),
	TAP_CASE(forms),
	TAP_CASE(long_text),
	TAP_CASE(one_line),
	TAP_CASE(per_thread),
	TAP_CASE(cleared_by_success),
	TAP_CASE(kept_by_free),
	TAP_CASE(version),
};

int main(void)
{
	return TAP_RUN(cases);
}
