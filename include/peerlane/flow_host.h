/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Flows and this host: whose they are.
 * The rules of <peerlane.h> hold, and the errors of flow.h.
 */
#ifndef LIBPEERLANE_FLOW_HOST_H
#define LIBPEERLANE_FLOW_HOST_H

#include <peerlane/flow.h>
#include <peerlane/qp.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct peerlane_flow_qp - the queue pair of this host that a flow belongs to
 * @qp: as peerlane_qp_list() tells it, where @found
 * @found: the host has it
 * @sender: it sends the flow, else it receives it
 */
struct peerlane_flow_qp {
	struct peerlane_qp_info qp;
	bool found;
	bool sender;
};

/**
 * peerlane_flow_join() - find the queue pairs of flows on this host
 * @flows: of peerlane_flow_list()
 * @count: how many
 * @qps: filled, one for each; where both ends are on this host, the sender
 *
 * Numbers of queue pairs repeat from device to device: one is taken only if its
 * device has the flow's address. Return: 0, also if the host has no RDMA; else
 * as peerlane_qp_list().
 */
PEERLANE_API int peerlane_flow_join(const struct peerlane_flow_info *flows,
				    size_t count, struct peerlane_flow_qp *qps);

/**
 * peerlane_flow_pair_local() - pair flows by the queue pairs of this host
 * @count: set to how many were paired; may be NULL
 *
 * For each flow of which one end is a connected queue pair of this host, the
 * kernel is told the other end, if it did not know it, or only guessed it from
 * the UDP port.
 */
PEERLANE_API int peerlane_flow_pair_local(size_t *count);

/**
 * struct peerlane_tcp_flow - a connection of iWARP
 * @saddr: this host's address; IPv4 as ::ffff:a.b.c.d
 * @daddr: the peer's
 * @sport: this host's port
 * @dport: the peer's
 * @device: RDMA device
 * @lqpn: queue pair, 0 not known
 * @pid: process that made it, 0 the kernel or not known
 * @comm: command name of @pid, or name of the kernel's user
 * @has_tcp: what follows is known; else TCP is done by the device
 * @state: TCP_ESTABLISHED, ... of netinet/tcp.h
 * @mss: bytes
 * @cwnd: congestion window, packets
 * @unacked: packets under way
 * @lost: packets thought lost now
 * @reordering: packets that may be out of order before they are thought lost
 * @srtt: smoothed round trip, ns
 * @rttvar: its deviation, ns
 * @min_rtt: shortest round trip, ns
 * @bytes_sent: with those sent again
 * @bytes_retransmitted: sent again
 * @bytes_acked: arrived at the peer
 * @bytes_received: bytes
 * @segments_out: packets
 * @segments_in: packets
 * @retransmitted: packets sent again
 * @delivered: packets that arrived at the peer
 * @delivered_ce: of these, packets that a switch marked
 * @reordered: times that packets came out of order
 * @pacing_rate: bytes a second that TCP allows itself
 * @delivery_rate: bytes a second that arrive
 *
 * iWARP runs over TCP, so a connection is what a pair of flows is to RoCE. What
 * the kernel's TCP knows of it comes from sock_diag; the module has no part in
 * it and need not be loaded.
 */
struct peerlane_tcp_flow {
	uint8_t saddr[16];
	uint8_t daddr[16];
	uint16_t sport;
	uint16_t dport;
	char device[64];
	uint32_t lqpn;
	int32_t pid;
	char comm[32];
	bool has_tcp;
	uint32_t state;
	uint32_t mss;
	uint32_t cwnd;
	uint32_t unacked;
	uint32_t lost;
	uint32_t reordering;
	uint64_t srtt;
	uint64_t rttvar;
	uint64_t min_rtt;
	uint64_t bytes_sent;
	uint64_t bytes_retransmitted;
	uint64_t bytes_acked;
	uint64_t bytes_received;
	uint64_t segments_out;
	uint64_t segments_in;
	uint64_t retransmitted;
	uint64_t delivered;
	uint64_t delivered_ce;
	uint64_t reordered;
	uint64_t pacing_rate;
	uint64_t delivery_rate;
};

/**
 * peerlane_flow_tcp() - connections of iWARP on this host
 * @list: set to an array, freed by the caller with free(); NULL when @count is 0
 * @count: set to its length
 *
 * Return: 0, also if the host has no iWARP; -EPROTONOSUPPORT the kernel has no
 * sock_diag for TCP.
 */
PEERLANE_API int peerlane_flow_tcp(struct peerlane_tcp_flow **list,
				   size_t *count);

#ifdef __cplusplus
}
#endif

#endif /* LIBPEERLANE_FLOW_HOST_H */
