/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* Shared by the files of endpoints. */
#ifndef PEERLANE_ENDPOINT_PRIVATE_H
#define PEERLANE_ENDPOINT_PRIVATE_H

#include "private.h"

struct addrinfo;

/**
 * struct peerlane_endpoint - what the library knows of an endpoint
 * @fd: its file
 * @id: its number
 *
 * Nothing here changes, so threads share it without a lock.
 */
struct peerlane_endpoint {
	int fd;
	uint64_t id;
};

/* Take @fd over: on success it is the endpoint's. */
int pl_endpoint_new(int fd, uint64_t id, struct peerlane_endpoint **endpoint);
int pl_endpoint_info(int fd, struct peerlane_endpoint_record *record);
/* A socket's address in the ABI; @text is empty if there is none. */
void pl_endpoint_address(const uint8_t address[PEERLANE_ADDRESS_LEN],
			 char text[PEERLANE_PEER_TEXT]);
/* Its port, host byte order */
uint16_t pl_endpoint_port(const uint8_t address[PEERLANE_ADDRESS_LEN]);

/* A name's addresses; 0 or a negative errno with its text */
int pl_resolve(const char *host, uint16_t port, int family, bool passive,
	       struct addrinfo **list);
bool pl_take_address(uint8_t to[PEERLANE_ADDRESS_LEN],
		     const struct addrinfo *from);
/* Where to listen; @host NULL: everywhere, IPv6 and IPv4 */
int pl_local_address(const char *host, uint16_t port,
		     uint8_t address[PEERLANE_ADDRESS_LEN]);
/* Everywhere, on a machine without IPv6 */
void pl_any_address_4(uint8_t address[PEERLANE_ADDRESS_LEN], uint16_t port);
/* A local address of @family; all zero if @source is NULL */
int pl_source_address(const char *source, int family,
		      uint8_t address[PEERLANE_ADDRESS_LEN]);

#endif /* PEERLANE_ENDPOINT_PRIVATE_H */
