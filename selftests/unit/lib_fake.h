/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A kernel for the library's tests: /dev/peerlane, its ioctls, and a PCI
 * function in sysfs. Linked in place of the system calls (ld --wrap).
 *
 * ioctls are played from a script: each fake_ioctl() adds a call that must
 * come next. What the library sent is kept in fake.seen[]. A region's file is
 * a memfd, so mapping it is real.
 */
#ifndef LIB_FAKE_H
#define LIB_FAKE_H

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "private.h"

#define FAKE_CALLS	64
#define FAKE_ARG	256
#define FAKE_BDF	"0000:03:00.0"

struct fake_call {
	unsigned int request;
	size_t size;		/* of the struct; 0 for any */
	int err;		/* errno, 0 for success */
	const char *msg;	/* text, or NULL */
	void (*fill)(void *arg);
	const void *copy;	/* or: the struct's part behind the header */
	int eintr;		/* so many EINTR first */
};

/* One answer of pread() or pwrite() */
struct fake_move {
	ssize_t ret;
	int err;
};

extern struct fake {
	struct fake_call calls[FAKE_CALLS];
	int planned, played;
	union {
		char bytes[FAKE_ARG];
		struct peerlane_hdr hdr;
		struct peerlane_region_alloc alloc;
		struct peerlane_region_export export;
		struct peerlane_import_dmabuf import;
		struct peerlane_pin_host pin;
		struct peerlane_list list;
		struct peerlane_preflight preflight;
		struct peerlane_endpoint_create create;
		struct peerlane_endpoint_address address;
		struct peerlane_endpoint_bind bind;
		struct peerlane_endpoint_expose expose;
		struct peerlane_endpoint_withdraw withdraw;
		struct peerlane_endpoint_submit submit;
		struct peerlane_group_create group;
		struct peerlane_group_join join;
		struct peerlane_group_submit collect;
		struct peerlane_aggregator_create aggregator;
		struct peerlane_aggregator_ranks ranks;
	} seen[FAKE_CALLS];

	int control_errno;	/* open() of the control file */
	int device_errno;	/* open() of a device */
	int open_eintr;
	char opened[128];	/* the last device */
	int region_fd;		/* the last region's file, as handed out */
	size_t region_size;

	bool pci;		/* the function FAKE_BDF exists */
	char driver[64];
	char override[64];
	bool stubborn;		/* probing does not bind */
	bool taken;		/* by peerlane: as the module has it */
	const char *fail_path;	/* writing there fails ... */
	int fail_errno;		/* ... like this */
	char log[1024];		/* what was written to sysfs, in order */

	int calloc_fail;	/* the n-th calloc() from now fails */
	int mmap_errno;
	int madvise_advice;
	const char *no_library;	/* dlopen() of it fails */

	/* Of lib_fake_tree.c, or NULL: where a path is, ethtool's ioctl */
	const char *(*path)(const char *path, char buffer[512]);
	int (*ethtool)(void *ifreq);

	int move_fd;		/* file of read_file() and write_file() */
	int move_flags;		/* its F_GETFL */
	struct fake_move moves[8];
	int moves_planned, moves_played;
	struct {
		char *at;
		size_t length;
		long long offset;
	} moved[8];
} fake;

/* Begin a case: nothing is planned, the module is loaded. */
void fake_reset(void);
/* End it: all that was planned has been called. */
void fake_finish(void);
void fake_add(struct fake_call call);
#define fake_ioctl(...) fake_add((struct fake_call){ __VA_ARGS__ })
/* REGION_INFO that succeeds with these */
void fake_info(uint32_t kind, uint32_t state, uint32_t caps, uint64_t length);
void fake_move(ssize_t ret, int err);
/* A new file of @size bytes, as a region's or a dma-buf's */
int fake_file(size_t size);
/* An endpoint whose file is @fd */
struct peerlane_endpoint *fake_endpoint(int fd);
/* A region of the device "gpu0" */
struct peerlane_region *fake_region(uint32_t caps, size_t length);

#endif /* LIB_FAKE_H */
