// SPDX-License-Identifier: GPL-2.0
#include <infiniband/verbs.h>
#include <pthread.h>
#include <unistd.h>

#include "files.h"

#define PLACES 48

static struct {
	struct thing thing;
	unsigned int turn;		/* changes whenever it is taken */
	bool full;
} places[PLACES];
static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;

void thing_close(const struct thing *thing)
{
	if (thing->kind == THING_MR)
		ibv_dereg_mr(thing->mr);
	else
		close(thing->fd);
}

/* The first of these kinds from a random place on, or -1. */
static int find(struct actor *actor, unsigned int kinds)
{
	unsigned int start = dice(actor, PLACES), i, at;

	for (i = 0; i < PLACES; i++) {
		at = (start + i) % PLACES;
		if (places[at].full && (places[at].thing.kind & kinds))
			return at;
	}
	return -1;
}

static void lend(int at, struct loan *loan)
{
	loan->thing = places[at].thing;
	loan->place = at;
	loan->turn = places[at].turn;
}

bool files_borrow(struct actor *actor, unsigned int kinds, struct loan *loan)
{
	int at;

	pthread_mutex_lock(&places_lock);
	at = find(actor, kinds);
	if (at >= 0)
		lend(at, loan);
	pthread_mutex_unlock(&places_lock);
	return at >= 0;
}

static bool is_region(const struct thing *thing, uint64_t region)
{
	return thing->kind == THING_REGION && thing->region == region &&
	       !thing->read_only;
}

bool files_borrow_region(uint64_t region, struct loan *loan)
{
	bool found = false;
	int i;

	pthread_mutex_lock(&places_lock);
	for (i = 0; i < PLACES && !found; i++) {
		if (!places[i].full || !is_region(&places[i].thing, region))
			continue;
		lend(i, loan);
		found = true;
	}
	pthread_mutex_unlock(&places_lock);
	return found;
}

bool files_kept(struct actor *actor, const struct loan *loan)
{
	bool kept;

	pthread_mutex_lock(&places_lock);
	kept = places[loan->place].full &&
	       places[loan->place].turn == loan->turn;
	pthread_mutex_unlock(&places_lock);
	if (!kept)
		actor->is_loose = true;
	return kept;
}

static void empty_place(int at, struct thing *thing)
{
	*thing = places[at].thing;
	places[at].full = false;
	places[at].turn++;
}

bool files_take(struct actor *actor, unsigned int kinds, struct thing *thing)
{
	int at;

	pthread_mutex_lock(&places_lock);
	at = find(actor, kinds);
	if (at >= 0)
		empty_place(at, thing);
	pthread_mutex_unlock(&places_lock);
	return at >= 0;
}

static int find_room(void)
{
	int i;

	for (i = 0; i < PLACES; i++)
		if (!places[i].full)
			return i;
	return -1;
}

void files_put(struct actor *actor, const struct thing *thing)
{
	struct thing evicted;
	bool full = false;
	int at;

	pthread_mutex_lock(&places_lock);
	at = find_room();
	if (at < 0) {
		at = dice(actor, PLACES);
		empty_place(at, &evicted);
		full = true;
	}
	places[at].thing = *thing;
	if (!thing->since)
		places[at].thing.since = clock_ms();
	places[at].full = true;
	pthread_mutex_unlock(&places_lock);
	if (full)
		thing_close(&evicted);
}

static bool take_older(long long when, struct thing *thing)
{
	bool found = false;
	int i;

	pthread_mutex_lock(&places_lock);
	for (i = 0; i < PLACES && !found; i++) {
		if (!places[i].full || places[i].thing.since > when)
			continue;
		empty_place(i, thing);
		found = true;
	}
	pthread_mutex_unlock(&places_lock);
	return found;
}

void files_close_old(long long age_ms)
{
	long long when = clock_ms() - age_ms;
	struct thing thing;

	while (take_older(when, &thing))
		thing_close(&thing);
}

void files_close_all(void)
{
	files_close_old(-1);
}
