// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Ranks of groups on this node, and how they fare. */
#include <errno.h>

#include "group.h"

static void from_info(struct peerlane_group_status *status,
		      const struct peerlane_group_info *info)
{
	memset(status, 0, sizeof(*status));
	status->id = info->id;
	status->group = info->group;
	status->ops_done = info->ops_done;
	status->ops_failed = info->ops_failed;
	status->bytes_sent = info->bytes_sent;
	status->bytes_received = info->bytes_received;
	status->segments = info->segments;
	status->fault_value = info->fault_value;
	status->fault_expected = info->fault_expected;
	status->fault_sequence = info->fault_seq;
	status->uid = info->uid;
	status->pid = info->pid;
	status->state = info->state;
	status->status = info->status;
	status->rank = info->rank;
	status->ranks = info->ranks;
	status->aggregators = info->aggregators;
	status->segment = info->segment;
	status->window = info->window;
	status->block = info->block;
	status->lanes = info->lanes;
	status->depth = info->depth;
	status->outstanding = info->outstanding;
	status->slots = info->slots;
	status->fault_cause = info->fault_cause;
	status->fault_rank = info->fault_rank;
	status->fault_other = info->fault_other;
	status->fault_missing = info->fault_missing;
	status->lanes_left = info->lanes_left;
	pl_text_copy(status->comm, info->comm, sizeof(status->comm));
	pl_text_copy(status->label, info->label, sizeof(status->label));
	pl_text_copy(status->text, info->text, sizeof(status->text));
	status->ops_replicated = info->ops_replicated;
	status->placement = info->placement;
	status->replicated_below = info->replicated_below;
	status->rounds = info->rounds;
	status->colocated = info->colocated;
	status->alpha = info->alpha_ns;
	status->own = info->own_ns;
	status->beta = info->beta_ps;
	status->gamma = info->gamma_ps;
	status->shared_permille = info->shared_permille;
	status->replicated_permille = info->replicated_permille;
	pl_text_copy(status->reason, info->reason, sizeof(status->reason));
}

int pl_group_info(int fd, struct peerlane_group_info *info)
{
	int ret = pl_info(fd, PEERLANE_IOC_GROUP_INFO, info, sizeof(*info));

	info->text[sizeof(info->text) - 1] = '\0';
	return ret;
}

int peerlane_group_query(const struct peerlane_group *group,
			 struct peerlane_group_status *status)
{
	struct peerlane_group_info info;
	int ret;

	pl_clear();
	ret = pl_group_info(group->fd, &info);
	if (!ret)
		from_info(status, &info);
	return ret;
}

static void convert(void *status, const void *info)
{
	from_info(status, info);
}

int peerlane_group_list(struct peerlane_group_status **statuses, size_t *count)
{
	static const struct pl_list list = {
		.request = PEERLANE_IOC_GROUP_LIST,
		.record_size = sizeof(struct peerlane_group_info),
		.info_size = sizeof(struct peerlane_group_status),
		.what = "list of groups",
		.convert = convert,
	};

	return pl_list(&list, statuses, count);
}

static void convert_lane(void *out, const void *in)
{
	const struct peerlane_lane_info *info = in;

	*(struct peerlane_lane_status *)out = (struct peerlane_lane_status){
		.id = info->id,
		.messages = info->messages,
		.bytes = info->bytes,
		.replayed = info->replayed,
		.delay_ns = info->delay_ns,
		.aggregator = info->aggregator,
		.lane = info->lane,
		.state = info->state,
		.qpn = info->qpn,
		.left_ns = info->left_ns,
		.cause = info->cause,
		.peer_qpn = info->peer_qpn,
	};
}

int peerlane_lane_list(struct peerlane_lane_status **lanes, size_t *count)
{
	static const struct pl_list list = {
		.request = PEERLANE_IOC_GROUP_LANES,
		.record_size = sizeof(struct peerlane_lane_info),
		.info_size = sizeof(struct peerlane_lane_status),
		.what = "list of lanes",
		.convert = convert_lane,
	};

	return pl_list(&list, lanes, count);
}
