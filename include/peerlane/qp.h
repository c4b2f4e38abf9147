/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* Queue pairs of this node. The rules of <peerlane.h> hold. */
#ifndef LIBPEERLANE_QP_H
#define LIBPEERLANE_QP_H

#include <peerlane/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct peerlane_qp_info - one queue pair of this node
 * @device: RDMA device
 * @comm: command name of @pid; of a kernel QP the part of the kernel that made
 *	it; empty if unknown
 * @port: of the device, 0 = not on one yet
 * @lqpn: its number
 * @rqpn: number of the peer's, where @connected
 * @type: see peerlane_qp_type_name()
 * @state: see peerlane_qp_state_name()
 * @sq_psn: next packet number to send
 * @rq_psn: next packet number to receive, where @connected
 * @pid: process that made it, as this process' PID namespace has it; 0 for
 *	kernel QPs and processes that have ended
 * @connected: of a type (RC, UC) that has one peer
 * @kernel: made by the kernel
 */
struct peerlane_qp_info {
	char device[64];
	char comm[32];
	uint32_t port;
	uint32_t lqpn;
	uint32_t rqpn;
	uint32_t type;
	uint32_t state;
	uint32_t sq_psn;
	uint32_t rq_psn;
	int32_t pid;
	bool connected;
	bool kernel;
};

/**
 * peerlane_qp_list() - queue pairs of this node
 * @list: set to an array, freed by the caller with free(); NULL when @count is 0
 * @count: set to its length
 *
 * By rdma netlink: those of devices and processes that the caller's namespaces
 * show. Sorted by device and number, each once. A node without RDMA has none. A
 * device that does not answer is left out. Each entry costs the driver a query,
 * with some a command to the NIC. Return: 0; -EMSGSIZE it changed each time it
 * was read; -ENOMEM.
 */
PEERLANE_API int peerlane_qp_list(struct peerlane_qp_info **list,
				  size_t *count);

/** peerlane_qp_type_name() - "rc", "uc", "ud", "gsi", ..., "unknown". */
PEERLANE_API const char *peerlane_qp_type_name(uint32_t type);
/** peerlane_qp_state_name() - "reset", "init", "rtr", "rts", "sqd", "sqe", "err", "unknown". */
PEERLANE_API const char *peerlane_qp_state_name(uint32_t state);

#ifdef __cplusplus
}
#endif

#endif /* LIBPEERLANE_QP_H */
