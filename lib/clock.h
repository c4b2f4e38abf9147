/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* Deadlines, which no change of the date may move. */
#ifndef PEERLANE_CLOCK_H
#define PEERLANE_CLOCK_H

#include <stdint.h>

#define PL_CLOCK_SECOND	INT64_C(1000000000)

/* When @timeout ms are over, ns; -1 never */
int64_t pl_clock_end(int timeout);
/* ns until @end, 0 if it is over; -1 never */
int64_t pl_clock_left(int64_t end);
/* The same in ms for who waits: up, so that it does not wait in vain */
int pl_clock_left_ms(int64_t end);

#endif /* PEERLANE_CLOCK_H */
