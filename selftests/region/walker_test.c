// SPDX-License-Identifier: GPL-2.0
/*
 * GUP-fast may have read a PTE before it was zapped, and look at the page
 * after. So no memory leaves limbo while a CPU that was walking page tables by
 * then has not come to an end. pl_walker is such a CPU.
 */
#include <sched.h>

#include "harness.h"

#define WALKER		"/sys/kernel/debug/pl_walker/"
#define WORK_CPUS	"/sys/devices/virtual/workqueue/cpumask"
#define LENGTH		(2 * UNIT)

static void stay_on(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	CHECK_INT(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
}

/* Another process: a zap's IPI would have to wait for a CPU of this one. */
static void walk(void *region)
{
	close(*(int *)region);
	stay_on(1);
	CHECK_INT(write_text(WALKER "walk_ms", "15000"), 0);
}

static bool is_walking(void)
{
	return *read_text(WALKER "walking") == 'Y';
}

/* Limbo polls every 200 ms: often, and for longer than it needs. */
static void check_stays(uint64_t all_free)
{
	double end = now() + 1;
	int looks = 0, in_limbo = 0, freed = 0;

	for (; looks < 20 || now() < end; looks++) {
		struct residue seen = residue();

		in_limbo += seen.limbo == LENGTH;
		freed += seen.free == all_free;
		nap();
	}
	CHECK_INT(in_limbo, looks);
	CHECK_INT(freed, 0);
	/* It was all during the walk. */
	CHECK(is_walking());
}

/* @end begins the region's limbo. */
static void ends_during_a_walk(int (*end)(int fd))
{
	struct residue before = residue();
	int fd = new_region(LENGTH);
	char *at = map(fd, LENGTH);
	pid_t pid;

	if (!CHECK(fd >= 0) || !CHECK(at != MAP_FAILED))
		return;
	at[0] = 1;
	CHECK_INT(munmap(at, LENGTH), 0);

	pid = spawn(walk, &fd);
	CHECK(WAIT_FOR(is_walking(), 10));
	CHECK_INT(end(fd), 0);
	check_stays(before.free);
	CHECK_INT(write_text(WALKER "walking", "N"), 0);
	CHECK_INT(reap(pid, 30), 0);
	/* It was only the walk. */
	CHECK(WAIT_FOR(is_same_residue(&before), LIMBO_SECONDS));
}

static int revoke_and_close(int fd)
{
	int ret = region_revoke(fd);

	close(fd);
	return ret;
}

static void closed_during_a_walk(void)
{
	ends_during_a_walk(close);
}

static void revoked_during_a_walk(void)
{
	ends_during_a_walk(revoke_and_close);
}

static const struct tap_case cases[] = {
	TAP_CASE(closed_during_a_walk),
	TAP_CASE(revoked_during_a_walk),
};

int main(void)
{
	char all_cpus[64];
	int ret;

	/* Limbo's work must not stand behind the walk: that would wait, too. */
	snprintf(all_cpus, sizeof(all_cpus), "%.63s", read_text(WORK_CPUS));
	stay_on(0);
	if (write_text(WORK_CPUS, "1")) {
		printf("Bail out! limbo's work cannot be kept on one CPU\n");
		return 1;
	}
	ret = HARNESS_RUN(cases);
	write_text(WORK_CPUS, all_cpus);
	return ret;
}
