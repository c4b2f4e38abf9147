// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Copies with AVX2: two instructions per cache line on the device's side. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "private.h"
#include "copy_edge.h"

#define TARGET __attribute__((target("avx2")))

TARGET static inline __m256i load(const char *src)
{
	return _mm256_loadu_si256((const void *)src);
}

TARGET static inline void stream(char *dst, __m256i v)
{
	_mm256_stream_si256((void *)dst, v);
}

/* Some compilers' intrinsic takes no const. */
TARGET static inline __m256i stream_load(const char *src)
{
	return _mm256_stream_load_si256((void *)(uintptr_t)src);
}

TARGET static inline void store(char *dst, __m256i v)
{
	_mm256_storeu_si256((void *)dst, v);
}

TARGET void pl_copy_to_avx2(void *to, const void *from, size_t length)
{
	const char *src = from;
	char *dst = to;
	size_t head;

	head = pl_edge_head(dst, length);
	pl_edge_to(dst, src, head);
	dst += head;
	src += head;
	length -= head;
	for (; length >= 2 * PL_LINE; length -= 2 * PL_LINE) {
		__m256i a = load(src);
		__m256i b = load(src + 32);
		__m256i c = load(src + 64);
		__m256i d = load(src + 96);

		stream(dst, a);
		stream(dst + 32, b);
		stream(dst + 64, c);
		stream(dst + 96, d);
		dst += 2 * PL_LINE;
		src += 2 * PL_LINE;
	}
	for (; length >= 32; length -= 32) {
		stream(dst, load(src));
		dst += 32;
		src += 32;
	}
	pl_edge_to(dst, src, length);
	pl_fence_stores();
}

TARGET void pl_copy_from_avx2(void *to, const void *from, size_t length)
{
	const char *src = from;
	char *dst = to;
	size_t head;

	pl_fence_loads();
	head = pl_edge_head(src, length);
	pl_edge_from(dst, src, head);
	dst += head;
	src += head;
	length -= head;
	for (; length >= 2 * PL_LINE; length -= 2 * PL_LINE) {
		__m256i a = stream_load(src);
		__m256i b = stream_load(src + 32);
		__m256i c = stream_load(src + 64);
		__m256i d = stream_load(src + 96);

		store(dst, a);
		store(dst + 32, b);
		store(dst + 64, c);
		store(dst + 96, d);
		dst += 2 * PL_LINE;
		src += 2 * PL_LINE;
	}
	for (; length >= 32; length -= 32) {
		store(dst, stream_load(src));
		dst += 32;
		src += 32;
	}
	pl_edge_from(dst, src, length);
}

#endif /* __x86_64__ */
