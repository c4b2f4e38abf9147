/* SPDX-License-Identifier: GPL-2.0 */
/* ioctls of /dev/pl_exporter. */
#ifndef PL_EXPORTER_H
#define PL_EXPORTER_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PL_EXPORT_MMAP		(1U << 0)	/* the CPU can map it */
#define PL_EXPORT_READ_ONLY	(1U << 1)	/* its file is open for reading only */
#define PL_EXPORT_DMA		(1U << 2)	/* devices can attach */
#define PL_EXPORT_ODD		(1U << 3)	/* with it: the first entry ends within a page */

struct pl_export {
	__u64 size;
	__u32 flags;
	__u32 reserved;
};

#define PL_EXPORT	_IOW('e', 0, struct pl_export)	/* returns an fd */
/* Importers are told to let go, of a dma-buf by its fd. */
#define PL_EXPORT_TAKE	_IOW('e', 1, __s32)

#endif /* PL_EXPORTER_H */
