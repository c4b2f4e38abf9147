/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* RDMA ports in sysfs, inside the library. */
#ifndef PEERLANE_PORT_H
#define PEERLANE_PORT_H

#include "attr.h"

#define PL_RDMA		"/sys/class/infiniband"
#define PL_NET		"/sys/class/net"

/* Bytes that RDMA core takes off the interface's MTU (ib_addr.h) */
#define PL_ROCE_HEADERS	96

/* port.c: "100 Gb/sec (4X EDR)"; what is not there is left */
void pl_parse_rate(const char *text, uint64_t *rate, uint32_t *width);

/* gid.c: the interface of the first entry that has one; else @name is left */
void pl_gid_netdev(const char *device, uint32_t port, char *name, size_t size);

/* -ENODEV with a text if there is no such port; may be a hint, not a lock */
int pl_port_check(const char *device, uint32_t port);

#endif /* PEERLANE_PORT_H */
