// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Registration with a NIC. libibverbs is looked up when it is needed and not
 * linked: programs without RDMA, the command among them, run without it. Who
 * has a protection domain has it loaded already.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "private.h"

#define LIBIBVERBS	"libibverbs.so.1"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

typedef struct ibv_mr *(*reg_mr_fn)(struct ibv_pd *pd, void *addr,
				    size_t length, int access);
typedef struct ibv_mr *(*reg_iova_fn)(struct ibv_pd *pd, void *addr,
				      size_t length, uint64_t iova,
				      unsigned int access);
typedef struct ibv_mr *(*reg_dmabuf_fn)(struct ibv_pd *pd, uint64_t offset,
					size_t length, uint64_t iova, int fd,
					int access);

/**
 * struct verbs - what is used of libibverbs
 * @library: for dlclose()
 * @reg_mr: in all versions
 * @reg_iova: takes optional access flags; may be NULL
 * @reg_dmabuf: may be NULL
 */
struct verbs {
	void *library;
	reg_mr_fn reg_mr;
	reg_iova_fn reg_iova;
	reg_dmabuf_fn reg_dmabuf;
};

/**
 * struct request - one call of peerlane_region_reg_mr()
 * @region: as given, like the next four
 * @pd: as given
 * @offset: as given
 * @length: as given
 * @access: as given
 * @verbs: libibverbs
 * @reasons: each way that failed and why
 * @used: length of @reasons
 * @err: errno of the first way that failed for another reason than not being
 *	supported, else 0
 */
struct request {
	struct peerlane_region *region;
	struct ibv_pd *pd;
	uint64_t offset;
	size_t length;
	int access;
	struct verbs verbs;
	char reasons[PL_TEXT_MAX - 128];
	size_t used;
	int err;
};

static bool not_supported(int err)
{
	return err == EOPNOTSUPP || err == EPROTONOSUPPORT || err == ENOSYS ||
	       err == 524 /* the kernel's ENOTSUPP */;
}

static int load(struct verbs *verbs)
{
	void *lib = dlopen(LIBIBVERBS, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

	if (!lib)
		return pl_fail_text(EOPNOTSUPP, LIBIBVERBS " cannot be loaded");
	verbs->library = lib;
	verbs->reg_mr = (reg_mr_fn)dlsym(lib, "ibv_reg_mr");
	verbs->reg_iova = (reg_iova_fn)dlsym(lib, "ibv_reg_mr_iova2");
	verbs->reg_dmabuf = (reg_dmabuf_fn)dlsym(lib, "ibv_reg_dmabuf_mr");
	if (verbs->reg_mr)
		return 0;
	dlclose(lib);
	return pl_fail_text(EOPNOTSUPP, LIBIBVERBS " has no ibv_reg_mr()");
}

static PL_PRINTF(3, 4) void note(struct request *rq, int err, const char *fmt,
				 ...)
{
	va_list ap;
	size_t room;
	int n;

	if (err && !not_supported(err) && !rq->err)
		rq->err = err;
	if (rq->used && rq->used + 2 < sizeof(rq->reasons)) {
		memcpy(rq->reasons + rq->used, "; ", 3);
		rq->used += 2;
	}
	room = sizeof(rq->reasons) - rq->used;
	va_start(ap, fmt);
	n = vsnprintf(rq->reasons + rq->used, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		rq->used += (size_t)n < room ? (size_t)n : room - 1;
}

static void note_errno(struct request *rq, const char *what, int err)
{
	const char *name = pl_errno_name(err);
	char number[32];

	snprintf(number, sizeof(number), "errno %d", err);
	note(rq, err, "%s: %s", what, name ? name : number);
}

/* Any provider may forget errno. */
static int failed(void)
{
	return errno ? errno : EIO;
}

static struct ibv_mr *reg_cpu(struct request *rq, void *addr)
{
	struct verbs *verbs = &rq->verbs;
	unsigned int access = (unsigned int)rq->access;

	errno = 0;
	if ((access & IBV_ACCESS_OPTIONAL_RANGE) && verbs->reg_iova)
		return verbs->reg_iova(rq->pd, addr, rq->length,
				       (uintptr_t)addr, access);
	return verbs->reg_mr(rq->pd, addr, rq->length, rq->access);
}

/*
 * A dma-buf and where in it the bytes asked for begin. Of an imported region it
 * is the one that was imported; what the kernel hands on is whole.
 */
static int export(struct request *rq, int *fd, uint64_t *begin)
{
	struct peerlane_region *region = rq->region;
	uint64_t mask = pl_page_size() - 1;
	uint64_t first = rq->offset & ~mask;
	uint64_t last = (rq->offset + rq->length + mask) & ~mask;

	if (region->dmabuf >= 0) {
		*begin = region->part_offset + rq->offset;
		*fd = fcntl(region->dmabuf, F_DUPFD_CLOEXEC, 0);
		return *fd < 0 ? pl_fail(errno, "dup of the dma-buf") : 0;
	}
	if (region->kind == PEERLANE_KIND_DMABUF) {
		first = 0;
		last = region->length;
	}
	*begin = rq->offset - first;
	return pl_region_export(region, first, last - first, 0, fd);
}

/* The address peers use: as the CPU has it where it has one */
static uint64_t iova(struct request *rq, uint32_t caps)
{
	void *addr;

	if ((caps & PEERLANE_CAP_MMAP) &&
	    !pl_region_map(rq->region, "registration", &addr))
		return (uintptr_t)addr + rq->offset;
	return rq->offset;
}

static struct ibv_mr *by_dmabuf(struct request *rq, uint32_t caps)
{
	struct ibv_mr *mr;
	uint64_t begin, at;
	int fd, ret;

	if (!rq->verbs.reg_dmabuf) {
		note(rq, 0, "dma-buf: " LIBIBVERBS " has no ibv_reg_dmabuf_mr()");
		return NULL;
	}
	if (!(caps & PEERLANE_CAP_EXPORT) && rq->region->dmabuf < 0) {
		note(rq, 0, "dma-buf: none of this %s region",
		     peerlane_kind_name(rq->region->kind));
		return NULL;
	}
	at = iova(rq, caps);
	ret = export(rq, &fd, &begin);
	if (ret) {
		note(rq, -ret, "dma-buf: %s", peerlane_strerror());
		return NULL;
	}
	errno = 0;
	mr = rq->verbs.reg_dmabuf(rq->pd, begin, rq->length, at, fd,
				  rq->access);
	if (!mr)
		note_errno(rq, "dma-buf: ibv_reg_dmabuf_mr", failed());
	else
		mr->addr = (void *)(uintptr_t)at;
	pl_close(fd);
	return mr;
}

/* Pages that are there are pinned faster; that they are not is no failure. */
static void populate(char *addr, size_t length)
{
	uintptr_t mask = (uintptr_t)pl_page_size() - 1;
	size_t before = (uintptr_t)addr & mask;

	madvise(addr - before, (length + before + mask) & ~mask,
		MADV_POPULATE_WRITE);
}

static struct ibv_mr *by_mapping(struct request *rq, uint32_t caps)
{
	struct ibv_mr *mr;
	void *base;
	char *addr;
	int ret;

	if (!(caps & PEERLANE_CAP_REG_MR)) {
		note(rq, 0, "CPU mapping: a %s region has no pages to pin",
		     peerlane_kind_name(rq->region->kind));
		return NULL;
	}
	ret = pl_region_map(rq->region, "registration", &base);
	if (ret) {
		note(rq, -ret, "CPU mapping: %s", peerlane_strerror());
		return NULL;
	}
	addr = (char *)base + rq->offset;
	populate(addr, rq->length);
	mr = reg_cpu(rq, addr);
	if (!mr)
		note_errno(rq, "CPU mapping: ibv_reg_mr", failed());
	return mr;
}

/* Host regions are the caller's own pages, registered as such. */
static struct ibv_mr *by_host(struct request *rq)
{
	struct ibv_mr *mr;

	if (!rq->region->host) {
		note(rq, 0, "host pages can be registered only by the process that has them");
		return NULL;
	}
	mr = reg_cpu(rq, rq->region->host + rq->offset);
	if (!mr)
		note_errno(rq, "host pages: ibv_reg_mr", failed());
	return mr;
}

static int check(const struct request *rq, uint32_t *caps)
{
	const int writes = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
	struct peerlane_region_status info;
	int ret;

	if (!rq->length)
		return pl_fail_text(EINVAL, "registration: the length is 0");
	ret = pl_region_info(rq->region, &info, "registration");
	if (ret)
		return ret;
	if (info.out_state == PEERLANE_STATE_EMPTY)
		return pl_fail_text(ENODATA, "registration: the region has no memory yet");
	if (info.out_state != PEERLANE_STATE_ACTIVE)
		return pl_fail_text(ENODEV, "registration: the region is revoked");
	ret = pl_range(info.out_length, rq->offset, rq->length, "registration");
	if (ret)
		return ret;
	if (rq->region->read_only && (rq->access & writes))
		return pl_fail_text(EACCES, "registration: the region was made to be only read");
	rq->region->length = info.out_length;
	*caps = info.out_caps;
	return 0;
}

int peerlane_region_reg_mr(struct peerlane_region *region, struct ibv_pd *pd,
			   uint64_t offset, size_t length, int access,
			   struct ibv_mr **out)
{
	struct request rq = {
		.region = region,
		.pd = pd,
		.offset = offset,
		.length = length,
		.access = access,
	};
	struct ibv_mr *mr;
	uint32_t caps;
	int ret;

	pl_clear();
	ret = check(&rq, &caps);
	if (!ret)
		ret = load(&rq.verbs);
	if (ret)
		return ret;
	if (region->kind == PEERLANE_KIND_HOST) {
		mr = by_host(&rq);
	} else {
		mr = by_dmabuf(&rq, caps);
		if (!mr)
			mr = by_mapping(&rq, caps);
	}
	dlclose(rq.verbs.library);
	if (!mr)
		return pl_fail_text(rq.err ? rq.err : EOPNOTSUPP,
				    "registration: %s", rq.reasons);
	pl_clear();
	*out = mr;
	return 0;
}
