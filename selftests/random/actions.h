/* SPDX-License-Identifier: GPL-2.0 */
/* What can be done, in groups; a draw picks one by weight. */
#ifndef SELFTESTS_RANDOM_ACTIONS_H
#define SELFTESTS_RANDOM_ACTIONS_H

#include <errno.h>

#include "actor.h"

#define ACTION_ERRNOS 16

/*
 * run() returns 0 (or a positive number), -errno or NOTHING. A refusal with
 * another errno than these is a failure, unless actor->is_loose. ENOMEM and
 * EINTR are always allowed.
 */
struct action {
	const char *name;
	int (*run)(struct actor *actor);
	unsigned int weight;
	int errnos[ACTION_ERRNOS];
	bool may_never;			/* succeed, whatever the machine */
	bool (*can)(void);		/* this machine do it; NULL: any can */
};

/* Arrays that end with an action without name. */
extern const struct action open_actions[], region_actions[], control_actions[],
	garbage_actions[], map_actions[], touch_actions[], dma_actions[],
	pin_actions[], disk_actions[], process_actions[], owner_actions[],
	admin_actions[];

struct deck {
	const struct action *const *groups;	/* ends with NULL */
	bool in_turn;		/* none comes again before all have come */
};

/* What workers do; who takes devices away; who administers. */
extern const struct deck worker_deck, owner_deck, admin_deck;

/* One action of the deck, counted and judged. */
void act(struct actor *actor, const struct deck *deck);

/* By the number on the board; NULL: there are no more. */
const struct action *action_by_number(int number);
const char *action_name(int number);
bool action_is_of(const struct action *action, const struct deck *deck);

/* Before the first worker: what all have, and what is slow to find. */
void pins_prepare(void);
/* For worker processes, before their threads. */
void pins_init(struct actor *actor);
void disk_init(void);

#endif /* SELFTESTS_RANDOM_ACTIONS_H */
