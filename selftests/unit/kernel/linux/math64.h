/* SPDX-License-Identifier: GPL-2.0 */
/* Divisions of the kernel that are operators here. */
#ifndef SELFTESTS_KERNEL_MATH64_H
#define SELFTESTS_KERNEL_MATH64_H

#define div64_u64(dividend, divisor)	((dividend) / (divisor))

#endif /* SELFTESTS_KERNEL_MATH64_H */
