// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <uapi/peerlane_netlink.h>

#include "flow_dump.h"
#include "flow_traffic.h"

/* The largest that netlink makes use of. */
#define BUFFER	32768

struct request {
	struct nlmsghdr header;
	union {
		struct genlmsghdr generic;
		struct nfgenmsg netfilter;
	};
	char attributes[64];
};

static int ask(int protocol, struct request *request, size_t length)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);

	request->header.nlmsg_len = (uint32_t)length;
	if (fd < 0 || send(fd, request, length, 0) != (ssize_t)length)
		die("netlink: %s", strerror(errno));
	return fd;
}

static uint16_t family_id(void)
{
	struct request request = {
		.header = { .nlmsg_type = GENL_ID_CTRL, .nlmsg_flags = NLM_F_REQUEST },
		.generic = { .cmd = CTRL_CMD_GETFAMILY },
	};
	struct nlattr name = {
		.nla_len = NLA_HDRLEN + sizeof(PEERLANE_FAMILY_NAME),
		.nla_type = CTRL_ATTR_FAMILY_NAME,
	};
	static char answer[BUFFER];
	struct nlattr *attr;
	ssize_t length;
	int fd;

	memcpy(request.attributes, &name, NLA_HDRLEN);
	memcpy(request.attributes + NLA_HDRLEN, PEERLANE_FAMILY_NAME,
	       sizeof(PEERLANE_FAMILY_NAME));
	fd = ask(NETLINK_GENERIC, &request,
		 NLMSG_HDRLEN + GENL_HDRLEN + NLA_ALIGN(name.nla_len));
	length = recv(fd, answer, sizeof(answer), 0);
	close(fd);
	for (attr = (struct nlattr *)(answer + NLMSG_HDRLEN + GENL_HDRLEN);
	     (char *)attr + NLA_HDRLEN < answer + length;
	     attr = (struct nlattr *)((char *)attr + NLA_ALIGN(attr->nla_len)))
		if (attr->nla_type == CTRL_ATTR_FAMILY_ID)
			return *(uint16_t *)(attr + 1);
	die("no family " PEERLANE_FAMILY_NAME);
}

/* Entries in the buffer; sets @is_end behind the last. */
static uint64_t count(char *buffer, ssize_t length, bool *is_end)
{
	struct nlmsghdr *message = (struct nlmsghdr *)buffer;
	unsigned int left = (unsigned int)length;
	uint64_t entries = 0;

	for (; NLMSG_OK(message, left); message = NLMSG_NEXT(message, left)) {
		if (message->nlmsg_type == NLMSG_ERROR)
			die("a dump failed");
		if (message->nlmsg_type == NLMSG_DONE)
			*is_end = true;
		else
			entries++;
	}
	return entries;
}

static void read_slices(int fd, struct slice *slice, unsigned int slices,
			uint32_t total)
{
	static char buffer[BUFFER];
	uint64_t begin = now(), done = 0;
	bool is_end = false;
	ssize_t length;
	unsigned int i;

	memset(slice, 0, slices * sizeof(*slice));
	for (i = 0; !is_end; ) {
		length = recv(fd, buffer, sizeof(buffer), 0);
		if (length <= 0)
			die("dump: %s", strerror(errno));
		slice[i].entries += count(buffer, length, &is_end);
		if (!is_end && (i + 1 == slices ||
				done + slice[i].entries < (uint64_t)total * (i + 1) / slices))
			continue;
		slice[i].ns = now() - begin;
		begin += slice[i].ns;
		done += slice[i++].entries;
	}
	close(fd);
	if (i < slices || done < total)
		die("a dump of %llu entries, not %u", (unsigned long long)done,
		    total);
}

void dump_flows(struct slice *slice, unsigned int slices, uint32_t total)
{
	struct request request = {
		.header = {
			.nlmsg_type = family_id(),
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.generic = {
			.cmd = PEERLANE_CMD_FLOW_GET,
			.version = PEERLANE_FAMILY_VERSION,
		},
	};

	read_slices(ask(NETLINK_GENERIC, &request, NLMSG_HDRLEN + GENL_HDRLEN),
		    slice, slices, total);
}

void dump_conntrack(struct slice *slice, unsigned int slices, uint32_t total)
{
	struct request request = {
		.header = {
			.nlmsg_type = NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_GET,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.netfilter = {
			.nfgen_family = AF_INET,
			.version = NFNETLINK_V0,
		},
	};

	read_slices(ask(NETLINK_NETFILTER, &request,
			NLMSG_LENGTH(sizeof(struct nfgenmsg))),
		    slice, slices, total);
}
