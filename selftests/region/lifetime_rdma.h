/* SPDX-License-Identifier: GPL-2.0 */
/* Memory regions on the rig's NIC, and a queue pair that is its own peer. */
#ifndef SELFTESTS_REGION_LIFETIME_RDMA_H
#define SELFTESTS_REGION_LIFETIME_RDMA_H

#include <infiniband/verbs.h>

#include "lifetime.h"

#define RDMA_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | \
		     IBV_ACCESS_REMOTE_WRITE)

struct rdma {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

static inline struct ibv_device *rdma_device(void)
{
	const char *name = getenv("RDMA_DEV");
	static struct ibv_device **list;
	int i;

	/* Never freed: children use it too, and loading providers is slow. */
	if (!list)
		list = ibv_get_device_list(NULL);
	for (i = 0; list && list[i]; i++)
		if (!name || !strcmp(ibv_get_device_name(list[i]), name))
			return list[i];
	return NULL;
}

static inline bool rdma_open(struct rdma *rdma)
{
	struct ibv_device *device = rdma_device();

	memset(rdma, 0, sizeof(*rdma));
	if (!CHECK(device))
		return false;
	rdma->context = ibv_open_device(device);
	if (!CHECK(rdma->context))
		return false;
	rdma->pd = ibv_alloc_pd(rdma->context);
	return CHECK(rdma->pd);
}

static inline void rdma_close(struct rdma *rdma)
{
	if (rdma->qp)
		CHECK_INT(ibv_destroy_qp(rdma->qp), 0);
	if (rdma->cq)
		CHECK_INT(ibv_destroy_cq(rdma->cq), 0);
	if (rdma->pd)
		CHECK_INT(ibv_dealloc_pd(rdma->pd), 0);
	if (rdma->context)
		CHECK_INT(ibv_close_device(rdma->context), 0);
	memset(rdma, 0, sizeof(*rdma));
}

static inline struct ibv_mr *rdma_reg(struct rdma *rdma, void *at,
				      uint64_t length)
{
	return ibv_reg_mr(rdma->pd, at, length, RDMA_ACCESS);
}

static inline int rdma_to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = RDMA_ACCESS,
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static inline int rdma_to_receive(struct ibv_qp *qp, int index,
				  const union ibv_gid *gid)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = qp->qp_num, .max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = { .dgid = *gid, .sgid_index = index,
				 .hop_limit = 64 },
		},
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			     IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static inline int rdma_to_send(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .timeout = 17, .retry_cnt = 7,
		.rnr_retry = 7, .max_rd_atomic = 1,
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			     IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

/* A queue pair whose far end is itself. */
static inline bool rdma_connect(struct rdma *rdma)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	const char *text_index = getenv("RDMA_GID");
	int index = text_index ? atoi(text_index) : 1;
	union ibv_gid gid;

	rdma->cq = ibv_create_cq(rdma->context, 8, NULL, NULL, 0);
	if (!CHECK(rdma->cq))
		return false;
	init.send_cq = rdma->cq;
	init.recv_cq = rdma->cq;
	rdma->qp = ibv_create_qp(rdma->pd, &init);
	if (!CHECK(rdma->qp))
		return false;
	return CHECK_INT(ibv_query_gid(rdma->context, 1, index, &gid), 0) &&
	       CHECK_INT(rdma_to_init(rdma->qp), 0) &&
	       CHECK_INT(rdma_to_receive(rdma->qp, index, &gid), 0) &&
	       CHECK_INT(rdma_to_send(rdma->qp), 0);
}

static inline bool rdma_completion(struct rdma *rdma, struct ibv_wc *wc)
{
	return ibv_poll_cq(rdma->cq, 1, wc) == 1;
}

/* Between all of @local and the far end's @address: IBV_WC_*, or -1. */
static inline int rdma_copy(struct rdma *rdma, enum ibv_wr_opcode opcode,
			    struct ibv_mr *local, uint64_t address,
			    uint32_t rkey)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)local->addr, .length = local->length,
		.lkey = local->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = address, .rkey = rkey },
	}, *bad;
	struct ibv_wc wc;

	if (ibv_post_send(rdma->qp, &wr, &bad))
		return -1;
	if (!WAIT_FOR(rdma_completion(rdma, &wc), LONG))
		return -1;
	return wc.status;
}

#endif /* SELFTESTS_REGION_LIFETIME_RDMA_H */
