/* SPDX-License-Identifier: GPL-2.0 */
/* The machine's PCI functions, as they were at the start. */
#ifndef SELFTESTS_RANDOM_FUNCTIONS_H
#define SELFTESTS_RANDOM_FUNCTIONS_H

#include "actor.h"

#define BARS 2				/* gpu0, gpu1 */

void functions_init(void);
/* Now and then of one that there is not. */
const char *some_function(struct actor *actor);
/* Of the rig's BAR devices. */
const char *bar_function(unsigned int bar);

#endif /* SELFTESTS_RANDOM_FUNCTIONS_H */
