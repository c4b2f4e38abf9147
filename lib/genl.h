/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* The module's family of generic netlink, inside the library. */
#ifndef PEERLANE_GENL_H
#define PEERLANE_GENL_H

#include "netlink.h"

/**
 * struct pl_genl - a socket that speaks with the module
 * @socket: for questions
 * @family: the kernel's number of the family
 * @events: number of the group that events of flows are sent to
 * @groups: likewise those of groups; 0: this module sends none
 */
struct pl_genl {
	struct nl_sock *socket;
	uint16_t family;
	uint32_t events;
	uint32_t groups;
};

/**
 * pl_genl_open() - find the module
 * @genl: filled; ended with pl_genl_close()
 *
 * Return: 0; -ENOENT the module is not loaded.
 */
int pl_genl_open(struct pl_genl *genl);
void pl_genl_close(struct pl_genl *genl);
/* A message to be filled and asked, or NULL: no memory. @flags: NLM_F_* */
struct nl_msg *pl_genl_msg(const struct pl_genl *genl, uint8_t command,
			   int flags);
/* As pl_netlink_ask(); @msg may be NULL, which is -ENOMEM. */
int pl_genl_ask(struct pl_genl *genl, struct nl_msg *msg, pl_netlink_row row,
		void *arg, bool *interrupted, const char *what);
/* Attributes behind the header of generic netlink, or -EPROTO */
int pl_genl_parse(struct nlmsghdr *hdr, struct nlattr **tb, int max);

#endif /* PEERLANE_GENL_H */
