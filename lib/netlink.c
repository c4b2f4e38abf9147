// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Questions to the kernel by netlink, and what it answers. */
#include <errno.h>
#include <linux/netlink.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <string.h>
#include <sys/socket.h>

#include "netlink.h"

/* The kernel fills dumps up to 32 KiB a piece. */
#define BUFFER	65536

/**
 * struct reply - one answer while it comes in
 * @row: called for each message
 * @arg: for @row
 * @ret: what @row refused with, else 0
 * @err: errno that the kernel refused with, else 0
 * @text: the kernel's reason, or empty
 * @interrupted: what was listed changed meanwhile
 * @done: nothing more will come
 */
struct reply {
	pl_netlink_row row;
	void *arg;
	int ret;
	int err;
	char text[160];
	bool interrupted;
	bool done;
};

/* libnl knows only its own errors where no message of the kernel's came. */
static int errno_of(int nle)
{
	switch (nle < 0 ? -nle : nle) {
	case NLE_NOMEM:
		return -ENOMEM;
	case NLE_INTR:
		return -EINTR;
	case NLE_AGAIN:
		return -EAGAIN;
	case NLE_PERM:
	case NLE_NOACCESS:
		return -EACCES;
	case NLE_PROTO_MISMATCH:
	case NLE_AF_NOSUPPORT:
		return -EPROTONOSUPPORT;
	case NLE_MSG_TRUNC:
	case NLE_MSG_OVERFLOW:
		return -EPROTO;
	case NLE_DUMP_INTR:
		return -EMSGSIZE;
	default:
		return -EIO;
	}
}

static int on_message(struct nl_msg *msg, void *arg)
{
	struct reply *reply = arg;

	reply->ret = reply->row(nlmsg_hdr(msg), reply->arg);
	return reply->ret ? NL_STOP : NL_OK;
}

/* A dump ends with the errno it ended with. */
static int on_finish(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *hdr = nlmsg_hdr(msg);
	struct reply *reply = arg;
	int err = 0;

	if (nlmsg_datalen(hdr) >= (int)sizeof(err))
		memcpy(&err, nlmsg_data(hdr), sizeof(err));
	reply->err = err < 0 ? -err : 0;
	reply->done = true;
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct reply *reply = arg;

	(void)msg;
	reply->done = true;
	return NL_STOP;
}

static int on_interrupt(struct nl_msg *msg, void *arg)
{
	struct reply *reply = arg;

	(void)msg;
	reply->interrupted = true;
	return NL_OK;
}

/* The kernel's sentence stands behind the request that it repeats, or not. */
static void read_text(const struct nlmsghdr *hdr, const struct nlmsgerr *error,
		      struct reply *reply)
{
	size_t at = NLMSG_HDRLEN + sizeof(*error);
	struct nlattr *attr;

	if (!(hdr->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(hdr->nlmsg_flags & NLM_F_CAPPED))
		at += NLMSG_ALIGN(error->msg.nlmsg_len) - sizeof(error->msg);
	if (at >= hdr->nlmsg_len)
		return;
	attr = nla_find((struct nlattr *)((char *)(uintptr_t)hdr + at),
			(int)(hdr->nlmsg_len - at), NLMSGERR_ATTR_MSG);
	if (attr)
		nla_strlcpy(reply->text, attr, sizeof(reply->text));
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *error, void *arg)
{
	struct nlmsghdr *hdr = (void *)((char *)error - NLMSG_HDRLEN);
	struct reply *reply = arg;

	(void)from;
	reply->err = -error->error;
	reply->done = true;
	read_text(hdr, error, reply);
	return NL_STOP;
}

static struct nl_cb *callbacks(struct reply *reply)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);

	if (!cb)
		return NULL;
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_message, reply);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, reply);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, reply);
	nl_cb_set(cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, on_interrupt, reply);
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, reply);
	return cb;
}

static PL_PRINTF(3, 4) int fail_msg(int err, const char *msg, const char *fmt,
				    ...)
{
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = pl_fail_msg(err, msg, fmt, ap);
	va_end(ap);
	return ret;
}

/* Whatever came and whatever went wrong, as one errno with a text. */
static int verdict(const struct reply *reply, int nle, const char *what)
{
	if (reply->ret)
		return reply->ret;
	if (reply->err)
		return fail_msg(reply->err, reply->text, "%s", what);
	if (nle < 0)
		return pl_fail_text(-errno_of(nle), "%s: %s", what,
				    nl_geterror(nle));
	return 0;
}

/*
 * Answers that are no dump are one message and, as every request asks for it,
 * an acknowledgment.
 */
int pl_netlink_ask(struct nl_sock *socket, struct nl_msg *msg,
		   pl_netlink_row row, void *arg, bool *interrupted,
		   const char *what)
{
	struct reply reply = { .row = row, .arg = arg };
	struct nl_cb *cb = callbacks(&reply);
	int nle;

	if (!cb) {
		nlmsg_free(msg);
		return pl_fail(ENOMEM, "%s", what);
	}
	nle = nl_send_auto(socket, msg);
	nlmsg_free(msg);
	while (nle >= 0 && !reply.done && !reply.ret) {
		nle = nl_recvmsgs(socket, cb);
		if (nle == -NLE_INTR)
			nle = 0;
	}
	nl_cb_put(cb);
	if (interrupted)
		*interrupted = reply.interrupted;
	/* Told by the callback; libnl may repeat what it was told. */
	if (reply.done && !reply.err)
		nle = 0;
	return verdict(&reply, nle, what);
}

int pl_netlink_open(int protocol, struct nl_sock **out, const char *what)
{
	struct timeval patience = { .tv_sec = 10 };
	struct nl_sock *socket = nl_socket_alloc();
	int one = 1, nle, fd;

	if (!socket)
		return pl_fail(ENOMEM, "%s", what);
	nle = nl_connect(socket, protocol);
	if (nle < 0) {
		nl_socket_free(socket);
		return pl_fail_text(-errno_of(nle), "%s: netlink: %s", what,
				    nl_geterror(nle));
	}
	fd = nl_socket_get_fd(socket);
	/* Kernels without them answer all the same, only less. */
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	nl_socket_set_msg_buf_size(socket, BUFFER);
	*out = socket;
	return 0;
}

void pl_netlink_close(struct nl_sock *socket)
{
	nl_socket_free(socket);
}

void pl_netlink_text(const struct nlattr *attr, char *to, size_t size)
{
	if (attr)
		nla_strlcpy(to, attr, size);
}

uint32_t pl_netlink_number(const struct nlattr *attr, uint32_t none)
{
	if (!attr)
		return none;
	if (nla_len(attr) >= (int)sizeof(uint32_t))
		return nla_get_u32(attr);
	return nla_len(attr) ? nla_get_u8(attr) : none;
}
