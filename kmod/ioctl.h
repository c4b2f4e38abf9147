/* SPDX-License-Identifier: GPL-2.0 */
/* What the files with handlers share. The rules are in the uapi header. */
#ifndef PEERLANE_IOCTL_H
#define PEERLANE_IOCTL_H

#include "peerlane.h"

union peerlane_args {
	struct peerlane_hdr hdr;
	struct peerlane_region_alloc alloc;
	struct peerlane_region_status info;
	struct peerlane_region_export export;
	struct peerlane_region_revoke revoke;
	struct peerlane_list list;
	struct peerlane_import_dmabuf import;
	struct peerlane_pin_host host;
	struct peerlane_preflight preflight;
};

struct peerlane_call {
	struct file *file;
	void __user *user;
	u32 user_size;
	bool say;			/* the text goes out also on success */
	union peerlane_args args;
	struct peerlane_msg msg;
};

struct peerlane_command {
	unsigned int cmd;
	u32 size;
	u32 min_size;			/* of the first release, for ever */
	u32 flags;			/* known ones */
	int (*handler)(struct peerlane_call *call);
};

#define COMMAND(_cmd, _struct, _last, _flags, _handler)			\
	[_IOC_NR(_cmd) - (BASE)] = {					\
		.cmd = _cmd,						\
		.size = sizeof(struct _struct) +			\
			BUILD_BUG_ON_ZERO(sizeof(union peerlane_args) <	\
					  sizeof(struct _struct)),	\
		.min_size = offsetofend(struct _struct, _last),		\
		.flags = _flags,					\
		.handler = _handler,					\
	}

/*
 * The only way back to the user. A handler that makes a file answers before
 * fd_install(), which cannot be undone.
 */
int peerlane_respond(struct peerlane_call *call, u32 size);
/* A file of the caller's, answered. On failure @file is still the caller's. */
int peerlane_install(struct peerlane_call *call, u32 size, __s32 *out_fd,
		     struct file *file);
/* @commands begins with number @base. */
long peerlane_dispatch(struct file *file, unsigned int cmd, unsigned long arg,
		       const struct peerlane_command *commands,
		       unsigned int count, unsigned int base);

#endif /* PEERLANE_IOCTL_H */
