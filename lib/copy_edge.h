/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The ends of a copy, where no whole vector fits: naturally aligned accesses
 * of 1 to 8 bytes on the device's side, as a bus would have them, and not one
 * byte outside. Fences for the device's side.
 */
#ifndef PEERLANE_COPY_EDGE_H
#define PEERLANE_COPY_EDGE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PL_LINE 64U

typedef uint16_t __attribute__((may_alias)) pl_u16;
typedef uint32_t __attribute__((may_alias)) pl_u32;
typedef uint64_t __attribute__((may_alias)) pl_u64;

/* Largest of 1, 2, 4, 8 that @at is aligned to and that fits in @length */
static inline size_t pl_edge_step(const void *at, size_t length)
{
	uintptr_t a = (uintptr_t)at;

	if ((a & 1) || length < 2)
		return 1;
	if ((a & 2) || length < 4)
		return 2;
	if ((a & 4) || length < 8)
		return 4;
	return 8;
}

/* Bytes from @at to the next cache line, at most @length */
static inline size_t pl_edge_head(const void *at, size_t length)
{
	size_t head = (size_t)(0 - (uintptr_t)at) & (PL_LINE - 1);

	return head < length ? head : length;
}

static inline void pl_edge_to(char *dst, const char *src, size_t length)
{
	while (length) {
		size_t step = pl_edge_step(dst, length);
		uint64_t v8;
		uint32_t v4;
		uint16_t v2;

		switch (step) {
		case 8:
			memcpy(&v8, src, 8);
			*(volatile pl_u64 *)(void *)dst = v8;
			break;
		case 4:
			memcpy(&v4, src, 4);
			*(volatile pl_u32 *)(void *)dst = v4;
			break;
		case 2:
			memcpy(&v2, src, 2);
			*(volatile pl_u16 *)(void *)dst = v2;
			break;
		default:
			*(volatile char *)dst = *src;
			break;
		}
		dst += step;
		src += step;
		length -= step;
	}
}

static inline void pl_edge_from(char *dst, const char *src, size_t length)
{
	while (length) {
		size_t step = pl_edge_step(src, length);
		uint64_t v8;
		uint32_t v4;
		uint16_t v2;

		switch (step) {
		case 8:
			v8 = *(const volatile pl_u64 *)(const void *)src;
			memcpy(dst, &v8, 8);
			break;
		case 4:
			v4 = *(const volatile pl_u32 *)(const void *)src;
			memcpy(dst, &v4, 4);
			break;
		case 2:
			v2 = *(const volatile pl_u16 *)(const void *)src;
			memcpy(dst, &v2, 2);
			break;
		default:
			*dst = *(const volatile char *)src;
			break;
		}
		dst += step;
		src += step;
		length -= step;
	}
}

/* Later stores, a doorbell's too, come after the data. */
static inline void pl_fence_stores(void)
{
#if defined(__x86_64__)
	__builtin_ia32_sfence();
#elif defined(__aarch64__)
	__asm__ __volatile__("dmb oshst" ::: "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/*
 * Loads from here on see what the device has now: without it a streaming load
 * may be answered from a buffer that an earlier one filled.
 */
static inline void pl_fence_loads(void)
{
#if defined(__x86_64__)
	__builtin_ia32_mfence();
#elif defined(__aarch64__)
	__asm__ __volatile__("dmb osh" ::: "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

#endif /* PEERLANE_COPY_EDGE_H */
