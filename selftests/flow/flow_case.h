/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cases of the library's calls for flows on the real module. Packets are made by
 * hand and sent over "lo", each case in a network namespace of its own, so that
 * it knows every flow there is. Needs root.
 */
#ifndef FLOW_CASE_H
#define FLOW_CASE_H

#include <errno.h>
#include <peerlane.h>

#include "roce_send.h"
#include "tap.h"

void case_begin(void);
/* The same, and what software RDMA sends and receives is observed. */
void case_begin_observed(void);
void case_end(void);

/* From and to 127.0.0.1, reliable */
struct peerlane_flow_key flow_key(uint32_t qpn);
struct peerlane_flow_info flow_get(uint32_t qpn);
size_t flow_count(const struct peerlane_flow_filter *filter);
struct roce writes(uint32_t qpn, uint32_t psn);
void pause_ms(int ms);

#endif /* FLOW_CASE_H */
