/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers and sizes on a command line. Pure. */
#ifndef PEERLANE_NUMBER_H
#define PEERLANE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Decimal, from @low to @high, and nothing behind it */
bool number_parse(const char *text, uint64_t low, uint64_t high,
		  uint64_t *value);
/* "4096", "64k", "1M", "2g", "1t", of 1024, from 1 to @most */
bool number_parse_size(const char *text, uint64_t most, uint64_t *size);

#endif /* PEERLANE_NUMBER_H */
