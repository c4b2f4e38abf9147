/* SPDX-License-Identifier: GPL-2.0 */
/* What two readings of a counter say. Pure: knows no flow and prints nothing. */
#ifndef PEERLANE_RATE_H
#define PEERLANE_RATE_H

#include <stdint.h>

enum rate_state {
	RATE_UNKNOWN,	/* one reading, or no time between two */
	RATE_RESET,	/* the counter went back: set to zero meanwhile */
	RATE_KNOWN,
};

struct rate {
	enum rate_state state;
	uint64_t delta;		/* if known */
	uint64_t per_second;	/* if known; rounded, the largest if it is too large */
};

struct rate rate_of(uint64_t before, uint64_t after, uint64_t elapsed_ns);

/* @part of @whole in hundredths of a percent, rounded; 0 of nothing is 0. */
uint64_t rate_share(uint64_t part, uint64_t whole);

#endif /* PEERLANE_RATE_H */
