// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA ports with canned answers: one NIC in good health, or with what the
 * scene in $FAKE says.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

static const struct peerlane_port_info nic = {
	.device = "mlx5_0", .driver = "mlx5_core", .node_type = "CA",
	.link_layer = "Ethernet", .firmware = "28.39.1002",
	.pci = "0000:41:00.0", .iommu = "identity", .netdev = "eth2",
	.rate = 100000000000, .rate_max = 100000000000, .port = 1, .state = 4,
	.phys_state = 5, .transport = PEERLANE_TRANSPORT_ROCE, .width = 4,
	.mtu = 4096, .netdev_mtu = 4200, .pci_speed = 16000,
	.pci_speed_max = 16000, .pci_width = 16, .pci_width_max = 16,
	.ifindex = 5,
};

static const struct peerlane_port_info rxe = {
	.device = "rxe0", .driver = "rdma_rxe", .node_type = "CA",
	.link_layer = "Ethernet", .netdev = "veth0", .rate = 2500000000,
	.port = 1, .state = 4, .phys_state = 5,
	.transport = PEERLANE_TRANSPORT_ROCE, .width = 1, .mtu = 1024,
	.netdev_mtu = 1500, .ifindex = 3, .software = true,
};

static void make_slow(struct peerlane_port_info *port)
{
	port->rate = 25000000000;
	port->mtu = 1024;
	port->netdev_mtu = 1500;
	port->pci_speed = 8000;
	port->pci_width = 8;
	strcpy(port->iommu, "DMA-FQ");
}

static void make_infiniband(struct peerlane_port_info *port)
{
	strcpy(port->link_layer, "InfiniBand");
	port->transport = PEERLANE_TRANSPORT_IB;
	port->netdev[0] = '\0';
	port->ifindex = 0;
	port->width = 1;
	port->rate_max = 0;
	port->state = 2;
}

int peerlane_port_list(struct peerlane_port_info **list, size_t *count)
{
	struct peerlane_port_info ports[2] = { nic, nic };
	size_t number = 1;

	if (scene("denied"))
		return refuse(EACCES, "/sys/class/infiniband: Permission denied (EACCES)");
	if (scene("empty") || scene("bare"))
		number = 0;
	if (scene("slow"))
		make_slow(&ports[0]);
	if (scene("infiniband"))
		make_infiniband(&ports[0]);
	if (scene("software"))
		ports[0] = rxe;
	if (scene("marked"))	/* the fake path ends in its kind */
		strcpy(ports[0].pci, "0000:41:00.3");
	if (scene("container")) {
		memset(&ports[0], 0, sizeof(ports[0]));
		strcpy(ports[0].device, "mlx5_0");
		strcpy(ports[0].reason, "ports: ENOENT");
	}
	if (scene("other-netns"))
		ports[0].ifindex = 0;
	if (scene("hostile")) {
		strcpy(ports[0].device, "m\033[2Jlx\n");
		strcpy(ports[0].netdev, "e\007th");
	}
	if (scene("two")) {
		strcpy(ports[1].device, "mlx5_1");
		ports[1].state = 1;
		ports[1].phys_state = 3;
		number = 2;
	}
	return copy_out(list, count, ports, sizeof(ports[0]), number);
}

int peerlane_port_mtu(const char *device, uint32_t port, uint32_t *active,
		      uint32_t *max)
{
	(void)device;
	(void)port;
	if (scene("no-verbs"))
		return refuse(ENOSYS, "libibverbs.so.1 is not installed (ENOSYS)");
	*active = scene("slow") || scene("software") ? 1024 : 4096;
	*max = 4096;
	return 0;
}

int peerlane_gid_list(const char *device, uint32_t port,
		      struct peerlane_gid_info **list, size_t *count)
{
	struct peerlane_gid_info gids[] = {
		{ .address = "fe80::1", .netdev = "eth2", .index = 1,
		  .type = PEERLANE_GID_ROCE_V2, .link_local = true },
		{ .address = "10.0.0.1", .netdev = "eth2", .index = 3,
		  .type = PEERLANE_GID_ROCE_V2, .ipv4 = true },
	};

	(void)device;
	(void)port;
	if (scene("ipv6-only")) {
		gids[1].ipv4 = false;
		strcpy(gids[1].address, "2001:db8::1");
	}
	if (scene("roce-v1"))
		gids[0].type = gids[1].type = PEERLANE_GID_ROCE_V1;
	return copy_out(list, count, gids, sizeof(gids[0]),
			scene("link-local") ? 1 : 2);
}

static struct peerlane_port_counter counter(const char *name, uint64_t value)
{
	struct peerlane_port_counter made = { .value = value, .valid = true };

	strcpy(made.name, name);
	strcpy(made.common, name);
	return made;
}

int peerlane_port_counters(const char *device, uint32_t port,
			   struct peerlane_port_counter **list, size_t *count)
{
	static unsigned int calls;
	uint64_t growing = scene("losing") ? 100 + 100 * calls++ : 0;
	uint64_t past = scene("past") ? 5057 : 0;
	struct peerlane_port_counter counters[] = {
		counter("cnp_sent", past + growing),
		counter("ecn_marked", past),
		counter("out_of_sequence", past + growing),
		counter("packet_seq_err", past),
		counter("local_ack_timeout", past + growing),
		counter("rnr_nak", past + growing),
		counter("sent_pkts", 1),
		counter("unreadable", 7),
	};
	size_t number = sizeof(counters) / sizeof(counters[0]);

	(void)device;
	(void)port;
	counters[number - 1].valid = false;
	if (scene("cleared"))
		counters[2].value = calls++ ? 0 : 1000;
	if (scene("no-counters"))
		number = 0;
	return copy_out(list, count, counters, sizeof(counters[0]), number);
}

int peerlane_netdev_members(const char *netdev,
			    struct peerlane_netdev_info **list, size_t *count)
{
	struct peerlane_netdev_info devices[2] = { 0 };

	snprintf(devices[0].name, sizeof(devices[0].name), "%s",
		 scene("bond") ? "eth2" : netdev);
	snprintf(devices[1].name, sizeof(devices[1].name), "eth3");
	return copy_out(list, count, devices, sizeof(devices[0]),
			scene("bond") ? 2 : 1);
}

static void healthy_dcb(struct peerlane_dcb_info *info)
{
	memset(info, 0, sizeof(*info));
	memset(info->dscp_prio, -1, sizeof(info->dscp_prio));
	info->have_pfc = info->have_ets = info->have_dscp = true;
	info->pfc_enabled = 1 << 3;
	info->pfc_max = 8;
	info->trust = PEERLANE_TRUST_DSCP;
	info->dscp_prio[26] = 3;
	info->default_prio = -1;
	for (uint8_t i = 0; i < PEERLANE_PRIORITIES; i++) {
		info->prio_tc[i] = i;
		info->tc_tsa[i] = 2;
		info->tc_bandwidth[i] = i < 4 ? 13 : 12;
	}
}

int peerlane_dcb_query(const char *netdev, struct peerlane_dcb_info *info)
{
	if (scene("no-dcb"))
		return refuse(EOPNOTSUPP, "eth2: driver mana or the kernel has no DCB (EOPNOTSUPP)");
	healthy_dcb(info);
	if (scene("pfc-off") || scene("global-pause") ||
	    (scene("bond") && !strcmp(netdev, "eth3")))
		info->pfc_enabled = 0;
	if (scene("pfc-wrong"))
		info->pfc_enabled = 1 << 4;
	if (scene("pfc-many"))
		info->pfc_enabled = 0xff;
	if (scene("pcp"))
		info->trust = PEERLANE_TRUST_PCP;
	if (scene("old-kernel")) {
		info->trust = PEERLANE_TRUST_UNKNOWN;
		info->have_dscp = false;
		info->dscp_prio[26] = -1;
	}
	if (scene("unmapped")) {
		info->dscp_prio[26] = -1;
		info->dscp_prio[46] = 5;
	}
	if (scene("one-class"))
		memset(info->prio_tc, 0, sizeof(info->prio_tc));
	if (scene("starved"))
		info->tc_bandwidth[3] = 0;
	if (scene("strict"))
		info->tc_tsa[3] = 0;
	return 0;
}

/* Each call is one sample later. */
int peerlane_pause_query(const char *netdev, struct peerlane_pause_info *info)
{
	static unsigned int calls;
	uint64_t at = calls++;

	(void)netdev;
	memset(info, 0, sizeof(*info));
	info->have_param = true;
	info->rx = info->tx = scene("global-pause");
	info->rx_have = info->tx_have = info->usec_have = 1 << 3;
	if (scene("storm")) {
		info->rx_frames[3] = 1000 * at;
		info->rx_usec[3] = 500000 * at;
	}
	if (scene("storm-no-time")) {
		info->usec_have = 0;
		info->rx_frames[3] = 100000 * at;
	}
	if (scene("pausing"))
		info->tx_frames[3] = 100000 * at;
	if (scene("pfc-off") || (scene("vanish") && at))
		info->rx_have = info->tx_have = info->usec_have = 0;
	return 0;
}

int peerlane_node_query(struct peerlane_node_info *info)
{
	memset(info, 0, sizeof(*info));
	strcpy(info->kernel, "6.12.0");
	info->memlock = info->memlock_max = UINT64_MAX;
	info->module = info->rdma = true;
	info->rdma_shared = scene("other-netns") ? 0 : 1;
	if (scene("bare")) {
		info->memlock = 8388608;
		info->module = info->rdma = false;
		info->rdma_shared = -1;
		return 0;
	}
	strcpy(info->config, "/boot/config-6.12.0");
	info->p2pdma = info->dmabuf = info->device_pages = info->ingress = 'y';
	info->dcb = 'y';
	if (scene("small-kernel")) {
		info->p2pdma = info->dmabuf = info->device_pages = 'n';
		info->ingress = info->dcb = 'n';
	}
	return 0;
}

const char *peerlane_port_state_name(uint32_t state)
{
	static const char *const names[] = {
		"nop", "down", "init", "armed", "active", "defer"
	};

	return name_of(names, 6, state);
}
