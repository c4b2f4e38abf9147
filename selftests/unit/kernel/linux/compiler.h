/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SELFTESTS_COMPILER_H
#define SELFTESTS_COMPILER_H

#define likely(what)	__builtin_expect(!!(what), 1)
#define unlikely(what)	__builtin_expect(!!(what), 0)
#ifndef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#endif
#define noinline	__attribute__((noinline))

#endif /* SELFTESTS_COMPILER_H */
