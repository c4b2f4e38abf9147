/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of regions share. Calls return 0 (or an fd) or -errno; the
 * reason that came with the last one is in why.
 */
#ifndef SELFTESTS_REGION_H
#define SELFTESTS_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <peerlane.h>
#include "dma.h"

#define MIB	(1UL << 20)
#define UNIT	(2 * MIB)

extern char why[PEERLANE_MSG_MAX];

int open_node(const char *name);	/* "gpu0", "control" */

int region_alloc(int fd, uint64_t length);
int region_info(int fd, struct peerlane_region_status *info);
int region_export(int fd, uint64_t offset, uint64_t length, uint32_t flags);
int region_revoke(int fd);
int import_dmabuf(int dmabuf, uint64_t offset, uint64_t length,
		  uint64_t *out_length);
int pin_host(const void *addr, uint64_t length, uint32_t flags);
int pin_host_at(uint64_t addr, uint64_t length, uint32_t flags);
int preflight(const char *target, const char *initiator, uint32_t flags,
	      struct peerlane_preflight *answer);

/* A region of gpu0 with memory, or -errno. */
int new_region(uint64_t length);

/* Of gpu0 unless named; false if it is not listed. */
bool device_record(const char *name, struct peerlane_device_record *record);
uint64_t bytes_free(void);
uint64_t bytes_limbo(void);
/* The physical address of gpu0's memory. */
uint64_t device_phys(void);

/* Things that end in a workqueue: within 30 s. */
bool wait_free(uint64_t bytes);
bool wait_state(int fd, uint32_t state);
bool wait_exports(int fd, uint32_t exports);
void sleep_ms(unsigned int ms);

/* Regions that the module has in all; what tests leave behind. */
int count_regions(void);
bool wait_regions(int count);

/* Whether a read of *addr gives SIGBUS. */
bool faults(const volatile void *addr);

/* mmap() shared, for reading and writing, or NULL with errno set. */
void *map(int fd, size_t length, uint64_t offset);

/* -errno of such an mmap(), 0 if it would work. */
int map_error(int fd, size_t length, uint64_t offset, int prot, int flags);

bool kernel_has(const char *symbol);

#endif /* SELFTESTS_REGION_H */
