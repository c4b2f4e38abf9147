/* SPDX-License-Identifier: GPL-2.0 */
/* QEMU's edu function: ioctls of /dev/pl_edu, and calls for test modules. */
#ifndef PL_EDU_H
#define PL_EDU_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PL_EDU_ROOM	2048	/* bytes of one copy */

/* Bus addresses, taken as they are: whatever lies there by now. */
struct pl_edu_copy {
	__u64 source;
	__u64 target;
	__u32 length;
	__u32 reserved;
};

#define PL_EDU_COPY	_IOW('e', 0, struct pl_edu_copy)

#ifdef __KERNEL__
#include <linux/pci.h>

struct pci_dev *pl_edu_function(void);
/* May sleep, some 200 ms: the engine is slow. One copy at a time. */
int pl_edu_copy(u64 source, u64 target, u32 length);
#endif

#endif /* PL_EDU_H */
