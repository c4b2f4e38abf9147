// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * CPU copies into and out of device memory: the choice of the instruction
 * set. It is made per call, from a word that the compiler's runtime fills
 * before main(): a load and a test, and no state of ours.
 */
#include "private.h"
#include "copy_edge.h"

void pl_copy_to_plain(void *dst, const void *src, size_t length)
{
	pl_edge_to(dst, src, length);
	pl_fence_stores();
}

void pl_copy_from_plain(void *dst, const void *src, size_t length)
{
	pl_fence_loads();
	pl_edge_from(dst, src, length);
}

void peerlane_copy_to(void *dst, const void *src, size_t length)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f")) {
		pl_copy_to_avx512(dst, src, length);
		return;
	}
	if (__builtin_cpu_supports("avx2")) {
		pl_copy_to_avx2(dst, src, length);
		return;
	}
	pl_copy_to_sse(dst, src, length);
#else
	pl_copy_to_plain(dst, src, length);
#endif
}

void peerlane_copy_from(void *dst, const void *src, size_t length)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f")) {
		pl_copy_from_avx512(dst, src, length);
		return;
	}
	if (__builtin_cpu_supports("avx2")) {
		pl_copy_from_avx2(dst, src, length);
		return;
	}
	if (__builtin_cpu_supports("sse4.1")) {
		pl_copy_from_sse(dst, src, length);
		return;
	}
#endif
	pl_copy_from_plain(dst, src, length);
}
