// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Events of flows and of groups. The kernel numbers each of the two; what did not
 * arrive is counted by the numbers, told as one event, and made good by asking
 * which flows are congested.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "flow.h"

#define WHAT	"events"

/* More than the largest event has today; grows where that is not enough. */
#define BUFFER		16384
#define BUFFER_MOST	(1U << 20)
/* Bytes of events that wait while nobody reads, if the kernel allows it */
#define BACKLOG		(4 << 20)

/**
 * struct peerlane_events - who receives events
 * @genl: its socket has joined the group
 * @last: number of the last event of flows that was handed on or counted as lost
 * @group_last: likewise of groups
 * @has_groups: these are received
 * @lost: so many are to be told as lost
 * @overrun: some did not arrive; found out how many once the queue is empty
 * @resync: congested flows are to be read
 * @flows: congested flows, to be handed on from @next_flow to @flow_count
 * @held: an event that comes after these
 * @has_held: there is one
 * @gone: the module was unloaded
 * @buffer: one datagram
 * @size: of @buffer
 * @at: next message in it, NULL none
 * @left: bytes from @at on
 */
struct peerlane_events {
	struct pl_genl genl;
	uint64_t last;
	uint64_t group_last;
	bool has_groups;
	uint64_t lost;
	bool overrun;
	bool resync;
	struct peerlane_flow_info *flows;
	size_t flow_count, next_flow;
	struct peerlane_event held;
	bool has_held;
	bool gone;
	char *buffer;
	size_t size;
	struct nlmsghdr *at;
	int left;
};

static uint64_t now(clockid_t clock)
{
	struct timespec time = { 0 };

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static int gone(struct peerlane_events *events)
{
	events->gone = true;
	return pl_fail_text(ENODEV, WHAT ": the module was unloaded");
}

/* ---- what the library itself tells ------------------------------------------ */

/* A socket of its own: the other one receives events. */
static int ask_stats(struct peerlane_events *events,
		     struct peerlane_flow_stats *stats)
{
	int ret = peerlane_flow_stats(stats);

	return ret == -ENOENT ? gone(events) : ret;
}

static int read_congested(struct peerlane_events *events)
{
	struct peerlane_flow_filter filter = { .congested = true };
	struct peerlane_flow_info *flows;
	size_t count;
	int ret;

	ret = peerlane_flow_list(&filter, &flows, &count, NULL);
	if (ret == -ENOENT)
		return gone(events);
	if (ret)
		return ret;
	free(events->flows);
	events->flows = flows;
	events->flow_count = count;
	events->next_flow = 0;
	events->resync = false;
	return 0;
}

static void make_lost(struct peerlane_events *events,
		      struct peerlane_event *event)
{
	memset(event, 0, sizeof(*event));
	event->kind = PEERLANE_EVENT_LOST;
	event->lost = events->lost;
	event->time = now(CLOCK_BOOTTIME);
	events->lost = 0;
	events->resync = true;
}

static void make_congested(struct peerlane_events *events,
			   struct peerlane_event *event)
{
	memset(event, 0, sizeof(*event));
	event->kind = PEERLANE_EVENT_CONGESTION_ON;
	event->resync = true;
	event->time = now(CLOCK_BOOTTIME);
	event->flow = events->flows[events->next_flow++];
}

/* All that comes before the next message. Return: 1 @event is filled, 0 none. */
static int next_own(struct peerlane_events *events,
		    struct peerlane_event *event)
{
	int ret;

	if (events->lost) {
		make_lost(events, event);
		return 1;
	}
	if (events->resync) {
		ret = read_congested(events);
		if (ret)
			return ret;
	}
	if (events->next_flow < events->flow_count) {
		make_congested(events, event);
		return 1;
	}
	if (!events->has_held)
		return 0;
	*event = events->held;
	events->has_held = false;
	return 1;
}

/*
 * The queue is empty and events are missing: all up to the newest are. Those
 * that arrive with these numbers after all are left out, as what they say is in
 * the list of congested flows, which is read later.
 */
static int count_lost(struct peerlane_events *events)
{
	struct peerlane_flow_stats stats;
	int ret;

	ret = ask_stats(events, &stats);
	if (ret)
		return ret;
	/* Another module that counts from the beginning */
	if (stats.event_sequence < events->last ||
	    (events->has_groups &&
	     stats.group_events < events->group_last))
		return gone(events);
	events->overrun = false;
	events->lost = stats.event_sequence - events->last;
	events->last = stats.event_sequence;
	if (!events->has_groups)
		return 0;
	events->lost += stats.group_events - events->group_last;
	events->group_last = stats.group_events;
	return 0;
}

/* ---- what the kernel tells --------------------------------------------------- */

static bool is_farewell(struct nlmsghdr *hdr)
{
	struct nlattr *tb[CTRL_ATTR_MAX + 1];
	struct genlmsghdr *head = nlmsg_data(hdr);
	char name[GENL_NAMSIZ] = "";

	if (head->cmd != CTRL_CMD_DELFAMILY ||
	    pl_genl_parse(hdr, tb, CTRL_ATTR_MAX))
		return false;
	pl_netlink_text(tb[CTRL_ATTR_FAMILY_NAME], name, sizeof(name));
	return !strcmp(name, PEERLANE_FAMILY_NAME);
}

/* Return: false if it is no event. */
static bool read_event(struct nlmsghdr *hdr, struct peerlane_event *event)
{
	struct nlattr *tb[PEERLANE_A_EVENT_MAX + 1];
	struct genlmsghdr *head = nlmsg_data(hdr);

	memset(event, 0, sizeof(*event));
	if (head->cmd != PEERLANE_CMD_EVENT_NTF ||
	    pl_genl_parse(hdr, tb, PEERLANE_A_EVENT_MAX))
		return false;
	event->kind = (uint32_t)pl_flow_number(tb[PEERLANE_A_EVENT_KIND]);
	event->sequence = pl_flow_number(tb[PEERLANE_A_EVENT_SEQUENCE]);
	event->time = pl_flow_number(tb[PEERLANE_A_EVENT_TIME]);
	event->share = (uint32_t)pl_flow_number(tb[PEERLANE_A_EVENT_SHARE]);
	if (tb[PEERLANE_A_EVENT_FLOW] &&
	    pl_flow_parse_nested(tb[PEERLANE_A_EVENT_FLOW], &event->flow))
		return false;
	return !tb[PEERLANE_A_EVENT_GROUP] ||
	       !pl_group_event_parse(tb[PEERLANE_A_EVENT_GROUP], &event->group);
}

/* Return: 1 @event is filled, 0 it is not, or not yet. */
static int take(struct peerlane_events *events, struct nlmsghdr *hdr,
		struct peerlane_event *event)
{
	uint64_t *last;

	if (hdr->nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN)
		return 0;
	if (hdr->nlmsg_type == GENL_ID_CTRL)
		return is_farewell(hdr) ? gone(events) : 0;
	if (hdr->nlmsg_type != events->genl.family || !read_event(hdr, event))
		return 0;
	last = event->group.group ? &events->group_last : &events->last;
	if (event->sequence <= *last)
		return 0;
	if (event->sequence == *last + 1) {
		*last = event->sequence;
		return 1;
	}
	events->lost = event->sequence - *last - 1;
	*last = event->sequence;
	/* Whatever was missing until now is counted by this. */
	if (!events->has_groups)
		events->overrun = false;
	events->held = *event;
	events->has_held = true;
	return 0;
}

static int next_message(struct peerlane_events *events,
			struct peerlane_event *event)
{
	struct nlmsghdr *hdr = events->at;

	events->at = NULL;
	if (!hdr || !nlmsg_ok(hdr, events->left))
		return 0;
	events->at = nlmsg_next(hdr, &events->left);
	return take(events, hdr, event);
}

/* An event that does not fit is lost; the next of its size is not. */
static void grow(struct peerlane_events *events, size_t wanted)
{
	char *buffer;

	events->overrun = true;
	if (wanted <= events->size || wanted > BUFFER_MOST)
		return;
	buffer = realloc(events->buffer, wanted);
	if (!buffer)
		return;
	events->buffer = buffer;
	events->size = wanted;
}

/* Return: 1 there is something to look at, 0 the queue is empty. */
static int receive(struct peerlane_events *events)
{
	struct sockaddr_nl from = { 0 };
	struct iovec part = { events->buffer, events->size };
	struct msghdr msg = {
		.msg_name = &from, .msg_namelen = sizeof(from),
		.msg_iov = &part, .msg_iovlen = 1,
	};
	ssize_t size;

	size = recvmsg(nl_socket_get_fd(events->genl.socket), &msg,
		       MSG_DONTWAIT | MSG_TRUNC);
	if (size < 0 && errno == ENOBUFS) {
		events->overrun = true;
		return 1;
	}
	if (size < 0 && errno == EAGAIN)
		return 0;
	if (size < 0 && errno == EINTR)
		return 1;
	if (size < 0)
		return pl_fail(errno, WHAT);
	/* Only the kernel is believed. */
	if (from.nl_pid)
		return 1;
	if (msg.msg_flags & MSG_TRUNC) {
		grow(events, (size_t)size);
		return 1;
	}
	events->at = (void *)events->buffer;
	events->left = (int)size;
	return 1;
}

/* ---- the interface ------------------------------------------------------------ */

/* Return: 1 there is something, 0 the time is over. @end: ns, 0 never */
static int wait_until(struct peerlane_events *events, uint64_t end)
{
	struct pollfd file = {
		.fd = nl_socket_get_fd(events->genl.socket), .events = POLLIN,
	};
	uint64_t time = now(CLOCK_MONOTONIC);
	int timeout = -1, ret;

	if (end)
		timeout = time < end ? (int)((end - time + 999999) / 1000000) :
				       0;
	ret = poll(&file, 1, timeout);
	if (ret < 0)
		return pl_fail(errno, WHAT);
	return ret > 0;
}

/* One step towards an event. Return: 1 @event is filled, 0 go on, -EAGAIN. */
static int step(struct peerlane_events *events, struct peerlane_event *event)
{
	int ret = next_own(events, event);

	if (ret)
		return ret;
	if (events->at)
		return next_message(events, event);
	ret = receive(events);
	if (ret)
		return ret < 0 ? ret : 0;
	return events->overrun ? count_lost(events) : -EAGAIN;
}

int peerlane_event_next(struct peerlane_events *events, int timeout,
			struct peerlane_event *out)
{
	struct peerlane_event event;
	uint64_t end = 0;
	int ret;

	pl_clear();
	if (events->gone)
		return gone(events);
	if (timeout >= 0)
		end = now(CLOCK_MONOTONIC) + (uint64_t)timeout * 1000000;
	for (;;) {
		ret = step(events, &event);
		if (ret == 1)
			break;
		if (!ret)
			continue;
		if (ret != -EAGAIN)
			return ret;
		ret = timeout ? wait_until(events, end) : 0;
		if (ret < 0)
			return ret;
		if (!ret)
			return pl_fail_text(EAGAIN, WHAT ": none came in time");
	}
	*out = event;
	return 0;
}

bool peerlane_event_has_groups(const struct peerlane_events *events)
{
	return events->has_groups;
}

int peerlane_event_fd(const struct peerlane_events *events)
{
	return nl_socket_get_fd(events->genl.socket);
}

void peerlane_event_close(struct peerlane_events *events)
{
	if (!events)
		return;
	pl_genl_close(&events->genl);
	free(events->flows);
	free(events->buffer);
	free(events);
}

static int join(struct peerlane_events *events, uint32_t group)
{
	int fd = nl_socket_get_fd(events->genl.socket);

	if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group,
		       sizeof(group)) < 0)
		return pl_fail(errno, WHAT);
	return 0;
}

/* Without the right to them, those of flows are still worth telling. */
static int join_groups(struct peerlane_events *events)
{
	int ret;

	if (!events->genl.groups)
		return 0;
	ret = join(events, events->genl.groups);
	events->has_groups = !ret;
	if (ret != -EPERM)
		return ret;
	pl_clear();
	return 0;
}

static void enlarge(struct peerlane_events *events)
{
	int fd = nl_socket_get_fd(events->genl.socket), size = BACKLOG;

	/* Without the right to it, what the machine allows everybody */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
}

static int start(struct peerlane_events *events)
{
	struct peerlane_flow_stats stats = { 0 };
	int ret;

	events->buffer = malloc(BUFFER);
	events->size = BUFFER;
	if (!events->buffer)
		return pl_fail(ENOMEM, WHAT);
	if (!events->genl.events)
		return pl_fail_text(EOPNOTSUPP, WHAT ": this module sends none");
	enlarge(events);
	/* The kernel's own family says there when one goes. */
	ret = join(events, GENL_ID_CTRL);
	if (!ret)
		ret = join(events, events->genl.events);
	if (!ret)
		ret = join_groups(events);
	if (!ret)
		ret = peerlane_flow_stats(&stats);
	if (ret)
		return ret;
	events->last = stats.event_sequence;
	events->group_last = stats.group_events;
	return 0;
}

int peerlane_event_open(bool current, struct peerlane_events **out)
{
	struct peerlane_events *events;
	int ret;

	pl_clear();
	events = calloc(1, sizeof(*events));
	if (!events)
		return pl_fail(ENOMEM, WHAT);
	ret = pl_genl_open(&events->genl);
	if (ret) {
		free(events);
		return ret;
	}
	ret = start(events);
	if (ret) {
		peerlane_event_close(events);
		return ret;
	}
	events->resync = current;
	*out = events;
	return 0;
}
