// SPDX-License-Identifier: GPL-2.0
/* Aggregators: made with their memory, looked at, listened to. */
#include "lib_fake.h"

#include <netinet/in.h>

static int next_fd;

static void fill_pin(void *arg)
{
	((struct peerlane_pin_host *)arg)->out_fd = fake_file(0);
}

static void fill_create(void *arg)
{
	((struct peerlane_aggregator_create *)arg)->out_fd = next_fd;
}

static struct peerlane_aggregator_options plain(void)
{
	return (struct peerlane_aggregator_options){
		.size = sizeof(struct peerlane_aggregator_options),
		.secret = { 1 }, .memory = 1 << 20,
	};
}

static void plan_pool(void)
{
	fake_ioctl(PEERLANE_IOC_PIN_HOST, 0, .fill = fill_pin);
	fake_info(PEERLANE_KIND_HOST, PEERLANE_STATE_ACTIVE, 0, 1 << 20);
}

static struct peerlane_aggregator *make(int fd)
{
	struct peerlane_aggregator_options options = plain();
	struct peerlane_aggregator *aggregator = NULL;

	next_fd = fd;
	plan_pool();
	fake_ioctl(PEERLANE_IOC_AGGREGATOR_CREATE,
		   sizeof(struct peerlane_aggregator_create),
		   .fill = fill_create);
	CHECK_INT(peerlane_aggregator_create(&options, &aggregator), 0);
	return aggregator;
}

static void create(void)
{
	struct peerlane_aggregator *aggregator;
	struct sockaddr_in6 address;

	fake_reset();
	aggregator = make(fake_file(0));
	CHECK_INT(fake.seen[0].pin.length, 1 << 20);
	CHECK_INT(fake.seen[0].pin.flags, 0);
	CHECK_INT(fake.seen[2].aggregator.secret[0], 1);
	CHECK_INT(fake.seen[2].aggregator.max_groups, 0);
	memcpy(&address, fake.seen[2].aggregator.address, sizeof(address));
	CHECK_INT(address.sin6_family, AF_INET6);
	CHECK_INT(ntohs(address.sin6_port), PEERLANE_AGGREGATOR_PORT);
	CHECK_INT(peerlane_aggregator_fd(aggregator), next_fd);
	peerlane_aggregator_close(aggregator);
	peerlane_aggregator_close(NULL);
	CHECK(fcntl(next_fd, F_GETFD) < 0);
	fake_finish();
}

static void create_at(const char *text, uint32_t host, uint16_t port)
{
	struct peerlane_aggregator_options options = plain();
	struct peerlane_aggregator *aggregator;
	struct sockaddr_in address, parent;

	fake_reset();
	options.memory = 5000;
	options.address = text;
	options.max_groups = 3;
	options.backlog = 4;
	options.timeout = 500;
	options.join_timeout = 600;
	options.rdma_device = "rxe0";
	options.parent = "10.0.0.9";
	options.parent_lanes = 2;
	next_fd = fake_file(0);
	plan_pool();
	fake_ioctl(PEERLANE_IOC_AGGREGATOR_CREATE, 0, .fill = fill_create);
	CHECK_INT(peerlane_aggregator_create(&options, &aggregator), 0);
	CHECK_INT(fake.seen[0].pin.length, 8192);
	CHECK_INT(fake.seen[2].aggregator.max_groups, 3);
	CHECK_INT(fake.seen[2].aggregator.backlog, 4);
	CHECK_INT(fake.seen[2].aggregator.timeout_ms, 500);
	CHECK_INT(fake.seen[2].aggregator.join_timeout_ms, 600);
	CHECK_STR(fake.seen[2].aggregator.rdma_device, "rxe0");
	memcpy(&address, fake.seen[2].aggregator.address, sizeof(address));
	CHECK_INT(address.sin_family, AF_INET);
	CHECK_INT(ntohl(address.sin_addr.s_addr), host);
	CHECK_INT(ntohs(address.sin_port), port);
	memcpy(&parent, fake.seen[2].aggregator.parent, sizeof(parent));
	CHECK_INT(ntohl(parent.sin_addr.s_addr), 0x0a000009);
	CHECK_INT(ntohs(parent.sin_port), PEERLANE_AGGREGATOR_PORT);
	CHECK_INT(fake.seen[2].aggregator.parent_lanes, 2);
	peerlane_aggregator_close(aggregator);
	fake_finish();
}

static void create_with_all(void)
{
	create_at("10.0.0.1", 0x0a000001, PEERLANE_AGGREGATOR_PORT);
	create_at("10.0.0.2:0", 0x0a000002, 0);
	create_at("10.0.0.2:77", 0x0a000002, 77);
}

/* A machine without IPv6 */
static void without_ipv6(void)
{
	struct peerlane_aggregator_options options = plain();
	struct peerlane_aggregator *aggregator;
	struct sockaddr_in address;

	fake_reset();
	options.address = ":99";
	next_fd = fake_file(0);
	plan_pool();
	fake_ioctl(PEERLANE_IOC_AGGREGATOR_CREATE, 0, EAFNOSUPPORT);
	fake_ioctl(PEERLANE_IOC_AGGREGATOR_CREATE, 0, .fill = fill_create);
	CHECK_INT(peerlane_aggregator_create(&options, &aggregator), 0);
	CHECK_STR(peerlane_strerror(), "");
	memcpy(&address, fake.seen[3].aggregator.address, sizeof(address));
	CHECK_INT(address.sin_family, AF_INET);
	CHECK_INT(address.sin_addr.s_addr, 0);
	CHECK_INT(ntohs(address.sin_port), 99);
	peerlane_aggregator_close(aggregator);
	fake_finish();
}

static void create_refused(void)
{
	struct peerlane_aggregator_options options = plain();
	struct peerlane_aggregator *aggregator = (void *)1;

	fake_reset();
	options.memory = 0;
	CHECK_INT(peerlane_aggregator_create(&options, &aggregator), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "needs memory");
	options.memory = UINT64_MAX;
	CHECK_INT(peerlane_aggregator_create(&options, &aggregator), -EINVAL);
	options = plain();
	options.secret[0] = 0;
	CHECK_INT(peerlane_aggregator_create(&options, &aggregator), -EINVAL);
	options = plain();
	options.address = "10.0.0.1:x";
	CHECK_INT(peerlane_aggregator_create(&options, &aggregator), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "\"10.0.0.1:x\" is no address");
	options = plain();
	options.parent = "10.0.0.1:0";
	CHECK_INT(peerlane_aggregator_create(&options, &aggregator), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "\"10.0.0.1:0\" is no address");
	options = plain();
	fake_ioctl(PEERLANE_IOC_PIN_HOST, 0, ENOMEM, "RLIMIT_MEMLOCK is 0");
	CHECK_INT(peerlane_aggregator_create(&options, &aggregator), -ENOMEM);
	CHECK_HAS(peerlane_strerror(), "RLIMIT_MEMLOCK is 0 (ENOMEM)");
	plan_pool();
	options.address = "10.0.0.1";
	fake_ioctl(PEERLANE_IOC_AGGREGATOR_CREATE, 0, EPERM,
		   "module parameter aggregator is 0");
	CHECK_INT(peerlane_aggregator_create(&options, &aggregator), -EPERM);
	CHECK_STR(peerlane_strerror(), "aggregator at 10.0.0.1:18517: module parameter aggregator is 0 (EPERM)");
	fake.calloc_fail = 1;
	CHECK_INT(peerlane_aggregator_create(&options, &aggregator), -ENOMEM);
	CHECK(aggregator == (void *)1);
	fake_finish();
}

/* ---- what it tells ------------------------------------------------------------------ */

static void events(void)
{
	const struct peerlane_aggregator_record record = {
		.size = sizeof(record), .type = PEERLANE_AGGREGATOR_ENDED,
		.status = -ECONNRESET, .group = 5, .rank = 2,
		.cause = PEERLANE_GROUP_CAUSE_DEAD, .ranks = 4, .lost = 1,
	};
	struct peerlane_aggregator_event event = { 0 };
	struct peerlane_aggregator *aggregator;
	int pipe_ends[2];

	fake_reset();
	CHECK(!pipe(pipe_ends));
	aggregator = make(pipe_ends[0]);
	CHECK_INT(peerlane_aggregator_next(aggregator, 0, &event), -EAGAIN);
	CHECK(write(pipe_ends[1], &record, sizeof(record)) > 0);
	CHECK_INT(peerlane_aggregator_next(aggregator, -1, &event), 0);
	CHECK_INT(event.type, PEERLANE_AGGREGATOR_ENDED);
	CHECK_INT(event.status, -ECONNRESET);
	CHECK_INT(event.group, 5);
	CHECK_INT(event.rank, 2);
	CHECK_STR(peerlane_ending_name(event.cause), "dead");
	CHECK_INT(event.ranks, 4);
	CHECK_INT(event.lost, 1);
	CHECK(write(pipe_ends[1], &record, 6) > 0);
	CHECK_INT(peerlane_aggregator_next(aggregator, -1, &event), -EPROTO);
	/* a file that only hangs up does not block */
	close(pipe_ends[1]);
	CHECK_INT(peerlane_aggregator_next(aggregator, -1, &event), -ENOTCONN);
	peerlane_aggregator_close(aggregator);
	fake_finish();
}

static void fill_info(void *arg)
{
	struct peerlane_list *list = arg;
	struct peerlane_aggregator_info *info =
		(void *)(uintptr_t)list->array_ptr;
	const struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(18517),
		.sin_addr = { htonl(0x0a000001) },
	};

	CHECK_INT(list->record_size, sizeof(*info));
	list->count = 1;
	info->id = 9;
	info->pool_bytes = 1;
	info->pool_used = 2;
	info->formed = 3;
	info->failed = 4;
	info->refused = 5;
	info->groups = 6;
	info->links = 7;
	memcpy(info->address, &address, sizeof(address));
	memset(info->comm, 'c', sizeof(info->comm));
}

static void check_status(const struct peerlane_aggregator_status *status)
{
	CHECK_INT(status->id, 9);
	CHECK_INT(status->pool_bytes, 1);
	CHECK_INT(status->pool_used, 2);
	CHECK_INT(status->formed, 3);
	CHECK_INT(status->failed, 4);
	CHECK_INT(status->refused, 5);
	CHECK_INT(status->groups, 6);
	CHECK_INT(status->links, 7);
	CHECK_STR(status->address, "10.0.0.1:18517");
	CHECK_INT(strlen(status->comm), 15);
}

static void lists(void)
{
	struct peerlane_aggregator_status *list, status;
	struct peerlane_aggregator *aggregator;
	size_t count = 0;

	fake_reset();
	aggregator = make(fake_file(0));
	fake_ioctl(PEERLANE_IOC_AGGREGATOR_INFO, 0, .fill = fill_info);
	CHECK_INT(peerlane_aggregator_query(aggregator, &status), 0);
	check_status(&status);
	fake_ioctl(PEERLANE_IOC_AGGREGATOR_LIST, 0, .fill = fill_info);
	CHECK_INT(peerlane_aggregator_list(&list, &count), 0);
	CHECK_INT(count, 1);
	check_status(list);
	free(list);
	/* no process, or one that is not seen from here */
	fake_ioctl(PEERLANE_IOC_AGGREGATOR_LIST, 0, .fill = fill_info);
	CHECK_INT(peerlane_aggregator_open(9, &aggregator), -ENOENT);
	peerlane_aggregator_close(aggregator);
	fake_finish();
}

static uint32_t rank_count;

static void fill_ranks(void *arg)
{
	struct peerlane_aggregator_ranks *ranks = arg;
	struct peerlane_rank_record *record =
		(void *)(uintptr_t)ranks->array_ptr;

	CHECK_INT(ranks->group, 5);
	CHECK_INT(ranks->record_size, sizeof(*record));
	ranks->count = rank_count;
	record[1] = (struct peerlane_rank_record){
		.segments = 1, .bytes = 2, .late_total_ns = 3,
		.late_max_ns = 4, .last = 5, .rank = 1, .is_there = 1,
		.late = { [39] = 6 },
	};
}

static void ranks(void)
{
	struct peerlane_aggregator *aggregator;
	struct peerlane_rank_status *list = (void *)1;
	size_t count = 0;

	fake_reset();
	aggregator = make(fake_file(0));
	rank_count = 2;
	fake_ioctl(PEERLANE_IOC_AGGREGATOR_RANKS,
		   sizeof(struct peerlane_aggregator_ranks), .fill = fill_ranks);
	CHECK_INT(peerlane_aggregator_ranks(aggregator, 5, &list, &count), 0);
	CHECK_INT(count, 2);
	CHECK_INT(list[1].segments, 1);
	CHECK_INT(list[1].bytes, 2);
	CHECK_INT(list[1].late_total, 3);
	CHECK_INT(list[1].late_max, 4);
	CHECK_INT(list[1].last, 5);
	CHECK_INT(list[1].rank, 1);
	CHECK(list[1].is_there && !list[0].is_there);
	CHECK_INT(list[1].late[39], 6);
	CHECK_STR(list[1].peer, "");
	free(list);
	rank_count = 1025;
	fake_ioctl(PEERLANE_IOC_AGGREGATOR_RANKS, 0, .fill = fill_ranks);
	CHECK_INT(peerlane_aggregator_ranks(aggregator, 5, &list, &count),
		  -EPROTO);
	fake_ioctl(PEERLANE_IOC_AGGREGATOR_RANKS, 0, ENOENT, "no such group");
	CHECK_INT(peerlane_aggregator_ranks(aggregator, 5, &list, &count),
		  -ENOENT);
	CHECK_STR(peerlane_strerror(),
		  "ranks of group 5: no such group (ENOENT)");
	CHECK_INT(count, 2);
	peerlane_aggregator_close(aggregator);
	fake_finish();
}

static void percentiles(void)
{
	uint32_t late[PEERLANE_LATENESS] = { 0 };

	CHECK_INT(peerlane_lateness_percentile(late, 500000), 0);
	late[0] = 50;
	late[10] = 49;
	late[20] = 1;
	CHECK_INT(peerlane_lateness_percentile(late, 500000), 0);
	CHECK_INT(peerlane_lateness_percentile(late, 500001), 1536);
	CHECK_INT(peerlane_lateness_percentile(late, 990000), 1536);
	CHECK_INT(peerlane_lateness_percentile(late, 1000000), 1572864);
	CHECK_INT(peerlane_lateness_percentile(late, UINT32_MAX), 1572864);
	CHECK_INT(peerlane_lateness_percentile(late, 0), 0);
	memset(late, 0xff, sizeof(late));
	CHECK_INT(peerlane_lateness_percentile(late, 1000000),
		  (1LL << 39) + (1LL << 38));
}

static const struct tap_case cases[] = {
	TAP_CASE(create), TAP_CASE(create_with_all), TAP_CASE(without_ipv6),
	TAP_CASE(create_refused), TAP_CASE(events), TAP_CASE(lists),
	TAP_CASE(ranks), TAP_CASE(percentiles),
};

int main(void)
{
	return TAP_RUN(cases);
}
