/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Network interfaces: priorities and pause frames.
 * The rules of <peerlane.h> hold.
 */
#ifndef LIBPEERLANE_NETDEV_H
#define LIBPEERLANE_NETDEV_H

#include <peerlane/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** peerlane_netdev_index() - number of a network device, > 0; -ENODEV no such device. */
PEERLANE_API int peerlane_netdev_index(const char *name, uint32_t *ifindex);

/** peerlane_netdev_name() - name of a network device; its number as text where there is none. */
PEERLANE_API void peerlane_netdev_name(uint32_t ifindex, char name[16]);

/**
 * struct peerlane_netdev_info - one network interface
 * @name: of it
 * @driver: kernel driver, or empty for virtual ones
 * @speed: bits per second, 0 unknown
 * @speed_max: of its fastest link mode, 0 unknown
 * @mtu: bytes, 0 unknown
 * @ifindex: of it
 * @up: the link is up
 */
struct peerlane_netdev_info {
	char name[16];
	char driver[32];
	uint64_t speed;
	uint64_t speed_max;
	uint32_t mtu;
	int32_t ifindex;
	bool up;
};

/**
 * peerlane_netdev_members() - the interfaces that a port's packets leave by
 * @netdev: network interface
 * @list: set to an array, freed by the caller with free()
 * @count: set to its length, > 0
 *
 * The members of a bond, else @netdev itself. PFC is set up for each of them.
 * Return: 0; -ENODEV not in this network namespace; -ENOMEM.
 */
PEERLANE_API int peerlane_netdev_members(const char *netdev,
					 struct peerlane_netdev_info **list,
					 size_t *count);

#define PEERLANE_PRIORITIES	8

enum peerlane_trust_id {
	PEERLANE_TRUST_UNKNOWN = 0,
	PEERLANE_TRUST_PCP = 1,
	PEERLANE_TRUST_DSCP = 2,
};

/**
 * struct peerlane_dcb_info - how an interface treats priorities
 * @requests: PFC frames sent, by priority
 * @indications: PFC frames received, by priority
 * @pfc_enabled: bit for each priority that PFC is on for
 * @pfc_max: priorities that may have PFC at once
 * @delay: allowance for the cable, bit times
 * @trust: what decides the priority of a received packet first; unknown on
 *	kernels and drivers that do not tell (they come after 6.1)
 * @dscp_prio: priority of each DSCP by the table, -1 it says nothing
 * @prio_tc: traffic class of each priority
 * @tc_bandwidth: percent that ETS gives each traffic class
 * @tc_tsa: how each is scheduled: 0 strict, 1 credit shaper, 2 ETS, 255 vendor
 * @default_prio: of packets that nothing else decides, -1 not told
 * @have_pfc: the driver tells PFC
 * @have_ets: the driver tells ETS
 * @have_dscp: the table says something about some DSCP
 */
struct peerlane_dcb_info {
	uint64_t requests[PEERLANE_PRIORITIES];
	uint64_t indications[PEERLANE_PRIORITIES];
	uint32_t pfc_enabled;
	uint32_t pfc_max;
	uint32_t delay;
	uint32_t trust;
	int8_t dscp_prio[64];
	uint8_t prio_tc[PEERLANE_PRIORITIES];
	uint8_t tc_bandwidth[PEERLANE_PRIORITIES];
	uint8_t tc_tsa[PEERLANE_PRIORITIES];
	int32_t default_prio;
	bool have_pfc;
	bool have_ets;
	bool have_dscp;
};

/**
 * peerlane_dcb_query() - how an interface treats priorities
 * @netdev: network interface
 * @info: filled
 *
 * Return: 0; -EOPNOTSUPP kernel or driver know no DCB; -ENODEV no such
 * interface.
 */
PEERLANE_API int peerlane_dcb_query(const char *netdev,
				    struct peerlane_dcb_info *info);

/**
 * struct peerlane_pause_info - pause frames of an interface
 * @rx_frames: PFC frames received, by priority
 * @tx_frames: PFC frames sent, by priority
 * @rx_usec: time that sending was paused by them, microseconds, by priority
 * @rx_global: global pause frames received
 * @tx_global: global pause frames sent
 * @rx_have: bit for each priority that has @rx_frames: drivers may show it
 *	only while PFC is on
 * @tx_have: the same of @tx_frames
 * @usec_have: the same of @rx_usec
 * @have_global: @rx_global and @tx_global are told
 * @have_param: the next three are told
 * @autoneg: global pause is negotiated
 * @rx: global pause frames are obeyed
 * @tx: global pause frames are sent
 */
struct peerlane_pause_info {
	uint64_t rx_frames[PEERLANE_PRIORITIES];
	uint64_t tx_frames[PEERLANE_PRIORITIES];
	uint64_t rx_usec[PEERLANE_PRIORITIES];
	uint64_t rx_global;
	uint64_t tx_global;
	uint32_t rx_have;
	uint32_t tx_have;
	uint32_t usec_have;
	bool have_global;
	bool have_param;
	bool autoneg;
	bool rx;
	bool tx;
};

/**
 * peerlane_pause_query() - pause frames of an interface
 * @netdev: network interface
 * @info: filled; empty for an interface that has none
 *
 * From ethtool statistics, by the names that drivers have for them. Also makes
 * those drivers refresh what peerlane_dcb_query() tells that do so only then.
 * Return: 0; -ENODEV no such interface; -ENOMEM.
 */
PEERLANE_API int peerlane_pause_query(const char *netdev,
				      struct peerlane_pause_info *info);

#ifdef __cplusplus
}
#endif

#endif /* LIBPEERLANE_NETDEV_H */
