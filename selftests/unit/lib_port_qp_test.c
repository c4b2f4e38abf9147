// SPDX-License-Identifier: GPL-2.0
/* Queue pairs, from a kernel that repeats and forgets. */
#include "lib_fake_tree.h"

#include <rdma/rdma_netlink.h>

#define TYPE(command)	RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command)
#define GET		TYPE(RDMA_NLDEV_CMD_GET)
#define QP_GET		TYPE(RDMA_NLDEV_CMD_RES_QP_GET)

static struct peerlane_qp_info *qps;
static size_t qp_count;

static void begin(void)
{
	tree_begin();
	net.socket_errno = 0;
}

static void list(size_t want)
{
	qps = NULL;
	qp_count = 99;
	CHECK_INT(peerlane_qp_list(&qps, &qp_count), 0);
	CHECK_INT(qp_count, want);
	if (qp_count != want)
		exit(1);
}

static void end(void)
{
	free(qps);
	tree_end();
}

/* ---- answers --------------------------------------------------------------- */

static void device(uint32_t index, const char *name)
{
	net_begin();
	net_message_raw(GET, NLM_F_MULTI);
	net_put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, index);
	net_put_text(RDMA_NLDEV_ATTR_DEV_NAME, name);
	net_put_u32(RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	net_end();
}

static void one_device(void)
{
	device(0, "rxe0");
	net_done(0);
}

static void three_devices(void)
{
	device(0, "rxe0");
	device(1, "gone0");
	device(2, "mlx5_0");
	net_done(0);
}

static void table_begin(int flags)
{
	net_begin();
	net_message_raw(QP_GET, NLM_F_MULTI | flags);
	net_put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	net_put_text(RDMA_NLDEV_ATTR_DEV_NAME, "rxe0");
	net_nest(RDMA_NLDEV_ATTR_RES_QP);
}

static void table_end(void)
{
	net_nest_end();
	net_end();
}

static void row(uint32_t lqpn, uint32_t rqpn, uint32_t pid)
{
	net_nest(RDMA_NLDEV_ATTR_RES_QP_ENTRY);
	net_put_u32(RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	net_put_u32(RDMA_NLDEV_ATTR_RES_LQPN, lqpn);
	net_put_u32(RDMA_NLDEV_ATTR_RES_PID, pid);
	net_put_u32(RDMA_NLDEV_ATTR_RES_RQPN, rqpn);
	net_put_u32(RDMA_NLDEV_ATTR_RES_RQ_PSN, 111);
	net_put_u32(RDMA_NLDEV_ATTR_RES_SQ_PSN, 222);
	net_put_u8(RDMA_NLDEV_ATTR_RES_TYPE, 2);
	net_put_u8(RDMA_NLDEV_ATTR_RES_STATE, 3);
	net_nest_end();
}

static void gsi_and_connected(void)
{
	table_begin(0);
	row(17, 18, 4242);
	net_nest(RDMA_NLDEV_ATTR_RES_QP_ENTRY);
	net_put_u32(RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	net_put_u32(RDMA_NLDEV_ATTR_RES_LQPN, 1);
	net_put_text(RDMA_NLDEV_ATTR_RES_KERN_NAME, "ib_core");
	net_put_u32(RDMA_NLDEV_ATTR_RES_SQ_PSN, 5);
	net_put_u8(RDMA_NLDEV_ATTR_RES_TYPE, 1);
	net_put_u8(RDMA_NLDEV_ATTR_RES_STATE, 3);
	net_nest_end();
	table_end();
	net_done(0);
}

static void fields(void)
{
	begin();
	tree_file("/proc/4242/comm", "ib_send bw\n");
	net_expect_raw(GET, one_device);
	net_expect_raw(QP_GET, gsi_and_connected);
	list(2);
	CHECK_INT(qps[0].lqpn, 1);
	CHECK(qps[0].kernel && !qps[0].connected);
	CHECK_STR(qps[0].comm, "ib_core");
	CHECK_INT(qps[0].pid, 0);
	CHECK_INT(qps[0].type, 1);
	CHECK_STR(qps[1].device, "rxe0");
	CHECK_STR(qps[1].comm, "ib_send bw");
	CHECK_INT(qps[1].port, 1);
	CHECK_INT(qps[1].lqpn, 17);
	CHECK_INT(qps[1].rqpn, 18);
	CHECK_INT(qps[1].type, 2);
	CHECK_INT(qps[1].state, 3);
	CHECK_INT(qps[1].sq_psn, 222);
	CHECK_INT(qps[1].rq_psn, 111);
	CHECK_INT(qps[1].pid, 4242);
	CHECK(!qps[1].kernel && qps[1].connected);
	end();
}

static void no_rdma(void)
{
	tree_begin();
	list(0);
	CHECK(!qps);
	CHECK_STR(peerlane_strerror(), "");
	tree_end();
}

/* The process has ended; entries without a number are none. */
static void odd_rows(void)
{
	table_begin(0);
	row(17, 18, 4242);
	net_nest(RDMA_NLDEV_ATTR_RES_QP_ENTRY);
	net_put_u32(RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	net_nest_end();
	net_nest(RDMA_NLDEV_ATTR_RES_QP_ENTRY);
	net_put_u32(RDMA_NLDEV_ATTR_RES_LQPN, 9);
	net_nest_end();
	table_end();
	net_done(0);
}

static void odd_entries(void)
{
	begin();
	net_expect_raw(GET, one_device);
	net_expect_raw(QP_GET, odd_rows);
	list(2);
	CHECK_INT(qps[0].lqpn, 9);
	CHECK_INT(qps[0].pid, 0);
	CHECK_STR(qps[1].comm, "");
	end();
}

/* ---- lists that change while they are read ------------------------------------ */

static int passes;

/* 18 is passed over in the first pass, 17 comes twice in it. */
static void over_two_messages(void)
{
	table_begin(0);
	row(17, 40, 1);
	table_end();
	table_begin(0);
	row(17, 41, 1);
	if (passes++)
		row(18, 40, 1);
	table_end();
	net_done(0);
}

static void doubles_and_gaps(void)
{
	begin();
	passes = 0;
	net_expect_raw(GET, one_device);
	net_expect_raw(QP_GET, over_two_messages);
	net_expect_raw(QP_GET, over_two_messages);
	net_expect_raw(QP_GET, over_two_messages);
	list(2);
	CHECK_INT(qps[0].lqpn, 17);
	CHECK_INT(qps[0].rqpn, 41);	/* the newest */
	CHECK_INT(qps[1].lqpn, 18);
	end();
}

/* Each pass has another one more: after four that is the list. */
static void growing(void)
{
	table_begin(0);
	row(100 + (uint32_t)passes++, 1, 1);
	table_end();
	table_begin(0);
	row(7, 1, 1);
	table_end();
	net_done(0);
}

static void never_settles(void)
{
	int i;

	begin();
	passes = 0;
	net_expect_raw(GET, one_device);
	for (i = 0; i < 4; i++)
		net_expect_raw(QP_GET, growing);
	list(5);
	CHECK_INT(qps[4].lqpn, 103);
	end();
}

static void interrupted(void)
{
	table_begin(NLM_F_DUMP_INTR);
	row(17, 18, 1);
	table_end();
	net_done(0);
}

static void interrupted_once(void)
{
	begin();
	net_expect_raw(GET, one_device);
	net_expect_raw(QP_GET, interrupted);
	net_expect_raw(QP_GET, gsi_and_connected);
	list(2);
	end();
}

static void interrupted_always(void)
{
	struct peerlane_qp_info *none = (void *)1;
	size_t count = 5;
	int i;

	begin();
	net_expect_raw(GET, one_device);
	for (i = 0; i < 4; i++)
		net_expect_raw(QP_GET, interrupted);
	CHECK_INT(peerlane_qp_list(&none, &count), -EMSGSIZE);
	CHECK_HAS(peerlane_strerror(), "of rxe0 it changed each time");
	CHECK(none == (void *)1 && count == 5);
	tree_end();
}

/* ---- devices that fail ------------------------------------------------------- */

static void refused(void) { net_error(EINVAL, NULL); }
static void ends_badly(void) { net_done(ENODEV); }

static void one_bad_device(void)
{
	begin();
	net_expect_raw(GET, three_devices);
	net_expect_raw(QP_GET, refused);
	net_expect_raw(QP_GET, ends_badly);
	net_expect_raw(QP_GET, gsi_and_connected);
	list(2);
	CHECK_STR(qps[0].device, "mlx5_0");
	CHECK_STR(peerlane_strerror(), "");
	end();
}

static void denied(void) { net_error(EPERM, "not for you"); }

static void no_devices_told(void)
{
	struct peerlane_qp_info *none;
	size_t count;

	begin();
	net_expect_raw(GET, denied);
	CHECK_INT(peerlane_qp_list(&none, &count), -EPERM);
	CHECK_HAS(peerlane_strerror(), "list of RDMA devices: not for you (EPERM)");
	tree_end();
}

static void silence(void) { net_fail(EAGAIN); }

static void no_answer(void)
{
	begin();
	net_expect_raw(GET, one_device);
	net_expect_raw(QP_GET, silence);
	list(0);
	end();
}

static void words(void)
{
	CHECK_STR(peerlane_qp_type_name(2), "rc");
	CHECK_STR(peerlane_qp_type_name(0xff), "driver");
	CHECK_STR(peerlane_qp_type_name(77), "unknown");
	CHECK_STR(peerlane_qp_state_name(3), "rts");
	CHECK_STR(peerlane_qp_state_name(7), "unknown");
}

static const struct tap_case cases[] = {
	TAP_CASE(fields), TAP_CASE(no_rdma), TAP_CASE(odd_entries),
	TAP_CASE(doubles_and_gaps), TAP_CASE(never_settles),
	TAP_CASE(interrupted_once), TAP_CASE(interrupted_always),
	TAP_CASE(one_bad_device), TAP_CASE(no_devices_told),
	TAP_CASE(no_answer), TAP_CASE(words),
};

int main(void)
{
	return TAP_RUN(cases);
}
