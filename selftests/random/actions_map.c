// SPDX-License-Identifier: GPL-2.0
/* Mappings: made, moved, changed, ended. */
#include <string.h>
#include <sys/mman.h>

#include "actions.h"
#include "arena.h"
#include "call.h"
#include "files.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ	22
#define MADV_POPULATE_WRITE	23
#endif

struct want {
	uint64_t offset, length;
	int prot;
};

static struct want some_want(struct actor *actor, uint64_t length)
{
	struct want want = { .prot = PROT_READ | PROT_WRITE };

	want.offset = one_in(actor, 2) ? 0 : some_pages(actor, length) - PAGE;
	want.length = some_pages(actor, length - want.offset);
	if (one_in(actor, 4))
		want.prot = one_in(actor, 4) ? PROT_NONE : PROT_READ;
	return want;
}

/* An empty region takes as much as is mapped. */
static uint64_t length_of(struct actor *actor, const struct loan *loan)
{
	struct peerlane_region_status info = {};

	if (loan->thing.length)
		return loan->thing.length;
	if (CALL(actor, loan->thing.fd, REGION_INFO, &info) || !info.out_length)
		return some_length(actor);
	return info.out_length;
}

static int map_at_place(struct actor *actor, struct place *place)
{
	struct place new = {};
	struct want want;
	struct loan loan;
	bool kept;
	int ret = 0;

	if (!files_borrow(actor, THING_MAPPABLE, &loan))
		return NOTHING;
	want = some_want(actor, length_of(actor, &loan));
	if (want.length > ARENA_MOST)
		want.length = ARENA_MOST;
	place_unmap(place);
	new.at = mmap(place_address(actor, place), want.length, want.prot,
		      MAP_SHARED | MAP_FIXED | (one_in(actor, 8) ? MAP_POPULATE : 0),
		      loan.thing.fd, want.offset);
	if (new.at == MAP_FAILED)
		ret = -errno;
	kept = files_kept(actor, &loan);
	if (ret)
		return ret;
	new.length = want.length;
	/* If it was closed, it may be a mapping of anything. */
	new.region = kept ? loan.thing.region : 0;
	new.offset = loan.thing.base + want.offset;
	new.writable = want.prot & PROT_WRITE;
	*place = new;
	return 0;
}

static int map(struct actor *actor)
{
	struct place *place = place_get_alone(actor);
	int ret;

	if (!place)
		return NOTHING;
	ret = map_at_place(actor, place);
	place_put(place);
	return ret;
}

/* What no region lets be made. */
static int map_wrong(struct actor *actor)
{
	struct thing thing;
	void *at;

	if (!files_take(actor, THING_REGION, &thing))
		return NOTHING;
	if (one_in(actor, 2))
		at = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, thing.fd, 0);
	else
		at = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED,
			  thing.fd, 0);
	if (at != MAP_FAILED) {
		complain(COMPLAINT_ERRNO, "a private or executable mapping");
		munmap(at, PAGE);
	}
	files_put(actor, &thing);
	return 0;
}

static int unmap(struct actor *actor)
{
	struct place *place = place_get_alone(actor);
	uint64_t part;
	char *at;
	int ret = 0;

	if (!place)
		return NOTHING;
	if (!place->length) {
		ret = NOTHING;
	} else if (one_in(actor, 2)) {
		place_unmap(place);
	} else {	/* a hole: accesses to it fault, as they may */
		part = place_part(actor, place, ARENA_MOST, &at);
		ret = munmap(at, part) ? -errno : 0;
	}
	place_put(place);
	return ret;
}

static int move(struct actor *actor)
{
	struct place *from = place_get_alone(actor), *to;
	int ret = NOTHING;
	void *at;

	if (!from)
		return NOTHING;
	to = place_get_alone(actor);
	if (!to)
		goto out;
	if (from->length) {
		place_unmap(to);
		at = mremap(from->at, from->length, from->length,
			    MREMAP_MAYMOVE | MREMAP_FIXED,
			    place_address(actor, to));
		ret = at == MAP_FAILED ? -errno : 0;
	}
	if (!ret) {
		*to = *from;
		to->at = at;
		place_unmap(from);
	}
	place_put(to);
out:
	place_put(from);
	return ret;
}

/* Nobody gets to see more than he mapped. */
static int grow(struct actor *actor)
{
	struct place *place = place_get_alone(actor);
	int ret = NOTHING;

	if (!place)
		return NOTHING;
	if (place->length > PAGE && place->region) {
		/* From the middle, so that there are pages behind it. */
		munmap(place->at + place->length - PAGE, PAGE);
		ret = 0;
		if (mremap(place->at + place->length - 2 * PAGE, PAGE, 2 * PAGE,
			   0) != MAP_FAILED)
			complain(COMPLAINT_ERRNO, "a mapping grew");
		place->length -= PAGE;
	}
	place_put(place);
	return ret;
}

static int protect(struct actor *actor)
{
	static const int prots[] = {
		PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE,
		PROT_READ, PROT_NONE, PROT_WRITE,
	};
	struct place *place = place_get(actor);
	uint64_t part;
	char *at;
	int ret;

	if (!place)
		return NOTHING;
	part = place_part(actor, place, ARENA_MOST, &at);
	ret = mprotect(at, part, prots[dice(actor, 5)]) ? -errno : 0;
	if (place->region &&
	    !mprotect(at, part, PROT_READ | PROT_EXEC))
		complain(COMPLAINT_ERRNO, "a mapping became executable");
	place_put(place);
	return ret;
}

static int advise(struct actor *actor)
{
	static const int advices[] = {
		MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED,
		MADV_DONTNEED, MADV_DONTNEED, MADV_DONTFORK, MADV_DOFORK,
		MADV_DONTDUMP, MADV_DODUMP, MADV_HUGEPAGE, MADV_NOHUGEPAGE,
		MADV_WIPEONFORK, MADV_KEEPONFORK, MADV_COLD, MADV_PAGEOUT,
		MADV_MERGEABLE, MADV_UNMERGEABLE, MADV_FREE, MADV_REMOVE,
		MADV_POPULATE_READ, MADV_POPULATE_WRITE, MADV_POPULATE_WRITE,
	};
	struct place *place = place_get(actor);
	int ret;
	uint64_t part;
	char *at;

	if (!place)
		return NOTHING;
	part = place_part(actor, place, ARENA_MOST, &at);
	ret = madvise(at, part, advices[dice(actor, sizeof(advices) /
					    sizeof(advices[0]))]) ? -errno : 0;
	/* What is refused is the core's business. */
	actor->is_loose = true;
	place_put(place);
	return ret;
}

static int lock_or_sync(struct actor *actor)
{
	unsigned char there[ARENA_MOST / PAGE];
	struct place *place = place_get(actor);
	uint64_t part;
	char *at;

	if (!place)
		return NOTHING;
	part = place_part(actor, place, ARENA_MOST, &at);
	actor->is_loose = true;
	if (!mlock2(at, part, dice(actor, 2)))
		munlock(at, part);
	mincore(at, part, there);
	place_put(place);
	return msync(at, part, one_in(actor, 2) ? MS_SYNC : MS_ASYNC) ? -errno : 0;
}

const struct action map_actions[] = {
	{ "mmap", map, 40,
	  { ENODEV, ENOSPC, EDQUOT, EINVAL, EACCES, EPERM } },
	{ "mmap that may not be", map_wrong, 4 },
	{ "munmap", unmap, 12 },
	{ "mremap", move, 10, { EFAULT } },
	{ "mremap to more", grow, 4 },
	{ "mprotect", protect, 8, { ENOMEM, EACCES } },
	{ "madvise", advise, 15 },
	{ "mlock, mincore, msync", lock_or_sync, 4 },
	{}
};
