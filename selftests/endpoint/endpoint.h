/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of endpoints by their ioctls alone. Most take pairs: two endpoints of
 * this process on one node, connected by the node's own address.
 *
 * Calls return 0 (or a file, or a number) or -errno, as those of harness.h.
 */
#ifndef SELFTESTS_ENDPOINT_H
#define SELFTESTS_ENDPOINT_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>

#include "fill.h"
#include "harness.h"

#define PATIENCE	30	/* seconds; emulation on a busy machine is slow */
#define TIMEOUT_MS	20000	/* of endpoints, where it is not what is tested */
#define NO_TIMEOUT	(-1.0)
#define PARAMETERS	"/sys/module/peerlane/parameters/"

#define SETTINGS(...) ((struct peerlane_endpoint_create){		\
	.near_fd = -1, .secret = "sixteen of these",			\
	.timeout_ms = TIMEOUT_MS, __VA_ARGS__ })
#define OP(code, ...) ((struct peerlane_op){				\
	.op = PEERLANE_OP_##code, __VA_ARGS__ })
#define BOTH (PEERLANE_RIGHT_READ | PEERLANE_RIGHT_WRITE)

/* ---- module parameters ---- */

static inline void set_parameter(const char *name, unsigned long long value)
{
	char path[128], number[24];

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	snprintf(number, sizeof(number), "%llu", value);
	CHECK_INT(write_text(path, number), 0);
}

static inline unsigned long long parameter(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	return read_number(path);
}

/* ---- calls ---- */

/* Bytes and things of all users. */
static inline unsigned long long charged(void)
{
	const char *at = strstr(read_text("/sys/kernel/debug/peerlane/counts"),
				"charged ");

	return CHECK(at) ? strtoull(at + 8, NULL, 0) : 0;
}

static inline int ep_create(struct peerlane_endpoint_create *args)
{
	int control = open_control();
	int ret = control < 0 ? control : CALL(control, ENDPOINT_CREATE, args);

	if (control >= 0)
		close(control);
	return ret ? ret : args->out_fd;
}

static inline int ep_new(void)
{
	struct peerlane_endpoint_create args = SETTINGS();

	return ep_create(&args);
}

/* The address of the node that this runs on. */
static inline const char *own_address(void)
{
	const char *node = getenv("NODE"), *address;
	char name[32];

	snprintf(name, sizeof(name), "NODE_IP_%s", node ? node : "1");
	address = getenv(name);
	return address ? address : "127.0.0.1";
}

static inline void put_address(uint8_t *to, const char *ip, uint16_t port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
				    .sin6_port = htons(port) };

	memset(to, 0, PEERLANE_ADDRESS_LEN);
	if (inet_pton(AF_INET6, ip, &in6.sin6_addr) == 1)
		memcpy(to, &in6, sizeof(in6));
	else if (inet_pton(AF_INET, ip, &in.sin_addr) == 1)
		memcpy(to, &in, sizeof(in));
	else
		CHECK(!"no such address");
}

static inline uint16_t port_of(const uint8_t *address)
{
	struct sockaddr_in in;

	memcpy(&in, address, sizeof(in));
	return ntohs(in.sin_port);	/* the same place in IPv6 */
}

/* The port, or -errno. */
static inline int ep_listen_at(int ep, const char *ip, uint16_t port,
			       uint32_t backlog)
{
	struct peerlane_endpoint_address args = { .backlog = backlog };
	int ret;

	put_address(args.address, ip, port);
	ret = CALL(ep, ENDPOINT_LISTEN, &args);
	return ret ? ret : port_of(args.out_address);
}

static inline int ep_listen(int ep)
{
	return ep_listen_at(ep, own_address(), 0, 0);
}

static inline int ep_connect_to(int ep, const char *ip, uint16_t port)
{
	struct peerlane_endpoint_address args = {};

	put_address(args.address, ip, port);
	return CALL(ep, ENDPOINT_CONNECT, &args);
}

static inline int ep_connect(int ep, uint16_t port)
{
	return ep_connect_to(ep, own_address(), port);
}

static inline int ep_accept(int listener)
{
	struct peerlane_endpoint_accept args = { .out_fd = -1 };
	int ret = CALL(listener, ENDPOINT_ACCEPT, &args);

	return ret ? ret : args.out_fd;
}

static inline int ep_bind_part(int ep, uint32_t slot, int region,
			       uint64_t offset, uint64_t length, uint32_t flags)
{
	struct peerlane_endpoint_bind args = {
		.flags = flags, .slot = slot, .region_fd = region,
		.offset = offset, .length = length,
	};

	return CALL(ep, ENDPOINT_BIND, &args);
}

static inline int ep_bind(int ep, uint32_t slot, int region)
{
	return ep_bind_part(ep, slot, region, 0, 0, 0);
}

static inline int ep_expose_as(int ep, uint32_t slot, uint32_t rights,
			       uint64_t offset, uint64_t length, uint64_t value,
			       uint64_t *token)
{
	struct peerlane_endpoint_expose args = {
		.slot = slot, .rights = rights, .offset = offset,
		.length = length, .value = value,
	};
	int ret = CALL(ep, ENDPOINT_EXPOSE, &args);

	*token = args.out_token;
	return ret;
}

static inline int ep_withdraw(int ep, uint64_t token)
{
	struct peerlane_endpoint_withdraw args = { .token = token };

	return CALL(ep, ENDPOINT_WITHDRAW, &args);
}

static inline int ep_disconnect(int ep)
{
	struct peerlane_endpoint_disconnect args = {};

	return CALL(ep, ENDPOINT_DISCONNECT, &args);
}

static inline struct peerlane_endpoint_record ep_info(int ep)
{
	struct peerlane_endpoint_record record = {};
	struct peerlane_list args = {
		.array_ptr = (uintptr_t)&record, .count = 1,
		.record_size = sizeof(record),
	};

	CHECK_INT(CALL(ep, ENDPOINT_INFO, &args), 0);
	return record;
}

/* ---- operations ---- */

struct batch {
	const struct peerlane_op *ops;
	uint32_t count;
	uint32_t flags;
	struct peerlane_record *records;
	uint32_t room;		/* records */
	uint32_t wait;
	double seconds;		/* NO_TIMEOUT */
	uint32_t begun;		/* out */
	uint32_t got;		/* out */
};

static inline int ep_submit(int ep, struct batch *batch)
{
	struct peerlane_endpoint_submit args = {
		.flags = batch->flags,
		.ops_ptr = (uintptr_t)batch->ops, .count = batch->count,
		.op_size = sizeof(struct peerlane_op), .wait = batch->wait,
		.records_ptr = (uintptr_t)batch->records,
		.records_len = batch->room * sizeof(struct peerlane_record),
		.timeout_ns = batch->seconds < 0 ? -1 :
			      (int64_t)(batch->seconds * 1e9),
	};
	int ret = CALL(ep, ENDPOINT_SUBMIT, &args);

	batch->begun = ret ? 0 : args.out_count;
	batch->got = ret ? 0 : args.out_records_len / sizeof(struct peerlane_record);
	return ret;
}

/* How many of them began, or -errno. */
static inline int ep_begin(int ep, const struct peerlane_op *ops, uint32_t count)
{
	struct batch batch = { .ops = ops, .count = count };
	int ret = ep_submit(ep, &batch);

	return ret ? ret : (int)batch.begun;
}

/* 1, 0: none in that time or the end, or -errno. */
static inline int ep_read(int ep, struct peerlane_record *record, double seconds)
{
	struct pollfd pollfd = { .fd = ep, .events = POLLIN };
	ssize_t got;

	memset(record, 0, sizeof(*record));
	if (poll(&pollfd, 1, (int)(seconds * 1000)) != 1)
		return 0;
	got = read(ep, record, sizeof(*record));
	return got < 0 ? -errno : got == sizeof(*record);
}

/* The next record, which has to be of that type. */
static inline struct peerlane_record ep_next(int ep, uint16_t type)
{
	struct peerlane_record record;

	CHECK_INT(ep_read(ep, &record, PATIENCE), 1);
	CHECK_INT(record.type, type);
	return record;
}

/* The next one of that type; what comes before it is left out. */
static inline struct peerlane_record ep_find(int ep, uint16_t type)
{
	struct peerlane_record record;

	while (ep_read(ep, &record, PATIENCE) == 1)
		if (record.type == type)
			return record;
	CHECK(!"the record did not come");
	return (struct peerlane_record){};
}

/* It is the last one, and nothing comes after it: the status. */
static inline int ep_end(int ep)
{
	struct peerlane_record record =
		ep_find(ep, PEERLANE_RECORD_DISCONNECTED), more;

	CHECK_INT(read(ep, &more, sizeof(more)), 0);
	return record.status;
}

/* Begun, and done: its status, or the error of the call. */
static inline int ep_do(int ep, struct peerlane_op op)
{
	struct peerlane_record record;
	int ret;

	op.cookie = 0x600d;
	ret = ep_begin(ep, &op, 1);
	if (ret != 1)
		return ret < 0 ? ret : -ENODATA;
	record = ep_find(ep, PEERLANE_RECORD_DONE);
	CHECK_INT(record.cookie, 0x600d);
	return record.type == PEERLANE_RECORD_DONE ? record.status : -ENODATA;
}

/* A PUT that is done has left; what was flushed is there. */
static inline int ep_put(int ep, struct peerlane_op op)
{
	int ret = ep_do(ep, op);

	return ret ? ret : ep_do(ep, OP(FLUSH));
}

/* ---- two of them ---- */

struct side {
	int ep;
	int region;		/* in slot 0; or -1 */
	char *mem;
	size_t length;
};

struct pair {
	struct side a;		/* has connected */
	struct side b;		/* was accepted */
};

static inline void set_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
}

/* Two files that are connected, their CONNECTED records unread. */
static inline bool connect_two(struct peerlane_endpoint_create *a,
			       struct peerlane_endpoint_create *b,
			       const char *ip, int *caller, int *callee)
{
	int listener = ep_create(b), port = ep_listen_at(listener, ip, 0, 0);

	*callee = -1;
	*caller = ep_create(a);
	CHECK(port > 0);
	set_nonblock(*caller, true);
	if (CHECK_INT(ep_connect_to(*caller, ip, port), -EINPROGRESS))
		*callee = ep_accept(listener);
	set_nonblock(*caller, false);
	close(listener);
	return CHECK(*callee >= 0);
}

/* Returns what BIND says. */
static inline int side_memory_bound(struct side *side, const char *device,
				    size_t length)
{
	side->region = open(device, O_RDWR | O_CLOEXEC);
	CHECK_INT(region_alloc(side->region, length), 0);
	side->mem = map(side->region, length);
	side->length = length;
	CHECK(side->mem != MAP_FAILED);
	return ep_bind(side->ep, 0, side->region);
}

static inline void side_memory(struct side *side, const char *device, size_t length)
{
	CHECK_INT(side_memory_bound(side, device, length), 0);
}

static inline const char *second_device(void)
{
	return access(DEVICES "gpu1", F_OK) ? DEVICES "gpu0" : DEVICES "gpu1";
}

/* Connected, and with memory if @length is not 0. */
static inline struct pair pair_of(struct peerlane_endpoint_create a,
				  struct peerlane_endpoint_create b, size_t length)
{
	struct pair pair = { { -1, -1 }, { -1, -1 } };

	if (!connect_two(&a, &b, own_address(), &pair.a.ep, &pair.b.ep))
		return pair;
	ep_next(pair.a.ep, PEERLANE_RECORD_CONNECTED);
	ep_next(pair.b.ep, PEERLANE_RECORD_CONNECTED);
	if (!length)
		return pair;
	side_memory(&pair.a, DEVICES "gpu0", length);
	side_memory(&pair.b, second_device(), length);
	return pair;
}

static inline struct pair pair_new(size_t length)
{
	return pair_of(SETTINGS(), SETTINGS(), length);
}

static inline void side_end(struct side *side)
{
	if (side->ep >= 0)
		close(side->ep);
	if (side->region < 0)
		return;
	munmap(side->mem, side->length);
	close(side->region);
}

static inline void pair_end(struct pair *pair)
{
	side_end(&pair->a);
	side_end(&pair->b);
}

/* siw gives one, whatever was asked for. */
static inline uint32_t lanes_for(uint32_t wanted)
{
	return strncmp(getenv("RDMA_DEV") ?: "", "siw", 3) ? wanted : 1;
}

/* All of slot 0 of @side to @other, which has read of it. The token. */
static inline uint64_t open_part(const struct side *side, const struct side *other,
				 uint32_t rights, uint64_t offset, uint64_t length)
{
	struct peerlane_record record;
	uint64_t token = 0;

	CHECK_INT(ep_expose_as(side->ep, 0, rights, offset, length, 0, &token), 0);
	record = ep_find(other->ep, PEERLANE_RECORD_EXPOSED);
	CHECK(token && record.token == token);
	return token;
}

static inline uint64_t open_all(const struct side *side, const struct side *other)
{
	return open_part(side, other, BOTH, 0, side->length);
}

#endif /* SELFTESTS_ENDPOINT_H */
