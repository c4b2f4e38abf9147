/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* Flows, inside the library. */
#ifndef PEERLANE_FLOW_H
#define PEERLANE_FLOW_H

#include "genl.h"

#include <uapi/peerlane_netlink.h>

/* flow_parse.c: what the kernel says */

/* Number of one, two, four or eight bytes; 0 if @attr is NULL or odd */
uint64_t pl_flow_number(const struct nlattr *attr);

/**
 * pl_flow_parse() - attributes of a flow
 * @tb: of PEERLANE_A_FLOW_MAX + 1
 * @info: filled
 * @histogram: filled, zero without samples; may be NULL
 *
 * Return: 0; -EPROTO without addresses. Sets no text.
 */
int pl_flow_parse(struct nlattr **tb, struct peerlane_flow_info *info,
		  uint32_t *histogram);
int pl_flow_parse_nested(struct nlattr *nest, struct peerlane_flow_info *info);
void pl_flow_parse_stats(struct nlattr **tb, struct peerlane_flow_stats *stats);

/* group_event.c: likewise of a group; 0 or -EPROTO */
int pl_group_event_parse(struct nlattr *nest,
			 struct peerlane_event_group *group);

/* flow_request.c: what the kernel is asked; 0 or a negative errno with a text */
int pl_flow_put_key(struct nl_msg *msg, const struct peerlane_flow_key *key,
		    const char *what);
int pl_flow_put_filter(struct nl_msg *msg,
		       const struct peerlane_flow_filter *filter,
		       const char *what);
int pl_flow_put_label(struct nl_msg *msg, const char *label, const char *what);

/* flow.c, flow_list.c: as the public functions of these names */
int pl_flow_stats(struct pl_genl *genl, struct peerlane_flow_stats *stats);
int pl_flow_pair(struct pl_genl *genl, const struct peerlane_flow_key *key,
		 uint32_t peer_qpn);
int pl_flow_list(struct pl_genl *genl,
		 const struct peerlane_flow_filter *filter,
		 struct peerlane_flow_info **list, size_t *count,
		 bool *incomplete);

/**
 * struct pl_flow_qps - the queue pairs of this host, to look flows up in
 * @list: all of them
 * @count: how many
 * @by_lqpn: the same, sorted by their number
 * @by_rqpn: the connected ones, sorted by their peer's number
 * @rqpn_count: how many are connected
 * @gids: addresses of the devices
 * @gid_count: how many
 */
struct pl_flow_qps {
	struct peerlane_qp_info *list;
	size_t count;
	const struct peerlane_qp_info **by_lqpn;
	const struct peerlane_qp_info **by_rqpn;
	size_t rqpn_count;
	struct peerlane_gid_info *gids;
	size_t gid_count;
};

/* flow_join.c */
int pl_flow_qps_open(struct pl_flow_qps *qps);
void pl_flow_qps_close(struct pl_flow_qps *qps);
void pl_flow_qps_find(const struct pl_flow_qps *qps,
		      const struct peerlane_flow_info *flow,
		      struct peerlane_flow_qp *found);

/* flow_cm.c */

/**
 * pl_flow_cm_list() - connections that iWARP devices have
 * @list: set to an array, freed by the caller with free()
 * @count: set to its length
 */
int pl_flow_cm_list(struct peerlane_tcp_flow **list, size_t *count);

/* flow_tcp_info.c: read what sock_diag says of a connection */
void pl_flow_tcp_info(struct peerlane_tcp_flow *flow, const void *data,
		      size_t size);

#endif /* PEERLANE_FLOW_H */
