// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Which memory is a GPU's. As in lib/gpu.c: nothing is loaded, since a pointer
 * can only come from a library that this process has loaded already, and the
 * declarations are the stable public ABI of those libraries.
 */
#include "gpu.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
	CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
	CU_MEMORYTYPE_DEVICE = 2,
};

typedef int (*cu_attribute_get)(void *value, int attribute,
				unsigned long long ptr);

/*
 * The numbers of @type are others in each version of HIP. Memory of a device
 * alone has no address on the host.
 */
struct hip_attributes {
	int type;
	int device;
	void *device_pointer;
	void *host_pointer;
	char more[240];
};

typedef int (*hip_attributes_get)(struct hip_attributes *value,
				  const void *ptr);
typedef int (*hip_last_error)(void);

/**
 * struct vendors - what there is in this process
 * @loads: libraries that had been loaded when it was looked for
 */
static struct vendors {
	unsigned long long loads;
	cu_attribute_get cu_get;
	hip_attributes_get hip_get;
	hip_last_error hip_peek;
	hip_last_error hip_take;
} vendors;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- what is loaded ----------------------------------------------------------- */

/* It stays open, for its functions are called from now on. */
static void *find_library(const char *const *names)
{
	void *library = NULL;

	for (; *names && !library; names++)
		library = dlopen(*names, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
	return library;
}

static void find_vendors(void)
{
	static const char *const cuda[] = { "libcuda.so.1", NULL };
	static const char *const hip[] = {
		"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
		"libamdhip64.so", NULL
	};
	void *library;

	library = vendors.cu_get ? NULL : find_library(cuda);
	if (library)
		vendors.cu_get = (cu_attribute_get)
			dlsym(library, "cuPointerGetAttribute");
	library = vendors.hip_get ? NULL : find_library(hip);
	if (!library)
		return;
	vendors.hip_get = (hip_attributes_get)
		dlsym(library, "hipPointerGetAttributes");
	vendors.hip_peek = (hip_last_error)
		dlsym(library, "hipPeekAtLastError");
	vendors.hip_take = (hip_last_error)dlsym(library, "hipGetLastError");
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *loads)
{
	(void)size;
	*(unsigned long long *)loads = info->dlpi_adds;
	return 1;
}

/* To look for a library reads folders, so it is done after others were loaded. */
static struct vendors now(void)
{
	unsigned long long loads = 0;
	struct vendors found;

	dl_iterate_phdr(count_loads, &loads);
	pthread_mutex_lock(&lock);
	if (loads != vendors.loads)
		find_vendors();
	vendors.loads = loads;
	found = vendors;
	pthread_mutex_unlock(&lock);
	return found;
}

/* ---- a pointer -------------------------------------------------------------------- */

static bool is_of_cuda(const struct vendors *found, const void *ptr)
{
	unsigned long long at = (uintptr_t)ptr;
	unsigned int type = 0, is_managed = 0;

	if (!found->cu_get ||
	    found->cu_get(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) ||
	    type != CU_MEMORYTYPE_DEVICE)
		return false;
	return found->cu_get(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED,
			     at) || !is_managed;
}

/* An error that is not the program's is not left to it. */
static bool is_of_hip(const struct vendors *found, const void *ptr)
{
	struct hip_attributes value = { 0 };
	int before;

	if (!found->hip_get)
		return false;
	before = found->hip_peek ? found->hip_peek() : 0;
	if (found->hip_get(&value, ptr)) {
		if (!before && found->hip_take)
			found->hip_take();
		return false;
	}
	return value.device_pointer && !value.host_pointer;
}

bool shim_is_of_gpu(const void *ptr)
{
	struct vendors found = now();

	return ptr && (is_of_cuda(&found, ptr) || is_of_hip(&found, ptr));
}
