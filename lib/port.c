// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* RDMA ports of this node, from sysfs and rdma netlink. */
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ethtool.h"
#include "nldev.h"
#include "port.h"


/**
 * struct ports - the list while it grows
 * @socket: to RDMA core, or NULL
 * @devices: what RDMA core knows
 * @device_count: of them
 * @list: found so far
 * @count: of them
 */
struct ports {
	struct nl_sock *socket;
	struct pl_nldev *devices;
	size_t device_count;
	struct peerlane_port_info *list;
	size_t count;
};

/* Keep the first thing that could not be read. */
static void note_reason(struct peerlane_port_info *port, int err,
			const char *attr)
{
	const char *name = pl_errno_name(-err);

	if (!port->reason[0])
		snprintf(port->reason, sizeof(port->reason), "%s: %s", attr,
			 name ? name : "cannot be read");
}

/* "4: ACTIVE", "1: CA": the number, and where the word begins */
static const char *numbered(const char *text, uint32_t *number)
{
	const char *word = strchr(text, ':');

	*number = (uint32_t)strtoul(text, NULL, 10);
	if (!word)
		return text;
	return word + 1 + strspn(word + 1, " ");
}

static uint32_t number_attr(struct peerlane_port_info *port, const char *attr)
{
	uint32_t number = 0;
	char text[64];
	int ret;

	ret = pl_attr_text(text, sizeof(text), PL_RDMA "/%s/ports/%u/%s",
			   port->device, port->port, attr);
	if (ret)
		note_reason(port, ret, attr);
	else
		numbered(text, &number);
	return number;
}

/* "100 Gb/sec (4X EDR)", "2.5 Gb/sec (1X SDR)" */
void pl_parse_rate(const char *text, uint64_t *rate, uint32_t *width)
{
	const char *lanes = strchr(text, '(');
	unsigned int whole = 0, tenths = 0;

	if (sscanf(text, "%u.%1u", &whole, &tenths) < 1)
		return;
	*rate = whole * UINT64_C(1000000000) + tenths * UINT64_C(100000000);
	if (lanes)
		*width = (uint32_t)strtoul(lanes + 1, NULL, 10);
}

static void read_rate(struct peerlane_port_info *port)
{
	char text[64];
	int ret;

	ret = pl_attr_text(text, sizeof(text), PL_RDMA "/%s/ports/%u/rate",
			   port->device, port->port);
	if (ret)
		note_reason(port, ret, "rate");
	else
		pl_parse_rate(text, &port->rate, &port->width);
}

/* "8.0 GT/s PCIe"; "Unknown" for functions that have no link of their own */
static uint32_t pci_speed(const char *device, const char *attr)
{
	unsigned int whole, tenths = 0;
	char text[64];

	if (pl_attr_text(text, sizeof(text), PL_RDMA "/%s/device/%s", device,
			 attr) ||
	    sscanf(text, "%u.%1u", &whole, &tenths) < 1 || whole > 10000)
		return 0;
	return whole * 1000 + tenths * 100;
}

static uint32_t pci_width(const char *device, const char *attr)
{
	uint64_t width;

	/* 255 and 0: not known */
	if (pl_attr_number(&width, PL_RDMA "/%s/device/%s", device, attr) ||
	    width > 32)
		return 0;
	return (uint32_t)width;
}

static void read_function(struct peerlane_port_info *port)
{
	char name[64];

	if (pl_attr_link(name, sizeof(name), PL_RDMA "/%s/device",
			 port->device))
		return;
	if (!pl_pci_parse(name, port->pci))
		port->pci[0] = '\0';
	if (!pl_attr_link(name, sizeof(name), PL_RDMA "/%s/device/driver",
			  port->device))
		pl_copy_text(port->driver, name, sizeof(port->driver));
	pl_attr_text(port->iommu, sizeof(port->iommu),
		     PL_RDMA "/%s/device/iommu_group/type", port->device);
	port->pci_speed = pci_speed(port->device, "current_link_speed");
	port->pci_speed_max = pci_speed(port->device, "max_link_speed");
	port->pci_width = pci_width(port->device, "current_link_width");
	port->pci_width_max = pci_width(port->device, "max_link_width");
}

static const struct pl_nldev *find_device(const struct ports *ports,
					  const char *name)
{
	size_t i;

	for (i = 0; i < ports->device_count; i++)
		if (!strcmp(ports->devices[i].name, name))
			return &ports->devices[i];
	return NULL;
}

/*
 * Software devices may have a parent that is hardware, so RDMA core is asked
 * first; else by what only they have in sysfs.
 */
static void read_driver(const struct ports *ports, const struct pl_nldev *dev,
			struct peerlane_port_info *port)
{
	uint32_t id = dev ? pl_nldev_driver(ports->socket, dev->index) : 0;
	char text[80] = "";
	bool rxe, siw;

	pl_attr_text(text, sizeof(text), PL_RDMA "/%s/node_desc",
		     port->device);
	siw = id ? id == RDMA_DRIVER_SIW :
		!strncmp(text, "Software iWARP", 14);
	if (id)
		rxe = id == RDMA_DRIVER_RXE;
	else
		rxe = !strcmp(text, "rxe") ||
			!pl_attr_text(text, sizeof(text),
				      PL_RDMA "/%s/parent", port->device);
	if (!rxe && !siw)
		return;
	port->software = true;
	pl_copy_text(port->driver, rxe ? "rdma_rxe" : "siw",
		     sizeof(port->driver));
	/* Of the interface below it, which moves the data as packets */
	port->pci[0] = '\0';
	port->iommu[0] = '\0';
	port->pci_speed = 0;
	port->pci_speed_max = 0;
	port->pci_width = 0;
	port->pci_width_max = 0;
}

static uint32_t transport(const struct peerlane_port_info *port,
			  const char *protocol)
{
	if (!strcmp(protocol, "iw") || !strcmp(port->node_type, "RNIC"))
		return PEERLANE_TRANSPORT_IWARP;
	if (!strcmp(protocol, "usnic") || !strcmp(protocol, "opa"))
		return PEERLANE_TRANSPORT_OTHER;
	if (strcmp(port->node_type, "CA"))
		return PEERLANE_TRANSPORT_OTHER;
	if (!strcasecmp(port->link_layer, "Ethernet"))
		return PEERLANE_TRANSPORT_ROCE;
	if (!strcasecmp(port->link_layer, "InfiniBand"))
		return PEERLANE_TRANSPORT_IB;
	return PEERLANE_TRANSPORT_UNKNOWN;
}

/*
 * The name in the GID table may be of another network namespace, where it means
 * another interface: it gets no number then.
 */
static void read_netdev(const struct ports *ports, const struct pl_nldev *dev,
			struct peerlane_port_info *port)
{
	struct peerlane_netdev_info info;

	if (dev)
		pl_nldev_netdev(ports->socket, dev->index, port->port,
				&port->ifindex, port->netdev,
				sizeof(port->netdev));
	if (!port->netdev[0])
		pl_gid_netdev(port->device, port->port, port->netdev,
			      sizeof(port->netdev));
	if (!port->netdev[0] || (dev && !port->ifindex))
		return;
	if (pl_netdev_get(port->netdev, &info)) {
		pl_clear();
		port->ifindex = 0;
		return;
	}
	port->ifindex = info.ifindex;
	port->netdev_mtu = info.mtu;
	port->rate_max = info.speed_max;
}

/* What GRH or IP, UDP, BTH and the longest extended headers leave */
static uint32_t fitting_mtu(const struct peerlane_port_info *port)
{
	uint32_t room = port->netdev_mtu, mtu;

	if (port->transport == PEERLANE_TRANSPORT_IWARP)
		return room;	/* TCP cuts it */
	if (port->transport != PEERLANE_TRANSPORT_ROCE ||
	    room < 256 + PL_ROCE_HEADERS)
		return 0;
	for (mtu = 4096; mtu > room - PL_ROCE_HEADERS; mtu /= 2)
		;
	return mtu;
}

static void read_port(const struct ports *ports,
		      struct peerlane_port_info *port)
{
	const struct pl_nldev *dev = find_device(ports, port->device);
	char text[80];
	uint32_t type;

	if (!pl_attr_text(text, sizeof(text), PL_RDMA "/%s/node_type",
			  port->device))
		pl_copy_text(port->node_type, numbered(text, &type),
			     sizeof(port->node_type));
	pl_attr_text(port->firmware, sizeof(port->firmware),
		     PL_RDMA "/%s/fw_ver", port->device);
	read_function(port);
	read_driver(ports, dev, port);
	if (!port->port)
		return;
	pl_attr_text(port->link_layer, sizeof(port->link_layer),
		     PL_RDMA "/%s/ports/%u/link_layer", port->device,
		     port->port);
	port->state = number_attr(port, "state");
	port->phys_state = number_attr(port, "phys_state");
	read_rate(port);
	port->transport = transport(port, dev ? dev->protocol : "");
	read_netdev(ports, dev, port);
	port->mtu = fitting_mtu(port);
}

static struct peerlane_port_info *new_port(struct ports *ports,
					   const char *device)
{
	struct peerlane_port_info *list, *port;

	list = reallocarray(ports->list, ports->count + 1, sizeof(*list));
	if (!list)
		return NULL;
	ports->list = list;
	port = &list[ports->count++];
	memset(port, 0, sizeof(*port));
	pl_copy_text(port->device, device, sizeof(port->device));
	return port;
}

static int add_device(struct ports *ports, const char *device)
{
	struct peerlane_port_info *port;
	char **names = NULL;
	size_t count = 0, i;
	uint64_t number;
	int ret, added = 0;

	ret = pl_attr_names(&names, &count, PL_RDMA "/%s/ports", device);
	for (i = 0; i < count; i++) {
		if (pl_number(names[i], &number) || !number)
			continue;
		port = new_port(ports, device);
		if (!port)
			break;
		port->port = (uint32_t)number;
		read_port(ports, port);
		added++;
	}
	pl_attr_names_free(names, count);
	if (i < count)
		return pl_fail(ENOMEM, "list of RDMA ports");
	if (added)
		return 0;
	/* It is there and cannot be read: say so, it is not to get lost. */
	port = new_port(ports, device);
	if (!port)
		return pl_fail(ENOMEM, "list of RDMA ports");
	note_reason(port, ret ? ret : -ENODATA, "ports");
	read_port(ports, port);
	return 0;
}

static int add_devices(struct ports *ports)
{
	char **names;
	size_t count, i;
	int ret;

	ret = pl_attr_names(&names, &count, PL_RDMA);
	if (ret == -ENOENT || ret == -ENOTDIR)
		return 0;	/* no RDMA */
	if (ret)
		return pl_fail(-ret, PL_RDMA);
	for (i = 0; !ret && i < count; i++)
		ret = add_device(ports, names[i]);
	pl_attr_names_free(names, count);
	return ret;
}

/* Without rdma netlink there is less to tell. */
static void ask_core(struct ports *ports)
{
	if (pl_nldev_open(&ports->socket))
		ports->socket = NULL;
	if (ports->socket && pl_nldev_list(ports->socket, &ports->devices,
					   &ports->device_count)) {
		ports->devices = NULL;
		ports->device_count = 0;
	}
	pl_clear();
}

int peerlane_port_list(struct peerlane_port_info **list, size_t *count)
{
	struct ports ports = { 0 };
	int ret;

	pl_clear();
	ask_core(&ports);
	ret = add_devices(&ports);
	free(ports.devices);
	if (ports.socket)
		pl_netlink_close(ports.socket);
	if (ret) {
		free(ports.list);
		return ret;
	}
	pl_clear();
	*list = ports.list;
	*count = ports.count;
	return 0;
}

const char *peerlane_transport_name(uint32_t transport)
{
	static const char *const names[] = {
		"unknown", "ib", "roce", "iwarp", "other",
	};

	return transport < sizeof(names) / sizeof(names[0]) ?
		names[transport] : "unknown";
}

const char *peerlane_port_state_name(uint32_t state)
{
	static const char *const names[] = {
		"nop", "down", "init", "armed", "active", "defer",
	};

	return state < sizeof(names) / sizeof(names[0]) ? names[state] :
							  "unknown";
}
