// SPDX-License-Identifier: GPL-2.0
/* Stands in for libamdhip64.so.6. */
#include "lib_fake_gpu.h"

struct fake_gpu fake_gpu;

int hipMemGetHandleForAddressRange(void *handle, void *ptr, size_t size,
				   int type, unsigned long long flags)
{
	if (fake_gpu.unknown || fake_gpu.error)
		return fake_gpu.unknown ? fake_gpu.unknown : fake_gpu.error;
	return fake_gpu_export(&fake_gpu, handle, (uintptr_t)ptr, size, type,
			       flags);
}

const char *hipGetErrorName(int error)
{
	return error == 1 ? "hipErrorInvalidValue" : "hipErrorNotSupported";
}
