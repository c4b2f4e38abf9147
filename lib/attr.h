/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* Small files of /sys and /proc, inside the library. */
#ifndef PEERLANE_ATTR_H
#define PEERLANE_ATTR_H

#include "private.h"

#define PL_PATH_MAX	512

/**
 * pl_attr_text() - the first line of a small file
 * @text: filled, ends in NUL and not in blanks; left on failure
 * @size: of @text, > 0
 *
 * Return: 0 or a negative errno; sets no text, as most files may be missing.
 */
int pl_attr_text(char *text, size_t size, const char *path, ...)
	PL_PRINTF(3, 4);
/* The whole of a decimal (or 0x...) number. -EINVAL: it holds something else. */
int pl_attr_number(uint64_t *number, const char *path, ...) PL_PRINTF(2, 3);
/* All of a decimal or 0x... number, or -EINVAL, -ERANGE */
int pl_number(const char *text, uint64_t *number);

/**
 * pl_attr_names() - what a folder holds, sorted as people count ("a2", "a10")
 * @names: set to an array of strings; freed with pl_attr_names_free()
 * @count: set
 *
 * Return: 0 or a negative errno; sets no text.
 */
int pl_attr_names(char ***names, size_t *count, const char *path, ...)
	PL_PRINTF(3, 4);
void pl_attr_names_free(char **names, size_t count);

/* The last part of where a link leads. Return: 0 or a negative errno. */
int pl_attr_link(char *name, size_t size, const char *path, ...)
	PL_PRINTF(3, 4);

/* Command name of a process; @name is emptied where it has none (any more). */
void pl_process_name(int32_t pid, char *name, size_t size);
/* A copy that fits and ends in NUL */
void pl_copy_text(char *to, const char *from, size_t size);

#endif /* PEERLANE_ATTR_H */
