// SPDX-License-Identifier: GPL-2.0
/* What two readings of a counter say. */
#include "rate.h"

static const uint64_t second_ns = 1000000000;

struct rate rate_of(uint64_t before, uint64_t after, uint64_t elapsed_ns)
{
	unsigned __int128 scaled;
	struct rate rate = { .state = RATE_UNKNOWN };

	if (after < before) {
		rate.state = RATE_RESET;
		return rate;
	}
	if (!elapsed_ns)
		return rate;
	rate.state = RATE_KNOWN;
	rate.delta = after - before;
	scaled = (unsigned __int128)rate.delta * second_ns + elapsed_ns / 2;
	scaled /= elapsed_ns;
	rate.per_second = scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
	return rate;
}

uint64_t rate_share(uint64_t part, uint64_t whole)
{
	unsigned __int128 share;

	if (!whole)
		return 0;
	share = ((unsigned __int128)part * 10000 + whole / 2) / whole;
	return share > UINT64_MAX ? UINT64_MAX : (uint64_t)share;
}
