// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Copies with AVX-512: one instruction per cache line on the device's side. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "private.h"
#include "copy_edge.h"

#define TARGET __attribute__((target("avx512f")))

TARGET void pl_copy_to_avx512(void *to, const void *from, size_t length)
{
	const char *src = from;
	char *dst = to;
	size_t head;

	head = pl_edge_head(dst, length);
	pl_edge_to(dst, src, head);
	dst += head;
	src += head;
	length -= head;
	for (; length >= 4 * PL_LINE; length -= 4 * PL_LINE) {
		__m512i a = _mm512_loadu_si512(src);
		__m512i b = _mm512_loadu_si512(src + 64);
		__m512i c = _mm512_loadu_si512(src + 128);
		__m512i d = _mm512_loadu_si512(src + 192);

		_mm512_stream_si512((void *)dst, a);
		_mm512_stream_si512((void *)(dst + 64), b);
		_mm512_stream_si512((void *)(dst + 128), c);
		_mm512_stream_si512((void *)(dst + 192), d);
		dst += 4 * PL_LINE;
		src += 4 * PL_LINE;
	}
	for (; length >= PL_LINE; length -= PL_LINE) {
		_mm512_stream_si512((void *)dst, _mm512_loadu_si512(src));
		dst += PL_LINE;
		src += PL_LINE;
	}
	pl_edge_to(dst, src, length);
	pl_fence_stores();
}

/* The intrinsic takes no const. */
TARGET static inline __m512i stream_load(const char *src)
{
	return _mm512_stream_load_si512((void *)(uintptr_t)src);
}

TARGET void pl_copy_from_avx512(void *to, const void *from, size_t length)
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
	for (; length >= 4 * PL_LINE; length -= 4 * PL_LINE) {
		__m512i a = stream_load(src);
		__m512i b = stream_load(src + 64);
		__m512i c = stream_load(src + 128);
		__m512i d = stream_load(src + 192);

		_mm512_storeu_si512(dst, a);
		_mm512_storeu_si512(dst + 64, b);
		_mm512_storeu_si512(dst + 128, c);
		_mm512_storeu_si512(dst + 192, d);
		dst += 4 * PL_LINE;
		src += 4 * PL_LINE;
	}
	for (; length >= PL_LINE; length -= PL_LINE) {
		_mm512_storeu_si512(dst, stream_load(src));
		dst += PL_LINE;
		src += PL_LINE;
	}
	pl_edge_from(dst, src, length);
}

#endif /* __x86_64__ */
