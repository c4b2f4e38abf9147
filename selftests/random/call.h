/* SPDX-License-Identifier: GPL-2.0 */
/* ioctls as a program makes them: well-formed, with some buffer for the text. */
#ifndef SELFTESTS_RANDOM_CALL_H
#define SELFTESTS_RANDOM_CALL_H

#include <peerlane.h>

#include "actor.h"

/* 0 or -errno */
int call(struct actor *actor, int fd, unsigned long cmd, void *args,
	 size_t size);

/* CALL(actor, fd, REGION_INFO, &info) */
#define CALL(actor, fd, name, args) \
	call(actor, fd, PEERLANE_IOC_##name, args, sizeof(*(args)))

/* A device of those that come and go. */
const char *some_device(struct actor *actor);
#define CONTROL "/dev/peerlane/control"

#endif /* SELFTESTS_RANDOM_CALL_H */
