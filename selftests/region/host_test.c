// SPDX-License-Identifier: GPL-2.0
/* Pinned pages of the caller: what is charged, what is refused, every end. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frame.h"
#include "region.h"
#include "tap.h"

#define PAGE	4096UL

/* KiB that the caller has pinned. */
static long pinned(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmPin: %ld kB", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

static bool wait_pinned(long kib)
{
	int ms;

	for (ms = 0; ms < 30000 && pinned() != kib; ms += 10)
		sleep_ms(10);
	return pinned() == kib;
}

/* The charge ends in a workqueue: not the next case's to see. */
static void end(int fd)
{
	close(fd);
	CHECK(wait_pinned(0));
}

static char *pages(size_t length, int prot)
{
	char *addr = mmap(NULL, length, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return addr == MAP_FAILED ? NULL : addr;
}

static char *rw_pages(size_t length)
{
	return pages(length, PROT_READ | PROT_WRITE);
}

/* ---- making ---- */

static void region_is_what_was_pinned(void)
{
	char *addr = rw_pages(4 * PAGE);
	int fd = pin_host(addr, 4 * PAGE, 0);
	struct peerlane_region_status info;

	CHECK(fd >= 0);
	CHECK_INT(region_info(fd, &info), 0);
	CHECK_INT(info.out_kind, PEERLANE_KIND_HOST);
	CHECK_INT(info.out_state, PEERLANE_STATE_ACTIVE);
	CHECK_INT(info.out_length, 4 * PAGE);
	CHECK_INT(info.out_caps, PEERLANE_CAP_HW_DMA | PEERLANE_CAP_VIRT_DMA |
		  PEERLANE_CAP_REVOKE);
	CHECK_INT(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	end(fd);
	munmap(addr, 4 * PAGE);
}

static void pages_are_charged_until_close(void)
{
	static const size_t lengths[] = {
		PAGE, 511 * PAGE, 512 * PAGE, 513 * PAGE, 64 * MIB,
	};
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		char *addr = rw_pages(lengths[i]);
		int fd = pin_host(addr, lengths[i], 0);

		CHECK(fd >= 0);
		CHECK_INT(pinned(), lengths[i] / 1024);
		end(fd);
		munmap(addr, lengths[i]);
	}
}

static void overlapping_regions_are_charged_each(void)
{
	char *addr = rw_pages(4 * PAGE);
	int first = pin_host(addr, 4 * PAGE, 0);
	int second = pin_host(addr + PAGE, PAGE, 0);

	CHECK_INT(pinned(), 20);
	close(first);
	CHECK(wait_pinned(4));
	close(second);
	CHECK(wait_pinned(0));
	munmap(addr, 4 * PAGE);
}

static void shared_memory_can_be_pinned(void)
{
	int memfd = memfd_create("host_test", MFD_CLOEXEC), fd;
	char *addr;

	CHECK_INT(ftruncate(memfd, 4 * PAGE), 0);
	addr = map(memfd, 4 * PAGE, 0);
	fd = pin_host(addr, 4 * PAGE, 0);
	CHECK(fd >= 0);
	end(fd);
	munmap(addr, 4 * PAGE);
	close(memfd);
}

/* ---- refusals ---- */

static void bad_ranges_are_refused(void)
{
	char *addr = rw_pages(2 * PAGE);

	CHECK_INT(pin_host(addr + 1, PAGE, 0), -EINVAL);
	CHECK_INT(pin_host(addr, PAGE + 1, 0), -EINVAL);
	CHECK_INT(pin_host(addr, 0, 0), -EINVAL);
	CHECK_HAS(why, "page size");
	CHECK_INT(pin_host_at(-PAGE, 2 * PAGE, 0), -EOVERFLOW);
	munmap(addr, 2 * PAGE);
}

static void unknown_flags_are_refused(void)
{
	char *addr = rw_pages(PAGE);

	CHECK_INT(pin_host(addr, PAGE, 1U << 31), -EOPNOTSUPP);
	munmap(addr, PAGE);
}

static void kernel_addresses_are_refused(void)
{
	CHECK_INT(pin_host_at(0xffff888000000000ULL, PAGE, 0), -EFAULT);
	CHECK_INT(pinned(), 0);
}

static void a_hole_is_refused_and_nothing_stays_pinned(void)
{
	size_t length = 2000 * PAGE;	/* several batches */
	char *addr = rw_pages(length);

	munmap(addr + 1500 * PAGE, PAGE);
	CHECK_INT(pin_host(addr, length, 0), -EFAULT);
	CHECK_HAS(why, "not mapped");
	CHECK_INT(pinned(), 0);
	munmap(addr, length);
}

static void read_only_memory_needs_the_flag(void)
{
	char *addr = pages(PAGE, PROT_READ);
	int fd;

	CHECK_INT(pin_host(addr, PAGE, 0), -EFAULT);
	CHECK_INT(pinned(), 0);
	fd = pin_host(addr, PAGE, PEERLANE_PIN_READ_ONLY);
	CHECK(fd >= 0);
	end(fd);
	munmap(addr, PAGE);
}

static void more_than_the_machine_has_is_refused(void)
{
	size_t length = 1UL << 40;
	char *addr = mmap(NULL, length, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(addr != MAP_FAILED);
	CHECK_INT(pin_host(addr, length, 0), -ENOMEM);
	CHECK_HAS(why, "machine");
	CHECK_INT(pinned(), 0);
	munmap(addr, length);
}

/* Runs @body in a child that may not exceed limits; its checks are counted. */
static void as_nobody(void (*body)(void))
{
	int status = -1;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		const struct rlimit limit = { 4 * PAGE, 4 * PAGE };

		setrlimit(RLIMIT_MEMLOCK, &limit);
		/* Not setuid(): that would not let it read its own /proc. */
		if (syscall(SYS_setresuid, 65534, 65534, 65534))
			_exit(1);
		tap.bad = 0;
		body();
		fflush(stdout);
		_exit(tap.bad ? 1 : 0);
	}
	waitpid(child, &status, 0);
	CHECK_INT(status, 0);
}

static void pin_to_the_limit(void)
{
	char *addr = rw_pages(8 * PAGE);
	int fd;

	CHECK_INT(pin_host(addr, 5 * PAGE, 0), -ENOMEM);
	CHECK_HAS(why, "RLIMIT_MEMLOCK");
	fd = pin_host(addr, 4 * PAGE, 0);
	CHECK(fd >= 0);
	CHECK_INT(pin_host(addr + 4 * PAGE, PAGE, 0), -ENOMEM);
	close(fd);
	sleep_ms(300);
	fd = pin_host(addr + 4 * PAGE, 4 * PAGE, 0);
	CHECK(fd >= 0);
	close(fd);
}

static void rlimit_memlock_holds(void)
{
	as_nobody(pin_to_the_limit);
}

/* ---- uses that it does not have ---- */

static void mmap_and_export_are_refused(void)
{
	char *addr = rw_pages(PAGE);
	int fd = pin_host(addr, PAGE, 0);

	CHECK_INT(map_error(fd, PAGE, 0, PROT_READ, MAP_SHARED), -EOPNOTSUPP);
	CHECK_INT(region_export(fd, 0, PAGE, 0), -EOPNOTSUPP);
	CHECK_INT(region_alloc(fd, PAGE), -EOPNOTSUPP);
	end(fd);
	munmap(addr, PAGE);
}

/* ---- contents ---- */

/* Or a device would read zeros for ever. */
static void read_only_pin_sees_later_writes(void)
{
	char *addr = rw_pages(PAGE);
	int fd = pin_host(addr, PAGE, PEERLANE_PIN_READ_ONLY);
	uint64_t frame;

	CHECK(fd >= 0);
	frame = frame_of(addr);
	CHECK(frame);
	addr[0] = 'w';
	CHECK_INT(frame_of(addr), frame);
	end(fd);
	munmap(addr, PAGE);
}

static void pinned_page_is_not_copied_by_fork(void)
{
	char *addr = rw_pages(PAGE);
	uint64_t frame;
	pid_t child;
	int fd;

	addr[0] = 'a';
	fd = pin_host(addr, PAGE, 0);
	CHECK(fd >= 0);
	frame = frame_of(addr);
	child = fork();
	if (!child) {
		sleep_ms(200);
		_exit(0);
	}
	addr[0] = 'b';
	CHECK_INT(frame_of(addr), frame);
	waitpid(child, NULL, 0);
	end(fd);
	munmap(addr, PAGE);
}

/* ---- ends ---- */

static void pages_outlive_their_mapping(void)
{
	char *addr = rw_pages(4 * PAGE);
	int fd = pin_host(addr, 4 * PAGE, 0);

	munmap(addr, 4 * PAGE);
	CHECK_INT(pinned(), 16);
	end(fd);
}

static void send_fd(int socket, int fd)
{
	char byte = 0, room[CMSG_SPACE(sizeof(fd))] = "";
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = room, .msg_controllen = sizeof(room),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	sendmsg(socket, &msg, 0);
}

static int receive_fd(int socket)
{
	char byte, room[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = room, .msg_controllen = sizeof(room),
	};
	int fd = -1;

	if (recvmsg(socket, &msg, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&msg))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

static void region_outlives_its_process(void)
{
	struct peerlane_region_status info;
	int sockets[2], fd;
	pid_t child;

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	child = fork();
	if (!child) {
		send_fd(sockets[1], pin_host(rw_pages(MIB), MIB, 0));
		_exit(0);
	}
	fd = receive_fd(sockets[0]);
	waitpid(child, NULL, 0);
	CHECK(fd >= 0);
	CHECK_INT(region_info(fd, &info), 0);
	CHECK_INT(info.out_state, PEERLANE_STATE_ACTIVE);
	/* Uncharges an mm that is gone. */
	close(fd);
	close(sockets[0]);
	close(sockets[1]);
	CHECK(wait_regions(0));
}

static void revocation_unpins(void)
{
	char *addr = rw_pages(4 * PAGE);
	int fd = pin_host(addr, 4 * PAGE, 0);

	CHECK_INT(region_revoke(fd), 0);
	CHECK(wait_pinned(0));
	CHECK(wait_state(fd, PEERLANE_STATE_RELEASED));
	CHECK_INT(region_revoke(fd), -EBUSY);
	close(fd);
	munmap(addr, 4 * PAGE);
}

static long free_kib(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[256];
	long kib = -1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %ld kB", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

static void pages_come_back_to_the_machine(void)
{
	long before = free_kib();
	int i;

	/* 40 times 64 MiB is more than the machine has. */
	for (i = 0; i < 40; i++) {
		char *addr = rw_pages(64 * MIB);
		int fd = pin_host(addr, 64 * MIB, 0);

		CHECK(fd >= 0);
		munmap(addr, 64 * MIB);
		close(fd);
		CHECK(wait_regions(0));
	}
	CHECK(before - free_kib() < 64 * 1024);
}

static void a_kill_ends_pinning(void)
{
	int status = 0, ms;
	pid_t child = fork();

	if (!child) {
		char *addr = rw_pages(512 * MIB);

		for (;;)
			close(pin_host(addr, 512 * MIB, 0));
	}
	sleep_ms(150);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	CHECK(WIFSIGNALED(status));
	for (ms = 0; ms < 30000 && count_regions(); ms += 10)
		sleep_ms(10);
	CHECK_INT(count_regions(), 0);
}

static void nothing_is_left(void)
{
	CHECK(wait_regions(0));
	CHECK_INT(pinned(), 0);
}

static const struct tap_case cases[] = {
	TAP_CASE(region_is_what_was_pinned),
	TAP_CASE(pages_are_charged_until_close),
	TAP_CASE(overlapping_regions_are_charged_each),
	TAP_CASE(shared_memory_can_be_pinned),
	TAP_CASE(bad_ranges_are_refused),
	TAP_CASE(unknown_flags_are_refused),
	TAP_CASE(kernel_addresses_are_refused),
	TAP_CASE(a_hole_is_refused_and_nothing_stays_pinned),
	TAP_CASE(read_only_memory_needs_the_flag),
	TAP_CASE(more_than_the_machine_has_is_refused),
	TAP_CASE(rlimit_memlock_holds),
	TAP_CASE(mmap_and_export_are_refused),
	TAP_CASE(read_only_pin_sees_later_writes),
	TAP_CASE(pinned_page_is_not_copied_by_fork),
	TAP_CASE(pages_outlive_their_mapping),
	TAP_CASE(region_outlives_its_process),
	TAP_CASE(revocation_unpins),
	TAP_CASE(pages_come_back_to_the_machine),
	TAP_CASE(a_kill_ends_pinning),
	TAP_CASE(nothing_is_left),
};

int main(void)
{
	return TAP_RUN(cases);
}
