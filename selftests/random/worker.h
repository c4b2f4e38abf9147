/* SPDX-License-Identifier: GPL-2.0 */
/* The processes of a run, made, killed and made again. */
#ifndef SELFTESTS_RANDOM_WORKER_H
#define SELFTESTS_RANDOM_WORKER_H

#include "actor.h"

struct crew;

struct crew *crew_start(void);
/* Reap who has ended, make him again; now and then kill one. */
void crew_tend(struct crew *crew, struct actor *actor);
/* board->stop is set: whether all have ended. */
bool crew_ended(struct crew *crew);
/* Complain of those who have not. */
void crew_show(struct crew *crew);
void crew_kill(struct crew *crew);
void crew_delete(struct crew *crew);

#endif /* SELFTESTS_RANDOM_WORKER_H */
