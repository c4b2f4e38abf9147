// SPDX-License-Identifier: GPL-2.0
/* Registration with a NIC: which way is taken, with which addresses. */
#include "lib_fake.h"
#include "lib_fake_verbs.h"

#include <dlfcn.h>

#define CAPS (PEERLANE_CAP_MMAP | PEERLANE_CAP_REG_MR | PEERLANE_CAP_EXPORT)
#define LENGTH (1U << 20)
#define PD ((struct ibv_pd *)0x1000)
#define MR ((struct ibv_mr *)0x1001)

static struct fake_verbs *verbs;
static struct peerlane_region *region;
static struct ibv_mr *mr;
static int next_fd;

static void info(uint32_t caps)
{
	fake_info(PEERLANE_KIND_BAR, PEERLANE_STATE_ACTIVE, caps, LENGTH);
}

static void begin(uint32_t caps)
{
	fake_reset();
	memset(verbs, 0, sizeof(*verbs));
	region = fake_region(caps, LENGTH);
	mr = MR;
}

static void end(void)
{
	peerlane_region_free(region);
	fake_finish();
}

static char *map(uint32_t caps)
{
	void *addr = NULL;

	info(caps);
	CHECK_INT(peerlane_region_map(region, &addr), 0);
	return addr;
}

static void fill_export(void *arg)
{
	((struct peerlane_region_export *)arg)->out_fd = next_fd;
}

/* An export that gives a dma-buf of @size bytes */
static void plan_export(size_t size)
{
	next_fd = fake_file(size);
	fake_ioctl(PEERLANE_IOC_REGION_EXPORT, 0, .fill = fill_export);
}

/* The NIC takes dma-bufs: the pages around, the offset in them kept. */
static void by_dmabuf(void)
{
	int call;
	char *addr;

	begin(CAPS);
	addr = map(CAPS);
	info(CAPS);
	call = fake.planned;
	plan_export(12288);
	CHECK_INT(peerlane_region_reg_mr(region, PD, 5000, 8000, 7, &mr), 0);
	CHECK_INT(verbs->calls, 4);
	CHECK_INT(fake.seen[call].export.offset, 4096);
	CHECK_INT(fake.seen[call].export.length, 12288);
	CHECK_INT(fake.seen[call].export.flags, 0);
	CHECK(verbs->pd == PD);
	CHECK_INT(verbs->offset, 5000 - 4096);
	CHECK_INT(verbs->length, 8000);
	CHECK_INT(verbs->iova, (uintptr_t)addr + 5000);
	CHECK_INT(verbs->offset % 4096, verbs->iova % 4096);
	CHECK_INT(verbs->access, 7);
	CHECK_INT(verbs->size, 12288);
	CHECK(mr == &verbs->mr);
	CHECK(mr->addr == addr + 5000);
	CHECK_STR(peerlane_strerror(), "");
	/* nothing left open: tap.h looks */
	end();
}

/* Not mapped yet, but it can be: the address is still the CPU's. */
static void by_dmabuf_maps(void)
{
	void *addr;

	begin(CAPS);
	info(CAPS);
	info(CAPS);
	plan_export(4096);
	CHECK_INT(peerlane_region_reg_mr(region, PD, 0, 10, 7, &mr), 0);
	CHECK_INT(peerlane_region_map(region, &addr), 0);
	CHECK(mr->addr == addr);
	CHECK_INT(verbs->iova, (uintptr_t)addr);
	end();
}

/* No CPU mapping: addresses count from the region's first byte. */
static void by_dmabuf_unmappable(void)
{
	begin(CAPS);
	info(PEERLANE_CAP_EXPORT);
	plan_export(8192);
	CHECK_INT(peerlane_region_reg_mr(region, PD, 4100, 4096, 7, &mr), 0);
	CHECK_INT(verbs->offset, 4);
	CHECK_INT(verbs->iova, 4100);
	CHECK_INT((uintptr_t)mr->addr, 4100);
	end();
}

static void by_mapping(void)
{
	static const int errors[] = {
		EOPNOTSUPP, EPROTONOSUPPORT, ENOSYS, 524, EINVAL, -1
	};
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		char *addr;

		begin(CAPS);
		addr = map(CAPS);
		info(CAPS);
		plan_export(8192);
		verbs->dmabuf_err = errors[i];
		CHECK_INT(peerlane_region_reg_mr(region, PD, 100, 8000, 7,
						 &mr), 0);
		CHECK_INT(verbs->calls, 5);
		CHECK(verbs->addr == addr + 100);
		CHECK_INT(verbs->length, 8000);
		CHECK_INT(verbs->access, 7);
		CHECK(mr->addr == addr + 100);
		CHECK_INT(fake.madvise_advice, 23);
		CHECK_STR(peerlane_strerror(), "");
		end();
	}
}

/* Optional flags need the newer entry, which knows to leave them out. */
static void optional_access(void)
{
	char *addr;

	begin(CAPS);
	addr = map(CAPS);
	info(PEERLANE_CAP_MMAP | PEERLANE_CAP_REG_MR);
	CHECK_INT(peerlane_region_reg_mr(region, PD, 0, 4096,
					 IBV_ACCESS_RELAXED_ORDERING | 7, &mr),
		  0);
	CHECK_INT(verbs->calls, 2);
	CHECK_INT(verbs->access, IBV_ACCESS_RELAXED_ORDERING | 7);
	CHECK_INT(verbs->iova, (uintptr_t)addr);
	end();
}

static void no_way(void)
{
	begin(CAPS);
	map(CAPS);
	info(CAPS);
	plan_export(4096);
	verbs->dmabuf_err = EOPNOTSUPP;
	verbs->reg_err = 524;
	CHECK_INT(peerlane_region_reg_mr(region, PD, 0, 4096, 7, &mr),
		  -EOPNOTSUPP);
	CHECK_STR(peerlane_strerror(),
		  "registration: dma-buf: ibv_reg_dmabuf_mr: EOPNOTSUPP; "
		  "CPU mapping: ibv_reg_mr: ENOTSUPP (EOPNOTSUPP)");
	CHECK(mr == MR);
	info(0);
	CHECK_INT(peerlane_region_reg_mr(region, PD, 0, 4096, 7, &mr),
		  -EOPNOTSUPP);
	CHECK_STR(peerlane_strerror(),
		  "registration: dma-buf: none of this bar region; "
		  "CPU mapping: a bar region has no pages to pin (EOPNOTSUPP)");
	CHECK(mr == MR);
	end();
}

/* The errno is of the first way that is more than not supported. */
static void real_errors(void)
{
	begin(CAPS);
	map(CAPS);
	info(CAPS);
	plan_export(4096);
	verbs->dmabuf_err = EPROTONOSUPPORT;
	verbs->reg_err = ENOMEM;
	CHECK_INT(peerlane_region_reg_mr(region, PD, 0, 4096, 7, &mr),
		  -ENOMEM);
	CHECK_STR(peerlane_strerror(),
		  "registration: dma-buf: ibv_reg_dmabuf_mr: EPROTONOSUPPORT; "
		  "CPU mapping: ibv_reg_mr: ENOMEM (ENOMEM)");
	info(CAPS);
	plan_export(4096);
	verbs->dmabuf_err = EINVAL;
	verbs->reg_err = EFAULT;
	CHECK_INT(peerlane_region_reg_mr(region, PD, 0, 4096, 7, &mr),
		  -EINVAL);
	CHECK_HAS(peerlane_strerror(), "EINVAL; CPU mapping: ibv_reg_mr: EFAULT");
	info(CAPS);
	fake_ioctl(PEERLANE_IOC_REGION_EXPORT, 0, ENOMEM, "no room");
	verbs->reg_err = -1;
	CHECK_INT(peerlane_region_reg_mr(region, PD, 0, 4096, 7, &mr),
		  -ENOMEM);
	CHECK_HAS(peerlane_strerror(), "dma-buf: export: no room (ENOMEM); "
		  "CPU mapping: ibv_reg_mr: EIO");
	CHECK(mr == MR);
	end();
}

static void refused(void)
{
	begin(CAPS);
	CHECK_INT(peerlane_region_reg_mr(region, PD, 0, 0, 7, &mr), -EINVAL);
	info(CAPS);
	CHECK_INT(peerlane_region_reg_mr(region, PD, LENGTH, 1, 7, &mr),
		  -EINVAL);
	CHECK_HAS(peerlane_strerror(), "outside of a region of 1048576 bytes");
	info(CAPS);
	CHECK_INT(peerlane_region_reg_mr(region, PD, UINT64_MAX, 2, 7, &mr),
		  -EINVAL);
	fake_info(PEERLANE_KIND_BAR, PEERLANE_STATE_LIMBO, CAPS, LENGTH);
	CHECK_INT(peerlane_region_reg_mr(region, PD, 0, 1, 7, &mr), -ENODEV);
	fake_info(PEERLANE_KIND_BAR, PEERLANE_STATE_EMPTY, CAPS, 0);
	CHECK_INT(peerlane_region_reg_mr(region, PD, 0, 1, 7, &mr), -ENODATA);
	fake_ioctl(PEERLANE_IOC_REGION_INFO, 0, EPERM, "no");
	CHECK_INT(peerlane_region_reg_mr(region, PD, 0, 1, 7, &mr), -EPERM);
	CHECK_INT(verbs->calls, 0);
	CHECK(mr == MR);
	end();
}

static void without_libibverbs(void)
{
	begin(CAPS);
	info(CAPS);
	fake.no_library = "libibverbs.so.1";
	CHECK_INT(peerlane_region_reg_mr(region, PD, 0, 1, 7, &mr),
		  -EOPNOTSUPP);
	CHECK_STR(peerlane_strerror(),
		  "libibverbs.so.1 cannot be loaded (EOPNOTSUPP)");
	CHECK(mr == MR);
	end();
}

static void fill_fd(void *arg)
{
	/* import and pin have out_fd at different places */
	struct peerlane_hdr *hdr = arg;

	if (hdr->size == sizeof(struct peerlane_import_dmabuf))
		((struct peerlane_import_dmabuf *)arg)->out_fd = next_fd;
	else
		((struct peerlane_pin_host *)arg)->out_fd = next_fd;
}

static void host(void)
{
	static char pages[8192] __attribute__((aligned(4096)));
	int i;

	for (i = 0; i < 2; i++) {
		fake_reset();
		memset(verbs, 0, sizeof(*verbs));
		mr = MR;
		next_fd = fake_file(0);
		fake_ioctl(PEERLANE_IOC_PIN_HOST, 0, .fill = fill_fd);
		fake_info(PEERLANE_KIND_HOST, PEERLANE_STATE_ACTIVE, 0, 8192);
		CHECK_INT(peerlane_region_host(pages, 8192, i, &region), 0);
		fake_info(PEERLANE_KIND_HOST, PEERLANE_STATE_ACTIVE, 0, 8192);
		CHECK_INT(peerlane_region_reg_mr(region, PD, 10, 100,
						 IBV_ACCESS_REMOTE_READ, &mr),
			  0);
		CHECK_INT(verbs->calls, 1);
		CHECK(verbs->addr == pages + 10);
		fake_info(PEERLANE_KIND_HOST, PEERLANE_STATE_ACTIVE, 0, 8192);
		CHECK_INT(peerlane_region_reg_mr(region, PD, 10, 100,
						 IBV_ACCESS_LOCAL_WRITE, &mr),
			  i ? -EACCES : 0);
		end();
	}
}

/* Of another process: there are no pages here to register. */
static void host_from_elsewhere(void)
{
	fake_reset();
	mr = MR;
	fake_info(PEERLANE_KIND_HOST, PEERLANE_STATE_ACTIVE, 0, 8192);
	CHECK_INT(peerlane_region_from_fd(fake_file(0), &region), 0);
	fake_info(PEERLANE_KIND_HOST, PEERLANE_STATE_ACTIVE, 0, 8192);
	CHECK_INT(peerlane_region_reg_mr(region, PD, 0, 100, 1, &mr),
		  -EOPNOTSUPP);
	CHECK_HAS(peerlane_strerror(), "only by the process that has them");
	CHECK(mr == MR);
	end();
}

/* A part of a dma-buf: the part's offset is in, the alignment is kept. */
static void imported_part(void)
{
	int dmabuf;

	fake_reset();
	memset(verbs, 0, sizeof(*verbs));
	dmabuf = fake_file(65536);
	next_fd = fake_file(0);
	fake_ioctl(PEERLANE_IOC_IMPORT_DMABUF, 0, .fill = fill_fd);
	fake_info(PEERLANE_KIND_DMABUF, PEERLANE_STATE_ACTIVE, 0, 8192);
	CHECK_INT(peerlane_region_import(dmabuf, 16384, 8192, &region), 0);
	close(dmabuf);
	fake_info(PEERLANE_KIND_DMABUF, PEERLANE_STATE_ACTIVE, 0, 8192);
	CHECK_INT(peerlane_region_reg_mr(region, PD, 100, 8000, 7, &mr), 0);
	CHECK_INT(verbs->size, 65536);
	CHECK_INT(verbs->offset, 16384 + 100);
	CHECK_INT(verbs->iova, 100);
	CHECK_INT((uintptr_t)mr->addr, 100);
	/* never by the CPU mapping, whose pages are the exporter's */
	fake_info(PEERLANE_KIND_DMABUF, PEERLANE_STATE_ACTIVE, 0, 8192);
	verbs->dmabuf_err = EOPNOTSUPP;
	verbs->calls = 0;
	CHECK_INT(peerlane_region_reg_mr(region, PD, 0, 1, 7, &mr),
		  -EOPNOTSUPP);
	CHECK_INT(verbs->calls, 4);
	end();
}

/* Received from another process: the kernel hands on the whole dma-buf. */
static void imported_elsewhere(void)
{
	int call;

	fake_reset();
	memset(verbs, 0, sizeof(*verbs));
	fake_info(PEERLANE_KIND_DMABUF, PEERLANE_STATE_ACTIVE,
		  PEERLANE_CAP_EXPORT, 65536);
	CHECK_INT(peerlane_region_from_fd(fake_file(0), &region), 0);
	fake_info(PEERLANE_KIND_DMABUF, PEERLANE_STATE_ACTIVE,
		  PEERLANE_CAP_EXPORT, 65536);
	call = fake.planned;
	plan_export(65536);
	CHECK_INT(peerlane_region_reg_mr(region, PD, 5000, 8000, 7, &mr), 0);
	CHECK_INT(fake.seen[call].export.offset, 0);
	CHECK_INT(fake.seen[call].export.length, 65536);
	CHECK_INT(verbs->offset, 5000);
	CHECK_INT(verbs->iova, 5000);
	end();
}

static const struct tap_case cases[] = {
	TAP_CASE(by_dmabuf),
	TAP_CASE(by_dmabuf_maps),
	TAP_CASE(by_dmabuf_unmappable),
	TAP_CASE(by_mapping),
	TAP_CASE(optional_access),
	TAP_CASE(no_way),
	TAP_CASE(real_errors),
	TAP_CASE(refused),
	TAP_CASE(without_libibverbs),
	TAP_CASE(host),
	TAP_CASE(host_from_elsewhere),
	TAP_CASE(imported_part),
	TAP_CASE(imported_elsewhere),
};

int main(void)
{
	void *lib;

	fake_reset();
	lib = dlopen(FAKES "/libibverbs.so.1", RTLD_NOW);
	if (!lib) {
		printf("Bail out! %s\n", dlerror());
		return 1;
	}
	verbs = dlsym(lib, "fake_verbs");
	return TAP_RUN(cases);
}
