/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The test modules that import dma-bufs, and the DMA engine that they use.
 * Calls return 0 (or an open file) or -errno.
 */
#ifndef SELFTESTS_REGION_DMA_H
#define SELFTESTS_REGION_DMA_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "pl_edu.h"
#include "pl_importer.h"
#include "pl_umem.h"

static inline bool has_iommu(void)
{
	return !access("/sys/class/iommu/dmar0", F_OK);
}

static inline int dma_call(int fd, unsigned long cmd, void *args)
{
	return ioctl(fd, cmd, args) < 0 ? -errno : 0;
}

/* Open @node and have it take what @args names. */
static inline int dma_open(const char *node, unsigned long cmd, void *args)
{
	int fd = open(node, O_RDWR | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = dma_call(fd, cmd, args);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/* ---- /dev/pl_importer ---- */

static inline int importer_attach_max(int dmabuf, uint32_t mode,
				      uint32_t max_segment)
{
	struct pl_attach args = {
		.fd = dmabuf, .mode = mode, .max_segment = max_segment,
	};

	return dma_open("/dev/pl_importer", PL_ATTACH, &args);
}

static inline int importer_attach(int dmabuf, uint32_t mode)
{
	return importer_attach_max(dmabuf, mode, 0);
}

static inline int importer_map(int importer)
{
	return dma_call(importer, PL_MAP, NULL);
}

static inline int importer_unmap(int importer)
{
	return dma_call(importer, PL_UNMAP, NULL);
}

static inline struct pl_state importer_state(int importer)
{
	struct pl_state state = {};

	if (dma_call(importer, PL_STATE, &state))
		state.notifies = -1;
	return state;
}

static inline int importer_copy(int importer, bool write, uint64_t offset,
				void *data, uint32_t length)
{
	struct pl_copy args = {
		.offset = offset, .data_ptr = (uintptr_t)data,
		.length = length, .write = write,
	};

	return dma_call(importer, PL_COPY, &args);
}

/* Write @byte for so long, under a fence. */
static inline int importer_job(int importer, uint8_t byte, uint32_t ms,
			       bool hasty)
{
	struct pl_job args = {
		.length = 64, .byte = byte, .ms = ms, .hasty = hasty,
	};

	return dma_call(importer, PL_JOB, &args);
}

/* ---- /dev/pl_umem ---- */

static inline int umem_get(int dmabuf, uint32_t mode, uint64_t offset,
			   uint64_t length)
{
	struct pl_umem_get args = {
		.fd = dmabuf, .mode = mode, .offset = offset, .length = length,
	};

	return dma_open("/dev/pl_umem", PL_UMEM_GET, &args);
}

static inline struct pl_umem_state umem_state(int umem)
{
	struct pl_umem_state state = {};

	if (dma_call(umem, PL_UMEM_STATE, &state))
		state.told = -1;
	return state;
}

static inline int umem_copy(int umem, uint64_t from, uint64_t to,
			    uint32_t length)
{
	struct pl_umem_copy args = {
		.from = from, .to = to, .length = length,
	};

	return dma_call(umem, PL_UMEM_COPY, &args);
}

/* ---- /dev/pl_edu ---- */

/* By bus addresses, whether or not anything is mapped there. */
static inline int edu_copy(uint64_t source, uint64_t target, uint32_t length)
{
	struct pl_edu_copy args = {
		.source = source, .target = target, .length = length,
	};
	int fd = dma_open("/dev/pl_edu", PL_EDU_COPY, &args);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

#endif /* SELFTESTS_REGION_DMA_H */
