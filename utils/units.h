/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers with three digits and a unit, for people. Pure. */
#ifndef PEERLANE_UNITS_H
#define PEERLANE_UNITS_H

#include <stddef.h>
#include <stdint.h>

enum { UNITS_ROOM = 24 };

/* "0", "999", "1.23k", "45.6M", ..., then @unit. Cut, not rounded. */
void units_si(char to[UNITS_ROOM], uint64_t value, const char *unit);
/* The same of eight times @bytes, in b/s. */
void units_bits(char to[UNITS_ROOM], uint64_t bytes_per_second);
/* "640ns", "1.23us", "45.6ms", "7.89s" */
void units_ns(char to[UNITS_ROOM], uint64_t ns);
/* "0", "0.05%", "12.34%" of hundredths of a percent */
void units_percent(char to[UNITS_ROOM], uint64_t hundredths);
/* "45s", "12m", "3h05m", "12d3h" */
void units_age(char to[UNITS_ROOM], uint64_t ms);

#endif /* PEERLANE_UNITS_H */
