// SPDX-License-Identifier: GPL-2.0
/* RDMA ports, on trees as drivers of many kinds have them. */
#include "lib_fake_tree.h"

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_netlink.h>

#include "port.h"

#define IB	"/sys/class/infiniband"
#define NET	"/sys/class/net"

/* One port as a NIC of RoCE has it; what differs is written over it. */
static void make_port(const char *device, const char *node_type,
		      const char *rate)
{
	char path[128];

	snprintf(path, sizeof(path), IB "/%s", device);
	tree_files(path, "node_type", node_type, "fw_ver", "28.39.1002\n",
		   "node_desc", "host1 mlx5_0\n", NULL);
	snprintf(path, sizeof(path), IB "/%s/ports/1", device);
	tree_files(path, "state", "4: ACTIVE\n", "phys_state", "5: LinkUp\n",
		   "link_layer", "Ethernet\n", "rate", rate,
		   "gid_attrs/ndevs/0", "eth2\n", NULL);
}

static void make_netdev(const char *name, const char *ifindex, const char *mtu)
{
	char path[128];

	snprintf(path, sizeof(path), NET "/%s", name);
	tree_files(path, "ifindex", ifindex, "mtu", mtu, "operstate", "up\n",
		   NULL);
}

static struct peerlane_port_info *list(size_t want)
{
	struct peerlane_port_info *ports = NULL;
	size_t count = 99;

	CHECK_INT(peerlane_port_list(&ports, &count), 0);
	CHECK_INT(count, want);
	CHECK_STR(peerlane_strerror(), "");
	return count == want ? ports : NULL;
}

static void no_rdma(void)
{
	struct peerlane_port_info *ports;

	tree_begin();
	ports = list(0);
	CHECK(!ports);
	tree_folder(IB);
	ports = list(0);
	CHECK(!ports);
	tree_end();
}

static void mlx5(void)
{
	struct peerlane_port_info *port;

	tree_begin();
	make_port("mlx5_0", "1: CA\n", "100 Gb/sec (4X EDR)\n");
	make_netdev("eth2", "7\n", "4200\n");
	tree_link(IB "/mlx5_0/device", "../../../dev/0000:41:00.0");
	tree_files("/sys/class/dev/0000:41:00.0", "current_link_speed",
		   "8.0 GT/s PCIe\n", "max_link_speed", "16.0 GT/s PCIe\n",
		   "current_link_width", "8\n", "max_link_width", "16\n",
		   "iommu_group/type", "DMA-FQ\n", NULL);
	tree_link("/sys/class/dev/0000:41:00.0/driver", "../mlx5_core");
	/* the link from the device's folder: class/infiniband/mlx5_0/device */
	tree_link("/sys/dev", "class/dev");
	tree.speed = 100000;
	tree.modes[0] = 12;
	tree.modes[1] = 38;
	tree.modes[2] = 85;	/* 400000baseKR4 */
	port = list(1);
	if (!port)
		return;
	CHECK_STR(port->device, "mlx5_0");
	CHECK_STR(port->driver, "mlx5_core");
	CHECK_STR(port->node_type, "CA");
	CHECK_STR(port->link_layer, "Ethernet");
	CHECK_STR(port->firmware, "28.39.1002");
	CHECK_STR(port->pci, "0000:41:00.0");
	CHECK_STR(port->iommu, "DMA-FQ");
	CHECK_STR(port->netdev, "eth2");
	CHECK_STR(port->reason, "");
	CHECK_INT(port->rate, 100000000000);
	CHECK_INT(port->rate_max, 400000000000);
	CHECK_INT(port->port, 1);
	CHECK_INT(port->state, 4);
	CHECK_INT(port->phys_state, 5);
	CHECK_INT(port->transport, PEERLANE_TRANSPORT_ROCE);
	CHECK_INT(port->width, 4);
	CHECK_INT(port->mtu, 4096);
	CHECK_INT(port->netdev_mtu, 4200);
	CHECK_INT(port->pci_speed, 8000);
	CHECK_INT(port->pci_speed_max, 16000);
	CHECK_INT(port->pci_width, 8);
	CHECK_INT(port->pci_width_max, 16);
	CHECK_INT(port->ifindex, 7);
	CHECK(!port->software);
	free(port);
	tree_end();
}

/* Virtual functions say "Unknown" and 255 or 0. */
static void no_pci_link(void)
{
	struct peerlane_port_info *port;

	tree_begin();
	make_port("bnxt_re0", "1: CA\n", "25 Gb/sec (1X EDR)\n");
	tree_files(IB "/bnxt_re0/device", "current_link_speed", "Unknown\n",
		   "max_link_speed", "Unknown speed\n", "current_link_width",
		   "0\n", "max_link_width", "255\n", NULL);
	port = list(1);
	if (port)
		CHECK_INT(port->pci_speed + port->pci_speed_max +
			  port->pci_width + port->pci_width_max, 0);
	free(port);
	tree_end();
}

static void software(void)
{
	struct peerlane_port_info *ports;

	tree_begin();
	make_port("rxe0", "1: CA\n", "2.5 Gb/sec (1X SDR)\n");
	tree_files(IB "/rxe0", "node_desc", "renamed by a daemon\n", "parent",
		   "eth2\n", "fw_ver", "\n", NULL);
	make_port("rxe1", "1: CA\n", "2.5 Gb/sec (1X SDR)\n");
	tree_file(IB "/rxe1/node_desc", "rxe\n");
	make_port("siw0", "4: RNIC\n", "10 Gb/sec (4X)\n");
	tree_file(IB "/siw0/node_desc", "Software iWARP stack\n");
	/* older siw has the NIC below it as its parent */
	tree_file(IB "/siw0/device/max_link_width", "16\n");
	make_netdev("eth2", "7\n", "1500\n");
	ports = list(3);
	if (!ports)
		return;
	CHECK_STR(ports[0].driver, "rdma_rxe");
	CHECK(ports[0].software);
	CHECK_INT(ports[0].rate, 2500000000);
	CHECK_INT(ports[0].mtu, 1024);
	CHECK_INT(ports[0].transport, PEERLANE_TRANSPORT_ROCE);
	CHECK(ports[1].software);
	CHECK_STR(ports[2].driver, "siw");
	CHECK(ports[2].software);
	CHECK_INT(ports[2].transport, PEERLANE_TRANSPORT_IWARP);
	CHECK_INT(ports[2].pci_width_max, 0);
	CHECK_INT(ports[2].mtu, 1500);
	free(ports);
	tree_end();
}

static void iwarp_and_infiniband(void)
{
	struct peerlane_port_info *ports;

	tree_begin();
	make_port("irdma0", "4: RNIC\n", "25 Gb/sec (1X EDR)\n");
	make_port("ibp1", "1: CA\n", "56 Gb/sec (4X FDR)\n");
	tree_file(IB "/ibp1/ports/1/link_layer", "InfiniBand\n");
	make_port("usnic_0", "6: usNIC UDP\n", "10 Gb/sec (1X)\n");
	ports = list(3);
	if (!ports)
		return;
	CHECK_INT(ports[0].transport, PEERLANE_TRANSPORT_IB);
	CHECK_INT(ports[0].rate, 56000000000);
	CHECK_INT(ports[0].mtu, 0);
	CHECK_INT(ports[1].transport, PEERLANE_TRANSPORT_IWARP);
	CHECK(!ports[1].software);
	CHECK_INT(ports[2].transport, PEERLANE_TRANSPORT_OTHER);
	free(ports);
	tree_end();
}

/* A device whose link leads nowhere, and one whose files fail */
static void bad_devices_hide_no_others(void)
{
	struct peerlane_port_info *ports;

	tree_begin();
	tree_link(IB "/mlx5_0", "../../devices/pci0000:00/infiniband/mlx5_0");
	make_port("mlx5_1", "1: CA\n", "100 Gb/sec (4X EDR)\n");
	make_port("mlx5_2", "1: CA\n", "");
	tree_file(IB "/mlx5_2/ports/1/rate", "garbage\n");
	tree_file(IB "/mlx5_2/ports/1/state", "what?\n");
	tree_folder(IB "/mlx5_3/ports/1");
	tree_broken(IB "/mlx5_3/ports/1/state");
	tree_folder(IB "/mlx5_4/ports");
	ports = list(5);
	if (!ports)
		return;
	CHECK_STR(ports[0].device, "mlx5_0");
	CHECK_INT(ports[0].port, 0);
	CHECK_STR(ports[0].reason, "ports: ENOENT");
	CHECK_STR(ports[1].reason, "");
	CHECK_INT(ports[1].state, 4);
	CHECK_INT(ports[2].rate, 0);
	CHECK_INT(ports[2].state, 0);
	CHECK_STR(ports[3].reason, "state: EISDIR");
	CHECK_INT(ports[3].port, 1);
	CHECK_STR(ports[4].reason, "ports: ENODATA");
	free(ports);
	tree_end();
}

static void ports_in_order(void)
{
	struct peerlane_port_info *ports;
	size_t i;

	tree_begin();
	tree_files(IB "/mlx4_0/ports", "10/state", "1: DOWN\n", "2/state",
		   "1: DOWN\n", "1/state", "1: DOWN\n", "power/state", "0\n",
		   "0/state", "1: DOWN\n", NULL);
	ports = list(3);
	if (!ports)
		return;
	for (i = 0; i < 3; i++)
		CHECK_INT(ports[i].port, i == 2 ? 10 : i + 1);
	free(ports);
	tree_end();
}

/* A name in the table of addresses that means nothing in this namespace */
static void interface_elsewhere(void)
{
	struct peerlane_port_info *port;

	tree_begin();
	make_port("mlx5_0", "1: CA\n", "100 Gb/sec (4X EDR)\n");
	port = list(1);
	if (port) {
		CHECK_STR(port->netdev, "eth2");
		CHECK_INT(port->ifindex, 0);
		CHECK_INT(port->mtu, 0);
	}
	free(port);
	tree_end();
}

/* ---- with rdma netlink ------------------------------------------------------ */

#define TYPE(command)	RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command)

static void devices(void)
{
	net_begin();
	net_message_raw(TYPE(RDMA_NLDEV_CMD_GET), NLM_F_MULTI);
	net_put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 4);
	net_put_text(RDMA_NLDEV_ATTR_DEV_NAME, "odd0");
	net_put_text(RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
	net_end();
	net_done(0);
}

static uint32_t driver_id;

static void chardev(void)
{
	net_begin();
	net_message_raw(TYPE(RDMA_NLDEV_CMD_GET_CHARDEV), 0);
	net_put_u32(RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, driver_id);
	net_end();
	net_ack();
}

static void no_chardev(void) { net_error(ENOTSUP, NULL); }

static void port_get(void)
{
	net_begin();
	net_message_raw(TYPE(RDMA_NLDEV_CMD_PORT_GET), 0);
	net_put_u32(RDMA_NLDEV_ATTR_NDEV_INDEX, 7);
	net_put_text(RDMA_NLDEV_ATTR_NDEV_NAME, "eth9");
	net_end();
	net_ack();
}

static void port_without_netdev(void)
{
	net_begin();
	net_message_raw(TYPE(RDMA_NLDEV_CMD_PORT_GET), 0);
	net_end();
	net_ack();
}

static struct peerlane_port_info *ask(void (*driver)(void), void (*get)(void))
{
	net.socket_errno = 0;
	make_port("odd0", "1: CA\n", "10 Gb/sec (4X)\n");
	make_netdev("eth9", "7\n", "9000\n");
	make_netdev("eth2", "2\n", "1500\n");
	net_expect_raw(TYPE(RDMA_NLDEV_CMD_GET), devices);
	net_expect_raw(TYPE(RDMA_NLDEV_CMD_GET_CHARDEV), driver);
	net_expect_raw(TYPE(RDMA_NLDEV_CMD_PORT_GET), get);
	return list(1);
}

static void core_says_driver_and_interface(void)
{
	struct peerlane_port_info *port;

	tree_begin();
	driver_id = RDMA_DRIVER_RXE;
	port = ask(chardev, port_get);
	if (port) {
		CHECK(port->software);
		CHECK_STR(port->driver, "rdma_rxe");
		CHECK_STR(port->netdev, "eth9");
		CHECK_INT(port->ifindex, 7);
		CHECK_INT(port->mtu, 4096);
	}
	free(port);
	tree_end();
}

/* That it is named like rxe, or has a parent, makes no NIC software. */
static void core_says_hardware(void)
{
	struct peerlane_port_info *port;

	tree_begin();
	driver_id = RDMA_DRIVER_MLX5;
	tree_file(IB "/odd0/parent", "eth2\n");
	port = ask(chardev, port_without_netdev);
	if (port) {
		CHECK(!port->software);
		/* the interface is not in this namespace, though one is called so */
		CHECK_STR(port->netdev, "eth2");
		CHECK_INT(port->ifindex, 0);
	}
	free(port);
	tree_end();
}

static void core_says_little(void)
{
	struct peerlane_port_info *port;

	tree_begin();
	tree_file(IB "/odd0/parent", "eth2\n");
	port = ask(no_chardev, no_chardev);
	if (port)
		CHECK(port->software);
	free(port);
	tree_end();
}

static void rates(void)
{
	static const struct {
		const char *text;
		uint64_t rate;
		uint32_t width;
	} cases[] = {
		{ "400 Gb/sec (4X NDR)", 400000000000, 4 },
		{ "2.5 Gb/sec (1X SDR)", 2500000000, 1 },
		{ "800 Gb/sec (8X NDR)", 800000000000, 8 },
		{ "0 Gb/sec (0X)", 0, 0 },
		{ "10 Gb/sec", 10000000000, 0 },
		{ "", 0, 0 }, { "x", 0, 0 }, { "(4X", 0, 0 },
	};
	uint32_t width;
	uint64_t rate;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rate = width = 0;
		pl_parse_rate(cases[i].text, &rate, &width);
		CHECK_INT(rate, cases[i].rate);
		CHECK_INT(width, cases[i].width);
	}
}

static void members(void)
{
	struct peerlane_netdev_info *found = NULL;
	size_t count;

	tree_begin();
	make_netdev("bond0", "9\n", "9000\n");
	make_netdev("eth0", "2\n", "9000\n");
	make_netdev("eth1", "3\n", "9000\n");
	tree_file(NET "/bond0/bonding/slaves", "eth0 gone0 eth1\n");
	CHECK_INT(peerlane_netdev_members("bond0", &found, &count), 0);
	CHECK_INT(count, 2);
	CHECK_STR(found[0].name, "eth0");
	CHECK_STR(found[1].name, "eth1");
	CHECK(found[1].up);
	free(found);
	tree_file(NET "/bond0/bonding/slaves", "\n");
	CHECK_INT(peerlane_netdev_members("bond0", &found, &count), 0);
	CHECK_INT(count, 1);
	CHECK_STR(found[0].name, "bond0");
	free(found);
	CHECK_INT(peerlane_netdev_members("eth7", &found, &count), -ENODEV);
	CHECK_HAS(peerlane_strerror(), "no network interface eth7");
	CHECK_INT(peerlane_netdev_members("../x", &found, &count), -ENODEV);
	CHECK_INT(peerlane_netdev_members("", &found, &count), -ENODEV);
	tree_end();
}

static void words(void)
{
	CHECK_STR(peerlane_transport_name(PEERLANE_TRANSPORT_ROCE), "roce");
	CHECK_STR(peerlane_transport_name(99), "unknown");
	CHECK_STR(peerlane_port_state_name(4), "active");
	CHECK_STR(peerlane_port_state_name(99), "unknown");
}

static const struct tap_case cases[] = {
	TAP_CASE(no_rdma), TAP_CASE(mlx5), TAP_CASE(no_pci_link),
	TAP_CASE(software), TAP_CASE(iwarp_and_infiniband),
	TAP_CASE(bad_devices_hide_no_others), TAP_CASE(ports_in_order),
	TAP_CASE(interface_elsewhere),
	TAP_CASE(core_says_driver_and_interface),
	TAP_CASE(core_says_hardware), TAP_CASE(core_says_little),
	TAP_CASE(rates), TAP_CASE(members), TAP_CASE(words),
};

int main(void)
{
	return TAP_RUN(cases);
}
