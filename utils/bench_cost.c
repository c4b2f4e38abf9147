// SPDX-License-Identifier: GPL-2.0
/* CPU time, of this process and of the whole node. */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

uint64_t bench_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t ns_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000 +
	       (uint64_t)time->tv_usec * 1000;
}

/*
 * All that is not idle. Much of what the kernel does for an endpoint is done
 * in interrupts and by its threads, which no process is charged for.
 */
static uint64_t node_busy(void)
{
	unsigned long long user = 0, nice = 0, system = 0, irq = 0, softirq = 0;
	FILE *file = fopen("/proc/stat", "re");
	int found;

	if (!file)
		return 0;
	found = fscanf(file, "cpu %llu %llu %llu %*u %*u %llu %llu", &user,
		       &nice, &system, &irq, &softirq);
	fclose(file);
	if (found != 5)
		return 0;
	return (user + nice + system + irq + softirq) *
	       (1000000000ULL / (unsigned long long)sysconf(_SC_CLK_TCK));
}

struct bench_cost bench_cost_now(void)
{
	struct bench_cost cost = { .node = node_busy() };
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	cost.process = ns_of(&usage.ru_utime) + ns_of(&usage.ru_stime);
	return cost;
}

struct bench_cost bench_cost_since(const struct bench_cost *begin)
{
	struct bench_cost cost = bench_cost_now();

	cost.process -= begin->process;
	cost.node -= begin->node;
	return cost;
}
