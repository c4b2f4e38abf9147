/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a process maps: places at fixed addresses that nothing else uses. An
 * access that comes too late, or a wild one, hits no memory of the program.
 *
 * Who writes tags holds the place, so that it stays a mapping of that region.
 * What changes nothing may touch any place at any time.
 */
#ifndef SELFTESTS_RANDOM_ARENA_H
#define SELFTESTS_RANDOM_ARENA_H

#include "actor.h"

#define MIB		(1UL << 20)
#define UNIT		(2 * MIB)
#define PAGE		4096UL
#define ARENA_PLACES	24
#define ARENA_START	0x100000000000UL	/* far below where mmap() looks */
#define ARENA_STRIDE	(16UL << 20)
#define ARENA_MOST	(4 * UNIT)		/* bytes mapped at one place */

struct place {
	uint64_t region;		/* as in struct thing; 0: no tags */
	uint64_t offset;		/* of at[0] in the region */
	char *at;
	uint64_t length;		/* 0: nothing is mapped */
	bool writable;
};

/* A mapped place, shared with others, none of whom changes it; or NULL. */
struct place *place_get(struct actor *actor);
/* Any place, for this thread alone; NULL: try another time. */
struct place *place_get_alone(struct actor *actor);
void place_put(struct place *place);

/* A page-aligned address in the window of @place, with ARENA_MOST behind it. */
char *place_address(struct actor *actor, const struct place *place);
void place_unmap(struct place *place);

/* For a new region: mostly one unit, so that there is room for many. */
uint64_t some_length(struct actor *actor);
/* Any page of any place; it may be mapped. */
char *arena_page(struct actor *actor);
/* A range in it, of whole pages. */
uint64_t place_part(struct actor *actor, const struct place *place,
		    uint64_t most, char **at);
/* Where @at of the place is in its region. */
static inline uint64_t place_offset(const struct place *place, const char *at)
{
	return place->offset + (at - place->at);
}

#endif /* SELFTESTS_RANDOM_ARENA_H */
