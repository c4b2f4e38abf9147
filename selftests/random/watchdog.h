/* SPDX-License-Identifier: GPL-2.0 */
/* Finds actions that do not end, and says where they are. */
#ifndef SELFTESTS_RANDOM_WATCHDOG_H
#define SELFTESTS_RANDOM_WATCHDOG_H

#include <stdbool.h>

/* No action takes longer. */
#define WATCHDOG_SECONDS 400.0

/* Complains and returns true if one takes too long. */
bool watchdog_barks(void);
/* Where the threads of this process are in the kernel. */
void watchdog_show(int pid);

#endif /* SELFTESTS_RANDOM_WATCHDOG_H */
