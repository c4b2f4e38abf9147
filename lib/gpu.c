// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Regions of GPU memory, through the dma-buf that the vendor's driver gives.
 *
 * Nothing of a vendor is needed to build, and nothing is loaded here: a
 * pointer can only come from a library that this process has loaded, so that
 * one is looked up (RTLD_NOLOAD) and not a second copy of another version.
 * The declarations below are the stable public ABI of those libraries.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "private.h"

enum {
	CUDA_ERROR_INVALID_VALUE = 1,
	CUDA_ERROR_NOT_SUPPORTED = 801,
	CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
	CU_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,
	CU_MEMORYTYPE_HOST = 1,
	CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD = 1,
	HIP_ERROR_INVALID_VALUE = 1,
	HIP_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD = 1,
	HSA_STATUS_ERROR_INVALID_ARGUMENT = 0x1001,
	HSA_STATUS_ERROR_INVALID_ALLOCATION = 0x1003,
};

typedef unsigned long long cu_ptr;
typedef int (*cu_attribute_get)(void *value, int attribute, cu_ptr ptr);
typedef int (*cu_attribute_set)(const void *value, int attribute, cu_ptr ptr);
typedef int (*cu_handle)(void *handle, cu_ptr ptr, size_t size, int type,
			 unsigned long long flags);
typedef int (*cu_error_name)(int error, const char **name);
typedef int (*hip_handle)(void *handle, void *ptr, size_t size, int type,
			  unsigned long long flags);
typedef const char *(*hip_error_name)(int error);
typedef int (*hsa_export)(const void *ptr, size_t size, int *fd,
			  uint64_t *offset);
typedef int (*hsa_error_name)(int status, const char **name);

/**
 * struct piece - the pages around a pointer, and their dma-buf
 * @ptr: as asked for
 * @length: as asked for
 * @first: the first page's address
 * @span: bytes of all pages
 * @fd: the dma-buf
 * @part: where the first page lies in it
 * @skip: where @ptr lies behind that
 * @part_length: bytes of the dma-buf to import
 */
struct piece {
	const void *ptr;
	size_t length;
	uint64_t first;
	uint64_t span;
	int fd;
	uint64_t part;
	uint64_t skip;
	uint64_t part_length;
};

/*
 * What a vendor's attempt came to. @err: ENOSYS not in this process, EFAULT
 * it does not know the pointer, else it does and the export failed.
 */
struct attempt {
	int err;
	char why[200];
};

static PL_PRINTF(3, 4) int say(struct attempt *at, int err, const char *fmt,
			       ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(at->why, sizeof(at->why), fmt, ap);
	va_end(ap);
	at->err = err;
	return -err;
}

static void *find_library(const char *const *names)
{
	void *lib = NULL;

	for (; *names && !lib; names++)
		lib = dlopen(*names, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
	return lib;
}

/* ---- CUDA ---------------------------------------------------------------- */

static const char *cuda_name(void *lib, int error)
{
	cu_error_name name_of = (cu_error_name)dlsym(lib, "cuGetErrorName");
	const char *name = NULL;

	if (name_of)
		name_of(error, &name);
	return name ? name : "unknown error";
}

/*
 * Without SYNC_MEMOPS a cudaMemcpy() may return before a NIC sees the bytes.
 * Memory of cuMemCreate() and of pools does not have the attribute.
 */
static int cuda_sync_memops(void *lib, cu_ptr ptr, struct attempt *at)
{
	cu_attribute_set set = (cu_attribute_set)dlsym(lib,
						       "cuPointerSetAttribute");
	unsigned int on = 1;
	int error;

	if (!set)
		return say(at, EOPNOTSUPP, "libcuda.so.1 has no cuPointerSetAttribute()");
	error = set(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, ptr);
	if (!error || error == CUDA_ERROR_NOT_SUPPORTED ||
	    error == CUDA_ERROR_INVALID_VALUE)
		return 0;
	return say(at, EOPNOTSUPP, "cuPointerSetAttribute(SYNC_MEMOPS): %s (%d)",
		   cuda_name(lib, error), error);
}

static int cuda_export(void *lib, struct piece *p, struct attempt *at)
{
	cu_attribute_get get = (cu_attribute_get)dlsym(lib,
						       "cuPointerGetAttribute");
	cu_handle handle = (cu_handle)dlsym(lib,
					    "cuMemGetHandleForAddressRange");
	cu_ptr ptr = (uintptr_t)p->ptr;
	unsigned int type = 0;
	int error, fd = -1, ret;

	if (!get)
		return say(at, EOPNOTSUPP, "libcuda.so.1 has no cuPointerGetAttribute()");
	error = get(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ptr);
	if (error)
		return say(at, EFAULT, "cuPointerGetAttribute: %s (%d)",
			   cuda_name(lib, error), error);
	if (type == CU_MEMORYTYPE_HOST)
		return say(at, EOPNOTSUPP, "this is host memory, for peerlane_region_host()");
	if (!handle)
		return say(at, EOPNOTSUPP, "the driver has no cuMemGetHandleForAddressRange(): CUDA 11.7 or later is needed");
	ret = cuda_sync_memops(lib, ptr, at);
	if (ret)
		return ret;
	error = handle(&fd, p->first, (size_t)p->span,
		       CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
	if (error || fd < 0)
		return say(at, EOPNOTSUPP, "cuMemGetHandleForAddressRange: %s (%d)",
			   cuda_name(lib, error), error);
	p->fd = fd;
	p->part = 0;
	p->part_length = p->span;
	p->skip = ptr - p->first;
	return 0;
}

static int try_cuda(struct piece *p, struct attempt *at)
{
	static const char *const names[] = { "libcuda.so.1", NULL };
	void *lib = find_library(names);
	int ret;

	if (!lib)
		return say(at, ENOSYS, "libcuda.so.1 is not in this process");
	ret = cuda_export(lib, p, at);
	dlclose(lib);
	return ret;
}

/* ---- HIP ----------------------------------------------------------------- */

/*
 * The dma-buf must be exactly the pages asked for. Where the runtime gives the
 * whole allocation, HIP does not say where in it they are, and HSA does.
 */
static int hip_export(void *lib, struct piece *p, struct attempt *at)
{
	hip_handle handle = (hip_handle)dlsym(lib,
					      "hipMemGetHandleForAddressRange");
	hip_error_name name_of = (hip_error_name)dlsym(lib, "hipGetErrorName");
	int error, fd = -1;
	off_t size;

	if (!handle)
		return say(at, EOPNOTSUPP, "no hipMemGetHandleForAddressRange()");
	error = handle(&fd, (void *)(uintptr_t)p->first, (size_t)p->span,
		       HIP_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
	if (error || fd < 0)
		return say(at, error == HIP_ERROR_INVALID_VALUE ? EFAULT :
								  EOPNOTSUPP,
			   "hipMemGetHandleForAddressRange: %s (%d)",
			   name_of ? name_of(error) : "error", error);
	size = lseek(fd, 0, SEEK_END);
	if (size < 0 || (uint64_t)size != p->span) {
		pl_close(fd);
		return say(at, EOPNOTSUPP, "hipMemGetHandleForAddressRange gave another range");
	}
	p->fd = fd;
	p->part = 0;
	p->part_length = p->span;
	p->skip = (uintptr_t)p->ptr - p->first;
	return 0;
}

static int hsa_export_part(void *lib, struct piece *p, struct attempt *at)
{
	hsa_export export = (hsa_export)dlsym(lib,
					      "hsa_amd_portable_export_dmabuf");
	hsa_error_name name_of = (hsa_error_name)dlsym(lib,
						       "hsa_status_string");
	uint64_t mask = pl_page_size() - 1, offset = 0;
	const char *name = NULL;
	int status, fd = -1;

	if (!export)
		return say(at, EOPNOTSUPP, "no hsa_amd_portable_export_dmabuf(): ROCm 5.6 or later is needed");
	status = export(p->ptr, p->length, &fd, &offset);
	if (status || fd < 0) {
		if (name_of)
			name_of(status, &name);
		return say(at, status == HSA_STATUS_ERROR_INVALID_ARGUMENT ||
			       status == HSA_STATUS_ERROR_INVALID_ALLOCATION ?
			       EFAULT : EOPNOTSUPP,
			   "hsa_amd_portable_export_dmabuf: %s (%#x)",
			   name ? name : "error", (unsigned int)status);
	}
	p->fd = fd;
	p->part = offset & ~mask;
	p->skip = offset & mask;
	p->part_length = (p->skip + p->length + mask) & ~mask;
	return 0;
}

static int try_hip(struct piece *p, struct attempt *at)
{
	static const char *const hip_names[] = {
		"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
		"libamdhip64.so", NULL
	};
	static const char *const hsa_names[] = { "libhsa-runtime64.so.1", NULL };
	void *hip = find_library(hip_names);
	void *hsa = find_library(hsa_names);
	int ret;

	if (!hip && !hsa)
		return say(at, ENOSYS, "libamdhip64.so is not in this process");
	ret = -ENOSYS;
	if (hip)
		ret = hip_export(hip, p, at);
	if (ret && hsa)
		ret = hsa_export_part(hsa, p, at);
	if (hip)
		dlclose(hip);
	if (hsa)
		dlclose(hsa);
	return ret;
}

/* ---- both ---------------------------------------------------------------- */

static int around(struct piece *p)
{
	uint64_t mask = pl_page_size() - 1;
	uint64_t ptr = (uintptr_t)p->ptr;

	if (!p->length)
		return pl_fail_text(EINVAL, "GPU memory: the length is 0");
	if (p->length > UINT64_MAX - mask - ptr || ptr > UINT64_MAX - mask)
		return pl_fail_text(EOVERFLOW, "GPU memory: %zu bytes at %p",
				    p->length, p->ptr);
	p->first = ptr & ~mask;
	p->span = ((ptr + p->length + mask) & ~mask) - p->first;
	return 0;
}

static int refuse(const struct piece *p, const struct attempt *cuda,
		  const struct attempt *hip)
{
	if (cuda->err == ENOSYS && hip->err == ENOSYS)
		return pl_fail_text(ENOSYS, "GPU memory: neither CUDA (libcuda.so.1) nor HIP (libamdhip64.so) is loaded in this process");
	if (cuda->err != ENOSYS && cuda->err != EFAULT)
		return pl_fail_text(cuda->err, "GPU memory: CUDA: %s",
				    cuda->why);
	if (hip->err != ENOSYS && hip->err != EFAULT)
		return pl_fail_text(hip->err, "GPU memory: HIP: %s", hip->why);
	return pl_fail_text(EFAULT, "GPU memory: %p is not known. CUDA: %s. HIP: %s",
			    p->ptr, cuda->why, hip->why);
}

int peerlane_region_gpu(const void *ptr, size_t length,
			struct peerlane_region **region)
{
	struct piece p = { .ptr = ptr, .length = length, .fd = -1 };
	struct attempt cuda = { 0 }, hip = { 0 };
	struct peerlane_region *new;
	int ret;

	pl_clear();
	ret = around(&p);
	if (ret)
		return ret;
	if (try_cuda(&p, &cuda) && try_hip(&p, &hip))
		return refuse(&p, &cuda, &hip);
	ret = pl_region_import(p.fd, p.part, p.part_length, &new);
	pl_close(p.fd);
	if (ret)
		return ret;
	new->gpu_offset = p.skip;
	*region = new;
	return 0;
}
