// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <peerlane.h>

#include "memory.h"

#define UNIT (2UL << 20)

const char *const sort_names[SORTS] = { "bar", "4k", "huge" };

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "micro: ");
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, "\n");
	va_end(ap);
	exit(1);
}

static int open_file(enum sort sort, size_t length)
{
	int fd;

	if (sort == BAR)
		return open("/dev/peerlane/gpu0", O_RDWR | O_CLOEXEC);
	fd = memfd_create("bench", MFD_CLOEXEC |
			  (sort == HUGE ? MFD_HUGETLB | MFD_HUGE_2MB : 0));
	if (fd >= 0 && ftruncate(fd, (off_t)length))
		die("%zu bytes of %s: %s", length, sort_names[sort],
		    strerror(errno));
	return fd;
}

/* Room in the address space. It stays: addresses are not in short supply. */
static char *room(size_t length)
{
	static char *next;
	char *at = next;

	if (!at) {
		at = mmap(NULL, 1UL << 40, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (at == MAP_FAILED)
			die("no address space");
		at += -(size_t)at & (UNIT - 1);
	}
	next = at + ((length + UNIT - 1) & ~(UNIT - 1));
	return at;
}

char *memory_open(enum sort sort, size_t length)
{
	int fd = open_file(sort, length);
	char *at;

	if (fd < 0)
		die("%s: %s", sort_names[sort], strerror(errno));
	at = mmap(room(length), length, PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_FIXED, fd, 0);
	if (at == MAP_FAILED)
		die("mmap of %zu bytes of %s: %s", length, sort_names[sort],
		    strerror(errno));
	close(fd);
	return at;
}

void memory_settle(void)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct peerlane_device_info info;
	int i;

	for (i = 0; i < 3000; i++) {
		if (peerlane_device_get("gpu0", &info))
			die("%s", peerlane_strerror());
		if (info.bytes_free == info.bytes_total)
			return;
		nanosleep(&pause, NULL);
	}
	die("gpu0 does not get its memory back");
}

void memory_close(char *at, size_t length)
{
	munmap(at, length);
	memory_settle();
}

void memory_touch(char *at, size_t length)
{
	size_t i;

	for (i = 0; i < length; i += 4096)
		*(volatile char *)(at + i) = 1;
}
