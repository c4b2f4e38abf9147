// SPDX-License-Identifier: GPL-2.0
/* Stands in for libcuda.so.1: knows one allocation, wants aligned ranges. */
#include "lib_fake_gpu.h"

struct fake_gpu fake_gpu;

int cuPointerGetAttribute(void *value, int attribute, unsigned long long ptr)
{
	(void)ptr;
	if (fake_gpu.unknown)
		return fake_gpu.unknown;
	if (attribute == 2)
		*(unsigned int *)value = fake_gpu.host ? 1 : 2;
	else if (attribute == 8)
		*(unsigned int *)value = fake_gpu.managed;
	else
		return 1;
	return 0;
}

int cuPointerSetAttribute(const void *value, int attribute,
			  unsigned long long ptr)
{
	if (fake_gpu.sync_error)
		return fake_gpu.sync_error;
	if (attribute == 6 && *(const unsigned int *)value == 1)
		fake_gpu.synced = ptr;
	return 0;
}

int cuMemGetHandleForAddressRange(void *handle, unsigned long long ptr,
				  size_t size, int type,
				  unsigned long long flags)
{
	if (fake_gpu.error)
		return fake_gpu.error;
	fake_gpu.synced_first = fake_gpu.synced != 0;
	return fake_gpu_export(&fake_gpu, handle, ptr, size, type, flags);
}

int cuGetErrorName(int error, const char **name)
{
	*name = error == 801 ? "CUDA_ERROR_NOT_SUPPORTED" :
		error == 3 ? "CUDA_ERROR_NOT_INITIALIZED" :
			     "CUDA_ERROR_INVALID_VALUE";
	return 0;
}
