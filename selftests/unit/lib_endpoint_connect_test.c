// SPDX-License-Identifier: GPL-2.0
/* Who connects to whom: names, addresses, one after another. */
#include "lib_fake.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include "endpoint.h"

static void set4(uint8_t address[PEERLANE_ADDRESS_LEN], const char *host,
		 uint16_t port)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = htons(port),
	};

	inet_pton(AF_INET, host, &in.sin_addr);
	memset(address, 0, PEERLANE_ADDRESS_LEN);
	memcpy(address, &in, sizeof(in));
}

static void set6(uint8_t address[PEERLANE_ADDRESS_LEN], const char *host,
		 uint16_t port, uint32_t scope)
{
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(port),
		.sin6_scope_id = scope,
	};

	inet_pton(AF_INET6, host, &in6.sin6_addr);
	memcpy(address, &in6, sizeof(in6));
}

/* ---- addresses ------------------------------------------------------------ */

static void address_texts(void)
{
	uint8_t address[PEERLANE_ADDRESS_LEN];
	char text[PEERLANE_PEER_TEXT];

	set4(address, "192.0.2.1", 18515);
	pl_endpoint_address(address, text);
	CHECK_STR(text, "192.0.2.1:18515");
	CHECK_INT(pl_endpoint_port(address), 18515);
	set6(address, "2001:db8::1", 65535, 0);
	pl_endpoint_address(address, text);
	CHECK_STR(text, "[2001:db8::1]:65535");
	CHECK_INT(pl_endpoint_port(address), 65535);
	set6(address, "fe80:ffff:ffff:ffff:ffff:ffff:255.255.255.255", 65535,
	     UINT32_MAX);
	pl_endpoint_address(address, text);
	CHECK_STR(text,
		  "[fe80:ffff:ffff:ffff:ffff:ffff:ffff:ffff%4294967295]:65535");
}

static void address_that_is_none(void)
{
	uint8_t address[PEERLANE_ADDRESS_LEN] = { 0 };
	char text[PEERLANE_PEER_TEXT] = "x";

	pl_endpoint_address(address, text);
	CHECK_STR(text, "");
	memset(address, 0xff, sizeof(address));
	pl_endpoint_address(address, text);
	CHECK_STR(text, "");
}

/* ---- listening ------------------------------------------------------------ */

static void fill_port(void *arg)
{
	struct peerlane_endpoint_address *address = arg;

	set4(address->out_address, "0.0.0.0", 4711);
}

static const char *asked(int call)
{
	static char text[PEERLANE_PEER_TEXT];

	pl_endpoint_address(fake.seen[call].address.address, text);
	return text;
}

static void listen_at_an_address(void)
{
	struct peerlane_endpoint *endpoint;
	uint16_t port = 0;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	fake_ioctl(PEERLANE_IOC_ENDPOINT_LISTEN,
		   sizeof(struct peerlane_endpoint_address), .fill = fill_port);
	CHECK_INT(peerlane_endpoint_listen(endpoint, "127.0.0.1", 0, 3, &port),
		  0);
	CHECK_STR(asked(1), "127.0.0.1:0");
	CHECK_INT(fake.seen[1].address.backlog, 3);
	CHECK_INT(port, 4711);
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static void listen_everywhere(void)
{
	struct peerlane_endpoint *endpoint;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	fake_ioctl(PEERLANE_IOC_ENDPOINT_LISTEN, 0);
	CHECK_INT(peerlane_endpoint_listen(endpoint, NULL, 99, 0, NULL), 0);
	CHECK_STR(asked(1), "[::]:99");
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static void listen_everywhere_without_ipv6(void)
{
	struct peerlane_endpoint *endpoint;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	fake_ioctl(PEERLANE_IOC_ENDPOINT_LISTEN, 0, EAFNOSUPPORT);
	fake_ioctl(PEERLANE_IOC_ENDPOINT_LISTEN, 0);
	CHECK_INT(peerlane_endpoint_listen(endpoint, NULL, 99, 0, NULL), 0);
	CHECK_STR(asked(2), "0.0.0.0:99");
	CHECK_STR(peerlane_strerror(), "");
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static void listen_refused(void)
{
	struct peerlane_endpoint *endpoint;
	uint16_t port = 1;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	fake_ioctl(PEERLANE_IOC_ENDPOINT_LISTEN, 0, EADDRINUSE,
		   .fill = fill_port);
	CHECK_INT(peerlane_endpoint_listen(endpoint, "::1", 99, 0, &port),
		  -EADDRINUSE);
	CHECK_STR(peerlane_strerror(),
		  "listen at [::1]:99: Address already in use (EADDRINUSE)");
	CHECK_INT(port, 1);
	CHECK_INT(peerlane_endpoint_listen(endpoint, "", 99, 0, &port), -EINVAL);
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static int next_fd;

static void fill_accept(void *arg)
{
	struct peerlane_endpoint_accept *accept = arg;

	accept->out_fd = next_fd;
	accept->out_id = 6;
	set4(accept->out_address, "192.0.2.9", 1234);
}

static void accept_one(void)
{
	struct peerlane_endpoint *listener, *endpoint;
	char peer[PEERLANE_PEER_TEXT];

	fake_reset();
	listener = fake_endpoint(fake_file(0));
	next_fd = fake_file(0);
	fake_ioctl(PEERLANE_IOC_ENDPOINT_ACCEPT,
		   sizeof(struct peerlane_endpoint_accept),
		   .fill = fill_accept);
	CHECK_INT(peerlane_endpoint_accept(listener, &endpoint, peer), 0);
	CHECK_STR(peer, "192.0.2.9:1234");
	CHECK_INT(peerlane_endpoint_id(endpoint), 6);
	CHECK_INT(peerlane_endpoint_fd(endpoint), next_fd);
	peerlane_endpoint_close(endpoint);
	peerlane_endpoint_close(listener);
	fake_finish();
}

static void accept_refused(void)
{
	struct peerlane_endpoint *listener, *endpoint = (void *)1;

	fake_reset();
	listener = fake_endpoint(fake_file(0));
	fake_ioctl(PEERLANE_IOC_ENDPOINT_ACCEPT, 0, EINTR);
	CHECK_INT(peerlane_endpoint_accept(listener, &endpoint, NULL), -EINTR);
	fake_ioctl(PEERLANE_IOC_ENDPOINT_ACCEPT, 0, EAGAIN);
	CHECK_INT(peerlane_endpoint_accept(listener, &endpoint, NULL), -EAGAIN);
	/* nothing is left open */
	next_fd = fake_file(0);
	fake_ioctl(PEERLANE_IOC_ENDPOINT_ACCEPT, 0, .fill = fill_accept);
	fake.calloc_fail = 1;
	CHECK_INT(peerlane_endpoint_accept(listener, &endpoint, NULL), -ENOMEM);
	CHECK(endpoint == (void *)1);
	peerlane_endpoint_close(listener);
	fake_finish();
}

/* ---- connecting ------------------------------------------------------------ */

static void connect_by_address(void)
{
	struct peerlane_endpoint *endpoint;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	fake_ioctl(PEERLANE_IOC_ENDPOINT_CONNECT,
		   sizeof(struct peerlane_endpoint_address));
	CHECK_INT(peerlane_endpoint_connect(endpoint, "192.0.2.7", 18515, NULL),
		  0);
	CHECK_STR(asked(1), "192.0.2.7:18515");
	fake_ioctl(PEERLANE_IOC_ENDPOINT_CONNECT, 0);
	CHECK_INT(peerlane_endpoint_connect(endpoint, "2001:db8::5", 1, NULL),
		  0);
	CHECK_STR(asked(2), "[2001:db8::5]:1");
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static void connect_from_a_source(void)
{
	struct peerlane_endpoint *endpoint;
	char text[PEERLANE_PEER_TEXT];

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	fake_ioctl(PEERLANE_IOC_ENDPOINT_CONNECT, 0);
	CHECK_INT(peerlane_endpoint_connect(endpoint, "192.0.2.7", 1,
					    "192.0.2.8"), 0);
	pl_endpoint_address(fake.seen[1].address.source, text);
	CHECK_STR(text, "192.0.2.8:0");
	/* one of the other family leads nowhere */
	CHECK_INT(peerlane_endpoint_connect(endpoint, "192.0.2.7", 1,
					    "2001:db8::1"), -ENXIO);
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static void connect_to_nobody(void)
{
	struct peerlane_endpoint *endpoint;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	CHECK_INT(peerlane_endpoint_connect(endpoint, NULL, 1, NULL), -EINVAL);
	CHECK_INT(peerlane_endpoint_connect(endpoint, "", 1, NULL), -EINVAL);
	CHECK_INT(peerlane_endpoint_connect(endpoint, "300.1.1.1.1", 1, NULL),
		  -ENXIO);
	CHECK_HAS(peerlane_strerror(), "300.1.1.1.1: ");
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static void connect_refused(void)
{
	struct peerlane_endpoint *endpoint;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	fake_ioctl(PEERLANE_IOC_ENDPOINT_CONNECT, 0, ECONNREFUSED,
		   "the peer has another secret");
	CHECK_INT(peerlane_endpoint_connect(endpoint, "192.0.2.7", 18515, NULL),
		  -ECONNREFUSED);
	CHECK_STR(peerlane_strerror(),
		  "connection to 192.0.2.7:18515: the peer has another secret (ECONNREFUSED)");
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

/* ---- a name with three addresses ------------------------------------------- */

static struct sockaddr_in three_in[3];
static struct addrinfo three[3];

/* In place of the C library's, for "three". */
int __wrap_getaddrinfo(const char *name, const char *service,
		       const struct addrinfo *hints, struct addrinfo **list);
int __real_getaddrinfo(const char *name, const char *service,
		       const struct addrinfo *hints, struct addrinfo **list);
void __wrap_freeaddrinfo(struct addrinfo *list);
void __real_freeaddrinfo(struct addrinfo *list);

int __wrap_getaddrinfo(const char *name, const char *service,
		       const struct addrinfo *hints, struct addrinfo **list)
{
	uint8_t address[PEERLANE_ADDRESS_LEN];
	char text[32];
	int i;

	if (!name || strcmp(name, "three"))
		return __real_getaddrinfo(name, service, hints, list);
	for (i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "192.0.2.%d", i + 1);
		set4(address, text, atoi(service));
		memcpy(&three_in[i], address, sizeof(three_in[i]));
		three[i] = (struct addrinfo){
			.ai_family = AF_INET,
			.ai_addr = (struct sockaddr *)&three_in[i],
			.ai_addrlen = sizeof(three_in[i]),
			.ai_next = i < 2 ? &three[i + 1] : NULL,
		};
	}
	*list = three;
	return 0;
}

void __wrap_freeaddrinfo(struct addrinfo *list)
{
	if (list != three)
		__real_freeaddrinfo(list);
}

static void connect_tries_each_address(void)
{
	struct peerlane_endpoint *endpoint;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	fake_ioctl(PEERLANE_IOC_ENDPOINT_CONNECT, 0, ECONNREFUSED, "nobody");
	fake_ioctl(PEERLANE_IOC_ENDPOINT_CONNECT, 0, ETIMEDOUT, "silence");
	fake_ioctl(PEERLANE_IOC_ENDPOINT_CONNECT, 0);
	CHECK_INT(peerlane_endpoint_connect(endpoint, "three", 9, NULL), 0);
	CHECK_STR(asked(1), "192.0.2.1:9");
	CHECK_STR(asked(2), "192.0.2.2:9");
	CHECK_STR(asked(3), "192.0.2.3:9");
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

/* What the last one said. */
static void connect_that_no_address_answers(void)
{
	struct peerlane_endpoint *endpoint;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	fake_ioctl(PEERLANE_IOC_ENDPOINT_CONNECT, 0, ECONNREFUSED, "nobody");
	fake_ioctl(PEERLANE_IOC_ENDPOINT_CONNECT, 0, ECONNREFUSED, "nobody");
	fake_ioctl(PEERLANE_IOC_ENDPOINT_CONNECT, 0, ETIMEDOUT, "silence");
	CHECK_INT(peerlane_endpoint_connect(endpoint, "three", 9, NULL),
		  -ETIMEDOUT);
	CHECK_STR(peerlane_strerror(),
		  "connection to 192.0.2.3:9: silence (ETIMEDOUT)");
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

/* Used already, or the like: another address does not help. */
static void connect_that_is_wrong_is_not_repeated(void)
{
	struct peerlane_endpoint *endpoint;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	fake_ioctl(PEERLANE_IOC_ENDPOINT_CONNECT, 0, EISCONN, "used");
	CHECK_INT(peerlane_endpoint_connect(endpoint, "three", 9, NULL),
		  -EISCONN);
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static void connect_that_goes_on(void)
{
	struct peerlane_endpoint *endpoint;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	fake_ioctl(PEERLANE_IOC_ENDPOINT_CONNECT, 0, EINPROGRESS);
	CHECK_INT(peerlane_endpoint_connect(endpoint, "192.0.2.7", 1, NULL),
		  -EINPROGRESS);
	fake_ioctl(PEERLANE_IOC_ENDPOINT_CONNECT, 0, EINTR);
	CHECK_INT(peerlane_endpoint_connect(endpoint, "192.0.2.7", 1, NULL),
		  -EINTR);
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static const struct tap_case cases[] = {
	TAP_CASE(address_texts), TAP_CASE(address_that_is_none),
	TAP_CASE(listen_at_an_address), TAP_CASE(listen_everywhere),
	TAP_CASE(listen_everywhere_without_ipv6), TAP_CASE(listen_refused),
	TAP_CASE(accept_one), TAP_CASE(accept_refused),
	TAP_CASE(connect_by_address), TAP_CASE(connect_from_a_source),
	TAP_CASE(connect_to_nobody), TAP_CASE(connect_refused),
	TAP_CASE(connect_that_goes_on), TAP_CASE(connect_tries_each_address),
	TAP_CASE(connect_that_no_address_answers),
	TAP_CASE(connect_that_is_wrong_is_not_repeated),
};

int main(void)
{
	return TAP_RUN(cases);
}
