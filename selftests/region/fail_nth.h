/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Failures on demand. A step is run again and again: its 1st, 2nd, 3rd ...
 * allocation, or copy from or to the user, fails, until it passes without a
 * failure. After each run what the step makes is there as a whole or not at
 * all, and once it is ended everything is given back.
 *
 *	static void opening(void)
 *	{
 *		FAIL_SWEEP(.run = open_device, .end = close_if_open);
 *	}
 *
 * The kernel counts for each task by itself (/proc/thread-self/fail-nth) and
 * takes objects, pages and copies together. By hand:
 *	FAIL_NTH_CASE=NAME	only this case
 *	FAIL_NTH_FIRST=N	begin with the Nth
 *	FAIL_NTH_STEP=N		every Nth, also where a case leaves some out (1)
 *	FAIL_NTH_TRACE=1	a stack in the log for each failure, which makes the
 *				run red
 */
#ifndef SELFTESTS_REGION_FAIL_NTH_H
#define SELFTESTS_REGION_FAIL_NTH_H

#include <ctype.h>

#include "harness.h"

#define DEBUGFS		"/sys/kernel/debug/"
#define FAIL_MOST	2000	/* a step that has not passed by then never does */
#define FAIL_UNAVAILABLE \
	"the kernel has no fault injection for slabs, pages and copies"
#define FAIL_COUNT	1000000	/* more than any step has: none fails */

struct fail_step {
	const char *name;
	bool (*begin)(void);	/* what it needs; nothing fails meanwhile */
	int (*run)(void);	/* one call: >= 0 or -errno */
	void (*end)(int ret);	/* looks whether it is whole, and undoes it */
	int also;		/* a refusal that is no want of memory */
	bool foreign;		/* others refuse here too: any errno will do */
	bool hidden;		/* nobody is told of a failure: it has to pass */
	unsigned int first;	/* leaves out those before: 0 for none */
	unsigned int stride;	/* every so many: 0 for all */
};

#define FAIL_SWEEP(...) \
	fail_sweep(&(const struct fail_step){ .name = __func__, __VA_ARGS__ })

/* ---- the kernel's knobs ---- */

static int fail_file = -1;
static double fail_patience = LIMBO_SECONDS;

/*
 * Those that the checkers allocate for themselves would fail in vain: kmemleak
 * has a reserve, and without objects to keep books in they give up.
 */
static inline bool fail_is_checker(const char *cache)
{
	return strstr(cache, "kmemleak_") || strstr(cache, "debug_objects");
}

static inline void fail_mark_caches(void)
{
	DIR *dir = opendir("/sys/kernel/slab");
	struct dirent *entry;
	char path[512];

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || fail_is_checker(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "/sys/kernel/slab/%s/failslab",
			 entry->d_name);
		write_text(path, "1");
	}
	if (dir)
		closedir(dir);
}

/* For a checker that takes its objects from a cache of all. */
static inline void fail_spare(const char *cache)
{
	char path[512];

	snprintf(path, sizeof(path), "/sys/kernel/slab/%s/failslab", cache);
	write_text(path, "0");
}

static inline bool fail_set_knobs(void)
{
	const char *trace = getenv("FAIL_NTH_TRACE") ? "2" : "0";
	const struct {
		const char *path, *value;
	} knobs[] = {
		{ DEBUGFS "failslab/ignore-gfp-wait", "N" },
		{ DEBUGFS "failslab/cache-filter", "Y" },
		{ DEBUGFS "failslab/verbose", trace },
		{ DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N" },
		{ DEBUGFS "fail_page_alloc/ignore-gfp-highmem", "N" },
		{ DEBUGFS "fail_page_alloc/min-order", "0" },
		{ DEBUGFS "fail_page_alloc/verbose", trace },
		{ DEBUGFS "fail_usercopy/verbose", trace },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(knobs); i++)
		if (write_text(knobs[i].path, knobs[i].value))
			return false;
	return true;
}

/* Once, before the harness counts files. */
static inline void fail_open(void)
{
	int fd;

	if (!fail_set_knobs())
		return;
	fail_mark_caches();
	/* The step is to fail by its own allocations, not by ours. */
	mlockall(MCL_CURRENT);
	fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	/* Out of the way of steps that look at the lowest numbers. */
	fail_file = fcntl(fd, F_DUPFD_CLOEXEC, 100);
	close(fd);
}

static inline void fail_arm(unsigned int nth)
{
	char number[16];
	int len = snprintf(number, sizeof(number), "%u", nth);

	CHECK_INT(pwrite(fail_file, number, len, 0), len);
}

/* How many more would have passed before the failure; 0: it happened. */
static inline unsigned int fail_disarm(void)
{
	char left[16] = "";
	/* Reading is a copy too. If it is the one that fails, 1 was left. */
	ssize_t len = pread(fail_file, left, sizeof(left) - 1, 0);

	/* So is writing, once. */
	while (pwrite(fail_file, "0", 1, 0) < 0 && errno == EFAULT)
		;
	return len > 0 ? strtoul(left, NULL, 10) : 1;
}

/* ---- what has to be as it was ---- */

struct fail_state {
	struct residue residue;
	unsigned long long users;	/* of the module */
	unsigned long long pinned;	/* KiB of this process */
	unsigned long long files;	/* open in the whole machine */
};

static inline unsigned long long fail_pinned(void)
{
	const char *line = strstr(read_text("/proc/self/status"), "VmPin:");

	return line ? strtoull(line + strlen("VmPin:"), NULL, 10) : 0;
}

static inline struct fail_state fail_state(void)
{
	return (struct fail_state) {
		.residue = residue(),
		.users	 = read_number("/sys/module/peerlane/refcnt"),
		.pinned	 = fail_pinned(),
		.files	 = read_number("/proc/sys/fs/file-nr"),
	};
}

static inline bool fail_is_state(struct fail_state *a)
{
	struct fail_state b = fail_state();

	/* A process that has just ended may close one of its own late. */
	if (b.files < a->files)
		a->files = b.files;
	return a->residue.free == b.residue.free &&
	       a->residue.limbo == b.residue.limbo &&
	       !strcmp(a->residue.counts, b.residue.counts) &&
	       a->users == b.users && a->pinned == b.pinned &&
	       a->files == b.files;
}

static inline void fail_print_state(const char *when, const struct fail_state *s)
{
	printf("# %s: %s, %llu bytes free, %llu in limbo, module used by %llu, %llu KiB pinned, %llu files\n",
	       when, s->residue.counts, s->residue.free, s->residue.limbo,
	       s->users, s->pinned, s->files);
}

static inline void fail_check_state(struct fail_state *before)
{
	struct fail_state after;

	if (WAIT_FOR(fail_is_state(before), fail_patience))
		return;
	after = fail_state();
	fail_print_state("before", before);
	fail_print_state("after", &after);
	CHECK(!"everything is as it was");
}

static inline long long fail_vmstat(const char *name)
{
	const char *at = strstr(read_text("/proc/vmstat"), name);

	return at ? strtoll(at + strlen(name), NULL, 10) : 0;
}

/* Of all pages of the machine. Exact, hence slow: once a sweep. */
static inline long long fail_pins(void)
{
	read_text("/proc/sys/vm/stat_refresh");
	return fail_vmstat("nr_foll_pin_acquired ") -
	       fail_vmstat("nr_foll_pin_released ");
}

/* ---- what a refusal may say ---- */

static inline void fail_check_errno(const struct fail_step *step, int ret)
{
	bool good = ret >= 0 || ret == -ENOMEM || ret == -EFAULT ||
		    (step->also && ret == -step->also) || step->foreign;

	if (step->hidden)
		CHECK(ret >= 0);
	else
		CHECK(good);
}

/* One line, or nothing; and not the reason of something else. */
static inline void fail_check_text(int ret)
{
	size_t i, len = strnlen(text, sizeof(text));

	CHECK(len < sizeof(text));
	for (i = 0; i < len; i++)
		CHECK(isprint((unsigned char)text[i]));
	if (ret >= 0)
		CHECK_STR(text, "");
	if (ret == -ENOMEM || ret == -EFAULT)
		CHECK(!strstr(text, "limit") && !strstr(text, "no more than"));
}

/* ---- the sweep ---- */

struct fail_tally {
	unsigned int failures, enomem, efault, other, passed;
};

static inline void fail_count(struct fail_tally *tally, int ret)
{
	tally->failures++;
	tally->enomem += ret == -ENOMEM;
	tally->efault += ret == -EFAULT;
	tally->other += ret < 0 && ret != -ENOMEM && ret != -EFAULT;
	tally->passed += ret >= 0;
}

/* Whether the @nth failed; false: the step passed before it came to that. */
static inline bool fail_once(const struct fail_step *step, unsigned int nth,
			     struct fail_state *before,
			     struct fail_tally *tally)
{
	int bad = tap.bad, ret;
	bool happened;

	if (step->begin && !CHECK(step->begin()))
		return false;
	text[0] = '\0';
	fail_arm(nth);
	ret = step->run();
	happened = !fail_disarm();

	if (happened)
		fail_count(tally, ret);
	else
		CHECK(ret >= 0);
	fail_check_errno(step, ret);
	fail_check_text(ret);
	if (step->end)
		step->end(ret);
	/* File numbers cost more calls: the harness looks, after the case. */
	fail_check_state(before);
	if (tap.bad != bad)
		printf("# failure %u of %s gave %d \"%s\"\n", nth, step->name,
		       ret, text);
	return happened && tap.bad == bad;
}

static inline unsigned int fail_number(const char *name, unsigned int otherwise)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 0) : otherwise;
}

static inline void fail_sweep(const struct fail_step *step)
{
	unsigned int first = fail_number("FAIL_NTH_FIRST", step->first ?: 1);
	unsigned int stride = fail_number("FAIL_NTH_STEP", step->stride ?: 1);
	const char *only = getenv("FAIL_NTH_CASE");
	struct fail_state before;
	struct fail_tally tally = {};
	double begin = now();
	long long pins;
	unsigned int nth;

	if (only && strcmp(only, step->name)) {
		SKIP("FAIL_NTH_CASE names another");
		return;
	}
	if (fail_file < 0) {
		SKIP(FAIL_UNAVAILABLE);
		return;
	}
	pins = fail_pins();
	before = fail_state();
	for (nth = first; nth <= FAIL_MOST; nth += stride)
		if (!fail_once(step, nth, &before, &tally))
			break;
	printf("# %s: %u failures in %.1f s: %u ENOMEM, %u EFAULT, %u other, %u passed all the same\n",
	       step->name, tally.failures, now() - begin, tally.enomem,
	       tally.efault, tally.other, tally.passed);
	CHECK_INT(fail_pins(), pins);
	CHECK(nth <= FAIL_MOST);
	/* A sweep in which nothing fails shows nothing. */
	CHECK(tally.failures > 0);
}

/* How many failures a step could have, without one. */
static inline unsigned int fail_points(int (*run)(void), int *ret)
{
	fail_arm(FAIL_COUNT);
	*ret = run();
	return FAIL_COUNT - fail_disarm();
}

#define FAIL_RUN(cases) (fail_open(), HARNESS_RUN(cases))

#endif /* SELFTESTS_REGION_FAIL_NTH_H */
