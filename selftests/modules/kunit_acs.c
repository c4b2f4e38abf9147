// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>

#include "acs.h"

/* Bits of the control register, as the PCI Express specification counts them. */
enum {
	SOURCE_VALIDATION,
	TRANSLATION_BLOCKING,
	REQUEST_REDIRECT,
	COMPLETION_REDIRECT,
	UPSTREAM_FORWARDING,
	EGRESS_CONTROL,
	DIRECT_TRANSLATED,
};

static bool has(unsigned int control, unsigned int bit)
{
	return control >> bit & 1;
}

static bool expected(unsigned int control, bool ats)
{
	if (has(control, COMPLETION_REDIRECT) || has(control, EGRESS_CONTROL))
		return true;
	if (has(control, DIRECT_TRANSLATED) && ats)
		return false;
	return has(control, REQUEST_REDIRECT);
}

static void every_register(struct kunit *test)
{
	unsigned int control, ats;

	for (control = 0; control <= 0xffff; control++)
		for (ats = 0; ats < 2; ats++)
			KUNIT_ASSERT_EQ_MSG(test,
					    peerlane_acs_redirects(control, ats),
					    expected(control, ats),
					    "control %#x, ats %u", control, ats);
}

static void a_port_that_is_gone_redirects(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, peerlane_acs_redirects(0xffff, true));
	KUNIT_EXPECT_TRUE(test, peerlane_acs_redirects(0xffff, false));
}

static void a_port_without_acs_does_not(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, peerlane_acs_redirects(0, true));
	KUNIT_EXPECT_FALSE(test, peerlane_acs_redirects(0, false));
}

static struct kunit_case acs_cases[] = {
	KUNIT_CASE(every_register),
	KUNIT_CASE(a_port_that_is_gone_redirects),
	KUNIT_CASE(a_port_without_acs_does_not),
	{}
};

static struct kunit_suite acs_suite = {
	.name		= "peerlane_acs",
	.test_cases	= acs_cases,
};

kunit_test_suite(acs_suite);
