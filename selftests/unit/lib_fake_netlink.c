// SPDX-License-Identifier: GPL-2.0
#include "lib_fake_netlink.h"

#include <poll.h>
#include <stdarg.h>
#include <sys/socket.h>

#define DATAGRAMS	256
#define DATAGRAM	32768

struct net net;

struct datagram {
	char *data;
	size_t size;		/* that it has */
	size_t arrives;		/* that are told */
	int err;
};

static struct queue {
	struct datagram list[DATAGRAMS];
	int first, count;
} answers, events;

static struct queue *into = &answers;
static struct datagram building;
static struct nlmsghdr *message;
static struct nlattr *nests[8];
static int depth;
static int event_fd;
static uint32_t sequence, port;

int __real_socket(int domain, int type, int protocol);
int __real_setsockopt(int fd, int level, int name, const void *value,
		      socklen_t size);

/* ---- planning ------------------------------------------------------------ */

static void empty(struct queue *queue)
{
	int i;

	for (i = queue->first; i < queue->count; i++)
		free(queue->list[i].data);
	memset(queue, 0, sizeof(*queue));
}

void net_reset(void)
{
	fake_reset();
	memset(&net, 0, sizeof(net));
	empty(&answers);
	empty(&events);
	into = &answers;
	event_fd = -1;
	depth = 0;
}

void net_finish(void)
{
	CHECK_INT(net.played, net.planned);
	CHECK_INT(depth, 0);
	empty(&answers);
	empty(&events);
	fake_finish();
}

static void plan(int type, int command, void (*answer)(void))
{
	net.requests[net.planned++] =
		(struct net_request){ type, command, answer };
}

void net_expect(int command, void (*answer)(void))
{
	plan(NET_FAMILY, command, answer);
}

void net_expect_raw(int type, void (*answer)(void))
{
	plan(type, -1, answer);
}

void net_expect_times(int command, void (*answer)(void), int times)
{
	while (times--)
		net_expect(command, answer);
}

void net_sent(struct nlattr **tb, int max)
{
	struct nlmsghdr *hdr = (void *)net.sent;

	CHECK(nlmsg_parse(hdr, GENL_HDRLEN, tb, max, NULL) == 0);
}

int net_sent_flags(void)
{
	return ((struct nlmsghdr *)(void *)net.sent)->nlmsg_flags;
}

/* ---- datagrams ----------------------------------------------------------- */

void net_begin(void)
{
	building = (struct datagram){ .data = calloc(1, DATAGRAM) };
	if (!building.data)
		abort();
}

static void *append(size_t size)
{
	void *at = building.data + building.size;

	building.size += NLMSG_ALIGN(size);
	if (building.size > DATAGRAM)
		abort();
	if (message)
		message->nlmsg_len += NLMSG_ALIGN(size);
	return at;
}

void net_message_raw(int type, int flags)
{
	struct nlmsghdr *hdr;

	message = NULL;
	hdr = append(NLMSG_HDRLEN);
	hdr->nlmsg_len = NLMSG_HDRLEN;
	hdr->nlmsg_type = (uint16_t)type;
	hdr->nlmsg_flags = (uint16_t)flags;
	hdr->nlmsg_seq = sequence;
	hdr->nlmsg_pid = port;
	message = hdr;
}

void net_put_head(int command)
{
	struct genlmsghdr *head = append(GENL_HDRLEN);

	head->cmd = (uint8_t)command;
	head->version = 1;
}

void net_message(int flags, int command)
{
	net_message_raw(NET_FAMILY, flags);
	net_put_head(command);
}

void net_put_raw(const void *data, size_t size)
{
	memcpy(append(size), data, size);
}

void net_put_longer(int attr, const void *data, size_t size, size_t says)
{
	struct nlattr *at = append(NLA_HDRLEN + size);

	at->nla_type = (uint16_t)attr;
	at->nla_len = (uint16_t)(NLA_HDRLEN + says);
	if (size)
		memcpy(at + 1, data, size);
}

void net_put(int attr, const void *data, size_t size)
{
	net_put_longer(attr, data, size, size);
}

void net_put_u8(int attr, uint8_t value) { net_put(attr, &value, 1); }
void net_put_u16(int attr, uint16_t value) { net_put(attr, &value, 2); }
void net_put_u32(int attr, uint32_t value) { net_put(attr, &value, 4); }
void net_put_u64(int attr, uint64_t value) { net_put(attr, &value, 8); }

void net_put_text(int attr, const char *text)
{
	net_put(attr, text, strlen(text) + 1);
}

void net_nest(int attr)
{
	nests[depth] = append(NLA_HDRLEN);
	nests[depth]->nla_type = (uint16_t)(attr | NLA_F_NESTED);
	depth++;
}

void net_nest_end(void)
{
	struct nlattr *nest = nests[--depth];

	nest->nla_len = (uint16_t)(building.data + building.size -
				   (char *)nest);
}

static void push(struct datagram one)
{
	if (into->count == DATAGRAMS)
		abort();
	into->list[into->count++] = one;
}

void net_end(void)
{
	message = NULL;
	building.arrives = building.size;
	push(building);
}

void net_truncate(size_t size)
{
	into->list[into->count - 1].arrives = size;
}

void net_ack(void)
{
	net_error(0, NULL);
}

void net_done(int err)
{
	net_begin();
	net_message_raw(NLMSG_DONE, NLM_F_MULTI);
	*(int *)append(sizeof(err)) = -err;
	net_end();
}

void net_error(int err, const char *text)
{
	struct nlmsgerr *error;

	net_begin();
	net_message_raw(NLMSG_ERROR, NLM_F_CAPPED |
			(text ? NLM_F_ACK_TLVS : 0));
	error = append(sizeof(*error));
	error->error = -err;
	if (text)
		net_put_text(NLMSGERR_ATTR_MSG, text);
	net_end();
}

void net_events_begin(void) { into = &events; }
void net_events_end(void) { into = &answers; }

void net_fail(int err)
{
	push((struct datagram){ .err = err });
}

int net_events_waiting(void)
{
	return events.count - events.first;
}

/* ---- the kernel ------------------------------------------------------------ */

static void answer_family(void)
{
	if (net.absent) {
		net_error(ENOENT, NULL);
		return;
	}
	net_begin();
	net_message_raw(GENL_ID_CTRL, 0);
	net_put_head(CTRL_CMD_NEWFAMILY);
	net_put_text(CTRL_ATTR_FAMILY_NAME, "peerlane");
	net_put_u16(CTRL_ATTR_FAMILY_ID, NET_FAMILY);
	if (!net.no_group) {
		net_nest(CTRL_ATTR_MCAST_GROUPS);
		net_nest(1);
		net_put_u32(CTRL_ATTR_MCAST_GRP_ID, 99);
		net_put_text(CTRL_ATTR_MCAST_GRP_NAME, "other");
		net_nest_end();
		net_nest(2);
		net_put_u32(CTRL_ATTR_MCAST_GRP_ID, NET_EVENTS);
		net_put_text(CTRL_ATTR_MCAST_GRP_NAME, "events");
		net_nest_end();
		if (net.has_groups) {
			net_nest(3);
			net_put_u32(CTRL_ATTR_MCAST_GRP_ID, NET_GROUPS);
			net_put_text(CTRL_ATTR_MCAST_GRP_NAME, "groups");
			net_nest_end();
		}
		net_nest_end();
	}
	net_end();
	net_ack();
}

static void take_request(struct nlmsghdr *hdr)
{
	struct genlmsghdr *head = nlmsg_data(hdr);
	struct net_request *request;

	sequence = hdr->nlmsg_seq;
	port = hdr->nlmsg_pid;
	if (hdr->nlmsg_type == GENL_ID_CTRL) {
		answer_family();
		return;
	}
	if (hdr->nlmsg_len > sizeof(net.sent))
		abort();
	memcpy(net.sent, hdr, hdr->nlmsg_len);
	net.sent_size = hdr->nlmsg_len;
	if (!CHECK(net.played < net.planned)) {
		net_error(ENOSYS, "not planned");
		return;
	}
	request = &net.requests[net.played++];
	CHECK_INT(hdr->nlmsg_type, request->type);
	if (request->command >= 0)
		CHECK_INT(head->cmd, request->command);
	request->answer();
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	(void)fd;
	(void)flags;
	/* What a socket did not read ends with it. */
	empty(&answers);
	take_request(msg->msg_iov[0].iov_base);
	return (ssize_t)msg->msg_iov[0].iov_len;
}

static ssize_t hand_over(struct datagram *one, struct msghdr *msg, int flags)
{
	size_t room = msg->msg_iov[0].iov_len;
	size_t size = one->size < room ? one->size : room;
	struct sockaddr_nl *from = msg->msg_name;

	if (one->err) {
		errno = one->err;
		return -1;
	}
	memcpy(msg->msg_iov[0].iov_base, one->data, size);
	memset(from, 0, sizeof(*from));
	from->nl_family = AF_NETLINK;
	msg->msg_namelen = sizeof(*from);
	msg->msg_controllen = 0;
	msg->msg_flags = one->size > room ? MSG_TRUNC : 0;
	if (one->arrives < size)
		size = one->arrives;
	return (ssize_t)(flags & MSG_TRUNC && one->size > room ? one->size :
								 size);
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags)
{
	struct queue *queue = fd == event_fd ? &events : &answers;
	struct datagram one;
	ssize_t ret;

	if (queue->first == queue->count) {
		errno = EAGAIN;
		return -1;
	}
	one = queue->list[queue->first];
	if (!(flags & MSG_PEEK))
		queue->first++;
	ret = hand_over(&one, msg, flags);
	if (!(flags & MSG_PEEK))
		free(one.data);
	return ret;
}

/* Any kernel has this protocol, so that libnl finds a port. */
int __wrap_socket(int domain, int type, int protocol)
{
	if (domain != AF_NETLINK)
		return __real_socket(domain, type, protocol);
	if (net.socket_errno) {
		errno = net.socket_errno;
		return -1;
	}
	return __real_socket(domain, type, NETLINK_ROUTE);
}

int __wrap_setsockopt(int fd, int level, int name, const void *value,
		      socklen_t size)
{
	if (level != SOL_NETLINK || name != NETLINK_ADD_MEMBERSHIP)
		return __real_setsockopt(fd, level, name, value, size);
	CHECK(*(const uint32_t *)value == NET_EVENTS ||
	      (net.has_groups && *(const uint32_t *)value == NET_GROUPS) ||
	      *(const uint32_t *)value == GENL_ID_CTRL);
	if (net.no_right && *(const uint32_t *)value == NET_GROUPS) {
		errno = EPERM;
		return -1;
	}
	event_fd = fd;
	return 0;
}

int __wrap_poll(struct pollfd *files, nfds_t count, int timeout)
{
	CHECK_INT(count, 1);
	CHECK(timeout != 0 || !net.poll_ret);
	net.polls++;
	files->revents = net.poll_ret > 0 ? POLLIN : 0;
	errno = net.poll_errno;
	return net.poll_errno ? -1 : net.poll_ret;
}
