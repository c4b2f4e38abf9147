// SPDX-License-Identifier: GPL-2.0
/* Regions of GPU memory, with stand-ins for the vendors' libraries. */
#include "lib_fake.h"
#include "lib_fake_gpu.h"

#include <dlfcn.h>

#define PTR(n) ((const void *)(uintptr_t)(n))
#define REGION ((struct peerlane_region *)1)

static struct fake_gpu *cuda, *hip, *hsa;
static void *libs[3];
static struct peerlane_region *region;
static int next_fd;

static struct fake_gpu *load(int n, const char *name)
{
	struct fake_gpu *gpu;

	libs[n] = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!libs[n])
		abort();
	gpu = dlsym(libs[n], "fake_gpu");
	memset(gpu, 0, sizeof(*gpu));
	return gpu;
}

enum { CUDA = 1, HIP = 2, HSA = 4 };

static void begin(int which)
{
	fake_reset();
	region = REGION;
	if (which & CUDA)
		cuda = load(0, FAKES "/libcuda.so.1");
	if (which & HIP)
		hip = load(1, FAKES "/libamdhip64.so.6");
	if (which & HSA)
		hsa = load(2, FAKES "/libhsa-runtime64.so.1");
}

static void end(void)
{
	int i;

	for (i = 0; i < 3; i++) {
		if (libs[i])
			dlclose(libs[i]);
		libs[i] = NULL;
	}
	if (region != REGION)
		peerlane_region_free(region);
	fake_finish();
}

static void fill_import(void *arg)
{
	struct peerlane_import_dmabuf *import = arg;

	CHECK(fcntl(import->dmabuf_fd, F_GETFD) >= 0);
	next_fd = fake_file(0);
	import->out_fd = next_fd;
}

static void plan_import(uint64_t length)
{
	fake_ioctl(PEERLANE_IOC_IMPORT_DMABUF, 0, .fill = fill_import);
	fake_info(PEERLANE_KIND_DMABUF, PEERLANE_STATE_ACTIVE, 0, length);
}

static void check_import(uint64_t offset, uint64_t length, uint64_t skip)
{
	CHECK_INT(fake.seen[0].import.offset, offset);
	CHECK_INT(fake.seen[0].import.length, length);
	CHECK_INT(peerlane_region_gpu_offset(region), skip);
}

static void no_library(void)
{
	begin(0);
	CHECK_INT(peerlane_region_gpu(PTR(0x10000), 4096, &region), -ENOSYS);
	CHECK_STR(peerlane_strerror(),
		  "GPU memory: neither CUDA (libcuda.so.1) nor HIP (libamdhip64.so) is loaded in this process (ENOSYS)");
	CHECK(region == REGION);
	end();
}

/* Both ends go out to pages, and the offset is kept. */
static void cuda_alignment(void)
{
	static const struct {
		uint64_t ptr, length, first, size, skip;
	} rows[] = {
		{ 0x7f0000000000, 4096, 0x7f0000000000, 4096, 0 },
		{ 0x7f0000000200, 512, 0x7f0000000000, 4096, 0x200 },
		{ 0x7f0000000fff, 2, 0x7f0000000000, 8192, 0xfff },
		{ 0x7f0000000fff, 1, 0x7f0000000000, 4096, 0xfff },
		{ 0x7f0000001000, 4097, 0x7f0000001000, 8192, 0 },
		{ 0x7f0000001234, 0x10000, 0x7f0000001000, 0x11000, 0x234 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(CUDA);
		plan_import(rows[i].size);
		CHECK_INT(peerlane_region_gpu(PTR(rows[i].ptr), rows[i].length,
					      &region), 0);
		CHECK_INT(cuda->first, rows[i].first);
		CHECK_INT(cuda->size, rows[i].size);
		CHECK_INT(cuda->flags, 0);
		CHECK_INT(cuda->synced, rows[i].ptr);
		CHECK(cuda->synced_first);
		check_import(0, rows[i].size, rows[i].skip);
		CHECK_STR(peerlane_strerror(), "");
		end();
	}
}

static void cuda_refuses(void)
{
	begin(CUDA);
	cuda->error = 801;
	CHECK_INT(peerlane_region_gpu(PTR(0x10000), 4096, &region),
		  -EOPNOTSUPP);
	CHECK_STR(peerlane_strerror(),
		  "GPU memory: CUDA: cuMemGetHandleForAddressRange: CUDA_ERROR_NOT_SUPPORTED (801) (EOPNOTSUPP)");
	CHECK(region == REGION);
	end();
	begin(CUDA);
	cuda->host = true;
	CHECK_INT(peerlane_region_gpu(PTR(0x10000), 4096, &region),
		  -EOPNOTSUPP);
	CHECK_HAS(peerlane_strerror(), "this is host memory");
	end();
	begin(CUDA);
	cuda->unknown = 3;
	CHECK_INT(peerlane_region_gpu(PTR(0x10000), 4096, &region), -EFAULT);
	CHECK_HAS(peerlane_strerror(), "CUDA_ERROR_NOT_INITIALIZED (3)");
	CHECK_HAS(peerlane_strerror(), "HIP: libamdhip64.so is not in this process");
	CHECK(region == REGION);
	end();
}

/* Memory of cuMemCreate() has no SYNC_MEMOPS; other failures count. */
static void cuda_sync_memops(void)
{
	begin(CUDA);
	cuda->sync_error = 801;
	plan_import(4096);
	CHECK_INT(peerlane_region_gpu(PTR(0x10000), 4096, &region), 0);
	end();
	begin(CUDA);
	cuda->sync_error = 700;
	CHECK_INT(peerlane_region_gpu(PTR(0x10000), 4096, &region),
		  -EOPNOTSUPP);
	CHECK_HAS(peerlane_strerror(), "cuPointerSetAttribute(SYNC_MEMOPS)");
	CHECK(region == REGION);
	end();
}

static void import_refused(void)
{
	begin(CUDA);
	fake_ioctl(PEERLANE_IOC_IMPORT_DMABUF, 0, EOPNOTSUPP,
		   "exporter is too old");
	CHECK_INT(peerlane_region_gpu(PTR(0x10000), 4096, &region),
		  -EOPNOTSUPP);
	CHECK_HAS(peerlane_strerror(), "exporter is too old");
	CHECK(region == REGION);
	end();
}

static void hip_range(void)
{
	begin(CUDA | HIP | HSA);
	cuda->unknown = 1;
	plan_import(8192);
	CHECK_INT(peerlane_region_gpu(PTR(0x10f00), 4096, &region), 0);
	CHECK_INT(hip->first, 0x10000);
	CHECK_INT(hip->size, 8192);
	CHECK_INT(hsa->size, 0);
	check_import(0, 8192, 0xf00);
	end();
}

/* HIP gives a dma-buf in which the place is not known: HSA says it. */
static void hsa_where_hip_does_not_say(void)
{
	int i;

	for (i = 0; i < 3; i++) {
		begin(HIP | HSA);
		hip->other_range = i == 0;
		hip->error = i == 1 ? 801 : 0;
		hip->unknown = i == 2 ? 1 : 0;
		hsa->offset = 0x20f00;
		plan_import(8192);
		CHECK_INT(peerlane_region_gpu(PTR(0x10f00), 4096, &region), 0);
		CHECK_INT(hsa->first, 0x10f00);
		CHECK_INT(hsa->size, 4096);
		check_import(0x20000, 8192, 0xf00);
		end();
	}
}

static void hsa_alone(void)
{
	begin(HSA);
	hsa->offset = 4096;
	plan_import(4096);
	CHECK_INT(peerlane_region_gpu(PTR(0x10000), 4096, &region), 0);
	check_import(4096, 4096, 0);
	end();
}

static void hip_refuses(void)
{
	begin(HIP);
	hip->other_range = true;
	CHECK_INT(peerlane_region_gpu(PTR(0x10000), 4096, &region),
		  -EOPNOTSUPP);
	CHECK_HAS(peerlane_strerror(), "gave another range");
	end();
	begin(HIP | HSA);
	hip->error = 801;
	hsa->error = 0x1004;
	CHECK_INT(peerlane_region_gpu(PTR(0x10000), 4096, &region),
		  -EOPNOTSUPP);
	CHECK_HAS(peerlane_strerror(), "HSA_STATUS_ERROR_INVALID_AGENT (0x1004)");
	end();
	begin(CUDA | HIP | HSA);
	cuda->unknown = 1;
	hip->unknown = 1;
	hsa->unknown = 0x1003;
	CHECK_INT(peerlane_region_gpu(PTR(0x10000), 4096, &region), -EFAULT);
	CHECK_HAS(peerlane_strerror(), "is not known. CUDA: ");
	CHECK_HAS(peerlane_strerror(), "HIP: hsa_amd_portable_export_dmabuf");
	CHECK(region == REGION);
	end();
}

static void bad_ranges(void)
{
	begin(CUDA);
	CHECK_INT(peerlane_region_gpu(PTR(0x10000), 0, &region), -EINVAL);
	CHECK_INT(peerlane_region_gpu(PTR(UINT64_MAX - 4095), 1, &region),
		  -EOVERFLOW);
	CHECK_INT(peerlane_region_gpu(PTR(0x10000), SIZE_MAX, &region),
		  -EOVERFLOW);
	CHECK_INT(peerlane_region_gpu(PTR(UINT64_MAX), SIZE_MAX, &region),
		  -EOVERFLOW);
	CHECK_INT(cuda->size, 0);
	CHECK(region == REGION);
	end();
}

static const struct tap_case cases[] = {
	TAP_CASE(no_library),
	TAP_CASE(cuda_alignment),
	TAP_CASE(cuda_refuses),
	TAP_CASE(cuda_sync_memops),
	TAP_CASE(import_refused),
	TAP_CASE(hip_range),
	TAP_CASE(hsa_where_hip_does_not_say),
	TAP_CASE(hsa_alone),
	TAP_CASE(hip_refuses),
	TAP_CASE(bad_ranges),
};

int main(void)
{
	return TAP_RUN(cases);
}
