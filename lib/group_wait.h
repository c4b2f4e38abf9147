/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* What groups tell, taken by one thread for all. */
#ifndef PEERLANE_GROUP_WAIT_H
#define PEERLANE_GROUP_WAIT_H

#include "group.h"

#define PL_GROUP_RECORDS	32

/**
 * struct pl_group_call - one call of the kernel
 * @list: @count operations to begin
 * @begun: set: how many were
 * @takes: records are wanted
 * @wait: how many to wait for
 * @timeout: ns, -1 none
 * @used: set: bytes of @records
 */
struct pl_group_call {
	const struct peerlane_collective *list;
	uint32_t count;
	uint32_t begun;
	bool takes;
	uint32_t wait;
	int64_t timeout;
	uint32_t used;
	struct peerlane_group_record records[PL_GROUP_RECORDS];
};

/* group_submit.c */
int pl_group_call(const struct peerlane_group *group, struct pl_group_call *call);

/* group_wait.c; the lock is held for the first three */
struct pl_group_task *pl_group_task(struct peerlane_group *group,
				    uint64_t cookie);
struct pl_group_task *pl_group_task_new(struct peerlane_group *group,
					uint32_t type);
void pl_group_task_free(struct peerlane_group *group,
			struct pl_group_task *task);
/* Begin what is remembered already; take the first record if nobody else does. */
int pl_group_run(struct peerlane_group *group,
		 const struct peerlane_collective *operation);

#endif /* PEERLANE_GROUP_WAIT_H */
