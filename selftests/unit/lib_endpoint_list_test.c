// SPDX-License-Identifier: GPL-2.0
/* Endpoints of this node. */
#include "lib_fake.h"

#include <netinet/in.h>

#include "endpoint.h"

static void fill(struct peerlane_endpoint_record *record)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(80) };

	*record = (struct peerlane_endpoint_record){
		.id = 1, .bytes_put = 2, .bytes_get = 3, .ops_done = 4,
		.ops_failed = 5, .uid = 6, .pid = 7, .state = 4, .status = -9,
		.lanes = 10, .depth = 11, .outstanding = 12, .slots = 13,
		.exposed = 14, .granted = 15, .keys = 16, .path = 2,
		.comm = "train", .rdma_device = "rxe0", .label = "l",
	};
	memcpy(record->local, &in, sizeof(in));
	/* not terminated */
	memset(record->reason, 'r', sizeof(record->reason));
}

static uint32_t count;

static void fill_list(void *arg)
{
	struct peerlane_list *list = arg;

	CHECK_INT(list->record_size, sizeof(struct peerlane_endpoint_record));
	if (count)
		fill((void *)(uintptr_t)list->array_ptr);
	list->count = count;
}

static void check_info(const struct peerlane_endpoint_info *info)
{
	CHECK_INT(info->id, 1);
	CHECK_INT(info->bytes_put, 2);
	CHECK_INT(info->bytes_get, 3);
	CHECK_INT(info->ops_done, 4);
	CHECK_INT(info->ops_failed, 5);
	CHECK_INT(info->uid, 6);
	CHECK_INT(info->pid, 7);
	CHECK_STR(peerlane_endpoint_state_name(info->state), "closed");
	CHECK_INT(info->status, -9);
	CHECK_INT(info->lanes, 10);
	CHECK_INT(info->depth, 11);
	CHECK_INT(info->outstanding, 12);
	CHECK_INT(info->slots, 13);
	CHECK_INT(info->exposed, 14);
	CHECK_INT(info->granted, 15);
	CHECK_INT(info->keys, 16);
	CHECK_STR(peerlane_path_name(info->path), "root-port");
	CHECK_STR(info->comm, "train");
	CHECK_STR(info->local, "0.0.0.0:80");
	CHECK_STR(info->peer, "");
	CHECK_STR(info->rdma_device, "rxe0");
	CHECK_STR(info->label, "l");
	CHECK_INT(strlen(info->reason), sizeof(info->reason) - 1);
}

static void list(void)
{
	struct peerlane_endpoint_info *infos;
	size_t n;

	fake_reset();
	count = 1;
	fake_ioctl(PEERLANE_IOC_ENDPOINT_LIST, sizeof(struct peerlane_list),
		   .fill = fill_list);
	CHECK_INT(peerlane_endpoint_list(&infos, &n), 0);
	CHECK_INT(n, 1);
	check_info(infos);
	free(infos);
	fake_finish();
}

static void list_of_none(void)
{
	struct peerlane_endpoint_info *infos = (void *)1;
	size_t n;

	fake_reset();
	count = 0;
	fake_ioctl(PEERLANE_IOC_ENDPOINT_LIST, 0, .fill = fill_list);
	CHECK_INT(peerlane_endpoint_list(&infos, &n), 0);
	CHECK_INT(n, 0);
	CHECK(!infos);
	fake_finish();
}

static void list_refused(void)
{
	struct peerlane_endpoint_info *infos = (void *)1;
	size_t n = 5;

	fake_reset();
	fake.control_errno = ENOENT;
	CHECK_INT(peerlane_endpoint_list(&infos, &n), -ENOENT);
	fake.control_errno = 0;
	count = 1;
	fake_ioctl(PEERLANE_IOC_ENDPOINT_LIST, 0, .fill = fill_list);
	fake.calloc_fail = 2;
	CHECK_INT(peerlane_endpoint_list(&infos, &n), -ENOMEM);
	CHECK(infos == (void *)1);
	CHECK_INT(n, 5);
	fake_finish();
}

static void query(void)
{
	struct peerlane_endpoint *endpoint;
	struct peerlane_endpoint_info info;

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	count = 1;
	fake_ioctl(PEERLANE_IOC_ENDPOINT_INFO, sizeof(struct peerlane_list),
		   .fill = fill_list);
	CHECK_INT(peerlane_endpoint_query(endpoint, &info), 0);
	check_info(&info);
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static void query_of_a_kernel_that_is_wrong(void)
{
	struct peerlane_endpoint *endpoint;
	struct peerlane_endpoint_info info = { .id = 8 };

	fake_reset();
	endpoint = fake_endpoint(fake_file(0));
	count = 0;
	fake_ioctl(PEERLANE_IOC_ENDPOINT_INFO, 0, .fill = fill_list);
	CHECK_INT(peerlane_endpoint_query(endpoint, &info), -EPROTO);
	CHECK_INT(info.id, 8);
	peerlane_endpoint_close(endpoint);
	fake_finish();
}

static void state_names(void)
{
	CHECK_STR(peerlane_endpoint_state_name(0), "new");
	CHECK_STR(peerlane_endpoint_state_name(3), "connected");
	CHECK_STR(peerlane_endpoint_state_name(5), "unknown");
}

static const struct tap_case cases[] = {
	TAP_CASE(list), TAP_CASE(list_of_none), TAP_CASE(list_refused),
	TAP_CASE(query), TAP_CASE(query_of_a_kernel_that_is_wrong),
	TAP_CASE(state_names),
};

int main(void)
{
	return TAP_RUN(cases);
}
