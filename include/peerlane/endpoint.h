/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* Endpoints: put and get between two nodes. The rules of <peerlane.h> hold. */
#ifndef LIBPEERLANE_ENDPOINT_H
#define LIBPEERLANE_ENDPOINT_H

#include <peerlane/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct peerlane_endpoint;
struct peerlane_region;

#define PEERLANE_SECRET		16	/* bytes */
#define PEERLANE_PEER_TEXT	72	/* room for "192.0.2.1:18515", "[fe80::1%2]:18515" */

/**
 * peerlane_endpoint_secret() - a secret from a pass phrase
 * @text: any but the empty one; both sides need the same
 * @secret: filled with the first bytes of SHA-256 of a fixed prefix and @text
 *
 * The secret is sent in clear when a connection is made: take a phrase that
 * guards nothing else. Return: 0; -EINVAL @text is empty.
 */
PEERLANE_API int peerlane_endpoint_secret(const char *text,
					  uint8_t secret[PEERLANE_SECRET]);

/**
 * struct peerlane_endpoint_options - what an endpoint is to be
 * @size: sizeof(struct peerlane_endpoint_options)
 * @secret: both sides of a connection have the same; not all zero. It keeps
 *	strangers and mistakes out, not who can listen in on the fabric
 * @lanes: queue pairs of a connection, 1 to 16; 0: 1. Work of one lane is in
 *	order, lanes among each other are not. The smaller of both sides'
 * @depth: work that may be outstanding; 0: 128
 * @notify_depth: notices of the peer's that may wait to be read; 0: 128. Beyond
 *	it the peer's notifying work gets -EAGAIN
 * @slots: for regions, 1 to 1024; 0: 16
 * @timeout: ms after which a peer that does not answer is dead, 100 to 600000;
 *	0: 5000
 * @nonblock: calls do not wait: the file is O_NONBLOCK
 * @nearest_to: the RDMA device nearest to this region is used where the route
 *	leaves a choice; may be NULL
 * @rdma_device: the one to use; NULL or empty: by route
 * @label: of its flows in the flow table, up to 31 bytes; NULL or empty:
 *	"endpoint <id>"
 *
 * What is zero is as it is by default, but for @size and @secret.
 */
struct peerlane_endpoint_options {
	size_t size;
	uint8_t secret[PEERLANE_SECRET];
	uint32_t lanes;
	uint32_t depth;
	uint32_t notify_depth;
	uint32_t slots;
	uint32_t timeout;
	bool nonblock;
	const struct peerlane_region *nearest_to;
	const char *rdma_device;
	const char *label;
};

/**
 * peerlane_endpoint_create() - one end of a connection to be
 * @options: see there
 * @endpoint: set; released with peerlane_endpoint_close()
 *
 * An endpoint is a file. All calls on one may come from several threads at
 * once, but for peerlane_endpoint_close(), which is the last. Return: 0;
 * -EINVAL @options; -E2BIG @options has what this library does not know;
 * -ENODEV no such RDMA device; -EDQUOT this user has too many; -ENOENT module
 * not loaded; -EACCES.
 */
PEERLANE_API int
peerlane_endpoint_create(const struct peerlane_endpoint_options *options,
			 struct peerlane_endpoint **endpoint);

/**
 * peerlane_endpoint_from_fd() - an endpoint received from another process
 * @fd: endpoint file; owned by the endpoint from then on (not on failure), and
 *	made close-on-exec
 * @endpoint: set
 *
 * Return: 0; -EBADF not an endpoint.
 */
PEERLANE_API int peerlane_endpoint_from_fd(int fd,
					   struct peerlane_endpoint **endpoint);

/**
 * peerlane_endpoint_fd() - the file, for poll, epoll, io_uring and SCM_RIGHTS
 *
 * POLLIN: notices to read, or a connection to accept. POLLOUT: room for work.
 * It stays owned by the endpoint.
 */
PEERLANE_API int peerlane_endpoint_fd(const struct peerlane_endpoint *endpoint);

/** peerlane_endpoint_id() - its number, as in lists and logs. */
PEERLANE_API uint64_t
peerlane_endpoint_id(const struct peerlane_endpoint *endpoint);

/**
 * peerlane_endpoint_close() - let go of it
 * @endpoint: may be NULL
 *
 * When no other process has the file, this ends the connection like
 * peerlane_endpoint_disconnect().
 */
PEERLANE_API void peerlane_endpoint_close(struct peerlane_endpoint *endpoint);

/**
 * peerlane_endpoint_listen() - take connections
 * @endpoint: new
 * @host: local address or name; NULL all addresses
 * @port: TCP port number; 0 any that is free
 * @backlog: connections that may wait for peerlane_endpoint_accept(); 0: 16
 * @taken: set to the port; may be NULL
 *
 * Return: 0; -ENXIO @host is not known; -EADDRINUSE; -EADDRNOTAVAIL; -EISCONN
 * used already.
 */
PEERLANE_API int
peerlane_endpoint_listen(const struct peerlane_endpoint *endpoint,
			 const char *host, uint16_t port, uint32_t backlog,
			 uint16_t *taken);

/**
 * peerlane_endpoint_accept() - take the next connection
 * @listener: of peerlane_endpoint_listen()
 * @endpoint: set; has the listener's options
 * @peer: filled with its address and port; may be NULL
 *
 * Return: 0; -EAGAIN none waits and the listener does not block; -EINTR a
 * signal came; -ENOTCONN it does not listen.
 */
PEERLANE_API int
peerlane_endpoint_accept(const struct peerlane_endpoint *listener,
			 struct peerlane_endpoint **endpoint,
			 char peer[PEERLANE_PEER_TEXT]);

/**
 * peerlane_endpoint_connect() - to a peer that listens
 * @endpoint: new
 * @host: address or name; "fe80::1%eth0" for a link-local one
 * @port: its port
 * @source: local address or name; NULL by route
 *
 * Names are resolved here, which waits even if the endpoint does not block. The
 * addresses of a name are tried in their order until one answers; of one that
 * does not block, the first. After an error other than -EINPROGRESS and -EINTR
 * the endpoint is as it was, and can be used again. Return: 0; -EINPROGRESS it does not block:
 * PEERLANE_NOTICE_CONNECTED or PEERLANE_NOTICE_DISCONNECTED follows; -EINTR a
 * signal came, it goes on like that; -ENXIO a name is not known; -ECONNREFUSED
 * nobody listens there or the peer refused, as for another secret; -ETIMEDOUT;
 * -ENETUNREACH; -EHOSTUNREACH; -EADDRNOTAVAIL @source; -EISCONN used already;
 * -ENODEV no RDMA device on the route; -EDQUOT this user has too many.
 */
PEERLANE_API int
peerlane_endpoint_connect(const struct peerlane_endpoint *endpoint,
			  const char *host, uint16_t port, const char *source);

/**
 * peerlane_endpoint_disconnect() - end the connection
 * @endpoint: is still to be closed
 *
 * No peer reaches memory through it on return. Work that was outstanding ends
 * with -ECANCELED, or as it ended; its notices can be read. Return: 0;
 * -ENOTCONN.
 */
PEERLANE_API int
peerlane_endpoint_disconnect(const struct peerlane_endpoint *endpoint);

/**
 * peerlane_endpoint_bind() - put a region into a slot
 * @endpoint: in any state but closed
 * @slot: below the number of slots; empty
 * @region: may be freed afterwards
 * @offset: page-aligned
 * @length: page-aligned; 0 to the end
 * @read_only: the slot is never written: by no GET and no peer
 * @bound: set to the bytes the slot has; may be NULL
 *
 * Return: 0; -EBUSY the slot is not empty; -EINVAL slot, alignment or range;
 * -EPERM the region may only be read and not @read_only; -ENODEV revoked;
 * -ENODATA empty; -EOPNOTSUPP the region cannot be reached by the RDMA device.
 */
PEERLANE_API int peerlane_endpoint_bind(const struct peerlane_endpoint *endpoint,
					uint32_t slot,
					const struct peerlane_region *region,
					uint64_t offset, uint64_t length,
					bool read_only, uint64_t *bound);

/**
 * peerlane_endpoint_unbind() - empty a slot
 *
 * Return: 0, also if it is empty; -EBUSY work or an exposure uses it.
 */
PEERLANE_API int
peerlane_endpoint_unbind(const struct peerlane_endpoint *endpoint,
			 uint32_t slot);

#define PEERLANE_MAY_READ	(1U << 0)	/* the peer may get */
#define PEERLANE_MAY_WRITE	(1U << 1)	/* the peer may put */

/**
 * peerlane_endpoint_expose() - let the peer reach a part of a slot
 * @endpoint: connected
 * @slot: bound
 * @offset: in the slot, bytes
 * @length: bytes, > 0
 * @rights: PEERLANE_MAY_*
 * @value: told to the peer in its PEERLANE_NOTICE_EXPOSED; the caller's own
 * @token: set; the peer is told it, too; may be NULL
 *
 * Return: 0; -EINVAL slot, range or rights; -EPERM the slot is read-only;
 * -EDQUOT too many; -ENOTCONN; -ENODEV revoked.
 */
PEERLANE_API int
peerlane_endpoint_expose(const struct peerlane_endpoint *endpoint,
			 uint32_t slot, uint64_t offset, uint64_t length,
			 uint32_t rights, uint64_t value, uint64_t *token);

/**
 * peerlane_endpoint_withdraw() - end an exposure
 * @endpoint: of it
 * @token: of it
 *
 * Nothing of the peer's reaches the memory by it after this returned. A put or
 * get of the peer's that is under way by then ends the connection: it fails there
 * with -EACCES or -ENOKEY, and here PEERLANE_NOTICE_DISCONNECTED says
 * -ECONNRESET. So let the peer say first that it has done. Return: 0; -ENOKEY no
 * such exposure.
 */
PEERLANE_API int
peerlane_endpoint_withdraw(const struct peerlane_endpoint *endpoint,
			   uint64_t token);

/** peerlane_endpoint_state_name() - "new", "listening", "connecting", "connected", "closed", "unknown". */
PEERLANE_API const char *peerlane_endpoint_state_name(uint32_t state);

/**
 * struct peerlane_endpoint_info - one endpoint
 * @id: its number on this node
 * @bytes_put: sent by puts that completed
 * @bytes_get: received by gets that completed
 * @ops_done: work that ended well
 * @ops_failed: work that did not
 * @uid: who made it
 * @pid: process that made it, 0 unknown
 * @state: see peerlane_endpoint_state_name()
 * @status: why it is closed: negative errno, or 0
 * @lanes: queue pairs
 * @depth: work that may be outstanding
 * @outstanding: work that is
 * @slots: that have a region
 * @exposed: exposures to the peer
 * @granted: exposures of the peer's
 * @keys: memory keys in use
 * @path: from the RDMA device to the memory; see peerlane_path_name()
 * @comm: command name of @pid
 * @local: address and port, or empty
 * @peer: likewise
 * @rdma_device: its name, or empty
 * @label: of its flows
 * @reason: why it is closed, or empty
 */
struct peerlane_endpoint_info {
	uint64_t id;
	uint64_t bytes_put;
	uint64_t bytes_get;
	uint64_t ops_done;
	uint64_t ops_failed;
	uint32_t uid;
	int32_t pid;
	uint32_t state;
	int32_t status;
	uint32_t lanes;
	uint32_t depth;
	uint32_t outstanding;
	uint32_t slots;
	uint32_t exposed;
	uint32_t granted;
	uint32_t keys;
	uint32_t path;
	char comm[16];
	char local[PEERLANE_PEER_TEXT];
	char peer[PEERLANE_PEER_TEXT];
	char rdma_device[64];
	char label[32];
	char reason[128];
};

/** peerlane_endpoint_query() - state, counts, and why it is closed. */
PEERLANE_API int
peerlane_endpoint_query(const struct peerlane_endpoint *endpoint,
			struct peerlane_endpoint_info *info);

/**
 * peerlane_endpoint_list() - endpoints of this network namespace
 * @list: set to an array, freed by the caller with free(); NULL when @count is 0
 * @count: set to its length
 *
 * Without CAP_NET_ADMIN only the caller's own. Return: as
 * peerlane_device_list().
 */
PEERLANE_API int peerlane_endpoint_list(struct peerlane_endpoint_info **list,
					size_t *count);

#ifdef __cplusplus
}
#endif

#endif /* LIBPEERLANE_ENDPOINT_H */
