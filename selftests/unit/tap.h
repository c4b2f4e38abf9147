/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A test program in TAP: a table of cases, each a function that CHECK()s.
 *
 *	static void adds(void) { CHECK(1 + 1 == 2); }
 *	static const struct tap_case cases[] = { TAP_CASE(adds) };
 *	int main(void) { return TAP_RUN(cases); }
 *
 * A case that ends with other files open than it began with has failed.
 */
#ifndef SELFTESTS_TAP_H
#define SELFTESTS_TAP_H

#include <dirent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct tap_case {
	const char *name;
	void (*run)(void);
};

/* One for all files of a program */
struct tap {
	int bad;
	const char *skip;
};

__attribute__((weak)) struct tap tap;

#define TAP_CASE(fn) { #fn, fn }
#define TAP_RUN(cases) tap_run(cases, sizeof(cases) / sizeof((cases)[0]))

#define CHECK(what) \
	tap_check(!!(what), __FILE__, __LINE__, #what)
#define CHECK_INT(got, want) \
	tap_check_int((long long)(got), (long long)(want), __FILE__, __LINE__, \
		      #got)
#define CHECK_STR(got, want) \
	tap_check_str(got, want, __FILE__, __LINE__, #got)
/* @got holds @part */
#define CHECK_HAS(got, part) \
	tap_check_has(got, part, __FILE__, __LINE__, #got)

/* The rest of the case is left out: return after it. */
#define SKIP(why) (tap.skip = (why))

static inline bool tap_check(bool good, const char *file, int line,
			     const char *what)
{
	if (!good) {
		printf("# %s:%d: not true: %s\n", file, line, what);
		tap.bad++;
	}
	return good;
}

static inline bool tap_check_int(long long got, long long want,
				 const char *file, int line, const char *what)
{
	if (got == want)
		return true;
	printf("# %s:%d: %s is %lld, not %lld\n", file, line, what, got, want);
	tap.bad++;
	return false;
}

static inline bool tap_check_str(const char *got, const char *want,
				 const char *file, int line, const char *what)
{
	if (!strcmp(got, want))
		return true;
	printf("# %s:%d: %s is \"%s\", not \"%s\"\n", file, line, what, got,
	       want);
	tap.bad++;
	return false;
}

static inline bool tap_check_has(const char *got, const char *part,
				 const char *file, int line, const char *what)
{
	if (strstr(got, part))
		return true;
	printf("# %s:%d: %s is \"%s\", without \"%s\"\n", file, line, what, got,
	       part);
	tap.bad++;
	return false;
}

static inline int tap_open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	if (!dir)
		return -1;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static inline int tap_run(const struct tap_case *cases, size_t count)
{
	size_t i, failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("1..%zu\n", count);
	for (i = 0; i < count; i++) {
		int files = tap_open_files();

		tap.bad = 0;
		tap.skip = NULL;
		cases[i].run();
		CHECK_INT(tap_open_files(), files);
		printf("%sok %zu - %s", tap.bad ? "not " : "", i + 1,
		       cases[i].name);
		if (tap.skip && !tap.bad)
			printf(" # SKIP %s", tap.skip);
		printf("\n");
		failed += tap.bad != 0;
	}
	return failed ? 1 : 0;
}

#endif /* SELFTESTS_TAP_H */
