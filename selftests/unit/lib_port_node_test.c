// SPDX-License-Identifier: GPL-2.0
/* What a node lets RDMA programs do; packet sizes by verbs that are not there. */
#include "lib_fake_tree.h"

#include <rdma/rdma_netlink.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#define SYS_GET	RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET)

static struct peerlane_node_info query(void)
{
	struct peerlane_node_info info;

	memset(&info, 0xee, sizeof(info));
	CHECK_INT(peerlane_node_query(&info), 0);
	CHECK_STR(peerlane_strerror(), "");
	return info;
}

static void config(const char *format, const char *text)
{
	struct utsname name;
	char path[200];

	uname(&name);
	snprintf(path, sizeof(path), format, name.release);
	tree_file(path, text);
}

static void bare(void)
{
	struct peerlane_node_info info;

	tree_begin();
	info = query();
	CHECK_STR(info.config, "");
	CHECK_INT(info.p2pdma, 0);
	CHECK_INT(info.dcb, 0);
	CHECK(!info.module && !info.rdma);
	CHECK_INT(info.rdma_shared, -1);
	CHECK(*info.kernel);
	tree_end();
}

static void configured(void)
{
	struct peerlane_node_info info;

	tree_begin();
	config("/boot/config-%s",
	       "# CONFIG_ZONE_DEVICE_NOT is not set\n"
	       "CONFIG_PCI_P2PDMA=y\nCONFIG_DCB=m\n"
	       "# CONFIG_NETFILTER_INGRESS is not set\n"
	       "CONFIG_ZONE_DEVICE_MORE=y\nCONFIG_DMA_SHARED_BUFFER=y\n");
	tree_folder("/sys/module/peerlane");
	tree_folder("/sys/module/ib_core");
	info = query();
	CHECK_HAS(info.config, "/boot/config-");
	CHECK_INT(info.p2pdma, 'y');
	CHECK_INT(info.dcb, 'm');
	CHECK_INT(info.ingress, 'n');
	CHECK_INT(info.device_pages, 'n');
	CHECK_INT(info.dmabuf, 'y');
	CHECK(info.module && info.rdma);
	tree_end();
}

static void other_place(void)
{
	struct peerlane_node_info info;

	tree_begin();
	config("/lib/modules/%s/config", "CONFIG_DCB=y\n");
	info = query();
	CHECK_HAS(info.config, "/lib/modules/");
	CHECK_INT(info.dcb, 'y');
	CHECK_INT(info.p2pdma, 'n');
	tree_end();
}

static uint8_t shared;

static void system_get(void)
{
	net_begin();
	net_message_raw(SYS_GET, 0);
	net_put_u8(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, shared);
	net_end();
	net_ack();
}

static void namespaces(void)
{
	tree_begin();
	net.socket_errno = 0;
	for (shared = 0; shared < 2; shared++) {
		net_expect_raw(SYS_GET, system_get);
		CHECK_INT(query().rdma_shared, shared);
	}
	tree_end();
}

static void limits(void)
{
	struct rlimit old, limit;

	tree_begin();
	getrlimit(RLIMIT_MEMLOCK, &old);
	limit = old;
	limit.rlim_cur = 65536;
	setrlimit(RLIMIT_MEMLOCK, &limit);
	CHECK_INT(query().memlock, 65536);
	setrlimit(RLIMIT_MEMLOCK, &old);
	tree_end();
}

static void no_verbs(void)
{
	uint32_t active = 5, max = 6;

	tree_begin();
	fake.no_library = "libibverbs.so.1";
	CHECK_INT(peerlane_port_mtu("mlx5_0", 1, &active, &max), -ENOSYS);
	CHECK_HAS(peerlane_strerror(), "libibverbs.so.1");
	CHECK_INT(peerlane_port_mtu("mlx5_0", 0, &active, &max), -ENODEV);
	CHECK_INT(peerlane_port_mtu("mlx5_0", 256, &active, &max), -ENODEV);
	CHECK(active == 5 && max == 6);
	tree_end();
}

static const struct tap_case cases[] = {
	TAP_CASE(bare), TAP_CASE(configured), TAP_CASE(other_place),
	TAP_CASE(namespaces), TAP_CASE(limits), TAP_CASE(no_verbs),
};

int main(void)
{
	return TAP_RUN(cases);
}
