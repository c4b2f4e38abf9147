/* SPDX-License-Identifier: GPL-2.0 */
/* Who acts: a thread with dice of its own, thrown from the run's seed. */
#ifndef SELFTESTS_RANDOM_ACTOR_H
#define SELFTESTS_RANDOM_ACTOR_H

#include <stddef.h>
#include <stdint.h>

#include "board.h"

#define ACTOR_BUFFER	(64UL << 10)

struct actor {
	uint64_t dice;
	unsigned int worker;		/* number of its process */
	uint64_t drawn;			/* actions of a deck that is in turn */
	struct seat *seat;
	char *buffer;			/* ACTOR_BUFFER bytes, page-aligned */
	bool is_loose;			/* this action may be refused anyhow */
};

/* @life: how many workers had this number before. */
void actor_init(struct actor *actor, unsigned int worker, unsigned int seat,
		unsigned int life);

unsigned int dice(struct actor *actor, unsigned int sides);
bool one_in(struct actor *actor, unsigned int sides);

/* Bytes: of whole pages, and not more than @most, which is not 0. */
uint64_t some_pages(struct actor *actor, uint64_t most);
/* A number that likes to be at an edge. */
uint64_t edge_number(struct actor *actor);

/*
 * Call with a guard against SIGBUS and SIGSEGV, also for other processes' or
 * revoked memory: 0, or the signal.
 */
int guarded(void (*run)(void *arg), void *arg);
void guard_init(void);

#endif /* SELFTESTS_RANDOM_ACTOR_H */
