// SPDX-License-Identifier: GPL-2.0
/* Flows and this host: queue pairs, pairs told to the kernel, iWARP over TCP. */
#include "lib_fake_netlink.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <rdma/rdma_netlink.h>

/* ---- two devices: rxe0 at 10.0.0.1, rxe1 at 10.0.0.2 ------------------------ */

#define ADDRESS(last) { [10] = 0xff, 0xff, 10, 0, 0, last }

static const struct peerlane_gid_info gids[] = {
	{ .device = "rxe0", .raw = ADDRESS(1) },
	{ .device = "rxe1", .raw = ADDRESS(2) },
	{ .device = "rxe1", .raw = { 0xfe, 0x80, [15] = 2 } },
};

static const struct peerlane_qp_info qps[] = {
	{ .device = "rxe0", .lqpn = 17, .rqpn = 40, .connected = true,
	  .pid = 7, .comm = "writer" },
	{ .device = "rxe0", .lqpn = 18, .rqpn = 99, .connected = true },
	{ .device = "rxe0", .lqpn = 19, .rqpn = 99, .connected = true },
	{ .device = "rxe0", .lqpn = 20 },
	{ .device = "rxe1", .lqpn = 17, .rqpn = 40, .connected = true,
	  .pid = 8, .comm = "other" },
	{ .device = "rxe1", .lqpn = 40, .rqpn = 17, .connected = true,
	  .pid = 9, .comm = "reader" },
};

static bool no_qps;
static int qp_error, gid_error;

int __wrap_peerlane_qp_list(struct peerlane_qp_info **list, size_t *count)
{
	if (qp_error)
		return pl_fail(-qp_error, "queue pairs");
	*count = no_qps ? 0 : sizeof(qps) / sizeof(qps[0]);
	*list = no_qps ? NULL : malloc(sizeof(qps));
	if (*list)
		memcpy(*list, qps, sizeof(qps));
	return 0;
}

int __wrap_peerlane_gid_list(const char *device, uint32_t port,
			     struct peerlane_gid_info **list, size_t *count)
{
	CHECK(!device && !port);
	if (gid_error)
		return pl_fail(-gid_error, "addresses");
	*count = sizeof(gids) / sizeof(gids[0]);
	*list = malloc(sizeof(gids));
	memcpy(*list, gids, sizeof(gids));
	return 0;
}

static void begin(void)
{
	net_reset();
	no_qps = false;
	qp_error = 0;
	gid_error = 0;
}

static struct peerlane_flow_qp join(uint8_t from, uint8_t to, uint32_t qpn,
				    uint32_t peer)
{
	struct peerlane_flow_info flow = {
		.key = { .saddr = ADDRESS(from), .daddr = ADDRESS(to),
			 .qpn = qpn },
		.peer_qpn = peer,
	};
	struct peerlane_flow_qp found;

	memset(&found, 0xee, sizeof(found));
	CHECK_INT(peerlane_flow_join(&flow, 1, &found), 0);
	return found;
}

static void joins(void)
{
	struct peerlane_flow_qp qp;

	begin();
	/* sent by rxe0, to somebody else's 40 */
	qp = join(1, 77, 40, 0);
	CHECK(qp.found && qp.sender);
	CHECK_STR(qp.qp.comm, "writer");
	/* the same numbers by the other device */
	qp = join(2, 77, 40, 0);
	CHECK(qp.found && qp.sender);
	CHECK_STR(qp.qp.comm, "other");
	/* received, by address as well */
	qp = join(77, 2, 17, 0);
	CHECK(qp.found && !qp.sender);
	CHECK_STR(qp.qp.comm, "other");
	qp = join(77, 1, 17, 0);
	CHECK_STR(qp.qp.comm, "writer");
	/* both ends here: the sender */
	qp = join(1, 2, 40, 0);
	CHECK(qp.sender);
	CHECK_STR(qp.qp.comm, "writer");
	/* datagrams: only the number of the sender tells */
	qp = join(1, 77, 1000, 20);
	CHECK(qp.found && qp.sender);
	CHECK_INT(qp.qp.lqpn, 20);
	net_finish();
}

static void does_not_join(void)
{
	struct peerlane_flow_qp qp;

	begin();
	CHECK(!join(77, 78, 17, 0).found);
	CHECK(!join(77, 1, 21, 0).found);
	CHECK(!join(77, 1, 0, 0).found);
	/* two of this device are connected to a number 99 */
	CHECK(!join(1, 77, 99, 0).found);
	qp = join(1, 77, 99, 19);
	CHECK(qp.found && qp.sender);
	CHECK_INT(qp.qp.lqpn, 19);
	/* the kernel's guess contradicts the tables */
	qp = join(1, 77, 40, 18);
	CHECK_INT(qp.qp.lqpn, 17);
	no_qps = true;
	qp = join(1, 77, 40, 0);
	CHECK(!qp.found && !qp.sender);
	CHECK_STR(qp.qp.device, "");
	net_finish();
}

static void join_fails(void)
{
	struct peerlane_flow_info flow = { .age = 1 };
	struct peerlane_flow_qp found;

	begin();
	qp_error = -EMSGSIZE;
	CHECK_INT(peerlane_flow_join(&flow, 1, &found), -EMSGSIZE);
	qp_error = 0;
	gid_error = -ENOMEM;
	CHECK_INT(peerlane_flow_join(&flow, 1, &found), -ENOMEM);
	gid_error = 0;
	fake.calloc_fail = 2;
	CHECK_INT(peerlane_flow_join(&flow, 1, &found), -ENOMEM);
	CHECK_INT(peerlane_flow_join(NULL, 0, NULL), 0);
	net_finish();
}

/* ---- pairs ------------------------------------------------------------------- */

static void put_flow(uint8_t from, uint8_t to, uint32_t qpn, uint32_t pairing)
{
	const uint8_t source[4] = { 10, 0, 0, from };
	const uint8_t target[4] = { 10, 0, 0, to };

	net_message(NLM_F_MULTI, PEERLANE_CMD_FLOW_GET);
	net_put(PEERLANE_A_FLOW_SADDR, source, 4);
	net_put(PEERLANE_A_FLOW_DADDR, target, 4);
	net_put_u32(PEERLANE_A_FLOW_QPN, qpn);
	net_put_u32(PEERLANE_A_FLOW_PAIRING, pairing);
}

static void five_flows(void)
{
	net_begin();
	put_flow(1, 77, 40, PEERLANE_PAIRING_NONE);
	put_flow(77, 1, 17, PEERLANE_PAIRING_PORT);
	put_flow(77, 1, 18, PEERLANE_PAIRING_CM);
	put_flow(77, 1, 19, PEERLANE_PAIRING_USER);
	put_flow(77, 78, 1, PEERLANE_PAIRING_NONE);
	net_end();
	net_done(0);
}

static uint32_t told[2];
static int tells;

static void pair(void)
{
	struct nlattr *tb[PEERLANE_A_FLOW_MAX + 1];

	net_sent(tb, PEERLANE_A_FLOW_MAX);
	told[tells++] = nla_get_u32(tb[PEERLANE_A_FLOW_PEER_QPN]);
	net_ack();
}

static void pair_too_late(void) { net_error(ENOENT, "no such flow"); }
static void pair_refused(void) { net_error(EPERM, NULL); }

static void pairs(void)
{
	size_t count = 9;

	begin();
	tells = 0;
	net_expect(PEERLANE_CMD_FLOW_GET, five_flows);
	net_expect_times(PEERLANE_CMD_FLOW_SET, pair, 2);
	CHECK_INT(peerlane_flow_pair_local(&count), 0);
	CHECK_INT(count, 2);
	CHECK_INT(told[0], 17);
	CHECK_INT(told[1], 40);
	net_expect(PEERLANE_CMD_FLOW_GET, five_flows);
	net_expect_times(PEERLANE_CMD_FLOW_SET, pair_too_late, 2);
	CHECK_INT(peerlane_flow_pair_local(&count), 0);
	CHECK_INT(count, 0);
	CHECK_STR(peerlane_strerror(), "");
	net_expect(PEERLANE_CMD_FLOW_GET, five_flows);
	net_expect(PEERLANE_CMD_FLOW_SET, pair_refused);
	CHECK_INT(peerlane_flow_pair_local(NULL), -EPERM);
	net_finish();
}

/* ---- iWARP --------------------------------------------------------------------- */

#define NLDEV(command) RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command)

static void two_devices(void)
{
	net_begin();
	net_message_raw(NLDEV(RDMA_NLDEV_CMD_GET), NLM_F_MULTI);
	net_put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	net_put_text(RDMA_NLDEV_ATTR_DEV_NAME, "rxe0");
	net_put_text(RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
	net_message_raw(NLDEV(RDMA_NLDEV_CMD_GET), NLM_F_MULTI);
	net_put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 1);
	net_put_text(RDMA_NLDEV_ATTR_DEV_NAME, "siw0");
	net_put_text(RDMA_NLDEV_ATTR_DEV_PROTOCOL, "iw");
	net_end();
	net_done(0);
}

static void put_four(int attr, uint8_t last, uint16_t number)
{
	struct sockaddr_in address = { .sin_family = AF_INET };

	address.sin_port = htons(number);
	address.sin_addr.s_addr = htonl(0x0a000000U + last);
	net_put(attr, &address, sizeof(address));
}

static void put_six(int attr, uint8_t last, uint16_t number)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6 };

	address.sin6_port = htons(number);
	address.sin6_addr.s6_addr[15] = last;
	net_put(attr, &address, sizeof(address));
}

static void connections(void)
{
	net_begin();
	net_message_raw(NLDEV(RDMA_NLDEV_CMD_RES_CM_ID_GET), NLM_F_MULTI);
	net_nest(RDMA_NLDEV_ATTR_RES_CM_ID);
	net_nest(RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY);
	net_put_u32(RDMA_NLDEV_ATTR_RES_LQPN, 5);
	net_put_text(RDMA_NLDEV_ATTR_RES_KERN_NAME, "nvme_rdma");
	put_four(RDMA_NLDEV_ATTR_RES_SRC_ADDR, 1, 4000);
	put_four(RDMA_NLDEV_ATTR_RES_DST_ADDR, 2, 80);
	net_nest_end();
	/* a listener */
	net_nest(RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY);
	put_four(RDMA_NLDEV_ATTR_RES_SRC_ADDR, 1, 4000);
	put_four(RDMA_NLDEV_ATTR_RES_DST_ADDR, 0, 0);
	net_nest_end();
	net_nest(RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY);
	put_six(RDMA_NLDEV_ATTR_RES_SRC_ADDR, 1, 4001);
	put_six(RDMA_NLDEV_ATTR_RES_DST_ADDR, 2, 80);
	net_nest_end();
	/* hardware: the kernel's TCP knows nothing */
	net_nest(RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY);
	put_four(RDMA_NLDEV_ATTR_RES_SRC_ADDR, 1, 4002);
	put_four(RDMA_NLDEV_ATTR_RES_DST_ADDR, 2, 80);
	net_nest_end();
	/* cut short, and empty */
	net_nest(RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY);
	net_put(RDMA_NLDEV_ATTR_RES_SRC_ADDR, "\2", 1);
	net_nest_end();
	net_nest(RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY);
	net_nest_end();
	net_nest_end();
	net_end();
	net_done(0);
}

static void put_socket(int family, uint8_t from, uint16_t sport,
		       const void *info, size_t size)
{
	struct inet_diag_msg row = { .idiag_family = (uint8_t)family,
				     .idiag_state = 1 };
	int word = family == AF_INET ? 0 : 3;
	uint32_t base = family == AF_INET ? 0x0a000000U : 0;

	row.id.idiag_sport = htons(sport);
	row.id.idiag_dport = htons(80);
	row.id.idiag_src[word] = htonl(base + from);
	row.id.idiag_dst[word] = htonl(base + 2);
	net_message_raw(SOCK_DIAG_BY_FAMILY, NLM_F_MULTI);
	net_put_raw(&row, sizeof(row));
	net_put(INET_DIAG_INFO, info, size);
}

/* As long as the first kernels had it: up to tcpi_total_retrans */
static uint32_t old_info[26];
static uint8_t new_info[512];

static void sockets_four(void)
{
	uint32_t srtt = 250;

	/* tcpi_rtt is the word behind eight bytes and 15 others */
	memcpy(new_info + 8 + 15 * 4, &srtt, 4);
	net_begin();
	put_socket(AF_INET, 1, 4000, new_info, sizeof(new_info));
	put_socket(AF_INET, 1, 4999, new_info, sizeof(new_info));
	put_socket(AF_INET, 9, 4002, new_info, sizeof(new_info));
	net_message_raw(SOCK_DIAG_BY_FAMILY, NLM_F_MULTI);
	net_put_raw("short", 5);
	net_end();
	net_done(0);
}

static void sockets_six(void)
{
	old_info[25] = 3;
	net_begin();
	put_socket(AF_INET6, 1, 4001, old_info, sizeof(old_info));
	net_end();
	net_done(0);
}

static void no_six(void) { net_done(ENOENT); }

static void iwarp(void)
{
	static const uint8_t four[16] = ADDRESS(1);
	struct peerlane_tcp_flow *list;
	size_t count;
	int i;

	begin();
	net_expect_raw(NLDEV(RDMA_NLDEV_CMD_GET), two_devices);
	net_expect_raw(NLDEV(RDMA_NLDEV_CMD_RES_CM_ID_GET), connections);
	net_expect_raw(SOCK_DIAG_BY_FAMILY, sockets_four);
	net_expect_raw(SOCK_DIAG_BY_FAMILY, sockets_six);
	CHECK_INT(peerlane_flow_tcp(&list, &count), 0);
	CHECK_INT(count, 3);
	for (i = 0; i < (int)count; i++) {
		CHECK_STR(list[i].device, "siw0");
		CHECK_INT(list[i].dport, 80);
		CHECK_INT(list[i].has_tcp, list[i].sport != 4002);
		if (list[i].sport == 4000) {
			CHECK(!memcmp(list[i].saddr, four, 16));
			CHECK_STR(list[i].comm, "nvme_rdma");
			CHECK_INT(list[i].lqpn, 5);
			CHECK_INT(list[i].srtt, 250000);
			CHECK_INT(list[i].state, 1);
		} else if (list[i].sport == 4001) {
			CHECK_INT(list[i].saddr[15], 1);
			CHECK_INT(list[i].retransmitted, 3);
			CHECK_INT(list[i].bytes_sent, 0);
		}
	}
	free(list);
	net_expect_raw(NLDEV(RDMA_NLDEV_CMD_GET), two_devices);
	net_expect_raw(NLDEV(RDMA_NLDEV_CMD_RES_CM_ID_GET), connections);
	net_expect_raw(SOCK_DIAG_BY_FAMILY, sockets_four);
	net_expect_raw(SOCK_DIAG_BY_FAMILY, no_six);
	CHECK_INT(peerlane_flow_tcp(&list, &count), 0);
	free(list);
	net_finish();
}

static void nothing(void) { net_done(0); }

static void no_iwarp(void)
{
	struct peerlane_tcp_flow *list = (void *)1;
	size_t count = 9;

	begin();
	net_expect_raw(NLDEV(RDMA_NLDEV_CMD_GET), nothing);
	CHECK_INT(peerlane_flow_tcp(&list, &count), 0);
	CHECK(!list && !count);
	net.socket_errno = EPROTONOSUPPORT;
	CHECK_INT(peerlane_flow_tcp(&list, &count), 0);
	CHECK(!list && !count);
	net_finish();
}

static const struct tap_case cases[] = {
	TAP_CASE(joins), TAP_CASE(does_not_join), TAP_CASE(join_fails),
	TAP_CASE(pairs), TAP_CASE(iwarp), TAP_CASE(no_iwarp),
};

int main(void)
{
	return TAP_RUN(cases);
}
