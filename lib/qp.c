// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Queue pairs of this node: which process, which peer, in which state. */
#include <errno.h>
#include <linux/netlink.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdlib.h>
#include <string.h>

#include "attr.h"
#include "nldev.h"

#define WHAT		"list of queue pairs"
/* QPNs have 24 bits. */
#define QPS_MOST	(1U << 24)
/* So often a list that changes while it is read is read again. */
#define TRIES		4

/**
 * struct qps - the list while it grows
 * @list: device by device, each sorted and without doubles
 * @count: entries
 * @room: that there is room for
 * @device: that is being asked
 * @messages: of the answer that is coming in
 */
struct qps {
	struct peerlane_qp_info *list;
	size_t count, room;
	const char *device;
	size_t messages;
};

static struct peerlane_qp_info *new_entry(struct qps *qps)
{
	struct peerlane_qp_info *list;

	list = pl_grow(qps->list, qps->count, &qps->room, sizeof(*list),
		       (struct pl_growth){ 64, QPS_MOST });
	if (!list)
		return NULL;
	qps->list = list;
	memset(&qps->list[qps->count], 0, sizeof(*qps->list));
	return &qps->list[qps->count++];
}

static void fill(struct peerlane_qp_info *qp, struct nlattr **tb)
{
	qp->port = pl_netlink_number(tb[RDMA_NLDEV_ATTR_PORT_INDEX], 0);
	qp->lqpn = pl_netlink_number(tb[RDMA_NLDEV_ATTR_RES_LQPN], 0);
	qp->type = pl_netlink_number(tb[RDMA_NLDEV_ATTR_RES_TYPE], 0);
	qp->state = pl_netlink_number(tb[RDMA_NLDEV_ATTR_RES_STATE], 0);
	qp->sq_psn = pl_netlink_number(tb[RDMA_NLDEV_ATTR_RES_SQ_PSN], 0);
	/* Types without one peer have none of these. */
	qp->connected = tb[RDMA_NLDEV_ATTR_RES_RQPN] != NULL;
	qp->rqpn = pl_netlink_number(tb[RDMA_NLDEV_ATTR_RES_RQPN], 0);
	qp->rq_psn = pl_netlink_number(tb[RDMA_NLDEV_ATTR_RES_RQ_PSN], 0);
	qp->kernel = tb[RDMA_NLDEV_ATTR_RES_KERN_NAME] != NULL;
	qp->pid = (int32_t)pl_netlink_number(tb[RDMA_NLDEV_ATTR_RES_PID], 0);
	pl_netlink_text(tb[RDMA_NLDEV_ATTR_RES_KERN_NAME], qp->comm,
			sizeof(qp->comm));
}

static int entry(struct nlattr *nest, struct qps *qps)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	struct peerlane_qp_info *qp;

	if (nla_parse_nested(tb, RDMA_NLDEV_ATTR_MAX - 1, nest, NULL) < 0 ||
	    !tb[RDMA_NLDEV_ATTR_RES_LQPN])
		return 0;
	qp = new_entry(qps);
	if (!qp)
		return pl_fail(ENOMEM, WHAT);
	pl_copy_text(qp->device, qps->device, sizeof(qp->device));
	fill(qp, tb);
	return 0;
}

static int table(struct nlmsghdr *hdr, void *arg)
{
	struct qps *qps = arg;
	struct nlattr *nest, *each;
	int left, ret = 0;

	qps->messages++;
	nest = nlmsg_find_attr(hdr, 0, RDMA_NLDEV_ATTR_RES_QP);
	if (!nest)
		return 0;
	nla_for_each_nested(each, nest, left) {
		ret = entry(each, qps);
		if (ret)
			break;
	}
	return ret;
}

static int order(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

/* What makes a QP of a device: 0 and 1 exist on each port. */
static int by_key(const struct peerlane_qp_info *a,
		  const struct peerlane_qp_info *b)
{
	int ret = order(a->lqpn, b->lqpn);

	if (!ret)
		ret = order(a->port, b->port);
	return ret ? ret : order(a->type, b->type);
}

/* The same by place, so that the newest of several comes last. */
static int by_key_and_place(const void *left, const void *right)
{
	const struct peerlane_qp_info *a = *(struct peerlane_qp_info *const *)left;
	const struct peerlane_qp_info *b = *(struct peerlane_qp_info *const *)right;
	int ret = by_key(a, b);

	return ret ? ret : a < b ? -1 : 1;
}

/*
 * Entries from @first on are those of one device: sort them, and keep the
 * newest of those that came more than once.
 */
static int settle(struct qps *qps, size_t first)
{
	struct peerlane_qp_info *list = qps->list + first, *sorted, **order;
	size_t count = qps->count - first, i, kept = 0;

	if (count < 2)
		return 0;
	order = calloc(count, sizeof(*order));
	sorted = calloc(count, sizeof(*sorted));
	if (!order || !sorted) {
		free(order);
		free(sorted);
		return pl_fail(ENOMEM, WHAT);
	}
	for (i = 0; i < count; i++)
		order[i] = &list[i];
	qsort(order, count, sizeof(*order), by_key_and_place);
	for (i = 0; i < count; i++) {
		if (kept && !by_key(&sorted[kept - 1], order[i]))
			kept--;
		sorted[kept++] = *order[i];
	}
	memcpy(list, sorted, kept * sizeof(*list));
	qps->count = first + kept;
	free(order);
	free(sorted);
	return 0;
}

static int pass(struct nl_sock *socket, uint32_t index, struct qps *qps,
		bool *interrupted)
{
	struct nl_msg *msg = pl_nldev_msg(RDMA_NLDEV_CMD_RES_QP_GET,
					  NLM_F_DUMP);

	if (!msg)
		return pl_fail(ENOMEM, WHAT);
	nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	qps->messages = 0;
	return pl_netlink_ask(socket, msg, table, qps, interrupted, WHAT);
}

/*
 * The kernel goes on by position in a list that changes: between two messages
 * it repeats entries or leaves some out, and does not say so. So a list in
 * several messages is read until a pass brings nothing new; what only an
 * earlier pass had stays.
 */
static int device_qps(struct nl_sock *socket, const struct pl_nldev *device,
		      struct qps *qps)
{
	size_t first = qps->count, before;
	bool interrupted, single;
	int ret, i;

	qps->device = device->name;
	for (i = 0; i < TRIES; i++) {
		before = qps->count;
		interrupted = false;
		ret = pass(socket, device->index, qps, &interrupted);
		if (ret)
			return ret;
		single = qps->messages < 2;
		ret = settle(qps, first);
		if (ret)
			return ret;
		if (!interrupted && (single || (i && qps->count == before)))
			return 0;
	}
	/* What was seen is told, unless the kernel says it is wrong. */
	if (interrupted)
		return pl_fail_text(EMSGSIZE, WHAT ": of %s it changed each time it was read",
				    device->name);
	return 0;
}

static void add_names(struct qps *qps)
{
	size_t i;

	for (i = 0; i < qps->count; i++) {
		struct peerlane_qp_info *qp = &qps->list[i];

		if (qp->kernel || qp->pid <= 0)
			continue;
		/* Of one process there are often many in a row. */
		if (i && qp[-1].pid == qp->pid)
			pl_copy_text(qp->comm, qp[-1].comm, sizeof(qp->comm));
		else
			pl_process_name(qp->pid, qp->comm, sizeof(qp->comm));
	}
}

/*
 * A device that goes or is renamed meanwhile has no QPs to tell; one that is
 * not told about at all must not hide the others.
 */
static bool is_one_device(int err)
{
	return err != -ENOMEM && err != -EMSGSIZE;
}

static int all_qps(struct nl_sock *socket, struct qps *qps)
{
	struct pl_nldev *devices;
	size_t count, i;
	int ret;

	ret = pl_nldev_list(socket, &devices, &count);
	if (ret)
		return ret;
	for (i = 0; !ret && i < count; i++) {
		ret = device_qps(socket, &devices[i], qps);
		if (!ret || !is_one_device(ret))
			continue;
		pl_clear();
		ret = 0;
	}
	free(devices);
	return ret;
}

int peerlane_qp_list(struct peerlane_qp_info **list, size_t *count)
{
	struct qps qps = { 0 };
	struct nl_sock *socket;
	int ret;

	pl_clear();
	ret = pl_nldev_open(&socket);
	if (ret)
		return ret;
	if (socket) {
		ret = all_qps(socket, &qps);
		pl_netlink_close(socket);
	}
	if (!ret)
		add_names(&qps);
	if (ret || !qps.count) {
		free(qps.list);
		qps.list = NULL;
	}
	if (ret)
		return ret;
	*list = qps.list;
	*count = qps.count;
	return 0;
}

const char *peerlane_qp_type_name(uint32_t type)
{
	static const char *const names[] = {
		"smi", "gsi", "rc", "uc", "ud", "raw_ipv6", "raw_ethertype",
		"unknown", "raw_packet", "xrc_ini", "xrc_tgt",
	};

	if (type == 0xff)
		return "driver";
	return type < sizeof(names) / sizeof(names[0]) ? names[type] :
							 "unknown";
}

const char *peerlane_qp_state_name(uint32_t state)
{
	static const char *const names[] = {
		"reset", "init", "rtr", "rts", "sqd", "sqe", "err",
	};

	return state < sizeof(names) / sizeof(names[0]) ? names[state] :
							  "unknown";
}
