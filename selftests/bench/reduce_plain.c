// SPDX-License-Identifier: GPL-2.0
#include <stdint.h>
#include <string.h>

#include "reduce_plain.h"

#ifdef __x86_64__

/*
 * Loads that nobody needs stay where they are, because they are volatile; what
 * is stored is what was loaded last.
 */
#define PLAIN(name, flags, size, load, store, step, ahead) \
typedef char name##_t __attribute__((vector_size(size))); \
__attribute__((target(flags))) \
static void name(void *to, const void *const *from, size_t bytes) \
{ \
	size_t at, within; \
	name##_t a; \
	int i; \
\
	for (at = 0; at < bytes; at += step) { \
		for (i = 0; ahead && i < STREAMS; i++) \
			for (within = 0; within < step; within += 64) \
				__builtin_prefetch((const char *)from[i] + at + \
						   within + ahead); \
		for (i = 0; i < STREAMS - 1; i++) \
			for (within = 0; within < step; within += size) \
				__asm__ volatile(load " %1, %0" : "=v"(a) : \
					"m"(*(const name##_t *)((const char *) \
					from[i] + at + within))); \
		for (within = 0; within < step; within += size) { \
			__asm__ volatile(load " %1, %0" : "=v"(a) : \
				"m"(*(const name##_t *)((const char *) \
				from[i] + at + within))); \
			__asm__ volatile(store " %1, %0" : \
				"=m"(*(name##_t *)((char *)to + at + within)) : \
				"v"(a)); \
		} \
	} \
	__asm__ volatile("sfence; vzeroupper" ::: "memory"); \
}

PLAIN(avx_128, "avx2", 32, "vmovdqa", "vmovdqa", 128, 0)
PLAIN(avx_256, "avx2", 32, "vmovdqa", "vmovdqa", 256, 0)
PLAIN(avx_4096, "avx2", 32, "vmovdqa", "vmovdqa", 4096, 0)
PLAIN(avx_past_256, "avx2", 32, "vmovdqa", "vmovntdq", 256, 0)
PLAIN(avx_past_early, "avx2", 32, "vmovdqa", "vmovntdq", 128, 1024)
PLAIN(avx512_256, "avx512f", 64, "vmovdqa64", "vmovdqa64", 256, 0)
PLAIN(avx512_past_256, "avx512f", 64, "vmovdqa64", "vmovntdq", 256, 0)
PLAIN(avx512_past_early, "avx512f", 64, "vmovdqa64", "vmovntdq", 256, 1024)
PLAIN(avx512_past_earlier, "avx512f", 64, "vmovdqa64", "vmovntdq", 256, 2048)

#define ALL	10

static const struct plain all[ALL] = {
	{ "avx_128", avx_128 }, { "avx_256", avx_256 },
	{ "avx_4096", avx_4096 }, { "avx_past_256", avx_past_256 },
	{ "avx_past_early", avx_past_early }, { "avx512_256", avx512_256 },
	{ "avx512_past_256", avx512_past_256 },
	{ "avx512_past_early", avx512_past_early },
	{ "avx512_past_earlier", avx512_past_earlier },
	{}
};

const struct plain *plain_list(void)
{
	static struct plain list[ALL];
	size_t i, count = 0;

	for (i = 0; all[i].name; i++) {
		if (!strncmp(all[i].name, "avx512", 6) ?
		    __builtin_cpu_supports("avx512f") :
		    __builtin_cpu_supports("avx2"))
			list[count++] = all[i];
	}
	return list;
}

#else

/* Without assembler: what the compiler makes of an or. */
static void any(void *to, const void *const *from, size_t bytes)
{
	uint64_t *out = to, sum;
	size_t at;
	int i;

	for (at = 0; at < bytes / 8; at++) {
		sum = 0;
		for (i = 0; i < STREAMS; i++)
			sum |= ((const uint64_t *)from[i])[at];
		out[at] = sum;
	}
}

const struct plain *plain_list(void)
{
	static const struct plain list[] = { { "any", any }, {} };

	return list;
}

#endif
