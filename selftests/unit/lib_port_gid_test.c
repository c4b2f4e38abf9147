// SPDX-License-Identifier: GPL-2.0
/* Addresses of RDMA ports. */
#include "lib_fake_tree.h"

#define PORT	"/sys/class/infiniband/mlx5_0/ports/1"

static void slot(const char *index, const char *gid, const char *type)
{
	char path[128];

	snprintf(path, sizeof(path), PORT "/gids/%s", index);
	tree_file(path, gid);
	snprintf(path, sizeof(path), PORT "/gid_attrs/types/%s", index);
	if (type)
		tree_file(path, type);
	else
		tree_broken(path);	/* an empty slot: EINVAL */
	snprintf(path, sizeof(path), PORT "/gid_attrs/ndevs/%s", index);
	if (type)
		tree_file(path, "eth2\n");
	else
		tree_broken(path);
}

static void begin(const char *link_layer)
{
	tree_begin();
	tree_file("/sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
	tree_files(PORT, "state", "4: ACTIVE\n", "link_layer", link_layer,
		   NULL);
}

static struct peerlane_gid_info *list(const char *device, uint32_t port,
				      size_t want)
{
	struct peerlane_gid_info *gids = NULL;
	size_t count = 99;

	CHECK_INT(peerlane_gid_list(device, port, &gids, &count), 0);
	CHECK_INT(count, want);
	if (count == want)
		return gids;
	free(gids);
	return NULL;
}

#define ZERO	"0000:0000:0000:0000:0000:0000:0000:0000\n"

static void sparse(void)
{
	struct peerlane_gid_info *gids;

	begin("Ethernet\n");
	slot("0", "fe80:0000:0000:0000:0e42:a1ff:fe00:0001\n", "IB/RoCE v1\n");
	slot("1", "fe80:0000:0000:0000:0e42:a1ff:fe00:0001\n", "RoCE v2\n");
	slot("2", ZERO, NULL);
	slot("3", "0000:0000:0000:0000:0000:ffff:0a4d:0001\n", "RoCE v2\n");
	slot("10", "2001:0db8:0000:0000:0000:0000:0000:0001\n", "RoCE v2\n");
	slot("11", "0000:0000:0000:0000:0000:ffff:a9fe:0102\n", "RoCE v2\n");
	slot("255", "fe80:0000:0000:0000:0000:0000:0000:0000\n", "RoCE v2\n");
	gids = list("mlx5_0", 1, 5);
	if (!gids)
		return;
	CHECK_INT(gids[0].type, PEERLANE_GID_ROCE_V1);
	CHECK(gids[0].link_local && !gids[0].ipv4);
	CHECK_STR(gids[0].address, "fe80::e42:a1ff:fe00:1");
	CHECK_INT(gids[1].type, PEERLANE_GID_ROCE_V2);
	CHECK_STR(gids[1].netdev, "eth2");
	CHECK_STR(gids[1].device, "mlx5_0");
	CHECK_INT(gids[1].port, 1);
	CHECK_INT(gids[2].index, 3);
	CHECK_STR(gids[2].address, "10.77.0.1");
	CHECK(gids[2].ipv4 && !gids[2].link_local);
	CHECK_INT(gids[2].raw[12], 10);
	CHECK_INT(gids[3].index, 10);
	CHECK_STR(gids[3].address, "2001:db8::1");
	CHECK(!gids[3].ipv4 && !gids[3].link_local);
	CHECK_STR(gids[4].address, "169.254.1.2");
	CHECK(gids[4].ipv4 && gids[4].link_local);
	free(gids);
	tree_end();
}

static void infiniband(void)
{
	struct peerlane_gid_info *gids;

	begin("InfiniBand\n");
	slot("0", "fe80:0000:0000:0000:506b:4b03:0077:0001\n", "IB/RoCE v1\n");
	gids = list("mlx5_0", 0, 1);
	if (gids)
		CHECK_INT(gids[0].type, PEERLANE_GID_IB);
	free(gids);
	tree_end();
}

/* What went between two reads, and what is no address */
static void odd_slots(void)
{
	struct peerlane_gid_info *gids;

	begin("Ethernet\n");
	tree_broken(PORT "/gids/0");
	tree_file(PORT "/gids/1", "not an address\n");
	tree_file(PORT "/gids/x", "2001:db8::1\n");
	tree_file(PORT "/gids/2", "2001:0db8::0007\n");
	tree_file(PORT "/gids/3", "");
	gids = list("mlx5_0", 1, 1);
	if (gids) {
		CHECK_INT(gids[0].type, PEERLANE_GID_UNKNOWN);
		CHECK_STR(gids[0].netdev, "");
		CHECK_STR(gids[0].address, "2001:db8::7");
	}
	free(gids);
	tree_end();
}

/* A device that is a link to nowhere hides no other. */
static void all_devices(void)
{
	struct peerlane_gid_info *gids;

	begin("Ethernet\n");
	tree_link("/sys/class/infiniband/a0", "../../nowhere");
	tree_file("/sys/class/infiniband/b0/node_type", "1: CA\n");
	slot("0", "2001:0db8::0007\n", "RoCE v2\n");
	gids = list(NULL, 0, 1);
	free(gids);
	tree_end();
}

static void none(void)
{
	struct peerlane_gid_info *gids = (void *)1;
	size_t count = 5;

	tree_begin();
	CHECK_INT(peerlane_gid_list(NULL, 0, &gids, &count), 0);
	CHECK(!gids && !count);
	tree_end();
}

static void no_such_port(void)
{
	static const char *const names[] = {
		"mlx5_7", "", ".", "..", "mlx5_0/ports", "../infiniband",
	};
	struct peerlane_gid_info *gids = (void *)1;
	size_t count = 5, i;

	begin("Ethernet\n");
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CHECK_INT(peerlane_gid_list(names[i], 0, &gids, &count),
			  -ENODEV);
		CHECK_HAS(peerlane_strerror(), "no RDMA device");
	}
	CHECK_INT(peerlane_gid_list("mlx5_0", 3, &gids, &count), -ENODEV);
	CHECK_HAS(peerlane_strerror(), "mlx5_0 has no port 3");
	CHECK(gids == (void *)1 && count == 5);
	tree_end();
}

static void words(void)
{
	CHECK_STR(peerlane_gid_type_name(PEERLANE_GID_ROCE_V2), "roce-v2");
	CHECK_STR(peerlane_gid_type_name(77), "unknown");
}

static const struct tap_case cases[] = {
	TAP_CASE(sparse), TAP_CASE(infiniband), TAP_CASE(odd_slots),
	TAP_CASE(all_devices), TAP_CASE(none), TAP_CASE(no_such_port),
	TAP_CASE(words),
};

int main(void)
{
	return TAP_RUN(cases);
}
