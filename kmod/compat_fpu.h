/* SPDX-License-Identifier: GPL-2.0 */
/* Who may use the FPU, as compat.h has other differences between kernels. */
#ifndef PEERLANE_COMPAT_FPU_H
#define PEERLANE_COMPAT_FPU_H

#include <linux/types.h>

/* 6.10: one interface of all architectures. */
#ifdef HAVE_LINUX_FPU
#include <linux/fpu.h>
#define peerlane_fpu_available()	kernel_fpu_available()
#define peerlane_fpu_begin()		kernel_fpu_begin()
#define peerlane_fpu_end()		kernel_fpu_end()
#elif defined(CONFIG_X86_64)
#include <asm/fpu/api.h>
#define peerlane_fpu_available()	true
#define peerlane_fpu_begin()		kernel_fpu_begin()
#define peerlane_fpu_end()		kernel_fpu_end()
#elif defined(CONFIG_ARM64)
#include <asm/neon.h>
#define peerlane_fpu_available()	cpu_has_neon()
#define peerlane_fpu_begin()		kernel_neon_begin()
#define peerlane_fpu_end()		kernel_neon_end()
#else
#define peerlane_fpu_available()	false
#define peerlane_fpu_begin()		do { } while (0)
#define peerlane_fpu_end()		do { } while (0)
#endif

#endif /* PEERLANE_COMPAT_FPU_H */
