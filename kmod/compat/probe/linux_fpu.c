// SPDX-License-Identifier: GPL-2.0
/* Floats have one interface on all architectures since 6.10. */
#if __has_include("linux/fpu.h")
#include <linux/fpu.h>
#endif
void probe(void)
{
	if (kernel_fpu_available())
		kernel_fpu_begin();
}
