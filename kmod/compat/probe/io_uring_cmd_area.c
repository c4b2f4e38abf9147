// SPDX-License-Identifier: GPL-2.0
/* 6.6: the SQE's command area is found by the SQE, no longer by a pointer. */
#if __has_include("linux/io_uring/cmd.h")
#include <linux/io_uring/cmd.h>
#else
#include <linux/io_uring.h>
#endif
const void *probe(struct io_uring_cmd *cmd) { return cmd->cmd; }
