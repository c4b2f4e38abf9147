/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RoCE between two network namespaces, made by hand: node a sends requests, node
 * b answers. No function returns after a failure.
 */
#ifndef SELFTESTS_BENCH_FLOW_TRAFFIC_H
#define SELFTESTS_BENCH_FLOW_TRAFFIC_H

#include <stdint.h>

/* Flows of one batch, which are sent in one system call. */
#define BATCH	1000

/* The sockets of node a, and no others, belong to it. */
#define TRAFFIC_CGROUP	"/sys/fs/cgroup/node-a"

enum pattern {
	SENDS,		/* one packet, one acknowledgement */
	MESSAGES,	/* a WRITE of four packets, one acknowledgement */
	OTHER,		/* as SENDS, but to another UDP port */
	PATTERNS,
};

extern const char *const pattern_names[PATTERNS];

void die(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/** traffic_open() - sockets; we are in node a, @peer is node b's namespace */
void traffic_open(const char *peer);
/**
 * traffic_select() - the flows that traffic_round() is about
 *
 * BATCH of them, @step apart, from number 0 on. Numbers of packets go on where
 * they were only as long as the flows stay the same.
 */
void traffic_select(uint32_t step);
/** traffic_round() - one message of each flow; returns packets that a saw */
unsigned int traffic_round(enum pattern pattern);
/** traffic_fill() - a packet of each flow from @begin to @end - 1, to b only */
void traffic_fill(uint32_t begin, uint32_t end);
/** now() - ns; instructions where they are the clock */
uint64_t now(void);

#endif /* SELFTESTS_BENCH_FLOW_TRAFFIC_H */
