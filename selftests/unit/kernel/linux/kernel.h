/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the pure code of the module, and its tests, take from the kernel's
 * headers: here it is built as a program.
 */
#ifndef SELFTESTS_KERNEL_H
#define SELFTESTS_KERNEL_H

#include <limits.h>
#include <linux/types.h>
#include <stdio.h>

#define U8_MAX			((u8)~0)
#define U16_MAX			((u16)~0)
#define U32_MAX			(~0U)
#define U64_MAX			(~0ULL)
#define S64_MAX			((s64)(U64_MAX >> 1))
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define ALIGN_DOWN(x, to)	((x) & ~((__typeof__(x))(to) - 1))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define clamp_t(type, x, low, high) \
	min_t(type, max((type)(x), (type)(low)), high)

#endif /* SELFTESTS_KERNEL_H */
