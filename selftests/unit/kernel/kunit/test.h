/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Suites of KUnit as programs that print TAP: as much of it as the tests in
 * selftests/modules use. One suite to a program.
 */
#ifndef SELFTESTS_KUNIT_TEST_H
#define SELFTESTS_KUNIT_TEST_H

#include <linux/kernel.h>
#include <setjmp.h>

#include "tap.h"

struct kunit {
	jmp_buf end;
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
};

struct kunit_suite {
	const char *name;
	struct kunit_case *test_cases;
};

#define KUNIT_CASE(fn) { .run_case = fn, .name = #fn }

#define kunit_info(test, fmt, ...) \
	((void)(test), printf("# " fmt "\n", ##__VA_ARGS__))
#define KUNIT_EXPECT_EQ(test, got, want) \
	((void)(test), CHECK_INT(got, want))
#define KUNIT_EXPECT_TRUE(test, what)	((void)(test), CHECK(what))
#define KUNIT_EXPECT_FALSE(test, what)	((void)(test), CHECK(!(what)))

/* The reason first, and then the end of the case. */
#define KUNIT_ASSERT(test, good, ...) do { \
	if (!(good)) { \
		printf("# " __VA_ARGS__); \
		printf("\n"); \
		longjmp((test)->end, 1); \
	} \
} while (0)

#define KUNIT_EXPECT_EQ_MSG(test, got, want, ...) do { \
	if (!KUNIT_EXPECT_EQ(test, got, want)) { \
		printf("# " __VA_ARGS__); \
		printf("\n"); \
	} \
} while (0)
#define KUNIT_ASSERT_EQ_MSG(test, got, want, ...) \
	KUNIT_ASSERT(test, KUNIT_EXPECT_EQ(test, got, want), __VA_ARGS__)
#define KUNIT_ASSERT_TRUE_MSG(test, what, ...) \
	KUNIT_ASSERT(test, KUNIT_EXPECT_TRUE(test, what), __VA_ARGS__)
#define KUNIT_ASSERT_NOT_NULL(test, what) \
	KUNIT_ASSERT(test, KUNIT_EXPECT_TRUE(test, (what) != NULL), "NULL")

static struct kunit_case *kunit_next;

static inline void kunit_run_next(void)
{
	struct kunit test;

	if (!setjmp(test.end))
		kunit_next->run_case(&test);
	kunit_next++;
}

extern struct kunit_suite *const kunit_the_suite;
#define kunit_test_suite(suite) \
	struct kunit_suite *const kunit_the_suite = &(suite)

int main(void)
{
	struct kunit_case *first = kunit_the_suite->test_cases;
	size_t i, count = 0;

	while (first[count].run_case)
		count++;
	struct tap_case cases[count];

	for (i = 0; i < count; i++) {
		cases[i].name = first[i].name;
		cases[i].run = kunit_run_next;
	}
	kunit_next = first;
	return tap_run(cases, count);
}

#endif /* SELFTESTS_KUNIT_TEST_H */
