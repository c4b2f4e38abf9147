/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a process has open, for all its threads.
 *
 * A thing is borrowed, and another thread may close it meanwhile: so calls meet
 * files that go, and numbers that name another file by then. Or it is taken,
 * and is this thread's alone until it is put back.
 */
#ifndef SELFTESTS_RANDOM_FILES_H
#define SELFTESTS_RANDOM_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "actor.h"

enum thing_kind {
	THING_REGION	= 1 << 0,	/* of a device, perhaps empty */
	THING_IMPORT	= 1 << 1,
	THING_HOST	= 1 << 2,
	THING_CONTROL	= 1 << 3,
	THING_DMABUF	= 1 << 4,
	THING_PATH	= 1 << 5,	/* O_PATH */
	THING_EPOLL	= 1 << 6,
	THING_PIPE	= 1 << 7,	/* with pages of a region in it */
	THING_MR	= 1 << 8,	/* no file */
	THING_IMPORTER	= 1 << 9,	/* /dev/pl_importer */
};

#define THING_REGIONS	(THING_REGION | THING_IMPORT | THING_HOST)
#define THING_MAPPABLE	(THING_REGION | THING_IMPORT | THING_DMABUF)
#define THING_PASSABLE	(THING_REGIONS | THING_DMABUF)
#define THING_ANY	0x3ff

struct thing {
	enum thing_kind kind;
	int fd;
	void *mr;
	uint64_t region;		/* whose bytes it shows; 0: unknown */
	uint64_t base;			/* of its first byte in that region */
	uint64_t length;		/* 0: ask the region */
	bool read_only;
	long long since;		/* ms */
};

struct loan {
	struct thing thing;
	unsigned int place, turn;
};

/* false: there is none of these kinds. */
bool files_borrow(struct actor *actor, unsigned int kinds, struct loan *loan);
/* A device's region that is known by number, open for writing. */
bool files_borrow_region(uint64_t region, struct loan *loan);
/* Whether it was open all the time. If not, the call may be refused anyhow. */
bool files_kept(struct actor *actor, const struct loan *loan);
bool files_take(struct actor *actor, unsigned int kinds, struct thing *thing);
/* For all to see; another may be closed to make room. */
void files_put(struct actor *actor, const struct thing *thing);
void files_close_old(long long age_ms);
void files_close_all(void);
void thing_close(const struct thing *thing);

#endif /* SELFTESTS_RANDOM_FILES_H */
