/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIB_FAKE_GPU_H
#define LIB_FAKE_GPU_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What a stand-in is told, and what it was asked */
struct fake_gpu {
	int unknown;		/* the pointer is not mine: this error */
	int error;		/* the export fails with this */
	int sync_error;
	bool host;		/* it is host memory */
	bool managed;		/* it is that of either */
	bool other_range;	/* the dma-buf is larger than asked for */
	uint64_t offset;	/* hsa: of the pointer in the dma-buf */

	int last_error;		/* hip: as the program sees it */
	uint64_t synced;
	bool synced_first;
	uint64_t first;
	size_t size;
	int type;
	unsigned long long flags;
};

/* As the drivers do: what is not aligned to pages is refused. */
static inline int fake_gpu_export(struct fake_gpu *gpu, void *handle,
				  uint64_t first, size_t size, int type,
				  unsigned long long flags)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	int fd;

	gpu->first = first;
	gpu->size = size;
	gpu->type = type;
	gpu->flags = flags;
	if (first % page || size % page || !size || type != 1)
		return 1;
	fd = memfd_create("gpu", MFD_CLOEXEC);
	if (ftruncate(fd, (off_t)(size + (gpu->other_range ? page : 0))) < 0)
		return 1;
	memcpy(handle, &fd, sizeof(fd));
	return 0;
}

#endif /* LIB_FAKE_GPU_H */
