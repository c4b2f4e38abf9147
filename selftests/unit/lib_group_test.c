// SPDX-License-Identifier: GPL-2.0
/* Groups: made, given memory, joined, looked at, left. */
#include "lib_fake.h"

#include <netinet/in.h>

static int next_fd;

static void fill_create(void *arg)
{
	struct peerlane_group_create *create = arg;

	create->out_fd = next_fd;
	create->out_id = 42;
}

static struct peerlane_group_options plain(void)
{
	return (struct peerlane_group_options){
		.size = sizeof(struct peerlane_group_options),
		.secret = { 1, 2, 3 }, .group = 7, .ranks = 2,
	};
}

static struct peerlane_group *make(void)
{
	struct peerlane_group_options options = plain();
	struct peerlane_group *group = NULL;

	next_fd = fake_file(0);
	fake_ioctl(PEERLANE_IOC_GROUP_CREATE,
		   sizeof(struct peerlane_group_create), .fill = fill_create);
	CHECK_INT(peerlane_group_create(&options, &group), 0);
	return group;
}

static void create_by_default(void)
{
	struct peerlane_group *group;

	fake_reset();
	group = make();
	CHECK_INT(fake.seen[0].group.near_fd, -1);
	CHECK_INT(fake.seen[0].group.group, 7);
	CHECK_INT(fake.seen[0].group.ranks, 2);
	CHECK_INT(fake.seen[0].group.segment, 0);
	CHECK_INT(fake.seen[0].group.secret[2], 3);
	CHECK_INT(fake.seen[0].group.op_timeout_ms, 0);
	CHECK_STR(fake.seen[0].group.label, "");
	CHECK_INT(peerlane_group_fd(group), next_fd);
	CHECK_INT(peerlane_group_id(group), 42);
	CHECK(!(fcntl(next_fd, F_GETFL) & O_NONBLOCK));
	peerlane_group_close(group);
	CHECK(fcntl(next_fd, F_GETFD) < 0);
	peerlane_group_close(NULL);
	fake_finish();
}

static void create_with_all(void)
{
	struct peerlane_group_options options = plain();
	struct peerlane_group_create *seen;
	struct peerlane_region *region;
	struct peerlane_group *group;

	fake_reset();
	region = fake_region(0, 4096);
	seen = &fake.seen[fake.planned].group;
	options = (struct peerlane_group_options){
		.size = sizeof(options), .secret = { 9 }, .group = 1, .rank = 2,
		.ranks = 3, .segment = 4096, .window = 5, .block = 6,
		.lanes = 7, .depth = 8, .slots = 9, .timeout = 1000,
		.operation_timeout = 1100, .join_timeout = 1200,
		.nonblock = true, .nearest_to = region, .rdma_device = "rxe0",
		.label = "layer 3",
		.placement = PEERLANE_PLACE_REPLICATED,
	};
	next_fd = fake_file(0);
	fake_ioctl(PEERLANE_IOC_GROUP_CREATE, 0, .fill = fill_create);
	CHECK_INT(peerlane_group_create(&options, &group), 0);
	CHECK_INT(seen->rank, 2);
	CHECK_INT(seen->ranks, 3);
	CHECK_INT(seen->segment, 4096);
	CHECK_INT(seen->window, 5);
	CHECK_INT(seen->block, 6);
	CHECK_INT(seen->lanes, 7);
	CHECK_INT(seen->depth, 8);
	CHECK_INT(seen->slots, 9);
	CHECK_INT(seen->timeout_ms, 1000);
	CHECK_INT(seen->op_timeout_ms, 1100);
	CHECK_INT(seen->join_timeout_ms, 1200);
	CHECK_INT(seen->near_fd, fake.region_fd);
	CHECK_STR(seen->rdma_device, "rxe0");
	CHECK_STR(seen->label, "layer 3");
	CHECK_INT(seen->placement, PEERLANE_PLACEMENT_REPLICATED);
	CHECK(fcntl(next_fd, F_GETFL) & O_NONBLOCK);
	peerlane_group_close(group);
	peerlane_region_free(region);
	fake_finish();
}

static void options_that_are_wrong(void)
{
	struct peerlane_group_options options = plain();
	struct peerlane_group *group = (void *)1;
	char label[33];

	fake_reset();
	options.size = 8;
	CHECK_INT(peerlane_group_create(&options, &group), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "options of a group: their size");
	options = plain();
	memset(options.secret, 0, sizeof(options.secret));
	CHECK_INT(peerlane_group_create(&options, &group), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "zero is none");
	options = plain();
	options.group = 0;
	CHECK_INT(peerlane_group_create(&options, &group), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "needs a number");
	options = plain();
	options.rank = 2;
	CHECK_INT(peerlane_group_create(&options, &group), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "rank 2 of 2 ranks");
	options = plain();
	memset(label, 'x', 32);
	label[32] = '\0';
	options.label = label;
	CHECK_INT(peerlane_group_create(&options, &group), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "label of a group: 32 bytes");
	CHECK(group == (void *)1);
	fake_finish();
}

static void create_refused(void)
{
	struct peerlane_group_options options = plain();
	struct peerlane_group *group = (void *)1;

	fake_reset();
	fake.calloc_fail = 1;
	CHECK_INT(peerlane_group_create(&options, &group), -ENOMEM);
	fake.control_errno = ENOENT;
	CHECK_INT(peerlane_group_create(&options, &group), -ENOENT);
	fake.control_errno = 0;
	fake_ioctl(PEERLANE_IOC_GROUP_CREATE, 0, EDQUOT, "16 groups already");
	CHECK_INT(peerlane_group_create(&options, &group), -EDQUOT);
	CHECK_STR(peerlane_strerror(), "group: 16 groups already (EDQUOT)");
	CHECK(group == (void *)1);
	fake_finish();
}

static void fill_bind(void *arg)
{
	((struct peerlane_endpoint_bind *)arg)->out_length = 12288;
}

static void bind_region(void)
{
	struct peerlane_region *region;
	struct peerlane_group *group;
	uint64_t bound = 0;
	int call;

	fake_reset();
	group = make();
	region = fake_region(0, 16384);
	call = fake.planned;
	fake_ioctl(PEERLANE_IOC_GROUP_BIND, 0, .fill = fill_bind, .eintr = 1);
	CHECK_INT(peerlane_group_bind(group, 3, region, 4096, 0, true, &bound),
		  0);
	CHECK_INT(bound, 12288);
	CHECK_INT(fake.seen[call].bind.slot, 3);
	CHECK_INT(fake.seen[call].bind.offset, 4096);
	CHECK_INT(fake.seen[call].bind.flags, PEERLANE_BIND_READ_ONLY);
	CHECK_INT(fake.seen[call].bind.region_fd, fake.region_fd);
	fake_ioctl(PEERLANE_IOC_GROUP_BIND, 0, EBUSY, "operations use it");
	CHECK_INT(peerlane_group_unbind(group, 3), -EBUSY);
	CHECK_STR(peerlane_strerror(), "slot 3: operations use it (EBUSY)");
	CHECK_INT(fake.seen[call + 1].bind.region_fd, -1);
	peerlane_region_free(region);
	peerlane_group_close(group);
	fake_finish();
}

/* ---- join -------------------------------------------------------------------- */

static struct sockaddr_in6 seen_addresses[PEERLANE_AGGREGATORS_MOST];

static void keep_addresses(void *arg)
{
	const struct peerlane_group_join *join = arg;

	memcpy(seen_addresses, (void *)(uintptr_t)join->addresses_ptr,
	       join->count * PEERLANE_ADDRESS_LEN);
}

static void join(void)
{
	const struct sockaddr_in *four = (void *)&seen_addresses[0];
	struct peerlane_group *group;
	struct sockaddr_in source;

	fake_reset();
	group = make();
	fake_ioctl(PEERLANE_IOC_GROUP_JOIN, sizeof(struct peerlane_group_join),
		   .fill = keep_addresses);
	CHECK_INT(peerlane_group_join(group, "10.0.0.1 [::1]:5,10.0.0.3:6",
				      "10.0.0.9"), 0);
	CHECK_INT(fake.seen[1].join.count, 3);
	CHECK_INT(four->sin_family, AF_INET);
	CHECK_INT(ntohl(four->sin_addr.s_addr), 0x0a000001);
	CHECK_INT(ntohs(four->sin_port), PEERLANE_AGGREGATOR_PORT);
	CHECK_INT(seen_addresses[1].sin6_family, AF_INET6);
	CHECK_INT(ntohs(seen_addresses[1].sin6_port), 5);
	memcpy(&source, fake.seen[1].join.source, sizeof(source));
	CHECK_INT(ntohl(source.sin_addr.s_addr), 0x0a000009);
	CHECK_INT(source.sin_port, 0);
	peerlane_group_close(group);
	fake_finish();
}

static void join_refused(void)
{
	struct peerlane_group *group;
	char many[65 * 9 + 1] = "";
	int i;

	fake_reset();
	group = make();
	CHECK_INT(peerlane_group_join(group, " ,", NULL), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "no aggregator is named");
	CHECK_INT(peerlane_group_join(group, NULL, NULL), -EINVAL);
	CHECK_INT(peerlane_group_join(group, "10.0.0.1:0", NULL), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "\"10.0.0.1:0\" is no address");
	CHECK_INT(peerlane_group_join(group, "10.0.0.1,:5", NULL), -EINVAL);
	for (i = 0; i < 65; i++)
		strcat(many, "10.0.0.1,");
	CHECK_INT(peerlane_group_join(group, many, NULL), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "more than 64 aggregators");
	fake_ioctl(PEERLANE_IOC_GROUP_JOIN, 0, ETIMEDOUT,
		   "rank 1 did not join, 1 missing");
	CHECK_INT(peerlane_group_join(group, "10.0.0.1", NULL), -ETIMEDOUT);
	CHECK_STR(peerlane_strerror(),
		  "join: rank 1 did not join, 1 missing (ETIMEDOUT)");
	/* a signal is told, as the wait may be long */
	fake_ioctl(PEERLANE_IOC_GROUP_JOIN, 0, EINTR);
	CHECK_INT(peerlane_group_join(group, "10.0.0.1", NULL), -EINTR);
	fake_ioctl(PEERLANE_IOC_GROUP_LEAVE, 0);
	CHECK_INT(peerlane_group_leave(group), 0);
	peerlane_group_close(group);
	fake_finish();
}

/* By their names, of which some belong to groups only */
static void errors_have_names(void)
{
	static const struct {
		int err;
		const char *text;
	} rows[] = {
		{ ECONNABORTED, "join: left (ECONNABORTED)" },
		{ EBADE, "join: left (EBADE)" },
		{ ESHUTDOWN, "join: left (ESHUTDOWN)" },
		{ EEXIST, "join: left (EEXIST)" },
		{ ENOSPC, "join: left (ENOSPC)" },
	};
	struct peerlane_group *group;
	size_t i;

	fake_reset();
	group = make();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_ioctl(PEERLANE_IOC_GROUP_JOIN, 0, rows[i].err, "left");
		CHECK_INT(peerlane_group_join(group, "10.0.0.1", NULL),
			  -rows[i].err);
		CHECK_STR(peerlane_strerror(), rows[i].text);
	}
	peerlane_group_close(group);
	fake_finish();
}

/* ---- lists ---------------------------------------------------------------------- */

static void fill_list(void *arg)
{
	struct peerlane_list *list = arg;
	struct peerlane_group_info *info = (void *)(uintptr_t)list->array_ptr;

	CHECK_INT(list->record_size, sizeof(*info));
	list->count = 1;
	memset(info, 0, sizeof(*info));
	info->id = 1;
	info->group = 2;
	info->ops_done = 3;
	info->bytes_sent = 4;
	info->fault_seq = 5;
	info->status = -EBADE;
	info->state = PEERLANE_GROUP_ENDED;
	info->rank = 6;
	info->ranks = 7;
	info->fault_cause = PEERLANE_GROUP_CAUSE_MISMATCH;
	info->fault_rank = 3;
	info->lanes_left = 8;
	memset(info->comm, 'c', sizeof(info->comm));
	memset(info->label, 'l', sizeof(info->label));
	memset(info->text, 't', sizeof(info->text));
	info->ops_replicated = 8;
	info->placement = PEERLANE_PLACEMENT_COLOCATED;
	info->replicated_below = 9;
	info->rounds = 10;
	info->colocated = 1;
	info->alpha_ns = 11;
	info->own_ns = 12;
	info->beta_ps = 13;
	info->gamma_ps = 14;
	info->shared_permille = 15;
	info->replicated_permille = 16;
	memset(info->reason, 'r', sizeof(info->reason));
}

static void check_status(const struct peerlane_group_status *status)
{
	CHECK_INT(status->id, 1);
	CHECK_INT(status->group, 2);
	CHECK_INT(status->ops_done, 3);
	CHECK_INT(status->bytes_sent, 4);
	CHECK_INT(status->fault_sequence, 5);
	CHECK_INT(status->status, -EBADE);
	CHECK_INT(status->rank, 6);
	CHECK_INT(status->ranks, 7);
	CHECK_INT(status->fault_rank, 3);
	CHECK_INT(status->lanes_left, 8);
	CHECK_STR(peerlane_group_state_name(status->state), "ended");
	CHECK_STR(peerlane_ending_name(status->fault_cause), "mismatch");
	CHECK_INT(status->ops_replicated, 8);
	CHECK_STR(peerlane_place_name(status->placement), "colocated");
	CHECK_INT(status->replicated_below, 9);
	CHECK_INT(status->rounds, 10);
	CHECK_INT(status->colocated, 1);
	CHECK_INT(status->alpha, 11);
	CHECK_INT(status->own, 12);
	CHECK_INT(status->beta, 13);
	CHECK_INT(status->gamma, 14);
	CHECK_INT(status->shared_permille, 15);
	CHECK_INT(status->replicated_permille, 16);
	/* texts end, whatever came */
	CHECK_INT(strlen(status->comm), 15);
	CHECK_INT(strlen(status->label), 31);
	CHECK_INT(strlen(status->text), PEERLANE_GROUP_TEXT_LEN - 1);
	CHECK_INT(strlen(status->reason), PEERLANE_GROUP_REASON_LEN - 1);
}

static void lists(void)
{
	struct peerlane_group_status *list = NULL, status;
	struct peerlane_group *group;
	size_t count = 0;

	fake_reset();
	group = make();
	fake_ioctl(PEERLANE_IOC_GROUP_INFO, 0, .fill = fill_list);
	CHECK_INT(peerlane_group_query(group, &status), 0);
	check_status(&status);
	fake_ioctl(PEERLANE_IOC_GROUP_LIST, 0, .fill = fill_list);
	CHECK_INT(peerlane_group_list(&list, &count), 0);
	CHECK_INT(count, 1);
	check_status(list);
	free(list);
	peerlane_group_close(group);
	fake_finish();
}

static void fill_lanes(void *arg)
{
	struct peerlane_list *list = arg;
	struct peerlane_lane_info *info = (void *)(uintptr_t)list->array_ptr;

	CHECK_INT(list->record_size, sizeof(*info));
	list->count = 1;
	*info = (struct peerlane_lane_info){
		.id = 1, .messages = 2, .bytes = 3, .replayed = 4, .delay_ns = 5,
		.aggregator = 6, .lane = 7, .state = PEERLANE_LANE_LEFT, .qpn = 8,
		.left_ns = 9, .cause = PEERLANE_LANE_CAUSE_PEER, .peer_qpn = 11,
	};
}

static void lanes(void)
{
	struct peerlane_lane_status *list = NULL;
	size_t count = 0;

	fake_reset();
	fake_ioctl(PEERLANE_IOC_GROUP_LANES, 0, .fill = fill_lanes);
	CHECK_INT(peerlane_lane_list(&list, &count), 0);
	CHECK_INT(count, 1);
	CHECK_INT(list->id, 1);
	CHECK_INT(list->messages, 2);
	CHECK_INT(list->bytes, 3);
	CHECK_INT(list->replayed, 4);
	CHECK_INT(list->delay_ns, 5);
	CHECK_INT(list->aggregator, 6);
	CHECK_INT(list->lane, 7);
	CHECK_INT(list->qpn, 8);
	CHECK_INT(list->left_ns, 9);
	CHECK_STR(peerlane_lane_cause_name(list->cause), "peer");
	CHECK_INT(list->peer_qpn, 11);
	CHECK_STR(peerlane_lane_state_name(list->state), "left");
	CHECK_STR(peerlane_lane_state_name(PEERLANE_LANE_LIVE), "live");
	CHECK_STR(peerlane_lane_state_name(PEERLANE_LANE_LEAVING), "leaving");
	free(list);
	fake_finish();
}

static void names(void)
{
	uint32_t i;

	for (i = 1; i <= 12; i++)
		CHECK_INT(peerlane_element_find(peerlane_element_name(i)), i);
	for (i = 1; i <= 8; i++)
		CHECK_INT(peerlane_combination_find(peerlane_combination_name(i)),
			  i);
	CHECK_INT(peerlane_element_find("unknown"), 0);
	CHECK_INT(peerlane_element_find(""), 0);
	CHECK_STR(peerlane_element_name(0), "unknown");
	CHECK_STR(peerlane_element_name(13), "unknown");
	CHECK_INT(peerlane_element_size(PEERLANE_BF16), 2);
	CHECK_INT(peerlane_element_size(PEERLANE_U64), 8);
	CHECK_INT(peerlane_element_size(0), 0);
	CHECK_INT(peerlane_element_size(UINT32_MAX), 0);
	CHECK_STR(peerlane_collective_name(PEERLANE_BARRIER), "barrier");
	CHECK_STR(peerlane_collective_name(7), "unknown");
	for (i = 0; i <= 4; i++)
		CHECK_INT(peerlane_place_find(peerlane_place_name(i)), i);
	CHECK_INT(peerlane_place_find("forest"), UINT32_MAX);
	CHECK_STR(peerlane_place_name(5), "unknown");
	CHECK_STR(peerlane_ending_name(0), "none");
	CHECK_STR(peerlane_ending_name(12), "unable");
	CHECK_STR(peerlane_ending_name(PEERLANE_ENDING_BLOCK), "block");
	CHECK_STR(peerlane_ending_name(14), "unknown");
	CHECK_STR(peerlane_group_state_name(5), "unknown");
}

static const struct tap_case cases[] = {
	TAP_CASE(create_by_default), TAP_CASE(create_with_all),
	TAP_CASE(options_that_are_wrong), TAP_CASE(create_refused),
	TAP_CASE(bind_region), TAP_CASE(join), TAP_CASE(join_refused),
	TAP_CASE(errors_have_names),
	TAP_CASE(lists), TAP_CASE(lanes), TAP_CASE(names),
};

int main(void)
{
	return TAP_RUN(cases);
}
