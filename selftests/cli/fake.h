/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the library with canned answers share. */
#ifndef FAKE_H
#define FAKE_H

#include <peerlane.h>

#pragma GCC visibility push(hidden)

/* $FAKE is @name. */
bool scene(const char *name);
/* -@error, with this as the reason. */
int refuse(int error, const char *text);
/* What every call may run into. */
int common_failure(void);
/* A copy of @number records of @size bytes, as the lists are handed out. */
int copy_out(void *list, size_t *count, const void *from, size_t size,
	     size_t number);
/* names[i], or "unknown" */
const char *name_of(const char *const *names, size_t count, uint32_t i);

#pragma GCC visibility pop

#endif /* FAKE_H */
