// SPDX-License-Identifier: GPL-2.0
/*
 * SUBMIT as a command of io_uring. It is done when the handler returns, and that
 * it may not sleep is only tried: -EAGAIN makes io_uring call again from a
 * worker. A kernel without io_uring does not call it at all.
 *
 * 6.1 takes any result but 0 for a failure, and forgets a request whose worker
 * got one above 0: so these are told, not returned.
 */
#include <linux/string.h>

#include "compat.h"
#include "endpoint.h"
#include PEERLANE_URING_CMD_H

int endpoint_uring_cmd(struct io_uring_cmd *cmd, unsigned int flags)
{
	struct peerlane_endpoint_uring area;
	int ret;

	if (cmd->cmd_op != PEERLANE_IOC_ENDPOINT_SUBMIT)
		return -ENOTTY;
	/* Who looks for completions of such a ring would have to ask us. */
	if (flags & IO_URING_F_IOPOLL)
		return -EOPNOTSUPP;
	/* Its user may write it meanwhile. */
	memcpy(&area, peerlane_uring_cmd_area(cmd), sizeof(area));
	if (area.reserved)
		return -EOPNOTSUPP;
	ret = peerlane_endpoint_submit_call(cmd->file,
					    u64_to_user_ptr(area.args_ptr),
					    flags & IO_URING_F_NONBLOCK);
	if (ret <= 0)
		return ret;
	peerlane_uring_cmd_done(cmd, ret, flags);
	return -EIOCBQUEUED;
}
