/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* RDMA devices by rdma netlink, inside the library. */
#ifndef PEERLANE_NLDEV_H
#define PEERLANE_NLDEV_H

#include "netlink.h"

/**
 * struct pl_nldev - one RDMA device
 * @index: the kernel's number of it
 * @ports: how many it has
 * @name: as in /sys/class/infiniband
 * @protocol: "roce", "iw", "ib", "opa", "usnic", or empty
 */
struct pl_nldev {
	uint32_t index;
	uint32_t ports;
	char name[64];
	char protocol[16];
};

/**
 * pl_nldev_open() - a socket to RDMA core
 * @socket: set, to NULL if the kernel has no RDMA (loaded)
 */
int pl_nldev_open(struct nl_sock **socket);
struct nl_msg *pl_nldev_msg(uint32_t command, int flags);
int pl_nldev_list(struct nl_sock *socket, struct pl_nldev **list,
		  size_t *count);
/* RDMA_DRIVER_* of a device, 0 if it is not told */
uint32_t pl_nldev_driver(struct nl_sock *socket, uint32_t index);
/* Interface of a port; @ifindex and @name are left where it has none. */
void pl_nldev_netdev(struct nl_sock *socket, uint32_t index, uint32_t port,
		     int *ifindex, char *name, size_t size);
/* 1 shared, 0 exclusive, -1 not told */
int pl_nldev_netns_shared(struct nl_sock *socket);

#endif /* PEERLANE_NLDEV_H */
