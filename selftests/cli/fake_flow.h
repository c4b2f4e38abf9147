/* SPDX-License-Identifier: GPL-2.0 */
/* The flows of the library with canned answers. */
#ifndef FAKE_FLOW_H
#define FAKE_FLOW_H

#include "fake.h"

enum { FAKE_FLOWS = 1000 };

#pragma GCC visibility push(hidden)

/* Flows of the scene, as they are at the @look'th look; returns how many. */
size_t fake_flows(struct peerlane_flow_info *flows, unsigned int look);
bool fake_matches(const struct peerlane_flow_filter *filter,
		  const struct peerlane_flow_info *flow);

#pragma GCC visibility pop

#endif /* FAKE_FLOW_H */
