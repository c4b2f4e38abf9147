/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* What every header of the library needs, and what is said of errors. */
#ifndef LIBPEERLANE_BASE_H
#define LIBPEERLANE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PEERLANE_API __attribute__((visibility("default")))

/**
 * peerlane_strerror() - why the last call of this thread failed
 *
 * Return: one line without newline, which ends with the errno in brackets. It
 * is valid until this thread's next call of a function that can fail; an empty
 * string after one that succeeded. Functions that cannot fail leave it, so
 * peerlane_region_free() may come first.
 */
PEERLANE_API const char *peerlane_strerror(void);

/** peerlane_version() - "major.minor.patch" of the library. */
PEERLANE_API const char *peerlane_version(void);

#ifdef __cplusplus
}
#endif

#endif /* LIBPEERLANE_BASE_H */
