// SPDX-License-Identifier: GPL-2.0
/* peerlane doctor: link, MTU and addresses of a port. Pure. */
#include <string.h>

#include "doctor.h"

#define LINK_UP		5	/* phys_state */
#define ACTIVE		4	/* state */
/* Of the packet's payload, and what an interface needs for it */
#define MTU_BEST	4096
#define NETDEV_MTU_BEST	4200
#define HEADERS		96

const char *port_name(const struct facts_port *port)
{
	static char buffers[4][96];
	static unsigned int next;
	char *text = buffers[next++ % ARRAY_SIZE(buffers)];

	snprintf(text, sizeof(buffers[0]), "%.*s/%u",
		 (int)sizeof(port->info.device), port->info.device,
		 port->info.port);
	return text;
}

static const char *rate_text(uint64_t rate)
{
	static char buffers[4][32];
	static unsigned int next;
	char *text = buffers[next++ % ARRAY_SIZE(buffers)];

	snprintf(text, sizeof(buffers[0]), "%ju.%ju Gb/s",
		 (uintmax_t)(rate / 1000000000),
		 (uintmax_t)(rate / 100000000 % 10));
	return text;
}

static bool judge_read(const struct facts_port *port, struct findings *findings)
{
	struct finding *finding;

	if (!*port->info.reason)
		return true;
	finding = find(findings, "port-readable", SEVERITY_UNKNOWN,
		       port_name(port));
	say(finding, "the port cannot be read in full, as in a container without this device");
	seen(finding, "/sys/class/infiniband/%s: %s", port->info.device,
	     port->info.reason);
	remedy(finding, "run it on the host, or give the container /sys and the device");
	return port->info.port;
}

static void judge_state(const struct facts_port *port,
			struct findings *findings)
{
	const struct peerlane_port_info *info = &port->info;
	bool active = info->state == ACTIVE;
	struct finding *finding;

	finding = find(findings, "port-state", active ? SEVERITY_OK :
			SEVERITY_WARNING, port_name(port));
	say(finding, "the port is %s", peerlane_port_state_name(info->state));
	seen(finding, "/sys/class/infiniband/%s/ports/%u/state: %u, phys_state: %u",
	     info->device, info->port, info->state, info->phys_state);
	if (active)
		return;
	if (info->phys_state == LINK_UP && !strcmp(info->link_layer, "InfiniBand"))
		remedy(finding, "start a subnet manager on the fabric: opensm");
	else if (*info->netdev)
		remedy(finding, "ip link set dev %s up, then look at cable and switch",
		       info->netdev);
	else
		remedy(finding, "look at cable and switch");
}

static void judge_rate(const struct facts_port *port, struct findings *findings)
{
	const struct peerlane_port_info *info = &port->info;
	struct finding *finding;
	bool slow = info->rate && info->rate < info->rate_max;

	if (info->software)
		return;
	finding = find(findings, "link-rate", slow ? SEVERITY_WARNING :
			info->rate && info->rate_max ? SEVERITY_OK :
			SEVERITY_UNKNOWN, port_name(port));
	seen(finding, "/sys/class/infiniband/%s/ports/%u/rate: %s; ethtool %s: up to %s",
	     info->device, info->port, rate_text(info->rate), info->netdev,
	     info->rate_max ? rate_text(info->rate_max) : "not told");
	if (slow)
		remedy(finding, "ethtool %s: compare both ends' speeds, try another cable or transceiver",
		       info->netdev);
	if (!info->rate_max)
		say(finding, "the link runs at %s; what it is capable of is not told",
		    rate_text(info->rate));
	else
		say(finding, "the link runs at %s of %s", rate_text(info->rate),
		    rate_text(info->rate_max));
}

static void judge_width(const struct facts_port *port,
			struct findings *findings)
{
	const struct peerlane_port_info *info = &port->info;
	struct finding *finding;

	/* On Ethernet the number of lanes belongs to the speed. */
	if (strcmp(info->link_layer, "InfiniBand") || !info->width)
		return;
	finding = find(findings, "link-width", info->width < 4 ?
			SEVERITY_WARNING : SEVERITY_OK, port_name(port));
	say(finding, "the link has %u lane%s", info->width,
	    info->width == 1 ? "" : "s");
	seen(finding, "/sys/class/infiniband/%s/ports/%u/rate: %uX",
	     info->device, info->port, info->width);
	if (info->width < 4)
		remedy(finding, "ibdiagnet or iblinkinfo: look for the lane errors, change the cable");
}

static void judge_pci(const struct facts_port *port, struct findings *findings)
{
	const struct peerlane_port_info *info = &port->info;
	bool known = info->pci_width && info->pci_width_max &&
		info->pci_speed && info->pci_speed_max;
	bool slow = known && (info->pci_width < info->pci_width_max ||
			      info->pci_speed < info->pci_speed_max);
	struct finding *finding;

	/* Virtual functions have no link of their own. */
	if (info->software || !*info->pci)
		return;
	finding = find(findings, "pci-link", slow ? SEVERITY_WARNING :
			known ? SEVERITY_OK : SEVERITY_UNKNOWN,
			port_name(port));
	seen(finding, "/sys/bus/pci/devices/%s/{current,max}_link_{speed,width}",
	     info->pci);
	if (!known) {
		say(finding, "the PCI link of %s tells no speed", info->pci);
		return;
	}
	say(finding, "the PCI link of %s runs at %u.%u GT/s x%u of %u.%u GT/s x%u",
	    info->pci, info->pci_speed / 1000, info->pci_speed / 100 % 10,
	    info->pci_width, info->pci_speed_max / 1000,
	    info->pci_speed_max / 100 % 10, info->pci_width_max);
	if (slow)
		remedy(finding, "lspci -s %s -vv | grep LnkSta; move the card to a full slot, reseat it",
		       info->pci);
}

static void judge_iommu(const struct facts_port *port,
			struct findings *findings)
{
	const struct peerlane_port_info *info = &port->info;
	struct finding *finding;
	bool translated = !strncmp(info->iommu, "DMA", 3);

	if (info->software || !*info->pci)
		return;
	finding = find(findings, "iommu", translated ? SEVERITY_NOTE :
			SEVERITY_OK, port_name(port));
	seen(finding, "/sys/bus/pci/devices/%s/iommu_group/type: %s", info->pci,
	     *info->iommu ? info->iommu : "no group");
	if (translated) {
		say(finding, "the IOMMU translates what the NIC accesses: each access costs, and traffic between functions goes through the root complex");
		remedy(finding, "iommu=pt on the kernel's command line");
	} else {
		say(finding, "no IOMMU translates what the NIC accesses");
	}
}

/* What to do for bigger packets */
static void mtu_remedy(struct finding *finding, const struct facts_port *port)
{
	const struct peerlane_port_info *info = &port->info;

	if (info->transport != PEERLANE_TRANSPORT_ROCE)
		remedy(finding, "raise the MTU of the partition in the subnet manager");
	else if (info->netdev_mtu && info->netdev_mtu < MTU_BEST + HEADERS)
		remedy(finding, "ip link set dev %s mtu %d, and the same on switches and peers",
		       *info->netdev ? info->netdev : "NETDEV",
		       NETDEV_MTU_BEST);
}

static void judge_mtu(const struct facts_port *port, struct findings *findings)
{
	const struct peerlane_port_info *info = &port->info;
	uint32_t active = port->mtu_active ? port->mtu_active : info->mtu;
	uint32_t best = port->mtu_max ? port->mtu_max : MTU_BEST;
	struct finding *finding;
	enum severity severity = SEVERITY_OK;

	if (info->transport == PEERLANE_TRANSPORT_IWARP)
		return;		/* segments of TCP, whatever they are */
	if (!active)
		severity = SEVERITY_UNKNOWN;
	else if (active < best)
		severity = info->software ? SEVERITY_NOTE : SEVERITY_WARNING;
	finding = find(findings, "mtu", severity, port_name(port));
	if (active)
		say(finding, "packets carry %u bytes, %u would be possible",
		    active, best);
	else
		say(finding, "how much packets carry");
	seen(finding, "%s: %u; /sys/class/net/%s/mtu: %u (%u needs %u)",
	     port->mtu_active ? "ibv_devinfo active_mtu" : "by rule", active,
	     *info->netdev ? info->netdev : "?", info->netdev_mtu, MTU_BEST,
	     NETDEV_MTU_BEST);
	if (severity == SEVERITY_OK)
		say(finding, "packets carry %u bytes", active);
	else if (active)
		mtu_remedy(finding, port);
}

struct gid_counts {
	size_t v2;
	size_t routable;
	size_t ipv4;
};

static struct gid_counts count_gids(const struct facts_port *port)
{
	struct gid_counts counts = { 0 };

	for (size_t i = 0; i < port->gid_count; i++) {
		const struct peerlane_gid_info *gid = &port->gids[i];

		if (gid->type != PEERLANE_GID_ROCE_V2)
			continue;
		counts.v2++;
		counts.routable += !gid->link_local;
		counts.ipv4 += gid->ipv4 && !gid->link_local;
	}
	return counts;
}

static void judge_gid(const struct facts_port *port, struct findings *findings)
{
	const struct peerlane_port_info *info = &port->info;
	struct gid_counts counts = count_gids(port);
	const char *netdev = *info->netdev ? info->netdev : "NETDEV";
	struct finding *finding;

	if (info->transport != PEERLANE_TRANSPORT_ROCE)
		return;
	finding = find(findings, "gid", !counts.v2 ? SEVERITY_PROBLEM :
			counts.routable ? SEVERITY_OK : SEVERITY_WARNING,
			port_name(port));
	seen(finding, "/sys/class/infiniband/%s/ports/%u/gids: %zu in all, %zu of RoCE v2, %zu of those not link-local",
	     info->device, info->port, port->gid_count, counts.v2,
	     counts.routable);
	if (!counts.v2) {
		say(finding, "the port has no address for RoCE v2");
		remedy(finding, "ip address add ADDRESS/PREFIX dev %s; ip link set dev %s up",
		       netdev, netdev);
	} else if (!counts.routable) {
		say(finding, "all addresses of the port are link-local: no traffic through a router");
		remedy(finding, "ip address add ADDRESS/PREFIX dev %s",
		       netdev);
	} else {
		say(finding, "the port has RoCE v2 addresses%s", counts.ipv4 ?
		    "" : ", of IPv6 only");
	}
}

void judge_port(const struct facts_port *port, struct findings *findings)
{
	if (!judge_read(port, findings))
		return;
	judge_state(port, findings);
	if (port->info.state == ACTIVE) {
		judge_rate(port, findings);
		judge_width(port, findings);
		judge_mtu(port, findings);
	}
	judge_gid(port, findings);
	judge_pci(port, findings);
	judge_iommu(port, findings);
}
