// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Connections of endpoints: names, addresses, who calls whom. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "endpoint.h"

_Static_assert(sizeof(struct sockaddr_in6) == PEERLANE_ADDRESS_LEN,
	       "the ABI's addresses are sockaddr_in6");

/* ---- addresses ------------------------------------------------------------- */

static sa_family_t family_of(const uint8_t *address)
{
	sa_family_t family;

	memcpy(&family, address, sizeof(family));
	return family;
}

void pl_endpoint_address(const uint8_t address[PEERLANE_ADDRESS_LEN],
			 char text[PEERLANE_PEER_TEXT])
{
	char host[INET6_ADDRSTRLEN] = "", scope[16] = "";
	struct sockaddr_in6 in6;
	struct sockaddr_in in;

	text[0] = '\0';
	memcpy(&in, address, sizeof(in));
	memcpy(&in6, address, sizeof(in6));
	if (family_of(address) == AF_INET) {
		inet_ntop(AF_INET, &in.sin_addr, host, sizeof(host));
		snprintf(text, PEERLANE_PEER_TEXT, "%s:%u", host,
			 ntohs(in.sin_port));
	} else if (family_of(address) == AF_INET6) {
		inet_ntop(AF_INET6, &in6.sin6_addr, host, sizeof(host));
		if (in6.sin6_scope_id)
			snprintf(scope, sizeof(scope), "%%%u",
				 in6.sin6_scope_id);
		snprintf(text, PEERLANE_PEER_TEXT, "[%s%s]:%u", host, scope,
			 ntohs(in6.sin6_port));
	}
}

uint16_t pl_endpoint_port(const uint8_t address[PEERLANE_ADDRESS_LEN])
{
	struct sockaddr_in in;

	/* It lies at the same place in sockaddr_in6. */
	memcpy(&in, address, sizeof(in));
	return ntohs(in.sin_port);
}

int pl_resolve(const char *host, uint16_t port, int family, bool passive,
	       struct addrinfo **list)
{
	struct addrinfo hints = {
		.ai_family = family, .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0),
	};
	char service[8];
	int ret;

	if (host && !*host)
		return pl_fail_text(EINVAL, "the name of a host is empty");
	snprintf(service, sizeof(service), "%u", port);
	ret = getaddrinfo(host, service, &hints, list);
	if (!ret)
		return 0;
	if (ret == EAI_MEMORY)
		return pl_fail(ENOMEM, "%s", host ? host : "any address");
	if (ret == EAI_SYSTEM)
		return pl_fail(errno, "%s", host ? host : "any address");
	return pl_fail_text(ENXIO, "%s: %s", host ? host : "any address",
			    gai_strerror(ret));
}

bool pl_take_address(uint8_t to[PEERLANE_ADDRESS_LEN],
		     const struct addrinfo *from)
{
	memset(to, 0, PEERLANE_ADDRESS_LEN);
	if ((from->ai_family != AF_INET && from->ai_family != AF_INET6) ||
	    from->ai_addrlen > PEERLANE_ADDRESS_LEN)
		return false;
	memcpy(to, from->ai_addr, from->ai_addrlen);
	return true;
}

/* ---- listening ------------------------------------------------------------- */

/* All addresses of both families where the machine has IPv6 */
static void any_address(uint8_t address[PEERLANE_ADDRESS_LEN], uint16_t port)
{
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(port),
		.sin6_addr = IN6ADDR_ANY_INIT,
	};

	memcpy(address, &in6, sizeof(in6));
}

void pl_any_address_4(uint8_t address[PEERLANE_ADDRESS_LEN], uint16_t port)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = htons(port),
	};

	memset(address, 0, PEERLANE_ADDRESS_LEN);
	memcpy(address, &in, sizeof(in));
}

int pl_local_address(const char *host, uint16_t port,
		     uint8_t address[PEERLANE_ADDRESS_LEN])
{
	struct addrinfo *list;
	int ret;

	if (!host) {
		any_address(address, port);
		return 0;
	}
	ret = pl_resolve(host, port, AF_UNSPEC, true, &list);
	if (ret)
		return ret;
	if (!pl_take_address(address, list))
		ret = pl_fail_text(EAFNOSUPPORT, "%s: neither IPv4 nor IPv6",
				   host);
	freeaddrinfo(list);
	return ret;
}

static int listen_at(const struct peerlane_endpoint *endpoint,
		     struct peerlane_endpoint_address *arg)
{
	char text[PEERLANE_PEER_TEXT];

	pl_endpoint_address(arg->address, text);
	return pl_ioctl(endpoint->fd, PEERLANE_IOC_ENDPOINT_LISTEN, arg,
			sizeof(*arg), NULL, "listen at %s", text);
}

int peerlane_endpoint_listen(const struct peerlane_endpoint *endpoint,
			     const char *host, uint16_t port, uint32_t backlog,
			     uint16_t *taken)
{
	struct peerlane_endpoint_address arg = { .backlog = backlog };
	int ret;

	pl_clear();
	ret = pl_local_address(host, port, arg.address);
	if (ret)
		return ret;
	ret = listen_at(endpoint, &arg);
	/* A machine without IPv6 */
	if (!host && (ret == -EAFNOSUPPORT || ret == -EADDRNOTAVAIL)) {
		pl_any_address_4(arg.address, port);
		ret = listen_at(endpoint, &arg);
	}
	if (ret)
		return ret;
	pl_clear();
	if (taken)
		*taken = pl_endpoint_port(arg.out_address);
	return 0;
}

int peerlane_endpoint_accept(const struct peerlane_endpoint *listener,
			     struct peerlane_endpoint **endpoint,
			     char peer[PEERLANE_PEER_TEXT])
{
	struct peerlane_endpoint_accept arg = { .out_fd = -1 };
	int ret;

	pl_clear();
	ret = pl_ioctl_once(listener->fd, PEERLANE_IOC_ENDPOINT_ACCEPT, &arg,
			    sizeof(arg), "accept");
	if (ret)
		return ret;
	ret = pl_endpoint_new(arg.out_fd, arg.out_id, endpoint);
	if (ret) {
		pl_close(arg.out_fd);
		return ret;
	}
	if (peer)
		pl_endpoint_address(arg.out_address, peer);
	return 0;
}

/* ---- connecting ------------------------------------------------------------ */

static int connect_to(const struct peerlane_endpoint *endpoint,
		      struct peerlane_endpoint_address *arg)
{
	char text[PEERLANE_PEER_TEXT], what[PEERLANE_PEER_TEXT + 16];

	pl_endpoint_address(arg->address, text);
	snprintf(what, sizeof(what), "connection to %s", text);
	return pl_ioctl_once(endpoint->fd, PEERLANE_IOC_ENDPOINT_CONNECT, arg,
			     sizeof(*arg), what);
}

static bool try_the_next(int ret)
{
	return ret == -ECONNREFUSED || ret == -ETIMEDOUT ||
	       ret == -ENETUNREACH || ret == -EHOSTUNREACH ||
	       ret == -EADDRNOTAVAIL || ret == -EAFNOSUPPORT || ret == -ENODEV;
}

/* From @source, whose family fits; @source NULL: by route */
int pl_source_address(const char *source, int family,
		      uint8_t address[PEERLANE_ADDRESS_LEN])
{
	struct addrinfo *list;
	int ret;

	memset(address, 0, PEERLANE_ADDRESS_LEN);
	if (!source)
		return 0;
	ret = pl_resolve(source, 0, family, true, &list);
	if (ret)
		return ret;
	pl_take_address(address, list);
	freeaddrinfo(list);
	return 0;
}

static int connect_any(const struct peerlane_endpoint *endpoint,
		       const struct addrinfo *list, const char *source)
{
	struct peerlane_endpoint_address arg = { 0 };
	int ret = 0;

	/* One that could not connect is as it was: the next address may do. */
	for (; list; list = list->ai_next) {
		if (!pl_take_address(arg.address, list))
			continue;
		ret = pl_source_address(source, list->ai_family, arg.source);
		if (!ret)
			ret = connect_to(endpoint, &arg);
		if (!try_the_next(ret) && ret != -ENXIO)
			return ret;
	}
	if (!ret)
		ret = pl_fail_text(EAFNOSUPPORT, "the peer has neither an IPv4 nor an IPv6 address");
	return ret;
}

int peerlane_endpoint_connect(const struct peerlane_endpoint *endpoint,
			      const char *host, uint16_t port,
			      const char *source)
{
	struct addrinfo *list;
	int ret;

	pl_clear();
	if (!host)
		return pl_fail_text(EINVAL, "no host to connect to");
	ret = pl_resolve(host, port, AF_UNSPEC, false, &list);
	if (ret)
		return ret;
	ret = connect_any(endpoint, list, source);
	freeaddrinfo(list);
	if (!ret)
		pl_clear();
	return ret;
}
