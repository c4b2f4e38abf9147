// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* The kernel's record of a TCP connection; libnl's headers have an older one. */
#include <linux/tcp.h>
#include <string.h>

#include "flow.h"

/* Older kernels say less; what they do not say stays 0. */
void pl_flow_tcp_info(struct peerlane_tcp_flow *flow, const void *data,
		      size_t size)
{
	struct tcp_info info = { 0 };

	memcpy(&info, data, size < sizeof(info) ? size : sizeof(info));
	flow->mss = info.tcpi_snd_mss;
	flow->cwnd = info.tcpi_snd_cwnd;
	flow->unacked = info.tcpi_unacked;
	flow->lost = info.tcpi_lost;
	flow->reordering = info.tcpi_reordering;
	flow->srtt = 1000ULL * info.tcpi_rtt;
	flow->rttvar = 1000ULL * info.tcpi_rttvar;
	/* Without a sample the kernel has the largest number. */
	if (info.tcpi_min_rtt != UINT32_MAX)
		flow->min_rtt = 1000ULL * info.tcpi_min_rtt;
	flow->bytes_sent = info.tcpi_bytes_sent;
	flow->bytes_retransmitted = info.tcpi_bytes_retrans;
	flow->bytes_acked = info.tcpi_bytes_acked;
	flow->bytes_received = info.tcpi_bytes_received;
	flow->segments_out = info.tcpi_segs_out;
	flow->segments_in = info.tcpi_segs_in;
	flow->retransmitted = info.tcpi_total_retrans;
	flow->delivered = info.tcpi_delivered;
	flow->delivered_ce = info.tcpi_delivered_ce;
	flow->reordered = info.tcpi_reord_seen;
	if (info.tcpi_pacing_rate != UINT64_MAX)
		flow->pacing_rate = info.tcpi_pacing_rate;
	flow->delivery_rate = info.tcpi_delivery_rate;
}
