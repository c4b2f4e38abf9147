// SPDX-License-Identifier: GPL-2.0
/*
 * Secrets from words, against another program's SHA-256:
 * printf 'peerlane endpoint secret 1\n%s' WORDS | sha256sum
 */
#include "lib_fake.h"

static const char *hex(const uint8_t secret[PEERLANE_SECRET])
{
	static char text[2 * PEERLANE_SECRET + 1];
	int i;

	for (i = 0; i < PEERLANE_SECRET; i++)
		sprintf(text + 2 * i, "%02x", secret[i]);
	return text;
}

static void words(void)
{
	uint8_t secret[PEERLANE_SECRET];

	CHECK_INT(peerlane_endpoint_secret("a", secret), 0);
	CHECK_STR(hex(secret), "a7fac16272edfc6f0c38042ca33efd3f");
	CHECK_INT(peerlane_endpoint_secret("correct horse battery staple",
					   secret), 0);
	CHECK_STR(hex(secret), "befd5e8452d611bc565f2fd8216c8244");
}

/* Around the ends of blocks, where the padding changes */
static void lengths(void)
{
	static const struct {
		size_t length;
		const char *secret;
	} rows[] = {
		{ 28, "4a2147958739e073042b72b9eb53d423" },
		{ 29, "e84694c8b43b5d72525c7e1ec3324c4c" },
		{ 36, "1499f73f9c610896a3cb882bd0dd50d8" },
		{ 37, "b72668a0340822be51462c8ce7e7c63a" },
		{ 38, "486529b448cf7ddc553b421c18d33c56" },
		{ 92, "43b0694bd87222d64694f92c72559ee5" },
		{ 93, "1be61af9a72fae27742852dcb709d8ad" },
		{ 100, "79d8906f00f3f9b1a3bba1a64993cb9e" },
		{ 1000, "c0b94fdaba4794b0b0064857089db65c" },
	};
	uint8_t secret[PEERLANE_SECRET];
	char text[1001];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(text, 'x', rows[i].length);
		text[rows[i].length] = '\0';
		CHECK_INT(peerlane_endpoint_secret(text, secret), 0);
		CHECK_STR(hex(secret), rows[i].secret);
	}
}

static void nothing(void)
{
	uint8_t secret[PEERLANE_SECRET] = { 7 };

	CHECK_INT(peerlane_endpoint_secret("", secret), -EINVAL);
	CHECK_INT(peerlane_endpoint_secret(NULL, secret), -EINVAL);
	CHECK_STR(peerlane_strerror(),
		  "a secret cannot be made of nothing (EINVAL)");
	CHECK_INT(secret[0], 7);
}

static const struct tap_case cases[] = {
	TAP_CASE(words), TAP_CASE(lengths), TAP_CASE(nothing),
};

int main(void)
{
	return TAP_RUN(cases);
}
