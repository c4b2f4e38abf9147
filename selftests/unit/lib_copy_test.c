// SPDX-License-Identifier: GPL-2.0
/*
 * CPU copies, each instruction set by itself: every length with every
 * misalignment, and not one byte outside, read or written.
 */
#include "lib_fake.h"

#include <sys/mman.h>

#define LONGEST	300
#define GUARD	128

typedef void (*copy_fn)(void *dst, const void *src, size_t length);

static unsigned char pattern(size_t i)
{
	return (unsigned char)(i * 167 + (i >> 8) * 13 + 1);
}

/* @span: how far each side is moved; the other side moves in a few steps */
static void every_offset(copy_fn copy, size_t dst_span, size_t src_span)
{
	static unsigned char src[1024] __attribute__((aligned(64)));
	static unsigned char dst[1024] __attribute__((aligned(64)));
	static unsigned char want[1024];
	size_t length, d, s, i;

	for (i = 0; i < sizeof(src); i++)
		src[i] = pattern(i);
	for (length = 0; length <= LONGEST; length++)
		for (d = 0; d < dst_span; d++)
			for (s = 0; s < src_span; s++) {
				size_t at = GUARD + d, from = GUARD + s;

				memset(dst, 0xee, sizeof(dst));
				memset(want, 0xee, sizeof(want));
				memcpy(want + at, src + from, length);
				copy(dst + at, src + from, length);
				if (!memcmp(dst, want, sizeof(dst)))
					continue;
				printf("# length %zu, to %zu, from %zu\n",
				       length, d, s);
				CHECK(!"the copy differs");
				return;
			}
}

/* A page, with pages around it that cannot be touched */
static unsigned char *fenced(void)
{
	size_t page = (size_t)pl_page_size();
	unsigned char *all;

	all = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		   0);
	if (all == MAP_FAILED ||
	    mprotect(all + page, page, PROT_READ | PROT_WRITE) < 0)
		abort();
	return all + page;
}

static void unfence(unsigned char *middle)
{
	size_t page = (size_t)pl_page_size();

	munmap(middle - page, 3 * page);
}

static void at_the_edges(copy_fn copy)
{
	size_t page = (size_t)pl_page_size(), length, i;
	unsigned char *src = fenced(), *dst = fenced();

	for (i = 0; i < page; i++)
		src[i] = pattern(i);
	for (length = 0; length <= LONGEST; length++) {
		unsigned char *ends[4][2] = {
			{ dst, src },
			{ dst + page - length, src },
			{ dst, src + page - length },
			{ dst + page - length, src + page - length },
		};

		for (i = 0; i < 4; i++) {
			memset(dst, 0xee, page);
			copy(ends[i][0], ends[i][1], length);
			CHECK(!memcmp(ends[i][0], ends[i][1], length));
		}
	}
	unfence(src);
	unfence(dst);
}

static void long_copies(copy_fn copy)
{
	size_t size = 1 << 20, i, lengths[] = { 4095, 4096, 4097, 65536 + 63,
						(1 << 20) - 200 };
	unsigned char *src = malloc(size), *dst = malloc(size);

	for (i = 0; i < size; i++)
		src[i] = pattern(i);
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		memset(dst, 0, size);
		copy(dst + 77, src + 13, lengths[i]);
		CHECK(!memcmp(dst + 77, src + 13, lengths[i]));
		CHECK_INT(dst[76], 0);
		CHECK_INT(dst[77 + lengths[i]], 0);
	}
	free(src);
	free(dst);
}

static void try(copy_fn to, copy_fn from)
{
	every_offset(to, 64, 4);
	every_offset(from, 4, 64);
	at_the_edges(to);
	at_the_edges(from);
	long_copies(to);
	long_copies(from);
}

static void plain(void)
{
	try(pl_copy_to_plain, pl_copy_from_plain);
}

static void public(void)
{
	try(peerlane_copy_to, peerlane_copy_from);
}

#if defined(__x86_64__)
static void sse(void)
{
	if (__builtin_cpu_supports("sse4.1"))
		try(pl_copy_to_sse, pl_copy_from_sse);
	else
		SKIP("this CPU has no SSE4.1");
}

static void avx2(void)
{
	if (__builtin_cpu_supports("avx2"))
		try(pl_copy_to_avx2, pl_copy_from_avx2);
	else
		SKIP("this CPU has no AVX2");
}

static void avx512(void)
{
	if (__builtin_cpu_supports("avx512f"))
		try(pl_copy_to_avx512, pl_copy_from_avx512);
	else
		SKIP("this CPU has no AVX-512");
}
#endif

static const struct tap_case cases[] = {
	TAP_CASE(plain),
	TAP_CASE(public),
#if defined(__x86_64__)
	TAP_CASE(sse),
	TAP_CASE(avx2),
	TAP_CASE(avx512),
#endif
};

int main(void)
{
	return TAP_RUN(cases);
}
