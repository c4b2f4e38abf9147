/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* Netlink inside the library: one question, its answers, one errno. */
#ifndef PEERLANE_NETLINK_H
#define PEERLANE_NETLINK_H

#include "private.h"

struct nl_msg;
struct nl_sock;
struct nlattr;
struct nlmsghdr;

/* One message of the answer. Not 0 ends it; the text is set then. */
typedef int (*pl_netlink_row)(struct nlmsghdr *hdr, void *arg);

/**
 * pl_netlink_open() - a socket for questions
 * @protocol: NETLINK_ROUTE, NETLINK_RDMA, ...
 * @socket: set; ended with pl_netlink_close()
 * @what: begins the text of a failure
 *
 * Return: 0; -EPROTONOSUPPORT the kernel has no such protocol (yet); -ENOMEM.
 */
int pl_netlink_open(int protocol, struct nl_sock **socket, const char *what);
void pl_netlink_close(struct nl_sock *socket);

/**
 * pl_netlink_ask() - send @msg and read all that comes back
 * @socket: of pl_netlink_open(); not used any more after a failure of @row
 * @msg: with NLM_F_DUMP, or NLM_F_ACK; is freed
 * @row: called for each message of the answer
 * @arg: for @row
 * @interrupted: set if what was dumped changed meanwhile; may be NULL
 * @what: begins the text of a failure; the kernel's own reason follows
 *
 * Return: 0, the kernel's errno, or what @row returned.
 */
int pl_netlink_ask(struct nl_sock *socket, struct nl_msg *msg,
		   pl_netlink_row row, void *arg, bool *interrupted,
		   const char *what);

/* Text of an attribute, ended whatever came; @to is left if it is NULL. */
void pl_netlink_text(const struct nlattr *attr, char *to, size_t size);
/* Number in an attribute of one or four bytes; @none if it is NULL. */
uint32_t pl_netlink_number(const struct nlattr *attr, uint32_t none);

#endif /* PEERLANE_NETLINK_H */
