/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What else counts flows, switched on and off in this network namespace. No
 * function returns after a failure.
 */
#ifndef SELFTESTS_BENCH_FLOW_RIVAL_H
#define SELFTESTS_BENCH_FLOW_RIVAL_H

#include <stdbool.h>
#include <stdint.h>

/** conntrack_set() - connection tracking, without a rule that packets meet */
void conntrack_set(bool on);
/** conntrack_count() - entries of this namespace */
uint32_t conntrack_count(void);

/* Where the program that counts is attached. */
enum hook {
	HOOK_CGROUP,	/* of the sockets */
	HOOK_CLSACT,	/* tc's classifier */
	HOOK_TCX,	/* tc's hook without it, from 6.6 on */
	HOOKS,
};

extern const char *const hook_names[HOOKS];

/**
 * ebpf_begin() - count both directions of a device
 * @object: flow_count.bpf.o
 * @is_lru: with a map that makes room by itself
 *
 * Return: false if the kernel has no such hook.
 */
bool ebpf_begin(const char *object, enum hook hook, unsigned int ifindex,
		bool is_lru);
/** ebpf_end() - @packets: how many it counted */
void ebpf_end(uint64_t *packets);

#endif /* SELFTESTS_BENCH_FLOW_RIVAL_H */
