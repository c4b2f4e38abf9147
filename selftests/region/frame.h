/* SPDX-License-Identifier: GPL-2.0 */
/* Where the caller's pages lie in physical memory; for CAP_SYS_ADMIN. */
#ifndef SELFTESTS_REGION_FRAME_H
#define SELFTESTS_REGION_FRAME_H

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#define FRAME_BYTES	4096UL

/* Number of the page frame behind @addr; 0 if there is none, or not for us. */
static inline uint64_t frame_of(const char *addr)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	off_t at = (uintptr_t)addr / FRAME_BYTES * sizeof(uint64_t);
	uint64_t entry = 0;

	if (pread(fd, &entry, sizeof(entry), at) != sizeof(entry))
		entry = 0;
	close(fd);
	return entry & ((1ULL << 55) - 1);
}

#endif
