/* SPDX-License-Identifier: GPL-2.0 */
/* Reading of all flows by a loop that looks at nothing but message headers. */
#ifndef SELFTESTS_BENCH_FLOW_DUMP_H
#define SELFTESTS_BENCH_FLOW_DUMP_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct slice - a part of a dump
 * @entries: how many came
 * @ns: how long that took
 */
struct slice {
	uint64_t entries;
	uint64_t ns;
};

/** dump_flows() - ours, in @slices parts of @total / @slices or a little more */
void dump_flows(struct slice *slice, unsigned int slices, uint32_t total);
/** dump_conntrack() - likewise */
void dump_conntrack(struct slice *slice, unsigned int slices, uint32_t total);

#endif /* SELFTESTS_BENCH_FLOW_DUMP_H */
