// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>

#include "link_nearer.c"

/* From the nearest to the farthest. */
static const struct link_path order[] = {
	{ PEERLANE_PATH_SWITCH, 0, 20 },
	{ PEERLANE_PATH_SWITCH, 2, 10 },
	{ PEERLANE_PATH_SWITCH, 4, 10 },
	{ PEERLANE_PATH_ROOT_PORT, 2, 10 },
	{ PEERLANE_PATH_HOST_BRIDGE, 2, 10 },
	{ PEERLANE_PATH_HOST_BRIDGE, 2, 21 },
	{ PEERLANE_PATH_HOST_BRIDGE, 2, U32_MAX },
	{ PEERLANE_PATH_HOST_BRIDGE, 3, 10 },
	{ PEERLANE_PATH_IOMMU, 2, 10 },
	{ PEERLANE_PATH_UNKNOWN, 0, 10 },
	{ PEERLANE_PATH_UNKNOWN, 0, U32_MAX },
	{ PEERLANE_PATH_NONE, 0, 10 },
};

static void is_an_order(struct kunit *test)
{
	size_t a, b;

	for (a = 0; a < ARRAY_SIZE(order); a++)
		for (b = 0; b < ARRAY_SIZE(order); b++)
			KUNIT_EXPECT_EQ_MSG(test,
					    link_path_nearer(&order[a], &order[b]),
					    a < b, "%zu and %zu", a, b);
}

static struct kunit_case link_nearer_cases[] = {
	KUNIT_CASE(is_an_order),
	{}
};

static struct kunit_suite link_nearer_suite = {
	.name		= "peerlane_link_nearer",
	.test_cases	= link_nearer_cases,
};

kunit_test_suite(link_nearer_suite);
