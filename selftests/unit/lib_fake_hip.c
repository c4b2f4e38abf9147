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

/* Of a device alone, or of both */
int hipPointerGetAttributes(void *value, const void *ptr)
{
	struct {
		int type;
		int device;
		const void *device_pointer;
		const void *host_pointer;
		int is_managed;
		unsigned int flags;
	} *attributes = value;

	if (fake_gpu.unknown) {
		fake_gpu.last_error = fake_gpu.unknown;
		return fake_gpu.unknown;
	}
	attributes->type = 2;
	attributes->device_pointer = ptr;
	attributes->host_pointer = fake_gpu.host ? ptr : NULL;
	return 0;
}

int hipPeekAtLastError(void)
{
	return fake_gpu.last_error;
}

int hipGetLastError(void)
{
	int error = fake_gpu.last_error;

	fake_gpu.last_error = 0;
	return error;
}

const char *hipGetErrorName(int error)
{
	return error == 1 ? "hipErrorInvalidValue" : "hipErrorNotSupported";
}
