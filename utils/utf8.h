/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PEERLANE_UTF8_H
#define PEERLANE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * The character that begins at @text, of @length bytes; -1 and one byte if that
 * is no shortest-form UTF-8 of a character outside the surrogates.
 */
int32_t utf8_decode(const unsigned char *text, size_t *length);

#endif /* PEERLANE_UTF8_H */
