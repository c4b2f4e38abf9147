// SPDX-License-Identifier: GPL-2.0
/* Priorities and pause frames of interfaces. */
#include "lib_fake_tree.h"

#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>

#define TRUST_TABLE	11
#define TRUST		3

static void begin(void)
{
	tree_begin();
	net.socket_errno = 0;
	tree_files("/sys/class/net/eth2", "ifindex", "2\n", "mtu", "9000\n",
		   NULL);
	tree.driver = "mlx5_core";
}

static void app(uint8_t selector, uint16_t protocol, uint8_t priority)
{
	struct dcb_app app = { selector, priority, protocol };

	net_put(DCB_ATTR_IEEE_APP, &app, sizeof(app));
}

static void head(void)
{
	struct dcbmsg head = { .cmd = DCB_CMD_IEEE_GET };

	net_begin();
	net_message_raw(RTM_GETDCB, 0);
	net_put_raw(&head, sizeof(head));
	net_put_text(DCB_ATTR_IFNAME, "eth2");
	net_nest(DCB_ATTR_IEEE);
}

static void tail(void)
{
	net_nest_end();
	net_end();
	net_ack();
}

static void whole_answer(void)
{
	struct ieee_ets ets = { .ets_cap = 8, .tc_tx_bw = { 50, 0, 0, 50 },
				.tc_tsa = { 2, 2, 2, 2 },
				.prio_tc = { 0, 0, 0, 3 } };
	struct ieee_pfc pfc = { .pfc_cap = 8, .pfc_en = 1 << 3, .delay = 7 };

	pfc.requests[3] = 11;
	pfc.indications[3] = UINT64_MAX;
	head();
	net_put(DCB_ATTR_IEEE_ETS, &ets, sizeof(ets));
	net_put(DCB_ATTR_IEEE_PFC, &pfc, sizeof(pfc));
	net_nest(DCB_ATTR_IEEE_APP_TABLE);
	app(5, 26, 3);
	app(5, 48, 6);
	app(5, 48, 2);		/* of two the higher counts */
	app(1, 0, 1);		/* of what nothing else decides */
	app(4, 4420, 5);	/* a port */
	app(5, 64, 7);		/* no DSCP */
	app(5, 10, 8);		/* no priority */
	net_nest_end();
	net_nest(TRUST_TABLE);
	net_put_u8(TRUST, 5);
	net_put_u8(TRUST, 255);
	net_nest_end();
	tail();
}

static void all_of_it(void)
{
	struct peerlane_dcb_info info;

	begin();
	net_expect_raw(RTM_GETDCB, whole_answer);
	CHECK_INT(peerlane_dcb_query("eth2", &info), 0);
	CHECK(info.have_pfc && info.have_ets && info.have_dscp);
	CHECK_INT(info.pfc_enabled, 8);
	CHECK_INT(info.pfc_max, 8);
	CHECK_INT(info.delay, 7);
	CHECK_INT(info.requests[3], 11);
	CHECK(info.indications[3] == UINT64_MAX);
	CHECK_INT(info.trust, PEERLANE_TRUST_DSCP);
	CHECK_INT(info.dscp_prio[26], 3);
	CHECK_INT(info.dscp_prio[48], 6);
	CHECK_INT(info.dscp_prio[10], -1);
	CHECK_INT(info.dscp_prio[0], -1);
	CHECK_INT(info.default_prio, 1);
	CHECK_INT(info.prio_tc[3], 3);
	CHECK_INT(info.tc_bandwidth[3], 50);
	CHECK_INT(info.tc_tsa[3], 2);
	tree_end();
}

/* Of kernels before 6.2, and of a driver that has only part of it */
static void little_answer(void)
{
	head();
	net_put(DCB_ATTR_IEEE_PFC, "short", 5);
	net_nest(TRUST_TABLE);
	net_nest_end();
	tail();
}

static void little_of_it(void)
{
	struct peerlane_dcb_info info;

	begin();
	net_expect_raw(RTM_GETDCB, little_answer);
	CHECK_INT(peerlane_dcb_query("eth2", &info), 0);
	CHECK(!info.have_pfc && !info.have_ets && !info.have_dscp);
	CHECK_INT(info.trust, PEERLANE_TRUST_UNKNOWN);
	CHECK_INT(info.default_prio, -1);
	tree_end();
}

static void pcp_answer(void)
{
	head();
	net_nest(TRUST_TABLE);
	net_put_u8(TRUST, 255);
	net_put_u8(TRUST, 5);
	net_nest_end();
	tail();
}

static void pcp_first(void)
{
	struct peerlane_dcb_info info;

	begin();
	net_expect_raw(RTM_GETDCB, pcp_answer);
	CHECK_INT(peerlane_dcb_query("eth2", &info), 0);
	CHECK_INT(info.trust, PEERLANE_TRUST_PCP);
	tree_end();
}

static void unsupported(void) { net_error(EOPNOTSUPP, NULL); }

static void no_dcb(void)
{
	struct peerlane_dcb_info info;

	begin();
	memset(&info, 0xee, sizeof(info));
	net_expect_raw(RTM_GETDCB, unsupported);
	CHECK_INT(peerlane_dcb_query("eth2", &info), -EOPNOTSUPP);
	CHECK_STR(peerlane_strerror(),
		  "eth2: driver mlx5_core or the kernel has no DCB (EOPNOTSUPP)");
	CHECK_INT(info.pfc_enabled, 0xeeeeeeee);
	CHECK_INT(peerlane_dcb_query("eth7", &info), -ENODEV);
	tree_end();
}

/* ---- pause frames ------------------------------------------------------------ */

static struct peerlane_pause_info pauses(void)
{
	struct peerlane_pause_info info;

	memset(&info, 0xee, sizeof(info));
	CHECK_INT(peerlane_pause_query("eth2", &info), 0);
	return info;
}

static void mlx5_rows(void)
{
	struct peerlane_pause_info info;

	begin();
	tree_row("rx_prio3_pause", 5);
	tree_row("rx_prio3_pause_duration", 600);
	tree_row("tx_prio3_pause", 7);
	tree_row("rx_prio3_pause_transition", 8);
	tree_row("rx_prio3_bytes", 9);
	tree_row("rx_global_pause", 10);
	tree_row("rx_pause_ctrl_phy", 11);
	tree_row("tx_pause_ctrl_phy", 12);
	tree.pause = 2;
	info = pauses();
	CHECK_INT(info.rx_have, 8);
	CHECK_INT(info.tx_have, 8);
	CHECK_INT(info.usec_have, 8);
	CHECK_INT(info.rx_frames[3], 5);
	CHECK_INT(info.rx_usec[3], 600);
	CHECK_INT(info.tx_frames[3], 7);
	CHECK(info.have_global && info.have_param);
	CHECK_INT(info.rx_global, 11);
	CHECK_INT(info.tx_global, 12);
	CHECK(!info.autoneg && info.rx && !info.tx);
	tree_end();
}

static void dialects(void)
{
	static const char *const rows[][2] = {
		{ "rx_pfc_ena_frames_pri5", "tx_pfc_ena_frames_pri5" },
		{ "rx_priority_5_xoff.nic", "tx_priority_5_xoff.nic" },
		{ "port.rx_priority_5_xoff_rx", "port.tx_priority_5_xoff_tx" },
		{ "rx_pause_prio_5", "tx_pause_prio_5" },
		{ "rx_pb_5_pxoff", "tx_pb_5_pxoff" },
		{ "rx_ppp5_frames         ", "tx_ppp5_frames         " },
		{ "mac_rx_pfc_pri5_pkt_num", "mac_tx_pfc_pri5_pkt_num" },
	};
	struct peerlane_pause_info info;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		tree_row(rows[i][0], 55);
		tree_row(rows[i][1], 66);
		tree_row("rx_prio9_pause", 1);	/* no such priority */
		tree_row("rx_prio_pause", 1);
		info = pauses();
		CHECK_INT(info.rx_have, 1 << 5);
		CHECK_INT(info.tx_have, 1 << 5);
		CHECK_INT(info.rx_frames[5], 55);
		CHECK_INT(info.tx_frames[5], 66);
		tree_end();
	}
}

/* Rows come and go with PFC; names and values of two moments do not fit. */
static void rows_that_change(void)
{
	struct peerlane_pause_info info;

	begin();
	tree_row("rx_prio3_pause", 5);
	tree.rows_change = 2;
	info = pauses();
	CHECK_INT(info.rx_have, 8);
	tree.rows_change = 1000;
	info = pauses();
	CHECK_INT(info.rx_have, 0);
	tree_end();
}

static void nothing_told(void)
{
	struct peerlane_pause_info info;

	begin();
	info = pauses();
	CHECK(!info.rx_have && !info.have_global && !info.have_param);
	tree.ethtool_errno = EOPNOTSUPP;
	info = pauses();
	CHECK(!info.rx_have && !info.have_param);
	CHECK_INT(peerlane_pause_query("eth7", &info), -ENODEV);
	tree_end();
}

/* A name of 32 bytes without an end */
static void long_names(void)
{
	struct peerlane_pause_info info;

	begin();
	tree_row("0123456789012345678901234567890123456789", 5);
	tree_row("rx_prio0_pause", 5);
	info = pauses();
	CHECK_INT(info.rx_have, 1);
	tree_end();
}

static const struct tap_case cases[] = {
	TAP_CASE(all_of_it), TAP_CASE(little_of_it), TAP_CASE(pcp_first),
	TAP_CASE(no_dcb), TAP_CASE(mlx5_rows), TAP_CASE(dialects),
	TAP_CASE(rows_that_change), TAP_CASE(nothing_told),
	TAP_CASE(long_names),
};

int main(void)
{
	return TAP_RUN(cases);
}
