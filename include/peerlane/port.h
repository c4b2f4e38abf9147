/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * RDMA ports: links, addresses and hardware counters.
 * The rules of <peerlane.h> hold.
 */
#ifndef LIBPEERLANE_PORT_H
#define LIBPEERLANE_PORT_H

#include <peerlane/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum peerlane_transport_id {
	PEERLANE_TRANSPORT_UNKNOWN = 0,
	PEERLANE_TRANSPORT_IB = 1,
	PEERLANE_TRANSPORT_ROCE = 2,
	PEERLANE_TRANSPORT_IWARP = 3,
	PEERLANE_TRANSPORT_OTHER = 4,
};

/** peerlane_transport_name() - "unknown", "ib", "roce", "iwarp", "other". */
PEERLANE_API const char *peerlane_transport_name(uint32_t transport);
/** peerlane_port_state_name() - "nop", "down", "init", "armed", "active", "defer", "unknown". */
PEERLANE_API const char *peerlane_port_state_name(uint32_t state);

/**
 * struct peerlane_port_info - one port of an RDMA device
 * @device: as in /sys/class/infiniband
 * @driver: kernel driver of the device: "mlx5_core", "rdma_rxe", "siw", ...
 * @node_type: "CA", "RNIC", ... as the kernel says it
 * @link_layer: "InfiniBand" or "Ethernet"
 * @firmware: version of the device
 * @pci: "dddd:bb:dd.f" of the function behind it, or empty
 * @iommu: kind of its IOMMU domain: "DMA", "DMA-FQ", "identity"; empty: none
 * @netdev: network interface of the port, or empty
 * @reason: what could not be read and why, or empty
 * @rate: bits per second, 0 unknown
 * @rate_max: of the fastest link mode that interface and NIC know, 0 unknown
 * @port: from 1 on; 0 if the device's ports cannot be read (see @reason)
 * @state: see peerlane_port_state_name()
 * @phys_state: 5 is "link up"
 * @transport: see peerlane_transport_name()
 * @width: lanes, 0 unknown
 * @mtu: largest RDMA payload of a packet that fits the interface; 0 unknown.
 *	By rule; peerlane_port_mtu() asks the driver
 * @netdev_mtu: of the interface, 0 unknown
 * @pci_speed: mega-transfers per second and lane that the PCI link runs at
 * @pci_speed_max: that the function is capable of; 0 unknown, as the rest
 * @pci_width: lanes that the PCI link has
 * @pci_width_max: that the function is capable of
 * @ifindex: of @netdev; 0 if that is not in this network namespace
 * @software: rxe or siw: no hardware moves the data
 */
struct peerlane_port_info {
	char device[64];
	char driver[32];
	char node_type[16];
	char link_layer[16];
	char firmware[64];
	char pci[16];
	char iommu[16];
	char netdev[16];
	char reason[128];
	uint64_t rate;
	uint64_t rate_max;
	uint32_t port;
	uint32_t state;
	uint32_t phys_state;
	uint32_t transport;
	uint32_t width;
	uint32_t mtu;
	uint32_t netdev_mtu;
	uint32_t pci_speed;
	uint32_t pci_speed_max;
	uint32_t pci_width;
	uint32_t pci_width_max;
	int32_t ifindex;
	bool software;
};

/**
 * peerlane_port_list() - RDMA ports of this node
 * @list: set to an array, freed by the caller with free(); NULL when @count is 0
 * @count: set to its length
 *
 * From sysfs, rdma netlink and ethtool; the module is not needed. A node
 * without RDMA has none. A device of which less can be read than usual (in a
 * container, say) is told with what there is and @reason. Return: 0; -EACCES;
 * -ENOMEM.
 */
PEERLANE_API int peerlane_port_list(struct peerlane_port_info **list,
				    size_t *count);

/**
 * peerlane_port_mtu() - packet size of a port, as its driver says
 * @device: RDMA device
 * @port: of it
 * @active: set to bytes of payload
 * @max: set to the most it can
 *
 * Opens the device by libibverbs, which is looked up when this is called.
 * Return: 0; -ENODEV no such device for verbs; -ENOSYS no libibverbs; -EACCES
 * and others of opening it.
 */
PEERLANE_API int peerlane_port_mtu(const char *device, uint32_t port,
				   uint32_t *active, uint32_t *max);

enum peerlane_gid_type_id {
	PEERLANE_GID_UNKNOWN = 0,
	PEERLANE_GID_IB = 1,
	PEERLANE_GID_ROCE_V1 = 2,
	PEERLANE_GID_ROCE_V2 = 3,
};

/** peerlane_gid_type_name() - "unknown", "ib", "roce-v1", "roce-v2". */
PEERLANE_API const char *peerlane_gid_type_name(uint32_t type);

/**
 * struct peerlane_gid_info - one address of an RDMA port
 * @device: RDMA device
 * @address: as text: IPv4 if it is one, else IPv6
 * @netdev: network interface it comes from, or empty
 * @raw: the 16 bytes
 * @port: of the device
 * @index: in the port's table, which has gaps
 * @type: see peerlane_gid_type_name()
 * @ipv4: an IPv4 address
 * @link_local: cannot be routed
 */
struct peerlane_gid_info {
	char device[64];
	char address[48];
	char netdev[16];
	uint8_t raw[16];
	uint32_t port;
	uint32_t index;
	uint32_t type;
	bool ipv4;
	bool link_local;
};

/**
 * peerlane_gid_list() - addresses of RDMA ports
 * @device: RDMA device; NULL for all of this node
 * @port: of it; 0 for all
 * @list: set to an array, freed by the caller with free(); NULL when @count is 0
 * @count: set to its length
 *
 * Empty slots are left out. Return: 0; -ENODEV no such device; -ENOMEM.
 */
PEERLANE_API int peerlane_gid_list(const char *device, uint32_t port,
				   struct peerlane_gid_info **list,
				   size_t *count);

enum peerlane_unit_id {
	PEERLANE_UNIT_COUNT = 0,
	PEERLANE_UNIT_BYTES = 1,
	PEERLANE_UNIT_TICKS = 2,
};

/** peerlane_unit_name() - "count", "bytes", "ticks" (of the device's own clock). */
PEERLANE_API const char *peerlane_unit_name(uint32_t unit);

/**
 * struct peerlane_port_counter - one hardware counter of an RDMA port
 * @name: as the driver says it
 * @common: what other drivers' counters of the same kind are called here too
 *	("cnp_sent", ...: libpeerlane(3)), or empty
 * @value: since the device came up or somebody cleared it; bytes where the
 *	hardware counts in units of four bytes
 * @unit: see peerlane_unit_name()
 * @valid: @value is a number; else the device has the name only
 * @saturated: at the end of a counter of 32 bits that does not wrap
 * @standard: of the counters that InfiniBand defines, else of the driver's
 */
struct peerlane_port_counter {
	char name[64];
	char common[32];
	uint64_t value;
	uint32_t unit;
	bool valid;
	bool saturated;
	bool standard;
};

/**
 * peerlane_port_counters() - hardware counters of a port
 * @device: RDMA device
 * @port: of it
 * @list: set to an array, freed by the caller with free(); NULL when @count is 0
 * @count: set to its length
 *
 * Nothing is reset. Counters of the whole device follow those of the port. A
 * device without counters has none. Return: 0; -ENODEV no such port; -ENOMEM.
 */
PEERLANE_API int peerlane_port_counters(const char *device, uint32_t port,
					struct peerlane_port_counter **list,
					size_t *count);

/**
 * peerlane_counter_common() - the common name of a driver's counter
 * @name: as the driver says it
 *
 * Return: the name, or an empty string if it has none.
 */
PEERLANE_API const char *peerlane_counter_common(const char *name);

#ifdef __cplusplus
}
#endif

#endif /* LIBPEERLANE_PORT_H */
