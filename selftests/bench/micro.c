// SPDX-License-Identifier: GPL-2.0
/*
 * micro RUNS MEASURE...
 *
 * Measures one thing after another on one node, candidate and baseline in turn
 * within each run, and prints "sample SERIES VALUE" with nanoseconds. When QEMU
 * counts instructions (-icount shift=0), a nanosecond is one instruction.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <peerlane.h>

#include "memory.h"

#define MIB	(1UL << 20)
#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ)

static struct ibv_pd *pd;

static unsigned long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000 +
	       (unsigned long long)t.tv_nsec;
}

static void sample(const char *series, const char *side,
		   unsigned long long since)
{
	unsigned long long value = now() - since;

	printf("sample %s/%s %llu\n", series, side, value);
	fflush(stdout);
}

/* ---- ibv_reg_mr() -------------------------------------------------------- */

static void time_reg(const char *series, const char *side, char *at,
		     size_t length)
{
	char dereg[64];
	unsigned long long begin = now();
	struct ibv_mr *mr = ibv_reg_mr(pd, at, length, ACCESS);

	if (!mr)
		die("ibv_reg_mr of %s: %s", side, strerror(errno));
	sample(series, side, begin);
	snprintf(dereg, sizeof(dereg), "de%s", series);
	begin = now();
	if (ibv_dereg_mr(mr))
		die("ibv_dereg_mr");
	sample(dereg, side, begin);
}

static void reg(int runs)
{
	const size_t length = 256 * MIB;
	char *at[SORTS];
	int run, i;

	for (i = 0; i < SORTS; i++) {
		at[i] = memory_open(i, length);
		memory_touch(at[i], length);
	}
	for (run = 0; run < runs; run++)
		for (i = 0; i < SORTS; i++)
			time_reg("reg-mr-256m", sort_names[(run + i) % SORTS],
				 at[(run + i) % SORTS], length);
	for (i = 0; i < SORTS; i++)
		memory_close(at[i], length);
}

static void reg_growth(int runs)
{
	static const size_t mib[] = { 1, 1024 };
	char *at = memory_open(BAR, 1024 * MIB);
	char side[32];
	size_t i;
	int run;

	memory_touch(at, 1024 * MIB);
	for (run = 0; run < runs; run++) {
		for (i = 0; i < sizeof(mib) / sizeof(mib[0]); i++) {
			snprintf(side, sizeof(side), "%zum", mib[i]);
			time_reg("reg-mr-growth", side, at, mib[i] * MIB);
		}
	}
	memory_close(at, 1024 * MIB);
}

/* ---- regions ------------------------------------------------------------- */

static void open_mmap(int runs)
{
	const size_t length = 64 * MIB;
	unsigned long long begin;
	char *at;
	int run, i;

	memory_settle();
	for (run = 0; run < runs; run++) {
		for (i = 0; i < SORTS; i++) {
			begin = now();
			at = memory_open(i, length);
			memory_touch(at, length);
			sample("region-open-mmap-64m", sort_names[i], begin);
			memory_close(at, length);
		}
	}
}

static struct peerlane_region *alloc(size_t length)
{
	struct peerlane_region *region;

	if (peerlane_region_alloc("gpu0", length, &region))
		die("%s", peerlane_strerror());
	return region;
}

static void alloc_growth(int runs)
{
	static const size_t mib[] = { 1, 1024 };
	struct peerlane_region *region;
	unsigned long long begin;
	char side[32];
	size_t i;
	int run;

	/* What nobody had since the bind is wiped when it is given out. */
	peerlane_region_free(alloc(1024 * MIB));
	memory_settle();
	for (run = 0; run < runs; run++) {
		for (i = 0; i < sizeof(mib) / sizeof(mib[0]); i++) {
			snprintf(side, sizeof(side), "%zum", mib[i]);
			begin = now();
			region = alloc(mib[i] * MIB);
			sample("alloc-growth", side, begin);
			peerlane_region_free(region);
			memory_settle();
		}
	}
}

static void export(int runs)
{
	const size_t length = 64 * MIB;
	struct peerlane_region *region = alloc(length);
	unsigned long long begin;
	int run, fd;

	for (run = 0; run < runs; run++) {
		begin = now();
		if (peerlane_region_export(region, 0, length, false, &fd))
			die("%s", peerlane_strerror());
		sample("region-export-64m", "bar", begin);
		close(fd);
	}
	peerlane_region_free(region);
	memory_settle();
}

/* ---- copies by CPU -------------------------------------------------------- */

typedef void (*copy_fn)(void *dst, const void *src, size_t length);

static void plain(void *dst, const void *src, size_t length)
{
	memcpy(dst, src, length);
	/* as ordered as the other */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void time_copy(const char *series, const char *side, copy_fn copy,
		      char *dst, const char *src, size_t length)
{
	unsigned long long begin = now();
	size_t i;

	for (i = 0; i < 4 * MIB / length; i++)
		copy(dst, src, length);
	sample(series, side, begin);
}

static void copies(int runs)
{
	char *bar = memory_open(BAR, 2 * MIB), *ram = memory_open(SMALL, 2 * MIB);
	static const struct { const char *name; size_t length; } sizes[] = {
		{ "64", 64 }, { "4k", 4096 }, { "1m", MIB },
	};
	char series[32];
	size_t i;
	int run;

	memory_touch(bar, 2 * MIB);
	memory_touch(ram, 2 * MIB);
	for (run = 0; run < runs; run++) {
		for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			size_t n = sizes[i].length;

			snprintf(series, sizeof(series), "copy-to-%s",
				 sizes[i].name);
			time_copy(series, "peerlane", peerlane_copy_to, bar, ram, n);
			time_copy(series, "memcpy", plain, bar, ram, n);
			snprintf(series, sizeof(series), "copy-from-%s",
				 sizes[i].name);
			time_copy(series, "peerlane", peerlane_copy_from, ram, bar, n);
			time_copy(series, "memcpy", plain, ram, bar, n);
		}
	}
	memory_close(bar, 2 * MIB);
	munmap(ram, 2 * MIB);
}

static const struct {
	const char *name;
	void (*run)(int runs);
} measures[] = {
	{ "reg", reg }, { "reg-growth", reg_growth }, { "open", open_mmap },
	{ "alloc-growth", alloc_growth }, { "export", export },
	{ "copy", copies },
};

static void measure(const char *name, int runs)
{
	size_t i;

	for (i = 0; i < sizeof(measures) / sizeof(measures[0]); i++) {
		if (!strcmp(measures[i].name, name)) {
			measures[i].run(runs);
			return;
		}
	}
	die("no measure %s", name);
}

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;
	int i;

	if (argc < 3)
		die("usage: micro RUNS MEASURE...");
	context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	pd = context ? ibv_alloc_pd(context) : NULL;
	if (!pd)
		die("no RDMA device");
	for (i = 2; i < argc; i++)
		measure(argv[i], atoi(argv[1]));
	return 0;
}
