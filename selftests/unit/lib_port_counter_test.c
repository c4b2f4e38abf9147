// SPDX-License-Identifier: GPL-2.0
/* Hardware counters of RDMA ports, in the dialects of drivers. */
#include "lib_fake_tree.h"

#define DEVICE	"/sys/class/infiniband/dev0"
#define PORT	DEVICE "/ports/1"
#define HW	PORT "/hw_counters"

static struct peerlane_port_counter *counters;
static size_t counter_count;

static void begin(void)
{
	tree_begin();
	tree_file(DEVICE "/node_type", "1: CA\n");
	tree_file(PORT "/state", "4: ACTIVE\n");
}

static void query(void)
{
	counters = NULL;
	counter_count = 99;
	CHECK_INT(peerlane_port_counters("dev0", 1, &counters, &counter_count),
		  0);
}

static void end(void)
{
	free(counters);
	tree_end();
}

static const struct peerlane_port_counter *named(const char *name)
{
	static const struct peerlane_port_counter none;
	size_t i;

	for (i = 0; i < counter_count; i++)
		if (!strcmp(counters[i].name, name))
			return &counters[i];
	printf("# no counter %s\n", name);
	tap.bad++;
	return &none;
}

static void is(const char *name, const char *common, uint64_t value)
{
	const struct peerlane_port_counter *counter = named(name);

	CHECK_STR(counter->common, common);
	CHECK_INT(counter->value, value);
	CHECK(counter->valid);
}

/* The standard counts four bytes at a time. */
static void data_is_in_bytes(void)
{
	begin();
	tree_files(PORT "/counters", "port_xmit_data", "250\n",
		   "port_rcv_data", "1\n", "port_xmit_packets", "250\n",
		   "port_rcv_data_64", "4611686018427387904\n",
		   "port_xmit_wait", "9\n", NULL);
	tree_files(HW, "rx_bytes", "250\n", "ip4InOctets", "77\n", NULL);
	query();
	is("port_xmit_data", "tx_bytes", 1000);
	CHECK_INT(named("port_xmit_data")->unit, PEERLANE_UNIT_BYTES);
	is("port_rcv_data", "rx_bytes", 4);
	is("port_xmit_packets", "tx_packets", 250);
	CHECK_INT(named("port_xmit_packets")->unit, PEERLANE_UNIT_COUNT);
	CHECK(named("port_rcv_data_64")->value == UINT64_MAX);
	CHECK_INT(named("port_xmit_wait")->unit, PEERLANE_UNIT_TICKS);
	CHECK(named("port_xmit_wait")->standard);
	is("rx_bytes", "rx_bytes", 250);
	CHECK_INT(named("rx_bytes")->unit, PEERLANE_UNIT_BYTES);
	CHECK(!named("rx_bytes")->standard);
	CHECK_INT(named("ip4InOctets")->unit, PEERLANE_UNIT_BYTES);
	end();
}

/* "N/A (no PMA)" of iWARP and virtual functions, and worse */
static void no_numbers(void)
{
	begin();
	tree_files(PORT "/counters", "port_rcv_data", "N/A (no PMA)\n",
		   "symbol_error", "7\n", "empty", "", "negative", "-22\n",
		   "too_big", "99999999999999999999999\n", "trailing", "12x\n",
		   "hex", "0x10\n", NULL);
	tree_broken(PORT "/counters/gone");
	query();
	CHECK_INT(counter_count, 8);
	CHECK(!named("port_rcv_data")->valid);
	CHECK(!named("empty")->valid);
	CHECK(!named("negative")->valid);
	CHECK(!named("too_big")->valid);
	CHECK(!named("trailing")->valid);
	CHECK(!named("gone")->valid);
	is("symbol_error", "symbol_error", 7);
	is("hex", "", 16);
	end();
}

static void missing_folders(void)
{
	begin();
	query();
	CHECK_INT(counter_count, 0);
	CHECK(!counters);
	tree_file(HW "/np_cnp_sent", "3\n");
	query();
	CHECK_INT(counter_count, 1);
	is("np_cnp_sent", "cnp_sent", 3);
	end();
}

static void odd_names(void)
{
	char line[200];

	begin();
	tree_files(HW, "SDMAIdInt1,32", "5\n", "Nak Sequence Error", "6\n",
		   "a\nb", "1\n", "lifespan", "10\n", NULL);
	memset(line, 'n', 100);
	line[100] = '\0';
	tree_files(HW, line, "8\n", NULL);
	query();
	CHECK_INT(counter_count, 4);
	is("SDMAIdInt1,32", "", 5);
	is("Nak Sequence Error", "packet_seq_err", 6);
	is("a\nb", "", 1);
	line[63] = '\0';
	is(line, "", 8);
	end();
}

static void saturated(void)
{
	begin();
	tree_files(PORT "/counters", "VL15_dropped", "4294967295\n",
		   "port_xmit_discards", "4294967294\n", NULL);
	tree_file(HW "/out_of_buffer", "4294967295\n");
	query();
	CHECK(named("VL15_dropped")->saturated);
	CHECK(!named("port_xmit_discards")->saturated);
	CHECK(!named("out_of_buffer")->saturated);
	end();
}

/* Of the whole device, behind those of the port */
static void of_the_device(void)
{
	begin();
	tree_file(HW "/out_of_sequence", "1\n");
	tree_files(DEVICE "/hw_counters", "cnpSent", "2\n", "lifespan", "1\n",
		   NULL);
	query();
	CHECK_INT(counter_count, 2);
	CHECK_STR(counters[0].name, "out_of_sequence");
	is("cnpSent", "cnp_sent", 2);
	end();
}

static void dialects(void)
{
	static const char *const pairs[][2] = {
		/* mlx5, bnxt_re, irdma, mana, rxe, efa, cxgb4 */
		{ "np_cnp_sent", "cnp_sent" }, { "np_cnp_pkts", "cnp_sent" },
		{ "cnpSent", "cnp_sent" }, { "sent_cnps", "cnp_sent" },
		{ "rp_cnp_handled", "cnp_handled" },
		{ "cnpHandled", "cnp_handled" },
		{ "received_cnps", "cnp_handled" },
		{ "cnpIgnored", "cnp_ignored" },
		{ "np_ecn_marked_roce_packets", "ecn_marked" },
		{ "RxECNMrkd", "ecn_marked" },
		{ "received_ecns", "ecn_marked" },
		{ "responder_oos", "out_of_sequence" },
		{ "out_of_seq_request", "out_of_sequence" },
		{ "requester_oos_nak", "packet_seq_err" },
		{ "rcvd_seq_err", "packet_seq_err" },
		{ "rnr_nak_retry_err", "rnr_nak" },
		{ "rcvd_rnr_err", "rnr_nak" },
		{ "RNR sent", "rnr_nak_sent" },
		{ "roce_adp_retrans", "adp_retrans" },
		{ "RetransSegs", "retransmits" },
		{ "retrans_pkts", "retransmits" },
		{ "completer_retry_err", "retransmits" },
		{ "ip6RetransSegs", "retransmits" },
		{ "local_ack_timeout_err", "local_ack_timeout" },
		{ "requester_timeout", "local_ack_timeout" },
		/* would count twice what is there already */
		{ "cc_tx_cnp_pkts", "" },
		{ "ack_deferred", "" }, { "", "" },
	};
	size_t i;

	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		CHECK_STR(peerlane_counter_common(pairs[i][0]), pairs[i][1]);
}

static void no_such_port(void)
{
	struct peerlane_port_counter *list = (void *)1;
	size_t count = 5;

	begin();
	CHECK_INT(peerlane_port_counters("dev1", 1, &list, &count), -ENODEV);
	CHECK_INT(peerlane_port_counters("dev0", 2, &list, &count), -ENODEV);
	CHECK_INT(peerlane_port_counters("dev0", 0, &list, &count), -ENODEV);
	CHECK_HAS(peerlane_strerror(), "begin at 1");
	CHECK(list == (void *)1 && count == 5);
	CHECK_STR(peerlane_unit_name(PEERLANE_UNIT_BYTES), "bytes");
	CHECK_STR(peerlane_unit_name(9), "unknown");
	tree_end();
}

static const struct tap_case cases[] = {
	TAP_CASE(data_is_in_bytes), TAP_CASE(no_numbers),
	TAP_CASE(missing_folders), TAP_CASE(odd_names), TAP_CASE(saturated),
	TAP_CASE(of_the_device), TAP_CASE(dialects), TAP_CASE(no_such_port),
};

int main(void)
{
	return TAP_RUN(cases);
}
