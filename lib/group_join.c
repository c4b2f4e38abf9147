// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Groups: where the aggregators are, and the way to them. */
#include <errno.h>
#include <netdb.h>
#include <sys/socket.h>

#include "group.h"
#include "launch_parse.h"

/* One array of addresses, as the kernel takes it */
struct addresses {
	uint8_t bytes[PEERLANE_AGGREGATORS_MOST][PEERLANE_ADDRESS_LEN];
	uint32_t count;
	int family;		/* of the first */
};

static int no_address(const char *word, size_t length)
{
	return pl_fail_text(EINVAL, "\"%.*s\" is no address of an aggregator, as 10.0.0.1:18517 or [fe80::1%%eth0]:18517",
			    length > 80 ? 80 : (int)length, word);
}

static int resolve_one(struct addresses *to, const char *host, uint16_t port)
{
	struct addrinfo *list;
	int ret = pl_resolve(host, port, AF_UNSPEC, false, &list);

	if (ret)
		return ret;
	if (!to->count)
		to->family = list->ai_family;
	if (pl_take_address(to->bytes[to->count], list))
		to->count++;
	else
		ret = pl_fail_text(EAFNOSUPPORT, "%s: neither IPv4 nor IPv6",
				   host);
	freeaddrinfo(list);
	return ret;
}

static int add_one(struct addresses *to, const char *word, size_t length)
{
	uint16_t port = PEERLANE_AGGREGATOR_PORT;
	char host[PL_HOST_MAX];

	if (to->count == PEERLANE_AGGREGATORS_MOST)
		return pl_fail_text(EINVAL, "more than %d aggregators",
				    PEERLANE_AGGREGATORS_MOST);
	if (!pl_parse_address(word, length, host, &port) || !*host || !port)
		return no_address(word, length);
	return resolve_one(to, host, port);
}

static int resolve_all(struct addresses *to, const char *text)
{
	const char *word;
	size_t length;
	int ret = 0;

	while (!ret && (length = pl_list_word(&text, &word)))
		ret = add_one(to, word, length);
	if (!ret && !to->count)
		ret = pl_fail_text(EINVAL, "no aggregator is named");
	return ret;
}

int peerlane_group_join(const struct peerlane_group *group,
			const char *aggregators, const char *source)
{
	struct addresses addresses = { .count = 0 };
	struct peerlane_group_join arg = { 0 };
	int ret;

	pl_clear();
	ret = resolve_all(&addresses, aggregators ? aggregators : "");
	if (!ret)
		ret = pl_source_address(source, addresses.family, arg.source);
	if (ret)
		return ret;
	arg.addresses_ptr = (uintptr_t)addresses.bytes;
	arg.count = addresses.count;
	return pl_ioctl_once(group->fd, PEERLANE_IOC_GROUP_JOIN, &arg,
			     sizeof(arg), "join");
}

int pl_aggregator_local(const char *text, uint8_t address[PEERLANE_ADDRESS_LEN])
{
	uint16_t port = PEERLANE_AGGREGATOR_PORT;
	char host[PL_HOST_MAX] = "";

	if (text && *text && !pl_parse_address(text, strlen(text), host, &port))
		return no_address(text, strlen(text));
	return pl_local_address(*host ? host : NULL, port, address);
}

int pl_aggregator_address(const char *text, uint8_t address[PEERLANE_ADDRESS_LEN])
{
	struct addresses addresses = { .count = 0 };
	int ret = add_one(&addresses, text, strlen(text));

	if (!ret)
		memcpy(address, addresses.bytes[0], PEERLANE_ADDRESS_LEN);
	return ret;
}
