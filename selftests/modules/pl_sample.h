/* SPDX-License-Identifier: GPL-2.0 */
/* ioctls of /dev/pl_sample. */
#ifndef PL_SAMPLE_H
#define PL_SAMPLE_H

#include <linux/ioctl.h>
#include <linux/types.h>

struct pl_sample_create {
	__u64 offset;
	__u64 length;
};

#define PL_SAMPLE_CREATE	_IOW('s', 0, struct pl_sample_create)	/* returns an fd */
#define PL_SAMPLE_REVOKE	_IO('s', 1)				/* argument: that fd */

#endif /* PL_SAMPLE_H */
