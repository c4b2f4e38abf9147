// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Secrets of endpoints from words. SHA-256 as FIPS 180-4 has it. */
#include <errno.h>
#include <string.h>

#include "private.h"

/* So that it is of no use where the same words are hashed for something else */
#define PREFIX	"peerlane endpoint secret 1\n"

#define BLOCK	64
#define WORDS	8

static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

struct hash {
	uint32_t state[WORDS];
	uint8_t block[BLOCK];
	uint64_t length;	/* bytes so far */
};

static uint32_t turn(uint32_t value, unsigned int by)
{
	return value >> by | value << (32 - by);
}

static void schedule(const uint8_t *block, uint32_t w[64])
{
	int i;

	for (i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 |
		       (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] +
		       (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) +
		       (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
}

static void digest(struct hash *hash)
{
	uint32_t w[64], s[WORDS], one, two;
	int i;

	schedule(hash->block, w);
	memcpy(s, hash->state, sizeof(s));
	for (i = 0; i < 64; i++) {
		one = s[7] + (turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25)) +
		      ((s[4] & s[5]) ^ (~s[4] & s[6])) + constants[i] + w[i];
		two = (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) +
		      ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
		memmove(s + 1, s, 7 * sizeof(s[0]));
		s[4] += one;
		s[0] = one + two;
	}
	for (i = 0; i < WORDS; i++)
		hash->state[i] += s[i];
}

static void add(struct hash *hash, const void *data, size_t size)
{
	const uint8_t *bytes = data;
	size_t i;

	for (i = 0; i < size; i++) {
		hash->block[hash->length++ % BLOCK] = bytes[i];
		if (hash->length % BLOCK == 0)
			digest(hash);
	}
}

static void finish(struct hash *hash)
{
	uint64_t bits = hash->length * 8;
	uint8_t end[8];
	int i;

	add(hash, "\x80", 1);
	while (hash->length % BLOCK != BLOCK - sizeof(end))
		add(hash, "", 1);
	for (i = 0; i < 8; i++)
		end[i] = (uint8_t)(bits >> (56 - 8 * i));
	add(hash, end, sizeof(end));
}

int peerlane_endpoint_secret(const char *text, uint8_t secret[PEERLANE_SECRET])
{
	struct hash hash = {
		.state = {
			0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
		},
	};
	int i;

	pl_clear();
	if (!text || !*text)
		return pl_fail_text(EINVAL, "a secret cannot be made of nothing");
	add(&hash, PREFIX, strlen(PREFIX));
	add(&hash, text, strlen(text));
	finish(&hash);
	for (i = 0; i < PEERLANE_SECRET; i++)
		secret[i] = (uint8_t)(hash.state[i / 4] >> (24 - 8 * (i % 4)));
	return 0;
}
