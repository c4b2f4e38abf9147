// SPDX-License-Identifier: GPL-2.0
#include <pthread.h>
#include <sys/mman.h>

#include "arena.h"

static struct place places[ARENA_PLACES];
static pthread_rwlock_t locks[ARENA_PLACES] = {
	[0 ... ARENA_PLACES - 1] = PTHREAD_RWLOCK_INITIALIZER,
};

static pthread_rwlock_t *lock_of(const struct place *place)
{
	return &locks[place - places];
}

/* Never waits: who holds it may be in the kernel for long. */
struct place *place_get(struct actor *actor)
{
	unsigned int start = dice(actor, ARENA_PLACES), i;
	struct place *place;

	for (i = 0; i < ARENA_PLACES; i++) {
		place = &places[(start + i) % ARENA_PLACES];
		if (pthread_rwlock_tryrdlock(lock_of(place)))
			continue;
		if (place->length)
			return place;
		pthread_rwlock_unlock(lock_of(place));
	}
	return NULL;
}

struct place *place_get_alone(struct actor *actor)
{
	struct place *place = &places[dice(actor, ARENA_PLACES)];

	return pthread_rwlock_trywrlock(lock_of(place)) ? NULL : place;
}

void place_put(struct place *place)
{
	pthread_rwlock_unlock(lock_of(place));
}

static char *window(const struct place *place)
{
	return (char *)ARENA_START + (place - places) * ARENA_STRIDE;
}

/* Often where 2 MiB of addresses and of the region go together. */
char *place_address(struct actor *actor, const struct place *place)
{
	return window(place) + (one_in(actor, 2) ? 0 : dice(actor, 512) * PAGE);
}

void place_unmap(struct place *place)
{
	munmap(window(place), ARENA_STRIDE);
	place->length = 0;
}

uint64_t some_length(struct actor *actor)
{
	return some_pages(actor, one_in(actor, 4) ? ARENA_MOST : UNIT);
}

char *arena_page(struct actor *actor)
{
	return window(&places[dice(actor, ARENA_PLACES)]) +
	       dice(actor, ARENA_MOST / PAGE) * PAGE;
}

uint64_t place_part(struct actor *actor, const struct place *place,
		    uint64_t most, char **at)
{
	uint64_t first = some_pages(actor, place->length) - PAGE;
	uint64_t left = place->length - first;

	*at = place->at + first;
	return some_pages(actor, left < most ? left : most);
}
