/* SPDX-License-Identifier: GPL-2.0 */
/* Who the other workers are, and the mailbox by which they get files. */
#ifndef SELFTESTS_RANDOM_PROCESS_H
#define SELFTESTS_RANDOM_PROCESS_H

#include "actor.h"

#define WORKERS		3
#define THREADS		3

/* Before the first worker is made: mailboxes outlive their owners. */
void mailboxes_new(void);
void mailboxes_delete(void);

/* Of any worker, also the caller's own. It may be gone. */
pid_t some_worker(struct actor *actor);
/* What `random_test --executed FD` does: use an inherited region. */
int executed_main(int fd);

#endif /* SELFTESTS_RANDOM_PROCESS_H */
