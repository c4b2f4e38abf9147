/* SPDX-License-Identifier: GPL-2.0 */
/* ioctl of /dev/pl_exporter. */
#ifndef PL_EXPORTER_H
#define PL_EXPORTER_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PL_EXPORT_MMAP		(1U << 0)	/* the CPU can map it */
#define PL_EXPORT_READ_ONLY	(1U << 1)	/* its file is open for reading only */

struct pl_export {
	__u64 size;
	__u32 flags;
	__u32 reserved;
};

#define PL_EXPORT	_IOW('e', 0, struct pl_export)	/* returns an fd */

#endif /* PL_EXPORTER_H */
