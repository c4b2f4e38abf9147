/* SPDX-License-Identifier: GPL-2.0 */
/* Who of a group was late, in words. Pure. */
#ifndef PEERLANE_LATENESS_H
#define PEERLANE_LATENESS_H

#include <stddef.h>

#include <peerlane.h>

enum { LATENESS_WORDS = 160 };

/* How late one rank was, within a factor of two */
uint64_t lateness_percentile(const struct peerlane_rank_status *rank,
			     uint32_t millionths);

/* "rank 3 was late: last to 87% of the segments, ..." */
void lateness_words(const struct peerlane_rank_status *ranks, size_t count,
		    char words[LATENESS_WORDS]);

/* How a group ended: "all ranks left", "rank 3 was late", ... */
void ending_words(uint32_t cause, uint32_t rank, char words[LATENESS_WORDS]);

#endif /* PEERLANE_LATENESS_H */
