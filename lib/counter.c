// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Hardware counters of RDMA ports. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "port.h"

struct counters {
	struct peerlane_port_counter *list;
	size_t count;
};

/*
 * What drivers call the same thing. A driver that has a thing twice (mlx5's
 * optional counters) is listed with the name that is always there, so that a
 * sum over one common name counts nothing twice.
 */
static const struct alias {
	const char *name;
	const char *common;
} aliases[] = {
	{ "np_cnp_sent", "cnp_sent" },			/* mlx5 */
	{ "np_cnp_pkts", "cnp_sent" },			/* bnxt_re */
	{ "cnpSent", "cnp_sent" },			/* irdma */
	{ "sent_cnps", "cnp_sent" },			/* mana */
	{ "rp_cnp_handled", "cnp_handled" },		/* mlx5, bnxt_re */
	{ "cnpHandled", "cnp_handled" },
	{ "received_cnps", "cnp_handled" },
	{ "rp_cnp_ignored", "cnp_ignored" },
	{ "cnpIgnored", "cnp_ignored" },
	{ "np_ecn_marked_roce_packets", "ecn_marked" },	/* mlx5, bnxt_re */
	{ "RxECNMrkd", "ecn_marked" },
	{ "received_ecns", "ecn_marked" },
	{ "out_of_sequence", "out_of_sequence" },	/* mlx5, bnxt_re */
	{ "responder_oos", "out_of_sequence" },
	{ "out_of_seq_request", "out_of_sequence" },	/* rxe */
	{ "Rcvd Out of order packets", "out_of_sequence" },
	{ "packet_seq_err", "packet_seq_err" },		/* mlx5, bnxt_re */
	{ "requester_oos_nak", "packet_seq_err" },
	{ "rcvd_seq_err", "packet_seq_err" },
	{ "Nak Sequence Error", "packet_seq_err" },
	{ "implied_nak_seq_err", "implied_nak" },
	{ "requester_implicit_nak", "implied_nak" },
	{ "Nak Sequence Error Implied", "implied_nak" },
	{ "rnr_nak_retry_err", "rnr_nak" },		/* mlx5, bnxt_re */
	{ "requester_rnr_nak", "rnr_nak" },
	{ "rcvd_rnr_err", "rnr_nak" },
	{ "RNR received", "rnr_nak" },
	{ "responder_rnr_nak", "rnr_nak_sent" },
	{ "send_rnr_err", "rnr_nak_sent" },
	{ "RNR sent", "rnr_nak_sent" },
	{ "duplicate_request", "duplicate_request" },	/* mlx5, bnxt_re, rxe */
	{ "responder_dup_request", "duplicate_request" },
	{ "local_ack_timeout_err", "local_ack_timeout" }, /* mlx5, bnxt_re */
	{ "requester_timeout", "local_ack_timeout" },
	{ "retrans_timeout_events", "local_ack_timeout" }, /* efa */
	{ "RTO", "local_ack_timeout" },
	{ "roce_adp_retrans", "adp_retrans" },
	{ "roce_adp_retrans_to", "adp_retrans_timeout" },
	{ "completer_retry_err", "retransmits" },	/* rxe */
	{ "retrans_pkts", "retransmits" },		/* efa */
	{ "RetransSegs", "retransmits" },
	{ "ip4RetransSegs", "retransmits" },		/* cxgb4 */
	{ "ip6RetransSegs", "retransmits" },
	{ "req_transport_retries_exceeded", "retry_exceeded" },
	{ "requester_retries_exceeded", "retry_exceeded" },
	{ "retry_exceeded_err", "retry_exceeded" },
	{ "req_rnr_retries_exceeded", "rnr_retry_exceeded" },
	{ "requester_rnr_nak_retries_exceeded", "rnr_retry_exceeded" },
	{ "retry_rnr_exceeded_err", "rnr_retry_exceeded" },
	{ "out_of_buffer", "out_of_buffer" },
	{ "rx_icrc_encapsulated", "icrc_error" },
	{ "CRC errors", "icrc_error" },
	{ "port_xmit_data", "tx_bytes" },
	{ "tx_bytes", "tx_bytes" },			/* efa, mana, bnxt_re */
	{ "tx_bytes_cnt", "tx_bytes" },			/* erdma */
	{ "sent_bytes", "tx_bytes" },
	{ "port_rcv_data", "rx_bytes" },
	{ "rx_bytes", "rx_bytes" },
	{ "rx_bytes_cnt", "rx_bytes" },
	{ "rcvd_bytes", "rx_bytes" },
	{ "port_xmit_packets", "tx_packets" },
	{ "tx_packets", "tx_packets" },
	{ "tx_pkts", "tx_packets" },
	{ "tx_packets_cnt", "tx_packets" },
	{ "sent_pkts", "tx_packets" },
	{ "port_rcv_packets", "rx_packets" },
	{ "rx_packets", "rx_packets" },
	{ "rx_pkts", "rx_packets" },
	{ "rx_packets_cnt", "rx_packets" },
	{ "rcvd_pkts", "rx_packets" },
	{ "port_xmit_discards", "tx_discards" },
	{ "tx_roce_discards", "tx_discards" },
	{ "port_xmit_wait", "tx_wait" },
	{ "link_downed", "link_downed" },
	{ "symbol_error", "symbol_error" },
};

const char *peerlane_counter_common(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (!strcmp(aliases[i].name, name))
			return aliases[i].common;
	return "";
}

static bool ends_in(const char *text, const char *end)
{
	size_t length = strlen(text), part = strlen(end);

	return length >= part && !strcmp(text + length - part, end);
}

static uint32_t unit_of(const char *name)
{
	if (ends_in(name, "_bytes") || ends_in(name, "bytes_cnt") ||
	    ends_in(name, "Octets"))
		return PEERLANE_UNIT_BYTES;
	if (!strcmp(name, "port_xmit_wait"))
		return PEERLANE_UNIT_TICKS;
	return PEERLANE_UNIT_COUNT;
}

/*
 * The standard has data counters count four bytes at a time. Those that do not
 * wrap end at the last number of 32 bits.
 */
static void standard_units(struct peerlane_port_counter *counter)
{
	bool words = ends_in(counter->name, "_data") ||
		ends_in(counter->name, "_data_64");

	counter->saturated = counter->value == UINT32_MAX;
	if (!words)
		return;
	counter->unit = PEERLANE_UNIT_BYTES;
	counter->value = counter->value > UINT64_MAX / 4 ? UINT64_MAX :
							   4 * counter->value;
}

static int add(struct counters *counters, const char *folder, const char *name,
	       bool standard)
{
	struct peerlane_port_counter *list, *counter;

	list = reallocarray(counters->list, counters->count + 1, sizeof(*list));
	if (!list)
		return pl_fail(ENOMEM, "list of RDMA counters");
	counters->list = list;
	counter = &list[counters->count++];
	memset(counter, 0, sizeof(*counter));
	pl_copy_text(counter->name, name, sizeof(counter->name));
	pl_copy_text(counter->common, peerlane_counter_common(name),
		     sizeof(counter->common));
	counter->standard = standard;
	counter->unit = unit_of(name);
	/* "N/A (no PMA)" of ports that cannot; a negative errno of others */
	counter->valid = !pl_attr_number(&counter->value, "%s/%s", folder,
					 name);
	if (counter->valid && standard)
		standard_units(counter);
	return 0;
}

/* A setting among the counters: how long the kernel keeps what it read */
static bool is_setting(const char *name)
{
	return !strcmp(name, "lifespan");
}

/* A folder that is not there has no counters: not all devices have all. */
static int add_folder(struct counters *counters, const char *folder,
		      bool standard)
{
	size_t count, i;
	char **names;
	int ret = 0;

	if (pl_attr_names(&names, &count, "%s", folder))
		return 0;
	for (i = 0; !ret && i < count; i++)
		if (!is_setting(names[i]))
			ret = add(counters, folder, names[i], standard);
	pl_attr_names_free(names, count);
	return ret;
}

int peerlane_port_counters(const char *device, uint32_t port,
			   struct peerlane_port_counter **list, size_t *count)
{
	struct counters counters = { 0 };
	char folder[PL_PATH_MAX];
	int ret;

	pl_clear();
	if (!port)
		return pl_fail_text(ENODEV, "RDMA ports begin at 1");
	ret = pl_port_check(device, port);
	if (!ret) {
		snprintf(folder, sizeof(folder), PL_RDMA "/%s/ports/%u/counters",
			 device, port);
		ret = add_folder(&counters, folder, true);
	}
	if (!ret) {
		snprintf(folder, sizeof(folder),
			 PL_RDMA "/%s/ports/%u/hw_counters", device, port);
		ret = add_folder(&counters, folder, false);
	}
	if (!ret) {
		snprintf(folder, sizeof(folder), PL_RDMA "/%s/hw_counters",
			 device);
		ret = add_folder(&counters, folder, false);
	}
	if (ret) {
		free(counters.list);
		return ret;
	}
	*list = counters.list;
	*count = counters.count;
	return 0;
}

const char *peerlane_unit_name(uint32_t unit)
{
	static const char *const names[] = { "count", "bytes", "ticks" };

	return unit < sizeof(names) / sizeof(names[0]) ? names[unit] :
							 "unknown";
}
