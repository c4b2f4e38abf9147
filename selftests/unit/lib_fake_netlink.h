/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's end of netlink, for the library's tests: sendmsg() and recvmsg()
 * of libnl's archive, replaced (ld --wrap).
 *
 * net_expect() plans the next request and what answers it: a function that
 * makes datagrams. Who asks for the family is answered without a plan. Events
 * are datagrams in a queue of their own.
 */
#ifndef LIB_FAKE_NETLINK_H
#define LIB_FAKE_NETLINK_H

#include "lib_fake.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "flow.h"

#define NET_FAMILY	0x21
#define NET_EVENTS	7
#define NET_GROUPS	8
#define NET_REQUESTS	64

struct net_request {
	int type;		/* nlmsg_type; NET_FAMILY mostly */
	int command;		/* of generic netlink; -1 it has none */
	void (*answer)(void);
};

extern struct net {
	bool absent;		/* there is no such family */
	bool no_group;		/* it has no events */
	bool has_groups;	/* it has those of groups */
	bool no_right;		/* which are not for us */
	int socket_errno;
	struct net_request requests[NET_REQUESTS];
	int planned, played;
	/* The last request but those for the family */
	char sent[8192];
	size_t sent_size;
	int poll_ret;		/* what poll() says next */
	int poll_errno;
	int polls;
} net;

/* Begin a case. */
void net_reset(void);
/* End it: all that was planned was asked for. */
void net_finish(void);
void net_expect(int command, void (*answer)(void));
void net_expect_raw(int type, void (*answer)(void));
/* The same @times over */
void net_expect_times(int command, void (*answer)(void), int times);

/* Attributes of what was sent; @tb has @max + 1 */
void net_sent(struct nlattr **tb, int max);
int net_sent_flags(void);

/* One datagram: begin, messages with attributes, end. */
void net_begin(void);
void net_message(int flags, int command);
void net_message_raw(int type, int flags);
void net_put(int attr, const void *data, size_t size);
/* Behind net_message_raw(): the header of generic netlink */
void net_put_head(int command);
/* Behind net_message_raw(): any header */
void net_put_raw(const void *data, size_t size);
/* It says that it has @says bytes. */
void net_put_longer(int attr, const void *data, size_t size, size_t says);
void net_put_u8(int attr, uint8_t value);
void net_put_u16(int attr, uint16_t value);
void net_put_u32(int attr, uint32_t value);
void net_put_u64(int attr, uint64_t value);
void net_put_text(int attr, const char *text);
void net_nest(int attr);
void net_nest_end(void);
void net_end(void);
/* Of the last datagram only so many bytes arrive. */
void net_truncate(size_t size);

/* Whole answers */
void net_ack(void);
void net_done(int err);
void net_error(int err, const char *text);

/* recvmsg() fails so once. */
void net_fail(int err);

/* Into the queue of events, between these two */
void net_events_begin(void);
void net_events_end(void);
/* How many wait */
int net_events_waiting(void);

#endif /* LIB_FAKE_NETLINK_H */
