// SPDX-License-Identifier: GPL-2.0
/* Endpoints: made, given memory, shown to the peer, ended. */
#include "lib_fake.h"

#include <sys/mman.h>

static int next_fd;

static void fill_create(void *arg)
{
	struct peerlane_endpoint_create *create = arg;

	create->out_fd = next_fd;
	create->out_id = 42;
}

static struct peerlane_endpoint_options plain(void)
{
	return (struct peerlane_endpoint_options){
		.size = sizeof(struct peerlane_endpoint_options),
		.secret = { 1, 2, 3 },
	};
}

static void create_by_default(void)
{
	struct peerlane_endpoint_options options = plain();
	struct peerlane_endpoint *endpoint;

	fake_reset();
	next_fd = fake_file(0);
	fake_ioctl(PEERLANE_IOC_ENDPOINT_CREATE,
		   sizeof(struct peerlane_endpoint_create),
		   .fill = fill_create);
	CHECK_INT(peerlane_endpoint_create(&options, &endpoint), 0);
	CHECK_INT(fake.seen[0].create.near_fd, -1);
	CHECK_INT(fake.seen[0].create.lanes, 0);
	CHECK_INT(fake.seen[0].create.depth, 0);
	CHECK_INT(fake.seen[0].create.slots, 0);
	CHECK_INT(fake.seen[0].create.timeout_ms, 0);
	CHECK_STR(fake.seen[0].create.label, "");
	CHECK_INT(fake.seen[0].create.secret[2], 3);
	CHECK_INT(peerlane_endpoint_fd(endpoint), next_fd);
	CHECK_INT(peerlane_endpoint_id(endpoint), 42);
	CHECK(!(fcntl(next_fd, F_GETFL) & O_NONBLOCK));
	peerlane_endpoint_close(endpoint);
	CHECK(fcntl(next_fd, F_GETFD) < 0);
	fake_finish();
}

static void create_with_all(void)
{
	struct peerlane_endpoint_options options = plain();
	struct peerlane_endpoint *endpoint;
	struct peerlane_region *region;
	int call;

	fake_reset();
	region = fake_region(0, 4096);
	call = fake.planned;
	options.lanes = 4;
	options.depth = 5;
	options.notify_depth = 6;
	options.slots = 7;
	options.timeout = 800;
	options.nonblock = true;
	options.nearest_to = region;
	options.rdma_device = "rxe0";
	options.label = "layer 3";
	next_fd = fake_file(0);
	fake_ioctl(PEERLANE_IOC_ENDPOINT_CREATE, 0, .fill = fill_create);
	CHECK_INT(peerlane_endpoint_create(&options, &endpoint), 0);
	CHECK_INT(fake.seen[call].create.lanes, 4);
	CHECK_INT(fake.seen[call].create.depth, 5);
	CHECK_INT(fake.seen[call].create.notify_depth, 6);
	CHECK_INT(fake.seen[call].create.slots, 7);
	CHECK_INT(fake.seen[call].create.timeout_ms, 800);
	CHECK_INT(fake.seen[call].create.near_fd, fake.region_fd);
	CHECK_STR(fake.seen[call].create.rdma_device, "rxe0");
	CHECK_STR(fake.seen[call].create.label, "layer 3");
	CHECK(fcntl(next_fd, F_GETFL) & O_NONBLOCK);
	peerlane_endpoint_close(endpoint);
	peerlane_region_free(region);
	fake_finish();
}

static void secret_of_zero(void)
{
	struct peerlane_endpoint_options options = plain();
	struct peerlane_endpoint *endpoint = (void *)1;

	fake_reset();
	memset(options.secret, 0, sizeof(options.secret));
	CHECK_INT(peerlane_endpoint_create(&options, &endpoint), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "needs a secret");
	CHECK(endpoint == (void *)1);
	fake_finish();
}

static void options_without_size(void)
{
	struct peerlane_endpoint_options options = plain();
	struct peerlane_endpoint *endpoint;

	fake_reset();
	options.size = 0;
	CHECK_INT(peerlane_endpoint_create(&options, &endpoint), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "size is not set");
	fake_finish();
}

/* A program that was compiled before what follows @timeout was invented */
static void options_of_an_older_program(void)
{
	struct peerlane_endpoint_options options = plain();
	struct peerlane_endpoint *endpoint;

	fake_reset();
	options.size = offsetof(struct peerlane_endpoint_options, nonblock);
	options.lanes = 2;
	options.nonblock = true;
	options.label = (const char *)8;
	next_fd = fake_file(0);
	fake_ioctl(PEERLANE_IOC_ENDPOINT_CREATE, 0, .fill = fill_create);
	CHECK_INT(peerlane_endpoint_create(&options, &endpoint), 0);
	CHECK_INT(fake.seen[0].create.lanes, 2);
	CHECK(!(fcntl(next_fd, F_GETFL) & O_NONBLOCK));
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static void options_of_a_newer_program(void)
{
	struct {
		struct peerlane_endpoint_options options;
		uint64_t more;
	} newer = { plain(), 0 };
	struct peerlane_endpoint *endpoint;

	fake_reset();
	newer.options.size = sizeof(newer);
	next_fd = fake_file(0);
	fake_ioctl(PEERLANE_IOC_ENDPOINT_CREATE, 0, .fill = fill_create);
	CHECK_INT(peerlane_endpoint_create(&newer.options, &endpoint), 0);
	peerlane_endpoint_close(endpoint);
	newer.more = 1;
	CHECK_INT(peerlane_endpoint_create(&newer.options, &endpoint), -E2BIG);
	fake_finish();
}

static void names_that_are_too_long(void)
{
	struct peerlane_endpoint_options options = plain();
	struct peerlane_endpoint *endpoint;
	char name[65];

	fake_reset();
	memset(name, 'a', sizeof(name));
	name[64] = '\0';
	options.rdma_device = name;
	CHECK_INT(peerlane_endpoint_create(&options, &endpoint), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "RDMA device of an endpoint: 64 bytes");
	options.rdma_device = NULL;
	name[32] = '\0';
	options.label = name;
	CHECK_INT(peerlane_endpoint_create(&options, &endpoint), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "31 is the most");
	fake_finish();
}

static void create_refused(void)
{
	struct peerlane_endpoint_options options = plain();
	struct peerlane_endpoint *endpoint = (void *)1;

	fake_reset();
	fake.control_errno = ENOENT;
	CHECK_INT(peerlane_endpoint_create(&options, &endpoint), -ENOENT);
	CHECK_HAS(peerlane_strerror(), "module is not loaded");
	fake.control_errno = 0;
	fake_ioctl(PEERLANE_IOC_ENDPOINT_CREATE, 0, EDQUOT,
		   "user 7 has 16 endpoints already");
	CHECK_INT(peerlane_endpoint_create(&options, &endpoint), -EDQUOT);
	CHECK_STR(peerlane_strerror(),
		  "endpoint: user 7 has 16 endpoints already (EDQUOT)");
	/* nothing is left open */
	next_fd = fake_file(0);
	fake_ioctl(PEERLANE_IOC_ENDPOINT_CREATE, 0, .fill = fill_create);
	fake.calloc_fail = 1;
	CHECK_INT(peerlane_endpoint_create(&options, &endpoint), -ENOMEM);
	CHECK(endpoint == (void *)1);
	fake_finish();
}

static void fill_info(void *arg)
{
	struct peerlane_list *list = arg;
	struct peerlane_endpoint_record *record =
		(void *)(uintptr_t)list->array_ptr;

	CHECK_INT(list->count, 1);
	record->id = 9;
}

static void from_fd(void)
{
	struct peerlane_endpoint *endpoint;
	int fd;

	fake_reset();
	fd = memfd_create("endpoint", 0);
	fake_ioctl(PEERLANE_IOC_ENDPOINT_INFO, 0, .fill = fill_info);
	CHECK_INT(peerlane_endpoint_from_fd(fd, &endpoint), 0);
	CHECK_INT(peerlane_endpoint_id(endpoint), 9);
	CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	peerlane_endpoint_close(endpoint);
	CHECK(fcntl(fd, F_GETFD) < 0);
	fake_finish();
}

static void from_fd_refused(void)
{
	struct peerlane_endpoint *endpoint = (void *)1;
	int fd;

	fake_reset();
	fd = fake_file(0);
	fake_ioctl(PEERLANE_IOC_ENDPOINT_INFO, 0, ENOTTY);
	CHECK_INT(peerlane_endpoint_from_fd(fd, &endpoint), -EBADF);
	CHECK_HAS(peerlane_strerror(), "is not an endpoint (EBADF)");
	CHECK(endpoint == (void *)1);
	/* it stays the caller's */
	CHECK_INT(close(fd), 0);
	fake_finish();
}

static void fill_bind(void *arg)
{
	((struct peerlane_endpoint_bind *)arg)->out_length = 12288;
}

static void bind_region(void)
{
	struct peerlane_endpoint *endpoint;
	struct peerlane_region *region;
	uint64_t bound = 0;
	int call, i;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	region = fake_region(0, 16384);
	for (i = 0; i < 2; i++) {
		call = fake.planned;
		fake_ioctl(PEERLANE_IOC_ENDPOINT_BIND,
			   sizeof(struct peerlane_endpoint_bind),
			   .fill = fill_bind, .eintr = 1);
		CHECK_INT(peerlane_endpoint_bind(endpoint, 3, region, 4096, 0,
						 i, &bound), 0);
		CHECK_INT(bound, 12288);
		CHECK_INT(fake.seen[call].bind.slot, 3);
		CHECK_INT(fake.seen[call].bind.offset, 4096);
		CHECK_INT(fake.seen[call].bind.length, 0);
		CHECK_INT(fake.seen[call].bind.region_fd, fake.region_fd);
		CHECK_INT(fake.seen[call].bind.flags,
			  i ? PEERLANE_BIND_READ_ONLY : 0);
	}
	peerlane_region_free(region);
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static void bind_refused(void)
{
	struct peerlane_endpoint *endpoint;
	struct peerlane_region *region;
	uint64_t bound = 1;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	region = fake_region(0, 4096);
	fake_ioctl(PEERLANE_IOC_ENDPOINT_BIND, 0, EBUSY, "it has a region",
		   .fill = fill_bind);
	CHECK_INT(peerlane_endpoint_bind(endpoint, 3, region, 0, 0, false,
					 &bound), -EBUSY);
	CHECK_STR(peerlane_strerror(), "slot 3: it has a region (EBUSY)");
	CHECK_INT(bound, 1);
	peerlane_region_free(region);
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static void unbind(void)
{
	struct peerlane_endpoint *endpoint;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	fake_ioctl(PEERLANE_IOC_ENDPOINT_BIND, 0);
	CHECK_INT(peerlane_endpoint_unbind(endpoint, 2), 0);
	CHECK_INT(fake.seen[1].bind.slot, 2);
	CHECK_INT(fake.seen[1].bind.region_fd, -1);
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static void fill_expose(void *arg)
{
	((struct peerlane_endpoint_expose *)arg)->out_token = 0xabcdef;
}

static void expose(void)
{
	struct peerlane_endpoint *endpoint;
	uint64_t token = 0;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	fake_ioctl(PEERLANE_IOC_ENDPOINT_EXPOSE,
		   sizeof(struct peerlane_endpoint_expose),
		   .fill = fill_expose);
	CHECK_INT(peerlane_endpoint_expose(endpoint, 1, 10, 20,
					   PEERLANE_MAY_WRITE, 77, &token), 0);
	CHECK_INT(token, 0xabcdef);
	CHECK_INT(fake.seen[1].expose.slot, 1);
	CHECK_INT(fake.seen[1].expose.offset, 10);
	CHECK_INT(fake.seen[1].expose.length, 20);
	CHECK_INT(fake.seen[1].expose.rights, PEERLANE_RIGHT_WRITE);
	CHECK_INT(fake.seen[1].expose.value, 77);
	/* the token may be of no interest */
	fake_ioctl(PEERLANE_IOC_ENDPOINT_EXPOSE, 0, .fill = fill_expose);
	CHECK_INT(peerlane_endpoint_expose(endpoint, 1, 0, 1, PEERLANE_MAY_READ,
					   0, NULL), 0);
	fake_ioctl(PEERLANE_IOC_ENDPOINT_EXPOSE, 0, ENOTCONN, "not connected",
		   .fill = fill_expose);
	token = 5;
	CHECK_INT(peerlane_endpoint_expose(endpoint, 1, 0, 1, PEERLANE_MAY_READ,
					   0, &token), -ENOTCONN);
	CHECK_STR(peerlane_strerror(),
		  "exposure of slot 1: not connected (ENOTCONN)");
	CHECK_INT(token, 5);
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static void withdraw(void)
{
	struct peerlane_endpoint *endpoint;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	fake_ioctl(PEERLANE_IOC_ENDPOINT_WITHDRAW,
		   sizeof(struct peerlane_endpoint_withdraw), .eintr = 2);
	CHECK_INT(peerlane_endpoint_withdraw(endpoint, 0xabc), 0);
	CHECK_INT(fake.seen[1].withdraw.token, 0xabc);
	fake_ioctl(PEERLANE_IOC_ENDPOINT_WITHDRAW, 0, ENOKEY);
	CHECK_INT(peerlane_endpoint_withdraw(endpoint, 1), -ENOKEY);
	CHECK_HAS(peerlane_strerror(), "(ENOKEY)");
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static void disconnect(void)
{
	struct peerlane_endpoint *endpoint;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	fake_ioctl(PEERLANE_IOC_ENDPOINT_DISCONNECT,
		   sizeof(struct peerlane_endpoint_disconnect));
	CHECK_INT(peerlane_endpoint_disconnect(endpoint), 0);
	peerlane_endpoint_close(endpoint);
	peerlane_endpoint_close(NULL);
	fake_finish();
}

static const struct tap_case cases[] = {
	TAP_CASE(create_by_default), TAP_CASE(create_with_all),
	TAP_CASE(secret_of_zero), TAP_CASE(options_without_size),
	TAP_CASE(options_of_an_older_program),
	TAP_CASE(options_of_a_newer_program),
	TAP_CASE(names_that_are_too_long), TAP_CASE(create_refused),
	TAP_CASE(from_fd), TAP_CASE(from_fd_refused), TAP_CASE(bind_region),
	TAP_CASE(bind_refused), TAP_CASE(unbind), TAP_CASE(expose),
	TAP_CASE(withdraw), TAP_CASE(disconnect),
};

int main(void)
{
	return TAP_RUN(cases);
}
