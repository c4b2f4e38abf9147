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
	struct peerlane_endpoint_create endpoint_create;
	struct peerlane_endpoint_address endpoint_address;
	struct peerlane_endpoint_accept endpoint_accept;
	struct peerlane_endpoint_bind endpoint_bind;
	struct peerlane_endpoint_expose endpoint_expose;
	struct peerlane_endpoint_withdraw endpoint_withdraw;
	struct peerlane_endpoint_submit endpoint_submit;
	struct peerlane_endpoint_disconnect endpoint_disconnect;
	struct peerlane_group_create group_create;
	struct peerlane_group_join group_join;
	struct peerlane_group_submit group_submit;
	struct peerlane_group_leave group_leave;
	struct peerlane_aggregator_create aggregator_create;
	struct peerlane_aggregator_ranks aggregator_ranks;
};

struct peerlane_call {
	struct file *file;
	void __user *user;
	u32 user_size;
	bool say;			/* the text goes out also on success */
	bool nowait;			/* -EAGAIN, if it would have to sleep */
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
/*
 * Before what cannot be undone, and before call->args is changed: could the answer
 * be written? What was read is written back. Who unmaps it afterwards is told
 * EFAULT nevertheless.
 */
int peerlane_probe(struct peerlane_call *call, u32 size);
/* A file of the caller's, answered. On failure @file is still the caller's. */
int peerlane_install(struct peerlane_call *call, u32 size, __s32 *out_fd,
		     struct file *file);
/* @commands begins with number @base. */
long peerlane_dispatch(struct file *file, unsigned int cmd, unsigned long arg,
		       const struct peerlane_command *commands,
		       unsigned int count, unsigned int base);

/* The same for one that is known; @call has its file, its argument and nowait. */
long peerlane_run(struct peerlane_call *call,
		  const struct peerlane_command *command);

typedef u32 (*peerlane_records_fn)(void *records, u32 room);

/*
 * A call that takes struct peerlane_list: all records that @get knows, or one.
 * @size: of a record now; @min_size: in the first release, for ever.
 */
int peerlane_list(struct peerlane_call *call, peerlane_records_fn get, u32 size,
		  u32 min_size);
int peerlane_list_one(struct peerlane_call *call, const void *record, u32 size,
		      u32 min_size);

/* @records: as many as there was @room for, of @count, to what was asked for. */
int peerlane_list_answer(struct peerlane_call *call, const void *records,
			 u32 room, u32 count, u32 size, u32 min_size);

/* ---- ioctl_endpoint.c: calls on control ---- */

int peerlane_endpoint_create(struct peerlane_call *call);
int peerlane_endpoint_list(struct peerlane_call *call);

/* ---- ioctl_group.c, ioctl_aggregator.c: calls on control ---- */

int peerlane_group_create(struct peerlane_call *call);
int peerlane_group_list(struct peerlane_call *call);
int peerlane_group_lanes(struct peerlane_call *call);
int peerlane_aggregator_create(struct peerlane_call *call);
int peerlane_aggregator_list(struct peerlane_call *call);

#endif /* PEERLANE_IOCTL_H */
