// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Which queue pair of this host a flow belongs to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

typedef const struct peerlane_qp_info *qp_ptr;

static int by_lqpn(const void *left, const void *right)
{
	uint32_t a = (*(const qp_ptr *)left)->lqpn;
	uint32_t b = (*(const qp_ptr *)right)->lqpn;

	return a < b ? -1 : a > b;
}

static int by_rqpn(const void *left, const void *right)
{
	uint32_t a = (*(const qp_ptr *)left)->rqpn;
	uint32_t b = (*(const qp_ptr *)right)->rqpn;

	return a < b ? -1 : a > b;
}

static int sort(struct pl_flow_qps *qps)
{
	size_t i;

	if (!qps->count)
		return 0;
	qps->by_lqpn = calloc(qps->count, sizeof(qp_ptr));
	qps->by_rqpn = calloc(qps->count, sizeof(qp_ptr));
	if (!qps->by_lqpn || !qps->by_rqpn)
		return pl_fail(ENOMEM, "queue pairs of flows");
	for (i = 0; i < qps->count; i++) {
		qps->by_lqpn[i] = &qps->list[i];
		if (qps->list[i].connected && qps->list[i].rqpn)
			qps->by_rqpn[qps->rqpn_count++] = &qps->list[i];
	}
	qsort(qps->by_lqpn, qps->count, sizeof(qp_ptr), by_lqpn);
	qsort(qps->by_rqpn, qps->rqpn_count, sizeof(qp_ptr), by_rqpn);
	return 0;
}

void pl_flow_qps_close(struct pl_flow_qps *qps)
{
	free(qps->list);
	free(qps->by_lqpn);
	free(qps->by_rqpn);
	free(qps->gids);
}

int pl_flow_qps_open(struct pl_flow_qps *out)
{
	struct pl_flow_qps qps = { 0 };
	int ret;

	ret = peerlane_qp_list(&qps.list, &qps.count);
	if (!ret && qps.count)
		ret = peerlane_gid_list(NULL, 0, &qps.gids, &qps.gid_count);
	if (!ret)
		ret = sort(&qps);
	if (ret) {
		pl_flow_qps_close(&qps);
		return ret;
	}
	*out = qps;
	return 0;
}

static bool has_address(const struct pl_flow_qps *qps, const char *device,
			const uint8_t address[16])
{
	size_t i;

	for (i = 0; i < qps->gid_count; i++)
		if (!memcmp(qps->gids[i].raw, address, 16) &&
		    !strcmp(qps->gids[i].device, device))
			return true;
	return false;
}

/* The first of @count in @sorted whose @number is not below @wanted */
static size_t first_of(const qp_ptr *sorted, size_t count, bool remote,
		       uint32_t wanted)
{
	size_t low = 0, high = count, at;
	uint32_t number;

	while (low < high) {
		at = low + (high - low) / 2;
		number = remote ? sorted[at]->rqpn : sorted[at]->lqpn;
		if (number < wanted)
			low = at + 1;
		else
			high = at;
	}
	return low;
}

/* The one queue pair with that number on a device that has @address, or NULL */
static qp_ptr local(const struct pl_flow_qps *qps, uint32_t qpn,
		    const uint8_t address[16])
{
	size_t i = first_of(qps->by_lqpn, qps->count, false, qpn);
	qp_ptr found = NULL;

	for (; i < qps->count && qps->by_lqpn[i]->lqpn == qpn; i++) {
		if (!has_address(qps, qps->by_lqpn[i]->device, address))
			continue;
		if (found)
			return NULL;
		found = qps->by_lqpn[i];
	}
	return found;
}

/* The one that is connected to the flow's destination, or NULL */
static qp_ptr connected(const struct pl_flow_qps *qps,
			const struct peerlane_flow_key *key)
{
	size_t i = first_of(qps->by_rqpn, qps->rqpn_count, true, key->qpn);
	qp_ptr found = NULL;

	for (; i < qps->rqpn_count && qps->by_rqpn[i]->rqpn == key->qpn; i++) {
		if (!has_address(qps, qps->by_rqpn[i]->device, key->saddr))
			continue;
		if (found)
			return NULL;
		found = qps->by_rqpn[i];
	}
	return found;
}

/*
 * The kernel may have guessed the sender: the number is believed only if the
 * queue pair is not one that is connected to another.
 */
static qp_ptr sender(const struct pl_flow_qps *qps,
		     const struct peerlane_flow_info *flow)
{
	qp_ptr found = NULL;

	if (flow->peer_qpn)
		found = local(qps, flow->peer_qpn, flow->key.saddr);
	if (found && (!found->connected || found->rqpn == flow->key.qpn))
		return found;
	return connected(qps, &flow->key);
}

void pl_flow_qps_find(const struct pl_flow_qps *qps,
		      const struct peerlane_flow_info *flow,
		      struct peerlane_flow_qp *out)
{
	qp_ptr found = sender(qps, flow);

	memset(out, 0, sizeof(*out));
	out->sender = found != NULL;
	if (!found)
		found = local(qps, flow->key.qpn, flow->key.daddr);
	if (!found)
		return;
	out->found = true;
	out->qp = *found;
}

int peerlane_flow_join(const struct peerlane_flow_info *flows, size_t count,
		       struct peerlane_flow_qp *out)
{
	struct pl_flow_qps qps;
	size_t i;
	int ret;

	pl_clear();
	ret = pl_flow_qps_open(&qps);
	if (ret)
		return ret;
	for (i = 0; i < count; i++)
		pl_flow_qps_find(&qps, &flows[i], &out[i]);
	pl_flow_qps_close(&qps);
	return 0;
}

/* ---- telling the kernel ----------------------------------------------------- */

/* The flow's sender as this host's tables have it, 0 if they do not */
static uint32_t peer_of(const struct pl_flow_qps *qps,
			const struct peerlane_flow_info *flow)
{
	struct peerlane_flow_qp found;

	if (flow->pairing != PEERLANE_PAIRED_NONE &&
	    flow->pairing != PEERLANE_PAIRED_PORT)
		return 0;
	pl_flow_qps_find(qps, flow, &found);
	if (!found.found || !found.qp.connected)
		return 0;
	return found.sender ? found.qp.lqpn : found.qp.rqpn;
}

static int pair_all(struct pl_genl *genl, const struct pl_flow_qps *qps,
		    const struct peerlane_flow_info *flows, size_t count,
		    size_t *paired)
{
	uint32_t peer;
	size_t i;
	int ret;

	for (i = 0; i < count; i++) {
		peer = peer_of(qps, &flows[i]);
		if (!peer)
			continue;
		ret = pl_flow_pair(genl, &flows[i].key, peer);
		/* It may have ended meanwhile. */
		if (ret && ret != -ESRCH)
			return ret;
		if (ret)
			pl_clear();
		else
			(*paired)++;
	}
	return 0;
}

static int pair_by(struct pl_genl *genl, const struct pl_flow_qps *qps,
		   size_t *paired)
{
	struct peerlane_flow_info *flows;
	size_t count;
	bool partly;
	int ret;

	ret = pl_flow_list(genl, NULL, &flows, &count, &partly);
	if (ret)
		return ret;
	ret = pair_all(genl, qps, flows, count, paired);
	free(flows);
	return ret;
}

int peerlane_flow_pair_local(size_t *count)
{
	struct pl_flow_qps qps;
	struct pl_genl genl;
	size_t paired = 0;
	int ret;

	pl_clear();
	ret = pl_genl_open(&genl);
	if (ret)
		return ret;
	ret = pl_flow_qps_open(&qps);
	if (!ret) {
		ret = pair_by(&genl, &qps, &paired);
		pl_flow_qps_close(&qps);
	}
	pl_genl_close(&genl);
	if (!ret && count)
		*count = paired;
	return ret;
}
