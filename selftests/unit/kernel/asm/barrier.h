/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SELFTESTS_BARRIER_H
#define SELFTESTS_BARRIER_H

#ifdef __x86_64__
#define wmb()	__builtin_ia32_sfence() /* as the kernel's */
#else
#define wmb()	__atomic_thread_fence(__ATOMIC_SEQ_CST) /* more than that */
#endif

#endif /* SELFTESTS_BARRIER_H */
