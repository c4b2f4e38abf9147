// SPDX-License-Identifier: GPL-2.0
/* Stands in for libhsa-runtime64.so.1: gives the whole allocation. */
#include "lib_fake_gpu.h"

struct fake_gpu fake_gpu;

int hsa_amd_portable_export_dmabuf(const void *ptr, size_t size, int *fd,
				   uint64_t *offset)
{
	if (fake_gpu.unknown || fake_gpu.error)
		return fake_gpu.unknown ? fake_gpu.unknown : fake_gpu.error;
	fake_gpu.first = (uintptr_t)ptr;
	fake_gpu.size = size;
	*fd = memfd_create("hsa", MFD_CLOEXEC);
	*offset = fake_gpu.offset;
	return 0;
}

int hsa_status_string(int status, const char **text)
{
	*text = status == 0x1003 ? "HSA_STATUS_ERROR_INVALID_ALLOCATION" :
				   "HSA_STATUS_ERROR_INVALID_AGENT";
	return 0;
}
