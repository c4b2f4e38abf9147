// SPDX-License-Identifier: GPL-2.0
/*
 * The pure code of the module under KUnit: each kunit_<noun>.c includes what it
 * tests and is a suite peerlane_<noun>. selftests/unit builds the same files as
 * programs.
 */
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit tests of peerlane's pure code");
MODULE_LICENSE("GPL");
