/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PEERLANE_ENDPOINT_OP_H
#define PEERLANE_ENDPOINT_OP_H

#include "endpoint.h"

/* What is the same for the operations of one call. */
struct endpoint_batch {
	struct peerlane_endpoint *endpoint;
	struct link *link;
	struct peerlane_msg *msg;
	bool nowait;			/* -EAGAIN instead of a wait */
	unsigned long lanes;		/* that have something new */
	struct link_grant *grant;	/* of the last one, a reference */
	u32 slot;			/* that needs a map */
};

/* How many of them began, from the first on; the reason of the next in @ret. */
u32 endpoint_begin(struct endpoint_batch *batch, const struct peerlane_op *ops,
		   u32 count, int *ret);
/* Hand over what is new. */
void endpoint_push(struct endpoint_batch *batch);

#endif /* PEERLANE_ENDPOINT_OP_H */
