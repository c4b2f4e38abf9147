// SPDX-License-Identifier: GPL-2.0
/*
 * Markers of userfaultfd in the page tables of a mapping. Kernels before 6.7 do
 * not let one be registered on such a mapping.
 */
#include <linux/userfaultfd.h>
#include <sys/syscall.h>

#include "harness.h"

/* Newer than the headers of Debian 12. */
#define WP_ASYNC	(1ULL << 15)

static int open_userfaultfd(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = WP_ASYNC };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (fd >= 0 && ioctl(fd, UFFDIO_API, &api)) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool write_protect(int uffd, void *at, uint64_t length)
{
	struct uffdio_register reg = {
		.range = { (uintptr_t)at, length },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};
	struct uffdio_writeprotect protect = {
		.range = { (uintptr_t)at, length },
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};

	return !ioctl(uffd, UFFDIO_REGISTER, &reg) &&
	       !ioctl(uffd, UFFDIO_WRITEPROTECT, &protect);
}

/* A child has page tables of its own, and one that loops can be left behind. */
static void read_into_marked(void *arg)
{
	int fd = open_device(), uffd = open_userfaultfd();
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	char *at = map(fd, UNIT);

	(void)arg;
	if (uffd < 0 || !write_protect(uffd, at, UNIT)) {
		printf("# this kernel sets no markers here\n");
		return;
	}
	CHECK_INT(touch(at, false), SIGBUS);
	CHECK_INT(read(zero, at, PAGE), -1);
	CHECK_INT(errno, EFAULT);
}

static void a_marker_does_not_loop(void)
{
	in_child(read_into_marked, NULL);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(a_marker_does_not_loop),
	};

	return HARNESS_RUN(cases);
}
