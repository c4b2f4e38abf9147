// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>
#include <linux/string.h>
#include <uapi/peerlane.h>

#include "pci_address.c"

static void good_addresses(struct kunit *test)
{
	static const struct {
		const char *text;
		struct peerlane_pci_address address;
	} cases[] = {
		{ "0000:3b:00.0", { 0, 0x3b, 0, 0 } },
		{ "3b:00.0", { 0, 0x3b, 0, 0 } },
		{ "AB:1F.7", { 0, 0xab, 0x1f, 7 } },
		{ "abcd:ef:0a.1", { 0xabcd, 0xef, 0xa, 1 } },
		{ "ffff:ff:1f.7", { 0xffff, 0xff, 0x1f, 7 } },
		{ "10000:e1:00.0", { 0x10000, 0xe1, 0, 0 } },
		{ "123456:e1:00.0", { 0x123456, 0xe1, 0, 0 } },
		{ "fffffff:ff:1f.7", { 0xfffffff, 0xff, 0x1f, 7 } },
	};
	struct peerlane_pci_address got;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_ASSERT_TRUE_MSG(test,
				      peerlane_pci_address_parse(cases[i].text, &got),
				      "%s", cases[i].text);
		KUNIT_EXPECT_EQ(test, got.domain, cases[i].address.domain);
		KUNIT_EXPECT_EQ(test, got.bus, cases[i].address.bus);
		KUNIT_EXPECT_EQ(test, got.slot, cases[i].address.slot);
		KUNIT_EXPECT_EQ(test, got.func, cases[i].address.func);
	}
}

static void bad_addresses(struct kunit *test)
{
	static const char *const texts[] = {
		"", "gpu0", ":", ".", "03:00", "03:00.", "03:00.8", "03:20.0",
		"3:00.0", "03:0.0", "03:00.0 ", " 03:00.0", "03:00.00",
		"000:03:00.0", "0000:03:00", "0000:03:00.0x", "0000:03:00.0\n",
		"ffffffff:03:00.0", "0000.03.00.0", "0000:0g:00.0",
		"-1:03:00.0", "0x00:03:00.0", "0000::03:00.0", "0000:03:00:0",
		"0000:3:00.0", "0000:003:00.0", ":03:00.0", "0000:03:00.-",
		"\xff\xff:\xff\xff.\xff", "03\0:00.0", "%s:%s.%n",
	};
	struct peerlane_pci_address got;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		KUNIT_ASSERT_EQ_MSG(test,
				    peerlane_pci_address_parse(texts[i], &got),
				    false, "\"%s\"", texts[i]);
}

/* ---- against a plain reference ---- */

/* 'x' a hex digit, 's' a 0 or 1, 'f' up to 7; others themselves. */
static bool matches(const char *text, const char *pattern)
{
	const char *set;

	for (; *pattern; pattern++, text++) {
		switch (*pattern) {
		case 'x':
			set = "0123456789abcdefABCDEF";
			break;
		case 's':
			set = "01";
			break;
		case 'f':
			set = "01234567";
			break;
		default:
			set = *pattern == ':' ? ":" : ".";
		}
		if (!*text || !strchr(set, *text))
			return false;
	}
	return !*text;
}

static bool is_address(const char *text)
{
	static const char *const patterns[] = {
		"xx:sx.f", "xxxx:xx:sx.f", "xxxxx:xx:sx.f", "xxxxxx:xx:sx.f",
		"xxxxxxx:xx:sx.f",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(patterns); i++)
		if (matches(text, patterns[i]))
			return true;
	return false;
}

static void compare(struct kunit *test, const char *text)
{
	struct peerlane_pci_address got;

	KUNIT_ASSERT_EQ_MSG(test, peerlane_pci_address_parse(text, &got),
			    is_address(text), "\"%s\"", text);
}

/* Each byte of a good address replaced by each of 256. */
static void one_byte_wrong(struct kunit *test)
{
	static const char *const texts[] = {
		"3b:0f.5", "0000:3b:0f.5", "1000a:3b:0f.5", "12345aB:3b:0f.5",
	};
	char text[PEERLANE_PCI_LEN];
	unsigned int i, at, byte;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		for (at = 0; at <= strlen(texts[i]); at++)
			for (byte = 0; byte < 256; byte++) {
				memset(text, 0, sizeof(text));
				memcpy(text, texts[i], strlen(texts[i]));
				text[at] = byte;
				if (text[PEERLANE_PCI_LEN - 1])
					continue;
				compare(test, text);
			}
}

static u32 next(u32 *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 16;
}

/* Good addresses with pieces cut out, repeated and exchanged. */
static void mangled(struct kunit *test)
{
	static const char whole[] = "fffffff:3b:1f.7";
	static const char alphabet[] = "0179afAF:::..gG/@`-\n";
	char text[PEERLANE_PCI_LEN];
	u32 state = 1;
	unsigned int round, from, i, addresses = 0;

	for (round = 0; round < 50000; round++) {
		memset(text, 0, sizeof(text));
		from = next(&state) % sizeof(whole);
		memcpy(text, whole + from, sizeof(whole) - from);
		for (i = next(&state) % 3; i; i--)
			text[next(&state) % (sizeof(text) - 1)] =
				alphabet[next(&state) % sizeof(alphabet)];
		compare(test, text);
		addresses += is_address(text);
	}
	/* Neither all of them nor none */
	KUNIT_EXPECT_TRUE(test, addresses > 1000 && addresses < 49000);
}

/* Not a byte behind them is looked at: the sanitizers would see it. */
static void texts_that_do_not_end(struct kunit *test)
{
	static const char *const texts[] = {
		"0000000000000000", "::::::::::::::::", "fffffff:ff:1f.77",
		"0000:3b:00.00000", "ffff:ff:ff:ff:ff", "................",
	};
	struct peerlane_pci_address got;
	char text[PEERLANE_PCI_LEN];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		memcpy(text, texts[i], sizeof(text));
		KUNIT_EXPECT_FALSE(test, peerlane_pci_address_parse(text, &got));
	}
}

static struct kunit_case pci_address_cases[] = {
	KUNIT_CASE(good_addresses),
	KUNIT_CASE(bad_addresses),
	KUNIT_CASE(one_byte_wrong),
	KUNIT_CASE(mangled),
	KUNIT_CASE(texts_that_do_not_end),
	{}
};

static struct kunit_suite pci_address_suite = {
	.name		= "peerlane_pci_address",
	.test_cases	= pci_address_cases,
};

kunit_test_suite(pci_address_suite);
