/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of the module by its files and ioctls alone: a table of cases, as in
 * tap.h, run by HARNESS_RUN(). Each case
 * - announces itself to the kernel's log, so that a splat is pinned to it;
 * - has failed if it leaves behind files, regions or device memory, once limbo
 *   had its time.
 *
 * Calls return 0 (or a file) or -errno, and leave the text of a refusal in
 * text[], which is empty after a success.
 */
#ifndef SELFTESTS_REGION_HARNESS_H
#define SELFTESTS_REGION_HARNESS_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <peerlane.h>

#include "tap.h"

#define MIB		(1UL << 20)
#define UNIT		(2 * MIB)
#define PAGE		4096UL
#define DEVICES		"/dev/peerlane/"
#define LIMBO_SECONDS	30	/* wiping is slow under emulation */
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define HARNESS_RUN(cases) harness_run(cases, ARRAY_SIZE(cases))

static char text[PEERLANE_MSG_MAX];

/* ---- waiting ---- */

static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static inline void nap(void)
{
	usleep(10000);
}

/* Whether @cond became true within so many seconds. */
#define WAIT_FOR(cond, seconds) ({					\
	double wait_end_ = now() + (seconds);				\
	bool wait_good_;						\
	while (!(wait_good_ = (cond)) && now() < wait_end_)		\
		nap();							\
	wait_good_;							\
})

/* ---- files ---- */

/* A small file as a string; empty if it cannot be read. Lives until the next. */
static inline const char *read_text(const char *path)
{
	static char content[65536];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n, used = 0;

	while (fd >= 0 && used < (ssize_t)sizeof(content) - 1) {
		n = read(fd, content + used, sizeof(content) - 1 - used);
		if (n <= 0)
			break;
		used += n;
	}
	content[used] = '\0';
	if (fd >= 0)
		close(fd);
	return content;
}

static inline int write_text(const char *path, const char *what)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;
	int err;

	if (fd < 0)
		return -errno;
	n = write(fd, what, strlen(what));
	err = n < 0 ? -errno : 0;
	close(fd);
	return err;
}

/*
 * A function is listed before drivers may have it. Whoever adds it has the lock
 * that a rescan waits for.
 */
static inline int pci_settle(void)
{
	return write_text("/sys/bus/pci/rescan", "1");
}

static inline uint64_t read_number(const char *path)
{
	return strtoull(read_text(path), NULL, 0);
}

/* Name of the device under test: $DEVICE or gpu0. */
static inline const char *device_name(void)
{
	const char *name = getenv("DEVICE");

	return name ? name : "gpu0";
}

/* /sys/class/peerlane/<device>/@attr. Lives until the next. */
static inline const char *device_attr(const char *attr)
{
	static char path[256];

	snprintf(path, sizeof(path), "/sys/class/peerlane/%s/%s", device_name(),
		 attr);
	return path;
}

static inline int open_device(void)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), DEVICES "%s", device_name());
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static inline int open_control(void)
{
	int fd = open(DEVICES "control", O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* ---- calls ---- */

/* As it is: the header is the caller's. */
static inline int call_raw(int fd, unsigned long cmd, void *args)
{
	return ioctl(fd, cmd, args) < 0 ? -errno : 0;
}

static inline int call(int fd, unsigned long cmd, void *args, size_t size)
{
	struct peerlane_hdr *hdr = args;

	text[0] = '\0';
	hdr->size = size;
	hdr->msg_ptr = (uintptr_t)text;
	hdr->msg_len = sizeof(text);
	return call_raw(fd, cmd, args);
}

/* CALL(fd, REGION_INFO, &info) */
#define CALL(fd, name, args) \
	call(fd, PEERLANE_IOC_##name, args, sizeof(*(args)))

static inline int region_alloc(int fd, uint64_t length)
{
	struct peerlane_region_alloc args = { .length = length };

	return CALL(fd, REGION_ALLOC, &args);
}

static inline struct peerlane_region_status region_info(int fd)
{
	struct peerlane_region_status info = {};

	CHECK_INT(CALL(fd, REGION_INFO, &info), 0);
	return info;
}

static inline int region_revoke(int fd)
{
	struct peerlane_region_revoke args = {};

	return CALL(fd, REGION_REVOKE, &args);
}

static inline int region_export(int fd, uint64_t offset, uint64_t length,
				uint32_t flags)
{
	struct peerlane_region_export args = {
		.flags = flags, .offset = offset, .length = length, .out_fd = -1,
	};
	int ret = CALL(fd, REGION_EXPORT, &args);

	return ret ? ret : args.out_fd;
}

/* @control -1: open it for this call. */
static inline int import_dmabuf(int control, int dmabuf, uint64_t offset,
				uint64_t length)
{
	struct peerlane_import_dmabuf args = {
		.dmabuf_fd = dmabuf, .offset = offset, .length = length,
	};
	int fd = control < 0 ? open_control() : control;
	int ret = fd < 0 ? fd : CALL(fd, IMPORT_DMABUF, &args);

	if (control < 0 && fd >= 0)
		close(fd);
	return ret ? ret : args.out_fd;
}

static inline int pin_host(int control, const void *addr, uint64_t length,
			   uint32_t flags)
{
	struct peerlane_pin_host args = {
		.flags = flags, .addr = (uintptr_t)addr, .length = length,
	};
	int fd = control < 0 ? open_control() : control;
	int ret = fd < 0 ? fd : CALL(fd, PIN_HOST, &args);

	if (control < 0 && fd >= 0)
		close(fd);
	return ret ? ret : args.out_fd;
}

/* An open region of @length bytes. */
static inline int new_region(uint64_t length)
{
	int fd = open_device();
	int ret = fd < 0 ? fd : region_alloc(fd, length);

	if (ret < 0 && fd >= 0)
		close(fd);
	return ret < 0 ? ret : fd;
}

/* The mapping, or MAP_FAILED. */
static inline void *map_at(int fd, uint64_t length, uint64_t offset)
{
	return mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    offset);
}

static inline void *map(int fd, uint64_t length)
{
	return map_at(fd, length, 0);
}

/* ---- faults ---- */

static sigjmp_buf touch_escape;

static inline void touch_failed(int number)
{
	siglongjmp(touch_escape, number);
}

/* Read (or write) one byte: 0, or the signal that it brought. */
static inline int touch(volatile void *at, bool write)
{
	struct sigaction action = { .sa_handler = touch_failed }, bus, segv;
	volatile char *byte = at;
	int number;

	sigaction(SIGBUS, &action, &bus);
	sigaction(SIGSEGV, &action, &segv);
	number = sigsetjmp(touch_escape, 1);
	if (!number) {
		if (write)
			*byte = *byte;
		else
			(void)*byte;
	}
	sigaction(SIGBUS, &bus, NULL);
	sigaction(SIGSEGV, &segv, NULL);
	return number;
}

/* ---- other processes ---- */

static inline pid_t spawn(void (*run)(void *arg), void *arg)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	tap.bad = 0;
	run(arg);
	fflush(stdout);
	_exit(tap.bad ? 1 : 0);
}

/* Its wait status, or -1: it took more than so many seconds and was killed. */
static inline int reap(pid_t pid, double seconds)
{
	int status = -1;

	if (WAIT_FOR(waitpid(pid, &status, WNOHANG) == pid, seconds))
		return status;
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return -1;
}

/* Run in a child, whose failed checks are ours. */
static inline void in_child(void (*run)(void *arg), void *arg)
{
	CHECK_INT(reap(spawn(run, arg), 60), 0);
}

/* From here this process is an ordinary user. */
static inline void become(uid_t uid, gid_t gid)
{
	if (setgroups(0, NULL) || setresgid(gid, gid, gid) ||
	    setresuid(uid, uid, uid))
		CHECK(!"cannot change the user");
}

/* ---- what a case leaves behind ---- */

#define HARNESS_DEVICES 16

struct residue {
	char counts[256];
	unsigned long long free, limbo;
};

static inline struct residue residue(void)
{
	struct peerlane_device_record records[HARNESS_DEVICES] = {};
	struct peerlane_list args = {
		.size = sizeof(args), .array_ptr = (uintptr_t)records,
		.count = HARNESS_DEVICES, .record_size = sizeof(records[0]),
	};
	struct residue residue = {};
	int fd = open_control();
	uint32_t i;
	char *line;

	if (fd >= 0 && !call_raw(fd, PEERLANE_IOC_DEVICE_LIST, &args))
		for (i = 0; i < args.count; i++) {
			residue.free += records[i].bytes_free;
			residue.limbo += records[i].bytes_limbo;
		}
	if (fd >= 0)
		close(fd);
	snprintf(residue.counts, sizeof(residue.counts), "%.255s",
		 read_text("/sys/kernel/debug/peerlane/counts"));
	while ((line = strchr(residue.counts, '\n')))
		*line = ' ';
	return residue;
}

static inline bool is_same_residue(const struct residue *a)
{
	struct residue b = residue();

	return a->free == b.free && a->limbo == b.limbo &&
	       !strcmp(a->counts, b.counts);
}

static inline void check_residue(const struct residue *before)
{
	struct residue after;

	if (WAIT_FOR(is_same_residue(before), LIMBO_SECONDS))
		return;
	after = residue();
	printf("# left behind: %llu bytes free, were %llu; %llu in limbo, were %llu\n",
	       after.free, before->free, after.limbo, before->limbo);
	printf("# %s, were: %s\n# %s\n", after.counts, before->counts,
	       read_text("/sys/kernel/debug/peerlane/regions"));
	tap.bad++;
}

static inline void announce(const char *name)
{
	FILE *log = fopen("/dev/kmsg", "we");

	if (!log)
		return;
	fprintf(log, "peerlane-test: %s.%s\n", program_invocation_short_name,
		name);
	fclose(log);
}

/* A number that was reserved and never given back is in no list of files. */
static inline int reserved_files(void)
{
	int fd, reserved = 0;

	for (fd = 0; fd < 64; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (dup2(STDOUT_FILENO, fd) == fd)
			close(fd);
		else
			reserved += errno == EBUSY;
	}
	return reserved;
}

static inline int harness_run(const struct tap_case *cases, size_t count)
{
	size_t i, failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("1..%zu\n", count);
	for (i = 0; i < count; i++) {
		struct residue before = residue();
		int files = tap_open_files();

		tap.bad = 0;
		tap.skip = NULL;
		announce(cases[i].name);
		cases[i].run();
		CHECK_INT(tap_open_files(), files);
		CHECK_INT(reserved_files(), 0);
		check_residue(&before);
		printf("%sok %zu - %s", tap.bad ? "not " : "", i + 1,
		       cases[i].name);
		if (tap.skip && !tap.bad)
			printf(" # SKIP %s", tap.skip);
		printf("\n");
		failed += tap.bad != 0;
	}
	return failed ? 1 : 0;
}

#endif /* SELFTESTS_REGION_HARNESS_H */
